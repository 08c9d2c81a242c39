"""Notes say how, never what: specs/folding.md, section 2."""

from __future__ import annotations

import pytest

from graphrag.errors import UsageError
from graphrag.relations.leaks import check_note, find_leak

LOGIN = "Login recipe, cookie jar."
CURL = "The session call needs --http1.1 from curl."
POOL = "The pool is drained before the switch."
LIMIT, BURST = "Limit is 250 per minute.", "Limit is 250, burst 400."


@pytest.mark.parametrize(
    ("from_text", "to_text", "note", "leak"),
    [
        (LOGIN, CURL, "One more condition for the session call in this recipe.", ""),
        (LOGIN, CURL, "Needs --http1.1 from curl.", "--http1.1"),
        (LIMIT, BURST, "Burst beyond the 250 named here.", ""),
        (LIMIT, BURST, "Burst is 400.", "400"),
        ("anything", "anything", "", ""),
        # (a) six words in a row, with other case and signs between
        ("", POOL, "Says the pool is drained, before the switch", "the pool is drained, before the"),
        ("", POOL, "the pool is drained before", ""),
        (POOL, POOL, "The pool is drained before the switch", ""),
        # (b) numbers and versions
        ("", "Runs 16.2 since May.", "Why 16.2 was chosen", "16.2"),
        ("", "Needs v3 now.", "About v3", "v3"),
        ("", "Has 7 nodes.", "All 7 of them", ""),
        ("", "Port 8443.", "Port 84430", ""),
        # (c) backticks and quotes, on either side
        ("", "Set `volatile` first.", "What makes it volatile", "volatile"),
        ("", "The word is drain.", "Explains \"drain\"", "drain"),
        ("", "Don't use it.", "It's not used", ""),
        # (d) code-like tokens
        ("", "See max_tokens.", "How max_tokens is set", "max_tokens"),
        ("", "AuthService fails.", "The failure of AuthService", "AuthService"),
        ("AuthService.", "AuthService fails.", "The failure of AuthService", ""),
        ("", "Edit /etc/hosts there.", "Where /etc/hosts is edited", "/etc/hosts"),
    ],
)  # fmt: skip
def test_a_note_leaks_what_only_the_target_says(from_text: str, to_text: str, note: str, leak: str) -> None:
    assert find_leak(note, from_text=from_text, to_text=to_text) == leak


def test_a_leak_is_refused_unless_allowed() -> None:
    with pytest.raises(UsageError) as error:
        check_note("Needs --http1.1 from curl.", from_text=LOGIN, to_text=CURL)
    assert str(error.value) == (
        'The note repeats the target ("--http1.1"). Say how it pertains, not what it says. Use --allow-leak to keep it.'
    )
    assert check_note("Needs --http1.1 from curl.", from_text=LOGIN, to_text=CURL, allow_leak=True)
    assert not check_note("The call it needs.", from_text=LOGIN, to_text=CURL)
