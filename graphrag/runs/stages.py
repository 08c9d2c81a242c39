"""What a stage is, and which stages of a run have nothing to do.

A stage's fingerprint is a hash of all that decides what comes out of it: the rows it reads, its settings, prompts and
models, files it looks at, and our own code. Where the published run made its tables under the same fingerprint, they
are taken from there. Versions are hashes of rows, so a stage that ran again and gave the same rows leaves the later
ones with nothing to do, and a run in which all versions are the published ones has changed nothing.

Two stages may write one table, one after the other (documents, text_units, entities); the published run holds the last
version only. Where an earlier one is needed, the stage that made it runs again, from the memo.

Reads: the manifest and tables of the published run. Does not: know the order of the stages (pipeline.py), or publish.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import polars as pl

from graphrag import tables
from graphrag.ids import content_sha256
from graphrag.llm.chat import Role, models_of_roles
from graphrag.runs.run import Frames, Run
from graphrag.store import RunTables

PASSING = ("timeout", "unavailable")
"""Failures of a service that another night may not have."""
UNANSWERED = (*PASSING, "too_long", "refusal", "empty_reply", "unreadable_reply", "missing_verdict")
WITHOUT_EFFECT = frozenset({"input.dir", "extraction.processes", "disambiguation.aliases", "links.relations"})
"""Settings of a stage's sections that do not change what comes out of it."""
ROWS_A_HASH = 20_000
Versions = dict[str, str]  # table -> hash of its rows
CallStage = Callable[["Stage", Run], object]


@dataclass(frozen=True)
class Stage:
    """`reads` are the tables it is given, no others. `per` names the one whose rows split its work; empty where it
    needs all rows at once.

    What else decides its outcome: `settings` (sections, or section.key), `roles` whose models it asks, `prompts`, and
    `looks_at`: by name, a hash of each thing outside, empty where only running the stage can tell. `asks_again`: after
    failures of these reasons the next run asks again, and for them alone; others stand until something changes.
    """

    name: str
    build: Callable[[Run], Mapping[str, pl.DataFrame]]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    per: str = ""
    settings: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    prompts: tuple[str, ...] = ()
    looks_at: Callable[[Run], Mapping[str, str]] = lambda _: {}
    asks_again: tuple[str, ...] = PASSING


@dataclass(frozen=True)
class Outcome:
    """A stage of this run, run or skipped. fingerprint: empty where the next run must not skip it."""

    stage: Stage
    knobs: dict[str, str]
    reads: Versions
    writes: Versions
    fingerprint: str
    n_failures: int
    is_skipped: bool

    def record(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "name": self.stage.name, "fingerprint": self.fingerprint, "knobs": self.knobs, "writes": self.writes,
            "n_failures": self.n_failures,
        }  # fmt: skip


class Unrepeatable(Exception):
    """A stage that was made again gave other rows than the published run has. Nobody's error: nothing can be skipped
    then, and the walk begins again."""


def run_stage(stage: Stage, run: Run) -> None:
    """Run one stage: its outputs replace the frames of those names, its failures become the run's for this stage."""
    total = run.frames[stage.per].height if stage.per else None
    run.progress.start(stage.name, total)
    started = time.monotonic()
    built = dict(stage.build(run))
    failures = built.pop("failures", None)
    if failures is not None:
        run.failures[stage.name] = failures.with_columns(run_id=pl.lit(run.run_id))
    run.frames.update(built)
    run.seconds[stage.name] = time.monotonic() - started
    if not built:
        return  # a stage that is off
    outcome = ", ".join(f"{built[name].height:,} {name}" for name in stage.writes if name in built)
    if failures is not None and failures.height:
        outcome += f", {failures.height} failures"
    run.progress.finish(stage.name, outcome, run.seconds[stage.name])


