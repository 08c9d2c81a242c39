"""Which names become one, against people's judgement: precision, recall, and what a perfect judge could still add.

    python -m tests.bench.bench_disambiguation ../shared/data [er|ie] [--vectors]

er: GitHub topics with aliases (the same thing) and related topics (others), each on a page of its own, with a list of
all names as one more page. ie: Re-DocRED dev, spans and types given; a gold pair is two spellings of one entity in one
document, as in the README of that data. Across documents nobody has labelled who is who: there, entities of one type
that share a spelling of two words or more count as one. "With judge" answers every proposal from the gold.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, count
from pathlib import Path

import numpy as np
import polars as pl
import regex
from numpy.typing import NDArray

from graphrag import ids, tables
from graphrag.index.disambiguation import Disambiguation, disambiguate_entities
from graphrag.names import name_key
from graphrag.naming import verdicts
from graphrag.vectors import EMBEDDED, load_embedder
from tests.bench.bench_entities import join_tokens
from tests.mention_rows import Row, document

TYPES = {"PER": "person", "LOC": "location", "ORG": "organization", "MISC": "unknown"}

Pair = frozenset[str]
Judge = Callable[[frozenset[str], frozenset[str]], bool]  # are two entities one, by all their names


@dataclass(frozen=True, slots=True)
class Score:
    """Pairs of names: gold, found, right; and gold pairs that are found or proposed."""

    gold: int
    found: int
    right: int
    reachable: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.gold)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, self.gold + self.found)

    @property
    def ceiling(self) -> float:
        """Blocking recall: what a judge that is always right would reach."""
        return self.reachable / max(1, self.gold)


def make_mention(doc: Row, surface: str, start: int, *, type: str = "unknown", method: str = "spacy") -> Row:
    return {
        "id": ids.row_id("mention", str(doc["id"]), str(start), surface),
        "text_unit_id": ids.text_unit_id(str(doc["id"]), "", 0),
        "document_id": doc["id"], "surface": surface, "type": type, "description": "", "start_char": start,
        "end_char": start + len(surface), "method": method,
    }  # fmt: skip


def run_disambiguation(
    docs: list[Row], mentions: list[Row], judge: Judge | None = None, *, with_vectors: bool = False
) -> Disambiguation:
    """The tables; with a judge, after it has answered every proposal."""
    frames = (
        tables.ENTITY_MENTIONS.from_rows(list({str(row["id"]): row for row in mentions}.values())),
        tables.RELATIONSHIP_MENTIONS.empty(),
        tables.DOCUMENTS.from_rows(docs),
    )
    embed, max_names = (embed_names, 50_000) if with_vectors else (None, 0)
    found = disambiguate_entities(*frames, embed_names=embed, max_name_vectors=max_names)
    if judge is None:
        return found
    names = found.entity_mentions.group_by("entity_id").agg(pl.col("surface").unique())
    names_of = {entity: frozenset(surfaces) for entity, surfaces in names.iter_rows()}
    open_pairs = found.alias_candidates.filter(verdict="propose")
    said = [
        "same" if judge(names_of[a], names_of[b]) else "different"
        for a, b in open_pairs.select("entity_id_a", "entity_id_b").iter_rows()
    ]
    judged = open_pairs.with_columns(verdict=pl.Series(said, dtype=pl.String), reason=pl.lit("gold"))
    judged = judged.select(verdicts.SCHEMA.names())
    return disambiguate_entities(*frames, verdicts=judged, embed_names=embed, max_name_vectors=max_names)


@cache
def _embed_name(name: str) -> tuple[float, ...]:
    return tuple(load_embedder(EMBEDDED).embed([name])[0].tolist())


def embed_names(names: Sequence[str]) -> NDArray[np.float32]:
    return np.array([_embed_name(name) for name in names], dtype=np.float32)


# -- GitHub topics


@dataclass(frozen=True, slots=True)
class Topics:
    docs: list[Row]
    mentions: list[Row]
    same: list[tuple[str, str]]
    related: list[tuple[str, str]]
    list_id: str


def read_topics(folder: Path) -> Topics:
    rows = pl.read_parquet(folder / "er" / "github_topics_aliases_sample.parquet").to_dicts()
    names = sorted({n for r in rows for n in (r["display_name"], r["topic"], *r["aliases"], *r["related"])})
    docs, mentions, same, related = [], [], [], []
    for row in rows:
        text = f"{row['display_name']}. {row['short_description']}\n{row['body']}"
        doc = document(f"{row['topic']}.md", text, title=row["display_name"])
        docs.append(doc)
        mentions.append(make_mention(doc, row["display_name"], 0))
        own = {row["display_name"], row["topic"], *row["aliases"]}
        for name in own:
            for spelling in {name.strip(), name.strip().replace("-", " ")}:
                for match in regex.finditer(rf"(?<!\w){regex.escape(spelling)}(?!\w)", text, flags=regex.IGNORECASE):
                    if match.start() > 0:
                        mentions.append(make_mention(doc, match.group(), match.start()))
        title = row["display_name"]
        same += [(alias, title) for alias in row["aliases"] if alias.casefold() != title.casefold()]
        related += [(other, title) for other in row["related"] if other not in own]
    listed = document("all_names.txt", " ; ".join(names))
    start = 0
    for name in names:
        mentions.append(make_mention(listed, name, start))
        start += len(name) + len(" ; ")
    return Topics([*docs, listed], mentions, same, related, str(listed["id"]))


def score_topics(topics: Topics, result: Disambiguation) -> tuple[Score, float]:
    """Pairs of topic and alias, and the share of related topics that were merged all the same."""
    listed = result.entity_mentions.filter(document_id=topics.list_id)
    entity_of = dict(listed.select("surface", "entity_id").iter_rows())
    proposed = proposals(result)
    merged = [entity_of[a] == entity_of[b] for a, b in topics.same]
    wrong = sum(entity_of[a] == entity_of[b] for a, b in topics.related)
    near = sum(
        is_one or frozenset((entity_of[a], entity_of[b])) in proposed
        for is_one, (a, b) in zip(merged, topics.same, strict=True)
    )
    return Score(len(merged), sum(merged) + wrong, sum(merged), near), wrong / len(topics.related)


def proposals(result: Disambiguation) -> set[Pair]:
    rows = result.alias_candidates.filter(verdict="propose").select("entity_id_a", "entity_id_b")
    return {frozenset(row) for row in rows.iter_rows()}


# -- Re-DocRED


@dataclass(frozen=True, slots=True)
class Spellings:
    """`entities`: for each document, its entities as (type, spellings). `entity_of_mention`: number by mention id."""

    docs: list[Row]
    mentions: list[Row]
    entities: list[list[tuple[str, frozenset[str]]]]
    entity_of_mention: dict[str, int]


def read_spellings(folder: Path) -> Spellings:
    docs, mentions, entities = [], [], []
    numbers: dict[str, int] = {}
    for row in pl.read_parquet(folder / "ie" / "redocred_dev.parquet").iter_rows(named=True):
        sentences = json.loads(row["sents_json"])
        text, starts = join_tokens(sentences)
        doc = document(f"{len(docs):03}.txt", text, title=row["title"])
        docs.append(doc)
        found: list[tuple[str, frozenset[str]]] = []
        for number, entity in enumerate(json.loads(row["entities_json"])):
            kind = entity[0]["type"]
            spellings = set()
            for mention in entity if kind in TYPES else ():
                first, last = mention["pos"]
                tokens, offsets = sentences[mention["sent_id"]], starts[mention["sent_id"]]
                start, end = offsets[first], offsets[last - 1] + len(tokens[last - 1])
                spellings.add(text[start:end])
                found_mention = make_mention(doc, text[start:end], start, type=TYPES[kind], method="llm")
                numbers[str(found_mention["id"])] = number
                mentions.append(found_mention)
            if spellings:
                found.append((TYPES[kind], frozenset(spellings)))
        entities.append(found)
    return Spellings(docs, list({str(row["id"]): row for row in mentions}.values()), entities, numbers)


def score_within(spellings: Spellings, result: Disambiguation) -> Score:
    """Pairs of spellings of one type in one document."""
    entities_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for document_id, surface, entity in result.entity_mentions.select(
        "document_id", "surface", "entity_id"
    ).iter_rows():
        entities_of[document_id, surface].add(entity)
    proposed = proposals(result)
    gold = found = right = reachable = 0
    for doc, entities in zip(spellings.docs, spellings.entities, strict=True):
        wanted = {frozenset(pair) for _, names in entities for pair in combinations(sorted(names), 2)}
        for pair in same_type_pairs(entities):
            a, b = (entities_of[str(doc["id"]), name] for name in sorted(pair))
            is_one = not a.isdisjoint(b)
            gold += pair in wanted
            found += is_one
            right += is_one and pair in wanted
            near = is_one or any(frozenset((x, y)) in proposed for x in a for y in b)
            reachable += near and pair in wanted
    return Score(gold, found, right, reachable)


def score_mentions(spellings: Spellings, result: Disambiguation) -> Score:
    """Pairs of mentions of one type in one document, as coreference counts them: equal spellings count too."""
    entity_of = dict(result.entity_mentions.select("id", "entity_id").iter_rows())
    proposed = proposals(result)
    groups: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for row in spellings.mentions:
        number = spellings.entity_of_mention[str(row["id"])]
        groups[str(row["document_id"]), str(row["type"])].append((number, entity_of[str(row["id"])]))
    gold = found = right = reachable = 0
    for members in groups.values():
        for (number_a, a), (number_b, b) in combinations(members, 2):
            is_same, is_one = number_a == number_b, a == b
            gold += is_same
            found += is_one
            right += is_same and is_one
            reachable += is_same and (is_one or frozenset((a, b)) in proposed)
    return Score(gold, found, right, reachable)


def same_type_pairs(entities: list[tuple[str, frozenset[str]]]) -> set[Pair]:
    names: dict[str, set[str]] = defaultdict(set)
    for kind, spellings in entities:
        names[kind] |= spellings
    return {frozenset(pair) for found in names.values() for pair in combinations(sorted(found), 2)}


def score_across(spellings: Spellings, result: Disambiguation) -> Score:
    """Pairs of spellings of the corpus, by the entities that share a spelling of two words or more."""
    group_of = group_entities(spellings)
    wanted: set[Pair] = set()
    for names in group_of.values():
        wanted |= {frozenset(pair) for pair in combinations(sorted(names), 2)}
    known = {name for names in group_of.values() for name in names}
    by_entity: dict[str, set[str]] = defaultdict(set)
    for surface, entity in result.entity_mentions.select("surface", "entity_id").unique().iter_rows():
        by_entity[entity].add(surface)
    found: set[Pair] = set()
    for names in by_entity.values():
        found |= {frozenset(pair) for pair in combinations(sorted(names & known), 2)}
    entity_of: dict[str, set[str]] = defaultdict(set)
    for entity, names in by_entity.items():
        for name in names:
            entity_of[name].add(entity)
    proposed = proposals(result)
    near = {
        pair
        for pair in wanted - found
        if any(frozenset((x, y)) in proposed for x in entity_of[min(pair)] for y in entity_of[max(pair)])
    }
    return Score(len(wanted), len(found), len(wanted & found), len(wanted & found) + len(near))


def group_entities(spellings: Spellings) -> dict[int, set[str]]:
    """Spellings of one entity over all documents."""
    group_by_name: dict[tuple[str, str], int] = {}
    groups: dict[int, set[str]] = {}
    numbers = count()
    for entities in spellings.entities:
        for kind, names in entities:
            long = [(kind, name) for name in sorted(names) if " " in name]
            known = sorted({group_by_name[name] for name in long if name in group_by_name})
            number = known[0] if known else next(numbers)
            members = groups.setdefault(number, set())
            members |= names
            for other in known[1:]:
                members |= groups.pop(other)
                group_by_name = {name: number if n == other else n for name, n in group_by_name.items()}
            group_by_name.update(dict.fromkeys(long, number))
    return groups


def make_judge(groups: Iterable[Iterable[str]]) -> Judge:
    """Two entities are one where a name of each stands in one group of the gold."""
    groups_of: dict[str, set[int]] = defaultdict(set)
    for number, names in enumerate(groups):
        for name in names:
            groups_of[name_key(name)].add(number)

    def numbers(names: frozenset[str]) -> set[int]:
        return {number for name in names for number in groups_of[name_key(name)]}

    return lambda a, b: not numbers(a).isdisjoint(numbers(b))


def topic_groups(topics: Topics) -> Iterator[set[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for alias, title in topics.same:
        names[title] |= {alias, title}
    yield from names.values()


def print_score(name: str, score: Score, note: str = "") -> None:
    print(
        f"| {name:<36} | {score.gold:5} | {score.precision:.3f} | {score.recall:.3f} | {score.f1:.3f} "
        f"| {score.ceiling:.3f} | {note} |"
    )


def main() -> None:
    folder, wanted = Path(sys.argv[1]), set(sys.argv[2:]) & {"er", "ie"} or {"er", "ie"}
    with_vectors = "--vectors" in sys.argv
    print("| names                                | pairs |   P   |   R   |  F1   | blocking | |")
    print("|--------------------------------------|------:|------:|------:|------:|---------:|-|")
    if "er" in wanted:
        topics = read_topics(folder)
        for name, judge in (("GitHub topics", None), ("GitHub topics, gold judge", make_judge(topic_groups(topics)))):
            result = run_disambiguation(topics.docs, topics.mentions, judge, with_vectors=with_vectors)
            score, wrong = score_topics(topics, result)
            print_score(name, score, f"related merged: {wrong:.4f}")
    if "ie" in wanted:
        spellings = read_spellings(folder)
        groups = [names for entities in spellings.entities for _, names in entities]
        for name, judge in (("Re-DocRED", None), ("Re-DocRED, gold judge", make_judge(groups))):
            result = run_disambiguation(spellings.docs, spellings.mentions, judge, with_vectors=with_vectors)
            print_score(f"{name}, in a document", score_within(spellings, result))
            print_score(f"{name}, mentions", score_mentions(spellings, result))
            print_score(f"{name}, all documents", score_across(spellings, result))


if __name__ == "__main__":
    main()
