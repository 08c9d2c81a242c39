"""Index runs with the real litellm against a server that misbehaves: what is readable is in the tables."""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path

import polars as pl
import pytest

from graphrag.errors import GateHeld
from graphrag.pipeline import run_pipeline
from graphrag.project import create_project
from graphrag.runs.run import RunSummary
from graphrag.settings_file import load_settings

from .conftest import ROOT
from .llm.fake_server import FakeServer, Reply, serve

KEY = "sk-test-0123456789abcdef"
N_UNITS = 60
SENTENCE = re.compile(r"\[(\d+)\] (Service\d+) depends on (Store\d+)\.")


def make_project(root: Path) -> None:
    create_project(root)
    for i in range(N_UNITS):
        text = f"# Note {i}\n\nService{i} depends on Store{i}. Both were built in the same year.\n"
        (root / "data" / "input" / f"n{i:03}.md").write_text(text, encoding="utf-8")


def index(root: Path, server: FakeServer, *overrides: str) -> RunSummary:
    fixed = [
        "llm.model=openai/fake", f"llm.api_base={server.url}", "embeddings.model=none", "llm.max_concurrency=16",
        "llm.timeout_seconds=2.0",
    ]  # fmt: skip
    return run_pipeline(load_settings(root, overrides=[*fixed, *overrides], environ={})[0], root)


def records(question: str) -> list[str]:
    (number, service, store), *_ = SENTENCE.findall(question)
    return [
        f'["E","{service}","service","A service."]', f'["E","{store}","database","A store."]',
        f'["R","{service}","depends_on","{store}","needs it",7,[{number}]]',
    ]  # fmt: skip


def draw(question: str, attempt: int) -> float:
    return random.Random(hashlib.sha256(f"{question}{attempt}".encode()).hexdigest()).random()


def answer_badly(question: str, attempt: int) -> Reply:
    """30 % malformed, 10 % cut, 10 % 429, 5 % 500, 2 % silent; by question and attempt, so that a retry draws anew."""
    if not SENTENCE.search(question):
        return Reply("NONE")  # the rest of a cut reply: the fake has lost its thread
    lines, chance = records(question), draw(question, attempt)
    if chance < 0.30:
        malformed = [
            "Sure! Here it is:\n```json\n" + "\n".join(lines) + "\n```", "\n".join(lines).replace('"', "'"),
            ",\n".join(lines), "[" + ",".join(lines) + "]", "\n".join(lines)[:-1], " ".join(lines),
        ]  # fmt: skip
        return Reply(malformed[int(chance / 0.30 * len(malformed))])
    if chance < 0.40:
        return Reply("\n".join(lines) + '\n["E","Half', finish_reason="length")
    if chance < 0.50:
        return Reply(status=429, message="slow down", headers={"Retry-After": "0"})
    if chance < 0.55:
        return Reply(status=500, message="internal error")
    if chance < 0.57:
        return Reply(hang=True)
    return Reply("\n".join(lines))


@pytest.mark.slow
def test_a_night_of_faults_loses_nothing_that_could_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    make_project(tmp_path)
    with serve(answer_badly) as server:
        summary = index(tmp_path, server)
        assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    evidence = pl.read_parquet(tmp_path / "data/output/current/evidence.parquet")
    assert evidence["is_verified"].all()
    assert evidence["document_id"].n_unique() >= 0.99 * N_UNITS
    assert summary.counts["relationships"] >= 0.99 * N_UNITS
    assert sum(row["calls"] for row in summary.calls) >= N_UNITS
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_a_server_that_only_talks_is_held_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    make_project(tmp_path)
    words = f"{N_UNITS} of {N_UNITS} text units got no usable reply"
    with serve(lambda question, attempt: Reply("A lovely note.")) as server, pytest.raises(GateHeld, match=words):
        index(tmp_path, server)
    assert not (tmp_path / "data/output/current").exists()


def test_the_prompt_that_is_sent_begins_with_what_never_changes(tmp_path: Path) -> None:
    make_project(tmp_path)
    with serve(lambda question, attempt: Reply("\n".join(records(question)))) as server:
        index(tmp_path, server)
    systems = {body["messages"][0]["content"] for body in server.bodies}
    assert len(systems) == 1 and (ROOT / "prompts/extract_graph.md").read_text(encoding="utf-8")[:60] in systems.pop()
    assert len(server.bodies) == N_UNITS


TRIANGLE = ("{0} depends on {1}. {1} depends on {2}. {2} depends on {0}.", r"\[(\d+)\] (\w+) depends on (\w+)\.")


def answer_with_reports(question: str, attempt: int) -> Reply:
    """Records of a passage; reports: one in a fence, one as prose and only then as JSON, one that a filter cut."""
    report = '{"title": "A ring", "summary": "They need each other [Data: Relationships (1, 2, 3)].", "rating": 4}'
    if "-----Entities-----" in question:
        if "Alpha" in question:
            return Reply(f"Here you are:\n```json\n{report}\n```")
        return Reply("They are three.") if "Xeno" in question else Reply("They", finish_reason="content_filter")
    if question.startswith("Your last answer could not be read"):
        return Reply(report)
    facts = re.findall(TRIANGLE[1], question)
    return Reply("\n".join(f'["R","{a}","depends_on","{b}","needs it",7,[{number}]]' for number, a, b in facts))


def test_reports_come_over_http_and_bad_ones_are_mended_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    create_project(tmp_path)
    for names in (("Alpha", "Beta", "Gamma"), ("Xeno", "Yonder", "Zinc"), ("Pine", "Quartz", "Rose")):
        text = TRIANGLE[0].format(*names)
        (tmp_path / "data" / "input" / f"{names[0]}.md").write_text(f"# {names[0]}\n\n{text}\n", encoding="utf-8")
    with serve(answer_with_reports) as server:
        index(tmp_path, server, "llm.report_model=openai/writer")
    folder = tmp_path / "data/output/current"
    reports = pl.read_parquet(folder / "community_reports.parquet")
    assert sorted(reports["method"]) == ["extractive", "llm", "llm"]
    written = reports.filter(pl.col("method") == "llm")
    assert set(written["title"]) == {"A ring"} and set(written["rank"]) == {4.0}
    assert written["summary"].str.contains(r"\[Data: Relationships \(\d+, \d+, \d+\)\]").all()
    assert pl.read_parquet(folder / "failures.parquet").select("stage", "reason").rows() == [("reports", "refusal")]
    models = [body["model"] for body in server.bodies]
    assert models.count("writer") == 4 and set(models) == {"fake", "writer"}
