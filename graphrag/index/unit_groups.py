"""Text units that follow each other in a document, put to a model together: one call for some of them is cheaper than
one for each, because the instructions are paid once and what "it" refers to is in view.

Where a group ends depends on the texts near by only (content-defined chunking, as in FastCDC, Xia et al. 2016): after
an edit the groups further down are the same as before, and so are the questions that the memo answers. Copies of a
text have the same groups.

Does not: cut a text unit, or join units of two documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from graphrag.ids import content_sha256
from graphrag.index.passages import Excerpt
from graphrag.index.table_headers import find_table_headers

CUT_ONE_IN = 3  # units from half the limit on that end a group early


class Unit(NamedTuple):
    """A text unit in its group; the span counts from the start of the group's text."""

    id: str
    start: int
    end: int


class UnitGroup(NamedTuple):
    """`text` is documents.text[start:...], from the first unit to the last; `header` that of a table in whose midst it
    begins, else empty."""

    document_id: str
    start: int
    text: str
    units: tuple[Unit, ...]
    header: str

    @property
    def excerpt(self) -> Excerpt:
        return Excerpt(self.text, self.header)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        return tuple((unit.start, unit.end) for unit in self.units)

    @property
    def group_text(self) -> tuple[Excerpt, tuple[tuple[int, int], ...]]:
        """All that its rows depend on, but for their offsets."""
        return self.excerpt, self.spans

    def unit_at(self, start: int) -> Unit:
        """The first unit that holds an offset; in a gap the one before it."""
        holding = (unit for unit in self.units if unit.start <= start < unit.end)
        before = [unit for unit in self.units if unit.start <= start]
        return next(holding, before[-1] if before else self.units[0])

    def units_in(self, start: int, end: int) -> list[Unit]:
        return [unit for unit in self.units if unit.start < end and start < unit.end]


def group_text_units(text_units: pl.DataFrame, documents: pl.DataFrame, *, max_tokens: int) -> list[UnitGroup]:
    """All text units in groups of at most `max_tokens` (a larger unit stands alone), by document and offset."""
    texts = dict(documents.select("id", "text").iter_rows())
    columns = ("id", "document_id", "text", "start_char", "end_char", "n_tokens")
    rows = text_units.sort("document_id", "start_char", "id").select(columns).rows()
    headers = find_table_headers(text_units)
    return [_make_group(run, texts[run[0][1]], headers.get(run[0][0], "")) for run in _runs(rows, max_tokens)]


_Row = tuple[str, str, str, int, int, int]


def _runs(rows: list[_Row], max_tokens: int) -> Iterator[list[_Row]]:
    run: list[_Row] = []
    n_tokens = 0
    for row in rows:
        _, document_id, text, _, _, n_unit = row
        if run and (run[-1][1] != document_id or n_tokens + n_unit > max_tokens):
            yield run
            run, n_tokens = [], 0
        run.append(row)
        n_tokens += n_unit
        if n_tokens >= max_tokens / 2 and int(content_sha256(text)[:8], 16) % CUT_ONE_IN == 0:
            yield run
            run, n_tokens = [], 0
    if run:
        yield run


def _make_group(run: list[_Row], text: str, header: str) -> UnitGroup:
    start, end = run[0][3], max(row[4] for row in run)
    units = tuple(Unit(row[0], row[3] - start, row[4] - start) for row in run)
    return UnitGroup(run[0][1], start, text[start:end], units, header)
