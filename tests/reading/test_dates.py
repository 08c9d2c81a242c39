"""Dates as people write them, and those that are left alone."""

from __future__ import annotations

import datetime as dt

import pytest

from graphrag.reading.dates import iso_date


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("2024-01-18", "2024-01-18"), ("2024/1/8", "2024-01-08"), ("2024-01-18T06:12:00Z", "2024-01-18T06:12:00Z"),
        ("2024-01-18 08:12 +02:00", "2024-01-18T06:12:00Z"), ("2024-01-18T06:12:00", "2024-01-18T06:12:00"),
        ("2024-01", "2024-01"), (2024, "2024"), ("18 January 2024", "2024-01-18"), ("03-May-2019", "2019-05-03"),
        ("January 8, 2024", "2024-01-08"), ("Thu, 18 Jan 2024 06:12:00 GMT", "2024-01-18"),
        (dt.date(2024, 1, 8), "2024-01-08"), (dt.datetime(2024, 1, 8, 1, tzinfo=dt.UTC), "2024-01-08T01:00:00Z"),
        ("01/02/2024", ""), ("2024-13-45", ""), ("tomorrow", ""), (None, ""), (True, ""), (12, ""), ([], ""),
        ("x" * 99, ""),
    ],
)  # fmt: skip
def test_iso_date(value: object, iso: str) -> None:
    assert iso_date(value) == iso
