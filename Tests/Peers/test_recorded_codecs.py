"""Recordings of every codec: exact exports, playlists that follow RFC 8216, and segments that Chromium plays."""

import http.client
import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import patient
from peers.gateway import DOORBELL, Gateway
from peers.media_source import PLAYER
from peers.polling import PATIENCE
from peers.recorded_footage import Track, make_tracks, write_recording
from playwright.sync_api import Browser

LENGTH = 12
CODECS = [("h264", "aac"), ("h265", "opus"), ("vp9", "opus"), ("av1", "aac")]


@dataclass
class House:
    gateway: Gateway
    tracks: dict[str, list[Track]]
    """The original files of each camera."""
    starts: dict[str, datetime]

    def time(self, camera: str, seconds: float) -> str:
        return (self.starts[camera] + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def fetch(self, camera: str, path: str, start: float, end: float) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=PATIENCE)
        times = f"from={self.time(camera, start)}&until={self.time(camera, end)}"
        connection.request(
            "GET", f"/v1/devices/{camera}/{path}?{times}", headers={"Authorization": f"Bearer {self.gateway.token}"}
        )
        response = connection.getresponse()
        body = response.read()
        connection.close()
        assert response.status == 200, body
        return body


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("codecs")
    start = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    (folder / "state").mkdir(mode=0o700)
    root = folder / "state" / "recordings"
    house = House(None, {}, {})  # type: ignore[arg-type]
    for video, sound in CODECS:
        camera = f"cam-{video}"
        house.tracks[camera] = make_tracks(folder, LENGTH, video_codec=video, sound_codec=sound)
        house.starts[camera] = start
        write_recording(root, camera, start, 1, house.tracks[camera])
        # An hour later, so that playlists have a discontinuity.
        write_recording(root, camera, start + timedelta(hours=1), 2, house.tracks[camera])
    house.gateway = Gateway(binary, folder, [DOORBELL])
    yield house
    assert house.gateway.stop() == 0, house.gateway.process.output()[-4000:]


def frame_hashes(path: Path) -> list[str]:
    """A hash of each picture that a player shows."""
    found = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", str(path), "-map", "0:v", "-fps_mode", "passthrough", "-f",
         "framemd5", "-"],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return [line.split(",")[-1].strip() for line in found.stdout.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("video", "sound"), CODECS)
