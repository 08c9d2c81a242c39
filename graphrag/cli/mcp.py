"""`graphrag mcp`: the knowledge bank for agents, over the Model Context Protocol.

Does not: know the tools (agents/mcp_server.py).
"""

from __future__ import annotations

import importlib.util
from typing import Annotated

import typer

from graphrag.cli.options import Root, Set, open_project
from graphrag.errors import GraphragError


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdio.")
    ] = False,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port of --http.")] = 8765,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who writes, where a call names nobody.")] = "agent",
    root: Root = None,
    set_: Set = None,
) -> None:
    """Serve the knowledge bank to agents: query, read, learn, link, impact, path, sql.

    Example: graphrag mcp --root my-index
    """
    if importlib.util.find_spec("mcp") is None:
        raise GraphragError('The MCP server needs the extra mcp: pip install "graphrag-batch[mcp]".')
    root, settings = open_project(root, set_)
    from graphrag.agents.mcp_server import serve
    from graphrag.agents.tools import AgentTools

    serve(AgentTools(settings, root.resolve(), by), http_port=port if http else None)
