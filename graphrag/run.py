"""The run around the stages: opened under a lock, hashed, checked, written, published; one line of it kept for ever.

A run that ends early (error, Ctrl-C, budget) publishes nothing and leaves a row in runs.jsonl. One that a gate holds is
written for a look, but the old index stays live.

Reads and writes: everything through graphrag.store. Does not: know the stages or their order (pipeline.py).
"""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from graphrag import __version__, store, tables, vectors
from graphrag.batches import MapBatches
from graphrag.errors import BudgetSpent, GateHeld, GraphragError, StoreError, shown_path
from graphrag.ids import content_sha256
from graphrag.index import extraction, judgement, nlp_extraction, report_calls
from graphrag.llm.litellm_door import EMBEDDED
from graphrag.memo import Memo
from graphrag.naming.alias_rules import AliasRules, parse_alias_rules
from graphrag.progress import Progress
from graphrag.run_model import OpenLlm, RunModel, open_run_model
from graphrag.settings import Settings

Frames = dict[str, pl.DataFrame]
Counted = Mapping[str, dict[str, int]]


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
    map_batches: MapBatches | None = None  # where parses and vectors are made; None: in processes of this machine
    input_sha256: str = ""  # set once the documents are read
    full: bool = False  # nothing of the published run is taken over but the numbers of rows
    frames: Frames = field(default_factory=lambda: {name: table.empty() for name, table in tables.TABLES.items()})
    failures: list[pl.DataFrame] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)  # what stages chose by themselves, for the manifest

    @property
    def output_dir(self) -> Path:
        return self.root / self.settings.output.dir

    @property
    def processes(self) -> int:
        return self.settings.extraction.processes or os.cpu_count() or 1

    @property
    def embedding_model(self) -> str:
        """The model's name with its folder found from the project's root."""
        return vectors.locate_model(self.settings.embeddings.model, self.root)


@dataclass(frozen=True)
class RunSummary:
    """What `graphrag index` prints. status: published or unchanged."""

    run_id: str
    status: str
    counts: dict[str, int]
    relationships_by_origin: dict[str, int]
    communities_by_level: dict[str, int]
    entities_by_place: dict[str, int]  # connected, unconnected
    failures_by_reason: dict[str, int]
    seconds_by_stage: dict[str, float]
    seconds: float
    notices: list[str]
    calls: list[dict[str, Any]]  # rows of CallLedger.totals


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
        run.notices += [line for line in (takeover, *memo.notices, *list_missing_parts(settings, root)) if line]
        run.notices += model.warnings if model else []
        with _kept_in_the_log(run):
            yield run


@contextmanager
def _kept_in_the_log(run: Run) -> Iterator[None]:
    try:
        yield
    except GateHeld:
        raise
    except BudgetSpent as error:
        _log_run(run, "incomplete")
        raise BudgetSpent(f"Run {run.run_id} is incomplete and publishes nothing. {error}") from None
    except KeyboardInterrupt:
        _log_run(run, "incomplete")
        raise
    except GraphragError:
        _log_run(run, "failed")
        raise
    finally:
        run.progress.close()


def _log_run(run: Run, status: str, counts: Mapping[str, int] | None = None) -> None:
    store.append_run(run.output_dir, build_run_row(run, status, counts).row(0, named=True))


def list_missing_parts(settings: Settings, root: Path) -> list[str]:
    """One line for each local part that the settings want and that is not installed."""
    missing, is_embedded = [], settings.llm.model == EMBEDDED
    if settings.extraction.nlp != "lite" and is_embedded:
        missing.append(nlp_extraction.missing_parts())
    is_service = not is_embedded and vectors.is_service_name(settings.embeddings.model)
    if settings.embeddings.model != "none" and not is_service:
        missing.append(vectors.is_available(vectors.locate_model(settings.embeddings.model, root)))
    return [line for line in missing if line]


