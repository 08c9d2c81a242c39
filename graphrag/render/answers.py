"""What commands print of an answer: its text with sources, what hangs on them, and what it cost; or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from graphrag.search.answer import Answer, Usage


def render_answer(answer: Answer, *, json: bool, context_only: bool, show_sources: bool) -> str:
    """The answer as JSON, its context alone, or its text; sources are one line a place with all that is cited there."""
    if json:
        return orjson.dumps(answer.to_json(with_context=context_only)).decode()
    if context_only:
        return answer.context
    lines = [answer.text]
    if show_sources and answer.citations:
        lines += ["", "Sources"]
        refs: dict[tuple[str, int, int, str], list[str]] = {}
        for citation in answer.citations:
            place = (citation.path, citation.start, citation.end, citation.quote)
            refs.setdefault(place, []).append(citation.ref)
        for (path, start, end, quote), names in refs.items():
            lines += [f"  {', '.join(dict.fromkeys(names))}  {path} [{start}:{end}]", f"    {' '.join(quote.split())}"]
    lines += render_related(answer)
    said = [*answer.notices, *render_usage(answer.usage)]
    return "\n".join([*lines, "", *said] if said else lines)


def render_related(answer: Answer) -> list[str]:
    """The documents that the answer cites with something that hangs on them, and that beneath. JSON has it for all
    that were listed."""
    cited = {citation.document for citation in answer.citations}
    titles = {source.document: source.title for source in answer.sources}
    titles |= {each.id: each.title for source in answer.sources if source.folded for each in source.folded.related}
    lines = []
    for source in answer.sources:
        if source.document not in cited or source.folded is None or not source.folded.related:
            continue
        marks = [f"{word} {', '.join(titles[i] for i in ids)}" for word, ids in source.marks if ids]
        lines.append(f"  {source.title}  {source.path}" + (f"  ({'; '.join(marks)})" if marks else ""))
        lines += [f"    {each.render(titles)}" for each in source.folded.related]
    return ["", "Related", *lines] if lines else []


def render_usage(usage: Usage) -> list[str]:
    """`2 calls, 1 from the memo; 3,200 + 150 tokens, $0.0012`; none where no model was asked."""
    if not usage.is_of_model:
        return []
    calls = "1 call" if usage.calls == 1 else f"{usage.calls:,} calls"
    memo = f", {usage.from_memo:,} from the memo" if usage.from_memo else ""
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return [f"{calls}{memo}; {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, {cost}"]
