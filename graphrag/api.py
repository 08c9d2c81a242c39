"""The Python API: a published index, opened once, with the questions that the command line asks.

    from graphrag import Index

    with Index.open("my-index") as index:
        print(index.search("What depends on Redis?").text)
        print(index.impact("Redis").render(cite=True))
        entities = index.table("entities")  # a Polars frame

The commands of the same names call these methods and print what they return: `to_json()` is what `--json` prints,
`render()` what a person reads. Errors are those of graphrag.errors and name an argument as the option of its command.

Reads the published run, read-only; `search` counts what it listed (store/usage.py). Does not: index (pipeline.py), or
know how a search or a walk is done (search/).
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, get_args

from graphrag import store
from graphrag.errors import NothingFound, StoreError, UsageError, did_you_mean
from graphrag.object_storage import is_url
from graphrag.question_models import QuestionModels
from graphrag.search.seeds import resolve_entity
from graphrag.search.walks.edges import DIRECTIONS, Direction, Edge, open_edges
from graphrag.search.walks.hop_sources import load_statements
from graphrag.settings import RoutingMode, Settings
from graphrag.settings_file import find_root, load_settings
from graphrag.vectors import locate_model
from graphrag.walk_results import FoundChains, FoundImpact, FoundNeighbors, FoundRisks, FoundRoutes, Statements

if TYPE_CHECKING:
    import polars as pl

    from graphrag.llm.concurrency import MapMany
    from graphrag.reading.new_notes import NewNote
    from graphrag.search.answer import Answer
    from graphrag.search.entries.folded_entries import Fold
    from graphrag.search.notes.document_search import Routing
    from graphrag.search.notes.note_neighborhood import NoteNeighborhood
    from graphrag.search.reports.drift_search import DriftBounds
    from graphrag.search.walks.impact import Carrying

ROUTING_MODES = get_args(RoutingMode)
ORIGINS = ("stated", "all")


class Index:
    """A published run of a project folder. It stays on that run when a later one is published: open it again then.

    A context manager. Methods may be called from several threads. A model is opened with the first question for it and
    stays: llm.budget_usd is for all questions to it.
    """

    def __init__(self, settings: Settings, root: Path, *, where: str = "") -> None:
        """Of settings that are loaded already; see `open`."""
        self.settings, self.root = settings, root
        self._store = store.open_index(root / settings.output.dir, where=where)
        self._models = QuestionModels(settings, root, self._store)

    @classmethod
    def open(cls, root: str | Path | None = None, *, overrides: Sequence[str] = (), where: str = "") -> Index:
        """The published index of a project folder.

        root: the folder with settings.toml; None: the working folder or the nearest parent that has one.
        overrides: settings as "section.key=value". where: only what documents back for which this SQL condition holds.
        Raises NoIndex where nothing has been published, SettingsError, StoreError, and for `where` UsageError.
        """
        folder = find_root(Path.cwd()) if root is None else Path(root)
        settings, told = load_settings(folder, overrides=overrides)
        for line in told:
            warnings.warn(line, stacklevel=2)
        return cls(settings, folder, where=where)

    @property
    def run_id(self) -> str:
        return self._store.run_id

    @property
    def published(self) -> store.Index:
        """The same run one floor below, for rooms that take it."""
        return self._store

    def search(
        self,
        question: str,
        *,
        mode: str = "auto",
        level: int | None = None,
        top: int | None = None,
        budget_tokens: int | None = None,
        dynamic: bool = False,
        fold: bool | None = None,
        routing: str = "",
        note: str = "",
        llm: bool = True,
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """An answer with citations that resolve to quotes; `answered` is False where the index holds nothing about it.

        mode: local, global, drift, basic, documents, or auto: what suits the question. level: of the hierarchy, for
        global and drift. top: sources to list. budget_tokens: of the context. None takes the setting. dynamic: global
        reads only reports that bear on the question. fold: related documents share one place, in all modes but global.
        routing, note: of documents: depth, synthesis or hybrid, and the note to enter at; empty takes the setting, and
        finds it. llm: in the words of the model that llm.model names; False: an extract. on_text: sees the model's
        answer grow, each time the whole text so far, before it is checked.
        Raises UsageError for arguments that cannot be, LlmError where the model cannot answer.
        """
        from graphrag.search import answer_question
        from graphrag.search.arguments import MODES_OF_OPTION, check_mode, check_question
        from graphrag.search.entries.folded_entries import choose_fold

        mode = check_mode(mode, level=level, dynamic=dynamic, fold=fold, routing=routing, note=note)
        question, knobs = check_question(question), self.settings.search
        with self._models.embed_meanwhile(question) as calls:
            chosen, told = self._choose_mode(mode, question)
            folds = chosen in MODES_OF_OPTION["--fold"]
            notes = self._load_new_notes() if folds else ()
            answer = answer_question(
                self._store,
                question,
                mode=chosen,
                level=knobs.level if level is None else level,
                top=knobs.top if top is None else _check_at_least(1, "--top", top),
                budget_tokens=knobs.budget_tokens if budget_tokens is None else budget_tokens,
                model=locate_model(self.settings.embeddings.model, self.root),
                dynamic=dynamic,
                llm=self._models.load(chosen) if llm else None,
                fold=self._add_written(choose_fold(self.settings.fold, is_on=fold, top=top), notes) if folds else None,
                routing=self._choose_routing(routing, note, max_tokens=budget_tokens),
                drift=self._read_drift_bounds() if chosen == "drift" else None,
                on_text=on_text,
            )
        if calls:
            from graphrag.search.model_answer import count_usage

            answer = count_usage(answer, calls)
        if notes:
            from graphrag.search.entries.new_notes import add_new_notes

            near = self._find_near_notes(notes, question)
            answer = add_new_notes(answer, notes, top=knobs.top if top is None else top, nearness=near)
        if knobs.count_usage:
            place = self.root / self.settings.output.dir
            store.append_usage(place, [source.path for source in answer.sources], mode=chosen)
        return dataclasses.replace(answer, notices=(*told, *answer.notices))

    @property
    def restriction(self) -> str:
        """How many documents match `where`, in words; empty without it."""
        return self._store.restriction

    @contextmanager
    def many_at_once(self, *, llm: bool = True) -> Iterator[MapMany]:
        """map(function, items) for functions that `search`, while the block lasts: in threads where a model is asked,
        so that its calls fill the places that the limits allow; results come in order."""
        model = self._models.load("auto") if llm else None
        if model is None:
            yield map
            return
        from graphrag.search_model import map_in_threads

        with map_in_threads(model.llm, self.settings.llm.max_concurrency) as map_many:
            yield map_many

    def _choose_routing(self, mode: str, note: str, *, max_tokens: int | None) -> Routing:
        """The settings [routing] with what was asked for. Raises UsageError for a mode that is none."""
        from graphrag.search.notes.document_search import Routing

        knobs = self.settings.routing.model_dump(exclude={"index_file"})
        if mode and mode not in ROUTING_MODES:
            near = did_you_mean(mode, ROUTING_MODES)
            raise UsageError(f'Unknown --routing "{mode}".{near} Use one of: {", ".join(ROUTING_MODES)}.')
        asked = {"mode": mode or knobs["mode"], "max_tokens": knobs["max_tokens"] if max_tokens is None else max_tokens}
        return Routing(**(knobs | asked), note=note)

    def _read_drift_bounds(self) -> DriftBounds:
        from graphrag.search.reports.drift_search import DriftBounds

        return DriftBounds(**self.settings.drift.model_dump())

    def _choose_mode(self, mode: str, question: str) -> tuple[str, list[str]]:
        """The mode to answer in, and lines that say why."""
        told = [self._store.restriction] if self._store.restriction else []
        if mode != "auto":
            return mode, told
        from graphrag.search.choose_mode import choose_mode

        choice = choose_mode(self._store, question)
        return choice.mode, [choice.render(), *told]

    def _load_new_notes(self) -> Sequence[NewNote]:
        """What was learned since the run was published."""
        from graphrag.search.entries.written_since import load_new_notes

        place = self.settings.input.dir
        input_dir = None if is_url(place) else self.root / place
        return load_new_notes(self._store, input_dir, self.settings.learn.folder)

    def _find_near_notes(self, notes: Sequence[NewNote], question: str) -> dict[str, float]:
        """Those of the new notes that are near in meaning, by document id; their vectors are made once."""
        if not notes or self.settings.embeddings.model == "none":
            return {}
        from graphrag.memo import Memo
        from graphrag.search.entries.new_notes import find_near_notes

        model = locate_model(self.settings.embeddings.model, self.root)
        try:
            memo = Memo(self.root / self.settings.cache.dir / "memo.sqlite")
        except StoreError:  # a folder that may not be written
            return find_near_notes(self._store, notes, question, model=model, memo=None)
        with memo:
            return find_near_notes(self._store, notes, question, model=model, memo=memo)

    def _add_written(self, fold: Fold | None, notes: Sequence[NewNote]) -> Fold | None:
        """With what was related and learned since the run was published."""
        from graphrag.search.entries.written_since import load_written

        if fold is None:
            return None
        log_path = self.root / self.settings.links.relations
        return dataclasses.replace(fold, written=load_written(self._store, log_path, notes))

    def impact(
        self,
        name: str,
        *,
        max_hops: int | None = None,
        rels: Sequence[str] = (),
        top: int = 50,
        origin: str = "stated",
        reasons: bool = True,
    ) -> FoundImpact:
        """What breaks when an entity fails, each with the chain that says so, and what survives.

        name: a title, an alias, or #NUMBER. rels: predicates that carry a failure; empty: those of the settings;
        ("all",): every one. origin: all walks names that only share a sentence, too. reasons: why survivors survive.
        Raises UnknownEntity with the nearest names.
        """
        from graphrag.search.walks.impact import find_impact

        if max_hops is not None:
            _check_at_least(1, "--max-hops", max_hops)
        cooccurrence, carrying = _choose_origin(origin), self._choose_carrying(rels)
        _, failed = resolve_entity(self._store, name)
        found = find_impact(
            self._store, failed, carrying, cooccurrence=cooccurrence, max_hops=max_hops,
            top=_check_at_least(1, "--top", top), reasons=reasons, bystanders=self.settings.impact.bystanders,
        )  # fmt: skip
        return FoundImpact(name, found, self._load_hops(hop for e in found.impacted for _, hop in e.hops_down))

    def risks(self, *, rels: Sequence[str] = (), top: int = 50) -> FoundRisks:
        """All entities, ranked by how many others they break."""
        from graphrag.search.walks.systemic_risk import find_risks

        risks = find_risks(self._store, self._choose_carrying(rels), top=_check_at_least(1, "--top", top))
        return FoundRisks(risks, self._load_hops(hop for r in risks.shown for _, hop in r.farthest.hops_down))

    def path(
        self,
        source: str,
        target: str,
        *,
        n: int = 1,
        max_hops: int = 6,
        direction: str = "out",
        origin: str = "stated",
    ) -> FoundRoutes:
        """Up to `n` routes from one entity to another: fewest hops first, then the best corroborated.

        direction: out (along the arrows), in or both. Raises NothingFound where there is none within max_hops.
        """
        from graphrag.search.walks.paths import find_routes

        _check_at_least(1, "--max-hops", max_hops)
        way, cooccurrence = _choose_direction(direction), _choose_origin(origin)
        (_, start), (_, goal) = resolve_entity(self._store, source), resolve_entity(self._store, target)
        if start == goal:
            raise UsageError(f'"{source}" and "{target}" are the same entity.')
        fetch = open_edges(self._store, cooccurrence=cooccurrence)
        n = _check_at_least(1, "--all", n)
        routes, is_complete = find_routes(fetch, start, goal, max_hops=max_hops, direction=way, n=n)
        if not routes:
            advice = "" if way == "both" else " Try --direction both."
            hops = "hop" if max_hops == 1 else "hops"
            raise NothingFound(f'No path from "{start}" to "{goal}" within {max_hops} {hops}.{advice}')
        statements = self._load_hops(hop for route in routes for _, hop in route.hops)
        return FoundRoutes(start, goal, routes, is_complete, statements)

    def neighborhood(
        self,
        name: str,
        *,
        hops: int = 2,
        direction: str = "out",
        hub_cutoff: str | int = "auto",
        top: int = 50,
        origin: str = "stated",
    ) -> FoundNeighbors:
        """What lies within some hops of an entity. hub_cutoff: auto, off, or the most neighbours that are walked."""
        from graphrag.search.walks.reach import choose_cutoff, list_neighbors, open_degrees

        _check_at_least(0, "--hops", hops)
        way, cooccurrence = _choose_direction(direction), _choose_origin(origin)
        cutoff = choose_cutoff(self._store, str(hub_cutoff))
        _, anchor = resolve_entity(self._store, name)
        fetch = open_edges(self._store, cooccurrence=cooccurrence)
        found = list_neighbors(fetch, open_degrees(self._store), anchor, hops=hops, direction=way, cutoff=cutoff)
        shown = found[: _check_at_least(1, "--top", top)]
        statements = self._load_hops(neighbor.hop[1] for neighbor in shown if neighbor.hop)
        return FoundNeighbors(found, shown, statements, hops, way, cutoff)

    def note_neighborhood(
        self, name: str, *, hops: int = 2, direction: str = "both", hub_cutoff: str | int = "auto", stubs: bool = False
    ) -> NoteNeighborhood:
        """The documents within some hops of a document (title, alias or path), along the links that people wrote."""
        from graphrag.search.notes.note_neighborhood import find_note_neighborhood

        _check_at_least(0, "--hops", hops)
        return find_note_neighborhood(
            self._store,
            name,
            hops=hops,
            direction=_choose_direction(direction),
            hub_cutoff=str(hub_cutoff),
            stubs=stubs,
        )

    def chains(
        self, name: str, *, max_depth: int = 2, to_type: str = "", top: int = 50, origin: str = "stated"
    ) -> FoundChains:
        """Everything an entity leads to, as chains of relationships; to_type: only chains that end in this type."""
        from graphrag.search.walks.chains import keep_type, list_chains

        _check_at_least(0, "--max-depth", max_depth)
        cooccurrence = _choose_origin(origin)
        _, start = resolve_entity(self._store, name)
        found = list_chains(open_edges(self._store, cooccurrence=cooccurrence), start, max_depth=max_depth)
        found = keep_type(self._store, found, to_type) if to_type else found
        shown = found[: _check_at_least(1, "--top", top)]
        return FoundChains(start, found, shown, self._load_hops(shown))

    def communities(self, *, level: int | None = None) -> list[dict[str, Any]]:
        """The hierarchy in the order of the tree, down to a level: see community_reports.list_communities."""
        from graphrag.community_reports import list_communities

        return list_communities(self._store, max_level=level)

    def report(self, which: str | int) -> dict[str, Any]:
        """One community report with its citations resolved. which: number, title, or id."""
        from graphrag.community_reports import find_report

        return find_report(self._store, str(which))

    def table(self, name: str) -> pl.DataFrame:
        """One of the tables of docs/tables.md as a Polars frame, rows in their order. Raises TableError for others."""
        return self._store.table(name)

    def sql(self, query: str) -> pl.DataFrame:
        """The rows of one statement that reads, over the tables, views and macros of docs/sql.md."""
        return store.run_sql(self._store, query)

    def close(self) -> None:
        self._models.close()
        self._store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _choose_carrying(self, rels: Sequence[str]) -> Carrying:
        """Raises UsageError for a predicate that the index does not hold."""
        from graphrag.search.walks.impact import ALL_PREDICATES, choose_carrying

        known = self._store.graph().predicates
        for rel in rels:
            if rel != ALL_PREDICATES and rel not in known:
                near = did_you_mean(rel, known)
                raise UsageError(f'No predicate "{rel}".{near} See graphrag sql "from predicates".')
        knobs = self.settings.impact
        return choose_carrying(
            known, predicates=knobs.predicates, reversed_predicates=knobs.reversed_predicates, rels=rels
        )

    def _load_hops(self, hops: Iterable[Sequence[Edge]]) -> Statements:
        return load_statements(self._store, {edge.id for hop in hops for edge in hop})


def _check_at_least(least: int, name: str, value: int) -> int:
    if value < least:
        raise UsageError(f"{name} must be {least} or more, got {value}.")
    return value


def _choose_direction(direction: str) -> Direction:
    for known in DIRECTIONS:
        if known == direction:
            return known
    raise UsageError(f'--direction must be out, in or both, got "{direction}".')


def _choose_origin(origin: str) -> bool:
    """Whether co-occurrence is walked too."""
    if origin not in ORIGINS:
        raise UsageError(f'--origin must be stated or all, got "{origin}".')
    return origin == "all"
