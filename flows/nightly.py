"""The schedule: `python -m flows.nightly [ROOT]` serves the index flow by `[schedule]` until it is stopped.

It needs a Prefect server that stays (`prefect server start`, PREFECT_API_URL) where runs are to be kept and watched.

`schedule.cron` runs what is new; `schedule.full_cron`, where set, runs everything again with `--full`, so that
communities are partitioned afresh, once a week say. One run at a time: a run that is due while another goes on waits.
The printed lines say how to put the same schedule on a work pool, whose workers may be other machines.

Does not: run anything itself (flows/index.py), or tell anyone how it went (flows/alerts.py).
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from prefect.schedules import Cron, Schedule
from prefect.types.entrypoint import EntrypointType

from flows.index import index_flow
from graphrag.errors import GraphragError, SettingsError, did_you_mean
from graphrag.settings import Settings
from graphrag.settings_file import find_root, load_settings

NAME, POOL = "nightly", "graphrag"


def serve_nightly(root: str = ".") -> None:
    """Serve the schedule of the project's settings; blocks. Raises SettingsError for no cron line and no time zone."""
    folder = find_root(Path(root).resolve())
    settings, _ = load_settings(folder)
    schedules = build_schedules(settings)
    print("\n".join(describe_schedule(settings, folder)), flush=True)
    index_flow.serve(
        name=NAME,
        schedules=schedules,
        parameters=build_parameters(settings, folder),
        tags=["graphrag", folder.name],
        limit=1,
        # By its module's name: Dask's workers import it, and know no file of this checkout.
        entrypoint_type=EntrypointType.MODULE_PATH,
        print_starting_message=False,
    )


def build_schedules(settings: Settings) -> list[Schedule]:
    """What `[schedule]` says, for Prefect. Raises SettingsError."""
    knobs = settings.schedule
    try:
        ZoneInfo(knobs.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        nearest = did_you_mean(knobs.timezone, available_timezones())
        raise SettingsError(f'settings.toml: schedule.timezone "{knobs.timezone}" is no time zone.{nearest}') from None
    schedules = [_cron("cron", knobs.cron, knobs.timezone, {})]
    if knobs.full_cron:
        schedules.append(_cron("full_cron", knobs.full_cron, knobs.timezone, {"full": True}))
    return schedules


def _cron(key: str, cron: str, timezone: str, parameters: dict[str, Any]) -> Schedule:
    try:
        return Cron(cron, timezone=timezone, parameters=parameters, slug=key.replace("_", "-"))
    except ValueError:
        raise SettingsError(
            f'settings.toml: schedule.{key} "{cron}" is no cron line. Five fields: minute, hour, day, month, weekday; '
            '"0 2 * * *" is every night at two.'
        ) from None


def build_parameters(settings: Settings, folder: Path) -> dict[str, Any]:
    """The parameters of every scheduled run."""
    knobs = settings.schedule
    return {"root": str(folder), "budget": knobs.budget_usd or None, "max_tokens": knobs.max_tokens or None}


def describe_schedule(settings: Settings, folder: Path) -> list[str]:
    """What is served, and the commands that put it on a work pool instead."""
    knobs = settings.schedule
    full = f"; everything again: {knobs.full_cron}" if knobs.full_cron else ""
    parameters = build_parameters(settings, folder)
    deployed = [_deploy_command(f"{NAME}-on-pool", knobs.cron, knobs.timezone, parameters)]
    if knobs.full_cron:
        deployed += [_deploy_command("full-on-pool", knobs.full_cron, knobs.timezone, {**parameters, "full": "true"})]
    return [
        f"Serving {folder.name}: {knobs.cron} ({knobs.timezone}){full}. Stop it with Ctrl-C.",
        "On a work pool instead, from this checkout, and a worker on each machine that may run it:",
        f"  prefect work-pool create {POOL} --type process --overwrite",
        *(f"  {command}" for command in deployed),
        f"  prefect worker start --pool {POOL} --limit 1",
    ]


def _deploy_command(name: str, cron: str, timezone: str, parameters: dict[str, Any]) -> str:
    given = [f"--param {shlex.quote(f'{key}={value}')}" for key, value in parameters.items() if value is not None]
    return (
        f"prefect --no-prompt deploy flows.index.index_flow --name {name} --pool {POOL} "
        f"--cron {shlex.quote(cron)} --timezone {timezone} {' '.join(given)}"
    )


if __name__ == "__main__":
    try:
        serve_nightly(*sys.argv[1:2])
    except GraphragError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
