"""Reports that a model writes: what it is shown, how its reply is read, what stands where it fails (indexing.md 6)."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphrag import ids, tables
from graphrag.errors import PromptError
from graphrag.index.communities import build_communities
from graphrag.index.report_calls import ReportPrompts
from graphrag.index.reports import Reports, build_extractive_reports, plan_reports, write_reports
from graphrag.llm.chat import ChatRequest, Completion
from graphrag.llm.replay import ScriptedFault, ScriptedLlm
from graphrag.memo import Memo
from graphrag.prompts import check_prompt, load_prompt
from graphrag.tokens import count_tokens

from .model_rows import answer_report
from .test_reports import FACTS, PAGES, Fact, Frames, make_frames

PROMPTS = ReportPrompts(load_prompt("community_report"), load_prompt("repair_reply"))
LINE = re.compile(r"^(\d+)\|(.*)$", re.MULTILINE)
INPUTS = ("communities", "entities", "relationships", "evidence", "text_units", "documents", "covariates")


def cluster(frames: Frames, *, max_size: int = 10) -> dict[str, pl.DataFrame]:
    """All that the stage reads."""
    communities = build_communities(
        frames.entities, frames.relationships, frames.evidence, frames.documents, max_community_size=max_size,
        resolution=1.0, seed=42, layer_weights={"cooccurrence": 0.2},
    ).communities  # fmt: skip
    return {"communities": communities, **frames._asdict(), "covariates": tables.COVARIATES.empty()}


def write(read: dict[str, pl.DataFrame], llm: ScriptedLlm, **knobs: Any) -> Reports:
    """`knobs` over context_tokens 8000, max_length 600 and our own prompts."""
    given = {"context_tokens": 8000, "max_length": 600, "prompts": PROMPTS} | knobs
    return llm.run(write_reports(*(read[name] for name in INPUTS), llm=llm, **given))


def tell(read: dict[str, pl.DataFrame], script: Callable[[ChatRequest], Any], **knobs: Any) -> list[dict[str, Any]]:
    return write(read, ScriptedLlm(script, max_retries=0), **knobs).community_reports.to_dicts()


def table_of(request: ChatRequest, name: str) -> dict[int, str]:
    """The lines of one table of a prompt by number."""
    block = request.text.partition(f"-----{name}-----\n")[2].partition("\n-----")[0]
    return {int(number): line for number, line in LINE.findall(block)}


def edges_of(request: ChatRequest) -> set[tuple[str, ...]]:
    return {tuple(line.split("|")[:3]) for line in table_of(request, "Relationships").values()}


def reply(**fields: Any) -> str:
    given = {"title": "T", "summary": "S.", "rating": 7, "rating_explanation": "Because.", "findings": []}
    return json.dumps(given | fields)


@pytest.fixture(scope="module")
def read() -> dict[str, pl.DataFrame]:
    return cluster(make_frames(PAGES, FACTS, extra=("Loner", "Other")))


@pytest.fixture(scope="module")
def deep() -> dict[str, pl.DataFrame]:
    """Three groups of three triangles: communities on two levels."""
    facts: list[Fact] = []
    pages: dict[str, str] = {}
    for group in range(3):
        for part in range(3):
            own = [f"P{group}{part}{letter}" for letter in "abc"]
            pairs = [*zip(own, own[1:] + own[:1], strict=True)]
            pairs += [(own[0], f"P{group}{(part + 1) % 3}a"), (own[1], f"P{group}{(part + 2) % 3}b")]
            pairs += [] if part else [(own[2], f"P{(group + 1) % 3}1c")]
            said = [f"{a} depends on {b}." for a, b in pairs]
            pages[f"p{group}{part}.md"] = " ".join(said)
            facts += [
                (f"p{group}{part}.md", text, a, "depends_on", b) for text, (a, b) in zip(said, pairs, strict=True)
            ]
    return cluster(make_frames(pages, facts), max_size=4)


def test_a_report_cites_rows_of_the_tables_and_each_citation_has_a_quote(read: dict[str, pl.DataFrame]) -> None:
    rows = {row["title"]: row for row in tell(read, answer_report)}
    first = rows["Redis and what needs it"]
    assert first["method"] == "llm"
    assert (first["rank"], first["rating_explanation"], first["left_out"]) == (6.5, "Others depend on it.", "{}")
    assert "[Data: Relationships (200); Sources (100)]" in first["findings"][0]["explanation"]
    assert first["full_content"].startswith("# Redis and what needs it\n\nA group around Redis.\n\n## ")
    texts = dict(read["documents"].select("id", "text").iter_rows())
    cited = json.loads(first["citations"])
    assert [row["ref"] for row in cited] == ["Relationships (200)", "Sources (100)"]
    for row in cited:
        assert texts[row["document_id"]][row["start"] : row["end"]] == row["quote"]
        assert row["quote"] == "Auth Service was down because Redis evicted sessions."


def test_every_table_can_be_cited_and_what_was_not_shown_cannot(read: dict[str, pl.DataFrame]) -> None:
    text = "A [Data: Entities (1, 99); Sources (1)] b [Reports (1)] c [Data: Relationships (1, +more)]."
    built = write(read, ScriptedLlm(lambda _: reply(summary=text, title="T [Data: Entities (1)]")))
    row = built.community_reports.row(0, named=True)
    assert row["title"] == "T" and re.fullmatch(
        r"A \[Data: Entities \(\d\); Sources \(1\d\d\)\] b c \[Data: Relationships \(2\d\d\)\]\.", row["summary"]
    )
    assert [cited["kind"] for cited in json.loads(row["citations"])] == ["entities", "text_units", "relationships"]
    failures = built.failures.filter(pl.col("item_id") == "0").to_dicts()
    assert [(f["reason"], f["detail"]) for f in failures] == [
        ("unknown_citation", "2 cited rows are not in the prompt; removed")
    ]


def test_small_and_unconnected_communities_are_not_asked_about(read: dict[str, pl.DataFrame]) -> None:
    llm = ScriptedLlm(answer_report)
    rows = write(read, llm).community_reports.to_dicts()
    methods = {row["community"]: row["method"] for row in rows}
    assert len(llm.requests) == list(methods.values()).count("llm") == 3
    templates = [row for row in rows if row["method"] == "template"]
    extractive = build_extractive_reports(*(read[name] for name in INPUTS[:-1])).community_reports
    assert [row["title"] for row in templates] == ["Label Service calls Address Validator", "Unconnected entities"]
    assert all(row in extractive.to_dicts() for row in templates)
    assert {request.role for request in llm.requests} == {"report"}
    llm = ScriptedLlm(answer_report)
    assert set(write(read, llm, min_report_size=100).community_reports["method"]) == {"template"}
    assert llm.requests == []


def test_a_prompt_holds_the_data_fenced_and_no_id(read: dict[str, pl.DataFrame]) -> None:
    llm = ScriptedLlm(answer_report)
    write(read, llm)
    known = {value for name in ("entities", "relationships", "text_units", "documents") for value in read[name]["id"]}
    known |= set(read["documents"]["path"]) | set(read["communities"]["title"])
    for request in llm.requests:
        system, user = (message.content for message in request.messages)
        assert "\n-----Entities-----" in user and "-----Entities-----" not in system
        assert re.fullmatch(r"<<<(DATA-[0-9a-f]{16})\n.*\n\1>>>", user, re.DOTALL)
        assert not any(value in request.text for value in known)


def test_the_same_community_gives_the_same_question_whatever_it_is_called(read: dict[str, pl.DataFrame]) -> None:
    """Other paths, numbers, text units, order of rows: no question changes, so no report is paid for again."""

    def ask(frames: Frames) -> list[str]:
        llm = ScriptedLlm(answer_report)
        rows = cluster(frames)
        salted = {name: frame.sample(fraction=1, shuffle=True, seed=3) for name, frame in rows.items()}
        write(salted, llm)
        return sorted(request.text for request in llm.requests)

    frames = make_frames(PAGES, FACTS, extra=("Loner", "Other"))
    moved = {f"z{k}-{path}": text for k, (path, text) in enumerate(reversed(PAGES.items()))}
    name_of = {path.partition("-")[2]: path for path in moved}
    other = make_frames(moved, [(name_of[fact[0]], *fact[1:]) for fact in FACTS], extra=("Loner", "Other"))
    assert ask(frames) == ask(other)


def test_a_parent_is_asked_after_its_children_and_shown_their_reports(deep: dict[str, pl.DataFrame]) -> None:
    def script(request: ChatRequest) -> str:
        names = "".join(sorted(line.split("|")[0] for line in table_of(request, "Entities").values()))
        return reply(title=f"About {ids.content_sha256(names)[:8]}", summary=f"SUMMARY-{names} [Data: Entities (1)].")

    llm = ScriptedLlm(script)
    rows = {row["community"]: row for row in write(deep, llm, context_tokens=900).community_reports.to_dicts()}
    parents = [row for row in rows.values() if row["children"]]
    assert parents and {row["method"] for row in rows.values()} == {"llm"}
    with_reports = [request for request in llm.requests if "-----Reports-----" in request.text]
    assert with_reports
    for request in with_reports:
        for line in table_of(request, "Reports").values():
            title, size, told = line.split("|")
            child = next(row for row in rows.values() if row["title"] == title)
            assert size == str(child["size"]) and told.startswith("SUMMARY-") and "[Data" not in told
    depth = {row["level"] for row in rows.values()}
    assert max(depth) >= 1
    n_deepest = sum(row["level"] == max(depth) for row in rows.values())
    assert not any("-----Reports-----" in request.text for request in llm.requests[:n_deepest])


@pytest.mark.parametrize("context_tokens", [760, 900, 1200, 8000])
def test_every_edge_is_shown_below_or_counted(deep: dict[str, pl.DataFrame], context_tokens: int) -> None:
    check_every_edge_is_shown_or_counted(deep, context_tokens)


def check_every_edge_is_shown_or_counted(read: dict[str, pl.DataFrame], context_tokens: int) -> int:
    """Each relationship of a community is in its prompt, in a prompt or template below it, or among those left out.
    Returns how many were left out anywhere."""
    llm = ScriptedLlm(lambda _: reply(title=f"x{len(llm.requests)}"))
    written = write(read, llm, context_tokens=context_tokens).community_reports.to_dicts()
    assert all(sum(count_tokens(m.content) for m in request.messages) <= context_tokens for request in llm.requests)
    prompts = {f"x{n}": request for n, request in enumerate(llm.requests, start=1)}
    ends = {row["id"]: (row["source"], row["target"]) for row in read["relationships"].to_dicts()}
    reports = {row["community"]: row for row in written}
    reached: dict[int, set[tuple[str, ...]]] = {}
    n_left_out: dict[int, int] = {}
    for community in read["communities"].sort("level", descending=True).to_dicts():
        number, report = community["community"], reports[community["community"]]
        inside = {ends[key] for key in community["relationship_ids"]}
        own = {edge[::2] for edge in edges_of(prompts[report["title"]])} if report["method"] == "llm" else inside
        reached[number] = own.union(*(reached[child] for child in community["children"]))
        left_out = json.loads(report["left_out"]).get("Relationships", 0)
        n_left_out[number] = left_out + sum(n_left_out[child] for child in community["children"])
        assert len(inside - reached[number]) <= n_left_out[number]
    return sum(json.loads(row["left_out"]).get("Relationships", 0) for row in written)


PROSE = ["Here is what I think of this group: it is nice.", "", "I'm sorry, I cannot help with that."]


@pytest.mark.parametrize("said", PROSE)
def test_without_one_readable_reply_every_report_is_extractive(read: dict[str, pl.DataFrame], said: str) -> None:
    llm = ScriptedLlm(lambda _: said, max_retries=0)
    built = write(read, llm)
    extractive = build_extractive_reports(*(read[name] for name in INPUTS[:-1])).community_reports
    assert built.community_reports.equals(extractive)
    reasons = {"unreadable_reply", "empty_reply", "refusal"}
    assert built.failures.height == 3 and set(built.failures["reason"]) <= reasons
    assert all("an extractive report stands in its place" in detail for detail in built.failures["detail"])
    assert len(llm.requests) == 6  # one repair each


def test_a_service_that_fails_leaves_extractive_reports_with_the_reason(read: dict[str, pl.DataFrame]) -> None:
    def script(request: ChatRequest) -> str:
        if "Kafka" in request.text:
            raise ScriptedFault(400, "maximum context length is 10 tokens")
        return answer_report(request)

    built = write(read, ScriptedLlm(script, max_retries=0))
    assert sorted(built.community_reports["method"]) == ["extractive", "llm", "llm", "template", "template"]
    assert built.failures["reason"].to_list() == ["too_long"]


def test_one_repair_is_asked_for(read: dict[str, pl.DataFrame]) -> None:
    def script(request: ChatRequest) -> str:
        return answer_report(request) if len(request.messages) > 2 else "Sure, I will!"

    llm = ScriptedLlm(script)
    built = write(read, llm)
    assert built.failures.is_empty() and len(llm.requests) == 6
    assert list(built.community_reports["method"]).count("llm") == 3


GOOD = (
    '{"title": "Cache", "summary": "It caches.", "rating": 8, "rating_explanation": "x", '
    '"findings": [{"summary": "a", "explanation": "b"}]}'
)


@pytest.mark.parametrize(
    ("said", "rank"),
    [
        (GOOD, 8.0),
        (f"Sure!\n```json\n{GOOD}\n```\nDone.", 8.0),
        (GOOD.replace('"b"}]', '"b"},]'), 8.0),
        (GOOD.replace('8, "rating_e', '8 "rating_e'), 8.0),
        (GOOD.replace('"', "'"), 8.0),
        (GOOD.replace('{"summary": "a", "explanation": "b"}', '"a"'), 8.0),
        (GOOD.replace('"rating": 8', '"rating": "9/10"'), 9.0),
        (GOOD.replace('"rating": 8', '"rating": 99'), 10.0),
        (GOOD.replace('"rating": 8', '"rating": -3'), 0.0),
    ],
)
def test_replies_are_read_however_they_are_written(read: dict[str, pl.DataFrame], said: str, rank: float) -> None:
    row = tell(read, lambda _: said)[0]
    assert (row["title"], row["summary"], row["rank"], row["method"]) == ("Cache", "It caches.", rank, "llm")
    assert row["findings"][0]["summary"] == "a"
    assert json.loads(row["full_content_json"])["rating"] == rank


def test_a_reply_without_title_or_rating_gets_them_from_the_community(read: dict[str, pl.DataFrame]) -> None:
    row = tell(read, lambda _: '{"summary": "Only this."}')[0]
    assert row["title"] == "Community 0" and row["rating_explanation"].startswith("Rank ")


def test_a_reply_that_was_cut_keeps_what_can_be_read(read: dict[str, pl.DataFrame]) -> None:
    cut = Completion(GOOD[:-20], "length")
    built = write(read, ScriptedLlm(lambda _: cut, max_retries=0))
    assert set(built.failures["reason"]) == {"truncated"}
    assert built.community_reports["title"][0] == "Cache"


def test_findings_are_limited(read: dict[str, pl.DataFrame]) -> None:
    many = reply(findings=[f"finding {k}" for k in range(9)])
    assert len(tell(read, lambda _: many, max_findings=2)[0]["findings"]) == 2


def test_an_unchanged_community_is_not_asked_about_again(read: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    more: Fact = ("more.md", "Kafka feeds Zeus.", "Kafka", "feeds", "Zeus")
    changed = cluster(make_frames(PAGES | {"more.md": more[1]}, [*FACTS, more], extra=("Loner", "Other")))
    with Memo(tmp_path / "memo.sqlite") as memo:
        n_calls = []
        for frames in (read, read, changed):
            llm = ScriptedLlm(answer_report, memo=memo)
            write(frames, llm)
            n_calls.append(len(llm.requests))
    assert n_calls == [3, 0, 1]


def test_the_order_of_rows_has_no_effect(deep: dict[str, pl.DataFrame]) -> None:
    shuffled = {name: frame[random.Random(5).sample(range(frame.height), frame.height)] for name, frame in deep.items()}
    knobs = {"context_tokens": 900}
    assert tell(deep, answer_report, **knobs) == tell(shuffled, answer_report, **knobs)


def test_prompt_files_of_the_reference_work(read: dict[str, pl.DataFrame]) -> None:
    text = (
        'Write a report as JSON like {{"title": "x"}}.\nText: {input_text}\nAt most {max_report_length} words.\nOutput:'
    )
    prompts = ReportPrompts(
        check_prompt("community_report", text, path="prompts/community_report_graph.txt"), PROMPTS.repair
    )
    llm = ScriptedLlm(answer_report)
    rows = write(read, llm, prompts=prompts, max_length=321).community_reports
    (message,) = llm.requests[0].messages
    assert message.role == "user" and "At most 321 words." in message.content and '{"title": "x"}' in message.content
    assert "-----Relationships-----" in message.content and "llm" in rows["method"].to_list()


def test_a_prompt_that_leaves_no_room_is_refused_in_words(read: dict[str, pl.DataFrame]) -> None:
    words = r"prompts/community_report.md: the prompt has \d+ tokens without any data, reports.context_tokens is 500\."
    with pytest.raises(PromptError, match=words):
        tell(read, answer_report, context_tokens=500)


def test_claims_stand_beside_their_subject_and_can_be_cited(read: dict[str, pl.DataFrame]) -> None:
    claim = {
        "id": "c1", "human_readable_id": 77, "covariate_type": "claim", "type": "risk", "subject_id": "Kafka",
        "description": "It is one node.", "object_id": None, "status": "true", "start_date": "", "end_date": "",
        "source_text": "", "text_unit_id": read["text_units"]["id"][0],
    }  # fmt: skip
    with_claim = read | {"covariates": tables.COVARIATES.from_rows([claim])}
    llm = ScriptedLlm(lambda _: reply(summary="Risky [Data: Claims (1)]."))
    rows = write(with_claim, llm).community_reports.to_dicts()
    (request,) = [request for request in llm.requests if "-----Claims-----" in request.text]
    assert table_of(request, "Claims") == {1: "Kafka|risk|true|It is one node."}
    assert [row["summary"] for row in rows if "Claims" in row["summary"]] == ["Risky [Data: Claims (77)]."]


def test_what_would_be_asked_again_is_known_before(deep: dict[str, pl.DataFrame]) -> None:
    llm = ScriptedLlm(answer_report)
    written = write(deep, llm, context_tokens=900).community_reports
    frames = [deep[name] for name in INPUTS if name not in ("communities", "text_units")]
    planned = plan_reports(deep["communities"], written, *frames, prompts=PROMPTS, context_tokens=900, max_length=600)
    assert sorted(r.text for r in planned) == sorted(r.text for r in llm.requests)
