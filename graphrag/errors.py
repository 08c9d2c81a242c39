"""Every error that graphrag raises on purpose, as one tree.

GraphragError                what a person can act on; the command line prints its message as one line
├── SettingsError            settings.toml, environment or --set hold a value that cannot be
├── PromptError              a prompt file lacks a placeholder or is unreadable
├── InputError               the input folder or a file in it cannot be indexed
├── TableError               a frame is not what its table says (shape, values, declaration)
├── StoreError               the output or cache folder cannot be read or written
│   └── MirrorFailed         what is published could not be copied to object storage
├── ModelError               a local model is missing, damaged, or not the one whose hash we know
├── LlmError                 a call to a language model failed
│   ├── Unavailable          time-outs, 429, 5xx after all retries
│   ├── Unauthorized         401, 403, unknown model
│   ├── BudgetSpent          the next call would pass the budget
│   ├── ReplyUnparsable      the reply has not the shape that was asked for
│   └── ReplyMiss            a replayed model has no recorded reply
├── IndexIncomplete          the run stopped before all stages were done
├── GateHeld                 the run is whole but a quality gate holds it back
└── SearchError              a question cannot be answered as asked
    ├── UsageError           the question or an argument of it is not usable
    ├── NoIndex              nothing has been published yet
    ├── NothingFound         the index holds nothing about it
    └── UnknownEntity        no entity of that name

Each message says what is wrong with the values, where, and what to do.
`exit_code` is what the process returns: 1 expected error, 2 usage, 3 nothing found, 4 held, 5 budget spent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar


class GraphragError(Exception):
    exit_code: ClassVar[int] = 1


class SettingsError(GraphragError):
    pass


class PromptError(GraphragError):
    pass


class InputError(GraphragError):
    pass


class TableError(GraphragError):
    pass


class StoreError(GraphragError):
    pass


class MirrorFailed(StoreError):
    pass


class ModelError(GraphragError):
    pass


class LlmError(GraphragError):
    pass


class Unavailable(LlmError):
    pass


class Unauthorized(LlmError):
    pass


class BudgetSpent(LlmError):
    exit_code: ClassVar[int] = 5


class ReplyUnparsable(LlmError):
    pass


class ReplyMiss(LlmError):
    pass


class IndexIncomplete(GraphragError):
    pass


class GateHeld(GraphragError):
    exit_code: ClassVar[int] = 4


class SearchError(GraphragError):
    pass


class UsageError(SearchError):
    exit_code: ClassVar[int] = 2


class NoIndex(SearchError):
    pass


class NothingFound(SearchError):
    exit_code: ClassVar[int] = 3


class UnknownEntity(SearchError):
    exit_code: ClassVar[int] = 3


LONGEST_NAME = 100  # characters of a name that an error shows


def nearest(word: str, known: Iterable[str], *, n: int = 3) -> list[str]:
    """The up to `n` known words that look most like `word`, best first; compared without case."""
    by_fold = {name.casefold(): name for name in known}
    return [by_fold[fold] for fold in get_close_matches(word.casefold(), list(by_fold), n=n, cutoff=0.6)]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean "x"?` for the nearest known word, or an empty string."""
    found = nearest(word, known, n=1)
    return f' Did you mean "{found[0]}"?' if found else ""


def shown_name(name: str) -> str:
    """A name that somebody gave, on one line and not longer than a line."""
    line = " ".join(name.split())
    return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME].rstrip()}…"


def shown_path(path: Path) -> str:
    """The path as a person would type it: relative to the working folder where it lies inside."""
    full = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the pointer `current`
    return str(full.relative_to(Path.cwd())) if full.is_relative_to(Path.cwd()) else str(path)
