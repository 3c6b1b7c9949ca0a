"""Tokens lose rights while all that they permit is under way: live views, RTSP, fragmented MP4, playlists, events
and recordings. Only what they have lost ends."""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from peers.aiortc_viewer import AiortcViewer
from peers.client import Client
from peers.coroutines import run
from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port_pair
from peers.processes import OwnedProcess
from peers.recorded_footage import make_tracks, write_recording

KEPT, LOST = "front-door", "drive"
JSON = {"Content-Type": "application/json"}
REFUSED = (403, 404)


@dataclass
class House:
    gateway: Gateway
    rtsp_port: int
    start: datetime
    folder: Path

    @property
    def owner(self) -> Client:
        return self.gateway.client

    def token(self, name: str, *scopes: str) -> tuple[str, Client]:
        """The id of a token for the whole home, and a client that has it."""
        body = json.dumps({"name": name, "grants": [{"scopes": scopes}]})
        answer = self.owner.request("POST", "/v1/tokens", body, JSON)
        assert answer.status == 201, answer.text
        return answer.json["id"], Client(self.owner.host, self.owner.port, answer.json["token"])

    def reduce(self, token: str, *scopes: str) -> None:
        """Leaves a token these scopes for one of the cameras."""
        body = json.dumps({"grants": [{"scopes": scopes, "deviceID": self.owner.device_id(KEPT)}]})
        answer = self.owner.request("PATCH", f"/v1/tokens/{token}", body, JSON)
        assert answer.status == 200, answer.text

    def link(self, client: Client, camera: str) -> str:
        """A link to a recording, which needs no token."""
        first, last = (f"{self.start + timedelta(seconds=one):%Y-%m-%dT%H:%M:%SZ}" for one in (0, 2))
        answer = client.request("POST", f"/v1/devices/{camera}/recordings/links?from={first}&until={last}")
        assert answer.status == 201, answer.text
        return str(answer.json["playlist"])


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[House]:
    start = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    (tmp_path / "state").mkdir(mode=0o700)
    tracks = make_tracks(tmp_path, 4)
    for number, camera in enumerate((KEPT, LOST)):
        write_recording(tmp_path / "state" / "recordings", camera, start, number + 1, tracks)
    port = free_port_pair()
    running = Gateway(binary, tmp_path, [DOORBELL, Camera(LOST)], {"rtsp": {"host": "127.0.0.1", "port": port}})
    for camera in (KEPT, LOST):
        running.wait_until_flowing(camera)
    yield House(running, port, start, tmp_path)
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


class Stream:
    """Reads a camera as fragmented MP4 until the gateway ends it."""

    def __init__(self, client: Client, camera: str) -> None:
        connection = http.client.HTTPConnection(client.host, client.port, timeout=PATIENCE)
        connection.request("GET", f"/v1/devices/{camera}/live.mp4", headers={"Authorization": f"Bearer {client.token}"})
        self._socket = connection.sock
        self._answer = connection.getresponse()
        assert self._answer.status == 200
        self.size = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            while block := self._answer.read1(65_536):
                self.size += len(block)

    @property
    def has_ended(self) -> bool:
        return not self._thread.is_alive()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Reader:
    """ffmpeg, which reads a camera by RTSP into a file."""

    def __init__(self, house: House, camera: str, token: str) -> None:
        self._file = house.folder / f"{camera}.mkv"
        self._process = OwnedProcess(
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-rtsp_transport", "tcp",
             "-i", f"rtsp://127.0.0.1:{house.rtsp_port}/{camera}?token={token}",
             "-c", "copy", "-flush_packets", "1", "-f", "matroska", str(self._file)],
            house.folder / f"{camera}.log",
        )  # fmt: skip

    @property
    def size(self) -> int:
        return self._file.stat().st_size if self._file.exists() else 0

    @property
    def has_ended(self) -> bool:
        return not self._process.is_running

    def close(self) -> None:
        self._process.kill()


def goes_on(reader: Stream | Reader, what: str) -> None:
    """Waits for much more than may be on its way."""
    before = reader.size
    eventually(lambda: reader.size > before + 50_000, f"{what} goes on")
    assert not reader.has_ended


def statuses(client: Client, file: str) -> list[int]:
    return [client.request("GET", f"/v1/devices/{camera}/{file}").status for camera in (KEPT, LOST)]


