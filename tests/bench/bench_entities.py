"""Entity spans against people's labels, beside plain spaCy: precision, recall and F1.

    python tests/bench/bench_entities.py ../shared/data/ie [documents]

Re-DocRED dev (Wikipedia abstracts) and WNUT17 dev (noisy posts). Dates and numbers are no entities here; a span counts
when both ends are right. `typed` counts it only with the right type (person, location, organization, else other).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from graphrag import ids, tables
from graphrag.index import nlp_extraction
from graphrag.nlp import lexicon, parsing

Span = tuple[int, int, int, str]  # document, start, end, type
COARSE = {"person": "person", "location": "location", "organization": "organization", "group": "location"}
REDOCRED = {"PER": "person", "LOC": "location", "ORG": "organization", "MISC": "other"}
WNUT17 = {"person": "person", "location": "location", "corporation": "organization", "group": "organization"}


def read_redocred(folder: Path, n: int) -> tuple[list[str], set[Span]]:
    texts: list[str] = []
    gold: set[Span] = set()
    for number, row in enumerate(pl.read_parquet(folder / "redocred_dev.parquet").head(n).iter_rows(named=True)):
        sentences = json.loads(row["sents_json"])
        text, starts = join_tokens(sentences)
        texts.append(text)
        for entity in json.loads(row["entities_json"]):
            for mention in entity:
                if mention["type"] in REDOCRED:
                    first, last = mention["pos"]
                    tokens = starts[mention["sent_id"]]
                    end = tokens[last - 1] + len(sentences[mention["sent_id"]][last - 1])
                    gold.add((number, tokens[first], end, REDOCRED[mention["type"]]))
    return texts, gold


def read_wnut17(folder: Path, n: int) -> tuple[list[str], set[Span]]:
    texts: list[str] = []
    gold: set[Span] = set()
    for number, (tokens, labels) in enumerate(pl.read_parquet(folder / "wnut17_dev.parquet").head(n * 2).iter_rows()):
        text, (starts,) = join_tokens([tokens])
        texts.append(text)
        for first, last, label in bio_spans(labels):
            gold.add((number, starts[first], starts[last] + len(tokens[last]), WNUT17.get(label, "other")))
    return texts, gold


def join_tokens(sentences: Sequence[Sequence[str]]) -> tuple[str, list[list[int]]]:
    """Tokens set side by side as people write them; with the offset of each."""
    text, starts = "", []
    for tokens in sentences:
        starts.append([])
        for token in tokens:
            if text and not (token in {".", ",", ";", ":", "!", "?", ")", "'s", "%"} or text.endswith("(")):
                text += " "
            starts[-1].append(len(text))
            text += token
    return text, starts


def bio_spans(labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    first = None
    for i, label in enumerate([*labels, "O"]):
        if first is not None and not label.startswith("I-"):
            yield first, i - 1, labels[first][2:]
            first = None
        if label.startswith("B-"):
            first = i


def spacy_spans(texts: Sequence[str]) -> set[Span]:
    found = set()
    for number, (text, parse) in enumerate(zip(texts, parsing.parse_sentences(texts), strict=True)):
        for first, last, label in parse.entities:
            if label in lexicon.TYPE_OF_LABEL:
                while text[parse.starts[first] : parse.ends[first]].lower() in {"the", "a"} and first + 1 < last:
                    first += 1
                kind = COARSE.get(lexicon.TYPE_OF_LABEL[label], "other")
                found.add((number, parse.starts[first], parse.ends[last - 1], kind))
    return found


def our_spans(texts: Sequence[str], model: str) -> set[Span]:
    documents, units = [], []
    for number, text in enumerate(texts):
        document = ids.document_id(str(number))
        documents.append(
            {
                "id": document,
                "human_readable_id": number,
                "title": str(number),
                "text": text,
                "text_unit_ids": [],
                "creation_date": "",
                "raw_data": None,
                "path": str(number),
                "kind": "txt",
                "n_tokens": 1,
                "content_sha256": ids.content_sha256(text),
                "metadata": "{}",
            }
        )
        units.append(
            {
                "id": ids.text_unit_id(document, text, 0),
                "human_readable_id": number,
                "text": text,
                "n_tokens": 1,
                "document_id": document,
                "entity_ids": [],
                "relationship_ids": [],
                "covariate_ids": [],
                "start_char": 0,
                "end_char": len(text),
                "heading_path": [],
            }
        )
    extraction = nlp_extraction.extract_mentions(
        tables.TEXT_UNITS.from_rows(units), tables.DOCUMENTS.from_rows(documents), model=model, known_names={},
        cooccurrence=False,
    )  # fmt: skip
    number_of = {row["id"]: number for number, row in enumerate(documents)}
    mentions = extraction.entity_mentions.select("document_id", "start_char", "end_char", "type")
    return {(number_of[d], start, end, COARSE.get(kind, "other")) for d, start, end, kind in mentions.iter_rows()}


def report(name: str, found: set[Span], gold: set[Span]) -> None:
    cells = [f"{name:24}"]
    for title, cut in (("spans", 3), ("typed", 4)):
        ours, theirs = {span[:cut] for span in found}, {span[:cut] for span in gold}
        precision = len(ours & theirs) / max(1, len(ours))
        recall = len(ours & theirs) / max(1, len(theirs))
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        cells.append(f"{title} P {precision:.3f} R {recall:.3f} F1 {f1:.3f}")
    print("  ".join(cells))


def main() -> None:
    folder, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    for name, (texts, gold) in {"Re-DocRED": read_redocred(folder, n), "WNUT17": read_wnut17(folder, n)}.items():
        print(f"{name}: {len(texts)} documents, {len(gold)} spans")
        report("  plain spaCy", spacy_spans(texts), gold)
        report("  ours, spacy", our_spans(texts, "spacy"), gold)
        report("  ours, lite", our_spans(texts, "lite"), gold)


if __name__ == "__main__":
    main()
