"""The index as Prefect flows. Settings that Prefect reads at import are set here, before anything imports it.

A cold embedded server takes about 20 s on two cores, so it is given 120; usage data is not sent anywhere.
"""

import os

os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
