"""A camera's smaller stream, and how the gateway transcodes what a browser cannot play."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.chromium import open_page
from peers.gateway import Camera, Gateway
from peers.polling import eventually
from peers.rtsp_cameras import QUOTED_PASSWORD, RTSPCameras
from peers.viewer import BrowserViewer, viewing
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def house(binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    small = rtsp_cameras.address("small")
    gateway = Gateway(
        binary,
        tmp_path_factory.mktemp("streams"),
        [
            # Only the main stream has sound.
            rtsp_cameras.camera("modern", "h265", substream=small),
            rtsp_cameras.camera("pair", "h264", substream=small),
            rtsp_cameras.camera("h265", "h265"),
            rtsp_cameras.camera("b-frames", "b-frames"),
            rtsp_cameras.camera("mjpeg", "mjpeg"),
            rtsp_cameras.camera("b-frames-alone", "b-frames", transcodeVideo="never"),
            Camera("resting", "builtin:doorbell", type="doorbell", settings={"pull": "on-demand"}),
        ],
    )
    yield gateway
    assert gateway.stop() == 0, gateway.process.output()[-4000:]


@pytest.fixture
def viewer(browser: Browser, house: Gateway) -> Iterator[BrowserViewer]:
    with open_page(browser, f"http://127.0.0.1:{house.port}") as page, viewing(page, house.token) as one:
        yield one


def test_a_viewer_without_h265_gets_the_substream(viewer: BrowserViewer, house: Gateway) -> None:
    house.wait_until_flowing("modern")
    eventually(
        lambda: (
            "substream: it is sending media over tcp" in house.client.get("/v1/cameras/modern")["findings"]["notes"]
        ),
        "the substream flows",
    )
    # What the browser says that it can play decides; some builds offer H.265 if the machine decodes it.
    viewer.call("playWHEP", device="modern", codec="H264")
    reception = viewer.expect_media()
    assert (reception.codec, reception.width) == ("video/H264", 160)
    camera = house.client.request("GET", "/v1/cameras/modern").text
    assert QUOTED_PASSWORD not in camera and "***@127.0.0.1" in json.loads(camera)["substream"]


def test_a_viewer_moves_between_the_streams(viewer: BrowserViewer, house: Gateway) -> None:
    house.wait_until_flowing("pair")
    eventually(
        lambda: "substream: it is sending media over tcp" in house.client.get("/v1/cameras/pair")["findings"]["notes"],
        "the substream flows",
    )
    viewer.call("playByTrait", device="pair")
    first = viewer.expect_media()
    assert first.width == 320

    def change(hint: str) -> str:
        parameters = {"mediaSessionId": viewer.call_value("session"), "qualityHint": hint}
        answer = house.client.command("pair", "WebRtcLiveView", "changeLiveViewQuality", parameters)
        assert answer.status == 200, answer.text
        return str(answer.json["qualityHint"])

    for hint, width in (("sd", 160), ("hd", 320)):
        assert change(hint) == hint
        eventually(lambda width=width: viewer.stats().width == width, f"{hint} is {width} pixels across")
        assert viewer.expect_media(frames=15).width == width
    # A browser that gets no processor time loses some by itself. A hole in the numbers would be hundreds.
    assert viewer.stats().packetsLost - first.packetsLost < 100


@pytest.mark.parametrize(("device", "codec"), [("h265", "H265"), ("b-frames", "H264 with B-frames"), ("mjpeg", "JPEG")])
def test_what_a_browser_cannot_play_is_transcoded_to_vp8_and_opus(
    viewer: BrowserViewer, house: Gateway, report: list[str], device: str, codec: str
) -> None:
    house.wait_until_flowing(device)
    # H.264 is offered too: a stream with B-frames is not passed on.
    viewer.call("playWHEP", device=device)
    reception = viewer.expect_media(frames=60)
    assert (reception.codec, reception.width) == ("video/VP8", 320)
    id = house.client.device_id(device)
    session = next(one for one in house.client.sessions() if one["deviceID"] == id)
    assert set(session["codecs"]) == {"VP8", "opus"}
    assert f"video: {codec} is transcoded to VP8" in session["notes"]
    costs = [note for note in session["notes"] if "of a processor core" in note]
    assert any(f"transcoding {codec.split()[0]} to VP8" in note for note in costs)
    report += [f"320 × 240 at 15 frames a second: {note}" for note in costs]
    assert house.client.metric("gatehouse_transcoding_processor_seconds_total") > 0


def test_b_frames_that_nothing_replaces_are_refused_with_the_remedy(viewer: BrowserViewer, house: Gateway) -> None:
    house.wait_until_flowing("b-frames-alone")
    with pytest.raises(Exception, match=r"sends H264 \(.*\) with B-frames") as refusal:
        viewer.call("playWHEP", device="b-frames-alone")
    assert "set transcodeVideo: auto for b-frames-alone" in str(refusal.value)


def test_a_press_wakes_an_idle_camera(house: Gateway) -> None:
    def source() -> dict[str, object]:
        return dict(house.client.get("/v1/devices/resting")["source"])

    assert source()["state"] == "idle" and "on demand" in str(source()["reason"])
    assert house.client.command("resting", "DoorbellPress", "press").status == 200
    house.wait_until_flowing("resting")
    events = house.client.get("/v1/devices/resting/events?limit=5")["events"]
    assert [one["event"] for one in events] == ["DoorbellPressed"]
