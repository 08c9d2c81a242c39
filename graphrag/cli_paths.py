"""`graphrag impact`, `path`, `neighborhood`, `chains`: questions that a walk over cited relationships answers.

Does not: walk (search/impact.py, paths.py, reach.py, chains.py) or print (render_paths.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.cli_options import Json, Root, Set, check_at_least, open_project
from graphrag.errors import NothingFound, UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from graphrag.search.edges import Direction, Edge, Hop
    from graphrag.search.impact import Carrying
    from graphrag.settings import Settings
    from graphrag.store import Index

Cite = Annotated[bool, typer.Option("--cite", help="Under each line its hops, with text units and weight.")]
ShowSources = Annotated[bool, typer.Option("--show-sources", help="Under each hop its exact quotes, with offsets.")]
Origin = Annotated[
    str, typer.Option("--origin", metavar="stated|all", help="all: also names that only share a sentence.")
]
Top = Annotated[int, typer.Option("--top", min=1, help="Lines to show.")]

app = typer.Typer(rich_markup_mode="rich")


@app.command()
def impact(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What fails: a title, an alias, or #NUMBER.")] = "",
    all_: Annotated[bool, typer.Option("--all", help="Rank all entities by how many others they break.")] = False,
    max_hops: Annotated[int | None, typer.Option("--max-hops", help="Show nothing farther than this.")] = None,
    rels: Annotated[
        str,
        typer.Option(
            "--rels", metavar="a,b|all", help="Walk these predicates; default: impact.predicates of settings.toml."
        ),
    ] = "",
    top: Top = 50,
    cite: Cite = False,
    show_sources: ShowSources = False,
    origin: Origin = "stated",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """What breaks when something fails, with the chain that says so, and what survives.

    Example: graphrag impact Redis --cite
    """
    if bool(name) == all_:
        raise UsageError('Say what fails, as in "graphrag impact Redis", or --all.')
    if max_hops is not None:
        check_at_least(1, "--max-hops", max_hops)
    cooccurrence = _choose_origin(origin)
    root, settings = open_project(root, set_)
    from graphrag import render_paths
    from graphrag.render import render_json
    from graphrag.search.hop_sources import load_statements
    from graphrag.search.impact import find_impact
    from graphrag.search.seeds import resolve_entity
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as index:
        carrying = _choose_carrying(index, settings, rels)
        if all_:
            _print_risks(index, carrying, top=top, show_sources=show_sources, json=json)
            return
        _, failed = resolve_entity(index, name)
        found = find_impact(index, failed, carrying, cooccurrence=cooccurrence, reasons=json)
        shown = [entity for entity in found.impacted if max_hops is None or entity.hops <= max_hops][:top]
        is_cited = cite or show_sources or json
        hops = (hop for entity in shown if is_cited for _, hop in found.hops(entity))
        statements = load_statements(index, _edge_ids(hops))
    if json:
        print(render_json(render_paths.describe_impact(found, shown, statements, question=name)))
    else:
        print(render_paths.render_impact(found, shown, statements, cite=is_cited, show_sources=show_sources))


def _print_risks(index: Index, carrying: Carrying, *, top: int, show_sources: bool, json: bool) -> None:
    from graphrag import render_paths
    from graphrag.render import render_json
    from graphrag.search.hop_sources import load_statements
    from graphrag.search.impact import Impact
    from graphrag.search.systemic_risk import find_risks

    risks = find_risks(index, carrying, top=top)
    chains: dict[str, list[Hop]] = {
        risk.title: Impact(risk.title, risk.impacted, {}, 0, {}).hops(render_paths.choose_chain(risk))
        for risk in risks.shown
    }
    statements = load_statements(index, _edge_ids(hop for hops in chains.values() for _, hop in hops))
    if json:
        print(render_json(render_paths.describe_risks(risks, chains, statements)))
    else:
        print(render_paths.render_risks(risks, chains, statements, show_sources=show_sources))


@app.command()
def path(
    source: Annotated[str, typer.Argument(metavar="A", help="Where the route starts.")],
    target: Annotated[str, typer.Argument(metavar="B", help="Where it ends.")],
    n: Annotated[int, typer.Option("--all", min=1, metavar="N", help="List up to N routes, best first.")] = 1,
    max_hops: Annotated[int, typer.Option("--max-hops", help="No longer routes.")] = 6,
    direction: Annotated[
        str, typer.Option("--direction", metavar="out|in|both", help="Along the arrows, against them, or either.")
    ] = "out",
    show_sources: ShowSources = False,
    origin: Origin = "stated",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """How one thing leads to another: fewest hops first, then the best corroborated.

    Example: graphrag path "login flow" Redis
    """
    check_at_least(1, "--max-hops", max_hops)
    way, cooccurrence = _choose_direction(direction), _choose_origin(origin)
    root, settings = open_project(root, set_)
    from graphrag import render_paths
    from graphrag.render import render_json
    from graphrag.search.edges import open_edges
    from graphrag.search.hop_sources import load_statements
    from graphrag.search.paths import find_routes
    from graphrag.search.seeds import resolve_entity
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as index:
        (_, start), (_, goal) = resolve_entity(index, source), resolve_entity(index, target)
        if start == goal:
            raise UsageError(f'"{source}" and "{target}" are the same entity.')
        fetch = open_edges(index, cooccurrence=cooccurrence)
        routes, is_complete = find_routes(fetch, start, goal, max_hops=max_hops, direction=way, n=n)
        statements = load_statements(index, _edge_ids(hop for route in routes for _, hop in route.hops))
    if not routes:
        advice = "" if way == "both" else " Try --direction both."
        hops = "hop" if max_hops == 1 else "hops"
        raise NothingFound(f'No path from "{start}" to "{goal}" within {max_hops} {hops}.{advice}')
    if json:
        found = render_paths.describe_routes(routes, statements, start=start, goal=goal, is_complete=is_complete)
        print(render_json(found))
        return
    print(render_paths.render_routes(routes, statements, show_sources=show_sources))
    if not is_complete:
        print("\nThere are too many routes to look at all: these are the best of the shortest.")


@app.command()
def neighborhood(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Where to start: a title, an alias, or #NUMBER.")],
    hops: Annotated[int, typer.Option("--hops", help="How far; 0 is the entity alone.")] = 2,
    direction: Annotated[
        str, typer.Option("--direction", metavar="out|in|both", help="Along the arrows, against them, or either.")
    ] = "out",
    hub_cutoff: Annotated[
        str,
        typer.Option(
            "--hub-cutoff",
            metavar="auto|off|N",
            help="More neighbours than this: shown, not walked through. auto: max(15, 95th percentile).",
        ),
    ] = "auto",
    top: Top = 50,
    show_sources: ShowSources = False,
    origin: Origin = "stated",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """What lies within some hops of an entity, and the relationship that leads there.

    Example: graphrag neighborhood "Auth Service" --hops 1 --direction both
    """
    check_at_least(0, "--hops", hops)
    way, cooccurrence = _choose_direction(direction), _choose_origin(origin)
    root, settings = open_project(root, set_)
    from graphrag import render_paths
    from graphrag.render import render_json
    from graphrag.search.edges import open_edges
    from graphrag.search.hop_sources import load_statements
    from graphrag.search.reach import choose_cutoff, list_neighbors, open_degrees
    from graphrag.search.seeds import resolve_entity
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as index:
        cutoff = choose_cutoff(index, hub_cutoff)
        _, anchor = resolve_entity(index, name)
        fetch = open_edges(index, cooccurrence=cooccurrence)
        found = list_neighbors(fetch, open_degrees(index), anchor, hops=hops, direction=way, cutoff=cutoff)
        shown = found[:top]
        statements = load_statements(index, _edge_ids(neighbor.hop[1] for neighbor in shown if neighbor.hop))
    if json:
        described = render_paths.describe_neighborhood(found, shown, statements, direction=way, cutoff=cutoff)
        print(render_json(described))
    else:
        print(
            render_paths.render_neighborhood(
                found, shown, statements, hops=hops, direction=way, cutoff=cutoff, show_sources=show_sources
            )
        )


@app.command()
def chains(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Where to start: a title, an alias, or #NUMBER.")],
    max_depth: Annotated[int, typer.Option("--max-depth", help="Relationships in a chain, at most.")] = 2,
    to_type: Annotated[str, typer.Option("--to-type", metavar="TYPE", help="Only chains that end in this type.")] = "",
    top: Top = 50,
    cite: Annotated[bool, typer.Option("--cite", help="After each hop its text units and weight.")] = False,
    show_sources: ShowSources = False,
    origin: Origin = "stated",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Everything an entity leads to, as chains of relationships.

    Example: graphrag chains "login flow" --max-depth 3 --to-type technology
    """
    check_at_least(0, "--max-depth", max_depth)
    cooccurrence = _choose_origin(origin)
    root, settings = open_project(root, set_)
    from graphrag import render_paths
    from graphrag.render import render_json
    from graphrag.search.chains import keep_type, list_chains
    from graphrag.search.edges import open_edges
    from graphrag.search.hop_sources import load_statements
    from graphrag.search.seeds import resolve_entity
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as index:
        _, start = resolve_entity(index, name)
        found = list_chains(open_edges(index, cooccurrence=cooccurrence), start, max_depth=max_depth)
        found = keep_type(index, found, to_type) if to_type else found
        shown = found[:top]
        statements = load_statements(index, _edge_ids(shown))
    if json:
        print(render_json(render_paths.describe_chains(found, shown, statements, start=start)))
        return
    if not found:
        to = f" to a {to_type.lower()}" if to_type else ""
        raise NothingFound(f'No chain from "{start}"{to} within {max_depth} relationships.')
    print(render_paths.render_chains(found, shown, statements, cite=cite or show_sources, show_sources=show_sources))


