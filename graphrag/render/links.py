"""What `graphrag links` prints for people."""

from __future__ import annotations

from collections.abc import Iterable

from graphrag.link_report import LinkReport

MAX_PLACES = 3


def render_links(report: LinkReport, *, limit: int, missing_only: bool = False) -> str:
    """The report; each list to `limit` lines, 0 shows all."""
    missing = [_render_missing(row) for row in report.missing]
    if missing_only:
        return "\n".join(_list("Targets that no document has", missing, limit) or ["Every link leads to a document."])
    counts = ", ".join(f"{n:,} {status}" for status, n in report.by_status.items()) or "none"
    lines = [
        f"{report.n_documents:,} notes, {report.n_links:,} links: {counts}. "
        f"{report.n_edges:,} pairs of notes are linked."
    ]
    lines += _list("Targets that no document has", missing, limit)
    ambiguous = [f"[[{row['target']}]] -> {row['path']}, {_links(row['n_links'])}" for row in report.ambiguous]
    lines += _list("Names of several documents, and the one that links go to", ambiguous, limit)
    lines += _list("Hubs", [f"{row['path']}, {row['n_neighbours']:,} neighbours" for row in report.hubs], limit)
    lines += _list("Notes that no link joins to another", report.orphans, limit)
    return "\n".join(lines)


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
