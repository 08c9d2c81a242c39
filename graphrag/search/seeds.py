"""Where a search starts in the graph: the entities that a question names, and the one entity that a name means.

`find_named_entities` finds titles and aliases in a question, the longest first, without loading all names: candidate
word runs are looked up in SQL by their letters and digits alone, then compared by name key.
`find_named_documents` does the same for titles and file names of documents ("INC-226", "Redis failover").
`resolve_entity` resolves a name given to a command, in the order of specs/context-graph.md section 1, rule 9.

Reads entities, entity_names (titles and aliases, see views.py) and documents. Does not: rank, or walk.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphrag.errors import UnknownEntity, UsageError, shown_name
from graphrag.names import compact_key, name_key
from graphrag.search.ranking import STOP_WORDS
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_NAME_WORDS = 8
MAX_WORDS = 400
MIN_TITLE_LETTERS, MAX_NAMED_DOCUMENTS, MAX_BARE_NAME_WORDS = 5, 5, 3

_WORD = re.compile(r"[^\s,;:!?()\[\]{}\"“”„«»<>|`]+")
# Letters and digits alone; most names hold nothing else but spaces, and to replace these takes a third of the time.
_LETTERS = r"""case when regexp_full_match({0}, '[a-z0-9 ]*') then replace({0}, ' ', '')
            else regexp_replace({0}, '[^\pL\pN]+', '', 'g') end"""
_NAMES_SQL = f"""
select entity_id, title, name_key as surface, {_LETTERS.format("name_key")} as letters from entity_names
"""
_DOCUMENT_NAMES_SQL = rf"""
select id, {_LETTERS.format("name")} as letters
from (select id, path, lower(unnest([
          title, split_part(title, ':', 1), regexp_extract(path, '([^/]+?)(\.\w+)?$', 1)])) as name from documents)
order by path, id
"""


@dataclass(frozen=True)
class NamedEntity:
    """An entity that a question names, the words that name it, and whether other words had to choose it."""

    entity_id: str
    title: str
    surface: str
    position: int


def find_named_entities(index: Index, question: str) -> tuple[list[NamedEntity], list[str]]:
    """Entities whose title or alias stands in the question, in order, longest names first where they overlap.

    A name of several entities means the one whose title, type or description shares most words with the rest of the
    question; where that does not decide, all are kept and a notice says so.
    """
    words = list(_WORD.finditer(question))[:MAX_WORDS]
    runs = _word_runs(question, words)
    names = _find_names(index, {form for forms in runs.values() for form in forms})
    found: list[NamedEntity] = []
    notices: list[str] = []
    taken: set[int] = set()
    for (start, end), forms in sorted(runs.items(), key=lambda item: (item[0][0] - item[0][1], item[0][0])):
        if taken & set(range(start, end)):
            continue
        surface = question[words[start].start() : words[end - 1].end()]
        entities = _match_key(surface, {e for form in forms for e in names.get(form, ())})
        if not entities:
            continue
        taken |= set(range(start, end))
        if len(entities) > 1:
            entities, notice = _choose_homonym(index, entities, surface, question)
            notices += [notice] if notice else []
        found += [NamedEntity(entity_id, title, surface, start) for entity_id, title in sorted(entities.items())]
    return sorted(found, key=lambda entity: (entity.position, entity.title)), notices


def find_named_documents(index: Index, question: str) -> list[str]:
    """Ids of the documents whose title, title before a colon, or file name stands in the question; by path."""
    words = list(_WORD.finditer(question))[:MAX_WORDS]
    forms = {form for forms in _word_runs(question, words).values() for form in forms if len(form) >= MIN_TITLE_LETTERS}
    named = index.frame_once(_DOCUMENT_NAMES_SQL)
    found = named.filter(named["letters"].is_in(sorted(forms))).unique("id", maintain_order=True)
    return found["id"].to_list()[:MAX_NAMED_DOCUMENTS]


def nearest_names(index: Index, question: str) -> str:
    """`No entity "Reddis". Nearest: Redis.` for a question that is a name which no entity has, else empty."""
    name = question.strip(" ?!.")
    if not name or len(name.split()) > MAX_BARE_NAME_WORDS:
        return ""
    near = _nearest_titles(index, name)
    return f'No entity "{shown_name(name)}". Nearest: {", ".join(near)}.' if near else ""


def list_names(index: Index, entity_ids: Sequence[str]) -> list[str]:
    """Titles and aliases of some entities, folded, in order."""
    known = index.frame_once(_NAMES_SQL)
    return sorted(known.filter(known["entity_id"].is_in(list(entity_ids)))["surface"].to_list())


def group_names(index: Index, named: Sequence[NamedEntity]) -> list[list[str]]:
    """Titles and aliases of each thing that a question names, in the question's order; one place may mean several."""
    by_position: dict[int, list[str]] = {}
    for entity in named:
        by_position.setdefault(entity.position, []).append(entity.entity_id)
    return [list_names(index, by_position[position]) for position in sorted(by_position)]


