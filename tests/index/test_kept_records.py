"""Rows of other nights: those of a first night, taken without a question, and only where all was answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from graphrag.index.kept_records import keep_records, key_group_texts, recall_records
from graphrag.index.passages import Excerpt
from graphrag.index.placed_records import Parsed
from graphrag.llm.chat import ChatRequest
from graphrag.llm.replay import ScriptedFault, ScriptedLlm
from graphrag.memo import Memo

from .model_rows import answer_depends, extract

FOLDER = {
    "a.md": "# Alpha\n\nAlpha depends on Beta. Beta depends on Gamma. Gamma depends on Alpha.\n",
    "b.md": "# Xeno\n\nXeno depends on Yard. Yard depends on Zinc. Zinc depends on Xeno.\n",
}


def test_a_second_night_asks_nothing_and_reads_no_reply(tmp_path: Path) -> None:
    def echo(request: ChatRequest) -> str:
        return answer_depends(request) + '\n["E","Nowhere Ltd","team",""]'  # failures are rows as well

    with Memo(tmp_path / "memo.sqlite") as memo:
        first = extract(FOLDER, echo, memo=memo)
        assert set(first.failures["reason"]) == {"not_in_text"}
        again = ScriptedLlm(echo)
        for then, now in zip(first, extract(FOLDER, again, memo=memo), strict=True):
            assert_frame_equal(then, now)
        assert not again.requests


def test_a_text_that_moved_has_its_rows_at_its_new_place(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        extract(FOLDER, answer_depends, memo=memo)
        moved = {"x/y.md": FOLDER["a.md"], "new.md": "# Pine\n\nPine depends on Rose.\n"}
        asked = ScriptedLlm(answer_depends)
        found = extract(moved, asked, memo=memo)
    assert [request.text.count("Pine depends on Rose") for request in asked.requests] == [1]
    for then, now in zip(extract(moved, answer_depends), found, strict=True):
        assert_frame_equal(then, now)


@pytest.mark.parametrize("change", [{"reader": "2.0"}, {"max_records": 5}, {"max_gleanings": 1}])
def test_what_decides_on_rows_asks_the_door_again(tmp_path: Path, change: dict[str, object]) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        extract(FOLDER, answer_depends, memo=memo, reader="1.0")
        again = ScriptedLlm(answer_depends)
        extract(FOLDER, again, memo=memo, **{"reader": "1.0", **change})  # type: ignore[arg-type]
    assert again.requests


def test_what_could_not_be_had_is_asked_again(tmp_path: Path) -> None:
    def fail(request: ChatRequest) -> str:
        if "Xeno" in request.text:
            raise ScriptedFault(408)
        return answer_depends(request)

    with Memo(tmp_path / "memo.sqlite") as memo:
        assert set(extract(FOLDER, fail, memo=memo).failures["reason"]) == {"timeout"}
        again = ScriptedLlm(answer_depends)
        found = extract(FOLDER, again, memo=memo)
    assert len(again.requests) == 1 and "Xeno" in again.requests[0].text
    assert found.failures.is_empty() and found.relationship_mentions.height == 6


ROWS = st.lists(st.dictionaries(st.text(), st.text() | st.integers(0, 1 << 40) | st.booleans() | st.none()), max_size=4)


@given(st.builds(Parsed, ROWS, ROWS, ROWS))
def test_rows_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, rows: Parsed) -> None:
    text = (Excerpt("Alpha depends on Beta."), ((0, 22),))
    with Memo(tmp_path_factory.mktemp("memo") / "memo.sqlite") as memo:
        keys = key_group_texts([text], "a", "b")
        keep_records(memo, keys, {text: rows})
        assert recall_records(memo, keys) == {text: rows}
        assert recall_records(memo, key_group_texts([text], "ab")) == {}
    assert recall_records(None, keys) == {}
