"""Citations in a text: `[Data: Relationships (1, 2); Sources (3)]`, datasets and row numbers, as in microsoft/graphrag.

The numbers are human_readable_ids in what people read, and 1..n in what a model was shown. `check_citations` keeps the
ids that a context holds and counts the others; `renumber_citations` also turns the numbers of a prompt into those of
the tables. A bracket that is no citation stays.

Does not: resolve a citation to a quote (search, index/report_calls.py), or choose what is cited.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

Cited = tuple[str, int]
"""Dataset and number: ("Relationships", 12)."""

DATASETS = {name.casefold(): name for name in ("Entities", "Relationships", "Claims", "Reports", "Sources")}
KINDS = {
    "Entities": "entities",
    "Relationships": "relationships",
    "Claims": "covariates",
    "Reports": "community_reports",
    "Sources": "text_units",
}  # fmt: skip
CITATION = re.compile(r"([ \t]*)\[\s*Data\s*:\s*([^\]]*)\]", re.IGNORECASE)
_DATASET = re.compile(r"([A-Za-z][A-Za-z ]*?)\s*\(([^()]*)\)")


@dataclass(frozen=True)
class CheckedText:
    """A text whose citations hold known ids only; `cited` are (dataset, id) in order of first use, each once."""

    text: str
    cited: tuple[Cited, ...]
    n_removed: int


def cite(**ids: Collection[int]) -> str:
    """`[Data: Relationships (1, 2); Sources (3)]` from keyword datasets in the order given; empty without ids."""
    parts = [f"{dataset} ({', '.join(map(str, numbers))})" for dataset, numbers in ids.items() if numbers]
    return f"[Data: {'; '.join(parts)}]" if parts else ""


def check_citations(text: str, known: Mapping[str, Collection[int]]) -> CheckedText:
    """Rewrite every citation to the ids that `known` (ids by dataset) holds; a citation without any goes away.

    Understood: any case and spacing, ids after commas or semicolons, `+more`.
    """
    return renumber_citations(text, {(name, id_): (name, id_) for name, ids in known.items() for id_ in ids})


def renumber_citations(text: str, numbers: Mapping[Cited, Cited]) -> CheckedText:
    """Rewrite every citation to what `numbers` has for its ids, in the order of the text; the others are removed and
    counted. `cited` are those that the text holds now."""
    cited: dict[Cited, None] = {}
    n_removed = 0

    def rewrite(match: re.Match[str]) -> str:
        nonlocal n_removed
        kept: dict[str, list[int]] = {}
        for name, listing in _DATASET.findall(match[2]):
            dataset = DATASETS.get(" ".join(name.split()).casefold(), "")
            for number in map(int, re.findall(r"\d{1,18}", listing)):
                found = numbers.get((dataset, number))
                if found is None:
                    n_removed += 1
                elif found[1] not in kept.setdefault(found[0], []):
                    kept[found[0]].append(found[1])
                    cited[found] = None
        citation = cite(**{dataset: listed for dataset, listed in kept.items() if listed})
        return match[1] + citation if citation else ""

    return CheckedText(CITATION.sub(rewrite, text), tuple(cited), n_removed)


def drop_citations(text: str) -> str:
    """The text without its citations."""
    return CITATION.sub("", text)
