"""A whole run with a judge: names joined, told, paid once; open where it gives no verdict (specs: indexing 3)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from graphrag.errors import BudgetSpent
from graphrag.llm.chat import ChatRequest
from graphrag.planning import plan_run
from graphrag.progress import QuietProgress
from graphrag.store import check_integrity

from .index.model_rows import answer_depends
from .runs.test_run_model import Project

TEXTS = {
    "a": "# Alpha\n\nPayment Gateway depends on Ledger.\n",
    "b": "# Beta\n\nBilling depends on Payment Gatway.\n",
    "c": "# Gamma\n\nLedger depends on Ledger Archive.\n",
}


def judged(verdict: str) -> object:
    def script(request: ChatRequest) -> str:
        if request.role != "judge":
            return answer_depends(request)
        assert "DATA-" in request.messages[-1].content
        return f'[1,"different","a part"]\n[2,"{verdict}","typing error"]'

    return script


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write(**TEXTS)
    project.script = judged("same")  # type: ignore[assignment]
    return project


def stages(project: Project) -> list[str]:
    return [request.stage for request in project.asked]


def test_a_run_asks_its_judge_once_and_merges_with_all_evidence(project: Project) -> None:
    summary = project.index()
    found = project.tables()
    assert stages(project).count("judgement") == 1 and check_integrity(found) == []
    assert {row["stage"] for row in summary.calls} == {"extraction", "judgement"}
    assert any("called 1 pairs of names the same and 1 different; it was unsure of 0" in n for n in summary.notices)
    gateway = found["entities"].filter(pl.col("title").str.starts_with("Payment")).row(0, named=True)
    assert sorted([gateway["title"], *gateway["aliases"]]) == ["Payment Gateway", "Payment Gatway"]
    assert (gateway["n_documents"], gateway["degree"]) == (2, 2)
    mentions = found["entity_mentions"].filter(entity_id=gateway["id"])
    assert sorted(mentions["surface"].unique()) == ["Payment Gateway", "Payment Gatway"]
    assert found["evidence"].height == 3
    alias = found["aliases"].filter(entity_id=gateway["id"]).row(0, named=True)
    assert (alias["method"], alias["decided_by"]) == ("edit", "judge") and "typing error" in alias["reason"]
    kept = found["alias_candidates"].filter(decided_by="judge").row(0, named=True)
    assert (kept["verdict"], kept["reason"]) == ("never", "The judge says different: a part")
    project.index(full=True)
    assert project.asked == []
    assert project.index().status == "unchanged"


def test_the_judge_can_be_off(project: Project) -> None:
    project.index("disambiguation.judge=false")
    assert "judgement" not in stages(project)
    assert project.tables()["alias_candidates"].filter(verdict="propose").height == 2


def test_a_judge_that_only_talks_leaves_pairs_open_and_is_asked_again(project: Project) -> None:
    project.script = lambda request: "Well." if request.role == "judge" else answer_depends(request)
    summary = project.index()
    assert summary.status == "published" and summary.failures_by_reason == {"unreadable_reply": 1}
    assert project.tables()["alias_candidates"].filter(verdict="propose").height == 2
    project.script = judged("unsure")  # type: ignore[assignment]
    assert project.index().status == "published" and stages(project) == ["judgement"]
    found = project.tables()["alias_candidates"].filter(verdict="propose")
    assert found["reason"].to_list() == ["The judge says unsure: typing error"]


def test_a_line_of_the_user_undoes_a_judged_merge_without_a_call(project: Project) -> None:
    project.index()
    rules = '[[never]]\nnames = ["Payment Gateway", "Payment Gatway"]\n'
    (project.root / "aliases.toml").write_text(rules, encoding="utf-8")
    project.index()
    titles = project.tables()["entities"]["title"].to_list()
    assert {"Payment Gateway", "Payment Gatway"} <= set(titles)
    assert project.asked == []


def test_a_budget_that_ends_before_the_judge_publishes_nothing(project: Project) -> None:
    project.index("disambiguation.judge=false")
    with pytest.raises(BudgetSpent, match="incomplete"):
        project.index(max_tokens=100)
    assert project.asked == []
    assert project.tables()["alias_candidates"].filter(decided_by="judge").is_empty()


def test_the_plan_tells_what_the_judge_may_cost(project: Project) -> None:
    def plan() -> tuple[list[tuple[str, int]], list[str]]:
        planned = plan_run(project.settings(), project.root, progress=QuietProgress())
        return planned.calls.filter(stage="judgement").select("stage", "calls").rows(), planned.notes

    calls, notes = plan()
    assert calls == [] and any("at most 67 calls (disambiguation.max_judged_pairs)." in note for note in notes)
    project.index("disambiguation.judge=false")
    calls, notes = plan()
    assert calls == [("judgement", 1)] and any("the published index leaves open" in note for note in notes)
    project.script = judged("unsure")  # type: ignore[assignment]
    project.index()
    assert plan()[0] == []  # the memo knows the verdict
