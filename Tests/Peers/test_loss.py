"""Chromium and Firefox behind a line that loses packets, or that carries too little, keep their picture.
aiortc, which reports less, gets the smaller stream there too."""

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from peers.aiortc_viewer import AiortcViewer
from peers.chromium import launch_inside, open_page
from peers.coroutines import run
from peers.firefox import Firefox
from peers.gateway import Camera, Gateway
from peers.lossy_line import LossyLine
from peers.namespace import inside
from peers.polling import eventually
from peers.rough_path import Roughness, RoughPath
from peers.rtsp_cameras import RTSPCameras
from peers.viewer import BrowserViewer, Page, viewing
from playwright.sync_api import Browser, Playwright

pytestmark = pytest.mark.alone

ENOUGH = 0.9
"""Of the usual frames, where nothing is lost at random. The goal is 99 %."""
RETURN = 30.0
"""Seconds after the end of a limit within which the main stream is back. The goal is 10."""
ROUGH = (
    ("reordering of up to 100 ms", Roughness(late=0.2, delay=0.1), 0.9),
    ("bursts of 200 ms each two seconds", Roughness(burst=0.2, period=2), 0.8),
)
"""What a path does without loss at random, and the share of the usual frames that has to be decoded."""
# Noise fills the bitrate, so that the camera is as demanding as a real one.
WIDTH, SMALL_WIDTH = 640, 320
RATE = 2200
"""What the cameras' encoders aim at, in kbit/s. With noise, that of VP8 makes 1.6 times as much."""
SOUND = 80
"""What PCMA takes in kbit/s, with the headers of its small packets."""
HEADERS = 1.05
"""What a stream takes with all headers, as a multiple of what a browser counts."""


@dataclass(frozen=True)
class Watcher:
    """A browser at the end of the line."""

    name: str
    camera: str
    """The path of the camera whose pictures it decodes."""
    smaller_stream: str
    """The path of the same camera's smaller stream."""
    open: Callable[[str], AbstractContextManager[Page]]
    """Opens a gateway's page."""


