"""The page where WebRTC does not work, or only by transcoding: fragmented MP4 over a WebSocket, then JPEG pictures."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.chromium import careful_page
from peers.firefox import Firefox
from peers.gateway import Gateway
from peers.home_page import send
from peers.namespace import Namespace
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser, Page, expect

# Counts the connections that the page makes, and those of them that are open.
SPIES = """
window.spies = { offers: 0, sockets: new Set() };
if (window.RTCPeerConnection) {
  const set = RTCPeerConnection.prototype.setLocalDescription;
  RTCPeerConnection.prototype.setLocalDescription = function (...given) {
    spies.offers += 1;
    return set.apply(this, given);
  };
}
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    spies.sockets.add(this);
    this.addEventListener("close", () => spies.sockets.delete(this));
  }
};
"""

# Browsers as they are met: each lacks something. The camera sends H.264 and is not transcoded.
WITHOUT_CODEC_IN_OFFERS = """
const add = RTCPeerConnection.prototype.addTransceiver;
RTCPeerConnection.prototype.addTransceiver = function (kind, ...rest) {
  const made = add.call(this, kind, ...rest);
  const known = RTCRtpReceiver.getCapabilities("video").codecs;
  if (kind === "video") made.setCodecPreferences(known.filter(({ mimeType }) => mimeType === "video/VP8"));
  return made;
};
"""
# As a browser that says so before, which is asked for no offer.
WITHOUT_CODEC = """
const known = RTCRtpReceiver.getCapabilities.bind(RTCRtpReceiver);
RTCRtpReceiver.getCapabilities = (kind) => {
  const all = known(kind);
  return { ...all, codecs: all.codecs.filter(({ mimeType }) => mimeType !== "video/H264") };
};
"""
WITHOUT_WEBRTC = "delete window.RTCPeerConnection;"
WITHOUT_MEDIA_SOURCE = "delete window.MediaSource;"
# A network in which no pair of addresses works.
WITHOUT_NETWORK = """
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(configuration) { super({ ...configuration, iceTransportPolicy: "relay" }); }
};
"""
# A headless browser hides nothing, so the test tells the page that it is.
HIDING = """
window.isHidden = false;
Object.defineProperty(document, "visibilityState", { get: () => (isHidden ? "hidden" : "visible") });
"""


@pytest.fixture(scope="module")
def house(binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    cameras = [
        rtsp_cameras.camera("drive", "h264", transcodeVideo="never"),
        rtsp_cameras.camera("gate", "silent", transcodeVideo="never"),
    ]  # fmt: skip
    running = Gateway(binary, tmp_path_factory.mktemp("fallback"), cameras)
    for camera in cameras:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with careful_page(browser) as made:
        yield made


def show(page: Page, house: Gateway, fragment: str, *lacks: str) -> None:
    for script in (*lacks, SPIES):
        page.add_init_script(script)
    page.goto(f"http://127.0.0.1:{house.port}/#{fragment}&token={house.token}")


def switch(house: Gateway, device: str, status: str) -> None:
    reply = house.client.command(device, "PushAvStreamTransport", "setTransportStatus", {"transportStatus": status})
    assert reply.status == 200, reply.text


def expect_moving(page: Page, picture: str) -> None:
    """What is shown changes, and is the camera's picture."""
    shown = f"""() => {{
        const picture = document.querySelector({picture!r});
        const canvas = new OffscreenCanvas(320, 240);
        canvas.getContext("2d").drawImage(picture, 0, 0, 320, 240);
        const pixels = canvas.getContext("2d").getImageData(0, 0, 320, 240).data;
        const digest = pixels.reduce((sum, one) => (sum * 31 + one) % 1000003);
        return [picture.videoWidth ?? picture.naturalWidth, digest];
    }}"""
    eventually(lambda: page.evaluate(shown)[0] == 320, "there is a picture")
    first = page.evaluate(shown)
    eventually(lambda: page.evaluate(shown)[1] != first[1], "the picture moves")


def expect_sockets(page: Page, count: int) -> None:
    """So many are left. One that the page has closed is open until the gateway has answered that."""
    eventually(lambda: page.evaluate("spies.sockets.size") == count, f"{count} sockets are left")


@pytest.mark.parametrize(("lack", "offers"), [(WITHOUT_CODEC_IN_OFFERS, 1), (WITHOUT_CODEC, 0)])
def test_a_codec_that_only_media_source_extensions_play_comes_over_a_websocket(
    page: Page, house: Gateway, lack: str, offers: int
) -> None:
    show(page, house, "camera/drive", lack)
    state = page.locator(".view-state")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    expect_moving(page, ".large-picture video")
    assert page.evaluate("spies.offers") == offers
    expect_sockets(page, 1)
    eventually(lambda: house.client.sessions() == [], "the view by WebRTC is given back")
    # A browser that got no processor time has more ahead until it has caught up.
    ahead = "(video) => video.buffered.end(video.buffered.length - 1) - video.currentTime"
    eventually(lambda: page.locator(".large-picture video").evaluate(ahead) < 3, "it plays at the live edge")
    expect(page.locator(".one-camera .fault")).to_be_hidden()
    expect(page.get_by_role("button", name="Talk", exact=True)).to_be_hidden()


def test_a_camera_that_is_switched_off_ends_with_the_reason_and_comes_back(page: Page, house: Gateway) -> None:
    show(page, house, "camera/drive", WITHOUT_WEBRTC)
    state = page.locator(".view-state")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    switch(house, "drive", "inactive")
    try:
        expect(state).to_have_text(re.compile(r"^No picture.*: the camera is switched off$"))
        expect(page.locator(".one-camera .fault")).to_have_text("The camera is switched off.")
    finally:
        switch(house, "drive", "active")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    expect_moving(page, ".large-picture video")
    expect(page.locator(".one-camera .fault")).to_be_hidden()
    expect_sockets(page, 1)


