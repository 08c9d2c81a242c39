"""HTML, titles and header fields that are not reached through tests/index/test_documents.py."""

from __future__ import annotations

import pytest

from graphrag.reading.markup import find_title, read_header_fields, read_html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>a<p>b", "a\n\nb"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>d", "- a\n  - b\n- c\n\nd"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        ("<nav>menu</nav><form>x</form><p>y", "y"),
        ("<div>a<span> b</span></div>c", "a b\n\nc"),
        ("<h1></h1><p>x", "x"),
        ("a<!-- c -->b &lt;tag&gt;", "ab <tag>"),
    ],
)
def test_html(html: str, text: str) -> None:
    assert read_html(html).text == text


@pytest.mark.parametrize("html", ["<" * 100_000, "<p>x" * 30_000, "<li>" * 30_000, "</div>" * 30_000, "<td>" * 30_000])
def test_hostile_html_ends(html: str) -> None:
    assert not read_html(html).is_too_deep


def test_depth() -> None:
    assert read_html("<div>" * 499 + "x").text == "x"
    assert read_html("<div>" * 501 + "x").is_too_deep


def test_titles() -> None:
    assert find_title("text\n\n# Late\n", "md") == "Late"
    assert find_title("## A\n\n## B\n", "md") == ""
    assert find_title("", "md") == ""


def test_prose_is_no_header() -> None:
    assert read_header_fields("Note: this is prose.\n\nMore.") == {}
    assert read_header_fields(":author: Ana\n\ntext") == {"author": "Ana"}
