"""Which documents a question is about as a whole: those of a kind ("our incidents"), or all ("the biggest risks").

A kind is a folder or a declared type that the question names: incidents/, `type: incident`. What else the question
names ("decisions about databases") narrows it to the documents that speak of that; if none does, there is no overview.

Reads documents, text_units. Does not: choose sentences (overview.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.cues import Cue
from graphrag.search.ranking import Question, stem_term
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

# Words of questions about many documents: they say what kind of answer is wanted, not what it is about.
THEME_WORDS = frozenset(
    split_search_terms(
        "across common corpus document documents key main major overall overview pattern patterns recur recurring "
        "repeated summary summarise summarize theme themes topic topics important biggest single lesson lessons "
        "frequent frequently usual usually typical list learn learned learnt review reviews report reports write "
        "happen happened exist existing available there keep made make take took got come made everything"
    )
)
# Kinds of documents by their usual names; a question about the whole may name one that the folders do not.
_KINDS = (
    "runbook playbook incident postmortem decision record note page article guide manual handbook wiki post ticket memo"
)
KIND_STEMS = frozenset(map(stem_term, split_search_terms(_KINDS)))
# Verbs and nouns of "which ... do we ...": the answer is the same for all of them.
_ASKING_WORDS = (
    "rely use using used depend run running build built operate work know have own support maintain exist company "
    "platform organisation organization system systems stack different kind kinds type types name names all "
    "concern concerns involve involves mention affect affects touch relate deal"
)
ASKING_STEMS = frozenset(map(stem_term, THEME_WORDS)) | frozenset(map(stem_term, split_search_terms(_ASKING_WORDS)))


class Kind(NamedTuple):
    """Documents of the kind that a question asks about, the words of the question (by stem) that say so, and the kind
    as the documents' folder or type has it, for people."""

    documents: frozenset[str]
    stems: frozenset[str]
    name: str = ""


def find_documents_of_kind(index: Index, question: Question) -> Kind:
    """The documents whose folder or declared type is a word of the question; of a folder such as manage-app all words.
    A kind that more than half of the documents have says nothing."""
    rows = index.frame(
        "select id, path, coalesce(json_extract_string(try_cast(metadata as json), '$.type'), '') from documents "
        "order by path"
    ).rows()
    asked = set(question.idf)
    stems: dict[str, set[str]] = {}
    names: dict[str, int] = {}
    for document, path, kind in rows:
        for part in (kind, *path.split("/")[:-1]):
            terms = {stem_term(term) for term in split_search_terms(part)}
            if (shared := asked & terms) and (shared == terms or part == kind):
                stems.setdefault(document, set()).update(shared)
                names[part] = names.get(part, 0) + 1
    if not stems or len(stems) > len(rows) / 2:
        return Kind(frozenset(), frozenset())
    name = min(names, key=lambda part: (-names[part], part))
    return Kind(frozenset(stems), frozenset(stem for found in stems.values() for stem in found), name)


def list_other_terms(question: Question, kind: Kind, cue: Cue | None) -> dict[str, float]:
    """What a question asks about besides the kind and the kind of answer: idf by stem."""
    known = kind.stems | ASKING_STEMS | (cue.words if cue else frozenset())
    return {stem: idf for stem, idf in question.idf.items() if stem not in known}


def narrow_documents(index: Index, documents: frozenset[str], terms: dict[str, float]) -> list[str]:
    """The documents that hold the terms, at least half of their weight; all without terms; by path."""
    rows = index.frame(
        "select id, title || ' ' || path || ' ' || text from documents "
        "where id in (select unnest(?::varchar[])) order by path",
        (sorted(documents),),
    ).rows()
    if not terms:
        return [document for document, _ in rows]
    held = {document: {stem_term(term) for term in split_search_terms(text)} for document, text in rows}
    half = sum(terms.values()) / 2
    return [d for d, _ in rows if sum(idf for stem, idf in terms.items() if stem in held[d]) >= half]


def list_documents(index: Index) -> list[str]:
    """Ids of all documents, by path."""
    return index.frame("select id from documents order by path")["id"].to_list()
