"""Pure rules that read typed, directed relations from the dependency parse of one sentence.

Subject and object are names of the sentence, joined by a verb (with its preposition), a passive, a copula with noun
or adjective, an apposition, or a full or reduced relative clause, across conjunctions on either side. The arrow
follows the reading direction, never flipped: "Redis backs the cache" is Redis backs cache. What is denied, asked,
wished, supposed or past makes no relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from graphrag.nlp.lexicon import (
    CARRYING_PREDICATES,
    EMPTY_HEADS,
    EMPTY_MODIFIERS,
    GENERIC_NAMES,
    NEGATIONS,
    ORDINARY_WORDS,
    TYPE_OF_HEAD,
    words,
)
from graphrag.nlp.parsing import Parse
from graphrag.nlp.patterns import MAX_NAMES, find_pattern_relations
from graphrag.nlp.predicates import (
    Relation,
    is_confirmed,
    is_excluded,
    is_precise,
    is_strong,
    normalise_predicate,
    third_person,
)
from graphrag.nlp.relating_words import (
    RELATING_ADJECTIVES,
)
from graphrag.nlp.technologies import VERSION_BEHIND
from graphrag.nlp.tree import PARTITIVES, SentenceTree
from graphrag.nlp.words import Name

UNREAL_OPENING = regex.compile(
    r"\b(?:at first|initially|originally|in the past|under (?:that|this) proposal)\b", regex.IGNORECASE
)
OWNER_NOUNS = {
    "owner": "owned_by", "maintainer": "maintained_by", "lead": "led_by", "leader": "led_by", "manager": "managed_by",
}  # fmt: skip
# "the Redis instance" means Redis; "Redis topics" does not.
TRANSPARENT_HEADS = words(
    "instance deployment installation cluster service server database cache app application team queue broker"
)
# A break in the line between the ends: they belong to different statements.
BREAK = regex.compile(r" [—–·|→] |\n\n")
# "a service called X", "also known as X": another name, which is disambiguation's matter.
NAMING_VERBS = words("call name know title dub label")
PLACE_PREPOSITIONS = words("in on behind inside under from with within")


def find_relations(text: str, parse: Parse, names: Sequence[Name]) -> list[Relation]:
    """The typed relations of one sentence, in reading order; names not `is_sure` may be among their ends."""
    if text.rstrip("\"') ").endswith("?") or len(parse.heads) < 3 or len(names) > MAX_NAMES:
        return []
    return RelationReader(SentenceTree(text, parse, names)).read()


def clause_subjects(parse: Parse, names: Sequence[Name]) -> list[Name | None]:
    """The subjects of the sentence's clauses, in order: a name, or None where it is no name."""
    found: list[Name | None] = []
    for token, dep in enumerate(parse.deps):
        if dep in {"nsubj", "nsubjpass"} and parse.tags[token] not in {"WDT", "WP"}:
            covering = [n for n in names if n.is_sure and parse.starts[token] < n.end and n.start < parse.ends[token]]
            found.append(covering[0] if covering else None)
    return found


