"""Read replies that were asked for as JSON: reports, points, ratings, scores, verdicts; and descriptions, asked for as
text.

Total like graph.py: each function gives a result for any text; `problem` is empty, or why the reply is of no use
(empty_reply, refusal or unreadable_reply). Accepted: code fences, prose around, trailing and missing commas, comments,
single quotes, several objects (the first of the right shape counts), numbers as text, a cut end.

Does not: check cited numbers (citations are checked by whoever knows the context), or ask again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from graphrag.replies.fields import clean_text, parse_number
from graphrag.replies.loose_json import MAX_DEPTH, Json, drop_surrogates, read_value
from graphrag.replies.problems import is_refusal
from graphrag.replies.records import drop_thoughts

MAX_TEXT = 100_000  # characters of one field of a report or of a description
MAX_QUESTION = 300  # characters of a question that a model asks
MAX_RATING = 10.0
MAX_SCORE = 100.0
MAX_RELEVANCE = 5.0
FIRST, SECOND, TIE = "first", "second", "tie"
SAME_WORDS = frozenset({"same", "yes", "true", "merge", "equal", "identical"})
DIFFERENT_WORDS = frozenset({"different", "no", "false", "distinct", "not same", "not_same", "separate"})
SAME, DIFFERENT, UNSURE = "same", "different", "unsure"


class Finding(NamedTuple):
    summary: str
    explanation: str


class ReportReply(NamedTuple):
    """A community report. `title` may be empty; `rating` is None where none is readable, else 0..10."""

    title: str
    summary: str
    rating: float | None
    rating_explanation: str
    findings: list[Finding]
    problem: str
    is_truncated: bool


class Point(NamedTuple):
    description: str
    score: float


class PointsReply(NamedTuple):
    """Points with a score over 0, as they came. n_dropped: points without a readable score or text, or with score 0."""

    points: list[Point]
    n_dropped: int
    problem: str


class StepReply(NamedTuple):
    """A step of drift search: what it found (may be empty), a score 0..100, what to ask next, each question once.

    A score that cannot be read is 0 for an empty answer, else the middle of the scale.
    """

    answer: str
    score: float
    follow_ups: list[str]
    problem: str


class Verdict(NamedTuple):
    """same, different or unsure about the pair of this 1-based number."""

    verdict: str
    reason: str


class VerdictsReply(NamedTuple):
    """Verdicts by pair number. A pair that is missing, or was decided in two ways, is not in it."""

    verdicts: dict[int, Verdict]
    n_contradictions: int
    problem: str


class ScoresReply(NamedTuple):
    """Scores by name, all that were asked for, or none."""

    scores: dict[str, int]
    reason: str
    problem: str


class PreferenceReply(NamedTuple):
    """better: first, second, tie, or empty."""

    better: str
    reason: str
    problem: str


class TextReply(NamedTuple):
    text: str
    problem: str


def parse_report_reply(reply: str | None, *, community: int) -> ReportReply:
    """A report with title, summary, rating, rating_explanation and findings; a missing title is `Community N`."""

    def is_report(value: Json) -> bool:
        return isinstance(value, dict) and any(_text(value.get(key)) for key in ("summary", "findings", "title"))

    value, is_truncated = _find(reply, is_report)
    if not isinstance(value, dict):
        return ReportReply("", "", None, "", [], _problem_of(reply), False)
    findings = [finding for item in _items(value.get("findings")) if (finding := _finding_of(item))]
    title, summary = _line(value.get("title")), _text(value.get("summary"))
    if not summary and not findings:
        return ReportReply("", "", None, "", [], "unreadable_reply", is_truncated)
    rating = parse_number(_first(value, "rating", "rank", "score"), scale=MAX_RATING)
    return ReportReply(
        title or f"Community {community}",
        summary or findings[0].summary,
        None if rating is None else min(MAX_RATING, max(0.0, rating)),
        _text(value.get("rating_explanation")),
        findings,
        "",
        is_truncated,
    )


def parse_points_reply(reply: str | None) -> PointsReply:
    """Points of a map reply: `{"points": [{"description", "score"}]}` or the list alone."""

    def is_points(value: Json) -> bool:
        if isinstance(value, dict):
            return "points" in value or ("description" in value and "score" in value)
        return isinstance(value, list) and any(isinstance(item, dict) and "description" in item for item in value)

    value, _ = _find(reply, is_points)
    if value is None and (found := _find(reply, lambda value: isinstance(value, list))[0]) is not None and not found:
        return PointsReply([], 0, "")
    if value is None:
        return PointsReply([], 0, _problem_of(reply))
    items = _items(value.get("points") if isinstance(value, dict) and "points" in value else value)
    points: list[Point] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        description = _text(_first(item, "description", "point", "answer", "text"))
        score = parse_number(_first(item, "score", "importance", "rating"), scale=MAX_SCORE)
        if description and score is not None and score > 0:
            points.append(Point(description, min(MAX_SCORE, score)))
    return PointsReply(points, len(items) - len(points), "")


def parse_step_reply(reply: str | None) -> StepReply:
    """The answer of `{"intermediate_answer" or "response", "score", "follow_up_queries"}`."""
    names = ("intermediate_answer", "response", "answer")

    def is_step(value: Json) -> bool:
        return isinstance(value, dict) and any(name in value for name in names)

    value, _ = _find(reply, is_step)
    if not isinstance(value, dict):
        return StepReply("", 0.0, [], _problem_of(reply))
    answer = _text(_first(value, *names))
    score = parse_number(value.get("score"), scale=MAX_SCORE)
    score = (MAX_SCORE / 2 if answer else 0.0) if score is None else min(MAX_SCORE, max(0.0, score))
    items = _items(_first(value, "follow_up_queries", "follow_ups", "followups"))
    asked = (_text(item)[:MAX_QUESTION] for item in items if isinstance(item, str | dict))
    return StepReply(answer, score, list(dict.fromkeys(filter(None, asked))), "")


def parse_ratings_reply(reply: str | None, *, n: int) -> dict[int, float]:
    """Relevances 0..5 by number 1..n: of `{"1": 0, "2": 4}` or of objects `{"id": 1, "rating": 0}`.

    A number without a readable rating, or with two that differ, is not in it.
    """
    pairs = [pair for value, _ in _values(_clean(reply)) for inner in _walk(value, 0) for pair in _ratings_in(inner)]
    found: dict[int, float] = {}
    unsettled: set[int] = set()
    for number, given in pairs:
        rating = parse_number(given, scale=MAX_RELEVANCE)
        if not 1 <= number <= n or rating is None:
            continue
        rating = min(MAX_RELEVANCE, max(0.0, rating))
        if found.setdefault(number, rating) != rating:
            unsettled.add(number)
    return {number: rating for number, rating in found.items() if number not in unsettled}


def _ratings_in(value: Json) -> Iterator[tuple[int, Json]]:
    """Numbers and what stands behind them in one object. An array is none: its places need not be the numbers."""
    if not isinstance(value, dict):
        return
    number = _first(value, "id", "number", "report")
    rows = value.items() if number is None else [(number, _first(value, "rating", "score"))]
    for text, rating in rows:
        if re.fullmatch(r"\d{1,6}", str(text).strip(), re.ASCII):
            yield int(str(text)), rating


def parse_scores_reply(reply: str | None, *, names: Sequence[str], highest: int) -> ScoresReply:
    """The whole numbers 0 to `highest` under all of these names. One that is missing or anything else makes the reply
    unreadable: a score that has to be guessed is none."""
    value, _ = _find(reply, lambda value: isinstance(value, dict) and any(name in value for name in names))
    if not isinstance(value, dict):
        return ScoresReply({}, "", _problem_of(reply))
    given = {name: str(value.get(name)).strip() for name in names}
    scores = {name: int(text) for name, text in given.items() if re.fullmatch(r"\d{1,3}", text, re.ASCII)}
    if len(scores) < len(names) or max(scores.values()) > highest:
        return ScoresReply({}, "", "unreadable_reply")
    return ScoresReply(scores, _text(value.get("reason")), "")


def parse_preference_reply(reply: str | None) -> PreferenceReply:
    """first, second or tie of `{"reason", "better"}`; any other word makes the reply unreadable."""
    value, _ = _find(reply, lambda value: isinstance(value, dict) and "better" in value)
    if not isinstance(value, dict):
        return PreferenceReply("", "", _problem_of(reply))
    word = _line(value.get("better")).casefold()
    if word not in (FIRST, SECOND, TIE):
        return PreferenceReply("", "", "unreadable_reply")
    return PreferenceReply(word, _text(value.get("reason")), "")


def parse_verdicts_reply(reply: str | None, *, n_pairs: int) -> VerdictsReply:
    """Verdicts of the judge: `[number, "same"|"different"|"unsure", reason]` a line, or objects with these fields."""
    verdicts: dict[int, Verdict] = {}
    contradicted: set[int] = set()
    for value, _ in _values(_clean(reply)):
        for row in _rows(value):
            number = parse_number(row[0], scale=1.0) if len(row) > 1 else None
            if number is None or not 1 <= number <= n_pairs or number != int(number):
                continue
            verdict = Verdict(_verdict_of(row[1]), _line(row[2]) if len(row) > 2 else "")
            if verdicts.setdefault(int(number), verdict).verdict != verdict.verdict:
                contradicted.add(int(number))
    kept = {number: verdict for number, verdict in sorted(verdicts.items()) if number not in contradicted}
    return VerdictsReply(kept, len(contradicted), "" if verdicts else _problem_of(reply))


def parse_description_reply(reply: str | None) -> TextReply:
    """A description as one paragraph, without fence, quotes or a heading; empty, or a refusal, is a problem."""
    text = re.sub(r"^\s*```\w*\s*\n|\n\s*```\s*$", "", _clean(reply))
    text = re.sub(
        r"\A\s*(?:#{1,6}[^\n]*\n+|(?:\*\*)?(?:description|summary|output)(?:\*\*)?:(?:\*\*)?)", "", text, flags=re.I
    )
    text = clean_text(text, limit=MAX_TEXT)
    if not text:
        return TextReply("", "empty_reply")
    if is_refusal(text) and len(text) < 600:
        return TextReply("", "refusal")
    return TextReply(text, "")


# Values in a reply


def _clean(reply: str | None) -> str:
    return drop_thoughts(drop_surrogates(reply or ""))[0].strip()


def _problem_of(reply: str | None) -> str:
    text = _clean(reply).strip("`\n ")
    if not text or text.casefold() == "json":
        return "empty_reply"
    return "refusal" if is_refusal(text) else "unreadable_reply"


_BRACKET = re.compile(r"[\[{]")


def _values(text: str) -> Iterator[tuple[Json, bool]]:
    """The JSON values of a text, one after the other, each with whether the text ended inside it."""
    position = 0
    while match := _BRACKET.search(text, position):
        value, end, unclosed = read_value(text, match.start())
        yield value, bool(unclosed)
        position = max(end, match.start() + 1)


def _find(reply: str | None, is_wanted: Callable[[Json], bool]) -> tuple[Json, bool]:
    """The first complete value of the right shape, at any depth; else the first that was cut; else None."""
    cut: Json = None
    for value, is_cut in _values(_clean(reply)):
        found = next((inner for inner in _walk(value, 0) if is_wanted(inner)), None)
        if found is None:
            continue
        if not is_cut:
            return found, False
        cut = found if cut is None else cut
    return cut, cut is not None


def _walk(value: Json, depth: int) -> Iterator[Json]:
    yield value
    if depth < MAX_DEPTH and isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, list | dict):
                yield from _walk(inner, depth + 1)


def _rows(value: Json) -> Iterator[list[Json]]:
    """Rows (number, verdict, reason) of an array, an array of arrays, or objects."""
    for inner in _walk(value, 0):
        if isinstance(inner, list) and inner and not isinstance(inner[0], list | dict):
            yield inner
        elif isinstance(inner, dict):
            yield [
                _first(inner, "pair", "number", "id", "pair_number"),
                _first(inner, "verdict", "decision", "answer", "same"),
                _first(inner, "reason", "explanation"),
            ]


def _verdict_of(value: Json) -> str:
    word = str(value).strip().casefold()
    if word in SAME_WORDS:
        return SAME
    return DIFFERENT if word in DIFFERENT_WORDS else UNSURE


def _finding_of(item: Json) -> Finding | None:
    if isinstance(item, dict):
        summary = _text(_first(item, "summary", "title", "finding"))
        explanation = _text(_first(item, "explanation", "description", "text"))
    else:
        summary, explanation = _text(item), ""
    return Finding(summary, explanation) if summary or explanation else None


def _items(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict | str) and value else []


def _first(value: dict[str, Json], *keys: str) -> Json:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _line(value: Json) -> str:
    return clean_text(value, limit=300)


def _text(value: Json) -> str:
    """Text of a field on one line; of a list, its items' text."""
    if isinstance(value, list):
        value = " ".join(_text(item) for item in value if isinstance(item, str | dict))
    if isinstance(value, dict):
        value = " ".join(item for item in value.values() if isinstance(item, str))
    return clean_text(value, limit=MAX_TEXT)
