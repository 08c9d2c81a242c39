"""What `graphrag aliases` prints for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphrag.names import name_key

if TYPE_CHECKING:
    from graphrag.alias_changes import AliasChange, Effects
    from graphrag.aliases import EntityNames

MAX_REASON = 100  # characters, in a table
MAX_SHOWN = 12  # names, pairs or moves listed before "... and N more"


def render_entity(entity: EntityNames) -> str:
    """An entity with its names and why, and the pairs that were looked at."""
    others = ", ".join(f"{name} {n}" for name, n in entity.types if name not in (entity.type, "unknown"))
    head = f"{entity.title} (#{entity.number}), {entity.type}" + (f"; mentions also say {others}" if others else "")
    lines = [
        head,
        f"  {_count(entity.n_mentions, 'mention')} in {_count(entity.n_documents, 'document')}, "
        f"{_count(entity.degree, 'neighbour')}",
        "",
    ]
    rows = [(row["surface"], f"{row['mentions']:,}", _say_why(row, entity.title)) for row in entity.names]
    lines += _columns([("name", "mentions", "why"), *rows])
    open_pairs = [row for row in entity.pairs if row["verdict"] == "propose"]
    apart = [row for row in entity.pairs if row["verdict"] != "propose"]
    for title, pairs in (("Perhaps the same, left apart", open_pairs), ("Kept apart", apart)):
        if pairs:
            lines += ["", title, *_shorten([_render_pair(row) for row in pairs])]
    aliases = [row["surface"] for row in entity.names if not _is_title(row["surface"], entity.title)]
    hints = [f'To take a name away: graphrag aliases split "{aliases[0]}"'] if aliases else []
    if open_pairs:
        hints.append(f'To join: graphrag aliases merge "{entity.title}" "{open_pairs[0]["other"]}"')
    lines += ["", *hints] if hints else []
    return "\n".join(lines)


def render_suspects(rows: list[dict[str, Any]], n_open: int) -> str:
    if not rows:
        return "No open pairs: every pair of names that looked alike was decided."
    table = [
        (
            _with_surface(row["title_a"], row["surface_a"]),
            _with_surface(row["title_b"], row["surface_b"]),
            f"{row['score']:.2f}",
            row["method"],
            _cut(row["reason"]),
        )
        for row in rows
    ]
    lines = _columns([("name", "other", "alike", "by", "why it is open"), *table])
    first = rows[0]
    return "\n".join(
        [
            *lines,
            *([f"  ... and {n_open - len(rows):,} more (--top)"] if n_open > len(rows) else []),
            "",
            f'If two are one: graphrag aliases merge "{first["title_a"]}" "{first["title_b"]}"',
            "If not, nothing is to be done: they stay two.",
        ]
    )


def render_change(change: AliasChange, shown_path: str) -> str:
    """The preview of an edit: what moves, what the graph gains and loses, and the lines of the file."""
    first, second = change.names
    effects = change.effects
    head = f'Merge "{second}" into "{first}"' if change.action == "merge" else f'Split "{second}" off "{first}"'
    moves = [f'  {_count(m.mentions, "mention")} of "{m.surface}": {m.before} -> {m.after}' for m in effects.moves]
    lines = [head, *_shorten(moves), *_render_counts(effects), f"  {shown_path}:"]
    return "\n".join([*lines, *(f"    {line[0]} {line[1:]}" for line in change.diff)])


def _render_counts(effects: Effects) -> list[str]:
    lines = [f"  entities       {effects.entities[0]:>7,} -> {effects.entities[1]:,}"]
    changed = f"   {effects.relationships_changed:,} rows go or come" if effects.relationships_changed else ""
    lines.append(f"  relationships  {effects.relationships[0]:>7,} -> {effects.relationships[1]:,}{changed}")
    if effects.self_loops:
        verb = "dropped" if effects.self_loops > 0 else "come back"
        lines.append(f"  {_count(abs(effects.self_loops), 'statement')} between the two {verb}")
    return lines


def _is_title(surface: str, title: str) -> bool:
    """Also of a title with its type behind it, to tell it from a namesake: Mercury (place)."""
    return name_key(surface) in (name_key(title), name_key(title.rpartition(" (")[0] or title))


def _say_why(row: dict[str, Any], title: str) -> str:
    if row["surface"] == title or row["method"] is None:
        return "title"
    return f"{row['reason']} {_say_who(row)}"


def _say_who(row: dict[str, Any]) -> str:
    """`(edit 0.90, judge)`; a user's own rule is just `(user)`."""
    method = row["method"] + (f" {row['score']:.2f}" if row["score"] < 1 else "")
    return f"({', '.join(dict.fromkeys([method, row['decided_by']]))})"


def _cut(reason: str) -> str:
    return reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 1].rpartition(' ')[0]}…"


def _with_surface(title: str, surface: str) -> str:
    """The title, and the name that was compared where it is another one: Amazon Web Services (as "AWS")."""
    return title if _is_title(surface, title) else f'{title} (as "{surface}")'


def _render_pair(row: dict[str, Any]) -> str:
    other = _with_surface(row["other"], row["other_surface"])
    return f"  {other}: {row['reason']} {_say_who(row)}"


def _shorten(lines: list[str]) -> list[str]:
    more = len(lines) - MAX_SHOWN
    return lines if more <= 0 else [*lines[:MAX_SHOWN], f"  ... and {more:,} more (--json lists all)"]


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return [
        "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1]]).rstrip()
        for row in rows
    ]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
