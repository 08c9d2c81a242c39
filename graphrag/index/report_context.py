"""What a model is shown of a community: its rows by importance, packed into a budget of tokens (specs: indexing 6).

A line starts with a number, 1..n in each table, which is all that a prompt ever says about identity: ids of rows carry
a history. Lines come in groups: a relationship with the entities at its ends and the sentences that state it, a claim
with its subject, an entity alone. When the whole does not fit, reports of children stand in for their members, the one
with most tokens first; then groups that do not fit are left out one by one, and counted under the context.

A neighbour of reports.py. Does not: choose rows or their order (community_rows.py), or ask (report_calls.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphrag.citations import Cited
from graphrag.context import cut_text
from graphrag.tokens import TokenCounter

ENTITIES, RELATIONSHIPS, CLAIMS, SOURCES, REPORTS = "Entities", "Relationships", "Claims", "Sources", "Reports"
HEADERS = {
    REPORTS: "id|title|entities|summary",
    ENTITIES: "id|entity|type|description",
    RELATIONSHIPS: "id|source|relation|target|evidence (numbers of Sources)",
    CLAIMS: "id|subject|type|status|description",
    SOURCES: "id|quote",
}
NAMED = {REPORTS: "report", ENTITIES: "entity", RELATIONSHIPS: "relationship", CLAIMS: "claim"}
PLURALS = {REPORTS: "reports", ENTITIES: "entities", RELATIONSHIPS: "relationships", CLAIMS: "claims"}


class Row(NamedTuple):
    """A line without its number. `refs`: ids of the Sources rows whose numbers end the line."""

    table: str
    id: str
    text: str
    refs: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        return self.table, self.id


Group = tuple[Row, ...]
"""Rows that are shown together: first what the last one needs, then the one that the group is there for."""


@dataclass(frozen=True)
class Child:
    """A community inside the one that is shown: its report's line, and the rows that this line can stand for."""

    stand_in: Row
    places: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class ReportContext:
    """The text, which table row each (table, number) in it means, and how many rows of a table are not in it.

    is_whole: every row is in it, as itself.
    """

    text: str
    rows: dict[Cited, Row]
    left_out: dict[str, int]
    is_whole: bool


def pack_report_context(
    groups: Sequence[Group], children: Sequence[Child] = (), *, budget: int, overhead: int, count: TokenCounter
) -> ReportContext:
    """Lines of the groups, most important first, for `budget` tokens of which `overhead` are spent already.

    Never empty where there is a row: when not one group fits, the first is cut with a mark. Where two children have as
    many tokens, the one whose report comes first by its text stands in first (a number would carry a history).
    `count` finds no more tokens in a text than it has bytes: where these fit, which is so in most communities, nothing
    is counted.
    """
    groups = [tuple(dict.fromkeys(group)) for group in groups]  # both ends of a relationship may be one entity
    rows = {row.place: row for group in groups for row in group}
    digits = {table: "9" * len(str(sum(row.table == table for row in rows.values()))) for table in HEADERS}

    def cost(row: Row, count: TokenCounter = count) -> int:
        return count(_line(row, digits[row.table], digits[SOURCES]))

    room = budget - overhead
    if rows and sum(cost(row, _count_bytes) for row in rows.values()) <= room:
        return _show(list(rows.values()), {}, is_whole=True)
    costs = {place: cost(row) for place, row in rows.items()}
    owner = _own_rows(groups, children)
    replaced = _choose_replaced(children, owner, costs, [cost(child.stand_in) for child in children], room)
    taken: dict[tuple[str, str], Row] = {}
    left_out = dict.fromkeys(NAMED, 0)
    for number in replaced:
        stand_in = children[number].stand_in
        if (tokens := cost(stand_in)) <= room:
            taken[stand_in.place], room = stand_in, room - tokens
        else:
            left_out[REPORTS] += 1
    gone = set(replaced)
    kept = [group for group in groups if owner.get(group[-1].place) not in gone]
    for group in kept:
        fresh = [r for r in group if r.place not in taken and (r.table == SOURCES or owner.get(r.place) not in gone)]
        if (tokens := sum(costs[row.place] for row in fresh)) <= room:
            taken.update((row.place, row) for row in fresh)
            room -= tokens
    shown = {row.place: row for group in kept for row in group if owner.get(row.place) not in gone}
    for table, _ in shown.keys() - taken.keys():
        if table in left_out:
            left_out[table] += 1
    left_out = {table: n for table, n in left_out.items() if n}
    if not taken and (kept or children):
        first: Group = (children[replaced[0]].stand_in,) if replaced else ()
        if kept:
            first = tuple(r for r in kept[0] if r.table == SOURCES or owner.get(r.place) not in gone)
        return _show_cut(first, left_out, budget=max(budget - overhead, 1), count=count)
    return _show(list(taken.values()), left_out, is_whole=taken.keys() == rows.keys())


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _own_rows(groups: Sequence[Group], children: Sequence[Child]) -> dict[tuple[str, str], int]:
    """Which child a row lies in; a sentence, if all that needs it lies in that child."""
    owner = {place: number for number, child in enumerate(children) for place in child.places}
    needed: dict[tuple[str, str], set[int | None]] = {}
    for group in groups:
        for row in group:
            if row.table == SOURCES:
                needed.setdefault(row.place, set()).add(owner.get(group[-1].place))
    for place, numbers in needed.items():
        only = next(iter(numbers)) if len(numbers) == 1 else None
        if only is not None:
            owner[place] = only
    return owner


