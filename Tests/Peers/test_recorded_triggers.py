"""What connections record: the streams that they name, and what came before a press or a camera's motion."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from peers import onvif_camera as onvif
from peers.event_stream import EventStream
from peers.gateway import Camera, Gateway
from peers.onvif_camera import MOTION, ONVIFCamera
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras

PUSH = "PushAvStreamTransport"
JSON = {"Content-Type": "application/json"}
PRE_ROLL = 3
INTERVALS = [1, 4, 10]
"""Seconds between the key frames of the cameras."""
KINDS = ["press", "motion"]
PICTURE = 1 / 15
"""The cameras' pictures are this far apart, in seconds."""


def recordings(gateway: Gateway, device: str) -> list[dict[str, Any]]:
    """The newest first."""
    return list(gateway.client.get(f"/v1/devices/{device}/recordings")["recordings"])


def ended(gateway: Gateway, device: str) -> dict[str, Any]:
    """The only recording of a camera, once it has ended."""
    found = eventually(lambda: [one for one in recordings(gateway, device) if not one["isRunning"]], "it ends")
    assert len(found) == 1
    return dict(gateway.client.get(f"/v1/devices/{device}/recordings/{found[0]['id']}")) | found[0]


@pytest.fixture
def pair(binary: Path, rtsp_cameras: RTSPCameras, tmp_path: Path) -> Iterator[Gateway]:
    """A camera with sound and a smaller stream of half the width, which nothing records by itself."""
    camera = rtsp_cameras.camera("drive", "h264", substream=rtsp_cameras.address("small"))
    gateway = Gateway(binary, tmp_path, [camera], {"recording": {"trigger": "command", "preRoll": 0}})
    gateway.wait_until_flowing("drive")
    streams = "/v1/devices/drive/traits/CameraAvStreamManagement"
    eventually(lambda: len(gateway.client.get(streams)["allocatedVideoStreams"]) == 2, "both streams are known")
    yield gateway
    assert gateway.stop() == 0, gateway.process.output()[-4000:]


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ({"audioStreams": [{"audioStreamName": "hall", "audioStreamID": 1}]}, {"hall": ("audio", None)}),
        ({"videoStreams": [{"videoStreamName": "small.1", "videoStreamID": 2}]}, {"small.1": ("video", 160)}),
        (
            {
                "videoStreams": [{"videoStreamName": "wide", "videoStreamID": 1}],
                "audioStreams": [{"audioStreamName": "hall", "audioStreamID": 1}],
            },
            {"wide": ("video", 320), "hall": ("audio", None)},
        ),
    ],
    ids=["sound", "substream", "both"],
)
def test_a_connection_records_what_it_names(
    pair: Gateway, streams: dict[str, Any], expected: dict[str, tuple[str, int | None]]
) -> None:
    client = pair.client

    def send(command: str, **parameters: Any) -> Any:
        reply = client.command("drive", PUSH, command, parameters)
        assert reply.status == 200, reply.text
        return reply.json

    options = {
        "streamUsage": "recording",
        "tlsEndpointID": 0,
        "url": "https://localhost/",
        "triggerOptions": {"triggerType": "command", "maxPreRollLen": 0},
        "ingestMethod": "cmafIngest",
        "containerOptions": {
            "containerType": "cmaf",
            "cmafContainerOptions": {"cmafInterface": "interface1", "segmentDuration": 1000, "chunkDuration": 0},
        },
    } | streams
    connection = send("allocatePushTransport", transportOptions=options)["transportConfiguration"]["connectionID"]
    send("setTransportStatus", connectionID=connection, transportStatus="active")
    time = {"initialDuration": 5, "augmentationDuration": 0, "maxDuration": 5, "blindDuration": 0}
    send("manuallyTriggerTransport", connectionID=connection, activationReason="userInitiated", timeControl=time)
    recording = ended(pair, "drive")
    assert {track["name"]: (track["kind"], track.get("width")) for track in recording["tracks"]} == expected
    listed = client.get(f"/v1/devices/drive/recordings/{recording['id']}/segments")["segments"]
    assert {segment["track"] for segment in listed} == set(expected)
    for track in recording["tracks"]:
        header = client.request("GET", f"/v1/devices/drive/recordings/{track['initialization']}")
        assert header.status == 200 and header.body[4:8] == b"ftyp"
    # Two pictures in one connection are refused, and nothing is promised.
    both = [{"videoStreamName": name, "videoStreamID": id} for id, name in enumerate(("one", "two"), 1)]
    refused = client.command(
        "drive", PUSH, "allocatePushTransport", {"transportOptions": options | {"videoStreams": both}}
    )
    assert (refused.status, refused.json["error"]["matter"]) == (429, {"code": 0x89}), refused.text


