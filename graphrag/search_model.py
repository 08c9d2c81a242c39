"""The model that answers questions, for the command line: opened in a thread, so that litellm (seconds to import) loads
while the index is read.

Replies are kept in the memo of the index runs: the same question about the same context is paid for once.

Does not: ask anything (graphrag/search), load litellm in embedded mode, or replay: a recording (replay:FILE) is of an
index run and holds no answers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphrag.llm.door import Llm
from graphrag.llm.ledger import CallLedger
from graphrag.llm.litellm_door import open_llm
from graphrag.llm.retries import Retries
from graphrag.memo import Memo
from graphrag.prompts import load_prompt
from graphrag.run_model import OpenLlm
from graphrag.search.model_answer import SearchModel
from graphrag.settings import EMBEDDED, Settings, recording_name

MAX_RETRIES, PATIENCE_SECONDS = 3, 30.0
PROMPTS_OF_MODE = {
    "local": ("local_search",),
    "basic": ("basic_search",),
    "global": ("global_search_map", "global_search_reduce", "rate_report", "repair_reply"),
}


@contextmanager
def load_search_model(
    settings: Settings, root: Path, *, mode: str, open_model: OpenLlm | None = None
) -> Iterator[SearchModel | None]:
    """The model and the prompts of a mode while its block lasts; None in embedded mode and for a
    recording.

    Raises PromptError for a prompt that cannot work. What is wrong with the model itself (no key, no price) is raised
    where it is first needed.
    """
    if settings.llm.model == EMBEDDED or recording_name(settings.llm.model):
        yield None
        return
    prompts = {name: load_prompt(name, root) for name in PROMPTS_OF_MODE[mode]}
    with Memo(root / settings.cache.dir / "memo.sqlite") as memo:
        opened = _Opening(settings, memo, open_model or _open_impatiently)
        yield SearchModel(opened.wait, prompts)


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

    def __init__(self, settings: Settings, memo: Memo, open_model: OpenLlm) -> None:
        self._settings, self._memo, self._open = settings, memo, open_model
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
            self._llm = self._open(self._settings, memo=self._memo, ledger=CallLedger())
        except Exception as error:  # handed to whoever waits, whatever it is
            self._error = error