def _edge_ids(hops: Iterable[Sequence[Edge]]) -> set[str]:
    return {edge.id for hop in hops for edge in hop}


def _choose_carrying(index: Index, settings: Settings, rels: str) -> Carrying:
    """Raises UsageError for a predicate that the index does not hold."""
    from graphrag.search.impact import ALL_PREDICATES, choose_carrying, list_predicates

    known = list_predicates(index)
    wanted = [rel.strip() for rel in rels.split(",") if rel.strip()]
    for rel in wanted:
        if rel != ALL_PREDICATES and rel not in known:
            near = did_you_mean(rel, known)
            raise UsageError(f'No predicate "{rel}".{near} See graphrag sql "from predicates".')
    impact = settings.impact
    return choose_carrying(
        known, predicates=impact.predicates, reversed_predicates=impact.reversed_predicates, rels=wanted
    )


def _choose_direction(direction: str) -> Direction:
    from graphrag.search.edges import DIRECTIONS

    for known in DIRECTIONS:
        if known == direction:
            return known
    raise UsageError(f'--direction must be out, in or both, got "{direction}".')


def _choose_origin(origin: str) -> bool:
    """Whether co-occurrence is walked too."""
    if origin not in ("stated", "all"):
        raise UsageError(f'--origin must be stated or all, got "{origin}".')
    return origin == "all"
