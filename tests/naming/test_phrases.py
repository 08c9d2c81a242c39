"""What sentences declare: other names behind a mention, in brackets, in other languages, and what a thing is."""

from __future__ import annotations

import pytest

from graphrag.names import name_key
from graphrag.naming.phrases import find_phrases
from graphrag.tables import DOCUMENTS, ENTITY_MENTIONS
from tests.mention_rows import document, mention


def read(text: str, surface: str, known: str, *, title: str = "", nth: int = 0) -> list[tuple[str, bool]]:
    """The known names (between bars) that the text declares for the surface, and whether it is sure."""
    doc = document("a", text, title=title)
    keys = {name_key(name) for name in known.split("|")}
    mentions = ENTITY_MENTIONS.from_rows([mention(doc, surface, nth=nth)])
    found = find_phrases(mentions, DOCUMENTS.from_rows([doc]), is_known=lambda name: name_key(name) in keys)
    return [(p.other, p.is_sure) for p in found if p.surface == surface]


@pytest.mark.parametrize(
    ("text", "surface", "known", "expected"),
    [
        ("Eleventy (stylized as **11ty**) is new.", "Eleventy", "11ty", [("11ty", True)]),
        ("**Pug**, formerly known as **Jade**, is a language.", "Pug", "Jade", [("Jade", True)]),
        ("The bridge (Danish: Storebæltsbroen) is long.", "bridge", "Storebæltsbroen", [("Storebæltsbroen", True)]),
        ("Moradi (owner: Platform Team) left.", "Moradi", "Platform Team", []),
        ("Borovkov (Боровков, 6 March 1931) was.", "Borovkov", "Боровков", [("Боровков", True)]),
        ("Zevs (born Christophe Dix on 17 May) paints.", "Zevs", "Christophe Dix", [("Christophe Dix", True)]),
        ("Resolution (also known as matching, record linkage, and more) is.", "Resolution", "matching|record linkage",
         [("matching", True), ("record linkage", True)]),
        ("The river was known to the locals as Yulalona.", "river", "Yulalona", []),
        ("The Division, which was also called the Hawaiian Division.", "Division", "Hawaiian Division",
         [("Hawaiian Division", True)]),
        ("Auth called Billing at noon.", "Auth", "Billing", []),
        ("Ana Kovač was named Player of the Year.", "Ana Kovač", "Player of the Year", []),
        ("Linkville, originally named Klamath Falls, grew.", "Linkville", "Klamath Falls", [("Klamath Falls", True)]),
        ("Russian Empire (now Belarus) fell.", "Russian Empire", "Belarus", [("Belarus", False)]),
        ("The Cranford Protocol or Cranford Agreement was oral.", "Cranford Protocol", "Cranford Agreement",
         [("Cranford Agreement", False)]),
        ("the lands of India known as Kshetra", "India", "Kshetra", []),
        ("Redis (or Memcached) is used, as is Kafka (also Pulsar).", "Redis", "Memcached", [("Memcached", False)]),
        ("Kafka (also Pulsar) is used.", "Kafka", "Pulsar", [("Pulsar", False)]),
        ("Ledger, known as Moneybox, is old.", "Ledger", "Moneybox", [("Moneybox", True)]),
        ("Windows Forms (WinForms) is old.", "Windows Forms", "WinForms", [("WinForms", True)]),
        ("Garry's Mod (or GMod for short) is a game.", "Garry's Mod", "GMod", [("GMod", True)]),
        ("The Windows Forms (Winter) are old.", "Windows Forms", "Winter", [("Winter", False)]),
        ("Resolution (also known as data matching, data linkage, record linkage, and more) is.", "Resolution",
         "data matching|record linkage", [("data matching", True), ("record linkage", True)]),
        ("Bursera is known as the torchwood family, the frankincense and myrrh family, or simply the incense tree.",
         "Bursera", "frankincense|myrrh", []),
        ("Vysoké učení technické v Brně (VUT), or Brno University (BUT) in English, is old.",
         "Vysoké učení technické v Brně", "Brno University", [("Brno University", True)]),
        ("Ledger (LG), or Moneybox in Shops, is old.", "Ledger", "Moneybox", [("Moneybox", False)]),
    ],
)  # fmt: skip
def test_other_names(text: str, surface: str, known: str, expected: list[tuple[str, bool]]) -> None:
    assert read(text, surface, known) == expected


@pytest.mark.parametrize(
    ("text", "surface", "known", "expected"),
    [
        ("Godot is a free game engine for all.", "Godot", "Godot Engine|Godot game", [("Godot engine", True)]),
        ("Edge is a web browser created by Microsoft.", "Edge", "Microsoft Edge", [("Microsoft Edge", True)]),
        ("Chrome is a browser from the tech company Google.", "Chrome", "Google Chrome", [("Google Chrome", True)]),
        ("Defold is a free and open game engine with it.", "Defold", "Defold engine", [("Defold engine", True)]),
        ("Unix is a powerful operating system.", "Unix", "unix-os", [("Unix os", True)]),
        ("MERN is a JavaScript stack consisting of parts.", "MERN", "mern-stack", [("MERN stack", True)]),
        ("Rogue is a kind of dungeon game.", "Rogue", "Rogue game|Rogue kind", [("Rogue game", True)]),
        ("Termux is a terminal application for all.", "Termux", "termux-app", [("Termux app", True)]),
        ("Redis is a store and the Cluster is new.", "Redis", "Redis Cluster", []),
        ("Redis is a store. Redis Cluster shards it.", "Redis", "Redis Cluster", []),
        ("We say that Redis is a cluster.", "Redis", "Redis Cluster", []),
    ],
)
def test_definitions(text: str, surface: str, known: str, expected: list[tuple[str, bool]]) -> None:
    assert read(text, surface, known) == expected


def test_a_page_begins_with_the_name_of_its_subject() -> None:
    assert read("Edge. Microsoft Edge is a browser.", "Microsoft Edge", "Edge", title="Edge") == [("Edge", True)]
    opening = "Alloy Analyzer. Alloy is a language. "
    found = read(opening, "Alloy", "Alloy Analyzer", title="Alloy Analyzer", nth=1)
    assert found == [("Alloy Analyzer", True)]
    # Where the page goes on about the Alloy Analyzer, it began with something else.
    opening += "The Alloy Analyzer checks it."
    assert read(opening, "Alloy", "Alloy Analyzer", title="Alloy Analyzer", nth=1) == []


def test_hostile_brackets_are_read_in_linear_time() -> None:
    text = "Redis " + "(" * 5000 + "also known as " * 2000
    assert read(text, "Redis", "Cache") == []


def test_a_list_of_other_names_of_what_has_none_itself() -> None:
    text = "A light color scheme —also called black mode, dark mode, dark theme, night mode, or lights-out — is good."
    doc = document("a", text)
    known = {name_key(name) for name in ("dark mode", "dark theme", "lights-out")}
    found = find_phrases(
        ENTITY_MENTIONS.empty(), DOCUMENTS.from_rows([doc]), is_known=lambda name: name_key(name) in known
    )
    assert [(p.surface, p.other) for p in found] == [("dark mode", "dark theme"), ("dark mode", "lights-out")]
