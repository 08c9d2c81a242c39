"""Search: seeds, expand, rank, pack, answer. Reads the published tables, never imports the index stages."""
