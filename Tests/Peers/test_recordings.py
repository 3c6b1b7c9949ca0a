"""What an owner does with recordings: real players judge exports and playlists, Chromium uses the page's timeline."""

import http.client
import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from peers.chromium import patient
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port_pair
from peers.recorded_footage import make_tracks, write_recording
from playwright.sync_api import Browser, Page, expect

LENGTH = 20
"""Seconds of each recording."""


@dataclass
class House:
    gateway: Gateway
    start: datetime
    """When the first recording begins; the second begins 40 s later."""
    ids: list[str]

    def time(self, seconds: float) -> str:
        return (self.start + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def range(self, start: float, end: float) -> str:
        return f"from={self.time(start)}&until={self.time(end)}"

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.gateway.port}"

    def fetch(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=PATIENCE)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.gateway.token}"} | headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, body

    def link(self, start: float, end: float) -> dict[str, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=PATIENCE)
        path = f"/v1/devices/front-door/recordings/links?{self.range(start, end)}"
        connection.request("POST", path, headers={"Authorization": f"Bearer {self.gateway.token}"})
        return json.loads(connection.getresponse().read())


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("recordings")
    # Yesterday at noon: the same day in every time zone from UTC-12 to UTC+11.
    start = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    tracks = make_tracks(folder, LENGTH)
    root = folder / "state" / "recordings"
    (folder / "state").mkdir(mode=0o700)
    ids = [
        write_recording(root, "front-door", start, 1, tracks),
        write_recording(root, "front-door", start + timedelta(seconds=40), 2, tracks, reason="press of the button"),
    ]
    port = free_port_pair()
    running = Gateway(binary, folder, [DOORBELL], {"rtsp": {"host": "127.0.0.1", "port": port}})
    # Without waiting: the gateway has just begun to read its recordings, and answers when it knows them.
    assert len(running.client.get("/v1/devices/front-door/recordings")["recordings"]) == 2
    yield House(running, start, ids)
    assert running.stop() == 0, running.process.output()[-4000:]


