"""Rows ranked for a question by words (BM25) and by meaning (vectors), fused by reciprocal rank; and whether the best
of them have to do with the question at all.

Fusion: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning
methods" (2009), constant 60. On HotpotQA paragraphs BM25 and MiniLM fused beat either alone.

Does not: walk the graph (local_search.py) or know which rows are shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from graphrag import vectors
from graphrag.errors import BudgetSpent, LlmError
from graphrag.store.inverted_index import weigh_rarity
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrag.store import Index
    from graphrag.store.owners import Owners

RRF_CONSTANT = 60
MAX_QUESTION_CHARACTERS = 4_000  # a pasted log is cut: nothing after this changes what is found, only how long it takes
# A row is taken to have to do with the question when it holds this share of the question's terms, by their idf; with
# vectors, a lower share is enough for a row that is near in meaning, and the other way round: see is_relevant.
COVERAGE_FLOOR, COVERAGE_ALONE = 0.5, 0.75
MARGIN = 0.05
BLOCK = 512  # cosines

ANOTHER_MODEL = 'The index was embedded with another model: matched by words only. Run "graphrag index".'
# Function words and words that ask, not words that name. Kept short: a word left in only costs a little precision.
_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before behind being below between
    both but by can cannot could did do does doing down during each else ever few for from further get give had has
    have having he her here hers him his how however i if in into is it its itself just let like list many may me
    might more most much must my myself need no nor not of off on once one only or other our ours out over own per
    please same say shall she should show since so some such tell than that the their theirs them then there these
    they this those through to too under until up upon us very want was we were what when where whether which while
    who whom whose why will with would yes you your yours choose chose chosen explain describe happen happens happened
    s t don doesn isn
"""
# As written and as search terms, whose plurals are folded ("does" is the term "doe").
STOP_WORDS = frozenset(_STOP_WORDS.split()) | frozenset(split_search_terms(_STOP_WORDS))


@dataclass(frozen=True)
class Question:
    """A question ready to be matched: its content terms with their idf, and its vector where the index has vectors."""

    text: str
    terms: tuple[str, ...]
    idf: Mapping[str, float]  # by stem of the terms
    vector: NDArray[np.float32] | None = None
    embedder: vectors.Embedder | None = None

    def nearness(self, cosine: float) -> float:
        """A cosine on the scale where 0 is unrelated and 1 is near enough to answer; half the scale if unmeasured."""
        floor = self.embedder.floor if self.embedder else None
        if floor is None:
            return max(0.0, cosine)
        return max(0.0, (cosine - floor.unrelated) / (floor.related - floor.unrelated))

    def held_in(self, text: str) -> frozenset[str]:
        """Stems of the question's terms that a text holds in any form."""
        return _stems_of(text) & self.idf.keys()

    def share(self, stems: Collection[str]) -> float:
        """Share of the question's terms, weighted by idf, that these stems make; 0 without content terms."""
        total = sum(self.idf.values())
        return sum(weight for stem, weight in self.idf.items() if stem in stems) / total if total else 0.0

    def coverage(self, text: str) -> float:
        """Share of the question's terms, weighted by idf, that a text holds in any form."""
        return self.share(self.held_in(text))


@dataclass(frozen=True)
class Hit:
    """A ranked row: fused score (higher is better), its BM25 score (0 if not among the best) and its cosine."""

    owner_id: str
    score: float
    bm25: float
    cosine: float


class Likeness(NamedTuple):
    """Cosine of every row of a table with the question, and whose rows they are; None without vectors."""

    owners: Owners | None
    cosines: NDArray[np.float32] | None

    def of(self, wanted: Collection[str]) -> dict[str, float]:
        """Cosines of some rows; a row without a vector is not in it."""
        if self.owners is None or self.cosines is None:
            return {}
        rows = self.owners.find_rows(wanted)
        return _name_cosines(rows, self.cosines[list(rows.values())])

    def best(self, top: int) -> list[str]:
        """Ids of the nearest rows, nearest first, ties in table order."""
        import numpy as np

        if self.owners is None or self.cosines is None:
            return []
        cosines = self.cosines
        nearest = np.flatnonzero(cosines >= _find_floor(cosines, top))
        order = sorted(nearest.tolist(), key=lambda row: (-float(cosines[row]), row))[:top]
        return self.owners.list_ids(order)