def explain_unsettled(named: Sequence[NamedEntity]) -> str:
    """Why a yes/no question about several things has no answer."""
    surfaces = list(dict.fromkeys(entity.surface for entity in named))
    return f"No sentence that was found names all of: {', '.join(surfaces)}."


_CAPITALISED = re.compile(r"(?<=[a-z,] )[A-Z][\w-]*(?: [A-Z][\w-]*)*")
_HEADS = ("api", "cluster", "database", "department", "gateway", "group", "platform", "service", "squad", "team")


def explain_unknown_name(index: Index, question: str, named: Sequence[NamedEntity]) -> str:
    """`No entity "Legal Team". Nearest: Data Team.` for a name in a question (words in capitals, not its first) that no
    entity or document has and no passage holds, if the question names nothing else that is known; else empty. What is
    said of other teams does not answer "Who leads the Legal Team?", even where "Team" itself is a known name."""
    for match in _CAPITALISED.finditer(question):
        name, *_, head = match[0].lower(), *match[0].lower().split()
        if any(entity.surface.lower() not in name or entity.surface.lower() == name for entity in named):
            continue
        if named and head not in _HEADS:
            continue
        rows = index.frame("select 1 from text_units where contains(lower(text), ?) limit 1", (name,))
        if rows.is_empty() and not find_named_documents(index, question):
            return nearest_names(index, match[0]) or f'No entity "{shown_name(match[0])}".'
    return ""


def resolve_entity(index: Index, name: str) -> tuple[str, str]:
    """(id, title) of the entity that a name means: exact title, title by key, alias by key, human_readable_id as #12.

    Raises UnknownEntity with the nearest titles, UsageError when the name means several.
    """
    if not name.strip():
        raise UsageError("The name of an entity is empty.")
    exact = index.rows("select id, title from entities where title = ?", (name,))
    if exact:
        return str(exact[0][0]), str(exact[0][1])
    candidates = {entity for rows in _find_names(index, _forms(name)).values() for entity in rows}
    by_title = _match_key(name, {c for c in candidates if compact_key(c[1]) == compact_key(c[2])})
    for matches in (by_title, _match_key(name, candidates)):
        if len(matches) > 1:
            titles = ", ".join(sorted(matches.values()))
            raise UsageError(f'"{name}" is ambiguous: {titles}. Use one of these.')
        if matches:
            return next(iter(matches.items()))
    if number := re.fullmatch(r"#(\d{1,18})", name.strip()):
        rows = index.rows("select id, title from entities where human_readable_id = ?", (int(number[1]),))
        if rows:
            return str(rows[0][0]), str(rows[0][1])
        return _resolve_removed(index, name.strip(), int(number[1]))
    near = _nearest_titles(index, name)
    raise UnknownEntity(f'No entity "{shown_name(name)}".' + (f" Nearest: {', '.join(near)}." if near else ""))


def _resolve_removed(index: Index, name: str, number: int) -> tuple[str, str]:
    """What has the name of an entity that had the number once, such as the one that it was merged into."""
    was = index.find_label("entities", number)
    if not was or was.startswith("#"):
        raise UnknownEntity(f'No entity "{name}".')
    try:
        return resolve_entity(index, was)
    except UnknownEntity as error:
        raise UnknownEntity(f'No entity "{name}": it was "{was}". {error}') from None


def _word_runs(question: str, words: list[re.Match[str]]) -> dict[tuple[int, int], list[str]]:
    """Runs of up to MAX_NAME_WORDS words that may be a name, with the letter forms to look them up by."""
    runs: dict[tuple[int, int], list[str]] = {}
    for start in range(len(words)):
        for end in range(start + 1, min(start + MAX_NAME_WORDS, len(words)) + 1):
            surface = question[words[start].start() : words[end - 1].end()]
            if not _may_be_name(words[start:end]):
                continue
            if forms := _forms(surface):
                runs[start, end] = sorted(forms)
    return runs


