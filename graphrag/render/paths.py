"""What `graphrag impact`, `path`, `neighborhood` and `chains` print: cited lines for people, objects for programs.

A hop is `SOURCE -PREDICATE-> TARGET [LABELS] xWEIGHT`, one that is walked against its arrow
`TARGET <-PREDICATE- SOURCE`; parallel relationships follow, indented (specs/context-graph.md, sections 4 to 7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from graphrag.digest import show_quote
from graphrag.search.walks.chains import Chain, render_chain
from graphrag.search.walks.edges import Edge, Hop
from graphrag.search.walks.hop_sources import Statement, render_labels
from graphrag.search.walks.impact import MAX_SURVIVORS, Impact, render_survivors
from graphrag.search.walks.paths import Route
from graphrag.search.walks.reach import Neighbor
from graphrag.search.walks.systemic_risk import Risks

MAX_NAMED = 5  # of what an entity breaks, in `impact --all`

Statements = Mapping[str, Sequence[Statement]]


def render_hops(
    hops: Sequence[Hop], statements: Statements, *, indent: str = "", show_sources: bool = False
) -> list[str]:
    lines = []
    for near, edges in hops:
        for place, edge in enumerate(edges):
            start = indent + ("  " if place else "")
            lines.append(f"{start}{_render_arrow(near, edge)} {_render_receipt(edge, statements)}")
            lines += _render_quotes(statements[edge.id], indent=start + "    ") if show_sources else []
    return lines


def _render_arrow(near: str, edge: Edge) -> str:
    if edge.source == near:
        return f"{edge.source} -{edge.predicate}-> {edge.target}"
    return f"{edge.target} <-{edge.predicate}- {edge.source}"


def _render_receipt(edge: Edge, statements: Statements) -> str:
    return f"{render_labels(statements[edge.id])} x{edge.weight:g}"


def _render_quotes(statements: Sequence[Statement], *, indent: str) -> list[str]:
    return [f'{indent}{s.document or s.label}:{s.start}-{s.end} "{show_quote(s.quote)}"' for s in statements]


def render_impact(impact: Impact, statements: Statements, *, cite: bool, show_sources: bool) -> str:
    """`statements` are needed for hops that are cited only."""
    lines = []
    for entity in impact.impacted:
        lines.append(f"{entity.title} via {' <- '.join(entity.path)}")
        if cite:
            lines += render_hops(entity.hops_down, statements, indent="  ", show_sources=show_sources)
    if not impact.n_impacted:
        lines.append(f"nothing breaks with {impact.failed}")
    lines += _more(impact.n_impacted - len(impact.impacted))
    lines += render_survivors(list(impact.survivors)[:MAX_SURVIVORS], impact.n_survivors)
    if impact.bystanders:
        lines.append(f"also connected: {_render_counts(impact.bystanders)}")
    if impact.n_not_connected:
        lines.append(f"not connected: {impact.n_not_connected:,}")
    if impact.not_walked:
        lines.append(f"not walked: {_render_counts(impact.not_walked)}")
    return "\n".join(lines)


def _render_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.items())


def describe_impact(impact: Impact, statements: Statements, *, question: str) -> dict[str, Any]:
    impacted = [
        {
            "rank": rank, "title": entity.title, "hops": entity.hops, "weakest": _number(entity.weakest),
            "total": _number(entity.total), "path": entity.path,
            "hop_citations": _describe_hops(entity.hops_down, statements),
        }
        for rank, entity in enumerate(impact.impacted, start=1)
    ]  # fmt: skip
    return {
        "mode": "impact", "question": question, "entity": impact.failed, "answered": True, "impacted": impacted,
        "n_impacted": impact.n_impacted,
        "survives": [{"title": title, "reason": reason} for title, reason in impact.survivors.items()],
        "bystanders": impact.bystanders, "not_connected": impact.n_not_connected, "not_walked": impact.not_walked,
    }  # fmt: skip


def render_risks(risks: Risks, statements: Statements, *, show_sources: bool) -> str:
    lines = []
    for rank, risk in enumerate(risks.shown, start=1):
        n_more = risk.n_impacted - MAX_NAMED
        more = f", and {n_more:,} more" if n_more > 0 else ""
        cut = " (cut vertex)" if risk.is_cut_vertex else ""
        lines.append(f"{rank}. {risk.title} breaks {risk.n_impacted:,}{cut}: {', '.join(risk.named[:MAX_NAMED])}{more}")
        lines += render_hops(risk.farthest.hops_down, statements, indent="     ", show_sources=show_sources)
    lines += _more(risks.n_entities - len(risks.shown))
    if not risks.is_exact:
        lines.append("Only the entities of the highest pagerank were walked: the graph is too large for all.")
    return "\n".join(lines) if risks.shown else "Nothing depends on anything: no relationship carries a failure."


def describe_risks(risks: Risks, statements: Statements) -> dict[str, Any]:
    ranked = [
        {
            "rank": rank, "title": risk.title, "n_impacted": risk.n_impacted,
            "sum_of_weakest": _number(risk.sum_of_weakest), "is_cut_vertex": risk.is_cut_vertex,
            "impacted": risk.named, "hop_citations": _describe_hops(risk.farthest.hops_down, statements),
        }
        for rank, risk in enumerate(risks.shown, start=1)
    ]  # fmt: skip
    return {
        "mode": "impact", "answered": bool(ranked), "entities": ranked, "n_entities": risks.n_entities,
        "is_exact": risks.is_exact,
    }  # fmt: skip


def render_routes(routes: Sequence[Route], statements: Statements, *, show_sources: bool) -> str:
    """Routes apart by an empty line."""
    return "\n\n".join("\n".join(render_hops(route.hops, statements, show_sources=show_sources)) for route in routes)


def describe_routes(
    routes: Sequence[Route], statements: Statements, *, start: str, goal: str, is_complete: bool
) -> dict[str, Any]:
    return {
        "mode": "path", "source": start, "target": goal, "answered": bool(routes), "is_complete": is_complete,
        "routes": [
            {
                "rank": rank, "hops": len(route.hops), "weakest": _number(route.weakest),
                "total": _number(route.total), "path": route.titles,
                "hop_citations": _describe_hops(route.hops, statements),
            }
            for rank, route in enumerate(routes, start=1)
        ],
    }  # fmt: skip


def render_neighborhood(
    neighbors: Sequence[Neighbor],
    shown: Sequence[Neighbor],
    statements: Statements,
    *,
    hops: int,
    direction: str,
    cutoff: float,
    show_sources: bool,
) -> str:
    """The anchor first; under each entity the hop that reached it."""
    anchor = neighbors[0]
    count = f"{len(neighbors):,} {'entity' if len(neighbors) == 1 else 'entities'}"
    limit = "off" if math.isinf(cutoff) else f"{cutoff:g}"
    lines = [f"Neighborhood: {count} ({hops} {'hop' if hops == 1 else 'hops'}, {direction}, hub-cutoff={limit})"]
    for neighbor in shown:
        mark = " (anchor)" if neighbor.hop is None else ""
        mark = f" (hub, {neighbor.degree:,} links, not expanded)" if neighbor.is_stub else mark
        lines.append(f"  - {neighbor.title}{mark}")
        if neighbor.hop:
            lines += render_hops([neighbor.hop], statements, indent="      ", show_sources=show_sources)
    lines += _more(len(neighbors) - len(shown))
    if anchor.degree > cutoff:
        lines.append("anchor is a hub")
    return "\n".join(lines)


def describe_neighborhood(
    neighbors: Sequence[Neighbor], shown: Sequence[Neighbor], statements: Statements, *, direction: str, cutoff: float
) -> dict[str, Any]:
    return {
        "mode": "neighborhood", "entity": neighbors[0].title, "answered": True, "direction": direction,
        "hub_cutoff": None if math.isinf(cutoff) else _number(cutoff), "n_entities": len(neighbors),
        "entities": [
            {
                "title": neighbor.title, "hops": neighbor.hops, "degree": neighbor.degree,
                "is_expanded": not neighbor.is_stub,
                "hop_citations": _describe_hops([neighbor.hop] if neighbor.hop else [], statements),
            }
            for neighbor in shown
        ],
    }  # fmt: skip


def render_chains(
    chains: Sequence[Chain], shown: Sequence[Chain], statements: Statements, *, cite: bool, show_sources: bool
) -> str:
    lines = []
    for chain in shown:
        parts = [render_chain((edge,)) + (f" {_render_receipt(edge, statements)}" if cite else "") for edge in chain]
        lines.append(f"  • {' -> '.join(parts)}")
        lines += _render_quotes(statements[chain[-1].id], indent="      ") if show_sources else []
    return "\n".join([*lines, *_more(len(chains) - len(shown))])


def describe_chains(
    chains: Sequence[Chain], shown: Sequence[Chain], statements: Statements, *, start: str
) -> dict[str, Any]:
    return {
        "mode": "chains", "entity": start, "answered": bool(chains), "n_chains": len(chains),
        "chains": [
            {
                "depth": len(chain), "chain": render_chain(chain),
                "hop_citations": [_describe_edge(edge, statements) for edge in chain],
            }
            for chain in shown
        ],
    }  # fmt: skip


def _describe_hops(hops: Sequence[Hop], statements: Statements) -> list[dict[str, Any]]:
    return [_describe_edge(edge, statements) for _, edges in hops for edge in edges]


def _describe_edge(edge: Edge, statements: Statements) -> dict[str, Any]:
    return {
        "source": edge.source, "predicate": edge.predicate, "target": edge.target, "weight": _number(edge.weight),
        "evidence": [statement._asdict() for statement in statements[edge.id]],
    }  # fmt: skip


def _more(n: int) -> list[str]:
    return [f"... and {n:,} more"] if n > 0 else []


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value
