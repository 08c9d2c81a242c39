"""Pure rules that read typed, directed relations from the dependency parse of one sentence.

Subject and object are names of the sentence, joined by a verb (with its preposition), a passive, a copula with noun or
adjective, an apposition, or a full or reduced relative clause, across conjunctions on either side. The arrow follows the
reading direction, never flipped: "Redis backs the cache" is Redis backs cache. What is denied, asked, wished, supposed or
past makes no relation.

Labels are ClearNLP's, tags Penn Treebank's, as spaCy's English models give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

from graphrag.index.nlp_lexicon import (
    CONTROL_VERBS,
    EMPTY_HEADS,
    EMPTY_MODIFIERS,
    MODALS,
    NEGATIONS,
    ORDINARY_WORDS,
    RELATIVE_PRONOUNS,
    SPEECH_VERBS,
    TYPE_OF_HEAD,
    UNREAL_MARKS,
    UNREAL_VERBS,
)
from graphrag.index.nlp_names import Name
from graphrag.index.nlp_patterns import find_pattern_relations
from graphrag.index.nlp_predicates import (
    Relation,
    is_confirmed,
    is_excluded,
    is_strong,
    normalise_predicate,
    third_person,
)
from graphrag.nlp_parsing import Parse

PREPOSITIONS = frozenset(
    "on upon to from by with into onto in inside through via behind against for at of as under over within between around".split()
)
PAST_ADVERBS = frozenset("longer previously formerly originally historically initially never no".split())
UNREAL_OPENING = regex.compile(
    r"\b(?:at first|initially|originally|in the past|under (?:that|this) proposal)\b", regex.IGNORECASE
)
PARTICLES = frozenset("up down out off over back away".split())
OWNER_NOUNS = {
    "owner": "owned_by", "maintainer": "maintained_by", "lead": "led_by", "leader": "led_by", "manager": "managed_by",
}  # fmt: skip
# "the Redis instance" means Redis; "Redis topics" does not.
TRANSPARENT_HEADS = frozenset(
    "instance deployment installation cluster service server database cache app application team queue broker".split()
)
# A break in the line between the ends: they belong to different statements.
BREAK = regex.compile(r" [—–·|→] |\n\n")
MAX_DEPTH = 6
PARTITIVES = frozenset(
    "most all part some half much many one two each any none both several set group list source rest copy".split()
)
PLACE_NOUNS = frozenset("front top".split())
PLACE_PREPOSITIONS = frozenset("in on behind inside under from with within".split())
NOUN_PREPOSITIONS = frozenset("to from into on onto via through with against".split())
PLACING_VERBS = frozenset("store keep hold save cache host put place write record persist publish register".split())
TIME_NOUNS = frozenset("day week month year hour minute time night morning".split())


class Argument(NamedTuple):
    """An object of a verb: the prepositions that lead to it (none for a direct object), and its head token."""

    path: tuple[int, ...]
    target: int


def clause_subjects(parse: Parse, names: Sequence[Name]) -> list[Name | None]:
    """The subjects of the sentence's clauses, in order: a name, or None where it is no name."""
    found: list[Name | None] = []
    for token, dep in enumerate(parse.deps):
        if dep in {"nsubj", "nsubjpass"} and parse.tags[token] not in {"WDT", "WP"}:
            covering = [n for n in names if n.is_sure and parse.starts[token] < n.end and n.start < parse.ends[token]]
            found.append(covering[0] if covering else None)
    return found


def find_relations(text: str, parse: Parse, names: Sequence[Name]) -> list[Relation]:
    """The typed relations of one sentence, in reading order; names not `is_sure` may be among their ends."""
    if text.rstrip("\"') ").endswith("?") or len(parse.heads) < 3:
        return []
    return SentenceReader(text, parse, names).read()


