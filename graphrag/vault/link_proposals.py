"""Links that a vault might have: a note names another and does not link to it, or two notes are alike and not linked.

Each proposal says which line would change and how. A mention becomes a link where it first stands in plain words: never
in front matter, code, comments, headings, tables, links, addresses, formulas and tags. A note that is like another gets
a line under "See also" at its end. Proposals are pure: text in, text out; `is_sound` then reads the links of both texts
and lets only a change pass that adds that one link and nothing else.

Reads documents, links, the views mentioned_but_unlinked and unlinked_but_related. Does not: change a file
(note_files.py), or decide: a person accepts each proposal by its id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from graphrag.ids import row_id
from graphrag.index.link_targets import LinkTargets
from graphrag.index.links import NOTES, collect_targets, find_ends
from graphrag.reading.front_matter import find_body
from graphrag.reading.links import read_links
from graphrag.reading.masking import FILLER, mask_code
from graphrag.reading.written_link import write_link

if TYPE_CHECKING:
    from graphrag.store import Index

Kind = Literal["mentioned", "similar"]
MENTIONED: Kind = "mentioned"
SIMILAR: Kind = "similar"
MAX_SIMILAR, MAX_A_NOTE = 100, 3  # proposals of pairs, the most alike first; of those that change one note
SEE_ALSO = "See also"
_HEADING = re.compile(r"^#{1,6}[ \t]+(?:See also|Related|Related notes)[ \t]*:?[ \t]*#*[ \t]*$", re.I | re.M)
_ANY_HEADING = re.compile(r"^#{1,6}[ \t]", re.M)
# What is no plain words: headings of both kinds, brackets, tags of HTML, addresses, formulas, comments.
_NOT_PLAIN = re.compile(
    r"^[ \t>]*#{1,6}[ \t][^\n]*$|^[^\n]+\n(?=[ \t]*(?:=+|-+)[ \t]*$)|\[[^\[\]\n]*\](?:\([^()\n]*\))?|"
    r"<[^<>\n]*>|\S*://\S*|\$\$[^$]*\$\$|\$[^$\n]+\$|%%[^%]*%%",
    re.M,
)
_ROW = re.compile(r"^[^\n]*\|[^\n]*$", re.M)  # of a table, where the bar of a link would end a cell


class Proposal(NamedTuple):
    """A link that might be written. `line`: of the mention, 1-based, 0 for a new line at the end of the note; `before`
    and `after`: the words that change; `names`: those of the target that the note uses; `reason`: why alike."""

    id: str
    kind: Kind
    path: str
    target_path: str
    line: int
    before: str
    after: str
    names: tuple[str, ...]
    reason: str


class LinkWriter(NamedTuple):
    """What must be known of a vault to write a link in it."""

    targets: LinkTargets
    dialect: str = "obsidian"

    @classmethod
    def of(cls, index: Index, *, dialect: str) -> LinkWriter:
        documents = index.frame("select path, title, kind, metadata from documents order by path")
        return cls(collect_targets(documents), dialect)

    def write(self, path: str, label: str = "") -> str:
        return write_link(self.targets.shortest_name(path), path, label, dialect=self.dialect)


def propose_links(index: Index, *, hubs: Collection[str] = (), dialect: str = "obsidian") -> list[Proposal]:
    """Mentions by path and line, then pairs, the most alike first. What cannot be written soundly is left out.

    hubs: paths of notes that list everything; that another is like them says nothing.
    """
    writer = LinkWriter.of(index, dialect=dialect)
    texts = dict(index.frame("select path, text from documents where kind = ?", [NOTES]).iter_rows())
    found = [
        propose_mention(writer, path, texts[path], target, names)
        for path, target, names in index.frame(
            "select path, target_path, names from mentioned_but_unlinked"
        ).iter_rows()
    ]
    mentioned = sorted((p for p in found if p is not None), key=lambda p: (p.path, p.line, p.target_path))
    taken = {frozenset((p.path, p.target_path)) for p in mentioned}
    counted = "select d.path, count(*) from links l join documents d on d.id = l.document_id group by all"
    n_links = dict(index.frame(counted).iter_rows())
    similar: list[Proposal] = []
    for a, b, cosine, shared in index.frame(
        "select path_a, path_b, cosine, shared from unlinked_but_related"
    ).iter_rows():
        is_wanted = a in texts and b in texts and not {a, b} & set(hubs) and frozenset((a, b)) not in taken
        path, target = sorted((a, b), key=lambda path: (n_links.get(path, 0), path))
        n_here = sum(proposal.path == path for proposal in similar)
        if is_wanted and len(similar) < MAX_SIMILAR and n_here < MAX_A_NOTE:
            made = propose_similar(writer, path, texts[path], target, _say_why(cosine, shared))
            similar += [made] if made else []
    return [*mentioned, *similar]


def _say_why(cosine: float | None, shared: Sequence[str]) -> str:
    alike = f"cosine {cosine:.2f}" if cosine is not None else ""
    both = f"both name {', '.join(shared)}" if shared else ""
    return "; ".join(part for part in (alike, both) if part)


def propose_mention(writer: LinkWriter, path: str, text: str, target: str, names: Iterable[str]) -> Proposal | None:
    """The link in place of the first mention in plain words; None where there is none."""
    names = tuple(sorted(set(names)))
    place = find_mention(text, names)
    if place is None:
        return None
    link = writer.write(target, text[slice(*place)])
    if not is_sound(writer, path, text, _replace(text, place, link), target):
        return None
    line = text.count("\n", 0, place[0]) + 1
    return Proposal(_name(MENTIONED, path, target), MENTIONED, path, target, line, text[slice(*place)], link, names, "")


def propose_similar(writer: LinkWriter, path: str, text: str, target: str, reason: str) -> Proposal | None:
    """The link as a line under "See also"; None where it would not be one."""
    link = writer.write(target)
    if not is_sound(writer, path, text, add_to_list(text, link), target):
        return None
    return Proposal(_name(SIMILAR, path, target), SIMILAR, path, target, 0, "", f"- {link}", (), reason)


def apply_proposal(writer: LinkWriter, proposal: Proposal, text: str) -> str | None:
    """The text of the note with the link, made for the text as it is now; None where the link is there already, or
    can no longer be written."""
    path, target = proposal.path, proposal.target_path
    if target in _list_reached(writer, path, text):
        return None
    if proposal.kind == MENTIONED:
        place = find_mention(text, proposal.names)
        changed = _replace(text, place, writer.write(target, text[slice(*place)])) if place else text
    else:
        changed = add_to_list(text, writer.write(target))
    return changed if is_sound(writer, path, text, changed, target) else None


def find_mention(text: str, names: Sequence[str]) -> tuple[int, int] | None:
    """Where one of the names first stands in plain words of a Markdown text, whole and as spelled; the longest wins."""
    if not names:
        return None
    wanted = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    pattern = re.compile(rf"(?<![\w#@/\\.-])(?:{wanted})(?![\w/@-])(?!\.\w)")
    if not pattern.search(text):
        return None
    found = pattern.search(_show_plain_words(text))
    return found.span() if found else None


@lru_cache(maxsize=8)  # a note has several mentions, one after the other
def _show_plain_words(text: str) -> str:
    """A Markdown text with all that is no plain words hidden."""
    plain = mask_code(text, find_body(text, "md"))
    for part in (_NOT_PLAIN, _ROW):  # in this order: the bar in a link makes no row
        plain = part.sub(lambda found: FILLER * len(found[0]), plain)
    return plain


def add_to_list(text: str, link: str) -> str:
    """The text with `- link` at the end of its list under "See also", which is added where there is none."""
    masked = mask_code(text, find_body(text, "md"))
    headings = list(_HEADING.finditer(masked))
    if not headings:
        gap = "" if text.endswith("\n\n") or not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}## {SEE_ALSO}\n\n- {link}\n"
    last = headings[-1]
    following = _ANY_HEADING.search(masked, last.end())
    end = len(text[: following.start() if following else len(text)].rstrip())
    gap = "\n\n" if end == last.end() or not text[last.end() : end].strip() else "\n"
    rest = text[end:]
    return f"{text[:end]}{gap}- {link}{rest if rest.startswith(chr(10)) else chr(10) + rest}"


def is_sound(writer: LinkWriter, path: str, before: str, after: str, target: str) -> bool:
    """Whether `after` has one link more, to the target, and all links of `before` as they were."""
    old = _count_links(before, writer.dialect)
    links = read_links(after, dialect=writer.dialect).links
    added = Counter(link.raw for link in links) - old
    if added.total() != 1 or len(links) != old.total() + 1:
        return False
    (raw,) = added
    link = next(link for link in links if link.raw == raw)
    return find_ends(writer.targets, path, link)[1].path == target


@lru_cache(maxsize=8)
def _count_links(text: str, dialect: str) -> Counter[str]:
    return Counter(link.raw for link in read_links(text, dialect=dialect).links)


def _list_reached(writer: LinkWriter, path: str, text: str) -> set[str | None]:
    """Paths that the links of a note lead to."""
    links = read_links(text, dialect=writer.dialect).links
    return {find_ends(writer.targets, path, link)[1].path for link in links}


def _replace(text: str, place: tuple[int, int], words: str) -> str:
    return text[: place[0]] + words + text[place[1] :]


def _name(kind: str, path: str, target: str) -> str:
    return row_id("proposal", kind, path, target)[:8]
