"""Watching on the page without a hand on it, and without the owner's rights: walls, large views and links that last."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import LONG_START, careful_page, patient
from peers.gateway import DOORBELL, Camera, Gateway
from peers.home_page import opened, send
from peers.jpeg_cameras import PictureServer
from peers.polling import eventually
from playwright.sync_api import Browser, BrowserContext, Page, expect

CAMERAS = [DOORBELL, Camera("attic", "builtin:silent", name="Attic"), Camera("barn", "builtin:silent", name="Barn")]

# What lies on the pictures of the tiles, other than the buttons that are as large as the picture and have no look.
COVERING = """
() => [...document.querySelectorAll(".tile .screen")].flatMap((screen) => {
  const picture = screen.getBoundingClientRect();
  const tile = screen.closest(".tile");
  return [...tile.querySelectorAll("button, a, p, span, h4")].filter((node) => {
    if (node.classList.contains("watch") || node.classList.contains("empty")) return false;
    const { left, right, top, bottom, width } = node.getBoundingClientRect();
    const isBeside = left >= picture.right || right <= picture.left;
    return width > 0 && !isBeside && top < picture.bottom - 1 && bottom > picture.top;
  }).map((node) => node.outerHTML.slice(0, 80));
})
"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PictureServer]:
    running = PictureServer(tmp_path_factory.mktemp("pictures"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory, pictures: PictureServer) -> Iterator[Gateway]:
    cameras = [
        *CAMERAS, Camera("gauge", pictures.address(), name="Gauge"),
        Camera("nest", "builtin:silent", name="Nest", settings={"pull": "on-demand"}),
    ]  # fmt: skip
    running = Gateway(binary, tmp_path_factory.mktemp("watching"), cameras)
    for camera in CAMERAS:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with careful_page(browser) as made:
        made.add_init_script(LONG_START)
        yield made


def token(house: Gateway, *scopes: str, device: str | None = None) -> str:
    """A token with these scopes in the whole home, or for a device."""
    grant: dict[str, Any] = {"scopes": list(scopes)} | ({"deviceID": house.client.device_id(device)} if device else {})
    name = f"{'-'.join(scopes)} {len(house.client.get('/v1/tokens')['tokens'])}"
    return str(send(house, "POST", "/v1/tokens", name=name, grants=[grant])["token"])


def show(page: Page, house: Gateway, fragment: str, token: str | None = None) -> None:
    page.goto("about:blank")
    page.goto(f"http://127.0.0.1:{house.port}/#{fragment}&token={token or house.token}")


def switch(house: Gateway, device: str, status: str) -> None:
    reply = house.client.command(device, "PushAvStreamTransport", "setTransportStatus", {"transportStatus": status})
    assert reply.status == 200, reply.text


def make_private(house: Gateway, device: str, is_private: bool) -> None:
    send(house, "PATCH", f"/v1/devices/{device}/traits/CameraAvStreamManagement",
         softLivestreamPrivacyModeEnabled=is_private)  # fmt: skip


def cell(page: Page, name: str, state: str = "") -> Any:
    return page.locator(f".cell{state}", has=page.get_by_text(name, exact=True))


def test_a_wall_of_somebody_without_admin_rights_goes_on_after_off_and_on(page: Page, house: Gateway) -> None:
    show(page, house, "wall/attic,barn", token(house, "read", "view"))
    expect(page.locator(".cell.playing")).to_have_count(2)
    switch(house, "attic", "inactive")
    expect(cell(page, "Attic", ".playing")).to_have_count(0)
    switch(house, "attic", "active")
    expect(cell(page, "Attic", ".playing")).to_have_count(1)


def test_a_token_that_may_only_watch_has_a_wall(page: Page, house: Gateway) -> None:
    watcher = house.client_at("127.0.0.1")
    watcher.token = token(house, "view")
    show(page, house, "wall", watcher.token)
    # The cameras whose pictures cost nothing, and the one that rests to save work. The battery is spared.
    for name in ("Front door", "Attic", "Barn", "Gauge"):
        expect(cell(page, name, ".playing")).to_have_count(1)
    expect(cell(page, "Nest")).to_have_count(1)
    expect(cell(page, "Nest", ".playing")).to_have_count(0)
    nest = house.client.device_id("nest")
    watched = watcher.sessions()
    assert watched and all(one["deviceID"] != nest for one in watched)
    # Somebody who asks for the picture wakes the camera up.
    page.get_by_role("link", name="Large view of Nest").click()
    expect(page.locator(".one-camera.playing")).to_be_visible()


def test_a_camera_that_rests_to_save_work_has_pictures_for_all(page: Page, house: Gateway) -> None:
    show(page, house, "", token(house, "read", "view"))
    gauge = page.locator("#camera-gauge")
    gauge.scroll_into_view_if_needed()
    expect(gauge.locator("img.picture")).to_be_visible()
    # Its work ends again, and the page says that it rests.
    expect(gauge.locator(".about p").first).to_have_text("On demand: starts when somebody watches")
    nest = page.locator("#camera-nest")
    nest.scroll_into_view_if_needed()
    expect(nest.locator(".about p").first).to_have_text("On demand: starts when somebody watches")
    expect(nest.locator("img.picture")).to_be_hidden()


def test_a_large_view_that_was_refused_begins_by_itself(page: Page, house: Gateway) -> None:
    make_private(house, "attic", True)
    try:
        show(page, house, "camera/attic")
        expect(page.locator(".one-camera .fault")).to_contain_text("privacy mode is on")
        page.get_by_role("button", name="Why can’t I see it?").click()
        expect(page.locator(".finding").first).to_be_attached()
        page.keyboard.press("Escape")
    finally:
        make_private(house, "attic", False)
    expect(page.locator(".one-camera.playing")).to_be_visible()
    expect(page.locator(".one-camera .fault")).to_be_hidden()
    # It goes on through another time of privacy.
    make_private(house, "attic", True)
    expect(page.locator(".one-camera.playing")).to_have_count(0)
    make_private(house, "attic", False)
    expect(page.locator(".one-camera.playing")).to_be_visible()


# As an iPhone, whose whole screen is for videos alone; and the locks that keep the screen on are counted.
IPHONE = """
Object.defineProperty(document, "fullscreenEnabled", { value: false });
HTMLVideoElement.prototype.webkitEnterFullscreen = function () { window.entered = this.id; };
window.locks = 0;
Object.defineProperty(navigator, "wakeLock", { value: { request: async () => {
  locks += 1;
  return { released: false, release: async () => { locks -= 1; } };
} } });
"""


def test_a_shared_camera_that_was_refused_begins_by_itself(page: Page, house: Gateway) -> None:
    link = token(house, "view", device="attic")
    make_private(house, "attic", True)
    page.add_init_script(IPHONE)
    try:
        page.goto(f"http://127.0.0.1:{house.port}/camera/attic#token={link}")
        expect(page.get_by_role("alert")).to_contain_text("privacy mode is on")
    finally:
        make_private(house, "attic", False)
    expect(page.get_by_role("status")).to_have_text("Live")
    expect(page.get_by_role("alert")).to_be_hidden()

    # What belongs to a camera is on its page, too.
    assert page.evaluate("locks") == 1
    page.get_by_role("button", name="Full screen").click()
    assert page.evaluate("entered") == "video"
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save picture").click()
    assert saved.value.suggested_filename.startswith("Attic ")
    sound, volume = page.get_by_role("button", name="Sound"), page.get_by_label("Volume")
    expect(volume).to_be_hidden()
    sound.click()
    volume.fill("30")
    assert page.evaluate("document.querySelector('video').volume") == 0.3

    # A newer gateway brings a newer page, once nobody is heard: the browser might refuse the sound afterwards.
    newer = house.client.get("/v1/gateway") | {"version": "99.0.0"}
    page.route("**/v1/gateway", lambda route: route.fulfill(json=newer))
    page.evaluate("document.documentElement.dataset.old = 'yes'")
    with page.expect_response("**/v1/gateway"):
        pass
    expect(page.locator("html[data-old]")).to_have_count(1)
    sound.click()
    expect(page.locator("html[data-old]")).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("Live")


# A headless browser hides nothing, so the test tells the page that it is hidden, and that a minute has passed.
AWAY = """
window.isHidden = false;
window.skipped = 0;
Object.defineProperty(document, "visibilityState", { get: () => (isHidden ? "hidden" : "visible") });
const now = performance.now.bind(performance);
performance.now = () => now() + skipped;
window.leave = (isLeft) => {
  isHidden = isLeft;
  if (isLeft) skipped += 61000;
  document.dispatchEvent(new Event("visibilitychange"));
};
"""


def test_a_large_view_in_a_hidden_tab_is_given_back_unless_it_is_heard(page: Page, house: Gateway) -> None:
    page.add_init_script(AWAY)
    show(page, house, "camera/front-door")
    door = house.client.device_id("front-door")
    expect(page.locator(".one-camera.playing")).to_be_visible()

    def is_watched() -> bool:
        return any(one["deviceID"] == door for one in house.client.sessions())

    page.evaluate("leave(true)")
    # It may begin again by itself on a busy machine, which it would not do in a hidden tab that is not heard.
    eventually(lambda: page.locator(".one-camera.playing").count() == 1 and is_watched(), "a view that is heard stays")
    page.evaluate("leave(false)")
    page.keyboard.press("m")
    page.evaluate("leave(true)")
    eventually(lambda: not is_watched(), "the view is given back")
    page.evaluate("leave(false)")
    expect(page.locator(".one-camera.playing")).to_be_visible()
    eventually(is_watched, "the view has a session again")


def test_links_and_addresses_are_made_for_those_who_use_them(house: Gateway, browser: Browser) -> None:
    with opened(browser, house) as page:
        told = house.client.get("/v1/gateway") | {"publicURL": "https://home.example"}
        page.route("**/v1/gateway", lambda route: route.fulfill(json=told))
        page.route("**/v1/qr-codes", lambda route: route.abort())
        page.reload()
        page.get_by_role("button", name="More about Attic").click()
        page.get_by_role("button", name="Share").click()
        sharing = page.get_by_role("dialog", name="Share Attic")
        sharing.get_by_label("Who is it for?").fill("Grandma")
        sharing.get_by_role("button", name="Make a link").click()
        # The secret is told once, and is not lost with its code.
        expect(sharing.get_by_text("The QR code could not be made.")).to_be_visible()
        link = sharing.get_by_label("The link", exact=True).input_value()
        assert link.startswith("https://home.example/camera/attic#token=gatehouse_")
        sharing.get_by_role("button", name="Revoke the link of Grandma").click()
        expect(sharing.get_by_text("Grandma")).to_have_count(0)
        page.keyboard.press("Escape")

        tile = page.locator("#camera-attic")
        tile.scroll_into_view_if_needed()
        tile.get_by_text("Settings", exact=True).click()
        tile.get_by_role("button", name="Addresses").click()
        addresses = page.get_by_role("dialog", name="Addresses of Attic")
        expect(addresses.get_by_text("These addresses work only on this machine")).to_be_visible()
        addresses.get_by_label("Which program is it for?").fill("Display")
        addresses.get_by_role("button", name="Make a token").click()
        expect(addresses.get_by_text("These addresses now have a token for Display.")).to_be_visible()
        picture = addresses.get_by_label("A picture", exact=True).input_value()
        answer = house.client.request("GET", picture.removeprefix(f"http://127.0.0.1:{house.port}"), token=None)
        assert answer.status == 200 and answer.body[:3] == b"\xff\xd8\xff"
        shown = addresses.locator("input").evaluate_all("(all) => all.map((one) => one.value).join(' ')")
        assert "live.m3u8?token=" in shown and house.token not in shown
    (made,) = [one for one in house.client.get("/v1/tokens")["tokens"] if one["name"] == "Display"]
    assert [grant["scopes"] for grant in made["grants"]] == [["view"]]
    assert house.client.request("DELETE", f"/v1/tokens/{made['id']}").status == 204


def test_a_zoomed_picture_does_not_keep_the_next_camera_away(page: Page, house: Gateway) -> None:
    show(page, house, "camera/attic")
    expect(page.locator(".one-camera.playing")).to_be_visible()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Next camera").click()
    expect(page.get_by_role("heading", name="Barn")).to_be_visible()


def test_a_key_that_is_held_presses_once(page: Page, house: Gateway) -> None:
    show(page, house, "camera/front-door")
    expect(page.locator(".one-camera.playing")).to_be_visible()
    was_muted = page.locator(".one-camera video:not(.borrowed)").evaluate("(video) => video.muted")
    # Playwright repeats a key that is down already, as a keyboard does.
    for _ in range(4):
        page.keyboard.down("m")
    page.keyboard.up("m")
    assert page.locator(".one-camera video:not(.borrowed)").evaluate("(video) => video.muted") is not was_muted


def test_arrows_scroll_a_wall(page: Page, house: Gateway) -> None:
    page.set_viewport_size({"width": 360, "height": 200})
    show(page, house, "wall")
    stage = page.locator(".wall .stage")
    expect(page.locator(".cell")).to_have_count(5)
    page.keyboard.press("ArrowDown")
    eventually(lambda: stage.evaluate("(node) => node.scrollTop > 0"), "the wall scrolls")


def test_one_press_turns_the_sound_on_where_the_browser_refused_it(page: Page, house: Gateway) -> None:
    page.add_init_script(
        """
        const play = HTMLMediaElement.prototype.play;
        window.refuses = true;
        HTMLMediaElement.prototype.play = function () {
          return this.muted || !refuses ? play.call(this) : Promise.reject(new DOMException("no", "NotAllowedError"));
        };
        """
    )
    show(page, house, "wall/front-door")
    expect(cell(page, "Front door", ".playing")).to_have_count(1)
    button = page.get_by_role("button", name="Sound of Front door")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    page.evaluate("refuses = false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert not page.locator(".cell video").evaluate("(video) => video.muted")


def test_one_camera_of_the_list_is_heard_and_nothing_covers_a_picture(page: Page, house: Gateway) -> None:
    show(page, house, "")
    tiles = [page.locator(f"#camera-{name}") for name in ("front-door", "attic")]
    expect(tiles[1].locator("img.picture")).to_be_visible()
    assert page.evaluate(COVERING) == []
    for tile in tiles:
        tile.get_by_role("button", name="Watch").click()
        expect(tile.locator(".chip")).to_have_text("Live")
    assert page.evaluate("[...document.querySelectorAll('.tile.live video')].filter((one) => !one.muted).length") == 1
    assert page.evaluate(COVERING) == []
    # The whole screen has every control.
    tiles[0].get_by_role("button", name="Full screen").click()
    expect(page.locator(".one-camera.playing")).to_be_visible()
    page.wait_for_function("document.fullscreenElement === document.documentElement")
    expect(page.get_by_role("button", name="Talk", exact=True)).to_be_visible()


def test_a_phone_with_full_screen_for_videos_alone_keeps_every_control(page: Page, house: Gateway) -> None:
    """The browser gets what an iPhone lacks taken away; no iPhone takes part."""
    page.add_init_script(IPHONE)
    page.add_init_script("Object.defineProperty(HTMLMediaElement.prototype, 'volume', { get: () => 1, set() {} })")
    show(page, house, "camera/front-door")
    expect(page.locator(".one-camera.playing")).to_be_visible()
    full, bar = page.get_by_role("button", name="Full screen"), page.locator(".view-bar")
    expect(page.get_by_label("Volume")).to_be_hidden()
    full.click()
    expect(bar).to_be_hidden()
    expect(full).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Talk", exact=True)).to_be_visible()
    assert page.evaluate("window.entered ?? null") is None
    # Going back leaves the full window first, and then the view.
    page.keyboard.press("Escape")
    expect(bar).to_be_visible()
    expect(page.locator(".one-camera.playing")).to_be_visible()
    # The wall, which has no controls to keep, offers none that does nothing.
    show(page, house, "wall")
    expect(cell(page, "Front door", ".playing")).to_have_count(1)
    expect(full).to_have_count(0)


@contextmanager
def somebody(browser: Browser) -> Iterator[BrowserContext]:
    """A browser in which nobody has signed in."""
    with browser.new_context() as context:
        yield patient(context)


def test_who_signs_in_stays_signed_in_until_they_sign_out(house: Gateway, browser: Browser) -> None:
    origin = f"http://127.0.0.1:{house.port}/"
    with somebody(browser) as context:
        page = context.new_page()
        page.goto(origin)
        page.get_by_label("Token or password").fill(house.token)
        page.get_by_role("button", name="Open", exact=True).click()
        expect(page.get_by_role("heading", name="Attic")).to_be_visible()
        page.close()
        page, other = context.new_page(), context.new_page()
        for one in (page, other):
            one.goto(origin)
            expect(one.get_by_text("Signed in as owner")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        for one in (page, other):
            expect(one.get_by_label("Token or password")).to_be_visible()
        page.reload()
        expect(page.get_by_label("Token or password")).to_be_visible()


def test_a_page_that_returns_after_a_sign_out_elsewhere_shows_nothing(house: Gateway, browser: Browser) -> None:
    with somebody(browser) as context:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{house.port}/#token={house.token}")
        expect(page.get_by_role("heading", name="Attic")).to_be_visible()
        # Chromium has no back/forward cache here. A page in it gets only this event, when it returns.
        page.evaluate("""() => {
            localStorage.removeItem("gatehouse.token");
            dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
        }""")
        expect(page.get_by_label("Token or password")).to_be_visible()
        expect(page.get_by_role("heading", name="Attic")).to_have_count(0)


def test_a_camera_page_without_a_link_ends_with_the_sign_out(house: Gateway, browser: Browser) -> None:
    origin = f"http://127.0.0.1:{house.port}/"
    with somebody(browser) as context:
        # On a busy machine, WebRTC takes more time than the page gives it.
        context.add_init_script(LONG_START)
        page, camera = context.new_page(), context.new_page()
        page.goto(f"{origin}#token={house.token}")
        expect(page.get_by_text("Signed in as owner")).to_be_visible()
        camera.goto(f"{origin}camera/attic")
        expect(camera.get_by_role("status")).to_have_text("Live")
        page.get_by_role("button", name="Sign out").click()
        expect(camera.get_by_text("This address has no token")).to_be_visible()
        eventually(lambda: house.client.sessions() == [], "the view has ended")


def test_who_may_only_read_and_watch_learns_why_a_camera_is_not_seen(house: Gateway, browser: Browser) -> None:
    put = {"name": "Shed", "source": "rtsp://127.0.0.1:9/stream"}
    answer = house.client.request("PUT", "/v1/cameras/shed", json.dumps(put), {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    try:
        with opened(browser, house, token(house, "read", "view")) as page:
            tile = page.locator("#camera-shed")
            expect(tile.locator(".about p").first).to_have_text("Offline: the camera is not reachable")
            tile.get_by_role("button", name="Why can’t I see Shed?").click()
            expect(page.locator(".finding.failure")).to_contain_text("Shed")
            expect(page.locator(".finding", has_text=re.compile("disk|clock"))).to_have_count(0)
    finally:
        assert house.client.request("DELETE", "/v1/cameras/shed").status in (200, 204)
