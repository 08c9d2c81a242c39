"""What commands and the Python API print: text for people, JSON for programs. Reads results, never tables."""
