"""data/sample as a knowledge bank: its relations, and a search that hands over what the flat list does not hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag.relations.events import RELATION_TYPES
from graphrag.relations.leaks import find_leak
from graphrag.search import answer_question
from graphrag.search.answer import Answer
from graphrag.search.entries.folded_entries import Fold
from graphrag.store import Index, open_index

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"


@pytest.fixture(scope="module")
def sample(sample_index: Path) -> Iterator[Index]:
    with open_index(sample_index) as opened:
        yield opened


def ask(index: Index, question: str, mode: str, *, fold: Fold | None) -> Answer:
    top = 8 if fold else 20  # passages: eight documents at least
    return answer_question(index, question, mode=mode, level=1, top=top, budget_tokens=2000, fold=fold)


def test_it_holds_relations_that_people_wrote_with_notes_that_do_not_leak(sample: Index) -> None:
    rows = sample.rows(
        "select r.type, r.note, r.is_leak, s.text, t.text, t.title, t.path from entry_relations r "
        "join documents s on s.id = r.from_document_id join documents t on t.id = r.to_document_id "
        "where r.origin = 'authored'"
    )
    assert len(rows) >= 25
    types = Counter(row[0] for row in rows)
    assert set(types) <= set(RELATION_TYPES) and len(types) >= 6
    for _, note, is_leak, from_text, to_text, title, path in rows:
        assert note and not is_leak
        assert find_leak(note, from_text=from_text, to_text=to_text, to_names=(title, path, Path(path).stem)) == ""


@pytest.mark.parametrize(
    ("question", "needed", "kind", "relation"),
    [
        ("INC-104: Logout storm", "decisions/ADR-028.md", "folded", "derived_from"),
        ("INC-104: Logout storm", "runbooks/redis-failover.md", "neighbor", "produces"),
        ("Login is slow or failing", "runbooks/restart-internal-resolver.md", "folded", "precedes"),
        ("INC-226: Sealed Vault", "services/internal-resolver.md", "neighbor", "clarifies"),
    ],
)
def test_what_lies_outside_of_the_best_eight_is_a_pointer_or_a_neighbor(
    sample: Index, question: str, needed: str, kind: str, relation: str
) -> None:
    flat = ask(sample, question, "basic", fold=None)
    assert needed not in list(dict.fromkeys(source.path for source in flat.sources))[:8]
    folded = ask(sample, question, "basic", fold=Fold())
    assert (needed, kind, relation) in {
        (each.path, each.kind, each.relation)
        for source in folded.sources
        for each in (source.folded.related if source.folded else ())
    }


@pytest.mark.parametrize("mode", ["basic", "local"])
def test_nothing_of_the_best_eight_is_lost(sample: Index, mode: str) -> None:
    questions = [json.loads(line)["question"] for line in (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines()]
    for question in questions:
        flat = list(dict.fromkeys(source.document for source in ask(sample, question, mode, fold=None).sources))[:8]
        folded = ask(sample, question, mode, fold=Fold())
        related = [each for source in folded.sources if source.folded for each in source.folded.related]
        shown = {source.document for source in folded.sources} | {e.id for e in related if e.kind == "folded"}
        if any(source.folded for source in folded.sources):
            assert set(flat) <= shown, question
        else:
            assert [source.document for source in folded.sources] == [
                source.document for source in ask(sample, question, mode, fold=None).sources
            ][:8], question
