"""Alerts on a real server: the webhook is called with the reason of a held run, and when no run ends well."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from .test_nightly import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("prefect_server")]


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[str]]]:
    """An address on loopback, and the `text` of what was sent to it."""
    heard: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook", heard
    server.shutdown()
    server.server_close()


def test_alerts_tell_the_reason_and_the_silence(project: Path, webhook: tuple[str, list[str]]) -> None:
    from prefect.client.orchestration import get_client

    from flows import alerts, index

    address, heard = webhook
    alerts.create_alerts(address)
    ids = alerts.create_alerts(address, silence=timedelta(seconds=10))
    index.index_flow(str(project))
    (project / "data" / "input" / "empty.md").write_text("", encoding="utf-8")
    assert index.main([str(project), "--set", "gates.failed_share=0.1"]) == 4
    assert wait_until(lambda: len(heard) >= 2, seconds=40), heard
    held, silent = sorted(heard[:2], key=lambda text: "ended well" in text)
    assert held.startswith("index handbook: Failed. Flow run encountered an exception: GateHeld: Run ")
    assert "1 of 3 files could not be read whole (empty_document 1)" in held
    assert silent == "graphrag-index: no run has ended well for 0.00277778 hours."
    with get_client(sync_client=True) as client:
        assert {alert.id for alert in client.read_automations()} == set(ids)
        for alert in ids:
            client.delete_automation(alert)


def test_without_an_address_it_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flows import alerts

    monkeypatch.delenv(alerts.URL_NAME, raising=False)
    assert alerts.main() == 1
    assert capsys.readouterr().err.startswith("GRAPHRAG_ALERT_URL is not set.")
