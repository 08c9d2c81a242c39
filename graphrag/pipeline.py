"""The contents page: every stage of an index run in order, and the run around them.

PIPELINE is data: name, function, tables read and written, what its work splits by. `graphrag index` walks it in process
through `run_pipeline`; flows/index.py walks the same tuple as Prefect tasks. There is no other copy of the order.

The functions here only fetch frames and settings for the pure stages of graphrag.index. Disk is touched at both ends:
documents are read by the first stage, tables are written and published by `finish_run`.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from graphrag import __version__, store, tables, vectors
from graphrag.errors import BudgetSpent, GateHeld, GraphragError, StoreError
from graphrag.ids import content_sha256
from graphrag.index import (
    claims,
    communities,
    disambiguation,
    documents,
    embeddings,
    extraction,
    graph,
    known_names,
    nlp_extraction,
    reports,
    summaries,
    text_units,
)
from graphrag.llm.litellm_door import EMBEDDED
from graphrag.memo import Memo
from graphrag.naming.alias_rules import AliasRules, parse_alias_rules
from graphrag.progress import Progress, QuietProgress
from graphrag.run_model import OpenLlm, RunModel, open_run_model
from graphrag.settings import Settings
from graphrag.tokens import count_tokens

Frames = dict[str, pl.DataFrame]


@dataclass
class Run:
    """One index run: where it works, what it has made so far, what it has to say. `model`: None in embedded mode."""

    run_id: str
    root: Path
    settings: Settings
    memo: Memo
    progress: Progress
    started_at: datetime
    rules: AliasRules
    rules_sha256: str
    model: RunModel | None
    frames: Frames = field(default_factory=lambda: {name: table.empty() for name, table in tables.TABLES.items()})
    failures: list[pl.DataFrame] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    @property
    def output_dir(self) -> Path:
        return self.root / self.settings.output.dir

    @property
    def processes(self) -> int:
        return self.settings.extraction.processes or os.cpu_count() or 1


@dataclass(frozen=True)
class Stage:
    """`per` names the table whose rows split the stage's work; empty where it needs all rows at once."""

    name: str
    build: Callable[[Run], Mapping[str, pl.DataFrame]]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    per: str = ""


@dataclass(frozen=True)
class RunSummary:
    """What `graphrag index` prints. status: published or unchanged."""

    run_id: str
    status: str
    counts: dict[str, int]
    communities_by_level: dict[str, int]
    failures_by_reason: dict[str, int]
    seconds_by_stage: dict[str, float]
    seconds: float
    notices: list[str]
    calls: list[dict[str, Any]]  # rows of CallLedger.totals


def read_documents(run: Run) -> Frames:
    knobs = run.settings.input
    read = documents.read_documents(
        run.root / knobs.dir,
        max_file_mb=knobs.max_file_mb,
        id_column=knobs.id_column,
        title_column=knobs.title_column,
        text_column=knobs.text_column,
        ignore=knobs.ignore,
        exclude=[run.output_dir, run.root / run.settings.cache.dir],
        count=count_tokens,
        advance=run.progress.advance,
    )
    return {"documents": read.documents, "failures": read.failures}


def cut_text_units(run: Run) -> Frames:
    knobs = run.settings.text_units
    return {
        "text_units": text_units.build_text_units(
            run.frames["documents"], max_tokens=knobs.max_tokens, overlap=knobs.overlap, count=count_tokens
        )
    }


def extract(run: Run) -> Frames:
    built = extract_with_nlp(run) if run.model is None else extract_with_model(run, run.model)
    mentions = known_names.type_own_mentions(built["entity_mentions"], run.frames["documents"])
    return built | {"entity_mentions": mentions}


def extract_with_nlp(run: Run) -> Frames:
    knobs = run.settings.extraction
    names = known_names.collect_known_names(run.frames["documents"], declared=run.rules.known_names())
    built = nlp_extraction.extract_mentions(
        run.frames["text_units"],
        run.frames["documents"],
        model=knobs.nlp,
        known_names=names,
        cooccurrence=knobs.cooccurrence,
        processes=run.processes,
        memo=run.memo,
        advance=run.progress.advance,
    )
    return built._asdict()


