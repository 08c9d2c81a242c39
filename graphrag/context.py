"""The one builder of context: rows become short lines with citation ids, and lines fill a token budget.

A section is a table of lines: a title (the dataset name that citations use: Entities, Relationships, Sources, Reports,
Claims), a header, and one line a row that starts with the row's human_readable_id. Bars inside a cell are escaped and
line ends folded, so that columns never shift.

`pack` takes the lines in order, a section's up to its share of the budget, then gives what is left to all in order. A
line that does not fit is left out and counted and the next is tried; when not even one line fits, the first is cut with
a mark, so that a context is never empty when there is something to show.

Does not: choose or rank rows (search/*, index/reports.py), or ask a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

TokenCounter = Callable[[str], int]

CUT_MARK = " …[cut]"


@dataclass(frozen=True)
class Section:
    """Lines of one dataset; `ids[i]` is the human_readable_id of `lines[i]`; `share` of the budget is its own."""

    title: str
    header: str
    lines: tuple[str, ...]
    ids: tuple[int, ...]
    share: float = 1.0


@dataclass(frozen=True)
class Packed:
    """The context's text, the ids in it by section title, how many rows were left out, and its tokens."""

    text: str
    ids: dict[str, list[int]]
    left_out: dict[str, int]
    n_tokens: int


def section(title: str, frame: pl.DataFrame, columns: Mapping[str, str], *, share: float = 1.0) -> Section:
    """Lines `id|cell|cell` of a frame with human_readable_id; `columns` maps a column of the frame to its heading."""
    rows = frame.select("human_readable_id", *columns).rows()
    return Section(
        title,
        "|".join(["id", *columns.values()]),
        tuple("|".join([str(row[0]), *(escape_cell(cell) for cell in row[1:])]) for row in rows),
        tuple(int(row[0]) for row in rows),
        share,
    )


def escape_cell(value: object) -> str:
    """One line of text: white space folded, bars escaped, lists joined by commas, null empty."""
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return " ".join(text.split()).replace("|", "\\|")


def pack(sections: Sequence[Section], *, budget: int, count: TokenCounter) -> Packed:
    """Fill a budget of tokens (at least 1) with the sections' lines; see the room's docstring for the order."""
    sections = [part for part in sections if part.lines]
    costs = [[count(line + "\n") for line in part.lines] for part in sections]
    headings = [count("\n" + _heading(part)) for part in sections]
    taken: list[set[int]] = [set() for _ in sections]
    left = budget
    for by_share in (True, False):
        for number, part in enumerate(sections):
            limit = min(left, int(budget * part.share)) if by_share else left
            spent = _take(costs[number], taken[number], limit, headings[number])
            left -= spent
    if sections and not any(taken):
        return _pack_cut_line(sections[0], sections, budget=budget, count=count)
    text = _render(sections, taken)
    return Packed(text, _ids(sections, taken), _left_out(sections, taken), count(text))


def cut_text(text: str, *, budget: int, count: TokenCounter) -> str:
    """The longest start of a text that fits the budget with a mark; the text itself if it fits; never empty."""
    if count(text) <= budget:
        return text
    room = budget - count(CUT_MARK)
    low, high = 0, min(len(text), max(room, 0) * 40)  # no token of o200k is anywhere near 40 characters of prose
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= room else (low, middle - 1)
    return (text[:low].rstrip() or text[:1]) + CUT_MARK if low else text[:1] + "…"


def _take(costs: Sequence[int], taken: set[int], limit: int, heading: int) -> int:
    """Add to `taken` the lines that fit the limit, in order; the tokens they cost with the heading."""
    spent = 0
    for number, cost in enumerate(costs):
        extra = cost if taken else cost + heading
        if number not in taken and spent + extra <= limit:
            taken.add(number)
            spent += extra
    return spent


def _heading(part: Section) -> str:
    return f"-----{part.title}-----\n{part.header}\n"


def _render(sections: Sequence[Section], taken: Sequence[set[int]]) -> str:
    blocks = [
        _heading(part) + "".join(f"{part.lines[number]}\n" for number in sorted(chosen))
        for part, chosen in zip(sections, taken, strict=True)
        if chosen
    ]
    return "\n".join(blocks)


def _pack_cut_line(first: Section, sections: Sequence[Section], *, budget: int, count: TokenCounter) -> Packed:
    heading = _heading(first)
    room = budget - count(heading)
    if room < 2 * count(CUT_MARK):  # a heading without a readable start of the row would be worth nothing
        heading, room = "", budget
    text = heading + cut_text(first.lines[0], budget=room, count=count)
    taken = [{0}, *(set[int]() for _ in sections[1:])]
    return Packed(text, _ids(sections, taken), _left_out(sections, taken), count(text))


def _ids(sections: Sequence[Section], taken: Sequence[set[int]]) -> dict[str, list[int]]:
    return {
        part.title: [part.ids[number] for number in sorted(chosen)]
        for part, chosen in zip(sections, taken, strict=True)
        if chosen
    }


def _left_out(sections: Sequence[Section], taken: Sequence[set[int]]) -> dict[str, int]:
    return {
        part.title: len(part.lines) - len(chosen)
        for part, chosen in zip(sections, taken, strict=True)
        if len(chosen) < len(part.lines)
    }