class SentenceReader:
    """One sentence's tree with its names; `read` walks its verbs."""

    def __init__(self, text: str, parse: Parse, names: Sequence[Name]) -> None:
        self.text, self.parse, self.names = text, parse, names
        self.children: list[list[int]] = [[] for _ in parse.heads]
        for token, head in enumerate(parse.heads):
            if head != token:
                self.children[head].append(token)
        self.words = [text[a:b].casefold() for a, b in zip(parse.starts, parse.ends, strict=True)]
        self.name_of: dict[int, Name] = {}
        for name in names:
            for token, (start, end) in enumerate(zip(parse.starts, parse.ends, strict=True)):
                if start < name.end and name.start < end:
                    self.name_of[token] = name

    def read(self) -> list[Relation]:
        found: dict[tuple[object, ...], Relation] = {}
        done: set[int] = set()
        for token, tag in enumerate(self.parse.tags):
            if token in self.name_of and not tag.startswith("VBZ"):
                continue
            facts: list[Relation] = []
            if tag.startswith("VB") and self.parse.deps[token] not in {"aux", "auxpass", "amod", "compound"}:
                facts = list(self.verb_facts(token))
                if facts or self.is_unreal(token):
                    done.add(token)
            elif self.parse.deps[token] == "appos" and token not in self.name_of:
                facts = list(self.noun_facts(token, [self.parse.heads[token]]))
            for fact in facts:
                found.setdefault((fact.subject_span, fact.predicate, fact.object_span), fact)
        for fact in find_pattern_relations(
            self.text, self.names, lambda start, end: self.may_be_verb(start, end, done)
        ):
            found.setdefault((fact.subject_span, fact.predicate, fact.object_span), fact)
        return [fact for fact in found.values() if self.is_sound(fact)]

    def may_be_verb(self, start: int, end: int, done: set[int]) -> bool:
        """For a pattern's verb: not one that the parse has read, or holds for unreal."""
        tokens = [t for t, first in enumerate(self.parse.starts) if start <= first < end]
        return not any(token in done or self.parse.tags[token] in {"IN", "RB", "DT"} for token in tokens)

    def is_sound(self, fact: Relation) -> bool:
        if fact.subject == fact.object:
            return False
        if not is_confirmed(fact.subject, fact.predicate) or not is_confirmed(fact.object, fact.predicate):
            return False
        first, last = sorted((fact.subject_span, fact.object_span))
        if UNREAL_OPENING.search(self.text[: first[0]]):
            return False
        return not BREAK.search(self.text[first[1] : last[0]])

    # -- the verb and its arguments

    def verb_facts(self, verb: int) -> Iterator[Relation]:
        if self.is_unreal(verb):
            return
        subjects = self.subjects(verb)
        if self.parse.lemmas[verb] == "be":
            yield from self.copula_facts(verb, subjects)
            return
        passive = self.is_passive(verb)
        particle = self.particle(verb)
        base = self.words[verb] if passive else third_person(self.parse.lemmas[verb].casefold())
        for argument in self.objects(verb, passive):
            predicate = normalise_predicate(base, particle, self.phrase(argument.path))
            yield from self.facts(subjects, predicate, self.predicate_span(verb, argument.path), argument.target)

    def particle(self, verb: int) -> str:
        return " ".join(self.words[c] for c in self.children[verb] if self.parse.deps[c] == "prt")

    def facts(self, subjects: list[int], predicate: str, span: tuple[int, int], target: int) -> Iterator[Relation]:
        for object_token in self.conjuncts(target):
            end = self.end(object_token, predicate)
            if end is not None:
                for subject in subjects:
                    for subject_token in self.conjuncts(subject):
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
            return None, (min(self.parse.starts[t] for t in [token, *self.determiners(token)]), self.parse.ends[token])
        return None

    def subjects(self, verb: int, depth: int = 0) -> list[int]:
        deps, heads, tags = self.parse.deps, self.parse.heads, self.parse.tags
        own = [c for c in self.children[verb] if deps[c] in {"nsubj", "nsubjpass"}]
        if own:
            return [heads[verb] if deps[verb] == "relcl" and self.words[c] in RELATIVE_PRONOUNS else c for c in own]
        if depth > MAX_DEPTH or heads[verb] == verb:
            return []
        head, dep = heads[verb], deps[verb]
        between = self.text[
            min(self.parse.starts[verb], self.parse.starts[head]) : max(
                self.parse.starts[verb], self.parse.starts[head]
            )
        ]
        if ";" in between and dep != "conj":
            return []
        if dep == "acl" and tags[verb] in {"VBN", "VBG", "VBD"}:
            return [head]
        is_shared = (
            dep == "conj"
            or (dep in {"advcl", "prep"} and tags[verb] in {"VBG", "VBN"})
            or (dep == "xcomp" and self.parse.lemmas[head] in CONTROL_VERBS)
            or (dep == "dep" and tags[verb] in {"VBZ", "VBN", "VBG"})
        )
        if is_shared and tags[head].startswith("VB"):
            return self.subjects(head, depth + 1)
        if is_shared and tags[verb] == "VBN":
            return [head] if tags[head].startswith("NN") else []
        return []

    def objects(self, verb: int, passive: bool) -> Iterator[Argument]:
        """The objects of a verb, direct and through prepositions, in reading order."""
        deps = self.parse.deps
        is_relative = deps[verb] == "relcl"
        antecedent = self.parse.heads[verb] if is_relative else None
        has_object = False
        for child in self.children[verb]:
            if deps[child] in {"dobj", "dative"} and self.parse.tags[child] != "IN":
                has_object = True
                if self.words[child] in RELATIVE_PRONOUNS and antecedent is not None:
                    yield Argument((), antecedent)
                    continue
                if not passive and self.parse.lemmas[verb] not in SPEECH_VERBS:
                    yield Argument((), self.part_of_what(child))
                if child not in self.name_of or self.words[child].islower():
                    yield from self.noun_prepositions(child, verb, antecedent)
            elif deps[child] in {"prep", "agent", "dative"}:
                yield from self.preposition_objects((child,), antecedent)
        owns_subject = any(
            deps[c].startswith("nsubj") and self.words[c] not in RELATIVE_PRONOUNS for c in self.children[verb]
        )
        is_bare = not has_object and not any(deps[c] == "prep" for c in self.children[verb])
        if (
            antecedent is not None
            and owns_subject
            and is_bare
            and not passive
            and is_strong(third_person(self.parse.lemmas[verb].casefold()))
        ):
            yield Argument((), antecedent)

    def part_of_what(self, token: int) -> int:
        """ "most of the Auth Service", "one of the queues": the noun after "of"."""
        if self.words[token] in PARTITIVES:
            for child in self.children[token]:
                if self.words[child] == "of":
                    return next((c for c in self.children[child] if self.parse.deps[c] == "pobj"), token)
        return token

    def noun_prepositions(self, noun: int, verb: int, antecedent: int | None) -> Iterator[Argument]:
        """Prepositions that the parser hung on the object but that belong to the verb: "stores keys in Vault"."""
        if self.parse.lemmas[noun].casefold() in TIME_NOUNS:
            return
        carrying = NOUN_PREPOSITIONS | ({"in", "inside", "at"} if self.parse.lemmas[verb] in PLACING_VERBS else set())
        for child in self.children[noun]:
            if self.parse.deps[child] == "prep" and self.words[child] in carrying:
                yield from self.preposition_objects((child,), antecedent)

    def preposition_objects(self, path: tuple[int, ...], antecedent: int | None) -> Iterator[Argument]:
        """The objects of a chain of prepositions: on X, out of X, in front of X; "on which" is the antecedent."""
        last = path[-1]
        if self.words[last] not in PREPOSITIONS | PARTICLES:
            return
        below = self.children[last]
        if not below and antecedent is not None:
            yield Argument(path, antecedent)
        for child in below:
            dep = self.parse.deps[child]
            if dep == "pobj" and self.words[child] in RELATIVE_PRONOUNS:
                if antecedent is not None:
                    yield Argument(path, antecedent)
            elif dep == "pobj" and self.words[child] in PLACE_NOUNS:
                for deeper in self.children[child]:
                    if self.words[deeper] == "of":
                        yield from self.preposition_objects((*path, child, deeper), antecedent)
            elif dep == "pobj":
                yield Argument(path, self.part_of_what(child))
            elif dep == "prep":
                yield from self.preposition_objects((*path, child), antecedent)
            elif dep == "conj" and self.parse.tags[child] in {"IN", "TO"}:
                yield from self.preposition_objects((*path[:-1], child), antecedent)

    # -- copulas and nouns

    def copula_facts(self, verb: int, subjects: list[int]) -> Iterator[Relation]:
        deps = self.parse.deps
        for child in self.children[verb]:
            if deps[child] == "attr" and child not in self.name_of:
                yield from self.noun_facts(child, subjects, verb)
            elif deps[child] == "attr":
                yield from self.owner_facts(subjects, verb, child)
            elif deps[child] == "acomp":
                for argument in self.attached_objects(child, verb):
                    predicate = normalise_predicate("is", self.words[child], self.phrase(argument.path)).removeprefix(
                        "is_"
                    )
                    yield from self.facts(
                        subjects, predicate, self.predicate_span(verb, argument.path), argument.target
                    )
            elif deps[child] == "prep" and self.words[child] in PLACE_PREPOSITIONS:
                for argument in self.preposition_objects((child,), None):
                    predicate = normalise_predicate("is", self.phrase(argument.path))
                    yield from self.facts(
                        subjects, predicate, self.predicate_span(verb, argument.path), argument.target
                    )

    def noun_facts(self, noun: int, subjects: list[int], verb: int | None = None) -> Iterator[Relation]:
        """ "X is the owner of Y", "X, part of Y,"."""
        if any(self.words[c] in NEGATIONS for c in self.children[noun]):
            return
        lemma = self.parse.lemmas[noun].casefold()
        for argument in self.attached_objects(noun, None):
            predicate = normalise_predicate("is", lemma, self.phrase(argument.path))
            if predicate.startswith("is_") and (
                self.phrase(argument.path) != "of" or lemma in EMPTY_HEADS | PARTITIVES
            ):
                continue
            span = self.predicate_span(noun if verb is None else verb, argument.path)
            yield from self.facts(subjects, predicate, span, argument.target)

    def owner_facts(self, subjects: list[int], verb: int, owner: int) -> Iterator[Relation]:
        """ "The owner of X is Y": X owned_by Y."""
        for subject in subjects:
            predicate = OWNER_NOUNS.get(self.parse.lemmas[subject])
            if predicate is None:
                continue
            for argument in self.attached_objects(subject, None):
                span = self.predicate_span(subject, argument.path)
                end = self.end(owner, predicate)
                if self.phrase(argument.path) == "of" and end is not None:
                    for token in self.conjuncts(argument.target):
                        yield from self.fact(token, predicate, span, end)

    def attached_objects(self, token: int, verb: int | None) -> Iterator[Argument]:
        """Objects of the prepositions after a noun or adjective, also of those that the parser hung on the copula."""
        for child in self.children[token] + (self.children[verb] if verb is not None else []):
            if self.parse.deps[child] == "prep" and child > token:
                yield from self.preposition_objects((child,), None)

    # -- what holds

    def is_passive(self, verb: int) -> bool:
        deps, tags = self.parse.deps, self.parse.tags
        if any(deps[c] == "auxpass" for c in self.children[verb]):
            return True
        if tags[verb] not in {"VBN", "VBD"}:
            return False
        if any(deps[c] == "agent" for c in self.children[verb]):
            return True
        if any(deps[c] == "aux" for c in self.children[verb]) or tags[verb] == "VBD":
            return False
        if deps[verb] == "conj":
            return self.is_passive(self.parse.heads[verb])
        return deps[verb] in {"acl", "advcl", "relcl", "dep"} and not any(
            deps[c] == "dobj" for c in self.children[verb]
        )

    def is_unreal(self, verb: int, depth: int = 0) -> bool:
        """Denied, supposed, wished, asked for, or no longer so."""
        deps, tags, heads = self.parse.deps, self.parse.tags, self.parse.heads
        for child in self.children[verb]:
            word, dep = self.words[child], deps[child]
            if dep == "neg" or (dep in {"aux", "advmod", "preconj", "npadvmod", "cc"} and word in NEGATIONS):
                return True
            if dep == "aux" and word in MODALS:
                return True
            if dep in {"advmod", "npadvmod"} and word in PAST_ADVERBS:
                return True
            if dep in {"mark", "advmod"} and word in UNREAL_MARKS:
                return True
            if dep == "advcl" and any(
                self.words[c] in {"if", "unless"} and deps[c] == "mark" for c in self.children[child]
            ):
                return True
            if dep == "prep" and word == "until":
                return True
            if dep in {"nsubj", "nsubjpass", "dobj"} and any(
                self.words[c] in {"no", "neither"} for c in self.children[child]
            ):
                return True
        if depth > MAX_DEPTH or heads[verb] == verb:
            return False
        head, dep = heads[verb], deps[verb]
        has_subject = any(deps[c].startswith("nsubj") for c in self.children[verb])
        is_infinitive = tags[verb] == "VB" and any(
            self.words[c] == "to" and deps[c] == "aux" for c in self.children[verb]
        )
        if dep == "conj":
            is_bare = tags[verb] == "VB" or (tags[verb] in {"VBG", "VBN"} and tags[head] == tags[verb])
            return not has_subject and is_bare and self.is_unreal(head, depth + 1)
        if dep in {"xcomp", "ccomp"} and head < verb:  # one before its head is a clause set beside it, not under it
            lemma = self.parse.lemmas[head].casefold()
            if lemma in UNREAL_VERBS or (
                lemma == "use" and tags[head] == "VBD" and is_infinitive and not self.is_passive(head)
            ):
                return True
            return self.is_unreal(head, depth + 1)
        if dep == "pcomp":
            return self.words[head] in {"without", "instead", "of", "than", "against", "from", "before"}
        if dep in {"acl", "advcl"} and is_infinitive:
            return True
        if dep in {"acl", "relcl"}:
            return any(self.words[c] in {"no", "neither"} for c in self.children[head])
        if dep == "advcl":
            return not has_subject and self.is_unreal(head, depth + 1)
        return False

    # -- the ends

    def conjuncts(self, token: int, depth: int = 0) -> list[int]:
        found = [token]
        if depth > 20:
            return found
        name = self.name_of.get(token)
        for child in self.children[token]:
            is_listed = self.parse.deps[child] == "conj" and not self.parse.tags[child].startswith("VB")
            if is_listed or (self.parse.deps[child] == "appos" and self.is_list_item(token, child)):
                found += self.conjuncts(child, depth + 1)
        if name is not None and depth == 0:  # a name of several tokens: the conjunct may hang on any of them
            for other, its_name in self.name_of.items():
                if its_name == name and other != token:
                    for child in self.children[other]:
                        if self.parse.deps[child] == "conj" and self.name_of.get(child) != name:
                            found += self.conjuncts(child, depth + 1)
        return found

    def is_list_item(self, token: int, child: int) -> bool:
        """ "Redis, Kafka, and PostgreSQL": the parser takes the second of a list for an apposition."""
        has_and = any(self.parse.deps[c] == "cc" for c in self.children[token] + self.children[child])
        return has_and and token in self.name_of and child in self.name_of

    def end_name(self, token: int, predicate: str, depth: int = 0) -> Name | None:
        """The name that a noun phrase stands for, by its head token."""
        name = self.name_of.get(token) or self.name_beside(token)
        if name is None and depth < 2:
            for child in self.children[token] if self.parse.tags[token].startswith("NN") else ():
                if self.parse.deps[child] == "appos" and child in self.name_of:
                    name = self.name_of[child]
            if self.parse.deps[token] == "appos":
                name = name or self.end_name(self.parse.heads[token], predicate, depth + 1)
            if name is None and self.parse.deps[token] == "attr":  # "X is a service that ..."
                subjects = self.subjects(self.parse.heads[token])
                name = self.end_name(subjects[0], predicate, depth + 1) if len(subjects) == 1 else None
        if name is None and is_strong(predicate):
            name = self.compound_end(token)
        return None if name is None or is_excluded(self.text, name) else name

    def name_beside(self, token: int) -> Name | None:
        """ "the Redis instance": the name before a generic head noun."""
        if self.parse.lemmas[token].casefold() not in TRANSPARENT_HEADS:
            return None
        beside = [
            self.name_of[c]
            for c in self.children[token]
            if self.parse.deps[c] in {"compound", "nmod", "amod"} and c in self.name_of
        ]
        return beside[-1] if beside else None

    def compound_end(self, token: int) -> Name | None:
        """A lower-case noun compound, or a sentence's first word, that only this relation shows to be a thing."""
        if self.parse.tags[token] not in {"NN", "NNP", "NNS"} or self.parse.lemmas[token].casefold() in EMPTY_HEADS:
            return None
        first = token
        while (
            first > 0
            and self.parse.tags[first - 1] in {"NN", "NNP"}
            and self.parse.ends[first - 1] + 1 == self.parse.starts[first]
            and self.words[first - 1] not in EMPTY_MODIFIERS
            and first - 1 not in self.name_of
        ):
            first -= 1
        start, end = self.parse.starts[first], self.parse.ends[token]
        surface = self.text[start:end]
        if first == token:
            is_first = (
                token == 0 and surface[0].isupper() and self.words[token] not in ORDINARY_WORDS and len(surface) > 2
            )
            if not is_first or not self.is_singular_subject(token):
                return None
        kind = TYPE_OF_HEAD.get(self.words[token], "unknown")
        return Name(start, end, kind, "end", is_sure=False)

    def is_singular_subject(self, token: int) -> bool:
        """ "Payments depends", but not "Sessions are": a plural with a singular verb is a name."""
        if self.parse.tags[token] != "NNS":
            return True
        verb = self.parse.heads[token]
        return self.parse.tags[verb] == "VBZ" or any(self.words[c] in {"is", "was", "has"} for c in self.children[verb])

    def is_reference(self, token: int) -> bool:
        """ "It", "this service", "the gateway": what stands for a name said before."""
        if self.words[token] == "it":
            return True
        determiners = self.determiners(token)
        return bool(determiners) and self.words[token] in TYPE_OF_HEAD and len(self.children[token]) == len(determiners)

    def determiners(self, token: int) -> list[int]:
        return [c for c in self.children[token] if self.words[c] in {"this", "the"}]

    def phrase(self, path: tuple[int, ...]) -> str:
        return " ".join(self.words[token] for token in path)

    def predicate_span(self, verb: int, path: tuple[int, ...]) -> tuple[int, int]:
        last = path[-1] if path and 0 < path[-1] - verb <= 6 else verb
        return self.parse.starts[verb], self.parse.ends[last]
