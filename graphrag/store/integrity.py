"""The check at the end of every run: the tables fit together, and every quote stands where its row says.

`check_integrity` returns the faults in words, one sentence a kind of fault with its count and first example; an empty
list means that the run is sound. What follows from other rows is counted again here: weights, degrees, frequencies,
sizes. Nothing is repaired.

Reads: all tables. Does not: check dtypes or nulls (tables.conform), or read files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from graphrag.tables import TABLES

Frames = Mapping[str, pl.DataFrame]

# table.column -> table.column that must hold the value; null means: none, and is allowed where the table allows it.
FOREIGN_KEYS = {
    "text_units.document_id": "documents.id",
    "entity_mentions.entity_id": "entities.id",
    "entity_mentions.text_unit_id": "text_units.id",
    "entity_mentions.document_id": "documents.id",
    "relationship_mentions.text_unit_id": "text_units.id",
    "relationship_mentions.document_id": "documents.id",
    "relationships.source_id": "entities.id",
    "relationships.target_id": "entities.id",
    "evidence.relationship_id": "relationships.id",
    "evidence.text_unit_id": "text_units.id",
    "evidence.document_id": "documents.id",
    "covariates.text_unit_id": "text_units.id",
    "covariates.subject_id": "entities.title",
    "aliases.entity_id": "entities.id",
    "alias_candidates.entity_id_a": "entities.id",
    "alias_candidates.entity_id_b": "entities.id",
    "entry_relations.from_document_id": "documents.id",
    "entry_relations.to_document_id": "documents.id",
    "entry_relations.event_id": "relationship_events.event_id",
    "links.document_id": "documents.id",
    "links.source_document_id": "documents.id",
    "links.target_document_id": "documents.id",
    "community_reports.community": "communities.community",
    # lists: every element
    "documents.text_unit_ids": "text_units.id",
    "text_units.entity_ids": "entities.id",
    "text_units.relationship_ids": "relationships.id",
    "text_units.covariate_ids": "covariates.id",
    "entities.text_unit_ids": "text_units.id",
    "relationships.text_unit_ids": "text_units.id",
    "communities.children": "communities.community",
    "communities.entity_ids": "entities.id",
    "communities.relationship_ids": "relationships.id",
    "communities.text_unit_ids": "text_units.id",
}
# table -> (column that holds the words of the span, what is done to the slice before it must equal them)
# The surface of these methods is not what stands in the span: a model's own word (index/extraction.py), or a title from
# elsewhere (interop/imported_graph.py); range only.
NOT_VERBATIM = ("llm_unverified", "import")
SPANS = {
    "text_units": ("text", "as_is"),
    "evidence": ("quote", "as_is"),
    "entity_mentions": ("surface", "spaces_collapsed"),
    "relationship_mentions": ("", "range_only"),
}


def check_integrity(frames: Frames) -> list[str]:
    """The faults of a run's tables in words, in a fixed order; absent tables count as empty.

    About 0.3 s for 100,000 evidence rows.
    """
    whole = {name: frames.get(name, table.empty()) for name, table in TABLES.items()}
    checks = (
        _check_keys, _check_foreign_keys, _check_embeddings, _check_lists, _check_spans, _check_titles, _check_evidence,
        _check_degrees, _check_hierarchy, _check_members, _check_reports,
    )  # fmt: skip
    return [fault for check in checks for fault in check(whole)]


def _fault(wrong: pl.DataFrame, table: str, words: str) -> Iterator[str]:
    """One sentence if any row is wrong; the example is the first row's first column (its other columns follow)."""
    if wrong.height:
        example = ", ".join(str(value)[:80] for value in wrong.row(0))
        yield f"{table}: {words} ({wrong.height} {'row' if wrong.height == 1 else 'rows'}, first: {example})"