class Walk:
    """The stages of one run in order. `last`: the run whose tables may be taken over; None runs every stage."""

    def __init__(self, run: Run, last: RunTables | None, call_stage: CallStage = run_stage) -> None:
        self._run, self._call_stage = run, call_stage
        rows = last.manifest.get("stages") if last else None
        self._last = last if isinstance(rows, list) else None
        self._known: dict[str, Any] = {row["name"]: row for row in rows} if isinstance(rows, list) else {}
        self._published: Versions = {table: sha for row in self._known.values() for table, sha in row["writes"].items()}
        self._frames: dict[tuple[str, str], pl.DataFrame] = {}
        self.versions: Versions = {}
        self.outcomes: list[Outcome] = []

    def take(self, stage: Stage) -> Outcome:
        """Run the stage, or skip it where the published run has done the same."""
        self._run.failures[stage.name] = tables.FAILURES.empty()
        reads = {table: self.versions.get(table, "") for table in stage.reads}
        knobs = list_knobs(stage, self._run)
        known = self._known.get(stage.name)
        if known and known["fingerprint"] and known["fingerprint"] == hash_fingerprint(knobs, reads):
            writes, is_skipped = dict(known["writes"]), True
            self._keep_failures(stage)
        else:
            self._say_why(stage, knobs)
            writes, is_skipped = self._make(stage, reads), False
            knobs = list_knobs(stage, self._run)  # what it looks at may be known only now
        fingerprint = hash_fingerprint(knobs, reads) if not self._must_ask_again(stage) else ""
        n_failures = self._run.failures[stage.name].height
        outcome = Outcome(stage, knobs, reads, writes, fingerprint, n_failures, is_skipped)
        self.outcomes.append(outcome)
        self.versions.update(writes)
        return outcome

    def is_as_published(self) -> bool:
        """Whether every table has the published rows, and nothing new has failed."""
        if self._last is None or self.versions != self._published:
            return False
        old = self._last.frame("failures").drop("run_id")
        return self._gather_failures().drop("run_id").equals(old)

    def gather_frames(self) -> Frames:
        """All tables of tables.py as the stages left them; those that no stage writes are empty."""
        frames = {name: self.frame(name, self.versions.get(name, "")) for name in tables.TABLES}
        return frames | {"failures": self._gather_failures()}

    def _gather_failures(self) -> pl.DataFrame:
        """In the order of the stages."""
        return tables.FAILURES.conform(pl.concat([tables.FAILURES.empty(), *self._run.failures.values()]))

    def frame(self, table: str, version: str) -> pl.DataFrame:
        """The rows of that version: of this run, of the published one, or made again."""
        if not version:
            return tables.TABLES[table].empty()
        if (table, version) not in self._frames:
            if self._last is not None and table in tables.TABLES and self._published.get(table) == version:
                self._frames[table, version] = self._last.frame(table)
            else:
                self._make_again(table, version)
        return self._frames[table, version]

    def _make(self, stage: Stage, reads: Versions) -> Versions:
        given = {table: self.frame(table, version) for table, version in reads.items()}
        self._run.frames = dict(given)
        self._call_stage(stage, self._run)
        built = {
            table: frame
            for table, frame in self._run.frames.items()
            if table in stage.writes and frame is not given.get(table) and table != "failures"
        }
        writes = {table: hash_frame(frame) for table, frame in built.items()}
        self._frames |= {(table, writes[table]): frame for table, frame in built.items()}
        return writes

    def _make_again(self, table: str, version: str) -> None:
        # Not a stage that has only passed it on.
        made = (o for o in reversed(self.outcomes) if o.writes.get(table) == version and o.reads.get(table) != version)
        outcome = next(made)
        if self._make(outcome.stage, outcome.reads) != outcome.writes:
            raise Unrepeatable(outcome.stage.name)

    def _keep_failures(self, stage: Stage) -> None:
        """The published run's failures of a skipped stage: they lie there stage by stage, in order."""
        if self._last is None or not self._known[stage.name]["n_failures"]:
            return
        before = 0
        for name, row in self._known.items():
            if name == stage.name:
                break
            before += row["n_failures"]
        kept = self._last.frame("failures").slice(before, self._known[stage.name]["n_failures"])
        self._run.failures[stage.name] = kept

    def _must_ask_again(self, stage: Stage) -> bool:
        return bool(stage.roles) and self._run.failures[stage.name]["reason"].is_in(stage.asks_again).any()

    def _say_why(self, stage: Stage, knobs: Mapping[str, str]) -> None:
        """One line where it is not the documents that make a stage run again."""
        known = self._known[stage.name]["knobs"] if stage.name in self._known else knobs
        changed = [name for name in knobs if known.get(name) != knobs[name] and name != "files"]
        if changed:
            self._run.notices.append(f"{stage.name} ran again: {', '.join(changed)} changed.")


def list_knobs(stage: Stage, run: Run) -> dict[str, str]:
    """By name, all that decides what a stage makes of the rows it is given."""
    knobs = {"this release": run.code}
    for name in stage.settings:
        section, _, key = name.partition(".")
        values = run.settings.model_dump(include={section}, by_alias=True)[section]
        for each in [key] if key else values:
            if f"{section}.{each}" not in WITHOUT_EFFECT:
                knobs[f"{section}.{each}"] = orjson.dumps(values[each]).decode()
    models = models_of_roles(run.settings.llm.model, run.settings.llm.role_models())
    knobs |= {f"the model of role {role}": models[role] for role in stage.roles}
    if run.model is not None:
        known = run.model.prompts
        knobs |= {f"the prompt {name}": known[name].sha256 for name in stage.prompts if name in known}
    return knobs | dict(stage.looks_at(run))


def hash_fingerprint(knobs: Mapping[str, str], reads: Versions) -> str:
    """Empty where a knob is not known."""
    if "" in knobs.values():
        return ""
    return content_sha256(orjson.dumps([dict(knobs), reads], option=orjson.OPT_SORT_KEYS))


def hash_frame(frame: pl.DataFrame) -> str:
    """sha256 of column names and rows in order; equal values give equal hashes, however they lie in memory."""
    digest = hashlib.sha256(orjson.dumps([[name, str(dtype)] for name, dtype in frame.schema.items()]))
    vectors = [name for name, dtype in frame.schema.items() if dtype == tables.VECTOR]
    plain = frame.drop(vectors)
    for start in range(0, frame.height, ROWS_A_HASH):
        digest.update(plain.slice(start, ROWS_A_HASH).write_ndjson().encode("utf-8", "surrogatepass"))
    for name in vectors:
        digest.update(np.ascontiguousarray(frame[name].explode().to_numpy()).tobytes())
    return digest.hexdigest()
