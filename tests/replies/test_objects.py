"""JSON replies: indexing.md sections 6 and 8, B10-B13, B21 and B22 of hostile-inputs.md."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.replies.objects import (
    Finding,
    parse_description_reply,
    parse_points_reply,
    parse_preference_reply,
    parse_ratings_reply,
    parse_report_reply,
    parse_scores_reply,
    parse_step_reply,
    parse_verdicts_reply,
)

REPORT = {
    "title": "Redis and Auth",
    "summary": "Auth needs Redis.",
    "rating": 7.5,
    "rating_explanation": "Much depends on it.",
    "findings": [{"summary": "One.", "explanation": "Because [Data: Entities (1)]."}],
}
WHOLE = (
    "Redis and Auth",
    "Auth needs Redis.",
    7.5,
    "Much depends on it.",
    [Finding("One.", "Because [Data: Entities (1)].")],
    "",
    False,
)
PRETTY = json.dumps(REPORT, indent=2)


@pytest.mark.parametrize(
    "reply",
    [
        PRETTY,
        json.dumps(REPORT),
        f"Here is the report:\n```json\n{PRETTY}\n```\nAnything else?",
        f"<think>{{\"title\": \"x\"}}</think>{PRETTY}",
        PRETTY.replace('"\n    }', '",\n    },').replace("7.5", '"7.5/10"'),
        PRETTY.replace('",\n', '"\n').replace("7.5,\n", "7.5\n"),
        PRETTY.replace('"', "'"),
        PRETTY.replace('"rating":', '// how much\n  "rating": /* 0-10 */'),
        f'{{"thought": "I shall write it"}}\n{PRETTY}\n{json.dumps(REPORT | {"title": "Second"})}',
        json.dumps({"report": REPORT}),
        json.dumps([REPORT]),
        json.dumps(REPORT | {"extra": [1, {"a": None}]}),
    ],
)  # fmt: skip
def test_report_in_many_clothes(reply: str) -> None:
    assert tuple(parse_report_reply(reply, community=3)) == WHOLE


def test_report_defaults_and_clamps() -> None:
    odd = REPORT | {"title": None, "rating": "high", "findings": None}
    assert parse_report_reply(json.dumps(odd), community=3)[:5] == (
        "Community 3",
        "Auth needs Redis.",
        None,
        "Much depends on it.",
        [],
    )
    assert parse_report_reply(json.dumps(REPORT | {"rating": 99}), community=3).rating == 10
    assert parse_report_reply(json.dumps(REPORT | {"rating": -1}), community=3).rating == 0
    assert parse_report_reply(json.dumps(REPORT | {"findings": ["a", "", {"x": 1}, "b"]}), community=3).findings == [
        Finding("a", ""), Finding("b", ""),
    ]  # fmt: skip
    many = [{"summary": f"s{i}", "explanation": "e"} for i in range(200)]
    assert len(parse_report_reply(json.dumps(REPORT | {"findings": many}), community=3).findings) == 200
    assert parse_report_reply(PRETTY.replace("7.5", "NaN"), community=3).rating is None


def test_report_with_inner_quotes_and_line_ends() -> None:
    reply = PRETTY.replace("Auth needs Redis.", 'The "big" one,\nas "they" say, needs it.')
    assert parse_report_reply(reply, community=3).summary == 'The "big" one, as "they" say, needs it.'


def test_report_cut_off() -> None:
    parsed = parse_report_reply(PRETTY[: PRETTY.index("[Data")], community=3)
    assert (parsed.summary, parsed.is_truncated, parsed.problem) == ("Auth needs Redis.", True, "")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [("", "empty_reply"), (None, "empty_reply"), ("```json\n```", "empty_reply"),
     ("I'm sorry, I can't do that.", "refusal"),
     ("The community is about Redis.", "unreadable_reply"), ("{}", "unreadable_reply"),
      ('{"title": "x"}', "unreadable_reply"),
     ("[1, 2]", "unreadable_reply")],
)  # fmt: skip
def test_reports_that_are_none(reply: str | None, problem: str) -> None:
    assert parse_report_reply(reply, community=3).problem == problem


@pytest.mark.parametrize(
    ("score", "read"),
    [('"85/100"', 85.0), ("-5", None), ("1e9", 100.0), ("null", None), ("0", None), ('"high"', None), ("72.5", 72.5),
     ('"90"', 90.0)],
)  # fmt: skip
def test_b13_scores(score: str, read: float | None) -> None:
    parsed = parse_points_reply(f'{{"points": [{{"description": "d", "score": {score}}}]}}')
    assert [point.score for point in parsed.points] == ([] if read is None else [read])
    assert (parsed.n_dropped, parsed.problem) == (int(read is None), "")


def test_points_in_other_shapes() -> None:
    assert parse_points_reply('[{"description": "d", "score": 5}]').points == [("d", 5.0)]
    assert parse_points_reply('Sure! {"points": []} Done.') == ([], 0, "")
    assert parse_points_reply("[]") == ([], 0, "")
    assert (
        parse_points_reply('{"points": [{"description": "a", "score": 5}, {"description": "b"}, "c"]}').n_dropped == 2
    )
    assert parse_points_reply("nothing relevant").problem == "unreadable_reply"
    assert parse_points_reply("").problem == "empty_reply"


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"intermediate_answer": "a", "score": 60, "follow_up_queries": ["b?", "c?", "b?"]}',
         ("a", 60.0, ["b?", "c?"])),
        ('```json\n{"response": "a", "score": "85/100", "extra": 1}\n```', ("a", 85.0, [])),
        ('{"response": "a", "follow_up_queries": "b?"}', ("a", 50.0, ["b?"])),
        ('{"response": null, "answer": "a", "score": 900, "follow_ups": [{"query": "b?"}, 3, null, " "]}',
         ("a", 100.0, ["b?", "3"])),
        ('{"response": "", "score": 0, "follow_up_queries": []}', ("", 0.0, [])),
        ('{"response": "a", "score": 70, "follow_up_queries": ["b?", "c', ("a", 70.0, ["b?"])),
    ],
)  # fmt: skip
def test_steps(reply: str, read: tuple[str, float, list[str]]) -> None:
    assert parse_step_reply(reply) == (*read, "")


@pytest.mark.parametrize(
    ("reply", "problem"), [("", "empty_reply"), ("no json", "unreadable_reply"), ('{"score": 3}', "unreadable_reply")]
)
def test_steps_that_are_none(reply: str, problem: str) -> None:
    assert parse_step_reply(reply) == ("", 0.0, [], problem)


@pytest.mark.parametrize(
    ("reply", "ratings"),
    [
        ('{"1": 3, "2": 0, "3": 5}', {1: 3, 2: 0, 3: 5}),
        ('Here:\n```json\n{"1": "3", 2: 0, "3": 9,}\n```', {1: 3, 2: 0, 3: 5}),
        ('{"ratings": [{"id": 1, "rating": 3}, {"id": "3", "rating": 0.5}]}', {1: 3, 3: 0.5}),
        ('{"1": {"reason": "r", "rating": 3}, "2": 1}', {2: 1}),
        ('{"1": 3, "2": "high", "4": 5, "0": 5}', {1: 3}),
        ('{"1": 3, "2": 1} or rather {"1": 0, "2": 1}', {2: 1}),
        ('{"1": 3, "2": 4, "3', {1: 3, 2: 4}),
        ("[3, 0, 1]", {}),
        ('{"rating": 3}', {}),
        ("relevant", {}),
        (None, {}),
    ],
)
def test_ratings(reply: str | None, ratings: dict[int, float]) -> None:
    assert parse_ratings_reply(reply, n=3) == ratings


@pytest.mark.parametrize(
    ("reply", "scores", "problem"),
    [
        ('{"reason": "why", "a": 3, "b": 0}', {"a": 3, "b": 0}, ""),
        ('Here:\n```json\n{"reason": "why", "a": "3", "b": 0,}\n```', {"a": 3, "b": 0}, ""),
        ('{"a": 3}', {}, "unreadable_reply"),
        ('{"a": 4, "b": 1}', {}, "unreadable_reply"),
        ('{"a": -1, "b": 1}', {}, "unreadable_reply"),
        ('{"a": 2.5, "b": 1}', {}, "unreadable_reply"),
        ('{"a": "high", "b": null}', {}, "unreadable_reply"),
        ("both are fine", {}, "unreadable_reply"),
        ("I'm sorry, I cannot help with that.", {}, "refusal"),
        (None, {}, "empty_reply"),
    ],
)
def test_scores_are_all_there_and_whole_or_none_are(reply: str | None, scores: dict[str, int], problem: str) -> None:
    found = parse_scores_reply(reply, names=("a", "b"), highest=3)
    assert (found.scores, found.problem) == (scores, problem)
    assert found.reason == ("why" if scores else "")


def test_preferences() -> None:
    assert parse_preference_reply('{"reason": "r", "better": "First"}') == ("first", "r", "")
    assert parse_preference_reply('{"better": "tie"}') == ("tie", "", "")
    assert parse_preference_reply('{"better": "A"}').problem == "unreadable_reply"
    assert parse_preference_reply("first").problem == "unreadable_reply"
    assert parse_preference_reply("").problem == "empty_reply"


def test_verdicts() -> None:
    reply = (
        '[1, "same", "short form"]\n[2, "Different", "another version"]\n[3, "unsure", ""]\n'
        '[9, "same", "no such pair"]\n[2.5, "same"]'
    )
    verdicts = parse_verdicts_reply(reply, n_pairs=4).verdicts
    assert {number: given.verdict for number, given in verdicts.items()} == {1: "same", 2: "different", 3: "unsure"}
    objects = '```json\n[{"pair": "1", "verdict": "yes", "reason": "r"}, {"pair": 2, "same": false}]\n```'
    assert parse_verdicts_reply(objects, n_pairs=2).verdicts == {1: ("same", "r"), 2: ("different", "")}


def test_b21_a_judge_who_contradicts_himself_decides_nothing() -> None:
    parsed = parse_verdicts_reply('[1, "same", ""]\n[2, "same", ""]\n[1, "different", ""]', n_pairs=2)
    assert (list(parsed.verdicts), parsed.n_contradictions) == ([2], 1)
    assert parse_verdicts_reply("They are the same.", n_pairs=2).problem == "unreadable_reply"


@pytest.mark.parametrize(
    ("reply", "text", "problem"),
    [("Redis is a cache.", "Redis is a cache.", ""), ("**Description:** Redis\nis a cache.", "Redis is a cache.", ""),
     ("```\nRedis.\n```", "Redis.", ""), ('"Redis."', "Redis.", ""), ("# Redis\n\nA cache.", "A cache.", ""),
     ("", "", "empty_reply"), (None, "", "empty_reply"), ("<think>hm</think>", "", "empty_reply"),
     ("I'm sorry, but I cannot help.", "", "refusal")],
)  # fmt: skip
def test_b22_descriptions(reply: str | None, text: str, problem: str) -> None:
    assert parse_description_reply(reply) == (text, problem)


PIECES = st.sampled_from(['{"points":', '{"title":"a"', "[", "]", "{", "}", '"', "'", ",", ":", "1", '"score":', "\\",
 "\ud800",
                          "// x\n", "null", "a", "\n", '"findings":', '[1,"same"]', "<think>", "```"])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
def test_any_text_is_read_without_raising(reply: str) -> None:
    parse_report_reply(reply, community=1)
    parse_points_reply(reply)
    parse_step_reply(reply)
    parse_ratings_reply(reply, n=3)
    parse_verdicts_reply(reply, n_pairs=3)
    parse_description_reply(reply)


@pytest.mark.parametrize("reply", ["[" * 200_000, '{"a":' * 40_000, "{x " * 60_000, '[1,"' * 50_000, "{}" * 50_000])
def test_hostile_replies_end(reply: str) -> None:
    parse_ratings_reply(reply, n=3)
    parse_report_reply(reply, community=1)
    parse_points_reply(reply)
    parse_verdicts_reply(reply, n_pairs=3)


@pytest.mark.shared
def test_recorded_reports_all_parse(shared: Path) -> None:
    path = shared / "data" / "llm-replies" / "nano_graphrag_mock_cache_gpt-4o.parquet"
    replies = [reply for reply in pl.read_parquet(path)["response"] if reply.lstrip().startswith("{")]
    assert len(replies) == 101
    for reply in replies:
        parsed, plain = parse_report_reply(reply, community=1), json.loads(reply)
        assert (parsed.problem, parsed.is_truncated) == ("", False)
        assert parsed.title == plain["title"]
        assert parsed.rating == plain["rating"]
        assert [finding.summary for finding in parsed.findings] == [finding["summary"] for finding in plain["findings"]]
