"""Many questions in one process: a file of them in, one JSON object a line out, in the order of the file.

    {"id": 7, "question": "Who owns Billing?"}      one a line; without an id, the number of the line is it
    {"id": 7, "mode": "local", "answer": ...}       what `--json` prints of an answer, behind its id
    {"id": 8, "line": 8, "error": "..."}            a line that is no question, or one that cannot be answered

Where a model answers, questions are under way in threads together, so that its calls fill the places that the limits
allow; without one they are answered one by one.

What no further question could survive, a wrong key or a spent budget, is raised when its turn comes: what was answered
before is out by then. Does not: answer (search/), or know modes and models (cli/search.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from graphrag.errors import GraphragError, LlmError, UsageError
from graphrag.search.answer import Answer

if TYPE_CHECKING:
    from graphrag.llm.concurrency import MapMany


class BatchRow(NamedTuple):
    """A line of the file by its number; without a question, `problem` says why."""

    line: int
    id: Any
    question: str
    problem: str = ""


def read_batch(path: Path) -> list[BatchRow]:
    """All lines but blank ones. Raises UsageError where the file cannot be read or holds none."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise UsageError(f"Cannot read --batch {path}: {error.strerror}.") from error
    rows = [_read_line(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        raise UsageError(f'--batch {path} holds no question. A line is: {{"id": 1, "question": "Who owns Billing?"}}')
    return rows


def _read_line(number: int, line: bytes) -> BatchRow:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return BatchRow(number, number, "", f"not JSON: {error}")
    if not isinstance(record, dict):
        return BatchRow(number, number, "", "not a JSON object")
    row_id, question = record.get("id", number), record.get("question")
    if not isinstance(question, str):
        return BatchRow(number, row_id, "", 'no text under "question"')
    return BatchRow(number, row_id, question)


def answer_batch(
    rows: Iterable[BatchRow], ask: Callable[[str], Answer], *, map_many: MapMany = map, with_context: bool = False
) -> Iterator[dict[str, Any]]:
    """What is printed of each row, in order; `map_many` (Index.many_at_once) works on several. Raises LlmError where no
    further question can be answered."""

    def answer(row: BatchRow) -> dict[str, Any]:
        try:
            if row.problem:
                raise UsageError(row.problem)
            return {"id": row.id, **ask(row.question).to_json(with_context=with_context)}
        except LlmError:
            raise
        except GraphragError as error:
            return {"id": row.id, "line": row.line, "error": str(error)}

    return iter(map_many(answer, rows))
