"""What walks the graph along stated relationships: what breaks, what leads where, routes, chains, neighborhoods."""
