"""Benchmarks: run by hand (`make bench`), never by the tests. Figures go into docs/benchmarks.md."""
