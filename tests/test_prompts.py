"""Prompt files: hostile-inputs C5 (placeholders, braces) and A25 (document text cannot leave its fence)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import PromptError
from graphrag.prompts import (
    PROMPTS,
    Message,
    check_prompt,
    fence,
    find_placeholders,
    load_prompt,
    number_sentences,
    packaged_folder,
)

# Our own words in the shape of a 2.x prompt of the reference: delimiters as placeholders, braces doubled.
REFERENCE_STYLE = (
    "Find entities of the types {entity_types}.\n"
    'Write ("entity"{tuple_delimiter}name{tuple_delimiter}type{tuple_delimiter}description){record_delimiter}\n'
    'and end with {completion_delimiter}. Not JSON such as {{"name": 1}}.\nText: {input_text}\nOutput:'
)


def write(root: Path, name: str, text: str | bytes) -> Path:
    folder = root / "prompts"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


@pytest.mark.parametrize("name", PROMPTS)
def test_packaged_prompts_are_whole(name: str) -> None:
    prompt = load_prompt(name)
    assert prompt.warnings == ()
    assert not prompt.is_format_style
    values = {placeholder: f"value of {placeholder}" for placeholder in PROMPTS[name].known}
    messages = prompt.render(values)
    text = "\n".join(message.content for message in messages)
    assert not [p for p in find_placeholders(text) if p in PROMPTS[name].known]
    for placeholder in PROMPTS[name].required:
        assert f"value of {placeholder}" in messages[-1].content
    if PROMPTS[name].data:
        assert [message.role for message in messages] == ["system", "user"]
        assert not any(f"value of {placeholder}" in messages[0].content for placeholder in PROMPTS[name].data)


def test_every_packaged_file_is_a_known_prompt() -> None:
    assert sorted(path.stem for path in packaged_folder().glob("*.md") if path.stem != "README") == sorted(PROMPTS)


def test_format_shown_with_literal_tags() -> None:
    assert '["E"' in load_prompt("extract_graph").system
    assert '["R"' in load_prompt("extract_graph").system
    assert '"findings"' in load_prompt("community_report").system


def test_the_users_file_wins_and_the_references_names_are_found(tmp_path: Path) -> None:
    assert (
        load_prompt("extract_graph", write(tmp_path, "extract_graph.txt", REFERENCE_STYLE)).path
        == "prompts/extract_graph.txt"
    )
    assert (
        load_prompt("community_report", write(tmp_path, "community_report_graph.txt", "Report: {input_text}")).user
        == "Report: {input_text}"
    )
    assert (
        load_prompt("extract_graph", write(tmp_path, "extract_graph.md", "Mine: {input_text}")).path
        == "prompts/extract_graph.md"
    )
    assert load_prompt("judge_same_entity", tmp_path) == load_prompt("judge_same_entity")


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("drift_search", "drift_search_system_prompt.txt",
         'For {global_query} ask {followups} more. Form: {response_type}.\n{context_data}\n{{"response": str}}'),
        ("drift_reduce", "drift_reduce_prompt.txt", "Form: {response_type}.\n{context_data}\n"),
        ("drift_primer", "drift_primer.txt", "Reports: {community_reports}\nQuery: {query}\n{{}}"),
    ],
)  # fmt: skip
def test_the_references_drift_prompts_work(name: str, file: str, text: str, tmp_path: Path) -> None:
    prompt = load_prompt(name, write(tmp_path, file, text))
    values = {placeholder: f"<{placeholder}>" for placeholder in PROMPTS[name].known}
    messages = prompt.render(values)
    said = "\n".join(message.content for message in messages)
    assert prompt.warnings == () and "{" not in said.replace('{"response": str}', "").replace("{}", "")
    assert all(f"<{used}>" in said for used in find_placeholders(text))
    if "question" in PROMPTS[name].known:
        assert messages[-1].content == "<question>"


def test_reference_style_is_filled() -> None:
    prompt = check_prompt("extract_graph", REFERENCE_STYLE, path="prompts/extract_graph.txt")
    [message] = prompt.render({"input_text": "Redis {entity_types} {{x}}", "entity_types": "service"})
    assert message.role == "user"
    assert '("entity"<|>name<|>type<|>description)##' in message.content
    assert "end with <|COMPLETE|>" in message.content
    assert 'such as {"name": 1}' in message.content
    assert "Redis {entity_types} {{x}}" in message.content
    assert prompt.warnings == ()


@pytest.mark.parametrize(
    "text",
    ['{"a": {"b": [1, {}]}} {input_text}', "} { {input_text} {", "{} {0} {input_text!r:>10} {input_text}",
     "${HOME} {input_text} {a b} {}}"],
)  # fmt: skip
def test_literal_braces_stand_as_they_are(text: str) -> None:
    prompt = check_prompt("extract_graph", text, path="p.md")
    [message] = prompt.render({"input_text": "X"})
    assert message.content == text.replace("{input_text}", fence("X"))


def test_messages() -> None:
    def fault(text: str) -> str:
        with pytest.raises(PromptError) as caught:
            check_prompt("extract_graph", text, path="prompts/extract_graph.md")
        return str(caught.value)

    assert fault("Types: {entity_types}").startswith(
        "prompts/extract_graph.md: the placeholder {input_text} is missing."
    )
    assert fault("Text: {{input_text}}").startswith(
        "prompts/extract_graph.md: the placeholder {input_text} is missing."
    )
    assert fault("  \n\t").startswith("prompts/extract_graph.md: the prompt is empty.")
    prompt = check_prompt("extract_graph", "{foo} {input_txt} {input_text}", path="p.md")
    assert [warning.split(" is no")[0] for warning in prompt.warnings] == ["p.md: {foo}", "p.md: {input_txt}"]
    assert 'Did you mean "input_text"?' in prompt.warnings[1]
    with pytest.raises(PromptError, match=r"p.md: no value for \{entity_types\}"):
        check_prompt("extract_graph", "{entity_types} {input_text}", path="p.md").render({"input_text": ""})


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"prompts/extract_graph.md: is not UTF-8 \(byte 1\)"):
        load_prompt("extract_graph", write(tmp_path, "extract_graph.md", b"a\xff {input_text}"))
    (tmp_path / "prompts" / "judge_same_entity.md").mkdir()
    with pytest.raises(PromptError, match=r"prompts/judge_same_entity.md: cannot be read"):
        load_prompt("judge_same_entity", tmp_path)


def test_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    prompt = load_prompt(
        "extract_graph", write(tmp_path, "extract_graph.md", b"\xef\xbb\xbfA\r\n<!-- user -->\r\n{input_text}\r\n")
    )
    assert (prompt.system, prompt.user) == ("A", "{input_text}")


def test_a_question_without_placeholder_is_a_message_of_its_own() -> None:
    prompt = check_prompt("local_search", "Answer from {context_data} as {response_type}.", path="p.txt")
    messages = prompt.render({"context_data": "rows", "response_type": "list", "question": "Who?"})
    assert messages[-1] == Message("user", "Who?")


@given(st.text())
def test_text_of_a_document_stays_inside_its_fence(text: str) -> None:
    prompt = load_prompt("extract_graph")
    _, user = prompt.render({"input_text": text, "entity_types": "any"})
    first, last = fence(text).split("\n")[0], fence(text).split("\n")[-1]
    assert user.content == fence(text)
    assert first.removeprefix("<<<") == last.removesuffix(">>>")
    assert last.removesuffix(">>>") not in text


def test_system_message_is_the_same_for_every_text() -> None:
    prompt = load_prompt("extract_graph")
    assert (
        prompt.render({"input_text": "a", "entity_types": "any"})[0]
        == prompt.render({"input_text": "b", "entity_types": "any"})[0]
    )


def test_sentences_are_numbered_one_a_line() -> None:
    assert number_sentences(["A b.", "C\n d."]) == "[1] A b.\n[2] C d."
