"""The MCP server as an agent meets it: the official SDK's client drives every tool over stdio and HTTP."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from graphrag.agents.mcp_server import explain_error
from graphrag.agents.tools import fill_lines
from graphrag.pipeline import run_pipeline
from graphrag.relations.events import RELATION_TYPES
from graphrag.settings_file import load_settings
from graphrag.tokens import count_tokens

from ..conftest import ROOT

ENTRIES = {
    "limits.md": "# Limits\n\nThe export limit is 250 parcels a minute. The desk of Mira Lang watches it.",
    "new-limits.md": "# New limits\n\nIn spring the ceiling was raised to 400, burst 600. The older page is history.",
    "login.md": "# Login recipe\n\nThe login flow depends on the Auth Service. Use a cookie jar for the session.",
    "auth.md": "# Auth Service\n\nThe Auth Service depends on Redis. Priya Raman owns the Auth Service.",
    "redis.md": "# Redis\n\nRedis runs on three small machines in the harbour hall.",
}
Call = Callable[..., Awaitable[tuple[bool, str]]]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bank")
    (root / "data" / "input").mkdir(parents=True)
    for name, text in ENTRIES.items():
        (root / "data" / "input" / name).write_text(text, encoding="utf-8")
    (root / "settings.toml").write_text('[embeddings]\nmodel = "none"\n', encoding="utf-8")
    index(root)
    return root


@pytest.fixture
def bank(published: Path, tmp_path: Path) -> Path:
    """A copy that a test may write to."""
    shutil.copytree(published, tmp_path / "bank", symlinks=True)
    return tmp_path / "bank"


def index(root: Path) -> None:
    settings, _ = load_settings(root, environ={})
    run_pipeline(settings, root)


def drive(bank: Path, talk: Callable[[Client, Call], Awaitable[None]]) -> None:
    """Start `graphrag mcp` over a bank and let a client of the SDK talk to it."""
    command = ["-m", "graphrag", "mcp", "--root", str(bank), "--by", "tester"]
    environ = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    server = StdioServerParameters(command=sys.executable, args=command, env=environ)

    async def session() -> None:
        async with Client(stdio_client(server)) as client:
            await talk(client, caller(client))

    asyncio.run(asyncio.wait_for(session(), 120))


def caller(client: Client) -> Call:
    async def call(tool: str, **arguments: Any) -> tuple[bool, str]:
        found = await client.call_tool(tool, arguments)
        return bool(found.is_error), found.content[0].text  # type: ignore[union-attr]

    return call


def test_the_client_lists_every_tool_with_its_schema(bank: Path) -> None:
    async def talk(client: Client, call: Call) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        names = "query_knowledge get_entry report_learning link_entries unlink_entries impact path sql"
        assert set(tools) == set(names.split())
        for tool in tools.values():
            assert tool.description
            for name, schema in tool.input_schema["properties"].items():
                assert schema.get("description"), f"{tool.name}.{name}"
        assert tools["link_entries"].input_schema["properties"]["type"]["enum"] == list(RELATION_TYPES)
        assert tools["link_entries"].input_schema["required"] == ["entry", "type", "to"]
        writing = {name for name, tool in tools.items() if tool.annotations and not tool.annotations.read_only_hint}
        assert writing == {"report_learning", "link_entries", "unlink_entries"}

    drive(bank, talk)


def test_an_agent_asks_reads_relates_and_takes_back(bank: Path) -> None:
    async def talk(client: Client, call: Call) -> None:
        is_error, text = await call("query_knowledge", question="What is the export limit?", mode="basic")
        assert not is_error
        assert "250 parcels" in text
        assert re.search(r"Sources \(\d+\) = limits.md \[\d+:\d+\]", text)
        assert "1. limits.md - Limits" in text

        is_error, text = await call("get_entry", entry="Limits")
        assert not is_error
        assert "limits.md, #" in text and "No relations." in text and "watches it." in text

        note = "What became of the figure named here."
        is_error, text = await call("link_entries", entry="new-limits", type="supersedes", to="limits", note=note)
        assert not is_error
        assert re.match(r"created: new-limits.md supersedes limits.md \(event \w+, by tester\)", text)
        assert (await call("link_entries", entry="new-limits", type="supersedes", to="limits"))[1].startswith(
            "is there already, unchanged"
        )
        assert f"<- supersedes new-limits.md: {note}" in (await call("get_entry", entry="limits.md"))[1]
        text = (await call("query_knowledge", question="What is the export limit?", mode="basic"))[1]
        assert "(superseded by new-limits.md)" in text or f"<- supersedes new-limits.md (neighbor): {note}" in text

        is_error, text = await call("unlink_entries", entry="new-limits", type="supersedes", to="limits")
        assert is_error
        assert "--reason is required to remove a relation." in text
        assert '--reason is the argument "reason"' in text
        arguments = {"entry": "new-limits", "type": "supersedes", "to": "limits", "reason": "Only a try"}
        assert (await call("unlink_entries", **arguments))[1].startswith("removed: ")
        assert "No relations." in (await call("get_entry", entry="limits.md"))[1]
        assert "supersede" not in (await call("query_knowledge", question="export limit", mode="basic"))[1]

    drive(bank, talk)


def test_an_agent_learns_and_finds_it_again(bank: Path) -> None:
    async def talk(client: Client, call: Call) -> None:
        question = "Does the gateway count retries against the quota?"
        assert "learned/" not in (await call("query_knowledge", question=question))[1]
        connection = {"type": "clarifies", "entry": "limits", "note": "What counts against the figure named there."}
        is_error, text = await call(
            "report_learning", title="Retries count against the quota", connections=[connection],
            text="The gateway counts retries against the quota: a client that retries at once locks itself out.",
        )  # fmt: skip
        assert not is_error, text
        assert "Learned: learned/retries-count-against-the-quota.md." in text
        assert "created: learned/retries-count-against-the-quota.md clarifies limits.md" in text
        text = (await call("get_entry", entry="Retries count against the quota"))[1]
        assert "-> clarifies limits.md" in text and "locks itself out" in text
        text = (await call("query_knowledge", question="export limit of parcels"))[1]
        note = "What counts against the figure named there. | The gateway counts retries against the quota"
        assert f"<- clarifies learned/retries-count-against-the-quota.md (neighbor): {note}" in text

        is_error, text = await call("report_learning", title="Session log", text="Next steps: look at the todo list.")
        assert is_error
        leak = [{"type": "cites", "entry": "limits", "note": "The limit is 250."}]
        is_error, text = await call(
            "report_learning", title="Where the limit stands", connections=leak,
            text="The desk keeps the number of parcels on a page of its own, which newcomers overlook.",
        )  # fmt: skip
        assert is_error
        assert 'The note repeats the target ("250").' in text
        assert '--allow-leak is the argument "allow_leak"' in text
        assert not list((bank / "data" / "input" / "learned").glob("where*")), (
            "nothing is written where a part is wrong"
        )

    drive(bank, talk)


def test_one_session_drives_every_tool(bank: Path) -> None:
    """The order of the day of an agent: list, ask, learn with a connection, ask again, link, unlink, read, walk."""

    async def talk(client: Client, call: Call) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        question = "When is a drill of the pager due?"
        text = (await call("query_knowledge", question=question, mode="basic"))[1]
        assert "learned/" not in text
        connection = {"type": "requires", "entry": "Auth Service", "note": "Whose people carry the pager."}
        is_error, text = await call(
            "report_learning", title="A drill of the pager", connections=[connection],
            text="A drill of the pager is due each quarter, on the first Tuesday, and wakes two people.",
        )  # fmt: skip
        assert not is_error
        path = "learned/a-drill-of-the-pager.md"
        for mode in ("auto", "local", "basic", "documents"):
            is_error, text = await call("query_knowledge", question=question, mode=mode)
            assert not is_error
            assert (
                f"- A drill of the pager is due each quarter, on the first Tuesday, and wakes two people. ({path})"
                in (text)
            )
            assert f"1. {path} - A drill of the pager" in text
        is_error, text = await call("link_entries", entry=path, type="see_also", to="login", note="")
        assert not is_error and text.startswith(f"created: {path} see_also login.md")
        is_error, text = await call("unlink_entries", entry=path, type="see_also", to="login")
        assert is_error
        assert text.endswith(
            '--reason is required to remove a relation. (--reason is the argument "reason" of this tool.)'
        )
        assert not (await call("unlink_entries", entry=path, type="see_also", to="login", reason="a try"))[0]
        is_error, text = await call("get_entry", entry="A drill of the pager")
        assert not is_error and "-> requires auth.md: Whose people carry the pager." in text and "see_also" not in text
        is_error, text = await call("impact", name="Redis")
        assert not is_error and "Auth Service" in text
        is_error, text = await call("path", source="login flow", target="Redis")
        assert not is_error and "auth.md" in text
        is_error, text = await call("sql", query="select count(*) as n from documents")
        assert not is_error and "5" in text
        assert len(names) == 8

    drive(bank, talk)


def test_impact_path_and_sql(bank: Path) -> None:
    async def talk(client: Client, call: Call) -> None:
        is_error, text = await call("impact", name="Redis")
        assert not is_error
        assert "login flow via Redis <- Auth Service <- login flow" in text
        assert "Auth Service -depends_on-> Redis [auth]" in text

        is_error, text = await call("path", source="login flow", target="Redis")
        assert '"The Auth Service depends on Redis."' in text
        assert "auth.md:" in text

        is_error, text = await call("sql", query="select path from documents order by path", max_rows=2)
        assert text.startswith("(5 rows, the first 2 shown)\n| path ")
        assert "auth.md" in text and "limits.md" in text and "redis.md" not in text

    drive(bank, talk)


def test_errors_say_what_would_do(bank: Path) -> None:
    async def talk(client: Client, call: Call) -> None:
        expected = {
            ("get_entry", "entry", "limitz"): 'No entry "limitz". Nearest: limits',
            ("impact", "name", "Reddis"): 'No entity "Reddis". Nearest: Redis',
            ("sql", "query", "drop table documents"): "Only statements that read are possible",
            ("sql", "query", "select * from documentz"): "documentz",
        }
        for (tool, name, value), message in expected.items():
            is_error, text = await call(tool, **{name: value})
            assert is_error
            assert message in text
            assert "Traceback" not in text
        is_error, text = await call("link_entries", entry="limits", type="fixes", to="login")
        assert is_error
        assert 'Unknown relation "fixes". Use one of: cites, see_also' in text
        is_error, text = await call("path", source="login flow", target="Redis", max_hops=99)
        assert is_error and "max_hops" in text, "the schema is checked"

    drive(bank, talk)


def test_a_run_that_publishes_underneath_is_seen_by_the_next_call(bank: Path) -> None:
    async def talk(client: Client, call: Call) -> None:
        await call("link_entries", entry="new-limits", type="supersedes", to="limits", note="What became of it.")
        first = (await call("query_knowledge", question="export limit", mode="basic"))[1]
        assert "250 parcels" in first
        (bank / "data" / "input" / "tide.md").write_text("# Tide\n\nThe tide table hangs in the hall.\n", "utf-8")
        await asyncio.to_thread(index, bank)
        shutil.rmtree(next(run for run in (bank / "data" / "output" / "runs").iterdir() if run.name in first))
        text = (await call("query_knowledge", question="export limit", mode="basic"))[1]
        assert "1. limits.md - Limits (superseded by new-limits.md)" in text
        assert "Limits is superseded by New limits." in text
        assert "#" in (await call("get_entry", entry="tide"))[1]

    drive(bank, talk)


def test_results_stay_within_their_tokens(bank: Path) -> None:
    long = "# Long\n\n" + "\n".join(f"Line {n} of a long note on parcels and the harbour." for n in range(200))
    (bank / "data" / "input" / "long.md").write_text(long, encoding="utf-8")
    index(bank)

    async def talk(client: Client, call: Call) -> None:
        for tool, arguments in (
            ("query_knowledge", {"question": "Who owns the Auth Service and what depends on it?"}),
            ("impact", {"name": "Redis"}),
            ("sql", {"query": "from documents"}),
            ("path", {"source": "login flow", "target": "Redis"}),
            ("get_entry", {"entry": "long"}),
        ):
            text = (await call(tool, max_tokens=100, **arguments))[1]
            assert 0 < count_tokens(text) <= 100, tool
        text = (await call("sql", query="from documents", max_tokens=100))[1]
        assert "more lines: raise max_tokens" in text
        text = (await call("get_entry", entry="long", max_tokens=100))[1]
        start = re.search(r"get_entry with start=(\d+)", text)
        assert start and "Line 0 of" in text
        text = (await call("get_entry", entry="long", start=int(start[1]), max_tokens=100))[1]
        assert long[int(start[1]) :][:30].strip() in text

    drive(bank, talk)


def test_http_is_served_on_the_loopback(bank: Path) -> None:
    with _serve_http(bank) as port:

        async def session() -> None:
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                is_error, text = await caller(client)("get_entry", entry="redis")
                assert not is_error
                assert "three small machines" in text

        asyncio.run(asyncio.wait_for(session(), 60))


@contextmanager
def _serve_http(bank: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "graphrag", "mcp", "--http", "--port", str(port), "--root", str(bank)]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait(20)


def test_lines_fill_the_tokens_and_the_rest_is_counted() -> None:
    lines = [f"line {number} of words" for number in range(100)]
    text = fill_lines(lines, max_tokens=60)
    assert count_tokens(text) <= 60
    n_left = 100 - (len(text.split("\n")) - 1)
    assert text.endswith(f"… {n_left} more lines: raise max_tokens, or ask for less.")
    assert fill_lines(lines[:3], max_tokens=60) == "\n".join(lines[:3])
    assert count_tokens(fill_lines(["word " * 500], max_tokens=50)) <= 50


def test_options_of_commands_are_named_as_arguments() -> None:
    assert explain_error("No entity.") == "No entity."
    assert explain_error('Add --relates "supersedes:a.md:why", else --allow-duplicate.').endswith(
        '(for --relates add {"type": ..., "entry": ..., "note": ...} to the argument "connections"; '
        '--allow-duplicate is the argument "allow_duplicate" of this tool.)'
    )
    leak = 'The note repeats the target ("--http1.1"). Use --allow-leak to keep it.'
    assert explain_error(leak).endswith('(--allow-leak is the argument "allow_leak" of this tool.)')