def _check_keys(frames: Frames) -> Iterator[str]:
    for name, table in TABLES.items():
        frame = frames[name]
        if table.key:
            keys = frame.select(table.key)
            yield from _fault(keys.filter(keys.is_duplicated()), name, f"repeated key {', '.join(table.key)}")
        unique = [column for column in ("human_readable_id",) if column in table.names]
        unique += ["title"] if name == "entities" else []
        unique += ["community"] if name in ("communities", "community_reports") else []
        for column in unique:
            yield from _fault(
                frame.select("id", column).filter(pl.col(column).is_duplicated()), name, f"shared {column}"
            )
    triple = ("source_id", "predicate", "target_id")
    same = frames["relationships"].select("id", *triple)
    yield from _fault(
        same.filter(same.select(triple).is_duplicated()), "relationships", "shared source, predicate, target"
    )


def _check_foreign_keys(frames: Frames) -> Iterator[str]:
    for place, target in FOREIGN_KEYS.items():
        name, column = place.split(".")
        target_name, target_column = target.split(".")
        values = frames[name].select(TABLES[name].key[0], pl.col(column).alias("value"))
        if isinstance(values.schema["value"], pl.List):
            values = values.explode("value")
        known = frames[target_name].select(pl.col(target_column).alias("value")).unique()
        lost = values.drop_nulls("value").join(known, on="value", how="anti", maintain_order="left")
        yield from _fault(lost, place, f"no such row in {target}")


def _check_embeddings(frames: Frames) -> Iterator[str]:
    for owner_table in ("entities", "relationships", "text_units", "community_reports", "documents"):
        owned = frames["embeddings"].filter(pl.col("owner_table") == owner_table).select(pl.col("owner_id").alias("id"))
        lost = owned.join(frames[owner_table].select("id"), on="id", how="anti", maintain_order="left")
        yield from _fault(lost, "embeddings.owner_id", f"no such row in {owner_table}")


def _check_lists(frames: Frames) -> Iterator[str]:
    for place in FOREIGN_KEYS:
        name, column = place.split(".")
        if isinstance(frames[name].schema[column], pl.List):
            repeated = frames[name].filter(pl.col(column).list.n_unique() != pl.col(column).list.len())
            yield from _fault(repeated.select(TABLES[name].key), place, "an id twice")
    listed = frames["documents"].select("id", unit="text_unit_ids").explode("unit").drop_nulls()
    placed = frames["text_units"].select(id="document_id", unit="id")
    yield from _fault(
        listed.join(placed, on=["id", "unit"], how="anti", maintain_order="left"),
        "documents.text_unit_ids", "a text unit of another document",
    )  # fmt: skip
    yield from _fault(
        placed.join(listed, on=["id", "unit"], how="anti", maintain_order="left"),
        "text_units", "not in text_unit_ids of their document",
    )  # fmt: skip
    homes = frames["text_units"].select(text_unit_id="id", home="document_id")
    for name in ("entity_mentions", "evidence", "relationship_mentions"):
        strays = frames[name].join(homes, on="text_unit_id").filter(pl.col("home") != pl.col("document_id"))
        yield from _fault(strays.select("id"), name, "another document than their text unit's")


def _check_spans(frames: Frames) -> Iterator[str]:
    """In Python, not Polars: a Python string is sliced by character in constant time, UTF-8 is not."""
    texts = dict(frames["documents"].select("id", "text").iter_rows())
    for name, (said_column, rule) in SPANS.items():
        frame = frames[name]
        free = set(frame.filter(_is_not_verbatim(name))["id"]) if name in ("entity_mentions", "evidence") else set()
        said = frame[said_column].to_list() if said_column else [""] * frame.height
        outside, differing = [], []
        places = (frame[column].to_list() for column in ("id", "document_id", "start_char", "end_char"))
        for row_id, document_id, start, end, words in zip(*places, said, strict=True):
            text = texts.get(document_id)
            if text is None:
                continue  # a foreign key fault, told there
            if not 0 <= start <= end <= len(text):
                outside.append((row_id, f"{start}..{end} of {len(text)}"))
            elif rule != "range_only" and row_id not in free and words != _said(text[start:end], rule):
                differing.append((row_id, words))
        yield from _fault(_pairs(outside), name, "offsets outside the document")
        yield from _fault(_pairs(differing), f"{name}.{said_column}", "not the slice of documents.text")


