"""Pure rules that read typed relations from the words between two names, without a parse.

"X depends on Y", "X is owned by Y", "X, backed by Y,", "X reads from Y and writes to Z". The words between must be a
verb phrase and nothing else, so that what is denied, supposed or asked does not fit. They serve sentences without a
parse, and those where the parser took the verb for a noun ("The Mail Gateway relays to SES").

Does not: read anything but English verb phrases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from graphrag.nlp.lexicon import COMMON_VERBS, IRREGULAR_FORMS, LIGHT_VERBS
from graphrag.nlp.predicates import Relation, is_confirmed, is_excluded, is_precise, normalise_predicate, third_person
from graphrag.nlp.words import Name

ADVERB = (
    r"(?:also|now|still|currently|directly|only|then|mostly|both|all|just|always|usually|mainly|again|simply|normally)"
)
LINK = r"(?P<link>,? (?:which|that|who)|,? and|,? but|;? and it|,)?"
PREPOSITION = r"(?:on|upon|to|from|by|with|into|onto|in|inside|through|via|behind|against|for|at|of|over)"
ARTICLE = r"(?:the|a|an|our|its|their|this|both|all)"
ACTIVE = regex.compile(
    rf"{LINK}(?: {ADVERB})* (?P<verb>\p{{Ll}}[\p{{Ll}}-]+)(?: (?P<particle>up|down|out|over|back|off))?"
    rf"(?P<object>(?: [\p{{L}}'-]+){{1,4}}?)??(?: (?P<prep>{PREPOSITION}))?(?: {ARTICLE}| [\"'])* ?"
)
PASSIVE = regex.compile(
    rf"{LINK}(?: (?:is|are|was|were|gets|has been|have been))?(?: {ADVERB})*"
    rf" (?P<verb>\p{{Ll}}[\p{{Ll}}-]+)(?: (?P<particle>up|down|out|over))?"
    rf" (?P<prep>{PREPOSITION})(?: {ARTICLE}| [\"'])* ?"
)
COPULA = regex.compile(
    rf"(?P<link>,? (?:which|that|who)|,? and)? (?:is|are)(?: {ADVERB})*"
    r" (?P<noun>(?:(?:the|a|an) )?(?:part|owner|member|maintainer|lead|component|client|fork|replica|subsidiary"
    r"|dependent|reliant|responsible|accountable|author|on call))"
    rf"\s(?P<prep>on|upon|of|for|to)(?: {ARTICLE}| [\"'])* ?"
)
AUXILIARY = regex.compile(r" (?:is|are|was|were|gets|been)\b")
LISTED = regex.compile(rf"(?:,|,? and|,? or|,? as well as| &)(?: (?:on|to|from|by|with|in))?(?: {ARTICLE}| [\"'])* ?")
UNREAL_BEFORE = regex.compile(
    r"\b(?:if|unless|whether|until|without|neither|nor|no|not|never|cannot|instead of|rather than"
    r"|would|should|could|might|may|must|can|will|did|does|do|at first|initially|originally|previously|formerly"
    r"|imagine|suppose|assume|assuming|proposed?|plans?|wants?|had|before|thinks?|believes?|nobody|nothing|lest|doubts?|denies|deny|unlikely)\b[^.;:]*$",
    regex.IGNORECASE,
)
FINITE_AFTER = regex.compile(
    r"(?: [\p{L}-]+)?,? (?:is|are|was|were|has|have|had|should|must|can|could|will|would|may|might|do|does|did|need)\b"
)
UNTIL = regex.compile(r"^[^.;:]*\b(?:until|till|if|unless)\b")
UNDER_PREPOSITION = regex.compile(
    r"\b(?:of|in|for|from|with|on|to|by|at|between|about)(?: the| a| an| our)? $", regex.IGNORECASE
)
OBJECT_STOP = regex.compile(r"\b(?:to|and|or|but|that|which|who|not|no|than|as|if|when|is|are|was|were)\b")
# A sentence with more names than this is a list or a dump.
MAX_NAMES = 50
COPULA_PREDICATES = {"on call": "on_call"}


@dataclass(frozen=True)
class VerbForm:
    lemma: str
    is_participle: bool
    is_finite: bool


def verb_forms() -> dict[str, VerbForm]:
    """Every finite form and participle of the common verbs."""
    forms: dict[str, VerbForm] = {}
    for lemma in sorted(COMMON_VERBS):
        past, participle = IRREGULAR_FORMS.get(lemma, (regular_past(lemma), regular_past(lemma)))
        forms[third_person(lemma)] = VerbForm(lemma, False, True)
        forms[lemma] = VerbForm(lemma, participle == lemma, True)
        forms[past] = VerbForm(lemma, past == participle, True)
        if participle != past:
            forms[participle] = VerbForm(lemma, True, False)
    return forms


def regular_past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + "ed"


VERB_FORMS = verb_forms()


def find_pattern_relations(
    text: str, names: Sequence[Name], is_verb: Callable[[int, int], bool] = lambda _start, _end: True
) -> list[Relation]:
    """The relations that the words between neighbouring names state; `is_verb` may refuse a span as a verb."""
    if text.rstrip("\"') ").endswith("?") or len(names) > MAX_NAMES:
        return []
    found: dict[tuple[int, str, int], Relation] = {}
    subjects: list[Name] = []
    for left, right in pairwise(names):
        gap = text[left.end : right.start]
        # A word that no list knows is a verb only in a plain clause: "The Mail Gateway relays to SES."
        may_guess = text[: left.start].casefold() in {"", "the ", "our "} and not FINITE_AFTER.match(text, right.end)
        phrase = _verb_phrase(gap, left.end, is_verb, may_guess)
        if phrase is None:
            continue
        link, predicate, span = phrase
        if link.strip(" ,;") not in {"and", "but", "and it"}:
            subjects = _listed_before(text, names, left)
        elif not subjects:  # "with X and publishes Y": X is not the one that publishes
            continue
        before = text[: subjects[0].start]
        is_past = span[1] > span[0] and UNTIL.search(text[span[1] :]) is not None
        if (
            UNREAL_BEFORE.search(before)
            or UNDER_PREPOSITION.search(before)
            or is_past
            or is_excluded(text, subjects[0])
        ):
            subjects = []
            continue
        for subject in subjects:
            for target in _listed_after(text, names, right):
                is_told = is_confirmed(subject, predicate) and is_confirmed(target, predicate)
                is_told = is_told and is_precise(predicate, target, text)
                if subject != target and is_told and not is_excluded(text, target):
                    relation = Relation(
                        subject, (subject.start, subject.end), predicate, span, target, (target.start, target.end)
                    )
                    found.setdefault((subject.start, predicate, target.start), relation)
    return list(found.values())


def _verb_phrase(
    gap: str, offset: int, is_verb: Callable[[int, int], bool], may_guess: bool
) -> tuple[str, str, tuple[int, int]] | None:
    """(link word, predicate, span) where the whole gap is a verb phrase that states something."""
    if match := COPULA.fullmatch(gap):
        noun = regex.sub(r"^(?:the|a|an) ", "", match["noun"])
        predicate = normalise_predicate(
            "" if noun in COPULA_PREDICATES else "is", COPULA_PREDICATES.get(noun, noun), match["prep"]
        )
        return (
            match["link"] or "",
            predicate.removeprefix("is_"),
            (offset + match.start("noun"), offset + match.end("prep")),
        )
    for pattern, is_passive in ((PASSIVE, True), (ACTIVE, False)):
        match = pattern.fullmatch(gap)
        if not match:
            continue
        form = VERB_FORMS.get(match["verb"])
        start, end = offset + match.start("verb"), offset + match.end("verb")
        has_auxiliary = bool(AUXILIARY.search(gap[: match.start("verb")]))
        link = match["link"] or ""
        if is_passive:
            is_reduced = link.strip() == "," and form is not None and form.is_participle and match["prep"] == "by"
            known = (form is not None and form.is_participle) or match["verb"].endswith("ed")
            if not known or not (
                has_auxiliary or is_reduced or (match["prep"] == "by" and form and form.is_participle)
            ):
                continue
            base = match["verb"]
        else:
            if (
                link.strip() == ","
                or (form is None and not (may_guess and _may_be_verb(match, gap)))
                or (form and not form.is_finite)
                or not is_verb(start, end)
                or match["verb"] == "called"  # "a service called X"
            ):
                continue
            if (
                form
                and match["verb"] == form.lemma
                and match["verb"]
                not in {"run", "depend", "rely", "use", "call", "read", "write", "share", "own", "talk"}
            ):
                continue
            base = third_person(form.lemma) if form else match["verb"]
            if match["prep"] == "by" or (match["object"] and not _carries(form, match["prep"] or "")):
                continue
            if match["object"] and (not match["prep"] or OBJECT_STOP.search(match["object"])):
                continue
        predicate = normalise_predicate(base, match["particle"] or "", match["prep"] or "")
        return link, predicate, (start, offset + match.end("prep") if match["prep"] else end)
    return None


def _carries(form: VerbForm | None, preposition: str) -> bool:
    """May the object after a verb's own object and a preposition be a second end: "sends scans to X"?"""
    if form is None or form.lemma in LIGHT_VERBS:
        return False
    return preposition not in {"at", "of", "for", "over", "behind", "as"}


