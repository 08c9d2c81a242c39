"""Lines that progress writes where there is no terminal."""

from __future__ import annotations

import io

import pytest

from graphrag import progress
from graphrag.progress import PlainProgress


@pytest.mark.parametrize(("cost_usd", "told"), [(0.0123, ", $0.0123)"), (None, "/s)")])
def test_a_line_tells_what_the_run_has_cost_where_that_is_known(
    monkeypatch: pytest.MonkeyPatch, cost_usd: float | None, told: str
) -> None:
    monkeypatch.setattr(progress, "PLAIN_LINE_SECONDS", 0.0)
    stream = io.StringIO()
    plain = PlainProgress(stream)
    plain.start("extraction", 8)
    plain.advance(2, cost_usd=cost_usd)
    (line,) = stream.getvalue().splitlines()
    assert line.startswith("  extraction: 2 of 8, ") and line.endswith(told)
