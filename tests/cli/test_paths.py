"""`graphrag impact`, `path`, `neighborhood`, `chains` as a person meets them: R8 line by line, errors, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from graphrag.store import Index, open_index

from ..conftest import ROOT
from ..search.conftest import make_index as make_index
from ..search.context_graph import R8_NAMES, R8_STATED, R8_TEXTS
from .test_main import run

MakeIndex = Callable[..., Index]
Ask = Callable[..., str]


def options(index: Index) -> list[str]:
    return ["--root", str(ROOT), "--set", f"output.dir={index.folder.parent.parent}"]


@pytest.fixture(scope="session")
def r8_options(make_index: MakeIndex) -> list[str]:
    return options(make_index(R8_TEXTS, R8_STATED, aliases=R8_NAMES))


@pytest.fixture
def ask(r8_options: list[str], capsys: pytest.CaptureFixture[str]) -> Ask:
    """ask("impact", "redis") -> what it prints on R8; with code=... the exit code it must have, then stderr too."""

    def ask_r8(*arguments: str, code: int = 0) -> str:
        assert run(*arguments, *r8_options) == code
        printed = capsys.readouterr()
        return printed.out + printed.err

    return ask_r8


def test_impact_of_redis_line_by_line(ask: Ask) -> None:
    assert ask("impact", "redis") == (
        "token cache via Redis <- token cache\n"
        "Auth Service via Redis <- token cache <- Auth Service\n"
        "login flow via Redis <- token cache <- Auth Service <- login flow\n"
        "survives: Billing, Platform Team, PostgreSQL, user database\n"
    )


def test_impact_with_its_receipts(ask: Ask) -> None:
    lines = ask("impact", "redis", "--cite").splitlines()
    assert lines[2:5] == [
        "Auth Service via Redis <- token cache <- Auth Service",
        "  Auth Service -depends_on-> token cache [c2,c8] x2",
        "  token cache -backed_by-> Redis [c3] x1",
    ]
    lines = ask("impact", "redis", "--show-sources", "--max-hops", "1").splitlines()
    assert lines == [
        "token cache via Redis <- token cache",
        "  token cache -backed_by-> Redis [c3] x1",
        '      c3.txt:0-35 "The token cache is backed by Redis."',
        "... and 2 more",
        "survives: Billing, Platform Team, PostgreSQL, user database",
    ]


@pytest.mark.parametrize(
    ("asked", "impacted", "rest"),
    [
        (["postgres"], "user database, Auth Service, Billing, login flow",
         ["survives: Platform Team, Redis, token cache", "not walked: owned_by 1"]),
        (["User DB"], "Auth Service, Billing, login flow",
         ["survives: Platform Team, PostgreSQL, Redis, token cache", "not walked: owned_by 1"]),
        (["login flow"], "",
         ["nothing breaks with login flow",
          "survives: Auth Service, Billing, Platform Team, PostgreSQL, Redis, token cache, user database"]),
        (["the platform team"], "",
         ["nothing breaks with Platform Team",
          "survives: Auth Service, Billing, login flow, PostgreSQL, Redis, token cache, user database",
          "not walked: owned_by 1"]),
        (["Platform Team", "--rels", "all"], "Billing",
         ["survives: Auth Service, login flow, PostgreSQL, Redis, token cache, user database"]),
        (["Platform Team", "--rels", "owned_by"], "Billing",
         ["survives: Auth Service, login flow, PostgreSQL, Redis, token cache, user database",
          "not walked: depends_on 1"]),
        (["redis", "--top", "1"], "token cache",
         ["... and 2 more", "survives: Billing, Platform Team, PostgreSQL, user database"]),
    ],
)  # fmt: skip
def test_impact_and_survivors(ask: Ask, asked: list[str], impacted: str, rest: list[str]) -> None:
    lines = ask("impact", *asked).splitlines()
    n = len(impacted.split(", ")) if impacted else 0
    assert ", ".join(line.split(" via ")[0] for line in lines[:n]) == impacted
    assert lines[n:] == rest


def test_what_neither_works_nor_fails_is_counted_beside_the_survivors(
    make_index: MakeIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = [("a.md", "Billing", "uses", "Redis"), ("b.md", "Billing", "owned_by", "Platform Team"),
             ("c.md", "Ana", "leads", "Platform Team"), ("d.md", "INC-1", "about", "Billing")]  # fmt: skip
    texts = {path: f"{source} {predicate} {target}." for path, source, predicate, target in facts}
    index = make_index(texts, facts, types={"Ana": "person", "INC-1": "incident", "Platform Team": "team"})
    assert run("impact", "Redis", *options(index)) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "survives: Platform Team", "also connected: incident 1, person 1", "not walked: about 1, owned_by 1",
    ]  # fmt: skip
    assert run("impact", "Redis", "--json", "--set", "impact.bystanders=[]", *options(index)) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["title"] for row in found["survives"]] == ["Ana", "INC-1", "Platform Team"] and not found["bystanders"]
    assert index.frame("from survives('redis')").rows() == [("Platform Team",)]


def test_impact_as_json(ask: Ask) -> None:
    found = json.loads(ask("impact", "redis", "--json"))
    assert {key: found[key] for key in ("mode", "question", "entity", "answered", "not_connected", "not_walked")} == {
        "mode": "impact", "question": "redis", "entity": "Redis", "answered": True, "not_connected": 0,
        "not_walked": {},
    }  # fmt: skip
    assert found["impacted"][0] == {
        "rank": 1, "title": "token cache", "hops": 1, "weakest": 1, "total": 1, "path": ["Redis", "token cache"],
        "hop_citations": [
            {
                "source": "token cache", "predicate": "backed_by", "target": "Redis", "weight": 1,
                "evidence": [
                    {"label": "c3", "document": "c3.txt", "start": 0, "end": 35,
                     "quote": "The token cache is backed by Redis."}
                ],
            }
        ],
    }  # fmt: skip
    assert found["survives"][0] == {"title": "Billing", "reason": "no carrying path"}
    assert (found["n_impacted"], found["bystanders"]) == (3, {})
    found = json.loads(ask("impact", "Platform Team", "--json"))
    reasons = {row["title"]: row["reason"] for row in found["survives"]}
    assert reasons["Billing"] == "only through other predicates" and reasons["Redis"] == "no carrying path"


def test_systemic_risk(ask: Ask) -> None:
    assert ask("impact", "--all", "--top", "3").splitlines() == [
        "1. PostgreSQL breaks 4: user database, Auth Service, Billing, login flow",
        "     login flow -depends_on-> Auth Service [c1] x1",
        "     Auth Service -depends_on-> user database [c4] x1",
        "     user database -runs_on-> PostgreSQL [c5] x1",
        "2. Redis breaks 3: token cache, Auth Service, login flow",
        "     login flow -depends_on-> Auth Service [c1] x1",
        "     Auth Service -depends_on-> token cache [c2,c8] x2",
        "     token cache -backed_by-> Redis [c3] x1",
        "3. user database breaks 3: Auth Service, Billing, login flow",
        "     login flow -depends_on-> Auth Service [c1] x1",
        "     Auth Service -depends_on-> user database [c4] x1",
        "... and 2 more",
    ]
    found = json.loads(ask("impact", "--all", "--json"))
    assert [row["n_impacted"] for row in found["entities"]] == [4, 3, 3, 2, 1] and found["is_exact"]


def test_cut_vertices_are_flagged(sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_index(sample_index) as index:
        cuts = set(index.frame("select title from entities where is_cut_vertex")["title"].to_list())
    options = ("--root", str(ROOT), "--set", f"output.dir={sample_index}")
    assert run("impact", "--all", "--top", "20", "--json", *options) == 0
    flagged = {row["title"]: row["is_cut_vertex"] for row in json.loads(capsys.readouterr().out)["entities"]}
    assert flagged == {title: title in cuts for title in flagged} and set(flagged.values()) == {True, False}
    assert run("impact", "--all", "--top", "20", *options) == 0
    assert capsys.readouterr().out.count(" (cut vertex): ") == sum(flagged.values())


def test_path_line_by_line(ask: Ask) -> None:
    assert ask("path", "login flow", "redis") == (
        "login flow -depends_on-> Auth Service [c1] x1\n"
        "Auth Service -depends_on-> token cache [c2,c8] x2\n"
        "token cache -backed_by-> Redis [c3] x1\n"
    )
    assert ask("path", "Redis", "Auth Service", "--direction", "both") == (
        "Redis <-backed_by- token cache [c3] x1\ntoken cache <-depends_on- Auth Service [c2,c8] x2\n"
    )
    found = json.loads(ask("path", "login flow", "redis", "--json", "--all", "3"))
    assert [route["path"] for route in found["routes"]] == [["login flow", "Auth Service", "token cache", "Redis"]]


def test_parallel_relationships_are_all_shown(make_index: MakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {"a.md": "S uses T.", "b.md": "S depends on T.", "d.md": "S needs T.", "c.md": "T is backed by U."}
    facts = [("a.md", "S", "uses", "T"), ("b.md", "S", "depends_on", "T"), ("d.md", "S", "depends_on", "T"),
             ("c.md", "T", "backed_by", "U")]  # fmt: skip
    index = make_index(texts, facts)
    assert run("path", "S", "U", *options(index)) == 0
    assert capsys.readouterr().out == (
        "S -depends_on-> T [b,d] x2\n  S -uses-> T [a] x1\nT -backed_by-> U [c] x1\n"
    )  # fmt: skip


def test_neighborhood(ask: Ask) -> None:
    assert ask("neighborhood", "login flow") == (
        "Neighborhood: 4 entities (2 hops, out, hub-cutoff=15)\n"
        "  - login flow (anchor)\n"
        "  - Auth Service\n"
        "      login flow -depends_on-> Auth Service [c1] x1\n"
        "  - token cache\n"
        "      Auth Service -depends_on-> token cache [c2,c8] x2\n"
        "  - user database\n"
        "      Auth Service -depends_on-> user database [c4] x1\n"
    )
    lines = ask("neighborhood", "Redis", "--direction", "in", "--hub-cutoff", "1", "--top", "2").splitlines()
    assert lines[1:] == [
        "  - Redis (anchor)",
        "  - token cache (hub, 2 links, not expanded)",
        "      Redis <-backed_by- token cache [c3] x1",
    ]
    lines = ask("neighborhood", "token cache", "--direction", "both", "--hub-cutoff", "1", "--top", "1").splitlines()
    assert lines[2:] == ["... and 2 more", "anchor is a hub"]
    found = json.loads(ask("neighborhood", "The Postgres", "--hops", "1", "--direction", "in", "--json"))
    assert [entity["title"] for entity in found["entities"]] == ["PostgreSQL", "user database"]
    assert found["hub_cutoff"] == 15


def test_chains(make_index: MakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [("a.md", "CheckoutAPI", "dispatches_to", "OrderProcessor"),
             ("b.md", "OrderProcessor", "writes_transaction_to", "LegacyLedger"),
             ("c.md", "LegacyLedger", "exposed_to", "CVE-2026-9011")]  # fmt: skip
    texts = {"a.md": "One.", "b.md": "Two.", "c.md": "Three."}
    types = {"CheckoutAPI": "service", "OrderProcessor": "service", "LegacyLedger": "database",
             "CVE-2026-9011": "vulnerability"}  # fmt: skip
    index = make_index(texts, facts, types=types)
    known = options(index)
    assert run("chains", "CheckoutAPI", "--max-depth", "3", *known) == 0
    first, second, third = (
        "(CheckoutAPI) --[DISPATCHES_TO]--> (OrderProcessor)",
        "(OrderProcessor) --[WRITES_TRANSACTION_TO]--> (LegacyLedger)",
        "(LegacyLedger) --[EXPOSED_TO]--> (CVE-2026-9011)",
    )
    assert capsys.readouterr().out == (
        f"  • {first}\n  • {first} -> {second}\n  • {first} -> {second} -> {third}\n"
    )  # fmt: skip
    assert run("chains", "CheckoutAPI", "--max-depth", "3", "--to-type", "VULNERABILITY", "--cite", *known) == 0
    assert capsys.readouterr().out == f"  • {first} [a] x1 -> {second} [b] x1 -> {third} [c] x1\n"
    assert run("chains", "CheckoutAPI", "--to-type", "servce", *known) == 2
    assert 'No entity of type "servce". Did you mean "service"?' in capsys.readouterr().err
    assert run("chains", "CVE-2026-9011", *known) == 3
    assert capsys.readouterr().err == 'No chain from "CVE-2026-9011" within 2 relationships.\n'
    assert run("chains", "CheckoutAPI", "--json", *known) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_chains"] == 2 and found["chains"][1]["depth"] == 2
    assert index.frame("select type, n_entities from entities_by_type").rows() == [
        ("service", 2), ("database", 1), ("vulnerability", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (["impact", "Reddis"], 3, 'No entity "Reddis". Nearest: Redis.'),
        (["impact", "Zzz"], 3, 'No entity "Zzz".'),
        (["path", "Redis", "Billing"], 3, 'No path from "Redis" to "Billing" within 6 hops. Try --direction both.'),
        (["path", "Redis", "Redis"], 2, '"Redis" and "Redis" are the same entity.'),
        (["neighborhood", "Redis", "--hops", "-1"], 2, "--hops must be 0 or more, got -1."),
        (["neighborhood", "Redis", "--direction", "up"], 2, '--direction must be out, in or both, got "up".'),
        (["chains", "Redis", "--max-depth", "-1"], 2, "--max-depth must be 0 or more, got -1."),
        (["impact", "Redis", "--rels", "depends_onn"], 2,
         'No predicate "depends_onn". Did you mean "depends_on"? See graphrag sql "from predicates".'),
        (["impact", "Redis", "--origin", "links"], 2, '--origin must be stated or all, got "links".'),
        (["impact"], 2, 'Say what fails, as in "graphrag impact Redis", or --all.'),
        (["impact", "Redis", "--all"], 2, 'Say what fails, as in "graphrag impact Redis", or --all.'),
    ],
)  # fmt: skip
def test_errors_are_one_line(ask: Ask, asked: list[str], code: int, message: str) -> None:
    assert ask(*asked, code=code) == message + "\n"


def test_an_ambiguous_name_lists_its_meanings(make_index: MakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [("a.md", "A", "uses", "Mercury (planet)"), ("b.md", "B", "uses", "Mercury (metal)")]
    names = {"Mercury (planet)": ["Mercury"], "Mercury (metal)": ["Mercury"]}
    index = make_index({"a.md": "One.", "b.md": "Two."}, facts, aliases=names)
    assert run("impact", "Mercury", *options(index)) == 2
    assert capsys.readouterr().err == (
        '"Mercury" is ambiguous: Mercury (metal), Mercury (planet). Use one of these.\n'
    )  # fmt: skip


def test_a_cycle_breaks_everything_but_itself_once(make_index: MakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [("a.md", "A1", "depends_on", "B1"), ("b.md", "B1", "depends_on", "A1"), ("c.md", "C1", "depends_on", "B1")]
    index = make_index({path: f"{a} depends on {b}." for path, a, _, b in facts}, facts)
    assert run("impact", "A1", *options(index)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "B1 via A1 <- B1", "C1 via A1 <- B1 <- C1", "survives: nothing in this component",
    ]  # fmt: skip


def test_an_alias_of_twenty_entities_chooses_none(make_index: MakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    titles = [f"Gateway {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"]
    facts = [("a.md", title, "uses", "Redis") for title in titles]
    index = make_index({"a.md": "Gateways use Redis."}, facts, aliases={title: ["the edge"] for title in titles})
    assert run("neighborhood", "the edge", *options(index)) == 2
    assert capsys.readouterr().err == f'"the edge" is ambiguous: {", ".join(titles)}. Use one of these.\n'


def test_without_an_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("impact", "Redis", "--root", str(ROOT), "--set", f"output.dir={tmp_path}") == 1
    assert 'Run "graphrag index" first.' in capsys.readouterr().err


def test_what_breaks_with_redis_in_the_sample(sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = ["--root", str(ROOT), "--set", f"output.dir={sample_index}"]
    assert run("impact", "Redis", "--json", *known) == 0
    found = json.loads(capsys.readouterr().out)
    assert [" <- ".join(entity["path"]) for entity in found["impacted"]] == [
        "Redis <- Notification Service",
        "Redis <- token cache",
        "Redis <- token cache <- Auth Service",
        "Redis <- token cache <- Auth Service <- login flow",
    ]
    assert all(hop["evidence"] for entity in found["impacted"] for hop in entity["hop_citations"])
    survivors = [row["title"] for row in found["survives"]]
    assert "Billing" in survivors and "Auth Service" not in survivors
    assert run("impact", "--all", "--top", "1", *known) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("1. vm-lju-07 breaks ")


def test_only_what_matching_documents_say_is_walked(ask: Ask) -> None:
    where = ["--where", "regexp_matches(path, '^c[13]\\.')"]
    assert ask("impact", "redis", *where) == (
        "token cache via Redis <- token cache\n"
        "survives: nothing in this component\n"
        "not connected: 2\n"
        "2 of 8 documents match --where.\n"
    )
    assert ask("path", "login flow", "redis", *where, code=3).startswith("2 of 8 documents match --where.\nNo path")
    assert ask("neighborhood", "login flow", *where).count("Auth Service") >= 1
    assert "token cache" not in ask("chains", "login flow", "--max-depth", "5", *where)