def probe(path: str, *arguments: str) -> str:
    found = subprocess.run(
        ["ffprobe", "-v", "error", *arguments, path], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert found.stderr == "", found.stderr
    return found.stdout


def test_an_export_plays_and_has_the_length_of_its_range(house: House, tmp_path: Path) -> None:
    status, headers, body = house.fetch(f"/v1/devices/front-door/recordings/export.mp4?{house.range(3.48, 12.72)}")
    assert status == 200
    assert int(headers["content-length"]) == len(body)
    path = tmp_path / "export.mp4"
    path.write_bytes(body)
    report = json.loads(probe(str(path), "-of", "json", "-show_format", "-show_streams", "-count_frames"))
    assert abs(float(report["format"]["duration"]) - 9.24) < 0.001
    video, sound = report["streams"]
    assert (video["codec_name"], sound["codec_name"]) == ("h264", "opus")
    # 9.24 s of 25 pictures a second, and those from the key frame before are not shown.
    assert int(video["nb_read_frames"]) == 231
    decoded = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", str(path), "-f", "null", "-"], capture_output=True, text=True,
        timeout=PATIENCE,
    )  # fmt: skip
    assert (decoded.returncode, decoded.stderr) == (0, "")
    # The first picture is the one of 3.48 s: the same pixels as in the original.
    first = frame_hashes(path)
    whole = tmp_path / "whole.mp4"
    whole.write_bytes(house.fetch(f"/v1/devices/front-door/recordings/export.mp4?{house.range(0, LENGTH)}")[2])
    assert first == frame_hashes(whole)[87 : 87 + 231]
    play = subprocess.run(
        ["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!", "decodebin", "name=d", "d.", "!", "queue", "!",
         "videoconvert", "!", "fakesink", "d.", "!", "queue", "!", "audioconvert", "!", "fakesink"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert play.returncode == 0, play.stderr


def frame_hashes(path: Path) -> list[str]:
    """A hash of each picture that a player shows."""
    found = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", str(path), "-map", "0:v", "-f", "framemd5", "-"],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return [line.split(",")[-1].strip() for line in found.stdout.splitlines() if not line.startswith("#")]


def test_an_export_over_a_pause_keeps_or_cuts_it(house: House, tmp_path: Path) -> None:
    for gaps, length in (("keep", 45.0), ("cut", 25.0)):
        path = tmp_path / f"{gaps}.mp4"
        path.write_bytes(
            house.fetch(f"/v1/devices/front-door/recordings/export.mp4?{house.range(10, 55)}&gaps={gaps}")[2]
        )
        report = json.loads(probe(str(path), "-of", "json", "-show_format", "-show_streams", "-count_frames"))
        assert abs(float(report["format"]["duration"]) - length) < 0.05
        assert int(report["streams"][0]["nb_read_frames"]) == 625


def test_ffmpeg_plays_the_playlist(house: House) -> None:
    address = house.origin + house.link(2, 50)["playlist"]
    report = json.loads(probe(address, "-of", "json", "-show_streams", "-count_packets"))
    kinds = {one["codec_name"]: int(one["nb_read_packets"]) for one in report["streams"]}
    # Ten segments of the first recording less the first, and five of the second: whole segments of two seconds.
    assert kinds["h264"] == 25 * (18 + 10)
    assert kinds["opus"] > 1300


def test_chromium_plays_an_export_and_a_range_of_it(house: House, browser: Browser) -> None:
    page = patient(browser.new_page())
    try:
        page.goto(house.origin + "/")
        link = house.link(4, 14)["export"]
        shown = page.evaluate(
            """async (address) => {
                const video = document.createElement("video");
                video.muted = true;
                video.src = address;
                document.body.append(video);
                await new Promise((done, failed) => {
                    video.addEventListener("loadeddata", done, { once: true });
                    video.addEventListener("error", () => failed(new Error(video.error.message)), { once: true });
                });
                const { duration } = video;
                video.currentTime = 7;
                await new Promise((done) => video.addEventListener("seeked", done, { once: true }));
                return [duration, video.currentTime, video.videoWidth];
            }""",
            link,
        )
        assert abs(shown[0] - 10) < 0.1
        assert shown[1:] == [7, 320]
    finally:
        page.close()


@pytest.fixture(params=[(1280, 900), (390, 844)], ids=["desktop", "phone"])
def page(browser: Browser, house: House, request: pytest.FixtureRequest) -> Iterator[Page]:
    width, height = request.param
    problems: list[str] = []
    opened = patient(browser.new_page(viewport={"width": width, "height": height}))
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto(f"{house.origin}/#token={house.gateway.token}")
    yield opened
    opened.close()
    assert not problems


VIDEO = "document.querySelector('dialog.recordings video')"

# Where the video has been, some times a second, and how many pictures it had decoded by then. It plays on while the
# test asks, and may be in the next recording or at its end by then.
FOLLOW = f"""(() => {{
    globalThis.passed = [];
    const video = {VIDEO};
    video.addEventListener("timeupdate", () => {{
        const frames = video.getVideoPlaybackQuality().totalVideoFrames;
        if (!video.seeking) passed.push({{ at: video.currentTime, frames }});
    }});
}})()"""


def test_the_timeline_plays_and_jumps(page: Page, house: House) -> None:
    page.get_by_role("button", name="Recordings of Front door").click()
    dialog = page.locator("dialog.recordings")
    expect(dialog.locator(".happenings li")).to_have_count(2)
    # Nothing lies outside of the screen.
    assert page.evaluate("document.querySelector('dialog.recordings').scrollWidth <= innerWidth")
    page.evaluate(FOLLOW)
    dialog.locator(".happenings li").nth(1).click()
    eventually(lambda: page.evaluate("passed.some(({ frames }) => frames > 10)"), "the picture moves")
    begun = page.evaluate("Math.min(...passed.map(({ at }) => at))")
    # A press on the timeline goes to another time, and the picture follows.
    bar = dialog.get_by_role("slider", name="Time of day")
    bar.scroll_into_view_if_needed()
    expect(page.locator(".timeline-track .mark").first).to_be_attached()
    spans = page.evaluate(
        "[...document.querySelectorAll('.timeline-track .span')].map((one) => {"
        " const box = one.getBoundingClientRect(); return [box.left, box.right, box.top]; })"
    )
    left, right, top = spans[-1]
    before = page.evaluate("passed.length")
    page.mouse.move(left + 1, top + 5)
    page.mouse.down()
    page.mouse.move((left + right) / 2, top + 5, steps=4)
    page.mouse.up()
    there = f"passed.slice({before}).filter(({{ at }}) => at > {begun} + 35)"
    eventually(lambda: page.evaluate(f"{there}.length") > 0, "the picture jumps")
    eventually(
        lambda: page.evaluate(f"{there}.at(-1).frames - {there}[0].frames") > 5,
        "the picture moves again",
    )
    dialog.get_by_label("Playback speed").select_option("4")
    assert page.evaluate(f"{VIDEO}.playbackRate") == 4
    # Thumbnails are pictures, and the clock shows the time of day.
    eventually(
        lambda: page.evaluate("[...document.querySelectorAll('.happened img')].every((one) => one.naturalWidth > 0)"),
        "the list has pictures",
    )
    expect(dialog.locator(".clock")).to_have_text(re.compile(r"\d\d:\d\d"))


def test_a_download_is_a_file_that_plays(page: Page, house: House, tmp_path: Path) -> None:
    page.get_by_role("button", name="Recordings of Front door").click()
    dialog = page.locator("dialog.recordings")
    dialog.locator(".happenings li").nth(1).click()
    dialog.get_by_role("button", name="Download").click()
    with page.expect_download() as waiting:
        dialog.get_by_role("button", name="Save as a file").click()
    path = tmp_path / "download.mp4"
    waiting.value.save_as(path)
    assert re.fullmatch(r"front-door-.*Z\.mp4", waiting.value.suggested_filename)
    assert abs(float(json.loads(probe(str(path), "-of", "json", "-show_format"))["format"]["duration"]) - LENGTH) < 1


def test_the_command_line_lists_exports_and_checks(house: House, binary: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(binary), "recordings", *arguments, "--config", str(house.gateway.config)], capture_output=True,
            text=True, timeout=PATIENCE,
        )  # fmt: skip

    listed = run("list", "front-door")
    assert house.ids[0] in listed.stdout, listed.stderr
    assert "press of the button" in listed.stdout
    assert json.loads(run("list", "front-door", "--json").stdout)["recordings"][0]["id"] == house.ids[1]
    assert "h264" not in run("show", "front-door", house.ids[0]).stdout
    assert "avc1.4D400C, 320 × 180" in run("show", "front-door", house.ids[0]).stdout
    path = tmp_path / "cli.mp4"
    begin, end = house.time(1), house.time(6)
    saved = run("export", "front-door", "--from", begin, "--until", end, "--output", str(path))
    assert saved.returncode == 0, saved.stderr
    assert abs(float(json.loads(probe(str(path), "-of", "json", "-show_format"))["format"]["duration"]) - 5) < 0.01
    again = run("export", "front-door", "--from", begin, "--until", end, "--output", str(path))
    assert again.returncode == 1
    assert "exists" in again.stderr
    address = run("play", "front-door", "--from", begin, "--until", end, "--url").stdout.strip()
    assert address.endswith("/recordings.m3u8")
    # The address for RTSP holds no secret; the player adds a token.
    by_rtsp = run("play", "front-door", "--from", begin, "--until", end, "--rtsp").stdout.strip()
    assert by_rtsp.startswith("rtsp://127.0.0.1:")
    opened = by_rtsp.replace("rtsp://", f"rtsp://anybody:{house.gateway.token}@")
    shown = json.loads(probe(opened, "-rtsp_transport", "tcp", "-of", "json", "-show_format"))
    assert abs(float(shown["format"]["duration"]) - 5) < 0.01
    checked = run("verify")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "2 recordings" in checked.stdout
    refused = run("rebuild-index")
    assert refused.returncode == 1
    assert "is using this state folder" in refused.stderr


def test_the_timeline_of_a_day_answers_fast(house: House, report: list[str]) -> None:
    path = f"/v1/devices/front-door/recordings?limit=1000&{house.range(-43200, 43200)}"
    house.fetch(path)
    times = []
    for _ in range(20):
        before = time.perf_counter()
        assert house.fetch(path)[0] == 200
        times.append(time.perf_counter() - before)
    report.append(f"recordings: the list of a day with two recordings, median {sorted(times)[10] * 1000:.1f} ms")
