"""The gateway's own page in Chromium: sign-in, live view, the doorbell's button and talkback, as a person uses it."""

from collections.abc import Iterator

import pytest
from peers.gateway import Gateway
from peers.polling import eventually
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

CARD = "#camera-front-door"
IS_MOVING = f"document.querySelector('{CARD} video').getVideoPlaybackQuality().totalVideoFrames"


@pytest.fixture
def problems() -> list[str]:
    return []


def note(line: ConsoleMessage, problems: list[str]) -> None:
    """Keeps an error that the browser prints."""
    if line.type == "error":
        problems.append(f"{line.text} ({line.location.get('url', '')})")


@pytest.fixture
def page(browser: Browser, gateway: Gateway, problems: list[str]) -> Iterator[Page]:
    """The page on a phone's screen, signed in by its address."""
    gateway.wait_until_flowing("front-door")
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: note(line, problems))
    opened.goto(f"http://127.0.0.1:{gateway.port}/#token={gateway.token}")
    yield opened
    opened.close()
    assert not problems


def test_the_token_leaves_the_address(page: Page, gateway: Gateway) -> None:
    expect(page.locator(CARD)).to_be_visible()
    assert gateway.token not in page.url


def test_asks_for_the_token_without_one(browser: Browser, gateway: Gateway) -> None:
    page = browser.new_page()
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
    eventually(
        lambda: not [one for one in gateway.client.sessions() if one["deviceID"] == "front-door"],
        "the session ends with its view",
    )


def test_the_button_of_the_doorbell_rings_on_the_page(page: Page) -> None:
    page.locator(CARD).get_by_role("button", name="Ring").click()
    expect(page.locator("#visitors")).to_contain_text("Front door")


def test_talks_to_the_doorbell(page: Page, gateway: Gateway) -> None:
    def samples() -> int:
        return int(gateway.client.get("/v1/devices/front-door/speaker")["reading"]["samples"])

    page.get_by_role("button", name="Watch Front door").click()
    eventually(lambda: page.evaluate(IS_MOVING) > 5, "the picture moves")
    before = samples()
    page.locator(CARD).get_by_role("button", name="Talk").click()
    eventually(lambda: samples() >= before + 48_000, "a second of the microphone reaches the speaker")
    page.locator(CARD).get_by_role("button", name="Stop talking").click()
    page.locator(CARD).get_by_role("button", name="Stop", exact=True).click()


def test_a_page_that_goes_away_gives_its_session_back(page: Page, gateway: Gateway) -> None:
    page.get_by_role("button", name="Watch Front door").click()
    eventually(lambda: page.evaluate(IS_MOVING) > 5, "the picture moves")
    page.goto("about:blank")
    eventually(
        lambda: not [one for one in gateway.client.sessions() if one["deviceID"] == "front-door"],
        "the session ends with its page",
    )
