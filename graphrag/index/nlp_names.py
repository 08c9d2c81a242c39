"""Pure rules that find names in one readable sentence, with or without a parse.

A name is a declared name, an identifier, a run of proper nouns, an acronym, a span of the NER model, or a lower-case
compound under a technical head noun. What counts as a name at a sentence start, or as one name across "and", is decided
by how the whole corpus writes it: `Lexicon` counts that in a first pass.

Does not: decide which names mean the same entity (index/disambiguation.py), or relate them (index/nlp_relations.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import regex

from graphrag.index.nlp_lexicon import (
    CALENDAR_WORDS,
    CLOSED_WORDS,
    COMMON_VERBS,
    EMPTY_HEADS,
    EMPTY_MODIFIERS,
    FILE_SUFFIXES,
    GENERIC_ACRONYMS,
    JOINERS,
    ORDINARY_WORDS,
    TYPE_OF_HEAD,
    TYPE_OF_LABEL,
    TYPE_OF_PREFIX,
    TYPE_OF_PROPER_HEAD,
    UNITS,
)
from graphrag.index.nlp_markup import Clean
from graphrag.nlp_parsing import Parse

WORD = regex.compile(r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*(?:[-.&'’][\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*)*(?:\+\+|\+|\#)?")
POSSESSIVE = regex.compile(r"['’](?:s|S)?$")
TICKET = regex.compile(r"[A-Z][A-Z0-9]{1,9}-\d+(?:-\d+)*")
NUMBERED = regex.compile(r"(?:PEP|RFC|ISO|ADR|INC|CVE|RB) \d+(?:-\d+)*(?!\.?\d)")
CAMEL = regex.compile(
    r"\p{Lu}\p{Ll}+\d*(?:\p{Lu}[\p{L}\d]*)+|\p{Ll}{1,3}\p{Lu}\p{Ll}[\p{L}\d]*|\p{Lu}{2,}\p{Ll}[\p{L}\d]+|\p{Lu}\p{Ll}+\p{Lu}"
)
HOST = regex.compile(r"[a-z]{2,}(?:-[a-z0-9]+)+-\d+")
VERSIONED = regex.compile(r"\b\p{Ll}[\p{Ll}\d-]+ v?\d+(?:\.\d+)+\b")
NUMERONYM = regex.compile(r"[A-Za-z]\d{1,2}[a-z]")
VERSION = regex.compile(r"v?\d+(?:\.\d+)*(?:\.x)?|[IVX]{1,4}")
ACRONYM = regex.compile(r"\p{Lu}[\p{Lu}\d]{1,6}s?(?:&\p{Lu}+)?")
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


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a clean text. `kind` is the rule that found it; `is_sure` is False where only a relation can confirm it."""

    start: int
    end: int
    type: str
    kind: str
    is_sure: bool = True
    description: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    end: int
    text: str
    tag: str = ""

    @property
    def fold(self) -> str:
        return self.text.casefold()

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()


