"""What kind of answer a question asks for, and which sentences hold one: a small table of cue words.

A question word says what the answer looks like: why - a sentence with causal language, who - a name, when - a date
(question classes as in Li & Roth, "Learning question classifiers", 2002; causal connectives and verbs as in Girju,
"Automatic detection of causal relations", 2003). A cue never makes a sentence relevant; among sentences that are, those
with the expected kind of answer come first. A sentence that denies what the question asks for is no answer to it
("The Tracking Service does not depend on Redis." to "What depends on Redis?").

Does not: read the index, or rank.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from graphrag.search.ranking import STOP_WORDS, stem_term
from graphrag.tokens import split_search_terms


class Cue(NamedTuple):
    """A kind of answer: how it is asked for, how sentences hold it, which headings it stands under; `words` of the
    question ask for the kind and name nothing."""

    name: str
    asked: re.Pattern[str]
    said: re.Pattern[str]
    headings: re.Pattern[str]
    words: frozenset[str]


def _cue(name: str, asked: str, said: str, *, headings: str = r"(?!)", words: str = "", flags: int = re.I) -> Cue:
    stems = frozenset(stem_term(term) for term in split_search_terms(words))
    return Cue(name, re.compile(asked, re.I), re.compile(said, flags), re.compile(headings, re.I), stems)


_OWN = r"(?<!its )(?<!their )(?<!our )(?<!his )(?<!her )(?<!my )(?<!your )own"  # "a line of its own" owns nothing
_MONTHS = "jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand"
# In order of precedence: the first whose question pattern is found counts.
CUES = (
    _cue(
        "cause",
        r"^\s*(?:why|how come)\b|\b(?:causes?|caused|reasons?|root cause|go wrong|went wrong|lead to|led to)\b",
        r"\b(?:because|due to|root cause|caus(?:e|ed|es|ing)\b|as a result|thanks to|reason|triggers?|triggered|led to"
        r"|leads? to|expire[ds]?|r[au]ns? out|time[ds]? out|overload\w*|exhaust\w*|lost|broke"
        r"|crash\w*|hung|misconfigured|instead of|without|(?:with|had) no\b|forgot\w*|refus\w+"
        r"|(?:was|were|been|got) (?!own|led|maintain|manag|writ)\w+ed by\b"
        r"|which is why|so that|in order to|so we\b|need(?:s|ed)?)\b",
        headings=r"\b(?:why|cause|causes|root cause|reasons?|rationale|context|what happened|what went wrong)\b",
        words="cause causes caused reason reasons root happen happened occur go went wrong lead led behind",
    ),
    _cue(
        "number",
        r"\bhow (?:many|much|long|often|big|large|far|fast|old)\b|\bwhat (?:number|share|percentage)\b",
        rf"\d|\b(?:{_NUMBERS}|once|twice|daily|weekly|hourly|every|half|percent)\b",
        words="number share percentage much many long often",
    ),
    _cue(
        "time",
        r"^\s*(?:when|since when|until when)\b|\bwhat (?:date|day|time|year)\b",
        rf"\b(?:(?:19|20)\d\d|\d{{1,2}}:\d\d|{_MONTHS}|november|december|nov|dec|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|yesterday|quarter|ago)\b",
        words="date day time year",
    ),
    _cue(
        "owner",
        r"\b(?:own|owns|owned|owner|owners|responsible|looks? after|maintains?|maintained)\b",
        rf"\b(?:{_OWN}|owns|owned by|owner|looks? after|maintain\w*|responsible for|keeps?"
        r"|takes? (?:it )?over|supported by)\b",
    ),
    _cue(
        "person",
        r"\b(?:who|whom|whose)\b|\bwhich (?:team|person|people)\b",
        r"(?-i:\b[A-Z]\w+[ -](?:[A-Z]\w+|Team)\b)|\b(?:team|led by|owned by|maintained by|on call|contact|ask)\b",
        words="person people",
    ),
    _cue(
        "place",
        r"^\s*(?:where|in which|from where)\b",
        r"(?-i:\b(?:in|at|near|on|from|to|of)\s+(?:the\s+)?[`\[]*[A-Z]\w+)|\b(?:region|hosted|located|stored|kilomet\w+)\b"
        r"|`[^`]*[/.][^`]*`|https?://",
    ),
    _cue(
        "change",
        r"\bwhat (?:has |have )?(?:changed|is new|happened after|did .{1,40} change)\b|\bhow (?:has|did|have) "
        r".{1,60} chang",
        r"\b(?:now|since|from now on|no longer|replac\w+|instead|used to|switched|moved?|migrated|renamed|introduced"
        r"|built|after|becomes?|until|new)\b",
        headings=r"\b(?:actions?|follow-?ups?|decision|consequences|what changed|changes)\b",
        words="change changed changes years year new over",
    ),
    _cue(
        "risk",
        r"\b(?:risks?|risky|weak(?:ness|nesses| spots?| points?)|single points? of failure|vulnerab\w+)\b",
        r"\b(?:risks?|single point|only one|alone|one (?:machine|host|person)|nobody (?:knows|has)|bottleneck|outdated"
        r"|no (?:backup|fallback|failover|redundancy|alternative)|not backed up|end of life|without it|unsupported"
        r"|(?:with|there is) no\b"
        r"|deprecated|cannot (?:start|boot)"
        r"|refuses to|takes? .{0,40} with it|everything (?:else )?(?:stops|depends)"
        r"|if .{1,60} (?:fails|is (?:down|lost)))\b",
        headings=r"\b(?:risks?|known problems|caveats|warning)\b",
        words="risk risks risky weakness weak spot point single failure vulnerable biggest systemic highest",
    ),
    _cue(
        "steps",
        r"^\s*how (?:do|can|should|to|would)\b|\bwhat (?:should|do|can) (?:i|we|you) do\b|\bsteps?\b",
        r"^(?:to \w+|if |once |first|then|run|use|open|create|add|click|go to|deploy|set|check|follow|log in|make"
        r"|restart|visit|select|merge|ask|install|edit|update|wait)\b|\byou (?:can|should|need|must)\b|`[^`]+`",
        headings=r"\b(?:how to|steps|procedure)\b",
    ),
)  # fmt: skip

# A connective says cause outright; the other words of the kind only tell of something that went wrong.
_CONNECTIVE = re.compile(
    r"\b(?:because(?! of (?:this|that|it)\b)|due to|which is why|as a result of|cause[:d]|reason)", re.I
)
_VAGUE = re.compile(r"\byou are here because\b|\bbecause of (?:this|that|it)\b", re.I)  # the cause is not said
_VERBS = ("own", "need")  # stop words of ranking that a question may yet be about
_WHY = re.compile(r"\s*why\b", re.I)
_IMAGINED = re.compile(r"\b(?:would|might|could)\b", re.I)
_SUPPOSED = re.compile(r"\b(?:would|might|could|if|unless)\b", re.I)
_MONTH = rf"(?:{_MONTHS}|november|december)"
_DATE = re.compile(rf"(?<![\w.-])(?:\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}}|{_MONTH}|(?:19|20)\d\d)(?![\w-])", re.I)
_OWN_ADJECTIVE = re.compile(r"\b(?:its|their|our|his|her|my|your) own\b", re.I)
_NEGATED_QUESTION = re.compile(r"\b(?:not|never|no longer)\b|n['’]t\b", re.I)
_YES_NO = re.compile(r"^\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.I)
_NEGATED_VERB = re.compile(
    r"(?:\b(?:not|never|no longer|neither|nor|without|would|might|could|cannot)\b|n['’]t\b)"
    r"(?:\s+(?:then|also|yet|really|directly|even|ever|be|been|have)){0,2}\s+(\w+)",
    re.I,
)
_NOBODY_VERB = re.compile(r"\b(?:nothing|nobody|no one|none)((?:\s+\w+){1,2})", re.I)
_RETRACTED = re.compile(r"\b(?:at first we|we (?:first|initially|wrongly)|was wrong|not true|mistaken(?:ly)?)\b", re.I)
# Verbs that say the same when they are denied: what does not depend on a thing does not use or need it either.
_ASKS_NEED = frozenset(map(stem_term, split_search_terms("depend rely use need require")))
_NEED = _ASKS_NEED | frozenset(map(stem_term, split_search_terms("call run back built")))


CAUSE = next(cue for cue in CUES if cue.name == "cause")


def read_cue(question: str) -> Cue | None:
    """The kind of answer that a question asks for; none for "What ...?" and "Which ...?" that say no more."""
    return next((cue for cue in CUES if cue.asked.search(question)), None)


def rate_cue(cue: Cue | None, text: str, headings: str = "") -> float:
    """0 to 1: how surely a sentence holds the kind of answer: one cue word or several, a heading that promises it."""
    if cue is None:
        return 0.0
    text = _VAGUE.sub("", " ".join(text.split()))  # a line may break inside "due to"
    n_said = len({match.casefold() for match in cue.said.findall(text)})
    n_said += cue.name == "cause" and _CONNECTIVE.search(text) is not None
    return 0.3 * min(n_said, 2) + 0.2 * (n_said > 0) + 0.2 * bool(cue.headings.search(headings))


def holds_cue(cue: Cue, text: str) -> bool:
    """Whether a text holds the kind of answer at all."""
    return cue.said.search(" ".join(text.split())) is not None


def is_denied(question: str, text: str) -> bool:
    """Whether a sentence denies, retracts or only imagines what an open question asks for.

    Questions that are negated themselves or can be answered by no ("Does X ...?") want such sentences.
    """
    if is_negated(question) or _YES_NO.match(question):
        return False
    return bool(_RETRACTED.search(text)) or _denies(_asked_stems(question), text)


def is_negated(question: str) -> bool:
    """Whether a question asks for what is not so: "Which services do not depend on Redis?"."""
    return _NEGATED_QUESTION.search(question) is not None


def states_negation(question: str, text: str) -> bool:
    """Whether a sentence says that what a negated question asks for is not so; imagined things do not count."""
    return _denies(_asked_stems(question), _IMAGINED.sub("", text))


@lru_cache(maxsize=64)
def asked_date(question: str) -> frozenset[str]:
    """The parts of the dates that a question names, in lower case: 4, march, 2024; not the 16 of PostgreSQL 16."""
    return frozenset(re.findall(r"\w+", " ".join(_DATE.findall(question)).lower()))


def is_yes_no(question: str) -> bool:
    """Whether a question can be answered by yes or no: "Is Redis used by the Tracking Service?"."""
    return _YES_NO.match(question) is not None


def says_asked_verb(question: str, text: str, names: Collection[str]) -> bool:
    """Whether a sentence has a word of what is asked besides the names, or another that says the same: to "Who owns
    X?", `keeps`. names: those that the question names, whose own words do not count."""
    asked = _asked_stems(question) - {stem_term(term) for name in names for term in split_search_terms(name)}
    plain = _OWN_ADJECTIVE.sub("", text)
    if asked & {stem_term(term) for term in split_search_terms(plain)}:
        return True
    cue = read_cue(question)
    return cue is not None and cue.name == "owner" and holds_cue(cue, text)


