"""The schedule on a real server: runs that are due start, at what time they are due, on a work pool too."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphrag.errors import SettingsError
from graphrag.settings_file import load_settings

from ..conftest import ROOT
from .conftest import end_group

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def write_schedule(project: Path, **values: str) -> None:
    path = project / "settings.toml"
    text = path.read_text(encoding="utf-8").replace('cron = "0 2 * * *"', f'cron = "{values["cron"]}"', 1)
    path.write_text(text, encoding="utf-8")


def wait_until(find: Callable[[], Any], *, seconds: float) -> Any:
    end = time.monotonic() + seconds
    while not (found := find()) and time.monotonic() < end:
        time.sleep(0.5)
    return found


def find_completed_run() -> Any:
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return next(
            (run for run in client.read_flow_runs() if run.auto_scheduled and run.state_name == "Completed"), None
        )


def test_a_run_that_is_due_starts(project: Path, prefect_server: dict[str, str]) -> None:
    """Prefect's cron takes a sixth field, seconds: a run is due every three seconds."""
    write_schedule(project, cron="* * * * * */3")
    served = subprocess.Popen(
        [sys.executable, "-m", "flows.nightly", str(project)], cwd=ROOT, env={**os.environ, **prefect_server},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        run = wait_until(find_completed_run, seconds=90)
    finally:
        end_group(served)
    assert served.stdout is not None
    printed = served.stdout.read()
    served.stdout.close()
    assert run is not None, printed
    assert run.parameters["root"] == str(project)
    assert (project / "data" / "output" / "current" / "entities.parquet").is_file()
    assert printed.startswith("Serving handbook: * * * * * */3 (UTC). Stop it with Ctrl-C.")


def test_the_printed_commands_put_it_on_a_work_pool(project: Path, prefect_server: dict[str, str]) -> None:
    import shlex

    from prefect.client.orchestration import get_client

    from flows import nightly

    settings, _ = load_settings(project, overrides=["schedule.timezone=Europe/Berlin", "schedule.budget_usd=2.5"])
    commands = [line.strip() for line in nightly.describe_schedule(settings, project) if line.startswith("  ")]
    for command in commands[:2]:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)], cwd=ROOT, env={**os.environ, **prefect_server},
            capture_output=True, text=True, check=False, timeout=90,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("graphrag-index/nightly-on-pool")
    assert deployment.work_pool_name == "graphrag"
    assert deployment.parameters == {"root": str(project), "budget": 2.5}
    assert [(s.schedule.cron, s.schedule.timezone) for s in deployment.schedules] == [("0 2 * * *", "Europe/Berlin")]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("schedule.cron=every night", 'schedule.cron "every night" is no cron line. Five fields: minute, hour,'),
        ("schedule.full_cron=0 25 * * *", 'schedule.full_cron "0 25 * * *" is no cron line.'),
        ("schedule.timezone=Europe/Berln", 'schedule.timezone "Europe/Berln" is no time zone. Did you mean'),
    ],
)
def test_a_schedule_that_cannot_be_is_one_line(project: Path, override: str, message: str) -> None:
    from flows import nightly

    settings, _ = load_settings(project, overrides=[override], environ={})
    with pytest.raises(SettingsError) as caught:
        nightly.build_schedules(settings)
    assert message in str(caught.value)


def test_a_full_run_has_a_schedule_of_its_own(project: Path) -> None:
    from flows import nightly

    overrides = ["schedule.full_cron=0 4 * * 0", "schedule.timezone=Europe/Berlin"]
    settings, _ = load_settings(project, overrides=overrides, environ={})
    found = [(s.cron, s.timezone, s.parameters, s.slug) for s in nightly.build_schedules(settings)]
    assert found == [
        ("0 2 * * *", "Europe/Berlin", {}, "cron"),
        ("0 4 * * 0", "Europe/Berlin", {"full": True}, "full-cron"),
    ]