@dataclass
class Doors:
    """Doorbells at which something has happened."""

    gateway: Gateway
    stream: EventStream
    """What the gateway has told since before it happened."""


@pytest.fixture(scope="module")
def doors(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """Doorbells whose motion comes by ONVIF, and which are recorded when something happens: one for each test, so that
    all wait at the same time."""
    folder = tmp_path_factory.mktemp("doors")
    servers = {
        interval: RTSPCameras(folder / f"rtsp-camera-{interval}.log", "--key-interval", str(interval))
        for interval in INTERVALS
    }
    events: dict[str, ONVIFCamera] = {}
    cameras = []
    for interval, kind in itertools.product(INTERVALS, KINDS):
        id = f"{kind}-{interval}"
        (folder / id).mkdir()
        events[id] = ONVIFCamera(folder / id)
        onvif_settings = {"url": events[id].url, "username": onvif.USER, "password": onvif.PASSWORD}
        address = servers[interval].address("silent")
        cameras.append(Camera(id, address, type="doorbell", transport="tcp", settings={"onvif": onvif_settings}))
    gateway = Gateway(binary, folder, cameras, {"recording": {"trigger": "motion", "preRoll": PRE_ROLL}})
    client = gateway.client

    def is_subscribed(id: str) -> bool:
        return client.get(f"/v1/devices/{id}").get("eventSource", {}).get("state") == "subscribed"

    for id in events:
        gateway.wait_until_flowing(id)
        eventually(lambda id=id: is_subscribed(id), f"the events of {id} come")
    begun = datetime.now().astimezone()
    # The pre-roll needs a key frame from before it.
    wait = timedelta(seconds=PRE_ROLL + max(INTERVALS) + 1)
    eventually(lambda: datetime.now().astimezone() > begun + wait, "there is enough before the trigger", every=0.2)
    stream = EventStream(client)
    for id, camera in events.items():
        if id.startswith("press"):
            press = json.dumps({"type": "doorbellPressed"})
            reported = client.request("POST", f"/v1/devices/{id}/events", press, JSON)
            assert reported.status == 200, reported.text
        else:
            # A gateway that has subscribed again because an answer was late may be told twice.
            assert camera.notify(MOTION, True) >= 1
            camera.notify(MOTION, False)
    yield Doors(gateway, stream)
    stream.close()
    status = gateway.stop()
    for camera in events.values():
        camera.stop()
    for server in servers.values():
        server.stop()
    assert status == 0, gateway.process.output()[-4000:]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("interval", INTERVALS, ids=lambda seconds: f"{seconds} s")
def test_a_press_and_motion_are_recorded_from_before_they_happened(doors: Doors, interval: int, kind: str) -> None:
    client, id = doors.gateway.client, f"{kind}-{interval}"
    device = client.device_id(id)
    event = doors.stream.wait_for("DoorbellPressed" if kind == "press" else "Motion", deviceID=device)
    began = doors.stream.wait_for("PushTransportBegin", deviceID=device)
    recording = ended(doors.gateway, id)
    trigger = recording["trigger"]
    assert trigger["events"] == [event.id]
    if kind == "press":
        assert (trigger["kind"], trigger["reason"]) == ("command", "press of the button")
        assert began.data["activationReason"] == "doorbellPressed"
    else:
        assert (trigger["kind"], trigger["reason"]) == ("motion", "motion")
        assert "activationReason" not in began.data
    # It begins with the newest key frame from before the pre-roll.
    before = (moment(trigger["at"]) - moment(recording["start"])).total_seconds()
    assert PRE_ROLL - PICTURE <= before <= PRE_ROLL + interval + 3 * PICTURE, f"{before} s before the trigger"
    assert (recording["endReason"], recording["gaps"]) == ("lengthReached", 0)
    first = client.get(f"/v1/devices/{id}/recordings/{recording['id']}/segments")["segments"][0]
    # Within a tick of the camera's clock.
    assert first["number"] == 1 and first["decodeTime"] <= 1