def settles_question(question: str, text: str, names: Collection[str]) -> bool:
    """Whether a sentence states or denies what a yes/no question asks; what is only imagined settles nothing."""
    return says_asked_verb(question, text, names) and not _SUPPOSED.search(text)


@lru_cache(maxsize=64)
def _asked_stems(question: str) -> frozenset[str]:
    """The question's content words by stem, and words of need when it asks for one or why something was chosen."""
    terms = split_search_terms(question)
    stems = frozenset(stem_term(term) for term in terms if term not in STOP_WORDS or term in _VERBS)
    return stems | _NEED if {*map(stem_term, terms)} & _ASKS_NEED or _WHY.match(question) else stems


def _denies(stems: frozenset[str], text: str) -> bool:
    denied = [*_NEGATED_VERB.findall(text), *_NOBODY_VERB.findall(text)]
    return any(stem_term(term) in stems for word in denied for term in split_search_terms(word))


_POINTER = re.compile(
    r"\W*(?:see|read (?:more|the|our|\[)|for more|more (?:information|details)|"
    r"(?:you can )?(?:find|read) (?:out )?(?:more|about)|check out|refer to|skip to|you can read)\b",
    re.I,
)
_POINTS_TO_NOTE = re.compile(
    r"\b(?:(?:described|documented|explained|told|listed|written(?: down)?|is|are) in|(?:go|turn) to|read on in) "
    r"\[\[[^\]]+\]\]\W*$",
    re.I,
)
_DEFINES = re.compile(
    r"^\s*(?:what|who)(?: is|['’]s| are| was| were| do| does) (?:the |an? |our )?(.+?)"
    r"(?: (?:do|mean|used for|for|about))?\s*\??\s*$",
    re.I,
)


