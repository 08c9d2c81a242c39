"""The nightly schedule: `python -m flows.nightly [ROOT]` serves the index flow by `[schedule] cron` until
it is stopped.

One run at a time: a run that overlaps the next schedule makes that one wait its turn.
"""

from __future__ import annotations

import sys
from pathlib import Path

from flows.index import index_flow
from graphrag.errors import GraphragError
from graphrag.settings import find_root, load_settings


def serve_nightly(root: str = ".") -> None:
    """Serve the schedule of the project's settings; blocks."""
    folder = find_root(Path(root).resolve())
    settings, _ = load_settings(folder)
    index_flow.serve(name="nightly", cron=settings.schedule.cron, parameters={"root": str(folder)}, limit=1)


if __name__ == "__main__":
    try:
        serve_nightly(*sys.argv[1:2])
    except GraphragError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
