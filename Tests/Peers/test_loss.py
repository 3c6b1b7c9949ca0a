"""Chromium behind a line that loses packets, or that carries too little, keeps its picture."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import launch_inside, open_page
from peers.gateway import Camera, Gateway
from peers.lossy_line import LossyLine
from peers.namespace import NamespaceUnavailable
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras
from peers.viewer import BrowserViewer, viewing
from playwright.sync_api import Playwright

pytestmark = pytest.mark.alone

ENOUGH = 0.7
"""Of the usual frames."""


@pytest.fixture
def line() -> Iterator[LossyLine]:
    try:
        made = LossyLine()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no lossy line: {reason}")
    yield made
    made.close()


def frames_per_second(viewer: BrowserViewer, seconds: float) -> float:
    before = viewer.stats()
    time.sleep(seconds)
    after = viewer.stats()
    return (after.framesDecoded - before.framesDecoded) / (after.timestamp - before.timestamp) * 1000


def best_share(viewer: BrowserViewer, usual: float) -> float:
    """The share of the usual frames, of the first stretch of time that has enough or else of the best.

    Something else that this machine does for a moment may cost frames as well.
    """
    best = 0.0
    for _ in range(4):
        best = max(best, frames_per_second(viewer, 7) / usual)
        if best > ENOUGH:
            break
    return best


@contextmanager
def viewing_behind(
    line: LossyLine, binary: Path, driver: Playwright, folder: Path, camera: Camera
) -> Iterator[tuple[Gateway, BrowserViewer]]:
    """A Chromium at the end of the line, and a gateway with the camera "drive" that it can view."""
    # After the line: its interface is among those that the gateway offers.
    gateway = Gateway(binary, folder, [camera])
    browser = launch_inside(driver, line.command_prefix, folder)
    try:
        gateway.wait_until_flowing(camera.id)
        with (
            open_page(browser, f"http://{line.host_address}:{gateway.port}") as page,
            viewing(page, gateway.token) as viewer,
        ):
            yield gateway, viewer
    finally:
        browser.close()
        gateway.stop()


def test_random_loss_does_not_freeze_the_picture(
    binary: Path, driver: Playwright, line: LossyLine, rtsp_cameras: RTSPCameras, tmp_path: Path, report: list[str]
) -> None:
    camera = rtsp_cameras.camera("drive", "h264")
    with viewing_behind(line, binary, driver, tmp_path, camera) as (gateway, viewer):
        viewer.call("playWHEP", device="drive")
        viewer.expect_media()
        usual = frames_per_second(viewer, 4)
        for loss in (10, 20):
            line.set(down=loss, up=loss)
            share = best_share(viewer, usual)
            (sent, _), (passed, _) = line.counters()["sent"], line.counters()["passed"]
            report.append(f"Chromium at {loss} % loss both ways decodes {share:.0%} of its usual frames")
            # The rules do lose packets, one by one.
            assert sent > 200 and 0.4 * loss < (1 - passed / sent) * 100 < 2 * loss
            # Measured: 98 to 100 %. A gateway that mistakes random loss for a slow path brings less than half,
            # at any time.
            assert share > ENOUGH, f"at {loss} % loss {share:.0%} of the frames were decoded"
        statistics = the_session(gateway)["statistics"]
        assert statistics["packetsRetransmitted"] > 20
        assert statistics["framesDropped"] == 0


# What the tests with a slow line have: noise fills the bitrate, so that the camera is as demanding as a real one.
WIDTH, SMALL_WIDTH = 640, 320
RATE = 2200
# What is sent into the slow line, as a share of what it carries. nftables counts over a second, so everything passes at
# first, and for a while after each time that less was sent: 1.07 and 1.08 was measured, and up to 1.2 in the first ten
# seconds. When repairs spent at once what they had saved up, it was 1.2 to 1.5. Before the gateway estimated what a
# path carries, repairs made it fifteen times.
MOST_SENT = 1.5
NARROW = int(0.6 * (RATE * 1.05 + 85) * 1000 / 8)
"""60 % of what picture and sound take with all headers, in bytes a second."""


@pytest.fixture(scope="module")
def demanding_cameras(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RTSPCameras]:
    cameras = RTSPCameras(
        tmp_path_factory.mktemp("rtsp") / "rtsp-camera.log",
        *("--width", str(WIDTH), "--height", "360", "--bitrate", str(RATE), "--key-interval", "4", "--pattern", "snow"),
    )
    yield cameras
    cameras.stop()


def the_session(gateway: Gateway) -> dict[str, Any]:
    (session,) = gateway.client.sessions()
    return session


def share_of_line(line: LossyLine, seconds: float) -> float:
    """What was sent into the line since it was set, as a share of what it carries."""
    return line.counters()["sent"][1] / (NARROW * seconds)


def test_a_viewer_behind_a_narrow_line_gets_the_smaller_stream_while_it_lasts(
    binary: Path, driver: Playwright, line: LossyLine, demanding_cameras: RTSPCameras, tmp_path: Path,
    report: list[str],
) -> None:  # fmt: skip
    camera = demanding_cameras.camera("drive", "h264", substream=demanding_cameras.address("small"))
    with viewing_behind(line, binary, driver, tmp_path, camera) as (gateway, viewer):
        viewer.call("playWHEP", device="drive")
        assert viewer.expect_media().width == WIDTH
        assert the_session(gateway)["stream"] == {"name": "main", "reason": "largest"}
        usual = frames_per_second(viewer, 4)

        line.set(bytes_per_second=NARROW)
        limited = time.monotonic()
        eventually(lambda: viewer.stats().width == SMALL_WIDTH, "the picture is the smaller stream's", every=0.05)
        report.append(f"Chromium on a 60 % line gets the smaller stream after {time.monotonic() - limited:.1f} s")
        session = the_session(gateway)
        assert session["stream"] == {"name": "sub", "reason": "path"}
        assert session["statistics"]["estimatedBitrate"] > 0
        share = best_share(viewer, usual)
        used = share_of_line(line, time.monotonic() - limited)
        report.append(f"it decodes {share:.0%} of its usual frames, and {used:.0%} of the line is sent into it")
        assert share > ENOUGH
        assert used < MOST_SENT
        # The line lets a probe pass now and then. A move up does not last.
        eventually(lambda: viewer.stats().width == SMALL_WIDTH, "the picture is the smaller stream's again", every=0.05)
        assert gateway.client.metric("gatehouse_relay_stream_switches_total") % 2 == 1

        line.set()
        lifted = time.monotonic()
        eventually(lambda: viewer.stats().width == WIDTH, "the picture is the main stream's again", every=0.05)
        report.append(f"without the limit it has the main stream again after {time.monotonic() - lifted:.1f} s")
        assert the_session(gateway)["stream"] == {"name": "main", "reason": "largest"}
        viewer.expect_media()


def test_a_narrow_line_without_a_smaller_stream_keeps_the_sound(
    binary: Path, driver: Playwright, line: LossyLine, demanding_cameras: RTSPCameras, tmp_path: Path,
    report: list[str],
) -> None:  # fmt: skip
    camera = demanding_cameras.camera("drive", "h264")
    with viewing_behind(line, binary, driver, tmp_path, camera) as (gateway, viewer):
        viewer.call("playWHEP", device="drive")
        viewer.expect_media()

        line.set(bytes_per_second=NARROW)
        limited = time.monotonic()
        eventually(lambda: the_session(gateway)["statistics"]["isLimited"], "the gateway sends less")
        before = viewer.stats()
        # Several key frames of four seconds.
        eventually(lambda: viewer.stats().timestamp > before.timestamp + 20_000, "twenty seconds of the limit")
        after, used = viewer.stats(), share_of_line(line, time.monotonic() - limited)
        concealed = (after.concealedSamples - before.concealedSamples) / (
            after.totalSamplesReceived - before.totalSamplesReceived
        )
        frames = after.framesDecoded - before.framesDecoded
        report.append(
            f"Chromium on a 60 % line without a smaller stream: {concealed:.1%} of the sound concealed,"
            f" {frames} frames in 20 s, {used:.0%} of the line sent into it"
        )
        assert concealed < 0.1
        assert after.keyFramesDecoded > before.keyFramesDecoded
        assert used < MOST_SENT
        assert the_session(gateway)["stream"] == {"name": "main", "reason": "only"}
