"""Search over community reports: global (map and reduce, dynamic selection) and drift (local, led by reports)."""
