"""Requests that a client repeats take effect once, even if the gateway is killed in between."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.client import Answer
from peers.gateway import DOORBELL, Gateway
from peers.polling import eventually

TOGGLE = "/v1/devices/lamp/traits/OnOff/commands/toggle"


@pytest.fixture
def home(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    sections: dict[str, object] = {
        "devices": {"lamp": {"name": "Lamp", "type": "OnOffLight"}},
        "recording": {"trigger": "continuous"},
    }
    running = Gateway(binary, tmp_path, [DOORBELL], sections)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def send(home: Gateway, path: str, key: str | None, body: Any = None) -> Answer:
    headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
    return home.client.request("POST", path, json.dumps(body or {}), headers)


def kill(home: Gateway) -> None:
    """Ends the process in the hardest way, and starts it again on the same folder."""
    os.kill(home.process.pid, signal.SIGKILL)
    home.stop()
    home.start()


def is_on(home: Gateway) -> bool:
    return bool(home.client.get("/v1/devices/lamp/traits/OnOff")["onOff"])


def test_a_toggle_that_is_repeated_after_a_kill_takes_effect_once(home: Gateway) -> None:
    assert send(home, TOGGLE, "one").status == 200
    assert is_on(home)
    for _ in range(2):
        kill(home)
        assert send(home, TOGGLE, "one").status == 200
        assert is_on(home)
    assert send(home, TOGGLE, "two").status == 200
    assert not is_on(home)


def test_a_room_that_is_asked_for_again_after_a_kill_is_the_same_room(home: Gateway) -> None:
    rooms = f"/v1/structures/{home.client.get('/v1/structures')['structures'][0]['id']}/rooms"
    first = send(home, rooms, "room", {"name": "Hall"})
    assert first.status == 201
    kill(home)
    assert send(home, rooms, "room", {"name": "Hall"}).json == first.json
    assert len(home.client.get("/v1/rooms")["rooms"]) == 1
    assert send(home, rooms, "room", {"name": "Attic"}).status == 400


def test_a_clip_and_a_link_are_made_once(home: Gateway) -> None:
    home.wait_until_flowing("front-door")
    clips = "/v1/devices/front-door/speaker/clips"

    def has_played() -> bool:
        return bool(home.client.get("/v1/devices/front-door/speaker")["clip"]["talkback"]["state"] == "ended")

    first = send(home, clips, "ding", {"name": "chime"})
    assert first.status == 201, first.text
    eventually(has_played, "the clip is over", every=0.1)
    again = send(home, clips, "ding", {"name": "chime"})
    assert (again.status, again.json["id"], again.headers["location"]) == (
        201,
        first.json["id"],
        first.headers["location"],
    )
    assert has_played()
    assert send(home, clips, "dong", {"name": "chime"}).json["id"] != first.json["id"]

    range_ = "from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z"
    links = f"/v1/devices/front-door/recordings/links?{range_}"
    link = send(home, links, "link")
    assert link.status == 201, link.text
    assert send(home, links, "link").json == link.json
    assert send(home, links, "other").json["playlist"] != link.json["playlist"]
