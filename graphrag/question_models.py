"""The models that the questions to one index ask: the one that answers, and the service that made its vectors.

Each is opened with the first question for it and stays: llm.budget_usd is for all questions to it. In embedded mode
nothing is opened, and nothing of a model imported.

Does not: ask (search/), or know how a model is opened (search_model.py) and a service asked (question_vectors.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrag.settings import EMBEDDED, Settings
from graphrag.vectors import is_service_name

if TYPE_CHECKING:
    from graphrag import store
    from graphrag.llm import Llm
    from graphrag.question_vectors import QuestionVectors
    from graphrag.search.model_answer import SearchModel


class QuestionModels:
    """May be used from several threads; `close` ends what was opened."""

    def __init__(self, settings: Settings, root: Path, published: store.Index) -> None:
        self._settings, self._root, self._published = settings, root, published
        self._opened, self._opening = ExitStack(), threading.Lock()
        self._open_llm: Callable[[], Llm] | None = None
        self._service: QuestionVectors | None = None

    def load(self, mode: str) -> SearchModel | None:
        """The model with the prompts of a mode; None in embedded mode and for a recording."""
        if (open_llm := self._start_model()) is None:
            return None
        from graphrag.search.model_answer import SearchModel
        from graphrag.search_model import load_search_prompts

        return SearchModel(open_llm, load_search_prompts(mode, self._root))

    def _start_model(self) -> Callable[[], Llm] | None:
        """What waits for the model, which opens meanwhile; None in embedded mode and for a recording."""
        if self._settings.llm.model == EMBEDDED:
            return None
        from graphrag.search_model import open_search_model

        with self._opening:
            if self._open_llm is None:
                self._open_llm = self._opened.enter_context(open_search_model(self._settings, self._root))
        return self._open_llm

    @contextmanager
    def embed_meanwhile(self, question: str) -> Iterator[list[dict[str, Any]]]:
        """Where a service made the vectors of the index, it embeds the question while the block begins. The rows of all
        calls made in the block; none where no service is asked."""
        service = self._find_service()
        if service is None:
            yield []
            return
        from graphrag.llm.ledger import collect_calls
        from graphrag.search.ranking import shorten_question

        with collect_calls() as calls:
            service.start(shorten_question(question))
            yield calls

    def _find_service(self) -> QuestionVectors | None:
        """What asks the service of embeddings.model for vectors of questions; None where that is a local model, or no
        model can be asked."""
        name = self._settings.embeddings.model
        if self._service is None and is_service_name(name) and (open_llm := self._start_model()) is not None:
            from graphrag.question_vectors import QuestionVectors

            self._service = self._published.embed_question = QuestionVectors(open_llm, name)
        return self._service

    def close(self) -> None:
        self._opened.close()
