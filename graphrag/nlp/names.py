"""Pure rules that find names in one readable sentence, with or without a parse.

A name is a declared name, an identifier, a run of proper nouns, an acronym, a span of the NER model, or a lower-case
compound under a technical head noun. What counts as a name at a sentence start, or as one name across "and", is decided
by how the whole corpus writes it: `Lexicon` has counted that in a first pass.

Does not: decide which names mean the same entity (index/disambiguation.py), or relate them (index/nlp/relations).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import regex

from graphrag.nlp.corpus import (
    COMPOUND,
    JOINED,
    LABEL,
    LOWER,
    NAME,
    SENTENCE,
    TECHNICAL,
    UPPER,
    Counts,
    Lexicon,
)
from graphrag.nlp.lexicon import (
    CALENDAR_WORDS,
    CLOSED_WORDS,
    EMPTY_MODIFIERS,
    FILE_SUFFIXES,
    GENERIC_ACRONYMS,
    GENERIC_NAMES,
    HONORIFICS,
    ORDINARY_WORDS,
    TECHNICAL_WORDS,
    TYPE_OF_HEAD,
    TYPE_OF_PREFIX,
    UNITS,
)
from graphrag.nlp.markup import Clean
from graphrag.nlp.parsing import Parse
from graphrag.nlp.runs import compounds, proper_runs
from graphrag.nlp.spans import merge_runs, model_spans
from graphrag.nlp.technologies import is_small_technology
from graphrag.nlp.words import Name, Word, head_type, is_shouted

LETTER = regex.compile(r"\p{L}")
SIGN = regex.compile(r"[{}<>|=]")
DATE = regex.compile(r"\d{1,2}-\p{Lu}\p{Ll}{2}-\d{2,4}|\d{4}-\d\d(?:-\d\d)?")
TICKET = regex.compile(r"[A-Z][A-Z0-9]{1,9}-\d+(?:-\d+)*")
NUMBERED = regex.compile(r"(?:PEP|RFC|ISO|ADR|INC|CVE|RB) \d+(?:-\d+)*(?!\.?\d)")
CAMEL = regex.compile(
    r"\p{Lu}\p{Ll}+\d*(?:\p{Lu}[\p{L}\d]*)+|\p{Ll}{1,3}\p{Lu}\p{Ll}[\p{L}\d]*|\p{Lu}{2,}\p{Ll}[\p{L}\d]+|\p{Lu}\p{Ll}+\p{Lu}"
)
HOST = regex.compile(r"[a-z]{2,}(?:-[a-z0-9]+)+-\d+")
VERSIONED = regex.compile(r"\b\p{Ll}[\p{Ll}\d-]+ v?\d+(?:\.\d+)+\b")
NUMERONYM = regex.compile(r"[A-Za-z]\d{1,2}[a-z]")
NEVER_NAMES = CLOSED_WORDS | HONORIFICS | UNITS
SNAKE = regex.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+")
KEBAB = regex.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
DOTTED = regex.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
PRIORITY = {
    "known": 6,
    "link": 5,
    "id": 5,
    "code": 4,
    "camel": 3,
    "proper": 2,
    "ner": 2,
    "acronym": 2,
    "compound": 1,
    "end": 0,
}


def count_words(counts: Counts, clean: Clean, words: Sequence[Word], parse: Parse | None) -> None:
    """First pass over one sentence of running text: how its words are written, what the model takes names for."""
    for span in model_spans(clean, parse) if parse else ():
        counts[LABEL, clean.text[span.start : span.end].casefold(), span.type] += 1
    counts[SENTENCE, "", ""] += 1
    counts[TECHNICAL, "", ""] += bool(clean.codes or any(word.fold in TECHNICAL_WORDS for word in words))
    if is_shouted(words):
        return
    for word in words:
        if word.text.islower():
            counts[LOWER, word.fold, ""] += 1
        elif word.is_capital and not word.is_due:
            counts[UPPER, word.fold, ""] += 1


def count_names(counts: Counts, lexicon: Lexicon, clean: Clean, words: Sequence[Word]) -> None:
    """Second pass, with a lexicon of words alone: which runs of capitals, compounds, names across "and" there are."""
    if is_shouted(words):
        return
    for name in proper_runs(clean, words, lexicon, first_pass=True):
        if name.is_sure:
            counts[NAME, clean.text[name.start : name.end].casefold(), ""] += 1
    for name in compounds(clean, words):
        counts[COMPOUND, clean.text[name.start : name.end].casefold(), ""] += 1
    for text in find_joined_names(clean, words):
        counts[JOINED, text, head_type(text) or "unknown"] += 1


def find_joined_names(clean: Clean, words: Sequence[Word]) -> list[str]:
    """Names across "and" that this sentence shows to be one: subject of a singular verb, or the text of a link."""
    found = [clean.text[start:end] for start, end in clean.links if regex.search(r" (?:and|&) ", clean.text[start:end])]
    first = 1 if words and words[0].fold in {"the", "our"} else 0
    last, has_and = first, False
    while last < len(words) and (words[last].is_capital or (words[last].fold == "and" and last > first)):
        has_and |= words[last].fold == "and"
        last += 1
    if has_and and last < len(words) and words[last].tag == "VBZ" and words[last - 1].fold != "and":
        phrase = clean.text[words[first].start : words[last - 1].end]
        if "," not in phrase:
            found.append(phrase)
    return found


def find_names(clean: Clean, words: Sequence[Word], parse: Parse | None, lexicon: Lexicon, kind: str) -> list[Name]:
    """The names of one sentence, in order, none overlapping; those not `is_sure` need a relation to stand."""
    found = known_names(clean, words, lexicon)
    found += identifiers(clean, words)
    found += small_variants(words, lexicon)
    found += [
        Name(word.start, word.end, head_type(word.text), "compound", is_sure=lexicon.usage(word.fold).n_small > 1)
        for word in words
        if KEBAB.fullmatch(word.text) and is_kebab_name(word.text)
    ]
    if lexicon.is_technical:
        found += [Name(word.start, word.end, "unknown", "camel") for word in words if is_small_technology(word.text)]
    if kind == "heading":
        found += heading_names(clean, words, lexicon)
    elif not is_shouted(words):
        found += merge_runs(
            clean, proper_runs(clean, words, lexicon), model_spans(clean, parse) if parse else [], lexicon
        )
        found += [with_corpus_evidence(name, clean, lexicon) for name in compounds(clean, words)]
        found += expansions(clean, words)
    found = [name for name in found if not is_junk(clean.text[name.start : name.end], name.kind, lexicon)]
    if not lexicon.is_technical:
        found = [name for name in found if not is_plain_word(clean.text[name.start : name.end], name.kind, lexicon)]
    return resolve_overlaps(found)


def heading_names(clean: Clean, words: Sequence[Word], lexicon: Lexicon) -> list[Name]:
    """In a heading every word may have a capital: only names that running text has too, in no common heading."""
    if lexicon.usage(clean.text.casefold()).n_headings >= 3:
        return []
    runs = proper_runs(clean, words, lexicon)
    return [run for run in runs if lexicon.usage(clean.text[run.start : run.end].casefold()).n_named >= 2]


def known_names(clean: Clean, words: Sequence[Word], lexicon: Lexicon) -> list[Name]:
    """The longest declared name at each place, from left to right."""
    found: list[Name] = []
    end = 0
    folds = [word.fold for word in words]
    for position, fold in enumerate(folds):
        for length in lexicon.declared_lengths(fold) if position >= end else ():
            here = words[position : position + length]
            entries = lexicon.declared_names(" ".join(folds[position : position + length]))
            kind = next((kind for parts, kind in entries if is_same_name(parts, here, clean.text, lexicon)), None)
            if kind is not None:
                found.append(Name(here[0].start, here[-1].end, kind, "known"))
                end = position + length
                break
    return found


def is_same_name(parts: Sequence[str], here: Sequence[Word], text: str, lexicon: Lexicon) -> bool:
    """Whether words that are equal without case are the declared name: several are, where they stand side by side; one
    may be small where the corpus does not write it big more often."""
    if len(parts) == 1:
        word, fold = here[0].text, here[0].fold
        is_small = word == parts[0].lower() and parts[0][1:].islower() and here[0].tag[:1] in {"N", ""}
        if word == parts[0] or not is_small or fold in GENERIC_NAMES:
            return word == parts[0]
        usage = lexicon.usage(fold)
        return not usage.is_big or usage.case >= 1
    return all(text[a.end : b.start] in {" ", "-", "/", " & "} for a, b in pairwise(here))


def small_variants(words: Sequence[Word], lexicon: Lexicon) -> list[Name]:
    """ "redis" in a corpus that mostly writes Redis."""
    found = []
    for word in words:
        is_noun = word.text.islower() and word.tag in {"NN", "NNP", "FW", ""} and word.fold not in ORDINARY_WORDS
        if is_noun and lexicon.is_mostly_name(word.fold):
            found.append(Name(word.start, word.end, lexicon.model_type(word.text) or "unknown", "end"))
    return found


def identifiers(clean: Clean, words: Sequence[Word]) -> list[Name]:
    """Ticket numbers, CamelCase, numeronyms, and identifiers in code marks."""
    found = [Name(m.start(), m.end(), TYPE_OF_PREFIX[m[0].split(" ")[0]], "id") for m in NUMBERED.finditer(clean.text)]
    found += [Name(m.start(), m.end(), "unknown", "compound", is_sure=False) for m in VERSIONED.finditer(clean.text)]
    for word in words:
        if TICKET.fullmatch(word.text):
            prefix = word.text.split("-")[0]
            if word.text not in GENERIC_ACRONYMS:
                found.append(Name(word.start, word.end, TYPE_OF_PREFIX.get(prefix, "unknown"), "id"))
        elif HOST.fullmatch(word.text):
            found.append(Name(word.start, word.end, "unknown", "id"))
        elif CAMEL.fullmatch(word.text) or (NUMERONYM.fullmatch(word.text) and word.fold not in {"p1s"}):
            found.append(Name(word.start, word.end, head_type(word.text) or "unknown", "camel"))
    for start, end in clean.codes:
        text = clean.text[start:end]
        if is_code_name(text):
            found.append(
                Name(
                    start,
                    end,
                    head_type(text) or "unknown",
                    "code",
                    is_sure=bool(KEBAB.fullmatch(text) and head_type(text)),
                )
            )
    for start, end in clean.links:
        if 2 <= end - start <= 60:
            found.append(Name(start, end, head_type(clean.text[start:end]) or "unknown", "link"))
    return found


def is_kebab_name(text: str) -> bool:
    """user-service, ledger-db; not micro-service or on-call-team."""
    first, *_, last = text.split("-")
    return last in TYPE_OF_HEAD and first not in EMPTY_MODIFIERS | CLOSED_WORDS | {
        "micro",
        "sub",
        "multi",
        "non",
        "pre",
        "self",
    }


def is_code_name(text: str) -> bool:
    if text.rpartition(".")[2].casefold() in FILE_SUFFIXES and "." in text:
        return False
    return bool(
        KEBAB.fullmatch(text)
        or SNAKE.fullmatch(text)
        or DOTTED.fullmatch(text)
        or CAMEL.fullmatch(text)
        or regex.fullmatch(r"[a-z]{3,}\d*", text)
    )


def with_corpus_evidence(name: Name, clean: Clean, lexicon: Lexicon) -> Name:
    usage = lexicon.usage(clean.text[name.start : name.end].casefold())
    return replace(name, is_sure=usage.is_name or usage.n_compounds >= 3)


def expansions(clean: Clean, words: Sequence[Word]) -> list[Name]:
    """The lower-case full form before an acronym in brackets: content delivery network (CDN)."""
    found = []
    for position, word in enumerate(words):
        letters = word.text.rstrip("s").casefold()
        if not (2 <= len(letters) <= 6 and word.text[:2].isupper() and position >= len(letters)):
            continue
        if clean.text[word.start - 2 : word.start] != " (":
            continue
        full = words[position - len(letters) : position]
        if (
            "".join(w.fold[0] for w in full) == letters
            and clean.text[full[-1].end : word.start] == " ("
            and full[0].text.islower()
        ):
            phrase = clean.text[full[0].start : full[-1].end]
            found.append(Name(full[0].start, full[-1].end, head_type(phrase) or "unknown", "compound"))
    return found


def is_junk(text: str, kind: str, lexicon: Lexicon) -> bool:
    if kind == "known":
        return False
    fold = text.casefold()
    if fold in NEVER_NAMES or text in GENERIC_ACRONYMS or not LETTER.search(text):
        return True
    if fold in GENERIC_NAMES or (" " in fold and all(part in GENERIC_NAMES for part in fold.split())):
        return True
    if text in TYPE_OF_PREFIX or DATE.fullmatch(text) or SIGN.search(text):
        return True
    if len(text) < 2 or len(text) > 80 or text.count(" ") > 7 or text[0] in "-_." or text[-1] in "-_":
        return True
    if text.rpartition(".")[2].casefold() in FILE_SUFFIXES and "." in text and " " not in text and kind != "link":
        return True
    pieces = fold.split()
    return all(word in CALENDAR_WORDS or word.isdigit() for word in pieces) or (
        len(pieces) > 1 and all(word in ORDINARY_WORDS for word in pieces)
    )


def is_plain_word(text: str, kind: str, lexicon: Lexicon) -> bool:
    """In texts about people and places: a word that is also written small, and that the model never took for a name."""
    if kind not in {"proper", "acronym", "end"} or " " in text:
        return False
    usage = lexicon.usage(text.casefold())
    return not usage.label and usage.is_half_small


def resolve_overlaps(names: Iterable[Name]) -> list[Name]:
    """Longest first, then the surer rule; a name that touches a taken one is dropped."""
    ranked = sorted(
        set(names),
        key=lambda n: (
            -(n.end - n.start),
            -PRIORITY[n.kind],
            n.start,
            n.type == "unknown",
            n.type,
            not n.is_sure,
            n.kind,
        ),
    )
    taken: list[Name] = []
    for name in ranked:
        if all(name.end <= other.start or other.end <= name.start for other in taken):
            taken.append(name)
    return sorted(taken, key=lambda name: name.start)