def test_an_export_begins_and_ends_with_the_right_sample(house: House, video: str, sound: str, tmp_path: Path) -> None:
    camera = f"cam-{video}"
    path = tmp_path / "export.mp4"
    path.write_bytes(house.fetch(camera, "recordings/export.mp4", 3.48, 7.72))
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-of", "json", "-show_format", "-show_streams", str(path)],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert found.stderr == ""
    report = json.loads(found.stdout)
    names = {"h265": "hevc"}
    assert [one["codec_name"] for one in report["streams"]] == [names.get(video, video), sound]
    for one in [report["format"], *report["streams"]]:
        assert abs(float(one["duration"]) - 4.24) < 0.03, one
    # The same pixels as in the original, from the picture of 3.48 s to that before 7.72 s. ffmpeg 5.1 decodes AV1 by
    # libdav1d, which also shows the 12 pictures from the key frame on that the edit list leaves out.
    shown = frame_hashes(path)[12 if video == "av1" else 0 :]
    assert shown == frame_hashes(house.tracks[camera][0].source)[87:193]
    decoded = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", str(path), "-map", "0:a", "-f", "s16le", "-ac", "1", "-ar", "48000",
         "-"],
        capture_output=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert decoded.stderr == b""
    # Within one packet of sound, in samples.
    assert abs(len(decoded.stdout) // 2 - 4.24 * 48_000) <= 1_100
    play = subprocess.run(
        ["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!", "qtdemux", "name=d", "d.video_0", "!", "queue",
         "!", "fakesink", "d.audio_0", "!", "queue", "!", "fakesink"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert play.returncode == 0, play.stderr


@pytest.mark.parametrize("kind", ["video", "audio"])
@pytest.mark.parametrize(("video", "_sound"), CODECS)
def test_a_playlist_follows_rfc_8216(house: House, video: str, _sound: str, kind: str) -> None:
    camera = f"cam-{video}"
    text = house.fetch(camera, f"recordings/{kind}.m3u8", 0, 3_700).decode()
    lines = text.split("\n")
    assert lines[0] == "#EXTM3U", "section 4.3.1.1"
    assert lines[-1] == "", "each line ends (section 4.1)"
    assert "\r" not in text
    assert "\ufeff" not in text
    once = ["#EXT-X-VERSION:7", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-ENDLIST"]
    for tag in once:
        assert lines.count(tag) == 1, tag
    target = int(re.findall(r"^#EXT-X-TARGETDURATION:(\d+)$", next(x for x in lines if "TARGET" in x))[0])
    known = re.compile(
        r"#EXT(M3U|INF:[\d.]+,|-X-(VERSION|TARGETDURATION|MEDIA-SEQUENCE|PLAYLIST-TYPE|ENDLIST|DISCONTINUITY"
        r"|MAP|PROGRAM-DATE-TIME)(:.*)?)"
    )
    segments: list[dict[str, Any]] = []
    header, date, is_discontinuous, duration = None, None, False, None
    for line in lines[:-1]:
        assert line.startswith("#") is False or known.fullmatch(line), f"unknown tag {line}"
        if match := re.fullmatch(r'#EXT-X-MAP:URI="([^"]+)"', line):
            header = match.group(1)
        elif line.startswith("#EXT-X-PROGRAM-DATE-TIME:"):
            date = datetime.fromisoformat(line.split(":", 1)[1])
            assert date.tzinfo is not None, "section 4.3.2.6"
        elif line == "#EXT-X-DISCONTINUITY":
            is_discontinuous = True
        elif match := re.fullmatch(r"#EXTINF:([\d.]+),", line):
            duration = float(match.group(1))
            assert round(duration) <= target, "section 4.3.3.1"
        elif not line.startswith("#"):
            assert duration is not None, "section 4.3.2.1"
            segments.append({"uri": line, "map": header, "date": date, "gap": is_discontinuous, "duration": duration})
            date, is_discontinuous, duration = None, False, None
    assert [one["map"] is not None for one in segments] == [True] * len(segments), "section 4.3.2.5"
    # A change of EXT-X-MAP, and of the encoding's timeline, is a discontinuity (section 4.3.2.3).
    changes = [later["map"] != earlier["map"] for earlier, later in itertools.pairwise(segments)]
    assert [one["gap"] for one in segments[1:]] == changes
    assert sum(changes) == 1
    assert segments[0]["gap"] is False
    # The date of each run is right, and its durations add up to the recording.
    begin = house.starts[camera]
    dates = [one["date"] for one in segments if one["date"] is not None]
    assert [round((date - begin).total_seconds()) for date in dates] == [0, 3_600]
    runs = changes.index(True) + 1
    for run in (segments[:runs], segments[runs:]):
        assert abs(sum(float(str(one["duration"])) for one in run) - LENGTH) < 0.05
    # The addresses lead to what they name.
    for name in {segments[0]["uri"], segments[0]["map"], segments[-1]["uri"], segments[-1]["map"]}:
        assert str(name).startswith(("recordings/", "2")), name


@pytest.mark.parametrize(("video", "sound"), CODECS)
def test_chromium_plays_the_segments(house: House, browser: Browser, video: str, sound: str) -> None:
    camera = f"cam-{video}"
    tracks = []
    for kind, track in zip(("video", "audio"), house.tracks[camera], strict=True):
        lines = house.fetch(camera, f"recordings/{kind}.m3u8", 0, LENGTH).decode().split("\n")
        headers = [match.group(1) for line in lines if (match := re.fullmatch(r'#EXT-X-MAP:URI="([^"]+)"', line))]
        segments = [line for line in lines if line and not line.startswith("#")]
        tracks.append({"kind": kind, "codec": track.codec, "files": [*headers, *segments]})
    origin = f"http://127.0.0.1:{house.gateway.port}"
    page = patient(browser.new_page())
    try:
        page.goto(origin + "/")
        # Addresses in a playlist are relative to it.
        arguments = [f"{origin}/v1/devices/{camera}/recordings/", house.gateway.token, tracks, [0.5, 11.5, 3.9, 7.5]]
        played = page.evaluate(PLAYER, arguments)
    finally:
        page.close()
    if played is None:
        # Debian's Chromium decodes H.265 only in hardware. The page then offers the download.
        assert video == "h265"
        return
    assert (played["width"], played["shown"]) == (320, [True] * 4)
    assert played["sound"] > 0, sound
    for count, begin, end in played["ranges"]:
        assert (count, round(begin), round(end)) == (1, 0, LENGTH), played["ranges"]
