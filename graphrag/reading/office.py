"""The door to kreuzberg (extra `documents`): pdf, docx, pptx, xlsx, odt, epub, rtf and mail -> Markdown.

Offline and without OCR: a scanned page gives no text. Page headers and footers are kept, because what kreuzberg takes
for one is often the first line. Zip containers are unpacked piece by piece and counted before anything is read.

Does not: open files, or read formats of the core (graphrag/index/documents.py).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from importlib.util import find_spec
from typing import Any, NamedTuple

MIME_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "docm": "application/vnd.ms-word.document.macroEnabled.12",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
    "xls": "application/vnd.ms-excel",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
    "rtf": "application/rtf",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "eml": "message/rfc822",
    "msg": "application/vnd.ms-outlook",
    "ipynb": "application/x-ipynb+json",
}
HOW_TO_GET = 'pip install "graphrag-batch[documents]" reads it'
EXPANDED_SHARE = 4  # times max_file_mb: what a container may hold when unpacked
_STEP = 1 << 20


class Office(NamedTuple):
    text: str  # Markdown; empty when there is a fault
    title: str  # as the file declares it
    reason: str  # empty, or the failure's word
    detail: str


def read_office(data: bytes, kind: str, *, max_bytes: float) -> Office:
    """The text of a document of `kind` (a key of MIME_TYPES), or why there is none. max_bytes: limit of the expanded
    size. Reasons: needs_documents_extra, too_large, unreadable_file."""
    if find_spec("kreuzberg") is None:
        return Office("", "", "needs_documents_extra", HOW_TO_GET)
    if data.startswith(b"PK"):
        try:
            expanded = expanded_bytes(data, limit=max_bytes)
        except (zipfile.BadZipFile, zlib.error, struct.error, ValueError, NotImplementedError) as error:
            return Office("", "", "unreadable_file", f"damaged {kind} container: {error}")
        if expanded > max_bytes:
            return Office("", "", "too_large", f"expands to more than {max_bytes / 1e6:.0f} MB")
    import kreuzberg

    filters = kreuzberg.ContentFilterConfig(include_headers=True, include_footers=True, strip_repeating_text=False)
    # Typed Any: the stubs of kreuzberg 4.10 do not know disable_ocr, which its code does.
    options: dict[str, Any] = {"output_format": "markdown", "use_cache": False, "disable_ocr": True}
    config = kreuzberg.ExtractionConfig(content_filter=filters, **options)
    try:
        result = kreuzberg.extract_bytes_sync(data, MIME_TYPES[kind], config=config)
    except (kreuzberg.KreuzbergError, RuntimeError, ValueError, OSError) as error:
        return Office("", "", "unreadable_file", " ".join(str(error).split())[:300])
    return Office(result.content, str(result.metadata.get("title") or ""), "", "")


def expanded_bytes(data: bytes, *, limit: float) -> int:
    """Bytes that the members of a zip hold when unpacked, counted until `limit` is passed, never kept in memory.

    The sizes in a zip's directory can lie, so that deflated members are really unpacked. Raises BadZipFile,
    zlib.error, struct.error or ValueError on a damaged container.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        members = container.infolist()
    total = sum(member.file_size for member in members)
    if total > limit:
        return total
    total = 0
    for member in members:
        if member.compress_type != zipfile.ZIP_DEFLATED:
            total += max(member.file_size, member.compress_size)
            continue
        name_length, extra_length = struct.unpack_from("<HH", data, member.header_offset + 26)
        start = member.header_offset + 30 + name_length + extra_length
        unpacker = zlib.decompressobj(-15)
        rest = data[start : start + member.compress_size]
        while rest and not unpacker.eof and total <= limit:
            total += len(unpacker.decompress(rest, _STEP))
            rest = unpacker.unconsumed_tail
    return total
