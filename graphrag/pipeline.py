"""The contents page: every stage of an index run in order.

PIPELINE is data: name, function, tables read and written, what its work splits by. `graphrag index` walks it in process
through `run_pipeline`; flows/index.py walks the same tuple as Prefect tasks. There is no other copy of the order.

Does not: say what a stage is given (runs/stage_functions.py), or open, check, write or publish the run (runs/run.py).
"""

from __future__ import annotations

from pathlib import Path

from graphrag.errors import InputError
from graphrag.progress import Progress, QuietProgress
from graphrag.runs.run import (
    Run,
    RunSummary,
    begin_run,
    finish_run,
    finish_unchanged,
    keeps_database,
    open_run,
)
from graphrag.runs.run_model import OpenLlm
from graphrag.runs.settling import append_settling
from graphrag.runs.stage_functions import (
    build_graph,
    cluster,
    cut_text_units,
    describe,
    disambiguate,
    embed,
    extract,
    extract_claims,
    judge,
    look_at_files,
    look_at_names,
    look_at_relations,
    look_at_rules,
    look_at_vectors,
    read_documents,
    read_links,
    relate_documents,
    replay_relations,
    report,
)
from graphrag.runs.stages import UNANSWERED, CallStage, Stage, Unrepeatable, Walk, run_stage
from graphrag.settings import Settings

PIPELINE: tuple[Stage, ...] = (
    Stage("documents", read_documents, (), ("documents", "failures"), settings=("input",), looks_at=look_at_files),
    Stage("text_units", cut_text_units, ("documents",), ("text_units",), settings=("text_units",)),
    Stage("links", read_links, ("documents",), ("links",), settings=("links",)),
    Stage(
        "relations", replay_relations, ("documents", "links"), ("entry_relations", "relationship_events"),
        looks_at=look_at_relations,
    ),
    Stage(
        "document_relations", relate_documents, ("links", "entry_relations", "documents", "text_units"),
        ("document_relations",),
    ),
    Stage(
        "extraction", extract, ("text_units", "documents"),
        ("entity_mentions", "relationship_mentions", "failures"), per="text_units",
        settings=("extraction",), roles=("extract",), looks_at=look_at_names,
        prompts=("extract_graph", "continue_extraction", "repair_reply"), asks_again=UNANSWERED,
    ),
    Stage(
        "disambiguation", disambiguate,
        ("entity_mentions", "relationship_mentions", "documents", "document_relations"),
        ("clusters", "entity_mentions", "aliases", "alias_candidates", "failures"),
        settings=("disambiguation", "extraction.entity_types"), looks_at=look_at_rules,
    ),
    Stage(
        "judgement", judge,
        ("alias_candidates", "clusters", "entity_mentions", "relationship_mentions", "documents", "document_relations"),
        ("clusters", "entity_mentions", "aliases", "alias_candidates", "failures"),
        settings=("disambiguation",), roles=("judge",), prompts=("judge_same_entity", "repair_reply"),
        looks_at=look_at_rules, asks_again=UNANSWERED,
    ),
    Stage(
        "graph", build_graph,
        ("clusters", "entity_mentions", "relationship_mentions", "text_units", "documents", "document_relations",
         "relationship_events"),
        ("entities", "relationships", "evidence", "text_units", "documents", "relationship_events", "failures"),
    ),
    Stage(
        "claims", extract_claims, ("text_units", "entities", "entity_mentions"),
        ("covariates", "text_units", "failures"), per="text_units",
        settings=("claims", "extraction.entity_types"), roles=("extract",),
        prompts=("extract_claims", "continue_extraction", "repair_reply"),
    ),
    Stage(
        "summaries", describe, ("entities", "relationships", "evidence", "entity_mentions", "documents"),
        ("entities", "relationships", "failures"),
        settings=("summaries",), roles=("summarize",), prompts=("summarize_descriptions",),
    ),
    Stage(
        "communities", cluster, ("entities", "relationships", "evidence", "documents"),
        ("communities", "failures"), settings=("communities",),
    ),
    Stage(
        "reports", report,
        ("communities", "entities", "relationships", "evidence", "text_units", "documents", "covariates"),
        ("community_reports", "failures"), per="communities",
        settings=("reports",), roles=("report",), prompts=("community_report", "repair_reply"),
        asks_again=UNANSWERED,
    ),
    Stage(
        "embeddings", embed, ("entities", "relationships", "text_units", "community_reports", "documents"),
        ("embeddings", "failures"), settings=("embeddings.model", "embeddings.import"), looks_at=look_at_vectors,
    ),
)  # fmt: skip


def run_pipeline(
    settings: Settings,
    root: Path,
    *,
    full: bool = False,
    max_tokens: int | None = None,
    open_model: OpenLlm | None = None,
    progress: Progress | None = None,
) -> RunSummary:
    """Index the input folder and publish the result, unless nothing has changed or a gate holds it.

    `full` reads every file and runs every stage, whatever the published run has done, and finds communities afresh. The
    memo is used either way.
    `max_tokens` bounds the tokens of all calls to a model; `open_model` opens another model than the settings say.
    Raises GateHeld; BudgetSpent when the next call would pass the budget: what was answered is in the memo.
    """
    progress = progress or QuietProgress()
    with open_run(settings, root, progress=progress, max_tokens=max_tokens, open_model=open_model) as run:
        return walk_pipeline(run, full=full)


def walk_pipeline(run: Run, *, full: bool = False, call_stage: CallStage = run_stage) -> RunSummary:
    """All stages in order and the end of the run. `call_stage` runs a stage in its own way, as a Prefect task say."""
    run.is_full = full
    if run.published is not None and run.published.is_imported and not full:
        raise InputError(
            f"The published index was imported; {run.settings.input.dir} does not hold what it was made of. To replace "
            'it by the documents there: "graphrag index --full".'
        )
    begin_run(run)
    # A recording must hold every question, or it could not be replayed.
    walk = Walk(run, None if full or run.settings.llm.record else run.published, call_stage)
    try:
        for stage in PIPELINE:
            walk.take(stage)
        run.stages = [outcome.record() for outcome in walk.outcomes]
        if run.published is not None and walk.is_as_published() and keeps_database(run, run.published):
            append_settling(run, run.published.frame("documents", ("path", "content_sha256")))
            return finish_unchanged(run, run.published)
        run.frames = walk.gather_frames()
    except Unrepeatable as stage_name:
        run.notices.append(f"{stage_name} gives other rows than the published run has: everything was made again.")
        return walk_pipeline(run, full=True, call_stage=call_stage)
    summary = finish_run(run)
    append_settling(run, run.frames["documents"])
    return summary
