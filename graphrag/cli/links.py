"""`graphrag links`: the links that people wrote, what is odd about them, and links that might be.

Files of the vault are changed by --apply and --write-index alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project

if TYPE_CHECKING:
    from graphrag.settings import Settings
    from graphrag.store import Index
    from graphrag.vault.link_proposals import Proposal
    from graphrag.vault.link_report import LinkReport
    from graphrag.vault.note_files import Change

ALL = "all"


def links(
    unresolved: Annotated[bool, typer.Option("--unresolved", help="Only the targets that no document has.")] = False,
    advise: Annotated[bool, typer.Option("--advise", help="Only how to search this vault by whole notes.")] = False,
    apply: Annotated[
        list[str] | None,
        typer.Option(
            "--apply", metavar="ID|all", help="Write this proposed link into its note; repeatable. Changes your files."
        ),
    ] = None,
    write_index: Annotated[
        Path | None,
        typer.Option(
            "--write-index",
            metavar="DIR",
            help="Write VAULT_INDEX.md and pages of large sections there, your vault say.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Lines a list; 0 shows all.")] = 10,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Links between the documents: missing targets, ambiguous names, hubs, notes without a link, links to consider.

    Example: graphrag links --unresolved

    Example: graphrag links --apply 1f0c9a2e --apply 77b01d4c

    Example: graphrag links --write-index data/input
    """
    root, settings = open_project(root, set_)
    asked = {"--unresolved": unresolved, "--advise": advise, "--apply": apply, "--write-index": write_index}
    _refuse_several([name for name, value in asked.items() if value])
    from graphrag.render.frames import render_json
    from graphrag.render.links import render_advice, render_changes, render_links, render_pages
    from graphrag.store import open_index
    from graphrag.vault.link_report import report_links

    with open_index(root / settings.output.dir) as index:
        if write_index is not None:
            pages = _write_index(index, settings, write_index)
            rows = [{"path": str(path), "changed": is_new} for path, is_new in pages]
            print(render_json(rows) if json else render_pages(pages))
            return
        if apply:
            changes = _apply(index, settings, root, apply)
            rows = [{**change.proposal._asdict(), "written": not change.why, "why": change.why} for change in changes]
            print(render_json(rows) if json else render_changes(changes))
            return
        found = report_links(index)
        proposals = _propose(index, settings, found) if not unresolved and not advise else []
    if json:
        whole = found._asdict() | {"proposals": [proposal._asdict() for proposal in proposals]}
        print(render_json(found.missing if unresolved else {"advice": found.advice} if advise else whole))
    elif advise:
        print(render_advice(found))
    else:
        print(render_links(found, proposals, limit=limit, missing_only=unresolved))


def _refuse_several(names: list[str]) -> None:
    from graphrag.errors import UsageError

    if len(names) > 1:
        raise UsageError(f"Choose one of {', '.join(names)}.")


def _propose(index: Index, settings: Settings, report: LinkReport) -> list[Proposal]:
    from graphrag.vault.link_proposals import propose_links

    hubs = {row["path"] for row in report.hubs}
    return propose_links(index, hubs=hubs, dialect=settings.links.dialect)


def _write_index(index: Index, settings: Settings, folder: Path) -> list[tuple[Path, bool]]:
    from graphrag.errors import UsageError, shown_path
    from graphrag.vault.index_pages import build_vault_index
    from graphrag.vault.note_files import write_pages

    if not folder.is_dir():
        raise UsageError(f"--write-index: {shown_path(folder)} is no folder.")
    pages = build_vault_index(index.table("documents"), index.table("links"), index_file=settings.routing.index_file)
    return write_pages(pages, folder)


def _apply(index: Index, settings: Settings, root: Path, ids: list[str]) -> list[Change]:
    """Write the links of accepted proposals into the notes of the input folder."""
    from graphrag.errors import UsageError
    from graphrag.object_storage import is_url
    from graphrag.reading.folders import list_files
    from graphrag.store.runs import disk_errors
    from graphrag.vault.link_proposals import LinkWriter
    from graphrag.vault.link_report import report_links
    from graphrag.vault.note_files import write_links

    if is_url(settings.input.dir):
        raise UsageError(f"--apply changes files in a folder; input.dir is {settings.input.dir}.")
    proposed = _propose(index, settings, report_links(index))
    accepted = proposed if ids == [ALL] else [_find(proposed, name) for name in dict.fromkeys(ids)]
    output = [root / place for place in (settings.output.dir, settings.cache.dir, settings.links.relations)]
    with disk_errors("read", root / settings.input.dir):
        listing = list_files(root / settings.input.dir, ignore=settings.input.ignore, exclude=output)
    files = {file.path: Path(str(file.location)) for file in listing.files}
    return write_links(accepted, files, LinkWriter.of(index, dialect=settings.links.dialect))


def _find(proposed: list[Proposal], name: str) -> Proposal:
    from graphrag.errors import UsageError, did_you_mean

    found = {proposal.id: proposal for proposal in proposed}
    if name not in found:
        raise UsageError(f'No proposal "{name}".{did_you_mean(name, found)} "graphrag links --limit 0" lists them.')
    return found[name]