def test_a_shared_camera_is_shown_where_no_path_for_webrtc_is_found(page: Page, house: Gateway) -> None:
    grants = [{"scopes": ["view"], "deviceID": house.client.device_id("gate")}]
    link = send(house, "POST", "/v1/tokens", name="shared gate", grants=grants)["token"]
    page.add_init_script(WITHOUT_NETWORK)
    page.goto(f"http://127.0.0.1:{house.port}/camera/gate#token={link}")
    expect(page.get_by_role("status")).to_have_text("Live · over a WebSocket")
    expect_moving(page, "video")
    expect(page.get_by_role("alert")).to_be_hidden()
    switch(house, "gate", "inactive")
    try:
        expect(page.get_by_role("status")).to_have_text("The camera is switched off.")
    finally:
        switch(house, "gate", "active")
    expect(page.get_by_role("status")).to_have_text("Live · over a WebSocket")


def test_a_wall_without_webrtc_plays_and_stops_while_nobody_sees_it(page: Page, house: Gateway) -> None:
    show(page, house, "wall", WITHOUT_WEBRTC, HIDING)
    words = page.locator(".cell.playing .cell-words")
    expect(words).to_have_text(["over a WebSocket"] * 2)
    expect_moving(page, ".cell video")
    page.evaluate("isHidden = true")
    expect_sockets(page, 0)
    page.evaluate("isHidden = false")
    expect(words).to_have_text(["over a WebSocket"] * 2)
    expect_sockets(page, 2)


def test_a_large_view_stops_while_nobody_sees_it(page: Page, house: Gateway) -> None:
    show(page, house, "camera/gate", WITHOUT_WEBRTC, HIDING)
    state = page.locator(".view-state")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    page.keyboard.press("m")
    page.evaluate("isHidden = true")
    expect_sockets(page, 0)
    page.evaluate("isHidden = false")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    expect_moving(page, ".large-picture video")


def test_a_hidden_page_that_is_heard_outlives_its_gateway(page: Page, house: Gateway) -> None:
    show(page, house, "camera/drive", WITHOUT_WEBRTC, HIDING)
    state = page.locator(".view-state")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    page.evaluate("() => { isHidden = true; window.first = [...spies.sockets][0]; }")
    # A picture that happens to be late at this moment would be judged by what the gateway answers.
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    # Like one that has lost power, it says nothing, and its connections stay open.
    house.process.send(signal.SIGSTOP)
    try:
        eventually(lambda: page.evaluate("first.readyState >= WebSocket.CLOSING"), "the page gives up the connection")
        expect(state).to_have_text(re.compile(r"^No picture"))
    finally:
        house.process.send(signal.SIGCONT)
    # It is still heard, so it does not wait until somebody sees the page.
    others = "[...spies.sockets].filter((one) => one !== first && one.readyState === WebSocket.OPEN).length"
    eventually(lambda: page.evaluate(others) == 1, "it is back")
    page.evaluate("isHidden = false")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    expect_moving(page, ".large-picture video")


def test_pictures_are_the_last_resort(page: Page, house: Gateway) -> None:
    show(page, house, "camera/drive", WITHOUT_WEBRTC, WITHOUT_MEDIA_SOURCE)
    state = page.locator(".view-state")
    expect(state).to_have_text(re.compile(r"^Live · single pictures"))
    expect_moving(page, ".large-picture .still")
    # A browser has few connections to one host, so the wall keeps none of them.
    page.goto(f"http://127.0.0.1:{house.port}/#wall")
    page.reload()
    expect(page.locator(".cell.playing .cell-words")).to_have_text(["single pictures"] * 2)
    expect_moving(page, ".cell .still")
    switch(house, "drive", "inactive")
    try:
        off = page.locator(".cell", has=page.get_by_text("drive", exact=True)).locator(".cell-words")
        expect(off).to_have_text(re.compile(r": the camera is switched off$"))
    finally:
        switch(house, "drive", "active")
    expect(page.locator(".cell.playing .cell-words")).to_have_text(["single pictures"] * 2)


def test_a_gateway_that_starts_again_is_found_again(page: Page, house: Gateway) -> None:
    show(page, house, "camera/gate", WITHOUT_WEBRTC)
    state = page.locator(".view-state")
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    house.process.kill()
    expect(state).to_have_text(re.compile(r"^No picture.*: the gateway does not answer$"))
    house.start()
    expect(state).to_have_text(re.compile(r"^Live · over a WebSocket"))
    expect_moving(page, ".large-picture video")
    expect_sockets(page, 1)


def test_firefox_plays_over_a_websocket(
    firefox: Firefox, gateway: Gateway, house: Gateway, namespace: Namespace | None
) -> None:
    host = namespace.host_address if namespace else "127.0.0.1"

    def chip() -> str:
        return str(firefox.evaluate("document.querySelector('#camera-drive .chip')?.textContent ?? ''"))

    try:
        firefox.open(f"http://{host}:{house.port}/#token={house.token}")
        eventually(lambda: firefox.evaluate("Boolean(document.querySelector('#camera-drive .watch'))"), "the tile")
        # WebRTC of Debian's Firefox has no H.264, and its Media Source Extensions have.
        firefox.evaluate("document.querySelector('#camera-drive button.watch').click()")
        eventually(lambda: chip() == "Live · over a WebSocket", "it plays")
        position = "document.querySelector('#camera-drive video').currentTime"
        begun = firefox.evaluate(position)
        eventually(lambda: firefox.evaluate(position) > begun + 1, "it goes on")
    finally:
        # The other tests of this browser use the page of the gateway that all share.
        firefox.open(f"http://{host}:{gateway.port}/")