@dataclass
class Lexicon:
    """What the corpus shows: how words and names are written in running text.

    lower, upper: words in lower case, and with a capital where none is due. names: folded capitalised names.
    compounds: folded lower-case compounds. known: folded words of declared names -> (surface words, type).
    """

    known: dict[str, list[tuple[tuple[str, ...], str, bool]]] = field(default_factory=dict)
    known_folds: set[str] = field(default_factory=set)
    lower: Counter[str] = field(default_factory=Counter)
    upper: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    compounds: Counter[str] = field(default_factory=Counter)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)

    def model_type(self, text: str) -> str:
        """The type that most of the model's spans of this name have; one word is a person only if said twice."""
        votes = self.labels.get(text.casefold())
        if not votes:
            return ""
        kind, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
        if kind == "person" and " " not in text and (count < 2 or not text[1:].islower()):
            return ""
        return kind

    def count_words(self, clean: Clean, words: Sequence[Word], parse: Parse | None) -> None:
        """First pass over one sentence of running text: how its words are written, what the model takes names for."""
        for span in model_spans(clean, parse) if parse else ():
            self.labels.setdefault(clean.text[span.start : span.end].casefold(), Counter())[span.type] += 1
        if is_shouted(words):
            return
        for position, word in enumerate(words):
            if word.text.islower():
                self.lower[word.fold] += 1
            elif word.is_capital and not is_initial(clean.text, words, position):
                self.upper[word.fold] += 1

    def count_names(self, clean: Clean, words: Sequence[Word]) -> None:
        """Second pass: which runs of capitals, compounds, and names across "and" the corpus has."""
        if is_shouted(words):
            return
        for name in proper_runs(clean, words, self, first_pass=True):
            if name.is_sure:
                self.names[clean.text[name.start : name.end].casefold()] += 1
        for name in compounds(clean, words):
            self.compounds[clean.text[name.start : name.end].casefold()] += 1
        self.joined |= {name: head_type(name) or "unknown" for name in find_joined_names(clean, words)}

    def declare(self, names: Mapping[str, str]) -> None:
        for surface, kind in sorted({**self.joined, **names}.items()):
            parts = tuple(word.text for word in find_words(surface))
            fold = " ".join(parts).casefold()
            if not parts or (len(parts) == 1 and (fold in ORDINARY_WORDS or len(fold) < 2)):
                continue
            self.known_folds.add(fold)
            self.known.setdefault(parts[0].casefold(), []).append((parts, kind, True))
        for entries in self.known.values():
            entries.sort(key=lambda entry: (-len(entry[0]), entry[0]))

    def is_name(self, fold: str) -> bool:
        return fold in self.known_folds or self.names[fold] > 0


def find_words(text: str, parse: Parse | None = None) -> list[Word]:
    """The words of a text, with the tag of the last token of each where there is a parse."""
    words, position = [], 0
    for match in WORD.finditer(text):
        start, end, value = match.start(), match.end(), match[0]
        if (possessive := POSSESSIVE.search(value)) and value.casefold() not in {"let's", "let’s"}:
            end -= len(possessive[0])
            value = value[: possessive.start()]
        tag = ""
        if parse:
            while position < len(parse.ends) and parse.ends[position] < end:
                position += 1
            if position < len(parse.tags) and parse.starts[position] < end:
                tag = parse.tags[position]
        if value:
            words.append(Word(start, end, value, tag))
    return words


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
    if kind == "heading":
        found += [
            name
            for name in proper_runs(clean, words, lexicon)
            if lexicon.is_name(clean.text[name.start : name.end].casefold())
        ]
    elif not is_shouted(words):
        found += merge_runs(
            clean, proper_runs(clean, words, lexicon), model_spans(clean, parse) if parse else [], lexicon
        )
        found += [with_corpus_evidence(name, clean, lexicon) for name in compounds(clean, words)]
        found += expansions(clean, words)
    found = [name for name in found if not is_junk(clean.text[name.start : name.end], name.kind, lexicon)]
    return resolve_overlaps(found)


def known_names(clean: Clean, words: Sequence[Word], lexicon: Lexicon) -> list[Name]:
    found, position = [], 0
    while position < len(words):
        for parts, kind, _ in lexicon.known.get(words[position].fold, ()):
            last = position + len(parts) - 1
            here = words[position : last + 1]
            if len(here) < len(parts) or not is_same_name(parts, here, clean.text):
                continue
            found.append(Name(here[0].start, here[-1].end, kind, "known"))
            position = last
            break
        position += 1
    return found


def is_same_name(parts: Sequence[str], here: Sequence[Word], text: str) -> bool:
    if len(parts) == 1:
        word = here[0].text
        is_plain = parts[0].islower() or parts[0][1:].islower()
        return word == parts[0] or (
            is_plain and word.islower() and word == parts[0].lower() and here[0].tag[:1] in {"N", ""}
        )
    if any(part.casefold() != word.fold for part, word in zip(parts, here, strict=True)):
        return False
    return all(text[a.end : b.start] in {" ", "-", "/", " & "} for a, b in zip(here, here[1:], strict=False))


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


