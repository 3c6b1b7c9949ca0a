"""axe reports nothing about the page: on every view, in every dialog, and in both colour schemes."""

import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from peers.chromium import LONG_START, patient
from peers.gateway import DOORBELL, Camera, Gateway
from peers.home_page import PHONE
from playwright.sync_api import Browser, Page, ViewportSize, expect

DESKTOP = ViewportSize(width=1440, height=900)
TYPES = ["ExtendedColorLight", "Thermostat", "WindowCovering", "DoorLock", "Fan", "Speaker", "GoogleTV", "SmokeCOAlarm"]


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    directory = tmp_path_factory.mktemp("accessible")
    devices = {name.lower(): {"name": name, "type": name, "room": "Study"} for name in TYPES}
    clients = [{"id": "app", "name": "The App", "redirects": ["https://app.example/done"]}]
    sections = {
        "devices": devices, "recording": {"folder": str(directory / "recordings")}, "oauth": {"clients": clients},
    }  # fmt: skip
    running = Gateway(binary, directory, [DOORBELL, Camera("barn", "rtsp://127.0.0.1:9/none")], sections)
    running.wait_until_flowing("front-door")
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


# The rules of axe that depend on colours. All others find the same in both schemes.
COLORS = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}


class Reader:
    """Looks at a page as axe does: with all rules in the light scheme, and at its colours in the dark one."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.axe = Axe()
        self.found: list[str] = []

    def read(self, where: str) -> None:
        self._run(where)
        self.page.emulate_media(color_scheme="dark")
        assert self.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        self._run(f"{where}, dark", options=COLORS)
        self.page.emulate_media(color_scheme="light")

    def _run(self, where: str, **options: Any) -> None:
        # What fades in has the contrast that it ends with.
        self.page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
        for violation in self.axe.run(self.page, **options).response["violations"]:
            for node in violation["nodes"]:
                self.found.append(f"{where}: {violation['id']}: {node['target']}: {node['failureSummary'][:300]}")

    def read_dialog(self, name: str, *, loses: bool = False) -> None:
        """Reads the dialog that is open, and closes it. loses: it asks first, because something in it is not saved."""
        dialogs = self.page.locator("dialog[open]")
        expect(dialogs).not_to_have_count(0)
        count = dialogs.count()
        self.read(name)
        dialogs.last.get_by_role("button", name="Close", exact=True).click()
        if loses:
            self.page.get_by_role("button", name="Discard", exact=True).click()
        expect(dialogs).to_have_count(count - 1)


def test_axe_finds_nothing(browser: Browser, home: Gateway) -> None:
    page = patient(browser.new_page(viewport=PHONE, color_scheme="light", reduced_motion="reduce"))
    page.add_init_script(LONG_START)
    reader = Reader(page)
    try:
        origin = f"http://127.0.0.1:{home.port}/"
        page.goto(origin)
        expect(page.locator("#sign-in")).to_be_visible()
        reader.read("sign-in")

        page.goto("about:blank")
        page.goto(f"{origin}#token={home.token}")
        tile = page.locator("#camera-front-door")
        tile.scroll_into_view_if_needed()
        expect(tile.locator("img.picture")).to_be_visible()
        expect(page.locator("#camera-barn")).to_contain_text("not reachable")
        page.get_by_text("Who may use this home", exact=True).click()
        reader.read("devices")
        page.set_viewport_size(DESKTOP)
        reader.read("devices, wide")
        page.set_viewport_size(PHONE)
        tile.get_by_role("button", name="Watch").click()
        expect(tile.locator(".chip").first).to_have_text("Live")
        reader.read("a tile that is watched")
        tile.get_by_role("button", name="Stop", exact=True).click()
        tile.get_by_role("button", name="Ring").click()
        expect(page.locator(".visitor")).to_be_visible()
        reader.read("a visitor")

        tile.get_by_role("button", name="More about").click()
        reader.read("a device")
        page.get_by_role("button", name="Share").click()
        sharing = page.get_by_role("dialog", name="Share Front door")
        sharing.get_by_label("Who is it for?").fill("Grandma")
        sharing.get_by_role("button", name="Make a link").click()
        expect(sharing.get_by_alt_text("The link as a QR code")).to_be_visible()
        reader.read_dialog("a link")
        if page.locator("dialog[open]").count():
            page.keyboard.press("Escape")
        page.get_by_role("button", name="Rooms of").click()
        reader.read_dialog("rooms")
        page.get_by_role("button", name="History", exact=True).click()
        expect(page.locator("dialog .happened").first).to_be_visible()
        reader.read_dialog("history")
        tile.get_by_role("button", name="Recordings of").click()
        reader.read_dialog("recordings")
        page.get_by_role("button", name="Automations").click()
        page.get_by_role("button", name="New automation").click()
        expect(page.get_by_role("dialog", name="New automation")).to_be_visible()
        reader.read_dialog("an automation")
        reader.read_dialog("automations")
        tile.get_by_text("Settings", exact=True).click()
        tile.get_by_role("button", name="Addresses").click()
        reader.read_dialog("addresses")
        tile.get_by_role("button", name="Why can’t I see it?").click()
        expect(page.locator(".finding").first).to_be_attached()
        reader.read_dialog("what the gateway found")

        tile.get_by_role("button", name="Change settings").click()
        expect(page.get_by_role("dialog", name="Settings of Front door")).to_be_visible()
        reader.read_dialog("settings of a camera")
        page.get_by_role("button", name="Add a camera").click()
        adding = page.get_by_role("dialog", name="Add a camera")
        adding.get_by_label("Address").fill("rtsp://127.0.0.1:9/none")
        adding.get_by_label("Name", exact=True).fill("Attic")
        adding.get_by_role("button", name="Add", exact=True).click()
        expect(adding.locator(".outcome.bad")).to_be_visible()
        # It asks before it loses what was entered.
        adding.get_by_role("button", name="Close", exact=True).click()
        question = page.get_by_role("dialog", name="Discard your changes?")
        expect(question).to_be_visible()
        reader.read("a question")
        question.get_by_role("button", name="Keep editing").click()
        expect(question).to_have_count(0)
        reader.read_dialog("a camera that does not work", loses=True)
        page.get_by_role("button", name="Notifications", exact=True).click()
        expect(page.get_by_role("dialog", name="Notifications on this device")).to_be_visible()
        reader.read_dialog("notifications")
        page.locator("#open-settings").click()
        settings = page.get_by_role("dialog", name="Settings of the gateway")
        expect(settings.get_by_role("heading", name="RTMP server", exact=True)).to_be_visible()
        reader.read_dialog("settings of the gateway")

        page.get_by_role("link", name="Wall").click()
        expect(page.locator(".cell.playing")).to_have_count(1)
        reader.read("wall")
        page.get_by_role("link", name="Large view of Front door").click()
        expect(page.locator(".one-camera.playing")).to_be_visible()
        reader.read("one camera")
        page.keyboard.press("?")
        reader.read_dialog("shortcuts")
        page.set_viewport_size(DESKTOP)
        reader.read("one camera, wide")

        page.goto(f"{origin}camera/front-door#token={home.token}")
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        reader.read("the page of one camera")
        page.goto("about:blank")
        page.goto(f"{origin}camera/front-door#token=wrong")
        expect(page.get_by_role("alert")).to_be_visible()
        reader.read("the page of a link that does not work")

        asked = {"client_id": "app", "redirect_uri": "https://app.example/done", "response_type": "code", "state": "s",
                 "code_challenge": "c" * 43, "code_challenge_method": "S256"}  # fmt: skip
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        page.goto(f"{origin}oauth/authorize?{urllib.parse.urlencode(asked)}")
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#sign-in-error")).not_to_be_empty()
        reader.read("the consent page without a sign-in")
        page.get_by_label("Token").fill(home.token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("The App")).to_be_visible()
        reader.read("the consent page")
    finally:
        page.close()
        print("\n".join(reader.found))
    assert not reader.found, "\n".join(reader.found)
