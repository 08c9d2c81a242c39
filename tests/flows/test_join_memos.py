"""Shards by documents, each with a memo of its own: joined, they answer all that a run asks about texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.join_memos import main
from graphrag.llm import CallLedger
from graphrag.llm.chat import ChatRequest
from graphrag.llm.replay import ScriptedLlm
from graphrag.memo import Memo
from graphrag.pipeline import run_pipeline
from graphrag.settings import Settings
from graphrag.settings_file import load_settings

from ..index.model_rows import answer_depends

SHARDS = {"one": "b", "two": "a"}  # name -> folder that the shard leaves out


def index(root: Path, name: str, *overrides: str) -> list[str]:
    """The roles that a run over `root` with a memo of its own asked, in order."""
    asked: list[str] = []

    def open_model(settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None) -> ScriptedLlm:
        def answer(request: ChatRequest) -> str:
            asked.append(request.role)
            return answer_depends(request)

        return ScriptedLlm(answer, memo=memo, ledger=ledger)

    fixed = ["llm.model=scripted", "embeddings.model=none", f"output.dir={name}/output", f"cache.dir={name}/cache"]
    settings, _ = load_settings(root, overrides=[*fixed, *overrides], environ={})
    run_pipeline(settings, root, open_model=open_model)
    return asked


def test_joined_memos_of_shards_leave_only_what_concerns_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings.toml").touch()
    for number, name in enumerate(("Billing", "Checkout", "Search", "Mail")):
        path = tmp_path / "data" / "input" / "ab"[number % 2] / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} depends on Redis.", encoding="utf-8")
    no_reports = ["reports.min_report_size=1000000", "summaries.min_tokens=1000000", "disambiguation.judge=false"]
    for shard, left_out in SHARDS.items():
        assert index(tmp_path, shard, f'input.ignore=["{left_out}"]', *no_reports) == ["extract", "extract"]
    memos = [str(tmp_path / name / "cache" / "memo.sqlite") for name in ("all", *SHARDS)]
    assert main(memos) == 0
    # Two replies each, and the rows read out of them.
    assert capsys.readouterr().out.splitlines() == [f"4 records from {path}" for path in memos[1:]]
    assert "extract" not in index(tmp_path, "all")
    assert "extract" in index(tmp_path, "alone")


def test_a_memo_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "memo.sqlite"), str(tmp_path / "gone.sqlite")]) == 1
    assert capsys.readouterr().err == f"No memo {tmp_path / 'gone.sqlite'}.\n"
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"no database at all" * 100)
    assert main([str(tmp_path / "memo.sqlite"), str(damaged)]) == 1
    assert capsys.readouterr().err.startswith(f"Cannot copy {damaged} into the memo")
