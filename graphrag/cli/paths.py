"""`graphrag impact`, `path`, `neighborhood`, `chains`: questions that a walk over cited relationships answers.

Does not: walk (api.py, search/) or print (render/paths.py).
"""

from __future__ import annotations

from typing import Annotated

import typer

from graphrag.cli.options import Json, Root, Set, Where, open_project, tell_restriction
from graphrag.errors import NothingFound, UsageError

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
    where: Where = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """What breaks when something fails, with the chain that says so, and what survives.

    Example: graphrag impact Redis --cite
    """
    if bool(name) == all_:
        raise UsageError('Say what fails, as in "graphrag impact Redis", or --all.')
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.render.frames import render_json

    predicates = [rel.strip() for rel in rels.split(",") if rel.strip()]
    with Index(settings, root, where=where) as index:
        tell_restriction(index.restriction)
        if all_:
            risks = index.risks(rels=predicates, top=top)
            print(render_json(risks.to_json()) if json else risks.render(show_sources=show_sources))
            return
        found = index.impact(name, max_hops=max_hops, rels=predicates, top=top, origin=origin, reasons=json)
    print(render_json(found.to_json()) if json else found.render(cite=cite, show_sources=show_sources))


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
    where: Where = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """How one thing leads to another: fewest hops first, then the best corroborated.

    Example: graphrag path "login flow" Redis
    """
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.render.frames import render_json

    with Index(settings, root, where=where) as index:
        tell_restriction(index.restriction)
        found = index.path(source, target, n=n, max_hops=max_hops, direction=direction, origin=origin)
    print(render_json(found.to_json()) if json else found.render(show_sources=show_sources))


@app.command()
def neighborhood(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Where to start: a title, an alias, or #NUMBER.")],
    hops: Annotated[int, typer.Option("--hops", help="How far; 0 is the entity alone.")] = 2,
    direction: Annotated[
        str,
        typer.Option(
            "--direction",
            metavar="out|in|both",
            help="Along the arrows, against them, or either. Default: out; of documents both.",
        ),
    ] = "",
    hub_cutoff: Annotated[
        str,
        typer.Option(
            "--hub-cutoff",
            metavar="auto|off|N",
            help="More neighbours than this: shown, not walked through. auto: max(15, 95th percentile).",
        ),
    ] = "auto",
    documents: Annotated[
        bool, typer.Option("--documents", help="Notes around a note (title, alias or path), along links.")
    ] = False,
    stubs: Annotated[
        bool, typer.Option("--stubs", help="Of documents: count a hub as one line, not its text.")
    ] = False,
    show_tokens: Annotated[bool, typer.Option("--show-tokens", help="Of documents: what reading them costs.")] = False,
    top: Top = 50,
    show_sources: ShowSources = False,
    origin: Origin = "stated",
    where: Where = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """What lies within some hops of an entity, and the relationship that leads there.

    Example: graphrag neighborhood "Auth Service" --hops 1 --direction both

    Example: graphrag neighborhood "Map of the knowledge base" --documents --show-tokens
    """
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.render.frames import render_json

    with Index(settings, root, where=where) as index:
        tell_restriction(index.restriction)
        if documents:
            from graphrag.render.notes import describe_notes, render_notes

            notes = index.note_neighborhood(
                name, hops=hops, direction=direction or "both", hub_cutoff=hub_cutoff, stubs=stubs
            )
            print(render_json(describe_notes(notes)) if json else render_notes(notes, top=top, show_tokens=show_tokens))
            return
        direction = direction or "out"
        found = index.neighborhood(name, hops=hops, direction=direction, hub_cutoff=hub_cutoff, top=top, origin=origin)
    print(render_json(found.to_json()) if json else found.render(show_sources=show_sources))


@app.command()
def chains(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Where to start: a title, an alias, or #NUMBER.")],
    max_depth: Annotated[int, typer.Option("--max-depth", help="Relationships in a chain, at most.")] = 2,
    to_type: Annotated[str, typer.Option("--to-type", metavar="TYPE", help="Only chains that end in this type.")] = "",
    top: Top = 50,
    cite: Annotated[bool, typer.Option("--cite", help="After each hop its text units and weight.")] = False,
    show_sources: ShowSources = False,
    origin: Origin = "stated",
    where: Where = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Everything an entity leads to, as chains of relationships.

    Example: graphrag chains "login flow" --max-depth 3 --to-type technology
    """
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.render.frames import render_json

    with Index(settings, root, where=where) as index:
        tell_restriction(index.restriction)
        found = index.chains(name, max_depth=max_depth, to_type=to_type, top=top, origin=origin)
    if json:
        print(render_json(found.to_json()))
        return
    if not found.chains:
        to = f" to a {to_type.lower()}" if to_type else ""
        raise NothingFound(f'No chain from "{found.start}"{to} within {max_depth} relationships.')
    print(found.render(cite=cite, show_sources=show_sources))