class RelationReader:
    """Walks the verbs and appositions of one sentence; `read` gives its relations."""

    def __init__(self, tree: SentenceTree) -> None:
        self.tree = tree

    def read(self) -> list[Relation]:
        found: dict[tuple[object, ...], Relation] = {}
        done: set[int] = set()
        for token, tag in enumerate(self.tree.parse.tags):
            if token in self.tree.name_of and not tag.startswith("VBZ"):
                continue
            facts: list[Relation] = []
            if tag.startswith("VB") and self.tree.parse.deps[token] not in {"aux", "auxpass", "amod", "compound"}:
                facts = list(self.verb_facts(token))
                if facts or self.tree.is_unreal(token):
                    done.add(token)
            elif self.tree.parse.deps[token] == "appos" and token not in self.tree.name_of:
                facts = list(self.noun_facts(token, [self.tree.parse.heads[token]]))
            for fact in facts:
                found.setdefault((fact.subject_span, fact.predicate, fact.object_span), fact)
        for fact in find_pattern_relations(
            self.tree.text, self.tree.names, lambda start, end: self.may_be_verb(start, end, done)
        ):
            found.setdefault((fact.subject_span, fact.predicate, fact.object_span), fact)
        return [fact for fact in found.values() if self.is_sound(fact)]

    def may_be_verb(self, start: int, end: int, done: set[int]) -> bool:
        """For a pattern's verb: not one that the parse has read, or holds for unreal."""
        tokens = [t for t, first in enumerate(self.tree.parse.starts) if start <= first < end]
        return not any(token in done or self.tree.parse.tags[token] in {"IN", "DT"} for token in tokens)

    def is_sound(self, fact: Relation) -> bool:
        if (
            fact.subject == fact.object
            or self.is_same_name(fact)
            or not is_precise(fact.predicate, fact.object, self.tree.text)
        ):
            return False
        if not is_confirmed(fact.subject, fact.predicate) or not is_confirmed(fact.object, fact.predicate):
            return False
        first, last = sorted((fact.subject_span, fact.object_span))
        if UNREAL_OPENING.search(self.tree.text[: first[0]]):
            return False
        return not BREAK.search(self.tree.text[first[1] : last[0]])

    def is_same_name(self, fact: Relation) -> bool:
        """A thing and a version of it: "NumPy 1.22 adapts NumPy"."""
        first, second = (self.tree.text[slice(*span)].casefold() for span in (fact.subject_span, fact.object_span))
        return VERSION_BEHIND.sub("", first) == second or first == VERSION_BEHIND.sub("", second)

    def verb_facts(self, verb: int) -> Iterator[Relation]:
        tag, dep = self.tree.parse.tags[verb], self.tree.parse.deps[verb]
        is_naming = self.tree.parse.lemmas[verb] in NAMING_VERBS and (tag == "VBN" or dep == "acl")
        is_loose = self.tree.words[verb] == "depending" and dep in {"prep", "advcl", "acl"}  # "depending on its cost"
        if is_loose or is_naming or self.tree.is_unreal(verb):
            return
        subjects = self.tree.subjects(verb)
        if self.tree.parse.lemmas[verb] == "be":
            yield from self.copula_facts(verb, subjects)
            return
        passive = self.tree.is_passive(verb)
        particle = self.tree.particle(verb)
        base = self.tree.words[verb] if passive else third_person(self.tree.parse.lemmas[verb].casefold())
        for argument in self.tree.objects(verb, passive):
            predicate = normalise_predicate(base, particle, self.tree.phrase(argument.path))
            yield from self.facts(subjects, predicate, self.tree.predicate_span(verb, argument.path), argument.target)

    def facts(self, subjects: list[int], predicate: str, span: tuple[int, int], target: int) -> Iterator[Relation]:
        for object_token in self.tree.conjuncts(target):
            end = self.end(object_token, predicate)
            if end is not None:
                for subject in subjects:
                    for subject_token in self.tree.conjuncts(subject):
                        yield from self.fact(subject_token, predicate, span, end)

    def fact(
        self, subject: int, predicate: str, span: tuple[int, int], object_end: tuple[Name | None, tuple[int, int]]
    ) -> Iterator[Relation]:
        end = self.end(subject, predicate)
        if end is not None and (end[0] is not None or object_end[0] is not None):
            yield Relation(*end, predicate, span, *object_end)

    def end(self, token: int, predicate: str) -> tuple[Name | None, tuple[int, int]] | None:
        """(name, its span) of a noun phrase, (None, its span) of a pronoun or "the service", None of anything else."""
        name = self.end_name(token, predicate)
        if name is not None:
            return name, (name.start, name.end)
        if self.is_reference(token):
            return None, (
                min(self.tree.parse.starts[t] for t in [token, *self.tree.determiners(token)]),
                self.tree.parse.ends[token],
            )
        return None

    def copula_facts(self, verb: int, subjects: list[int]) -> Iterator[Relation]:
        deps = self.tree.parse.deps
        for child in self.tree.children[verb]:
            if deps[child] == "attr" and child not in self.tree.name_of:
                yield from self.noun_facts(child, subjects, verb)
            elif deps[child] == "attr":
                yield from self.owner_facts(subjects, verb, child)
            elif deps[child] == "acomp" and self.tree.words[child] in RELATING_ADJECTIVES:
                for argument in self.tree.attached_objects(child, verb):
                    predicate = normalise_predicate(
                        "is", self.tree.words[child], self.tree.phrase(argument.path)
                    ).removeprefix("is_")
                    yield from self.facts(
                        subjects, predicate, self.tree.predicate_span(verb, argument.path), argument.target
                    )
            elif deps[child] == "prep" and self.tree.words[child] in PLACE_PREPOSITIONS:
                for argument in self.tree.preposition_objects((child,), None):
                    predicate = normalise_predicate("is", self.tree.phrase(argument.path))
                    yield from self.facts(
                        subjects, predicate, self.tree.predicate_span(verb, argument.path), argument.target
                    )

    def noun_facts(self, noun: int, subjects: list[int], verb: int | None = None) -> Iterator[Relation]:
        """ "X is the owner of Y", "X, part of Y,"."""
        if any(self.tree.words[c] in NEGATIONS for c in self.tree.children[noun]):
            return
        lemma = self.tree.parse.lemmas[noun].casefold()
        for argument in self.tree.attached_objects(noun, None):
            predicate = normalise_predicate("is", lemma, self.tree.phrase(argument.path))
            if predicate.startswith("is_") and (
                self.tree.phrase(argument.path) != "of" or lemma in EMPTY_HEADS | PARTITIVES
            ):
                continue
            span = self.tree.predicate_span(noun if verb is None else verb, argument.path)
            yield from self.facts(subjects, predicate, span, argument.target)

    def owner_facts(self, subjects: list[int], verb: int, owner: int) -> Iterator[Relation]:
        """ "The owner of X is Y": X owned_by Y."""
        for subject in subjects:
            predicate = OWNER_NOUNS.get(self.tree.parse.lemmas[subject])
            if predicate is None:
                continue
            for argument in self.tree.attached_objects(subject, None):
                span = self.tree.predicate_span(subject, argument.path)
                end = self.end(owner, predicate)
                if self.tree.phrase(argument.path) == "of" and end is not None:
                    for token in self.tree.conjuncts(argument.target):
                        yield from self.fact(token, predicate, span, end)

    def end_name(self, token: int, predicate: str, depth: int = 0) -> Name | None:
        """The name that a noun phrase stands for, by its head token."""
        name = self.tree.name_of.get(token) or self.name_beside(token)
        if name is None and depth < 2:
            for child in self.tree.children[token] if self.tree.parse.tags[token].startswith("NN") else ():
                if self.tree.parse.deps[child] == "appos" and child in self.tree.name_of:
                    name = self.tree.name_of[child]
            if self.tree.parse.deps[token] == "appos":
                name = name or self.end_name(self.tree.parse.heads[token], predicate, depth + 1)
            if name is None and self.tree.parse.deps[token] == "attr":  # "X is a service that ..."
                subjects = self.tree.subjects(self.tree.parse.heads[token])
                name = self.end_name(subjects[0], predicate, depth + 1) if len(subjects) == 1 else None
        if name is None and is_strong(predicate):
            name = self.compound_end(token, predicate)
        return None if name is None or is_excluded(self.tree.text, name) else name

    def name_beside(self, token: int) -> Name | None:
        """ "the Redis instance": the name before a generic head noun."""
        if self.tree.parse.lemmas[token].casefold() not in TRANSPARENT_HEADS:
            return None
        beside = [
            self.tree.name_of[c]
            for c in self.tree.children[token]
            if self.tree.parse.deps[c] in {"compound", "nmod", "amod"} and c in self.tree.name_of
        ]
        return beside[-1] if beside else None

    def compound_end(self, token: int, predicate: str) -> Name | None:
        """A lower-case noun compound, or a sentence's first word, that only this relation shows to be a thing."""
        if (
            self.tree.parse.tags[token] not in {"NN", "NNP", "NNS"}
            or self.tree.parse.lemmas[token].casefold() in EMPTY_HEADS
        ):
            return None
        first = token
        while (
            first > 0
            and self.tree.parse.tags[first - 1] in {"NN", "NNP"}
            and self.tree.parse.ends[first - 1] + 1 == self.tree.parse.starts[first]
            and self.tree.words[first - 1] not in EMPTY_MODIFIERS
            and first - 1 not in self.tree.name_of
        ):
            first -= 1
        start, end = self.tree.parse.starts[first], self.tree.parse.ends[token]
        surface = self.tree.text[start:end]
        if first == token:
            is_first = (
                token == 0
                and surface[0].isupper()
                and self.tree.words[token] not in ORDINARY_WORDS | GENERIC_NAMES
                and len(surface) > 2
            )
            if not is_first or not self.is_singular_subject(token):
                return None
        elif (
            predicate not in CARRYING_PREDICATES
            or self.tree.parse.tags[token] == "NNS"
            or self.tree.text[start - 1 : start] == "-"
        ):
            return None
        kind = TYPE_OF_HEAD.get(self.tree.words[token], "unknown")
        return Name(start, end, kind, "end", is_sure=False)

    def is_singular_subject(self, token: int) -> bool:
        """ "Payments depends", but not "Sessions are": a plural with a singular verb is a name."""
        if self.tree.parse.tags[token] != "NNS":
            return True
        verb = self.tree.parse.heads[token]
        return self.tree.parse.tags[verb] == "VBZ" or any(
            self.tree.words[c] in {"is", "was", "has"} for c in self.tree.children[verb]
        )

    def is_reference(self, token: int) -> bool:
        """ "It", "this service", "the gateway": what stands for a name said before."""
        if self.tree.words[token] == "it":
            return True
        determiners = self.tree.determiners(token)
        return (
            bool(determiners)
            and self.tree.words[token] in TYPE_OF_HEAD
            and len(self.tree.children[token]) == len(determiners)
        )
