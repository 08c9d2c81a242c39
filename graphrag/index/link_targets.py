"""Where a link leads: the target as written -> a document of the vault (specs: linked documents 2).

By path and name, in NFC and without case, never by likeness. Paths are relative to the input folder. A name that
several documents have goes to the one with the shortest path, and is called ambiguous.

Does not: read texts, or look whether an attachment exists: only documents are known here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

RESOLVED, UNRESOLVED, AMBIGUOUS, SELF, ATTACHMENT, EXTERNAL = (
    "resolved", "unresolved", "ambiguous", "self", "attachment", "external",
)  # fmt: skip
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
# Files that vaults hold beside notes; a dot in a note's name ("Release v1.2", "Node.js") begins none of these.
_ATTACHMENT = re.compile(
    r"\.(?:avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp|heic|flac|m4a|mp3|ogg|opus|wav|3gp|avi|mkv|mov|mp4|ogv|webm|"
    r"pdf|epub|docx?|pptx?|xlsx?|odt|ods|odp|rtf|csv|tsv|json|jsonl|ya?ml|toml|xml|txt|html?|log|parquet|sqlite|"
    r"zip|tar|gz|tgz|xz|7z|rar|base|canvas|excalidraw|drawio|ipynb|sql|css)$",
    re.IGNORECASE,
)


class Resolution(NamedTuple):
    """`path` of the document for resolved, ambiguous and self. `owners`: notes that have an unresolved target for a
    title or alias."""

    status: str
    path: str | None = None
    owners: tuple[str, ...] = ()


class LinkTargets:
    """The documents that links can lead to. notes: paths of Markdown documents; files: of others, named in full."""

    def __init__(
        self,
        notes: Iterable[str],
        files: Iterable[str] = (),
        aliases: Iterable[tuple[str, str]] = (),
        *,
        lenient: bool = False,
    ) -> None:
        """aliases: (title or alias, path) pairs. lenient: a name that one note alone has leads to it."""
        self._lenient = lenient
        self._paths: dict[str, str] = {}  # folded path -> path, the smallest where two fold alike
        self._by_end: dict[str, list[str]] = defaultdict(list)  # folded last parts -> paths, the first choice first
        named = [(_without_md(fold_target(path)), path) for path in notes]
        named += [(fold_target(path), path) for path in files]
        for key, path in sorted(named, key=lambda item: (len(item[1]), item[1])):
            self._paths.setdefault(key, path)
            parts = key.split("/")
            for start in range(len(parts)):
                self._by_end["/".join(parts[start:])].append(path)
        owners: dict[str, set[str]] = defaultdict(set)
        for alias, path in aliases:
            owners[fold_target(alias)].add(path)
        self._owners = {key: tuple(sorted(paths)) for key, paths in owners.items()}

    def shortest_name(self, path: str) -> str:
        """What a wikilink says to lead to the document of that path from any other: the shortest end of the path that
        no other document has, else the path; .md is left out."""
        name = path[:-3] if path[-3:].casefold() == ".md" else path
        parts = name.split("/")
        for start in range(len(parts) - 1, 0, -1):
            end = "/".join(parts[start:])
            if self._by_end.get(fold_target(end)) == [path]:
                return end
        return name

    def resolve(self, source: str, target: str, *, is_address: bool = False) -> Resolution:
        """Where the link leads from the document at path `source`. is_address: it is a Markdown link."""
        if not target:
            return Resolution(SELF, source)
        if is_address and _SCHEME.match(target):
            return Resolution(EXTERNAL)
        if "://" in target:
            return Resolution(UNRESOLVED)
        found = self._find(source, _without_md(fold_target(target.replace("\\", "/"))), is_address=is_address)
        if found is None and _ATTACHMENT.search(target):
            return Resolution(ATTACHMENT)
        if found is None:
            return self._find_alias(source, target)
        return Resolution(SELF, source) if found.path == source else found

    def _find(self, source: str, key: str, *, is_address: bool) -> Resolution | None:
        folder = fold_target(source.rpartition("/")[0])
        if key.startswith("/"):
            path = self._paths.get(join_path("", key.lstrip("/")) or "")
            return Resolution(RESOLVED, path) if path else None
        beside = self._paths.get(join_path(folder, key) or "")
        if key.startswith(("./", "../")) or key in (".", ".."):
            return Resolution(RESOLVED, beside) if beside else None
        exact = self._paths.get(join_path("", key) or "")
        path = (beside or exact) if is_address else (exact or beside)
        if path:
            return Resolution(RESOLVED, path)
        named = self._by_end.get(key, ())
        if named:
            return Resolution(RESOLVED if len(named) == 1 else AMBIGUOUS, named[0])
        return None

    def _find_alias(self, source: str, target: str) -> Resolution:
        owners = self._owners.get(fold_target(target), ())
        if self._lenient and len(owners) == 1:
            return Resolution(SELF if owners[0] == source else RESOLVED, owners[0])
        return Resolution(UNRESOLVED, None, owners)


@lru_cache(maxsize=1 << 16)
def fold_target(text: str) -> str:
    """A path or name as it is compared: NFC, without case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def join_path(folder: str, path: str) -> str | None:
    """`path` seen from `folder`, without . and ..; None where it leaves the vault."""
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _without_md(path: str) -> str:
    return path.removesuffix(".md")
