"""Search on HotpotQA, two-hop questions on paragraphs of Wikipedia: methods in one table, and local without its parts.

    python -m tests.bench.bench_hotpot ../shared/data /tmp/hotpot [--ablations]

Builds the index in the folder (two minutes) unless it is there, embedded, with no model asked. A part is taken out by
replacing its function or weight in the search rooms for the time of a measurement: the product has no switches for it.
The questions are 100 of the train split with the 994 paragraphs that go with them; gold are two paragraphs each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

from graphrag.pipeline import run_pipeline
from graphrag.progress import QuietProgress
from graphrag.render_evaluation import render_evaluation
from graphrag.search import local_search, neighborhood
from graphrag.search.evaluation import evaluate_search, read_questions
from graphrag.search.local_search import search_local
from graphrag.search.measures import bootstrap_interval, measure_documents
from graphrag.search.neighborhood import Ranks
from graphrag.settings import load_settings
from graphrag.store import open_index

K = 5
fuse_passages, rank_neighborhood = local_search._fuse_passages, neighborhood.rank_neighborhood


def write_project(data: Path, folder: Path) -> Path:
    """Paragraphs as records of one file, questions beside the settings. Returns the file of questions."""
    (folder / "data" / "input").mkdir(parents=True, exist_ok=True)
    (folder / "settings.toml").write_text('[input]\ndir = "data/input"\n', encoding="utf-8")
    paragraphs = pl.read_parquet(data / "qa" / "hotpot_train100_corpus.parquet")
    with (folder / "data" / "input" / "hotpot.jsonl").open("w", encoding="utf-8") as file:
        for row in paragraphs.iter_rows(named=True):
            record = {"id": str(row["doc_id"]), "title": row["title"], "text": row["text"]}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    questions = folder / "questions.jsonl"
    with questions.open("w", encoding="utf-8") as file:
        for row in pl.read_parquet(data / "qa" / "hotpot_train100_questions.parquet").iter_rows(named=True):
            gold = [f"hotpot.jsonl#{number}" for number in row["gold_doc_ids"]]
            asked = {"id": row["id"], "question": row["question"], "gold_documents": gold, "answers": [row["answer"]]}
            file.write(json.dumps(asked, ensure_ascii=False) + "\n")
    return questions


def _fuse_what_there_is(lists: Sequence[Sequence[str]], **knobs: Any) -> dict[str, float]:
    """An empty list is no list: the next hop counts as one of those that are left."""
    return fuse_passages([ranked for ranked in lists if ranked], **knobs)


ABLATIONS: dict[str, list[tuple[Any, str, Any]]] = {
    "as it is": [],
    "no graph (no walk)": [
        (local_search, "rank_neighborhood", lambda *_: Ranks({}, {})),
        (local_search, "_fuse_passages", _fuse_what_there_is),
    ],
    "no relationships in the walk": [
        (
            local_search,
            "rank_neighborhood",
            lambda around, *rest: rank_neighborhood(around._replace(edges=[]), *rest),
        )
    ],
    "no fact seeds": [(local_search, "N_FACT_SEEDS", 0)],
    "no name seeds": [(local_search, "NAME_WEIGHT", 0.0)],
    "no passage seeds": [(local_search, "N_PASSAGE_SEEDS", 0)],
    "no hub rule": [(neighborhood, "_without_hubs", lambda index, ids, *, keep: list(ids))],
    "one hop": [(neighborhood, "MAX_HOPS", 1)],
    "no own documents": [(local_search, "rank_own_documents", lambda *_: [])],
    "no named documents": [(local_search, "find_named_documents", lambda *_: [])],
    "no graph, no own documents": [
        (local_search, "rank_neighborhood", lambda *_: Ranks({}, {})),
        (local_search, "_fuse_passages", _fuse_what_there_is),
        (local_search, "rank_own_documents", lambda *_: []),
    ],
}


@contextmanager
def without(part: str) -> Iterator[None]:
    """The search rooms without a part; sources only, no answer is composed of them, which takes most of the time."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(local_search, "_choose_relevant", lambda *_: ([], [])))
        for room, name, value in ABLATIONS[part]:
            stack.enter_context(patch.object(room, name, value))
        yield


def measure_ablations(output: Path, questions: Path) -> pl.DataFrame:
    """Columns part, recall, all_gold, and the difference in recall from `as it is` with its interval."""
    rows: list[tuple[Any, ...]] = []
    whole: pl.Series | None = None
    with open_index(output) as index:
        asked = read_questions(questions, index)
        for part in ABLATIONS:
            with without(part):
                found = [search_local(index, q.question, top=20).sources for q in asked]
            scores = [
                measure_documents(list(dict.fromkeys(s.document for s in sources))[:K], question.documents)
                for sources, question in zip(found, asked, strict=True)
            ]
            recall = pl.Series([score["recall"] for score in scores], dtype=pl.Float64())
            whole = recall if whole is None else whole
            difference = (recall - whole).to_numpy()
            low, high = bootstrap_interval(difference)
            rows.append((part, recall.mean(), sum(s["all_gold"] or 0 for s in scores) / len(scores), low, high,
                         int((difference > 0).sum()), int((difference < 0).sum())))  # fmt: skip
            print(f"| {part} | {rows[-1][1]:.3f} | {rows[-1][2]:.3f} | {difference.mean():+.3f} "
                  f"[{low:+.3f}, {high:+.3f}] | {rows[-1][5]} / {rows[-1][6]} |", flush=True)  # fmt: skip
    names = ["part", "recall", "all_gold", "low", "high", "better", "worse"]
    return pl.DataFrame(rows, schema=names, orient="row")


def main(data: Path, folder: Path, *, ablations: bool) -> None:
    questions = write_project(data, folder)
    settings, _ = load_settings(folder)
    output = folder / settings.output.dir
    if not (output / "current").exists():
        run_pipeline(settings, folder, progress=QuietProgress())
    if ablations:
        print(
            f"| local | recall@{K} | all-gold@{K} | difference in recall | better / worse |\n|---|---:|---:|---|---:|"
        )
        measure_ablations(output, questions)
        return
    with open_index(output) as index:
        print(render_evaluation(evaluate_search(index, read_questions(questions, index), k=K)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), ablations="--ablations" in sys.argv)
