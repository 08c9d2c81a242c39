"""`python -m graphrag`: the same as the console script."""

from graphrag.cli.main import run

run()