def _is_not_verbatim(name: str) -> pl.Expr:
    """Mentions in a model's own words, and notes of authored relations."""
    if name == "entity_mentions":
        return pl.col("method").is_in(NOT_VERBATIM)
    return pl.col("text_unit_id").is_null() & (pl.col("end_char") == 0)


def _said(piece: str, rule: str) -> str:
    return " ".join(piece.split()) if rule == "spaces_collapsed" else piece


def _pairs(rows: list[tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"id": pl.String, "what": pl.String}, orient="row")


def _check_titles(frames: Frames) -> Iterator[str]:
    titles = frames["entities"].select("id", "title")
    for end in ("source", "target"):
        joined = frames["relationships"].join(titles, left_on=f"{end}_id", right_on="id", maintain_order="left")
        wrong = joined.filter(pl.col(end) != pl.col("title")).select("id", end, "title")
        yield from _fault(wrong, f"relationships.{end}", f"not the title of {end}_id")


def _check_evidence(frames: Frames) -> Iterator[str]:
    """weight, n_documents and frequency, counted again."""
    evidence, relationships = frames["evidence"], frames["relationships"]
    bare = relationships.join(evidence, left_on="id", right_on="relationship_id", how="anti", maintain_order="left")
    yield from _fault(bare.select("id", "source", "predicate", "target"), "relationships", "without evidence")
    units = frames["text_units"].select(text_unit_id="id", unit_text="text")
    contents = frames["documents"].select("content_sha256", document_id="id")
    counted = (
        evidence.join(units, on="text_unit_id", how="left")
        .join(contents, on="document_id", how="left")
        .group_by(id="relationship_id")
        .agg(
            # evidence without a text unit (authored, front matter) counts by document
            counted_weight=pl.coalesce("unit_text", pl.lit("document ") + pl.col("content_sha256")).n_unique(),
            counted_documents=pl.col("content_sha256").n_unique(),
        )
    )
    joined = relationships.join(counted, on="id", maintain_order="left")
    wrong = joined.filter(pl.col("weight") != pl.col("counted_weight")).select("id", "weight", "counted_weight")
    yield from _fault(wrong, "relationships.weight", "not the number of distinct text units with evidence")
    wrong = joined.filter(pl.col("n_documents") != pl.col("counted_documents"))
    yield from _fault(
        wrong.select("id", "n_documents", "counted_documents"),
        "relationships.n_documents", "not the number of distinct documents with evidence",
    )  # fmt: skip
    frequency = (
        frames["entities"].select("id", text_unit_id="text_unit_ids").explode("text_unit_id")
        .join(units, on="text_unit_id").group_by("id").agg(counted=pl.col("unit_text").n_unique())
    )  # fmt: skip
    joined = frames["entities"].join(frequency, on="id", how="left", maintain_order="left")
    wrong = joined.filter(pl.col("frequency") != pl.col("counted").fill_null(0)).select("id", "frequency", "counted")
    yield from _fault(wrong, "entities.frequency", "not the number of distinct text units that mention them")


def _check_degrees(frames: Frames) -> Iterator[str]:
    relationships = frames["relationships"]
    typed = relationships.filter((pl.col("origin") != "cooccurrence") & (pl.col("source_id") != pl.col("target_id")))
    ends = [typed.select(id=a, other=b) for a, b in (("source_id", "target_id"), ("target_id", "source_id"))]
    degrees = pl.concat(ends).group_by("id").agg(counted=pl.col("other").n_unique())
    joined = frames["entities"].join(degrees, on="id", how="left", maintain_order="left")
    wrong = joined.filter(pl.col("degree") != pl.col("counted").fill_null(0)).select("id", "degree", "counted")
    yield from _fault(wrong, "entities.degree", "not the number of distinct neighbours")
    degree = frames["entities"].select("id", "degree")
    joined = relationships.join(degree, left_on="source_id", right_on="id", maintain_order="left").join(
        degree, left_on="target_id", right_on="id", suffix="_target", maintain_order="left"
    )
    wrong = joined.filter(pl.col("combined_degree") != pl.col("degree") + pl.col("degree_target"))
    yield from _fault(wrong.select("id", "combined_degree"), "relationships.combined_degree", "not the sum of degrees")


