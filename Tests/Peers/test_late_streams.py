"""A camera whose smaller stream appears while a viewer watches the main one: refused or silent at first, and perhaps
with another codec."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import open_page
from peers.gateway import Gateway
from peers.late_server import LateServer
from peers.parts import chosen
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras
from peers.viewer import BrowserViewer, viewing
from playwright.sync_api import Browser

DEVICE = "drive"
MAIN, SMALL = 320, 160
BEGINNINGS = chosen(["refused", "silent"], "GATEHOUSE_BEGINNINGS")
"""What the port of the smaller stream does before it appears."""


@dataclass
class House:
    gateway: Gateway
    late: LateServer

    def streams(self) -> list[str]:
        """The codecs of the camera's pictures, those of the main stream first."""
        source = self.gateway.client.get(f"/v1/devices/{DEVICE}")["source"]
        return [track["codec"] for track in source["tracks"] if track["kind"] == "video"]

    def open(self, count: int = 2) -> None:
        """Lets the smaller stream appear, and waits for it."""
        self.late.open()
        eventually(lambda: len(self.streams()) == count, "the smaller stream has appeared")

    def session(self, viewer: BrowserViewer) -> dict[str, Any]:
        id = viewer.call_value("session")
        return next(one for one in self.gateway.client.sessions() if one["mediaSessionId"] == id)

    def ask(self, viewer: BrowserViewer, hint: str) -> str:
        """Asks for another size of the picture; what the gateway says that it is."""
        parameters = {"mediaSessionId": viewer.call_value("session"), "qualityHint": hint}
        answer = self.gateway.client.command(DEVICE, "WebRtcLiveView", "changeLiveViewQuality", parameters)
        assert answer.status == 200, answer.text
        return str(answer.json["qualityHint"])


@pytest.fixture
def make(binary: Path, rtsp_cameras: RTSPCameras, tmp_path: Path) -> Iterator[Callable[[str, str, bool], House]]:
    """Makes a gateway whose camera has a main stream now and a smaller one later."""
    with ExitStack() as made:

        def house(main: str, small: str, hangs: bool) -> House:
            late = LateServer(rtsp_cameras.port, hangs)
            made.callback(late.close)
            address = rtsp_cameras.address(small).replace(f":{rtsp_cameras.port}/", f":{late.port}/")
            gateway = Gateway(binary, tmp_path, [rtsp_cameras.camera(DEVICE, main, transport="tcp", substream=address)])
            made.callback(gateway.stop)
            gateway.wait_until_flowing(DEVICE)
            return House(gateway, late)

        yield house


@pytest.fixture
def open_viewer(browser: Browser) -> Iterator[Callable[[House], BrowserViewer]]:
    with ExitStack() as made:

        def viewer(house: House) -> BrowserViewer:
            page = made.enter_context(open_page(browser, f"http://127.0.0.1:{house.gateway.port}"))
            return made.enter_context(viewing(page, house.gateway.token))

        yield viewer


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_late_stream_of_another_codec_leaves_a_viewer_alone(
    make: Callable[[str, str, bool], House], open_viewer: Callable[[House], BrowserViewer], beginning: str
) -> None:
    """Its answer names one codec, so it keeps the main stream, whatever it asks for."""
    house = make("h264", "vp8-small", beginning == "silent")
    viewer = open_viewer(house)
    viewer.call("playByTrait", device=DEVICE)
    first = viewer.expect_media()
    assert (first.codec, house.streams()) == ("video/H264", ["H264"])
    # This counts for a stream that is not known yet, too.
    house.ask(viewer, "sd")
    before = house.session(viewer)
    house.open()
    assert house.streams() == ["H264", "VP8"]
    reception = viewer.expect_media(frames=45)
    assert (reception.codec, reception.width) == ("video/H264", MAIN)
    assert house.ask(viewer, "sd") == "hd"
    reception = viewer.expect_media(frames=45)
    assert (reception.codec, reception.width) == ("video/H264", MAIN)
    # A browser that gets no processor time loses some by itself. A hole in the numbers would be hundreds.
    assert reception.packetsLost - first.packetsLost < 100
    assert house.session(viewer)["codecs"] == before["codecs"]
    # A view that begins now may have the other one.
    later = open_viewer(house)
    later.call("playWHEP", device=DEVICE, codec="VP8")
    reception = later.expect_media()
    assert (reception.codec, reception.width) == ("video/VP8", SMALL)
    assert viewer.expect_media().width == MAIN


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_viewer_that_asked_for_the_smaller_picture_gets_a_late_stream_of_its_codec(
    make: Callable[[str, str, bool], House], open_viewer: Callable[[House], BrowserViewer], beginning: str
) -> None:
    house = make("h264", "small", beginning == "silent")
    viewer, other = open_viewer(house), open_viewer(house)
    viewer.call("playByTrait", device=DEVICE)
    first = viewer.expect_media()
    assert first.width == MAIN
    other.call("playByTrait", device=DEVICE)
    assert other.expect_media().width == MAIN
    house.ask(viewer, "sd")
    house.open()
    eventually(lambda: viewer.stats().width == SMALL, "the viewer gets the smaller picture")
    reception = viewer.expect_media()
    assert reception.codec == "video/H264" and reception.packetsLost - first.packetsLost < 100
    assert other.expect_media(frames=45).width == MAIN


@pytest.mark.parametrize("small", ["small", "vp8-small"])
def test_a_viewer_of_a_transcoded_picture_keeps_it_when_a_stream_appears(
    make: Callable[[str, str, bool], House], open_viewer: Callable[[House], BrowserViewer], small: str
) -> None:
    """The main stream is H.265 and transcoded to VP8; what appears is H.264, or VP8 by itself."""
    house = make("h265", small, False)
    viewer = open_viewer(house)
    viewer.call("playByTrait", device=DEVICE, codec="VP8")
    assert viewer.expect_media().width == MAIN
    house.open()
    assert house.streams() == ["H265", "H264" if small == "small" else "VP8"]
    reception = viewer.expect_media(frames=45)
    assert (reception.codec, reception.width) == ("video/VP8", MAIN)
    # A view that begins now gets what nobody has to transcode.
    later = open_viewer(house)
    codec = "H264" if small == "small" else "VP8"
    later.call("playWHEP", device=DEVICE, codec=codec)
    reception = later.expect_media()
    assert (reception.codec, reception.width) == (f"video/{codec}", SMALL)
    assert viewer.expect_media(frames=45).width == MAIN
    # On request it moves to the smaller one, in the codec of its answer: the camera's own VP8, or H.264 transcoded.
    assert house.ask(viewer, "sd") == "sd"
    eventually(lambda: viewer.stats().width == SMALL, "the viewer gets the smaller picture")
    assert viewer.expect_media(frames=45).codec == "video/VP8"
    transcoded = {note for note in house.session(viewer)["notes"] if note.startswith("video: ")}
    assert transcoded == ({"video: H264 is transcoded to VP8"} if small == "small" else set()), transcoded
