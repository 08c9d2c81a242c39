"""The run of `graphrag import`: tables of other tools, published as an index of ours.

It goes the way of every run: lock, integrity, gates, one atomic switch, a line in runs.jsonl. Its manifest names one
stage, `import`: `graphrag index` refuses to replace such an index by what is in the input folder, unless --full says so
(pipeline.py). Vectors are always made anew, because those of the files come from another model.

`recompute`: from which stage on the files are not followed: disambiguation (names are merged), communities, reports.

Does not: read files (table_files.py) or decide what is kept of them (imported_graph.py, imported_communities.py).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graphrag import store, tables
from graphrag.errors import InputError, UsageError, did_you_mean, shown_path
from graphrag.ids import relationship_id
from graphrag.index.communities import renumber_communities
from graphrag.index.summaries import describe_relationships
from graphrag.interop import imported_communities, table_files
from graphrag.interop.cited_sentences import Citables, narrow_evidence
from graphrag.interop.imported_extraction import read_extraction
from graphrag.interop.imported_graph import ImportedGraph, build_imported_graph
from graphrag.interop.placed_texts import PlacedTexts
from graphrag.pipeline import PIPELINE
from graphrag.progress import Progress, QuietProgress
from graphrag.runs.run import Run, RunSummary, begin_run, finish_run, open_run
from graphrag.runs.run_model import OpenLlm
from graphrag.runs.stage_functions import build_graph
from graphrag.runs.stages import run_stage
from graphrag.settings import Settings
from graphrag.store import IMPORT
from graphrag.tokens import count_tokens

RECOMPUTABLE = ("disambiguation", "communities", "reports")
QUOTING = {"summaries", "reports"}
"""Stages that write what evidence says: of a whole text unit, the sentence nearest to the relationship."""
MAX_NAMED = 5


def run_import(
    settings: Settings,
    root: Path,
    source: Path,
    *,
    recompute: str = "",
    replace: bool = False,
    open_model: OpenLlm | None = None,
    progress: Progress | None = None,
) -> RunSummary:
    """Publish what a folder of tables, or a .jsonl file of extracted records, holds.

    replace: also over an index that was not imported. Raises InputError that names the file and what is wrong with it,
    GateHeld where a gate holds the run.
    """
    if recompute and recompute not in RECOMPUTABLE:
        near = did_you_mean(recompute, RECOMPUTABLE)
        raise UsageError(f'--recompute "{recompute}" is no stage.{near} Use one of: {", ".join(RECOMPUTABLE)}.')
    if not source.exists():
        raise InputError(f"{shown_path(source)}: no such file or folder.")
    with open_run(settings, root, progress=progress or QuietProgress(), open_model=open_model) as run:
        _refuse_replacing(run, replace)
        begin_run(run)
        run.is_full = True
        run.failures[IMPORT] = tables.FAILURES.empty()
        if source.is_file():
            _import_extraction(run, source)
        elif table_files.is_our_export(place := table_files.find_tables_folder(source)):
            _import_export(run, place, recompute)
        else:
            _import_tables(run, source, recompute)
        _run_stages(run, "embeddings")
        run.frames = {name: frame for name, frame in run.frames.items() if name in tables.TABLES}
        run.frames["failures"] = tables.FAILURES.conform(pl.concat(list(run.failures.values())))
        n_failures = run.frames["failures"].height
        run.stages = [{"name": IMPORT, "fingerprint": "", "knobs": {"from": source.name}, "writes": {},
                       "n_failures": n_failures}]  # fmt: skip
        return finish_run(run)


def _refuse_replacing(run: Run, replace: bool) -> None:
    if run.published is not None and not run.published.is_imported and not replace:
        raise InputError(
            f"{shown_path(run.output_dir)} holds an index of documents, which the import would replace. Import into a "
            "folder of its own (graphrag init), or say --replace."
        )


def _run_stages(run: Run, *names: str) -> None:
    for stage in PIPELINE:
        if stage.name in QUOTING & set(names):
            whole = run.frames["evidence"]
            run.frames["evidence"] = narrow_evidence(whole, run.frames["relationships"])
            run_stage(stage, run)
            run.frames["evidence"] = whole
        elif stage.name in names:
            run_stage(stage, run)


def _import_extraction(run: Run, path: Path) -> None:
    if path.suffix != ".jsonl":
        raise InputError(f"{shown_path(path)}: a folder with tables is needed, or a .jsonl file of extracted records.")
    frames = read_extraction(path, max_records=run.settings.extraction.max_records_per_unit, count=count_tokens)
    run.failures["extraction"] = frames.pop("failures").with_columns(run_id=pl.lit(run.run_id))
    run.frames.update(frames)
    _run_stages(
        run, "document_relations", "disambiguation", "judgement", "graph", "summaries", "communities", "reports"
    )


def _import_export(run: Run, place: Path, recompute: str) -> None:
    """Our own tables, as they are."""
    run.frames.update(table_files.read_our_tables(place))
    if recompute == "disambiguation":
        _run_stages(run, "document_relations", "disambiguation", "judgement", "graph", "summaries")
    if recompute in ("disambiguation", "communities"):
        _run_stages(run, "communities")
    if recompute:
        _run_stages(run, "reports")


def _import_tables(run: Run, source: Path, recompute: str) -> None:
    files = table_files.read_table_files(source)
    texts = PlacedTexts(count=count_tokens)
    shapes = {name: files.frames.get(name) for name in ("documents", "text_units")}
    if shapes["text_units"] is not None:
        texts.add_tables(_or_no_documents(shapes["documents"]), shapes["text_units"])
    graph = build_imported_graph(files.frames, files.names, texts)
    run.failures[IMPORT] = tables.FAILURES.from_rows(graph.failures).with_columns(run_id=pl.lit(run.run_id))
    run.frames.update(texts.frames())
    run.frames |= {"entity_mentions": graph.entity_mentions, "relationship_mentions": graph.relationship_mentions}
    run.frames["clusters"] = graph.clusters
    _tell_files(run, files, texts)
    _run_stages(run, "document_relations")
    if recompute == "disambiguation":
        _run_stages(run, "disambiguation", "judgement", "graph", "summaries")
    else:
        run.frames.update(_drop_failures(run))
        _describe_as_in_files(run, graph)
    _add_claims(run, graph.covariates)
    _take_communities(run, files, graph, recompute)


def _or_no_documents(documents: pl.DataFrame | None) -> pl.DataFrame:
    schema = {"id": tables.TEXT, "human_readable_id": tables.INT, "text": tables.TEXT, "title": tables.TEXT,
              "metadata": tables.TEXT, "path": tables.TEXT}  # fmt: skip
    return pl.DataFrame(schema=schema) if documents is None else documents


def _drop_failures(run: Run) -> dict[str, pl.DataFrame]:
    built = dict(build_graph(run))
    run.failures["graph"] = built.pop("failures").with_columns(run_id=pl.lit(run.run_id))
    return built


def _tell_files(run: Run, files: table_files.TableFiles, texts: PlacedTexts) -> None:
    if files.others:
        more = f" and {len(files.others) - MAX_NAMED} more" if len(files.others) > MAX_NAMED else ""
        run.notices.append(f"Not read: {', '.join(files.others[:MAX_NAMED])}{more}.")
    if texts.joined:
        more = f" and {len(texts.joined) - MAX_NAMED} more" if len(texts.joined) > MAX_NAMED else ""
        run.notices.append(
            f"Text units do not stand in the text of {', '.join(texts.joined[:MAX_NAMED])}{more}: it was made of them."
        )


def _describe_as_in_files(run: Run, graph: ImportedGraph) -> None:
    said = {row["id"]: row["description"] for row in graph.entities}
    ids = {row["title"]: row["id"] for row in graph.entities}
    facts = {
        relationship_id(ids[row["source"]], row["predicate"], ids[row["target"]]): row["description"]
        for row in graph.relationships
    }
    entities, relationships = run.frames["entities"], run.frames["relationships"]
    described = describe_relationships(relationships, narrow_evidence(run.frames["evidence"], relationships))
    own = pl.col("id").replace_strict(facts, default="", return_dtype=pl.String)
    run.frames["entities"] = entities.with_columns(
        description=pl.col("id").replace_strict(said, default="", return_dtype=pl.String)
    )
    run.frames["relationships"] = described.with_columns(
        description=pl.when(own != "").then(own).otherwise("description")
    )


def _add_claims(run: Run, covariates: pl.DataFrame) -> None:
    """Those whose subject is still a title: names may have been merged."""
    titles = run.frames["entities"].select(subject_id="title")
    kept = covariates.join(titles, on="subject_id", how="semi", maintain_order="left")
    numbered = store.number_rows({"covariates": kept}, run.output_dir / store.LEDGER)["covariates"]
    listed = numbered.group_by(pl.col("text_unit_id").alias("id")).agg(pl.col("id").sort().alias("covariate_ids"))
    units = run.frames["text_units"].drop("covariate_ids").join(listed, on="id", how="left", maintain_order="left")
    empty = pl.lit([], dtype=tables.TEXTS)
    run.frames["covariates"] = numbered
    run.frames["text_units"] = tables.TEXT_UNITS.conform(
        units.with_columns(pl.col("covariate_ids").fill_null(empty)).select(tables.TEXT_UNITS.names)
    )


def _take_communities(run: Run, files: table_files.TableFiles, graph: ImportedGraph, recompute: str) -> None:
    """Communities and reports of the files, as far as they are there, wanted and a hierarchy."""
    why = f"--recompute {recompute}" if recompute in ("disambiguation", "communities") else ""
    kept = tables.COMMUNITIES.empty()
    if not why:
        kept, why = imported_communities.keep_communities(
            files.frames, run.frames["entities"], run.frames["relationships"]
        )
    if kept.is_empty():
        if "communities" in files.frames and not why.startswith("--"):
            run.notices.append(f"The communities of the files were not kept: {why}. They were made again.")
        _run_stages(run, "communities", "reports")
        return
    numbered = store.number_rows({"communities": kept}, run.output_dir / store.LEDGER)["communities"]
    renumbered = dict(numbered.select("community", "human_readable_id").iter_rows())
    run.frames["communities"], _ = renumber_communities(numbered, tables.FAILURES.empty())
    _tell_unplaced(run)
    if recompute == "reports" or "community_reports" not in files.frames:
        _run_stages(run, "reports")
        return
    citables = Citables(_list_numbers(files, graph), run.frames)
    reports, n_lost, n_removed = imported_communities.keep_reports(
        files.frames["community_reports"], run.frames["communities"], citables, renumbered
    )
    run.frames["community_reports"] = reports
    if n_lost:
        run.notices.append(f"{n_lost} reports of the files are of no community and were left out.")
    if n_removed:
        run.notices.append(f"{n_removed} citations in reports name rows that the files do not hold; removed.")


def _tell_unplaced(run: Run) -> None:
    unplaced = run.frames["communities"].filter(pl.col("title") == tables.UNCONNECTED)
    if unplaced.height:
        run.notices.append(
            f"{unplaced['size'][0]:,} of the entities are in no community of the files (only the largest component was "
            "clustered): --recompute communities places them."
        )


def _list_numbers(files: table_files.TableFiles, graph: ImportedGraph) -> dict[str, list[tuple[int | None, str]]]:
    """By dataset, the number in the files (where there is none, the row's place) and the id here."""
    ids = {row["title"]: row["id"] for row in graph.entities}

    def number(row: dict[str, object], place: int) -> int | None:
        value = row["human_readable_id"]
        return place if value is None else int(str(value))

    units = files.frames["text_units"].to_dicts() if "text_units" in files.frames else []
    claims = files.frames["covariates"].to_dicts() if "covariates" in files.frames else []
    return {
        "Entities": [(number(row, n), row["id"]) for n, row in enumerate(graph.entities)],
        "Relationships": [
            (number(row, n), relationship_id(ids[row["source"]], row["predicate"], ids[row["target"]]))
            for n, row in enumerate(graph.relationships)
        ],
        "Claims": [(number(row, n), row["id"]) for n, row in enumerate(claims)],
        "Sources": [(number(row, n), row["id"]) for n, row in enumerate(units)],
    }
