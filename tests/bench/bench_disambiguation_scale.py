"""Disambiguation of many names: CPU seconds, peak memory, candidates, merges and proposals.

    python -m tests.bench.bench_disambiguation_scale [surfaces ...]        (default: 20000 50000 200000)

Each size runs in a process of its own. The names are made up, the same on every machine: services in four spellings,
teams, people with initials and titles, companies with legal forms and acronyms, versions, incident numbers, plurals,
misspellings. Words are drawn unevenly, a few of them into thousands of names, and their number grows more slowly than
that of the names, as in real text. Every name stands in one to three documents; two in five state a relation.
"""

from __future__ import annotations

import hashlib
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from random import Random

import polars as pl

from graphrag import ids, tables
from graphrag.index.disambiguation import disambiguate_entities

SIZES = (20_000, 50_000, 200_000)
NAMES_PER_DOCUMENT = 60
SYLLABLES = "ka lo mi ren tos va dor bel cri stan ple gor hin ux ta qua zen fro lim ops nar vek sol tri den mar pol ich"
KINDS = "Service API Cluster Team Database Gateway Cache Queue Worker Pipeline Dashboard Registry Scheduler Proxy"
FORMS = ("Inc.", "GmbH", "Corporation", "Ltd", "AG", "LLC")
TITLES = ("Dr.", "Mr.", "Mrs.", "Prof.")


class Words:
    """Made-up words, drawn so that the first ones come far more often than the last."""

    def __init__(self, random: Random, n: int) -> None:
        syllables = SYLLABLES.split()
        found: dict[str, None] = {}
        while len(found) < n:
            found["".join(random.choice(syllables) for _ in range(random.randint(2, 4)))] = None
        self._words, self._random = list(found), random

    def draw(self) -> str:
        return self._words[int(len(self._words) * self._random.random() ** 2)]


def make_surfaces(n: int) -> list[str]:
    """n different names in the order in which they were made."""
    random = Random(20261130)
    n_words = max(200, int(25 * n**0.6))
    words, given, surnames = Words(random, n_words), Words(random, n_words // 8), Words(random, n_words // 2)
    found: dict[str, None] = {}
    while len(found) < n:
        for surface in make_family(random, words, given, surnames):
            found[surface] = None
    return list(found)[:n]


def make_family(random: Random, words: Words, given: Words, surnames: Words) -> Iterator[str]:
    """One thing's name, now and then with another spelling of it."""
    kind, first, second = random.random(), words.draw(), words.draw()
    if kind < 0.30:
        name = f"{first.capitalize()} {random.choice(KINDS.split())}"
        yield name
        if random.random() < 0.4:
            yield random.choice((name.replace(" ", ""), name.lower().replace(" ", "-"), f"the {name.lower()}s"))
    elif kind < 0.48:
        name = f"{first.capitalize()} {second.capitalize()} {random.choice(KINDS.split())}"
        yield name if random.random() < 0.5 else f"{first.capitalize()} {second.capitalize()}"
    elif kind < 0.66:
        name, surname = given.draw().capitalize(), surnames.draw().capitalize()
        yield f"{name} {surname}"
        if random.random() < 0.4:
            titled = f"{random.choice(TITLES)} {surname}"
            yield random.choice((f"{name[0]}. {surname}", titled, f"{surname}, {name}", surname))
    elif kind < 0.78:
        name = f"{first.capitalize()} {second.capitalize()} {words.draw().capitalize()}"
        yield name if random.random() < 0.5 else f"{first.capitalize()} {random.choice(FORMS)}"
        if random.random() < 0.3:
            yield "".join(word[0] for word in name.split())
    elif kind < 0.88:
        yield f"{first.capitalize()} {random.randint(1, 19)}.{random.randint(0, 40)}"
    elif kind < 0.94:
        yield f"INC-{random.randint(1, 999_999)}"
    else:
        yield first.capitalize() if random.random() < 0.5 else f"{first} {second}"
    if random.random() < 0.06:  # misspelt
        name = f"{first.capitalize()} {random.choice(KINDS.split())}"
        at = random.randrange(1, len(first))
        yield name
        yield name[:at] + name[at + 1 :] if random.random() < 0.5 else name[:at] + name[at - 1 :]


def make_tables(surfaces: list[str]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """entity_mentions, relationship_mentions, documents: every surface in one to three documents."""
    random = Random(len(surfaces))
    order = [surface for surface in surfaces for _ in range(random.choice((1, 1, 2, 3)))]
    random.shuffle(order)
    documents, mentions, relations = [], [], []
    for number, start in enumerate(range(0, len(order), NAMES_PER_DOCUMENT)):
        names = order[start : start + NAMES_PER_DOCUMENT]
        text, path = ". ".join(names) + ".", f"{number:06}.txt"
        document = ids.document_id(path)
        documents.append({
            "id": document, "human_readable_id": number, "title": path, "text": text, "text_unit_ids": [],
            "creation_date": "", "path": path, "kind": "txt", "content_sha256": document, "n_tokens": 1,
            "metadata": "{}",
        })  # fmt: skip
        at = 0
        for name in names:
            mentions.append({
                "id": f"{document}{at}", "text_unit_id": document, "document_id": document, "surface": name,
                "type": "person" if len(name.split()) == 2 and random.random() < 0.3 else "unknown",
                "description": "", "start_char": at, "end_char": at + len(name), "method": "spacy",
            })  # fmt: skip
            at += len(name) + 2
        for n, (subject, object_) in enumerate(zip(names[::5], names[1::5], strict=False)):
            relations.append({
                "id": f"{document}r{n}", "text_unit_id": document, "document_id": document, "subject": subject,
                "predicate": "calls", "object": object_, "subject_surface": subject, "predicate_surface": "calls",
                "object_surface": object_, "description": "", "start_char": 0, "end_char": len(text),
                "is_verified": True, "origin": "extracted", "method": "rule",
            })  # fmt: skip
    named = (tables.ENTITY_MENTIONS, mentions), (tables.RELATIONSHIP_MENTIONS, relations), (tables.DOCUMENTS, documents)
    frames = (table.conform(pl.DataFrame(rows, schema=table.schema, orient="row")) for table, rows in named)
    entity_mentions, relationship_mentions, frame = frames
    return entity_mentions, relationship_mentions, frame


def measure(n: int) -> None:
    made = make_tables(make_surfaces(n))
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    started = time.process_time()
    found = disambiguate_entities(*made)
    seconds = time.process_time() - started
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    proposed = found.alias_candidates.filter(verdict="propose")
    digest = hashlib.sha256("".join(frame.write_json() for frame in found).encode()).hexdigest()[:12]
    print(
        f"{n:,} surfaces: {seconds:.1f} CPU s, peak {peak_mb:,.0f} MB ({before_mb:,.0f} before), "
        f"{found.clusters.height:,} entities, {found.aliases.height:,} aliases, {proposed.height:,} proposals, "
        f"{found.alias_candidates.height - proposed.height:,} vetoed pairs, tables {digest}"
    )
    counts = found.aliases["method"].value_counts().rows() + proposed["method"].value_counts().rows()
    print("   " + ", ".join(f"{method} {count:,}" for method, count in sorted(counts)), flush=True)
    for reason, count in sorted(found.failures["reason"].value_counts().rows()):
        print(f"   {reason}: {count:,} rows of failures", flush=True)


def main(sizes: list[str]) -> None:
    if len(sizes) == 1:
        measure(int(sizes[0]))
        return
    for size in sizes or map(str, SIZES):
        subprocess.run([sys.executable, "-m", "tests.bench.bench_disambiguation_scale", size], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
