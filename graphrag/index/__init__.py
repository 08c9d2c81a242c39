"""Index stages: pure functions from frames to frames. They do not import each other."""
