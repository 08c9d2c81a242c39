"""Namesakes: a part of a name that means another person in each document (specs: indexing 3).

"Brown" is Gordon Brown in one document and Dan Brown in the next. Where documents name exactly one person in full whom
the part fits, and do not all name the same one, the part is split: its mentions go by what their document says. Of
several Browns in one document, it is the one of the document's title: relatives go by their given names there. Other
mentions go with the document whose company of names is clearly most alike, or stay a name of their own.

Where persons go by title and surname (Mr. Darcy, Miss Darcy), or most documents name nobody in full (the chapters of a
novel), nothing is split. Tables read: entity_mentions, documents.

Does not: split what aliases.toml speaks of, or what types have split already (homonyms.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

import polars as pl

from graphrag.names import name_key, parse_name, titles_differ
from graphrag.naming.entity_types import choose_type, type_family
from graphrag.naming.nodes import Node
from graphrag.naming.person_rules import PARTS, fits_initials, is_full_name, is_part_of_name, is_shorter_name
from graphrag.naming.vetoes import ordered_person_words

Words = tuple[str, ...]
MIN_SHARE = 0.5  # of the documents of a part that name somebody in full; in a novel's chapters few do
MIN_LIKENESS = 0.2  # of the names of a document, those that also stand where the person is named in full
CLEAR = 2.0  # the likeness to one home over that to the next


def split_namesakes(
    entity_mentions: pl.DataFrame, documents: pl.DataFrame, *, known: Collection[str]
) -> dict[str, str]:
    """{mention id: key of the full name that its surface stands for}, of parts of names that mean several persons.

    known: ids of mentions and keys that are left alone.
    """
    persons = _read_persons(entity_mentions)
    nodes = {surface: Node(parse_name(surface, person="yes"), (surface,)) for surface in sorted(persons)}
    full_names: dict[str, dict[str, Node]] = defaultdict(dict)  # of each document
    parts: dict[str, set[str]] = defaultdict(set)  # surfaces of each part, by key
    titled: set[str] = set()  # words that stand behind titles alone: Mr. Darcy
    for surface, places in persons.items():
        node = nodes[surface]
        if is_full_name(node, 0) or is_full_name(node, -1):
            for document in places:
                full_names[document][node.name.key] = node
        elif node.name.honorific:
            titled.update(ordered_person_words(node.name))
        elif node.name.key not in known and any(is_part_of_name(node, part) for part in PARTS.values()):
            parts[node.name.key].add(surface)
    titles = {
        id_: ordered_person_words(parse_name(title)) for id_, title in documents.select("id", "title").iter_rows()
    }
    found: dict[str, dict[str, str]] = {}
    for key, surfaces in sorted(parts.items()):
        node = nodes[min(surfaces)]
        if key in titled:
            continue
        places = {document for surface in surfaces for document in persons[surface]}
        whole: dict[str, str] = {}
        by_title: set[str] = set()
        for document in sorted(places):
            forms = _fitting(node, full_names.get(document, {}))
            named = {low for full, low in forms.items() if _are_forms(_words(full), titles.get(document, ()))}
            fitting = set(forms.values())
            if len(fitting) > 1 and len(named) == 1:
                by_title.add(document)
                fitting = named
            if len(fitting) == 1:
                whole[document] = min(fitting)
        whole = _unite_forms(whole, {k: n for d in whole for k, n in full_names[d].items()})
        if (len(set(whole.values())) > 1 or by_title) and len(whole) >= MIN_SHARE * len(places):
            found[key] = whole
    return _assign_mentions(found, entity_mentions, known)


def _read_persons(entity_mentions: pl.DataFrame) -> dict[str, set[str]]:
    """Surfaces of persons, with the documents where they are such."""
    types: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    counts = entity_mentions.group_by("surface", "document_id", "type", "method").len()
    for surface, document, kind, method, n in counts.iter_rows():
        types[surface, document][kind, method] += n
    persons: dict[str, set[str]] = defaultdict(set)
    for (surface, document), counter in types.items():
        if type_family(choose_type(counter)) == "person":
            persons[surface].add(document)
    return persons


def _fitting(node: Node, full_names: Mapping[str, Node]) -> dict[str, str]:
    """The full names that the part fits, each with the smallest of its forms."""
    (word,) = ordered_person_words(node.name)
    fitting = {
        key: full
        for key, full in full_names.items()
        for part in PARTS.values()
        if is_part_of_name(node, part)
        and is_full_name(full, part)
        and ordered_person_words(full.name)[part] == word
        and not titles_differ(node.name.honorific, full.name.honorific)
    }
    return _group_forms(fitting)


def _group_forms(full_names: Mapping[str, Node]) -> dict[str, str]:
    """{key: smallest key of the forms of that name}: G. Brown, Gordon Brown, Gordon P. Brown."""
    words = {key: ordered_person_words(node.name) for key, node in full_names.items()}
    smallest: dict[str, str] = {}
    for key in sorted(words):
        same = [other for other in smallest if _are_forms(words[key], words[other])]
        lowest = min([key, *(smallest[other] for other in same)])
        smallest[key] = lowest
        for other, low in list(smallest.items()):
            if any(low == smallest[x] for x in same):
                smallest[other] = lowest
    return smallest


def _words(key: str) -> Words:
    return ordered_person_words(parse_name(key))


def _are_forms(a: Words, b: Words) -> bool:
    if not a or not b:
        return False
    if a == b or is_shorter_name(a, b) or is_shorter_name(b, a):
        return True
    return a[-1] == b[-1] and (fits_initials(a[:-1], b[:-1]) or fits_initials(b[:-1], a[:-1]))


def _unite_forms(whole: Mapping[str, str], full_names: Mapping[str, Node]) -> dict[str, str]:
    forms = _group_forms({key: full_names[key] for key in set(whole.values())})
    return {document: forms[key] for document, key in whole.items()}


def _assign_mentions(
    found: Mapping[str, Mapping[str, str]], entity_mentions: pl.DataFrame, known: Collection[str]
) -> dict[str, str]:
    """A mention goes by its document; where that says nothing, by the company of names, if it is clear."""
    surfaces = [surface for surface in entity_mentions["surface"].unique() if name_key(surface) in found]
    rows = entity_mentions.filter(pl.col("surface").is_in(surfaces)).sort("id")
    company: dict[str, set[str]] = defaultdict(set)
    if found:
        for document, surface in entity_mentions.select("document_id", "surface").unique().iter_rows():
            company[document].add(name_key(surface))
    whole_of: dict[tuple[str, str], str] = {}
    result: dict[str, str] = {}
    for mention, document, surface in rows.select("id", "document_id", "surface").iter_rows():
        key = name_key(surface)
        if (key, document) not in whole_of:
            said = found[key].get(document)
            whole_of[key, document] = said or _most_alike(document, found[key], company, but=key)
        if whole_of[key, document] and mention not in known:
            result[mention] = whole_of[key, document]
    return result


def _most_alike(document: str, whole: Mapping[str, str], company: Mapping[str, set[str]], *, but: str) -> str:
    names = company[document] - {but}
    likeness: dict[str, float] = defaultdict(float)
    for other, full in whole.items():
        shared = len(names & company[other]) / max(1, len(names))
        likeness[full] = max(likeness[full], shared)
    ranked = sorted(likeness, key=lambda full: (-likeness[full], full))
    best, second = likeness[ranked[0]], likeness[ranked[1]] if len(ranked) > 1 else 0.0
    return ranked[0] if best >= MIN_LIKENESS and best >= CLEAR * second else ""