def hash_input(run: Run) -> str:
    """Hash of all that decides the tables: documents and those not read, settings, rules, prompts, models, version."""
    read = run.frames["documents"].select("path", "title", "content_sha256", "metadata", "creation_date")
    unread = [frame.drop("run_id").rows() for frame in run.failures]
    prompts = [prompt.sha256 for prompt in run.model.prompts.values()] if run.model else []
    llm = run.settings.llm
    parts = [
        __version__, orjson.dumps(read.rows()).decode(), orjson.dumps(unread).decode(), run.rules_sha256,
        run.settings.sha256(
            "input", "text_units", "extraction", "disambiguation", "summaries", "claims", "communities", "reports",
            "embeddings",
        ),
        llm.model, orjson.dumps(llm.role_models()).decode(), *prompts,
        vectors.fingerprint_model(run.embedding_model),
        nlp_extraction.fingerprint_parts(run.settings.extraction.nlp) if llm.model == EMBEDDED else "",
    ]  # fmt: skip
    return content_sha256("\n".join(parts))


def find_unchanged(run: Run) -> dict[str, Any] | None:
    """The manifest of the published run, where it was made from the very same input and left nothing to ask again."""
    manifest = store.read_manifest(run.output_dir)
    if not manifest or manifest.get("input_sha256") != run.input_sha256:
        return None
    left = ("n_failed_text_units", "n_failed_judgements", "n_failed_reports")
    return None if any(manifest.get(name) for name in left) else manifest


def read_last(run: Run, name: str, columns: Sequence[str], *, same: Sequence[str]) -> pl.DataFrame | None:
    """Columns of a table of the published run, for a stage to start from; None where there is nothing to start from.

    That is so on a first run, with `full`, and where one of the `same` sections of the settings has changed since.
    """
    manifest = None if run.full else store.read_manifest(run.output_dir)
    if manifest is None:
        return None
    then, now = manifest.get("settings", {}), run.settings.model_dump(mode="json")
    if any(then.get(section) != now[section] for section in same):
        return None
    return store.read_published(run.output_dir, name, columns)


def finish_unchanged(run: Run, manifest: dict[str, Any]) -> RunSummary:
    """The end of a run that found nothing new: a line in the log, nothing published."""
    _log_run(run, "unchanged", manifest["counts"])
    return summarise_run(run, "unchanged", manifest)


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
    counted = count_rows(run.frames)
    run.frames["runs"] = build_run_row(run, status, counted["counts"])
    manifest = {
        "status": status, "version": __version__, "input_sha256": run.input_sha256, "facts": run.facts,
        "settings": run.settings.model_dump(), "notices": run.notices,
        "embedding_fingerprint": vectors.fingerprint_model(run.embedding_model),
        "n_failed_text_units": count_failed_text_units(run.frames["failures"]),
        "n_failed_judgements": run.frames["failures"].filter(pl.col("stage") == judgement.STAGE).height,
        "n_failed_reports": count_failed_reports(run.frames["failures"]), **counted,
    }  # fmt: skip
    folder = store.write_run(run.output_dir, run.run_id, run.frames, manifest=manifest)
    if not held_because:
        store.publish_run(run.output_dir, run.run_id)
    _log_run(run, status, counted["counts"])
    store.prune_runs(run.output_dir, run.settings.output.keep_runs)
    run.seconds["publish"] = time.monotonic() - started
    run.progress.finish("publish", status, run.seconds["publish"])
    if held_because:
        is_live = store.read_manifest(run.output_dir) is not None
        stays = "The old index stays live" if is_live else "Nothing is published yet"
        raise GateHeld(f"Run {run.run_id} is held: {'; '.join(held_because)}. {stays}; see {shown_path(folder)}.")
    run.notices += run.model.notices if run.model else []
    return summarise_run(run, status, counted)


def count_rows(frames: Frames) -> dict[str, dict[str, int]]:
    """What the summary counts; written into the manifest, so that an unchanged run can say it again."""
    origins = Counter(frames["relationships"]["origin"].to_list())
    levels = Counter(frames["communities"]["level"].to_list())
    reasons = Counter(frames["failures"]["reason"].to_list())
    n_unconnected = int(frames["communities"].filter(pl.col("title") == tables.UNCONNECTED)["size"].sum())
    return {
        "counts": {name: frames[name].height for name in tables.TABLES if not tables.TABLES[name].is_log},
        "relationships_by_origin": dict(sorted(origins.items())),
        "communities_by_level": {str(level): n for level, n in sorted(levels.items())},
        "entities_by_place": {"connected": frames["entities"].height - n_unconnected, "unconnected": n_unconnected},
        "failures_by_reason": dict(sorted(reasons.items())),
    }


