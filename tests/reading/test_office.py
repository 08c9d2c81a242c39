"""pdf, docx and pptx made here come in through the extra `documents`, offline."""

from __future__ import annotations

import io
import warnings
import zipfile

import pytest

from graphrag.reading.office import expanded_bytes, read_office

pytest.importorskip("kreuzberg")


def make_pdf(*paragraphs: str) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import fpdf

        pdf = fpdf.FPDF()
        pdf.add_page()
        pdf.set_font("helvetica", size=12)
        for paragraph in paragraphs:
            pdf.multi_cell(0, 8, paragraph, new_x="LMARGIN", new_y="NEXT")
            pdf.ln(6)
        return bytes(pdf.output())


def test_pdf_keeps_its_first_line() -> None:
    found = read_office(make_pdf("Auth Service depends on Redis.", "It is owned by Ana."), "pdf", max_bytes=1e7)
    assert found.reason == ""
    assert [line for line in found.text.splitlines() if line] == [
        "Auth Service depends on Redis.",
        "It is owned by Ana.",
    ]


def test_pdf_without_text_is_empty_and_junk_is_unreadable() -> None:
    assert read_office(make_pdf(), "pdf", max_bytes=1e7).text.strip() == ""
    assert read_office(b"%PDF-junk", "pdf", max_bytes=1e7).reason == "unreadable_file"


def test_docx_with_heading_and_table() -> None:
    import docx

    document = docx.Document()
    document.add_heading("Runbook", 1)
    document.add_paragraph("Auth Service depends on Redis.")
    table = document.add_table(2, 2)
    table.cell(0, 0).text, table.cell(1, 1).text = "service", "redis"
    buffer = io.BytesIO()
    document.save(buffer)
    found = read_office(buffer.getvalue(), "docx", max_bytes=1e7)
    assert found.text.startswith("# Runbook\n\nAuth Service depends on Redis.\n\n| service |")


def make_pptx(title: str, text: str) -> bytes:
    import pptx

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = title
    slide.placeholders[1].text = text
    buffer = io.BytesIO()
    show.save(buffer)
    return buffer.getvalue()


def test_pptx() -> None:
    shown = read_office(make_pptx("Plan", "Redis backs the Auth Service"), "pptx", max_bytes=1e7)
    assert shown.text.strip() == "## Plan\n\nRedis backs the Auth Service"


def bomb(n_bytes: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("word/document.xml", b"0" * n_bytes)
    return buffer.getvalue()


def test_expanded_size_is_counted_even_where_the_directory_lies() -> None:
    data = bomb(3_000_000)
    assert expanded_bytes(data, limit=1e9) == 3_000_000
    lying = data.replace((3_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lying != data
    assert expanded_bytes(lying, limit=1e9) == 3_000_000
    assert read_office(lying, "docx", max_bytes=1e6).reason == "too_large"


def test_damaged_container() -> None:
    assert read_office(b"PK\x03\x04" + bytes(50), "docx", max_bytes=1e6).reason == "unreadable_file"
    assert read_office(bomb(1000)[:80], "docx", max_bytes=1e6).reason == "unreadable_file"
