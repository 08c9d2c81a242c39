"""Links as written: the edge cases of the spec (linked documents, section 3), offsets, hostile lines."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.reading.canvas_links import read_canvas_links
from graphrag.reading.links import read_links
from graphrag.reading.masking import FILLER, mask_code
from graphrag.reading.records import read_canvas
from graphrag.reading.written_link import WrittenLink

FENCE = "```"
ROWS: list[tuple[str, list[tuple[str, str, str, str]]]] = [
    # text -> (syntax, target, subpath, display) of each link; the numbers are those of the spec's table
    (f"{FENCE}\n[[Target]]\n{FENCE}", []),  # 1
    ("~~~\n[[Target]]\n~~~", []),
    (f"> {FENCE}\n> [[Target]]\n> {FENCE}\n> [[Log]]", [("wikilink", "Log", "", "")]),
    (f"- item\n  {FENCE}js\n  [[Target]]\n  {FENCE}\n- [[Log]]", [("wikilink", "Log", "", "")]),
    (f"{FENCE}\n[[Target]]", []),
    (f"{FENCE}{FENCE}\n{FENCE}\n[[Target]]\n{FENCE}{FENCE}\n[[Log]]", [("wikilink", "Log", "", "")]),
    ("words\n\n    [[Target]]", []),
    ("words\n    [[Target]]", [("wikilink", "Target", "", "")]),  # a lazy line of the paragraph
    ("- item\n\n    [[Target]]", [("wikilink", "Target", "", "")]),  # inside the item
    ("- item\n    - [[Target]]", [("wikilink", "Target", "", "")]),
    ("- item\n\n        [[Target]]", []),
    ("# Head\n\t[[Target]]", []),
    ("`[[Target]]` and ``[[Tar`get]]``", []),
    ("one ` tick and [[Target]]\n\nanother `", [("wikilink", "Target", "", "")]),
    ("| a |\n|---|\n| [[Target\\|Alias]] |", [("wikilink", "Target", "", "Alias")]),  # 2
    ("[[Target#Head]]", [("wikilink", "Target", "Head", "")]),  # 3
    ("[[Target#A#B]]", [("wikilink", "Target", "A#B", "")]),
    ("[[Target#^id-1]]", [("wikilink", "Target", "^id-1", "")]),
    ("[[#Head]]", [("wikilink", "", "Head", "")]),  # 4
    ("[x](Sub/My%20Note.md)", [("markdown", "Sub/My Note.md", "", "x")]),  # 5
    ("[x](<Sub/My Note.md>)", [("markdown", "Sub/My Note.md", "", "x")]),
    ('[x](Sub/My%20Note.md "t")', [("markdown", "Sub/My Note.md", "", "x")]),
    ("[x](Sub/My%20Note.md#h)", [("markdown", "Sub/My Note.md", "h", "x")]),
    ("[x](Sub/My%zzNote.md)", [("markdown", "Sub/My%zzNote.md", "", "x")]),  # 6
    ("[x](a%FFb.md)", [("markdown", "a%FFb.md", "", "x")]),
    ("[x](Note_(old).md)", [("markdown", "Note_(old).md", "", "x")]),
    ("[`x`](Target.md)", [("markdown", "Target.md", "", "`x`")]),
    ("[![](img.png)](Target.md)", [("markdown", "Target.md", "", "![](img.png)"), ("embed", "img.png", "", "")]),
    ("[a [b](b.md)](c.md)", [("markdown", "b.md", "", "b")]),
    ("[x](My Note.md) []() [alias]()", []),
    ("![[img.png|100]]", [("embed", "img.png", "", "")]),  # 15
    ("![[img.png|100x40]] ![[Doc.pdf#page=3]]", [("embed", "img.png", "", ""), ("embed", "Doc.pdf", "page=3", "")]),
    ("![[Target]]", [("embed", "Target", "", "")]),  # 16
    ("[[Release v1.2]]", [("wikilink", "Release v1.2", "", "")]),  # 19
    ("[[C# Notes]]", [("wikilink", "C", " Notes", "")]),  # 20
    ("\\[[Target]] \\[\\[Target\\]\\] \\![[Log]]", [("wikilink", "Log", "", "")]),  # 21
    ("a <!-- [[Target]] --> b\n<!--\n[[Target]]\n\n[[Target]]\n-->", []),  # 22
    ("a <!-- open [[Target]]", [("wikilink", "Target", "", "")]),
    ("%% [[Target]] %%", [("wikilink", "Target", "", "")]),  # 23
    ("[[a]b]]", [("wikilink", "a]b", "", "")]),  # 24
    ("[[Target|a|b]]", [("wikilink", "Target", "", "a|b")]),  # 25
    ("[[]] [[ ]] [[|x]] [[|]] [[Target", []),  # 30
    ("[[Tar\nget]]", []),
    ("[[ Target ]]", [("wikilink", "Target", "", "")]),
    ("[[[Target]]]", [("wikilink", "Target", "", "")]),
]


def shapes(links: list[WrittenLink]) -> list[tuple[str, str, str, str]]:
    return [(link.syntax, link.target, link.subpath, link.display) for link in links]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_edge_cases(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert shapes(read_links(text).links) == expected


@pytest.mark.parametrize(
    ("text", "predicates", "reason"),
    [
        ("- requires [[Target]] (for login)", ["requires"], "for login"),  # 26
        ("requires:: [[Target]]", ["requires"], ""),
        ("[requires:: [[Target]]]", ["requires"], ""),
        ("it (requires:: [[Target]]) so", ["requires"], ""),
        ("- Depends on:: [[Target]], [[Log]]", ["depends_on", "depends_on"], ""),
        ("**Owner**:: [[Target]]", ["owner"], ""),
        ("- depends on [[Target]]", ["depends_on"], ""),
        ("- see [[Target]]", ["links_to"], ""),
        ("- the cache needs a new [[Target]]", ["links_to"], ""),
        ("- requires [[Target]] and more", ["links_to"], ""),
        ("requires [[Target]]", ["links_to"], ""),
        ("- ![[Target]]", ["embeds"], ""),
        ("std::vector [[Target]]", ["links_to"], ""),
    ],
)
def test_the_line_names_the_predicate(text: str, predicates: list[str], reason: str) -> None:
    links = read_links(text).links
    assert [link.predicate for link in links] == predicates
    assert links[0].reason == reason


@pytest.mark.parametrize(
    ("yaml", "expected", "warnings"),
    [
        ('up: "[[Target]]"', [("Target", "", "up")], []),  # 7
        ('up: ["[[Target|x]]", "[[Log]]"]', [("Target", "x", "up"), ("Log", "", "up")], []),
        ('up:\n  - "[[Target]]"\n  - "[[Log]]"\nnext: 1', [("Target", "", "up"), ("Log", "", "up")], []),
        ('a:\n  Part of: "[[Target]]"', [("Target", "", "part_of")], []),
        (
            "up: [[Target]]",
            [("Target", "", "up")],
            ["line 2: a link in front matter needs quotes; it was read as a link"],
        ),  # 8
        ('# up: "[[Target]]"\na: 1', [], []),
        ("a: 1", [], []),
    ],
)
def test_front_matter(yaml: str, expected: list[tuple[str, str, str]], warnings: list[str]) -> None:
    text = f"---\n{yaml}\n---\n[[Body]]\n"
    found = read_links(text)
    assert [(link.target, link.display, link.predicate) for link in found.links[:-1]] == expected
    assert found.links[-1].target == "Body" and found.warnings == warnings
    assert {link.syntax for link in found.links[:-1]} <= {"frontmatter"}


def test_broken_front_matter_is_no_body() -> None:  # 9
    text = '---\nup: [[[Target]]\n: "[[Log]]\n---\n[[Body]]'
    assert [link.target for link in read_links(text, has_front_matter=False).links] == ["Body"]


def test_dendron_has_the_label_first() -> None:
    assert shapes(read_links("[[label|target#h]] [[alone]]", dialect="dendron").links) == [
        ("wikilink", "target", "h", "label"),
        ("wikilink", "alone", "", ""),
    ]


def test_a_canvas_links_to_its_files_and_what_its_cards_link_to() -> None:  # 29
    canvas = """{"nodes": [
        {"id": "a", "type": "file", "file": "Sub/My Note.md", "subpath": "#Head"},
        {"id": "b", "type": "text", "text": "See [[Target|it]]\\nand `[[code]]` and [x](Log.md)"},
        {"id": "c", "type": "group", "label": "Sub/My Note.md"}, 7],
        "edges": [{"fromNode": "a", "toNode": "b", "label": "explains"}]}"""
    text = "Sub/My Note.md\n\nSee [[Target|it]]\nand `[[code]]` and [x](Log.md)\n\nSub/My Note.md\n\nexplains"
    links = read_canvas_links(text, canvas)
    assert [(link.line, *shape) for link, shape in zip(links, shapes(links), strict=True)] == [
        (1, "canvas", "Sub/My Note.md", "Head", ""),
        (3, "canvas", "Target", "", "it"),
        (4, "canvas", "Log.md", "", "x"),
    ]
    assert all(text[link.start : link.end] == link.raw for link in links)
    assert read_canvas_links("x", "[" * 100_000) == read_canvas_links("x", '{"nodes": 3}') == []


def test_arrows_from_file_to_file_are_links_named_by_their_label() -> None:  # 29
    nodes = [{"id": name, "type": "file", "file": f"{name}.md"} for name in ("A", "B", "C")]
    nodes.append({"id": "card", "type": "text", "text": "words"})
    edges = [
        {"fromNode": "A", "toNode": "B", "label": "Depends on"},
        {"fromNode": "B", "toNode": "C"},
        {"fromNode": "A", "toNode": "C", "fromEnd": "arrow", "toEnd": "none"},
        {"fromNode": "A", "toNode": "B", "fromEnd": "arrow", "label": "→"},
        {"fromNode": "A", "toNode": "A", "toEnd": "none"},
        {"fromNode": "card", "toNode": "A", "label": "no file"},
        {"fromNode": "A", "toNode": "gone"},
    ]
    canvas = json.dumps({"nodes": nodes, "edges": edges})
    text = read_canvas(canvas)
    links = [link for link in read_canvas_links(text, canvas) if link.source]
    assert {(link.source, link.predicate, link.target, link.raw) for link in links} == {
        ("A.md", "depends_on", "B.md", "Depends on"),
        ("B.md", "links_to", "C.md", "C.md"),
        ("C.md", "links_to", "A.md", "A.md"),
        ("A.md", "links_to", "B.md", "→"),
        ("B.md", "links_to", "A.md", "→"),
        ("A.md", "links_to", "A.md", "A.md"),
    }
    assert all(text[link.start : link.end] == link.raw and link.syntax == "canvas" for link in links)


@pytest.mark.parametrize(
    "piece",
    [
        "[[",
        "x[[",
        "]]",
        "![",
        "[](",
        "](a",
        "` `",
        "``",
        "<!--",
        "[[a]] ",
        "\\",
        "> ",
        "- ",
        "[a:: ",
        "a:: ",
        "(a ",
        "    ",
    ],
)
def test_hostile_lines_are_read_to_their_end(piece: str) -> None:  # 30, 31; a quadratic reader takes minutes
    text = piece * (200_000 // len(piece)) + "\n\nwords [[a]]"
    links = read_links(text).links
    assert all(text[link.start : link.end] == link.raw for link in links)
    assert [link.target for link in links[-1:]] == ([] if piece in ("<!--", "``") else ["a"])


def test_a_line_of_one_megabyte_is_read_in_less_than_a_second() -> None:  # 31
    text = ("[[" + "x" * 18) * 50_000
    started = time.process_time()
    assert read_links(text).links == [] and len(text) == 1_000_000
    assert [link.target for link in read_links(text + "]]").links] == ["x" * 18]
    assert time.process_time() - started < 2  # of two readings, on a busy machine


PIECES = st.sampled_from(
    ["[[", "]]", "|", "#", "`", "``", "```", "~~~", "\n", "\n\n", "    ", "- ", "> ", "![", "[", "](", ")", "<!--",
     "-->", "\\", "a", " ", "b c", "::", "é", "😀", "---\n", "(", '"']
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_links_lie_in_order_and_slice_back(text: str) -> None:
    links = read_links(text).links
    for link in links:
        assert text[link.start : link.end] == link.raw
        assert link.line == text.count("\n", 0, link.start) + 1
        assert link.target or link.subpath
    assert [link.start for link in links] == sorted(link.start for link in links)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_a_mask_keeps_places_and_lines(text: str) -> None:
    masked = mask_code(text)
    assert len(masked) == len(text)
    assert all(a in (b, FILLER) and (b != "\n" or a == "\n") for a, b in zip(masked, text, strict=True))
