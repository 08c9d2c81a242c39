"""What the whole corpus shows of how its words and names are written.

A capital at the start of a sentence, in a heading or on a label says little; how often the corpus writes the word
small, and with a capital where none is due, says more. Counted document by document (nlp/names.count_words,
count_names); the lexicon of a corpus is the sum.

Rules never ask for counts, but for the `Usage` of what may be a name, whether a small word is mostly a name, and what
is declared: as fine as a rule can tell and no finer, so that a document more or less changes few answers. The lexicon
notes what was asked: the names and relations of a document follow from its own text and the answers that were given for
it, and from nothing else of the corpus.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphrag.nlp.lexicon import ORDINARY_WORDS
from graphrag.nlp.words import find_words

LOWER, UPPER, LABEL, HEADING, SENTENCE, TECHNICAL = "lower", "upper", "label", "heading", "sentence", "technical"
NAME, COMPOUND, JOINED = "name", "compound", "joined"
WORD_COUNTS = (LOWER, UPPER, LABEL, HEADING, SENTENCE, TECHNICAL)
NAME_COUNTS = (NAME, COMPOUND, JOINED)
"""What is counted when the words of the whole corpus are."""
USAGE, MOSTLY_NAME, DECLARATION = "u:", "m:", "d:"
Counts = defaultdict[tuple[str, str, str], int]
"""(what is counted, folded word or phrase, type where it has one) -> how often."""


class Usage(NamedTuple):
    """How the corpus uses a folded word or phrase, where it matters to a rule.

    n_small, n_named, n_headings, n_compounds: how often it is written small, named, a heading, a compound; at most the
    number that rules ask for (2, 2, 3, 3). case: capitals beside small letters: 0 less than half as many, 1 fewer, 2 as
    many, 3 more. label: the type that most of the model's spans of it have; share: of its places they are 0 less than
    half, 1 half, 2 six tenths, 3 eight tenths.
    """

    n_small: int = 0
    is_big: bool = False
    case: int = 2
    is_often_small: bool = False  # five times and more, and twice as often as big
    n_named: int = 0
    is_half_small: bool = False  # small, and at least half as often as it is a name
    n_headings: int = 0
    n_compounds: int = 0
    label: str = ""
    share: int = 0
    is_label_repeated: bool = False
    is_repeated: bool = False
    is_declared: bool = False

    @property
    def is_common(self) -> bool:
        """A word that the corpus writes small far more often: a label or a heading's capital makes it no name."""
        return self.is_often_small and not self.is_declared

    @property
    def is_name(self) -> bool:
        return self.is_declared or self.n_named > 0


UNSEEN = Usage()


class Declaration(NamedTuple):
    """names: (surface words, type) of declared names that are this phrase; lengths: numbers of words of those that
    begin with this word, longest first."""

    names: tuple[tuple[tuple[str, ...], str], ...]
    lengths: tuple[int, ...]


