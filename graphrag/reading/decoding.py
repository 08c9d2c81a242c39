"""Bytes of a file -> clean text, or the finding that they are not text.

Order: byte order mark, UTF-8, UTF-16 by its zero bytes, UTF-8 with a few bad bytes, then charset-normalizer for
other scripts (Chinese, Cyrillic), else Windows-1252. Line ends become \\n; control characters, lone
surrogates and noncharacters are removed and counted, so that Parquet, DuckDB and XML can hold the text.

Does not: open files, or know formats.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

SAMPLE_BYTES = 65_536
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_MAGIC = (
    b"\x89PNG", b"\x7fELF", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"PK\x05\x06", b"%PDF-", b"\x1f\x8b", b"BZh",
    b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"SQLite format 3\x00", b"PAR1", b"\xd0\xcf\x11\xe0", b"OggS", b"ID3", b"fLaC",
    b"wOFF", b"wOF2", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\x28\xb5\x2f\xfd", b"MZ\x90\x00", b"\x00asm",
)  # fmt: skip
_LINE_END = re.compile(r"\r\n?|[\u0085\u2028\u2029]")
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]+")
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1a\x1b")) + b"\x7f"
# Signs or open places of Windows-1252 between letters; letters of Windows-1250.
_NOT_WESTERN = re.compile(rb"[a-z](?:[\xa3\xa5\xaa\xaf\xb3\xb9\xbe\xbf\x8d\x8f\x9d])[a-z]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{2,}")


class Decoded(NamedTuple):
    text: str
    encoding: str  # "utf-8" or what else it was
    removed_characters: int
    replaced_bytes: int


class Cleaned(NamedTuple):
    text: str
    removed_characters: int


def is_binary(data: bytes) -> bool:
    """True for known binary formats, and where more control bytes stand than any text has."""
    head = data[:SAMPLE_BYTES]
    if head.startswith(_MAGIC) and not _is_text_after_magic(head):
        return True
    if head.startswith(tuple(mark for mark, _ in _MARKS)) or _utf16_order(head):
        return False
    if not head:
        return False
    n_control = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return n_control > 4 + len(head) * (0.10 if _bad_utf8(head) == 0 else 0.02)


def _is_text_after_magic(head: bytes) -> bool:
    """ID3, GIF8, BZh, Rar! are letters too: a text may begin with them."""
    return head[:3].isalnum() and b"\x00" not in head and _bad_utf8(head) == 0


def decode_text(data: bytes) -> Decoded:
    """The text of a file that is not binary, clean and with \\n line ends. Total: every byte string gives a text."""
    text, encoding, n_replaced = _decode(data)
    cleaned = clean_text(text)
    return Decoded(cleaned.text, encoding, cleaned.removed_characters, n_replaced)


def clean_text(text: str) -> Cleaned:
    """Line ends as \\n, no control characters but tab and newline, nothing that UTF-8 cannot hold."""
    text = _LINE_END.sub("\n", text)
    cleaned = _UNWANTED.sub("", text)
    return Cleaned(cleaned, len(text) - len(cleaned))


def _decode(data: bytes) -> tuple[str, str, int]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _replacing(data[len(mark) :], encoding)
    if order := _utf16_order(data[:SAMPLE_BYTES]):
        return _replacing(data, order)
    try:
        return data.decode("utf-8"), "utf-8", 0
    except UnicodeDecodeError:
        pass
    n_bad = _bad_utf8(data)
    n_high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    if n_bad * 10 <= n_high - n_bad:  # nine of ten bytes above ASCII make sense as UTF-8
        return _replacing(data, "utf-8")
    if found := _detect(data[: 4 * SAMPLE_BYTES]):
        return _replacing(data, found)
    # Bytes that Windows-1252 leaves open are those of Latin-1, which clean_text then removes as controls.
    return data.decode("cp1252", "latin1_bytes"), "cp1252", 0


def _latin1_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("latin1_bytes", _latin1_bytes)


def _replacing(data: bytes, encoding: str) -> tuple[str, str, int]:
    try:
        return data.decode(encoding), encoding, 0
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return text, encoding, text.count("\ufffd") - data.count("\ufffd".encode(encoding))


def _bad_utf8(data: bytes) -> int:
    """Number of byte sequences that are not UTF-8; one that the end of a sample cuts does not count."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(data).count("\ufffd") - data.count(b"\xef\xbf\xbd")


def _utf16_order(head: bytes) -> str:
    """UTF-16 without a mark: nearly every second byte of a Western text is zero."""
    if len(head) < 8:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) / 2
    if odd > half * 0.7 and even < half * 0.05:
        return "utf-16-le"
    if even > half * 0.7 and odd < half * 0.05:
        return "utf-16-be"
    return ""


def _detect(sample: bytes) -> str:
    """What charset-normalizer finds, where it can be trusted; empty for the Western encodings, which it mixes up.

    Words of other scripts are runs of high bytes, accents in Latin words stand alone. Of the Latin encodings only
    Windows-1250 (Polish, Slovak) is believed, and only where Windows-1252 would read signs inside words.
    """
    from charset_normalizer import from_bytes  # here, not above: few files need it

    best = from_bytes(sample).best()
    if best is None:
        return ""
    n_high = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    n_in_runs = sum(len(run) for run in _HIGH_RUN.findall(sample))
    if n_in_runs > n_high * 0.7 or n_high > len(sample) * 0.4:
        return best.encoding
    return "cp1250" if best.encoding == "cp1250" and _NOT_WESTERN.search(sample) else ""
