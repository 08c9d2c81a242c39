"""Bytes -> text for every encoding of specs/hostile-inputs.md A5-A9."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.reading.decoding import clean_text, decode_text, is_binary

FRENCH = "Société Générale était naïve: l’équipe a créé le café – “où” ça?"
CHINESE = "认证服务依赖于数据库。平台团队在周三关闭了集群。"
RUSSIAN = "Служба авторизации зависит от базы данных. Команда платформы отключила кластер в среду. " * 3
POLISH = "Zażółć gęślą jaźń. Usługa płatności zależy od bazy danych, która została wyłączona w środę."

ENCODED = [
    (FRENCH, "utf-8", "utf-8"),
    (FRENCH, "utf-8-sig", "utf-8"),
    (FRENCH, "utf-16", "utf-16-le"),
    ("plain words here", "utf-16-le", "utf-16-le"),
    ("plain words here", "utf-16-be", "utf-16-be"),
    (FRENCH, "utf-32", "utf-32-le"),
    (FRENCH, "cp1252", "cp1252"),
    ("Müller prüft die Größe", "latin-1", "cp1252"),
    (POLISH, "cp1250", "cp1250"),
    (CHINESE, "gbk", "gb18030"),
    (RUSSIAN, "koi8-r", "koi8_r"),
    (RUSSIAN, "cp1251", "cp1251"),
    ("認証サービスはデータベースに依存しています。", "shift_jis", "cp932"),
]


@pytest.mark.parametrize(("text", "encoding", "found"), ENCODED)
def test_encodings(text: str, encoding: str, found: str) -> None:
    data = text.encode(encoding)
    assert not is_binary(data)
    decoded = decode_text(data)
    assert (decoded.text, decoded.encoding, decoded.replaced_bytes) == (text, found, 0)


def test_one_bad_byte_in_utf8_is_replaced_and_counted() -> None:
    decoded = decode_text("naïve café Größe".encode() + b"\xff" + "más 東京 niño déjà vu señor".encode())
    assert decoded.encoding == "utf-8"
    assert decoded.replaced_bytes == 1
    assert "東京" in decoded.text


def test_line_ends_become_newlines() -> None:
    assert decode_text("a\rb\r\nc\u2028d\u2029e\u0085f\n".encode()).text == "a\nb\nc\nd\ne\nf\n"


def test_controls_and_surrogates_are_removed_and_counted() -> None:
    assert clean_text("a\x00b\x01c\x0bd\ud800e\ufffef\tg") == ("abcdef\tg", 5)


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n" + bytes(100), b"\x7fELF" + bytes(100), b"PK\x03\x04zip", bytes(range(256)) * 20]
)
def test_binary(data: bytes) -> None:
    assert is_binary(data)


def test_random_bytes_are_binary() -> None:
    assert is_binary(os.urandom(5000))


@pytest.mark.parametrize("text", ["BZh is a word", "GIF89a is a format", "ID3 tags", "MZ", "", "a\x00b " * 2])
def test_letters_that_look_like_magic_are_text(text: str) -> None:
    assert not is_binary(text.encode() + b" plain text follows here" if text else b"")


@given(st.binary())
def test_every_byte_string_gives_clean_text(data: bytes) -> None:
    text = decode_text(data).text
    text.encode("utf-8")
    assert "\r" not in text and "\x00" not in text


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"])))
def test_utf8_is_read_as_it_is(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode_text(text.encode()).text == text
