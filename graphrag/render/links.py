"""What `graphrag links` prints for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from graphrag.errors import shown_path
from graphrag.vault.link_proposals import MENTIONED, Proposal
from graphrag.vault.link_report import DEPTH, HYBRID, SYNTHESIS, WHOLE, LinkReport
from graphrag.vault.note_files import Change

MAX_PLACES = 3
ADVICE = {
    DEPTH: "--documents --routing depth: the links are dense and the notes few",
    SYNTHESIS: "--documents --routing synthesis: several entry notes make up for few links",
    HYBRID: "--documents --routing hybrid: of so many notes only those like an entry should be read",
    WHOLE: "--basic: no link to follow; the proposals say where links could be",
}
AUDIT = "For an audit, where each line must show its note: --routing depth, with routing.source_tags = true."


def render_links(report: LinkReport, proposals: Sequence[Proposal], *, limit: int, missing_only: bool = False) -> str:
    """The report; each list to `limit` lines, 0 shows all."""
    missing = [_render_missing(row) for row in report.missing]
    if missing_only:
        shown = _list("Targets that no document has", missing, limit) + _tell_lenient(report)
        return "\n".join(shown).strip() or "Every link leads to a document."
    counts = ", ".join(f"{n:,} {status}" for status, n in report.by_status.items()) or "none"
    lines = [
        f"{report.n_documents:,} notes, {report.n_links:,} links: {counts}. "
        f"{report.n_edges:,} pairs of notes are linked."
    ]
    lines += _list("Targets that no document has", missing, limit) + _tell_lenient(report)
    ambiguous = [f"[[{row['target']}]] -> {row['path']}, {_links(row['n_links'])}" for row in report.ambiguous]
    lines += _list("Names of several documents, and the one that links go to", ambiguous, limit)
    cut = [f"{row['place']}  {row['raw']}, not {row['path']}: # begins a heading" for row in report.cut_names]
    lines += _list("Links that end at the # in a note's name", cut, limit)
    lines += _list("Hubs", [f"{row['path']}, {row['n_neighbours']:,} neighbours" for row in report.hubs], limit)
    lines += _list("Notes that no link joins to another", report.orphans, limit)
    mentions = [_render_proposal(proposal) for proposal in proposals if proposal.kind == MENTIONED]
    pairs = [_render_proposal(proposal) for proposal in proposals if proposal.kind != MENTIONED]
    lines += _list("Named, not linked", mentions, limit)
    lines += _list("Alike, not linked", pairs, limit)
    if proposals:
        lines += ["", "No note is changed unless you accept: graphrag links --apply ID (repeatable), or --apply all."]
    return "\n".join([*lines, "", f"Best searched with graphrag search {ADVICE[report.advice]}."])


def render_advice(report: LinkReport) -> str:
    counts = f"{report.n_documents:,} notes, {report.n_edges:,} pairs of them linked"
    return f"{counts}. Best searched with graphrag search:\n  {ADVICE[report.advice]}.\n{AUDIT}"


def render_changes(changes: Sequence[Change]) -> str:
    """One line a proposal: written, or why not."""
    lines = [f"{'left   ' if c.why else 'written'}  {_render_proposal(c.proposal)}" + (f": {c.why}" if c.why else "")
             for c in changes]  # fmt: skip
    n_written = sum(not change.why for change in changes)
    ending = ' "graphrag index" takes them in.' if n_written else ""
    return "\n".join([*lines, f"{_links(n_written)} written.{ending}"])


def render_pages(pages: Sequence[tuple[Path, bool]]) -> str:
    if not pages:
        return "No notes, no index."
    return "\n".join(f"{'wrote  ' if is_new else 'as it was'}  {shown_path(path)}" for path, is_new in pages)


def _tell_lenient(report: LinkReport) -> list[str]:
    n_owned = sum(row["n_links"] for row in report.missing if len(row["owners"]) == 1)
    return [f'  With links.aliases = "lenient", {n_owned:,} of these links would lead somewhere.'] if n_owned else []


def _render_proposal(proposal: Proposal) -> str:
    if proposal.kind == MENTIONED:
        return f"{proposal.id}  {proposal.path}:{proposal.line}  {proposal.before} -> {proposal.after}"
    return f"{proposal.id}  {proposal.path}  + {proposal.after}  ({proposal.reason})"


def _render_missing(row: dict[str, object]) -> str:
    places, owners = row["places"], row["owners"]
    assert isinstance(places, list) and isinstance(owners, list)
    more = f" and {len(places) - MAX_PLACES:,} more" if len(places) > MAX_PLACES else ""
    owned = f"; the title or an alias of {', '.join(owners[:MAX_PLACES])}" if owners else ""
    owned += f" and {len(owners) - MAX_PLACES} more" if len(owners) > MAX_PLACES else ""
    return f"{row['target']}: {_links(len(places))}, {', '.join(places[:MAX_PLACES])}{more}{owned}"


def _links(n: int) -> str:
    return f"{n:,} link{'' if n == 1 else 's'}"


def _list(title: str, rows: Iterable[str], limit: int) -> list[str]:
    rows = list(rows)
    if not rows:
        return []
    shown = rows[:limit] if limit else rows
    more = [f"  ... {len(rows) - len(shown):,} more (--limit 0)"] if len(shown) < len(rows) else []
    return ["", f"{title}: {len(rows):,}", *(f"  {row}" for row in shown), *more]
