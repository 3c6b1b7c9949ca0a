"""Matter's integration tests of the Push AV Stream Transport (TC-PAVSTI-1.1 and 1.2), and its test of a restart (2.14),
with the whole gateway, a camera, and nginx as the receiver."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.event_stream import EventStream
from peers.gateway import Gateway
from peers.ingest import Ingest
from peers.pki import Authority
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras

DEVICE = "drive"
PUSH = "PushAvStreamTransport"
STREAMS = f"/v1/devices/{DEVICE}/traits/CameraAvStreamManagement"
JSON = {"Content-Type": "application/json"}
INVALID_IN_STATE = 0xCB


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    (tmp_path / "pki").mkdir()
    made = Authority(tmp_path / "pki", "authority")
    made.issue("server")
    made.issue("gateway")
    return made


@pytest.fixture
def ingest(authority: Authority, tmp_path: Path) -> Iterator[Callable[[str], Ingest]]:
    made: list[Ingest] = []

    def make(interface: str) -> Ingest:
        certificate, key = authority.folder / "server.pem", authority.folder / "server.key"
        made.append(Ingest(tmp_path / "ingest", authority.path, certificate, key, interface))
        eventually((made[-1].folder / "nginx.pid").exists, "nginx runs", 60, every=0.01)
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def house(binary: Path, rtsp_cameras: RTSPCameras, authority: Authority, tmp_path: Path) -> Iterator[Gateway]:
    """An H.264 camera with sound, which nothing records by itself, and an endpoint for uploads."""
    gateway = Gateway(
        binary, tmp_path, [rtsp_cameras.camera(DEVICE, "h264")], {"recording": {"trigger": "command", "preRoll": 0}}
    )
    material = {
        "kind": "tls",
        "rootCertificates": authority.path.read_text(),
        "clientCertificate": (authority.folder / "gateway.pem").read_text(),
        "privateKey": (authority.folder / "gateway.key").read_text(),
    }
    made = gateway.client.request("PUT", "/v1/upload-endpoints/ingest", json.dumps(material), JSON)
    assert made.status == 201, made.text
    gateway.endpoint = made.json["id"]  # type: ignore[attr-defined]
    gateway.wait_until_flowing(DEVICE, 60)
    yield gateway
    gateway.stop()


def send(house: Gateway, command: str, **parameters: Any) -> Any:
    reply = house.client.command(DEVICE, PUSH, command, parameters)
    assert reply.status == 200, f"{command}: {reply.text}"
    return reply.json


def allocate(house: Gateway, url: str, interface: str, trigger: dict[str, Any]) -> int:
    options = {
        "streamUsage": "recording",
        "videoStreamID": None,
        "audioStreamID": None,
        "tlsEndpointID": house.endpoint,  # type: ignore[attr-defined]
        "url": url,
        "triggerOptions": trigger,
        "ingestMethod": "cmafIngest",
        "containerOptions": {
            "containerType": "cmaf",
            "cmafContainerOptions": {"cmafInterface": interface, "segmentDuration": 1000, "chunkDuration": 0},
        },
    }
    made = send(house, "allocatePushTransport", transportOptions=options)["transportConfiguration"]
    assert made["transportStatus"] == "inactive"
    return int(made["connectionID"])


def received(ingest: Ingest) -> dict[str, bytes]:
    return {path: body for session in ingest.strict.sessions.values() for path, body in session.objects.items()}


def segments(ingest: Ingest) -> int:
    return sum(path.endswith(".m4s") for path in received(ingest))


def wait_for_the_end(house: Gateway, ingest: Ingest, stream: EventStream, connection: int) -> None:
    """The recording has ended, all of it has arrived, and nothing follows."""
    stream.wait_for("PushTransportEnd", within=60, deviceID=house.client.device_id(DEVICE), connectionID=connection)
    eventually(lambda: house.client.metric("gatehouse_upload_queue_segments") == 0, "all is uploaded", 60)

    def has_ended() -> bool:
        recordings = house.client.get(f"/v1/devices/{DEVICE}/recordings")["recordings"]
        return [one["isRunning"] for one in recordings] == [False]

    # The disk is slower than the event, which does not wait for it.
    eventually(has_ended, "the index says that the recording has ended")
    assert ingest.violations() == []


def test_a_command_uploads_until_the_connection_is_inactive(house: Gateway, ingest: Callable[[str], Ingest]) -> None:
    """TC-PAVSTI-1.1."""
    server = ingest("interface1")
    stream = EventStream(house.client)
    connection = allocate(house, server.url + "drive/", "interface1", {"triggerType": "command", "maxPreRollLen": 0})
    send(house, "setTransportStatus", connectionID=connection, transportStatus="active")
    assert segments(server) == 0
    time_control = {"initialDuration": 300, "augmentationDuration": 0, "maxDuration": 300, "blindDuration": 0}
    send(
        house, "manuallyTriggerTransport",
        connectionID=connection, activationReason="userInitiated", timeControl=time_control,
    )  # fmt: skip
    stream.wait_for("PushTransportBegin", within=60, deviceID=house.client.device_id(DEVICE), connectionID=connection)
    eventually(lambda: segments(server) >= 4, "segments arrive", 90)
    names = {path.split("/")[-2] for path in received(server) if path.endswith(".init")}
    assert names == {"video", "audio"}
    assert all(body[4:8] in (b"ftyp", b"styp") for body in received(server).values())
    send(house, "setTransportStatus", connectionID=connection, transportStatus="inactive")
    wait_for_the_end(house, server, stream, connection)
    stream.close()


def test_privacy_refuses_a_continuous_upload_and_its_end_permits_it(
    house: Gateway, ingest: Callable[[str], Ingest]
) -> None:
    """TC-PAVSTI-1.2."""
    server = ingest("dash")
    stream = EventStream(house.client)

    def privacy(is_on: bool) -> None:
        body = {"softRecordingPrivacyModeEnabled": is_on, "softLivestreamPrivacyModeEnabled": is_on}
        written = house.client.request("PATCH", STREAMS, json.dumps(body), JSON)
        assert written.status == 200, written.text

    connection = allocate(house, server.url + "drive/", "interface2DASH", {"triggerType": "continuous"})
    privacy(True)
    active = {"connectionID": connection, "transportStatus": "active"}
    refused = house.client.command(DEVICE, PUSH, "setTransportStatus", active)
    assert refused.json["error"]["matter"] == {"code": INVALID_IN_STATE}, refused.text
    assert segments(server) == 0
    privacy(False)
    send(house, "setTransportStatus", **active)
    # With its sound, which comes later, or without: a session that lasts has both.
    eventually(lambda: segments(server) >= 6, "segments arrive", 90)
    assert house.client.metric("gatehouse_upload_failing") == 0
    send(house, "setTransportStatus", connectionID=connection, transportStatus="inactive")
    stream.wait_for("PushTransportEnd", within=60, deviceID=house.client.device_id(DEVICE), connectionID=connection)
    eventually(lambda: house.client.metric("gatehouse_upload_queue_segments") == 0, "all is uploaded", 60)

    def is_closed() -> bool:
        manifests = [body for path, body in received(server).items() if path.endswith(".mpd")]
        return bool(manifests) and all(b'type="static"' in body for body in manifests)

    eventually(is_closed, "the manifest, which comes after the segments, says that nothing follows")
    assert server.violations() == []
    stream.close()


def test_connections_survive_a_kill(house: Gateway) -> None:
    """TC-PAVST-2.14."""
    connection = allocate(house, "https://127.0.0.1/in/", "interface1", {"triggerType": "continuous"})
    before = send(house, "findTransport")["transportConfigurations"]
    assert connection != 0 and len(before) == 2

    def kill() -> None:
        os.kill(house.process.pid, signal.SIGKILL)
        house.stop()
        house.start()

    kill()
    assert send(house, "findTransport")["transportConfigurations"] == before
    send(house, "deallocatePushTransport", connectionID=connection)
    kill()
    assert send(house, "findTransport")["transportConfigurations"] == before[:1]
