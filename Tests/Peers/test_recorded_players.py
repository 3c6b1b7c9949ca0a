"""What the gateway records of real cameras plays in Chromium (by Media Source Extensions) and in GStreamer."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from peers.chromium import open_page
from peers.gateway import DOORBELL, Camera, Gateway
from peers.gstreamer import RAW_PICTURES, RAW_SOUND, count_pictures, decode, launch, seconds_of_sound
from peers.media_source import PLAYER
from peers.polling import PATIENCE, eventually
from peers.publisher import publishing
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser

LENGTH = 4
"""Seconds that are asked for. A recording ends a little later, with the picture that is coming."""


@dataclass
class Track:
    is_video: bool
    codec: str
    """As Media Source Extensions name it."""
    files: list[str]
    path: Path
    """The header and all segments, one after the other."""
    count: int
    """The pictures, or packets of sound, that ffprobe finds."""
    seconds: float
    held: float
    """The seconds that its packets hold. A busy camera leaves moments out, which `seconds` includes."""


@dataclass
class House:
    gateway: Gateway
    tracks: dict[str, list[Track]]
    """Of the newest recording of each camera."""


def record(gateway: Gateway, device: str) -> None:
    gateway.wait_until_flowing(device)
    time = {"initialDuration": LENGTH, "augmentationDuration": 0, "maxDuration": LENGTH, "blindDuration": 0}
    reply = gateway.client.command(
        device,
        "PushAvStreamTransport",
        "manuallyTriggerTransport",
        {"connectionID": 1, "activationReason": "userInitiated", "timeControl": time},
    )
    assert reply.status == 200, reply.text


def recorded(gateway: Gateway, device: str, folder: Path) -> list[Track]:
    """The tracks of a camera's recording, once it has ended."""
    base = f"/v1/devices/{device}/recordings"
    known: set[str] = set()

    def ended() -> dict[str, Any] | None:
        listed = gateway.client.get(base)["recordings"]
        return next((one for one in listed if not one["isRunning"] and one["id"] not in known), None)

    recording = eventually(ended, f"the recording of {device} ends")
    # Players need a recording without a hole, and most of what was asked for. A camera that gets no processor time
    # leaves moments out by itself or is late, and a gateway without it loses datagrams. Then it is recorded again.
    while (recording["gaps"] or recording["durationSeconds"] < LENGTH - 1.5) and len(known) < 5:
        gaps = gateway.client.get(f"{base}/{recording['id']}")["gaps"]
        assert {gap["reason"] for gap in gaps} <= {"cameraAway", "loss"}, gaps
        known.add(recording["id"])
        record(gateway, device)
        recording = eventually(ended, f"the recording of {device} ends")
    assert (recording["endReason"], recording["gaps"]) == ("lengthReached", 0)
    described = gateway.client.get(f"{base}/{recording['id']}")["tracks"]
    segments = gateway.client.get(f"{base}/{recording['id']}/segments")["segments"]
    found = []
    for track in described:
        files = [track["initialization"], *(one["media"] for one in segments if one["track"] == track["name"])]
        path = folder / f"{device}-{track['name']}.mp4"
        path.write_bytes(b"".join(gateway.client.request("GET", f"{base}/{file}").body for file in files))
        entries = "stream=nb_read_packets:packet=pts_time,duration_time"
        probed = subprocess.run(
            ["ffprobe", "-v", "error", "-count_packets", "-show_entries", entries, "-of", "json", str(path)],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
        assert probed.stderr == "", probed.stderr
        report = json.loads(probed.stdout)
        times = [float(one["pts_time"]) for one in report["packets"]]
        last = max(report["packets"], key=lambda one: float(one["pts_time"]))
        length = float(last["pts_time"]) + float(last.get("duration_time", 0)) - min(times)
        count = int(report["streams"][0]["nb_read_packets"])
        held = count * median(later - earlier for earlier, later in pairwise(sorted(times)))
        found.append(Track(track["kind"] == "video", track["codec"], files, path, count, length, held))
    return found


@pytest.fixture(scope="module")
def house(
    binary: Path, rtsp_cameras: RTSPCameras, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("players")
    cameras = [
        DOORBELL, rtsp_cameras.camera("drive", "h264"), rtsp_cameras.camera("yard", "aac"),
        rtsp_cameras.camera("garden", "h265"), rtsp_cameras.camera("shed", "vp9"),
    ]  # fmt: skip
    recording = {"recording": {"trigger": "command", "preRoll": 0}}
    gateway = Gateway(binary, folder, [*cameras, Camera("phone", "whip")], recording)
    for camera in cameras:
        record(gateway, camera.id)
    recordings = {camera.id: recorded(gateway, camera.id, folder) for camera in cameras}
    # GStreamer of Debian 12 has no AV1 for RTP, so a browser publishes it.
    with (
        open_page(browser, f"http://127.0.0.1:{gateway.port}") as page,
        publishing(page, gateway.token, "phone", "AV1"),
    ):
        record(gateway, "phone")
        recordings["phone"] = recorded(gateway, "phone", folder)
    yield House(gateway, recordings)
    assert gateway.stop() == 0, gateway.process.output()[-4000:]


CAMERAS = {
    DOORBELL.id: ("vp08", "opus"), "drive": ("avc1", "opus"), "yard": ("avc1", "mp4a"), "garden": ("hvc1", "mp4a"),
    "shed": ("vp09", "opus"), "phone": ("av01", "opus"),
}  # fmt: skip


@pytest.mark.parametrize("device", CAMERAS)
def test_a_recording_has_the_tracks_and_the_length_that_were_asked_for(house: House, device: str) -> None:
    tracks = house.tracks[device]
    assert tuple(track.codec.split(".")[0] for track in tracks) == CAMERAS[device]
    for track in tracks:
        assert LENGTH - 1.5 < track.seconds < LENGTH + 2.5, track


@pytest.mark.parametrize("device", CAMERAS)
def test_chromium_plays_a_recording_by_media_source_extensions(house: House, browser: Browser, device: str) -> None:
    tracks = house.tracks[device]
    listed = [
        {"kind": "video" if track.is_video else "audio", "codec": track.codec, "files": track.files} for track in tracks
    ]
    origin = f"http://127.0.0.1:{house.gateway.port}"
    end = min(track.seconds for track in tracks)
    with open_page(browser, origin) as opened:
        times = [end - 0.4, 0.2, end / 2]
        arguments = [f"{origin}/v1/devices/{device}/recordings/", house.gateway.token, listed, times]
        played = opened.page.evaluate(PLAYER, arguments)
    if played is None:
        # Debian's Chromium decodes H.265 only in hardware, and plays VP8 only as WebM, to which the page turns it.
        assert device in {"garden", DOORBELL.id}
        return
    assert played["shown"] == [True] * 3 and played["width"] > 0
    assert played["sound"] > 0
    for (count, begin, end), track in zip(played["ranges"], tracks, strict=True):
        assert count == 1, played["ranges"]
        # How long the last picture lasts, only the next one would say.
        assert abs(end - begin - track.seconds) < 0.25, (played["ranges"], track)


def steady(caps: str) -> str:
    """qtdemux guesses the rate of each fragment. A change makes decoders of Debian 12 forget what they have decoded."""
    return f"capssetter caps={caps},framerate=15/1 ! "


DECODERS = {
    "vp08": steady("video/x-vp8") + "vp8dec ! ", "avc1": "h264parse ! avdec_h264 ! ",
    "hvc1": "h265parse ! avdec_h265 ! ", "vp09": steady("video/x-vp9") + "vp9dec ! ",
    "av01": steady("video/x-av1") + "av1dec ! ",
    "opus": "opusparse ! opusdec ! ", "mp4a": "aacparse ! avdec_aac ! ",
}  # fmt: skip


@pytest.mark.parametrize("device", CAMERAS)
def test_gstreamer_decodes_every_picture_and_all_sound(house: House, device: str, tmp_path: Path) -> None:
    for track in house.tracks[device]:
        raw = tmp_path / "track.raw"
        elements = DECODERS[track.codec.split(".")[0]] + (RAW_PICTURES if track.is_video else RAW_SOUND)
        launch(f"filesrc location={track.path} ! qtdemux ! {elements} ! filesink location={raw}")
        if track.is_video:
            assert count_pictures(raw) == track.count, track
        else:
            assert abs(seconds_of_sound(raw) - track.held) < 0.15, track


@pytest.mark.parametrize("device", ["drive", "garden"])
def test_gstreamer_plays_the_playlist_of_a_recording(house: House, device: str, tmp_path: Path) -> None:
    client = house.gateway.client
    recording = client.get(f"/v1/devices/{device}/recordings")["recordings"][0]
    times = f"from={recording['start']}&until={recording['end']}"
    link = client.request("POST", f"/v1/devices/{device}/recordings/links?{times}")
    assert link.status < 300, link.text
    pictures, seconds = decode(f"http://127.0.0.1:{house.gateway.port}{link.json['playlist']}", tmp_path)
    video, sound = house.tracks[device]
    assert pictures == video.count
    assert abs(seconds - sound.held) < 0.15
