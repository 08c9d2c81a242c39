"""An answer in a model's words: one question about a packed context, its citations checked, resolved and counted.

The model sees the context that the extractive answer rests on. A citation that the context does not hold, or that leads
to no quote, is removed and counted; a statement that a row of the context holds gets its citation, one without support
is marked (support.py). A reply of no use leaves the extractive answer as it stands, with a notice. An answer of which
no statement is supported counts as none.

Does not: gather the context, or ask global search's questions (map_reduce.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphrag.citations import KINDS, check_citations
from graphrag.errors import Unavailable
from graphrag.llm.chat import ChatReply, ChatRequest, Message, show_nothing
from graphrag.llm.door import Llm, chat_many
from graphrag.llm.ledger import collect_calls
from graphrag.prompts import Prompt
from graphrag.search.answer import Answer, Citation, tell_removed
from graphrag.search.notes.document_answer import DATASET, cite_notes, list_names, number_names, restore_names
from graphrag.search.resolve import list_claims, resolve_citations
from graphrag.search.support import cite_supported, list_statements, mark_unsupported

if TYPE_CHECKING:
    from graphrag.store import Index

STAGE = "search"
RESPONSE_TYPE = "a short answer, a list where several things are asked for"
MAX_WORDS = 400
TOKENS_PER_WORD, TOKENS_OF_CITATIONS = 3, 600  # bound a reply
NO_SUPPORT = "No sentence of the model's answer is supported by the context."


@dataclass(frozen=True)
class SearchModel:
    """The model that answers: `open` is called when the first question is put, so that it may load meanwhile."""

    open: Callable[[], Llm]
    prompts: Mapping[str, Prompt]

    @cached_property
    def llm(self) -> Llm:
        return self.open()


def answer_with_model(
    index: Index, draft: Answer, model: SearchModel, *, on_text: Callable[[str], None] | None = None
) -> Answer:
    """The draft, an extractive answer with its context, in the model's words; unchanged where it has no context: then
    nothing in the index has to do with the question, and nothing is asked. on_text sees the model's words as they come,
    before they are checked.

    Raises Unauthorized, Unavailable, BudgetSpent or LlmError when the model cannot be asked.
    """
    if not draft.context:
        return draft
    began = time.perf_counter()
    llm = model.llm
    prompt = model.prompts[_choose_prompt(draft)]
    request = write_request(prompt, {"context_data": draft.context, "question": draft.question})
    with collect_calls() as calls:
        (reply,) = ask_all(llm, [replace(request, on_text=on_text or show_nothing)])
    if reply.is_good:
        cut = ("The model's answer was cut at its limit of tokens.",) if reply.status == "truncated" else ()
        check = check_named_answer if DATASET in draft.context_ids else check_answer
        answer = check(index, replace(draft, notices=(*draft.notices, *cut)), reply.text)
    else:
        answer = replace(draft, notices=(*draft.notices, tell_unusable(reply.status, reply.detail)))
    answer = count_usage(answer, calls)
    seconds = round(draft.usage.seconds + time.perf_counter() - began, 3)
    return replace(answer, usage=replace(answer.usage, seconds=seconds))


def write_request(prompt: Prompt, values: Mapping[str, str]) -> ChatRequest:
    """A question whose reply is Markdown."""
    fixed = {"response_type": RESPONSE_TYPE, "max_length": str(MAX_WORDS)}
    return ChatRequest(
        stage=STAGE,
        role="search",
        messages=tuple(Message(message.role, message.content) for message in prompt.render({**fixed, **values})),
        prompt_version=prompt.sha256,
        max_tokens=MAX_WORDS * TOKENS_PER_WORD + TOKENS_OF_CITATIONS,
        expected_tokens=MAX_WORDS,
    )


def ask_all(llm: Llm, requests: Sequence[ChatRequest]) -> list[ChatReply]:
    """The replies in order. Raises Unavailable when the service answered none of them, and what its door raises."""
    replies = llm.run(chat_many(llm, requests))
    if replies and all(reply.status in ("timeout", "unavailable") for reply in replies):
        detail = " ".join(f"{replies[0].status} {replies[0].detail}".split())
        raise Unavailable(
            f"The model {replies[0].model} gives no answer ({detail}). Ask again later, or with --no-llm."
        )
    return replies


def check_answer(index: Index, draft: Answer, text: str) -> Answer:
    """The draft with a model's text, every citation of which is in draft.context_ids and resolves to a quote; a
    statement without one gets that of the row that holds it."""
    given = check_citations(text.strip(), draft.context_ids)
    in_context = check_citations(cite_supported(given.text, draft.context), draft.context_ids)
    claims = list_claims(list_statements(in_context.text), draft.context_ids)
    citations = resolve_citations(index, in_context.cited, claims)
    kinds = {table: dataset for dataset, table in KINDS.items()}
    known: dict[str, list[int]] = {}
    for citation in citations:
        known.setdefault(kinds[citation.kind], []).append(citation.human_readable_id)
    resolved = check_citations(in_context.text, known)
    n_removed = given.n_removed + resolved.n_removed
    return _judge_answer(draft, resolved.text, citations, is_cited=bool(resolved.cited), n_removed=n_removed)


def check_named_answer(index: Index, draft: Answer, text: str) -> Answer:
    """The same for an answer about whole notes, which cites them by name (document_answer.py)."""
    names = list_names(index, draft.context_ids[DATASET])
    numbered = number_names(text.strip(), names)
    citations = cite_notes(index, numbered.text, names)
    answer = _judge_answer(draft, numbered.text, citations, is_cited=bool(citations), n_removed=numbered.n_removed)
    return replace(answer, text=restore_names(answer.text, names))


def _judge_answer(draft: Answer, text: str, citations: Sequence[Citation], *, is_cited: bool, n_removed: int) -> Answer:
    """The draft with a checked text, marks where nothing supports it, and notices that count what is wrong."""
    marked = mark_unsupported(text, draft.context)
    usage = replace(draft.usage, sentences=marked.n_sentences, unsupported_sentences=marked.n_unsupported)
    is_supported = is_cited or marked.n_unsupported < marked.n_sentences
    notices = tell_removed(n_removed)
    if not is_supported:
        notices.append(NO_SUPPORT)
    elif n := marked.n_unsupported:
        notices.append(
            f"{n} of {marked.n_sentences} sentences {'is' if n == 1 else 'are'} not supported by the context."
        )
    return replace(
        draft,
        text=marked.text,
        answered=is_supported,
        citations=tuple(citations),
        usage=usage,
        notices=(*draft.notices, *notices),
    )


def _choose_prompt(draft: Answer) -> str:
    if DATASET in draft.context_ids:
        return "document_search"
    return "local_search" if draft.mode == "local" else "basic_search"


def count_usage(answer: Answer, calls: Iterable[Mapping[str, Any]]) -> Answer:
    """With the number, tokens and cost of the calls, rows of llm_calls."""
    rows = list(calls)
    paid = [row for row in rows if not row["cached"]]
    costs = [row["cost_usd"] for row in paid]
    usage = replace(
        answer.usage,
        calls=len(paid),
        from_memo=len(rows) - len(paid),
        prompt_tokens=sum(row["prompt_tokens"] for row in paid),
        completion_tokens=sum(row["completion_tokens"] for row in paid),
        cost_usd=None if None in costs else round(sum(costs), 6),
    )
    return replace(answer, usage=usage)


def tell_unusable(status: str, detail: str) -> str:
    reason = f"{status}: {detail}" if detail else status
    return f"The model's reply is of no use ({reason}). What stands here was made without it."