def _check_hierarchy(frames: Frames) -> Iterator[str]:
    """parent and children say the same; a child is one level below its parent."""
    communities = frames["communities"]
    downward = communities.select(parent="community", child="children").explode("child").drop_nulls()
    upward = communities.filter(pl.col("parent") != -1).select("parent", child="community")
    for one, other, words in (
        (downward, upward, "a child whose parent is another"),
        (upward, downward, "not in children of their parent"),
    ):
        lost = one.join(other, on=["parent", "child"], how="anti", maintain_order="left")
        yield from _fault(lost, "communities", words)
    levels = communities.select(parent="community", above="level")
    joined = communities.join(levels, on="parent", how="left", maintain_order="left")
    wrong = joined.filter(
        pl.when(pl.col("parent") == -1)
        .then(pl.col("level") != 0)
        .otherwise((pl.col("level") != pl.col("above") + 1).fill_null(True))
    )
    yield from _fault(wrong.select("community", "level", "parent"), "communities.level", "not one below their parent's")


def _check_members(frames: Frames) -> Iterator[str]:
    """Every entity in one community of level 0, and in one child of each community that it is in and that has any."""
    communities = frames["communities"]
    wrong = communities.filter(pl.col("size") != pl.col("entity_ids").list.len())
    yield from _fault(wrong.select("community", "size"), "communities.size", "not the number of entity_ids")
    members = communities.select("community", "level", "parent", entity="entity_ids").explode("entity").drop_nulls()
    repeated = members.filter(members.select("level", "entity").is_duplicated()).select("entity", "level", "community")
    yield from _fault(repeated, "communities.entity_ids", "in two communities of one level")
    roots = members.filter(pl.col("level") == 0).select(id="entity")
    homeless = frames["entities"].select("id", "title").join(roots, on="id", how="anti", maintain_order="left")
    yield from _fault(homeless, "entities", "in no community of level 0")
    split = communities.filter(pl.col("children").list.len() > 0).select("community")
    above = members.join(split, on="community", how="semi", maintain_order="left").select("community", "entity")
    below = members.filter(pl.col("parent") != -1).select(community="parent", entity="entity")
    for one, other, words in (
        (above, below, "in no child of a community that has children"),
        (below, above, "in a child but not in its parent"),
    ):
        lost = one.join(other, on=["community", "entity"], how="anti", maintain_order="left")
        yield from _fault(lost, "communities.entity_ids", words)
    inner = communities.select("community", relationship="relationship_ids").explode("relationship").drop_nulls()
    ends = frames["relationships"].select("source_id", "target_id", relationship="id")
    inner = inner.join(ends, on="relationship", maintain_order="left")
    inside = members.select("community", entity="entity")
    for end in ("source_id", "target_id"):
        lost = inner.join(
            inside, left_on=["community", end], right_on=["community", "entity"], how="anti", maintain_order="left"
        )
        yield from _fault(
            lost.select("community", "relationship"), "communities.relationship_ids", f"{end} outside the community"
        )


def _check_reports(frames: Frames) -> Iterator[str]:
    shared = ("level", "parent", "children", "size")
    known = frames["communities"].select("community", *(pl.col(name).alias(f"{name}_there") for name in shared))
    joined = frames["community_reports"].join(known, on="community", maintain_order="left")
    for name in shared:
        wrong = joined.filter(pl.col(name) != pl.col(f"{name}_there")).select("community", name, f"{name}_there")
        yield from _fault(wrong, f"community_reports.{name}", "not their community's")
