"""What the whole corpus shows of how its words and names are written.

A capital at the start of a sentence, in a heading or on a label says little; how often the corpus writes the word
small, and with a capital where none is due, says more. Counted in a first pass (nlp/names.count_words, count_names).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from graphrag.nlp.lexicon import ORDINARY_WORDS
from graphrag.nlp.words import find_words


@dataclass
class Lexicon:
    """What the corpus shows: how words and names are written in running text.

    headings: folded headings. lower, upper: words in lower case, and with a capital where none is due.
    names: folded capitalised names.
    compounds: folded lower-case compounds. known: folded words of declared names -> (surface words, type), and
    known_lengths: first folded word -> numbers of words, longest first: a vault may have 20,000 notes "Note N".
    """

    known: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = field(default_factory=dict)
    known_lengths: dict[str, list[int]] = field(default_factory=dict)
    known_folds: set[str] = field(default_factory=set)
    lower: Counter[str] = field(default_factory=Counter)
    upper: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    compounds: Counter[str] = field(default_factory=Counter)
    headings: Counter[str] = field(default_factory=Counter)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    n_sentences: int = 0
    n_technical: int = 0
    joined: dict[str, str] = field(default_factory=dict)

    def model_type(self, text: str) -> str:
        """The type that most of the model's spans of this name have, if they are most of its places too.

        The model knows newspapers: where a corpus is technical it takes tools for companies, people and countries, so
        there only names of several plain words are believed to be persons, and one word is believed nothing.
        """
        fold = text.casefold()
        votes = self.labels.get(fold)
        if not votes:
            return ""
        kind, count = min(votes.items(), key=lambda item: (-item[1], item[0]))
        total = max(votes.total(), self.names[fold])
        is_plain = all(
            part[:1].isupper() and part[1:].replace("-", "").isalpha() and not part.isupper() for part in text.split()
        )
        if self.is_technical and (" " not in text or not is_plain):
            return kind if kind == "location" and count >= 0.8 * total and is_plain and total > 1 else ""
        if kind == "person":
            return kind if is_plain and count >= 0.6 * total and (" " in text or count > 1) else ""
        return kind if 2 * count >= total else ""

    @property
    def is_technical(self) -> bool:
        """One sentence in eight has inline code or a technical compound."""
        return self.n_technical * 8 > self.n_sentences

    def declare(self, names: Mapping[str, str]) -> None:
        for surface, kind in sorted({**self.joined, **names}.items()):
            parts = tuple(word.text for word in find_words(surface))
            fold = " ".join(parts).casefold()
            if not parts or (len(parts) == 1 and (fold in ORDINARY_WORDS or len(fold) < 2)):
                continue
            self.known_folds.add(fold)
            folds = tuple(part.casefold() for part in parts)
            self.known.setdefault(folds, []).append((parts, kind))
            lengths = self.known_lengths.setdefault(folds[0], [])
            if len(parts) not in lengths:
                lengths.append(len(parts))
        for entries in self.known.values():
            entries.sort(key=lambda entry: entry[0])
        for lengths in self.known_lengths.values():
            lengths.sort(reverse=True)

    def is_common(self, fold: str) -> bool:
        """A word that the corpus writes small far more often: a label or a heading's capital makes it no name."""
        return self.lower[fold] >= 5 and self.lower[fold] >= 2 * self.upper[fold] and fold not in self.known_folds

    def is_name(self, fold: str) -> bool:
        return fold in self.known_folds or self.names[fold] > 0
