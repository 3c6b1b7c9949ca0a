"""Chromium, Firefox and aiortc make offers of every shape, the gateway answers for every kind of camera, and the peer
that made the offer applies the answer."""

from collections.abc import Iterator

import pytest
from peers.chromium import open_page
from peers.coroutines import run
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Gateway
from peers.gateway import Camera as Configured
from peers.matrix import aiortc_matrix, browser_matrix
from peers.namespace import Namespace
from peers.publisher import publishing
from peers.rtsp_cameras import RTSPCameras
from peers.shapes import Camera
from playwright.sync_api import Browser

# The doorbell can be talked to.
CAMERAS = [
    Camera("front-door", "VP8", "opus"), Camera("cellar", "VP8"), Camera("garden", "VP8", "opus"),
    Camera("drive", "H264", "PCMA"), Camera("kitchen", "H264", "MPEG4-GENERIC"), Camera("gate", "H264"),
    Camera("shed", "VP8"), Camera("nursery", "", "opus"), Camera("yard", "VP8", "G722"), Camera("phone", "VP8"),
]  # fmt: skip


@pytest.fixture(scope="module")
def house(
    binary, rtsp_cameras: RTSPCameras, namespace: Namespace | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    running = Gateway(
        binary, tmp_path_factory.mktemp("matrix"),
        [DOORBELL, Configured("cellar", "builtin:silent"), rtsp_cameras.camera("garden", "vp8"),
         rtsp_cameras.camera("drive", "h264"), rtsp_cameras.camera("kitchen", "aac"),
         rtsp_cameras.camera("gate", "silent"), rtsp_cameras.camera("shed", "vp8-silent"),
         rtsp_cameras.camera("nursery", "sound"), rtsp_cameras.camera("yard", "g722"), Configured("phone", "whip")],
        {"log": {"level": "info"}},
    )  # fmt: skip
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


def with_all_flowing(house: Gateway, cameras: list[Camera]) -> list[Camera]:
    for camera in cameras:
        house.wait_until_flowing(camera.id)
    return cameras


def without_phone() -> list[Camera]:
    return [camera for camera in CAMERAS if camera.id != "phone"]


def test_chromium_applies_every_answer(browser: Browser, house: Gateway, report: list[str]) -> None:
    origin = f"http://127.0.0.1:{house.port}"
    with (
        open_page(browser, origin) as sending,
        open_page(browser, origin) as page,
        publishing(sending, house.token, "phone", silent=True),
    ):

        def load() -> None:
            page.page.goto(origin + "/")
            page.collect_garbage()

        tally = browser_matrix("Chromium", page, load, house.token, with_all_flowing(house, CAMERAS))
    report.append(tally.line)
    tally.check()


def test_firefox_applies_every_answer(
    firefox: Firefox, gateway: Gateway, house: Gateway, namespace: Namespace | None, report: list[str]
) -> None:
    cameras = with_all_flowing(house, without_phone())
    host = namespace.host_address if namespace else gateway.client.host
    try:
        tally = browser_matrix(
            "Firefox", firefox, lambda: firefox.open(f"http://{host}:{house.port}/"), house.token, cameras, stride=2
        )
    finally:
        firefox.open(f"http://{host}:{gateway.port}/")
    report.append(tally.line)
    tally.check()


def test_aiortc_applies_every_answer(house: Gateway, report: list[str]) -> None:
    cameras = with_all_flowing(house, without_phone())
    tally = run(lambda: aiortc_matrix(house.client, cameras, stride=2))
    report.append(tally.line)
    tally.check()
