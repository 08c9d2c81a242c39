"""From files to text: pure parts of the documents stage (index/documents.py joins them).

folders.py: which files; decoding.py: bytes to text; front_matter.py, dates.py: what a note says of itself; markup.py:
html and rst; records.py: csv, json, jsonl, parquet; office.py: pdf, docx and others through kreuzberg.
new_notes.py: notes that the last run has not seen.
"""
