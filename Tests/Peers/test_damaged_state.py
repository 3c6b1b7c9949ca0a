"""Several files in the state folder are damaged at once. The gateway starts and says what is damaged, and everything
else works."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Gateway
from peers.polling import eventually

DEVICE = DOORBELL.id
JSON = {"Content-Type": "application/json"}
DATABASES = ("shared.sqlite", "local.sqlite", "history.sqlite", "automations.sqlite", "recordings.sqlite")
TEXTS = ("upload-endpoints.json", "uploads.jsonl")


class House:
    """A gateway that records, with its state folder."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.state = folder / "state"
        self.gateway = Gateway(binary, folder, [DOORBELL], {"recording": {"trigger": "continuous", "freeGigabytes": 0}})

    def token(self, name: str) -> tuple[str, str]:
        """The id and the secret of a token that reads everything."""
        body = json.dumps({"name": name, "grants": [{"scopes": ["read"]}]})
        answer = self.gateway.client.request("POST", "/v1/tokens", body, JSON)
        assert answer.status == 201, answer.text
        return answer.json["id"], answer.json["token"]

    def status(self, token: str) -> int:
        return self.gateway.client.request("GET", f"/v1/devices/{DEVICE}", token=token).status

    def recordings(self, device: str = DEVICE) -> set[str]:
        answer = self.gateway.client.request("GET", f"/v1/devices/{device}/recordings")
        return {str(one["id"]) for one in answer.json["recordings"]} if answer.status == 200 else set()

    def playlist(self) -> int:
        """Whether the camera can be watched: 409 while it is off."""
        return self.gateway.client.request("GET", f"/v1/devices/{DEVICE}/live.m3u8").status

    def expect_that_it_works(self, device: str, earlier: set[str]) -> None:
        """The camera is off, because it may have been off. Once it is on, it is watched and recorded. What it recorded
        `earlier`, under the identifier that it had then, is there."""
        assert self.playlist() == 409
        assert earlier and earlier <= self.recordings(device)
        answer = self.gateway.client.command(
            DEVICE, "PushAvStreamTransport", "setTransportStatus", {"transportStatus": "active"}
        )
        assert answer.status == 200, answer.text
        eventually(lambda: self.playlist() == 200, "it can be watched")
        eventually(lambda: self.recordings() - earlier, "it is recorded")


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[House]:
    running = House(binary, tmp_path)
    try:
        running.gateway.wait_until_flowing(DEVICE)
        eventually(running.recordings, "it records")
        yield running
    finally:
        running.gateway.stop()


def test_damaged_files_are_set_aside_and_named(house: House) -> None:
    _, phone = house.token("phone")
    assert house.status(phone) == 200
    device, earlier = house.gateway.client.device_id(DEVICE), house.recordings()
    assert house.gateway.stop() == 0
    for name in (*DATABASES, *TEXTS):
        (house.state / name).write_bytes(b"\xaa" * 20_000)
        # A database that is as small as these is whole in its log.
        for log in ("-wal", "-shm"):
            (house.state / f"{name}{log}").unlink(missing_ok=True)
    house.gateway.start()
    events = EventStream(house.gateway.client)
    try:
        alarm = events.wait_for("alarm", kind="uploadEndpointsLost", state="raised")
        assert "upload-endpoints.json" in alarm.data["reason"]
    finally:
        events.close()
    for name in (*DATABASES, *TEXTS):
        # The log and the events are separate, and one may be later.
        eventually(lambda name=name: f"{name}.damaged-" in house.gateway.process.output(), f"the log names {name}")
        aside = list(house.state.glob(f"{name}.damaged-*"))
        assert any(one.read_bytes() == b"\xaa" * 20_000 for one in aside), name
    # The tokens were in one of these files; the owner's is in another.
    assert house.status(phone) == 401 and house.status(house.gateway.token) == 200
    house.expect_that_it_works(device, earlier)
    # The next start reports only what its owner has to decide.
    assert house.gateway.stop() == 0
    house.gateway.start()
    output = house.gateway.process.output()
    assert [name for name in (*DATABASES, *TEXTS) if f"{name}.damaged-" in output] == ["upload-endpoints.json"]
    assert house.playlist() != 409


def test_damaged_records_leave_the_others_as_they_were(house: House) -> None:
    _, phone = house.token("phone")
    lost, tablet = house.token("tablet")
    device, earlier = house.gateway.client.device_id(DEVICE), house.recordings()
    assert house.gateway.stop() == 0
    with closing(sqlite3.connect(house.state / "shared.sqlite")) as database:
        database.execute("UPDATE objects SET body = '{' WHERE kind = 'token' AND id = ?", (lost,))
        changed = database.execute("UPDATE objects SET body = 'x' || body WHERE kind = 'recordingConnections'")
        assert changed.rowcount == 1
        database.commit()
    (house.state / "upload-endpoints.json").write_text("{")
    # This cannot be read as a file.
    for name in ("recordings.sqlite", "recordings.sqlite-wal", "recordings.sqlite-shm"):
        (house.state / name).unlink(missing_ok=True)
    (house.state / "recordings.sqlite").mkdir()
    house.gateway.start()
    events = EventStream(house.gateway.client)
    try:
        for kind, word in (
            ("tokensUnreadable", lost), ("recordingConnectionsLost", "recording-connections."),
            ("uploadEndpointsLost", "upload-endpoints.json"),
        ):  # fmt: skip
            assert word in events.wait_for("alarm", kind=kind, state="raised").data["reason"]
        words = "the index of recordings cannot be opened"
        eventually(lambda: words in house.gateway.process.output(), f"the log says that {words}")
        assert house.status(phone) == 200 and house.status(tablet) == 401
        house.expect_that_it_works(device, earlier)
        # A decision of its owner ends an alarm.
        assert house.gateway.client.request("DELETE", f"/v1/tokens/{lost}").status == 204
        events.wait_for("alarm", kind="tokensUnreadable", state="cleared")
    finally:
        events.close()
