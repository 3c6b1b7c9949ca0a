"""What the page says of a picture: live only while it moves, for how long it has not, and live again by itself."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import careful_page
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Camera, Gateway
from peers.namespace import Namespace
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser, Locator, Page, Route, expect

# Counts the connections and the microphones that the page opens, and reports when a tile's text has changed.
SPIES = """
(() => {
  window.spies = { made: 0, open: new Set(), microphones: 0, chips: [] };
  const Original = window.RTCPeerConnection;
  window.RTCPeerConnection = class extends Original {
    constructor(...given) { super(...given); spies.made += 1; spies.open.add(this); }
    close() { spies.open.delete(this); super.close(); }
  };
  const devices = navigator.mediaDevices;
  const getUserMedia = devices?.getUserMedia.bind(devices);
  if (devices) devices.getUserMedia = (wish) => { spies.microphones += 1; return getUserMedia(wish); };
  // The chip of the tile that the test looks at.
  setInterval(() => {
    const text = document.querySelector(".tile.live .chip")?.textContent;
    if (text && spies.chips.at(-1)?.text !== text) spies.chips.push({ text, at: Date.now() });
  }, 20);
})();
"""


@pytest.fixture(scope="module")
def cameras(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RTSPCameras]:
    """Cameras of their own: they are killed."""
    running = RTSPCameras(tmp_path_factory.mktemp("mortal") / "rtsp-camera.log")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def house(
    binary: Path, cameras: RTSPCameras, namespace: Namespace | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    running = Gateway(
        binary, tmp_path_factory.mktemp("liveness"),
        [cameras.camera("yard", "vp8"), cameras.camera("tone", "sound"), Camera("hall")],
    )  # fmt: skip
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with careful_page(browser, width=1000) as opened:
        opened.add_init_script(SPIES)
        yield opened


class Tile:
    """One camera on the page."""

    def __init__(self, page: Page, gateway: Gateway, device: str) -> None:
        gateway.wait_until_flowing(device)
        self.page = page
        if "127.0.0.1" not in page.url:
            page.goto(f"http://127.0.0.1:{gateway.port}/#token={gateway.token}")
        self.node: Locator = page.locator(f"#camera-{device}")
        self.chip = self.node.locator(".chip").first
        self.stall = self.node.locator(".stall")
        self.video = self.node.locator("video")
        self.fault = self.node.locator(".fault")

    def watch(self) -> "Tile":
        self.node.locator("button.watch").click()
        self.expect_live()
        return self

    def expect_live(self) -> None:
        expect(self.chip).to_have_text("Live")
        expect(self.stall).to_be_hidden()
        expect(self.video).to_have_css("opacity", "1")

    def expect_stalled(self, text: str) -> None:
        """The picture is dimmed, and its stall counts."""
        expect(self.chip).to_have_text("No picture")
        expect(self.stall).to_have_text(re.compile(text))

    def spy(self, expression: str) -> Any:
        return self.page.evaluate(f"spies.{expression}")

    def milliseconds_until(self, text: str, since: float) -> int:
        """From a moment of the page's clock to the chip's first text of this kind after it."""
        chips = (
            eventually(
                lambda: [one for one in self.spy("chips") if one["at"] >= since and one["text"] == text],
                f"the chip's change to {text} is noted",
                every=0.02,
            )
            or []
        )
        return int(chips[0]["at"] - since)

    def now(self) -> float:
        return float(self.page.evaluate("Date.now()"))


@pytest.mark.alone
def test_a_camera_that_dies_is_not_live_and_comes_back(
    page: Page, house: Gateway, cameras: RTSPCameras, report: list[str]
) -> None:
    tile = Tile(page, house, "yard").watch()
    killed = tile.now()
    cameras.process.kill()
    tile.expect_stalled(r"^No picture for \d+ s: the camera is not reachable$")
    expect(tile.video).to_have_css("opacity", "0.35")
    expect(tile.stall).to_have_text(re.compile(r"for ([3-9]|\d\d) s"))
    report.append(f"page: not live {tile.milliseconds_until('No picture', killed)} ms after its camera was killed")
    expect(tile.node.locator(".about p").first).to_have_text("Offline: the camera is not reachable")
    cameras.start_again()
    assert house.client.request("POST", "/v1/cameras/yard/reconnect").status == 204
    tile.expect_live()
    # It was one view all the time.
    assert (tile.spy("made"), tile.spy("open.size")) == (1, 1)


@pytest.mark.alone
def test_a_gateway_that_hangs_or_is_gone_is_reported_and_found_again(
    page: Page, house: Gateway, report: list[str]
) -> None:
    tile = Tile(page, house, "hall").watch()
    stopped = tile.now()
    house.process.send(signal.SIGSTOP)
    try:
        tile.expect_stalled(r"^No picture for \d+ s: the gateway does not answer$")
    finally:
        house.process.send(signal.SIGCONT)
    report.append(f"page: not live {tile.milliseconds_until('No picture', stopped)} ms after its gateway hung")
    tile.expect_live()

    killed = tile.now()
    house.process.kill()
    tile.expect_stalled(r"^No picture.*: the gateway does not answer$")
    expect(page.locator("#link-text")).to_have_text("Reconnecting")
    report.append(f"page: not live {tile.milliseconds_until('No picture', killed)} ms after its gateway was killed")
    expect(tile.stall).to_have_text(re.compile(r"for ([2-9]|\d\d) s"))
    started = tile.now()
    house.start()
    tile.expect_live()
    report.append(f"page: live {tile.milliseconds_until('Live', started)} ms after its gateway was started again")
    eventually(lambda: tile.spy("open.size") == 1, "the connection before is closed")
    assert page.evaluate("document.querySelectorAll('#sign-in:not([hidden])').length") == 0


@pytest.mark.alone
def test_a_hidden_page_and_a_picture_out_of_view_report_no_stall(page: Page, house: Gateway) -> None:
    # A headless browser hides nothing, so the test tells the page that it is, and the page gets no callbacks.
    page.add_init_script(
        """
        window.isHidden = false;
        Object.defineProperty(document, "visibilityState", { get: () => (isHidden ? "hidden" : "visible") });
        const request = HTMLVideoElement.prototype.requestVideoFrameCallback;
        HTMLVideoElement.prototype.requestVideoFrameCallback = function (callback) {
          return request.call(this, (...given) => (
            isHidden ? this.requestVideoFrameCallback(callback) : callback(...given)));
        };
        window.hide = (value) => { isHidden = value; document.dispatchEvent(new Event("visibilitychange")); };
        """
    )
    tile = Tile(page, house, "hall").watch()
    decoded = "document.querySelector('#camera-hall video').getVideoPlaybackQuality().totalVideoFrames"

    def wait_for_frames(count: int) -> None:
        begin = page.evaluate(decoded)
        eventually(lambda: page.evaluate(decoded) > begin + count, "pictures are decoded")

    page.evaluate("hide(true)")
    wait_for_frames(25)
    page.evaluate("hide(false)")
    wait_for_frames(5)
    page.evaluate("document.body.style.paddingTop = '300vh'")
    page.evaluate("scrollTo(0, 0)")
    expect(tile.video).not_to_be_in_viewport()
    packets = (
        "[...spies.open][0].getStats()"
        ".then((all) => [...all.values()].find((one) => one.kind === 'video').packetsReceived)"
    )
    begin = page.evaluate(packets)
    eventually(lambda: page.evaluate(packets) > begin + 40, "packets come for a picture out of view")
    page.evaluate("document.body.style.paddingTop = ''")
    wait_for_frames(5)
    states = [one["text"] for one in tile.spy("chips")]
    assert states[states.index("Live") :] == ["Live"], states


@pytest.mark.alone
def test_a_camera_with_only_sound_is_live_by_its_sound(page: Page, house: Gateway, cameras: RTSPCameras) -> None:
    tile = Tile(page, house, "tone")
    tile.node.locator("button.watch").click()
    expect(tile.chip).to_have_text("Live")
    cameras.process.kill()
    expect(tile.chip).to_have_text("No sound")
    expect(tile.stall).to_have_text(re.compile(r"^No sound for \d+ s: the camera is not reachable$"))
    cameras.start_again()
    assert house.client.request("POST", "/v1/cameras/tone/reconnect").status == 204
    expect(tile.chip).to_have_text("Live")


def test_a_camera_that_is_removed_and_added_again_is_watched_again(page: Page, house: Gateway) -> None:
    def put() -> None:
        body = json.dumps({"name": "Shed", "source": "builtin:doorbell"})
        answer = house.client.request("PUT", "/v1/cameras/shed", body, {"Content-Type": "application/json"})
        assert answer.status == 201, answer.text

    put()
    tile = Tile(page, house, "shed").watch()
    assert house.client.request("DELETE", "/v1/cameras/shed").status in (200, 204)
    expect(tile.node).to_have_count(0)
    put()
    tile.expect_live()
    eventually(lambda: tile.spy("open.size") == 1, "the connection before is closed")
    assert house.client.request("DELETE", "/v1/cameras/shed").status in (200, 204)
    expect(tile.node).to_have_count(0)


def test_a_token_that_is_refused_leads_to_the_sign_in_and_back(page: Page, house: Gateway) -> None:
    tile = Tile(page, house, "hall").watch()
    refusal = {"error": {"code": 16, "status": "UNAUTHENTICATED", "message": "no"}}
    page.route("**/v1/**", lambda route: route.fulfill(status=401, json=refusal))
    # The network changes, so the page reconnects.
    page.evaluate("dispatchEvent(new Event('online'))")
    error = page.locator("#sign-in-error")
    expect(error).to_be_visible()
    # As red as errors are everywhere on the page, and not grey.
    red, green, blue = map(int, re.findall(r"\d+", error.evaluate("(node) => getComputedStyle(node).color"))[:3])
    assert red > green + 60 and red > blue + 60
    page.unroute("**/v1/**")
    page.get_by_label("Token").fill("gatehouse_wrong")
    page.get_by_role("button", name="Open").click()
    expect(error).to_have_text("The gateway does not know this token.")
    page.get_by_label("Token").fill(house.token)
    page.get_by_role("button", name="Open").click()
    tile.expect_live()


def test_errors_are_written_for_people_with_the_rest_under_details(page: Page, house: Gateway) -> None:
    tile = Tile(page, house, "hall")
    raw = "the offer asks for neither picture nor sound from hall; a viewer must offer a=recvonly or a=sendrecv"
    body = {"error": {"code": 9, "status": "FAILED_PRECONDITION", "message": raw}}
    page.route("**/commands/startLiveView", lambda route: route.fulfill(status=400, json=body))
    tile.node.locator("button.watch").click()
    expect(tile.fault).to_contain_text("This browser cannot play what the camera sends.")
    details = tile.fault.get_by_text(raw)
    expect(details).to_be_hidden()
    tile.fault.get_by_text("Details").click()
    expect(details).to_be_visible()
    page.unroute("**/commands/startLiveView")
    tile.node.get_by_text("Try again").click()
    tile.expect_live()
    expect(tile.fault).to_be_hidden()

    page.get_by_role("button", name="Add a camera").click()
    dialog = page.get_by_role("dialog", name="Add a camera")
    dialog.get_by_label("Name", exact=True).fill("Attic")
    dialog.get_by_label("Address").fill("ftp://192.0.2.20/")
    dialog.get_by_role("button", name="Add", exact=True).click()
    fault = dialog.locator(".outcome.bad")
    expect(fault).to_contain_text("This address cannot be used. It has to start with rtsp://")
    expect(fault.get_by_text("source: expected")).to_be_hidden()


def test_a_page_of_which_a_file_is_lost_loads_itself_again(page: Page, house: Gateway) -> None:
    lost: list[str] = []

    def lose_twice(route: Route) -> None:
        # A network that changes ends what is being fetched. The second load meets it, too.
        if len(lost) < 2:
            lost.append(route.request.url)
            route.abort("internetdisconnected")
        else:
            route.continue_()

    page.route("**/assets/**/doorbell.js", lose_twice)
    Tile(page, house, "hall").watch()
    assert len(lost) == 2


def test_a_page_that_runs_stays_when_a_file_was_lost_that_came_later(page: Page, house: Gateway) -> None:
    page.add_init_script("sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1")
    tile = Tile(page, house, "hall").watch()
    # A browser fetches once more what it could not fetch ahead.
    with page.expect_response("**/healthz"):
        page.evaluate("document.querySelector('link[rel=modulepreload]').dispatchEvent(new Event('error'))")
    tile.node.get_by_role("button", name="Stop").click()
    tile.watch()
    assert page.evaluate("sessionStorage.loads") == "1"


@pytest.mark.alone
def test_a_view_that_reaches_its_maximum_duration_restarts_each_time(page: Page, binary: Path, tmp_path: Path) -> None:
    gateway = Gateway(binary, tmp_path, [DOORBELL], {"sessions": {"maximumDurationSeconds": 2}})
    try:
        tile = Tile(page, gateway, "front-door").watch()
        client = page.context.new_cdp_session(page)

        def restart(times: int) -> dict[str, int]:
            """Waits for so many restarts; answers what the page then holds on to."""
            made = tile.spy("made")
            eventually(lambda: tile.spy("made") >= made + times and tile.spy("open.size") == 1, "the view starts again")
            tile.expect_live()

            def counted() -> dict[str, int] | None:
                """Of one view: it may end while the page is asked."""
                began = tile.spy("made")
                if tile.spy("open.size") != 1:
                    return None
                client.send("HeapProfiler.collectGarbage")
                counters = dict(client.send("Memory.getDOMCounters"))
                return counters if (tile.spy("made"), tile.spy("open.size")) == (began, 1) else None

            return eventually(counted, "a view is measured that goes on meanwhile") or {}

        tile.node.get_by_role("button", name="Talk").click()
        # The view may end while the talk begins.
        said = re.compile("You are no longer heard|The view restarted in the meantime")
        expect(tile.fault).to_contain_text(said)
        tile.expect_live()
        # The microphone stays closed until somebody presses the button again.
        expect(tile.node.get_by_role("button", name="Talk")).to_have_attribute("aria-pressed", "false")
        first, last = restart(1), restart(2)
        assert last["jsEventListeners"] <= first["jsEventListeners"] + 2, (first, last)
        assert last["nodes"] <= first["nodes"] + 20, (first, last)
        assert tile.spy("microphones") == 1
        eventually(lambda: len(gateway.client.sessions()) == 1, "the sessions before have ended")
    finally:
        assert gateway.stop() == 0, gateway.process.output()[-4000:]


def test_firefox_shows_the_same(firefox: Firefox, gateway: Gateway, house: Gateway, cameras: RTSPCameras,
                                namespace: Namespace | None) -> None:  # fmt: skip
    house.wait_until_flowing("yard")
    host = namespace.host_address if namespace else "127.0.0.1"

    def chip() -> str:
        return str(firefox.evaluate("document.querySelector('#camera-yard .chip')?.textContent ?? ''"))

    def stall() -> str:
        return str(firefox.evaluate("document.querySelector('#camera-yard .stall')?.textContent ?? ''"))

    try:
        firefox.open(f"http://{host}:{house.port}/#token={house.token}")
        eventually(lambda: firefox.evaluate("Boolean(document.querySelector('#camera-yard .watch'))"), "the tile")
        firefox.evaluate("document.querySelector('#camera-yard .watch').click()")
        eventually(lambda: chip() == "Live", "Firefox shows a live picture")
        cameras.process.kill()
        eventually(lambda: re.match(r"No picture for \d+ s: the camera is not reachable", stall()), "the stall counts")
        cameras.start_again()
        assert house.client.request("POST", "/v1/cameras/yard/reconnect").status == 204
        eventually(lambda: chip() == "Live", "Firefox shows a live picture again")
    finally:
        # The page that the other Firefox tests use.
        firefox.open(f"http://{host}:{gateway.port}/")
