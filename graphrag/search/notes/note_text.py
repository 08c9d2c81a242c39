"""How a note stands in a context: whole, between tags that name it; a hub as one line; a note that is too long, cut.

specs/linked-documents.md, rules 10, 17 and 18. Markdown is shown unchanged, but for `-->`, which could close a tag.

Does not: choose notes (note_walk.py).
"""

from __future__ import annotations

import re

from graphrag.blocks import HEADING, scan_blocks
from graphrag.context import TokenCounter, cut_text

CUT = "(cut)"
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)


def tag_note(name: str, text: str, *, tags: bool = True) -> str:
    """`<!-- SOURCE: [[Name]] -->`, the note, `<!-- /SOURCE -->`; without tags the note alone."""
    if not tags:
        return text
    return f"<!-- SOURCE: [[{_seal(name)}]] -->\n{_seal(text)}\n<!-- /SOURCE -->"


def render_stub(name: str, degree: int) -> str:
    return f"[[{name}]] (hub, {degree} links, not expanded)"


def cut_note(text: str, *, budget: int, count: TokenCounter) -> str:
    """A note cut by sections: front matter and headings stand, then the text below them as far as it fits, in order,
    whole paragraphs; the mark `(cut)` at the end.

    Where not even the headings fit, the start of the note. Never empty for a budget of 1 or more.
    """
    if count(text) <= budget:
        return text
    parts = _split(text)
    costs = [count(part + "\n\n") for part, _ in parts]
    left = budget - count(CUT) - sum(cost for cost, (_, is_kept) in zip(costs, parts, strict=True) if is_kept)
    if left < 0:
        return cut_text(text, budget=budget, count=count)
    shown = []
    for cost, (part, is_kept) in zip(costs, parts, strict=True):
        if is_kept:
            shown.append(part)
        elif cost <= left:
            shown.append(part)
            left -= cost
    return "\n\n".join([*shown, CUT])


def _split(text: str) -> list[tuple[str, bool]]:
    """The parts of a note in order, and whether it stands in any case: front matter and headings do."""
    front = _FRONT_MATTER.match(text)
    start = front.end() if front else 0
    parts = [(text[:start].strip(), True)] if front else []
    return [*parts, *((text[b.start + start : b.end + start], b.kind == HEADING) for b in scan_blocks(text[start:]))]


def _seal(text: str) -> str:
    return text.replace("-->", "--&gt;")