def _may_be_verb(match: regex.Match[str], gap: str) -> bool:
    """An unknown word in -s right after the name, with a preposition or an article behind it."""
    word = match["verb"]
    follows = bool(match["prep"]) or bool(regex.search(r" (?:the|a|an|our|its) ?$", gap))
    return (
        word.endswith("s")
        and not word.endswith(("ss", "us", "is"))
        and len(word) > 3
        and follows
        and not match["object"]
    )


def _listed_before(text: str, names: Sequence[Name], last: Name) -> list[Name]:
    """The names that end in `last` and are listed with it: "X, Y and Z call ..."."""
    position = names.index(last)
    first = position
    while first > 0 and LISTED.fullmatch(text[names[first - 1].end : names[first].start]):
        first -= 1
    if first == position or regex.search(
        r"\p{L}", regex.sub(r"(?i)\b(?:the|both|our|and|but)\b", "", text[: names[first].start])
    ):
        return [last]
    return list(names[first : position + 1])


def _listed_after(text: str, names: Sequence[Name], first: Name) -> Iterator[Name]:
    position = names.index(first)
    yield first
    while position + 1 < len(names) and LISTED.fullmatch(text[names[position].end : names[position + 1].start]):
        position += 1
        after = text[names[position].end :]
        if regex.match(r",? (?:is|are|was|were|has|depends|uses|calls|runs|reads|writes|owns|stores|sends)\b", after):
            return  # a new clause begins: "depends on A, and B runs on C"
        yield names[position]
