"""Search measured on a small index whose figures can be counted; and a file of questions as people write it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphrag.errors import InputError
from graphrag.render.evaluation import describe_evaluation, render_evaluation
from graphrag.search.evaluation.evaluation import GoldQuestion, evaluate_search, read_questions
from graphrag.store import Index

ROWS: list[dict[str, Any]] = [
    {"id": "owner", "question": "Who owns the payment service?", "gold_documents": ["c7.md"],
     "answers": [["billing team", "Billing"]]},
    {"id": "cache", "question": "What backs the token cache?", "gold_documents": ["c3"],
     "answers": ["Redis", "Stripe"]},
    {"id": "lunch", "question": "Where is lunch served?", "answers": ["Harbour Room"]},
    {"id": "soup", "question": "Who cooks the soup?", "gold_documents": ["c8.md"]},
]  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_lines(*lines: Any) -> Path:
        path = tmp_path / "asked.jsonl"
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_text(text + "\n", encoding="utf-8")
        return path

    return write_lines


@pytest.fixture(scope="module")
def words_only(make_r8: Callable[..., Index]) -> Index:
    return make_r8()


def _ids(index: Index) -> dict[str, str]:
    return dict(index.frame("select path, id from documents").rows())


def test_documents_are_named_by_path_title_or_id(words_only: Index, write: Callable[..., Path]) -> None:
    ids = _ids(words_only)
    lines = [
        *ROWS[:1],
        "",
        {"question": " Why? ", "gold_documents": ["c1", "c1.md", ids["c2.md"]], "answers": "because", "note": 1},
    ]
    assert read_questions(write(*lines), words_only) == [
        GoldQuestion("owner", ROWS[0]["question"], (ids["c7.md"],), (("billing team", "Billing"),)),
        GoldQuestion("3", " Why? ", (ids["c1.md"], ids["c2.md"]), (("because",),)),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "holds no question."),
        (["{"], "asked.jsonl line 1 is not JSON."),
        (["[1]"], 'asked.jsonl line 1 has no "question".'),
        ([{"question": " "}], 'line 1 has no "question".'),
        ([ROWS[0], {"question": "x"}], 'line 2 has neither "gold_documents" nor "answers"'),
        ([{"question": "x", "gold_document": ["c1"]}], '"gold_document" is not read. Did you mean "gold_documents"?'),
        ([{"question": "x", "gold_documents": "c1"}], '"gold_documents" must be a list of paths, titles or ids.'),
        ([{"question": "x", "answers": [3]}], '"answers" must be a list of texts, or of lists of spellings.'),
        ([{"question": "x", "answers": [[]]}], '"answers" must be a list of texts'),
        ([ROWS[0], ROWS[0]], 'the id "owner" comes twice.'),
        (
            [{"question": "x", "gold_documents": ["c1.dm", "c1"]}, {"question": "y", "gold_documents": [7]}],
            'no such document in the index: "c1.dm", "7". Did you mean "c1.md"?',
        ),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(
    words_only: Index, write: Callable[..., Path], lines: list[Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_questions(write(*lines), words_only)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_many_unknown_documents_are_counted(words_only: Index, write: Callable[..., Path]) -> None:
    path = write({"question": "x", "gold_documents": [f"missing {n}" for n in range(12)]})
    with pytest.raises(InputError, match=r'"missing 4" and 7 more\.'):
        read_questions(path, words_only)


def test_a_title_of_two_documents_is_not_guessed(make_index: Callable[..., Index], write: Callable[..., Path]) -> None:
    texts = {"Mercury.md": "A broker.", "Mercury.txt": "A depot.", "c.md": "Redis uses Kafka."}
    index = make_index(texts, [("c.md", "Redis", "uses", "Kafka")])
    assert len(read_questions(write({"question": "x", "gold_documents": ["Mercury.md"]}), index)) == 1
    with pytest.raises(InputError, match=r'"Mercury" are 2 documents. Name the path'):
        read_questions(write({"question": "x", "gold_documents": ["Mercury"]}), index)


def test_a_file_that_is_not_there_is_an_input_error(words_only: Index, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot read the questions in .*none\.jsonl: No such file or directory\."):
        read_questions(tmp_path / "none.jsonl", words_only)
    (tmp_path / "latin.jsonl").write_bytes(b'{"question": "caf\xe9"}')
    with pytest.raises(InputError, match="it is not UTF-8"):
        read_questions(tmp_path / "latin.jsonl", words_only)


def test_the_figures_of_a_small_index_can_be_counted(words_only: Index, write: Callable[..., Path]) -> None:
    questions = read_questions(write(*ROWS), words_only)
    found = evaluate_search(words_only, questions, modes=["basic", "local"], k=1)
    rows = {(r["method"], r["question_id"]): r for r in found.results.to_dicts()}
    ids = _ids(words_only)
    assert rows["bm25", "owner"]["documents"] == [ids["c7.md"]]
    assert rows["bm25", "cache"]["documents"] == [ids["c3.md"]]
    assert rows["bm25", "soup"]["recall"] == 0.0
    assert rows["bm25", "lunch"]["recall"] is None and rows["bm25", "owner"]["said"] is None
    assert [rows["basic", asked]["said"] for asked in ("owner", "cache", "lunch", "soup")] == [1.0, 0.5, 1.0, None]
    summary = {row["method"]: row for row in found.summary.to_dicts()}
    for method in ("bm25", "basic", "local"):
        assert summary[method]["recall"] == summary[method]["all_gold"] == pytest.approx(2 / 3), method
    assert summary["basic"]["answered"] == 0.75
    assert summary["basic"]["said"] == pytest.approx(2.5 / 3)
    assert summary["local"]["valid_citations"] == summary["basic"]["valid_citations"] == 1.0
    assert summary["bm25"]["valid_citations"] is None
    assert found.baseline == "bm25"
    assert found.comparison.select("difference", "low", "high").unique().rows() == [(0.0, 0.0, 0.0)]


def test_k_counts_documents(words_only: Index) -> None:
    ids = _ids(words_only)
    asked = [GoldQuestion("1", "What depends on the token cache and Redis?", (ids["c2.md"], ids["c3.md"]))]
    one, two = (evaluate_search(words_only, asked, modes=["basic"], k=k).summary["recall"].to_list() for k in (1, 2))
    assert one == [0.5, 0.5] and two == [1.0, 1.0]


def test_with_vectors_there_are_three_baselines(r8: Index, write: Callable[..., Path]) -> None:
    found = evaluate_search(r8, read_questions(write(*ROWS), r8), modes=["local"], k=1)
    assert found.summary["method"].to_list() == ["bm25", "vectors", "fusion", "local"]
    assert found.notices == []
    without = evaluate_search(r8, read_questions(write(*ROWS), r8), modes=[], model="none")
    assert without.summary["method"].to_list() == ["bm25"]
    assert without.notices == ["The index has no vectors that can be used: words only, one baseline."]


def test_the_same_questions_give_the_same_figures(r8: Index, write: Callable[..., Path]) -> None:
    questions = read_questions(write(*ROWS), r8)
    first, again = (evaluate_search(r8, questions, k=2) for _ in range(2))
    assert first.results.drop("seconds").equals(again.results.drop("seconds"))
    assert first.comparison.equals(again.comparison)


def test_the_table_is_for_people_and_json_for_programs(words_only: Index, write: Callable[..., Path]) -> None:
    found = evaluate_search(words_only, read_questions(write(*ROWS), words_only), modes=["basic"], k=1)
    head, rule, bm25, basic, note, _, against, *differences = render_evaluation(found).splitlines()
    assert head.startswith("| method | recall@1 | all-gold@1 | answered | answer said | valid citations |")
    assert rule.count("---:") == 7
    assert bm25.startswith("| bm25 | .667 | .667 |  |  |  |  | ")
    assert basic.startswith("| basic | .667 | .667 | .750 | .833 | 1.00 of ")
    assert note == "4 questions; medians of context tokens and seconds."
    assert against == "Against bm25, the best baseline (95 % interval, 5,000 resamples):"
    assert differences[0] == "  basic    recall@1    +.000 [+.000, +.000]  0 better, 0 worse  may be chance"
    told = describe_evaluation(found)
    assert list(told) == ["k", "baseline", "methods", "comparison", "results", "notices"]
    assert len(told["results"]) == 8 and told["methods"][1]["method"] == "basic"


def test_questions_without_gold_documents_have_no_comparison(words_only: Index) -> None:
    found = evaluate_search(words_only, [GoldQuestion("1", "Where is lunch served?", (), (("Harbour Room",),))])
    assert found.baseline == "" and found.comparison.is_empty()
    assert "Against" not in render_evaluation(found)
