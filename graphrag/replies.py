"""Read what a model answered to the extraction prompts: entities, relations and claims. Total: never raises.

`parse_graph_reply` and `parse_claims_reply` take the reply's text and give every record that can be read, and every
line that cannot with its reason; nothing is dropped without a count (specs: the 38 classes of replies are the table in
tests/test_replies.py). Names are cleaned but stay as the model wrote them. Relations carry the numbers of the
sentences they rest on; offsets are made of them by the extraction stage, which knows the sentences.

Does not: find the records in the text (reply_records.py), read JSON replies such as reports (json_replies.py), make
ids or offsets, or ask again.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from graphrag.loose_json import Json, join_surrogates
from graphrag.reply_records import (
    CLAIM,
    ENTITY,
    NAME_KEYS,
    OBJECT_END_KEYS,
    RELATION,
    SENTENCE_KEYS,
    SUBJECT_KEYS,
    TAG_OF,
    Record,
    Records,
    read_records,
)

MAX_NAME = 200  # characters
MAX_DESCRIPTION = 4_000
MAX_PREDICATE = 60
MAX_RANGE = 1_000  # sentences that one "2-1000" may name
CUT_MARK = " […]"
UNKNOWN_TYPE = "unknown"
DEFAULT_PREDICATE = "related_to"
NO_NAMES = frozenset({"", "n/a", "none", "-", "–", "—"})
COMMON_TYPES = frozenset({
    "person", "organization", "organisation", "company", "team", "group", "role", "place", "location", "geo", "city",
    "country", "facility", "event", "incident", "date", "time", "product", "service", "system", "component", "database",
    "technology", "tool", "language", "framework", "library", "software", "concept", "document", "law", "material",
    "work", "artifact", "project", "process", "other", UNKNOWN_TYPE,
})  # fmt: skip


class Entity(NamedTuple):
    """An entity the reply names. `is_in_text` is false where its name does not stand in the text unit."""

    name: str
    type: str
    descriptions: tuple[str, ...]
    is_in_text: bool


class Relation(NamedTuple):
    """A relation the reply states; each end is the name of one of the reply's entities.

    `sentences` are 1-based numbers of the text unit's sentences, sorted; empty where the model gave none that exist.
    """

    subject: str
    predicate: str
    object: str
    description: str
    strength: float | None
    sentences: tuple[int, ...]
    is_in_text: bool


class Claim(NamedTuple):
    subject: str
    object: str
    type: str
    status: str
    start_date: str
    end_date: str
    description: str
    source_text: str
    sentences: tuple[int, ...]
    is_in_text: bool


class Unreadable(NamedTuple):
    """A line of the reply that is no record: unreadable_record, truncated, self_relationship or name_too_long."""

    reason: str
    raw: str


class GraphReply(NamedTuple):
    """What a reply holds, and what became of all of it.

    n_records = records that were read, repeats and extra entities of relations' ends not counted off or on.
    `problem` is empty, or why the whole reply is of no use: empty_reply, refusal or unreadable_reply.
    """

    entities: list[Entity]
    relations: list[Relation]
    unreadable: list[Unreadable]
    problem: str
    is_truncated: bool
    n_records: int
    n_implied_entities: int
    n_duplicates: int
    n_extra_fields: int
    n_not_in_text: int
    n_prose_lines: int

    @property
    def should_ask_again(self) -> bool:
        return bool(self.problem) or len(self.unreadable) > self.n_records


class ClaimsReply(NamedTuple):
    claims: list[Claim]
    unreadable: list[Unreadable]
    problem: str
    is_truncated: bool
    n_records: int
    n_duplicates: int
    n_extra_fields: int
    n_not_in_text: int
    n_prose_lines: int

    @property
    def should_ask_again(self) -> bool:
        return bool(self.problem) or len(self.unreadable) > self.n_records


def parse_graph_reply(
    reply: str | None,
    *,
    text: str | None = None,
    n_sentences: int | None = None,
    types: Collection[str] = (),
    is_cut: bool = False,
) -> GraphReply:
    """Entities and relations of a reply to the extraction prompt or to a gleaning turn.

    text: the text unit; names that do not stand in it are kept and marked. n_sentences: sentence numbers above it are
    dropped. types: entity types asked for, beside the common ones. is_cut: the provider said finish_reason=length.
    """
    found = read_records(reply or "")
    known_types = COMMON_TYPES | {entity_type.casefold() for entity_type in types}
    unreadable = [Unreadable("unreadable_record", raw) for raw in found.rejected]
    entities: dict[tuple[str, str], list[str]] = {}
    relations: dict[Relation, None] = {}
    n_records = n_duplicates = n_extra = 0
    closes_tuples = any(record.form == "tuple" and record.is_closed for record in found.records)
    for record in found.records:
        if _is_truncated(record, is_cut=is_cut, closes_tuples=closes_tuples):
            unreadable.append(Unreadable("truncated", record.raw))
            continue
        item, n_more = _interpret(record, known_types, n_sentences)
        if isinstance(item, Unreadable):
            unreadable.append(item)
            continue
        n_records += 1
        n_extra += n_more
        if isinstance(item, Entity):
            n_duplicates += not _add_entity(entities, item)
        else:
            n_duplicates += item in relations
            relations.setdefault(item)
    n_declared = len(entities)
    placed = _name_ends(entities, relations)
    in_text = _TextNames(text)
    listed = [
        Entity(name, entity_type, tuple(descriptions), in_text.holds(name))
        for (name, entity_type), descriptions in entities.items()
    ]
    return GraphReply(
        listed,
        [r._replace(is_in_text=in_text.holds(r.subject) and in_text.holds(r.object)) for r in placed],
        unreadable,
        _find_problem(reply, found, has_lines=bool(found.records or unreadable)),
        is_cut or found.is_in_thought or any(line.reason == "truncated" for line in unreadable),
        n_records,
        len(entities) - n_declared,
        n_duplicates,
        n_extra,
        len({entity.name for entity in listed if not entity.is_in_text}),
        len(found.prose),
    )


def parse_claims_reply(
    reply: str | None, *, text: str | None = None, n_sentences: int | None = None, is_cut: bool = False
) -> ClaimsReply:
    """Claims of a reply: `["C", subject, object, type, status, start, end, description, [sentences]]` a line, or the
    reference's tuples `(SUBJECT<|>OBJECT<|>TYPE<|>STATUS<|>START<|>END<|>DESCRIPTION<|>SOURCE)`.
    """
    found = read_records(reply or "")
    unreadable = [Unreadable("unreadable_record", raw) for raw in found.rejected]
    claims: dict[Claim, None] = {}
    n_records = n_duplicates = n_extra = 0
    closes_tuples = any(record.form == "tuple" and record.is_closed for record in found.records)
    in_text = _TextNames(text)
    for record in found.records:
        if _is_truncated(record, is_cut=is_cut, closes_tuples=closes_tuples):
            unreadable.append(Unreadable("truncated", record.raw))
            continue
        item, n_more = _claim_of(record, n_sentences)
        if isinstance(item, Unreadable):
            unreadable.append(item)
            continue
        item = item._replace(is_in_text=in_text.holds(item.subject))
        n_records, n_extra, n_duplicates = n_records + 1, n_extra + n_more, n_duplicates + (item in claims)
        claims.setdefault(item)
    return ClaimsReply(
        list(claims),
        unreadable,
        _find_problem(reply, found, has_lines=bool(found.records or unreadable)),
        is_cut or found.is_in_thought or any(line.reason == "truncated" for line in unreadable),
        n_records,
        n_duplicates,
        n_extra,
        len({claim.subject for claim in claims if not claim.is_in_text}),
        len(found.prose),
    )


# From fields to records


def _is_truncated(record: Record, *, is_cut: bool, closes_tuples: bool) -> bool:
    """Whether the end of an open record is missing, rather than only its closing bracket."""
    if not record.is_open:
        return False
    if record.form == "object":
        return True
    n_whole = 3 if record.tag == ENTITY else 5
    if record.form == "array":
        return len(record.fields) < (n_whole + 1 if is_cut and record.tag != ENTITY else n_whole)
    last = record.fields[-1] if record.fields else ""
    if isinstance(last, str) and len(last) > 1 and last[0] in "\"“'" and last[-1] in "\"”'":
        return len(record.fields) < min(n_whole, 4)
    is_quoted = isinstance(last, str) and last[:1] in ('"', "“")
    return is_cut or is_quoted or (record.form == "tuple" and closes_tuples)


def _interpret(
    record: Record, known_types: Collection[str], n_sentences: int | None
) -> tuple[Entity | Relation | Unreadable, int]:
    """The entity or relation a record states, or why it states none; and how many fields were over."""
    n_extra = 0
    if record.form == "object":
        item = _object_of(record, n_sentences)
    elif record.tag == ENTITY:
        fields = _drop_doubled(record, 3)
        item = Entity(clean_name(_at(fields, 0)), clean_type(_at(fields, 1)), (clean_text(_at(fields, 2)),), True)
        n_extra = max(0, len(fields) - 3)
    elif record.tag == RELATION and len(record.fields) == 3 and _is_entity_tagged_relation(record, known_types):
        name, entity_type, description = record.fields
        item = Entity(clean_name(name), clean_type(entity_type), (clean_text(description),), True)
    elif record.tag == RELATION and record.form == "array":
        item, n_extra = _relation_of_array(record.fields, n_sentences)
    elif record.tag == RELATION:
        item, n_extra = _relation_of_tuple(record)
    else:
        item = None
    return _check(item, record.raw), n_extra


def _check(item: Entity | Relation | None, raw: str) -> Entity | Relation | Unreadable:
    if item is None:
        return Unreadable("unreadable_record", raw)
    names = [item.name] if isinstance(item, Entity) else [item.subject, item.object]
    if any(name.casefold() in NO_NAMES for name in names):
        return Unreadable("unreadable_record", raw)
    if any(len(name) > MAX_NAME for name in names):
        return Unreadable("name_too_long", raw[:MAX_NAME] + CUT_MARK)
    if isinstance(item, Relation) and item.subject.casefold() == item.object.casefold():
        return Unreadable("self_relationship", raw)
    return item


def _is_entity_tagged_relation(record: Record, known_types: Collection[str]) -> bool:
    second = record.fields[1]
    return isinstance(second, str) and clean_text(second).casefold() in known_types


def _drop_doubled(record: Record, n_expected: int) -> list[Json]:
    """Without the empty fields of doubled delimiters, as far as there are more fields than expected."""
    fields = list(record.fields)
    while record.form != "array" and len(fields) > n_expected and "" in fields:
        fields.remove("")
    return fields


def _relation_of_array(fields: list[Json], n_sentences: int | None) -> tuple[Relation, int]:
    subject, predicate, object_, description, strength, sentences = (_at(fields, i) for i in range(6))
    if len(fields) < 6 and _is_number(description) and (strength is None or isinstance(strength, list)):
        description, strength, sentences = None, description, strength
    elif isinstance(strength, list) and sentences is None:
        strength, sentences = None, strength
    relation = Relation(
        clean_name(subject), clean_predicate(predicate), clean_name(object_), clean_text(description),
        parse_strength(strength), parse_sentences(sentences, n_sentences), True,
    )  # fmt: skip
    return relation, max(0, len(fields) - 6)


def _relation_of_tuple(record: Record) -> tuple[Relation, int]:
    fields = _drop_doubled(record, 4)
    strength = parse_strength(fields[-1]) if len(fields) > 3 else None
    n_extra = max(0, len(fields) - 4)
    if record.form == "bare" and len(fields) == 4 and strength is None:
        description = fields[3]  # LightRAG: source, target, keywords, description
        n_extra = 1
    else:
        description = _at(fields, 2)
        if len(fields) == 3 and _is_number(description):
            strength, description = parse_strength(description), None
    relation = Relation(
        clean_name(_at(fields, 0)), DEFAULT_PREDICATE, clean_name(_at(fields, 1)), clean_text(description),
        strength, (), True,
    )  # fmt: skip
    return relation, n_extra


def _object_of(record: Record, n_sentences: int | None) -> Entity | Relation | None:
    named = record.named
    subject, object_ = _pick(named, SUBJECT_KEYS), _pick(named, OBJECT_END_KEYS)
    description = _pick(named, ("description", "desc", "summary", "explanation"))
    if subject is not None and object_ is not None:
        predicate = _pick(named, ("predicate", "relation", "relationship", "rel", "relationship_type", "relation_type"))
        if predicate is None and TAG_OF.get(str(named.get("type") or "relation").casefold()) != RELATION:
            predicate = named.get("type")
        return Relation(
            clean_name(subject), clean_predicate(predicate), clean_name(object_), clean_text(description),
            parse_strength(_pick(named, ("strength", "weight", "score", "relationship_strength"))),
            parse_sentences(_pick(named, SENTENCE_KEYS), n_sentences), True,
        )  # fmt: skip
    name = _pick(named, NAME_KEYS)
    if name is None or record.tag == RELATION:
        return None
    kinds = [_pick(named, (key,)) for key in ("entity_type", "category", "kind", "class", "label", "type")]
    kind = next((kind for kind in kinds if kind is not None and TAG_OF.get(str(kind).casefold()) != ENTITY), None)
    return Entity(clean_name(name), clean_type(kind), (clean_text(description),), True)


def _claim_of(record: Record, n_sentences: int | None) -> tuple[Claim | Unreadable, int]:
    if record.form == "object":
        keys = (SUBJECT_KEYS, OBJECT_END_KEYS, ("type", "claim_type"), ("status", "claim_status"),
                ("start_date", "start"), ("end_date", "end"), ("description", "claim"))  # fmt: skip
        fields = [_pick(record.named, names) for names in keys]
        last: Json = _pick(record.named, SENTENCE_KEYS)
        source = _pick(record.named, ("source_text", "quote"))
        n_extra = 0
    else:
        fields = record.fields[:7]
        last = _at(record.fields, 7)
        source = last if record.form != "array" else None
        n_extra = max(0, len(record.fields) - 8)
    is_claim = record.tag in (CLAIM, "") and (record.form != "array" or record.tag == CLAIM) and len(fields) > 3
    subject, object_ = clean_name(_at(fields, 0)), clean_name(_at(fields, 1))
    description = clean_text(_at(fields, 6))
    if not is_claim or subject.casefold() in NO_NAMES or not description:
        return Unreadable("unreadable_record", record.raw), 0
    if len(subject) > MAX_NAME or len(object_) > MAX_NAME:
        return Unreadable("name_too_long", record.raw[:MAX_NAME] + CUT_MARK), 0
    status = clean_text(_at(fields, 3)).casefold()
    claim = Claim(
        subject, "" if object_.casefold() in NO_NAMES else object_, clean_type(_at(fields, 2)),
        status if status in ("true", "false") else "suspected",
        _clean_date(_at(fields, 4)), _clean_date(_at(fields, 5)), description, clean_text(source),
        parse_sentences(last, n_sentences) if record.form != "tuple" else (), True,
    )  # fmt: skip
    return claim, n_extra


# All records of a reply together


def _add_entity(entities: dict[tuple[str, str], list[str]], item: Entity) -> bool:
    """Add what is new in it; false for an exact repeat. A known type takes the place of unknown."""
    description = item.descriptions[0]
    key = (item.name, item.type)
    if key not in entities and item.type == UNKNOWN_TYPE:
        key = next((known for known in entities if known[0] == item.name), key) if len(entities) < 500 else key
    elif key not in entities and (item.name, UNKNOWN_TYPE) in entities:
        entities[key] = entities.pop((item.name, UNKNOWN_TYPE))
        if description and description not in entities[key]:
            entities[key].append(description)
        return True
    is_new = key not in entities
    held = entities.setdefault(key, [])
    if description and description not in held:
        held.append(description)
        return True
    return is_new


def _name_ends(entities: dict[tuple[str, str], list[str]], relations: dict[Relation, None]) -> list[Relation]:
    """Relations whose ends are names in `entities`: spelled as declared, or added there with an unknown type."""
    names = {name for name, _ in entities}
    by_fold: dict[str, str] = {}
    for name, _ in entities:
        by_fold.setdefault(name.casefold(), name)
    placed: dict[Relation, None] = {}
    for relation in relations:
        ends = []
        for end in (relation.subject, relation.object):
            name = end if end in names else by_fold.setdefault(end.casefold(), end)
            if name not in names:
                names.add(name)
                entities[(name, UNKNOWN_TYPE)] = []
            ends.append(name)
        placed.setdefault(relation._replace(subject=ends[0], object=ends[1]))
    return list(placed)


class _TextNames:
    """Whether a name stands in the text unit as a whole word, without regard to case and runs of spaces."""

    def __init__(self, text: str | None) -> None:
        self.text = None if text is None else _fold(text)
        self.known: dict[str, bool] = {}

    def holds(self, name: str) -> bool:
        if self.text is None:
            return True
        if name not in self.known:
            self.known[name] = self._find(_fold(name), self.text)
        return self.known[name]

    def _find(self, name: str, text: str) -> bool:
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            if not (_joins(text[start - 1 : start], name[0]) or _joins(name[-1], text[end : end + 1])):
                return True
            start = text.find(name, end)
        return False


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())


def _joins(left: str, right: str) -> bool:
    """Two characters of one word: letters or digits of a script that separates words by spaces."""
    return left.isalnum() and right.isalnum() and _is_spaced_script(left) and _is_spaced_script(right)


def _is_spaced_script(char: str) -> bool:
    code = ord(char)
    return code < 0x0E00 or 0x10A0 <= code < 0x1780 or 0x1E00 <= code < 0x2000


_NOTHING = re.compile(
    r"\W*(?:none|nothing(?: found)?|n/?a|empty|\[\s*\]"
    r"|no\s+(?:\w+\s+){0,3}?(?:entit|relation|record|claim|more)\w*.*)\W*",
    re.I | re.S,
)
_NOTHING_INSIDE = re.compile(
    r"\b(?:no|any|not any)\s+(?:\w+\s+){0,3}?(?:entities|relations|relationships|records|claims)\b", re.I
)
_REFUSAL = re.compile(
    r"\b(?:i['’]?m (?:sorry|unable|not able)|i am (?:sorry|unable|not able)|i apologi[sz]e"
    r"|my apologies|sorry,|unfortunately, i\b"
    r"|i (?:cannot|can['’]?t|can not|won['’]t|am not able to|must decline|need to decline)|as an ai\b|content policy"
    r"|unable to (?:assist|help|process|comply|fulfil)|(?:cannot|can['’]t) (?:assist|help|fulfil|comply|process)"
    r"|es tut mir leid|ich kann nicht|lo siento|no puedo|je suis désolé|désolé,|je ne peux pas|mi dispiace|desculpe)"
    r"|抱歉|对不起|對不起|无法|申し訳|できません|죄송|извините|к сожалению",
    re.I,
)


def is_refusal(text: str) -> bool:
    """Whether a text begins as an apology or a refusal does, in some languages."""
    return bool(_REFUSAL.search(text[:400]))


def _find_problem(reply: str | None, found: Records, *, has_lines: bool) -> str:
    if has_lines:
        return ""
    if found.is_in_thought:
        return "unreadable_reply"
    prose = " ".join(found.prose)
    if not prose:
        said_nothing = found.n_empty > 0 or found.is_ended
        return "" if said_nothing else "empty_reply"
    head = prose[:400]
    if _NOTHING.fullmatch(head) or (len(prose) < 400 and _NOTHING_INSIDE.search(head)):
        return ""
    return "refusal" if is_refusal(prose) else "unreadable_reply"


# Fields


def _at(fields: list[Json], position: int) -> Json:
    return fields[position] if position < len(fields) else None


def _pick(named: dict[str, Json], keys: Collection[str]) -> Json:
    return next((named[key] for key in keys if named.get(key) is not None), None)


_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,10});", re.I)
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SPACES = re.compile(r"\s+")
_QUOTE_PAIRS = {('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“")}


def clean_text(value: Json, *, limit: int = MAX_DESCRIPTION) -> str:
    """One line of text of a field: escapes and HTML entities decoded, control characters and outer quotes removed."""
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        value = "; ".join(item for item in value if isinstance(item, str))
    text = str(value)
    if "\\u" in text:
        text = join_surrogates(_UNICODE_ESCAPE.sub(lambda code: chr(int(code[1], 16)), text))
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if not text.isprintable():
        text = "".join(char for char in text if char.isspace() or unicodedata.category(char) not in ("Cc", "Cs"))
    text = _strip_quotes(_SPACES.sub(" ", text).strip())
    return text if len(text) <= limit else text[:limit].rstrip() + CUT_MARK


def _strip_quotes(text: str) -> str:
    """Without quotes or markdown emphasis around the whole, unless they occur inside too; a lone one is removed too."""
    while len(text) > 1:
        if (text[0], text[-1]) in _QUOTE_PAIRS and text.count(text[0]) <= 2:
            text = text[1:-1].strip()
        elif len(text) > 4 and text.startswith("**") and text.endswith("**"):
            text = text[2:-2].strip()
        else:
            break
    if text.count('"') == 1 and (text[0] == '"' or text[-1] == '"'):
        text = text.strip('"').strip()
    return text


def clean_name(value: Json) -> str:
    return clean_text(value, limit=MAX_NAME + 1)


def clean_type(value: Json) -> str:
    """Lower case, the first of several ("Organization/Company"), without brackets and emphasis; else `unknown`."""
    text = clean_text(value, limit=MAX_NAME).casefold().strip("*_`#<>[]{} ")
    if text in NO_NAMES:
        return UNKNOWN_TYPE
    text = _SPACES.sub(" ", re.split(r"[/(,|;:]", text, maxsplit=1)[0]).strip("*_`.\"' ")
    is_type = any(char.isalpha() for char in text) and len(text) <= MAX_PREDICATE
    return text if is_type else UNKNOWN_TYPE


def clean_predicate(value: Json) -> str:
    """Lower snake_case (`Depends On`, `dependsOn`: depends_on); `related_to` where there is none."""
    text = clean_text(value, limit=MAX_NAME)
    if text.casefold() in NO_NAMES:
        return DEFAULT_PREDICATE
    text = re.sub(r"([a-z])([A-Z])", r"\1_\2", text).casefold()
    text = re.sub(r"[\W_]+", "_", text).strip("_")
    if len(text) > MAX_PREDICATE:
        text = text[:MAX_PREDICATE].rsplit("_", 1)[0].strip("_") or text[:MAX_PREDICATE]
    return text or DEFAULT_PREDICATE


_NUMBER = re.compile(
    r"[\s\"'“(*~≈]*([-+]?\d{1,30}(?:[.,]\d{1,30})?(?:e[-+]?\d{1,3})?)(?![\w])\s*(?:(?:/|out of)\s*(\d{1,6}))?", re.I
)


def parse_number(value: Json, *, scale: float) -> float | None:
    """The number a field begins with ("7", "7.5", "7/10", "85 out of 100" at the scale asked for), else None."""
    match = _NUMBER.match(value) if isinstance(value, str) else None
    if not match:
        return None
    number = float(match[1].replace(",", "."))
    whole = float(match[2]) if match[2] else 0.0
    number = number * scale / whole if whole else number
    return number if abs(number) != float("inf") else None


def parse_strength(value: Json) -> float | None:
    """A number clamped to 1..10, or None where none is readable."""
    number = parse_number(value, scale=10.0)
    return None if number is None else min(10.0, max(1.0, number))


def _is_number(value: Json) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"\s*-?\d{1,9}(?:\.\d{1,9})?(?:\s*/\s*10)?\s*", value))


_RANGE = re.compile(r"(\d{1,7})(?:\s{0,4}[-–—]\s{0,4}[a-z]?(\d{1,7}))?", re.I)


def parse_sentences(value: Json, n_sentences: int | None) -> tuple[int, ...]:
    """Sentence numbers of `2`, `"2"`, `"2-4"`, `[2, 3]`: sorted, from 1 to n_sentences (no upper limit if None)."""
    items = value if isinstance(value, list) else [value]
    numbers: set[int] = set()
    for item in items:
        for match in _RANGE.finditer(item[:2_000]) if isinstance(item, str) else ():
            first = int(match[1])
            last = min(int(match[2] or first), n_sentences or first + MAX_RANGE)
            numbers.update(range(first, last + 1))
        if len(numbers) > MAX_RANGE:
            break
    return tuple(sorted(n for n in numbers if n >= 1 and (n_sentences is None or n <= n_sentences)))


def _clean_date(value: Json) -> str:
    text = clean_text(value, limit=40)
    return "" if text.casefold() in NO_NAMES or not any(char.isdigit() for char in text) else text