def _find_floor(cosines: NDArray[np.float32], top: int) -> float:
    """A cosine that at least `top` rows reach and not many more: of the maxima of blocks, the `top`-th."""
    import numpy as np

    n_blocks = len(cosines) // BLOCK
    if n_blocks < top:
        return -math.inf
    maxima = np.fmax.reduce(cosines[: n_blocks * BLOCK].reshape(n_blocks, BLOCK), axis=1)
    maxima = maxima[~np.isnan(maxima)]  # of vectors without direction
    return float(np.partition(maxima, -top)[-top]) if len(maxima) >= top else -math.inf


@lru_cache(maxsize=1_024)
def _stems_of(text: str) -> frozenset[str]:
    """Stems of all terms of a text; a passage is asked for them where hops are weighed and where answers are quoted."""
    return frozenset(stem_term(term) for term in split_search_terms(text))


@lru_cache(maxsize=20_000)
def stem_term(term: str) -> str:
    """A term without the ending of a verb or noun form, so that owns, owned and owner meet; at least three letters."""
    for ending in ("ing", "ers", "ed", "er", "es", "s", "e", "d"):
        if term.endswith(ending) and len(term) - len(ending) >= 3:
            return term[: -len(ending)]
    return term


# "How does login work?" is about login.
_HOW_IT_WORKS = re.compile(r"^(\s*how (?:do|does|did) .+?) (?:work|function)\s*\??\s*$", re.IGNORECASE)


def question_terms(question: str) -> list[str]:
    """Search terms without stop words, each once, in order."""
    terms = list(dict.fromkeys(split_search_terms(_HOW_IT_WORKS.sub(r"\1", question))))
    return [term for term in terms if term not in STOP_WORDS]


OURS = "owner_table <> 'documents'"  # vectors of whole documents are another model's (store/note_vectors.py)


def shorten_question(question: str) -> str:
    """On one line, and no longer than what is read of it."""
    return " ".join(question.split())[:MAX_QUESTION_CHARACTERS]


def prepare_question(index: Index, question: str, *, model: str = "") -> tuple[Question, list[str]]:
    """The question with idf of its terms in text units and its vector, and notices on what could not be used.

    model `none` leaves vectors out; otherwise the model that made the vectors of the index counts, `model` only says
    where its folder lies now (onnx:FOLDER). Of a service (`index.embed_question`) the question has its vector alone, no
    embedder: sentences are not sent to it. Raises BudgetSpent where the vector might pass the budget.
    """
    text = shorten_question(question)
    terms = question_terms(text)
    notices: list[str] = []
    vector, embedder = None, None
    if model != "none":
        models = index.frame_once(f"select model from embeddings where {OURS} limit 1")["model"].to_list()
        if not models:
            notices.append("The index has no vectors: matched by words only.")
        elif vectors.is_service_name(models[0]):
            vector, problem = _ask_service(index, text, models[0])
            notices += [f"{problem} Matched by words only."] if problem else []
        elif problem := vectors.is_available(name := _locate(models[0], model)):
            notices.append(f"{problem} Matched by words only.")
        else:
            loaded = vectors.load_embedder(name)
            if made_vectors(index, loaded):
                embedder, vector = loaded, loaded.embed([text], is_query=True)[0]
            else:
                notices.append(ANOTHER_MODEL)
    return Question(text, tuple(terms), _idf(index, terms), vector, embedder), notices


def _ask_service(index: Index, text: str, model: str) -> tuple[NDArray[np.float32] | None, str]:
    """The vector of a text by the service that made those of the index, or why there is none."""
    if index.embed_question is None:
        return None, f"The index was embedded by {model}, which cannot be asked here."
    try:
        vector = index.embed_question(text, model)
    except BudgetSpent:
        raise
    except LlmError as error:
        return None, f"No vector of the question: {error}"
    if any(index.matrix(table).shape[1] != len(vector) for table in index.embedded):
        return None, f"{model} gives {len(vector)} dimensions now, the index has others."
    return vector, ""


def _locate(name: str, model: str) -> str:
    is_folder = name.startswith(vectors.ONNX_PREFIX) and model.startswith(vectors.ONNX_PREFIX)
    return model if is_folder else name


