"""How a community report puts things: names in a row, relationships as words, quotes with their citations.

A neighbour of reports.py. Citations read `[Data: Relationships (12, 14); Sources (3)]` with human_readable_ids of
relationships and text units, at most five of a kind. A quote is never changed; white space in it shows as one space.

Does not: choose what is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphrag.digest import Sentence, show_quote
from graphrag.index.report_corpus import Corpus, is_stated, order_members, order_relationships

MAX_CITED, MAX_IN_TITLE = 5, 3


def join_names(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`; with semicolons where a name has a comma or a colon of its own."""
    if len(names) > 1 and any("," in name or ":" in name for name in names):
        return "; ".join(names)
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def enumerate_names(names: Sequence[str], limit: int, separator: str = ", ") -> str:
    """`A, B and C`, or the first `limit` and how many more there are; "and 1 more" would be no shorter."""
    if len(names) <= limit + 1:
        return join_names(names) if separator == ", " else separator.join(names)
    return f"{separator.join(names[:limit])} and {len(names) - limit} more"


PARTICIPLES = frozenset({
    "applied", "assigned", "attached", "based", "bound", "built", "called", "configured", "connected", "contained",
    "defined", "deployed", "exposed", "generated", "granted", "held", "hosted", "invited", "kept", "known", "located",
    "made", "managed", "mounted", "named", "operated", "owned", "reached", "related", "replaced", "served", "stored",
    "used", "written",
})  # fmt: skip
"""First words of predicates that are said with "is", where a preposition follows: based_on, located_in."""


def say_predicate(relationship: dict[str, Any]) -> str:
    """A predicate as words: `depends on`, `is owned by`."""
    if relationship["origin"] == "cooccurrence":
        return "is mentioned together with"
    first, *rest = str(relationship["predicate"]).split("_")
    is_passive = rest and (rest[-1] == "by" or (first in PARTICIPLES))
    return " ".join(["is", first, *rest] if is_passive and first not in ("is", "was", "are") else [first, *rest])


def say_fact(relationship: dict[str, Any]) -> str:
    return f"{relationship['source']} {say_predicate(relationship)} {relationship['target']}"


def say_member(member: str, told: Iterable[str], corpus: Corpus) -> str:
    """A heading of up to two statements: `Auth Service depends on token cache and Vault; is owned by Identity Team`."""
    outgoing: dict[str, list[str]] = {}
    incoming: list[dict[str, Any]] = []
    together: list[str] = []
    for relationship_id in order_relationships(told, corpus):
        relationship = corpus.relationships[relationship_id]
        is_source = relationship["source_id"] == member
        if relationship["origin"] == "cooccurrence":
            together.append(relationship["target"] if is_source else relationship["source"])
        elif is_source:
            outgoing.setdefault(say_predicate(relationship), []).append(relationship["target"])
        else:
            incoming.append(relationship)
    title = corpus.entities[member]["title"]
    clauses = [f"{predicate} {join_names(targets[:3])}" for predicate, targets in outgoing.items()]
    if clauses:
        told_of = {
            target for targets in outgoing.values() for target in targets
        }  # "A owns B; B is owned by A" adds nothing
        clauses += [say_fact(fact) for fact in incoming if fact["source"] not in told_of]
        return "; ".join([f"{title} {clauses[0]}", *clauses[1:2]])
    facts = [say_fact(fact) for fact in incoming[:2]]
    return "; ".join(facts) or f"{title} is mentioned together with {join_names(together[:3])}"


def title_of(row: dict[str, Any], corpus: Corpus) -> str:
    """What the stated relationships of a community say of one member: `Team B owns Courier App and Label Service`,
    `What depends on Vault: Billing and Login`. Where that is less than half of what they say, or tells of less than
    half of the members: its most important members.
    """
    members = order_members(row, corpus)
    stated = [
        corpus.relationships[r] for r in order_relationships(row["relationship_ids"], corpus) if is_stated(r, corpus)
    ]
    spoken: dict[tuple[str, str, bool], dict[str, None]] = {}
    for fact in stated:
        spoken.setdefault((fact["source_id"], say_predicate(fact), True), {})[fact["target"]] = None
        spoken.setdefault((fact["target_id"], say_predicate(fact), False), {})[fact["source"]] = None
    rank = {member: place for place, member in enumerate(members)}
    best = min(spoken, key=lambda said: (-len(spoken[said]), rank[said[0]], not said[2], said[1]), default=None)
    n_pairs = len({frozenset((fact["source_id"], fact["target_id"])) for fact in stated})
    told = len(spoken[best]) if best is not None else 0
    if best is None or 2 * told < n_pairs or 2 * (told + 1) < row["size"] or told == 1 < n_pairs:
        return enumerate_names([corpus.entities[member]["title"] for member in members[:MAX_IN_TITLE]], MAX_IN_TITLE)
    if told == 1:
        return say_fact(stated[0])
    others = enumerate_names(list(spoken[best]), MAX_IN_TITLE)
    name = corpus.entities[best[0]]["title"]
    return f"{name} {best[1]} {others}" if best[2] else f"What {best[1]} {name}: {others}"


def say_together(members: Sequence[str], quotes: Sequence[Sentence], corpus: Corpus) -> str:
    """That members only stand in the same sentences, and in which documents, that with most such pairs first."""
    names = enumerate_names([corpus.entities[member]["title"] for member in members], 5)
    pairs: dict[str, int] = {}
    for quote in quotes:
        title = show_quote(corpus.documents[quote.document_id]["title"])
        pairs[title] = pairs.get(title, 0) + len(quote.ids)
    titles = enumerate_names(sorted(pairs, key=lambda title: (-pairs[title], title)), 3)
    where = f" in {titles}" if titles else ""
    return f"{names} are mentioned together{where}; no relation between them is stated."


def tell_quotes(quotes: Sequence[Sentence], row: dict[str, Any], corpus: Corpus) -> str:
    """Quotes as a paragraph: those of one document together and in its order, best document first."""
    documents = list(dict.fromkeys(quote.document_id for quote in quotes))
    ordered = sorted(quotes, key=lambda quote: (documents.index(quote.document_id), quote.start))
    return " ".join(cite_quote(quote, row, corpus) for quote in ordered)


def tell_facts(facts: Sequence[str], corpus: Corpus) -> str:
    """Where no sentence can be quoted: relationships as they are."""
    rows = [corpus.relationships[fact] for fact in facts]
    return " ".join(f"{say_fact(row)} [Data: Relationships ({row['human_readable_id']})]." for row in rows)


def cited_relationships(quote: Sentence, row: dict[str, Any], corpus: Corpus) -> list[str]:
    """The relationships of the community that a quote stands for, at most five; stated ones if there are any."""
    inside = set(row["relationship_ids"])
    told = order_relationships([r for r in quote.ids if r in inside], corpus)
    return ([r for r in told if is_stated(r, corpus)] or told)[:MAX_CITED]


def cite_quote(quote: Sentence, row: dict[str, Any], corpus: Corpus) -> str:
    numbers = sorted(corpus.relationships[r]["human_readable_id"] for r in cited_relationships(quote, row, corpus))
    parts = [f"Relationships ({', '.join(map(str, numbers))})"] if numbers else []
    if unit := corpus.unit_of.get((quote.document_id, quote.start, quote.end)):
        parts.append(f"Sources ({corpus.unit_numbers[unit]})")
    text = show_quote(quote.text)
    return f"{text} [Data: {'; '.join(parts)}]" + ("" if text[-1] in ".!?。！？:;\"'”’)*" else ".")
