"""Unions: what two names may be joined, and the record of each join and refusal (specs: indexing 3).

A union joins whole clusters, and any veto between two of their names refuses it (clusters.py). Vetoes come before every
decision that is not the user's own. `Unions` knows the vetoes of names and of types, what the user or a judge keeps
apart for good, and the few pairs that are not compared: an abbreviation that was joined to its full form, and what the
user made a name of something.

Does not: decide what to join, and in which order (decisions.py).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import product

from graphrag.names import is_abbreviation
from graphrag.naming.clusters import Clusters
from graphrag.naming.nodes import Edge, Key, Refusal, as_node, find_twins, mark_written_apart
from graphrag.naming.vetoes import find_title_veto, find_veto

ABBREVIATIONS = ("acronym", "numeronym", "initials", "surname", "given_name", "leading_word", "shorter_name")


class Unions:
    """One node a key. `neighbours`: key -> keys of related names, for keys with declared types."""

    def __init__(self, keys: Sequence[Key], neighbours: Mapping[str, set[str]]) -> None:
        self.keys = list(keys)
        self.nodes = mark_written_apart([as_node(key) for key in self.keys])
        self._neighbours = neighbours
        self._twins = find_twins(self.nodes)
        self._clusters = Clusters(len(self.keys))
        self._edges_of: dict[int, list[Edge]] = defaultdict(list)
        self._refusals: dict[tuple[int, int], Refusal] = {}
        self._never: dict[frozenset[int], str] = {}
        self._abbreviations: set[int] = set()
        self._said: set[int] = set()  # names of the user's always rules
        self._said_so: set[int] = set()  # those of them that a rule makes names of another

    def add(self, key: Key) -> int:
        """One more node, in a cluster of its own."""
        self.keys.append(key)
        self.nodes.append(as_node(key))
        return self._clusters.add()

    def root(self, node: int) -> int:
        """The node that stands for the cluster of this one."""
        return self._clusters.find(node)

    def are_single(self, a: int, b: int) -> bool:
        return self._clusters.are_single(a, b)

    def groups(self) -> list[list[int]]:
        return self._clusters.groups()

    def share_neighbour(self, i: int, j: int) -> bool:
        a, b = (self._neighbours.get(self.keys[n].key, set()) for n in (i, j))
        return not a.isdisjoint(b)

    # -- what the user said

    def keep_apart(self, i: int, j: int, reason: str) -> None:
        """For good: no union may bring the two together."""
        self._never.setdefault(frozenset((i, j)), reason)

    def is_kept_apart(self, i: int, j: int) -> bool:
        return frozenset((i, j)) in self._never

    def note_rule(self, members: Sequence[int]) -> None:
        """The user makes all of `members` names of the first."""
        self._said.update(members)
        self._said_so.update(members[1:])

    # -- vetoes

    def find_conflict(self, i: int, j: int) -> str:
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
        reason = self.find_conflict(i, j)
        if reason and not is_direct and self._has_twin_without_veto(i, j):
            return self._user_conflict(i, j)
        return reason

    def _has_twin_without_veto(self, i: int, j: int) -> bool:
        """ipython-notebook is written otherwise as well, and IPython Notebook may be what the text calls it."""
        twins = ([*self._twins.get(self.nodes[n].name.compact, ()), n] for n in (i, j))
        pairs = [pair for pair in product(*twins) if pair != (i, j)]
        return any(not self.find_conflict(a, b) for a, b in pairs)

    def _user_conflict(self, i: int, j: int) -> str:
        return self._never.get(frozenset((i, j)), "")

    def _type_conflict(self, i: int, j: int) -> str:
        a, b = self.keys[i].families(), self.keys[j].families()
        if not a or not b or a & b:
            return ""
        if self.share_neighbour(i, j):
            return ""
        return f"types differ: {' and '.join(sorted(a | b))}"

    def find_union_conflict(self, a: int, b: int, *, by_user: bool = False) -> str:
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

    def join(self, edge: Edge, *, beats_vetoes: bool = False) -> bool:
        if self.root(edge.a) == self.root(edge.b):
            return False
        if edge.method in ABBREVIATIONS or is_abbreviation(self.nodes[edge.a].name, self.nodes[edge.b].name):
            self._abbreviations.add(edge.a)
        is_said = not beats_vetoes and bool({edge.a, edge.b} & self._said_so - self._abbreviations)
        direct = self.find_conflict(edge.a, edge.b) if is_said else ""
        if conflict := direct or self.find_union_conflict(edge.a, edge.b, by_user=beats_vetoes):
            self._abbreviations.discard(edge.a)
            self.refuse(Refusal(edge.a, edge.b, edge.method, edge.score, "never", conflict))
            return False
        self._clusters.join(edge.a, edge.b)
        self._edges_of[edge.a].append(edge)
        self._edges_of[edge.b].append(edge)
        return True

    def refuse(self, refusal: Refusal) -> None:
        """Keep one row a pair of nodes: the first, but a proposal gives way to a veto."""
        pair = min(refusal.a, refusal.b), max(refusal.a, refusal.b)
        known = self._refusals.get(pair)
        if known is None or (known.verdict == "propose" and refusal.verdict == "never"):
            self._refusals[pair] = refusal

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
            self.keep_apart(*pair, reason)

    def join_judged(self, edge: Edge) -> None:
        """Join what a judge calls one; vetoes, `never` and the judge's own refusals still win, and are recorded."""
        is_open = self.root(edge.a) != self.root(edge.b)
        if not self.join(edge) and is_open:
            pair = min(edge.a, edge.b), max(edge.a, edge.b)
            refusal = self._refusals[pair]
            self._refusals[pair] = replace(refusal, reason=f"{refusal.reason}; so it stays, though: {edge.reason}")

    def refuse_conflicting(self) -> None:
        """Proposals between clusters that a union of a judge has made impossible are vetoed."""
        for refusal in self.refusals():
            if refusal.verdict == "propose" and not self.are_single(refusal.a, refusal.b):
                conflict = self.find_union_conflict(refusal.a, refusal.b)
                if conflict:
                    self.refuse(replace(refusal, verdict="never", reason=conflict, decided_by="rule"))

    # -- results

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
            a, b = sorted((self.root(pair[0]), self.root(pair[1])))
            if a == b:
                continue
            known = kept.get((a, b))
            if known is None or (known.verdict == "propose" and refusal.verdict == "never"):
                kept[a, b] = refusal
        return list(kept.values())
