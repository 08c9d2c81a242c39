"""The dependency tree of a sentence: which tokens a verb joins, and whether what it says holds.

Subjects across conjunctions, relative and reduced clauses; objects through prepositions; passive or active; denied,
supposed, wished or past. Labels are ClearNLP's, tags Penn Treebank's, as spaCy's English models give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphrag.nlp.lexicon import (
    CONTROL_VERBS,
    LIGHT_VERBS,
    MODALS,
    NEGATIONS,
    RELATIVE_PRONOUNS,
    SPEECH_VERBS,
    UNREAL_MARKS,
    UNREAL_VERBS,
    words,
)
from graphrag.nlp.parsing import Parse
from graphrag.nlp.predicates import is_strong, third_person
from graphrag.nlp.relating_words import MOVING_VERBS, TRANSITIVE_VERBS
from graphrag.nlp.technologies import technology_type
from graphrag.nlp.words import Name

PREPOSITIONS = words(
    "on upon to from by with into onto in inside through via behind against for at of as under over within between "
    "around"
)
PAST_ADVERBS = words("longer previously formerly originally historically initially never no")
PARTICLES = words("up down out off over back away")
MAX_DEPTH = 6
PARTITIVES = words(
    "most all part some half much many one two each any none both several set group list source rest copy"
)
LACKING_VERBS = words("lack miss")
PLACE_NOUNS = words("front top call charge")
NOUN_PREPOSITIONS = words("to from into on onto via through with against")
PLACING_VERBS = words("store keep hold save cache host put place write record persist publish register")
TIME_NOUNS = words("day week month year hour minute time night morning")


class Argument(NamedTuple):
    """An object of a verb: the prepositions that lead to it (none for a direct object), and its head token."""

    path: tuple[int, ...]
    target: int


class SentenceTree:
    """A parse with children, folded words, and the name at each token; it knows a verb's arguments and polarity."""

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

    def subjects(self, verb: int, depth: int = 0) -> list[int]:
        deps, heads, tags = self.parse.deps, self.parse.heads, self.parse.tags
        if tags[verb] == "VBN" and any(self.words[c] == "as" and deps[c] == "mark" for c in self.children[verb]):
            return []  # "as defined in X"
        own = [c for c in self.children[verb] if deps[c] in {"nsubj", "nsubjpass"}]
        if own and any(self.words[c] == "who" for c in own) and self.is_thing(heads[verb]):
            return []  # "adopters of PEP 563, who now depend on ..."
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
            is_means = self.parse.lemmas[verb] == "use" and deps[head] in {
                "dobj",
                "pobj",
            }  # "open it using X": not of it
            return [] if is_means else [head]
        is_shared = (
            dep == "conj"
            or (dep in {"advcl", "prep"} and tags[verb] in {"VBG", "VBN"} and not self.is_means(verb, head))
            or (dep == "xcomp" and self.parse.lemmas[head] in CONTROL_VERBS)
            or (dep == "dep" and tags[verb] in {"VBZ", "VBN", "VBG"})
        )
        if is_shared and tags[head].startswith("VB"):
            return self.subjects(head, depth + 1)
        if is_shared and tags[verb] == "VBN":
            return [head] if tags[head].startswith("NN") else []
        return []

    def is_thing(self, token: int) -> bool:
        """A name that nobody bears: a number, code or a technology."""
        name = self.name_of.get(token)
        written = self.text[name.start : name.end] if name else ""
        return any(c.isdigit() for c in written) or technology_type(written) != ""

    def is_means(self, verb: int, head: int) -> bool:
        """ "is hosted using X": the user is not the subject."""
        return self.parse.lemmas[verb] == "use" and self.is_passive(head)

    def objects(self, verb: int, passive: bool) -> Iterator[Argument]:
        """The objects of a verb, direct and through prepositions, in reading order."""
        deps = self.parse.deps
        is_relative = deps[verb] == "relcl"
        antecedent = self.parse.heads[verb] if is_relative else None
        has_object = False
        is_light = self.parse.lemmas[verb] in LIGHT_VERBS
        is_moving = self.parse.lemmas[verb].casefold() in MOVING_VERBS
        for child in self.children[verb]:
            if deps[child] in {"dobj", "dative"} and self.parse.tags[child] != "IN":
                has_object = True
                if self.words[child] in RELATIVE_PRONOUNS and antecedent is not None:
                    yield Argument((), antecedent)
                    continue
                if not passive and self.parse.lemmas[verb] not in SPEECH_VERBS:
                    yield Argument((), self.part_of_what(child))
                if (child not in self.name_of or self.words[child].islower()) and not is_light and is_moving:
                    yield from self.noun_prepositions(child, verb, antecedent)
            elif deps[child] in {"prep", "agent", "dative"} and not (
                (has_object and (not is_moving or self.words[child] == "for"))
                or (passive and self.words[child] == "for")
            ):
                yield from self.preposition_objects((child,), antecedent)
            elif child in self.name_of and self.parse.tags[child] == "VB":  # "to RabbitMQ", a name taken for a verb
                yield from (Argument((c,), child) for c in self.children[child] if self.words[c] == "to")
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
                    if self.words[deeper] in {"of", "for"}:
                        yield from self.preposition_objects((*path, child, deeper), antecedent)
            elif dep == "pobj":
                if self.words[last] != "of" or len(path) > 1 or self.parse.lemmas[self.parse.heads[path[0]]] != "use":
                    yield Argument(path, self.part_of_what(child))
            elif dep == "prep" and self.words[child] != self.words[last]:
                yield from self.preposition_objects((*path, child), antecedent)
            elif dep == "conj" and self.parse.tags[child] in {"IN", "TO"}:
                yield from self.preposition_objects((*path[:-1], child), antecedent)

    def attached_objects(self, token: int, verb: int | None) -> Iterator[Argument]:
        """Objects of the prepositions after a noun or adjective, also of those that the parser hung on the copula."""
        for child in self.children[token] + (self.children[verb] if verb is not None else []):
            if self.parse.deps[child] == "prep" and child > token:
                yield from self.preposition_objects((child,), None)

    def is_passive(self, verb: int) -> bool:
        deps, tags = self.parse.deps, self.parse.tags
        if any(deps[c] == "auxpass" for c in self.children[verb]):
            return True
        if tags[verb] not in {"VBN", "VBD"}:
            return False
        if any(deps[c] == "agent" for c in self.children[verb]):
            return True
        if any(deps[c] == "aux" for c in self.children[verb]):
            return False
        if tags[verb] == "VBD":  # "a module maintained on PyPI", taken for a past tense
            is_bare = deps[verb] == "acl" or self.parse.lemmas[verb].casefold() in TRANSITIVE_VERBS
            return is_bare and not any(deps[c] == "dobj" for c in self.children[verb])
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
            is_past = tags[verb] == "VBD"
            if (dep == "prep" and (word == "until" or (is_past and word == "before"))) or (is_past and word == "once"):
                return True
            if dep == "aux" and word in {"had", "were"} and child == 0:  # "Had Billing used Redis, ..."
                return True
            if dep in {"nsubj", "nsubjpass", "dobj"} and any(
                self.words[c] in {"no", "neither"} for c in self.children[child]
            ):
                return True
        if self.parse.lemmas[verb] in LACKING_VERBS:
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
        has_auxiliary = any(deps[c] == "aux" for c in self.children[verb])
        if dep in {"xcomp", "ccomp"} and tags[verb] == "VB" and has_subject and not has_auxiliary:
            return True  # "make Billing use Redis", "propose that Billing use Redis"
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

    def determiners(self, token: int) -> list[int]:
        return [c for c in self.children[token] if self.words[c] in {"this", "the"}]

    def phrase(self, path: tuple[int, ...]) -> str:
        return " ".join(self.words[token] for token in path)

    def particle(self, verb: int) -> str:
        return " ".join(self.words[c] for c in self.children[verb] if self.parse.deps[c] == "prt")

    def predicate_span(self, verb: int, path: tuple[int, ...]) -> tuple[int, int]:
        last = path[-1] if path and 0 < path[-1] - verb <= 6 else verb
        return self.parse.starts[verb], self.parse.ends[last]