def proper_runs(clean: Clean, words: Sequence[Word], lexicon: Lexicon, *, first_pass: bool = False) -> list[Name]:
    """Runs of capitalised words, joined by "of the" where both sides are capitals, with a number or head noun after them."""
    found, position, text = [], 0, clean.text
    while position < len(words):
        if not starts_run(text, words, position, lexicon):
            position += 1
            continue
        last = position
        while last + 1 < len(words) and text[words[last].end : words[last + 1].start] in {" ", " & "}:
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
            longer = text[start : following.end].casefold()
            alone = text[start:end].casefold()
            if not first_pass and (lexicon.is_name(longer) or not lexicon.is_name(alone)):
                end = following.end
                last += 1
        is_longer = last > position and not all(VERSION.fullmatch(word.text) for word in words[position + 1 : last + 1])
        is_proven = is_longer or not is_initial(text, words, position) or not words[position].text[1:].islower()
        fold = words[position].fold
        is_sure = is_proven or lexicon.upper[fold] > 0 or (not first_pass and lexicon.is_name(fold))
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
    following = (
        words[position + 1] if position + 1 < len(words) and text[word.end : words[position + 1].start] == " " else None
    )
    leads = following is not None and following.is_capital and following.fold not in ORDINARY_WORDS
    if not word.is_capital or (len(word.text) == 1 and not leads) or word.fold in CLOSED_WORDS:
        return False
    if word.fold in CALENDAR_WORDS:
        return leads and not is_initial(text, words, position)
    is_mid = not is_initial(text, words, position)
    if word.fold in ORDINARY_WORDS:
        if not is_mid:
            return (
                leads and word.tag == "NNP" and lexicon.names[f"{word.fold} {following.fold if following else ''}"] > 0
            )
        return leads or (word.tag == "NNP" and text[word.start - 1 : word.start] == " ")
    if is_mid:
        return word.tag not in {"PRP", "DT", "IN", "CC", "MD", "WDT", "WP", "WRB"}
    if not word.text[1:].islower():
        return True
    lower, upper = lexicon.lower[word.fold], lexicon.upper[word.fold]
    if lower or upper:
        return upper >= lower
    if following is not None and VERSION.fullmatch(following.text):
        return word.tag[:2] in {"NN", ""} and not word.fold.endswith("ly")
    if leads:
        return (word.tag[:2] in {"NN", "JJ", ""} or word.tag in {"VBG", "VBN"}) and not word.fold.endswith("ly")
    return word.tag in {"NNP", "NNPS", ""} and not (word.tag == "" and len(word.text) < 4)


def run_step(text: str, words: Sequence[Word], last: int, lexicon: Lexicon) -> int:
    """How many words the run may take after `last`: 0 if it ends there."""
    if text[words[last].end : words[last].end + 1] == "'":
        return 0
    following = words[last + 1]
    if following.is_capital:
        if VERSION.fullmatch(following.text) or following.fold not in ORDINARY_WORDS or following.text.isupper():
            return 1
        return 1 if last + 2 < len(words) and words[last + 2].is_capital and following.fold not in {"i"} else 0
    if VERSION.fullmatch(following.text) and not regex.fullmatch(r"(?:19|20)\d\d", following.text):
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


def model_spans(clean: Clean, parse: Parse) -> list[Name]:
    """The spans of the NER model without articles, possessives and quotes; only those with a capital or digit-letter mix."""
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
            "SYM",
        }:
            last -= 1
        if first == last:
            continue
        start, end = parse.starts[first], parse.ends[last - 1]
        text = clean.text[start:end]
        if not any(c.isupper() for c in text) or regex.search(r"[\n|\"()\[\]{}<>=:;!?*/\\]|, ", text):
            continue
        found.append(Name(start, end, head_type(text) or TYPE_OF_LABEL[label], "ner"))
    return found


