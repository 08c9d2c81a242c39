"""Where documents search enters, on questions that were written by reading the notes: is the right note one of three?

    python -m tests.bench.bench_note_entries ../shared/data

The ten of data/sample/document_questions.jsonl, twelve more on the sample, fifteen on the documentation of Foam and ten
on a public vault (both in ../shared/data). Each index is made in a temporary folder, by rules alone and with the local
vectors; questions are asked by words alone and with the vectors.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from graphrag.pipeline import run_pipeline
from graphrag.search.notes.linked_notes import load_notes
from graphrag.search.notes.note_entries import find_entries
from graphrag.search.ranking import prepare_question
from graphrag.settings_file import load_settings
from graphrag.store import open_index
from tests.conftest import ROOT

SAMPLE = ROOT / "data" / "sample"
TEN = {
    row["question"]: Path(row["entry"]).stem
    for row in map(json.loads, (SAMPLE / "document_questions.jsonl").read_text(encoding="utf-8").splitlines())
}
# Question: file names of the notes that may be entered at, without .md.
MORE = {
    "What went wrong during the logout storm and what was changed after it?": "INC-104|ADR-007",
    "Who is on the Identity Team and what do they own?": "identity-team",
    "What should an on-call engineer do when logins are slow?": "login-degraded",
    "Why was the Ledger split from Billing?": "ADR-025",
    "How does a courier see the parcels of the day?": "courier-app",
    "Which broker carries the events, and which schemas do they follow?": "schema-registry|mercury",
    "What did we learn at the depot in Graz?": "depot-visit-graz",
    "Where are secrets stored and who may read them?": "vault",
    "How do labels get printed, and what went wrong with carons?": "label-service|INC-241",
    "What was agreed in the architecture guild in September 2024?": "2024-09-architecture-guild",
    "Which database version do we run and why did we upgrade?": "ADR-022",
    "How are addresses checked before a parcel is accepted?": "address-validator",
}
FOAM = {
    "How can I keep my notes the same on my laptop and my phone?": (
        "sync-notes|take-notes-from-mobile-phone|automatic-git-syncing"
    ),
    "How do I put my notes online as a website for free?": (
        "publish-to-github-pages|publish-to-github|publish-to-gitlab-pages|recipes"
    ),
    "Which settings decide what a new daily note looks like and where it is stored?": "daily-notes|templates|daily",
    "How do I find notes that nothing links to?": "orphans",
    "What happens to my links when I rename a file?": "rename|wikilinks|links",
    "How do I move from another note app to Foam?": "migrating-from-obsidian|migrating-from-onenote",
    "How can an AI assistant work with my workspace?": "mcp",
    "How do I write formulas?": "math-support-with-mathjax|math-support-with-katex",
    "How can I change the colours of the nodes in the graph?": "graph-view",
    "Which usage data does Foam collect?": "telemetry",
    "How are new versions of Foam released?": "releasing-foam",
    "What ideas guide the design of Foam?": "principles",
    "How do I link to one paragraph of a note?": "block-anchors",
    "How do I show the content of another note inside mine?": "embeds",
    "How can I insert pictures?": "paste-images-from-clipboard|add-images-to-notes",
}
KEPANO = {
    "What advice did Kevin Kelly give on his birthday?": "68 Bits of Unsolicited Advice",
    "What was discussed with Steph in September 2023?": "2023-09-12 Meeting with Steph|2023-09-12",
    "Which podcast episode is with Kevin Kelly?": "Well Made 145 Kevin Kelly",
    "Where did we go in Japan?": "2023 Japan Trip|Kyoto|Fushimi Inari",
    "Which jazz album did Paul Chambers record?": "Bass on Top",
    "How do I choose things that last?": "Buy wisely",
    "Why should notes be like objects?": "Evergreen notes turn ideas into objects that you can manipulate",
    "Which dessert is made with nectarines?": "Brown butter nectarine tart",
    "Which science fiction film is set in the future?": "Blade Runner|Sci-fi|Movies",
    "How should I organize my vault?": "Readme",
}


def count_right(output_dir: Path, questions: dict[str, str], *, model: str) -> int:
    """model `none`: by words alone."""
    with open_index(output_dir) as index:
        notes = load_notes(index)
        n_right = 0
        for asked, expected in questions.items():
            question, _ = prepare_question(index, asked, model=model)
            entries = find_entries(index, notes, question, hub_candidates=3).ids
            n_right += bool({Path(notes.paths[note]).stem for note in entries} & set(expected.split("|")))
    return n_right


def main() -> None:
    data = Path(sys.argv[1]).resolve()
    sets = {
        "sample, the ten": (SAMPLE / "docs", TEN), "sample, twelve more": (SAMPLE / "docs", MORE),
        "foam-docs": (data / "foam-docs", FOAM), "kepano-vault": (data / "kepano-vault", KEPANO),
    }  # fmt: skip
    for name, (folder, questions) in sets.items():
        with tempfile.TemporaryDirectory() as root:
            (Path(root) / "settings.toml").write_text(f'[input]\ndir = "{folder}"\n[extraction]\nnlp = "lite"\n')
            run_pipeline(load_settings(Path(root), environ={})[0], Path(root))
            words, vectors = (count_right(Path(root) / "data" / "output", questions, model=m) for m in ("none", ""))
        print(f"| {name} | {len(questions)} | {words} | {vectors} |", flush=True)


if __name__ == "__main__":
    main()
