"""Files of a vault are changed whole, as they were encoded, or not at all."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from graphrag.errors import InputError
from graphrag.index.link_targets import LinkTargets
from graphrag.vault import note_files
from graphrag.vault.link_proposals import LinkWriter, Proposal, apply_proposal, propose_mention, propose_similar
from graphrag.vault.note_files import write_links, write_pages

WRITER = LinkWriter(LinkTargets(["a.md", "b.md", "Redis.md", "Kafka.md"]))
TEXT = "# A\n\nOn Redis and Kafka.\n"
LINKED = "# A\n\nOn [[Redis]] and Kafka.\n"


def propose(path: str = "a.md", target: str = "Redis.md") -> Proposal:
    found = propose_mention(WRITER, path, TEXT, target, [target[:-3]])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("data", "expected", "why"),
    [
        (TEXT.encode(), LINKED.encode(), ""),
        (codecs.BOM_UTF8 + TEXT.encode(), codecs.BOM_UTF8 + LINKED.encode(), ""),
        (TEXT.replace("\n", "\r\n").encode(), LINKED.replace("\n", "\r\n").encode(), ""),
        (TEXT.encode() + b"a\r\nb\n", None, "the file mixes line ends"),
        (TEXT.replace("\n", "\r").encode(), None, "the file mixes line ends"),
        (TEXT.encode() + b"caf\xe9\n", None, "the file is not UTF-8"),
        (LINKED.encode(), None, "the link is there, or the words are not"),
        (b"Nothing of it.\n", None, "the link is there, or the words are not"),
    ],
)
def test_a_file_keeps_its_mark_line_ends_and_rights(
    tmp_path: Path, data: bytes, expected: bytes | None, why: str
) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(data)
    file.chmod(0o640)
    (change,) = write_links([propose()], {"a.md": file}, WRITER)
    assert (change.why, file.read_bytes()) == (why, data if expected is None else expected)
    assert file.stat().st_mode & 0o777 == 0o640 and [child.name for child in tmp_path.iterdir()] == ["a.md"]


def test_several_links_of_one_note_and_of_several_are_written_once(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("a.md", "b.md")}
    for file in files.values():
        file.write_text(TEXT, encoding="utf-8")
    similar = propose_similar(WRITER, "b.md", TEXT, "Redis.md", "alike")
    assert similar is not None
    accepted = [propose(), propose(target="Kafka.md"), similar, propose("gone.md")]
    assert [change.why for change in write_links(accepted, files, WRITER)] == ["", "", "", "the file is gone"]
    assert files["a.md"].read_text("utf-8") == "# A\n\nOn [[Redis]] and [[Kafka]].\n"
    assert files["b.md"].read_text("utf-8") == f"{TEXT}\n## See also\n\n- [[Redis]]\n"
    before = {name: file.read_bytes() for name, file in files.items()}
    assert all(change.why for change in write_links(accepted, files, WRITER))
    assert {name: file.read_bytes() for name, file in files.items()} == before


def test_links_with_labels_may_stand_on_one_line(tmp_path: Path) -> None:
    file, text = tmp_path / "a.md", "Redis feeds Kafka.\n"
    file.write_text(text, encoding="utf-8")
    writer = LinkWriter(LinkTargets(["a.md", "x/redis.md", "x/kafka.md"]))
    found = [propose_mention(writer, "a.md", text, f"x/{name.lower()}.md", [name]) for name in ("Redis", "Kafka")]
    changes = write_links([proposal for proposal in found if proposal], {"a.md": file}, writer)
    assert [change.why for change in changes] == ["", ""]
    assert file.read_text("utf-8") == "[[redis|Redis]] feeds [[kafka|Kafka]].\n"


def test_a_file_that_somebody_saves_meanwhile_stays_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.md"
    file.write_text(TEXT, encoding="utf-8")

    def save_meanwhile(writer: LinkWriter, proposal: Proposal, text: str) -> str | None:
        file.write_text("theirs", encoding="utf-8")
        return apply_proposal(writer, proposal, text)

    monkeypatch.setattr(note_files, "apply_proposal", save_meanwhile)
    (change,) = write_links([propose()], {"a.md": file}, WRITER)
    assert (change.why, file.read_text("utf-8")) == ("the file has changed meanwhile", "theirs")
    assert [child.name for child in tmp_path.iterdir()] == ["a.md"]


def test_pages_are_written_once_and_never_over_a_note(tmp_path: Path) -> None:
    page = "# Vault index\n\n2 notes · 1 links · 0 unresolved · sha256 f88159677ba4\n"
    pages = {"VAULT_INDEX.md": page, "index/guides.md": page}
    assert [is_new for _, is_new in write_pages(pages, tmp_path)] == [True, True]
    stamps = [(tmp_path / name).stat().st_mtime_ns for name in pages]
    assert [is_new for _, is_new in write_pages(pages, tmp_path)] == [False, False]
    assert [(tmp_path / name).stat().st_mtime_ns for name in pages] == stamps
    (tmp_path / "index" / "guides.md").write_text("# My own note\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"guides\.md is not a page of ours"):
        write_pages(dict.fromkeys(pages, page + "new\n"), tmp_path)
    assert (tmp_path / "VAULT_INDEX.md").read_text("utf-8") == page
