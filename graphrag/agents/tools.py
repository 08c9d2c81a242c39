"""What an agent asks of the knowledge bank, and the text that it gets: found, related, written, walked, within tokens.

Each call opens what is published at that moment, so that a run that publishes underneath is seen by the next call. What
is learned or related is written at once. Texts name entries by path, which every other call takes.

Does not: speak the protocol or describe arguments (mcp_server.py), search or walk (api.py), or decide what may be
written (bank/knowledge_bank.py, bank/learning.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphrag.api import Index
from graphrag.bank.knowledge_bank import Bank, make_stamp, open_bank, relate, unrelate
from graphrag.bank.learning import learn
from graphrag.context import cut_text
from graphrag.errors import UsageError
from graphrag.render.frames import render_frame
from graphrag.settings import Settings
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.relations.events import Event
    from graphrag.search.answer import Answer, Source

ANSWER_SHARE = 0.6  # of the tokens of a result; entries and citations share the rest
MAX_ROWS = 200


class Connection(NamedTuple):
    """How a note that is being learned pertains to an entry."""

    type: str
    entry: str
    note: str = ""


@dataclass(frozen=True)
class AgentTools:
    """The tools over one project folder; `actor` is who writes where a call names nobody."""

    settings: Settings
    root: Path
    actor: str = "agent"

    def query(self, question: str, *, mode: str, top: int, max_tokens: int, fold: bool, where: str) -> str:
        """The answer with its citations, and the entries it rests on with what hangs on them."""
        with Index(self.settings, self.root, where=where) as index:
            answer = index.search(question, mode=mode, top=top, fold=None if mode == "global" else fold)
            run_id = index.run_id
        text = cut_text(answer.text, budget=int(ANSWER_SHARE * max_tokens), count=count_tokens)
        head = [text, *answer.notices, f"(mode {answer.mode}, index {run_id})", ""]
        return fill_lines([*head, *_list_entries(answer), *_list_places(answer)], max_tokens=max_tokens)

    def get_entry(self, name: str, *, start: int, max_tokens: int) -> str:
        """An entry with its relations and its text from a character on."""
        with open_bank(self.settings, self.root) as bank:
            asked, entry = bank.find_named(name), bank.find(name)
            text, relations = bank.read_text(entry.path), list(_list_relations(bank, entry.path))
        if start > len(text):
            raise UsageError(f"start must be at most {len(text)}, the length of {entry.path}, got {start}.")
        number = f", #{entry.number}" if entry.number is not None else ", not in the index yet"
        head = [f"{entry.title}  ({entry.path}{number}; {len(text):,} characters)"]
        if asked.path != entry.path:
            head.append(f"{asked.path} was merged into it.")
        head += ["Relations:", *relations] if relations else ["No relations."]
        above = fill_lines(head, max_tokens=max_tokens // 2)
        room = max_tokens - count_tokens(above) - 20  # for the line that says where it goes on
        shown = _cut_at(text[start:], room)
        end = start + len(shown)
        more = f"\n… continues: get_entry with start={end}." if end < len(text) else ""
        return f"{above}\n\n{shown}{more}"

    def report_learning(
        self,
        title: str,
        text: str,
        *,
        connections: Sequence[Connection],
        actor: str,
        allow_leak: bool,
        allow_duplicate: bool,
    ) -> str:
        with open_bank(self.settings, self.root) as bank:
            relates = [f"{each.type}:{bank.find(each.entry).path}:{each.note}" for each in connections]
            learned = learn(
                bank, title, text, make_stamp(actor or self.actor), relates=relates, allow_leak=allow_leak,
                allow_duplicate=allow_duplicate,
            )  # fmt: skip
        lines = [f"Learned: {learned.path}. query_knowledge and get_entry find it from now on."]
        return "\n".join([*lines, *(_tell(event) for event in learned.events)])

    def link_entries(self, entry: str, type_: str, to: str, *, note: str, actor: str, allow_leak: bool) -> str:
        with open_bank(self.settings, self.root) as bank:
            stamp = make_stamp(actor or self.actor)
            return _tell(relate(bank, entry, type_, to, stamp, note=note, allow_leak=allow_leak))

    def unlink_entries(self, entry: str, type_: str, to: str, *, reason: str, actor: str) -> str:
        with open_bank(self.settings, self.root) as bank:
            return _tell(unrelate(bank, entry, type_, to, make_stamp(actor or self.actor), reason=reason))

    def impact(self, name: str, *, max_hops: int | None, top: int, max_tokens: int) -> str:
        with Index(self.settings, self.root) as index:
            text = index.impact(name, max_hops=max_hops, top=top, reasons=False).render(cite=True)
        return fill_lines(text.split("\n"), max_tokens=max_tokens)

    def path(self, source: str, target: str, *, n: int, max_hops: int, direction: str, max_tokens: int) -> str:
        with Index(self.settings, self.root) as index:
            found = index.path(source, target, n=n, max_hops=max_hops, direction=direction)
            text = found.render(show_sources=True)
        return fill_lines(text.split("\n"), max_tokens=max_tokens)

    def sql(self, query: str, *, max_rows: int, max_tokens: int) -> str:
        with Index(self.settings, self.root) as index:
            frame = index.sql(query)
        lines = render_frame(frame.head(max_rows)).split("\n")[:-1]
        n_rows = f"({frame.height} rows" + (f", the first {max_rows} shown)" if frame.height > max_rows else ")")
        return fill_lines([n_rows, *lines], max_tokens=max_tokens)


def fill_lines(lines: Iterable[str], *, max_tokens: int) -> str:
    """As many of the lines, in order, as fit the tokens; the rest is counted. A first line that is more is cut."""
    all_lines = list(lines)
    room = max_tokens - 15  # for the line that counts the rest
    kept: list[str] = []
    for line in all_lines:
        cost = count_tokens(line + "\n")
        if cost > room:
            break
        kept.append(line)
        room -= cost
    if not kept and all_lines:
        return cut_text(all_lines[0], budget=max_tokens, count=count_tokens)
    n_left = len(all_lines) - len(kept)
    lines_left = "1 more line" if n_left == 1 else f"{n_left} more lines"
    rest = [f"… {lines_left}: raise max_tokens, or ask for less."] if n_left else []
    return "\n".join([*kept, *rest]).strip("\n")


def _list_entries(answer: Answer) -> list[str]:
    """Each document once, with what hangs on it; `get_entry` takes the paths."""
    first: dict[str, Source] = {}
    for source in answer.sources:
        first.setdefault(source.document, source)
    if not first:
        return []
    lines = ["Entries (get_entry takes the path):"]
    titles = {source.document: source.path for source in first.values()}
    for source in first.values():
        titles |= {each.id: each.path for each in (source.folded.related if source.folded else ())}
    for source in first.values():
        marks = [f"{word} {', '.join(titles[i] for i in ids)}" for word, ids in source.marks if ids]
        lines.append(f"{source.rank}. {source.path} - {source.title}" + (f" ({'; '.join(marks)})" if marks else ""))
        related = source.folded.related if source.folded else ()
        lines += [f"   {each.render(titles)}" for each in related]
    return lines


def _list_places(answer: Answer) -> list[str]:
    """Where each citation of the answer stands; a model's words are followed by the quote."""
    if not answer.citations:
        return []
    lines = ["Citations:"]
    for citation in answer.citations:
        quote = f' "{" ".join(citation.quote.split())}"' if answer.usage.is_of_model else ""
        lines.append(f"{citation.ref} = {citation.path} [{citation.start}:{citation.end}]{quote}")
    return list(dict.fromkeys(lines))


