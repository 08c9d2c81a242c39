"""Text formats with markup -> plain text with block structure, and the titles and fields that they declare.

HTML becomes Markdown-like text: `#` headings, `-` items, `|` rows, fenced <pre>, blank lines between blocks; scripts,
styles and forms are left out. Markdown and reStructuredText stay as they are; only their title and fields are read.

Does not: keep links or emphasis of HTML, or render anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from graphrag import blocks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH = 500
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
# Elements that HTML closes by itself; they do not nest however often they are opened.
_UNNESTED = frozenset(
    (
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
        "wbr", "p", "li", "td", "th", "tr", "dt", "dd", "option", "thead", "tbody", "tfoot", "html", "head", "body",
    )
)  # fmt: skip
_SKIPPED = frozenset(
    (
        "script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "nav", "form",
        "button", "select",
    )
)  # fmt: skip
_BLOCK = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "header", "hr", "html", "main", "ol", "p", "section", "summary", "table",
        "tbody", "tfoot", "thead", "ul", "caption", "center",
    )
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACES = re.compile(r"[ \t\n\u00a0]+")


class Html(NamedTuple):
    text: str
    title: str  # <title>, else the first <h1>
    is_too_deep: bool


def read_html(source: str) -> Html:
    """The text of an HTML document. Nested deeper than 500 elements: empty and is_too_deep (parsers crash on it)."""
    if _depth(source) > MAX_DEPTH:
        return Html("", "", True)
    from selectolax.lexbor import LexborHTMLParser  # here, not above: few folders hold HTML

    parser = LexborHTMLParser(source)
    root = parser.body or parser.root
    if root is None:
        return Html("", "", False)
    title_node = parser.css_first("title") or parser.css_first("h1")
    title = " ".join(title_node.text(deep=True).split()) if title_node is not None else ""
    writer = _Writer()
    _write(root, writer, 0)
    return Html(writer.finish(), title, False)


def _depth(source: str) -> int:
    """Greatest number of elements open at once, counted over the tags; an upper bound of the tree's depth."""
    depth = deepest = 0
    for match in _TAG.finditer(source):
        if match[2].lower() in _UNNESTED:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


class _Writer:
    """Collects runs of words into blocks."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.words: list[str] = []
        self.prefix = ""
        self.is_tight = False

    def block(self, prefix: str = "", *, tight: bool = False) -> None:
        """Ends the block; the next one begins with `prefix`, without a blank line before it if both are tight."""
        words = _SPACES.sub(" ", "".join(self.words)).strip()
        if words:
            if self.out:
                self.out.append("\n" if tight and self.is_tight else "\n\n")
            self.out.append(self.prefix + words)
            self.is_tight = tight
            self.prefix = prefix
        else:
            self.is_tight = self.is_tight and tight
            self.prefix = prefix if prefix or not tight else self.prefix
        self.words = []

    def raw(self, text: str) -> None:
        self.block()
        self.out.append(("\n\n" if self.out else "") + text)
        self.is_tight = False

    def finish(self) -> str:
        self.block()
        return "".join(self.out)


def _write(node: LexborNode, writer: _Writer, list_depth: int) -> None:
    """Writes a node's children; the recursion is bounded by MAX_DEPTH."""
    child = node.child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            writer.words.append(child.text_content or "")
        elif tag in _SKIPPED or tag.startswith(("-", "_")):
            pass
        elif tag == "br":
            writer.words.append(" ")
        elif tag in _HEADINGS:
            writer.block("#" * _HEADINGS[tag] + " ")
            _write(child, writer, list_depth)
            writer.block()
        elif tag == "pre":
            code = child.text(deep=True).strip("\n")
            mark = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
            if code.strip():
                writer.raw(f"{mark}\n{code}\n{mark}")
        elif tag == "li":
            writer.block("  " * max(0, list_depth - 1) + "- ", tight=True)
            _write(child, writer, list_depth)
            writer.block(tight=True)
        elif tag == "tr":
            _write_row(child, writer)
        elif tag in ("ul", "ol"):
            writer.block(tight=list_depth > 0)
            _write(child, writer, list_depth + 1)
            writer.block(tight=list_depth > 0)
        elif tag in _BLOCK:
            writer.block()
            _write(child, writer, list_depth)
            writer.block()
        else:
            _write(child, writer, list_depth)
        child = child.next


def _write_row(row: LexborNode, writer: _Writer) -> None:
    cells = [
        " ".join(cell.text(deep=True, separator=" ").split()).replace("|", "\\|")
        for cell in row.iter()
        if cell.tag in ("td", "th")
    ]
    if any(cells):
        writer.block("", tight=True)
        writer.prefix = ""
        writer.words.append("| " + " | ".join(cells) + " |")
        writer.block("", tight=True)


def find_title(text: str, dialect: str) -> str:
    """The heading that names the whole text: a first heading of level 1, or one at the very top that is alone on its
    level with none above; empty if there is none."""
    found = blocks.scan_blocks(text, dialect=dialect)
    headings = [block for block in found if block.kind == blocks.HEADING and block.title]
    if not headings:
        return ""
    first = headings[0]
    if first.level == 1:
        return first.title
    is_top = found[0] is first and all(block.level > first.level for block in headings[1:])
    return first.title if is_top else ""


_HEADER_FIELD = re.compile(r":?([A-Za-z][\w -]{0,40}):(?:[ \t]+(.*))?$")


def read_header_fields(text: str) -> dict[str, str]:
    """The fields at the top of a reStructuredText file (PEP headers, docinfo), names as written."""
    fields: dict[str, str] = {}
    last = ""
    for line in text[:20_000].split("\n"):
        if line[:1] in (" ", "\t") and last:
            fields[last] = " ".join(f"{fields[last]} {line}".split())
        elif match := _HEADER_FIELD.match(line):
            last = match[1]
            fields[last] = (match[2] or "").strip()
        elif line.strip() or fields:
            break
    return fields if len(fields) >= 2 or text.startswith(":") else {}
