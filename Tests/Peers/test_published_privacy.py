"""The switches of a camera while a program publishes it by RTSP or RTMP: what it sends is kept back, and it stays
connected, since nobody could call it back.

The commit chooses the protocol; with GATEHOUSE_PROTOCOLS=all it is each of them."""

import asyncio
import itertools
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from peers.aiortc_viewer import AiortcViewer
from peers.coroutines import run
from peers.event_stream import EventStream
from peers.gateway import Camera, Gateway
from peers.parts import chosen
from peers.polling import PATIENCE, eventually
from peers.ports import free_port, free_port_pair
from peers.processes import OwnedProcess
from peers.publishing_process import published

NUMBERS = itertools.count(1)
DEVICE = "phone"
SETTINGS = f"/v1/devices/{DEVICE}/traits/CameraAvStreamManagement"
JSON = {"Content-Type": "application/json"}
PROTOCOLS = chosen(["RTSP over TCP", "RTSP over UDP", "RTMP"], "GATEHOUSE_PROTOCOLS")
REFUSED_LIVE = {
    "off": "", "livestream": "softLivestreamPrivacyModeEnabled", "switch on the camera": "hardPrivacyModeOn"
}  # fmt: skip
"""The switches that refuse live views, and the attribute of each."""
ENDED_BECAUSE = {
    "off": "the camera was switched off",
    "livestream": "privacy: the camera's live views were switched off",
    "switch on the camera": "privacy: the camera's privacy switch was turned on",
}
"""What the end of a view says."""


@dataclass
class House:
    gateway: Gateway
    binary: Path
    ports: dict[str, int]

    def turn(self, switch: str, is_private: bool) -> None:
        """Moves one of the switches."""
        client = self.gateway.client
        if switch == "off":
            status = {"transportStatus": "inactive" if is_private else "active"}
            answer = client.command(DEVICE, "PushAvStreamTransport", "setTransportStatus", status)
        elif switch == "switch on the camera":
            command = [str(self.binary), "token", "--webhook", DEVICE, "--config", str(self.gateway.config)]
            token = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.strip()
            path = f"/v1/webhooks/{DEVICE}/{token}/privacy?active={'on' if is_private else 'off'}"
            answer = client.request("GET", path, token=None)
        else:
            answer = client.request("PATCH", SETTINGS, json.dumps({REFUSED_LIVE.get(switch, switch): is_private}), JSON)
        assert answer.status == 200, answer.text

    @property
    def recordings(self) -> list[dict[str, Any]]:
        """The newest first."""
        return list(self.gateway.client.get(f"/v1/devices/{DEVICE}/recordings")["recordings"])

    def wait_until_recorded(self, *known: str) -> str:
        """Waits for a running recording other than the known ones that has something in it; its id."""

        def running() -> str | None:
            found = next((one for one in self.recordings if one["isRunning"] and one["segments"] > 0), None)
            return str(found["id"]) if found and found["id"] not in known else None

        return eventually(running, "it is recorded") or ""

    def reading(self) -> str:
        return f"rtsp://anybody:{self.gateway.token}@127.0.0.1:{self.ports['rtsp']}/{DEVICE}"

    def publishers(self, protocol: str) -> tuple[float, float]:
        """How many publish now, and how many have begun."""
        name = f"gatehouse_{protocol[:4].lower()}_publishers"
        return self.gateway.client.metric(name), self.gateway.client.metric(f"{name}_started_total")


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[House]:
    ports = {"rtsp": free_port_pair(), "rtmp": free_port()}
    sections: dict[str, object] = {name: {"host": "127.0.0.1", "port": port} for name, port in ports.items()}
    camera = Camera(DEVICE, "publisher", settings={"webhook": True})
    gateway = Gateway(binary, tmp_path, [camera], sections | {"recording": {"trigger": "continuous"}})
    yield House(gateway, binary, ports)
    assert gateway.process.is_running, f"the gateway ended unexpectedly:\n{gateway.process.output()[-4000:]}"
    assert gateway.stop() == 0, f"the gateway did not end well:\n{gateway.process.output()[-4000:]}"


@contextmanager
def published_by(house: House, protocol: str, folder: Path) -> Iterator[OwnedProcess]:
    """ffmpeg, which publishes a test picture and a tone, whatever becomes of them."""
    client = house.gateway.client
    grants = [{"scopes": ["media"], "deviceID": client.device_id(DEVICE)}]
    answer = client.request("POST", "/v1/tokens", json.dumps({"name": f"{next(NUMBERS)}", "grants": grants}), JSON)
    assert answer.status == 201, answer.text
    sound, form, place = {
        "RTSP over TCP": ("libopus", ["-f", "rtsp", "-rtsp_transport", "tcp"], f"rtsp://127.0.0.1:{house.ports['rtsp']}"),
        "RTSP over UDP": ("libopus", ["-f", "rtsp", "-rtsp_transport", "udp"], f"rtsp://127.0.0.1:{house.ports['rtsp']}"),
        "RTMP": ("aac", ["-f", "flv"], f"rtmp://127.0.0.1:{house.ports['rtmp']}/live"),
    }[protocol]  # fmt: skip
    command = [
        "ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=15",
        "-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000",
        "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-profile:v", "baseline",
        "-pix_fmt", "yuv420p", "-g", "15", "-c:a", sound, *form, f"{place}/{DEVICE}?token={answer.json['token']}",
    ]  # fmt: skip
    with published(house.gateway, DEVICE, command, folder) as process:
        yield process


