"""The sample indexed with a scripted model that knows the gold edges: what search finds when extraction is as good.

The script answers a passage as a good model does (prompts/extract_graph.md): with the entities of data/sample/gold.json
that it names, and the edges whose quote stands in it, under the names of the gold file without what tells namesakes
apart. No reports are asked for. Vectors are those of the embedded model.

Does not: know a question.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphrag.llm import CallLedger
from graphrag.llm.chat import ChatRequest
from graphrag.llm.replay import ScriptedLlm
from graphrag.memo import Memo
from graphrag.pipeline import run_pipeline
from graphrag.settings import Settings
from graphrag.settings_file import load_settings
from tests.gold import Gold, bare_name, load_gold
from tests.index.model_rows import passage_of

ROOT = Path(__file__).resolve().parent.parent
GOLD = ROOT / "data" / "sample" / "gold.json"


def index_with_gold_edges(folder: Path) -> Path:
    """Indexes data/sample into a folder; returns its output folder."""
    fixed = [f"output.dir={folder / 'output'}", f"cache.dir={folder / 'cache'}", "llm.model=scripted"]
    settings, _ = load_settings(ROOT, overrides=[*fixed, "reports.min_report_size=1000"], environ={})
    gold = load_gold(GOLD)

    def open_model(settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None) -> ScriptedLlm:
        return ScriptedLlm(lambda request: answer_passage(request, gold), memo=memo, ledger=ledger)

    run_pipeline(settings, ROOT, open_model=open_model)
    return folder / "output"


def answer_passage(request: ChatRequest, gold: Gold) -> str:
    """Records of the gold entities that the passage names, and of the gold edges that it states, each with the
    sentences that overlap its quote."""
    if request.role != "extract":
        return "NONE"
    types = {entity["name"]: entity["type"] for entity in gold["entities"]}
    sentences = {
        int(found[1]): _flat(found[2])
        for found in re.finditer(r"(?ms)^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", passage_of(request))
    }
    entities = list_named(list(sentences.values()), gold)
    relations: list[list[Any]] = []
    for edge in gold["edges"]:
        quote = _flat(edge["quote"])
        stated = [number for number, text in sentences.items() if text and (text in quote or quote in text)]
        if not stated:
            continue
        ends = [bare_name(edge[end]) for end in ("source", "target")]
        entities += [
            ["E", name, types.get(edge[end], ""), ""] for name, end in zip(ends, ("source", "target"), strict=True)
        ]
        relations.append(["R", ends[0], edge["predicate"], ends[1], quote, 8, stated])
    lines = [json.dumps(row, ensure_ascii=False) for row in [*entities, *relations]]
    return "\n".join(dict.fromkeys(lines)) or "NONE"


def list_named(sentences: list[str], gold: Gold) -> list[list[Any]]:
    """Records of the gold entities of the passage's document whose name stands in it; of a name and a longer one that
    holds it, the place decides ("Redis Sentinel" is no Redis)."""
    document = _find_document(sentences)
    names = {
        surface: entity
        for entity in gold["entities"]
        if document in entity["documents"]
        for surface in (bare_name(entity["name"]), *entity["aliases"])
    }
    if not names:
        return []
    longest_first = sorted(names, key=lambda surface: (-len(surface), surface))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(surface) for surface in longest_first)})(?!\w)")
    found = dict.fromkeys(name for sentence in sentences for name in pattern.findall(sentence))
    return [["E", name, names[name]["type"], ""] for name in found]


@lru_cache(maxsize=1)
def _read_documents() -> dict[str, str]:
    folder = ROOT / "data" / "sample" / "docs"
    return {
        path.relative_to(folder).as_posix(): _flat(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.md"))
    }


def _find_document(sentences: list[str]) -> str:
    """Path of the document that holds all sentences of a passage; empty for none."""
    return next((path for path, text in _read_documents().items() if all(s in text for s in sentences)), "")


def _flat(text: str) -> str:
    return " ".join(text.split())
