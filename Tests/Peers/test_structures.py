"""Devices, structures and rooms keep what they are through new names, moves, kills, and removed cameras."""

import json
import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from peers.client import Answer
from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import eventually
from peers.recorded_footage import make_tracks, write_recording

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def home(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path, [DOORBELL, Camera("yard", "builtin:silent", name="Yard")])
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def send(home: Gateway, method: str, path: str, **body: Any) -> Answer:
    return home.client.request(method, path, json.dumps(body) if body else None, JSON)


def made(answer: Answer) -> dict[str, Any]:
    assert answer.status in (200, 201), answer.text
    return dict(answer.json)


def devices(home: Gateway) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in home.client.get("/v1/devices")["devices"]}


def kill(home: Gateway) -> None:
    """Ends the process in the hardest way, and starts it again on the same folder."""
    os.kill(home.process.pid, signal.SIGKILL)
    home.stop()
    home.start()


def test_names_places_and_identifiers_survive_a_kill(home: Gateway) -> None:
    before = devices(home)
    assert all(one["id"].startswith("d") and len(one["id"]) == 33 for one in before.values())
    house = home.client.get("/v1/structures")["structures"][0]
    cabin = made(send(home, "POST", "/v1/structures", name="Cabin", timeZone="Europe/Helsinki"))
    hall = made(send(home, "POST", f"/v1/structures/{house['id']}/rooms", name="Hall"))
    stream = EventStream(home.client)
    stream.wait_for("room", id=hall["id"])
    made(send(home, "PATCH", "/v1/devices/front-door", name="Bell", roomID=hall["id"]))
    made(send(home, "PATCH", "/v1/devices/yard", structureID=cabin["id"]))
    made(send(home, "PATCH", f"/v1/rooms/{hall['id']}", name="Hallway"))
    place = stream.wait_for("room", name="Hallway").id
    for _ in range(3):
        kill(home)
        after = devices(home)
        assert {key: one["id"] for key, one in after.items()} == {key: one["id"] for key, one in before.items()}
        assert (after["front-door"]["name"], after["front-door"]["roomID"]) == ("Bell", hall["id"])
        assert after["yard"]["structureID"] == cabin["id"]
        assert [one["name"] for one in home.client.get("/v1/structures")["structures"]] == ["Home", "Cabin"]
        assert [one["name"] for one in home.client.get("/v1/rooms")["rooms"]] == ["Hallway"]
    # A watcher that returns learns of each later change, and of no earlier one.
    again = EventStream(home.client, after=place)
    assert send(home, "DELETE", f"/v1/rooms/{hall['id']}").status == 204
    again.wait_for("roomRemoved", roomID=hall["id"])
    assert not again.named("missed", "structure", "room")
    assert "roomID" not in devices(home)["front-door"]
    again.close()


def test_a_renamed_key_keeps_the_device_and_a_removed_camera_returns(home: Gateway) -> None:
    before = devices(home)
    made(send(home, "PATCH", "/v1/devices/yard", name="Lawn"))
    renamed = Camera("porch", type="doorbell", name="Front door", settings={"formerly": "front-door"})
    home.write_config([renamed])
    eventually(lambda: list(devices(home)) == ["porch"], "the home has the cameras of the config")
    assert devices(home)["porch"]["id"] == before["front-door"]["id"]
    assert home.client.request("GET", f"/v1/devices/{before['front-door']['id']}").json["key"] == "porch"
    home.write_config([renamed, Camera("yard", "builtin:silent", name="Yard")])
    eventually(lambda: "yard" in devices(home), "the camera is back")
    yard = devices(home)["yard"]
    assert (yard["id"], yard["name"]) == (before["yard"]["id"], "Lawn")
    assert made(send(home, "PATCH", "/v1/devices/yard", name=None))["name"] == "Yard"
    # What people read names devices by their keys.
    assert before["yard"]["id"] not in home.process.output()
    assert 'device="porch"' in home.client.request("GET", "/metrics").text


def test_a_decommissioned_device_never_returns(home: Gateway) -> None:
    made(send(home, "PUT", "/v1/cameras/gate", source="builtin:silent", name="Gate"))
    first = home.client.device_id("gate")
    plan = home.client.get("/v1/devices/gate/decommission")
    assert plan["isEligible"] and plan["removes"] == [first]
    stream = EventStream(home.client)
    assert made(send(home, "DELETE", f"/v1/devices/{first}"))["removed"] == [first]
    stream.wait_for("deviceRemoved", deviceID=first)
    stream.close()
    kill(home)
    assert send(home, "GET", "/v1/devices/gate").status == 404
    made(send(home, "PUT", "/v1/cameras/gate", source="builtin:silent", name="Gate"))
    assert home.client.device_id("gate") != first
    assert send(home, "GET", f"/v1/devices/{first}").status == 404
    # The gateway never writes the config.
    refused = send(home, "DELETE", "/v1/devices/yard")
    assert refused.status == 409 and str(home.config) in refused.text
    assert devices(home)["yard"]["id"] == home.client.device_id("yard")


def test_a_decommissioned_cameras_footage_is_deleted_only_on_request(home: Gateway, tmp_path: Path) -> None:
    keys = ["gate", "shed"]
    for key in keys:
        made(send(home, "PUT", f"/v1/cameras/{key}", source="builtin:silent"))
    ids = {key: home.client.device_id(key) for key in keys}
    assert home.stop() == 0
    root = tmp_path / "state" / "recordings"
    tracks = make_tracks(tmp_path, 2)
    for sequence, key in enumerate(keys, 1):
        write_recording(root, ids[key], datetime.now(UTC) - timedelta(days=1), sequence, tracks)
    home.start()

    def files(key: str) -> list[Path]:
        return sorted((root / ids[key]).rglob("*.m4s"))

    before = files("gate")
    assert before and files("shed")
    for key in keys:
        plan = home.client.get(f"/v1/devices/{key}/decommission")
        assert plan["recordings"]["count"] == 1 and plan["recordings"]["byteCount"] > 0
    gone = made(send(home, "DELETE", "/v1/devices/gate"))
    assert gone["recordings"] == {"deleted": 0, "kept": 1}
    gone = made(send(home, "DELETE", "/v1/devices/shed?recordings=delete"))
    assert gone["recordings"] == {"deleted": 1, "kept": 0}
    assert files("shed") == []
    kill(home)
    assert files("gate") == before


def test_what_an_earlier_version_kept_stays_where_it_is(binary: Path, tmp_path: Path) -> None:
    """A folder of recordings under the camera's key: the device keeps its key as its identifier."""
    (tmp_path / "state" / "recordings" / "yard").mkdir(parents=True)
    (tmp_path / "state").chmod(0o700)
    gateway = Gateway(binary, tmp_path, [DOORBELL, Camera("yard", "builtin:silent")])
    try:
        assert gateway.client.device_id("yard") == "yard"
        assert len(gateway.client.device_id("front-door")) == 33
    finally:
        assert gateway.stop() == 0
