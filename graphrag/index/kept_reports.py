"""Reports of last night without a model, kept in the memo: a night writes those of communities that have changed.

A report follows from its community's members, their order by PageRank, its relationships with the sentences that state
them, and from the reports of its children; of the corpus it reads nothing else. Its key is a hash of these rows, but
for what only the row of community_reports takes from them: that row is made anew (report_rows.finish_row).

A neighbour of reports.py. Does not: write a report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import polars as pl

from graphrag.digest import Sentence
from graphrag.index.kept_frames import keep_frames, recall_frames
from graphrag.index.report_corpus import Corpus
from graphrag.index.report_rows import Finding, Report
from graphrag.memo import Memo, memo_key

MEMO_KIND = "reports"
SCHEMA = {"key": pl.String(), "report": pl.Binary()}


def recall_reports(memo: Memo | None, rules: str) -> dict[str, bytes]:
    """Key -> report as JSON. `rules`: of all that decides on a report beside the rows of its community."""
    frames, _ = recall_frames(memo, MEMO_KIND, rules)
    return dict(frames["reports"].iter_rows()) if frames else {}


def keep_reports(memo: Memo | None, rules: str, reports: Mapping[str, bytes]) -> None:
    frame = pl.DataFrame({"key": list(reports), "report": list(reports.values())}, schema=SCHEMA)
    keep_frames(memo, MEMO_KIND, rules, {"reports": frame})


def encode_report(report: Report) -> bytes:
    return orjson.dumps(report, default=list)


def decode_report(data: bytes) -> Report:
    fields = orjson.loads(data)
    fields["findings"] = [Finding(*finding) for finding in fields["findings"]]
    for name in ("quotes", "digest"):
        fields[name] = [
            Sentence(text, document, start, end, tuple(ids), weight)
            for text, document, start, end, ids, weight in fields[name]
        ]
    return Report(**fields)


def key_reports(rows: Mapping[int, Mapping[str, Any]], corpus: Corpus) -> dict[int, str]:
    """Community -> the key of its report. `rows`: of communities, by number."""
    stated = {relationship: _key_relationship(relationship, corpus) for relationship in corpus.relationships}
    ranks = sorted(corpus.entities.values(), key=lambda entity: (-entity["pagerank"], entity["title"]))
    places = {entity["id"]: place for place, entity in enumerate(ranks)}
    members = {
        entity["id"]: orjson.dumps({name: value for name, value in entity.items() if name != "pagerank"}).decode()
        for entity in ranks
    }
    keys: dict[int, str] = {}
    for number, row in sorted(rows.items(), key=lambda item: -item[1]["level"]):  # children before their parents
        children = sorted(row["children"], key=lambda child: (-rows[child]["size"], child))
        keys[number] = memo_key(
            row["title"],
            orjson.dumps([row["size"], row["entity_ids"], row["relationship_ids"]]).decode(),
            *(members[entity] for entity in sorted(row["entity_ids"], key=places.__getitem__)),
            *(stated[relationship] for relationship in row["relationship_ids"]),
            *(keys[child] for child in children),
        )
    return keys


def _key_relationship(relationship: str, corpus: Corpus) -> str:
    """Of its row, its sentences, their documents, and the text units that hold them."""
    parts: list[object] = [corpus.relationships[relationship]]
    for quote in corpus.quotes_of.get(relationship, ()):
        document = corpus.documents[quote.document_id]
        unit = corpus.unit_of.get((quote.document_id, quote.start, quote.end), "")
        parts += [
            list(quote), document["path"], document["title"], unit, corpus.unit_numbers.get(unit),
        ]  # fmt: skip
    return memo_key(orjson.dumps(parts).decode())
