"""Token counts agree with o200k offline; search terms keep identifiers, digits and every script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from graphrag import tokens
from graphrag.errors import ModelError
from graphrag.tokens import MAX_TERM_CHARS, count_tokens, split_search_terms


@pytest.mark.parametrize(
    ("text", "n"), [("", 0), ("hello world", 2), ("Auth Service depends on Redis.", 6), ("<|endoftext|>", 7)]
)
def test_counts(text: str, n: int) -> None:
    assert count_tokens(text) == n


def test_the_encoding_is_that_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tokens._encoding_folder()))
    theirs = tiktoken.get_encoding("o200k_base")
    assert theirs._pat_str == tokens.ENCODING_PATTERN
    text = "L'été: 12345 naïve 東京都\r\n\r\n  x_y don't HTTPServer 🚀 " * 3
    assert count_tokens(text) == len(theirs.encode_ordinary(text))


def test_damaged_ranks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / tokens.ENCODING_FILE).write_bytes(b"YQ== 0\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(ModelError, match="is damaged"):
        tokens._encoding.__wrapped__()


def test_counting_needs_no_litellm_import() -> None:
    code = "import sys; from graphrag.tokens import count_tokens as c; c('a'); assert 'litellm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


TERMS = [
    ("Auth Service depends on Redis", ["auth", "service", "depend", "on", "redis"]),
    ("AuthService_v2", ["authservice_v2", "auth", "service", "v2"]),
    ("redis-7.0", ["redis-7.0", "redis", "7", "0"]),
    ("HTTPServer", ["httpserver", "http", "server"]),
    ("K8s 42 007", ["k8s", "42", "007"]),
    ("C C++ C# .NET Net", ["c", "c++", "c", "c#", "c", ".net", "net", "net"]),
    ("O'Reilly's queries", ["oreilly", "o", "reilly", "query"]),
    ("Société Générale", ["societe", "generale"]),
    ("services boxes caches status access analysis", ["service", "box", "cache", "status", "access", "analysis"]),
    ("東京都", ["東京", "京都"]),
    ("東", ["東"]),
    ("Redisサーバー", ["redis", "サー", "ーバ", "バー"]),
    ("Москва القاهرة हिन्दी 🚀", ["москва", "القاهرة", "हिन्दी", "🚀"]),
    ("-- ... !?", []),
    ("ﬁle Ｒｅｄｉｓ", ["file", "redis"]),
]


@pytest.mark.parametrize(("text", "terms"), TERMS)
def test_search_terms(text: str, terms: list[str]) -> None:
    assert split_search_terms(text) == terms


def test_term_of_base64_is_left_out() -> None:
    assert split_search_terms("a" * 1000) == []


@given(st.text())
def test_terms_are_short_folded_and_not_blank(text: str) -> None:
    for term in split_search_terms(text):
        assert term.strip() == term != ""
        assert len(term) <= MAX_TERM_CHARS


@given(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=12))
def test_every_word_of_letters_or_digits_gives_a_term(word: str) -> None:
    assert split_search_terms(word)
