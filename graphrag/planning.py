"""What an index run would ask models, and what that may cost: `graphrag plan`. Reads the input and the memo, asks
nothing, publishes nothing.

Known before a run are the questions about text units (extraction, claims). How many descriptions will be summarised is
known only after extraction; a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from graphrag.errors import UsageError
from graphrag.index import claims, extraction
from graphrag.llm import plan_calls
from graphrag.llm.chat import ChatRequest, models_of_roles
from graphrag.llm.prices import price_models
from graphrag.pipeline import PIPELINE, run_stage
from graphrag.progress import Progress
from graphrag.run import Run, open_run
from graphrag.run_model import RunModel
from graphrag.settings import Settings, recording_name


class Plan(NamedTuple):
    """`calls`: one row a stage and model (graphrag/llm/plan.py). `notes`: what the figures leave out."""

    n_documents: int
    n_text_units: int
    calls: pl.DataFrame
    notes: list[str]


def plan_run(settings: Settings, root: Path, *, progress: Progress) -> Plan:
    """The plan of the next run. Raises UsageError in embedded mode and for a recording, where no model is asked."""
    with open_run(settings, root, progress=progress) as run:
        if run.model is None or recording_name(settings.llm.model):
            raise UsageError(f'llm.model is "{settings.llm.model}": a run asks no model and costs nothing.')
        for stage in PIPELINE:
            if stage.name in ("documents", "text_units"):
                run_stage(stage, run)
        models = models_of_roles(settings.llm.model, settings.llm.role_models())
        prices = price_models(sorted(set(models.values())), main=settings.llm.model, per_million=settings.llm.price)
        calls = plan_calls(_list_requests(run, run.model), models=models, prices=prices, memo=run.memo)
        notes = [
            "Not in it: retries, the rest of replies that are cut off, and one call for each entity with more than "
            f"{settings.summaries.min_tokens} tokens of descriptions (summaries.min_tokens).",
            *(
                f'No price for "{model}". Set llm.price.'
                for model in calls["model"].unique().sort()
                if prices[model] is None
            ),
            *run.model.warnings,
        ]
        return Plan(run.frames["documents"].height, run.frames["text_units"].height, calls, notes)


def _list_requests(run: Run, model: RunModel) -> Iterator[ChatRequest]:
    knobs, text_units = run.settings.extraction, run.frames["text_units"]
    yield from extraction.plan_extraction(
        text_units,
        run.frames["documents"],
        prompts=model.extraction_prompts,
        entity_types=knobs.entity_types,
        max_passage_tokens=knobs.max_passage_tokens,
        max_gleanings=knobs.max_gleanings,
        max_reply_tokens=knobs.max_reply_tokens,
    )
    if run.settings.claims.enabled:
        yield from claims.plan_claims(
            text_units,
            prompts=model.claim_prompts,
            entity_types=knobs.entity_types,
            description=run.settings.claims.description,
            max_reply_tokens=run.settings.claims.max_reply_tokens,
        )
