"""Other programs play recordings by RTSP: ffmpeg and GStreamer, over TCP and UDP."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import av
import pytest
from peers.gateway import DOORBELL, Gateway
from peers.gstreamer import Shown, play
from peers.polling import PATIENCE, eventually
from peers.ports import free_port_pair
from peers.recorded_footage import SECONDS_TO_1970, make_tracks, write_recording

LENGTH = 12
CODECS = [("h264", "aac"), ("h265", "opus"), ("vp9", "opus"), ("av1", "aac")]
# ffmpeg of Debian 12 reads no AV1 by RTP, and its GStreamer has no depayloader for it. A newer ffmpeg, in PyAV, does.
READABLE = [one for one in CODECS if one[0] != "av1"]


def played_seconds(video: str) -> int:
    """How much of the end of a recording is played, which takes as long: of one codec for each program, two thirds."""
    return 8 if video in ("h264", "av1") else 4


@dataclass
class House:
    gateway: Gateway
    port: int
    start: datetime

    def address(self, camera: str, query: str = "") -> str:
        return f"rtsp://anybody:{self.gateway.token}@127.0.0.1:{self.port}/recordings/{camera}{query}"


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("rtsp-recordings")
    start = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    (folder / "state").mkdir(mode=0o700)
    root = folder / "state" / "recordings"
    for number, (video, sound) in enumerate(CODECS):
        tracks = make_tracks(folder, LENGTH, video_codec=video, sound_codec=sound)
        write_recording(root, f"cam-{video}", start, number + 1, tracks)
    port = free_port_pair()
    running = Gateway(binary, folder, [DOORBELL], {"rtsp": {"host": "127.0.0.1", "port": port}})
    # Without waiting: the gateway has just begun to read its recordings, and answers when it knows them.
    yield House(running, port, start)
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"
    assert running.token not in running.process.output(), "the token is in the log"


def packets(url: str, transport: str, *arguments: str) -> dict[str, list[dict[str, str]]]:
    """What ffprobe reads until the end, by the kind of track."""
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", transport, *arguments, "-show_entries",
         "packet=codec_type,pts_time,flags:stream=codec_name:format=duration", "-of", "json", url],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr.replace(url, "")
    report = json.loads(result.stdout)
    found: dict[str, list[dict[str, str]]] = {"video": [], "audio": []}
    for packet in report["packets"]:
        found[packet["codec_type"]].append(packet)
    found["format"] = [report["format"]]
    found["streams"] = report["streams"]
    return found


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize(("video", "sound"), READABLE)
def test_ffmpeg_plays_a_recording_to_its_end(house: House, video: str, sound: str, transport: str) -> None:
    seconds = played_seconds(video)
    query = f"?from={(house.start + timedelta(seconds=LENGTH - seconds)):%Y-%m-%dT%H:%M:%SZ}"
    found = packets(house.address(f"cam-{video}", query), transport)
    names = {"h265": "hevc"}
    assert {one["codec_name"] for one in found["streams"]} == {names.get(video, video), sound}
    assert abs(float(found["format"][0]["duration"]) - seconds) < 0.1
    pictures = [float(one["pts_time"]) for one in found["video"] if "pts_time" in one]
    # What comes by UDP while a busy machine does not let ffmpeg read finds no room in its socket.
    is_whole = transport == "tcp"
    assert 25 * seconds - (0 if is_whole else 3 * seconds) <= len(found["video"]) <= 25 * seconds
    # ffmpeg does not mark the key frames of VP9 that come by RTP.
    assert video == "vp9" or "K" in found["video"][0]["flags"]
    assert abs(max(pictures) - min(pictures) - seconds + 1 / 25) < (0.1 if is_whole else 0.5)
    lost = 4 if is_whole else 5 * seconds
    assert len(found["audio"]) >= seconds * (50 if sound == "opus" else 46) - lost


def shown_by_gstreamer(
    house: House, camera: str, query: str, elements: str, *options: str, protocols: str = "tcp"
) -> list[Shown]:
    """What GStreamer shows until the end. On a busy machine its own timer can be ahead of the goodbyes."""
    address = f"rtsp://127.0.0.1:{house.port}/recordings/{camera}{query}"
    playing = play(address, house.gateway.token, elements, *options, protocols=protocols)
    assert playing.has_ended or playing.goodbyes == {0, 1}
    return playing.shown


@pytest.mark.parametrize("protocols", ["tcp", "udp"])
@pytest.mark.parametrize(
    ("video", "elements"),
    [
        ("h264", "rtph264depay ! h264parse ! avdec_h264"),
        ("h265", "rtph265depay ! h265parse ! avdec_h265"),
        ("vp9", "rtpvp9depay ! vp9dec"),
    ],
)
def test_gstreamer_plays_a_recording_to_its_end(house: House, video: str, elements: str, protocols: str) -> None:
    query = f"?from={(house.start + timedelta(seconds=8)):%Y-%m-%dT%H:%M:%SZ}"
    shown = shown_by_gstreamer(house, f"cam-{video}", query, elements, protocols=protocols)
    # GStreamer leaves pictures out while a busy machine does not let it run.
    assert 25 * 4 - 12 <= len(shown) <= 25 * 4


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("video", ["av1", "vp9"])
def test_a_newer_ffmpeg_decodes_every_picture(house: House, video: str, transport: str) -> None:
    seconds = played_seconds(video)
    query = f"?from={(house.start + timedelta(seconds=LENGTH - seconds)):%Y-%m-%dT%H:%M:%SZ}"
    with av.open(house.address(f"cam-{video}", query), options={"rtsp_transport": transport}) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name in (video, f"lib{video}", "libdav1d")
        pictures = list(container.decode(stream))
    is_whole = transport == "tcp"
    assert 25 * seconds - (0 if is_whole else 3 * seconds) <= len(pictures) <= 25 * seconds
    assert {(picture.width, picture.height) for picture in pictures} == {(320, 180)}
    times = [picture.time for picture in pictures if picture.time is not None]
    assert abs(times[-1] - times[0] - seconds + 1 / 25) < (0.1 if is_whole else 0.5)


def test_an_onvif_client_learns_when_each_picture_was_captured(house: House) -> None:
    start = house.start + timedelta(seconds=8)
    query = f"?from={start:%Y-%m-%dT%H:%M:%SZ}"
    shown = shown_by_gstreamer(house, "cam-h264", query, "rtponvifparse", "--onvif")
    times = [round((packet.time - SECONDS_TO_1970 - start.timestamp()) * 1000) for packet in shown]
    # GStreamer drops what comes before its pipeline's clock runs: the first picture, as a rule. It leaves others out
    # while a busy machine does not let it run.
    every = [40 * number for number in range(25 * 4)]
    assert set(times) <= set(every) and len(set(times)) >= len(every) - 12
    # A key frame each second, and one beginning.
    keys = {time for time, packet in zip(times, shown, strict=True) if packet.is_key}
    assert keys == {0, 1000, 2000, 3000} & set(times)
    beginnings = [time for time, packet in zip(times, shown, strict=True) if packet.is_new]
    assert (0 in beginnings) == (0 in times)
    if len(set(times)) >= len(every) - 1:
        assert set(beginnings) <= {0}


def test_real_vp8_of_a_camera_is_played(binary: Path, tmp_path: Path) -> None:
    """The built-in camera's recording; ffmpeg writes no VP8 into the files that the other tests begin with."""
    port = free_port_pair()
    sections = {"recording": {"trigger": "continuous"}, "rtsp": {"host": "127.0.0.1", "port": port}}
    running = Gateway(binary, tmp_path, [DOORBELL], sections)
    try:
        path = f"/v1/devices/{DOORBELL.id}/recordings"

        def recorded() -> dict[str, str] | None:
            found = running.client.get(path)["recordings"]
            return found[0] if found and found[0]["durationSeconds"] >= 8 else None

        recording = eventually(recorded, "eight seconds are recorded")
        start = datetime.fromisoformat(recording["start"])
        times = [(start + timedelta(seconds=after)).strftime("%Y-%m-%dT%H:%M:%SZ") for after in (2, 6)]
        house = House(running, port, start)
        query = f"?from={times[0]}&until={times[1]}"
        found = packets(house.address(DOORBELL.id, query), "tcp")
        assert {one["codec_name"] for one in found["streams"]} == {"vp8", "opus"}
        # 15 pictures a second, and those from the key frame before.
        assert 15 * 4 - 2 <= len(found["video"]) <= 15 * 6
        assert "K" in found["video"][0]["flags"]
        shown = shown_by_gstreamer(house, DOORBELL.id, query, "rtpvp8depay ! vp8dec")
        assert 15 * 4 - 3 <= len(shown) <= len(found["video"])
    finally:
        assert running.stop() == 0


def test_ffmpeg_begins_where_it_is_asked_to(house: House) -> None:
    """`-ss` becomes a `Range` of the PLAY."""
    result = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-ss", "8.48", "-i", house.address("cam-h264"),
         "-map", "0:v", "-f", "framemd5", "-"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    shown = [line for line in result.stdout.splitlines() if not line.startswith("#")]
    assert 25 * 3.4 <= len(shown) <= 25 * 4


def test_a_camera_without_footage_is_not_found(house: House) -> None:
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", house.address("front-door")],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "404" in result.stderr
