"""Mode `auto`: which mode suits a question, and why.

A question that names a thing is a look-up, or asks what depends on it: local. One about what recurs, or that names
nothing but the whole, is about themes: global. Without relationships there is no graph to walk: basic. All else: local.

Reads entities, documents, relationships, community_reports. Does not: ask a model, or search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.overviews.documents_of_kind import THEME_WORDS
from graphrag.search.ranking import question_terms
from graphrag.search.seeds import find_named_documents, find_named_entities
from graphrag.search.walks.dependents import asks_for_dependents, asks_for_most_needed
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

# Words that only a question about many documents has; "single" or "list" may stand in any.
_THEMES = (
    "theme themes topic topics pattern patterns recur recurs recurring common commonest overall overview summarise "
    "summarize summary lesson lessons main across trend trends"
)
STRONG_WORDS = frozenset(split_search_terms(_THEMES))


class Choice(NamedTuple):
    """A mode and, for a reader, why: "names Redis"."""

    mode: str
    why: str

    def render(self) -> str:
        return f"Mode {self.mode}: {self.why}."


def choose_mode(index: Index, question: str) -> Choice:
    """local, global or basic."""
    counts = "select (select count(*) from relationships), (select count(*) from community_reports)"
    ((n_relationships, n_reports),) = index.frame(counts).rows()
    if not n_relationships:
        return Choice("basic", "the index has no relationships")
    named, _ = find_named_entities(index, question)
    if named:
        titles = " and ".join(dict.fromkeys(entity.title for entity in named[:2]))
        asks = f"the question asks what depends on {titles}" if asks_for_dependents(question) else ""
        return Choice("local", asks or f"the question names {titles}")
    if find_named_documents(index, question):
        return Choice("local", "the question names a document")
    if asks_for_most_needed(question):
        return Choice("local", "the question asks what most others depend on")
    terms = question_terms(question)
    if n_reports and terms and any(term in STRONG_WORDS for term in terms):
        word = next(term for term in terms if term in STRONG_WORDS)
        return Choice("global", f'the question is about the whole ("{word}")')
    if n_reports and terms and all(term in THEME_WORDS for term in terms):
        return Choice("global", "the question names nothing but the whole")
    return Choice("local", "the question is a look-up")
