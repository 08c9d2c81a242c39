"""Two ways to cut text into countable pieces: the tokens of a language model, and the terms of a BM25 search.

`count_tokens` counts as OpenAI's o200k_base does, offline: the ranks come from the folder that the litellm package
carries (found without importing litellm, which would cost seconds), never from the network.
`split_search_terms` serves the inverted index and the questions put to it; both sides must use this one function.

Does not: count as other models count (o200k stands for all of them), or stem words.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from binascii import a2b_base64
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import regex

from graphrag.errors import ModelError

if TYPE_CHECKING:
    import tiktoken

TokenCounter = Callable[[str], int]

ENCODING = "o200k_base"
ENCODING_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"  # tiktoken's cache name: sha1 of the file's address
ENCODING_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
ENCODING_PATTERN = "|".join([  # where o200k_base cuts a text before it counts (tiktoken_ext/openai_public.py)
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
])  # fmt: skip
MAX_TERM_CHARS = 64
MAX_KEPT_CHARS = 100  # words up to this are split once: a text of 100,000 words has some thousand different ones


def count_tokens(text: str) -> int:
    """Number of o200k tokens of `text`; special tokens such as <|endoftext|> count as the plain text they are.

    Raises ModelError when the file with the ranks is not on this machine.
    """
    return _count(text) if len(text) <= 4096 else len(_encoding().encode_ordinary(text))


@lru_cache(maxsize=4096)
def _count(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


@lru_cache(maxsize=1)
def _encoding() -> tiktoken.Encoding:
    import tiktoken  # here, not above: `graphrag --help` need not pay for it

    path = _encoding_folder() / ENCODING_FILE
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != ENCODING_SHA256:
        raise ModelError(
            f"{path} is damaged or not the ranks of {ENCODING}. Reinstall litellm, or set TIKTOKEN_CACHE_DIR."
        )
    fields = content.split()  # a token in base64 and its rank, line by line; tiktoken's own reader takes twice as long
    ranks = dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    return tiktoken.Encoding(ENCODING, pat_str=ENCODING_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _encoding_folder() -> Path:
    """The first folder that holds the ranks: the user's TIKTOKEN_CACHE_DIR, else that of the litellm package."""
    folders = [Path(named)] if (named := os.environ.get("TIKTOKEN_CACHE_DIR")) else []
    spec = find_spec("litellm")
    for location in spec.submodule_search_locations if spec and spec.submodule_search_locations else ():
        folders.append(Path(location) / "litellm_core_utils" / "tokenizers")
    for folder in folders:
        if (folder / ENCODING_FILE).is_file():
            return folder
    looked = ", ".join(str(folder) for folder in folders) or "no package litellm is installed"
    raise ModelError(f"Token counts need {ENCODING} ({looked}). Reinstall litellm, or set TIKTOKEN_CACHE_DIR.")


# A word with the joints of code identifiers inside: auth-service, v1.2, redis_7, a/b, O'Reilly; C++ and C# at its end.
_PART = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*"
_WORD = regex.compile(rf"(?<![\w.])\.?{_PART}(?:[-.'’:/@]{_PART})*(?:\+\+|#)?|{_PART}")
_SYMBOL = regex.compile(r"\p{Extended_Pictographic}")
_JOINT = regex.compile(r"[-.'’:/@_+#]+")
_CAMEL = regex.compile(r"(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})")
_UNSPACED_SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}ー々\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNSPACED = regex.compile(rf"[{_UNSPACED_SCRIPTS}][{_UNSPACED_SCRIPTS}\p{{M}}]*")
_GRAPHEME = regex.compile(r"\X")
_POSSESSIVE = regex.compile(r"['’]s$", regex.IGNORECASE)
_LATIN_MARKS = regex.compile(r"[\u0300-\u036f]+")


def split_search_terms(text: str) -> list[str]:
    """The BM25 terms of a text or a question, in order, with repeats.

    Terms are folded (NFKC, case, Latin accents) and English plurals are cut to the singular. An identifier gives itself
    whole and its parts ("AuthService_v2" -> authservice_v2, auth, service, v2); scripts written without spaces
    give the bigrams of their graphemes. Terms longer than 64 characters (base64) are left out.
    """
    terms: list[str] = []
    for word in _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        terms += _split_kept_word(word) if len(word) <= MAX_KEPT_CHARS else _split_word(word)
    if not text.isascii():
        terms += _SYMBOL.findall(text)
    return terms


def _split_word(written: str) -> list[str]:
    terms: list[str] = []
    word = _POSSESSIVE.sub("", written)
    if word.isascii() and word.isalnum() and (word.islower() or word.isdigit()):
        _append(terms, word)
    elif _UNSPACED.search(word):
        _append_unspaced(terms, word)
    else:
        _append_identifier(terms, word)
    return terms


_split_kept_word = lru_cache(maxsize=1 << 16)(_split_word)


def _append_unspaced(terms: list[str], word: str) -> None:
    start = 0
    for run in _UNSPACED.finditer(word):
        if before := word[start : run.start()].strip("-.'’:/@_"):
            _append_identifier(terms, before)
        graphemes = _GRAPHEME.findall(run[0])
        terms.extend(a + b for a, b in pairwise(graphemes))
        if len(graphemes) == 1:
            terms.append(graphemes[0])
        start = run.end()
    if after := word[start:].strip("-.'’:/@_"):
        _append_identifier(terms, after)


def _append_identifier(terms: list[str], word: str) -> None:
    whole = _fold(word).replace("'", "").replace("’", "")
    parts = [piece for joint in _JOINT.split(word) if joint for piece in _CAMEL.split(joint) if piece]
    _append(terms, whole)
    if len(parts) > 1 or (parts and _fold(parts[0]) != whole):
        for part in parts:
            _append(terms, _fold(part))


def _append(terms: list[str], word: str) -> None:
    if word and len(word) <= MAX_TERM_CHARS:
        terms.append(_singular(word))


def _fold(word: str) -> str:
    """Casefolded, without accents on Latin, Greek and Cyrillic letters; marks of other scripts stay."""
    if word.isascii():
        return word.lower()
    plain = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD", word.casefold()))
    return unicodedata.normalize("NFC", plain)


def _singular(word: str) -> str:
    """Light plural folding: services -> service, queries -> query, boxes -> box; redis, status, access stay."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")) or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "shes")):
        return word[:-2]
    return word[:-1]
