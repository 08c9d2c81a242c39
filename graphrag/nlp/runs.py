"""Names by their shape: runs of capitalised words, and lower-case compounds under a technical head noun."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.lexicon import (
    CALENDAR_WORDS,
    CLOSED_WORDS,
    COMMON_VERBS,
    EMPTY_MODIFIERS,
    HONORIFICS,
    JOINERS,
    ORDINARY_WORDS,
    TYPE_OF_HEAD,
)
from graphrag.nlp.markup import Clean
from graphrag.nlp.technologies import is_certain_technology
from graphrag.nlp.words import VERSION, Name, Word, head_type

# "Mongo clusters", "JavaScript files in the login page": of what a name has, not what it is.
PARTS = frozenset(
    {"cluster", "table", "page", "model", "index", "storage", "flow", "network", "runbook", "data center"}
)
ACRONYM = regex.compile(r"\p{Lu}[\p{Lu}\d]{1,6}s?(?:&\p{Lu}+)?")


def proper_runs(clean: Clean, words: Sequence[Word], lexicon: Lexicon, *, first_pass: bool = False) -> list[Name]:
    """Runs of capitalised words, also across "of" and "&", with a number or head noun after them."""
    found, position, text = [], 0, clean.text
    while position < len(words):
        if not starts_run(text, words, position, lexicon):
            position += 1
            continue
        last = position
        while last + 1 < len(words) and joins(text, words, last):
            step = run_step(text, words, last, lexicon)
            if not step:
                break
            last += step
        start, end = words[position].start, words[last].end
        kind = "acronym" if last == position and ACRONYM.fullmatch(words[last].text) else "proper"
        following = words[last + 1] if last + 1 < len(words) and text[end : words[last + 1].start] == " " else None
        type_hint = ""
        if (
            following
            and following.text.islower()
            and following.fold in TYPE_OF_HEAD
            and following.tag[:2] in {"NN", ""}
        ):
            type_hint = TYPE_OF_HEAD[following.fold]
            type_hint = "" if type_hint in PARTS else type_hint
            longer = text[start : following.end].casefold()
            alone = text[start:end].casefold()
            if not first_pass and (lexicon.usage(longer).is_name or not lexicon.usage(alone).is_name):
                end = following.end
                last += 1
        is_longer = last > position and not all(VERSION.fullmatch(word.text) for word in words[position + 1 : last + 1])
        is_cell = is_longer or (start == 0 and end == len(text) and last > position)  # all of a table cell: "Debian 9"
        is_whole = len(words) == 1 and words[position].tag in {"NNP", "NNPS", "NN", ""} and len(text) > 3  # "Kafka."
        is_known = last == position and is_certain_technology(words[position].text)
        is_proven = is_cell or is_whole or is_known or not words[position].is_due or not words[position].is_plain
        is_sure = is_proven or (usage := lexicon.usage(words[position].fold)).is_big or usage.is_name
        if words[position].fold in HONORIFICS - {"st"} and last > position:
            type_hint = "person"
        found.append(Name(start, end, head_type(text[start:end]) or type_hint or "unknown", kind, is_sure))
        position = last + 1
    if first_pass:  # what stands before a lower-case head is no proof that it stands alone
        found = [name for name in found if not followed_by_head(text, words, name.end)]
    return found


def followed_by_head(text: str, words: Sequence[Word], end: int) -> bool:
    return any(word.start == end + 1 and word.text.islower() and word.fold in TYPE_OF_HEAD for word in words)


def starts_run(text: str, words: Sequence[Word], position: int, lexicon: Lexicon) -> bool:
    """Is this capital the start of a name? Where a capital is due anyway, the corpus and the tagger decide."""
    word = words[position]
    following = words[position + 1] if position + 1 < len(words) and joins(text, words, position) else None
    leads = following is not None and following.is_capital and following.fold not in ORDINARY_WORDS
    if not word.is_capital or (len(word.text) == 1 and not leads) or word.fold in CLOSED_WORDS:
        return False
    if word.fold in HONORIFICS:
        return leads
    if word.fold in CALENDAR_WORDS:
        return leads and not word.is_due
    is_mid = not word.is_due
    if leads and following is not None and lexicon.usage(f"{word.fold} {following.fold}").is_name:
        return True
    if word.fold in ORDINARY_WORDS:
        if not is_mid:
            pair = f"{word.fold} {following.fold if following else ''}"
            return leads and word.tag == "NNP" and lexicon.usage(pair).n_named > 0
        return leads or (word.tag == "NNP" and text[word.start - 1 : word.start] == " ")
    if is_certain_technology(word.text):
        return True
    if not leads and word.is_plain and lexicon.usage(word.fold).is_common:
        return False
    if is_mid:
        return word.tag not in {"PRP", "DT", "IN", "CC", "MD", "WDT", "WP", "WRB"}
    if not word.is_plain:
        return True
    if leads and is_third_capital(text, words, position + 2):
        return True
    usage = lexicon.usage(word.fold)
    if usage.n_small or usage.is_big:
        return usage.case >= 2
    if following is not None and VERSION.fullmatch(following.text):
        return word.tag[:2] in {"NN", ""} and not word.fold.endswith("ly")
    if leads:
        return (word.tag[:2] in {"NN", "JJ", ""} or word.tag in {"VBG", "VBN"}) and not word.fold.endswith("ly")
    return word.tag in {"NNP", "NNPS", ""} and not (word.tag == "" and len(word.text) < 4)


def is_third_capital(text: str, words: Sequence[Word], third: int) -> bool:
    """Three capitals in a row are no accident: Content Delivery Network at the start of a link."""
    if third >= len(words) or not joins(text, words, third - 1):
        return False
    return words[third].is_capital and not words[third].text.isupper() and words[third].fold not in ORDINARY_WORDS


def joins(text: str, words: Sequence[Word], last: int) -> bool:
    """May a run go on after a word: over a space, "&", or the full stop of an honorific or initial."""
    gap = text[words[last].end : words[last + 1].start]
    if gap == ". " and words[last].is_capital:
        is_initial = len(words[last].text) == 1 and not (last and words[last - 1].fold in TYPE_OF_HEAD)
        return words[last].fold in HONORIFICS or is_initial
    return gap in {" ", " & "}


def run_step(text: str, words: Sequence[Word], last: int, lexicon: Lexicon) -> int:
    """How many words the run may take after `last`: 0 if it ends there."""
    if text[words[last].end : words[last].end + 1] == "'":
        return 0
    following = words[last + 1]
    if following.is_capital:
        if (
            (VERSION.fullmatch(following.text) and not following.text.isdigit())
            or following.fold not in ORDINARY_WORDS
            or following.text.isupper()
        ):
            return 1
        return 1 if last + 2 < len(words) and words[last + 2].is_capital and following.fold not in {"i"} else 0
    if VERSION.fullmatch(following.text) and not regex.fullmatch(r"[12]\d{3}", following.text):
        after = (
            words[last + 2] if last + 2 < len(words) and text[following.end : words[last + 2].start] == " " else None
        )
        is_count = after is not None and after.tag in {"NNS", "NN"} and not regex.search(r"[.v]", following.text)
        is_count = is_count and after is not None and after.fold.removesuffix("s") not in COMMON_VERBS
        return 0 if is_count else 1
    if following.fold in JOINERS and words[last].text.isalpha():
        for skip in (2, 3):
            if last + skip >= len(words):
                return 0
            word = words[last + skip]
            if word.is_capital and word.fold not in ORDINARY_WORDS:
                span = text[words[last].start : word.end]
                # "Head of Redis", "runbook for X": only what the corpus or an organisation's head noun joins
                return skip if following.fold not in {"for", "the"} and is_plain_gap(span) else 0
            if word.fold not in JOINERS:
                return 0
    return 0


def is_plain_gap(span: str) -> bool:
    return regex.fullmatch(r"[\p{L}\p{M}' -]+", span) is not None


def compounds(clean: Clean, words: Sequence[Word]) -> list[Name]:
    """Lower-case noun compounds under a technical head noun: token cache, user database, login flow."""
    found, text = [], clean.text
    for position, word in enumerate(words):
        if word.fold not in TYPE_OF_HEAD or not word.text.islower() or word.tag[:2] not in {"NN", ""}:
            continue
        if position + 1 < len(words) and text[word.end : words[position + 1].start] == " ":
            following = words[position + 1]
            if following.fold in TYPE_OF_HEAD and following.tag[:2] == "NN":
                continue
        first = position
        while first > 0 and position - first < 3 and text[words[first - 1].end : words[first].start] == " ":
            modifier = words[first - 1]
            if not is_naming_modifier(modifier) or text[modifier.start - 1 : modifier.start] in {"-", "/", "."}:
                break
            first -= 1
        while first < position and words[first].fold in EMPTY_MODIFIERS:
            first += 1
        if first == position:
            continue
        found.append(Name(words[first].start, word.end, TYPE_OF_HEAD[word.fold], "compound", is_sure=False))
    return found


def is_naming_modifier(word: Word) -> bool:
    if not word.text[0].islower() or word.fold in EMPTY_MODIFIERS or "'" in word.text or word.fold in ORDINARY_WORDS:
        return False
    if word.tag:
        return word.tag in {"NN", "NNP", "NNS", "JJ", "VBG"}
    return word.text.isalpha() and not word.text.endswith(("ed", "ly", "s"))
