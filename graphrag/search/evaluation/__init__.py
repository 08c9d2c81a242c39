"""How good search is: recall beside baselines, a judge's scores and how far to trust them, the hop lab."""
