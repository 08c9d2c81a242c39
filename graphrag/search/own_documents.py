"""Documents about what the best passages name: the second hop of a question, without a stated relationship.

"Who founded the network that Thumb Wrestling Federation is on?" The passage that is most like it names Cartoon Network,
and a document of that title says who did, in words that the question does not hold. Notes, articles and service pages
are written this way: a title is a promise that the text is about it. The entity and the document meet in the table
entity_documents (graphrag/store/views.py).

Reads text_units, entity_documents. Does not: look for names in the question (seeds.py) or walk relationships
(neighborhood.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from graphrag.search.lookups import one_of
from graphrag.search.ranking import Likeness

if TYPE_CHECKING:
    from graphrag.store import Index

# The passages whose entities are followed, and the documents that come of it. Measured on 100 HotpotQA questions
# (docs/evaluation.md): recall .920 with one passage, .905 with three, .880 with five; on the sample one is worse. Three
# or all documents make no difference.
N_FOLLOWED, N_OWN_DOCUMENTS, MAX_OWN_UNITS = 3, 3, 400


def rank_own_documents(index: Index, passages: Mapping[str, float], likeness: Likeness) -> list[str]:
    """Text units of such documents, one a document, best first: score of the passage that names it, times nearness.

    passages: score by text unit id, best first; the first N_FOLLOWED are followed. Documents that hold one of these
    are left out: they need no second hop.
    """
    followed = dict(list(passages.items())[:N_FOLLOWED])
    is_followed, ids = one_of("id", list(followed))
    rows = index.frame(
        f"""
        with named as (
            select id as from_id, document_id, unnest(entity_ids) as entity_id from text_units where {is_followed})
        select n.from_id, v.id, v.document_id
        from named n join entity_documents d on d.entity_id = n.entity_id
        join text_units v on v.document_id = d.document_id
        where d.document_id not in (select document_id from named)
        order by all limit {MAX_OWN_UNITS}
        """,
        ids,
    ).rows()
    near = likeness.of({unit for _, unit, _ in rows})
    best: dict[str, tuple[float, str]] = {}
    for from_id, unit, document in rows:
        score = round(followed[from_id] * max(0.0, near.get(unit, 1.0)), 9)
        if document not in best or (-score, unit) < best[document]:
            best[document] = (-score, unit)
    return [unit for _, unit in sorted(best.values())[:N_OWN_DOCUMENTS]]
