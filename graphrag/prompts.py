"""Prompt files: found, checked before money is spent, filled in without ever reading document text as a template.

A prompt is a Markdown or text file with {placeholders}, looked for as <root>/prompts/NAME.md (or .txt, or under the
name that microsoft/graphrag gives it), else the packaged copy. A line `<!-- user -->` ends the system message, which
stands first and holds what is the same for every call, so that providers' prompt caches serve it.

Placeholders are replaced in one pass over the file; what is put in is not read again. Braces that hold no known
placeholder stand as they are; files written for str.format (`{{`, `}}`) are understood. Text of documents is fenced:
between two marks made of the text's own hash, which no document can know.

Does not: call a model, or decide what goes into a placeholder.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from graphrag.errors import PromptError, did_you_mean
from graphrag.ids import content_sha256

FOLDER = "prompts"
SUFFIXES = (".md", ".txt")
USER_LINE = "<!-- user -->"
DELIMITERS = {"tuple_delimiter": "<|>", "record_delimiter": "##", "completion_delimiter": "<|COMPLETE|>"}
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PLACEHOLDER = re.compile(rf"\{{({_NAME})\}}")
_PLACEHOLDER_OR_DOUBLED = re.compile(rf"(?P<open>\{{\{{)|(?P<close>\}}\}})|\{{({_NAME})\}}")


class Message(NamedTuple):
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class PromptKind:
    """What a prompt may and must hold. `data` are its placeholders for text of documents: fenced when filled in.

    `defaults` fill placeholders for which the caller gives nothing. `other_names` are the reference's file names.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    defaults: Mapping[str, str] | None = None
    other_names: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        return (*self.required, *self.optional, *(self.defaults or {}))


PROMPTS: dict[str, PromptKind] = {
    "extract_graph": PromptKind(
        ("input_text",), ("entity_types",), ("input_text",), DELIMITERS, other_names=("entity_extraction",)
    ),
    "continue_extraction": PromptKind((), ("entity_types",), (), DELIMITERS),
    "repair_reply": PromptKind(),
    "extract_claims": PromptKind(
        ("input_text",), ("entity_specs", "claim_description"), ("input_text",), DELIMITERS,
        other_names=("claim_extraction",),
    ),
    "summarize_descriptions": PromptKind(
        ("description_list",), ("entity_name", "max_length"), ("entity_name", "description_list")
    ),
    "community_report": PromptKind(
        ("input_text",), ("max_report_length", "max_findings"), ("input_text",),
        other_names=("community_report_graph", "community_report_text"),
    ),
    "judge_same_entity": PromptKind(("pairs",), (), ("pairs",)),
    "judge_answer": PromptKind(
        ("question", "answer", "context_data", "quotes"), (), ("question", "answer", "context_data", "quotes")
    ),
    "judge_pair": PromptKind(
        ("question", "first_answer", "second_answer"), ("expected",),
        ("question", "expected", "first_answer", "second_answer"),
    ),
    "global_search_map": PromptKind(
        ("context_data",), ("max_length", "response_type", "question"), ("context_data", "question"),
        other_names=("global_search_map_system_prompt",),
    ),
    "global_search_reduce": PromptKind(
        ("report_data",), ("max_length", "response_type", "question"), ("report_data", "question"),
        other_names=("global_search_reduce_system_prompt",),
    ),
    "rate_reports": PromptKind(("reports", "question"), (), ("reports", "question")),
    "local_search": PromptKind(
        ("context_data",), ("max_length", "response_type", "question"), ("context_data", "question"),
        other_names=("local_search_system_prompt",),
    ),
    "basic_search": PromptKind(
        ("context_data",), ("max_length", "response_type", "question"), ("context_data", "question"),
        other_names=("basic_search_system_prompt",),
    ),
    "drift_primer": PromptKind(
        ("query", "community_reports"), ("max_length", "response_type", "followups"), ("query", "community_reports"),
    ),
    "drift_search": PromptKind(
        ("context_data",), ("max_length", "response_type", "question", "global_query", "followups"),
        ("context_data", "question", "global_query"), other_names=("drift_search_system_prompt",),
    ),
    "drift_reduce": PromptKind(
        ("context_data",), ("max_length", "response_type", "question"), ("context_data", "question"),
        other_names=("drift_reduce_prompt",),
    ),
    "document_search": PromptKind(
        ("context_data",), ("max_length", "response_type", "question"), ("context_data", "question"),
    ),
}  # fmt: skip

UNREAD = {
    "global_search_knowledge_system_prompt": "answers rest on the index alone",
    "question_gen_system_prompt": "no command asks for questions",
}
"""Files of the reference that nothing here reads, and why; its own commands do not read them either."""


