"""The answer of every search mode: text, citations that were checked and resolve to a quote, and what it rests on.

A citation in a text (graphrag/citations.py) that the context does not hold is removed and counted; each kept one
resolves to a document, its path, offsets in the document's text, and the verbatim quote.

Does not: retrieve anything, or choose what an answer says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
class RelatedEntry:
    """A document that hangs on a source by a relation somebody wrote (folding.py): `kind` folded, it was ranked too, or
    neighbor. relation and direction (`out`: towards this one) are of the last hop; `via` the documents between."""

    id: str
    title: str
    path: str
    relation: str
    direction: str
    note: str
    summary: str
    via: tuple[str, ...]
    kind: str

    def render(self, names: Mapping[str, str]) -> str:
        """`<- corrects NAME (via NAMES): NOTE | SUMMARY`. names: by document, of this one and those between."""
        arrow = "->" if self.direction == "out" else "<-"
        aside = [f"via {', '.join(names[i] for i in self.via)}"] if self.via else []
        aside += ["neighbor"] if self.kind == "neighbor" else []
        said = " | ".join(" ".join(text.split()) for text in (self.note, self.summary) if text)
        where = f" ({'; '.join(aside)})" if aside else ""
        return f"{arrow} {self.relation} {names[self.id]}{where}" + (f": {said}" if said else "")


@dataclass(frozen=True)
class FoldedEntry:
    """What folding says of a source: what hangs on it, and ids of the documents that say it is no longer so."""

    related: tuple[RelatedEntry, ...] = ()
    corrected_by: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    clarified_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """A passage, ranked; `id` is its text unit. `folded` is of the first passage of a document, where relations touch
    what was found."""

    rank: int
    id: str
    document: str
    title: str
    path: str
    score: float
    folded: FoldedEntry | None = None

    @property
    def marks(self) -> list[tuple[str, tuple[str, ...]]]:
        """(`corrected by`, ids of documents), ...; none where nothing was folded."""
        folded = self.folded or FoldedEntry()
        ids = (folded.corrected_by, folded.superseded_by, folded.clarified_by)
        return list(zip(("corrected by", "superseded by", "clarified by"), ids, strict=True))

    def to_json(self) -> dict[str, Any]:
        """What `folded` holds stands beside the rest; nothing of it where there is none."""
        described = asdict(self)
        return described | (described.pop("folded") or {})


OF_A_MODEL = ("from_memo", "sentences", "unsupported_sentences")


@dataclass(frozen=True)
class Usage:
    """What an answer took. cost_usd is None where a model's price is unknown. Of a model's answer only: `from_memo`,
    replies that were paid for before; `sentences` that state something; those of them that the context does not
    support."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    context_tokens: int = 0
    seconds: float = 0.0
    from_memo: int = 0
    sentences: int = 0
    unsupported_sentences: int = 0

    @property
    def is_of_model(self) -> bool:
        return self.calls + self.from_memo > 0

    def to_json(self) -> dict[str, Any]:
        """Without what only a model's answer has, where no model was asked."""
        return {name: value for name, value in asdict(self).items() if self.is_of_model or name not in OF_A_MODEL}


@dataclass(frozen=True)
class Answer:
    """What a search mode found. `notices` are lines for the reader about the search itself: what is missing from the
    index, which name was ambiguous, how many citations were removed. `context_ids` are the rows in the context, by
    dataset."""

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
    context_ids: Mapping[str, Sequence[int]] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    notices: tuple[str, ...] = ()

    def to_json(self, *, with_context: bool = False) -> dict[str, Any]:
        """The object that `--json` prints: these keys, `notices` only when there are any, `context` on demand."""
        said: dict[str, Any] = {"notices": list(self.notices)} if self.notices else {}
        said |= {"context": self.context} if with_context else {}
        return {
            "mode": self.mode,
            "question": self.question,
            "answer": self.text,
            "answered": self.answered,
            "citations": [asdict(citation) for citation in self.citations],
            "sources": [source.to_json() for source in self.sources],
            "entities": list(self.entities),
            "relationships": list(self.relationships),
            "reports": list(self.reports),
            "usage": self.usage.to_json(),
            **said,
        }


def with_context(draft: Answer, packed: Packed) -> Answer:
    """The draft with what an answer would rest on."""
    usage = replace(draft.usage, context_tokens=packed.n_tokens)
    return replace(draft, context=packed.text, context_ids=packed.ids, usage=usage)


def compose_answer(
    draft: Answer, lines: Sequence[str], citations: Sequence[Citation], *, packed: Packed, label: str = EXTRACTIVE_LABEL
) -> Answer:
    """The draft with a labelled text of these lines, its citations checked against the packed context.

    A citation whose id the context does not hold is removed from the text and the list, and a notice counts it.
    """
    checked = check_citations("\n".join([label, *lines]), packed.ids)
    cited = set(checked.cited)
    kept = [c for c in dict.fromkeys(citations) if (c.ref.partition(" (")[0], c.human_readable_id) in cited]
    return replace(
        with_context(draft, packed),
        text=checked.text,
        answered=True,
        citations=tuple(kept),
        notices=(*draft.notices, *tell_removed(checked.n_removed)),
    )


def drop_label(text: str) -> str:
    """The text of an answer without the line that says that no model wrote it."""
    label, _, rest = text.partition("\n")
    return rest if label.startswith(EXTRACTIVE_LABEL.rstrip(":")) else text


def tell_removed(n: int) -> list[str]:
    """The notice about citations that were removed; none for 0."""
    were = "citation was" if n == 1 else "citations were"
    return [f"{n} {were} not in the context and {'was' if n == 1 else 'were'} removed."] if n else []
