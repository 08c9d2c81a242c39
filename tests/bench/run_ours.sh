#!/bin/bash
# Our product as one of the peers of ../shared/bench/harness.py, which calls: run_ours.sh VERB WORK ARGUMENTS.
# The verbs are those of ../shared/bench/driver.py. bench_peers.py puts this file and kinds.json beside the harness.
set -eu
verb=$1 work=$2; shift 2
export GRAPHRAG_LLM__MODEL=openai/gpt-4o-mini GRAPHRAG_LLM__API_BASE=$OPENAI_BASE_URL
export GRAPHRAG_LLM__MAX_CONCURRENCY=${BENCH_CONCURRENCY:-25}
export GRAPHRAG_EMBEDDINGS__MODEL=openai/text-embedding-3-small GRAPHRAG_EMBEDDINGS__API_BASE=$OPENAI_BASE_URL
export GRAPHRAG_DISAMBIGUATION__JUDGE=false   # the fake server has no verdicts, and the others ask for none
case $verb in
prepare)   # folder of documents
    python -m graphrag init "$work"
    cp "$1"/*.txt "$work/data/input/" ;;
index|update)   # folder of documents; an update is the same command with more files in the input folder
    cp -n "$1"/*.txt "$work/data/input/"
    exec python -m graphrag index --quiet --json --root "$work" ;;
query)     # local|global, question
    exec python -m graphrag search "--$1" "$2" --root "$work" ;;
warm)      # local|global, number of questions in one process after one that is not timed
    exec python -m tests.bench.ask_warm "$work" "$@" ;;
counts)
    exec python -c '
import json, pathlib, sys
import pyarrow.parquet as pq
run = pathlib.Path(sys.argv[1], "data/output/current")
tables = {"chunks": "text_units", "entities": "entities", "relationships": "relationships", "reports": "community_reports"}
print(json.dumps({name: pq.read_metadata(run / f"{table}.parquet").num_rows for name, table in tables.items()}))' "$work" ;;
*)
    echo "no verb $verb" >&2; exit 2 ;;
esac
