"""Parts of names that mean another person in each document."""

from __future__ import annotations

import polars as pl

from graphrag import tables
from graphrag.index.disambiguation import Disambiguation, disambiguate_entities, parse_alias_rules
from tests.mention_rows import document, mention


def run(*texts: str, titles: tuple[str, ...] = (), rules: str = "") -> Disambiguation:
    """One document a text; its names stand between bars: "|Gordon Brown| spoke. |Brown| left." All are persons."""
    docs, mentions = [], []
    for n, text in enumerate(texts):
        doc = document(f"d{n}", text, title=titles[n] if titles else f"Note {n}")
        docs.append(doc)
        names = text.split("|")[1::2]
        for name in dict.fromkeys(names):
            row = mention(doc, f"|{name}|", type="person", method="llm")
            mentions.append({**row, "surface": name})
    return disambiguate_entities(
        tables.ENTITY_MENTIONS.from_rows(mentions),
        tables.RELATIONSHIP_MENTIONS.empty(),
        tables.DOCUMENTS.from_rows(docs),
        rules=parse_alias_rules(rules, path="aliases.toml"),
    )


def groups(result: Disambiguation) -> list[str]:
    """The surfaces of the mentions of each entity."""
    surface_of = dict(result.entity_mentions.select("id", "surface").iter_rows())
    found = result.entity_mentions.group_by("entity_id").agg(pl.col("id"))
    return sorted("+".join(sorted(surface_of[i] for i in ids)) for ids in found["id"])


BROWNS = ("|Gordon Brown| spoke. |Brown| left.", "|Dan Brown| writes. |Brown| sells.")


def test_each_document_says_which_brown() -> None:
    result = run(*BROWNS)
    assert groups(result) == ["Brown+Dan Brown", "Brown+Gordon Brown"]
    assert result.clusters["title"].to_list() == ["Dan Brown", "Gordon Brown"]
    assert set(result.aliases.filter(surface="Brown")["method"]) == {"surname"}


def test_a_document_that_names_nobody_in_full_keeps_its_brown() -> None:
    assert groups(run(*BROWNS, "|Brown| and |Vane| met.")) == ["Brown", "Brown+Dan Brown", "Brown+Gordon Brown", "Vane"]


def test_of_relatives_the_title_of_the_document_is_meant() -> None:
    text = "|Ross Alger| married |Ida Alger|. |Alger| was mayor."
    assert groups(run(text, titles=("Ross Patterson Alger",))) == ["Alger+Ross Alger", "Ida Alger"]
    assert groups(run(text, titles=("Mayors",))) == ["Alger", "Ida Alger", "Ross Alger"]


def test_persons_who_go_by_titles_are_not_split() -> None:
    chapters = ("|Mr. Vane| and |Hal Vane|. |Vane| rode.", "|Ada Vane|. |Vane| rode.")
    assert groups(run(*chapters)) == ["Ada Vane", "Hal Vane+Mr. Vane+Vane+Vane"]


def test_forms_of_one_name_are_one_person() -> None:
    found = groups(run("|G. Brown| spoke. |Brown| left.", "|Gordon Brown| left. |Brown| slept.", "|Brown|"))
    assert found == ["Brown+Brown+Brown+G. Brown+Gordon Brown"]


def test_what_aliases_toml_speaks_of_is_not_split() -> None:
    result = run(*BROWNS, rules='[[never]]\nnames = ["Brown", "Dan Brown"]')
    assert ["Brown", "Dan Brown"] not in [group.split("+") for group in groups(result)]
