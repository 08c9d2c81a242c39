"""Search on HotpotQA, two-hop questions on paragraphs of Wikipedia: `graphrag evaluate` on an index made for it.

    python -m tests.bench.bench_hotpot ../shared/data /tmp/hotpot

Builds the index in the folder (two minutes) unless it is there, embedded, with no model asked. The questions are 100 of
the train split with the 994 paragraphs that go with them; gold are two paragraphs each. The same with parts of local
search taken out: bench_ablations.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl

from graphrag.pipeline import run_pipeline
from graphrag.progress import QuietProgress
from graphrag.render.evaluation import render_evaluation
from graphrag.search.evaluation.evaluation import evaluate_search, read_questions
from graphrag.settings_file import load_settings
from graphrag.store import open_index


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


def main(data: Path, folder: Path) -> None:
    questions = write_project(data, folder)
    settings, _ = load_settings(folder)
    output = folder / settings.output.dir
    if not (output / "current").exists():
        run_pipeline(settings, folder, progress=QuietProgress())
    with open_index(output) as index:
        print(render_evaluation(evaluate_search(index, read_questions(questions, index))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
