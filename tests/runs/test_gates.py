"""What holds a run back: each gate with a run that passes it and one that does not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from graphrag.errors import GateHeld
from graphrag.llm.chat import ChatRequest
from graphrag.runs.gates import check_gates
from graphrag.settings import Gates
from graphrag.store import open_published_tables

from ..index.model_rows import answer_depends, passage_of
from ..test_nights import Nights

PAIRS = [(f"{first}ora", f"{second}ix") for first in "BCDFG" for second in "KLMNP"]
FACTS = "".join(f"# {a} and {b}\n\n{a} depends on {b}.\n\n" for a, b in PAIRS)


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    """25 stated facts in one document."""
    nights = Nights(tmp_path)
    nights.write(facts=FACTS)
    return nights


def settings(*more: str) -> tuple[str, ...]:
    return ("reports.min_report_size=100", "disambiguation.judge=false", *more)


def answer_every_third(request: ChatRequest) -> str:
    """A model that has become lazy: two facts of three are left out."""
    lines = [line for line in passage_of(request).splitlines() if "depends" in line]
    kept = "\n".join(lines[::3])
    return answer_depends(request) if len(lines) < 2 else _answer(kept)


def _answer(lines: str) -> str:
    records = []
    for line in lines.splitlines():
        number, text = line[1 : line.index("]")], line[line.index("]") + 1 :].strip()
        a, _, b = text.rstrip(".").partition(" depends on ")
        records.append(f'["R","{a}","depends_on","{b}","",7,[{number}]]')
    return "\n".join(records)


def test_unchanged_documents_that_state_less_hold_the_run(nights: Nights) -> None:
    first = nights.night(*settings()).run_id
    nights.script = answer_every_third
    lost = r"21 of 33 sentences of unchanged documents state nothing any more, more than gates\.shrink_share allows"
    with pytest.raises(GateHeld, match=lost):
        nights.night(*settings("llm.extract_model=scripted/lazy", "extraction.max_reply_tokens=3999"))
    assert nights.run_id == first
    nights.night(
        *settings("llm.extract_model=scripted/lazy", "extraction.max_reply_tokens=3999", "gates.shrink_share=1.0")
    )
    assert nights.run_id != first


def test_documents_that_are_gone_or_edited_may_take_their_facts_along(nights: Nights) -> None:
    nights.night(*settings())
    nights.write(facts="# Alone\n\nBora depends on Kix.\n")
    assert nights.night(*settings()).status == "published"
    (nights.input / "facts.md").unlink()
    assert nights.night(*settings()).status == "published"


def test_names_that_merge_lose_nothing(nights: Nights) -> None:
    nights.night(*settings())
    names = ", ".join(f'"{a}"' for a in sorted({a for a, _ in PAIRS}))
    (nights.root / "aliases.toml").write_text(f"[[always]]\nnames = [{names}]\n", encoding="utf-8")
    assert nights.night(*settings("gates.shrink_share=0.0")).status == "published"


def test_quotes_that_hold_no_names_hold_the_run(nights: Nights) -> None:
    def invent(request: ChatRequest) -> str:
        return answer_depends(request).replace('ix","needs it"', 'ix Works of Old","needs it"')

    nights.script = invent
    with pytest.raises(GateHeld, match=r"25 of 34 quotes do not hold both names .*gates\.unverified_share"):
        nights.night(*settings())
    nights.night(*settings("gates.unverified_share=0.8"))


def test_entities_that_may_be_doubles_and_faults_hold_the_run(nights: Nights) -> None:
    nights.write(more="".join(f"# {a}\n\n{a} Cluster depends on {b}.\n\n" for a, b in PAIRS))
    nights.night(*settings())
    published = open_published_tables(nights.root / "data" / "output")
    assert published is not None
    frames = nights.tables()
    assert check_gates(frames, Gates(), published) == []
    (held,) = check_gates(frames, Gates(duplicate_share=0.05), published)
    assert "entities may be doubles (duplicate_suspects), more than gates.duplicate_share allows" in held
    frames["entities"] = frames["entities"].with_columns(degree=pl.lit(7, dtype=pl.Int64))
    assert any(line.startswith("integrity: entities.degree") for line in check_gates(frames, Gates(), published))