def extract_with_model(run: Run, model: RunModel) -> Frames:
    knobs = run.settings.extraction
    built = model.ask(
        lambda llm: extraction.extract_mentions(
            run.frames["text_units"],
            run.frames["documents"],
            llm=llm,
            prompts=model.extraction_prompts,
            entity_types=knobs.entity_types,
            max_passage_tokens=knobs.max_passage_tokens,
            max_gleanings=knobs.max_gleanings,
            max_records_per_unit=knobs.max_records_per_unit,
            max_reply_tokens=knobs.max_reply_tokens,
            advance=run.progress.advance,
        )
    )
    return built._asdict()


def disambiguate(run: Run) -> Frames:
    frames = run.frames
    found = disambiguation.disambiguate_entities(
        frames["entity_mentions"], frames["relationship_mentions"], frames["documents"], rules=run.rules
    )
    return found._asdict()


def build_graph(run: Run) -> Frames:
    frames = run.frames
    built = graph.build_graph(
        frames["clusters"], frames["entity_mentions"], frames["relationship_mentions"], frames["text_units"],
        frames["documents"],
    )  # fmt: skip
    numbered = store.number_rows(built._asdict(), run.output_dir / store.LEDGER)
    return dict(numbered)


def extract_claims(run: Run) -> Frames:
    knobs, frames, model = run.settings.claims, run.frames, run.model
    if model is None or not knobs.enabled:
        return {}
    built = model.ask(
        lambda llm: claims.extract_claims(
            frames["text_units"],
            frames["entities"],
            frames["entity_mentions"],
            llm=llm,
            prompts=model.claim_prompts,
            entity_types=run.settings.extraction.entity_types,
            description=knobs.description,
            max_reply_tokens=knobs.max_reply_tokens,
            advance=run.progress.advance,
        )
    )
    return dict(store.number_rows({"covariates": built.covariates}, run.output_dir / store.LEDGER)) | {
        "text_units": built.text_units,
        "failures": built.failures,
    }


def describe(run: Run) -> Frames:
    frames, model = run.frames, run.model
    relationships = summaries.describe_relationships(frames["relationships"], frames["evidence"])
    entities, mentions, documents = frames["entities"], frames["entity_mentions"], frames["documents"]
    if model is None:
        return {
            "entities": summaries.describe_entities(entities, mentions, documents),
            "relationships": relationships,
        }
    knobs = run.settings.summaries
    built = model.ask(
        lambda llm: summaries.summarise_entities(
            entities,
            mentions,
            documents,
            llm=llm,
            prompt=model.prompts["summarize_descriptions"],
            min_tokens=knobs.min_tokens,
            max_input_tokens=knobs.max_input_tokens,
            max_words=knobs.max_words,
            advance=run.progress.advance,
        )
    )
    return built._asdict() | {"relationships": relationships}


def cluster(run: Run) -> Frames:
    knobs, frames = run.settings.communities, run.frames
    clustered = communities.build_communities(
        frames["entities"],
        frames["relationships"],
        frames["evidence"],
        frames["documents"],
        max_community_size=knobs.max_community_size,
        resolution=knobs.resolution,
        seed=knobs.seed,
        backend=knobs.backend,
        cooccurrence_weight=knobs.cooccurrence_weight,
    )
    return clustered._asdict()


def report(run: Run) -> Frames:
    knobs, frames = run.settings.reports, run.frames
    built = reports.build_extractive_reports(
        frames["communities"],
        frames["entities"],
        frames["relationships"],
        frames["evidence"],
        frames["text_units"],
        frames["documents"],
        min_report_size=knobs.min_report_size,
        max_findings=knobs.max_findings,
    )
    return built._asdict()


