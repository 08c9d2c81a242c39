"""The run around the stages: opened under a lock, checked, written, published; one line of it kept for ever.

A run that ends early (error, Ctrl-C, budget) publishes nothing and leaves a row in runs.jsonl. One that a gate holds
(gates.py) is written for a look, but the old index stays live.

Reads and writes: everything through graphrag.store. Does not: know the stages or their order (pipeline.py), or which of
them have nothing to do (stages.py).
"""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from graphrag import __version__, store, tables, vectors
from graphrag.batches import MapBatches
from graphrag.errors import BudgetSpent, GateHeld, GraphragError, MirrorFailed, StoreError, shown_path
from graphrag.ids import content_sha256
from graphrag.index import nlp_extraction
from graphrag.memo import Memo
from graphrag.naming.alias_rules import AliasRules, parse_alias_rules
from graphrag.object_storage import is_url, open_storage
from graphrag.progress import Progress
from graphrag.reading.known_files import KnownFile
from graphrag.relations.events import Event
from graphrag.relations.relation_log import RelationLog, read_log
from graphrag.runs.changes import count_changes, list_changes
from graphrag.runs.gates import check_gates
from graphrag.runs.run_model import OpenLlm, RunModel, open_run_model
from graphrag.settings import EMBEDDED, Settings
from graphrag.store import RunTables
from graphrag.vault.index_pages import build_vault_index

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
    relations: RelationLog
    model: RunModel | None
    published: RunTables | None  # what this run would replace
    code: str  # our own version
    is_full: bool = False  # nothing is taken over from the published run
    files: list[KnownFile] | None = None  # what is in the input folder; None until every file is known
    map_batches: MapBatches | None = None  # where parses and vectors are made; None: in processes of this machine
    frames: Frames = field(default_factory=lambda: {name: table.empty() for name, table in tables.TABLES.items()})
    failures: Frames = field(default_factory=dict)  # by stage, in order
    stages: list[dict[str, Any]] = field(default_factory=list)  # for the manifest
    seconds: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    settling: list[Event] = field(default_factory=list)  # of entries that are gone or moved, for the log
    facts: dict[str, str] = field(default_factory=dict)  # what stages chose by themselves, for the manifest

    @property
    def input_dir(self) -> Path | str:
        """Text: an address on object storage."""
        place = self.settings.input.dir
        return place if is_url(place) else self.root / place

    @property
    def output_dir(self) -> Path:
        return self.root / self.settings.output.dir

    @property
    def cache_dir(self) -> Path:
        return self.root / self.settings.cache.dir

    @property
    def relations_path(self) -> Path:
        return self.root / self.settings.links.relations

    @property
    def started_ns(self) -> int:
        """Unix time."""
        return int(self.started_at.timestamp() * 1e9)

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
    changes: dict[str, dict[str, int]]  # table -> change -> rows, beside the run that was live before


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
    relations = read_log(root / settings.links.relations)
    if settings.output.mirror:
        open_storage(settings.output.mirror, key="output.mirror")  # before anything is paid
    started_at = datetime.now(UTC)
    # Microseconds in front of a random digit: runs of one second are in order, too.
    run_id = f"{started_at:%Y%m%dT%H%M%SZ}-{started_at.microsecond:05x}{secrets.token_hex(1)[0]}"
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        cache_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"Cannot write {error.filename}: {error.strerror}. Set output.dir and cache.dir.") from None
    with store.lock_output(output_dir) as takeover, Memo(cache_dir / "memo.sqlite") as memo:
        store.clean_runs(output_dir)
        close_dead_runs(output_dir)
        model = open_run_model(settings, root, run_id=run_id, memo=memo, open_model=open_model, max_tokens=max_tokens)
        published = store.open_published_tables(output_dir)
        run = Run(
            run_id, root, settings, memo, progress, started_at, rules, content_sha256(rules_text), relations,
            model, published, fingerprint_code(),
        )  # fmt: skip
        run.notices += [
            line for line in (takeover, *memo.notices, *relations.warnings, *list_missing_parts(settings, root)) if line
        ]
        run.notices += model.warnings if model else []
        with _kept_in_the_log(run):
            yield run


@lru_cache(maxsize=1)
def fingerprint_code() -> str:
    """Version, and a hash of our own source: a checkout changes without its version."""
    sources = sorted(Path(__file__).parents[1].rglob("*.py"))
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.read_bytes())
    return f"{__version__} {digest.hexdigest()[:16]}"


@contextmanager
def _kept_in_the_log(run: Run) -> Iterator[None]:
    try:
        yield
    except (GateHeld, MirrorFailed):  # its row is written
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


def begin_run(run: Run) -> None:
    """A line in the log, so that a run that is killed is seen."""
    _log_run(run, "running")


def close_dead_runs(output_dir: Path) -> None:
    """Runs that the log calls running are dead, where we hold the lock: they are incomplete."""
    for row in store.read_runs(output_dir).filter(pl.col("status") == "running").iter_rows(named=True):
        store.append_run(output_dir, {**row, "status": "incomplete"})


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


def read_last(
    run: Run, name: str, columns: Sequence[str], *, same: Sequence[str], same_release: bool = False
) -> pl.DataFrame | None:
    """Columns of a table of the published run, for a stage to start from; None where there is nothing to start from.

    That is so on a first run, with `full`, and where one of the `same` sections of the settings has changed since; with
    `same_release` also where other code than ours made it.
    """
    if run.is_full or run.published is None or not run.published.has_columns(name, columns):
        return None
    if same_release and run.published.manifest.get("code") != run.code:
        return None
    then, now = run.published.manifest.get("settings", {}), run.settings.model_dump(mode="json")
    if any(then.get(section) != now[section] for section in same):
        return None
    return run.published.frame(name, columns)


