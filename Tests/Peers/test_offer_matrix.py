"""Chromium, Firefox and aiortc make offers of every shape, the gateway answers for every kind of camera, and the peer
that made the offer applies the answer. Each of them is a camera meanwhile, for one of the others.

Chromium makes a third of its offers, which the commit chooses; with GATEHOUSE_OFFERS=all it makes all of them."""

import asyncio
from collections.abc import Iterator

import pytest
from peers.chromium import open_page
from peers.coroutines import run
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Gateway
from peers.gateway import Camera as Configured
from peers.matrix import aiortc_matrix, browser_matrix
from peers.namespace import Namespace
from peers.parts import chosen_part
from peers.publisher import aiortc_publishing, publishing
from peers.rtsp_cameras import RTSPCameras
from peers.shapes import PARTS, Camera, Tally, every_case, some_cases
from playwright.sync_api import Browser

# The doorbell can be talked to. No peer plays H.265 or pictures with B-frames.
CAMERAS = [
    Camera("front-door", "VP8", "opus"), Camera("cellar", "VP8"), Camera("garden", "VP8", "opus"),
    Camera("drive", "H264", "PCMA"), Camera("kitchen", "H264", "MPEG4-GENERIC"), Camera("gate", "H264"),
    Camera("shed", "VP8"), Camera("nursery", "", "opus"), Camera("yard", "VP8", "G722"),
    Camera("attic", "H265", "MPEG4-GENERIC"), Camera("terrace", "H264 with B-frames", "MPEG4-GENERIC"),
]  # fmt: skip
# Somebody publishes them.
PHONE, STUDIO = Camera("phone", "VP8"), Camera("studio", "AV1", "opus")


@pytest.fixture(scope="module")
def part() -> int | None:
    """Which part of the shapes Chromium offers; None for all."""
    return chosen_part(PARTS, "GATEHOUSE_OFFERS")


@pytest.fixture(scope="module")
def house(
    binary, rtsp_cameras: RTSPCameras, namespace: Namespace | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    paths = {
        "garden": "vp8", "drive": "h264", "kitchen": "aac", "gate": "silent", "shed": "vp8-silent", "nursery": "sound",
        "yard": "g722", "attic": "h265", "terrace": "b-frames",
    }  # fmt: skip
    running = Gateway(
        binary, tmp_path_factory.mktemp("matrix"),
        [DOORBELL, Configured("cellar", "builtin:silent"),
         *(rtsp_cameras.camera(id, path) for id, path in paths.items()),
         Configured("phone", "whip"), Configured("studio", "whip")],
        {"log": {"level": "info"}},
    )  # fmt: skip
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


def with_all_flowing(house: Gateway, cameras: list[Camera]) -> list[Camera]:
    for camera in cameras:
        house.wait_until_flowing(camera.id)
    return cameras


def test_chromium_applies_every_answer(browser: Browser, house: Gateway, part: int | None, report: list[str]) -> None:
    origin = f"http://127.0.0.1:{house.port}"
    with (
        open_page(browser, origin) as sending,
        open_page(browser, origin) as also_sending,
        open_page(browser, origin) as page,
        publishing(sending, house.token, "phone", silent=True),
        publishing(also_sending, house.token, "studio", "AV1"),
    ):

        def load() -> None:
            page.page.goto(origin + "/")
            page.collect_garbage()

        cameras = with_all_flowing(house, [*CAMERAS, PHONE, STUDIO])
        name = "Chromium" if part is None else f"Chromium, part {part} of {PARTS} (GATEHOUSE_OFFERS={part})"
        tally = browser_matrix(name, page, load, house.token, lambda codecs: every_case(cameras, codecs, part))
    report.append(tally.line)
    tally.check()


def test_firefox_applies_every_answer(
    firefox: Firefox, gateway: Gateway, house: Gateway, namespace: Namespace | None, report: list[str]
) -> None:
    host = namespace.host_address if namespace else gateway.client.host

    def matrix() -> Tally:
        cameras = with_all_flowing(house, [*CAMERAS, PHONE])
        return browser_matrix(
            "Firefox", firefox, lambda: firefox.open(f"http://{host}:{house.port}/"), house.token,
            lambda codecs: some_cases(cameras, codecs, stride=3),
        )  # fmt: skip

    async def beside_a_publisher() -> Tally:
        async with aiortc_publishing(house.client, "phone", silent=True):
            return await asyncio.to_thread(matrix)

    try:
        tally = run(beside_a_publisher)
    finally:
        firefox.open(f"http://{host}:{gateway.port}/")
    report.append(tally.line)
    tally.check()


def test_aiortc_applies_every_answer(
    firefox: Firefox, gateway: Gateway, house: Gateway, namespace: Namespace | None, report: list[str]
) -> None:
    host = namespace.host_address if namespace else gateway.client.host
    firefox.open(f"http://{host}:{house.port}/")
    try:
        with publishing(firefox, house.token, "phone", silent=True):
            cameras = with_all_flowing(house, [*CAMERAS, PHONE])
            tally = run(lambda: aiortc_matrix(house.client, cameras, stride=3))
    finally:
        firefox.open(f"http://{host}:{gateway.port}/")
    report.append(tally.line)
    tally.check()
