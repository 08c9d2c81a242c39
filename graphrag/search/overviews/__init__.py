"""Answers about many documents: what recurs, things of a type, relationships between types."""