@dataclass
class Lexicon:
    """Counts of a corpus by folded word or phrase, and the names that people declared.

    headings: folded headings. lower, upper: words in lower case, and with a capital where none is due. names: folded
    capitalised names. compounds: folded lower-case compounds. labels: by fold, types of the model's spans. declared:
    folded words of declared names -> (surface words, type), and lengths: first folded word -> numbers of words: a vault
    may have 20,000 notes "Note N". asked: keys of `answers` that were asked for, into a set that someone has put there.
    """

    lower: Counter[str] = field(default_factory=Counter)
    upper: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    compounds: Counter[str] = field(default_factory=Counter)
    headings: Counter[str] = field(default_factory=Counter)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)
    n_sentences: int = 0
    n_technical: int = 0
    declared: dict[str, list[tuple[tuple[str, ...], str]]] = field(default_factory=dict)
    lengths: dict[str, set[int]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    _usages: dict[str, Usage] = field(default_factory=dict)

    def declare(self, names: Mapping[str, str]) -> None:
        """Names by their surface, with the names that sentences of the corpus show to be one."""
        for surface, kind in sorted({**self.joined, **names}.items()):
            parts = tuple(word.text for word in find_words(surface))
            fold = " ".join(parts).casefold()
            if not parts or (len(parts) == 1 and (fold in ORDINARY_WORDS or len(fold) < 2)):
                continue
            self.declared.setdefault(fold, []).append((parts, kind))
            self.lengths.setdefault(parts[0].casefold(), set()).add(len(parts))
        for entries in self.declared.values():
            entries.sort(key=lambda entry: entry[0])

    def answers(self, fold: str) -> dict[str, object]:
        """All that can be asked of a word or phrase, without a note that it was."""
        declaration = Declaration(tuple(self.declared.get(fold, ())), self._lengths(fold))
        return {
            USAGE + fold: self._usage(fold), MOSTLY_NAME + fold: self._is_mostly_name(fold),
            DECLARATION + fold: declaration,
        }  # fmt: skip

    def usage(self, fold: str) -> Usage:
        self.asked.add(USAGE + fold)
        return self._usage(fold)

    def is_mostly_name(self, fold: str) -> bool:
        """A name more than once and more often than it is small, with more capitals than small letters."""
        self.asked.add(MOSTLY_NAME + fold)
        return self._is_mostly_name(fold)

    def declared_lengths(self, fold: str) -> tuple[int, ...]:
        self.asked.add(DECLARATION + fold)
        return self._lengths(fold)

    def declared_names(self, fold: str) -> Sequence[tuple[tuple[str, ...], str]]:
        self.asked.add(DECLARATION + fold)
        return self.declared.get(fold, ())

    def _lengths(self, fold: str) -> tuple[int, ...]:
        return tuple(sorted(self.lengths[fold], reverse=True)) if fold in self.lengths else ()

    def _is_mostly_name(self, fold: str) -> bool:
        named, small = self.names.get(fold, 0), self.lower.get(fold, 0)
        return named > max(1, small) and self.upper.get(fold, 0) > small

    def _usage(self, fold: str) -> Usage:
        found = self._usages.get(fold)
        if found is None:
            found = self._usages[fold] = self._read_usage(fold)
        return found

    @property
    def is_technical(self) -> bool:
        """One sentence in eight has inline code or a technical compound."""
        return self.n_technical * 8 > self.n_sentences

    def model_type(self, text: str) -> str:
        """The type that most of the model's spans of this name have, if they are most of its places too.

        The model knows newspapers: where a corpus is technical it takes tools for companies, people and countries, so
        there only names of several plain words are believed to be persons, and one word is believed nothing.
        """
        usage = self.usage(text.casefold())
        is_plain = all(
            part[:1].isupper() and part[1:].replace("-", "").isalpha() and not part.isupper() for part in text.split()
        )
        if self.is_technical and (" " not in text or not is_plain):
            is_place = usage.label == "location" and usage.share == 3 and is_plain and usage.is_repeated
            return usage.label if is_place else ""
        if usage.label == "person":
            is_person = is_plain and usage.share >= 2 and (" " in text or usage.is_label_repeated)
            return usage.label if is_person else ""
        return usage.label if usage.share >= 1 else ""

    def _read_usage(self, fold: str) -> Usage:
        small, big, named = self.lower.get(fold, 0), self.upper.get(fold, 0), self.names.get(fold, 0)
        others = (self.declared, self.headings, self.compounds, self.labels)
        if not (small or big or named) and not any(fold in other for other in others):
            return UNSEEN
        votes = self.labels.get(fold)
        label, n_label, total = "", 0, named
        if votes:
            label, n_label = min(votes.items(), key=lambda item: (-item[1], item[0]))
            total = max(votes.total(), named)
        return Usage(
            n_small=min(small, 2),
            is_big=big > 0,
            case=3 if big > small else 2 if big == small else 1 if 2 * big >= small else 0,
            is_often_small=small >= 5 and small >= 2 * big,
            n_named=min(named, 2),
            is_half_small=small > 0 and 2 * small >= named,
            n_headings=min(self.headings.get(fold, 0), 3),
            n_compounds=min(self.compounds.get(fold, 0), 3),
            label=label,
            share=0 if not label else sum(n_label >= floor * total for floor in (0.5, 0.6, 0.8)),
            is_label_repeated=n_label > 1,
            is_repeated=total > 1,
            is_declared=fold in self.declared,
        )


def build_lexicon(counts: Iterable[tuple[str, str, str, int]], declared: Mapping[str, str] | None = None) -> Lexicon:
    """From sums over documents: rows of what is counted, fold, type, how often. declared: surface -> type."""
    lexicon = Lexicon()
    counters = {
        LOWER: lexicon.lower, UPPER: lexicon.upper, NAME: lexicon.names, COMPOUND: lexicon.compounds,
        HEADING: lexicon.headings,
    }  # fmt: skip
    for what, fold, kind, n in counts:
        if what in counters:
            counters[what][fold] = n
        elif what == LABEL:
            lexicon.labels.setdefault(fold, Counter())[kind] = n
        elif what == JOINED:
            lexicon.joined[fold] = kind
        elif what == SENTENCE:
            lexicon.n_sentences = n
        elif what == TECHNICAL:
            lexicon.n_technical = n
    lexicon.declare(declared or {})
    return lexicon
