"""The Python of docs/interop.md and README.md runs as it stands there, and the page lists every method, typed."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from graphrag import Index

from .conftest import ROOT

PAGE = (ROOT / "docs" / "interop.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def list_blocks(text: str) -> list[str]:
    return [
        code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "from graphrag import Index" in code
    ]


@pytest.mark.parametrize("page", [PAGE, README], ids=["interop", "readme"])
def test_the_lines_run_on_the_sample(
    page: str, sample_index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHRAG_OUTPUT__DIR", str(sample_index))
    (code,) = list_blocks(page)
    root = repr(str(ROOT))
    exec(code.replace('"my-index"', root).replace('"."', root), {})  # the page is ours
    assert "[Data: " in capsys.readouterr().out


def test_citations_of_the_page_resolve_to_quotes(sample_index: Path) -> None:
    with Index.open(ROOT, overrides=[f"output.dir={sample_index}"]) as index:
        texts = dict(index.table("documents").select("path", "text").iter_rows())
        cited = index.search("What depends on Redis?").citations
        assert cited
        assert all(texts[c.path][c.start : c.end] == c.quote for c in cited)


def test_every_method_is_on_the_page_and_typed() -> None:
    methods = {
        name: function
        for name, function in inspect.getmembers(Index, callable)
        if not name.startswith("_") and name not in ("close", "many_at_once")
    }
    table = PAGE[PAGE.index("| method | command | returns |") :]
    assert sorted(methods) == sorted(list_methods(table))
    for name, function in methods.items():
        hints = inspect.signature(function)
        assert hints.return_annotation is not inspect.Signature.empty, name
        assert all(p.annotation is not p.empty for p in hints.parameters.values() if p.name not in ("self", "cls")), (
            name
        )


def list_methods(table: str) -> set[str]:
    cells = [line.split("|")[1] for line in table.splitlines()[2:] if line.startswith("|")]
    return {name for cell in cells for name in re.findall(r"(\w+)\(", cell)}
