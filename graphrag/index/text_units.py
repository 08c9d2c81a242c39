"""Documents -> text units: pieces within the token limit, cut where the author would cut.

Reads documents, writes text_units (id lists empty; index/graph.py fills them). The text units of a document that is as
the last run had it are taken from there: a night cuts and counts what is new.

1. graphrag.blocks gives headings, paragraphs, list items, table rows, fences; front matter is skipped.
2. A section (a heading and all up to the next) that fits is one piece. A longer one is divided into nearly equal parts
   at block ends; a block over the limit is divided at its sentences, lines, blanks, and last at grapheme ends.
   A fence or table that fits is never cut, one that does not is cut between lines; a heading stays with what follows.
3. Small neighbours are joined while they fit, if they are under the same parent heading or one is above the other.
   heading_path is what all sections of the unit have in common: a unit of `A > B` and `A > C` has the path (A).

Does not: repeat table headers or headings inside the text (document.text[start_char:end_char] == text_unit.text).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import polars as pl
import regex

from graphrag import blocks, ids, tables
from graphrag.blocks import Block
from graphrag.reading.front_matter import find_body
from graphrag.sentences import sentence_spans
from graphrag.tokens import TokenCounter

DIALECTS = {"rst": "rst", "txt": "txt"}  # all other kinds are read as Markdown, which html and docx are turned into
SMALL_SHARE = 0.5  # of max_tokens: smaller pieces look for a neighbour
_GRAPHEME = regex.compile(r"\X")


@dataclass(frozen=True)
class Piece:
    """text[start:end] of one document, blanks before it counted in n_tokens; the smallest thing that is moved."""

    start: int
    end: int
    n_tokens: int
    kind: str


@dataclass(frozen=True)
class Part:
    """What becomes a text unit. `start` may lie before `own_start`: that much is repeated from the part before."""

    start: int
    own_start: int
    end: int
    n_tokens: int  # of its own text, overlap not counted
    heading_path: tuple[str, ...]


def build_text_units(
    documents: pl.DataFrame,
    last_documents: pl.DataFrame | None = None,
    last_units: pl.DataFrame | None = None,
    *,
    max_tokens: int,
    overlap: int,
    count: TokenCounter,
    advance: Callable[[int], None] = lambda _: None,
) -> pl.DataFrame:
    """One row a text unit, sorted by document path and start_char; human_readable_id is the row number.

    max_tokens: no unit has more (as `count` counts), except a single grapheme that has. overlap: where a section is
    divided, whole sentences of up to so many tokens are repeated at the start of the next unit; 0 repeats none.
    last_documents (id, kind, content_sha256), last_units: what the same release cut in the same way before.
    """
    documents = documents.sort("path")
    taken = tables.TEXT_UNITS.empty()
    if last_documents is not None and last_units is not None:
        same = documents.join(last_documents, on=["id", "kind", "content_sha256"], how="semi")["id"]
        taken = _without_ids(last_units.filter(pl.col("document_id").is_in(same.implode())))
    known = set(taken["document_id"])
    rows: list[dict[str, object]] = []
    for document_id, text, kind in documents.select("id", "text", "kind").iter_rows():
        occurrences: dict[str, int] = {}
        for start, end, path in _divide(text, kind, max_tokens, overlap, count) if document_id not in known else ():
            unit = text[start:end]
            occurrence = occurrences.get(unit, 0)
            occurrences[unit] = occurrence + 1
            rows.append(
                {
                    "id": ids.text_unit_id(document_id, unit, occurrence), "human_readable_id": 0,
                    "text": unit, "n_tokens": count(unit), "document_id": document_id,
                    "entity_ids": [], "relationship_ids": [], "covariate_ids": [],
                    "start_char": start, "end_char": end, "heading_path": list(path),
                }
            )  # fmt: skip
        advance(1)
    units = pl.concat([taken, tables.TEXT_UNITS.from_rows(rows)])
    places = documents.select(document_id="id", place=pl.int_range(pl.len()))
    units = units.join(places, on="document_id", maintain_order="left").sort("place", maintain_order=True).drop("place")
    return tables.TEXT_UNITS.conform(units.with_columns(human_readable_id=pl.int_range(pl.len())))


def _without_ids(units: pl.DataFrame) -> pl.DataFrame:
    """As they are cut, before later stages fill in what was found in them."""
    empty = pl.lit([], dtype=tables.TEXTS)
    return tables.TEXT_UNITS.conform(units.with_columns(entity_ids=empty, relationship_ids=empty, covariate_ids=empty))


def _divide(
    text: str, kind: str, max_tokens: int, overlap: int, count: TokenCounter
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    body = find_body(text, kind)
    found = blocks.scan_blocks(text[body:], dialect=DIALECTS.get(kind, "md"))
    parts: list[Part] = []
    position = body
    for path, section in _sections([_shift(block, body) for block in found]):
        pieces = _pieces(text, position, section, max_tokens, max(1, max_tokens - overlap), count)
        position = pieces[-1].end
        parts.extend(_parts(text, pieces, path, max_tokens, overlap, count))
    for part in _join_small(text, parts, max_tokens, count):
        start, end = _trim(text, part.start, part.end)
        if count(text[start:end]) <= max_tokens:
            yield start, end, part.heading_path
        else:  # token counts of parts and of the whole differ by a few: cut once more
            for a, b in _split(text, part.own_start, part.end, max_tokens, count):
                yield *_trim(text, a, b), part.heading_path


def _shift(block: Block, by: int) -> Block:
    return block._replace(start=block.start + by, end=block.end + by, content=block.content + by)


def _sections(found: list[Block]) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """Each heading with the blocks below it, and its path. Headings without any text below go with the next section."""
    open_headings: list[Block] = []
    section: list[Block] = []
    has_text = False
    for block in found:
        if block.kind == blocks.HEADING:
            if has_text:
                yield tuple(heading.title for heading in open_headings if heading.title), section
                section, has_text = [], False
            open_headings = [heading for heading in open_headings if heading.level < block.level] + [block]
        else:
            has_text = True
        section.append(block)
    if section:
        yield tuple(heading.title for heading in open_headings if heading.title), section


def _pieces(
    text: str, position: int, section: list[Block], max_tokens: int, room: int, count: TokenCounter
) -> list[Piece]:
    """The section's blocks as pieces. Rows of a table that fits are one piece; what is over the limit is split into
    pieces of at most `room` tokens, so that the overlap fits beside them."""
    pieces: list[Piece] = []
    table: list[Piece] = []
    for block in [*section, None]:
        if block is not None:
            piece = Piece(position, block.end, count(text[position : block.end]), block.kind)
            position = block.end
            if block.kind == blocks.ROW and not (table and "\n\n" in text[piece.start : block.start]):
                table.append(piece)
                continue
        if table:
            n_tokens = sum(row.n_tokens for row in table)
            if n_tokens <= max_tokens:
                table = [Piece(table[0].start, table[-1].end, n_tokens, blocks.ROW)]
            pieces.extend(table)
            table = []
        if block is not None:
            if block.kind == blocks.ROW:
                table.append(piece)
            else:
                pieces.append(piece)
    fitting: list[Piece] = []
    for piece in pieces:
        fitting.extend([piece] if piece.n_tokens <= max_tokens else _fitting(text, piece, room, count))
    return fitting


def _fitting(text: str, piece: Piece, limit: int, count: TokenCounter) -> list[Piece]:
    if piece.n_tokens <= limit:
        return [piece]
    return [Piece(a, b, count(text[a:b]), piece.kind) for a, b in _split(text, piece.start, piece.end, limit, count)]


def _parts(
    text: str, pieces: list[Piece], path: tuple[str, ...], max_tokens: int, overlap: int, count: TokenCounter
) -> Iterator[Part]:
    """Divides a section into as few parts as fit, of nearly the same size."""
    total = sum(piece.n_tokens for piece in pieces)
    n_parts = 1 if total <= max_tokens else -(-(total - overlap) // max(1, max_tokens - overlap))
    target = total / n_parts
    current: list[Piece] = []
    repeated = pieces[0].start
    n_repeated = n_tokens = 0
    waiting = list(reversed(pieces))
    while waiting:
        piece = waiting.pop()
        if current and (n_repeated + n_tokens + piece.n_tokens > max_tokens or n_tokens >= target):
            headings_only = all(held.kind == blocks.HEADING for held in current)
            room = max_tokens - n_repeated - n_tokens
            if headings_only and piece.kind not in (blocks.FENCE, blocks.CODE, blocks.ROW) and room > max_tokens // 4:
                waiting.extend(reversed(_fitting(text, piece, room, count)))
                piece = waiting.pop()
                if piece.n_tokens <= room:
                    current.append(piece)
                    n_tokens += piece.n_tokens
                    continue
            # Headings at the end of a part belong to what follows.
            carried: list[Piece] = []
            while current[-1].kind == blocks.HEADING and not headings_only:
                carried.insert(0, current.pop())
            yield Part(repeated, current[0].start, current[-1].end, sum(p.n_tokens for p in current), path)
            repeated, n_repeated = _overlap(text, current, overlap, max_tokens - piece.n_tokens, count)
            current, n_tokens = carried, sum(held.n_tokens for held in carried)
        current.append(piece)
        n_tokens += piece.n_tokens
    yield Part(repeated, current[0].start, current[-1].end, n_tokens, path)


def _overlap(text: str, pieces: list[Piece], overlap: int, room: int, count: TokenCounter) -> tuple[int, int]:
    """Where the last whole sentences begin that fit into `overlap` and the room left, and their tokens."""
    start, end = pieces[0].start, pieces[-1].end
    limit = min(overlap, room)
    n_tokens, first = 0, end
    if limit > 0:
        near = max(start, end - 16 * limit)  # a token is seldom longer than 16 characters
        for a, _ in reversed(sentence_spans(text[near:end])):
            n_more = count(text[near + a : first])
            if n_tokens + n_more > limit or (near > start and a == 0):
                break
            n_tokens, first = n_tokens + n_more, near + a
    return first, n_tokens


def _join_small(text: str, parts: list[Part], max_tokens: int, count: TokenCounter) -> list[Part]:
    small = max_tokens * SMALL_SHARE
    joined: list[Part] = []
    for part in parts:
        if joined:
            last = joined[-1]
            n_tokens = last.n_tokens + part.n_tokens
            if (
                min(last.n_tokens, part.n_tokens) < small
                and n_tokens <= max_tokens
                and _is_near(last.heading_path, part.heading_path)
                and count(text[last.start : part.end].strip()) <= max_tokens
            ):
                path = _common(last.heading_path, part.heading_path)
                joined[-1] = replace(last, end=part.end, n_tokens=n_tokens, heading_path=path)
                continue
        joined.append(part)
    return joined


def _is_near(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Same parent, or one path lies on the other."""
    n_common = len(_common(a, b))
    return a[:-1] == b[:-1] or n_common == min(len(a), len(b))


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    n = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[:n]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(piece.strip())


