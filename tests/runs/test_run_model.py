"""A whole run with a scripted model: tables, calls, costs, failures, budget, restart; indexing.md 9 and 10."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag.errors import (
    BudgetSpent,
    GateHeld,
    InputError,
    LlmError,
    PromptError,
    ReplyMiss,
    Unauthorized,
    UsageError,
)
from graphrag.llm import CallLedger, chat_many
from graphrag.llm.chat import ChatRequest
from graphrag.llm.prices import Price
from graphrag.llm.replay import ScriptedFault, ScriptedLlm
from graphrag.memo import Memo
from graphrag.pipeline import run_pipeline
from graphrag.planning import plan_run
from graphrag.progress import QuietProgress
from graphrag.project import create_project
from graphrag.runs.run import RunSummary
from graphrag.runs.run_model import RunModel
from graphrag.settings import Settings
from graphrag.settings_file import load_settings
from graphrag.store import check_integrity, read_manifest
from graphrag.store.runs import read_runs
from graphrag.tables import TABLES

from ..index.model_rows import answer_depends, passage_of
from ..index.test_extraction import FOLDER

Script = Callable[[ChatRequest], Any]


class Project:
    """A folder with T3 and a scripted model; `asked` holds the passages that reached the model in the last run."""

    def __init__(self, root: Path) -> None:
        create_project(root)
        self.root = root
        self.script: Script = answer_depends
        self.asked: list[ChatRequest] = []
        self.max_concurrency = 1
        self.write(**{path.removesuffix(".md"): text for path, text in FOLDER.items()})

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.root / "data" / "input" / f"{name}.md").write_text(text, encoding="utf-8")

    def settings(self, *overrides: str) -> Settings:
        # no report is asked for here: test_run_reports.py counts those
        fixed = ["llm.model=scripted", "embeddings.model=none", "reports.min_report_size=100"]
        return load_settings(self.root, overrides=[*fixed, *overrides], environ={})[0]

    def index(self, *overrides: str, max_tokens: int | None = None, full: bool = False) -> RunSummary:
        self.asked = []

        def open_model(
            settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None
        ) -> ScriptedLlm:
            from graphrag.llm.budget import Budget

            budget = Budget(limit_usd=settings.llm.budget_usd or None, limit_tokens=max_tokens)
            llm = ScriptedLlm(
                lambda request: self.script(request), memo=memo, ledger=ledger, budget=budget, max_retries=1,
                price=Price(1e-6, 4e-6, 1e-6), max_concurrency=self.max_concurrency,
            )  # fmt: skip
            self.asked = llm.requests
            return llm

        return run_pipeline(
            self.settings(*overrides), self.root, max_tokens=max_tokens, full=full, open_model=open_model
        )

    def tables(self, folder: str = "current") -> dict[str, pl.DataFrame]:
        return {name: pl.read_parquet(self.root / "data/output" / folder / f"{name}.parquet") for name in TABLES}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_model_fills_the_same_tables(project: Project) -> None:
    summary = project.index()
    tables = project.tables()
    assert summary.status == "published" and check_integrity(tables) == []
    assert (tables["entities"].height, tables["relationships"].height, tables["communities"].height) == (9, 9, 3)
    assert set(tables["entity_mentions"]["method"]) <= {"llm", "declared"}
    assert tables["evidence"]["is_verified"].all()
    calls = tables["llm_calls"]
    assert calls.select("stage", "status", "is_estimated", "cached").unique().rows() == [
        ("extraction", "ok", True, False)
    ]
    (row,) = summary.calls
    assert (row["calls"], row["failed"]) == (3, 0) and row["cost_usd"] > 0
    runs = read_runs(project.root / "data/output")
    assert runs["llm_calls"].to_list() == [3] and runs["cost_usd"][0] == pytest.approx(row["cost_usd"])
    lines = (project.root / "data/output/llm_calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("change", "calls"),
    [
        ({}, 0),
        ({"a": "# Alpha\n\nGamma runs on Alpha. Alpha depends on Beta.\n"}, 1),
        ({"a": FOLDER["a.md"] + "\n"}, 0),
        ({"d": "# Iota\n\nIota depends on Kappa. Kappa depends on Iota.\n"}, 1),
        ({"z": FOLDER["a.md"]}, 0),
    ],
)
def test_a_second_night_asks_what_is_new(project: Project, change: dict[str, str], calls: int) -> None:
    project.index()
    project.write(**change)
    summary = project.index()
    assert len(project.asked) == calls
    assert summary.status == ("published" if change else "unchanged")


def test_deleting_and_renaming_ask_nothing(project: Project) -> None:
    project.index()
    folder = project.root / "data" / "input"
    (folder / "b.md").rename(folder / "e.md")
    project.index()
    assert project.asked == []
    (folder / "e.md").unlink()
    project.index()
    assert project.asked == []
    assert "Xeno" not in set(project.tables()["entities"]["title"])


@pytest.mark.parametrize(
    ("override", "calls"),
    [
        ("extraction.entity_types=['service']", 3),
        ("text_units.max_tokens=200", 0),
        ("llm.extract_model=other", 0),  # the scripted model has one name for all roles
        ("communities.seed=7", 0),
        ("llm.max_concurrency=3", 0),
    ],
)
def test_a_setting_asks_again_where_it_changes_the_question(project: Project, override: str, calls: int) -> None:
    project.index()
    project.index(override, full=True)
    assert len(project.asked) == calls


def test_a_changed_prompt_asks_again(project: Project) -> None:
    project.index()
    (project.root / "prompts").mkdir()
    prompt = project.root / "prompts" / "extract_graph.txt"
    prompt.write_text('Find {entity_types} as ("entity"{tuple_delimiter}...) in: {input_text}', encoding="utf-8")
    project.index()
    assert len(project.asked) == 3
    prompt.write_text("Find entities.", encoding="utf-8")
    with pytest.raises(PromptError, match="input_text"):
        project.index()
    assert project.asked == []


def test_a_night_with_a_time_out_is_held_and_the_next_asks_that_unit_only(project: Project) -> None:
    is_slow = True

    def script(request: ChatRequest) -> str:
        if is_slow and "Xeno" in passage_of(request):
            raise TimeoutError
        return answer_depends(request)

    project.script = script
    with pytest.raises(GateHeld, match=r"1 of 3 text units got no usable reply \(timeout 1\)"):
        project.index()
    assert read_manifest(project.root / "data/output") is None
    is_slow = False
    assert project.index().status == "published"
    assert len(project.asked) == 1


def test_a_failed_unit_below_the_gate_is_published_told_and_asked_again(project: Project) -> None:
    project.script = lambda request: "" if "Xeno" in passage_of(request) else answer_depends(request)
    summary = project.index("gates.failed_unit_share=0.5")
    assert summary.status == "published" and summary.failures_by_reason == {"empty_reply": 1}
    project.script = answer_depends
    again = project.index("gates.failed_unit_share=0.5")
    assert (again.status, again.failures_by_reason, len(project.asked)) == ("published", {}, 1)


def test_a_model_that_only_talks_is_held(project: Project) -> None:
    project.script = lambda request: "As requested, here is a fine summary of the passage."
    with pytest.raises(GateHeld, match="3 of 3 text units") as held:
        project.index()
    assert held.value.exit_code == 4
    assert len(project.asked) == 6  # one repair each
    assert read_runs(project.root / "data/output")["status"].to_list() == ["held"]


def test_a_spent_budget_ends_the_run_and_more_goes_on(project: Project) -> None:
    first = project.index()
    cost = first.calls[0]["cost_usd"]
    other = Project(project.root / "other")
    with pytest.raises(BudgetSpent, match="is incomplete and publishes nothing") as spent:
        other.index(f"llm.budget_usd={cost * 0.7}", "extraction.max_reply_tokens=64")
    assert spent.value.exit_code == 5
    n_before = len(other.asked)
    assert 0 < n_before < 3
    runs = read_runs(other.root / "data/output")
    assert runs["status"].to_list() == ["incomplete"] and 0 < runs["cost_usd"][0] <= cost * 0.7
    assert read_manifest(other.root / "data/output") is None
    assert other.index("extraction.max_reply_tokens=64").status == "published"
    assert len(other.asked) == 3 - n_before
    with pytest.raises(BudgetSpent, match="tokens is spent"):
        other.index("extraction.max_reply_tokens=65", max_tokens=700)


def test_a_refused_key_ends_the_run_with_one_line(project: Project) -> None:
    def script(request: ChatRequest) -> str:
        raise ScriptedFault(401, "Incorrect API key provided: sk-secret-123456")

    project.script = script
    with pytest.raises(Unauthorized) as refused:
        project.index()
    assert "secret" not in str(refused.value) and "\n" not in str(refused.value)
    assert read_runs(project.root / "data/output")["status"].to_list() == ["failed"]


def test_interrupt_keeps_what_was_answered(project: Project) -> None:
    def script(request: ChatRequest) -> str:
        if "Xeno" in passage_of(request):
            raise KeyboardInterrupt
        return answer_depends(request)

    project.script = script
    with pytest.raises(KeyboardInterrupt):
        project.index()
    n_answered = len(project.asked) - 1
    project.script = answer_depends
    project.index()
    assert len(project.asked) == 3 - n_answered
    assert sorted(read_runs(project.root / "data/output")["status"]) == ["incomplete", "published"]


def test_a_kill_after_37_of_100_replies_costs_what_was_in_flight(project: Project) -> None:
    """indexing.md 10, first row; eight calls in flight."""
    project.write(**{f"n{i}": f"Service{i} depends on Store{i}.\n" for i in range(97)})
    asked = 0

    async def script(request: ChatRequest) -> str:
        nonlocal asked
        asked += 1
        number = asked
        await asyncio.sleep(0)
        if number == 38:
            raise KeyboardInterrupt
        return answer_depends(request)

    project.script, project.max_concurrency = script, 8
    with pytest.raises(KeyboardInterrupt):
        project.index()
    first = asked
    project.script = answer_depends
    project.index()
    assert first + len(project.asked) <= 100 + 8
    assert project.tables()["documents"].height == 100


def test_claims_are_asked_only_when_enabled(project: Project) -> None:
    def script(request: ChatRequest) -> str:
        if request.stage != "claims":
            return answer_depends(request)
        name = passage_of(request).splitlines()[0].rpartition(" ")[2]
        return f'["C","{name}","","risk","suspected","","","{name} needs much.",[1]]'

    project.script = script
    project.index()
    assert project.tables()["covariates"].is_empty()
    summary = project.index("claims.enabled=true")
    covariates = project.tables()["covariates"]
    assert covariates["subject_id"].to_list() == ["Alpha", "Xeno", "Pine"] or covariates.height == 3
    assert [row["stage"] for row in summary.calls] == ["claims"]  # extraction had nothing to do
    assert check_integrity(project.tables()) == []


def test_the_plan_asks_nothing_and_knows_the_memo(project: Project) -> None:
    plan = plan_run(project.settings(), project.root, progress=QuietProgress())
    (row,) = plan.calls.filter(stage="extraction").iter_rows(named=True)
    assert (plan.n_documents, plan.n_text_units, row["calls"], row["from_memo"]) == (3, 3, 3, 0)
    assert row["prompt_tokens"] > 2_000 and row["usd_low"] is None
    assert any("No price" in note for note in plan.notes)
    project.index()
    plan = plan_run(project.settings(), project.root, progress=QuietProgress())
    (row,) = plan.calls.filter(stage="extraction").iter_rows(named=True)
    assert (row["calls"], row["from_memo"]) == (0, 3)
    priced = project.settings("llm.price=[1.0, 4.0]", "extraction.max_gleanings=1")
    plan = plan_run(priced, project.root, progress=QuietProgress())
    (row,) = plan.calls.filter(stage="extraction").iter_rows(named=True)
    assert (row["calls"], row["from_memo"]) == (3, 3) and 0 < row["usd_low"] < row["usd_high"]
    with pytest.raises(UsageError, match="embedded"):
        plan_run(project.settings("llm.model=embedded"), project.root, progress=QuietProgress())


def test_a_budget_without_a_price_is_refused_before_any_call(project: Project) -> None:
    with pytest.raises(LlmError, match="No price"):
        run_pipeline(project.settings("llm.budget_usd=1.0", "llm.model=openai/no-such-model"), project.root)


def test_embeddings_come_from_the_service(project: Project) -> None:
    from graphrag.llm.embeddings import RawVectors

    asked: list[str] = []

    def embed(texts: object) -> RawVectors:
        names = list(texts)  # type: ignore[call-overload]
        asked.extend(names)
        return RawVectors([(i, [0.0, 0.0] if "Rose" in name else [1.0, 2.0]) for i, name in enumerate(names)], 10)

    def open_model(settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None) -> ScriptedLlm:
        return ScriptedLlm(answer_depends, embed=embed, memo=memo, ledger=ledger)

    settings = project.settings("embeddings.model=some/embedder", "disambiguation.judge=false")
    summary = run_pipeline(settings, project.root, open_model=open_model)
    vectors = project.tables()["embeddings"]
    assert set(vectors["dim"]) == {2} and set(vectors["model"]) == {"some/embedder"}
    assert vectors.height + summary.failures_by_reason["bad_vector"] == len(set(asked)) > 9


def test_check_names_the_model_its_prompts_and_its_price(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphrag.project import check_project

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    settings = project.settings("llm.model=openai/gpt-4.1-mini")
    rows = {name: (state, words) for state, name, words in check_project(settings, project.root)}
    assert [rows[name][0] for name in ("prompts", "model", "price")] == ["ok", "ok", "ok"]
    monkeypatch.delenv("OPENAI_API_KEY")
    (project.root / "prompts").mkdir()
    (project.root / "prompts" / "extract_graph.md").write_text("Find entities.", encoding="utf-8")
    settings = project.settings("llm.model=openai/no-such-model", "llm.budget_usd=1.0")
    rows = {name: (state, words) for state, name, words in check_project(settings, project.root)}
    assert [rows[name][0] for name in ("prompts", "model", "price")] == ["no", "--", "no"]
    assert "OPENAI_API_KEY" in rows["model"][1] and "{input_text}" in rows["prompts"][1]


def test_a_recorded_run_is_replayed_to_the_same_tables_without_a_model(project: Project) -> None:
    project.index()
    project.index("llm.record=replies.jsonl", full=True)  # from the memo, and recorded all the same
    assert project.asked == []
    recorded = project.tables()
    lines = (project.root / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    replayed = run_pipeline(project.settings("llm.model=replay:replies.jsonl"), project.root, full=True)
    assert replayed.status == "published"
    assert [(row["model"], row["calls"], row["cost_usd"]) for row in replayed.calls] == [("replay", 3, 0.0)]
    for name in ("entities", "relationships", "evidence", "entity_mentions", "communities"):
        assert_frame_equal(project.tables()[name], recorded[name])


def test_a_replay_without_the_reply_or_the_file_ends_with_one_line(project: Project) -> None:
    project.index("llm.record=replies.jsonl")
    project.write(d="# Iota\n\nIota depends on Kappa. Kappa depends on Iota.\n")
    with pytest.raises(ReplyMiss, match=r"replies\.jsonl has no reply for extraction: .*Record it again\."):
        run_pipeline(project.settings("llm.model=replay:replies.jsonl"), project.root)
    with pytest.raises(InputError, match="Cannot read the recording"):
        run_pipeline(project.settings("llm.model=replay:none.jsonl"), project.root)
    with pytest.raises(UsageError, match="asks no model and costs nothing"):
        plan_run(project.settings("llm.model=replay:replies.jsonl"), project.root, progress=QuietProgress())


def test_what_a_library_silences_when_it_is_opened_stays_silent(project: Project, tmp_path: Path) -> None:
    """litellm filters warnings of its own when it is imported; a later stage must not hear of them."""

    def open_model(settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None) -> ScriptedLlm:
        warnings.filterwarnings("ignore", "a field is odd")
        return ScriptedLlm(answer_depends, memo=memo, ledger=ledger)

    with Memo(tmp_path / "memo") as memo, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = RunModel(project.settings(), project.root, run_id="r", memo=memo, open_model=open_model)
        model.ask(lambda llm: chat_many(llm, []))
        warnings.warn("a field is odd", stacklevel=1)
    assert heard == []
