"""Rows of last night without a model: the same tables as without a memo, whatever changed, for little reading."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from graphrag.index import nlp_extraction
from graphrag.index.kept_extraction import MEMO_KIND
from graphrag.index.known_names import collect_known_names
from graphrag.index.nlp_extraction import Extraction, extract_mentions
from graphrag.memo import Memo, memo_key
from graphrag.nlp.sentences import Sentence, cut_sentences

from .test_nlp_extraction import build_frames

FORMS = (
    "{0} depends on Redis.", "We read {1} and {1}.", "The {0} is closed by {0}.", "# {0}", "The {1} cache calls {0}.",
    "{0} Vault calls Redis.", "It is the {0} Vault.", "# {0} Vault", "Our {1} service is slow.", "In {0} it rains.",
    "{0} and Rescue owns it.", "It uses {0} and Rescue.", "`{1}-service` calls it.", "See [[{0}]] of {0}.",
)  # fmt: skip
SENTENCES = [form.format(word, word.lower()) for form in FORMS for word in ("Guides", "Ledger")]
TEXTS = st.lists(st.sampled_from(SENTENCES), max_size=5).map("\n\n".join)
NAMES = ("a.md", "b.md", "c.md", "d.md", "e.md", "Guides.md")
FOLDERS = st.fixed_dictionaries(dict.fromkeys(NAMES, TEXTS))
EDITS = st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=4)


def extract(
    folder: dict[str, str], memo: Memo | None = None, *, rules: str = "1", cooccurrence: bool = True, known: str = ""
) -> Extraction:
    units, documents = build_frames(folder)
    names = collect_known_names(documents, declared=[known] if known else [])
    return extract_mentions(
        units, documents, model="lite", known_names=names, cooccurrence=cooccurrence, memo=memo, rules=rules
    )


def assert_same(found: Extraction, expected: Extraction) -> None:
    for mine, other in zip(found, expected, strict=True):
        assert_frame_equal(mine, other)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text units that are read, as they are."""
    seen: list[str] = []

    def cut(documents: pl.DataFrame, text_units: pl.DataFrame) -> list[Sentence]:
        seen.extend(text_units["id"])
        return cut_sentences(documents, text_units)

    monkeypatch.setattr(nlp_extraction, "cut_sentences", cut)
    return seen


@settings(max_examples=25, deadline=None)
@given(FOLDERS, EDITS)
def test_nights_give_what_a_night_without_memo_gives(folder: dict[str, str], edits: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as place, Memo(Path(place) / "memo.sqlite") as memo:
        extract(folder, memo)
        for name, text in edits:
            folder = folder | {name: text}
            assert_same(extract(folder, memo), extract(folder))


def test_an_edit_of_one_document_reads_its_text_units_alone(tmp_path: Path, read: list[str]) -> None:
    folder = {
        f"{i}.md": f"# Note {i}\n\nApp{i} Service depends on Store{i % 7} Store. It is old.\n" for i in range(200)
    }
    with Memo(tmp_path / "memo.sqlite") as memo:
        extract(folder, memo)
        assert len(read) == 200
        read.clear()
        extract(folder, memo)
        assert not read
        folder["17.md"] += "\nThe Night Gate guards the Old Vault.\n"
        found = extract(folder, memo)
        assert len(read) == 1
        assert_same(found, extract(folder))


def test_a_word_that_is_a_name_now_is_read_where_it_stands(tmp_path: Path, read: list[str]) -> None:
    """ "Guides" begins sentences: a name where the corpus writes it big elsewhere, and then in a heading, too."""
    folder = {f"{i}.md": f"Billing{i} calls Ledger{i}." for i in range(50)}
    folder |= {"f.md": "Guides depends on Kafka.", "g.md": "Guides depends on Redis.", "k.md": "# Guides"}
    now = folder | {"z.md": "We like Guides."}
    with Memo(tmp_path / "memo.sqlite") as memo:
        extract(folder | {"z.md": "We read guides, guides and guides."}, memo)
        read.clear()
        found = extract(now, memo)
        assert len(read) == 4
        assert found.entity_mentions["surface"].to_list().count("Guides") == 4
        assert_same(found, extract(now))


@pytest.mark.parametrize("change", [{"rules": "2"}, {"cooccurrence": False}])
def test_other_rules_read_all_again(tmp_path: Path, read: list[str], change: dict[str, object]) -> None:
    folder = {f"{i}.md": f"Billing calls Ledger{i}." for i in range(5)}
    with Memo(tmp_path / "memo.sqlite") as memo:
        extract(folder, memo)
        read.clear()
        found = extract(folder, memo, **change)  # type: ignore[arg-type]
        assert len(read) == 5
        assert_same(found, extract(folder, **change))  # type: ignore[arg-type]


def test_a_name_that_is_declared_now_is_found_in_what_is_kept(tmp_path: Path, read: list[str]) -> None:
    folder = {"a.md": "The night shift calls Ledger.", "b.md": "Billing calls Ledger.", "c.md": "A shift at night."}
    with Memo(tmp_path / "memo.sqlite") as memo:
        extract(folder, memo)
        read.clear()
        found = extract(folder, memo, known="night shift")
        assert len(read) < 3
        assert "night shift" in found.entity_mentions["surface"].to_list()
        assert_same(found, extract(folder, known="night shift"))


def test_what_is_not_whole_is_read_again(tmp_path: Path, read: list[str]) -> None:
    folder = {f"{i}.md": f"Billing calls Ledger{i}." for i in range(5)}
    with Memo(tmp_path / "memo.sqlite") as memo:
        extract(folder, memo)
        extract(folder | {"0.md": "Another."}, other := Memo(tmp_path / "other.sqlite"))
        memo.put_many(MEMO_KIND, other.get_many(MEMO_KIND, [memo_key(MEMO_KIND)]))  # of a night whose rows are not here
        other.close()
        read.clear()
        assert_same(extract(folder, memo), extract(folder))
        assert len(read) == 10
