"""graphrag-batch: documents in, a cited knowledge graph out."""

__version__ = "0.1.0"
