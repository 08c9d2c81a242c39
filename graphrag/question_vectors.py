"""Vectors of questions by a service, where one made the vectors of the index (embeddings.model = "openai/...").

A question's vector is asked for in a thread when the search begins, while the index is read. It goes through the door
of the model: memo, budget, ledger. Once the service has failed, no further question waits for it.

Does not: open the model (search_model.py), or decide what a search does without a vector (search/ranking.py).
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TYPE_CHECKING

from graphrag.errors import BudgetSpent, LlmError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrag.llm import Llm

    Vector = NDArray[np.float32]

STAGE = "search_embed"
MAX_KEPT = 64  # questions under way or just answered


class QuestionVectors:
    """`store.Index.embed_question`: called with a text and the name of the index's model, it gives the vector."""

    def __init__(self, open_llm: Callable[[], Llm], model: str) -> None:
        """open_llm: waits for the model and returns it. model: embeddings.model of the settings."""
        self._open_llm, self._model = open_llm, model
        self._one_at_a_time = Lock()
        self._asked: dict[str, Future[Vector]] = {}
        self._failure: LlmError | None = None

    def start(self, text: str) -> None:
        """Ask for the vector of a text that will be wanted soon; what goes wrong is raised when it is."""
        self._ask(text)

    def __call__(self, text: str, model: str) -> Vector:
        """Float32 of length 1. Raises LlmError where the service gives none, BudgetSpent before a call too dear."""
        if model != self._model:
            raise LlmError(f"the index was embedded by {model}, embeddings.model is {self._model}.")
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))
        try:
            return self._ask(text).result()
        except BudgetSpent:
            raise
        except LlmError as error:
            self._failure = error
            raise

    def _ask(self, text: str) -> Future[Vector]:
        with self._one_at_a_time:
            if text in self._asked:
                return self._asked[text]
            while len(self._asked) >= MAX_KEPT:
                del self._asked[next(iter(self._asked))]
            future: Future[Vector] = Future()
            self._asked[text] = future
        # In the caller's context: who counts the calls of a question counts this one.
        context = contextvars.copy_context()
        Thread(target=context.run, args=(self._work, text, future), daemon=True, name="embed-question").start()
        return future

    def _work(self, text: str, future: Future[Vector]) -> None:
        try:
            llm = self._open_llm()
            matrix, failures = llm.run(llm.embed([text], stage=STAGE))
            if failures:
                reason, detail = failures[0]
                raise LlmError(f"{self._model}: {reason}" + (f" ({detail})." if detail else "."))
            future.set_result(matrix[0])
        except BaseException as error:  # handed to whoever waits, whatever it is
            future.set_exception(error)
