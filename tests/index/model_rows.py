"""Documents cut into text units, the packaged prompts and a scripted model, for the tests of stages that ask one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import polars as pl

from graphrag.index.claims import ClaimPrompts
from graphrag.index.extraction import Extraction, ExtractionPrompts, extract_mentions
from graphrag.index.text_units import build_text_units
from graphrag.llm.chat import ChatRequest
from graphrag.llm.replay import ScriptedLlm
from graphrag.memo import Memo
from graphrag.prompts import load_prompt
from graphrag.tables import DOCUMENTS
from graphrag.tokens import count_tokens
from tests.mention_rows import document

PROMPTS = ExtractionPrompts(
    load_prompt("extract_graph"), load_prompt("continue_extraction"), load_prompt("repair_reply")
)
CLAIM_PROMPTS = ClaimPrompts(
    load_prompt("extract_claims"), load_prompt("continue_extraction"), load_prompt("repair_reply")
)
TYPES = ("service", "team", "database")
DEPENDS = re.compile(r"(\w[\w ]*?) depends on (\w[\w ]*?)\.")


def read_folder(texts: dict[str, str], *, max_tokens: int = 300, overlap: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """documents and text_units of {path: text}."""
    documents = DOCUMENTS.from_rows([document(path, text) for path, text in sorted(texts.items())])
    return documents, build_text_units(documents, max_tokens=max_tokens, overlap=overlap, count=count_tokens)


def passage_of(request: ChatRequest) -> str:
    """The numbered sentences of the first question."""
    user = next(message.content for message in request.messages if message.role == "user")
    return user.partition("\n")[2].rpartition("\n")[0]


def answer_report(request: ChatRequest) -> str:
    """A good report: its title names the first entity of the prompt, its finding cites the first relationship."""
    entity = request.text.partition("id|entity|type|description\n1|")[2].partition("|")[0]
    explanation = f"{entity} is what the others need [Data: Relationships (1); Sources (1)]."
    return json.dumps({
        "title": f"{entity} and what needs it", "summary": f"A group around {entity}.", "rating": 6.5,
        "rating_explanation": "Others depend on it.",
        "findings": [{"summary": f"{entity} is central", "explanation": explanation}],
    })  # fmt: skip


def answer_depends(request: ChatRequest) -> str:
    """A good reply: every "A depends on B." of the passage; or a report."""
    if request.role == "report":
        return answer_report(request)
    lines = []
    for line in passage_of(request).splitlines():
        number = line[1 : line.index("]")]
        for a, b in DEPENDS.findall(line[line.index("]") + 1 :]):
            a, b = a.strip(), b.strip()
            lines += [f'["E","{a}","service",""]', f'["E","{b}","service",""]']
            lines.append(f'["R","{a}","depends_on","{b}","needs it",7,[{number}]]')
    return "\n".join(dict.fromkeys(lines)) or "NONE"


def extract(
    texts: dict[str, str],
    script: Callable[[ChatRequest], object] | ScriptedLlm,
    *,
    max_tokens: int = 300,
    overlap: int = 0,
    max_passage_tokens: int = 16,
    max_gleanings: int = 0,
    max_records: int = 1000,
    memo: Memo | None = None,
    reader: str = "",
) -> Extraction:
    """The stage over some documents; one text unit a question unless told otherwise."""
    documents, text_units = read_folder(texts, max_tokens=max_tokens, overlap=overlap)
    llm = script if isinstance(script, ScriptedLlm) else ScriptedLlm(script)  # type: ignore[arg-type]
    return llm.run(
        extract_mentions(
            text_units,
            documents,
            llm=llm,
            prompts=PROMPTS,
            entity_types=TYPES,
            max_passage_tokens=max_passage_tokens,
            max_gleanings=max_gleanings,
            max_records_per_unit=max_records,
            max_reply_tokens=1000,
            memo=memo,
            reader=reader,
        )
    )