def keeps_database(run: Run, published: RunTables) -> bool:
    """Whether the published database is the one that would be written from the same rows now: by a release with the
    same views and macros, which walk what the settings of `impact` say."""
    impact: dict[str, object] = published.manifest.get("settings", {}).get("impact", {})
    is_of_release = published.manifest.get("database") == store.fingerprint_database()
    return is_of_release and impact == run.settings.impact.model_dump(mode="json")


def finish_unchanged(run: Run, published: RunTables) -> RunSummary:
    """The end of a run that found nothing new: a line in the log, nothing published.

    The manifest now names the settings, models and release that gave the same rows, so that the next run skips what
    this one had to run.
    """
    store.renew_manifest(published.folder, describe_making(run))
    _log_run(run, "unchanged", published.manifest["counts"])
    _mirror(run)
    run.notices += run.model.notices if run.model else []
    return summarise_run(run, "unchanged", published.manifest)


def finish_run(run: Run) -> RunSummary:
    """Check, compare, write, publish: the run goes live by one atomic switch, or is held and the old index stays.

    Raises GateHeld when a gate holds it; the run's folder is written all the same, for a look.
    """
    started = time.monotonic()
    run.progress.start("publish", None)
    if run.model is not None:
        run.frames["llm_calls"] = run.model.ledger.frame()
    held_because = check_gates(run.frames, run.settings.gates, run.published)
    status = "held" if held_because else "published"
    if run.published is not None:
        run.frames["run_changes"] = list_changes(run.published, run.frames, run_id=run.run_id)
    counted = count_rows(run.frames)
    run.frames["runs"] = build_run_row(run, status, counted["counts"])
    folder = store.write_run(
        run.output_dir, run.run_id, run.frames, manifest=build_manifest(run, status, counted),
        pages=build_vault_index(
            run.frames["documents"], run.frames["links"], index_file=run.settings.routing.index_file
        ),
        impact_predicates=run.settings.impact.predicates,
        impact_predicates_reversed=run.settings.impact.reversed_predicates,
        impact_bystanders=run.settings.impact.bystanders,
        last=None if run.is_full or run.published is None else run.published.folder,
    )  # fmt: skip
    if not held_because:
        store.publish_run(run.output_dir, run.run_id)
    _log_run(run, status, counted["counts"])
    store.prune_runs(run.output_dir, run.settings.output.keep_runs)
    run.seconds["publish"] = time.monotonic() - started
    run.progress.finish("publish", status, run.seconds["publish"])
    if held_because:
        stays = "The old index stays live" if run.published is not None else "Nothing is published yet"
        raise GateHeld(
            f"Run {run.run_id} is held: {'; '.join(held_because)}. {stays}; see {shown_path(folder)}. "
            f'To publish it all the same: "graphrag publish {run.run_id}".'
        )
    _mirror(run)
    run.notices += run.model.notices if run.model else []
    return summarise_run(run, status, counted)


def _mirror(run: Run) -> None:
    if run.settings.output.mirror:
        store.mirror_published(run.output_dir, run.settings.output.mirror)


def build_manifest(run: Run, status: str, counted: Counted) -> dict[str, object]:
    """What made the run, what it holds, and what came before it."""
    return {
        "status": status,
        "notices": run.notices,
        "published_before": run.published.run_id if run.published else "",
        "n_changes": count_changes(run.frames["run_changes"]),
        **describe_making(run),
        **counted,
    }


def describe_making(run: Run) -> dict[str, object]:
    """Settings, stages with the hashes of their inputs and outputs, prompts, models, versions."""
    return {
        "version": __version__, "code": run.code,
        "settings": run.settings.model_dump(mode="json"), "stages": run.stages,
        "facts": (run.published.manifest.get("facts", {}) if run.published else {}) | run.facts,
        "prompts": {name: prompt.sha256 for name, prompt in run.model.prompts.items()} if run.model else {},
        "packages": {"python": platform.python_version(), "polars": pl.__version__},
        "embedding_fingerprint": vectors.fingerprint_model(run.embedding_model),
    }  # fmt: skip


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


def build_run_row(run: Run, status: str, counts: Mapping[str, int] | None = None) -> pl.DataFrame:
    """The run's row for `runs`; counts default to those of the frames made so far."""
    now = datetime.now(UTC)
    paid = run.model.ledger.frame().filter(~pl.col("cached")) if run.model else tables.LLM_CALLS.empty()
    row = {
        "run_id": run.run_id, "started_at": run.started_at.isoformat(timespec="seconds"),
        "finished_at": now.isoformat(timespec="seconds"), "status": status, "settings_sha256": run.settings.sha256(),
        "n_failures": sum(frame.height for frame in run.failures.values()), "llm_calls": paid.height,
        "cost_usd": float(paid["cost_usd"].sum()), "seconds": round((now - run.started_at).total_seconds(), 1),
    }  # fmt: skip
    for name in ("documents", "text_units", "entities", "relationships", "communities"):
        made = run.frames.get(name, tables.TABLES[name].empty()).height
        row[f"n_{name}"] = made if counts is None else counts[name]
    if status == "running":
        row["finished_at"] = None
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
        changes=count_changes(run.frames["run_changes"]) if status == "published" else {},
    )
