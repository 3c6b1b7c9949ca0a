"""A camera that is switched off while everything that can show it does: what leaves after the command is counted."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlparse

import pytest
from peers import chromium as chromium_peer
from peers.chromium import open_page
from peers.client import Client
from peers.gateway import Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port_pair
from peers.processes import OwnedProcess
from peers.rtsp_cameras import RTSPCameras
from peers.sniffer import Sent, Sniffer, SnifferUnavailable
from peers.viewer import BrowserViewer, viewing
from playwright.sync_api import Browser, Playwright

pytestmark = pytest.mark.alone

DEVICE = "gate"
ROUNDS = 3
WINDOW = 1.5
"""For so many seconds after the command, what leaves is counted. The camera makes a picture each 67 ms."""
PICTURE = 1_500
"""Bytes of an answer that are a picture: refusals and events are shorter."""


@dataclass
class House:
    gateway: Gateway
    cameras: RTSPCameras
    rtsp_port: int
    datagram_port: int
    recordings: Path


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[House]:
    """A camera with a speaker that nobody else uses, recorded all the time and shared by RTSP."""
    cameras = RTSPCameras(tmp_path / "rtsp-camera.log")
    port = free_port_pair()
    gateway = Gateway(
        binary, tmp_path, [cameras.camera(DEVICE, "talk-pcmu", transport="tcp")],
        {"recording": {"trigger": "continuous"}, "rtsp": {"host": "127.0.0.1", "port": port}},
    )  # fmt: skip
    yield House(gateway, cameras, port, port + port % 2, tmp_path / "state" / "recordings")
    gateway.stop()
    cameras.stop()


@pytest.fixture
def sniffer(house: House) -> Iterator[Sniffer]:
    try:
        running = Sniffer(
            house.gateway.port, house.gateway.media_port, house.rtsp_port, house.datagram_port, house.cameras.port
        )
    except SnifferUnavailable as reason:
        pytest.skip(f"packets cannot be seen: {reason}")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def talker(driver: Playwright) -> Iterator[Browser]:
    launched = chromium_peer.launch(driver)
    yield launched
    launched.close()


@dataclass
class Snapshots:
    """Asks for one picture after the other, until it is stopped: pictures of now, or some that were taken before."""

    client: Client
    path: str = f"/v1/devices/{DEVICE}/snapshot.jpg"
    secret: str | None = None
    """What opens the picture instead of the owner's token."""
    pictures: int = 0
    refusals: int = 0
    _is_over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_over.is_set():
            headers, token = ({"Authorization": f"Basic {self.secret}"}, None) if self.secret else ({}, "")
            try:
                status = self.client.request("GET", self.path, headers=headers, token=token).status
            except http.client.IncompleteRead:
                # A picture that is on its way when the camera is switched off is cut short.
                continue
            if status == 200:
                self.pictures += 1
            elif status == 409:
                self.refusals += 1

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()


