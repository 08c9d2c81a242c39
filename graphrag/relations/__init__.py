"""Authored relations: what people and agents say about how two entries (documents) pertain, typed and audited.

events.py: the 13 types, an event, and the state that follows from events; relation_log.py: relations.jsonl, read and
appended to under a lock; changes.py: what each command writes; leaks.py: notes say how, never what; backfill.py: events
from citations and front matter; entries.py: names of entries; entry_relations.py: rows of the tables.

relations.jsonl is the source of truth. Does not: put relations into the graph (index/), or fold results (search/).
"""
