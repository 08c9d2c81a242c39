"""Other names that sentences declare: "X (Y)", "X, also known as Y", "X (German: Y)", "X is a kind of N" (so X N is X).

`find_phrases` reads what stands right behind each mention. Both names must be names that the corpus knows; the sentence
only says that they are one. Tables read: documents, entity_mentions.

Does not: merge. A sentence never beats a veto; decisions.py sees to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl
import regex

from graphrag.names import abbreviates, name_key
from graphrag.naming.country_names import is_country_adjective
from graphrag.naming.word_forms import SHORT_FORMS

IsKnown = Callable[[str], bool]

_ADVERB = (
    r"(?:also|formerly|previously|originally|initially|commonly|popularly|sometimes|often|frequently|generally|widely|"
    r"locally|informally|colloquially|officially|internally|professionally|simply|better|best|more commonly|otherwise|"
    r"usually|alternatively|variously|later|now|then)"
)
_VERB = (
    r"(?:known(?: \p{Ll}+ly)? (?:as|by)|referred to as|abbreviated(?: as| to)?|abbreviation of|shortened(?: as| to)?|"
    r"styli[sz]ed as|nicknamed|dubbed|short for|acronym for)"
)
# These say so only with an adverb, a comma or a form of "to be" before them: Auth called Billing at noon.
_WEAK_VERB = r"(?:called|spelled|spelt|written|translated(?: as)?|renamed(?: as| to)?)"
_NAMED = r"named(?: until \d{4})?(?: as)?"  # "was named Player of the Year": only with an adverb
_KNOWN_AS = rf"(?:{_ADVERB} ){{0,2}}{_VERB}|(?:{_ADVERB} ){{1,2}}(?:{_WEAK_VERB}|{_NAMED})|a\.k\.a\.|aka|or simply"
_IN_BRACKETS = rf"{_KNOWN_AS}|{_WEAK_VERB}|formerly|previously|originally|née|born|also|or|lit\.|literally|in English"
_NO_LONGER = r"now|then|later|currently"  # says that one became the other: Russian Empire (now Belarus)
_QUOTES = "\"'“”‘’*_` "
_CLOSE = r"[\"'”’*_`]{0,3}"
_OPEN = r"(?:the )?[\"'“‘*_`]{0,3} ?"
_BRACKET = regex.compile(rf"{_CLOSE} ?\((?P<inside>[^()\n]{{1,160}})\)")
_MARKER = regex.compile(rf"(?P<marker>{_IN_BRACKETS})[:,]? {_OPEN}", flags=regex.IGNORECASE)
_BECAME = regex.compile(rf"(?P<marker>{_NO_LONGER}),? {_OPEN}", flags=regex.IGNORECASE)
_LABEL = regex.compile(r"(?:in )?(?:\p{L}+ ){0,2}?(?P<language>\p{L}+)\s?[:;] ?(?:the )?[\"'“‘*_`]{0,3} ?")
_FOR_SHORT = regex.compile(r"[\"'”’*_`]* for short$")
_BEHIND = regex.compile(
    rf"{_CLOSE},? (?:(?:which|who|that) )?(?:(?:is|are|was|were|has been) )?(?P<marker>{_KNOWN_AS}|(?<=, )formerly"
    rf"|(?<=, )previously|(?<=(?:, | is | are | was | were ))(?:{_WEAK_VERB}))[:,]? {_OPEN}(?P<behind>[^\n()]{{1,120}})"
)
_NEXT = regex.compile(r"^[\"'”’*_`]{0,3}(?:,? or (?:simply )?|, (?:and )?| and )(?:the )?[\"'“‘*_`]{0,3} ?")
# A name of one to three words in small letters, with others behind it, of which the last follows an "or" or "and".
_LISTED = regex.compile(
    r"(?!(?:an?|the|which|who|that|is|are|was|it|he|she|they) )\p{Ll}[\p{Ll}-]*(?: \p{Ll}[\p{Ll}-]*){0,2}"
    r"(?=, (?:[\p{Ll} -]{2,40}, ){0,8}(?:or|and) )"
)
_ITEM_END = regex.compile(r"[\"'”’*_`]{0,3}(?: ?$|[,;.:)]| or | ?[—–]| (?:is|are|was|were) )")
_LIST = regex.compile(
    rf"(?:(?:, |—|– ?|\()also )(?P<marker>{_WEAK_VERB}|{_VERB}) {_OPEN}(?P<behind>[^\n().;:—]{{1,160}})"
)
_OR = regex.compile(rf"{_CLOSE}(?: \([^()\n]{{1,40}}\))?,? or {_OPEN}(?P<behind>[^\n()]{{1,80}})")
_IN_LANGUAGE = regex.compile(rf"{_CLOSE}(?: \([^()\n]{{1,40}}\))? in (?P<language>\p{{Lu}}\p{{L}}+)")
_DEFINED = regex.compile(
    rf"{_CLOSE}(?: \([^()\n]{{1,80}}\))? (?:is|are) (?:an?|the|one of the) (?P<what>[^.;:\n]{{3,200}})"
)
_PHRASE_END = regex.compile(
    r"[,()]| (?:that|which|who|whose|for|of|to|in|on|at|by|with|from|as|and|or|where|used|created|developed|built|"
    r"based|designed|written|made|released|published|powered|consisting|containing|including|using|is|are|was|were|has|"
    r"have|it)\b"
)
_KIND_OF = regex.compile(r"^(?:(?:sub-?)?genre|type|kind|form|style|variety) of (?:an? )?")
_COORDINATED = regex.compile(
    r"\p{Ll}[\p{Ll}-]* and \p{Ll}[\p{Ll}-]*(?: [\p{Ll}-]+){0,2}? \p{Ll}+(?= with | for | to | that |[,.]|$)"
)
_MAKER = regex.compile(
    r"\b(?:(?:created|developed|made|built|maintained|designed|published|released|introduced|produced|provided|owned)"
    r"(?: and \p{Ll}+)? by|from the (?:\p{Ll}+ )?company) (?:the )?(?P<maker>\p{Lu}[\w.-]*(?: \p{Lu}[\w.-]*)?)"
)
_SENTENCE_START = regex.compile(r"(?:^|[.!?\n#>*-]\s*|\n\s*)(?:\p{Ps}?[*_`\"“]{0,3})(?:(?:The|A|An) )?[*_`\"“]{0,3}$")
_INSIDE = regex.compile(r" (?:of|in|at|for|from|to|by) (?:the )?$")
_LATIN = regex.compile(r"\p{Latin}")
_LANGUAGES = frozenset((
    "arabic", "basque", "bengali", "catalan", "cantonese", "devanagari", "english", "farsi", "galician", "hebrew",
    "hindi", "iast", "kannada", "kurdish", "latin", "malayalam", "mandarin", "marathi", "persian", "pinyin", "punjabi",
    "romanized", "sanskrit", "somali", "swahili", "tagalog", "tamil", "telugu", "tibetan", "urdu", "yiddish",
    "amharic",
))  # fmt: skip
_AFTER_NAME = "\"'”’`*_.,;:!? "
MAX_WORDS = 8
LONG_BEGINNING = 3  # letters
MAX_OPENING = 400  # characters; a page says first what it is about


@dataclass(frozen=True, slots=True, order=True)
class Phrase:
    """Two names that a sentence joins. `is_sure` is false where it may say something else: a proposal."""

    surface: str
    other: str
    words: str
    document_id: str
    is_sure: bool


def find_phrases(entity_mentions: pl.DataFrame, documents: pl.DataFrame, *, is_known: IsKnown) -> list[Phrase]:
    """The names that running text joins, where both are known names of the corpus. Sorted, without repeats."""
    texts = dict(documents.select("id", "text").iter_rows())
    titles = dict(documents.select("id", "title").iter_rows())
    found: set[Phrase] = set()
    for document_id, text in texts.items():
        for name, other, words in _read_lists(text, is_known):
            if name_key(name) != name_key(other):
                found.add(Phrase(name, other, words, document_id, is_sure=True))
    places = entity_mentions.select("document_id", "surface", "start_char", "end_char").unique()
    for document_id, surface, start, end in places.iter_rows():
        text = texts.get(document_id, "")
        after = text[end : end + 6]
        said: list[tuple[str, str, bool]] = []
        # Cheap tests first: almost all mentions fail here.
        if "(" in after:
            said += _read_bracket(surface, text, end, is_known)
        if after[:1] in " ,\"'”’*_`" and not after[1:2].isupper():
            said += _read_behind(text, start, end, is_known)
        if " is " in after or " are " in after or "(" in after or "*" in after:
            said += _read_definition(surface, text, start, end, is_known)
        own = name_key(surface)
        if title := titles.get(document_id):
            said += _read_title(title, surface, text, start, end, is_known)
        found.update(
            Phrase(surface, other, words, document_id, is_sure)
            for other, words, is_sure in said
            if name_key(other) != own
        )
    return sorted(_surest(found))


def _surest(found: set[Phrase]) -> Iterator[Phrase]:
    """One phrase a pair, words and document: what is sure beats a proposal."""
    sure = {(p.surface, p.other, p.document_id) for p in found if p.is_sure}
    for phrase in found:
        if phrase.is_sure or (phrase.surface, phrase.other, phrase.document_id) not in sure:
            yield phrase


def _read_bracket(surface: str, text: str, end: int, is_known: IsKnown) -> Iterator[tuple[str, str, bool]]:
    match = _BRACKET.match(text, end)
    if match is None:
        return
    inside = match["inside"]
    for number, part in enumerate([inside, *regex.split(r"\s?[;/]\s?|, (?=or |also |then |now |born )", inside)]):
        part = part.strip(" ,")
        if marker := _MARKER.match(part):
            # "Redis (or Memcached)" names two things, "Web Shop (or WS)" one.
            is_weak = marker["marker"].casefold() in ("or", "also")
            for other in _read_names(part[marker.end() :], is_known):
                yield other, marker["marker"], not is_weak or _are_near(surface, other)
        elif became := _BECAME.match(part):
            yield from ((o, became["marker"], False) for o in _read_names(part[became.end() :], is_known)[:1])
        elif (label := _LABEL.match(part)) and _is_language(label["language"]):
            yield from ((o, label["language"], True) for o in _read_names(part[label.end() :], is_known)[:1])
        elif number < 2:
            yield from _read_bare(surface, part, is_known)


def _read_bare(surface: str, part: str, is_known: IsKnown) -> Iterator[tuple[str, str, bool]]:
    """Brackets without a word that says what they are: an abbreviation, another script, or who knows."""
    for_short = _FOR_SHORT.search(part)
    bare = regex.sub(r"^the ", "", part[: for_short.start()] if for_short else part)
    for other in dict.fromkeys((bare.strip(_AFTER_NAME + "“‘"), bare.split(",")[0].strip(_AFTER_NAME + "“‘"))):
        if other and len(other) <= 60 and is_known(other) and name_key(other) != name_key(surface):
            yield other, "brackets", bool(for_short) or _are_near(surface, other)
            return


def _are_near(surface: str, other: str) -> bool:
    """One abbreviates the other, or is written in other letters."""
    return (
        abbreviates(surface, name_key(other))
        or abbreviates(other, name_key(surface))
        or _is_blend(surface, other)
        or _is_blend(other, surface)
        or bool(_LATIN.search(surface)) != bool(_LATIN.search(other))
    )


def _is_blend(short: str, full: str) -> bool:
    """The beginnings of all words, in order, one of them with three letters and more: WinForms, GMod."""
    letters, words = name_key(short).replace(" ", ""), name_key(full).split()
    if len(words) < 2 or not len(words) < len(letters) < sum(map(len, words)):
        return False
    places = {(0, False)}  # how far the letters reach, and whether a beginning was long
    for word in words:
        places = {
            (start + size, is_long or size >= LONG_BEGINNING)
            for start, is_long in places
            for size in range(1, len(word) + 1)
            if letters.startswith(word[:size], start)
        }
    return (len(letters), True) in places


def _is_language(word: str) -> bool:
    return word.casefold() in _LANGUAGES or is_country_adjective(name_key(word))


def _read_behind(text: str, start: int, end: int, is_known: IsKnown) -> Iterator[tuple[str, str, bool]]:
    if match := _BEHIND.match(text, end):
        # "The lands of India known as Hindu Kush Kshetra" names the lands.
        if match.start("marker") == end + 1 and _INSIDE.search(text[max(0, start - 12) : start]):
            return
        yield from ((other, match["marker"], True) for other in _read_names(match["behind"], is_known))
    elif match := _OR.match(text, end):
        # "The Cranford Protocol or Cranford Agreement was ..." names one thing, most other "or" name two.
        for other in _read_names(match["behind"], is_known)[:1]:
            language = _IN_LANGUAGE.match(text, text.index(other, match.start("behind")) + len(other))
            yield other, "or", language is not None and _is_language(language["language"])


def _read_names(behind: str, is_known: IsKnown) -> list[str]:
    """The longest run of words that is a known name, and what "or" and commas add to it.

    Names that the corpus does not know are passed over where a list in small letters goes on behind them.
    """
    names: list[str] = []
    has_gap = False
    while behind:
        words = list(regex.finditer(r"\S+", behind))[:MAX_WORDS]
        for word in reversed(words):
            other = behind[: word.end()].strip(_QUOTES).strip(_AFTER_NAME)
            rest = behind[behind.index(other) + len(other) :]
            if other and is_known(other) and (not has_gap or _ITEM_END.match(rest)):
                names.append(other)
                break
        else:
            unknown = _LISTED.match(behind)
            if unknown is None:
                break
            rest, has_gap = behind[unknown.end() :], True
        following = _NEXT.match(rest)
        behind = rest[following.end() :] if following else ""
    return names


def _read_lists(text: str, is_known: IsKnown) -> Iterator[tuple[str, str, str]]:
    """A list of other names behind a noun that is none: a color scheme, also called dark mode, dark theme or more."""
    for match in _LIST.finditer(text):
        names = _read_names(match["behind"], is_known)
        if names and "," in match["behind"][: match["behind"].rindex(names[-1])]:  # not "frankincense and myrrh family"
            yield from ((names[0], other, match["marker"]) for other in names[1:])


def _read_definition(
    surface: str, text: str, start: int, end: int, is_known: IsKnown
) -> Iterator[tuple[str, str, bool]]:
    """Godot is a game engine: then Godot Engine is Godot. Edge is a browser created by Microsoft: Microsoft Edge."""
    match = _DEFINED.match(text, end)
    if match is None or surface.islower() or not _SENTENCE_START.search(text[max(0, start - 12) : start]):
        return
    what = _KIND_OF.sub("", match["what"])
    phrase_end = _PHRASE_END.search(what)
    kind = what[: phrase_end.start()].split() if phrase_end else what.split()
    if more := _COORDINATED.match(what):  # a free and source-available game engine
        kind = more.group().split()
    names = [f"{surface} {' '.join(kind[-n:])}" for n in range(1, min(3, len(kind)) + 1)]
    names += [f"{surface} {''.join(word[0] for word in kind[-n:])}" for n in range(2, min(3, len(kind)) + 1)]  # an OS
    names += [f"{surface} {form}" for form in SHORT_FORMS.get(kind[-1], ())] if kind else []
    if maker := _MAKER.search(what):
        names.append(f"{maker['maker']} {surface}")
    yield from ((name, "definition", True) for name in names if is_known(name))


def _read_title(
    title: str, surface: str, text: str, start: int, end: int, is_known: IsKnown
) -> Iterator[tuple[str, str, bool]]:
    """A page "Edge" that begins "Microsoft Edge is a browser" has Microsoft Edge for its subject."""
    if start > MAX_OPENING or not _DEFINED.match(text, end):
        return
    named, subject = set(name_key(title).split()), set(name_key(surface).split())
    is_longer = named < subject
    # The page "Redis Sentinel" may begin with what Redis is; if it never says Redis Sentinel again, it calls it so.
    is_shorter = subject < named and text.find(title, len(title) + 1) < 0
    is_first = _SENTENCE_START.search(text[max(0, start - 12) : start])
    is_short = " " in surface and abbreviates(title, name_key(surface))
    if is_first and (is_longer or is_shorter or is_short) and is_known(title):
        yield title, "title", True
