"""The reply parser against the classes of replies of specs/indexing.md section 2 and B7-B19 of hostile-inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.replies.claims import parse_claims_reply
from graphrag.replies.fields import (
    CUT_MARK,
    MAX_DESCRIPTION,
    TextNames,
    clean_name,
    clean_predicate,
    clean_type,
    parse_sentences,
    parse_strength,
)
from graphrag.replies.graph import GraphReply, parse_graph_replies, parse_graph_reply

REDIS = ("Redis", "service", "Cache")
AUTH = ("Auth", "depends_on", "Redis", "x", 7.0, (2,))
TWO_LINES = '["E","Redis","service","Cache"]\n["R","Auth","depends_on","Redis","x",7,[2]]'
E_A = [("A", "t", "d")]
A_B = [("A", "unknown", ""), ("B", "unknown", "")]


def relation(description: str = "d", strength: float | None = None, subject: str = "A", object_: str = "B") -> Any:
    return (subject, "related_to", object_, description, strength, ())


# (number of the vector, reply, entities without implied ones, relations, reasons of unreadable lines, problem)
VECTORS: list[tuple[str, str, list[Any], list[Any], list[str], str]] = [
    ("1", TWO_LINES, [REDIS], [AUTH], [], ""),
    ("2", f"Here are the records I found:\n\n```json\n{TWO_LINES}\n```\nHope this helps!", [REDIS], [AUTH], [], ""),
    ("2 one line", f"Sure: {TWO_LINES} Done.", [REDIS], [AUTH], [], ""),
    ("3 array", '[["E","Redis","service","Cache"],["R","Auth","depends_on","Redis","x",7,[2]]]', [REDIS], [AUTH], [],
     ""),
    ("3 pretty", json.dumps([["E", *REDIS], ["R", "Auth", "depends_on", "Redis", "x", 7, [2]]], indent=2), [REDIS],
     [AUTH], [], ""),
    ("3 object", '{"records":[["E","Redis","service","Cache"],["R","Auth","depends_on","Redis","x",7,[2]]]}', [REDIS],
     [AUTH], [], ""),
    ("4", '{"type":"relationship","source":"A","target":"B","description":"d","strength":"8"}', [],
     [relation(strength=8)], [], ""),
    ("4 lists", '{"entities":[{"name":"A","type":"t","description":"d"}],'
     '"relationships":[{"source":"A","target":"B","relation":"Uses","description":"d","weight":3}]}',
     E_A, [("A", "uses", "B", "d", 3.0, ())], [], ""),
    ("5", '["E","A","t","d"]\n["E","Redis","service","Cac', E_A, [], ["truncated"], ""),
    ("5 in an array", '{"records": [["E","A","t","d"],\n["E","Redis","service","Cac', E_A, [], ["truncated"], ""),
    ("5 in an object",
     '{"entities":[{"name":"A","type":"t","description":"d"}],"relationships":[{"source":"A","target":"B","descr',
     E_A, [], ["truncated"], ""),
    ("6 comma inside", '["E","A","t","d",]', E_A, [], [], ""),
    ("6 comma behind", '["E","A","t","d"],', E_A, [], [], ""),
    ("7 single", "['E','A','t','d']", E_A, [], [], ""),
    ("7 apostrophe", "['E','A','t','A's and d']", [("A", "t", "A's and d")], [], [], ""),
    ("7 curly", "[“E”,“A”,“t”,“d”]", E_A, [], [], ""),
    ("8", '["E","the "big" one","t","d"]', [('the "big" one', "t", "d")], [], [], ""),
    ("9", '["E","A"]', [("A", "unknown", "")], [], [], ""),
    ("10", '["E","A","t","d","extra",3]', E_A, [], [], ""),
    ("11", '["R","A","service","desc"]', [("A", "service", "desc")], [], [], ""),
    ("12", '["e","A","t","d"]\n["entity","B","t","d"]\n["rel","A","uses","B","d",1,[]]',
     [("A", "t", "d"), ("B", "t", "d")], [("A", "uses", "B", "d", 1.0, ())], [], ""),
    *[(f"13 {raw}", f'["R","A","p","B","d",{raw},[1]]', [], [("A", "p", "B", "d", strength, (1,))], [], "")
      for raw, strength in [('"high"', None), ("null", None), ("-3", 1.0), ("99", 10.0), ('"7/10"', 7.0), ("7.5", 7.5),
                            ("NaN", None), ("1e400", None), ("Infinity", None), ("0", 1.0)]],
    *[(f"14 {raw}", f'["R","A","p","B","d",5{raw}]', [], [("A", "p", "B", "d", 5.0, sentences)], [], "")
      for raw, sentences in [(",2", (2,)), (',"2"', (2,)), (',"2-4"', (2, 3, 4)), (",[9]", ()), ("", ()),
                             (",[3,2,2]", (2, 3)), (',"2-9999999"', (2, 3, 4)), (",null", ())]],
    *[(f"15 {name}", f'["E",{name},"t","d"]', [], [], ["unreadable_record"], "")
      for name in ('""', '"N/A"', '"None"', '"-"', "null", '"  "', '"**"'[:0] + '"n/a"')],
    ("16", '("entity"<|>"ACME"<|>ORGANIZATION<|>d)##("relationship"<|>ACME<|>BOB<|>d<|>7)<|COMPLETE|>',
     [("ACME", "organization", "d")], [relation(strength=7, subject="ACME", object_="BOB")], [], ""),
    *[(f"17 {reply}", reply, E_A, [], [], "") for reply in
      ("('entity'<|>A<|>T<|>d)", "(entity<|>A<|>T<|>d)", '("entity" <|> A <|> T <|> d)',
       '( "entity"<|>"A"<|>"T"<|>"d")',
       "(“entity”<|>“A”<|>“T”<|>“d”)", '1. ("entity"<|>A<|>T<|>d)', '```\n("entity"<|>A<|>T<|>d)\n```')],
    ("18 lines", '("entity"<|>A<|>T<|>d)\n("entity"<|>B<|>T<|>d)', [*E_A, ("B", "t", "d")], [], [], ""),
    ("18 ## inside", '("entity"<|>A<|>T<|>see ## there)##\n("entity"<|>B<|>T<|>d)',
     [("A", "t", "see ## there"), ("B", "t", "d")], [], [], ""),
    ("19", '("entity"<|>A<|>T<|>d)<|COMPLETE|>("entity"<|>B<|>T<|>d)##("relationship"<|>A<|>B<|>d<|>2)<|COMPLETE|>',
     [*E_A, ("B", "t", "d")], [relation(strength=2)], [], ""),
    *[(f"20 {delimiter!r}", f'("entity"{delimiter}A{delimiter}T{delimiter}d)', E_A, [], [], "")
      for delimiter in ("<||>", "\t", "<|#|>", "<\\|#\\|>", "</|>", "<| >")],
    ("20 LightRAG", "entity<|#|>A<|#|>T<|#|>d\nrelation<|#|>A<|#|>B<|#|>keys<|#|>desc\n<|COMPLETE|>", E_A,
     [relation("desc")], [], ""),
    ("21 missing", '("entity"<|>A<|>T<|>d##("entity"<|>B<|>T<|>d', [*E_A, ("B", "t", "d")], [], [], ""),
    ("21 doubled", '(("entity"<|>A<|>T<|>d))##', E_A, [], [], ""),
    ("21 inner", '("relationship"<|>A<|>B<|>f(x) is called<|>5)', [], [relation("f(x) is called", 5)], [], ""),
    ("21 inner at the end", '("entity"<|>A<|>T<|>calls f(x))##("entity"<|>B<|>T<|>calls f(x)##',
     [("A", "t", "calls f(x)"), ("B", "t", "calls f(x)")], [], [], ""),
    ("21 cut", '("entity"<|>A<|>T<|>d)##\n("entity"<|>B<|>T<|>half a desc', E_A, [], ["truncated"], ""),
    ("22", '("relationship"<|>A<|>B<|>d)', [], [relation()], [], ""),
    ("23", '("relationship"<|>A<|>B<|>d<|>kw<|>7)', [], [relation(strength=7)], [], ""),
    ("24 html", '["E","AT&amp;T","t","d"]', [("AT&T", "t", "d")], [], [], ""),
    ("24 escape", '["E","Caf\\u00e9","t","Caf\\\\u00e9"]', [("Café", "t", "Café")], [], [], ""),
    ("24 tuple", '("entity"<|>Caf\\u00e9<|>T<|>AT&amp;T)', [("Café", "t", "AT&T")], [], [], ""),
    ("24 control", '["E","A\x00\x01","t","d\x07"]', E_A, [], [], ""),
    ("25", '["E","Auth\nService","t","d"]', [("Auth Service", "t", "d")], [], [], ""),
    ("26", f"{TWO_LINES}\n{TWO_LINES}", [REDIS], [AUTH], [], ""),
    ("28", "I'm sorry, I cannot help with that request.", [], [], [], "refusal"),
    ("28 German", "Es tut mir leid, das geht nicht.", [], [], [], "refusal"),
    ("29", "", [], [], [], "empty_reply"),
    ("29 blanks", " \n\t\n", [], [], [], "empty_reply"),
    ("29 fence only", "```json\n```", [], [], [], "empty_reply"),
    *[(f"30 {reply}", reply, [], [], [], "") for reply in
      ("NONE", "[]", "no entities found", "None.", "<|COMPLETE|>", '{"records": []}',
       '{"entities": [], "relationships": []}',
       "No entities or relationships were found in the text.", "```json\n[]\n```",
       "I'm sorry, but there are no entities in this text.")],
    ("31", '<think>["E","X","t","d"]</think>\n["E","A","t","d"]', E_A, [], [], ""),
    ("31 no start", 'The text says ["E","X","t","d"]\n</think>\n["E","A","t","d"]', E_A, [], [], ""),
    *[(f"33 {given_type}", f'["E","A","{given_type}","d"]', [("A", clean, "d")], [], [], "") for given_type, clean in
      (("Organization/Company", "organization"), ("Person (fictional)", "person"), ("**service**", "service"),
       ("", "unknown"))],
    ("34", '["R","A","uses","a","d",3,[1]]', [], [], ["self_relationship"], ""),
    ("35 bullets", "- Redis (service): Cache\n- Auth (service): logs in", [], [], ["unreadable_record"] * 2, ""),
    ("35 table", "| name | type |\n|---|---|\n| Redis | service |", [], [], ["unreadable_record"] * 2, ""),
    *[(f"37 {raw}", f'["R","A","{raw}","B","d",null,[]]', [], [("A", clean, "B", "d", None, ())], [], "") for raw,
     clean in
      (("Depends On", "depends_on"), ("DEPENDS-ON", "depends_on"), ("is dependent upon", "is_dependent_upon"),
       ("", "related_to"),
       ("dependsOn", "depends_on"), ("--", "related_to"), ("использует", "использует"))],
    # Shapes beyond the table
    ("missing bracket", '["E","A","t","d"\n["E","B","t","d"]', [*E_A, ("B", "t", "d")], [], [], ""),
    ("wrong bracket", '["E","A","t","d")\n["E","B","t","d"}', [*E_A, ("B", "t", "d")], [], [], ""),
    ("round brackets", '("E","A","t","d")\n("E", B, t, d)', [*E_A, ("B", "t", "d")], [], [], ""),
    ("no brackets", '"E","A","t","d"\n- "E","B","t","d"', [*E_A, ("B", "t", "d")], [], [], ""),
    ("no quotes", "[E, A, t, d]", E_A, [], [], ""),
    ("cut in mid-reply", '["E","X","t","bro\n["E","A","t","d"]', E_A, [], ["truncated"], ""),
    *[(f"lost quote {line}", line + '\n["E","B","t","d"]', [*E_A, ("B", "t", "d")], [], [], "") for line in
      ('[E", "A", "t", "d"]', '["E, "A", "t", "d"]', '["E", A", "t", "d"]', '["E", "A, "t", "d"]',
       '["E", "A", t", "d"]',
       '["E", "A", "t, "d"]', '["E", "A", "t", d"]', '["E", "A", "t", "d]')],
    *[(f"lost quote {line}", line, [], [("A", "p", "B", "d", 7.0, (2,))], [], "") for line in
      ('["R", A", "p", "B", "d", 7, [2]]', '["R", "A", p", "B", "d", 7, [2]]', '["R", "A", "p", "B, "d", 7, [2]]',
       '["R", "A", "p", "B", "d, 7, [2]]')],
    ("lost comma", '["E" "A", "t" "d"]', E_A, [], [], ""),
    ("one JSON string", json.dumps('["E","A","t","d"]\n["E","B","t","d"]'), [*E_A, ("B", "t", "d")], [], [], ""),
    ("brackets in prose", "Some languages (C, C++, R) and a list (e, f) are named.\n" + '["E","A","t","d"]', E_A, [],
     [], ""),
    ("words before the record", '- E: ["E","A","t","d"]', E_A, [], [], ""),
    ("one line", '["E","A","t","d"]["E","B","t","d"], ["E","C","t","d"]', [*E_A, ("B", "t", "d"), ("C", "t", "d")], [],
     [], ""),
    ("objects in a row", '{"name":"A","type":"t","description":"d"}{"name":"B","type":"t","description":"d"}',
     [*E_A, ("B", "t", "d")], [], [], ""),
    ("tag as key", '{"E": ["A","t","d"]}\n{"R": ["A","uses","B","d",3,[1]]}', E_A,
     [("A", "uses", "B", "d", 3.0, (1,))], [], ""),
    ("numbered", '1. ["E","A","t","d"]\n2. ["E","B","t","d"]', [*E_A, ("B", "t", "d")], [], [], ""),
    ("comment", '["E","A","t","d"] // the first\n["E","B","t",/* why */"d"]', [*E_A, ("B", "t", "d")], [], [], ""),
    ("doubled delimiter", '("entity"<|>A<|><|>T<|>d)', E_A, [], [], ""),
    ("half a delimiter", '("relationship"<|>"A"<|>"B"<|>"d"|>8)', [], [relation(strength=8)], [], ""),
    ("unknown tag", '["X","A","t","d"]', [], [], ["unreadable_record"], ""),
    ("unknown tuple", '("attribute"<|>A<|>T<|>d)##("entity"<|>A<|>T<|>d)', E_A, [], ["unreadable_record"], ""),
    ("no strength", '["R","A","p","B","d",[2]]', [], [("A", "p", "B", "d", None, (2,))], [], ""),
    ("no description", '["R","A","p","B",7,[2]]', [], [("A", "p", "B", "", 7.0, (2,))], [], ""),
    ("prose", "The text describes a cache.\nIt is used by Auth.", [], [], [], "unreadable_reply"),
    ("prose of another tongue", "抱歉，我无法处理。", [], [], [], "refusal"),
    ("other JSON", '{"error": "too long"}', [], [], ["unreadable_record"], ""),
    ("open thought", 'thinking...\n<think>["E","X","t","d"]', [], [], [], "unreadable_reply"),
    *[(f"name {name}", json.dumps(["E", name, "t", "d"]), [(name, "t", "d")], [], [], "") for name in
      ("3.12", "42", "007", "C++", "C#", ".NET", "A*", "東京", "🚀", "NULL", "true", "O'Reilly", "a/b", "%", "x;--",
       'Danh mục "bài toán lớn"')],
    ("number names", '["E",3.10,"t","d"]\n["E",42,"t","d"]', [("3.10", "t", "d"), ("42", "t", "d")], [], [], ""),
]  # fmt: skip


def declared(parsed: GraphReply) -> list[Any]:
    listed = parsed.entities[: len(parsed.entities) - parsed.n_implied_entities]
    return [(entity.name, entity.type, "; ".join(entity.descriptions)) for entity in listed]


@pytest.mark.parametrize(
    ("reply", "entities", "relations", "reasons", "problem"), [v[1:] for v in VECTORS], ids=[v[0] for v in VECTORS]
)
def test_vector(reply: str, entities: list[Any], relations: list[Any], reasons: list[str], problem: str) -> None:
    parsed = parse_graph_reply(reply, n_sentences=4)
    assert declared(parsed) == entities
    assert [tuple(relation)[:-1] for relation in parsed.relations] == relations
    assert [line.reason for line in parsed.unreadable] == reasons
    assert parsed.problem == problem
    names = {entity.name for entity in parsed.entities}
    assert all({relation.subject, relation.object} <= names for relation in parsed.relations)


def test_counts() -> None:
    parsed = parse_graph_reply(TWO_LINES)
    assert (parsed.n_records, parsed.n_implied_entities) == (2, 1)
    assert parsed.entities[-1][:3] == ("Auth", "unknown", ())
    assert parse_graph_reply('["E","A","t","d","extra",3]').n_extra_fields == 2
    assert parse_graph_reply(f"{TWO_LINES}\n{TWO_LINES}").n_duplicates == 2
    assert parse_graph_reply('("relationship"<|>A<|>B<|>d<|>kw<|>7)').n_extra_fields == 1
    assert parse_graph_reply("Well.\nSo:\n" + TWO_LINES).n_prose_lines == 2


def test_vector_27_same_entity_two_descriptions() -> None:
    parsed = parse_graph_reply('["E","A","t","one"]\n["E","A","t","two"]\n["E","A","","three"]')
    assert [entity[:3] for entity in parsed.entities] == [("A", "t", ("one", "two", "three"))]
    assert parsed.n_duplicates == 0


def test_same_name_of_two_types_stays_two() -> None:
    parsed = parse_graph_reply('["E","Mercury","planet","a"]\n["E","Mercury","metal","b"]')
    assert [entity.type for entity in parsed.entities] == ["planet", "metal"]


def test_vector_32_and_38_names_that_are_not_in_the_text() -> None:
    parsed = parse_graph_reply(
        '["E","Redis","service","d"]\n["E","Beijing","city","d"]\n["R","Redis","in","Beijing","d",1,[1]]\n["E","Red","t",""]',
        text="REDIS  runs in 北京; the red\ncache.",
    )
    assert [(entity.name, entity.is_in_text) for entity in parsed.entities] == [
        ("Redis", True),
        ("Beijing", False),
        ("Red", True),
    ]
    assert [relation.is_in_text for relation in parsed.relations] == [False]
    assert parsed.n_not_in_text == 1


@pytest.mark.parametrize(
    ("name", "text", "is_in_text"),
    [("AI", "he said", False), ("AI", "AI's day", True), ("京", "東京都", True), ("C", "C++ and C", True),
     ("Auth Service", "the auth\n service", True), ("O'Reilly", "O’Reilly", True), ("v1", "v12", False)],
)  # fmt: skip
def test_in_text_means_as_a_whole_word(name: str, text: str, is_in_text: bool) -> None:
    assert parse_graph_reply(json.dumps(["E", name, "t", ""]), text=text).entities[0].is_in_text is is_in_text


def test_a_name_is_held_as_a_whole_word() -> None:
    assert TextNames("Auth needs\nredis.").holds("Redis")
    assert not TextNames("Authors use Redis.").holds("Auth")


def test_ends_are_spelled_as_declared() -> None:
    parsed = parse_graph_reply(
        '["E","Redis","t","d"]\n["R","AUTH","uses","REDIS","d",1,[]]\n["R","Auth","uses","redis","d",1,[]]'
    )
    assert [(r.subject, r.object) for r in parsed.relations] == [("AUTH", "Redis")]
    assert [entity.name for entity in parsed.entities] == ["Redis", "AUTH"]


def test_vector_35_asks_again_when_over_half_is_unreadable() -> None:
    assert parse_graph_reply("- a: b\n- c: d\n" + '["E","A","t","d"]').should_ask_again
    assert not parse_graph_reply("- a: b\n" + TWO_LINES).should_ask_again
    assert not parse_graph_reply("NONE").should_ask_again


def test_b7_three_whole_lines_and_a_half() -> None:
    lines = [f'["E","N{i}","t","d"]' for i in range(3)]
    parsed = parse_graph_reply("\n".join([*lines, '["R","N0","uses","N1","d",1']), is_cut=True)
    assert [entity.name for entity in parsed.entities] == ["N0", "N1", "N2"]
    assert [line.reason for line in parsed.unreadable] == ["truncated"]
    assert parsed.is_truncated
    assert not parsed.should_ask_again


def test_b7_the_continuation_makes_it_whole() -> None:
    first = '["E","A","t","d"]\n["R","A","uses","B","d",1,[1]]\n["E","B","t","ha'
    rest = '["R","A","uses","B","d",1,[1]]\n["E","B","t","half"]'
    parsed = parse_graph_replies([first, rest], are_cut=[True, False])
    assert [entity[:3] for entity in parsed.entities] == [("A", "t", ("d",)), ("B", "t", ("half",))]
    assert len(parsed.relations) == 1
    assert (parsed.unreadable, parsed.is_truncated, parsed.n_duplicates) == ([], False, 1)
    silent = parse_graph_replies([first, ""], are_cut=[True])
    assert [line.reason for line in silent.unreadable] == ["truncated"]
    assert (silent.problem, silent.is_truncated) == ("", False)


def test_vector_19_gleaning_turns_add_up() -> None:
    parsed = parse_graph_replies([TWO_LINES, '["E","Auth","service","d"]', "NONE", "I'm sorry."])
    assert [(entity.name, entity.type) for entity in parsed.entities] == [("Redis", "service"), ("Auth", "service")]
    assert (parsed.n_implied_entities, parsed.problem) == (0, "")
    assert parse_graph_replies([]).problem == "empty_reply"


def test_a_reply_cut_between_two_lines_is_truncated() -> None:
    assert parse_graph_reply(TWO_LINES, is_cut=True).is_truncated
    assert not parse_graph_reply(TWO_LINES).is_truncated


def test_b8_no_content() -> None:
    assert parse_graph_reply(None).problem == "empty_reply"


def test_b18_long_names_and_descriptions() -> None:
    parsed = parse_graph_reply(
        json.dumps(["E", "x" * 10_000, "t", "d"]) + "\n" + json.dumps(["E", "A", "t", "y" * 1_000_000])
    )
    assert [(line.reason, len(line.raw) < 300) for line in parsed.unreadable] == [("name_too_long", True)]
    assert parsed.entities[0].descriptions[0] == "y" * MAX_DESCRIPTION + CUT_MARK


def test_b19_many_entities_and_repeats() -> None:
    reply = "\n".join(f'["E","Name{i}","t","d"]' for i in range(500)) + "\n" + '["E","Redis","t","d"]\n' * 300
    parsed = parse_graph_reply(reply, text="Redis is a cache.")
    assert (len(parsed.entities), parsed.n_not_in_text, parsed.n_duplicates) == (501, 500, 299)


RECORD_TEXTS = st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")), max_size=30)
FRAGMENTS = st.sampled_from([
    '["E","A","t","d"]', '["R","A","p","B","d",7,[2]]', '("entity"<|>A<|>T<|>d)##', "<|COMPLETE|>", "```json",
     "<think>",
    "</think>", "[", "]", "{", "}", "(", ")", '"', "'", "“", "<|>", "\t", "##", "\n", ",", ":", "\\", "\\u", "E", "R",
     "//",
    "/*", "entity", "- ", "1. ", "|", "NaN", "{\"name\":", "\x00", "\ud800", "é", "東", " ", "-9", "1e999", "[[", "\r",
])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(FRAGMENTS, max_size=40).map("".join)), st.booleans())
def test_any_text_is_read_without_raising(reply: str, is_cut: bool) -> None:
    for parsed in (
        parse_graph_reply(reply, text=reply, n_sentences=3, is_cut=is_cut),
        parse_claims_reply(reply),
    ):
        assert parsed.n_records >= 0
        assert all(line.raw and line.reason for line in parsed.unreadable)
    json.dumps(parse_graph_reply(reply), ensure_ascii=False).encode()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(RECORD_TEXTS, RECORD_TEXTS, RECORD_TEXTS), max_size=8),
    st.sampled_from(["", "Prose here.", "```"]),
)
def test_every_record_written_as_json_is_read_or_counted(rows: list[tuple[str, str, str]], between: str) -> None:
    reply = f"\n{between}\n".join(json.dumps(["E", *row], ensure_ascii=False) for row in rows)
    parsed = parse_graph_reply(reply)
    assert parsed.n_records + len(parsed.unreadable) == len(rows)
    readable = {clean_name(row[0]) for row in rows} - {line.raw for line in parsed.unreadable}
    assert {entity.name for entity in parsed.entities} <= readable


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(["A", "B (x)", "C++", "f(x)", "a ## b", "東京", "x, y"]), min_size=3, max_size=3),
    st.sampled_from(["##\n", "\n", "##"]),
)
def test_every_tuple_is_read(fields: list[str], separator: str) -> None:
    line = f'("entity"<|>{fields[0]}<|>{fields[1]}<|>{fields[2]})'
    other = '("relationship"<|>P<|>Q<|>d<|>7)'
    parsed = parse_graph_reply(separator.join([line, other, line]))
    assert (parsed.n_records, parsed.unreadable) == (3, [])
    assert parsed.entities[0].name == fields[0]
    assert parsed.entities[0].descriptions == (fields[2],)
    assert parsed.relations[0].strength == 7


HOSTILE = {
    "brackets": "[" * 1_000_000 + "]" * 1_000_000,
    "nested 10,000": "[" * 80_000,
    "objects": '{"a":' * 400_000,
    "quotes": '["E","' + '"' * 2_000_000,
    "quote comma": '["E"' + ',"a", b' * 280_000,
    "opened records": '["E","a' * 280_000,
    "opened records on lines": '["E","a\n' * 240_000,
    "tuples": '("entity"<|>A<|>T<|>' * 100_000,
    "tuple without end": '("entity"<|>A<|>T<|>' + "x)(" * 660_000,
    "delimiters": "<|>" * 660_000,
    "spaces": '["E","A"' + " " * 2_000_000 + "x",
    "space lines": (" " * 40 + "\n") * 48_000,
    "filler": "# " + " " * 2_000_000 + "x",
    "line ends": '["E","' + "\n" * 2_000_000,
    "comments": '["E",' + "/*" * 1_000_000,
    "thoughts": "<think>\n" * 250_000,
    "thought ends": "\n</think>x" * 200_000,
    "pipes": "|" * 2_000_000 + "x",
    "backslashes": '["E","' + "\\" * 2_000_000,
    "lines": TWO_LINES * 30_000,
    "prose": "Lorem ipsum (dolor) sit [amet] entity, e.g. r, \"e\", " * 40_000,
    "types": "\n".join(f'["E","n","t{i}","d"]' for i in range(80_000)),
    "descriptions": "\n".join(f'["E","n","t","d{i}"]' for i in range(80_000)),
    "empty objects": "{}" * 900_000,
    "unknown types": "\n".join(f'["E","n{i}","","d"]' for i in range(80_000)),
    "sentences": '["R","A","p","B","d",1,[' + '"1-9999999",' * 150_000 + "]]",
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_vector_36_hostile_replies_end(kind: str) -> None:
    """An eighth of the text, where anything worse than linear time is already felt."""
    whole = HOSTILE[kind]
    parse_graph_reply(whole[: len(whole) // 8])


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_vector_36_whole_hostile_replies_end(kind: str) -> None:
    parse_graph_reply(HOSTILE[kind])


def test_fields() -> None:
    assert clean_name(' **"Auth  Service"** ') == "Auth Service"
    assert clean_type("Person, fictional") == "person"
    assert clean_predicate("x" * 100) == "x" * 60
    assert parse_strength("8 (strong)") == 8
    assert parse_strength("85/100") == 8.5
    assert parse_sentences(["S2", "4-3", "x"], 4) == (2,)


@pytest.mark.shared
def test_recorded_replies_lose_nothing(shared: Path) -> None:
    """84 extractions by gpt-4o hold 1,174 records; a strict reader gets 1,125 of them."""
    path = shared / "data" / "llm-replies" / "nano_graphrag_mock_cache_gpt-4o.parquet"
    replies = pl.read_parquet(path)["response"].to_list()
    parsed = [parse_graph_reply(reply) for reply in replies if "<|>" in reply]
    assert len(parsed) == 84
    assert sum(reply.n_records for reply in parsed) == 1_174
    assert sum(len(reply.unreadable) for reply in parsed) == 0
    assert sum(r.strength is None for reply in parsed for r in reply.relations) == 0
    assert not any(reply.problem or reply.is_truncated for reply in parsed)
