"""The runs that are kept: what differs, what is live, what a gate holds and a person publishes all the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphrag.cli.main import main
from graphrag.errors import GateHeld, NoIndex, StoreError
from graphrag.render.runs import render_diff
from graphrag.runs.history import diff_runs, list_history, publish_by_hand
from graphrag.store import list_runs, lock_output
from graphrag.store.runs import read_manifest

from ..test_nights import TRIANGLE, Nights


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path)


def output(nights: Nights) -> Path:
    return nights.root / "data" / "output"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def test_diff_roll_back_and_forth(nights: Nights, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(nights.root)
    with pytest.raises(NoIndex):
        diff_runs(output(nights))
    first = nights.night().run_id
    with pytest.raises(StoreError, match=f"No run older than {first} is kept"):
        diff_runs(output(nights))
    (nights.input / "b.md").unlink()
    nights.write(d=TRIANGLE)
    summary = nights.night()
    second = summary.run_id
    assert summary.changes["documents"] == {"added": 1, "removed": 1}
    assert summary.changes["entities"] == {"added": 3, "removed": 3}
    shown = render_diff(diff_runs(output(nights)), limit=2)
    assert shown.startswith(
        f"{first} -> {second}\n\ndocuments: 1 added, 1 removed\n  + d.md\n  - b.md\n\nentities: 3 added"
    )
    assert "  + Vixen\n    and 4 more (--limit 0 shows all)\n" in shown
    told = nights.tables()["run_changes"].drop("run_id")
    assert told.equals(diff_runs(output(nights), first, second).changes.drop("run_id"))
    back = diff_runs(output(nights), second, first).changes
    assert back.filter(back["table"] == "documents").select("change", "label").rows() == [
        ("added", "b.md"), ("removed", "d.md"),
    ]  # fmt: skip

    assert run("publish", first, "--root", root) == 0
    assert capsys.readouterr().out.startswith(f"Run {first} is live. Before: {second}.")
    assert nights.run_id == first and "Xeno" in set(nights.tables()["entities"]["title"])
    history = list_history(output(nights)).select("run_id", "place").rows()
    assert history == [(second, "kept"), (first, "live")]
    assert run("diff", second, "--json", "--root", root) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["before"], said["after"]) == (second, first)
    assert said["counts"]["documents"] == {"added": 1, "removed": 1}
    assert {"table": "documents", "change": "added", "label": "b.md", "detail": ""}.items() <= said["changes"][
        0
    ].items()
    nights.night()  # the documents are what they are: the next run publishes them again, and asks nothing
    assert nights.calls == {} and "Vixen" in set(nights.tables()["entities"]["title"])


def test_a_run_that_is_not_kept_cannot_be_published(nights: Nights, capsys: pytest.CaptureFixture[str]) -> None:
    run_id = nights.night().run_id
    assert run("publish", run_id[:-1] + "x", "--root", str(nights.root)) == 1
    assert f'Did you mean "{run_id}"? See "graphrag runs".' in capsys.readouterr().err
    with lock_output(output(nights)), pytest.raises(StoreError, match="Another run holds"):
        publish_by_hand(output(nights), run_id)
    assert run("publish", run_id, "--root", str(nights.root)) == 0
    assert "It was live already." in capsys.readouterr().out


def test_a_held_run_is_published_by_hand(nights: Nights, capsys: pytest.CaptureFixture[str]) -> None:
    first = nights.night().run_id
    for number in range(4):
        (nights.input / f"{number}.txt").write_bytes(b"\x00\xff\xfe\x00binary" * 40)
    nights.write(d=TRIANGLE)
    with pytest.raises(GateHeld, match="4 of 8 files could not be read whole") as held:
        nights.night("gates.failed_share=0.2")
    second = list_runs(output(nights))[-1]
    assert f'"graphrag publish {second}"' in str(held.value) and nights.run_id == first
    assert list_history(output(nights)).select("status", "place").rows() == [("held", "kept"), ("published", "live")]
    assert run("publish", second, "--root", str(nights.root)) == 0
    assert nights.run_id == second and "Vixen" in set(nights.tables()["entities"]["title"])
    history = list_history(output(nights)).select("status", "place").rows()
    assert history == [("published", "live"), ("published", "kept")]
    assert run("runs", "--root", str(nights.root)) == 0
    assert "live" in capsys.readouterr().out
    assert nights.night("gates.failed_share=0.2").status == "unchanged"  # what was let through stays


def test_held_nights_do_not_push_out_what_one_can_go_back_to(nights: Nights) -> None:
    published = []
    for number in range(3):
        nights.write(a=f"# Alpha\n\nAlpha depends on Beta{number}.\n")
        published.append(nights.night("output.keep_runs=2").run_id)
    assert list_runs(output(nights)) == published[1:]
    held = []
    for number in range(3):
        nights.write(c=f"# Pine\n\nPine depends on Quartz{number}.\n")
        (nights.input / "0.txt").write_bytes(b"\x00\xff\xfe\x00binary" * 40)
        with pytest.raises(GateHeld):
            nights.night("output.keep_runs=2", "gates.failed_share=0")
        held.append(list_history(output(nights))["run_id"][0])
    assert list_runs(output(nights)) == [*published[1:], held[-1]]
    manifest = read_manifest(output(nights))
    assert manifest is not None and manifest["run_id"] == published[-1]


def test_a_killed_night_is_seen_and_closed_by_the_next(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        """Stands for kill -9: nothing of ours may catch it."""

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("graphrag.store.write_run", die)
        with pytest.raises(Killed):
            nights.night()
    assert list_history(output(nights)).select("status", "finished_at").rows() == [("running", None)]
    nights.night()
    assert nights.calls == {}  # all that was asked is in the memo
    assert list_history(output(nights)).select("status", "place").rows() == [("published", "live"), ("incomplete", "")]
