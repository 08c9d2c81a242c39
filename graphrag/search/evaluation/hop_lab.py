"""The hop lab: does a search hand over an entry that is one relation away from what it finds?

A task is a relation between A and B: the question is A's title, the answer is in B. It counts where A is among the best
entries of the flat list and B is not, and where B holds a proof token that stands in no note, not in A and not in the
question, so that nothing but reaching B can give it. Reached: B is listed, or hangs on what is listed. The flat list
reaches none of these tasks by the way they are chosen; over all pairs it reaches those that it ranks high itself.

Reads documents, text_units, entry_relations and what basic and local search read. Does not: fold (folding.py), or ask
a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from graphrag.errors import NothingFound
from graphrag.search import answer_question
from graphrag.search.entries.folded_entries import Fold
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.search.answer import Answer
    from graphrag.store import Index

FAR_ENOUGH = 20  # passages of a flat list: it holds as many documents as are compared, and ranks as it always does


class HopTask(NamedTuple):
    """Paths of A and B with the relation as stored (`A requires B` or `B requires A`), and how B was reached: `result`,
    `folded`, `neighbor`, or empty. `left_out`: why the pair is no task, else empty."""

    question: str
    found: str
    needed: str
    relation: str
    proof: str
    left_out: str
    flat: bool
    folded: str


class HopLab(NamedTuple):
    tasks: list[HopTask]  # every pair, tasks and those left out
    n_relations: int

    @property
    def hop_tasks(self) -> list[HopTask]:
        return [task for task in self.tasks if not task.left_out]


def run_hop_lab(index: Index, *, mode: str = "basic", fold: Fold, model: str = "") -> HopLab:
    """Both directions of every relation of the index, asked flat and folded. Raises NothingFound without a relation."""
    rows = index.rows(
        "select s.id, t.id, s.path, r.type, t.path from entry_relations r "
        "join documents s on s.id = r.from_document_id join documents t on t.id = r.to_document_id "
        "order by s.path, r.type, t.path"
    )
    if not rows:
        raise NothingFound('The index holds no relation between entries. Write some with "graphrag relate".')
    documents = {
        row[0]: row
        for row in index.frame(
            "select d.id, d.path, d.title, coalesce(string_agg(u.text, ' ' order by u.start_char), '') "
            "from documents d left join text_units u on u.document_id = d.id group by all"
        ).iter_rows()
    }
    terms = {id_: set(split_search_terms(row[3])) for id_, row in documents.items()}
    spread = Counter(term for held in terms.values() for term in held)
    notes = index.frame("select note from entry_relations")["note"]
    in_notes = {term for note in notes for term in split_search_terms(note)}
    answers: dict[str, tuple[Answer, Answer]] = {}
    tasks: dict[tuple[str, str], HopTask] = {}
    for source, target, source_path, type_, target_path in rows:
        for found, needed in ((source, target), (target, source)):
            question = documents[found][2]
            if found not in answers:
                flat = _ask(index, question, mode, None, fold.results, model)
                answers[found] = flat, _ask(index, question, mode, fold, fold.results, model)
            known = terms[found] | in_notes | set(split_search_terms(question))
            proof = _choose_proof(terms[needed] - known, spread)
            task = _judge(answers[found], found, needed, proof, results=fold.results)
            relation = f"{source_path} {type_} {target_path}"
            place = (question, documents[found][1], documents[needed][1], relation, proof)
            tasks.setdefault((found, needed), HopTask(*place, *task))
    return HopLab(list(tasks.values()), len(rows))


def _ask(index: Index, question: str, mode: str, fold: Fold | None, results: int, model: str) -> Answer:
    top = results if fold else FAR_ENOUGH
    return answer_question(index, question, mode=mode, level=0, top=top, budget_tokens=1000, model=model, fold=fold)


def _choose_proof(candidates: set[str], spread: Mapping[str, int]) -> str:
    """The rarest term, one with a digit first, then the longest; empty where there is none."""
    order = sorted(candidates, key=lambda t: (spread[t], not any(c.isdigit() for c in t), -len(t), t))
    return order[0] if order else ""


def _judge(
    answers: tuple[Answer, Answer], found: str, needed: str, proof: str, *, results: int
) -> tuple[str, bool, str]:
    """(why it is no task, whether the flat list reaches B, how the folded one does)."""
    flat, folded = answers
    best = list(dict.fromkeys(source.document for source in flat.sources))[:results]
    reached = ""
    for source in folded.sources:
        if source.document == needed:
            reached = "result"
            break
        kinds = [each.kind for each in (source.folded.related if source.folded else ()) if each.id == needed]
        reached = reached or (kinds[0] if kinds else "")
    if found not in best:
        left_out = "the entry asked about is not found"
    elif needed in best:
        left_out = "the flat list has it"
    else:
        left_out = "" if proof else "no proof token"
    return left_out, needed in best, reached
