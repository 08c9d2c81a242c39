"""Candidates by form, place and meaning, and what several of them say of one pair."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphrag import tables
from graphrag.naming import company, look_alikes
from graphrag.naming.candidates import find_look_alikes, rank_candidates
from graphrag.naming.name_vectors import by_vectors
from graphrag.naming.nodes import Candidate, Key, Node, as_node
from tests.mention_rows import document, relation


def keys_of(*surfaces: str, documents: Iterable[str] = ("d",)) -> list[Key]:
    found = []
    for surface in surfaces:
        node = Key(surface.casefold(), documents=set(documents))
        node.surfaces[surface] += 1
        found.append(node)
    return found


def nodes_of(*surfaces: str) -> list[Node]:
    return [as_node(key) for key in keys_of(*surfaces)]


def pairs(nodes: list[Node], candidates: Iterable[Candidate]) -> set[tuple[str, str]]:
    return {(nodes[c.short].name.surface, nodes[c.long].name.surface) for c in candidates}


def test_token_subsets_are_found_without_comparing_all_pairs() -> None:
    nodes = nodes_of("Redis", "Redis Sentinel", "the big Redis cluster of the north wing in Graz", "Kafka")
    assert pairs(nodes, look_alikes.by_token_subset(nodes)) == {("Redis", "Redis Sentinel")}


def test_word_order_and_shortened_compounds() -> None:
    nodes = nodes_of("ZX Spectrum", "spectrum-zx", "Google Drive", "gdrive", "Bank of Italy", "Italy Bank")
    assert pairs(nodes, look_alikes.by_word_order(nodes)) == {
        ("ZX Spectrum", "spectrum-zx"),
        ("Bank of Italy", "Italy Bank"),
    }
    assert pairs(nodes, look_alikes.by_shortened_compound(nodes)) == {("gdrive", "Google Drive")}


def test_short_forms_of_words() -> None:
    nodes = nodes_of("Web App", "web application", "lib", "Library", "Oracle DB", "Oracle Database", "Web Library")
    assert pairs(nodes, look_alikes.by_short_form(nodes)) == {
        ("Web App", "web application"),
        ("lib", "Library"),
        ("Oracle DB", "Oracle Database"),
    }


def test_acronyms_in_small_letters() -> None:
    nodes = nodes_of("Open Source Software", "oss", "OSS", "of")
    assert pairs(nodes, look_alikes.by_small_acronym(nodes)) == {("oss", "Open Source Software")}


def test_misspellings_keep_numbers_letters_and_descriptions() -> None:
    nodes = nodes_of("INC-1041", "INC-1042", "plan a b", "plan a c", "Orbit (planet)", "Orbits (metal)", "Kubernetes")
    nodes += nodes_of("Kuberentes")
    assert pairs(nodes, look_alikes.find_misspellings(nodes).candidates) == {("Kubernetes", "Kuberentes")}


def test_word_families_and_letters_count_in_one_document_only() -> None:
    surfaces = ("Sweden", "Swedish", "Swan Lake", "Frente de Libertação do Arquipélago da Madeira", "FLAMA")
    nodes = nodes_of(*surfaces)
    everywhere = company.group_by_document(keys_of(*surfaces))
    assert pairs(nodes, company.by_word_family(nodes, everywhere)) == {("Sweden", "Swedish")}
    assert pairs(nodes, company.by_letters_in_order(nodes, everywhere)) == {(surfaces[4], surfaces[3])}
    apart = company.group_by_document([key for s in surfaces for key in keys_of(s, documents=[s])])
    assert not list(company.by_word_family(nodes, apart))
    assert not list(company.by_letters_in_order(nodes, apart))


def test_shared_rare_neighbours() -> None:
    doc = document("a", "One, Two, Ledger, Mail, Shop, Till")
    near = ["Ledger", "Mail", "Shop"]
    rows = [relation(doc, one, "calls", other) for one in ("One", "Two") for other in near]
    nodes = nodes_of("One", "Two", "Till", *near)
    frame = tables.RELATIONSHIP_MENTIONS.from_rows(rows)
    assert ("One", "Two") in pairs(nodes, company.by_shared_neighbours(nodes, frame))
    # What is said of the two of them makes them two.
    frame = tables.RELATIONSHIP_MENTIONS.from_rows([*rows, relation(doc, "One", "calls", "Two")])
    assert ("One", "Two") not in pairs(nodes, company.by_shared_neighbours(nodes, frame))


def test_vectors_give_the_nearest_of_a_fitting_family() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6], [0.95, 0.31225], [0, 1]], dtype=np.float32)
    found = {(c.short, c.long) for c in by_vectors(vectors, [], ["", "", "", ""])}
    assert found == {(0, 1), (0, 2), (1, 2), (1, 3)}
    assert (0, 2) not in {(c.short, c.long) for c in by_vectors(vectors, [], ["person", "", "place", ""])}
    far = np.array([[1, 0], [0.42, 0.9075]], dtype=np.float32)
    assert [*by_vectors(far, [], ["", ""])] == []
    assert [(c.short, c.long) for c in by_vectors(far, [[0, 1]], ["", ""])] == [(0, 1)]


def test_too_many_names_for_vectors_are_said() -> None:
    keys = keys_of("One", "Two", "Three")
    nodes = [as_node(key) for key in keys]
    none = tables.RELATIONSHIP_MENTIONS.empty()

    def embed_names(names: object) -> np.ndarray:  # type: ignore[type-arg]
        raise AssertionError(names)

    found = find_look_alikes(nodes, keys, none, embed_names=embed_names, max_vectors=2)
    assert [source for source, _ in found.cuts] == ["vector"]
    assert find_look_alikes(nodes, keys, none, embed_names=embed_names, max_vectors=0).cuts == []


def test_several_sources_of_one_pair_raise_its_score_and_are_all_named() -> None:
    ranked = rank_candidates(
        [
            Candidate(0, 1, "token_subset", 0.5, "Words."),
            Candidate(1, 0, "vector", 0.4, "Meaning."),
            Candidate(2, 3, "edit", 0.55, "Edits."),
            Candidate(4, 4, "edit", 0.9, "Itself."),
        ]
    )
    assert [(c.short, c.long, c.method, c.reason) for c in ranked] == [
        (0, 1, "token_subset", "Words. Meaning."),
        (2, 3, "edit", "Edits."),
    ]
    assert ranked[0].score == 0.6
