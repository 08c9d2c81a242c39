"""The model that answers questions, for the command line: opened in a thread, so that litellm (seconds to import) loads
while the index is read.

Replies are kept in the memo of the index runs: the same question about the same context is paid for once. Each call
that costs money is a row of llm_calls.jsonl in the output folder, as those of index runs are; its run_id is
search-TIME.

Does not: ask anything (graphrag/search), load litellm in embedded mode, or replay: a recording (replay:FILE) is of an
index run and holds no answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from graphrag.llm.concurrency import MapMany
from graphrag.llm.door import Llm
from graphrag.llm.ledger import CallLedger
from graphrag.llm.litellm_door import open_llm
from graphrag.llm.retries import Retries
from graphrag.memo import Memo
from graphrag.prompts import Prompt, load_prompt
from graphrag.runs.run_model import CALLS_LOG, OpenLlm
from graphrag.settings import EMBEDDED, Settings, recording_name

MAX_RETRIES, PATIENCE_SECONDS = 3, 30.0
MAX_THREADS = 32  # of questions under way
PROMPTS_OF_MODE = {
    "local": ("local_search",),
    "basic": ("basic_search",),
    "documents": ("document_search", "basic_search"),
    "drift": ("drift_primer", "drift_search", "drift_reduce", "local_search", "repair_reply"),
    "global": ("global_search_map", "global_search_reduce", "rate_reports", "repair_reply"),
}
PROMPTS_OF_MODE["auto"] = tuple(dict.fromkeys(name for names in PROMPTS_OF_MODE.values() for name in names))
PROMPTS_OF_MODE["judge"] = ("judge_answer", "judge_pair", "repair_reply")


@contextmanager
def open_search_model(
    settings: Settings, root: Path, *, open_model: OpenLlm | None = None
) -> Iterator[Callable[[], Llm] | None]:
    """A function that waits for the model and returns it, while the block lasts; None in embedded mode and for a
    recording. What is wrong with the model (no key, no price) is raised by the function, where it is first needed."""
    if settings.llm.model == EMBEDDED or recording_name(settings.llm.model):
        yield None
        return
    with Memo(root / settings.cache.dir / "memo.sqlite") as memo:
        ledger = CallLedger(f"search-{datetime.now(UTC):%Y%m%dT%H%M%SZ}", path=root / settings.output.dir / CALLS_LOG)
        yield _Opening(settings, memo, ledger, open_model or _open_impatiently).wait


def load_search_prompts(mode: str, root: Path) -> dict[str, Prompt]:
    """The prompts of a mode (`auto`: of all modes; `judge`: of an evaluation), by name. Raises PromptError for one that
    cannot work."""
    return {name: load_prompt(name, root) for name in PROMPTS_OF_MODE[mode]}


@contextmanager
def map_in_threads(llm: Llm, max_concurrency: int) -> Iterator[MapMany]:
    """map(function, items) in threads that share the model's loop, while the block lasts: the calls of many questions
    fill the places that the limits allow; results come in order."""
    # The end of the loop cancels the calls under way; only then are the threads, which wait for them, waited for.
    with ThreadPoolExecutor(min(max_concurrency, MAX_THREADS)) as threads, llm.shared_loop():
        try:
            yield threads.map
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _open_impatiently(
    settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None
) -> Llm | None:
    """Somebody waits for the answer: a service that is busy or down is given half a minute, where a run has hours."""
    retries = Retries(
        max_retries=min(settings.llm.max_retries, MAX_RETRIES),
        max_refusals=MAX_RETRIES,
        max_wait_seconds=PATIENCE_SECONDS,
        outage_seconds=PATIENCE_SECONDS,
    )
    return open_llm(settings, memo=memo, ledger=ledger, max_tokens=max_tokens, retries=retries)


class _Opening:
    """A model that is being opened in a thread. The thread dies with the process: an answer without a call need not
    wait for it."""

    def __init__(self, settings: Settings, memo: Memo, ledger: CallLedger, open_model: OpenLlm) -> None:
        self._settings, self._memo, self._ledger, self._open = settings, memo, ledger, open_model
        self._llm: Llm | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, daemon=True, name="open-model")
        self._thread.start()

    def wait(self) -> Llm:
        """The model. Raises what opening it raised."""
        self._thread.join()
        if self._llm is None:
            raise self._error or RuntimeError("the thread that opens the model ended early")
        return self._llm

    def _work(self) -> None:
        try:
            llm = self._open(self._settings, memo=self._memo, ledger=self._ledger)
            if llm is not None:
                llm.load()
            self._llm = llm
        except Exception as error:  # handed to whoever waits, whatever it is
            self._error = error
