"""Score an index of data/sample against data/sample/gold.json: entities, alias groups, typed edges.

Pure functions over Polars frames. Names are compared by `fold`, written here and not taken from the package, so that a
fault in graphrag.names cannot hide itself. Alias groups are compared to the letter (case aside): folding would merge
for the pipeline what it has to merge itself.

Does not: run the pipeline (conftest.py), score communities, reports or search.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

Gold = dict[str, list[Any]]
Edge = tuple[str, str, str]

IRREGULAR = {"wrote": "writ", "written": "writ", "led": "lead", "ran": "run", "kept": "keep", "sent": "send"}
IRREGULAR |= {"built": "build", "took": "tak", "held": "hold", "sold": "sell", "drawn": "draw", "set": "set"}


class Score(NamedTuple):
    """Counts and the rows behind them; precision and recall are 1.0 of nothing."""

    n_right: int
    n_judged: int
    n_found: int
    n_wanted: int
    wrong: list[str]
    missed: list[str]

    @property
    def precision(self) -> float:
        return self.n_right / self.n_judged if self.n_judged else 1.0

    @property
    def recall(self) -> float:
        return self.n_found / self.n_wanted if self.n_wanted else 1.0

    def line(self, label: str) -> str:
        return (
            f"{label}: precision {self.precision:.3f} ({self.n_right}/{self.n_judged}), "
            f"recall {self.recall:.3f} ({self.n_found}/{self.n_wanted})"
        )


class AliasScore(NamedTuple):
    unmerged: list[str]
    absent: list[str]
    wrongly_merged: list[str]


def load_gold(path: Path) -> Gold:
    gold: Gold = json.loads(path.read_text(encoding="utf-8"))
    return gold


def fold(name: str) -> str:
    """Comparison form: NFKC, CamelCase and separators to spaces, case, article, possessive and outer marks dropped."""
    text = unicodedata.normalize("NFKC", name).replace("\u2019", "'")
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text)
    text = re.sub(r"[\s_\-]+", " ", text).casefold().strip(" .,;:`\"'*#[]")
    return re.sub(r"^(?:the|a|an|our) ", "", re.sub(r"'s$", "", text))


def predicate_key(predicate: str) -> str:
    """Predicate without the ending of its verb: writes_to and wrote_to are equal, owns and owned_by are not."""
    verb, _, rest = predicate.partition("_")
    stem = IRREGULAR.get(verb) or re.sub(r"(?:es|ed|ing|s|e)$", "", re.sub(r"(?:ies|ied)$", "y", verb))
    return f"{stem}_{rest}" if rest else stem


def names_in(quote: str, names: list[str]) -> bool:
    flat = " ".join(quote.split())
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", flat, re.IGNORECASE) for name in names)


def bare_name(name: str) -> str:
    """The name of a homonym without the type in brackets."""
    return re.sub(r" \([^()]*\)$", "", name)


def gold_surfaces(gold: Gold) -> dict[str, list[str]]:
    """Every spelling of every gold entity."""
    return {
        e["name"]: [e["name"], *([bare_name(e["name"])] if "(" in e["name"] else []), *e["aliases"]]
        for e in gold["entities"]
    }


def _meanings(gold: Gold) -> dict[str, set[str]]:
    meanings: dict[str, set[str]] = {}
    for name, surfaces in gold_surfaces(gold).items():
        for surface in surfaces:
            meanings.setdefault(fold(surface), set()).add(name)
    for name in gold_surfaces(gold):  # a full name with its bracket means itself alone
        meanings[fold(name)] = {name}
    return meanings


def match_entities(entities: pl.DataFrame, gold: Gold) -> dict[str, set[str]]:
    """Entity title -> gold names it stands for: by title if that fits, else by its aliases; empty if by neither."""
    meanings = _meanings(gold)
    matched: dict[str, set[str]] = {}
    for title, aliases in entities.select("title", "aliases").iter_rows():
        by_title = meanings.get(fold(title), set())
        by_alias: set[str] = set().union(*(meanings.get(fold(alias), set()) for alias in aliases or []))
        matched[title] = by_title or by_alias
    return matched


def score_entities(entities: pl.DataFrame, gold: Gold) -> Score:
    """Right: the title or an alias folds equal to a gold name or alias, or a name of also_ok (no recall)."""
    matched = match_entities(entities, gold)
    fine = {fold(name) for name in gold["also_ok"]}
    judged = {
        title: bool(matched[title]) or any(fold(name) in fine for name in [title, *(aliases or [])])
        for title, aliases in entities.select("title", "aliases").iter_rows()
    }
    found = set().union(*matched.values()) if matched else set()
    wanted = {entity["name"] for entity in gold["entities"]}
    wrong = sorted(title for title, right in judged.items() if not right)
    return Score(len(judged) - len(wrong), len(judged), len(found & wanted), len(wanted), wrong, sorted(wanted - found))


def score_aliases(entities: pl.DataFrame, gold: Gold) -> AliasScore:
    """Groups whose spellings lie in several entities, spellings found nowhere, pairs that share an entity."""
    owners: dict[str, set[str]] = {}
    for title, aliases in entities.select("title", "aliases").iter_rows():
        for name in [title, *(aliases or [])]:
            owners.setdefault(name.casefold(), set()).add(title)
    unmerged, absent, wrongly_merged = [], [], []
    for group in gold["alias_groups"]:
        sets = [owners.get(name.casefold(), set()) for name in group]
        absent += [name for name, titles in zip(group, sets, strict=True) if not titles]
        if len(set().union(*sets)) > 1:
            unmerged.append(f"{group}: {sorted(set().union(*sets))}")
    matched = match_entities(entities, gold)
    for a, b in gold["not_same"]:
        shared = owners.get(a.casefold(), set()) & owners.get(b.casefold(), set())
        shared |= {title for title, names in matched.items() if {a, b} <= names}
        if shared:
            wrongly_merged.append(f"{a} and {b}: {sorted(shared)}")
    return AliasScore(unmerged, sorted(set(absent)), wrongly_merged)


def _edges(rows: list[dict[str, Any]]) -> set[Edge]:
    return {
        (row["source"], predicate_key(predicate), row["target"])
        for row in rows
        for predicate in [row["predicate"], *row.get("predicate_also", [])]
    }


def score_edges(
    relationships: pl.DataFrame, entities: pl.DataFrame, gold: Gold, *, stated: tuple[str, ...] = ("by name",)
) -> Score:
    """Typed, directed edges of origin extracted whose ends are both gold entities; recall over edges `stated` so.

    A gold edge is found when its source and target are joined by its predicate or one of predicate_also.
    """
    matched = match_entities(entities, gold)
    fine = _edges(gold["edges"]) | _edges(gold["edges_also_ok"])
    found: set[Edge] = set()
    n_judged, wrong = 0, []
    rows = relationships.filter(pl.col("origin") == "extracted").select("source", "predicate", "target")
    for source, predicate, target in rows.iter_rows():
        readings = {
            (s, predicate_key(predicate), t) for s in matched.get(source, ()) for t in matched.get(target, ()) if s != t
        }
        if not readings:
            continue
        n_judged += 1
        found |= readings & fine
        if not readings & fine:
            wrong.append(f"{source} -{predicate}-> {target}")
    wanted = {
        (edge["source"], edge["predicate"], edge["target"]): _edges([edge])
        for edge in gold["edges"]
        if edge["stated"] in stated
    }
    missed = [f"{s} -{p}-> {t}" for (s, p, t), forms in wanted.items() if not forms & found]
    return Score(n_judged - len(wrong), n_judged, len(wanted) - len(missed), len(wanted), sorted(wrong), sorted(missed))


def find_denied_edges(relationships: pl.DataFrame, entities: pl.DataFrame, gold: Gold) -> list[str]:
    """Extracted edges that the documents deny, retract or only consider."""
    matched = match_entities(entities, gold)
    denied = _edges(gold["not_edges"])
    rows = relationships.filter(pl.col("origin") == "extracted").select("source", "predicate", "target")
    return sorted(
        f"{source} -{predicate}-> {target}"
        for source, predicate, target in rows.iter_rows()
        if any(
            (s, predicate_key(predicate), t) in denied for s in matched.get(source, ()) for t in matched.get(target, ())
        )
    )
