"""Memos of shards into one: `python -m flows.join_memos MEMO OTHER...` copies what MEMO lacks from the others.

A corpus that one provider account or one machine cannot ask about in a night is cut by documents: each shard runs with
its own `input.ignore`, `cache.dir` and `output.dir`, and asks about its documents only (docs/scaling.md). After their
memos are joined, one run over all documents finds every reply there and asks only what concerns them together. SQLite
is not made for shares of a network: each shard writes a memo on its own disk, and the files are joined afterwards.

Does not: run shards, or change the other files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from graphrag.errors import GraphragError, StoreError
from graphrag.memo import Memo


def join_memos(path: Path, others: Sequence[Path]) -> dict[Path, int]:
    """Records taken from each of the others. Raises StoreError for a file that is not there; nothing is copied then."""
    if missing := [str(other) for other in others if not other.is_file()]:
        raise StoreError(f"No memo {', '.join(missing)}.")
    with Memo(path) as memo:
        return {other: memo.take_from(other) for other in others}


def main(arguments: Sequence[str] | None = None) -> int:
    """Join and print how many records came from where."""
    parser = argparse.ArgumentParser(prog="python -m flows.join_memos", description="Copy what MEMO lacks from others.")
    parser.add_argument("memo", type=Path, help="the memo.sqlite that gets the records; made where absent")
    parser.add_argument("others", type=Path, nargs="+", help="memo.sqlite of the shards")
    options = parser.parse_args(arguments)
    try:
        for other, n in join_memos(options.memo, options.others).items():
            print(f"{n:,} records from {other}")
    except GraphragError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
