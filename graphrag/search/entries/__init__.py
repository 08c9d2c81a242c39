"""Entries that people related: folded results, what hangs on them, and what was written since the last run."""
