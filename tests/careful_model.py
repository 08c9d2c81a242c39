"""A model that writes what a careful one would from its context: a sentence a row, each with its citation.

It knows no document, and of a question whether it is about incidents or about what needs what. Relationships are said
as they stand; of a source its document and the first sentence that says such a thing; of a report, to a question about
incidents, the sentences about something that went wrong; of a note those that say what needs what. What two rows say
is said once, what rests on documents before what rests on reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from graphrag.citations import drop_citations
from graphrag.search.support import stem_words

WENT_WRONG = re.compile(r"\bexpired|\bran out|\bno second|\bsealed|\bthrottled|\boutage", re.I)
NO_SENTENCE = re.compile(r";|\[\[|links to|mentioned together|entities")  # headings of an extractive report
NEEDS = re.compile(r"\b(?:depends? on|backed by|runs? on|keeps? [^.]* in|reads? [^.]* from|uses)\b")
_TABLE = re.compile(
    r"-----(\w+)-----\n[^\n]*\n(.*?)(?=\n\n|\n-----|\nsurvives: |\nnext: |\n\.\.\. and |\nDATA-|\Z)", re.S
)
_NOTE = re.compile(r"<!-- SOURCE: (\[\[[^\]]+\]\]) -->\n(.*?)\n<!-- /SOURCE -->", re.S)
_CELLS = re.compile(r"(?<!\\)\|")
MAX_OF_NOTE = 3


def write_reply(stage: str, asked: str) -> str:
    """The reply to a question of this stage (llm_calls.stage); asked: the user's message."""
    data, _, question = asked.rpartition("\n\nQuestion:")
    statements = list_statements(data, is_of_incidents="incident" in question)
    if stage == "search_map":
        points = [{"description": text, "score": score} for text, score in statements]
        return json.dumps({"points": points})
    if stage == "search_drift_primer":
        follow_ups = ["What depends on the Notification Service?", "Who owns the Internal Resolver?"]
        said = " ".join(text for text, _ in statements)
        return json.dumps({"intermediate_answer": said, "score": 80, "follow_up_queries": follow_ups})
    if stage == "search_drift_step":
        data = asked.partition("\n\nThe larger question:")[0]
        said = " ".join(text for text, _ in list_statements(data, is_of_incidents=False)[:3])
        return json.dumps({"response": said, "score": 40, "follow_up_queries": []})
    if stage in ("search_reduce", "search_drift_reduce"):
        cells = [_CELLS.split(line)[-1] for line in data.splitlines() if re.match(r"\d+(?:\.\d+)?\|", line)]
        said = [text for cell in cells for text in re.split(r"(?<=\]\.) (?=\S)", cell.replace("\\|", "|"))]
        return "\n".join(f"- {text}" for text in drop_repeats(said))
    return "\n".join(f"- {text}" for text, _ in statements)


def list_statements(data: str, *, is_of_incidents: bool) -> list[tuple[str, int]]:
    """Sentences with their citations and a score, those that rest on documents first."""
    rows: dict[str, list[list[str]]] = {}
    for name, lines in _TABLE.findall(data):
        rows.setdefault(name, []).extend(_CELLS.split(line) for line in lines.splitlines() if re.match(r"\d+\|", line))
    found = [
        (f"{source} {predicate.replace('_', ' ')} {target} [Data: Relationships ({number})].", 90)
        for number, source, predicate, target, *_ in _whole(rows.get("Relationships", ()), 6)[:20]
    ]
    if not found:
        found = [
            (f"{title}: {told} [Data: Sources ({number})].", 80)
            for number, title, _, text in _whole(rows.get("Sources", ()), 4)
            if (told := _first(text) if is_of_incidents else _first_need(text))
        ]
    if is_of_incidents:
        found += [
            (f"{sentence.rstrip('.')} [Data: Reports ({number})].", 60)
            for number, _, text in _whole(rows.get("Reports", ()), 3)
            for sentence in re.findall(r"[A-Z][^.#|]{30,250}\.(?= |$)", text)
            if WENT_WRONG.search(sentence) and not NO_SENTENCE.search(sentence)
        ]
    for name, text in _NOTE.findall(data):
        found += [(f"{each} {name}.", 80) for each in _list_needs(text)[:MAX_OF_NOTE]]
    kept = set(drop_repeats(text for text, _ in found))
    return [(text, score) for text, score in dict.fromkeys(found) if text in kept]


def _whole(rows: Sequence[list[str]], n_cells: int) -> list[list[str]]:
    """Rows that no budget has cut."""
    return [row for row in rows if len(row) == n_cells]


def _first(text: str) -> str:
    """The first sentence, without a stop."""
    return re.split(r"(?<=[^.])\.(?: |$)| … ", text.replace("\\|", "|"), maxsplit=1)[0].rstrip(".")


def _first_need(text: str) -> str:
    return next(iter(_list_needs(text)), "")


def _list_needs(text: str) -> list[str]:
    """Sentences that say what needs what, without a stop."""
    sentences = re.findall(r"(?<![\w.])[A-Z][^.#|*\[\]\n]{20,250}(?=\.(?:\s|$))", text)
    return [sentence for sentence in sentences if NEEDS.search(sentence)]


def drop_repeats(statements: Iterable[str]) -> list[str]:
    """Each statement whose words no one before it holds."""
    kept: list[str] = []
    words: list[set[str]] = []
    for statement in statements:
        stems = stem_words(drop_citations(statement))
        if not any(stems <= others for others in words):
            kept.append(statement)
            words.append(stems)
    return kept
