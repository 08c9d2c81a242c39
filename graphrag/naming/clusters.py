"""Clusters: disjoint sets of names that refuse a union when any pair across the two sets must stay apart.

A union joins whole clusters. With (a, b), (c, d), (b, c) and a conflict on (a, d), the last union is refused and the
result is {a, b} and {c, d}: never overlapping sets, whatever the rules say of single pairs.

Does not: know names. What a conflict is, the caller says.
"""

from __future__ import annotations

from collections.abc import Callable

MAX_PAIRS = 250_000  # across two clusters; larger unions are refused rather than left unchecked


class Clusters:
    """`find_conflict(i, j)` gives the reason why two members stay apart, or an empty string."""

    def __init__(self, n: int) -> None:
        self._root = list(range(n))
        self.members = [[i] for i in range(n)]

    def add(self) -> int:
        """One more member, in a cluster of its own."""
        self._root.append(len(self._root))
        self.members.append([len(self.members)])
        return len(self._root) - 1

    def find(self, member: int) -> int:
        root = member
        while self._root[root] != root:
            root = self._root[root]
        while self._root[member] != root:
            self._root[member], member = root, self._root[member]
        return root

    def find_conflict(self, a: int, b: int, conflict: Callable[[int, int], str]) -> str:
        """The first conflict of a pair across the clusters of `a` and `b`, in order of members."""
        left, right = self.members[self.find(a)], self.members[self.find(b)]
        if len(left) * len(right) > MAX_PAIRS:
            return f"clusters of {len(left)} and {len(right)} names are too large to check"
        return next((reason for i in sorted(left) for j in sorted(right) if (reason := conflict(i, j))), "")

    def join(self, a: int, b: int) -> None:
        """One cluster of the two; the smaller position stays root, so that the result does not depend on order."""
        low, high = sorted((self.find(a), self.find(b)))
        if low != high:
            self._root[high] = low
            self.members[low] += self.members[high]
            self.members[high] = []

    def are_single(self, a: int, b: int) -> bool:
        """Neither was joined to anything yet."""
        return len(self.members[self.find(a)]) == len(self.members[self.find(b)]) == 1

    def groups(self) -> list[list[int]]:
        return [sorted(self.members[i]) for i in range(len(self._root)) if self._root[i] == i]
