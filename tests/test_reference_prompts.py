"""Prompt files of microsoft/graphrag 0.x to 3.x, laid into prompts/ under its names: read, filled in, answered.

The texts are ours; what they share with its files are the placeholders, the doubled braces and the form of the replies.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graphrag.llm import ChatRequest, ScriptedLlm
from graphrag.project import check_project
from graphrag.prompts import PROMPTS, UNREAD, list_unread_files, load_prompt
from graphrag.search import answer_question
from graphrag.search.model_answer import SearchModel
from graphrag.search.reports.drift_search import DriftBounds
from graphrag.search_model import load_search_prompts
from graphrag.store import open_index

from .runs.test_run_model import Project

TUPLES_AS_PLACEHOLDERS = (
    'Find things of the types [{entity_types}]. ("entity"{tuple_delimiter}NAME{tuple_delimiter}TYPE{tuple_delimiter}'
    'text){record_delimiter}("relationship"{tuple_delimiter}A{tuple_delimiter}B{tuple_delimiter}text{tuple_delimiter}9)'
    '{completion_delimiter} Never {{"a": 1}}.\nTypes: {entity_types}\nText: {input_text}\nOutput:'
)
TUPLES = (
    'Find things of the types {entity_types}. ("entity"<|>NAME<|>TYPE<|>text)##("relationship"<|>A<|>B<|>text<|>9)'
    "<|COMPLETE|>\nText: {input_text}\nOutput:"
)
CLAIMS_AS_PLACEHOLDERS = (
    "Claims of {entity_specs}: {claim_description}. (A{tuple_delimiter}B{tuple_delimiter}TYPE{tuple_delimiter}TRUE"
    "{tuple_delimiter}2024{tuple_delimiter}2024{tuple_delimiter}text{tuple_delimiter}source){record_delimiter}"
    "{completion_delimiter}\nText: {input_text}"
)
CLAIMS = "Claims of {entity_specs}: {claim_description}. (A<|>B<|>T<|>TRUE<|>d<|>d<|>text<|>s)\nText: {input_text}"
REPORT = (
    'Write {{"title": "", "findings": [{{"summary": ""}}]}}, at most {max_report_length} words.\nText: {input_text}'
)
SHORT_REPORT = 'Write {{"title": "", "findings": [{{"summary": ""}}]}}.\nText: {input_text}\nOutput:'
ANSWER = "Answer in the form {response_type}.\n---Data tables---\n{context_data}\nAgain: {response_type}"
# name of the file, ours, its text
FILES = (
    ("entity_extraction.txt", "extract_graph", TUPLES_AS_PLACEHOLDERS),
    ("extract_graph.txt", "extract_graph", TUPLES_AS_PLACEHOLDERS),
    ("extract_graph.txt", "extract_graph", TUPLES),
    ("claim_extraction.txt", "extract_claims", CLAIMS_AS_PLACEHOLDERS),
    ("extract_claims.txt", "extract_claims", CLAIMS),
    ("summarize_descriptions.txt", "summarize_descriptions", "Of {entity_name}: {description_list}\nOutput:"),
    ("summarize_descriptions.txt", "summarize_descriptions", "{max_length}: {entity_name} {description_list}"),
    ("community_report.txt", "community_report", SHORT_REPORT),
    ("community_report_graph.txt", "community_report", REPORT),
    ("community_report_text.txt", "community_report", REPORT),
    ("local_search_system_prompt.txt", "local_search", ANSWER),
    ("basic_search_system_prompt.txt", "basic_search", ANSWER),
    ("global_search_map_system_prompt.txt", "global_search_map",
     'Points of\n{context_data}\nas {{"points": [{{"description": "", "score": 1}}]}}'),
    ("global_search_map_system_prompt.txt", "global_search_map",
     '{max_length} words. {{"points": [{{"description": "", "score": 1}}]}}\n{context_data}'),
    ("global_search_reduce_system_prompt.txt", "global_search_reduce", "{response_type}\n{report_data}"),
    ("global_search_reduce_system_prompt.txt", "global_search_reduce", "{response_type} {max_length}\n{report_data}"),
    ("drift_search_system_prompt.txt", "drift_search",
     'Of {global_query} {response_type}: {context_data} {{"response": "", "score": 1, "follow_up_queries": []}}'),
    ("drift_search_system_prompt.txt", "drift_search",
     '{followups} of {global_query} {response_type}: {context_data} {{"response": ""}}'),
    ("drift_reduce_prompt.txt", "drift_reduce", ANSWER),
)  # fmt: skip
NEWEST = {name: text for name, _, text in FILES if name not in ("entity_extraction.txt", "claim_extraction.txt")}


def lay(root: Path, files: dict[str, str]) -> Path:
    (root / "prompts").mkdir(exist_ok=True)
    for name, text in files.items():
        (root / "prompts" / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(("name", "ours", "text"), FILES)
def test_each_file_is_read_as_it_is(tmp_path: Path, name: str, ours: str, text: str) -> None:
    prompt = load_prompt(ours, lay(tmp_path, {name: text}))
    assert (prompt.path, prompt.warnings) == (f"prompts/{name}", ())
    placeholders = set(re.findall(r"(?<!\{)\{([a-z_]+)\}(?!\})", text))
    kind = PROMPTS[ours]
    values = {key: f"VALUE OF {key} {{x}}" for key in kind.known if key not in (kind.defaults or {})}
    message = prompt.render(values)[0].content
    for key in placeholders - set(kind.defaults or {}):
        assert f"VALUE OF {key} {{x}}" in message
    for delimiter, shown in (kind.defaults or {}).items():
        assert (shown in message) or delimiter not in placeholders
    assert not re.search(r"\{[a-z_]{2,}\}|\{\{|\}\}(?!\])", message.replace("}]}", ""))


def test_a_question_without_a_place_is_a_message_of_its_own(tmp_path: Path) -> None:
    for name, ours, text in FILES:
        if ours in ("local_search", "basic_search", "global_search_map", "drift_search", "drift_reduce"):
            prompt = load_prompt(ours, lay(tmp_path, {name: text}))
            values = dict.fromkeys(PROMPTS[ours].known, "x") | {"question": "Who keeps it?"}
            assert prompt.render(values)[-1] == ("user", "Who keeps it?")


def test_what_is_read_by_no_prompt_is_told(tmp_path: Path) -> None:
    files = dict.fromkeys(f"{name}.txt" for name in UNREAD) | {"extract_grph.md": "", "notes.csv": "", "README.md": ""}
    root = lay(tmp_path, {**NEWEST, **{name: text or "x" for name, text in files.items()}})
    assert list_unread_files(root) == [
        'prompts/extract_grph.md is not read. Did you mean "extract_graph"?',
        "prompts/global_search_knowledge_system_prompt.txt is not read: answers rest on the index alone.",
        "prompts/question_gen_system_prompt.txt is not read: no command asks for questions.",
    ]


def test_check_names_unread_files_and_prompts_of_searches_that_cannot_work(tmp_path: Path) -> None:
    project = Project(tmp_path)
    lay(project.root, {"extract_grph.md": "x", "local_search.md": "No place for the data."})
    (words,) = [
        line[2] for line in check_project(project.settings("llm.model=openai/x"), project.root) if line[1] == "prompts"
    ]
    assert "prompts/extract_grph.md is not read" in words
    assert "prompts/local_search.md: the placeholder {context_data} is missing" in words


def test_a_run_and_searches_understand_the_replies_that_these_files_ask_for(tmp_path: Path) -> None:
    project = Project(tmp_path)
    lay(project.root, NEWEST)
    asked: set[str] = set()
    project.script = lambda request: answer_as_the_reference(request, asked)
    summary = project.index("reports.min_report_size=3", "claims.enabled=true", "disambiguation.judge=false")
    tables = project.tables()
    assert (summary.status, tables["failures"].height) == ("published", 0)
    assert (tables["entities"].height, tables["relationships"].height, tables["covariates"].height) == (9, 9, 9)
    assert tables["evidence"]["is_verified"].all()
    assert {"llm"} == set(tables["community_reports"].filter(tables["community_reports"]["size"] > 2)["method"])
    with open_index(project.root / "data" / "output") as index:
        llm = ScriptedLlm(lambda request: answer_as_the_reference(request, asked))
        for mode in ("local", "basic", "global", "drift"):
            model = SearchModel(lambda: llm, load_search_prompts(mode, project.root))
            answer = answer_question(
                index, "What does Alpha depend on?", mode=mode, llm=model, level=1, top=10, budget_tokens=4000,
                model="none", drift=DriftBounds(rounds=1),
            )  # fmt: skip
            assert answer.answered, mode
            assert answer.citations, mode
    assert asked >= {"extract", "claims", "report", "answer", "map", "reduce", "drift_step", "drift_reduce"}


def answer_as_the_reference(request: ChatRequest, asked: set[str]) -> str:
    """Tuples for graphs and claims, JSON for reports, points and steps, Markdown for answers; citations of row 1."""
    text = request.text
    if text.startswith("Find things"):
        asked.add("extract")
        passage = text.partition("Text:")[2]
        records = []
        for a, b in re.findall(r"(\w+) depends on (\w+)\.", passage):
            records += [f'("entity"<|>{a.upper()}<|>SERVICE<|>{a} is a service)', f'("entity"<|>{b}<|>SERVICE<|>)']
            records.append(f'("relationship"<|>{a.upper()}<|>{b}<|>{a} needs {b}<|>8)')
        return "##\n".join(records) + "\n<|COMPLETE|>"
    if text.startswith("Claims"):
        asked.add("claims")
        claims = [
            f"({a}<|>{b}<|>NEED<|>TRUE<|>NONE<|>NONE<|>{a} needs {b}<|>{a} depends on {b}.)"
            for a, b in re.findall(r"(\w+) depends on (\w+)\.", text.partition("Text:")[2])
        ]
        return "##\n".join(claims) + "\n<|COMPLETE|>"
    if text.startswith("Write"):
        asked.add("report")
        finding = {"summary": "A ring", "explanation": "Alpha depends on Beta in a ring [Data: Relationships (1)]."}
        return json.dumps({"title": "Ring", "summary": "A ring.", "rating": 5, "rating_explanation": "",
                           "findings": [finding]})  # fmt: skip
    if '"points"' in text:
        asked.add("map")
        return json.dumps({"points": [{"description": f"A ring {cite_first(text, 'id|title')}", "score": 90}]})
    if '"response"' in text:
        asked.add("drift_step")
        response = f"Alpha depends on Beta {cite_first(text)}"
        return json.dumps({"response": response, "score": 90, "follow_up_queries": []})
    if "intermediate_answer" in text:
        return json.dumps({"intermediate_answer": "", "score": 0, "follow_up_queries": ["What does Alpha need?"]})
    cited = re.search(r"\[Data: \w+ \(\d+\)\]", text)
    if cited and ("score|question|answer" in text or "-----" not in text):
        asked.add("drift_reduce" if "score|question|answer" in text else "reduce")
        return f"Beta {cited[0]}."
    asked.add("answer")
    return f"Alpha depends on Beta {cite_first(text)}."


def cite_first(text: str, header: str = "") -> str:
    dataset = "Reports" if header else "Sources"
    table = text.partition(header or "-----Sources-----")[2]
    row = re.search(r"^(\d+)\|", table, re.MULTILINE)
    assert row, text
    return f"[Data: {dataset} ({row[1]})]"