def _list_relations(bank: Bank, path: str) -> Iterable[str]:
    """What people and agents wrote up to now, then the typed links of the published documents."""
    written = bank.state.around(path)
    for relation in written:
        end, arrow = (relation.to, "->") if relation.entry == path else (relation.entry, "<-")
        yield f"  {arrow} {relation.type} {end}" + (f": {relation.note}" if relation.note else "")
    if bank.index is None:
        return
    rows = bank.index.frame(
        "select r.type, r.note, s.path as source, t.path as target from entry_relations r "
        "join documents s on s.id = r.from_document_id join documents t on t.id = r.to_document_id "
        "where r.origin = 'link' and ? in (s.path, t.path) order by all",
        (path,),
    )
    triples = {relation.triple for relation in written}
    for type_, note, source, target in rows.iter_rows():
        if (source, type_, target) not in triples:
            end, arrow = (target, "->") if source == path else (source, "<-")
            yield f"  {arrow} {type_} {end}" + (f": {note}" if note else "")


def _cut_at(text: str, max_tokens: int) -> str:
    """The longest start of a text that fits, at a line end where one is near."""
    from graphrag.context import CUT_MARK

    cut = cut_text(text, budget=max_tokens, count=count_tokens)
    if cut == text:
        return text
    start = cut.removesuffix(CUT_MARK).removesuffix("…")
    line_end = start.rfind("\n")
    return start[: line_end + 1] if line_end > len(start) // 2 else start


def _tell(event: Event) -> str:
    """`created: a.md corrects b.md (event 1a2b3c)`."""
    words = {"create": "created", "delete": "removed", "already_present": "is there already, unchanged"}
    said = words.get(event.action, event.action)
    return f"{said}: {' '.join(event.triple)} (event {event.event_id}, by {event.actor})"
