"""The model of a run: opened when it is first needed, its prompts, and what it has cost.

Prompts are read and checked when the run begins, before anything is paid. Every call is a row of the ledger; rows that
cost money are also appended to llm_calls.jsonl in the output folder as they come, so that nothing of a run that is
killed goes uncounted.

Does not: ask anything itself (the stages do), or decide what a run publishes (pipeline.py).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl

from graphrag.errors import LlmError
from graphrag.index.claims import ClaimPrompts
from graphrag.index.extraction import ExtractionPrompts
from graphrag.index.judgement import JudgePrompts
from graphrag.index.report_calls import ReportPrompts
from graphrag.llm import CallLedger, Llm, Recording, ReplayLlm, open_llm
from graphrag.memo import Memo
from graphrag.progress import Progress
from graphrag.prompts import Prompt, load_prompt
from graphrag.settings import EMBEDDED, Settings, recording_name

CALLS_LOG = "llm_calls.jsonl"
Result = TypeVar("Result")


class OpenLlm(Protocol):
    """How a model is opened: graphrag.llm.open_llm, or a double in tests."""

    def __call__(
        self, settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None
    ) -> Llm | None: ...


class RunModel:
    """Prompts and ledger of a run, and its model."""

    def __init__(
        self,
        settings: Settings,
        root: Path,
        *,
        run_id: str,
        memo: Memo,
        open_model: OpenLlm | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """max_tokens: a limit for all calls of the run. Raises PromptError for a prompt that cannot work."""
        self.ledger = CallLedger(run_id, path=root / settings.output.dir / CALLS_LOG)
        self._settings, self._root, self._memo, self._max_tokens = settings, root, memo, max_tokens
        self._open: OpenLlm = open_model or open_llm
        self._llm: Llm | None = None
        self.prompts = load_run_prompts(settings, root)

    @property
    def llm(self) -> Llm:
        """The model; opened (litellm takes seconds to import) when first asked for."""
        if self._llm is None:
            self._llm = self._open_model()
        return self._llm

    def _open_model(self) -> Llm:
        if recording := recording_name(self._settings.llm.model):
            return ReplayLlm(self._root / recording, ledger=self.ledger)
        llm = self._open(self._settings, memo=self._memo, ledger=self.ledger, max_tokens=self._max_tokens)
        if llm is None:
            raise LlmError("llm.model is embedded: no model can be asked.")
        if self._settings.llm.record:
            llm.record_in(Recording(self._root / self._settings.llm.record))
        return llm

    @property
    def is_recorded(self) -> bool:
        """Replies are recorded, or come from a recording: it must hold every question, and nothing else may answer."""
        return bool(self._settings.llm.record or recording_name(self._settings.llm.model))

    def ask(self, work: Callable[[Llm], Coroutine[Any, Any, Result]]) -> Result:
        """All that a stage asks, in one event loop."""
        return self.llm.run(work(self.llm))

    def advance_of(self, progress: Progress) -> Callable[[int], None]:
        """For a stage that asks: `progress` told with what the run has cost so far, where prices are known."""

        def advance(n: int) -> None:
            progress.advance(n, cost_usd=self.ledger.cost_usd)

        return advance

    @property
    def extraction_prompts(self) -> ExtractionPrompts:
        return ExtractionPrompts(*(self.prompts[n] for n in ("extract_graph", "continue_extraction", "repair_reply")))

    @property
    def claim_prompts(self) -> ClaimPrompts:
        return ClaimPrompts(*(self.prompts[n] for n in ("extract_claims", "continue_extraction", "repair_reply")))

    @property
    def judge_prompts(self) -> JudgePrompts:
        return JudgePrompts(*(self.prompts[n] for n in ("judge_same_entity", "repair_reply")))

    @property
    def report_prompts(self) -> ReportPrompts:
        return ReportPrompts(*(self.prompts[n] for n in ("community_report", "repair_reply")))

    @property
    def warnings(self) -> list[str]:
        """Lines about the prompts for people."""
        return [line for prompt in self.prompts.values() for line in prompt.warnings]

    @property
    def notices(self) -> list[str]:
        return list(self._llm.notices) if self._llm is not None else []

    def costs(self) -> pl.DataFrame:
        return self.ledger.totals()


def load_run_prompts(settings: Settings, root: Path) -> dict[str, Prompt]:
    """The prompts of a run by name. Raises PromptError for one that cannot work."""
    names = ["extract_graph", "continue_extraction", "repair_reply", "summarize_descriptions", "community_report"]
    names += ["extract_claims"] if settings.claims.enabled else []
    names += ["judge_same_entity"] if settings.disambiguation.judge else []
    return {name: load_prompt(name, root) for name in names}


def open_run_model(
    settings: Settings,
    root: Path,
    *,
    run_id: str,
    memo: Memo,
    open_model: OpenLlm | None = None,
    max_tokens: int | None = None,
) -> RunModel | None:
    """None in embedded mode."""
    if settings.llm.model == EMBEDDED:
        return None
    return RunModel(settings, root, run_id=run_id, memo=memo, open_model=open_model, max_tokens=max_tokens)
