"""From documents and text units to the sentences that the embedded extraction reads.

A sentence is cut from its document, so that a fence or table that lies over two text units stays what it is, and
belongs to the first text unit that holds it; what no unit holds whole is cut at the units' borders. Table rows are cut
into cells. Code, and text without spaces such as base64, is left out. Each sentence knows its heading and the text of
its section's first words, for what "it" may mean.

Reads documents (id, text) and text_units (id, document_id, start_char, end_char).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl
import regex

from graphrag.blocks import CODE, FENCE, FIELD, HEADING, ITEM, ROW, RULE, Block, scan_blocks
from graphrag.nlp.lexicon import words
from graphrag.nlp.markup import Clean, clean_markup
from graphrag.sentences import sentence_spans

MAX_SENTENCE = 2_000
# Characters. No person writes a longer paragraph; a dump of 400 kB on one line would cost 17 CPU s of parsing.
MAX_PARAGRAPH = 100_000
CELL = regex.compile(r"(?:\\\||`[^`|]*`|\[\[[^\[\]]*+\]\]|[^|])+")
# Base64, minified code, hashes: nothing that a person reads.
UNBROKEN = regex.compile(r"[!-~]{60,}+")
CODE_LINE = regex.compile(
    r"(?:(?:async )?def \w+\(|"
    r"class \w+(?:\(.*\))?:|from [\w.]+ import |import \w+(?:$|,| as )|>>> |@\w+(?:\(|$)|return \w+\()"
)
CODE_SIGNS = regex.compile(r" (?:!=|==|=|\+=|->|:=|\|\||&&) |\w\(.*?\):|\bself\.|\);|\{ ")
STOP_WORDS = words(
    "the of and to in is that for it on with as are this be by an or from at was not which have a we has"
)
OTHER_STOP_WORDS = words(
    "der die das und ist von mit für ein eine wird werden nicht den dem des auf im zu le la les est une un dans pour "
    "que qui sur du et el los las una por con del al se di che è il per non sono een het van op niet och att som på "
    "är o os da em não uma com w na z się jest"
)
LATIN = regex.compile(r"\p{Latin}")
LETTER = regex.compile(r"\p{L}")
LETTERS = regex.compile(r"\p{L}+")


@dataclass
class Sentence:
    """`start`, `end`: span in the document; `row`: of the whole table row, for a cell, else the same.

    block: number of its block in the document. heading: number of the block of its heading, -1 before the first.
    column: number of the cell in its row. is_english: worth a parse: English, and in no paragraph of 100 kB and more.
    """

    document_id: str
    text_unit_id: str
    unit_start: int
    start: int
    end: int
    kind: str
    block: int
    heading: int
    clean: Clean
    is_english: bool
    row: tuple[int, int]
    column: int = 0
    row_text: str = ""

    def locate(self, start: int, end: int) -> tuple[int, int] | None:
        """Document span of a span of the clean text."""
        span = self.clean.locate(start, end)
        return (self.start + span[0], self.start + span[1]) if span else None


def cut_sentences(documents: pl.DataFrame, text_units: pl.DataFrame) -> list[Sentence]:
    """All sentences in order of document and offset; each stretch of text once."""
    texts = dict(documents.select("id", "text").iter_rows())
    units: dict[str, list[tuple[str, int, int]]] = {}
    ordered = text_units.sort("document_id", "start_char", "end_char")
    for unit_id, document_id, start, end in ordered.select("id", "document_id", "start_char", "end_char").iter_rows():
        units.setdefault(document_id, []).append((unit_id, start, end))
    return [
        sentence
        for document_id, its_units in units.items()
        if document_id in texts
        for sentence in _document_sentences(document_id, texts[document_id], its_units)
    ]


def _document_sentences(document_id: str, text: str, units: Sequence[tuple[str, int, int]]) -> Iterator[Sentence]:
    blocks = [block for block in scan_blocks(text) if block.kind != RULE]
    number, heading = 0, -1
    is_english = {unit_id: looks_english(text[start:end]) for unit_id, start, end in units}
    for start, end in sentence_spans(text):
        while number + 1 < len(blocks) and blocks[number].end <= start:
            number += 1
        block = blocks[number] if blocks else Block(start, end, "paragraph")
        if block.kind == HEADING:
            heading = number
        is_short = block.end - block.start <= MAX_PARAGRAPH
        if block.kind in {FENCE, CODE}:
            continue
        for unit_id, unit_start, part_start, part_end in _in_units(start, end, units):
            for column, (piece_start, piece_end) in enumerate(_pieces(text, part_start, part_end, block.kind)):
                if block.kind != HEADING and text.startswith("# ", piece_start):
                    continue  # a comment in code that no fence marks
                clean = clean_markup(text[piece_start:piece_end])
                row = (part_start, part_end) if block.kind == ROW else (piece_start, piece_end)
                if LETTER.search(clean.text) and is_readable(clean.text) and not looks_like_code(clean.text):
                    yield Sentence(
                        document_id, unit_id, unit_start, piece_start, piece_end, _kind(block.kind), number, heading,
                        clean, is_english[unit_id] and is_short, row, column, text[slice(*row)],
                    )  # fmt: skip


def _kind(block_kind: str) -> str:
    return {HEADING: "heading", ITEM: "item", ROW: "cell", FIELD: "field"}.get(block_kind, "prose")


def _in_units(start: int, end: int, units: Sequence[tuple[str, int, int]]) -> Iterator[tuple[str, int, int, int]]:
    touching = [unit for unit in units if unit[1] < end and start < unit[2]]
    for unit_id, unit_start, unit_end in touching:
        if unit_start <= start and end <= unit_end:
            yield unit_id, unit_start, start, end
            return
    done = start
    for unit_id, unit_start, unit_end in touching:
        part_start, part_end = max(done, unit_start), min(end, unit_end)
        if part_start < part_end:
            yield unit_id, unit_start, part_start, part_end
            done = part_end


def _pieces(text: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int]]:
    if kind == ROW and "|" in text[start:end]:
        for cell in CELL.finditer(text, start, end):
            stripped = cell[0].strip()
            if stripped:
                first = cell.start() + cell[0].index(stripped)
                yield first, first + len(stripped)
        return
    while end - start > MAX_SENTENCE:  # a line of 400 kB is no sentence; cut it at spaces where it has some
        cut = text.rfind(" ", start, start + MAX_SENTENCE)
        cut = cut if cut > start else start + MAX_SENTENCE
        yield start, cut
        start = cut
    yield start, end


def is_readable(text: str) -> bool:
    """Not for the most part ASCII without a space for 60 characters and more."""
    return 2 * sum(len(part) for part in UNBROKEN.findall(text)) <= len(text)


def looks_like_code(text: str) -> bool:
    """A line of a program that no fence marks."""
    return CODE_LINE.match(text) is not None or len(CODE_SIGNS.findall(text)) >= 2


def looks_english(text: str) -> bool:
    """Latin letters for the most part, and English function words among the words (or too few words to tell)."""
    letters = LETTER.findall(text[:20_000])
    if not letters or len(LATIN.findall("".join(letters))) < 0.7 * len(letters):
        return False
    found = LETTERS.findall(text[:20_000].casefold())
    n_stop, n_other = sum(word in STOP_WORDS for word in found), sum(word in OTHER_STOP_WORDS for word in found)
    if n_other > n_stop:
        return False
    share = n_stop / max(1, len(found))
    return share >= 0.06 or (len(found) < 30 and text.isascii())
