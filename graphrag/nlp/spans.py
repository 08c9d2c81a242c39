"""The spans of the NER model, and how they and the runs of capitals correct each other.

The model was trained on news: it knows people, places and companies, and cuts names of software badly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import regex

from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.lexicon import CLOSED_WORDS, INSTITUTIONS, ORDINARY_WORDS, TYPE_OF_HEAD, TYPE_OF_LABEL
from graphrag.nlp.markup import Clean
from graphrag.nlp.parsing import Parse
from graphrag.nlp.words import Name, head_type


def model_spans(clean: Clean, parse: Parse) -> list[Name]:
    """The spans of the NER model without articles, possessives and quotes; only those with a capital."""
    found = []
    for first, last, label in parse.entities:
        if label not in TYPE_OF_LABEL:
            continue
        while first < last and (
            parse.tags[first] in {"DT", "PRP$", "``", "''", "POS", ":", "HYPH", "-LRB-", "NFP", ",", "SYM"}
        ):
            first += 1
        while last > first and parse.tags[last - 1] in {
            "POS",
            "''",
            "``",
            ".",
            ",",
            ":",
            "-RRB-",
            "HYPH",
            "NFP",
            "_SP",
            "CC",
            "IN",
            "TO",
            "SYM",
        }:
            last -= 1
        if first == last:
            continue
        start, end = parse.starts[first], parse.ends[last - 1]
        text = clean.text[start:end]
        if not any(c.isupper() for c in text) or regex.search(r"[\n|\"()\[\]{}<>=:;!?*/\\]|, ", text):
            continue
        found.append(Name(start, end, TYPE_OF_LABEL[label], "ner"))
    return found


def merge_runs(clean: Clean, runs: list[Name], spans: list[Name], lexicon: Lexicon) -> list[Name]:
    """Runs, cut and typed by the model's spans; a span that touches no run, or rightly widens runs, is kept too."""
    found: list[Name] = []
    fitted: list[Name] = []
    for run in runs:
        start, end = fit_run(clean, run, spans, lexicon)
        text = clean.text[start:end]
        same = [span for span in spans if span.start < end and start < span.end]
        kind = run.type if (start, end) == (run.start, run.end) else head_type(text) or "unknown"
        if same and (kind == "unknown" or not lexicon.is_technical):
            exact = [span.type for span in same if (span.start, span.end) == (start, end)]
            believed = exact[0] if exact and not lexicon.is_technical else lexicon.model_type(text) or kind
            kind = kind if kind in TECHNICAL_TYPES else believed
        fitted.append(replace(run, start=start, end=end, type=kind, is_sure=run.is_sure or bool(same)))
    for span in spans:
        text = clean.text[span.start : span.end]
        touching = [run for run in fitted if span.start < run.end and run.start < span.end]
        if text.split()[0].casefold() in ORDINARY_WORDS | CLOSED_WORDS and not is_quoted(clean.text, span):
            continue
        if is_widely_name(text, lexicon) if not touching else widens(clean.text, span, touching):
            kind = span.type if not lexicon.is_technical else lexicon.model_type(text) or "unknown"
            found.append(replace(span, type=head_type(text) or kind if lexicon.is_technical else kind))
    return fitted + found


def fit_run(clean: Clean, run: Name, spans: Sequence[Name], lexicon: Lexicon) -> tuple[int, int]:
    """A run without the title before a person, or the office before a place: "Prime Minister of Siam" -> Siam."""
    text = clean.text[run.start : run.end]
    if head_type(text) or lexicon.usage(text.casefold()).n_named > 1 or lexicon.is_technical:
        return run.start, run.end
    for span in spans:
        if span.end != run.end or span.start <= run.start:
            continue
        before = clean.text[run.start : span.start]
        is_person = span.type == "person" and " " in clean.text[span.start : span.end]
        is_place = span.type in {"location", "group"} and regex.search(r" of (?:the )?$", before) is not None
        if is_person or (is_place and before.split(" of ")[0].split()[-1].casefold() not in INSTITUTIONS):
            return span.start, span.end
    return run.start, run.end


TECHNICAL_TYPES = frozenset(TYPE_OF_HEAD.values()) - {"page", "table", "model"}
JOINING = frozenset({"of", "for", "of the", "for the", "de", "del", "von", "van", "di"})


def is_quoted(text: str, span: Name) -> bool:
    return text[: span.start].rstrip()[-1:] == '"' and text[span.end :].lstrip()[:1] == '"'


def widens(text: str, span: Name, touching: Sequence[Name]) -> bool:
    """May a span of the model stand for the runs it touches? A longer name, a person's initials, a quoted title."""
    if not all(span.start <= run.start and run.end <= span.end for run in touching):
        return False
    gaps = [text[a.end : b.start] for a, b in pairwise(touching)]
    if is_quoted(text, span) or (gaps and all(gap.strip() in JOINING and gap.startswith(" ") for gap in gaps)):
        return True
    if span.type == "person" and all(
        regex.fullmatch(r"\.? |\.|\.? (?:bin|al|el|ibn|ben|ter|du|das) ", gap) for gap in gaps
    ):
        return not any(run.type in TYPE_OF_HEAD.values() for run in touching)
    return (
        len(touching) == 1
        and not regex.search(r"\. ", text[span.start : span.end])
        and touching[0].type not in TYPE_OF_HEAD.values()
    )


def is_widely_name(text: str, lexicon: Lexicon) -> bool:
    """A span that only the NER model saw: several words, or one that the corpus does not write small."""
    if " " in text:
        return True
    usage = lexicon.usage(text.casefold())
    if usage.is_common:
        return False
    return (usage.is_big and usage.case >= 2) or not all(part[1:].islower() for part in text.split("-"))