@dataclass(frozen=True)
class Prompt:
    """A checked prompt. `sha256` is of the file's text: part of the memo key. `warnings` are lines for people."""

    name: str
    path: str
    system: str
    user: str
    sha256: str
    is_format_style: bool
    warnings: tuple[str, ...]

    def render(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """The messages, with every placeholder filled. PromptError where a placeholder of the file gets no value.

        A `question` for which the file has no placeholder becomes a user message of its own, as in the reference.
        """
        kind = PROMPTS[self.name]
        filled = {**(kind.defaults or {}), **values}
        for name in kind.data:
            if name in filled:
                filled[name] = fence(filled[name])
        used = find_placeholders(self.system + self.user)
        if missing := [name for name in used if name in kind.known and name not in filled]:
            raise PromptError(f"{self.path}: no value for {{{missing[0]}}}.")
        messages: list[Message] = []
        if self.system:
            messages.append(Message("system", self._fill(self.system, filled)))
        if self.user:
            messages.append(Message("user", self._fill(self.user, filled)))
        if "question" in values and "question" not in used:
            messages.append(Message("user", values["question"]))
        return tuple(messages)

    def again(self) -> Prompt:
        """The same prompt as another version: what is asked twice on purpose is not answered from the memo."""
        return replace(self, sha256=content_sha256(f"{self.sha256} again"))

    def _fill(self, template: str, values: Mapping[str, str]) -> str:
        known = PROMPTS[self.name].known

        def fill(match: re.Match[str]) -> str:
            name = match[match.re.groups]
            if name is None:
                return "{" if match[0] == "{{" else "}"
            return values[name] if name in known else match[0]

        pattern = _PLACEHOLDER_OR_DOUBLED if self.is_format_style else _PLACEHOLDER
        return pattern.sub(fill, template)


def load_prompt(name: str, root: Path | None = None) -> Prompt:
    """The prompt `name` of PROMPTS: the user's file under <root>/prompts, else ours.

    PromptError names the file and what is wrong with it: unreadable, empty, or a placeholder is missing.
    """
    path = _find_file(name, root)
    shown = _show_path(path, root)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptError(f"{shown}: is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise PromptError(f"{shown}: cannot be read ({error.strerror}).") from error
    return check_prompt(name, text, path=shown)


def list_unread_files(root: Path) -> list[str]:
    """A line for each prompt file of the user that no prompt is read from, with the nearest name."""
    known = [stem for name, kind in PROMPTS.items() for stem in (name, *kind.other_names)]
    told = []
    for path in sorted((root / FOLDER).glob("*")):
        if path.suffix not in SUFFIXES or path.stem in (*known, "README"):
            continue
        why = f": {UNREAD[path.stem]}." if path.stem in UNREAD else f".{did_you_mean(path.stem, known)}"
        told.append(f"{_show_path(path, root)} is not read{why}")
    return told


def check_prompt(name: str, text: str, *, path: str) -> Prompt:
    """A Prompt made of the text of a file, or a PromptError; `path` is what messages call it."""
    kind = PROMPTS[name]
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise PromptError(f"{path}: the prompt is empty. Write it, or delete the file to use the packaged one.")
    used = find_placeholders(text)
    if missing := [placeholder for placeholder in kind.required if placeholder not in used]:
        raise PromptError(
            f"{path}: the placeholder {{{missing[0]}}} is missing. Put it where the text is to stand, "
            "or delete the file to use the packaged prompt."
        )
    known = kind.known
    warnings = [
        f"{path}: {{{placeholder}}} is no placeholder of this prompt and stands as it is.{_suggest(placeholder, known)}"
        for placeholder in used
        if placeholder not in known
    ]
    system, mark, user = text.partition(USER_LINE)
    if not mark:
        system, user = "", text
    return Prompt(
        name, path, system.strip(), user.strip(), content_sha256(text), _is_format_style(text, known), tuple(warnings)
    )


def find_placeholders(template: str) -> list[str]:
    """Names in single braces, in order, each once; `{"a": 1}` and `{{name}}` are none."""
    found = [match for match in _PLACEHOLDER.finditer(template) if not _is_doubled(template, match)]
    return list(dict.fromkeys(match[1] for match in found))


def fence(text: str) -> str:
    """Text as data: between two lines with a mark of 16 hex digits of its own hash, which it cannot hold."""
    mark = f"DATA-{content_sha256(text)[:16]}"
    return f"<<<{mark}\n{text}\n{mark}>>>"


def number_sentences(sentences: list[str]) -> str:
    """`[1] First sentence.` a line: what the numbers in a reply refer to. Line ends inside a sentence become spaces."""
    return "\n".join(f"[{number}] {' '.join(sentence.split())}" for number, sentence in enumerate(sentences, 1))


def packaged_folder() -> Path:
    """The prompts that come with the package; in a checkout, the folder prompts/ beside it."""
    here = Path(__file__).resolve().parent
    packaged = here / "_prompts"
    return packaged if packaged.is_dir() else here.parent / FOLDER


def _find_file(name: str, root: Path | None) -> Path:
    names = (name, *PROMPTS[name].other_names)
    if root is not None:
        for candidate in (root / FOLDER / f"{stem}{suffix}" for stem in names for suffix in SUFFIXES):
            if candidate.exists():
                return candidate
    return packaged_folder() / f"{name}.md"


def _show_path(path: Path, root: Path | None) -> str:
    if root is not None and path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    return f"{FOLDER}/{path.name}"


def _suggest(placeholder: str, known: tuple[str, ...]) -> str:
    return did_you_mean(placeholder, known) or f" Known: {', '.join(known)}."


def _is_doubled(template: str, match: re.Match[str]) -> bool:
    return template[match.start() - 1 : match.start()] == "{" and template[match.end() : match.end() + 1] == "}"


def _is_format_style(text: str, known: tuple[str, ...]) -> bool:
    """Whether str.format could fill the text with known placeholders: then doubled braces mean single ones."""
    if "{{" not in text and "}}" not in text:
        return False
    try:
        fields = [field for _, field, spec, conversion in string.Formatter().parse(text) if field is not None]
    except ValueError:
        return False
    return all(field in known for field in fields)
