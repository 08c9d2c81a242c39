"""The answer of every search mode: text, citations that were checked and resolve to a quote, and what it rests on.

A citation in a text (graphrag/citations.py) that the context does not hold is removed and counted; each kept one
resolves to a document, its path, offsets in the document's text, and the verbatim quote.

Does not: retrieve anything, or choose what an answer says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from graphrag.citations import check_citations
from graphrag.context import Packed

NOTHING = "Nothing in the index answers this question."
EXTRACTIVE_LABEL = "Extractive answer (no model):"


@dataclass(frozen=True)
class Citation:
    """Where a cited row says what the answer says. `ref` as in the text, `kind` and `id` its table and row,
    `document` the document's id; `quote` is documents.text[start:end]."""

    ref: str
    kind: str
    id: str
    human_readable_id: int
    document: str
    path: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class Source:
    """A passage, ranked; `id` is its text unit."""

    rank: int
    id: str
    document: str
    title: str
    path: str
    score: float


@dataclass(frozen=True)
class Usage:
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    context_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Answer:
    """What a search mode found. `notices` are lines for the reader about the search itself: what is missing from the
    index, which name was ambiguous, how many citations were removed."""

    mode: str
    question: str
    text: str
    answered: bool
    citations: tuple[Citation, ...] = ()
    sources: tuple[Source, ...] = ()
    entities: tuple[dict[str, Any], ...] = ()
    relationships: tuple[dict[str, Any], ...] = ()
    reports: tuple[dict[str, Any], ...] = ()
    context: str = ""
    usage: Usage = field(default_factory=Usage)
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints: these keys, and `notices` only when there are any."""
        said = {"notices": list(self.notices)} if self.notices else {}
        return {
            "mode": self.mode,
            "question": self.question,
            "answer": self.text,
            "answered": self.answered,
            "citations": [asdict(citation) for citation in self.citations],
            "sources": [asdict(source) for source in self.sources],
            "entities": list(self.entities),
            "relationships": list(self.relationships),
            "reports": list(self.reports),
            "usage": asdict(self.usage),
            **said,
        }


def compose_answer(
    draft: Answer, lines: Sequence[str], citations: Sequence[Citation], *, packed: Packed, label: str = EXTRACTIVE_LABEL
) -> Answer:
    """The draft with a labelled text of these lines, its citations checked against the packed context.

    A citation whose id the context does not hold is removed from the text and the list, and a notice counts it.
    """
    checked = check_citations("\n".join([label, *lines]), packed.ids)
    cited = set(checked.cited)
    kept = [c for c in dict.fromkeys(citations) if (c.ref.partition(" (")[0], c.human_readable_id) in cited]
    n = checked.n_removed
    were = "citation was" if n == 1 else "citations were"
    removed = [f"{n} {were} not in the context and {'was' if n == 1 else 'were'} removed."] if n else []
    return replace(
        draft,
        text=checked.text,
        answered=True,
        citations=tuple(kept),
        context=packed.text,
        usage=replace(draft.usage, context_tokens=packed.n_tokens),
        notices=(*draft.notices, *removed),
    )
