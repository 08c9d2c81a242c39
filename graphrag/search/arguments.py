"""What may be asked: the modes, the question, and which options mean something in which mode.

An option that a mode would ignore is refused, with the modes that heed it. Does not: choose a mode (choose_mode.py), or
read settings.
"""

from __future__ import annotations

from graphrag.errors import UsageError, did_you_mean
from graphrag.search.ranking import MAX_QUESTION_CHARACTERS
from graphrag.tokens import split_search_terms

AUTO = "auto"
MODES = (AUTO, "local", "global", "drift", "basic", "documents")
# Options that some modes do not heed; all others hold in every mode.
MODES_OF_OPTION = {
    "--level": ("global", "drift"),
    "--dynamic": ("global",),
    "--fold": ("local", "drift", "basic", "documents"),
    "--routing": ("documents",),
    "--note": ("documents",),
}


def check_question(question: str) -> str:
    """What is read of the question: on one line, without control characters, up to MAX_QUESTION_CHARACTERS. A model is
    sent no more than that either. Raises UsageError where it is empty or without a word to search for."""
    cleaned = " ".join("".join(c if c.isprintable() else " " for c in question).split())[:MAX_QUESTION_CHARACTERS]
    if not cleaned:
        raise UsageError("The question is empty.")
    if not split_search_terms(cleaned):
        raise UsageError("The question holds no word to search for.")
    return cleaned


def check_mode(
    mode: str,
    *,
    level: int | None = None,
    dynamic: bool = False,
    fold: bool | None = None,
    routing: str = "",
    note: str = "",
) -> str:
    """The mode; of `auto`, the one that an option asks for, else auto. Raises UsageError where there is no such mode,
    or it does not heed an option that is given."""
    if mode not in MODES:
        raise UsageError(f'Unknown mode "{mode}".{did_you_mean(mode, MODES)} Use one of: {", ".join(MODES)}.')
    is_given = {
        "--level": level is not None,
        "--dynamic": dynamic,
        "--fold": fold is not None,
        "--routing": bool(routing),
        "--note": bool(note),
    }
    if mode == AUTO:
        mode = "documents" if routing or note else "global" if dynamic or level is not None else AUTO
    for option, modes in MODES_OF_OPTION.items():
        if is_given[option] and mode not in (AUTO, *modes):
            raise UsageError(f"{option} is for {_list_modes(modes)}.")
    return mode


def _list_modes(modes: tuple[str, ...]) -> str:
    flags = [f"--{mode}" for mode in modes]
    return " and ".join([", ".join(flags[:-1]), flags[-1]]) if flags[1:] else flags[0]