_USED_FOR = re.compile(r"^\s*what (?:is|are) (?:the |an? |our )?(.+?) used for\s*\??\s*$", re.I)
_ASKS_NATURE = re.compile(r"^\s*(?:what|who)(?: is|['’]s| are) (?:the |an? |our )?(.+?)\s*\??\s*$", re.I)
_COUNTED = re.compile(r"\bhow many (\w{3,})", re.I)
_BYLINE = re.compile(
    r"\W*(?:(?:written|reviewed|read|edited|maintained|approved|posted|drafted)\b.{0,40}\bby\b|"
    r"(?:author|owner|owned by|scribe|lead|date|status|length|contact|severity|reviewers?|people|decided|tags)"
    r"\b[^.]{0,12}:|last (?:updated|reviewed))",
    re.I,
)
_APART = re.compile(
    r"(?:what went well|yes|no|i|fix|thanks|by the way|of course|for example"
    r"|e\.g\.|see|again|same|still)\b",
    re.I,
)


def is_aside(text: str) -> bool:
    """Whether a span says who wrote the page, or opens like a remark on what stands before it."""
    return bool(_BYLINE.match(text) or _APART.match(text))


def points_elsewhere(text: str) -> bool:
    """Whether a sentence only says where to read on, or gives a cause that another sentence names."""
    return bool(_POINTER.match(text) or _POINTS_TO_NOTE.search(text) or _VAGUE.search(text))