def made_vectors(index: Index, embedder: vectors.Embedder) -> bool:
    """Whether the vectors of the index can be compared with those of a loaded model: the run's fingerprint, where its
    manifest has one, is that of the model here, and so is the dimension. A model's name stays when its files change."""
    fingerprint = index.manifest.get("embedding_fingerprint")
    if fingerprint and fingerprint != vectors.fingerprint_model(embedder.name):
        return False
    return all(index.matrix(table).shape[1] == embedder.dim for table in index.embedded if table != "documents")


def measure_likeness(index: Index, question: Question, owner_table: str) -> Likeness:
    """One product of the table's vectors with the question's."""
    import numpy as np

    if question.vector is None or not len(matrix := index.matrix(owner_table)):
        return Likeness(None, None)
    return Likeness(index.owners(owner_table), np.asarray(matrix @ question.vector, dtype=np.float32))


def measure_rows(index: Index, question: Question, owner_table: str, wanted: Collection[str]) -> dict[str, float]:
    """Cosines of some rows of a table, of which no others are read; a row without a vector is not in it."""
    if question.vector is None or not wanted or not len(matrix := index.matrix(owner_table)):
        return {}
    rows = index.owners(owner_table).find_rows(wanted)
    return _name_cosines(rows, matrix[list(rows.values())] @ question.vector)


def _name_cosines(owners: Iterable[str], cosines: NDArray[np.float32]) -> dict[str, float]:
    return {owner: round(cosine, 6) for owner, cosine in zip(owners, cosines.tolist(), strict=True)}


def rank_rows(
    index: Index,
    question: Question,
    owner_table: str,
    *,
    top: int,
    likeness: Likeness | None = None,
    first: Sequence[str] = (),
) -> list[Hit]:
    """The best rows of a table by words and meaning, fused by rank; ties by id. `first` are ids that a third list, of
    what the question names, puts at its top, all at equal rank."""
    likeness = measure_likeness(index, question, owner_table) if likeness is None else likeness
    by_words = _search_words(index, question, owner_table, top=top)
    fused = _fuse(by_words, likeness.best(top), first, top=top)
    cosines = likeness.of(fused)
    return [Hit(owner, score, by_words.get(owner, 0.0), cosines.get(owner, 0.0)) for owner, score in fused.items()]


def _fuse(
    by_words: Collection[str], by_meaning: Collection[str], first: Collection[str], *, top: int
) -> dict[str, float]:
    fused: dict[str, float] = {}
    for ranked in (by_words, by_meaning):
        for rank, owner_id in enumerate(ranked, start=1):
            fused[owner_id] = fused.get(owner_id, 0.0) + 1 / (RRF_CONSTANT + rank)
    for owner_id in first:
        fused[owner_id] = fused.get(owner_id, 0.0) + 1 / (RRF_CONSTANT + 1)
    scores = {owner_id: round(score, 9) for owner_id, score in fused.items()}
    return dict(sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))[:top])


def is_relevant(question: Question, cosine: float, text: str) -> bool:
    """Whether a row has to do with the question: enough likeness and shared terms together.

    nearness + coverage / COVERAGE_ALONE >= 1, where it is known what the cosines mean; else coverage decides. A row
    without most of the question's words must be nearer by MARGIN: an eviction policy is no vacation policy.
    """
    coverage = question.coverage(text)
    if question.embedder is None or question.embedder.floor is None:
        return coverage >= COVERAGE_FLOOR
    wanted = 1.0 if coverage >= COVERAGE_FLOOR else 1.0 + MARGIN
    return question.nearness(cosine) + coverage / COVERAGE_ALONE >= wanted


def _idf(index: Index, terms: Sequence[str]) -> dict[str, float]:
    """idf of Lucene's BM25 over text units by stem; a term that no text unit holds weighs most."""
    n_units = int(index.frame_once("select count(*) as n from search_owners where owner_table = 'text_units'").item())
    found = index.count_holding(terms, "text_units") if terms else {}
    return {stem_term(term): weigh_rarity(n_units, found[term]) for term in terms}


def rank_by_words(index: Index, question: Question, owner_table: str, *, top: int) -> list[str]:
    """Ids of the rows that hold the question's terms, by BM25."""
    return list(_search_words(index, question, owner_table, top=top))


def _search_words(index: Index, question: Question, owner_table: str, *, top: int) -> dict[str, float]:
    """BM25 score by row, best first."""
    if not question.terms:
        return {}
    return dict(index.search_bm25(list(question.terms), owner_table, top=top).select("owner_id", "score").rows())
