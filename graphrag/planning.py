"""What an index run would ask models, and what that may cost: `graphrag plan`. Reads the input and the memo, asks
nothing, publishes nothing.

Known before a run are the questions about text units (extraction, claims). How many descriptions will be summarised and
how many pairs of names judged is known only after extraction; notes say so, and how many it can be at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from graphrag import store
from graphrag.errors import UsageError
from graphrag.index import claims, extraction, judgement
from graphrag.llm import plan_calls
from graphrag.llm.chat import ChatRequest, models_of_roles
from graphrag.llm.prices import price_models
from graphrag.pipeline import PIPELINE
from graphrag.progress import Progress
from graphrag.run import Run, open_run
from graphrag.run_model import RunModel
from graphrag.settings import Settings, recording_name
from graphrag.stages import run_stage


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
            *_note_on_judge(run),
            *(
                f'No price for "{model}". Set llm.price.'
                for model in calls["model"].unique().sort()
                if prices[model] is None
            ),
            *run.model.warnings,
        ]
        return Plan(run.frames["documents"].height, run.frames["text_units"].height, calls, notes)


def _note_on_judge(run: Run) -> list[str]:
    """What the judge may cost beside the plan: its bound, and how many pairs the published index leaves open."""
    knobs = run.settings.disambiguation
    if not knobs.judge:
        return []
    n_calls = math.ceil(knobs.max_judged_pairs / judgement.PAIRS_PER_CALL)
    note = (
        f"Nor the judge: {judgement.PAIRS_PER_CALL} open pairs of names a call, at most "
        f"{n_calls:,} calls (disambiguation.max_judged_pairs)"
    )
    if store.read_manifest(run.output_dir) is None:
        return [f"{note}."]
    with store.open_index(run.output_dir) as published:
        n_open = published.frame("select count(*) as n from alias_candidates where verdict = 'propose'").item()
    return [f"{note}; the published index holds {n_open:,} open pairs."]


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