def is_reversed(question: str, text: str, names: Collection[str]) -> bool:
    """Whether a sentence says the asked verb of the named thing the wrong way round: "The login flow depends on the
    Auth Service" to "What does the Auth Service depend on?". names: in lower case."""
    if not _OF_SUBJECT.search(question):
        return False
    asked = _asked_stems(question) - {stem_term(term) for name in names for term in split_search_terms(name)}
    plain = re.sub(r"[`*\[\]]", "", text.lower())
    of_subject = any(
        re.search(rf"\b(?:do|does|did) (?:the |an? |our )?{re.escape(n)}", question.lower()) for n in names
    )
    verbs = [m for m in re.finditer(r"\w+", plain) if asked & {stem_term(term) for term in split_search_terms(m[0])}]
    places = [place for name in names if (place := plain.find(name)) >= 0]
    if not of_subject or len(verbs) != 1 or not places:
        return False
    is_agent_first = min(places) < verbs[0].start()
    is_passive = re.match(r"\w+ by\b", plain[verbs[0].start() :]) is not None
    return is_agent_first == is_passive


def answers_outright(question: str, text: str) -> bool:
    """Whether a question asks what a thing is or does, and the sentence begins with the thing and says so; or asks how
    many of a thing there are, and a number stands before the thing."""
    if counted := _COUNTED.search(question):
        noun = re.escape(counted[1][:-1])
        return bool(re.search(rf"\b(?:\d[\d,.]*|{_NUMBERS})\s+(?:\w+\s+)?{noun}", text, re.I))
    if used := _USED_FOR.match(question):
        thing = r"\W+".join(map(re.escape, re.findall(r"\w+", used[1])))
        use = rf"\bus(?:e|es|ing) (?:the |an? )?\W?{thing}\b.{{0,60}}?\b(?:as|to|for)\b"
        use += rf"|\b{thing} is (?:also )?used (?:for|to|as)\b"
        return re.search(use, text, re.I) is not None
    asked = _DEFINES.match(question)
    if asked is None:
        return False
    subject = r"\W+".join(map(re.escape, re.findall(r"\w+", asked[1])))
    says = r"(?:is|are|was|were|handles?|provides?|manages?|stores?|serves?|receives?|turns?)"
    return bool(subject) and bool(
        re.match(rf"\W*(?:the |an? |our )?\W*{subject}\W*(?:\([^)]*\) )?{says}\b", text, re.I)
    )


def is_definition(question: str, text: str) -> bool:
    """Whether a sentence says what the thing is that a question asks the nature of: "Mercury is our message broker"."""
    asked = _ASKS_NATURE.match(question)
    subject = r"\W+".join(map(re.escape, re.findall(r"\w+", asked[1]))) if asked else ""
    kind = r"(?:is|are) (?:an?|the|our|one of|where|what|how)\b"
    return (
        bool(subject)
        and re.match(rf"\W*(?:the |an? |our )?\W*{subject}\W*(?:\([^)]*\) )?{kind}", text, re.I) is not None
    )


_OF_SUBJECT = re.compile(r"\b(?:do|does|did)\b", re.I)


def rate_fact(
    question: str, fact_predicate: str, *, need: bool, named: Collection[str], source_id: str, target_id: str
) -> int:
    """2 when a relationship about a named thing is what a question asks for the right way round, 1 the other way, 0
    when it says something else. "What does X own?" asks for what X does, "What uses X?" for what is done to X;
    `X owned_by Y` says what Y does. need: the predicate says that its subject needs its object."""
    asked = _asked_stems(question)
    said = {stem_term(term) for part in fact_predicate.split("_") for term in split_search_terms(part)}
    if not said & asked and not (need and asked & _ASKS_NEED):
        return 0
    agent, patient = (target_id, source_id) if fact_predicate.endswith("_by") else (source_id, target_id)
    return 2 if (agent if _OF_SUBJECT.search(question) else patient) in named else 1
