"""graphrag-batch: documents in, a cited knowledge graph out.

`from graphrag import Index` opens a published index from Python (graphrag/api.py); it is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphrag.api import Index as Index

__all__ = ["Index", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Index, on first use: `graphrag --help` must not load polars and duckdb."""
    if name == "Index":
        from graphrag.api import Index

        return Index
    raise AttributeError(f"module 'graphrag' has no attribute {name!r}")