def packets(house: House, count: int = 120) -> list[str]:
    """The kinds of the first packets that ffprobe reads by RTSP."""
    probed = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-read_intervals", f"%+#{count}",
         "-show_entries", "packet=codec_type", "-of", "json", house.reading()],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert probed.returncode == 0, probed.stderr.replace(house.reading(), "")
    return [packet["codec_type"] for packet in json.loads(probed.stdout)["packets"]]


def refusal(house: House) -> str:
    """What ffprobe says about a camera that nobody may read."""
    probed = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", house.reading()],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert probed.returncode != 0
    return probed.stderr


def watch(house: House) -> None:
    viewer = AiortcViewer(house.gateway.client, DEVICE)

    async def see() -> None:
        try:
            await viewer.start()
            await viewer.expect_media()
        finally:
            await viewer.stop()

    run(see)


@pytest.mark.parametrize("switch", REFUSED_LIVE)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_switch_ends_what_shows_the_camera_and_not_its_publisher(
    house: House, tmp_path: Path, protocol: str, switch: str
) -> None:
    client = house.gateway.client
    with published_by(house, protocol, tmp_path) as publisher:
        first = house.wait_until_recorded()
        publishers = house.publishers(protocol)
        assert publishers[0] == 1
        reader = OwnedProcess(
            ["ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-i", house.reading(), "-c", "copy",
             "-f", "null", "-"], tmp_path / "reader.log",
        )  # fmt: skip
        stream = EventStream(client)
        viewer = AiortcViewer(client, DEVICE)

        async def see() -> None:
            await viewer.start()
            await viewer.expect_media()
            reads = "gatehouse_rtsp_readers"
            await asyncio.to_thread(eventually, lambda: client.metric(reads) == 1, "ffmpeg reads")
            await asyncio.to_thread(house.turn, switch, True)
            assert await asyncio.to_thread(client.sessions) == []
            viewer.resource = ""
            await viewer.stop()

        try:
            run(see)
            newest = next(one for one in house.recordings if one["id"] == first)
            # That switch leaves recordings alone.
            assert newest["isRunning"] == (switch == "livestream"), newest
            over = stream.wait_for("session", change="ended", within=PATIENCE).data["session"]["endReason"]
            assert over == ENDED_BECAUSE[switch]
            eventually(lambda: not reader.is_running, "the reader has ended")
            assert "403" in refusal(house)
            assert client.request("GET", f"/v1/devices/{DEVICE}/snapshot.jpg").status == 409
            # What it sends meanwhile goes nowhere, and it does not notice.
            assert house.publishers(protocol) == publishers
            house.turn(switch, False)
            watch(house)
            read = packets(house)
            assert read.count("video") >= 15 and read.count("audio") >= 20
            assert client.request("GET", f"/v1/devices/{DEVICE}/snapshot.jpg").status == 200
            again = house.wait_until_recorded(*(() if switch == "livestream" else (first,)))
            assert (again == first) == (switch == "livestream")
            assert house.publishers(protocol) == publishers and publisher.is_running
        finally:
            house.turn(switch, False)
            reader.stop()
            stream.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_publisher_that_begins_while_the_camera_is_off_is_seen_when_it_is_on(
    house: House, tmp_path: Path, protocol: str
) -> None:
    client = house.gateway.client
    house.turn("off", True)
    try:
        with published_by(house, protocol, tmp_path):
            assert "403" in refusal(house)
            assert client.request("GET", f"/v1/devices/{DEVICE}/snapshot.jpg").status == 409
            house.turn("off", False)
            watch(house)
            assert {"video", "audio"} == set(packets(house))
    finally:
        house.turn("off", False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_muted_microphone_is_silent_while_the_picture_goes_on(house: House, tmp_path: Path, protocol: str) -> None:
    with published_by(house, protocol, tmp_path):
        viewer = AiortcViewer(house.gateway.client, DEVICE)

        async def listen() -> None:
            try:
                await viewer.start()
                await viewer.expect_media()
                await asyncio.to_thread(house.turn, "microphoneMuted", True)
                # What was on its way has arrived when the next pictures have, or a little later where the viewer got no
                # processor time.
                await viewer.expect_media(frames=30, sound=False)
                for _ in range(5):
                    samples = viewer.received.samples
                    await viewer.expect_media(frames=60, sound=False)
                    if viewer.received.samples == samples:
                        break
                assert viewer.received.samples == samples
                # A reader that begins now gets no sound from before either.
                read = await asyncio.to_thread(packets, house, 60)
                assert set(read) == {"video"}, read
                await asyncio.to_thread(house.turn, "microphoneMuted", False)
                await viewer.expect_media()
            finally:
                await asyncio.to_thread(house.turn, "microphoneMuted", False)
                await viewer.stop()

        run(listen)
        assert set(packets(house)) == {"video", "audio"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_recordings_are_refused_while_live_views_go_on(house: House, tmp_path: Path, protocol: str) -> None:
    with published_by(house, protocol, tmp_path):
        first = house.wait_until_recorded()
        try:
            house.turn("softRecordingPrivacyModeEnabled", True)
            newest = next(one for one in house.recordings if one["id"] == first)
            assert (newest["isRunning"], newest["endReason"]) == (False, "privacy")
            watch(house)
            assert house.recordings[0]["id"] == first
        finally:
            house.turn("softRecordingPrivacyModeEnabled", False)
        house.wait_until_recorded(first)
