"""What a run would cost, without a call and without litellm."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag.llm.chat import ChatRequest, Message, Role, models_of_roles
from graphrag.llm.door import chat_many
from graphrag.llm.plan import plan_calls
from graphrag.llm.prices import Price
from graphrag.llm.replay import ScriptedLlm
from graphrag.memo import Memo

from ..conftest import ROOT


def ask(text: str, role: Role = "extract") -> ChatRequest:
    stage = {"extract": "extraction"}.get(role, role)
    return ChatRequest(stage, role, (Message("user", text),), max_tokens=100, expected_tokens=40)


def test_plan_counts_each_question_once_and_leaves_out_what_the_memo_holds(tmp_path: Path) -> None:
    models = models_of_roles("scripted", {"judge": "wise"})
    requests = [ask("one two"), ask("one two"), ask("three"), ask("held"), ask("same?", "judge")]
    with Memo(tmp_path / "memo") as memo:
        asyncio.run(chat_many(ScriptedLlm(lambda r: "x", memo=memo), [ask("held")]))
        plan = plan_calls(requests, models=models, prices={"scripted": Price(1.0, 2.0, 1.0)}, memo=memo)
    extraction, judge = plan.rows(named=True)
    assert (extraction["stage"], extraction["model"], extraction["calls"], extraction["from_memo"]) == (
        "extraction", "scripted", 2, 1,
    )  # fmt: skip
    assert extraction["prompt_tokens"] == 2 + 1 + 2 * 4
    assert (extraction["completion_tokens_low"], extraction["completion_tokens_high"]) == (80, 200)
    assert (extraction["usd_low"], extraction["usd_high"]) == pytest.approx((11 + 160, 11 + 400))
    assert (judge["stage"], judge["model"], judge["usd_low"], judge["usd_high"]) == ("judge", "wise", None, None)


def test_an_empty_plan_has_its_columns() -> None:
    assert plan_calls([], models=models_of_roles("m", {}), prices={}).columns[:3] == ["stage", "model", "calls"]


def test_plan_needs_no_litellm() -> None:
    program = "import sys, graphrag.llm.plan, graphrag.llm; print('litellm' in sys.modules, 'prefect' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"
