"""A report of more than the documents that are shown: what is left of it."""

from __future__ import annotations

from typing import Any

from graphrag.search.rows import Report, cut_report

CONTENT = """# Redis and Auth

Six entities. Redis fell over. [Data: Sources (1)] Auth waited. [Data: Sources (2); Relationships (7)] Both are known.

## Load

Load rose. [Data: Relationships (7)] Redis restarted again. [Data: Sources (1); Relationships (8)]"""


def cite(dataset: str, number: int, document: str | None) -> dict[str, Any]:
    return {"ref": f"{dataset} ({number})", "kind": "x", "id": f"{dataset}{number}", "human_readable_id": number,
            "document_id": document, "start": 0, "end": 1, "quote": "x"}  # fmt: skip


def test_only_statements_that_rest_on_the_documents_are_left() -> None:
    cited = [
        cite("Sources", 1, "a"), cite("Sources", 2, "b"), cite("Relationships", 7, "a"), cite("Relationships", 7, "b"),
        cite("Relationships", 8, "a"), cite("Entities", 3, None),
    ]  # fmt: skip
    report = Report("r", 5, 5, 0, "Redis and Auth", "Six entities. Redis fell over.", CONTENT, 4.0, cited, 6, "llm")
    cut = cut_report(report, {"a"})
    assert cut.full_content == (
        "# Redis and Auth\n\nRedis fell over. [Data: Sources (1)] "
        "Redis restarted again. [Data: Sources (1); Relationships (8)]"
    )
    assert cut.summary == "Redis fell over. [Data: Sources (1)]"
    assert {row["document_id"] for row in cut.citations} == {"a"}
    assert cut_report(report, {"c"}).full_content == "# Redis and Auth"
