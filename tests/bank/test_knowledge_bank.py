"""relate, unrelate, learn and relations as a person meets them, on a bank of four notes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from graphrag.bank.knowledge_bank import make_stamp, open_bank
from graphrag.bank.learning import learn
from graphrag.reading.new_notes import read_note
from graphrag.relations.relation_log import read_log
from graphrag.settings_file import load_settings
from graphrag.store import read_usage

from ..cli.test_main import run
from ..runs.test_settling import FAST, Bank

Graphrag = Callable[..., tuple[int, str, str]]
NOTE = "A quorum of two cannot elect a leader when one machine dies; a third voter settles it."


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    bank = Bank(tmp_path)
    (bank.input / "a.md").write_text("# Note a\n\nLogin recipe, cookie jar.\n")
    (bank.input / "b.md").write_text("# Note b\n\nThe session call needs --http1.1 from curl.\n")
    (bank.input / "c.md").write_text("---\naliases: [ADR-7]\n---\n# Note c\n\nRedis holds the sessions of all users.\n")
    bank.index()
    return bank


@pytest.fixture
def graphrag(bank: Bank, capsys: pytest.CaptureFixture[str]) -> Graphrag:
    options = ["--root", str(bank.root), *(f"--set={override}" for override in FAST)]

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(*arguments, *options)
        return code, *capsys.readouterr()

    return call


def test_relate_writes_once_and_says_what(bank: Bank, graphrag: Graphrag) -> None:
    code, out, _ = graphrag("relate", "a", "requires", "b", "--note", "One more condition.", "--by", "ana")
    (event,) = bank.log().events
    assert (code, out) == (0, f"related  a.md requires b.md  (event {event.event_id})\n")
    assert (event.actor, event.source, event.note) == ("ana", "author", "One more condition.")
    code, out, _ = graphrag("relate", "Note a", "requires", "b.md", "--json")
    assert code == 0 and json.loads(out)[0]["action"] == "already_present"
    assert len(bank.log().state().relations) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("relate", "a", "fixes", "b"), 2, 'Unknown relation "fixes". Use one of: cites, see_also, part_of,'),
        (("relate", "a", "cites", "a.md"), 2, "An entry cannot relate to itself: a."),
        (("relate", "a", "cites", "ADR-9"), 3, 'No entry "ADR-9". Nearest: ADR-7.'),
        (("relate", "a", "cites", "b", "--note", "Needs --http1.1 from curl."), 2,
         'The note repeats the target ("--http1.1"). Say how it pertains, not what it says. '
         "Use --allow-leak to keep it."),
        (("relate", "a", "cites", "b", "--source", "me"), 2, 'Unknown source "me". Use one of: author, judge,'),
        (("unrelate", "a", "cites", "b"), 2, "--reason is required to remove a relation."),
        (("unrelate", "a", "cites", "c", "--reason", "x"), 2, 'No relation "a.md cites c.md".'),
        (("relations", "retype", "a", "cites", "b", "requires"), 2, "--reason is required to change the type"),
        (("relations", "undo", "nothing"), 2, 'No event "nothing". See "graphrag relations log".'),
        (("relations", "merge", "a", "a"), 2, "An entry cannot be merged into itself: a.md."),
        (("learn", "--title", "x"), 2, "Give the note as --text or as --file."),
        (("learn", "--title", "x", "--text", "Too short."), 2, "The note has 2 words, fewer than learn.min_words = 6."),
        (("learn", "--title", "x", "--text", NOTE, "--relates", "fixes:a:why"), 2, 'Unknown relation "fixes".'),
        (("learn", "--title", "x", "--text", NOTE, "--relates", "cites:z99"), 3, 'No entry "z99".'),
        (("learn", "--title", "x", "--text", NOTE, "--relates", "cites"), 2, '--relates is "TYPE:ENTRY:note"'),
    ],
)  # fmt: skip
def test_errors_say_what_to_do_and_write_nothing(
    bank: Bank, graphrag: Graphrag, arguments: tuple[str, ...], code: int, said: str
) -> None:
    bank.relate("a cites b")
    before = bank.log_path.read_bytes()
    got, out, err = graphrag(*arguments)
    assert (got, out) == (code, "") and err.startswith(said) and err.count("\n") == 1
    assert bank.log_path.read_bytes() == before and not (bank.input / "learned").exists()


def test_unrelate_and_undo(bank: Bank, graphrag: Graphrag) -> None:
    graphrag("relate", "a", "cites", "b", "--note", "Where it is used.")
    code, out, _ = graphrag("unrelate", "a", "cites", "b", "--reason", "no longer")
    assert code == 0 and out.startswith("removed  a.md cites b.md") and not bank.log().state().relations
    code, out, _ = graphrag("relations", "undo", bank.log().events[-1].event_id)
    (relation,) = bank.log().state().relations.values()
    assert code == 0 and relation.note == "Where it is used."


def test_delete_and_merge_are_one_line_and_names_follow(bank: Bank, graphrag: Graphrag) -> None:
    bank.relate("a requires b", "b requires c", "d cites c")
    code, out, _ = graphrag("relations", "delete", "b", "--reason", "withdrawn")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == ["bridged", "removed", "removed", "deleted"]
    assert len(bank.log().lines) == 4
    code, out, _ = graphrag("relations", "merge", "ADR-7", "b", "--reason", "one topic")
    assert code == 0 and set(bank.log().state().relations) == {("a.md", "requires", "b.md"), ("d.md", "cites", "b.md")}
    code, out, _ = graphrag("relate", "a", "cites", "ADR-7")
    assert code == 0 and "a.md cites b.md" in out


def test_the_file_of_a_deleted_or_merged_entry_stays_and_the_command_says_so(bank: Bank, graphrag: Graphrag) -> None:
    bank.relate("a requires b", "b requires c", "d cites c")
    _, out, err = graphrag("relations", "delete", "b", "--json")
    assert err.count("\n") == 1 and "/b.md stays in the input folder: it is indexed and found as before" in err
    assert json.loads(out)[-1]["action"] == "delete_entry"
    assert "stays in the input folder: search finds it beside a.md" in graphrag("relations", "merge", "d", "a")[2]
    before = bank.log_path.read_bytes()
    bank.index()
    assert bank.related() == {"a requires c", "a cites c"} and bank.tables()["documents"].height == 4
    code, out, _ = graphrag("search", "--basic", "What does the session call need?", "--no-llm")
    assert code == 0 and "--http1.1" in out
    for name in "bd":
        (bank.input / f"{name}.md").unlink()
    bank.index()
    assert bank.log_path.read_bytes() == before, "the log says it all already"


def number_of(bank: Bank, path: str) -> str:
    documents = bank.tables()["documents"].filter(pl.col("path") == path)
    return f"#{documents['human_readable_id'].item()}"


def test_the_number_of_a_merged_entry_leads_to_the_other_even_when_its_file_is_gone(
    bank: Bank, graphrag: Graphrag
) -> None:
    bank.relate("a cites b", "c cites d")
    old, new = number_of(bank, "b.md"), number_of(bank, "d.md")
    entities = bank.tables()["entities"].filter(pl.col("title") == "Note b")
    entity = f"#{entities['human_readable_id'].item()}"
    graphrag("relations", "merge", old, new, "--reason", "one topic", "--source", "judge")
    bank.index()
    tables = bank.tables()
    (alias,) = tables["aliases"].filter(pl.col("surface") == "Note b").to_dicts()
    assert (alias["decided_by"], alias["method"], alias["reason"]) == ("judge", "merge", "Merged into d.md.")
    assert tables["entities"].filter(pl.col("id") == alias["entity_id"])["title"].item() == "Note d"
    code, out, _ = graphrag("relate", old, "requires", "a")
    assert code == 0 and "d.md requires a.md" in out
    (bank.input / "b.md").unlink()
    bank.index()
    for name in (old, "b.md", "b", "Note b"):
        code, out, _ = graphrag("relate", name, "requires", "a")
        assert code == 0 and out.startswith("was there  d.md requires a.md"), name
    assert json.loads(graphrag("impact", entity, "--json")[1])["entity"] == "Note d"
    assert graphrag("impact", "#999")[2] == 'No entity "#999".\n'
    merge = next(event for event in bank.log().events if event.action == "merge")
    (bank.input / "b.md").write_text("# Note b\n\nIt is back.\n")
    graphrag("relations", "undo", merge.event_id)
    bank.index()
    assert bank.related() == {"a cites b", "c cites d", "d requires a"}
    assert bank.tables()["aliases"].filter(pl.col("surface") == "Note b").height == 0
    assert number_of(bank, "b.md") == old, "given once, for life"
    code, out, _ = graphrag("relate", old, "requires", "a")
    assert code == 0 and out.startswith("related  b.md requires a.md")


def test_the_number_of_a_deleted_entry_tells_who_deleted_it(bank: Bank, graphrag: Graphrag) -> None:
    bank.relate("a requires b", "b requires c")
    deleted, removed = number_of(bank, "b.md"), number_of(bank, "d.md")
    graphrag("relations", "delete", deleted, "--reason", "withdrawn", "--by", "ana")
    code, out, _ = graphrag("relate", deleted, "cites", "a")
    assert code == 0 and "b.md cites a.md" in out, "its file is there still"
    graphrag("unrelate", deleted, "cites", "a", "--reason", "only a try")
    for name in "bd":
        (bank.input / f"{name}.md").unlink()
    bank.index()
    at = bank.log().events[-1].at[:10]
    for name in (deleted, "b.md", "b"):
        code, out, err = graphrag("relate", name, "cites", "a")
        assert (code, out) == (3, "")
        assert err == (
            f'No entry "{name}": b.md was deleted by ana on {at} (withdrawn). See "graphrag relations log b.md".\n'
        )
    assert "why: withdrawn" in graphrag("relations", "log", deleted)[1]
    assert graphrag("relate", removed, "cites", "a")[2] == f'No entry "{removed}": d.md is no document any more.\n'
    assert graphrag("relate", "#99", "cites", "a")[2] == 'No entry "#99".\n'


def test_log_tells_who_when_and_why(bank: Bank, graphrag: Graphrag) -> None:
    bank.relate("a requires b", "c cites d")
    graphrag("unrelate", "c", "cites", "d", "--reason", "it does not", "--by", "ben")
    code, out, _ = graphrag("relations", "log", "d")
    assert code == 0 and out.count("[") == 2 and "[ben]\n    why: it does not\n" in out and "a.md" not in out
    code, out, _ = graphrag("relations", "log", "--limit", "1")
    assert out.startswith("... 2 earlier events") and "delete" in out
    code, out, _ = graphrag("relations", "log", "--json")
    assert [row["action"] for row in json.loads(out)] == ["create", "create", "delete"]


def test_a_cut_last_line_is_told_once(bank: Bank, graphrag: Graphrag) -> None:
    bank.relate("a requires b", "c cites d")
    bank.log_path.write_bytes(bank.log_path.read_bytes()[:-9])
    code, out, err = graphrag("relations", "log")
    assert code == 0 and err.count("was cut while it was written") == 1 and "c.md" not in out


def test_check_lists_leaks_and_fails_on_those_not_kept(bank: Bank, graphrag: Graphrag) -> None:
    graphrag("relate", "a", "requires", "b", "--note", "Needs --http1.1 from curl.", "--allow-leak")
    code, out, _ = graphrag("relations", "check")
    assert code == 0 and 'repeats "--http1.1", kept: Needs' in out
    (bank.input / "c.md").write_text("# Note c\n\nUses `volatile` only.\n")
    graphrag("relate", "a", "cites", "c", "--note", "Says what is volatile.")
    bank.index()
    code, out, _ = graphrag("relations", "check", "--json")
    found = json.loads(out)
    assert code == 1 and [(row["repeats"], row["kept"]) for row in found["leaks"]] == [
        ("volatile", False), ("--http1.1", True),
    ]  # fmt: skip


def test_backfill_adds_what_documents_state_and_nobody_wrote_or_removed(bank: Bank, graphrag: Graphrag) -> None:
    (bank.input / "d.md").write_text(
        '---\nsupersedes: "[[a]]"\nrequires: "[[b]]"\n---\n# Note d\n\nIt follows ADR-7, as they say. See [[b]].\n'
    )
    bank.index()
    bank.relate("d cites b")
    graphrag("relate", "d", "requires", "b", "--note", "my own words")
    graphrag("unrelate", "d", "cites", "b", "--reason", "in passing")
    code, out, err = graphrag("relations", "backfill")
    assert code == 0 and out.count("\n") == 2 and "--yes writes them" in err
    graphrag("relations", "backfill", "--yes")
    found = {(r.type, r.to): (r.source, r.note, r.is_leak) for r in bank.log().state().relations.values()}
    assert found == {
        ("cites", "c.md"): ("citation_backfill", "It follows ADR-7, as they say.", False),
        ("supersedes", "a.md"): ("metadata_backfill", "", False),
        ("requires", "b.md"): ("author", "my own words", False),
    }
    assert graphrag("relations", "backfill")[1].startswith("Nothing to add")


def test_a_backfilled_note_that_leaks_is_kept_and_marked(bank: Bank, graphrag: Graphrag) -> None:
    (bank.input / "d.md").write_text("# Note d\n\nADR-7 needs 4711 nodes.\n")
    (bank.input / "c.md").write_text("---\naliases: [ADR-7]\n---\n# Note c\n\nIt needs 4711 nodes.\n")
    bank.index()
    graphrag("relations", "backfill", "--yes")
    (relation,) = bank.log().state().relations.values()
    assert relation.note == "ADR-7 needs 4711 nodes." and relation.is_leak


def test_learn_writes_a_note_and_its_relations(bank: Bank, graphrag: Graphrag) -> None:
    code, out, _ = graphrag(
        "learn", "--title", 'Quorum: "three" voters', "--text", NOTE, "--by", "ana",
        "--relates", "clarifies:ADR-7:Why one more", "--relates", "requires:Note b",
    )  # fmt: skip
    file = bank.input / "learned" / "quorum-three-voters.md"
    assert code == 0 and out.splitlines()[0].endswith("learned/quorum-three-voters.md")
    note = read_note("learned/quorum-three-voters.md", file.read_text())
    assert note.title == 'Quorum: "three" voters' and NOTE in note.text
    assert note.metadata == {
        "title": note.title, "type": "learning", "date": bank.log().events[0].at[:10], "learned_by": "ana",
    }  # fmt: skip
    assert {t[1:] for t in bank.log().state().relations} == {("clarifies", "c.md"), ("requires", "b.md")}
    assert len(bank.log().lines) == 1

    code, out, _ = graphrag("relate", "a", "cites", 'Quorum: "three" voters')
    assert code == 0  # before any run

    bank.index()
    assert bank.related() == {
        "learned/quorum-three-voters clarifies c", "learned/quorum-three-voters requires b",
        "a cites learned/quorum-three-voters",
    }  # fmt: skip


def test_learn_takes_a_free_name_and_reads_files(bank: Bank, graphrag: Graphrag, tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text(f"# Same title\n\n{NOTE}\n")
    graphrag("learn", "--title", "Same title", "--file", str(file))
    code, out, _ = graphrag("learn", "--title", "Same title", "--file", str(file), "--allow-duplicate", "--json")
    assert code == 0 and json.loads(out)["path"] == "learned/same-title-2.md"
    assert (bank.input / "learned" / "same-title.md").read_text().count("# Same title") == 1


@pytest.mark.parametrize(
    ("title", "text", "said"),
    [
        ("Session log of Monday", NOTE, '"Session log" is of the moment (learn.refuse).'),
        ("Quorum", f"{NOTE} I am still debugging it.", '"I am still debugging" is of the moment'),
        ("Quorum", f"{NOTE}\nTODO: ask Ana.", '"TODO" is of the moment'),
        ("Quorum", "\n".join(f"10:0{n} restarted the node {NOTE}" for n in range(5)), "5 of 5 lines look like a log"),
        ("Quorum", "User: how?\nAssistant: so.\nUser: thanks, that is all\n", "3 of 3 lines look like a log"),
        ("Quorum", f"{NOTE} " * 200, "more than learn.max_words = 2000"),
        (" ", NOTE, "A note needs a title."),
    ],
)
def test_logs_and_transient_state_are_refused(bank: Bank, graphrag: Graphrag, title: str, text: str, said: str) -> None:
    code, _, err = graphrag("learn", "--title", title, "--text", text)
    assert code == 2 and said in err and not (bank.input / "learned").exists()


def test_what_the_settings_do_not_refuse_is_kept(bank: Bank, graphrag: Graphrag) -> None:
    code, _, _ = graphrag("learn", "--title", "Session log", "--text", NOTE, "--set", "learn.refuse=[]")
    assert code == 0
    code, _, err = graphrag("learn", "--title", "Log", "--text", NOTE, "--set", 'learn.refuse=["("]')
    assert code == 1 and err.startswith('settings.toml: learn.refuse has "("')


def test_a_near_duplicate_is_pointed_out_and_may_be_superseded(bank: Bank, graphrag: Graphrag) -> None:
    graphrag("learn", "--title", "Quorum of three", "--text", NOTE)
    again = NOTE.replace("settles", "always settles")
    code, _, err = graphrag("learn", "--title", "Quorum once more", "--text", again)
    assert code == 2 and err.startswith('"Quorum of three" (learned/quorum-of-three.md) says much of this')
    assert '--relates "supersedes:learned/quorum-of-three.md:why"' in err and '"clarifies:' in err
    bank.index()
    assert graphrag("learn", "--title", "Quorum once more", "--text", again)[0] == 2  # now of the index
    code, _, _ = graphrag(
        "learn", "--title", "Quorum once more", "--text", again, "--relates", "supersedes:quorum-of-three:Newer words"
    )
    assert code == 0
    assert graphrag("learn", "--title", "Quorum", "--text", again, "--allow-duplicate")[0] == 0


def test_documents_search_folds_and_no_fold_does_not(bank: Bank, graphrag: Graphrag) -> None:
    graphrag("relate", "b", "clarifies", "a", "--note", "One more condition.")
    question = ("search", "--documents", "What does the login recipe say?", "--no-llm", "--json")
    (folded,) = [s for s in json.loads(graphrag(*question)[1])["sources"] if s["path"] == "a.md"]
    assert [(r["path"], r["relation"], r["direction"], r["note"]) for r in folded["related"]] == [
        ("b.md", "clarifies", "in", "One more condition.")
    ]
    flat = json.loads(graphrag(*question, "--no-fold")[1])["sources"]
    assert "a.md" in [source["path"] for source in flat] and not any("related" in source for source in flat)


def test_results_are_counted_pointers_and_neighbors_are_not(bank: Bank, graphrag: Graphrag) -> None:
    for name in "efg":
        (bank.input / f"{name}.md").write_text(f"# Note {name}\n\nThe quota of {name} is a quota of parcels.\n")
    bank.index()
    graphrag("relate", "g", "see_also", "f")
    graphrag("relate", "e", "cites", "b")
    sources = json.loads(graphrag("search", "--basic", "quota of parcels", "--no-llm", "--json")[1])["sources"]
    related = {each["path"] for source in sources for each in source.get("related", ())}
    listed = {source["path"] for source in sources}
    assert "b.md" in related and related - {"b.md"}, "a neighbor, and a pointer"
    counted = read_usage(bank.root / "data" / "output").select("path", "n_listed").rows()
    assert dict(counted) == dict.fromkeys(listed, 1)


def test_relations_read_in_sentences_fold_only_where_the_settings_say_so(bank: Bank, graphrag: Graphrag) -> None:
    (bank.input / "e.md").write_text("---\ntitle: Auth Service\n---\nThe Auth Service requires the Token Cache.\n")
    (bank.input / "f.md").write_text("---\ntitle: Token Cache\n---\nThe Token Cache keeps sessions of the login.\n")
    bank.index()
    question = ("search", "--basic", "What does the Auth Service require?", "--no-llm", "--json")

    def related(*options: str) -> set[tuple[str, str]]:
        sources = json.loads(graphrag(*question, *options)[1])["sources"]
        return {(each["path"], each["relation"]) for source in sources for each in source.get("related", ())}

    assert related() == set()
    graphrag("relate", "a", "cites", "b")
    bank.index()
    assert ("f.md", "requires") not in related()
    assert {("f.md", "requires"), ("e.md", "requires")} & related(
        "--set", "fold.origins=all", "--set", "fold.protect=0"
    )


def test_a_pair_that_somebody_related_is_no_longer_proposed(bank: Bank, graphrag: Graphrag) -> None:
    for name in "ef":
        verb = "calls" if name == "e" else "needs"
        text = f"# Page {name}\n\nThe Ledger Service {verb} Redis. The Ledger Service has an Audit Log.\n"
        (bank.input / f"{name}.md").write_text(text)
    bank.index()

    def proposed() -> list[tuple[str, str]]:
        rows = json.loads(graphrag("sql", "select path_a, path_b from unlinked_but_related", "--json")[1])
        return [(row["path_a"], row["path_b"]) for row in rows]

    assert ("e.md", "f.md") in proposed()
    graphrag("relate", "f", "see_also", "e")
    bank.index()
    assert ("e.md", "f.md") not in proposed()


def test_a_relation_of_a_title_with_colons(bank: Bank, graphrag: Graphrag) -> None:
    (bank.input / "e.md").write_text("# ADR-9: Two: colons\n\nIt is so.\n")
    bank.index()
    code, _, _ = graphrag("learn", "--title", "Q", "--text", NOTE, "--relates", "cites:ADR-9: Two: colons:how: so")
    (relation,) = bank.log().state().relations.values()
    assert code == 0 and (relation.to, relation.note) == ("e.md", "how: so")


def learn_many(root: Path, writer: int) -> None:
    settings, _ = load_settings(root, overrides=FAST, environ={})
    with open_bank(settings, root) as opened:
        for number in range(10_000):
            text = f"{NOTE} Case {number}."
            learn(
                opened, f"Case {writer} {number}", text, make_stamp("agent"), relates=["cites:a:Seen there"],
                allow_duplicate=True,
            )  # fmt: skip


def test_kill_9_in_the_middle_of_learning_leaves_whole_notes_and_a_log_that_replays(bank: Bank) -> None:
    context = multiprocessing.get_context("spawn")
    for attempt in range(3):
        writer = context.Process(target=learn_many, args=(bank.root, attempt))
        writer.start()
        deadline = time.monotonic() + 60
        while len(bank.log().lines) < 15 * (attempt + 1) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        log = read_log(bank.log_path)
        assert len(log.warnings) <= 1
        notes = {f"learned/{file.name}": file for file in (bank.input / "learned").glob("*.md")}
        assert {relation.entry for relation in log.state().relations.values()} <= set(notes)
        assert all(read_note(path, file.read_text()).title for path, file in notes.items())
        assert all(file.read_text().endswith(".\n") for file in notes.values())
    bank.relate("a cites b")
    assert not bank.log().warnings
    bank.index()
    assert bank.tables()["documents"].height == 4 + len(list((bank.input / "learned").glob("*.md")))


def test_what_was_learned_is_found_at_once_and_by_the_next_run_as_any_document(bank: Bank, graphrag: Graphrag) -> None:
    graphrag("learn", "--title", "Quorum of three", "--text", NOTE)
    for mode in ("--basic", "--local", "--documents"):
        code, out, _ = graphrag("search", mode, "Why can a quorum of two not elect a leader?", "--json")
        found = json.loads(out)
        assert code == 0 and found["answered"] and found["sources"][0]["path"] == "learned/quorum-of-three.md"
        assert found["answer"].startswith("Learned since the last run:\n- A quorum of two cannot elect a leader")
    code, out, _ = graphrag("search", "--basic", "Where are the sessions of all users?", "--json")
    assert "Learned since" not in out
    bank.index()
    code, out, _ = graphrag("search", "--basic", "Why can a quorum of two not elect a leader?", "--json")
    found = json.loads(out)
    assert code == 0 and "Learned since" not in found["answer"]
    assert found["sources"][0]["path"] == "learned/quorum-of-three.md" and found["citations"]
