"""Decisions on names: what was joined and why, what was kept apart and why (specs: indexing 3).

`NameDecisions` holds one node a key and applies, in this order, the user's rules, declared aliases, phrases, structural
rules, proposals, verdicts of a judge (naming/verdicts.py). Vetoes come before every decision that is not the user's
own. Each decision is an Edge or a Refusal.

Does not: read mentions, choose titles, or call a model.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

from graphrag.names import compact_key, is_abbreviation, name_key, split_honorifics
from graphrag.naming.alias_rules import AliasRules
from graphrag.naming.clusters import Clusters
from graphrag.naming.declared_aliases import Note
from graphrag.naming.entity_types import choose_type, type_family
from graphrag.naming.nodes import (
    WEAK,
    Candidate,
    Edge,
    Key,
    Refusal,
    as_node,
    find_twins,
    group_by_letters,
    mark_written_apart,
)
from graphrag.naming.phrases import Phrase
from graphrag.naming.qualified_names import LinkedName, describes_type
from graphrag.naming.rules import Rule
from graphrag.naming.vetoes import find_title_veto, find_veto, ordered_person_words

ABBREVIATIONS = ("acronym", "numeronym", "initials", "surname", "given_name", "leading_word", "shorter_name")
MANY_DOCUMENTS = 4
LARGE_CORPUS = 20  # documents; in less, an acronym has the one full form that there is
PARTS_OF_NAMES = ("honorific", "surname", "given_name", "shorter_name")
MAX_PROPOSALS = 25  # kept for one entity, the most probable first
# Sources that say nothing of two names that a veto keeps apart: Python 2 and Python 3 mean alike.
UNSAID_VETOES = ("vector", "neighbours", "word_family", "letters_in_order")


class NameDecisions:
    """`keys` in order of (key, qualifier); `neighbours`: key -> keys of related names, for keys with declared types."""

    def __init__(self, keys: list[Key], neighbours: Mapping[str, set[str]]) -> None:
        self.keys = list(keys)
        self.unknown_names: list[tuple[str, int]] = []  # of the user's rules, with their lines
        self.ambiguous_names: list[tuple[str, int]] = []
        self.undecided: list[Candidate] = []  # of rules and documents, for `propose`
        self._neighbours = neighbours
        self._edges_of: dict[int, list[Edge]] = defaultdict(list)
        self._refusals: dict[tuple[int, int], Refusal] = {}
        self._never: dict[frozenset[int], str] = {}
        self._position: dict[str, int] = {}
        self._split: set[str] = set()
        self._abbreviations: set[int] = set()
        self._said: set[int] = set()  # names of the user's always rules
        self._said_so: set[int] = set()  # those of them that a rule makes names of another
        for i, key in enumerate(self.keys):
            if key.key in self._position:
                self._split.add(key.key)
            self._position.setdefault(key.key, i)
        self.nodes = mark_written_apart([as_node(key) for key in self.keys])
        self._by_letters = group_by_letters(self.keys)
        self._twins = find_twins(self.nodes)
        self._clusters = Clusters(len(self.keys))
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
                    self._never[frozenset((i, j))] = reason
                    self._refuse(Refusal(i, j, "user", 1.0, "never", reason, "user"))
        for rule in rules.always:
            members = [self._find_or_add(name) for name in rule.all_names]
            self._said.update(members)
            self._said_so.update(members[1:])
            for member in members[1:]:
                reason = f"{rules.path}, line {rule.line}: always"
                self._join(Edge(member, members[0], "user", 1.0, reason, "user"), beats_vetoes=True)

    # -- declared by documents

    def apply_notes(self, notes: Sequence[Note]) -> None:
        """Title and aliases of a note are one, where one is mentioned; a name that two notes claim is neither's."""
        claims: dict[str, set[str]] = defaultdict(set)
        for note in notes:
            for alias in note.aliases:
                claims[name_key(alias)].add(name_key(note.title))
        counts = Counter(name_key(note.title) for note in notes)
        for note in notes:
            key = name_key(note.title)
            is_own = counts[key] == 1 or (key in self._split and self._find(note.title, note.document_id) is not None)
            is_connector = is_own and not note.is_generic
            names = [*([note.title] if is_connector else []), *note.aliases]
            if not note.aliases or not any(self._is_mentioned(name, note.document_id) for name in names):
                continue
            head = self._find_or_add(names[0], note.document_id)
            reason = f"Front matter of {note.path}."
            for alias in names[1:]:
                member = self._find_or_add(alias, note.document_id)
                if len(claims[name_key(alias)]) > 1:
                    several = f"Front matter of {len(claims[name_key(alias)])} notes claims this name."
                    self._refuse(Refusal(member, head, "frontmatter", 1.0, "propose", several))
                else:
                    self._join(Edge(member, head, "frontmatter", 1.0, reason, "user"), beats_vetoes=True)

    def apply_phrases(self, phrases: list[Phrase]) -> None:
        """Running text joins names, but never against a veto, and brackets that are no acronym only propose."""
        for phrase in phrases:
            a, b = (self._find(name, phrase.document_id) for name in (phrase.surface, phrase.other))
            b = self._by_letters.get(compact_key(phrase.other)) if b is None else b
            if a is None or b is None or a == b:
                continue
            reason = f'The text says "{phrase.surface}", then "{phrase.other}" ({phrase.words}).'
            if phrase.is_sure and not self._guessed_types_differ(a, b):
                self._join(Edge(b, a, "appositive", 1.0, reason, "rule"))
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
            is_clear = len({self._clusters.find(candidate.long) for candidate in found}) == 1
            for candidate in sorted(found):
                if is_clear:
                    self._join(Edge(a, candidate.long, candidate.method, 1.0, candidate.reason, "rule"))
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
                self._join(Edge(i, j, method, 1.0, "Part of the one name in full that its documents give.", "rule"))

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
                    self._join(edge)
                if not fitting:
                    undecided.append(short)
        for short in undecided:
            for candidate in by_short[short]:
                self._leave_open(candidate, n_fitting=len(by_short[short]))

    def _is_usable(self, candidate: Candidate) -> bool:
        """Record a direct veto at once: a candidate that is vetoed does not count as one that fits."""
        a, b = candidate.short, candidate.long
        if a == b or self._clusters.find(a) == self._clusters.find(b):
            return a != b
        if self.keys[a].whole or self.keys[b].whole:  # decided
            return False
        if self.keys[a].key in self._split or self.keys[b].key in self._split:  # which of the namesakes?
            self._leave_open(candidate, n_fitting=2)
            return False
        veto = self._conflict(a, b)
        if veto:
            self._refuse(Refusal(a, b, candidate.method, candidate.score, "never", veto))
        return not veto

    def _fitting(self, candidates: list[Candidate], is_exclusive: bool) -> list[Candidate]:
        roots = {self._clusters.find(candidate.long) for candidate in candidates}
        if not is_exclusive or len(roots) == 1:
            return [c for c in candidates if self._meet(c)]
        if self._clusters.find(candidates[0].short) in roots:  # decided before: declared, or by a rule of more trust
            return []
        # Several fit: then a document decides that names exactly one of them in full, if no other document disagrees.
        votes: set[int] = set()
        in_full: set[int] = set()
        for document in self.keys[candidates[0].short].documents:
            named = [c for c in candidates if document in self.keys[c.long].documents]
            there = {self._clusters.find(c.long) for c in named}
            if len(there) == 1:
                votes |= there
                in_full |= there if any(self._is_in_full(c) for c in named) else set()
        return [c for c in candidates if self._clusters.find(c.long) in votes & in_full] if len(votes) == 1 else []

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
        shared = self._neighbours.get(short.key, set()) & self._neighbours.get(long.key, set())
        return bool(shared) or ("person", "declared") in long.types or not short.documents.isdisjoint(long.documents)

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
            a, b = sorted((self._clusters.find(candidate.short), self._clusters.find(candidate.long)))
            if a == b or (a, b) in open_pairs:
                continue
            veto = self._conflict(candidate.short, candidate.long)
            if not veto and not self._clusters.are_single(a, b):
                veto = self._find_union_conflict(candidate.short, candidate.long)
            if veto and candidate.method in UNSAID_VETOES:
                continue
            if not veto and max(counts[a], counts[b]) >= MAX_PROPOSALS:
                n_left_out += 1
                continue
            open_pairs.add((a, b))
            if not veto:
                counts[a] += 1
                counts[b] += 1
            self._refuse(
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
                if frozenset((a, b)) not in self._never:
                    reason = "The same name, but types and neighbourhoods differ."
                    if self.keys[a].whole or self.keys[b].whole:
                        reason = "The same part of the names of several persons, as their documents say."
                    self._refuse(Refusal(a, b, "homonym", 1.0, "never", reason))

    # -- judged pairs

    def open_refusals(self, mentioned: Container[int]) -> list[Refusal]:
        """The proposals that stand, of names that documents mention."""
        return [r for r in self.refusals() if r.verdict == "propose" and r.a in mentioned and r.b in mentioned]

    def record_judged(self, refusal: Refusal, *, is_different: bool, reason: str) -> None:
        """A judge keeps a proposal apart, for good (then no union may bring the two together) or for want of proof."""
        pair = min(refusal.a, refusal.b), max(refusal.a, refusal.b)
        verdict = "never" if is_different else "propose"
        self._refusals[pair] = replace(refusal, verdict=verdict, reason=reason, decided_by="judge")
        if is_different:
            self._never.setdefault(frozenset(pair), reason)

    def join_judged(self, edge: Edge) -> None:
        """Join what a judge calls one; vetoes, `never` and the judge's own refusals still win, and are recorded."""
        is_open = self._clusters.find(edge.a) != self._clusters.find(edge.b)
        if not self._join(edge) and is_open:
            pair = min(edge.a, edge.b), max(edge.a, edge.b)
            refusal = self._refusals[pair]
            self._refusals[pair] = replace(refusal, reason=f"{refusal.reason}; so it stays, though: {edge.reason}")

    def refuse_conflicting(self) -> None:
        """Proposals between clusters that a union of a judge has made impossible are vetoed."""
        for refusal in self.refusals():
            if refusal.verdict == "propose" and not self._clusters.are_single(refusal.a, refusal.b):
                conflict = self._find_union_conflict(refusal.a, refusal.b)
                if conflict:
                    self._refuse(replace(refusal, verdict="never", reason=conflict, decided_by="rule"))

    # -- conflicts and unions

    def _conflict(self, i: int, j: int) -> str:
        """Why two nodes stay apart, or an empty string."""
        if reason := self._never.get(frozenset((i, j))):
            return reason
        if self.keys[i].key == self.keys[j].key:
            return "the same name, but types and neighbourhoods differ"
        a, b = self.nodes[i].name, self.nodes[j].name
        return find_veto(a, b) or self._type_conflict(i, j)

    def _cluster_conflict(self, i: int, j: int, *, is_direct: bool) -> str:
        """Across clusters, an abbreviation that was joined to its full form is not compared: K8s, Kube cluster.

        Nor is what the user made a name of something compared with names of which the user says nothing: CPython, once
        it is Python, does not keep out "the Python language".
        """
        if i in self._abbreviations or j in self._abbreviations:
            return self._user_conflict(i, j) or find_title_veto(self.nodes[i].name, self.nodes[j].name)
        if (i in self._said_so and j not in self._said) or (j in self._said_so and i not in self._said):
            return self._user_conflict(i, j)
        reason = self._conflict(i, j)
        if reason and not is_direct and self._has_twin_without_veto(i, j):
            return self._user_conflict(i, j)
        return reason

    def _has_twin_without_veto(self, i: int, j: int) -> bool:
        """ipython-notebook is written otherwise as well, and IPython Notebook may be what the text calls it."""
        twins = ([*self._twins.get(self.nodes[n].name.compact, ()), n] for n in (i, j))
        pairs = [pair for pair in product(*twins) if pair != (i, j)]
        return any(not self._conflict(a, b) for a, b in pairs)

    def _user_conflict(self, i: int, j: int) -> str:
        return self._never.get(frozenset((i, j)), "")

    def _type_conflict(self, i: int, j: int) -> str:
        a, b = self.keys[i].families(), self.keys[j].families()
        if not a or not b or a & b:
            return ""
        if self._neighbours.get(self.keys[i].key, set()) & self._neighbours.get(self.keys[j].key, set()):
            return ""
        return f"types differ: {' and '.join(sorted(a | b))}"

    def _find_union_conflict(self, a: int, b: int, *, by_user: bool = False) -> str:
        """Why the clusters of `a` and `b` stay apart; names the two that must, where these are others than a and b.

        Decisions come in order of trust, so that the union refused here is the weakest link of its chain.
        """

        def explain(i: int, j: int) -> str:
            is_direct = {i, j} == {a, b}
            reason = self._user_conflict(i, j) if by_user else self._cluster_conflict(i, j, is_direct=is_direct)
            if not reason or is_direct:
                return reason
            return f'"{self.nodes[i].name.surface}" and "{self.nodes[j].name.surface}" stay apart: {reason}'

        return self._clusters.find_conflict(a, b, explain)

    def _join(self, edge: Edge, *, beats_vetoes: bool = False) -> bool:
        if self._clusters.find(edge.a) == self._clusters.find(edge.b):
            return False
        if edge.method in ABBREVIATIONS or is_abbreviation(self.nodes[edge.a].name, self.nodes[edge.b].name):
            self._abbreviations.add(edge.a)
        is_said = not beats_vetoes and bool({edge.a, edge.b} & self._said_so - self._abbreviations)
        direct = self._conflict(edge.a, edge.b) if is_said else ""
        if conflict := direct or self._find_union_conflict(edge.a, edge.b, by_user=beats_vetoes):
            self._abbreviations.discard(edge.a)
            self._refuse(Refusal(edge.a, edge.b, edge.method, edge.score, "never", conflict))
            return False
        self._clusters.join(edge.a, edge.b)
        self._edges_of[edge.a].append(edge)
        self._edges_of[edge.b].append(edge)
        return True

    def _refuse(self, refusal: Refusal) -> None:
        """Keep one row a pair of nodes: the first, but a proposal gives way to a veto."""
        pair = min(refusal.a, refusal.b), max(refusal.a, refusal.b)
        known = self._refusals.get(pair)
        if known is None or (known.verdict == "propose" and refusal.verdict == "never"):
            self._refusals[pair] = refusal

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
            self.keys.append(Key(name_key(name), surfaces=Counter({name: 1})))
            found = len(self.keys) - 1
            self._position.setdefault(name_key(name), found)
            self.nodes.append(as_node(self.keys[found]))
            self._clusters.add()
        elif not self.keys[found].is_mentioned or name not in self.keys[found].surfaces:
            self.keys[found].surfaces[name] += 0
        return found

    # -- results

    def entity_groups(self) -> Iterator[list[int]]:
        """Positions of the keys of each cluster that somebody mentions."""
        for group in self._clusters.groups():
            if any(self.keys[i].is_mentioned for i in group):
                yield group

    def edges_from(self, start: int) -> dict[int, Edge]:
        """For each other node of the cluster, the edge by which a walk from `start` reaches it first."""
        reached: dict[int, Edge] = {}
        waiting = deque([start])
        while waiting:
            near = waiting.popleft()
            for edge in self._edges_of[near]:
                far = edge.b if edge.a == near else edge.a
                if far != start and far not in reached:
                    reached[far] = edge
                    waiting.append(far)
        return reached

    def refusals(self) -> list[Refusal]:
        """What stands at the end: pairs that are still apart, one a pair of clusters; a veto beats a proposal."""
        kept: dict[tuple[int, int], Refusal] = {}
        for pair in sorted(self._refusals):
            refusal = self._refusals[pair]
            a, b = sorted((self._clusters.find(pair[0]), self._clusters.find(pair[1])))
            if a == b:
                continue
            known = kept.get((a, b))
            if known is None or (known.verdict == "propose" and refusal.verdict == "never"):
                kept[a, b] = refusal
        return list(kept.values())