class Readers:
    """Everything at once, except the live views, which need a loop of their own."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._phone, self.phone = house.token("phone", "read", "media")
        # By RTSP, only a token that permits nothing but watching may be in the address.
        self._guest, guest = house.token("guest", "view")
        self._streams = {camera: Stream(self.phone, camera) for camera in (KEPT, LOST)}
        self._readers = {camera: Reader(house, camera, guest.token) for camera in (KEPT, LOST)}
        self._others = Stream(house.owner, LOST)
        self._links = {camera: house.link(self.phone, camera) for camera in (KEPT, LOST)}
        self._owners_link = house.link(house.owner, LOST)
        self._events = EventStream(self.phone)
        for camera in (KEPT, LOST):
            goes_on(self._streams[camera], f"the stream of {camera}")
            goes_on(self._readers[camera], f"the RTSP reader of {camera}")
            assert self._linked(self._links[camera]) == 200
        assert statuses(self.phone, "live.m3u8") == [200, 200]
        assert statuses(self.phone, "recordings") == [200, 200]

    def _linked(self, link: str) -> int:
        return self._house.owner.request("GET", link, token=None).status

    def reduce(self) -> None:
        self._house.reduce(self._phone, "read", "view")
        self._house.reduce(self._guest, "view")

    def expect_losses(self) -> None:
        eventually(lambda: self._streams[LOST].has_ended, "the stream ends")
        eventually(lambda: self._readers[LOST].has_ended, "the RTSP reader ends")
        eventually(lambda: self._events.has_ended, "the events end")
        watching, lost = statuses(self.phone, "live.m3u8")
        assert watching == 200 and lost in REFUSED
        # Recordings need more than watching, so both are lost.
        assert all(status in REFUSED for status in statuses(self.phone, "recordings"))
        assert all(self._linked(link) != 200 for link in self._links.values())

    def expect_the_rest(self) -> None:
        goes_on(self._streams[KEPT], "the stream")
        goes_on(self._readers[KEPT], "the RTSP reader")
        goes_on(self._others, "the owner's stream")
        assert self._linked(self._owners_link) == 200
        self._expect_events()

    def _expect_events(self) -> None:
        """A client that connects again learns of the camera that it may still read, and of no other."""
        owner = self._house.owner
        lost = owner.device_id(LOST)
        newest = next((event.id for event in reversed(self._events.events) if event.id), None)
        events = EventStream(self.phone, after=newest)
        try:
            for camera in (LOST, KEPT):
                renamed = owner.request("PATCH", f"/v1/devices/{camera}", json.dumps({"name": f"New {camera}"}), JSON)
                assert renamed.status == 200, renamed.text
            events.wait_for("device", name=f"New {KEPT}")
            assert not [one for one in events.named("device") if one.data.get("id") == lost]
        finally:
            events.close()

    def close(self) -> None:
        every: list[Stream | Reader] = [*self._streams.values(), *self._readers.values(), self._others]
        for one in every:
            one.close()


async def lose(house: House) -> None:
    readers = await asyncio.to_thread(Readers, house)
    views = {camera: AiortcViewer(readers.phone, camera) for camera in (KEPT, LOST)}
    other = AiortcViewer(house.owner, LOST)
    every = (*views.values(), other)
    kept, lost = await asyncio.to_thread(lambda: [house.owner.device_id(camera) for camera in (KEPT, LOST)])
    try:
        for view in every:
            await view.start()
        for view in every:
            await view.expect_media()
        await asyncio.to_thread(readers.reduce)
        await asyncio.to_thread(readers.expect_losses)
        await asyncio.to_thread(
            eventually,
            lambda: (
                [[one["deviceID"] for one in client.sessions()] for client in (readers.phone, house.owner)]
                == [[kept], [lost]]
            ),
            "of three views, the one that is not permitted any more ends",
        )
        await views[KEPT].expect_media()
        await other.expect_media()
        await asyncio.to_thread(readers.expect_the_rest)
    finally:
        # Its session has ended already.
        views[LOST].resource = ""
        for view in every:
            await view.stop()
        await asyncio.to_thread(readers.close)


def test_a_token_that_is_reduced_loses_what_it_lost_and_nothing_else(house: House) -> None:
    run(lambda: lose(house))
