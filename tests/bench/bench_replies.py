"""Recorded replies of a real model (84 extractions by gpt-4o) through our parser and through a strict reader.

    python -m tests.bench.bench_replies

Reads ../shared/data/llm-replies. The strict reader takes what the format of the prompt promises and no more: records
between `##`, in brackets, with fields between `<|>`, an entity of four, a relationship of five that ends in a number.
Every reply is read as it came and damaged in ways that models damage their replies.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl

from graphrag.replies.graph import parse_graph_reply

REPLIES = Path(__file__).resolve().parents[3] / "shared" / "data" / "llm-replies"
DAMAGES: dict[str, Callable[[str], str]] = {
    "as they came": lambda text: text,
    "in a code fence, after a sentence": lambda text: f"Sure! Here are the records:\n```\n{text}\n```",
    "cut off at two thirds": lambda text: text[: len(text) * 2 // 3],
    "without ## between records": lambda text: text.replace("##", ""),
    "with single quotes": lambda text: re.sub(r'"(entity|relationship)"', r"'\1'", text),
    "with blanks around <|>": lambda text: text.replace("<|>", " <|> "),
    "every tenth bracket missing": lambda text: drop_every(text, ")", 10),
}


def main() -> None:
    replies = [reply for reply in pl.read_parquet(REPLIES / "*.parquet")["response"] if "<|>" in reply]
    print(f"{len(replies)} replies; records read by\n")
    print(f"| {'replies':<34} | strict reader | ours  | lines refused |")
    print(f"|{'-' * 36}|--------------:|------:|--------------:|")
    for name, damage in DAMAGES.items():
        damaged = [damage(reply) for reply in replies]
        parsed = [parse_graph_reply(reply) for reply in damaged]
        print(
            f"| {name:<34} | {sum(map(count_strictly, damaged)):13,} | {sum(r.n_records for r in parsed):5,} "
            f"| {sum(len(r.unreadable) for r in parsed):13,} |"
        )


def count_strictly(reply: str) -> int:
    return sum(map(is_strict_record, reply.replace("<|COMPLETE|>", "").split("##")))


def is_strict_record(text: str) -> bool:
    text = text.strip()
    if not (text.startswith("(") and text.endswith(")")):
        return False
    fields = text[1:-1].split("<|>")
    if fields[0] == '"entity"':
        return len(fields) == 4
    return fields[0] == '"relationship"' and len(fields) == 5 and re.fullmatch(r"\d+(\.\d+)?", fields[4]) is not None


def drop_every(text: str, character: str, n: int) -> str:
    parts = text.split(character)
    return "".join(part + character * (number % n != 0) for number, part in enumerate(parts[:-1], 1)) + parts[-1]


if __name__ == "__main__":
    main()
