"""The knowledge bank as an MCP server (Model Context Protocol): the tools, their arguments, and how they are served.

The only door to the official SDK `mcp`. A tool that cannot do what it was asked says why and what would do, as a result
that the agent reads; nothing else of an error leaves the process.

Does not: know what a tool does (tools.py), or listen beyond this machine: stdio, or HTTP on the loopback.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from graphrag import __version__
from graphrag.agents.tools import MAX_ROWS, AgentTools, Connection
from graphrag.errors import GraphragError
from graphrag.relations.events import RELATION_TYPES
from graphrag.search.arguments import MODES

HOST = "127.0.0.1"
INSTRUCTIONS = """\
A bank of entries (documents) that people and agents link as they work, with a cited knowledge graph over it.
Ask query_knowledge first. Results are entries with what hangs on them: `<- corrects X` means that X corrects the entry
above, `-> requires X` that it requires X; a note says how X pertains, get_entry shows what X says. Trust what corrects
or supersedes over what it corrects. Follow a pointer when the answer is one hop away.
When you learn something that others will need, write it with report_learning and connect it to what it corrects,
clarifies or requires. A note of a connection says how the other entry pertains, never what it says."""

_TYPES = f"One of: {', '.join(RELATION_TYPES)}."
Entry = Annotated[str, Field(min_length=1, description="Path, file name, title, alias, id or #number of an entry.")]
Type = Annotated[str, Field(description=_TYPES, json_schema_extra={"enum": list(RELATION_TYPES)})]
Note = Annotated[
    str, Field(max_length=500, description="How the other entry pertains, never what it says. May be empty.")
]
Actor = Annotated[str, Field(max_length=100, description="Who writes this, for the log. Empty: the server's name.")]
AllowLeak = Annotated[bool, Field(description="Keep a note although it repeats what the other entry says.")]
MaxTokens = Annotated[int, Field(ge=100, le=20_000, description="The result is cut to so many tokens, with a mark.")]


class LearnedConnection(BaseModel):
    """How a new note pertains to an entry that is there."""

    type: Type
    entry: Entry
    note: Note = ""


def build_server(tools: AgentTools) -> MCPServer[Any]:
    """The server with its eight tools; nothing is opened before the first call."""
    server: MCPServer[Any] = MCPServer("graphrag", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    _add_reading(server, tools)
    _add_walking(server, tools)
    _add_writing(server, tools)
    return server


def serve(tools: AgentTools, *, http_port: int | None = None) -> None:
    """Serve until the client goes (stdio), or until interrupted (streamable HTTP, at /mcp of the loopback)."""
    server = build_server(tools)
    if http_port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host=HOST, port=http_port)


def _add_reading(server: MCPServer[Any], tools: AgentTools) -> None:
    @_tool(server, is_read_only=True)
    def query_knowledge(
        question: Annotated[str, Field(min_length=1, description="What to find out, in words.")],
        mode: Annotated[
            str,
            Field(
                description="auto; local: look-ups and facts; basic: passages; documents: whole notes along their "
                "links; global: themes over everything; drift: local, led by reports to what is not named.",
                json_schema_extra={"enum": list(MODES)},
            ),
        ] = "auto",
        top: Annotated[int, Field(ge=1, le=50, description="Entries to list.")] = 8,
        fold: Annotated[bool, Field(description="Related entries share one place; false: the flat list.")] = True,
        where: Annotated[
            str, Field(description="SQL condition on documents, such as: type = 'incident' and date >= '2025-01-01'.")
        ] = "",
        max_tokens: MaxTokens = 1500,
    ) -> str:
        """Find what the bank knows about a question: a cited answer, the entries it rests on, and what hangs on them
        (corrections, requirements, ...), one hop away included. Start here."""
        return tools.query(question, mode=mode, top=top, max_tokens=max_tokens, fold=fold, where=where)

    @_tool(server, is_read_only=True)
    def get_entry(
        entry: Entry,
        start: Annotated[int, Field(ge=0, description="Character to start at; a result says where it goes on.")] = 0,
        max_tokens: MaxTokens = 2000,
    ) -> str:
        """Read one entry: its relations in both directions with their notes, and its text."""
        return tools.get_entry(entry, start=start, max_tokens=max_tokens)

    @_tool(server, is_read_only=True)
    def sql(
        query: Annotated[
            str,
            Field(
                min_length=1, description='One SELECT (DuckDB), such as: from top_entities limit 5. See "show tables".'
            ),
        ],
        max_rows: Annotated[int, Field(ge=1, le=MAX_ROWS, description="Rows to show.")] = 50,
        max_tokens: MaxTokens = 2000,
    ) -> str:
        """Count, filter or join the tables of the index: documents, entities, relationships, evidence, entry_relations
        and others. Read-only; no files, no network."""
        return tools.sql(query, max_rows=max_rows, max_tokens=max_tokens)


def _add_walking(server: MCPServer[Any], tools: AgentTools) -> None:
    @_tool(server, is_read_only=True)
    def impact(
        name: Annotated[str, Field(min_length=1, description="Title or alias of an entity, or #NUMBER.")],
        max_hops: Annotated[int | None, Field(ge=1, description="No longer chains; null: all.")] = None,
        top: Annotated[int, Field(ge=1, le=200, description="Entities to list.")] = 15,
        max_tokens: MaxTokens = 1500,
    ) -> str:
        """What breaks when something goes down: each affected entity with the cited chain that leads to it, and what
        survives."""
        return tools.impact(name, max_hops=max_hops, top=top, max_tokens=max_tokens)

    @_tool(server, is_read_only=True)
    def path(
        source: Annotated[str, Field(min_length=1, description="Title or alias of the entity to start from.")],
        target: Annotated[str, Field(min_length=1, description="Title or alias of the entity to arrive at.")],
        direction: Annotated[
            str,
            Field(
                description="Along the arrows, against them, or either.",
                json_schema_extra={"enum": ["out", "in", "both"]},
            ),
        ] = "both",
        n: Annotated[int, Field(ge=1, le=20, description="Routes to list, best first.")] = 1,
        max_hops: Annotated[int, Field(ge=1, le=10, description="No longer routes.")] = 6,
        max_tokens: MaxTokens = 1500,
    ) -> str:
        """How one entity leads to another: each hop with its document and quote."""
        return tools.path(source, target, n=n, max_hops=max_hops, direction=direction, max_tokens=max_tokens)


def _add_writing(server: MCPServer[Any], tools: AgentTools) -> None:
    @_tool(server, is_read_only=False)
    def report_learning(
        title: Annotated[str, Field(min_length=1, max_length=200, description="What was learned, in one line.")],
        text: Annotated[
            str, Field(min_length=1, description="The note, Markdown: what holds, when, and how one knows.")
        ],
        connections: Annotated[
            list[LearnedConnection], Field(description="How the note pertains to entries that are there.")
        ] = [],  # noqa: B006 - the schema shows the default; nothing changes it
        actor: Actor = "",
        allow_leak: AllowLeak = False,
        allow_duplicate: Annotated[bool, Field(description="Write it although an entry says much of it.")] = False,
    ) -> str:
        """Write down something durable that was learned, and connect it. Found by query_knowledge at once. Session logs
        and the state of the day are refused; so is what an entry says already, unless it supersedes or clarifies it."""
        return tools.report_learning(
            title, text, connections=[Connection(each.type, each.entry, each.note) for each in connections],
            actor=actor, allow_leak=allow_leak, allow_duplicate=allow_duplicate,
        )  # fmt: skip

    @_tool(server, is_read_only=False)
    def link_entries(
        entry: Entry, type: Type, to: Entry, note: Note = "", actor: Actor = "", allow_leak: AllowLeak = False
    ) -> str:
        """Relate two entries: `entry` TYPE `to`. Writing it again changes nothing."""
        return tools.link_entries(entry, type, to, note=note, actor=actor, allow_leak=allow_leak)

    @_tool(server, is_read_only=False)
    def unlink_entries(
        entry: Entry,
        type: Type,
        to: Entry,
        reason: Annotated[str, Field(description="Why the relation does not hold; required.")] = "",
        actor: Actor = "",
    ) -> str:
        """Remove a relation. The log keeps it, with the reason."""
        return tools.unlink_entries(entry, type, to, reason=reason, actor=actor)


def _tool(server: MCPServer[Any], *, is_read_only: bool) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Registers a function as a tool that tells expected errors."""

    def register(call: Callable[..., str]) -> Callable[..., str]:
        @wraps(call)
        def told(*args: Any, **arguments: Any) -> str:
            try:
                return call(*args, **arguments)
            except GraphragError as error:
                raise ToolError(explain_error(str(error))) from error

        hints = ToolAnnotations(read_only_hint=is_read_only, destructive_hint=False, open_world_hint=False)
        text = " ".join((call.__doc__ or "").split())
        server.add_tool(told, name=call.__name__, description=text, annotations=hints, structured_output=False)
        return told

    return register


def explain_error(message: str) -> str:
    """The message of a command, with the arguments that its options are here: `--reason is required` is of `reason`."""
    names = {"--all": "n", "--budget-tokens": "max_tokens"}
    options = dict.fromkeys(re.findall(r"(?<![\w\"-])--[a-z][a-z-]*", message))
    said = [
        'for --relates add {"type": ..., "entry": ..., "note": ...} to the argument "connections"'
        if option == "--relates"
        else f'{option} is the argument "{names.get(option, option[2:].replace("-", "_"))}"'
        for option in options
    ]
    return f"{message} ({'; '.join(said)} of this tool.)" if said else message