def _may_be_name(words: Sequence[re.Match[str]]) -> bool:
    """A name may hold a stop word ("Bank of China"), but does not begin or end with one; except in upper case, as in
    "IT" or, at its end, "Team A"."""
    first, last = words[0][0].strip("'’.?!"), words[-1][0].strip("'’.?!")
    if len(words) == 1:
        return first.casefold() not in STOP_WORDS or (len(first) > 1 and first.isupper())
    return first.casefold() not in STOP_WORDS and (last.casefold() not in STOP_WORDS or last.isupper())


def _forms(surface: str) -> set[str]:
    """Letters and digits of a surface, of its name key and of its search terms, with and without a plural s."""
    folded = "".join(split_search_terms(surface.lower()))
    letters = {re.sub(r"[\W_]+", "", text.lower()) for text in (surface, name_key(surface), folded)}
    return {form for form in letters | {form + "s" for form in letters} if form}


def _find_names(index: Index, forms: set[str]) -> dict[str, set[tuple[str, str, str]]]:
    """(entity_id, title, surface) of every title and alias that has one of the letter forms, by form."""
    if not forms:
        return {}
    known = index.frame_once(_NAMES_SQL)
    rows = known.filter(known["letters"].is_in(sorted(forms))).rows()
    names: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for entity_id, title, surface, letters in rows:
        names[letters].add((entity_id, title, surface))
    return names


def _match_key(surface: str, candidates: set[tuple[str, str, str]]) -> dict[str, str]:
    """id -> title of the candidates whose surface has the same name key, spaces and a plural aside."""
    keys = _comparable(surface) | _comparable(surface.rstrip(".?!'’"))
    return {entity_id: title for entity_id, title, known in sorted(candidates) if _comparable(known) & keys}


def _comparable(surface: str) -> set[str]:
    """The compact name key; and the search terms, whose plurals are folded, unless symbols such as + matter."""
    keys = {compact_key(surface)}
    return keys if re.search(r"[^\w\s-]", surface) else keys | {"".join(split_search_terms(surface.lower()))}


def _choose_homonym(index: Index, entities: dict[str, str], surface: str, question: str) -> tuple[dict[str, str], str]:
    """The one of several entities of a name that the question's other words point to, or all with a notice."""
    rest = {term for term in split_search_terms(question.replace(surface, " ")) if term not in STOP_WORDS}
    rows = index.rows(
        "select id, title || ' ' || type || ' ' || description as text from entities "
        "where id in (select unnest(?::varchar[])) order by id",
        (sorted(entities),),
    )
    shared = {entity_id: len(rest & set(split_search_terms(text))) for entity_id, text in rows}
    best = max(shared.values(), default=0)
    winners = [entity_id for entity_id, n in shared.items() if n == best]
    if best and len(winners) == 1:
        return {winners[0]: entities[winners[0]]}, ""
    return entities, f'"{surface}" means several: {", ".join(sorted(entities.values()))}.'


def _nearest_titles(index: Index, name: str, *, n: int = 3) -> list[str]:
    """Titles that look like a name: by edit similarity of the whole or of the first word, or by a shared word."""
    from rapidfuzz import fuzz, process

    rows = index.frame("select name_key, title from entity_names order by title, name_key").rows()
    if not rows:
        return []
    asked = name.casefold()
    words = {word for word in split_search_terms(name) if len(word) > 1}
    keys = [str(key) for key, _ in rows]
    whole = process.cdist([asked], keys, scorer=fuzz.ratio)[0]
    first = process.cdist([asked], [key.split(" ")[0] for key in keys], scorer=fuzz.ratio)[0]
    scored = []
    for (key, title), by_whole, by_first in zip(rows, whole.tolist(), first.tolist(), strict=True):
        shares = any(word in key for word in words) and bool(words & set(split_search_terms(key)))
        if by_whole >= 60 or by_first >= 75 or shares:
            scored.append((-max(by_whole, 0.9 * by_first, 50.0 if shares else 0.0), title))
    return list(dict.fromkeys(title for _, title in sorted(scored)))[:n]
