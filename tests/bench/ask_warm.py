"""Questions asked one after the other in one process: what an answer costs once everything is loaded.

    python -m tests.bench.ask_warm ROOT local|global N

Prints {"seconds": [...], "chars": [...]} for N questions, after one that is not timed. Called by run_ours.sh; the
questions are those that ../shared/bench/driver.py asks the peers.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from graphrag.search import answer_question
from graphrag.settings_file import load_settings
from graphrag.store import open_index
from graphrag.vectors import locate_model

NAMES = ("Elizabeth", "Mr. Darcy", "Netherfield", "Jane", "Mr. Bingley", "Mrs. Bennet", "Longbourn", "Charlotte")


def main() -> None:
    root, mode, n_questions = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    settings, _ = load_settings(root)
    model = locate_model(settings.embeddings.model, root)
    seconds, chars = [], []
    with open_index(root / settings.output.dir) as index:
        for number in range(n_questions + 1):
            question = f"What is said about {NAMES[number % len(NAMES)]} and how do they relate to the others?"
            started = time.perf_counter()
            answer = answer_question(
                index, question, mode=mode, level=settings.search.level, top=settings.search.top,
                budget_tokens=settings.search.budget_tokens, model=model,
            )  # fmt: skip
            seconds.append(round(time.perf_counter() - started, 4))
            chars.append(len(answer.text))
    print(json.dumps({"seconds": seconds[1:], "chars": chars[1:]}))


if __name__ == "__main__":
    main()
