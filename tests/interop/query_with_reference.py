"""On demand: the query engine of microsoft/graphrag 3.3.0 answers from an export of ours, with a fake model.

    python -m venv /tmp/reference && /tmp/reference/bin/pip install graphrag==3.3.0
    graphrag export /tmp/export --format graphrag        # with the extra lancedb
    python tests/interop/query_with_reference.py /tmp/export /tmp/reference/bin/python

Prints, for local, global, basic and drift, its exit code and how many of our rows stand in the prompts that the fake
model was sent. docs/interop.md records a run. Standard library only; nothing leaves the loopback.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

QUESTION = "What depends on Redis?"
METHODS = ("local", "global", "basic", "drift")
POINTS = {"points": [{"description": "Redis holds the token cache [Data: Reports (0)].", "score": 90}]}
FOLLOWING = {"intermediate_answer": "Redis.", "score": 80, "follow_up_queries": ["What is the token cache?"]}
LOCAL_STEP = {"response": "Redis.", "score": 80, "follow_up_queries": []}
ANSWER = "The token cache depends on Redis [Data: Entities (1)]."
PROMPTS: list[str] = []
DIM = 384


class FakeModel(BaseHTTPRequestHandler):
    """chat/completions, whole or as a stream, and embeddings."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "embeddings" in self.path:
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            rows = [{"object": "embedding", "index": n, "embedding": embed(t)} for n, t in enumerate(texts)]
            self.reply({"object": "list", "model": body["model"], "data": rows, "usage": USAGE})
            return
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        PROMPTS.append(prompt)
        text = choose_reply(prompt, body)
        if body.get("stream"):
            self.stream(text, body["model"])
            return
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.reply(HEAD | {"object": "chat.completion", "model": body["model"], "choices": [choice], "usage": USAGE})

    def reply(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, text: str, model: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for delta, reason in (({"role": "assistant", "content": text}, None), ({}, "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            chunk = HEAD | {"object": "chat.completion.chunk", "model": model, "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


HEAD = {"id": "fake", "created": 0}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def embed(text: str) -> list[float]:
    """A direction made of the text's hash."""
    seed = hashlib.sha512(text.encode()).digest()
    values = [(seed[n % len(seed)] - 127.5) / 127.5 for n in range(DIM)]
    norm = sum(value * value for value in values) ** 0.5
    return [value / norm for value in values]


def choose_reply(prompt: str, body: dict[str, Any]) -> str:
    if "intermediate_answer" in prompt or "intermediate_answer" in json.dumps(body.get("response_format") or {}):
        return json.dumps(FOLLOWING)
    if "follow_up_queries" in prompt:
        return json.dumps(LOCAL_STEP)
    return json.dumps(POINTS) if '"points"' in prompt else ANSWER


def count_rows(prompts: list[str], rows: dict[str, list[str]]) -> dict[str, int]:
    """By table, how many of our rows stand in the prompts: by title, or the start of a text."""
    said = "\n".join(prompts)
    return {name: sum(text in said for text in dict.fromkeys(texts)) for name, texts in rows.items()}


def main(export: Path, python: Path) -> None:
    rows = json.loads(
        subprocess.run([sys.executable, "-c", LIST_ROWS, str(export)], capture_output=True, check=True).stdout
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = (export / "settings.yaml").read_text(encoding="utf-8")
    base = f"api_base: http://127.0.0.1:{server.server_port}/v1\n    api_key: fake"
    ours = re.sub(r"api_key: \$\{GRAPHRAG_API_KEY\}", base, settings)
    ours = re.sub(r"(embedding_models:.*?model: )\S+", r"\1text-embedding-3-small", ours, flags=re.DOTALL, count=1)
    (export / "settings.yaml").write_text(ours, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        for method in METHODS:
            PROMPTS.clear()
            command = [str(python.parent / "graphrag"), "query", "--root", str(export), "--method", method, QUESTION]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
            print(
                f"{method}: exit {done.returncode}, {len(PROMPTS)} calls, our rows in them: {count_rows(PROMPTS, rows)}"
            )
            print("  " + (done.stdout.strip() or done.stderr.strip()).splitlines()[-1][:160])
    finally:
        (export / "settings.yaml").write_text(settings, encoding="utf-8")
        server.shutdown()


LIST_ROWS = """
import json, sys
import polars as pl
output = sys.argv[1] + "/output/"
read = lambda name: pl.read_parquet(output + name + ".parquet")
print(json.dumps({
    "entities": read("entities")["title"].to_list(),
    "relationships": [f"|{a}|{b}|" for a, b in read("relationships").select("source", "target").iter_rows()],
    "community_reports": read("community_reports")["title"].to_list(),
    "text_units": [t[:80] for t in read("text_units")["text"].to_list()],
}))
"""

if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
