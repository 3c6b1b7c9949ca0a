"""The gateway's own page in Chromium: sign-in, live view, the doorbell's button and talkback, as a person uses it."""

import json
import re
from collections.abc import Iterator

import pytest
from peers.chromium import LONG_START, patient
from peers.gateway import Gateway
from peers.polling import eventually
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

CARD = "#camera-front-door"
IS_MOVING = f"document.querySelector('{CARD} video').getVideoPlaybackQuality().totalVideoFrames"


@pytest.fixture
def problems() -> list[str]:
    return []


def note(line: ConsoleMessage, problems: list[str], forgiven: set[str]) -> None:
    """Keeps an error that the browser prints. Answers that refuse something are tested where they are asked for."""
    if line.type != "error" or re.search(r"status of (4(00|06|09)|503)", line.text):
        return
    address = line.location.get("url", "")
    # The page may ask for its view's path while the session ends, but not again.
    said = f"{line.text} ({address})"
    if "status of 404" in line.text and re.search(r"/v1/sessions/\w+$", address) and said not in forgiven:
        forgiven.add(said)
        return
    problems.append(said)


@pytest.fixture
def page(browser: Browser, gateway: Gateway, problems: list[str]) -> Iterator[Page]:
    """The page on a phone's screen, signed in by its address."""
    gateway.wait_until_flowing("front-door")
    opened = patient(browser.new_page(viewport={"width": 390, "height": 844}))
    opened.add_init_script(LONG_START)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    forgiven: set[str] = set()
    opened.on("console", lambda line: note(line, problems, forgiven))
    opened.goto(f"http://127.0.0.1:{gateway.port}/#token={gateway.token}")
    yield opened
    opened.close()
    assert not problems


def test_the_token_leaves_the_address(page: Page, gateway: Gateway) -> None:
    expect(page.locator(CARD)).to_be_visible()
    assert gateway.token not in page.url


def test_asks_for_the_token_without_one(browser: Browser, gateway: Gateway) -> None:
    page = patient(browser.new_page())
    try:
        page.goto(f"http://127.0.0.1:{gateway.port}/")
        page.get_by_label("Token").fill(gateway.token)
        page.get_by_role("button", name="Open").click()
        expect(page.locator(CARD)).to_be_visible()
    finally:
        page.close()


def test_watches_and_stops(page: Page, gateway: Gateway) -> None:
    page.get_by_role("button", name="Watch Front door").click()
    eventually(lambda: page.evaluate(IS_MOVING) > 15, "the picture moves")
    assert not page.evaluate(f"document.querySelector('{CARD} video').muted")
    # Nothing lies outside a phone's screen.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(CARD).get_by_role("button", name="Stop", exact=True).click()
    door = gateway.client.device_id("front-door")
    eventually(
        lambda: not [one for one in gateway.client.sessions() if one["deviceID"] == door],
        "the session ends with its view",
    )


def test_tiles_show_fresh_pictures(page: Page) -> None:
    picture = f"document.querySelector('{CARD} img.picture')"
    # Only tiles in sight have pictures.
    page.locator(CARD).scroll_into_view_if_needed()
    page.evaluate(
        "{ window.revoked = []; const revoke = URL.revokeObjectURL;"
        " URL.revokeObjectURL = (url) => { window.revoked.push(url); revoke.call(URL, url); } }"
    )
    eventually(lambda: page.evaluate(f"{picture}.naturalWidth > 0 && !{picture}.hidden"), "the tile shows a picture")
    expect(page.locator(f"{CARD} .chip").first).to_contain_text("s ago")
    first = page.evaluate(f"{picture}.src")
    eventually(lambda: page.evaluate(f"{picture}.src") != first, "another picture follows")
    # A picture that is not shown any more is given back.
    eventually(lambda: first in page.evaluate("window.revoked"), "the picture before is given back")
    # One that is watched needs none.
    page.get_by_role("button", name="Watch Front door").click()
    eventually(lambda: page.evaluate(IS_MOVING) > 5, "the picture moves")
    expect(page.locator(f"{CARD} img.picture")).to_be_hidden()
    page.locator(CARD).get_by_role("button", name="Stop", exact=True).click()


