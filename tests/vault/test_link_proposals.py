"""Proposed links: where a mention may become one, where a line is added, and what is never touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.index.link_targets import LinkTargets
from graphrag.reading.front_matter import find_body
from graphrag.reading.links import read_links
from graphrag.reading.masking import FILLER, mask_code
from graphrag.vault.link_proposals import (
    LinkWriter,
    add_to_list,
    apply_proposal,
    find_mention,
    is_sound,
    propose_mention,
    propose_similar,
)

NOTES = ["Home.md", "services/redis.md", "C# Notes.md", "a/Note.md", "b/Note.md"]
WRITER = LinkWriter(LinkTargets(NOTES))
REDIS = "services/redis.md"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("We run Redis here. Redis again.", "We run [[redis|Redis]] here. Redis again."),
        ("The redis of old.", "The [[redis]] of old."),
        ("---\ntitle: Redis\n---\nMy Redis.", "---\ntitle: Redis\n---\nMy [[redis|Redis]]."),
        ("# Redis\n\n`Redis` and **Redis**", "# Redis\n\n`Redis` and **[[redis|Redis]]**"),
        ("Redis\n=====\n\nOf Redis", "Redis\n=====\n\nOf [[redis|Redis]]"),
        ("```\nRedis\n```\n\n    Redis\n\n> Redis's", "```\nRedis\n```\n\n    Redis\n\n> [[redis|Redis]]'s"),
        ("<!-- Redis --> <b title=Redis> $Redis$ %% Redis %%", None),
        ("[Redis](https://redis.io) [[Redis Labs]] https://Redis.io Redis.io #Redis x/Redis Redis-py", None),
        ("| a |\n|---|\n| Redis |", None),
        ("Predis and Redisson", None),
        ("", None),
    ],
)
def test_the_first_mention_in_plain_words_becomes_a_link(text: str, changed: str | None) -> None:
    proposal = propose_mention(WRITER, "Home.md", text, REDIS, ["Redis", "redis"])
    assert (apply_proposal(WRITER, proposal, text) if proposal else None) == changed
    if proposal and changed:
        assert proposal.line == next(n for n, line in enumerate(changed.split("\n"), 1) if "[[" in line)
        assert apply_proposal(WRITER, proposal, changed) is None


def test_the_longest_name_wins_and_odd_names_get_a_markdown_link() -> None:
    assert find_mention("Redis Sentinel", ["Redis", "Redis Sentinel"]) == (0, 14)
    assert find_mention("words", []) is None
    proposal = propose_mention(WRITER, "Home.md", "My C# Notes say.", "C# Notes.md", ["C# Notes"])
    assert proposal is not None and proposal.after == "[C# Notes](C%23%20Notes.md)"
    two = propose_mention(WRITER, "Home.md", "A Note.", "b/Note.md", ["Note"])
    assert two is not None and two.after == "[[b/Note|Note]]"
    dendron = LinkWriter(WRITER.targets, "dendron")
    assert propose_mention(dendron, "Home.md", "On Redis", REDIS, ["Redis"]).after == "[[Redis|redis]]"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Words.", "Words.\n\n## See also\n\n- [[redis]]\n"),
        ("Words.\n", "Words.\n\n## See also\n\n- [[redis]]\n"),
        ("Words.\n\n", "Words.\n\n## See also\n\n- [[redis]]\n"),
        ("", "## See also\n\n- [[redis]]\n"),
        ("# A\n\n## Related\n\n- [[Home]]\n\n# B\n", "# A\n\n## Related\n\n- [[Home]]\n- [[redis]]\n\n# B\n"),
        ("## See also", "## See also\n\n- [[redis]]\n"),
        ("```\n## See also\n```\n", "```\n## See also\n```\n\n## See also\n\n- [[redis]]\n"),
    ],
)
def test_a_line_is_added_to_the_list_of_see_also(text: str, changed: str) -> None:
    assert add_to_list(text, "[[redis]]") == changed
    assert is_sound(WRITER, "x.md", text, changed, REDIS)


@pytest.mark.parametrize("text", ["```\nopen", "<!-- open\n", "~~~~\n## See also\n~~~\n"])
def test_a_note_that_ends_in_code_gets_no_line(text: str) -> None:
    assert propose_similar(WRITER, "Home.md", text, REDIS, "alike") is None


def test_what_is_written_already_is_left() -> None:
    proposal = propose_similar(WRITER, "Home.md", "Words.", REDIS, "cosine 0.80")
    assert proposal is not None
    assert apply_proposal(WRITER, proposal, "Words. [see](services/redis.md)") is None
    mention = propose_mention(WRITER, "Home.md", "On Redis.", REDIS, ["Redis"])
    assert mention is not None and apply_proposal(WRITER, mention, "The words are gone.") is None


PIECES = st.sampled_from(
    ["Redis", "redis", "[[Home]]", "[[", "]]", "|", "#", "# ", "`", "```", "~~~", "\n", "\n\n", "    ", "- ", "> ",
     "[", "](", ")", "<!--", "-->", "\\", "a ", " ", "::", "---\n", "$", "%%", "://", "## See also\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_a_change_adds_one_link_and_touches_neither_code_nor_front_matter(text: str) -> None:
    for proposal in (
        propose_mention(WRITER, "Home.md", text, REDIS, ["Redis", "redis"]),
        propose_similar(WRITER, "Home.md", text, REDIS, "alike"),
    ):
        changed = apply_proposal(WRITER, proposal, text) if proposal else None
        if changed is None:
            continue
        assert len(read_links(changed).links) == len(read_links(text).links) + 1
        body = find_body(text, "md")
        assert changed[:body] == text[:body] and find_body(changed, "md") == body
        assert count_code(changed) == count_code(text)
        assert apply_proposal(WRITER, proposal, changed) is None  # type: ignore[arg-type]


def count_code(text: str) -> int:
    """Characters in code and comments."""
    return mask_code(text, find_body(text, "md")).count(FILLER)