def _split(text: str, start: int, end: int, limit: int, count: TokenCounter) -> list[tuple[int, int]]:
    """text[start:end] in consecutive spans of at most `limit` tokens, cut at the best places: sentences, lines, blanks,
    graphemes. Greedy from the left; every span is counted about twice, so that the time is linear in the length."""
    piece = text[start:end]
    stops = [a for a, _ in sentence_spans(piece)][1:] if not piece.lstrip().startswith(("```", "~~~")) else []
    spans: list[tuple[int, int]] = []
    next_stop, chars = 0, 4 * limit
    while start < end:
        upper = min(end, start + max(chars, 1))
        n_tokens = count(text[start:upper])
        while upper < end and n_tokens < limit * 0.8:
            upper = min(end, start + 2 * (upper - start))
            n_tokens = count(text[start:upper])
        while n_tokens > limit and upper > start + 1:
            upper = start + max(1, min(upper - start - 1, int((upper - start) * limit / n_tokens)))
            n_tokens = count(text[start:upper])
        chars = int((upper - start) * 1.1) + 1
        if upper < end:
            upper, next_stop = _best_cut(text, start, upper, end - len(piece), stops, next_stop)
        spans.append((start, upper))
        start = upper
    return spans


def _best_cut(text: str, start: int, upper: int, base: int, stops: list[int], next_stop: int) -> tuple[int, int]:
    """The last sentence start in the second half of start..upper; else line end, blank, grapheme end."""
    while next_stop < len(stops) and base + stops[next_stop] <= upper:
        next_stop += 1
    middle = start + (upper - start) // 2
    if next_stop and base + stops[next_stop - 1] > middle:
        return base + stops[next_stop - 1], next_stop
    for blank in ("\n", " "):
        if (at := text.rfind(blank, middle, upper)) > start:
            return at + 1, next_stop
    return _grapheme_end(text, start, upper), next_stop


def _grapheme_end(text: str, start: int, upper: int) -> int:
    """The last grapheme boundary at or before `upper`; `upper` itself where a single grapheme reaches further."""
    low = max(start, upper - 64)
    last = start
    for match in _GRAPHEME.finditer(text, low, min(len(text), upper + 64)):
        if match.end() > upper:
            break
        last = match.end()
    if last <= start and low > start:
        return upper
    return last if last > start else upper
