"""Conditions on documents: what they find, and that nothing else can be said in one."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag import store, tables
from graphrag.errors import GraphragError, NothingFound, UsageError

METADATA = [
    {"country": "DE", "year": 2023, "tags": ["redis", "cache"], "due date": "2024-01-01", "ok": True},
    {"country": "FR", "year": 2024, "tags": "redis", "owner": {"team": "Storage"}, "ok": False},
    {"country": "DE", "Title": "its own", "size": 1.5, "ok": None},
    {},
]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        {
            "id": f"d{number}", "human_readable_id": number, "title": f"Note {number}", "text": "x",
            "text_unit_ids": [], "creation_date": "2025-03-01" if number == 0 else "", "path": f"{number}.md",
            "kind": "md", "content_sha256": str(number), "n_tokens": number,
            "metadata": orjson.dumps(metadata).decode(),
        }
        for number, metadata in enumerate(METADATA)
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("conditions")
    store.write_run(folder, "20260101T000000-000000", {"documents": tables.DOCUMENTS.from_rows(rows)}, manifest={})
    store.publish_run(folder, "20260101T000000-000000")
    return folder


def find(output: Path, where: str) -> list[str]:
    with store.open_index(output, where=where) as index:
        return index.frame("select id from documents order by id")["id"].to_list()


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("country = 'DE'", "d0 d2"),
        ("COUNTRY = 'DE' and year < 2024", "d0"),
        ("country <> 'DE'", "d1"),
        ("country is distinct from 'DE'", "d1 d3"),
        ("country in ('FR', 'ES') or n_tokens >= 3", "d1 d3"),
        ("not (country = 'DE')", "d1"),
        ("year between 2024 and 2025", "d1"),
        ("'redis' in tags", "d0 d1"),
        ("list_contains(tags, 'cache')", "d0"),
        ("len(tags) = 1", "d1"),
        ("\"due date\" > '2023-12-31'", "d0"),
        ("owner.team = 'Storage'", "d1"),
        ("metadata.owner.team ilike 'stor%'", "d1"),
        ("metadata ->> 'country' = 'FR'", "d1"),
        ("size > 1", "d2"),
        ("ok", "d0"),
        ("ok is null", "d2 d3"),
        ("title = 'Note 2'", "d2"),  # a column comes before a key
        ("metadata.title = 'its own'", "d2"),
        ("documents.path = '3.md'", "d3"),
        ("creation_date::date >= date '2025-01-01' and creation_date::date <= current_date", "d0"),
        ("case when country = 'DE' then year = 2023 else false end -- a remark", "d0"),
        ("regexp_matches(title, '[01]$')", "d0 d1"),
        ("true", "d0 d1 d2 d3"),
    ],
)
def test_a_condition_finds_documents(output: Path, where: str, found: str) -> None:
    assert find(output, where) == found.split()


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("contry = 'DE'", 'no column or metadata key "contry" in documents. Nearest: country.'),
        ("owner.tame = 'x'", 'no column or metadata key "owner.tame" in documents.'),
        ("   ", "is empty"),
        ("country = 'DE' and", "ends too early"),
        ("country = 'DE", "unterminated string"),
        ("select 1", "holds a subquery"),
        ("true; drop table documents", "syntax error"),
        ("1=1) union select 1 --", "ends too early"),
        ("true) group by (1", "without clauses after it"),
        ("country = (select 'DE')", "holds a subquery"),
        ("exists (from read_text('/etc/passwd'))", "holds a subquery"),
        ("'redis' = any(tags)", "'x' in tags"),
        ("country = ?", "holds a parameter"),
        ("row_number() over () = 1", "holds a window function"),
        ("len(list_filter(tags, lambda x: true)) = 1", "here. Nearest: "),
        ("columns(*) = 'x'", "holds *"),
        ("getenv('HOME') = 'x'", 'no function "getenv" here'),
        ("lowr(country) = 'de'", "Nearest: lower"),
        ("country = repeat('x', 1000000000)", 'no function "repeat" here'),
        ("country, year", "one condition"),
        ("year = 'soon'", "(year is a number)"),
        ("tags = 'redis'", "(tags is a list of texts)"),
        ("country and true", "(country is a text)"),
        ("x" * 5000, "up to 4000 characters"),
        ("country = '\0'", "without NUL"),
    ],
)
def test_what_is_no_condition_is_one_line(output: Path, where: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(output, where)
    message = str(caught.value)
    assert message.startswith("--where") and said in message
    assert "\n" not in message and len(message) < 300 and "named_" not in message


def test_no_match_lists_the_values_there_are(output: Path) -> None:
    with pytest.raises(NothingFound, match=r"^No document matches --where country = 'de'. country is one of: DE, FR.$"):
        find(output, "country = 'de'")


WORDS = st.sampled_from([*"()'\",;-*=<>.1x\n", " ", " ", "country", "or", "and", "not", "select", "in", "like"])


@given(where=st.lists(WORDS, max_size=20).map("".join))
def test_any_text_is_a_condition_or_one_line(output: Path, where: str) -> None:
    try:
        if where:
            assert set(find(output, where)) <= {"d0", "d1", "d2", "d3"}
    except GraphragError as error:
        assert "\n" not in str(error)
