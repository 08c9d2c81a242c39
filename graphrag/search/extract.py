"""An answer without a model: the sentences that answer the question best, word for word, each with its citation.

Candidates are the sentences of the passages that were found. A sentence is weighed by the question's terms that it
holds (by idf), by its likeness to the question (the few best are embedded), by the rank of its passage, and by how well
it reads alone; near-duplicates are left out. Once sentences say outright what is asked, few others follow. Nothing is
rephrased: a line is a quote or a relationship.

Does not: find passages (ranking.py, local_search.py) or say whether there is an answer at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from graphrag.citations import cite
from graphrag.digest import is_near_duplicate, rate_readability, show_quote, trim_span
from graphrag.search.answer import Citation
from graphrag.search.cues import (
    answers_outright,
    asked_date,
    is_aside,
    is_definition,
    is_denied,
    is_negated,
    is_reversed,
    is_yes_no,
    points_elsewhere,
    rate_cue,
    read_cue,
    says_asked_verb,
    settles_question,
    states_negation,
)
from graphrag.search.ranking import Question, stem_term
from graphrag.search.rows import Fact, Passage, describe_vague
from graphrag.search.support import LONGEST_QUOTE
from graphrag.sentences import sentence_spans
from graphrag.tokens import split_search_terms

MAX_EMBEDDED = 12
# A sentence is quoted when it weighs this share of the best one's weight.
RELATIVE_FLOOR = 0.5
# Beside sentences that say outright what is asked: how many others, and from which share of the best one's weight.
MAX_BESIDE, FLOOR_BESIDE = 2, 0.6
# Reading alone counts less here than in a report: the answer may stand in a row of a table.
LEAST_READABLE = 0.4
NEARNESS_WEIGHT = 0.4
# A sentence with the kind of answer that the question asks for comes first among those that say enough of what it asks.
CUE_WORTH, DEFINITION_WORTH, COPULA_WORTH, ENOUGH_SAID, POINTER_SHARE = 0.5, 0.5, 0.5, 0.4, 0.5
NAMELESS_SHARE, DATELESS_SHARE, PHRASE_WORTH = 0.6, 0.4, 0.3
# Share of a sentence's weight that goes by the terms in it and its headings together.
HEADING_SHARE, NAMED_HEADING_SHARE = 0.25, 0.7
# A lone short quote, and the first to a question for steps, is shown with the sentence after it, which often says what
# to do.
FEW_QUOTES = 2


Spellings = Sequence[Sequence[set[str]]]
"""Of each thing that a question names, its names as stems."""


class Quote(NamedTuple):
    """A sentence of a passage, with its weight for the question; start and end count in the document."""

    text: str
    passage: Passage
    start: int
    end: int
    weight: float

    def to_citation(self) -> Citation:
        passage = self.passage
        place = (passage.document, passage.path, self.start, self.end, self.text)
        return Citation(
            f"Sources ({passage.human_readable_id})", "text_units", passage.id, passage.human_readable_id, *place
        )

    def render(self) -> str:
        return f"- {show_quote(self.text)} {cite(Sources=[self.passage.human_readable_id])}"


def choose_quotes(
    question: Question,
    passages: Sequence[Passage],
    scores: Mapping[str, float],
    *,
    limit: int,
    in_named: Collection[str] = (),
    names: Sequence[Collection[str]] = (),
    stated: Sequence[Fact] = (),
) -> list[Quote]:
    """Up to `limit` sentences, best first; `scores` says how well each passage matches, by id; `in_named` are the
    passages of documents that the question names: their sentences are about it without saying so; `names` are those of
    each thing that it names: a sentence with none of them, about something else of the kind, counts less. `stated` are
    relationships that answer the question: sentences that state them come first."""
    if limit < 1:
        return []
    lowered = sorted({name.lower() for thing in names for name in thing})
    spellings = _spell(names)
    best = max((scores.get(passage.id, 0.0) for passage in passages), default=0.0) or 1.0
    quotes = []
    for passage in passages:
        share = 0.5 + 0.5 * scores.get(passage.id, 0.0) / best
        by_headings = NAMED_HEADING_SHARE if passage.id in in_named else HEADING_SHARE
        for start, end in sentence_spans(passage.text):
            if not passage.text.startswith(("#", "```", "~~~"), start):
                quotes += _weigh_sentence(question, passage, (start, end), share=share, by_headings=by_headings)
    quotes = [quote._replace(weight=quote.weight * _rate_names(quote, spellings, in_named)) for quote in quotes]
    quotes = [quote for quote in quotes if not is_reversed(question.text, quote.text, lowered)]
    if is_negated(question.text):
        quotes = [quote for quote in quotes if states_negation(question.text, quote.text)] or quotes
    quotes.sort(key=lambda quote: -quote.weight)
    quotes = _weigh_meaning(question, quotes[:MAX_EMBEDDED])
    quotes = _drop_repeats(_put_outright_first(question, quotes, lowered, spellings, stated), limit=limit)
    cue = read_cue(question.text)
    n_extended = len(quotes) if len(quotes) <= FEW_QUOTES else int(cue is not None and cue.name == "steps")
    quotes = [_with_next_sentence(quote) if n < n_extended else quote for n, quote in enumerate(quotes)]
    return _drop_repeats(quotes, limit=limit)


def quote_facts(facts: Sequence[Fact], passages: Sequence[Passage], *, limit: int) -> list[Quote]:
    """The evidence of relationships that answer a question, where it stands in these passages: up to `limit` sentences
    in the order of the facts, each once."""
    by_id = {passage.id: passage for passage in passages}
    found: dict[tuple[str, int, int], Quote] = {}
    for fact in facts:
        if passage := by_id.get(fact.text_unit_id):
            place = (passage.id, fact.start, fact.end)
            found.setdefault(place, Quote(fact.quote, passage, fact.start, fact.end, fact.weight))
    return list(found.values())[:limit]


def _put_outright_first(
    question: Question,
    quotes: Sequence[Quote],
    names: Collection[str],
    spellings: Spellings,
    stated: Sequence[Fact],
) -> list[Quote]:
    """Where sentences say outright what is asked: they, and at most two more about the same; else all as they are.

    Outright: a sentence that states one of the relationships that answer, that counts what is to be counted, or, to a
    yes/no question about two things, one that names both and states or denies it. Where no sentence names both, none
    has to do with such a question.
    """
    if is_yes_no(question.text) and len(spellings) > 1:
        n_things = [_count_things(f"{_headings(quote.passage)} {quote.text}", spellings) for quote in quotes]
        about = [quote for quote, n in zip(quotes, n_things, strict=True) if n == len(spellings)]
        outright = [quote for quote in about if settles_question(question.text, quote.text, names)]
        return [*outright, *[quote for quote in about if quote not in outright][:MAX_BESIDE]]
    about = [quote for quote in quotes if _count_things(quote.text, spellings)]
    about = [quote for quote in about if says_asked_verb(question.text, quote.text, names)]
    outright = [quote for quote in quotes if any(states_fact(quote, fact) for fact in stated)]
    if (cue := read_cue(question.text)) and cue.name == "number":
        outright = [quote for quote in quotes if answers_outright(question.text, quote.text)]
    if not outright:
        return list(quotes)
    least = FLOOR_BESIDE * max(quote.weight for quote in outright)
    beside = [quote for quote in about if quote not in outright and quote.weight >= least]
    return [*outright, *beside[:MAX_BESIDE]]


def _weigh_sentence(
    question: Question, passage: Passage, span: tuple[int, int], *, share: float, by_headings: float
) -> list[Quote]:
    start, end = trim_span(passage.text, *span)
    text = passage.text[start:end]
    if start == end or len(text) > LONGEST_QUOTE or not any(character.isalpha() for character in text):
        return []
    if is_denied(question.text, text):
        return []
    under = question.coverage(f"{_headings(passage)}\n{text}")
    said = (1 - by_headings) * question.coverage(text) + by_headings * under
    expected = CUE_WORTH * rate_cue(read_cue(question.text), text, " ".join(passage.heading_path[-1:]))
    expected += PHRASE_WORTH * (_phrase(question) in text.lower())
    expected += DEFINITION_WORTH * answers_outright(question.text, text)
    expected += COPULA_WORTH * is_definition(question.text, text)
    weight = _readability(text) * share * (0.1 + said + expected * min(1.0, said / ENOUGH_SAID))
    weight *= _rate_date(question, text)
    weight *= POINTER_SHARE if points_elsewhere(text) or is_aside(text) else 1.0
    return [Quote(text, passage, passage.start + start, passage.start + end, weight)]


def _phrase(question: Question) -> str:
    """The question from its first to its last content word, in lower case: "deploy an app"; a single word is none."""
    words = [word.strip("?!.,;:'\"").lower() for word in question.text.split()]
    held = [n for n, word in enumerate(words) if set(split_search_terms(word)) & set(question.terms)]
    return " ".join(words[held[0] : held[-1] + 1]) if len(held) > 1 else "\n"


def _rate_date(question: Question, text: str) -> float:
    """From DATELESS_SHARE to 1: to "What broke on 4 March 2024?" a sentence with another date or none counts less."""
    asked = asked_date(question.text)
    held = asked & set(re.findall(r"\w+", text.lower()))
    return DATELESS_SHARE + (1 - DATELESS_SHARE) * len(held) / len(asked) if asked else 1.0


def _count_things(text: str, spellings: Spellings) -> int:
    """How many of the things that the question names a text names."""
    held = {stem_term(term) for term in split_search_terms(text)}
    return sum(any(spelling <= held for spelling in thing if spelling) for thing in spellings)


def _rate_names(quote: Quote, spellings: Spellings, in_named: Collection[str]) -> float:
    if not spellings or quote.passage.id in in_named:
        return 1.0
    return 1.0 if _names_one(quote, spellings) else NAMELESS_SHARE


def _names_one(quote: Quote, spellings: Spellings) -> bool:
    return _count_things(f"{_headings(quote.passage)} {quote.text}", spellings) > 0


def names_thing(quote: Quote, names: Collection[str]) -> bool:
    """Whether the sentence, or what it stands under, holds one of the names of a thing."""
    return _names_one(quote, _spell([names]))


def _spell(names: Sequence[Collection[str]]) -> Spellings:
    return [[{stem_term(term) for term in split_search_terms(name)} for name in thing] for thing in names]


def _headings(passage: Passage) -> str:
    """What a sentence stands under: it often holds the name that the sentence does not repeat."""
    title, path = passage.title, passage.heading_path
    return " > ".join([*([] if path and path[0].startswith(title) else [title]), *path])


def _readability(text: str) -> float:
    """Between LEAST_READABLE and 1; marks of code and links do not count against a sentence that answers."""
    text = re.sub(r"[`*]|\[\[|\]\]", "", text)
    return LEAST_READABLE + (1 - LEAST_READABLE) * rate_readability(text)


def _weigh_meaning(question: Question, quotes: list[Quote]) -> list[Quote]:
    """Add the nearness of each sentence to the question; the order of equal weights stays."""
    if question.embedder is None or question.vector is None or not quotes:
        return quotes
    cosines = question.embedder.embed([quote.text for quote in quotes]) @ question.vector
    weighed = []
    for quote, cosine in zip(quotes, cosines, strict=True):
        nearness = round(question.nearness(float(cosine)), 6)
        worth = NEARNESS_WEIGHT * nearness * _readability(quote.text) * _rate_date(question, quote.text)
        weighed.append(quote._replace(weight=quote.weight + worth))
    return sorted(weighed, key=lambda quote: -quote.weight)


def _drop_repeats(quotes: Sequence[Quote], *, limit: int) -> list[Quote]:
    kept: list[Quote] = []
    words: list[set[str]] = []
    floor = RELATIVE_FLOOR * max((quote.weight for quote in quotes), default=0.0)
    for quote in quotes:
        terms = set(split_search_terms(quote.text))
        if len(kept) == limit:
            break
        if quote.weight < floor:
            continue
        if not any(is_near_duplicate(terms, others) for others in words):
            kept.append(quote)
            words.append(terms)
    return kept


def _with_next_sentence(quote: Quote) -> Quote:
    """The quote up to the end of the sentence that follows in the same paragraph or list item."""
    passage = quote.passage
    local_end = quote.end - passage.start
    for start, end in sentence_spans(passage.text):
        if start >= local_end:
            gap = passage.text[local_end:start]
            start_of_item = passage.text[start : start + 1] in "-*+|#>"
            if gap.strip() or gap.count("\n") > 1 or start_of_item or end - local_end > LONGEST_QUOTE:
                return quote
            _, end = trim_span(passage.text, start, end)
            text = passage.text[quote.start - passage.start : end]
            return quote._replace(text=text, end=passage.start + end)
    return quote


def states_fact(quote: Quote, fact: Fact) -> bool:
    """The quote is evidence of the fact, or a sentence that names both its ends and the verb's stem."""
    if quote.passage.path == fact.path and quote.start < fact.end and fact.start < quote.end:
        return True
    said = {stem_term(term) for term in split_search_terms(quote.text)}
    return {stem_term(term) for term in split_search_terms(say_fact(fact))} <= said


def say_fact(fact: Fact) -> str:
    """`Auth Service depends on token cache`."""
    return f"{fact.source} {fact.predicate.replace('_', ' ')} {fact.target}"


def render_fact(fact: Fact) -> str:
    """`- Auth Service -depends_on-> token cache [Data: Relationships (5)]`; a predicate that says nothing, as in
    indexes of other tools, is followed by the relationship's description."""
    said = describe_vague(fact)
    shown = f"{fact.render()}: {show_quote(said)}" if said else fact.render()
    return f"- {shown} {cite(Relationships=[fact.human_readable_id])}"
