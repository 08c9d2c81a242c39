"""What the walks of the Python API find: results that a program reads as fields, or as JSON, and a person as text.

`to_json()` is what the commands print with `--json`, `render()` what they print without it.

Does not: walk (api.py), or word what is printed (render/paths.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphrag.search.walks.edges import Direction
from graphrag.search.walks.hop_sources import Statement

if TYPE_CHECKING:
    from graphrag.search.walks.chains import Chain
    from graphrag.search.walks.impact import Impact, Impacted
    from graphrag.search.walks.paths import Route
    from graphrag.search.walks.reach import Neighbor
    from graphrag.search.walks.systemic_risk import Risks

Statements = Mapping[str, Sequence[Statement]]
"""Relationship id -> the sentences that state it, with document, offsets and quote."""


@dataclasses.dataclass(frozen=True)
class FoundImpact:
    """What breaks when `impact.failed` does, and what survives."""

    question: str
    impact: Impact
    statements: Statements

    @property
    def shown(self) -> Sequence[Impacted]:
        """The impacted within max_hops, up to top."""
        return self.impact.impacted

    def to_json(self) -> dict[str, Any]:
        from graphrag.render.paths import describe_impact

        return describe_impact(self.impact, self.statements, question=self.question)

    def render(self, *, cite: bool = False, show_sources: bool = False) -> str:
        from graphrag.render.paths import render_impact

        cite = cite or show_sources
        return render_impact(self.impact, self.statements, cite=cite, show_sources=show_sources)


@dataclasses.dataclass(frozen=True)
class FoundRisks:
    """The entities ranked by how many others they break, each with one chain, by title."""

    risks: Risks
    statements: Statements

    def to_json(self) -> dict[str, Any]:
        from graphrag.render.paths import describe_risks

        return describe_risks(self.risks, self.statements)

    def render(self, *, show_sources: bool = False) -> str:
        from graphrag.render.paths import render_risks

        return render_risks(self.risks, self.statements, show_sources=show_sources)


@dataclasses.dataclass(frozen=True)
class FoundRoutes:
    """Routes from `start` to `goal`, best first. `is_complete`: all routes of the shortest length were looked at."""

    start: str
    goal: str
    routes: Sequence[Route]
    is_complete: bool
    statements: Statements

    def to_json(self) -> dict[str, Any]:
        from graphrag.render.paths import describe_routes

        return describe_routes(
            self.routes, self.statements, start=self.start, goal=self.goal, is_complete=self.is_complete
        )

    def render(self, *, show_sources: bool = False) -> str:
        from graphrag.render.paths import render_routes

        text = render_routes(self.routes, self.statements, show_sources=show_sources)
        note = "\n\nThere are too many routes to look at all: these are the best of the shortest."
        return text if self.is_complete else text + note


@dataclasses.dataclass(frozen=True)
class FoundNeighbors:
    """The anchor and what lies around it; `shown` are the first `top` of `neighbors`."""

    neighbors: Sequence[Neighbor]
    shown: Sequence[Neighbor]
    statements: Statements
    hops: int
    direction: Direction
    hub_cutoff: float

    def to_json(self) -> dict[str, Any]:
        from graphrag.render.paths import describe_neighborhood

        return describe_neighborhood(
            self.neighbors, self.shown, self.statements, direction=self.direction, cutoff=self.hub_cutoff
        )

    def render(self, *, show_sources: bool = False) -> str:
        from graphrag.render.paths import render_neighborhood

        return render_neighborhood(
            self.neighbors, self.shown, self.statements, hops=self.hops, direction=self.direction,
            cutoff=self.hub_cutoff, show_sources=show_sources,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class FoundChains:
    """Chains that start at `start`; `shown` are the first `top` of `chains`."""

    start: str
    chains: Sequence[Chain]
    shown: Sequence[Chain]
    statements: Statements

    def to_json(self) -> dict[str, Any]:
        from graphrag.render.paths import describe_chains

        return describe_chains(self.chains, self.shown, self.statements, start=self.start)

    def render(self, *, cite: bool = False, show_sources: bool = False) -> str:
        from graphrag.render.paths import render_chains

        cite = cite or show_sources
        return render_chains(self.chains, self.shown, self.statements, cite=cite, show_sources=show_sources)