def embed(run: Run) -> Frames:
    frames, model = run.frames, run.model
    is_service = model is not None and vectors.is_service_name(run.settings.embeddings.model)
    built = embeddings.build_embeddings(
        frames["entities"],
        frames["relationships"],
        frames["text_units"],
        frames["community_reports"],
        model=run.settings.embeddings.model,
        processes=run.processes,
        memo=run.memo,
        ask=(lambda texts: model.ask(lambda llm: llm.embed(texts))) if model is not None and is_service else None,
        advance=run.progress.advance,
    )
    return built._asdict()


PIPELINE: tuple[Stage, ...] = (
    Stage("documents", read_documents, (), ("documents", "failures")),
    Stage("text_units", cut_text_units, ("documents",), ("text_units",)),
    Stage(
        "extraction", extract, ("text_units", "documents"),
        ("entity_mentions", "relationship_mentions", "failures"), per="text_units",
    ),
    Stage(
        "disambiguation", disambiguate, ("entity_mentions", "relationship_mentions", "documents"),
        ("clusters", "entity_mentions", "aliases", "alias_candidates", "failures"),
    ),
    Stage(
        "graph", build_graph, ("clusters", "entity_mentions", "relationship_mentions", "text_units", "documents"),
        ("entities", "relationships", "evidence", "text_units", "documents", "failures"),
    ),
    Stage(
        "claims", extract_claims, ("text_units", "entities", "entity_mentions"),
        ("covariates", "text_units", "failures"), per="text_units",
    ),
    Stage(
        "summaries", describe, ("entities", "relationships", "evidence"), ("entities", "relationships", "failures"),
    ),
    Stage("communities", cluster, ("entities", "relationships", "evidence"), ("communities", "failures")),
    Stage("reports", report, ("communities", "relationships", "evidence"), ("community_reports", "failures")),
    Stage(
        "embeddings", embed, ("entities", "relationships", "text_units", "community_reports"),
        ("embeddings", "failures"),
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

    `full` recomputes even where input and settings equal those of the published run. The memo is used either way.
    `max_tokens` bounds the tokens of all calls to a model; `open_model` opens another model than the settings say.
    Raises GateHeld; BudgetSpent when the next call would pass the budget: what was answered is in the memo.
    """
    progress = progress or QuietProgress()
    with open_run(settings, root, progress=progress, max_tokens=max_tokens, open_model=open_model) as run:
        for stage in PIPELINE:
            run_stage(stage, run)
            if stage.name == "documents" and not full and (published := find_unchanged(run)):
                return summarise_run(run, "unchanged", published)
        return finish_run(run)


@contextmanager
def open_run(
    settings: Settings,
    root: Path,
    *,
    progress: Progress,
    max_tokens: int | None = None,
    open_model: OpenLlm | None = None,
) -> Iterator[Run]:
    """A run that holds the lock of the output folder until the block ends. One that ends early leaves a row in runs."""
    output_dir, cache_dir = root / settings.output.dir, root / settings.cache.dir
    rules_path = root / settings.disambiguation.aliases
    rules_text = rules_path.read_text(encoding="utf-8-sig") if rules_path.is_file() else ""
    rules = parse_alias_rules(rules_text, path=settings.disambiguation.aliases)
    started_at = datetime.now(UTC)
    run_id = f"{started_at:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        cache_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"Cannot write {error.filename}: {error.strerror}. Set output.dir and cache.dir.") from None
    with store.lock_output(output_dir) as takeover, Memo(cache_dir / "memo.sqlite") as memo:
        store.clean_runs(output_dir)
        model = open_run_model(settings, root, run_id=run_id, memo=memo, open_model=open_model, max_tokens=max_tokens)
        run = Run(run_id, root, settings, memo, progress, started_at, rules, content_sha256(rules_text), model)
        run.notices += [line for line in (takeover, *memo.notices, *_missing_parts(settings)) if line]
        run.notices += model.warnings if model else []
        try:
            yield run
        except GateHeld:
            raise
        except BudgetSpent as error:
            store.append_run(output_dir, _run_row(run, "incomplete").row(0, named=True))
            raise BudgetSpent(f"Run {run_id} is incomplete and publishes nothing. {error}") from None
        except KeyboardInterrupt:
            store.append_run(output_dir, _run_row(run, "incomplete").row(0, named=True))
            raise
        except GraphragError:
            store.append_run(output_dir, _run_row(run, "failed").row(0, named=True))
            raise
        finally:
            progress.close()


def _missing_parts(settings: Settings) -> list[str]:
    missing = []
    if settings.extraction.nlp != "lite" and settings.llm.model == EMBEDDED:
        missing.append(nlp_extraction.missing_parts())
    is_service = settings.llm.model != EMBEDDED and vectors.is_service_name(settings.embeddings.model)
    if settings.embeddings.model != "none" and not is_service:
        missing.append(vectors.is_available(settings.embeddings.model))
    return missing


def run_stage(stage: Stage, run: Run) -> None:
    """Run one stage: its outputs replace the frames of those names, its failures are added to the run's."""
    total = run.frames[stage.per].height if stage.per else None
    run.progress.start(stage.name, total)
    started = time.monotonic()
    built = dict(stage.build(run))
    failures = built.pop("failures", None)
    if failures is not None and failures.height:
        run.failures.append(failures.with_columns(run_id=pl.lit(run.run_id)))
    run.frames.update(built)
    run.seconds[stage.name] = time.monotonic() - started
    if not built:
        return  # a stage that is off
    outcome = ", ".join(f"{built[name].height:,} {name}" for name in stage.writes if name in built)
    if failures is not None and failures.height:
        outcome += f", {failures.height} failures"
    run.progress.finish(stage.name, outcome, run.seconds[stage.name])


def input_sha256(run: Run) -> str:
    """Hash of all that decides the tables: documents, failures to read, settings, rules, models, version."""
    read = run.frames["documents"].select("path", "title", "content_sha256", "metadata", "creation_date")
    unread = [frame.filter(pl.col("stage") == "documents").drop("run_id").rows() for frame in run.failures]
    prompts = [prompt.sha256 for prompt in run.model.prompts.values()] if run.model else []
    llm = run.settings.llm
    parts = [
        __version__, orjson.dumps(read.rows()).decode(), orjson.dumps(unread).decode(), run.rules_sha256,
        run.settings.sha256(
            "input", "text_units", "extraction", "disambiguation", "summaries", "claims", "communities", "reports",
            "embeddings",
        ),
        llm.model, orjson.dumps(llm.role_models()).decode(), *prompts, *run.notices,
    ]  # fmt: skip
    return content_sha256("\n".join(parts))


def find_unchanged(run: Run) -> dict[str, Any] | None:
    """The manifest of the published run, where it was made from the very same input and left no text unit to ask."""
    manifest = store.read_manifest(run.output_dir)
    if not manifest or manifest.get("n_failed_text_units") or manifest.get("input_sha256") != input_sha256(run):
        return None
    return manifest


def finish_run(run: Run) -> RunSummary:
    """Check, write, publish: the run goes live by one atomic switch, or is held and the old index stays.

    Raises GateHeld when a gate holds it; the run's folder is written all the same, for a look.
    """
    started = time.monotonic()
    run.progress.start("publish", None)
    run.frames.pop("clusters", None)
    if run.failures:
        run.frames["failures"] = tables.FAILURES.conform(pl.concat(run.failures))
    if run.model is not None:
        run.frames["llm_calls"] = run.model.ledger.frame()
    held_because = check_gates(run)
    status = "held" if held_because else "published"
    runs = _run_row(run, status)
    run.frames["runs"] = runs
    manifest = {
        "status": status, "version": __version__, "input_sha256": input_sha256(run),
        "settings": run.settings.model_dump(), "notices": run.notices,
        "n_failed_text_units": count_failed_text_units(run.frames["failures"]), **_count_rows(run.frames),
    }  # fmt: skip
    store.write_run(run.output_dir, run.run_id, run.frames, manifest=manifest)
    if not held_because:
        store.publish_run(run.output_dir, run.run_id)
        store.prune_runs(run.output_dir, run.settings.output.keep_runs)
    store.append_run(run.output_dir, runs.row(0, named=True))
    run.seconds["publish"] = time.monotonic() - started
    run.progress.finish("publish", status, run.seconds["publish"])
    if held_because:
        raise GateHeld(f"Run {run.run_id} is held: {'; '.join(held_because)}. The old index stays live.")
    run.notices += run.model.notices if run.model else []
    return summarise_run(run, status, _count_rows(run.frames))


def _count_rows(frames: Frames) -> dict[str, dict[str, int]]:
    """What the summary counts; written into the manifest, so that an unchanged run can say it again."""
    levels = Counter(frames["communities"]["level"].to_list())
    reasons = Counter(frames["failures"]["reason"].to_list())
    return {
        "counts": {name: frames[name].height for name in tables.TABLES if not tables.TABLES[name].is_log},
        "communities_by_level": {str(level): n for level, n in sorted(levels.items())},
        "failures_by_reason": dict(sorted(reasons.items())),
    }


def check_gates(run: Run) -> list[str]:
    """Why the run may not be published, in words; empty when it may."""
    held = [f"integrity: {fault}" for fault in store.check_integrity(run.frames)]
    n_unread = run.frames["failures"].filter(pl.col("stage") == "documents").height
    n_read = run.frames["documents"].height
    share = n_unread / max(n_unread + n_read, 1)
    if share > run.settings.gates.failed_share:
        held.append(f"{n_unread} of {n_unread + n_read} documents failed, more than gates.failed_share allows")
    n_failed, n_units = count_failed_text_units(run.frames["failures"]), run.frames["text_units"].height
    if n_failed / max(n_units, 1) > run.settings.gates.failed_unit_share:
        counted = Counter(run.frames["failures"].filter(_is_failed_text_unit())["reason"].to_list())
        reasons = ", ".join(f"{reason} {n}" for reason, n in counted.most_common())
        held.append(
            f"{n_failed} of {n_units} text units got no usable reply ({reasons}), more than gates.failed_unit_share "
            "allows"
        )
    return held


def count_failed_text_units(failures: pl.DataFrame) -> int:
    """Text units of which a model said nothing that could be used: the next run asks them again."""
    return failures.filter(_is_failed_text_unit())["item_id"].n_unique()


def _is_failed_text_unit() -> pl.Expr:
    return (pl.col("stage") == extraction.STAGE) & pl.col("reason").is_in(extraction.UNIT_REASONS)


def _run_row(run: Run, status: str) -> pl.DataFrame:
    now = datetime.now(UTC)
    paid = run.model.ledger.frame().filter(~pl.col("cached")) if run.model else tables.LLM_CALLS.empty()
    row = {
        "run_id": run.run_id, "started_at": run.started_at.isoformat(timespec="seconds"),
        "finished_at": now.isoformat(timespec="seconds"), "status": status, "settings_sha256": run.settings.sha256(),
        "n_failures": run.frames["failures"].height, "llm_calls": paid.height,
        "cost_usd": float(paid["cost_usd"].sum()),
        "seconds": round((now - run.started_at).total_seconds(), 1),
    }  # fmt: skip
    for name in ("documents", "text_units", "entities", "relationships", "communities"):
        row[f"n_{name}"] = run.frames[name].height
    return tables.RUNS.from_rows([row])


def summarise_run(run: Run, status: str, counted: Mapping[str, dict[str, int]]) -> RunSummary:
    """`counted` comes from the frames, or for an unchanged run from the manifest of the published one."""
    return RunSummary(
        run_id=run.run_id,
        status=status,
        counts=counted["counts"],
        communities_by_level=counted["communities_by_level"],
        failures_by_reason=counted["failures_by_reason"],
        seconds_by_stage=dict(run.seconds),
        seconds=(datetime.now(UTC) - run.started_at).total_seconds(),
        notices=run.notices,
        calls=run.model.costs().to_dicts() if run.model else [],
    )