def test_adds_and_removes_a_camera(page: Page, gateway: Gateway) -> None:
    page.get_by_role("button", name="Add a camera").click()
    dialog = page.get_by_role("dialog", name="Add a camera")
    dialog.get_by_label("Name", exact=True).fill("Garden shed")
    dialog.get_by_label("Address").fill("exec:something")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.locator(".outcome.bad")).to_contain_text("This address cannot be used.")
    dialog.get_by_label("Address").fill("rtsp://viewer:a-secret-word@127.0.0.1:9/none")
    dialog.get_by_role("button", name="Add", exact=True).click()
    # It is tried, does not work, and is added nevertheless.
    dialog.get_by_role("button", name="Add anyway").click()
    expect(dialog.locator(".outcome")).to_contain_text("Garden shed was added.")
    dialog.get_by_role("button", name="Close", exact=True).click()
    card = page.locator("#camera-garden-shed")
    expect(card).to_be_visible()
    expect(card).to_contain_text("Garden shed")
    card.get_by_text("Settings", exact=True).click()
    expect(card).to_contain_text("rtsp://viewer:***@127.0.0.1:9/none")
    with page.expect_response(lambda response: response.url.endswith("/v1/cameras/garden-shed/reconnect")) as answered:
        card.get_by_role("button", name="Connect now").click()
    assert answered.value.status == 204
    assert "a-secret-word" not in page.content()
    assert "a-secret-word" not in gateway.client.request("GET", "/v1/cameras").text
    card.get_by_role("button", name="Remove this camera").click()
    question = page.get_by_role("dialog", name="Remove Garden shed?")
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(card.get_by_role("button", name="Remove this camera")).to_be_focused()
    page.keyboard.press("Enter")
    question.get_by_role("button", name="Remove", exact=True).click()
    expect(card).to_have_count(0)


def test_the_button_of_the_doorbell_rings_on_the_page(page: Page) -> None:
    page.locator(CARD).get_by_role("button", name="Ring").click()
    expect(page.locator("#visitors")).to_contain_text("Front door")
    expect(page.locator(f"{CARD} .happening")).to_contain_text("Last: Rang")


def test_a_page_that_opens_while_somebody_waits_says_so(page: Page) -> None:
    with page.expect_response(lambda answer: answer.url.endswith("/commands/press")):
        page.locator(CARD).get_by_role("button", name="Ring").click()
    expect(page.locator(f"{CARD} .happening")).to_contain_text("Last: Rang")
    # The press is in the history now: no event of the stream reports it to this page.
    page.reload()
    expect(page.locator("#visitors .visitor")).to_have_count(1)
    expect(page.locator("#visitors")).to_contain_text("Front door")


def test_shows_what_the_camera_detects(page: Page, gateway: Gateway) -> None:
    def report(active: bool) -> None:
        body = json.dumps({"type": "person", "active": active})
        headers = {"Content-Type": "application/json"}
        answer = gateway.client.request("POST", "/v1/devices/front-door/events", body, headers)
        assert answer.status == 200, answer.text

    happening = page.locator(f"{CARD} .happening")
    report(True)
    expect(happening).to_have_text("Now: Person")
    report(False)
    expect(happening).to_contain_text("Last: Person")
    # It is there again for later viewers.
    page.reload()
    expect(happening).to_contain_text("Last: Person")


def test_talks_to_the_doorbell(page: Page, gateway: Gateway) -> None:
    def samples() -> int:
        return int(gateway.client.get("/v1/devices/front-door/speaker")["reading"]["samples"])

    page.get_by_role("button", name="Watch Front door").click()
    eventually(lambda: page.evaluate(IS_MOVING) > 5, "the picture moves")
    before = samples()
    talk = page.locator(CARD).get_by_role("button", name="Talk")
    silenced = page.locator(CARD).get_by_text("You are no longer heard").first
    talk.click()

    def is_heard() -> bool:
        # The gateway ends a talk of which it hears nothing for five seconds, which a browser that gets no processor
        # time may need. The page then asks for another press.
        if silenced.is_visible():
            talk.click()
        return samples() >= before + 48_000

    eventually(is_heard, "a second of the microphone reaches the speaker")
    page.locator(CARD).get_by_role("button", name="Stop talking").click()
    page.locator(CARD).get_by_role("button", name="Stop", exact=True).click()


def test_a_page_that_goes_away_returns_its_session(page: Page, gateway: Gateway) -> None:
    page.get_by_role("button", name="Watch Front door").click()
    eventually(lambda: page.evaluate(IS_MOVING) > 5, "the picture moves")
    page.goto("about:blank")
    door = gateway.client.device_id("front-door")
    eventually(
        lambda: not [one for one in gateway.client.sessions() if one["deviceID"] == door],
        "the session ends with its page",
    )
