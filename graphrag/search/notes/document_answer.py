"""Names of notes as citations: `[[Name]]` in a model's answer becomes a citation of rows, and a name again.

specs/linked-documents.md, rule 18. In between, the answer is checked as every other (model_answer.py).

Reads documents. Does not: ask a model, or see whether a note says what it is cited for (support.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.citations import CITATION, cite, drop_citations
from graphrag.search.answer import Citation
from graphrag.search.notes.linked_notes import load_notes
from graphrag.search.resolve import list_claims
from graphrag.search.support import choose_span, list_statements

if TYPE_CHECKING:
    from graphrag.store import Index

DATASET = "Documents"  # of Answer.context_ids: notes that stand in the context
_NAME = re.compile(r"([ \t]*)\[\[([^\[\]\n]+)\]\]")
_NUMBER = re.compile(r"\d+")


class NumberedNames(NamedTuple):
    """A text with `[Data: Sources (n)]` for each known name, n the document's human_readable_id."""

    text: str
    n_removed: int


def list_names(index: Index, numbers: Sequence[int]) -> dict[int, str]:
    """human_readable_id -> name of some documents."""
    notes, wanted = load_notes(index), set(numbers)
    rows = notes.documents.select("human_readable_id", "id").iter_rows()
    return {number: notes.names[note] for number, note in rows if number in wanted}


def number_names(text: str, names: Mapping[int, str]) -> NumberedNames:
    """Names in double brackets become numbers; a name that is not known, or a citation of rows, is removed."""
    numbers = {name.casefold(): number for number, name in names.items()}
    n_removed = 0

    def rewrite(match: re.Match[str]) -> str:
        nonlocal n_removed
        number = numbers.get(match[2].partition("|")[0].strip().casefold())
        if number is None:
            n_removed += 1
            return ""
        return match[1] + cite(Sources=[number])

    return NumberedNames(_NAME.sub(rewrite, drop_citations(text)), n_removed)


def restore_names(text: str, names: Mapping[int, str]) -> str:
    """The names again for the numbers of number_names."""

    def rewrite(match: re.Match[str]) -> str:
        return match[1] + " ".join(f"[[{names[int(number)]}]]" for number in _NUMBER.findall(match[2]))

    return CITATION.sub(rewrite, text)


def cite_notes(index: Index, numbered: str, names: Mapping[int, str]) -> list[Citation]:
    """For each sentence that cites a note, the sentence of the note that shares most words with it."""
    claims = list_claims(list_statements(numbered), {"Sources": list(names)})
    sql = (
        "select human_readable_id, id, path, text from documents "
        "where human_readable_id in (select unnest(?::bigint[])) order by path"
    )
    found: dict[int, dict[Citation, None]] = {}
    for number, note, path, text in index.frame(sql, ([number for _, number in claims],)).iter_rows():
        for claim in claims["Sources", number]:
            start, end = choose_span(text, claim) or (0, 0)
            place = (note, path, start, end, text[start:end])
            found.setdefault(number, {})[Citation(f"[[{names[number]}]]", "documents", note, number, *place)] = None
    return [citation for _, number in claims for citation in found.get(number, ())]
