"""What each stage is given and where its rows go: a function a stage, from the run to the frames it makes.

They fetch frames and settings for the pure stages of graphrag.index, number rows that are shown to people, and ask the
run's model where there is one; `look_at_...` say what a stage depends on beside tables and settings.

Does not: know the order (pipeline.py), skip (stages.py), or write anything but the memo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import orjson
import polars as pl

from graphrag import store, tables, vectors
from graphrag.index import (
    claims,
    communities,
    disambiguation,
    document_relations,
    documents,
    embeddings,
    extraction,
    graph,
    judgement,
    known_names,
    links,
    nlp_extraction,
    reports,
    summaries,
    text_units,
)
from graphrag.index.link_targets import UNRESOLVED, fold_target
from graphrag.naming import entity_types
from graphrag.relations.entry_relations import (
    MergedEntry,
    build_entry_relations,
    build_relationship_events,
    declare_merged,
    name_relationships,
)
from graphrag.relations.events import replay
from graphrag.replies.objects import DIFFERENT, SAME, UNSURE
from graphrag.runs.input_files import hash_input, keep_files, recall_files
from graphrag.runs.run import (
    Frames,
    Run,
    read_last,
)
from graphrag.runs.run_model import RunModel
from graphrag.runs.settling import settle_entries
from graphrag.runs.smart_connections import import_cache, look_at_cache
from graphrag.settings import Settings
from graphrag.tokens import count_tokens

MAX_WARNINGS = 10  # of front matter, that a run prints


def read_documents(run: Run) -> Frames:
    knobs = run.settings.input
    read = documents.read_documents(
        run.input_dir,
        max_file_mb=knobs.max_file_mb,
        id_column=knobs.id_column,
        title_column=knobs.title_column,
        text_column=knobs.text_column,
        ignore=knobs.ignore,
        exclude=[run.output_dir, run.cache_dir, run.relations_path],
        count=count_tokens,
        published=run.published.frame("documents") if run.published else None,
        known=recall_files(run),
        started_ns=run.started_ns,
        advance=run.progress.advance,
    )
    keep_files(run, read.files)
    return {"documents": read.documents, "failures": read.failures}


def look_at_files(run: Run) -> dict[str, str]:
    return {"files": hash_input(run)}


def cut_text_units(run: Run) -> Frames:
    knobs, same = run.settings.text_units, ("text_units",)
    return {
        "text_units": text_units.build_text_units(
            run.frames["documents"],
            read_last(run, "documents", ("id", "kind", "content_sha256"), same=same, same_release=True),
            read_last(run, "text_units", tables.TEXT_UNITS.names, same=same, same_release=True),
            max_tokens=knobs.max_tokens,
            overlap=knobs.overlap,
            count=count_tokens,
        )
    }


def read_links(run: Run) -> Frames:
    knobs = run.settings.links
    built = links.build_links(run.frames["documents"], dialect=knobs.dialect, aliases=knobs.aliases)
    run.notices += built.warnings[:MAX_WARNINGS]
    if len(built.warnings) > MAX_WARNINGS:
        run.notices.append(f"links: {len(built.warnings) - MAX_WARNINGS} more warnings on front matter.")
    missing = built.links.filter(pl.col("status") == UNRESOLVED)["target"]
    n_missing = len({fold_target(target) for target in missing})
    if n_missing:
        targets = f"{n_missing} target{'' if n_missing == 1 else 's'}"
        run.notices.append(f'links: {targets} not found, see "graphrag links --unresolved".')
    return {"links": built.links}


def replay_relations(run: Run) -> Frames:
    """The log with what it will hold after this run: entries whose documents are gone are deleted, or have moved."""
    documents = run.frames["documents"]
    run.settling = settle_entries(run, documents)
    events = [*run.relations.events, *run.settling]
    return {
        "entry_relations": build_entry_relations(replay(events), documents, run.frames["links"]),
        "relationship_events": build_relationship_events(events),
    }


def relate_documents(run: Run) -> Frames:
    frames = run.frames
    return {
        "document_relations": document_relations.relate_documents(
            frames["links"], frames["entry_relations"], frames["documents"], frames["text_units"]
        )
    }


def _list_merged(run: Run) -> list[MergedEntry]:
    """What people merged, sorted."""
    state = replay(run.relations.events)
    return sorted(MergedEntry(entry, state.resolve(entry), *decided) for entry, decided in state.titles.items())


def look_at_relations(run: Run) -> dict[str, str]:
    return {run.settings.links.relations: run.relations.sha256}


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
        map_batches=run.map_batches,
        memo=run.memo,
        rules=run.code,
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
            memo=None if model.is_recorded else run.memo,
            reader=run.code,
            advance=model.advance_of(run.progress),
        )
    )
    return built._asdict()


def disambiguate(run: Run) -> Frames:
    mentions = entity_types.normalise_types(
        run.frames["entity_mentions"],
        type_names=run.settings.disambiguation.type_names,
        known_types=run.settings.extraction.entity_types,
    )
    return _decide_names(run, mentions)._asdict()


def _decide_names(
    run: Run, mentions: pl.DataFrame, verdicts: pl.DataFrame | None = None
) -> disambiguation.Disambiguation:
    """The same knobs with and without verdicts: a verdict is on a pair that the first call has proposed."""
    frames, settings = run.frames, run.settings

    def embed_names(names: Sequence[str]) -> vectors.Matrix:
        return vectors.embed_texts(names, model=vectors.EMBEDDED, processes=run.processes, memo=run.memo)

    return disambiguation.disambiguate_entities(
        mentions,
        frames["relationship_mentions"],
        declare_merged(frames["documents"], _list_merged(run)),
        related=document_relations.list_related(frames["document_relations"]),
        rules=run.rules,
        verdicts=verdicts,
        embed_names=embed_names if compares_meanings(settings) else None,
        max_name_vectors=settings.disambiguation.name_vectors,
    )


def compares_meanings(settings: Settings) -> bool:
    """Whether names are compared by vectors: always those of MiniLM, for which the floors were measured.

    Where a service embeds the texts, no model runs on this machine: MiniLM over names would be a fifth of the CPU.
    """
    model = settings.embeddings.model
    is_local = model != embeddings.NO_MODEL and not vectors.is_service_name(model)
    return is_local and settings.disambiguation.name_vectors > 0 and not vectors.is_available(vectors.EMBEDDED)


def judge(run: Run) -> Frames:
    """What rules left open goes to the model; with its verdicts the names are decided once more."""
    knobs, frames, model = run.settings.disambiguation, run.frames, run.model
    if model is None or not knobs.judge:
        return {}
    judged = model.ask(
        lambda llm: judgement.judge_candidates(
            frames["alias_candidates"],
            frames["clusters"],
            frames["entity_mentions"],
            frames["relationship_mentions"],
            frames["documents"],
            llm=llm,
            prompts=model.judge_prompts,
            max_judged_pairs=knobs.max_judged_pairs,
            memo=None if model.is_recorded else run.memo,
            advance=model.advance_of(run.progress),
        )
    )
    if judged.verdicts.is_empty():
        return {"failures": judged.failures}
    said = Counter(judged.verdicts["verdict"].to_list())
    run.notices.append(
        f"The judge called {said[SAME]} pairs of names the same and {said[DIFFERENT]} different; it was unsure of "
        f"{said[UNSURE]} (graphrag aliases suspects)."
    )
    decided = _decide_names(run, frames["entity_mentions"], judged.verdicts)
    return decided._asdict() | {"failures": judged.failures}


def build_graph(run: Run) -> Frames:
    frames = run.frames
    built = graph.build_graph(
        frames["clusters"], frames["entity_mentions"], frames["relationship_mentions"], frames["text_units"],
        frames["documents"], frames["document_relations"],
    )  # fmt: skip
    numbered = store.number_rows(built._asdict(), run.output_dir / store.LEDGER)
    entity_of = frames["clusters"].select("entity_id", document="document_ids").explode("document")
    events = name_relationships(
        frames["relationship_events"], dict(entity_of.select("document", "entity_id").iter_rows()),
        numbered["relationships"], frames["documents"],
    )  # fmt: skip
    return dict(numbered) | {"relationship_events": events}


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
            advance=model.advance_of(run.progress),
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
            memo=None if model.is_recorded else run.memo,
            advance=model.advance_of(run.progress),
        )
    )
    return built._asdict() | {"relationships": relationships}


def cluster(run: Run) -> Frames:
    knobs, frames, same = run.settings.communities, run.frames, ("communities",)
    clustered = communities.build_communities(
        frames["entities"],
        frames["relationships"],
        frames["evidence"],
        frames["documents"],
        read_last(run, "communities", ("id", "community", "level", "title", "entity_ids"), same=same),
        read_last(run, "relationships", ("source_id", "target_id", "origin", "weight"), same=same),
        max_community_size=knobs.max_community_size,
        quality=knobs.quality,
        resolution=knobs.resolution,
        seed=knobs.seed,
        backend=knobs.backend,
        layer_weights=knobs.layer_weights(),
    )
    run.facts["communities_backend"] = clustered.backend
    numbered = store.number_rows({"communities": clustered.communities}, run.output_dir / store.LEDGER)
    final, failures = communities.renumber_communities(numbered["communities"], clustered.failures)
    return {"communities": final, "failures": failures}


def report(run: Run) -> Frames:
    knobs, frames, model = run.settings.reports, run.frames, run.model
    read = (
        frames["communities"], frames["entities"], frames["relationships"], frames["evidence"], frames["text_units"],
        frames["documents"],
    )  # fmt: skip
    if model is None:
        built = reports.build_extractive_reports(
            *read,
            min_report_size=knobs.min_report_size,
            max_findings=knobs.max_findings,
            memo=run.memo,
            rules=run.code,
        )
        return built._asdict()
    built = model.ask(
        lambda llm: reports.write_reports(
            *read,
            frames["covariates"],
            llm=llm,
            prompts=model.report_prompts,
            context_tokens=knobs.context_tokens,
            max_length=knobs.max_length,
            min_report_size=knobs.min_report_size,
            max_findings=knobs.max_findings,
            advance=model.advance_of(run.progress),
        )
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
        model=run.embedding_model,
        processes=run.processes,
        map_batches=run.map_batches,
        memo=run.memo,
        ask=(lambda texts: model.ask(lambda llm: llm.embed(texts))) if model is not None and is_service else None,
        advance=run.progress.advance,
    )
    # The name as the settings have it: a folder's place on this machine is no part of the tables.
    name = pl.lit(run.settings.embeddings.model).alias("model")
    ours = built.embeddings.with_columns(name)
    found = pl.concat([ours, import_cache(run, dim=int(ours["dim"][0]) if ours.height else 0)])
    return {
        "embeddings": tables.EMBEDDINGS.conform(found.sort("owner_table", "owner_id", maintain_order=True)),
        "failures": built.failures,
    }


def look_at_names(run: Run) -> dict[str, str]:
    """What finds names: the reader of the texts and the names in aliases.toml, where no model reads them."""
    if run.model is not None:
        return {}
    reader = nlp_extraction.fingerprint_parts(run.settings.extraction.nlp)
    return {"the reader of texts": reader, run.settings.disambiguation.aliases: run.rules_sha256}


def look_at_rules(run: Run) -> dict[str, str]:
    """What decides on names: aliases.toml, and the model that says which names mean alike."""
    found = vectors.fingerprint_model(vectors.EMBEDDED) if compares_meanings(run.settings) else "none"
    merged = orjson.dumps([list(entry) for entry in _list_merged(run)]).decode()
    return {
        run.settings.disambiguation.aliases: run.rules_sha256,
        "the model of name vectors": found,
        "merged entries": merged,
    }


def look_at_vectors(run: Run) -> dict[str, str]:
    return {"the embedding model": vectors.fingerprint_model(run.embedding_model), **look_at_cache(run)}
