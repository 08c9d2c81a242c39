"""A real Prefect server for the flows' tests: on loopback, in a folder of its own, gone at the end in any case."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from graphrag.project import create_project

START_SECONDS, LIFE_SECONDS = 120, 600
# An alarm that outlives any crash of the tests ends the server.
SERVE = (
    "import signal, sys; signal.alarm(int(sys.argv.pop(1))); sys.argv[0] = 'prefect';from prefect.cli import app; app()"
)


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the environment of a process must hold that talks to the server; this process does while the tests run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "PREFECT_HOME": str(tmp_path_factory.mktemp("prefect")),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": "ERROR",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_RUNNER_POLL_FREQUENCY": "1",
        "PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT1S",
    }
    command = [sys.executable, "-c", SERVE, str(LIFE_SECONDS), "server", "start", "--host", "127.0.0.1", "--no-ui"]
    server = subprocess.Popen(
        [*command, "--port", str(port)], env={**os.environ, **environment}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)  # a worker process of a task runner reads nothing else
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # While the server starts. Prefect warns at its first import, and would start a server of its own for
                # what threads of a pool tell, if it did not know this one by then.
                from prefect.events.worker import EventsWorker
                from prefect.settings import temporary_settings

                import flows.index  # noqa: F401
            wait_for_server(f"{environment['PREFECT_API_URL']}/health", server)
            settings = {name: value for name, value in environment.items() if name.startswith("PREFECT")}
            with temporary_settings(settings):
                yield environment
                EventsWorker.drain_all(timeout=10)
    finally:
        end_group(server)


def wait_for_server(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        with suppress(OSError), urllib.request.urlopen(address, timeout=2):
            return
        time.sleep(0.3)
    raise RuntimeError(f"the Prefect server did not start within {START_SECONDS} s (exit code {server.poll()})")


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads its group, and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two documents."""
    folder = tmp_path / "handbook"
    create_project(folder)
    documents = {"a.md": "Billing depends on Redis.", "b.md": "The Auth Service is owned by the Platform Team."}
    for name, text in documents.items():
        (folder / "data" / "input" / name).write_text(text, encoding="utf-8")
    return folder