def _choose_replaced(
    children: Sequence[Child],
    owner: Mapping[tuple[str, str], int],
    costs: Mapping[tuple[str, str], int],
    stand_in_costs: Sequence[int],
    room: int,
) -> list[int]:
    """Children whose report stands in for their rows, largest first, until the whole fits; never one whose report is
    not shorter than its rows."""
    sizes = [0] * len(children)
    for place, tokens in costs.items():
        if (number := owner.get(place)) is not None:
            sizes[number] += tokens
    total = sum(costs.values())
    replaced = []
    for number in sorted(range(len(children)), key=lambda n: (-sizes[n], children[n].stand_in.text)):
        if total <= room:
            break
        if stand_in_costs[number] < sizes[number]:
            total += stand_in_costs[number] - sizes[number]
            replaced.append(number)
    return replaced


def _line(row: Row, number: str, *source_numbers: str) -> str:
    """`source_numbers`: those of the row's refs, or one that stands for each."""
    numbers = source_numbers * len(row.refs) if len(source_numbers) == 1 else source_numbers
    return f"{number}|{row.text}{', '.join(numbers[: len(row.refs)])}\n"


def _show(rows: Sequence[Row], left_out: dict[str, int], *, is_whole: bool) -> ReportContext:
    numbered = _number_rows(rows)
    of_source = {row.id: str(number) for (table, number), row in numbered.items() if table == SOURCES}
    lines: dict[str, list[str]] = {}
    for (table, number), row in numbered.items():
        lines.setdefault(table, []).append(_line(row, str(number), *(of_source[ref] for ref in row.refs)))
    return ReportContext(render_tables(lines, left_out), numbered, left_out, is_whole)


def _show_cut(group: Group, left_out: dict[str, int], *, budget: int, count: TokenCounter) -> ReportContext:
    """As much of one group as fits; a row whose line is not whole counts as left out."""
    numbered = _number_rows(group)
    of_source = {row.id: str(number) for (table, number), row in numbered.items() if table == SOURCES}
    whole = [_line(row, str(n), *(of_source[ref] for ref in row.refs)) for (_, n), row in numbered.items()]
    full = "".join(whole).rstrip("\n")
    text = cut_text(full, budget=budget, count=count)
    cut = text.split("\n")
    kept = list(numbered.items())[: len(cut)]
    lines: dict[str, list[str]] = {}
    for ((table, _), _row), line in zip(kept, cut, strict=True):
        lines.setdefault(table, []).append(f"{line}\n")
    for (table, _), _row in kept if text == full else kept[:-1]:  # those whose line is whole
        if table in left_out:
            left_out[table] -= 1
    left_out = {table: n for table, n in left_out.items() if n}
    return ReportContext(render_tables(lines, left_out), dict(kept), left_out, text == full)


def _number_rows(rows: Sequence[Row]) -> dict[Cited, Row]:
    """Rows by (table, 1..n), tables in the order of HEADERS."""
    numbered: dict[Cited, Row] = {}
    for table in HEADERS:
        listed = [row for row in rows if row.table == table]
        numbered.update({(table, number): row for number, row in enumerate(listed, start=1)})
    return numbered


def render_tables(lines: Mapping[str, Sequence[str]], left_out: Mapping[str, int]) -> str:
    """Lines (each with its line end) under the heading of their table, and what is not among them."""
    blocks = [
        f"-----{table}-----\n{header}\n" + "".join(lines[table]) for table, header in HEADERS.items() if table in lines
    ]
    if said := say_left_out(left_out):
        blocks.append(f"Not shown for want of room: {said}.\n")
    return "\n".join(blocks).rstrip("\n")


def say_left_out(left_out: Mapping[str, int]) -> str:
    """`7 relationships, 1 entity`; empty if nothing was left out."""
    named = [(left_out[table], table) for table in NAMED if left_out.get(table)]
    return ", ".join(f"{n} {NAMED[table] if n == 1 else PLURALS[table]}" for n, table in named)
