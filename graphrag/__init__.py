"""graphrag-batch: documents in, a cited knowledge graph out."""
