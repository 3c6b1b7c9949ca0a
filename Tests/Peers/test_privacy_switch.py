"""The switch on a camera that refuses everything, with the whole gateway: the camera reports it by its webhook."""

import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from peers.aiortc_viewer import AiortcViewer
from peers.client import traits_of
from peers.coroutines import run
from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually

DEVICE = DOORBELL.id
STREAMS = f"/v1/devices/{DEVICE}/traits/CameraAvStreamManagement"
SWITCHES = 20


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    """A doorbell that is recorded all the time and reports its own events."""
    camera = replace(DOORBELL, settings={"webhook": True})
    gateway = Gateway(binary, tmp_path, [camera], {"recording": {"trigger": "continuous"}})
    yield gateway
    gateway.stop()


def webhook(house: Gateway, binary: Path) -> str:
    command = [str(binary), "token", "--webhook", DEVICE, "--config", str(house.config)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.strip()


def newest(house: Gateway) -> dict[str, Any] | None:
    listed = house.client.get(f"/v1/devices/{DEVICE}/recordings")["recordings"]
    return listed[0] if listed else None


def recorded(house: Gateway) -> dict[str, Any] | None:
    found = newest(house)
    return found if found and found["isRunning"] and found["segments"] > 1 else None


def is_private(house: Gateway) -> bool:
    return bool(house.client.get(STREAMS)["hardPrivacyModeOn"])


def test_the_switch_ends_everything_and_survives_a_kill(house: Gateway, binary: Path) -> None:
    token = webhook(house, binary)

    def turn(position: str) -> None:
        path = f"/v1/webhooks/{DEVICE}/{token}/privacy?active={position}"
        answer = house.client.request("GET", path, token=None)
        assert (answer.status, answer.json) == (200, {"accepted": True}), answer.text

    first = eventually(lambda: recorded(house), "the doorbell is recorded")
    stream = EventStream(house.client)

    async def watch() -> None:
        viewer = AiortcViewer(house.client, DEVICE)
        await viewer.start()
        await viewer.expect_media()
        turn("on")
        # Nothing of it leaves or is kept from the moment at which the request has returned.
        ended = newest(house)
        assert ended and (ended["id"], ended["isRunning"], ended["endReason"]) == (first["id"], False, "privacy")
        assert house.client.sessions() == []
        viewer.resource = ""
        await viewer.stop()

    run(watch)
    over = stream.wait_for("session", change="ended").data["session"]
    assert over["endReason"] == "privacy: the camera's privacy switch was turned on"
    assert is_private(house)
    assert house.client.request("GET", f"/v1/devices/{DEVICE}/snapshot.jpg").status == 409
    headers = {"Content-Type": "application/json"}
    written = house.client.request("PATCH", STREAMS, json.dumps({"hardPrivacyModeOn": False}), headers)
    assert (written.status, written.json["error"]["matter"]) == (400, {"code": 0x88}), written.text
    stream.close()

    os.kill(house.process.pid, signal.SIGKILL)
    house.stop()
    house.start()
    assert is_private(house)
    assert house.client.request("GET", f"/v1/devices/{DEVICE}/snapshot.jpg").status == 409
    last = newest(house)
    assert last and last["id"] == first["id"]

    turn("off")
    assert not is_private(house)
    again = eventually(lambda: recorded(house), "the doorbell is recorded again")
    assert again["id"] != first["id"]


def test_a_switch_reaches_the_event_stream(house: Gateway, report: list[str]) -> None:
    """Each change comes with the numbers and statuses of the connections. How long it takes is measured only."""
    eventually(lambda: recorded(house), "the doorbell is recorded")
    stream = EventStream(house.client)
    stream.wait_for("device", key=DEVICE)
    times: list[float] = []
    for index in range(SWITCHES):
        status = "active" if index % 2 else "inactive"
        seen = len(stream.events)
        began = time.monotonic()
        reply = house.client.command(DEVICE, "PushAvStreamTransport", "setTransportStatus", {"transportStatus": status})
        assert reply.status == 200, reply.text

        def change(seen: int = seen, status: str = status) -> float | None:
            for event in stream.events[seen:]:
                connections = traits_of(event.data).get("PushAvStreamTransport", {}).get("currentConnections")
                if event.name == "device" and connections == [{"connectionID": 1, "transportStatus": status}]:
                    return event.at
            return None

        times.append((eventually(change, f"the change to {status}", every=0.001) or began) - began)
    stream.close()
    median, longest = statistics.median(times) * 1_000, max(times) * 1_000
    report.append(f"setTransportStatus until the event stream has it: median {median:.1f} ms, longest {longest:.1f} ms")
