"""The check at the end of every run."""

from collections.abc import Mapping

import polars as pl


def check_integrity(frames: Mapping[str, pl.DataFrame]) -> list[str]:
    return []
