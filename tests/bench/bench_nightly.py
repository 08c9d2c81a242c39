"""What a night costs beside the first: nothing new, 5 % new documents, one edited sentence, one document gone.

    python -m tests.bench.bench_nightly [embedded | llm] [--latency 200] [--documents FOLDER --delta FOLDER]

Corpus M of ../shared/bench (1.06 MB, 36 documents) and its delta (55 KB, one document). Every night is a new process of
`graphrag index`: its wall and CPU seconds include the imports. `llm` asks the fake server of ../shared/bench, which
answers from the prompt alone; calls and tokens (characters / 4) are the server's own counters, by kind of question, and
the share of the first night that is not for reports on communities that have changed.
Nights are made with the settings of a new project; `llm` has no judge and no vectors, which the server cannot play.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import orjson

from tests.bench.bench_kills import ask, serve
from tests.bench.bench_llm import ROOT, build_corpus

REPORTS = "ours_report"  # the server's name, from kinds.json


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("mode", choices=("embedded", "llm"), nargs="?", default="embedded")
    parser.add_argument("--latency", type=int, default=200, help="milliseconds a call, +-50 %%")
    parser.add_argument("--documents", type=Path)
    parser.add_argument("--delta", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    args = parser.parse_args()
    server = serve(args.latency) if args.mode == "llm" else nullcontext("")
    with tempfile.TemporaryDirectory() as folder, server as url:
        work = Path(folder)
        documents = args.documents or build_corpus(work)
        delta = args.delta or documents.parent / "delta"
        root = work / "index"
        shutil.copytree(documents, root / "data" / "input")
        (root / "settings.toml").touch()
        print(
            "| night | wall s | CPU s | status | calls | tokens | beside reports, calls | tokens | by kind |\n"
            "|---|---:|---:|---|---:|---:|---:|---:|---|"
        )
        first = spend_night("first", root, url, args.set)
        time.sleep(3)  # files that have just changed are read again
        spend_night("nothing new", root, url, args.set, first)
        for path in sorted(delta.iterdir()):
            shutil.copy(path, root / "data" / "input" / path.name)
        spend_night("5 % new", root, url, args.set, first)
        edited = sorted((root / "data" / "input").iterdir())[3]
        edit_sentence(edited)
        spend_night("one sentence edited", root, url, args.set, first)
        edited.unlink()
        spend_night("one document gone", root, url, args.set, first)


def edit_sentence(path: Path) -> None:
    """One more word in a sentence in the middle of a document."""
    text = path.read_text(encoding="utf-8")
    place = text.index(", ", len(text) // 2)
    path.write_text(f"{text[:place]} indeed{text[place:]}", encoding="utf-8")


class Spent(NamedTuple):
    """Calls and tokens of a night, or of one kind of question."""

    calls: int
    tokens: int


def spend_night(name: str, root: Path, url: str, overrides: list[str], first: Spent | None = None) -> Spent:
    """One line of the table; `first`: what the first night has asked."""
    command = [sys.executable, "-m", "graphrag", "index", "--json", "--root", str(root)]
    for setting in [*(llm_settings(url) if url else ()), *overrides]:
        command += ["--set", setting]
    if url:
        ask(url, "/mark", {})
    before, wall = children_cpu(), time.monotonic()
    environ = {"OPENAI_API_KEY": "unused", **os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    wall, cpu = time.monotonic() - wall, children_cpu() - before
    if done.returncode:
        raise SystemExit(done.stderr)
    stats = ask(url, "/stats") if url else {"chat": {}, "kinds": {}}
    kinds = {kind: count_spent(row) for kind, row in sorted(stats["kinds"].items()) if row.get("calls")}
    spent, reports = count_spent(stats["chat"]), kinds.get(REPORTS, Spent(0, 0))
    shares = " | ".join(
        f"{(now - for_reports) / then:.1%}" if first and then else ""
        for now, for_reports, then in zip(spent, reports, first or spent, strict=True)
    )
    said = ", ".join(f"{kind} {row.calls} ({row.tokens:,} tokens)" for kind, row in kinds.items())
    status = orjson.loads(done.stdout)["status"]
    print(
        f"| {name} | {wall:.1f} | {cpu:.1f} | {status} | {spent.calls} | {spent.tokens:,} | {shares} | {said} |",
        flush=True,
    )
    return spent


def count_spent(row: dict[str, int]) -> Spent:
    return Spent(row.get("calls", 0), row.get("prompt_tokens", 0) + row.get("completion_tokens", 0))


def llm_settings(url: str) -> list[str]:
    return [
        "llm.model=openai/gpt-4o-mini", f"llm.api_base={url}/v1", "embeddings.model=none", "disambiguation.judge=false",
    ]  # fmt: skip


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
