"""A story of four people, as the tables that each release line of microsoft/graphrag would write. Our own words.

What changes through the releases: names of files (create_final_ before 2.0), the table nodes (before 2.0), `name` for
`title`, `document_ids` for `document_id`, attributes, metadata and raw_data, text or whole numbers for communities, who
lists the members of a community and names its parent, rank_explanation for rating_explanation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

TEXTS = (
    "Ada keeps the lighthouse with Ben at night. Ben mends the lamp that Cem built.",
    "Cem lives in the harbour. Ada writes to Cem on Sundays. Dora sails alone.",
)
UNITS = ("unit-a", "unit-b")
TITLES = {"ADA": "a" * 32, "BEN": "b" * 32, "CEM": "c" * 32, "DORA": "d" * 32}
UNITS_OF = {"ADA": [*UNITS], "BEN": ["unit-a"], "CEM": [*UNITS], "DORA": ["unit-b"]}
# Dangling: the last one leads to nobody.
RELATIONSHIPS = (
    ("ADA", "BEN", "Ada keeps the lighthouse with Ben", 8.0, ["unit-a"]),
    ("BEN", "CEM", "Ben mends what Cem built", 5.0, ["unit-a"]),
    ("ADA", "CEM", "Ada writes to Cem", 6.0, ["unit-b"]),
    ("CEM", "HARBOUR", "Cem lives in the harbour", 4.0, ["unit-b"]),
)
# community, level, parent, members
COMMUNITIES = ((0, 0, -1, ("ADA", "BEN", "CEM")), (1, 1, 0, ("ADA", "BEN")), (2, 1, 0, ("CEM",)))
VERSIONS = ("0.2", "1.0", "1.2", "2.0", "3.0")


def write_story(folder: Path, version: str, *, without: tuple[str, ...] = ()) -> Path:
    """The folder, with the tables of a version of VERSIONS; `without` some of them."""
    folder.mkdir(parents=True)
    is_old = version < "2"
    for name, rows in _list_tables(version).items():
        if name not in without:
            path = folder / (f"create_final_{name}.parquet" if is_old else f"{name}.parquet")
            pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    return folder


def _list_tables(version: str) -> dict[str, list[dict[str, Any]]]:
    tables = {
        "documents": [_document(version)],
        "text_units": [_text_unit(version, n) for n in range(len(UNITS))],
        "entities": [_entity(version, n, title) for n, title in enumerate(TITLES)],
        "relationships": [_relationship(version, n) for n in range(len(RELATIONSHIPS))],
        "communities": [_community(version, *row) for row in COMMUNITIES],
        "community_reports": [_report(version, *row) for row in COMMUNITIES],
        "covariates": [_covariate()],
    }
    if version < "2":
        tables["nodes"] = [_node(version, n, title, level) for level in (0, 1) for n, title in enumerate(TITLES)]
    return tables


def _node(version: str, n: int, title: str, level: int) -> dict[str, Any]:
    nobody = None if version == "0.2" else -1
    community = next((number for number, at, _, members in COMMUNITIES if at == level and title in members), nobody)
    row = {"id": TITLES[title], "human_readable_id": n, "title": title, "level": level, "degree": 1, "x": 0, "y": 0}
    return row | {"community": _number(version, community)}


def _number(version: str, community: int | None) -> int | str | None:
    return str(community) if version == "0.2" and community is not None else community


def _document(version: str) -> dict[str, Any]:
    row: dict[str, Any] = {"id": "doc-1", "title": "lighthouse.txt", "text_unit_ids": [*UNITS]}
    text = "\n\n".join(TEXTS)
    if version == "0.2":
        return row | {"raw_content": text}
    row |= {"human_readable_id": 1, "text": text}
    if version < "2":
        return row | {"attributes": {"author": "us"}}
    extra = {"metadata": {"author": "us"}} if version < "3" else {"raw_data": {"author": "us"}}
    return row | {"creation_date": "2024-05-06 07:08:09 +0000"} | extra


def _text_unit(version: str, n: int) -> dict[str, Any]:
    held = [TITLES[title] for title, units in UNITS_OF.items() if UNITS[n] in units]
    row = {"id": UNITS[n], "text": TEXTS[n], "n_tokens": 16, "entity_ids": held, "relationship_ids": [f"r{n}"]}
    home: dict[str, Any] = {"document_id": "doc-1"} if version >= "3" else {"document_ids": ["doc-1"]}
    return row | home | ({} if version == "0.2" else {"human_readable_id": n + 1, "covariate_ids": []})


def _entity(version: str, n: int, title: str) -> dict[str, Any]:
    row = {
        "id": TITLES[title], "human_readable_id": n, "type": "PERSON", "description": f"{title.title()} is a person.",
        "text_unit_ids": UNITS_OF[title],
    }  # fmt: skip
    if version == "0.2":
        return {"name": title, "description_embedding": [0.5, 0.5], "graph_embedding": None} | row
    return {"title": title} | row | ({"frequency": 1, "degree": 1, "x": 0.0, "y": 0.0} if version >= "2" else {})


def _relationship(version: str, n: int) -> dict[str, Any]:
    source, target, description, weight, units = RELATIONSHIPS[n]
    row = {"id": f"r{n}", "source": source, "target": target, "description": description, "weight": weight,
           "text_unit_ids": units}  # fmt: skip
    if version == "0.2":
        return row | {"human_readable_id": str(n), "rank": 2, "source_degree": 1, "target_degree": 1}
    return row | {"human_readable_id": n, "combined_degree": 2}


def _community(version: str, number: int, level: int, parent: int, members: tuple[str, ...]) -> dict[str, Any]:
    row: dict[str, Any] = {"level": level, "title": f"Community {number}", "relationship_ids": ["r0"],
                           "text_unit_ids": [*UNITS]}  # fmt: skip
    if version == "0.2":
        return {"id": str(number), "raw_community": str(number)} | row
    row |= {"id": f"community-{number}", "human_readable_id": number, "community": number, "period": "2024-05-06",
            "size": len(members)}  # fmt: skip
    if version >= "1.2":
        row |= {"parent": parent, "entity_ids": [TITLES[title] for title in members]}
    return row | ({"children": [1, 2] if number == 0 else []} if version >= "2" else {})


def _report(version: str, number: int, level: int, parent: int, members: tuple[str, ...]) -> dict[str, Any]:
    full = f"# Report {number}\n\nAda keeps the lighthouse [Data: Entities (0); Relationships (0, 3)]."
    why = "rating_explanation" if version >= "2" else "rank_explanation"
    findings = [{"explanation": "They share the work.", "summary": "The lighthouse"}]
    row = {"id": f"report-{number}", "community": _number(version, number), "level": level, "title": f"Report {number}",
           "summary": "About the lighthouse.", "full_content": full, "rank": 7.0, why: "It matters.",
           "findings": findings, "full_content_json": "{}"}  # fmt: skip
    return row | ({} if version == "0.2" else {"human_readable_id": number, "period": "2024-05-06"})


def _covariate() -> dict[str, Any]:
    return {
        "id": "claim-1", "human_readable_id": 1, "covariate_type": "claim", "type": "WORK", "description": "Ada works.",
        "subject_id": "ADA", "object_id": "NONE", "status": "TRUE", "start_date": None, "end_date": None,
        "source_text": "Ada keeps the lighthouse", "text_unit_id": "unit-a",
    }  # fmt: skip
