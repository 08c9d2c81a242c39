"""Interop: move an index in from elsewhere, and out to other tools (docs/interop.md).

In: shapes.py says what the tables of microsoft/graphrag 0.x to 3.x and of a graph of one's own hold, table_files.py
finds and reads them, placed_texts.py gives documents and text units their offsets, imported_graph.py makes mentions and
statements of their rows, imported_communities.py keeps communities and reports, cited_sentences.py finds what they
quote, imported_extraction.py reads what a model of one's own has extracted, import_run.py is the run that publishes.

Out: selection.py chooses the rows, graphml.py, neo4j.py, json_lines.py, vault.py and reference.py write them, export.py
is the door: it guards the target folder.
"""
