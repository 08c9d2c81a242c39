"""What an index run would ask models, and what that may cost: `graphrag plan`. Reads the input and the memo, asks
nothing, publishes nothing.

Known before a run are the questions about text units (extraction, claims) and, from the published index, those about
pairs of names and communities; before the first run the number of reports is a guess. How many descriptions will be
summarised is known only after extraction; notes say so, and how many pairs can be judged at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from graphrag import store
from graphrag.errors import UsageError
from graphrag.index import claims, extraction, judgement, reports
from graphrag.index.report_calls import TOKENS_OF_JSON, TOKENS_PER_WORD
from graphrag.llm import plan_calls
from graphrag.llm.chat import ChatRequest, models_of_roles
from graphrag.llm.plan import SCHEMA
from graphrag.llm.prices import Price, price_models
from graphrag.pipeline import PIPELINE
from graphrag.progress import Progress
from graphrag.runs.run import Run, open_run
from graphrag.runs.run_model import RunModel
from graphrag.runs.stages import run_stage
from graphrag.settings import Settings, recording_name

REPORTS_PER_1000_TOKENS = 2
"""Communities of three and more in indexes that a model made: 1.0 to 1.9 in three of microsoft/graphrag (5, 50 and 258
thousand tokens of text), 4 in our sample without a model."""
TOKENS_OF_A_REPORT_PROMPT = 1500


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
        requests = [
            *_list_requests(run, run.model),
            *_list_judge_requests(run, run.model, models["judge"]),
            *_list_report_requests(run, run.model),
        ]
        calls = plan_calls(requests, models=models, prices=prices, memo=run.memo)
        if store.read_manifest(run.output_dir) is None:
            calls = pl.concat([calls, _guess_reports(run, models["report"], prices[models["report"]])])
        notes = [
            "Not in it: retries, the rest of replies that are cut off, and one call for each entity with more than "
            f"{settings.summaries.min_tokens} tokens of descriptions (summaries.min_tokens).",
            *_note_on_judge(run),
            _note_on_reports(run),
            *(
                f'No price for "{model}". Set llm.price.'
                for model in calls["model"].unique().sort()
                if prices[model] is None
            ),
            *run.model.warnings,
        ]
        return Plan(run.frames["documents"].height, run.frames["text_units"].height, calls, notes)


def _list_report_requests(run: Run, model: RunModel) -> Iterator[ChatRequest]:
    """The reports of the published index, asked as today's settings and prompt say; none without an index."""
    frames = _read_published(
        run, "communities", "community_reports", "entities", "relationships", "evidence", "documents", "covariates"
    )
    if frames is None:
        return
    knobs = run.settings.reports
    yield from reports.plan_reports(
        *frames,
        prompts=model.report_prompts,
        context_tokens=knobs.context_tokens,
        max_length=knobs.max_length,
        min_report_size=knobs.min_report_size,
        max_findings=knobs.max_findings,
    )


def _read_published(run: Run, *names: str) -> list[pl.DataFrame] | None:
    """Tables of the published index in the order of the names; None before the first run."""
    if store.read_manifest(run.output_dir) is None:
        return None
    with store.open_index(run.output_dir) as published:
        return [published.frame(f"from {name}") for name in names]


def _guess_reports(run: Run, model: str, price: Price | None) -> pl.DataFrame:
    """A row of the plan for reports on communities that nobody knows yet, from the length of the documents."""
    knobs = run.settings.reports
    n_calls = math.ceil(run.frames["text_units"]["n_tokens"].sum() / 1000 * REPORTS_PER_1000_TOKENS)
    row: dict[str, Any] = {
        "stage": "reports", "model": model, "calls": n_calls, "from_memo": 0,
        "prompt_tokens": n_calls * TOKENS_OF_A_REPORT_PROMPT, "completion_tokens_low": n_calls * knobs.max_length,
        "completion_tokens_high": n_calls * (knobs.max_length * TOKENS_PER_WORD + TOKENS_OF_JSON),
    }  # fmt: skip
    for end in ("low", "high"):
        row[f"usd_{end}"] = price.cost(row["prompt_tokens"], row[f"completion_tokens_{end}"]) if price else None
    return pl.DataFrame([row], schema=SCHEMA, orient="row")


def _note_on_reports(run: Run) -> str:
    if store.read_manifest(run.output_dir) is None:
        return (
            f"The number of reports is a guess ({REPORTS_PER_1000_TOKENS} for each 1,000 tokens of text): communities "
            "are known only after extraction."
        )
    return "Reports are those of the published index; communities that change are asked about anew."


def _list_judge_requests(run: Run, model: RunModel, judge: str) -> Iterator[ChatRequest]:
    """The open pairs of names of the published index; none without an index, or with the judge off."""
    knobs = run.settings.disambiguation
    names = ("alias_candidates", "entities", "entity_mentions", "relationship_mentions", "documents")
    frames = _read_published(run, *names) if knobs.judge else None
    if frames is None:
        return
    yield from judgement.plan_judgement(
        *frames,
        prompts=model.judge_prompts,
        model=judge,
        max_judged_pairs=knobs.max_judged_pairs,
        memo=run.memo,
    )


def _note_on_judge(run: Run) -> list[str]:
    """What the judge may cost beside the plan."""
    knobs = run.settings.disambiguation
    if not knobs.judge:
        return []
    n_calls = math.ceil(knobs.max_judged_pairs / judgement.PAIRS_PER_CALL)
    bound = f"at most {n_calls:,} calls (disambiguation.max_judged_pairs)"
    if store.read_manifest(run.output_dir) is None:
        return [
            f"Nor the judge of names: one call for {judgement.PAIRS_PER_CALL} pairs that rules leave open, {bound}."
        ]
    return [f"Pairs of names for the judge are those that the published index leaves open; {bound}."]


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