class Stream:
    """Reads a live stream over HTTP or a WebSocket, whatever comes, until the gateway ends it."""

    FILES = ("live.mp4", "live.mjpeg", "websocket")

    def __init__(self, gateway: Gateway, file: str) -> None:
        path = f"/v1/devices/{DEVICE}/{'live.mp4' if file == 'websocket' else file}"
        head = f"GET {path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {gateway.token}\r\n"
        if file == "websocket":
            head += "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            head += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        self._socket = socket.create_connection(("127.0.0.1", gateway.port), timeout=PATIENCE)
        self.port = self._socket.getsockname()[1]
        self._socket.sendall((head + "\r\n").encode())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while self._socket.recv(65_536):
                pass
        except OSError:
            # A connection that is cut has ended, too.
            pass

    @property
    def is_open(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()


def reader(house: House, transport: str, log: Path) -> OwnedProcess:
    address = f"rtsp://anybody:{house.gateway.token}@127.0.0.1:{house.rtsp_port}/{DEVICE}"
    options = ["-nostdin", "-v", "error", "-rtsp_transport", transport]
    return OwnedProcess(["ffmpeg", *options, "-i", address, "-c", "copy", "-f", "null", "-"], log)


def kept_picture(client: Client) -> Snapshots:
    """Asks for a picture that was taken on purpose, and kept."""
    taken = client.command(DEVICE, "CameraSnapshot", "takeSnapshot")
    assert taken.status == 200, taken.text
    return Snapshots(client, f"/v1/devices/{DEVICE}/snapshots/{taken.json['snapshotId']}")


def event_picture(client: Client) -> Snapshots:
    """Asks for the picture of an event, as a program for the Smart Device Management API does."""
    # The camera is recorded, so its list has at least the begin of the recording.
    event = client.get(f"/v1/devices/{DEVICE}/events")["events"][0]["id"]
    call = {"command": "sdm.devices.commands.CameraEventImage.GenerateImage", "params": {"eventId": event}}
    answer = client.request(
        "POST",
        f"/v1/enterprises/home/devices/{client.device_id(DEVICE)}:executeCommand",
        json.dumps(call),
        {"Content-Type": "application/json"},
    )
    assert answer.status == 200, answer.text
    results = answer.json["results"]
    return Snapshots(client, urlparse(results["url"]).path, results["token"])


def recorded_bytes(house: House) -> int:
    return sum(file.stat().st_size for file in house.recordings.rglob("*.m4s"))


def switch(house: House, status: str) -> int:
    """Returns when the answer had come, in nanoseconds since 1970."""
    reply = house.gateway.client.command(
        DEVICE, "PushAvStreamTransport", "setTransportStatus", {"transportStatus": status}
    )
    now = time.time_ns()
    assert reply.status == 200, reply.text
    return now


def outputs(house: House, sniffer: Sniffer, since: int, streams: dict[str, Stream]) -> dict[str, list[Sent]]:
    """What has left since a moment, by the way that it took."""
    gateway = house.gateway
    own = {stream.port: file for file, stream in streams.items()}
    over_http = sniffer.sent(source=gateway.port, since=since)
    # The end of a stream is shorter than any picture.
    shown = {
        file: [one for one in over_http if own.get(one.destination) == file and one.length > 300] for file in streams
    }
    return shown | {
        "live view": [one for one in sniffer.sent(source=gateway.media_port, since=since) if one.is_rtp],
        "RTSP by UDP": [one for one in sniffer.sent(source=house.datagram_port, since=since) if one.is_rtp],
        # Channels 0 and 2 are media, those between are reports.
        "RTSP by TCP": [
            one for one in sniffer.sent(source=house.rtsp_port, since=since) if one.head[:2] in (b"$\0", b"$\2")
        ],
        "snapshots": [one for one in over_http if one.length >= PICTURE and one.destination not in own],
        "talk": [one for one in sniffer.sent(destination=house.cameras.port, since=since) if one.head[:1] == b"$"],
    }


def switched_off_while_all_watch(house: House, sniffer: Sniffer, viewer: BrowserViewer, logs: Path) -> float:
    """Returns how long the command took, in milliseconds."""
    client = house.gateway.client
    readers = [reader(house, transport, logs / f"{transport}.log") for transport in ("tcp", "udp")]
    asking = house.gateway.client_at("127.0.0.1")
    pictures = {"now": Snapshots(asking), "kept": kept_picture(asking)}
    streams = {file: Stream(house.gateway, file) for file in Stream.FILES}
    try:
        begun, before = time.time_ns(), recorded_bytes(house)
        for kind in outputs(house, sniffer, begun, streams):
            eventually(
                lambda kind=kind: len(outputs(house, sniffer, begun, streams)[kind]) >= 3, f"{kind} shows the camera"
            )
        eventually(lambda: recorded_bytes(house) > before, "it is recorded")
        # The picture of an event is kept for half a minute.
        pictures["event"] = event_picture(asking)
        for kind, one in pictures.items():
            eventually(lambda one=one: one.pictures > 0, f"there is a picture: {kind}")

        asked = time.time_ns()
        returned = switch(house, "inactive")
        kept = recorded_bytes(house)
        # The measuring window.
        time.sleep(WINDOW)
        left = outputs(house, sniffer, returned, streams)
        late = {kind: sum(one.length for one in sent) for kind, sent in left.items()}
        assert late == dict.fromkeys(late, 0), "bytes that left after the command"
        assert recorded_bytes(house) == kept
        for kind, one in pictures.items():
            eventually(lambda one=one: one.refusals > 0, f"the picture is refused: {kind}")
        for file, stream in streams.items():
            eventually(lambda stream=stream: not stream.is_open, f"{file} has ended")
        for process in readers:
            eventually(lambda process=process: not process.is_running, "the reader has ended")
        ended = ("disconnected", "failed", "closed")
        eventually(lambda: viewer.connection_state() in ended, "the view has ended")
        assert client.sessions() == []
        return (returned - asked) / 1e6
    finally:
        for one in pictures.values():
            one.stop()
        for stream in streams.values():
            stream.stop()
        for process in readers:
            process.kill()


def test_nothing_leaves_after_the_camera_was_switched_off(
    house: House, sniffer: Sniffer, talker: Browser, tmp_path: Path, report: list[str]
) -> None:
    gateway = house.gateway
    times: list[float] = []
    for _ in range(ROUNDS):
        gateway.wait_until_flowing(DEVICE)
        with open_page(talker, f"http://127.0.0.1:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
            viewer.call("playByTrait", device=DEVICE, microphone=True)
            page.evaluate("window.viewer.command('startTalkback')")
            times.append(switched_off_while_all_watch(house, sniffer, viewer, tmp_path))
        switch(house, "active")
    report.append(
        f"off with Chromium, a talk, two RTSP readers, three streams over HTTP, snapshots, a recording: it took "
        f"{max(times):.0f} ms at most, and nothing left after it"
    )
