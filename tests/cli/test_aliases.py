"""`graphrag aliases` as a person meets it: what it shows of the sample, what it edits, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from graphrag.cli import aliases as aliases_commands

from ..conftest import ROOT
from .test_main import run

Aliases = Callable[..., tuple[int, str, str]]
RULES = (ROOT / "data" / "sample" / "aliases.toml").read_text(encoding="utf-8")


@pytest.fixture
def rules_file(tmp_path: Path) -> Path:
    path = tmp_path / "aliases.toml"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.fixture
def aliases(sample_index: Path, rules_file: Path, capsys: pytest.CaptureFixture[str]) -> Aliases:
    """Runs a sub-command on the sample with a copy of its aliases.toml: exit code, stdout, stderr."""
    options = [
        "--root",
        str(ROOT),
        "--set",
        f"output.dir={sample_index}",
        "--set",
        f"disambiguation.aliases={rules_file}",
    ]

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run("aliases", *arguments, *options)
        return code, *capsys.readouterr()

    return call


def test_show_says_who_decided_on_each_name(aliases: Aliases) -> None:
    code, out, _ = aliases("show", "k8s")
    assert code == 0
    assert out.startswith("Kubernetes (#")
    assert "\n  Kubernetes    3         title\n" in out
    assert "aliases.toml, line 12: always (user)" in out
    _, out, _ = aliases("show", "Ana Kovač")
    assert "Given name of the person named in full. (given_name, rule)" in out
    assert "Front matter of people/ana-kovac.md. (frontmatter, user)" in out
    number = out.partition("#")[2].partition(")")[0]
    assert aliases("show", f"#{number}")[1] == out


def test_show_of_a_name_that_two_entities_bear_shows_both(aliases: Aliases) -> None:
    _, out, _ = aliases("show", "mercury")
    assert "Mercury (place) (#" in out and "Mercury (service) (#" in out
    assert "types and neighbourhoods differ" in out
    _, out, _ = aliases("show", "Mercury", "--json")
    found = json.loads(out)
    assert [one["title"] for one in found] == ["Mercury (place)", "Mercury (service)"]
    assert {"surface", "mentions", "method", "decided_by", "reason", "score"} <= set(found[0]["names"][0])


def test_suspects_are_those_of_the_view(aliases: Aliases) -> None:
    _, out, _ = aliases("suspects", "--json")
    pairs = {(row["title_a"], row["title_b"]) for row in json.loads(out)}
    assert ("React", "React Native") in pairs
    _, out, _ = aliases("suspects", "--top", "1")
    assert "more (--top)" in out and "graphrag aliases merge" in out


def test_merge_shows_what_it_would_do_and_writes_only_when_told(aliases: Aliases, rules_file: Path) -> None:
    code, out, _ = aliases("merge", "Redis", "Redis Cluster")
    assert code == 0 and out.endswith("Not written. Add --yes to write it.\n")
    assert rules_file.read_text(encoding="utf-8") == RULES
    assert 'of "Redis Cluster": Redis Cluster -> Redis' in out
    assert '    + title = "Redis"\n    + names = ["Redis Cluster"]\n' in out
    _, out, _ = aliases("merge", "Redis", "Redis Cluster", "--yes")
    assert 'To undo, afterwards: graphrag aliases split "Redis Cluster"' in out
    written = rules_file.read_text(encoding="utf-8")
    assert written == RULES + '\n[[always]]\ntitle = "Redis"\nnames = ["Redis Cluster"]\n'
    assert not list(rules_file.parent.glob("*.new"))


def test_what_the_file_says_already_is_not_written_twice(aliases: Aliases, rules_file: Path) -> None:
    for arguments in (("merge", "Redis", "Redis Cluster"), ("split", "AWS")):
        assert aliases(*arguments, "--yes")[0] == 0
        before = rules_file.read_text(encoding="utf-8")
        code, _, err = aliases(*arguments, "--yes")
        assert code == 2 and 'says so already. Run "graphrag index" to apply it.' in err
        assert rules_file.read_text(encoding="utf-8") == before


def test_a_question_is_asked_on_a_terminal(aliases: Aliases, rules_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    answers = iter([False, True])
    monkeypatch.setattr(aliases_commands.typer, "confirm", lambda _: next(answers))
    _, out, _ = aliases("split", "K8s")
    assert out.endswith("Not written.\n") and rules_file.read_text(encoding="utf-8") == RULES
    _, out, _ = aliases("split", "K8s")
    assert "Written." in out and '["Kubernetes", "K8s"]' in rules_file.read_text(encoding="utf-8")


def test_merge_takes_the_never_rule_away_that_stands_against_it(aliases: Aliases) -> None:
    _, out, _ = aliases("merge", "Redis", "Redis Sentinel", "--json")
    change = json.loads(out)
    assert change["diff"] == [
        "-[[never]]",
        '-names = ["Redis", "Redis Sentinel"]',
        "+[[always]]",
        '+title = "Redis"',
        '+names = ["Redis Sentinel"]',
    ]
    assert change["written"] is False
    before, after = change["entities"]
    assert before - after == 1
    assert change["moves"] == [
        {"surface": "Redis Sentinel", "mentions": 7, "before": "Redis Sentinel", "after": "Redis"}
    ]


@pytest.mark.parametrize(
    ("surface", "diff"),
    [
        # A declared name that nothing else joins: less is enough.
        ("Kube cluster", ['-names = ["K8s", "Kube cluster"]', '+names = ["K8s"]']),
        # A rule would join it all the same.
        ("K8s", ['-names = ["K8s", "Kube cluster"]', '+names = ["Kube cluster"]', "+[[never]]",
                 '+names = ["Kubernetes", "K8s"]']),
        # The front matter of its note declares it too.
        ("User DB", ["-[[always]]", '-title = "user database"', '-names = ["User DB"]', "+[[never]]",
                     '+names = ["user database", "User DB"]']),
        # By rule, by key, by front matter.
        ("AWS", ["+[[never]]", '+names = ["Amazon Web Services", "AWS"]']),
        ("AuthService", ["+[[never]]", '+names = ["Auth Service", "AuthService"]']),
        ("A. Kovač", ["+[[never]]", '+names = ["Ana Kovač", "A. Kovač"]']),
    ],
)  # fmt: skip
def test_split_changes_as_little_as_it_can(aliases: Aliases, surface: str, diff: list[str]) -> None:
    _, out, err = aliases("split", surface, "--json")
    assert err == ""
    change = json.loads(out)
    assert change["diff"] == diff
    before, after = change["entities"]
    assert after - before == 1
    assert surface in {move["surface"] for move in change["moves"]}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "Kubernets"], 3, 'No entity "Kubernets". Nearest: Kubernetes'),
        (["merge", "Redis", "Kubernets"], 3, "Nearest: Kubernetes"),
        (["merge", "K8s", "Kubernetes"], 2, "are one entity already: Kubernetes."),
        (
            ["merge", "Mercury", "Redis"],
            2,
            '"Mercury" is the name of 2 entities: "Mercury (place)", "Mercury (service)"',
        ),
        (["merge", "Mercury (place)", "Mercury (service)"], 2, "a name that namesakes share cannot say"),
        (["split", "Kubernetes"], 2, "is the title. Split off one of its other names: K8s, Kube cluster."),
        (["split", "Redis"], 2, '"Redis" has no other names'),
        (["spilt", "Redis"], 2, "No such command 'spilt'. Did you mean 'split'?"),
    ],
)
def test_refusals_are_one_line_that_says_why(
    aliases: Aliases, rules_file: Path, arguments: list[str], code: int, message: str
) -> None:
    found, _, err = aliases(*arguments)
    assert (found, err.count("\n")) == (code, 1)
    assert message in err
    assert rules_file.read_text(encoding="utf-8") == RULES


def test_rules_that_contradict_each_other_are_named_by_line(aliases: Aliases, rules_file: Path) -> None:
    rules_file.write_text('[[never]]\nnames = ["Redis", "PostgreSQL", "Warehouse"]\n', encoding="utf-8")
    code, _, err = aliases("merge", "Redis", "Postgres")
    assert code == 1 and "line 1 (never) keeps more names apart than these two" in err
    two = '[[always]]\ntitle = "Redis"\nnames = ["Kafka"]\n[[always]]\ntitle = "Cache"\nnames = ["Redis Cluster"]\n'
    rules_file.write_text(two, encoding="utf-8")
    code, _, err = aliases("merge", "Redis", "Redis Cluster", "--yes")
    assert code == 1 and 'lines 1 and 4 give one entity two titles, "Redis" and "Cache"' in err
    assert rules_file.read_text(encoding="utf-8") == two


def test_a_file_that_is_not_there_is_made(aliases: Aliases, rules_file: Path) -> None:
    rules_file.unlink()
    aliases("merge", "Redis", "Redis Cluster", "--yes")
    assert rules_file.read_text(encoding="utf-8") == '[[always]]\ntitle = "Redis"\nnames = ["Redis Cluster"]\n'


def test_help_has_an_example_each(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "suspects", "merge", "split"):
        assert run("aliases", command, "--help") == 0
        assert f"Example: graphrag aliases {command}" in capsys.readouterr().out
