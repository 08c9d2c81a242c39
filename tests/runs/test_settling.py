"""Files that leave the folder, or move in it, beside relations that people wrote: specs/folding.md 28."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from graphrag.errors import GateHeld
from graphrag.pipeline import run_pipeline
from graphrag.project import create_project
from graphrag.relations.changes import Stamp, create_relation, merge_entries
from graphrag.relations.relation_log import RelationLog, append_events, read_log
from graphrag.runs.run import RunSummary
from graphrag.settings_file import load_settings
from graphrag.store import check_integrity, open_index
from graphrag.tables import TABLES

STAMP = Stamp("ana", "author", "2026-11-30T05:00:00+00:00")
FAST = ("extraction.nlp=lite", "embeddings.model=none")


class Bank:
    """A project of notes a to d, with relations."""

    def __init__(self, root: Path) -> None:
        self.root = root
        create_project(root)
        self.input = root / "data" / "input"
        for name in "abcd":
            (self.input / f"{name}.md").write_text(f"# Note {name}\n\nThe {name} Service calls Redis.\n")

    def relate(self, *relations: str) -> None:
        for words in relations:
            entry, type_, to = words.split()
            triple = (f"{entry}.md", type_, f"{to}.md")
            append_events(self.log_path, lambda log, triple=triple: [create_relation(log.state(), triple, STAMP)])

    @property
    def log_path(self) -> Path:
        return self.root / "relations.jsonl"

    def log(self) -> RelationLog:
        return read_log(self.log_path)

    def index(self, *, full: bool = False) -> RunSummary:
        settings, _ = load_settings(self.root, overrides=FAST, environ={})
        return run_pipeline(settings, self.root, full=full)

    def tables(self) -> dict[str, pl.DataFrame]:
        current = self.root / "data" / "output" / "current"
        return {name: pl.read_parquet(current / f"{name}.parquet") for name in TABLES}

    def related(self) -> set[str]:
        """The relations in the tables, `a cites b`."""
        tables = self.tables()
        assert check_integrity(tables) == []
        names = {row[0]: row[1].removesuffix(".md") for row in tables["documents"].select("id", "path").rows()}
        rows = tables["entry_relations"].select("from_document_id", "type", "to_document_id").rows()
        return {f"{names[entry]} {type_} {names[to]}" for entry, type_, to in rows}


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank(tmp_path)


def test_relations_of_the_log_are_in_the_tables(bank: Bank) -> None:
    bank.relate("a requires b", "b requires c", "a cites d")
    bank.index()
    assert bank.related() == {"a requires b", "b requires c", "a cites d"}
    events = bank.tables()["relationship_events"]
    assert events["action"].to_list() == ["create"] * 3 and events["actor"].unique().to_list() == ["ana"]


def test_a_file_that_is_gone_is_deleted_with_bridges_once(bank: Bank) -> None:
    bank.relate("a requires b", "b requires c")
    bank.index()
    (bank.input / "b.md").unlink()

    summary = bank.index()

    assert bank.related() == {"a requires c"}
    assert "b.md is gone: its relations were deleted, 1 bridged." in summary.notices
    written = bank.log().lines[-1]
    assert [(event.action, event.actor) for event in written] == [
        ("bridge", "index"), ("delete", "index"), ("delete", "index"), ("delete_entry", "index"),
    ]  # fmt: skip
    assert bank.tables()["relationship_events"]["event_id"].to_list() == [e.event_id for e in bank.log().events]
    assert bank.index().status == "unchanged"
    assert bank.log().lines[-1] == written


def test_a_file_that_moved_keeps_its_relations(bank: Bank) -> None:
    bank.relate("a requires b", "b cites c")
    bank.index()
    (bank.input / "b.md").rename(bank.input / "moved.md")
    bank.index()
    assert bank.related() == {"a requires moved", "moved cites c"}
    assert "delete_entry" not in {event.action for event in bank.log().events}
    assert bank.log().state().resolve("b.md") == "moved.md"
    assert bank.index().status == "unchanged"


def test_what_was_not_appended_is_appended_by_the_next_run(bank: Bank) -> None:
    bank.relate("a requires b", "b requires c")
    before = bank.log_path.read_bytes()
    bank.index()
    (bank.input / "b.md").unlink()
    bank.index()
    bank.log_path.write_bytes(before)  # as if the run had been killed after its publish
    bank.index()
    assert bank.log().lines[-1][-1].action == "delete_entry" and bank.related() == {"a requires c"}


def test_a_held_run_deletes_nothing_and_the_next_one_does(bank: Bank) -> None:
    bank.relate("a requires b", "b requires c")
    bank.index()
    before = bank.log_path.read_bytes()
    (bank.input / "b.md").unlink()
    (bank.input / "empty.md").write_bytes(b"")
    held, _ = load_settings(bank.root, overrides=[*FAST, "gates.failed_share=0"], environ={})
    with pytest.raises(GateHeld):
        run_pipeline(held, bank.root)
    assert bank.log_path.read_bytes() == before and bank.related() == {"a requires b", "b requires c"}
    assert bank.index().status == "published"
    assert bank.log().lines[-1][-1].action == "delete_entry" and bank.related() == {"a requires c"}


@pytest.mark.parametrize("moved", [("folder/b.md",), ("folder/b.md", "other/c.md")])
def test_a_rename_is_never_a_deletion(bank: Bank, moved: tuple[str, ...]) -> None:
    bank.relate("a requires b", "b requires c", "c cites a")
    bank.index()
    for path in moved:
        (bank.input / path).parent.mkdir()
        (bank.input / path.split("/")[1]).rename(bank.input / path)
    (bank.input / "d.md").write_text("# Note d\n\nAn edit of the same night.\n")
    bank.index()
    actions = [event.action for event in bank.log().events]
    assert "delete_entry" not in actions and "bridge" not in actions
    assert [event.entry for event in bank.log().events if event.action == "merge"] == [p.split("/")[1] for p in moved]
    assert len(bank.related()) == 3


def test_an_entry_that_is_in_the_folder_but_was_not_read_waits(bank: Bank) -> None:
    (bank.input / "e.md").write_bytes(b"")
    bank.relate("a cites e", "a cites b")
    summary = bank.index()
    assert bank.related() == {"a cites b"} and len(bank.log().lines) == 2
    assert "Relations of e.md wait: no such document was read." in summary.notices
    (bank.input / "e.md").write_text("# Note e\n\nIt is here.\n")
    bank.index()
    assert bank.related() == {"a cites b", "a cites e"}


def test_another_folder_deletes_nothing(bank: Bank) -> None:
    """Nobody has removed the documents of a folder that this run does not read."""
    bank.relate("a requires b", "b requires c")
    bank.index()
    before = bank.log_path.read_bytes()
    other = bank.root / "other"
    other.mkdir()
    (other / "a.md").write_text("# Note a\n\nThe a Service calls Redis.\n")
    settings, _ = load_settings(bank.root, overrides=[*FAST, "input.dir=other"], environ={})
    summary = run_pipeline(settings, bank.root)
    assert bank.log_path.read_bytes() == before and bank.related() == set()
    assert "Relations of b.md, c.md wait: no such document was read." in summary.notices


def test_typed_links_are_relations_too_and_the_log_wins(bank: Bank) -> None:
    (bank.input / "a.md").write_text('---\nsupersedes: "[[b]]"\n---\n# Note a\n\n- requires [[c]] (for login)\n[[d]]\n')
    bank.relate("a supersedes b")
    bank.index()
    assert bank.related() == {"a supersedes b", "a requires c"}
    rows = bank.tables()["entry_relations"].select("type", "origin", "note", "source").rows()
    assert set(rows) == {("supersedes", "authored", "", "author"), ("requires", "link", "for login", "wikilink")}


def test_a_log_in_the_input_folder_is_no_document(tmp_path: Path) -> None:
    bank = Bank(tmp_path)
    settings, _ = load_settings(
        bank.root, overrides=[*FAST, "links.relations=data/input/relations.jsonl"], environ={}
    )  # fmt: skip
    append_events(bank.input / "relations.jsonl", lambda log: [
        create_relation(log.state(), ("a.md", "cites", "b.md"), STAMP)
    ])  # fmt: skip
    run_pipeline(settings, bank.root)
    assert bank.tables()["documents"].height == 4 and bank.related() == {"a cites b"}
    assert run_pipeline(settings, bank.root).status == "unchanged"


def test_authored_relations_are_relationships_with_the_note_as_evidence(bank: Bank) -> None:
    append_events(
        bank.log_path,
        lambda log: [create_relation(log.state(), ("a.md", "requires", "b.md"), STAMP, note="One more condition")],
    )
    bank.index()
    tables = bank.tables()
    assert check_integrity(tables) == []
    (row,) = tables["relationships"].filter(pl.col("origin") == "authored").to_dicts()
    assert (row["source"], row["predicate"], row["target"]) == ("Note a", "requires", "Note b")
    assert (row["weight"], row["n_documents"], row["text_unit_ids"]) == (1.0, 1, [])
    (evidence,) = tables["evidence"].filter(pl.col("relationship_id") == row["id"]).to_dicts()
    paths = dict(tables["documents"].select("id", "path").iter_rows())
    assert (evidence["text_unit_id"], paths[evidence["document_id"]]) == (None, "a.md")
    event = tables["relationship_events"].row(0, named=True)
    assert (evidence["quote"], evidence["description"]) == (
        "One more condition", f"ana, author, event {event['event_id']}",
    )  # fmt: skip
    assert event["relationship_id"] == row["id"]


def test_what_the_text_states_too_is_one_relationship_of_the_strongest_origin(bank: Bank) -> None:
    (bank.input / "a.md").write_text("---\ntitle: Auth Service\n---\nThe Auth Service requires the Token Cache.\n")
    (bank.input / "b.md").write_text("---\ntitle: Token Cache\n---\nThe Token Cache keeps sessions.\n")
    bank.relate("a requires b")
    bank.index()
    tables = bank.tables()
    rows = tables["relationships"].filter(pl.col("predicate") == "requires")
    assert rows.select("source", "target", "origin").rows() == [("Auth Service", "Token Cache", "authored")]
    quotes = tables["evidence"].join(rows, left_on="relationship_id", right_on="id")["quote"].to_list()
    assert sorted(quotes) == ["", "The Auth Service requires the Token Cache."]
    assert rows["weight"].item() == 2.0 and check_integrity(tables) == []


def test_namesakes_keep_their_own_relations(bank: Bank) -> None:
    for name, kind, words in (("a", "place", "lies in Austria"), ("b", "service", "carries messages of Redis")):
        (bank.input / f"{name}.md").write_text(f"---\ntitle: Mercury\ntype: {kind}\n---\nMercury {words}.\n")
    bank.relate("c cites b", "d cites a")
    bank.index()
    rows = bank.tables()["relationships"].filter(pl.col("origin") == "authored").sort("source")
    assert rows["source"].to_list() == ["Note c", "Note d"]
    assert rows["target"].to_list() == ["Mercury (service)", "Mercury (place)"]


def test_a_merged_entry_is_a_name_of_the_other(bank: Bank) -> None:
    bank.relate("a cites b", "c cites d")
    append_events(
        bank.log_path,
        lambda log: merge_entries(log.state(), "b.md", "d.md", STAMP, reason="one topic", title="Old note b"),
    )
    bank.index()
    tables = bank.tables()
    assert check_integrity(tables) == []
    rows = tables["relationships"].filter(pl.col("origin") == "authored").select("source", "target").rows()
    assert sorted(rows) == [("Note a", "Note d"), ("Note c", "Note d")]
    (alias,) = tables["aliases"].filter(pl.col("surface") == "Old note b").to_dicts()
    title = dict(tables["entities"].select("id", "title").iter_rows())[alias["entity_id"]]
    assert (title, alias["decided_by"], alias["method"]) == ("Note d", "user", "merge")
    assert alias["reason"] == "Merged into d.md."
    assert tables["failures"].height == 0 and bank.index().status == "unchanged"


def test_a_merged_title_that_another_document_has_joins_nothing(bank: Bank) -> None:
    (bank.input / "c.md").write_text("# Note b\n\nAnother c Service of the same title.\n")
    bank.relate("a cites b", "c cites d")
    append_events(bank.log_path, lambda log: merge_entries(log.state(), "b.md", "d.md", STAMP, title="Note b"))
    bank.index()
    assert bank.related() == {"a cites d", "c cites d"}
    assert bank.tables()["aliases"].filter(pl.col("method") == "merge").height == 0


def test_views_of_the_work_to_be_done(bank: Bank) -> None:
    (bank.input / "d.md").write_text("---\ntype: Decision\n---\n# Note d\n\nWe chose it.\n")
    bank.relate("a precedes b", "b precedes c", "d produces a")
    bank.index()
    with open_index(bank.root / "data" / "output") as index:
        steps = index.frame("select path, n_before, n_produced from steps_without_successor").rows()
        assert steps == [("c.md", 1, 0), ("d.md", 0, 1)]
        one_branch = index.frame("select path, type, to_path from decisions_with_one_branch").rows()
        assert one_branch == [("d.md", "produces", "a.md")]
        by_source = index.frame("select type, n_relations, n_notes from relations_by_source").rows()
        assert by_source == [("precedes", 2, 0), ("produces", 1, 0)]
        assert index.frame("select from_path, to_path from notes_missing").rows()[0] == ("a.md", "b.md")
