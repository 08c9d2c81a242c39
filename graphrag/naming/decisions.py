"""Decisions on names: what was joined and why, what was kept apart and why (specs: indexing 3).

`NameDecisions` holds one node a key and applies, in this order, the user's rules, declared aliases, phrases, structural
rules and proposals. Each decision is an Edge or a Refusal; what may be joined at all, `unions` knows (unions.py).

Does not: read mentions, choose titles, apply a judge's verdicts (verdicts.py), or call a model.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from graphrag.names import compact_key, name_key, split_honorifics
from graphrag.naming.alias_rules import AliasRules
from graphrag.naming.declared_aliases import Note
from graphrag.naming.entity_types import choose_type, type_family
from graphrag.naming.nodes import (
    WEAK,
    Candidate,
    Edge,
    Key,
    Refusal,
    group_by_letters,
)
from graphrag.naming.phrases import Phrase
from graphrag.naming.qualified_names import LinkedName, describes_type
from graphrag.naming.rules import Rule
from graphrag.naming.unions import Unions
from graphrag.naming.vetoes import ordered_person_words

MANY_DOCUMENTS = 4
LARGE_CORPUS = 20  # documents; in less, an acronym has the one full form that there is
PARTS_OF_NAMES = ("honorific", "surname", "given_name", "shorter_name")
MAX_PROPOSALS = 25  # kept for one entity, the most probable first
# Sources that say nothing of two names that a veto keeps apart: Python 2 and Python 3 mean alike.
UNSAID_VETOES = ("vector", "neighbours", "word_family", "letters_in_order")


def count_claims(notes: Sequence[Note]) -> dict[str, int]:
    """Key of an alias -> how many titles have it for an alias in their front matter."""
    claims: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        for alias in note.aliases:
            claims[name_key(alias)].add(name_key(note.title))
    return {alias: len(titles) for alias, titles in claims.items()}


class NameDecisions:
    """`keys` in order of (key, qualifier); `neighbours`: key -> keys of related names, for keys with declared types."""

    def __init__(self, keys: list[Key], neighbours: Mapping[str, set[str]]) -> None:
        self.unions = Unions(keys, neighbours)
        self.keys, self.nodes = self.unions.keys, self.unions.nodes
        self.unknown_names: list[tuple[str, int]] = []  # of the user's rules, with their lines
        self.ambiguous_names: list[tuple[str, int]] = []
        self.undecided: list[Candidate] = []  # of rules and documents, for `propose`
        self._position: dict[str, int] = {}
        self._split: set[str] = set()
        for i, key in enumerate(self.keys):
            if key.key in self._position:
                self._split.add(key.key)
            self._position.setdefault(key.key, i)
        self._by_letters = group_by_letters(self.keys)
        self._n_documents = len({document for key in self.keys for document in key.documents})

    # -- declared by the user

    def apply_user_rules(self, rules: AliasRules) -> None:
        for rule in (*rules.never, *rules.always):
            for name in rule.names or rule.all_names:
                if name_key(name) not in self._position:
                    self.unknown_names.append((name, rule.line))
                elif self._find(name) is None:
                    self.ambiguous_names.append((name, rule.line))
        for rule in rules.never:
            for a, b in combinations(rule.names, 2):
                i, j = self._find_or_add(a), self._find_or_add(b)
                if i != j:
                    reason = f"{rules.path}, line {rule.line}: never"
                    self.unions.keep_apart(i, j, reason)
                    self.unions.refuse(Refusal(i, j, "user", 1.0, "never", reason, "user"))
        for rule in rules.always:
            members = [self._find_or_add(name) for name in rule.all_names]
            self.unions.note_rule(members)
            for member in members[1:]:
                reason = f"{rules.path}, line {rule.line}: always"
                self.unions.join(Edge(member, members[0], "user", 1.0, reason, "user"), beats_vetoes=True)

    # -- declared by documents

    def apply_notes(self, notes: Sequence[Note]) -> None:
        """Title and aliases of a note are one, where one is mentioned; a name that two notes claim is neither's."""
        claims = count_claims(notes)
        counts = Counter(name_key(note.title) for note in notes)
        for note in notes:
            key = name_key(note.title)
            is_own = counts[key] == 1 or (key in self._split and self._find(note.title, note.document_id) is not None)
            is_connector = is_own and not note.is_generic
            names = [*([note.title] if is_connector else []), *note.aliases]
            if not note.aliases or not any(self._is_mentioned(name, note.document_id) for name in names):
                continue
            head = self._find_or_add(names[0], note.document_id)
            for alias in names[1:]:
                member = self._find_or_add(alias, note.document_id)
                if claims[name_key(alias)] > 1:
                    several = f"Front matter of {claims[name_key(alias)]} notes claims this name."
                    self.unions.refuse(Refusal(member, head, "frontmatter", 1.0, "propose", several))
                else:
                    method, reason, decided_by = note.explain(alias)
                    self.unions.join(Edge(member, head, method, 1.0, reason, decided_by), beats_vetoes=True)

    def place_document(self, note: Note, path: str, type_name: str, *, aliases: Sequence[str]) -> int:
        """The node of a document that is an entity: that of its title, or, where that is no name of its own (many notes
        have it, or it is none), one of its own that is called by `path`."""
        is_split = name_key(note.title) in self._split
        node = self._find(note.title, note.document_id) if is_split or not path else None
        if node is None and (path or is_split):
            name = path or note.path
            node = self.unions.add(Key(name_key(name), qualifier=note.path, surfaces=Counter({name: 0})))
        elif node is None:
            node = self._find_or_add(note.title)
        key = self.keys[node]
        if not key.is_mentioned:
            shown = path or note.title
            key.surfaces[shown] += 0
            key.first[shown] = (note.path, 0)
            key.types[type_name, "declared"] += 1
            key.documents.add(note.document_id)
        for alias in aliases:
            member = self._find_or_add(alias, note.document_id)
            method, reason, decided_by = note.explain(alias)
            self.unions.join(Edge(member, node, method, 1.0, reason, decided_by), beats_vetoes=True)
        return node

    def apply_phrases(self, phrases: list[Phrase]) -> None:
        """Running text joins names, but never against a veto, and brackets that are no acronym only propose."""
        for phrase in phrases:
            a, b = (self._find(name, phrase.document_id) for name in (phrase.surface, phrase.other))
            b = self._by_letters.get(compact_key(phrase.other)) if b is None else b
            if a is None or b is None or a == b:
                continue
            reason = f'The text says "{phrase.surface}", then "{phrase.other}" ({phrase.words}).'
            if phrase.is_sure and not self._guessed_types_differ(a, b):
                self.unions.join(Edge(b, a, "appositive", 1.0, reason, "rule"))
            else:
                self.undecided.append(Candidate(b, a, "appositive", 0.5, reason))

    def apply_qualified_names(self, linked: list[LinkedName]) -> None:
        """Mercury (the broker) is the note that a link of this label leads to, or the one namesake of this type."""
        candidates: dict[int, set[Candidate]] = defaultdict(set)
        for link in linked:
            a, b = self._find(link.surface), self._find(link.note.title, link.note.document_id)
            if a is not None and b is not None:
                reason = f'A link of {link.path} calls {link.note.path} "{link.surface}".'
                candidates[a].add(Candidate(a, b, "link", 1.0, reason))
        for a, node in enumerate(self.nodes):
            same = self._split & {" ".join(node.name.words)} if node.name.qualifier and a not in candidates else ()
            for b, key in enumerate(self.keys) if same else ():
                if key.key in same and describes_type(node.name.qualifier, key.qualifier):
                    candidates[a].add(Candidate(a, b, "qualifier", 1.0, "The type of the one, in brackets."))
        for a, found in sorted(candidates.items()):
            is_clear = len({self.unions.root(candidate.long) for candidate in found}) == 1
            for candidate in sorted(found):
                if is_clear:
                    self.unions.join(Edge(a, candidate.long, candidate.method, 1.0, candidate.reason, "rule"))
                else:
                    self._leave_open(candidate, n_fitting=len(found))

    def _guessed_types_differ(self, a: int, b: int) -> bool:
        families = [type_family(choose_type(self.keys[i].types)) for i in (a, b)]
        return all(families) and families[0] != families[1]

    def apply_namesakes(self) -> None:
        """A part of several persons' names is, in each document, the one person whom it names in full."""
        for i, key in enumerate(self.keys):
            j = self._position.get(key.whole) if key.whole else None
            if j is not None:
                words = ordered_person_words(self.nodes[j].name)
                method = "given_name" if key.key.split()[-1] == words[0] else "surname"
                reason = "Part of the one name in full that its documents give."
                self.unions.join(Edge(i, j, method, 1.0, reason, "rule"))

    # -- rules

    def apply_rule(self, rule: Rule, *, is_exclusive: bool) -> None:
        """Join what the rule finds. An exclusive rule joins a name only if it fits one entity."""
        by_short: dict[int, list[Candidate]] = defaultdict(list)
        for candidate in sorted(set(rule(self.nodes))):
            if self._is_usable(candidate):
                by_short[candidate.short].append(candidate)
        waiting: list[int] = []
        undecided = sorted(by_short)
        while len(waiting) != len(undecided):  # a union may leave a name with one entity to fit
            waiting, undecided = undecided, []
            for short in waiting:
                fitting = self._fitting(by_short[short], is_exclusive)
                for candidate in fitting:
                    edge = Edge(short, candidate.long, candidate.method, candidate.score, candidate.reason, "rule")
                    self.unions.join(edge)
                if not fitting:
                    undecided.append(short)
        for short in undecided:
            for candidate in by_short[short]:
                self._leave_open(candidate, n_fitting=len(by_short[short]))

    def _is_usable(self, candidate: Candidate) -> bool:
        """Record a direct veto at once: a candidate that is vetoed does not count as one that fits."""
        a, b = candidate.short, candidate.long
        if a == b or self.unions.root(a) == self.unions.root(b):
            return a != b
        if self.keys[a].whole or self.keys[b].whole:  # decided
            return False
        if self.keys[a].key in self._split or self.keys[b].key in self._split:  # which of the namesakes?
            self._leave_open(candidate, n_fitting=2)
            return False
        veto = self.unions.find_conflict(a, b)
        if veto:
            self.unions.refuse(Refusal(a, b, candidate.method, candidate.score, "never", veto))
        return not veto

    def _fitting(self, candidates: list[Candidate], is_exclusive: bool) -> list[Candidate]:
        roots = {self.unions.root(candidate.long) for candidate in candidates}
        if not is_exclusive or len(roots) == 1:
            return [c for c in candidates if self._meet(c)]
        if self.unions.root(candidates[0].short) in roots:  # decided before: declared, or by a rule of more trust
            return []
        # Several fit: then a document decides that names exactly one of them in full, if no other document disagrees.
        votes: set[int] = set()
        in_full: set[int] = set()
        for document in self.keys[candidates[0].short].documents:
            named = [c for c in candidates if document in self.keys[c.long].documents]
            there = {self.unions.root(c.long) for c in named}
            if len(there) == 1:
                votes |= there
                in_full |= there if any(self._is_in_full(c) for c in named) else set()
        return [c for c in candidates if self.unions.root(c.long) in votes & in_full] if len(votes) == 1 else []

    def _meet(self, candidate: Candidate) -> bool:
        """Part and whole of a person's name stand in one document or beside one neighbour, or the whole is declared.

        Tom Jones in one book says nothing of Mr. Jones in another.
        """
        is_in_full = len(split_honorifics(self.nodes[candidate.short].name.words)[0]) > 1
        is_known = candidate.method == "acronym" and self._means_something_else(candidate)
        is_weak = candidate.score <= WEAK or candidate.method in PARTS_OF_NAMES or is_known
        if not is_weak or (is_in_full and candidate.method == "honorific"):
            return True
        short, long = self.keys[candidate.short], self.keys[candidate.long]
        if ("person", "declared") in long.types or not short.documents.isdisjoint(long.documents):
            return True
        return self.unions.share_neighbour(candidate.short, candidate.long)

    def _means_something_else(self, candidate: Candidate) -> bool:
        """An acronym that stands beside no full form may have another: always, if many documents use it (CSS).

        In a corpus of some size, also where only one document has it, or only one the full form: ECS, SUM.
        """
        n_short, n_long = (len(self.keys[i].documents) for i in (candidate.short, candidate.long))
        return n_short >= MANY_DOCUMENTS or (min(n_short, n_long) == 1 and self._n_documents >= LARGE_CORPUS)

    def _is_in_full(self, candidate: Candidate) -> bool:
        """Mr. Holmes is no full form of Holmes."""
        short, long = (self.nodes[i].name for i in (candidate.short, candidate.long))
        return not long.honorific or split_honorifics(long.words)[0] != short.words or len(short.words) > 1

    def _leave_open(self, candidate: Candidate, *, n_fitting: int) -> None:
        """A rule's candidate that fits several entities, each of them with equal right."""
        reason = f"{candidate.reason} Fits several entities." if n_fitting > 1 else candidate.reason
        score = round(candidate.score / max(n_fitting, 1) ** 0.5, 3)
        self.undecided.append(replace(candidate, score=score, reason=reason))

    def propose(self, ranked: Iterable[Candidate]) -> int:
        """Record candidates, best first, as proposals, up to MAX_PROPOSALS an entity, or as vetoed.

        Returns how many were left out for want of room.
        """
        counts: Counter[int] = Counter()
        open_pairs: set[tuple[int, int]] = set()
        n_left_out = 0
        for candidate in ranked:
            a, b = sorted((self.unions.root(candidate.short), self.unions.root(candidate.long)))
            if a == b or (a, b) in open_pairs:
                continue
            veto = self.unions.find_conflict(candidate.short, candidate.long)
            if not veto and not self.unions.are_single(a, b):
                veto = self.unions.find_union_conflict(candidate.short, candidate.long)
            if veto and candidate.method in UNSAID_VETOES:
                continue
            if not veto and max(counts[a], counts[b]) >= MAX_PROPOSALS:
                n_left_out += 1
                continue
            open_pairs.add((a, b))
            if not veto:
                counts[a] += 1
                counts[b] += 1
            self.unions.refuse(
                Refusal(
                    candidate.short, candidate.long, candidate.method, candidate.score,
                    "never" if veto else "propose", veto or candidate.reason,
                )
            )  # fmt: skip
        return n_left_out

    def record_homonyms(self) -> None:
        """Equal keys that types and neighbourhoods keep apart are decisions too."""
        by_key: dict[str, list[int]] = defaultdict(list)
        for i, key in enumerate(self.keys):
            if key.key in self._split:
                by_key[key.key].append(i)
        for members in by_key.values():
            for a, b in combinations(members, 2):
                if not self.unions.is_kept_apart(a, b):
                    reason = "The same name, but types and neighbourhoods differ."
                    if self.keys[a].whole or self.keys[b].whole:
                        reason = "The same part of the names of several persons, as their documents say."
                    self.unions.refuse(Refusal(a, b, "homonym", 1.0, "never", reason))

    # -- nodes

    def knows(self, name: str) -> bool:
        """Some document mentions this name, be it with other blanks, or a rule or note declared it."""
        key = name_key(name)
        return key in self._position or key.replace(" ", "") in self._by_letters

    def _is_mentioned(self, name: str, document_id: str) -> bool:
        found = self._find(name, document_id)
        return found is not None and self.keys[found].is_mentioned

    def _find(self, name: str, document_id: str = "") -> int | None:
        """The node of a name; of equal keys kept apart, that of the exact surface, else of the document, else none."""
        key = name_key(name)
        if key not in self._split:
            return self._position.get(key)
        same = [i for i, node in enumerate(self.keys) if node.key == key]
        for found in (
            [i for i in same if name in (self.keys[i].qualifier, *self.keys[i].surfaces)],
            [i for i in same if document_id in self.keys[i].documents],
        ):
            if len(found) == 1:
                return found[0]
        return None

    def _find_or_add(self, name: str, document_id: str = "") -> int:
        found = self._find(name, document_id)
        if found is None:
            found = self.unions.add(Key(name_key(name), surfaces=Counter({name: 1})))
            self._position.setdefault(name_key(name), found)
        elif not self.keys[found].is_mentioned or name not in self.keys[found].surfaces:
            self.keys[found].surfaces[name] += 0
        return found

    # -- results

    def entity_groups(self) -> Iterator[list[int]]:
        """Positions of the keys of each cluster that somebody mentions."""
        for group in self.unions.groups():
            if any(self.keys[i].is_mentioned for i in group):
                yield group
