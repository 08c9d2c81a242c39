"""Alerts: `python -m flows.alerts` makes two Prefect automations that call a web address of yours.

One when a run is held, stopped or has crashed, with its reason; one when no run has ended well for longer than a night
should take, which is the one that tells when the machine or the schedule is gone. The address comes from the
environment variable GRAPHRAG_ALERT_URL (a Slack or Mattermost hook, or any address that takes a JSON object with
`text`); Prefect keeps it as a secret. Run it again after a change: automations of these names are replaced.

Does not: watch anything itself: the Prefect server does, also while no flow runs.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from uuid import UUID

from prefect.automations import AutomationCore, CallWebhook, EventTrigger, Posture
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import get_client
from pydantic import SecretStr

from flows.index import index_flow
from graphrag.errors import GraphragError, SettingsError

URL_NAME = "GRAPHRAG_ALERT_URL"
BLOCK = "graphrag-alert"
FAILED, SILENT = "graphrag: a run was held or failed", "graphrag: no run has ended well"
SILENCE = timedelta(hours=26)  # a night and what the run may take
ENDED_BADLY = {"prefect.flow-run.Failed", "prefect.flow-run.Crashed"}
ENDED_WELL = {"prefect.flow-run.Completed"}
# Of the flow run in the trigger: its name, its state and what the state says: the line that the command line prints.
FAILED_TEXT = '{"text": {{ (flow_run.name ~ ": " ~ flow_run.state.name ~ ". " ~ flow_run.state.message) | tojson }}}'


def create_alerts(url: str, *, silence: timedelta = SILENCE) -> list[UUID]:
    """Make or replace both automations on the Prefect server; their ids."""
    block_id = Webhook(url=SecretStr(url)).save(BLOCK, overwrite=True)
    assert isinstance(block_id, UUID)  # outside an event loop the block is saved when this returns
    ids = []
    with get_client(sync_client=True) as client:
        for alert in build_alerts(block_id, silence=silence):
            for old in client.read_automations_by_name(alert.name):
                client.delete_automation(old.id)
            ids.append(client.create_automation(alert))
    return ids


def build_alerts(block_id: UUID, *, silence: timedelta) -> list[AutomationCore]:
    """The automations as Prefect takes them; `block_id` is that of the webhook."""
    of_this_flow = {"prefect.resource.role": "flow", "prefect.resource.name": index_flow.name}
    hours = f"{silence.total_seconds() / 3600:g}"
    return [
        AutomationCore(
            name=FAILED,
            description="Calls the webhook with the reason of the run.",
            trigger=EventTrigger(
                expect=ENDED_BADLY, match_related=of_this_flow, posture=Posture.Reactive, threshold=1
            ),
            actions=[CallWebhook(block_document_id=block_id, payload=FAILED_TEXT)],
        ),
        AutomationCore(
            name=SILENT,
            description=f"Calls the webhook when no run has ended well for {hours} hours.",
            trigger=EventTrigger(
                after=ENDED_WELL, expect=ENDED_WELL, match_related=of_this_flow, posture=Posture.Proactive,
                threshold=1, within=silence,
            ),
            actions=[
                CallWebhook(
                    block_document_id=block_id,
                    payload=f'{{"text": "graphrag-index: no run has ended well for {hours} hours."}}',
                )
            ],
        ),
    ]  # fmt: skip


def main() -> int:
    """Make the alerts, print their names."""
    try:
        if not (url := os.environ.get(URL_NAME, "")):
            raise SettingsError(f"{URL_NAME} is not set. Give the address that alerts are sent to in the environment.")
        create_alerts(url)
    except GraphragError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f'Made the automations "{FAILED}" and "{SILENT}".')
    return 0


if __name__ == "__main__":
    sys.exit(main())
