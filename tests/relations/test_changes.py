"""What each change writes: specs/folding.md, sections 1 and 6."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import UsageError
from graphrag.relations.changes import (
    Stamp,
    create_relation,
    delete_entry,
    delete_relation,
    merge_entries,
    retype_relation,
    undo_event,
)
from graphrag.relations.events import RELATION_TYPES, TRANSITIVE_TYPES, Event, State, check_type, replay
from graphrag.relations.relation_log import RelationLog
from tests.relations.bank import add_line, make_stamp, parse, show, show_log, write_relations

BRIDGES = [
    ("A part_of B, B part_of C", "A part_of C"),
    ("A corrects B, B corrects C", "A see_also C"),
    ("A part_of B, B requires C", "A see_also C"),
    ("A cites B, B cites A", ""),
    ("A requires B, B requires C, A requires C", "A requires C"),
    ("A cites B", ""),
    (
        "A precedes B, D part_of B, B precedes C, B cites E",
        "A precedes C, A see_also E, D see_also C, D see_also E",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), BRIDGES)
def test_deleting_an_entry_bridges_over_it(before: str, after: str) -> None:
    stamp = make_stamp()
    log = write_relations(before, stamp)

    events = delete_entry(log.state(), "B", stamp, reason="out of date")

    assert show_log(add_line(log, events)) == {" ".join(triple) for triple in parse(after)}
    actions = [event.action for event in events]
    assert actions == sorted(actions, key=["bridge", "already_present", "delete", "delete_entry"].index)
    assert actions[-1] == "delete_entry" and actions.count("delete_entry") == 1
    assert actions.count("delete") == len(log.state().around("B"))


def test_a_bridge_that_exists_already_is_told_and_not_written_twice() -> None:
    stamp = make_stamp()
    log = write_relations("A requires B, B requires C, A requires C", stamp)
    events = delete_entry(log.state(), "B", stamp)
    assert (events[0].action, events[0].triple) == ("already_present", ("A", "requires", "C"))
    assert "bridge" not in [event.action for event in events]


def test_a_bridge_tells_what_it_bridges() -> None:
    stamp = make_stamp()
    log = write_relations("A cites B, B owned_by C", stamp, {"A cites B": "its source", "B owned_by C": "since May"})
    bridge = delete_entry(log.state(), "B", stamp)[0]
    assert bridge.source == "bridged"
    assert bridge.payload == {
        "bridged": "B",
        "hops": [
            {"relation": "ev1", "type": "cites", "note": "its source"},
            {"relation": "ev2", "type": "owned_by", "note": "since May"},
        ],
    }


def test_a_bridge_over_a_bridge_holds_it() -> None:
    stamp = make_stamp()
    log = write_relations("A precedes B, B precedes C, C precedes D", stamp)
    log = add_line(log, delete_entry(log.state(), "B", stamp))
    log = add_line(log, delete_entry(log.state(), "C", stamp))
    (relation,) = log.state().relations.values()
    assert relation.triple == ("A", "precedes", "D")
    first = relation.payload["hops"][0]
    assert first["bridged"] == "B" and [hop["relation"] for hop in first["hops"]] == ["ev1", "ev2"]


def test_more_than_200_bridges_need_force() -> None:
    state = State()
    stamp = make_stamp()
    for number in range(20):
        state.take(create_relation(state, (f"in{number:02}", "cites", "e01"), stamp))
    for number in range(21):
        state.take(create_relation(state, ("e01", "cites", f"out{number:02}"), stamp))
    with pytest.raises(UsageError) as error:
        delete_entry(state, "e01", stamp)
    assert str(error.value) == ("Deleting e01 would write 420 bridges. Use --force, or merge it into another entry.")
    assert len(delete_entry(state, "e01", stamp, force=True)) == 420 + 41 + 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A supersedes B, S owned_by T", "A supersedes S, S owned_by T"),
        ("A cites B", "A cites S"),
        ("B cites S, S requires B", ""),
        ("A cites B, A cites S", "A cites S"),
    ],
)
def test_merging_an_entry_moves_its_relations(before: str, after: str) -> None:
    stamp = make_stamp()
    log = write_relations(before, stamp)
    merged = add_line(log, merge_entries(log.state(), "B", "S", stamp, reason="one topic"))

    assert show_log(merged) == {" ".join(triple) for triple in parse(after)}
    assert merged.state().resolve("B") == "S"

    undone = add_line(merged, undo_event(merged, merged.events[-1].event_id, stamp))
    assert show_log(undone) == {" ".join(triple) for triple in parse(before)}
    assert undone.state().resolve("B") == "B"


def test_what_merging_drops_and_finds_is_told() -> None:
    stamp = make_stamp()
    log = write_relations("A cites B, A cites S, B cites S", stamp)
    told = [(event.action, *event.triple) for event in merge_entries(log.state(), "B", "S", stamp)]
    assert told == [
        ("delete", "A", "cites", "B"),
        ("already_present", "A", "cites", "S"),
        ("delete", "B", "cites", "S"),
        ("merge", "B", "", "S"),
    ]


def test_a_moved_relation_keeps_note_and_source() -> None:
    stamp = make_stamp("judge")
    log = write_relations("A cites B", stamp, {"A cites B": "where the figure is from"})
    moved = merge_entries(log.state(), "B", "S", make_stamp("author"))[1]
    assert (moved.note, moved.source) == ("where the figure is from", "judge")


def test_writing_a_relation_again_changes_nothing() -> None:
    stamp = make_stamp()
    log = write_relations("A cites B", stamp, {"A cites B": "first"})
    event = create_relation(log.state(), ("A", "cites", "B"), stamp, note="second")
    assert event.action == "already_present"
    state = add_line(log, [event]).state()
    assert state.relations[("A", "cites", "B")].note == "first" and len(state.relations) == 1


def test_two_types_between_the_same_entries_are_two_relations() -> None:
    assert show_log(write_relations("A cites B, A requires B", make_stamp())) == {"A cites B", "A requires B"}


def test_errors_say_what_to_do() -> None:
    stamp = make_stamp()
    state = write_relations("A cites B", stamp).state()
    with pytest.raises(UsageError, match=r"^An entry cannot relate to itself: e01\.$"):
        create_relation(state, ("e01", "cites", "e01"), stamp)
    with pytest.raises(UsageError, match=r'^Unknown relation "fixes"\. Use one of: cites, see_also, .*owned_by\.$'):
        check_type("fixes")
    with pytest.raises(UsageError, match=r"^--reason is required to remove a relation\.$"):
        delete_relation(state, ("A", "cites", "B"), stamp, reason=" ")
    with pytest.raises(UsageError, match=r"^--reason is required to change the type"):
        retype_relation(state, ("A", "cites", "B"), "requires", stamp, reason="")
    with pytest.raises(UsageError, match=r'^No relation "B cites A"\. There is: A cites B\.$'):
        delete_relation(state, ("B", "cites", "A"), stamp, reason="wrong")


def test_retyping_is_one_event_with_both_types() -> None:
    stamp = make_stamp()
    log = write_relations("A cites B", stamp, {"A cites B": "why"})
    event = retype_relation(log.state(), ("A", "cites", "B"), "requires", stamp, reason="it does")
    assert (event.type, event.payload["old_type"]) == ("requires", "cites")
    log = add_line(log, [event])
    assert show_log(log) == {"A requires B"} and log.state().relations[("A", "requires", "B")].note == "why"
    log = add_line(log, undo_event(log, event.event_id, stamp))
    assert show_log(log) == {"A cites B"}


def test_undo_of_undo_is_told_and_once_only() -> None:
    stamp = make_stamp()
    log = write_relations("A cites B", stamp)
    log = add_line(log, undo_event(log, "ev1", stamp))
    assert show_log(log) == set()
    with pytest.raises(UsageError, match="undone already"):
        undo_event(log, "ev1", stamp)
    log = add_line(log, undo_event(log, log.events[-1].event_id, stamp))
    assert show_log(log) == {"A cites B"}
    with pytest.raises(UsageError, match='No event "ev99"'):
        undo_event(log, "ev99", stamp)


def test_what_somebody_removed_is_remembered() -> None:
    stamp = make_stamp()
    log = write_relations("A cites B", stamp)
    log = add_line(log, [delete_relation(log.state(), ("A", "cites", "B"), stamp, reason="no")])
    assert log.state().refused == {("A", "cites", "B")}


def test_a_rename_there_and_back_leads_to_the_first_name() -> None:
    stamp = make_stamp()
    log = write_relations("A cites B", stamp)
    log = add_line(log, merge_entries(log.state(), "A", "A2", stamp))
    log = add_line(log, merge_entries(log.state(), "A2", "A", stamp))
    state = log.state()
    assert show(state) == {"A cites B"} and state.resolve("A") == "A" and state.resolve("A2") == "A"


TRIPLES = st.tuples(st.sampled_from("ABCDE"), st.sampled_from(RELATION_TYPES), st.sampled_from("ABCDE"))


@st.composite
def logs(draw: st.DrawFn) -> tuple[RelationLog, Stamp]:
    stamp, state, lines = make_stamp(), State(), []
    for triple in draw(st.lists(TRIPLES.filter(lambda t: t[0] != t[2]), max_size=15)):
        event = create_relation(state, triple, stamp)
        state.take(event)
        lines.append((event,))
    return RelationLog(lines), stamp


@given(logs(), st.sampled_from("ABCDE"))
def test_nothing_leads_to_a_deleted_entry_and_undo_restores(found: tuple[RelationLog, Stamp], entry: str) -> None:
    log, stamp = found
    before = log.state()
    events = delete_entry(before, entry, stamp, force=True)
    after = add_line(log, events)
    assert not after.state().around(entry)
    others = {triple for triple in before.relations if entry not in (triple[0], triple[2])}
    assert others <= set(after.state().relations)
    for bridge in (event for event in events if event.action == "bridge"):
        assert bridge.type == "see_also" or bridge.type in TRANSITIVE_TYPES
    undone = add_line(after, undo_event(after, events[-1].event_id, stamp))
    assert set(undone.state().relations) == set(before.relations)


@given(logs(), st.sampled_from("ABCDE"), st.sampled_from("ABCDE"))
def test_undo_of_a_merge_restores(found: tuple[RelationLog, Stamp], entry: str, into: str) -> None:
    log, stamp = found
    if entry == into:
        return
    events = merge_entries(log.state(), entry, into, stamp)
    after = add_line(log, events)
    assert not after.state().around(entry) and all(t[0] != t[2] for t in after.state().relations)
    undone = add_line(after, undo_event(after, events[-1].event_id, stamp))
    assert set(undone.state().relations) == set(log.state().relations)


@given(logs())
def test_replaying_gives_the_same_state(found: tuple[RelationLog, Stamp]) -> None:
    log, _ = found
    events: list[Event] = log.events
    assert replay(events).relations == replay(events).relations
    assert replay([*events, *events]).relations == replay(events).relations
