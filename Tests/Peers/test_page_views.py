"""The wall and the view of one camera in Chromium, as a person uses them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import LONG_START, careful_page
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import eventually
from playwright.sync_api import Browser, Locator, Page, expect

CAMERAS = [DOORBELL, *(Camera(name, "builtin:silent") for name in ["attic", "barn", "cellar", "drive", "engine-room"])]


SIZES = [(390, 844), (844, 390), (820, 1180), (1440, 900), (1920, 1080)]

# The controls that lie on the picture or outside the page, or that are too small for a finger.
COVERING = """
() => {
  const stage = document.querySelector(".one-camera .stage").getBoundingClientRect();
  if (stage.height < innerHeight / 3) return [`the picture has only ${stage.height} of ${innerHeight}`];
  return [...document.querySelectorAll(".one-camera button, .one-camera input")].filter((node) => {
    const { left, right, top, bottom, width, height } = node.getBoundingClientRect();
    if (width === 0) return false;
    const isOnPicture = left < stage.right && right > stage.left && top < stage.bottom && bottom > stage.top;
    const isOutside = left < 0 || top < 0 || right > innerWidth || bottom > innerHeight;
    return isOnPicture || isOutside || height < 40 || width < 40;
  }).map((node) => node.title || node.getAttribute("aria-label"));
}
"""


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path_factory.mktemp("views"), CAMERAS)
    for camera in CAMERAS:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with careful_page(browser) as opened:
        opened.add_init_script(LONG_START)
        yield opened


def show(page: Page, house: Gateway, fragment: str) -> None:
    page.goto(f"http://127.0.0.1:{house.port}/#{fragment}&token={house.token}")


def watched(house: Gateway) -> set[str]:
    """The identifiers of the devices that have viewers."""
    return {one["deviceID"] for one in house.client.sessions()}


def playing(page: Page) -> Locator:
    return page.locator(".cell.playing")


def body_of_start(page: Page, house: Gateway, fragment: str) -> Any:
    with page.expect_request("**/commands/startLiveView") as started:
        show(page, house, fragment)
    return started.value.post_data_json


def test_a_wall_plays_what_is_in_sight_and_survives_its_gateway(page: Page, house: Gateway) -> None:
    assert body_of_start(page, house, "wall")["qualityHint"] == "sd"
    assert house.token not in page.url and page.url.endswith("#wall")
    expect(playing(page)).to_have_count(6)
    # Nothing lies outside the screen, and no cell is hidden.
    grid = page.locator(".wall-grid")
    assert grid.evaluate("(node) => node.scrollHeight <= node.parentElement.clientHeight + 1")
    # Sound comes from one camera, and at first from none.
    door = page.locator(".cell", has_text="Front door")
    assert door.locator("video").evaluate("(video) => video.muted")
    door.get_by_role("button", name="Sound of Front door").click()
    assert not door.locator("video").evaluate("(video) => video.muted")
    assert page.evaluate("[...document.querySelectorAll('.cell video')].filter((one) => !one.muted).length") == 1
    door.get_by_role("button", name="Sound of Front door").click()
    assert door.locator("video").evaluate("(video) => video.muted")

    # A screen with room for two: the cameras out of sight are paused, and play when they come into sight.
    page.set_viewport_size({"width": 360, "height": 200})
    eventually(lambda: len(watched(house)) < 6, "cameras out of sight are paused")
    last = page.locator(".cell", has_text="Front door")
    expect(last).not_to_have_class(re.compile("playing"))
    last.scroll_into_view_if_needed()
    expect(last).to_have_class(re.compile("playing"))
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(playing(page)).to_have_count(6)

    # The gateway is started again with a newer version, and nobody touches the page.
    newer = house.client.get("/v1/gateway") | {"version": "99.0.0"}
    page.route("**/v1/gateway", lambda route: route.fulfill(json=newer))
    page.evaluate("document.documentElement.dataset.old = 'yes'")
    house.process.kill()
    expect(page.locator(".view-state")).to_have_text("Reconnecting")
    house.start()
    expect(page.locator("html[data-old]")).to_have_count(0)
    expect(page.locator(".view-state")).to_have_text("Connected")
    expect(playing(page)).to_have_count(6)
    eventually(lambda: len(house.client.sessions()) == 6, "each camera has one view")


def test_one_camera_is_opened_from_the_wall_with_all_its_controls(page: Page, house: Gateway) -> None:
    show(page, house, "wall")
    page.get_by_role("link", name="Large view of Front door").click()
    view = page.locator(".one-camera")
    expect(view).to_have_class(re.compile("playing"))
    assert page.url.endswith("#camera/front-door")
    expect(page).to_have_title("Front door – Gatehouse")
    door = house.client.device_id("front-door")
    eventually(lambda: watched(house) == {door}, "the views of the wall have ended")

    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator(".one-camera.playing")).to_be_visible()
        covering = page.evaluate(COVERING)
        assert not covering, (width, height, covering)
    page.set_viewport_size({"width": 1280, "height": 800})

    level = view.locator(".zoom-level")
    page.keyboard.press("+")
    expect(level).to_have_text("1.5×")
    view.locator(".stage").dblclick()
    expect(level).to_have_text("1.0×")
    view.get_by_role("button", name="Zoom in").click()
    page.keyboard.press("Escape")
    expect(level).to_have_text("1.0×")

    video = view.locator("video")
    page.keyboard.press("m")
    assert video.evaluate("(node) => node.muted")
    page.keyboard.press("ArrowDown")
    assert not video.evaluate("(node) => node.muted")
    assert 0.85 < video.evaluate("(node) => node.volume") < 0.95
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert re.fullmatch(r"Front door \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.jpg", download.value.suggested_filename)
    assert Path(download.value.path()).read_bytes()[:3] == b"\xff\xd8\xff"

    expect(view.get_by_role("button", name="Talk", exact=True)).to_be_enabled()
    page.keyboard.press("t")
    expect(view.get_by_role("button", name="Stop talking")).to_be_enabled()
    page.keyboard.press("t")
    expect(view.get_by_role("button", name="Talk", exact=True)).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts")).to_contain_text("Save the picture")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # Back on the wall, the camera that was looked at has the focus.
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Large view of Front door")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#home")).to_be_visible()
    eventually(lambda: not watched(house), "nobody watches any more")


def test_a_camera_that_is_not_there_says_so_and_a_visitor_is_answered_in_the_view(page: Page, house: Gateway) -> None:
    show(page, house, "camera/nowhere")
    expect(page.locator(".view-state")).to_have_text("This camera does not exist.")
    door = house.client.device_id("front-door")
    assert house.client.command(door, "DoorbellPress", "press").status == 200
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("heading", name="Front door")).to_be_visible()
    expect(page.locator(".one-camera")).to_have_class(re.compile("playing"))