@pytest.fixture(scope="module")
def firefox(whole_line: LossyLine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """One for all tests of this file, since it starts slowly."""
    launched = Firefox(tmp_path_factory.mktemp("firefox"), whole_line)
    yield launched
    launched.stop()


@pytest.fixture
def watcher(request: pytest.FixtureRequest, driver: Playwright, line: LossyLine, tmp_path: Path) -> Iterator[Watcher]:
    """The browser that the test's parameter names."""
    if request.param == "Firefox":
        firefox: Firefox = request.getfixturevalue("firefox")

        @contextmanager
        def open_in_firefox(origin: str) -> Iterator[Page]:
            firefox.open(origin + "/")
            yield firefox

        # Debian's Firefox decodes no H.264.
        yield Watcher("Firefox", "vp8", "vp8-small", open_in_firefox)
        return
    browser = launch_inside(driver, line.command_prefix, tmp_path)
    try:
        yield Watcher("Chromium", "h264", "small", lambda origin: open_page(browser, origin))
    finally:
        browser.close()


@pytest.fixture(scope="module")
def demanding_cameras(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RTSPCameras]:
    cameras = RTSPCameras(
        tmp_path_factory.mktemp("rtsp") / "rtsp-camera.log",
        *("--width", str(WIDTH), "--height", "360", "--bitrate", str(RATE), "--key-interval", "4", "--pattern", "snow"),
    )
    yield cameras
    cameras.stop()


def rates(viewer: BrowserViewer, seconds: float) -> tuple[float, float]:
    """The frames that are decoded in a second, and the bytes that come in a second, without headers."""
    before = viewer.stats()
    time.sleep(seconds)
    after = viewer.stats()
    passed = (after.timestamp - before.timestamp) / 1000
    return (
        (after.framesDecoded - before.framesDecoded) / passed,
        (after.bytesReceived - before.bytesReceived) / passed,
    )


def best_share(viewer: BrowserViewer, usual: float, enough: float) -> float:
    """The share of the usual frames, of the first stretch of time that has enough or else of the best.

    Something else that this machine does for a moment may cost frames as well.
    """
    best = 0.0
    for _ in range(4):
        best = max(best, rates(viewer, 7)[0] / usual)
        if best > enough:
            break
    return best


@contextmanager
def viewing_behind(
    line: LossyLine, binary: Path, watcher: Watcher, folder: Path, camera: Camera
) -> Iterator[tuple[Gateway, BrowserViewer]]:
    """A browser at the end of the line, and a gateway with the camera "drive" that it can view."""
    # After the line: its interface is among those that the gateway offers.
    gateway = Gateway(binary, folder, [camera])
    try:
        gateway.wait_until_flowing(camera.id)
        with (
            watcher.open(f"http://{line.host_address}:{gateway.port}") as page,
            viewing(page, gateway.token) as viewer,
        ):
            yield gateway, viewer
    finally:
        gateway.stop()


@pytest.mark.parametrize(
    ("watcher", "losses"),
    # The shares of the usual frames that have to be decoded. The goals are 99 %.
    [("Chromium", {10: 0.9, 20: 0.85}), ("Firefox", {20: 0.75})],
    indirect=["watcher"],
    ids=["Chromium", "Firefox"],
)
def test_random_loss_does_not_freeze_the_picture(
    binary: Path, watcher: Watcher, losses: dict[int, float], line: LossyLine, demanding_cameras: RTSPCameras,
    tmp_path: Path, report: list[str],
) -> None:  # fmt: skip
    camera = demanding_cameras.camera("drive", watcher.camera)
    with viewing_behind(line, binary, watcher, tmp_path, camera) as (gateway, viewer):
        viewer.call("playWHEP", device="drive")
        viewer.expect_media()
        usual, _ = rates(viewer, 4)
        for loss, enough in losses.items():
            line.set(down=loss, up=loss)
            share = best_share(viewer, usual, enough)
            (sent, _), (passed, _) = line.counters()["sent"], line.counters()["passed"]
            report.append(f"{watcher.name} at {loss} % loss both ways decodes {share:.0%} of its usual frames")
            # The rules do lose packets, one by one.
            assert sent > 200 and 0.4 * loss < (1 - passed / sent) * 100 < 2 * loss
            # Measured: Chromium 99 and 100 %, Firefox 86 to 100 %. A gateway that mistakes random loss for a slow path
            # brings less than half, at any time.
            assert share > enough, f"at {loss} % loss {share:.0%} of the frames were decoded"
        statistics = the_session(gateway)["statistics"]
        # Measured: 1,600 and more.
        assert statistics["packetsRetransmitted"] > 500
        # Measured: none for Chromium, and up to 82 for Firefox where the machine is busy.
        report.append(f"the gateway left out {statistics['framesDropped']} frames for {watcher.name}")


def test_datagrams_that_overtake_each_other_or_get_lost_in_a_row_do_not_freeze_the_picture(
    binary: Path, browser: Browser, demanding_cameras: RTSPCameras, tmp_path: Path, report: list[str]
) -> None:
    camera = demanding_cameras.camera("drive", "h264")
    gateway = Gateway(binary, tmp_path, [camera])
    path = RoughPath("127.0.0.1", ("127.0.0.1", gateway.media_port))
    try:
        gateway.wait_until_flowing(camera.id)
        with (
            open_page(browser, f"http://127.0.0.1:{gateway.port}") as page,
            viewing(page, gateway.token) as viewer,
        ):
            viewer.call("playWHEP", device="drive", only=f"1 1 udp 2130706431 127.0.0.1 {path.port} typ host")
            viewer.expect_media()
            usual, _ = rates(viewer, 4)
            for what, roughness, enough in ROUGH:
                path.set(roughness)
                share = best_share(viewer, usual, enough)
                report.append(
                    f"Chromium with {what} both ways decodes {share:.0%} of its usual frames:"
                    f" {path.late} datagrams late, {path.lost} lost, {path.passed} others"
                )
                # The path is as rough as it says.
                assert path.passed > 200 and path.late + path.lost > path.passed / 20
                # Measured: 100 %, and 94 to 100 %. A gateway that takes either for a path that is too slow leaves
                # frames out.
                assert share > enough, what
    finally:
        path.close()
        gateway.stop()


# What is sent into the slow line, as a share of what it carries: over all of the time, and in the best stretch of it.
# nftables counts over a second, so everything passes at first, and for a while after each time that less was sent: 1.02
# to 1.13 was measured, also beside builds, and up to 1.2 in the first ten seconds. When repairs spent at once what they
# had saved up, it was 1.2 to 1.5. Before the gateway estimated what a path carries, repairs made it fifteen times.
MOST_SENT, GOAL = 1.45, 1.2


def the_session(gateway: Gateway) -> dict[str, Any]:
    (session,) = gateway.client.sessions()
    return session


def narrow(usual_bytes: float) -> int:
    """60 % of what picture and sound take, in bytes a second."""
    return int(0.6 * HEADERS * usual_bytes)


def share_of_line(line: LossyLine, limit: int, seconds: float) -> float:
    """What was sent into the line since it was set, as a share of what it carries."""
    return line.counters()["sent"][1] / (limit * seconds)


@pytest.mark.parametrize("watcher", ["Chromium", "Firefox"], indirect=True)
def test_a_viewer_behind_a_narrow_line_gets_the_smaller_stream_while_it_lasts(
    binary: Path, watcher: Watcher, line: LossyLine, demanding_cameras: RTSPCameras, tmp_path: Path,
    report: list[str],
) -> None:  # fmt: skip
    smaller = demanding_cameras.address(watcher.smaller_stream)
    camera = demanding_cameras.camera("drive", watcher.camera, substream=smaller)
    with viewing_behind(line, binary, watcher, tmp_path, camera) as (gateway, viewer):
        viewer.call("playWHEP", device="drive")
        assert viewer.expect_media().width == WIDTH
        assert the_session(gateway)["stream"] == {"name": "main", "reason": "largest"}
        usual, usual_bytes = rates(viewer, 4)

        limit = narrow(usual_bytes)
        line.set(bytes_per_second=limit)
        limited = time.monotonic()
        eventually(lambda: viewer.stats().width == SMALL_WIDTH, "the picture is the smaller stream's", every=0.05)
        report.append(f"{watcher.name} on a 60 % line gets the smaller stream after {time.monotonic() - limited:.1f} s")
        session = the_session(gateway)
        assert session["stream"] == {"name": "sub", "reason": "path"}
        assert session["statistics"]["estimatedBitrate"] > 0
        share = best_share(viewer, usual, ENOUGH)
        used = share_of_line(line, limit, time.monotonic() - limited)
        report.append(f"it decodes {share:.0%} of its usual frames, and {used:.0%} of the line is sent into it")
        # Measured: all of them.
        assert share > ENOUGH
        assert used < MOST_SENT
        # The line lets a probe pass now and then. A move up does not last.
        switches = "gatehouse_relay_stream_switches_total"
        eventually(
            lambda: viewer.stats().width == SMALL_WIDTH and gateway.client.metric(switches) % 2 == 1,
            "the picture is the smaller stream's again",
            every=0.05,
        )

        line.set()
        lifted = time.monotonic()
        # Measured: 2.6 to 3.7 s, and 12.4 s once beside builds.
        eventually(lambda: viewer.stats().width == WIDTH, "the picture is the main stream's again", RETURN, every=0.05)
        report.append(f"without the limit it has the main stream again after {time.monotonic() - lifted:.1f} s")
        assert the_session(gateway)["stream"] == {"name": "main", "reason": "largest"}
        viewer.expect_media()


@pytest.mark.parametrize("watcher", ["Chromium"], indirect=True)
def test_a_narrow_line_without_a_smaller_stream_keeps_the_sound(
    binary: Path, watcher: Watcher, line: LossyLine, demanding_cameras: RTSPCameras, tmp_path: Path,
    report: list[str],
) -> None:  # fmt: skip
    camera = demanding_cameras.camera("drive", watcher.camera)
    with viewing_behind(line, binary, watcher, tmp_path, camera) as (gateway, viewer):
        viewer.call("playWHEP", device="drive")
        viewer.expect_media()

        # The sound is PCMA, and the encoder of H.264 makes what it aims at.
        limit = narrow((RATE + SOUND) * 1000 / 8)
        line.set(bytes_per_second=limit)
        limited = time.monotonic()
        eventually(lambda: the_session(gateway)["statistics"]["isLimited"], "the gateway sends less")
        before = viewer.stats()
        best = math.inf
        for stretch in range(4):
            sent, began = line.counters()["sent"][1], time.monotonic()
            # Two of them have several key frames of four seconds.
            time.sleep(10)
            best = min(best, (line.counters()["sent"][1] - sent) / (limit * (time.monotonic() - began)))
            if stretch > 0 and best < GOAL:
                break
        after, used = viewer.stats(), share_of_line(line, limit, time.monotonic() - limited)
        concealed = (after.concealedSamples - before.concealedSamples) / (
            after.totalSamplesReceived - before.totalSamplesReceived
        )
        frames = after.framesDecoded - before.framesDecoded
        report.append(
            f"{watcher.name} on a 60 % line without a smaller stream: {concealed:.1%} of the sound concealed,"
            f" {frames} frames in {(after.timestamp - before.timestamp) / 1000:.0f} s,"
            f" {used:.0%} of the line sent into it, {best:.0%} in the best ten seconds"
        )
        # Measured: 0.1 %, and 2.6 % beside builds.
        assert concealed < 0.08
        assert after.keyFramesDecoded > before.keyFramesDecoded
        assert used < MOST_SENT and best < GOAL
        assert the_session(gateway)["stream"] == {"name": "main", "reason": "only"}


def test_a_viewer_without_transport_wide_feedback_gets_the_smaller_stream_on_a_narrow_line(
    binary: Path, line: LossyLine, demanding_cameras: RTSPCameras, tmp_path: Path, report: list[str]
) -> None:
    camera = demanding_cameras.camera("drive", "h264", substream=demanding_cameras.address("small"))
    gateway = Gateway(binary, tmp_path, [camera])
    gateway.client = gateway.client_at(line.host_address)

    def gets_the_main_stream() -> bool:
        return bool(the_session(gateway)["stream"] == {"name": "main", "reason": "largest"})

    async def watch() -> None:
        viewer = AiortcViewer(gateway.client, "drive")
        try:
            await viewer.start()
            # What the gateway learns comes from receiver reports, and from the receiver's own estimate.
            assert "transport-cc" not in viewer.answer and "goog-remb" in viewer.answer
            await viewer.expect_width(WIDTH)
            await viewer.expect_media()
            # Where the machine is busy, Python reads late, and its estimate may be low for a while.
            await asyncio.to_thread(eventually, gets_the_main_stream, "it gets the main stream")
            line.set(bytes_per_second=narrow((RATE + SOUND) * 1000 / 8))
            limited = time.monotonic()
            await viewer.expect_width(SMALL_WIDTH)
            report.append(f"aiortc on a 60 % line gets the smaller stream after {time.monotonic() - limited:.1f} s")
            session = await asyncio.to_thread(the_session, gateway)
            assert session["stream"] == {"name": "sub", "reason": "path"}
            await viewer.expect_media()
        finally:
            await viewer.stop()

    try:
        gateway.wait_until_flowing(camera.id)
        inside(line.name, lambda: run(watch))
    finally:
        gateway.stop()