def merge_runs(clean: Clean, runs: list[Name], spans: list[Name], lexicon: Lexicon) -> list[Name]:
    """Runs typed by the spans they match; a span that no run touches, or that only widens one run, is kept too."""
    found: list[Name] = []
    for run in runs:
        same = [span for span in spans if span.start < run.end and run.start < span.end]
        kind = run.type
        if kind == "unknown" and same:
            kind = lexicon.model_type(clean.text[run.start : run.end]) or "unknown"
        found.append(replace(run, type=kind, is_sure=run.is_sure or bool(same)))
    for span in spans:
        text = clean.text[span.start : span.end]
        touching = [run for run in runs if span.start < run.end and run.start < span.end]
        if text.split()[0].casefold() in ORDINARY_WORDS | CLOSED_WORDS:
            continue
        kind = span.type if span.type not in TYPE_OF_LABEL.values() else lexicon.model_type(text) or "unknown"
        if not touching:
            if is_widely_name(text, lexicon):
                found.append(replace(span, type=kind))
        elif (
            len(touching) == 1
            and span.start <= touching[0].start
            and touching[0].end <= span.end
            and not regex.search(r"\. ", text)
        ):
            if not head_type(clean.text[touching[0].start : touching[0].end]):
                found.append(replace(span, type=kind))
    return found


def is_widely_name(text: str, lexicon: Lexicon) -> bool:
    """A span that only the NER model saw: several words, or one that the corpus does not write small."""
    if " " in text:
        return True
    fold = text.casefold()
    return lexicon.upper[fold] > 0 and lexicon.upper[fold] >= lexicon.lower[fold] or not text[1:].islower()


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
            if not is_naming_modifier(modifier):
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
        return word.tag in {"NN", "NNP", "NNS", "JJ", "VBG"} and word.fold not in EMPTY_HEADS
    return word.text.isalpha() and not word.text.endswith(("ed", "ly", "s"))


def with_corpus_evidence(name: Name, clean: Clean, lexicon: Lexicon) -> Name:
    fold = clean.text[name.start : name.end].casefold()
    return replace(name, is_sure=lexicon.is_name(fold) or lexicon.compounds[fold] >= 3)


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


def head_type(text: str) -> str:
    """The type that the last word of a name gives it, also the last hump of CamelCase; empty if none."""
    parts = regex.sub(r"(\p{Ll})(\p{Lu})", r"\1 \2", text)
    pieces = [piece for piece in regex.split(r"[\s_./-]+", parts) if piece]
    while len(pieces) > 1 and VERSION.fullmatch(pieces[-1]):
        pieces.pop()
    if len(pieces) < 2:
        return ""
    head = pieces[-1].casefold()
    return TYPE_OF_HEAD.get(head) or TYPE_OF_PROPER_HEAD.get(head) or ""


def is_initial(text: str, words: Sequence[Word], position: int) -> bool:
    """A capital is due here by place: sentence start, after a colon, bracket or dash."""
    if position == 0:
        return True
    gap = text[words[position - 1].end : words[position].start]
    return bool(regex.search(r"[:.!?•|]\s*[\"'(]?$|^\s*[–—]\s|[\"(]$", gap))


def is_shouted(words: Sequence[Word]) -> bool:
    return len(words) >= 4 and sum(word.text.isupper() for word in words) > 0.6 * len(words)


def is_junk(text: str, kind: str, lexicon: Lexicon) -> bool:
    if kind == "known":
        return False
    fold = text.casefold()
    if fold in CLOSED_WORDS or text in GENERIC_ACRONYMS or fold in UNITS or not regex.search(r"\p{L}", text):
        return True
    if len(text) < 2 or len(text) > 80 or text.count(" ") > 7:
        return True
    if text.rpartition(".")[2].casefold() in FILE_SUFFIXES and "." in text and " " not in text and kind != "link":
        return True
    pieces = fold.split()
    return all(word in CALENDAR_WORDS or word.isdigit() for word in pieces) or (
        len(pieces) > 1 and all(word in ORDINARY_WORDS for word in pieces)
    )


def resolve_overlaps(names: Iterable[Name]) -> list[Name]:
    """Longest first, then the surer rule; a name that touches a taken one is dropped."""
    ranked = sorted(
        set(names),
        key=lambda n: (-(n.end - n.start), -PRIORITY[n.kind], n.start, n.type == "unknown", n.type, not n.is_sure),
    )
    taken: list[Name] = []
    for name in ranked:
        if all(name.end <= other.start or other.end <= name.start for other in taken):
            taken.append(name)
    return sorted(taken, key=lambda name: name.start)