def check_gates(run: Run) -> list[str]:
    """Why the run may not be published, in words; empty when it may."""
    held = [f"integrity: {fault}" for fault in store.check_integrity(run.frames)]
    gates, failures = run.settings.gates, run.frames["failures"]
    unread = _files(failures.filter(pl.col("stage") == "documents")["item_id"])
    files = unread | _files(run.frames["documents"]["path"])
    if len(unread) / max(len(files), 1) > gates.failed_share:
        held.append(
            f"{len(unread)} of {len(files)} files could not be read whole ({_reasons(failures)}), more than "
            "gates.failed_share allows"
        )
    n_failed, n_units = count_failed_text_units(failures), run.frames["text_units"].height
    if n_failed / max(n_units, 1) > gates.failed_unit_share:
        held.append(
            f"{n_failed} of {n_units} text units got no usable reply ({_reasons(failures.filter(_is_failed_unit()))}), "
            "more than gates.failed_unit_share allows"
        )
    return held


def _files(paths: pl.Series) -> set[str]:
    """Of paths of documents; records of one file have its path before #."""
    return {path.split("#")[0] for path in paths}


def _reasons(failures: pl.DataFrame) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in Counter(failures["reason"].to_list()).most_common())


def count_failed_text_units(failures: pl.DataFrame) -> int:
    """Text units of which a model said nothing that could be used: the next run asks them again."""
    return failures.filter(_is_failed_unit())["item_id"].n_unique()


def count_failed_reports(failures: pl.DataFrame) -> int:
    """Communities whose report the model did not give: the next run asks again."""
    is_failed = (pl.col("stage") == report_calls.STAGE) & ~pl.col("reason").is_in(report_calls.KEPT_REASONS)
    return failures.filter(is_failed)["item_id"].n_unique()


def _is_failed_unit() -> pl.Expr:
    return (pl.col("stage") == extraction.STAGE) & pl.col("reason").is_in(extraction.UNIT_REASONS)


def build_run_row(run: Run, status: str, counts: Mapping[str, int] | None = None) -> pl.DataFrame:
    """The run's row for `runs`; counts default to those of the frames made so far."""
    now = datetime.now(UTC)
    paid = run.model.ledger.frame().filter(~pl.col("cached")) if run.model else tables.LLM_CALLS.empty()
    row = {
        "run_id": run.run_id, "started_at": run.started_at.isoformat(timespec="seconds"),
        "finished_at": now.isoformat(timespec="seconds"), "status": status, "settings_sha256": run.settings.sha256(),
        "n_failures": sum(frame.height for frame in run.failures), "llm_calls": paid.height,
        "cost_usd": float(paid["cost_usd"].sum()), "seconds": round((now - run.started_at).total_seconds(), 1),
    }  # fmt: skip
    for name in ("documents", "text_units", "entities", "relationships", "communities"):
        row[f"n_{name}"] = run.frames[name].height if counts is None else counts[name]
    return tables.RUNS.from_rows([row])


def summarise_run(run: Run, status: str, counted: Counted) -> RunSummary:
    """`counted` comes from the frames, or for an unchanged run from the manifest of the published one."""
    return RunSummary(
        run_id=run.run_id,
        status=status,
        counts=counted["counts"],
        relationships_by_origin=counted["relationships_by_origin"],
        communities_by_level=counted["communities_by_level"],
        entities_by_place=counted.get("entities_by_place", {}),
        failures_by_reason=counted["failures_by_reason"],
        seconds_by_stage=dict(run.seconds),
        seconds=(datetime.now(UTC) - run.started_at).total_seconds(),
        notices=run.notices,
        calls=run.model.costs().to_dicts() if run.model else [],
    )
