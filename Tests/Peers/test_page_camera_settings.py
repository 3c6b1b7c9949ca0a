"""The settings of a camera on the page in Chromium: what an ONVIF camera offers, and what the gateway keeps."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from peers.gateway import Gateway
from peers.home_page import opened, send
from peers.onvif_camera import ONVIFCamera
from peers.polling import eventually
from playwright.sync_api import Browser, Locator, Page, expect
from test_onvif import doorbell

SETTINGS = "/v1/devices/door/traits/CameraAvStreamManagement"


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[ONVIFCamera]:
    running = ONVIFCamera(tmp_path, "--imaging", "--degrees", "90,180,270", "--speaker")
    yield running
    running.stop()


@pytest.fixture
def house(binary: Path, camera: ONVIFCamera, tmp_path: Path) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path, [doorbell(camera)])
    # All of its controls are there when the page is opened.
    eventually(lambda: {"nightVision", "microphoneMuted"} <= settings(running).keys(), "the settings are known")
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def settings(house: Gateway) -> dict[str, Any]:
    return dict(house.client.get(SETTINGS))


def wait_for(house: Gateway, **expected: Any) -> None:
    eventually(
        lambda: {name: settings(house)[name] for name in expected} == expected, f"the gateway reports {expected}"
    )


def fold(page: Page, title: str = "Picture and sound") -> Locator:
    """A group of controls in the camera's tile."""
    return page.locator("#camera-door details.fold", has=page.get_by_text(title, exact=True))


def test_the_settings_are_changed_with_a_keyboard_alone(browser: Browser, camera: ONVIFCamera, house: Gateway) -> None:
    with opened(browser, house) as page:
        group = fold(page)
        vision = group.get_by_role("combobox", name="door: Night vision")
        expect(vision).to_be_hidden()
        group.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(vision).to_be_visible()
        expect(vision.locator("option")).to_have_text(["Off", "On", "Automatic"])
        page.keyboard.press("Tab")
        expect(vision).to_be_focused()
        page.keyboard.press("ArrowUp")
        eventually(lambda: camera.state["image"]["filter"] == "OFF", "the camera sees in the dark")

        page.keyboard.press("Tab")
        hdr = group.get_by_role("switch", name="Even out light and dark")
        expect(hdr).to_be_focused()
        page.keyboard.press("Space")
        eventually(lambda: camera.state["image"]["wide"] == "ON", "the camera evens out light and dark")
        expect(hdr).to_have_attribute("aria-checked", "true")

        page.keyboard.press("Tab")
        turned = group.get_by_role("combobox", name="Turn the picture clockwise")
        expect(turned).to_be_focused()
        expect(turned.locator("option")).to_have_text(["0°", "90°", "180°", "270°"])
        page.keyboard.press("ArrowDown")
        eventually(lambda: camera.state["image"]["degree"] == 90, "the picture is turned")

        page.keyboard.press("Tab")
        level = group.get_by_role("slider", name="Loudspeaker")
        expect(level).to_be_focused()
        page.keyboard.press("ArrowRight")
        eventually(lambda: camera.state["image"]["level"] == 41, "the loudspeaker is louder")
        expect(level).to_have_attribute("aria-valuetext", "41 %")

        page.keyboard.press("Tab")
        expect(group.get_by_role("switch", name="Microphone")).to_be_focused()
        page.keyboard.press("Space")
        wait_for(house, microphoneMuted=True, nightVision="on", hdrModeEnabled=True, imageRotation=90)
        expect(page.get_by_role("alert")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_about_the_settings(browser: Browser, house: Gateway, scheme: str) -> None:
    with opened(browser, house, color_scheme=scheme, reduced_motion="reduce") as page:
        for title in ("Picture and sound", "Privacy"):
            fold(page, title).locator("summary").click()
        expect(fold(page, "Privacy").get_by_role("switch")).to_have_count(3)
        found = Axe().run(page, "#camera-door").response["violations"]
        assert not found, [(one["id"], [node["target"] for node in one["nodes"]]) for one in found]


def test_a_camera_has_controls_for_what_it_offers_alone(browser: Browser, binary: Path, tmp_path: Path) -> None:
    camera = ONVIFCamera(tmp_path, "--imaging", "--filters", "ON,AUTO")
    house = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        with opened(browser, house) as page:
            group = fold(page)
            group.locator("summary").click()
            vision = group.get_by_role("combobox", name="Night vision")
            expect(vision.locator("option")).to_have_text(["Off", "Automatic"])
            expect(group.get_by_role("switch", name="Even out light and dark")).to_be_visible()
            expect(group.get_by_role("combobox")).to_have_count(1)
            expect(group.get_by_role("slider")).to_have_count(0)
    finally:
        house.stop()
        camera.stop()


def test_what_is_open_stays_open_while_controls_come_and_go(browser: Browser, binary: Path, tmp_path: Path) -> None:
    """A camera that answers only after the page was opened, and is then renamed."""
    camera = ONVIFCamera(tmp_path, "--imaging")
    camera.stop()
    house = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        with opened(browser, house) as page:
            group = fold(page)
            group.locator("summary").click()
            recorded = group.get_by_role("switch", name="Sound in recordings")
            recorded.focus()
            expect(group.get_by_role("combobox", name="Night vision")).to_have_count(0)
            camera.restart()
            expect(group.get_by_role("combobox", name="Night vision")).to_be_visible()
            expect(group).to_have_attribute("open", "")
            expect(recorded).to_be_focused()
            # The name is part of the labels, so the controls are made again.
            send(house, "PATCH", "/v1/devices/door", name="Gate")
            expect(group.get_by_role("combobox", name="Gate: Night vision")).to_be_visible()
    finally:
        house.stop()
        camera.stop()


def test_a_dialog_gives_the_focus_back_although_the_camera_has_changed(browser: Browser, house: Gateway) -> None:
    with opened(browser, house) as page:
        settings = page.locator("#camera-door details", has=page.get_by_text("Settings", exact=True))
        settings.locator("summary").click()
        button = settings.get_by_role("button", name="Addresses", exact=True)
        button.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        send(house, "PATCH", "/v1/cameras/door", transport="tcp")
        expect(settings).to_contain_text("over tcp")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        held = page.evaluate("document.activeElement.outerHTML.slice(0, 300)")
        expect(button, f"the focus is at {held}").to_be_focused()


def test_a_refusal_puts_the_setting_back_and_says_why(browser: Browser, camera: ONVIFCamera, house: Gateway) -> None:
    with opened(browser, house) as page:
        group = fold(page)
        group.locator("summary").click()
        vision = group.get_by_role("combobox", name="Night vision")
        alert = page.locator("#camera-door").get_by_role("alert")
        for fault, words in (
            ("ter:InvalidArgVal/ter:SettingsInvalid", "The camera does not accept this setting."),
            ("ter:ActionNotSupported", "The camera cannot change this setting."),
            ("ter:NotAuthorized", "The camera refuses to change this setting."),
        ):
            camera.set_image(fault=fault)
            vision.select_option("Off")
            expect(alert).to_contain_text(words)
            expect(vision).to_have_value("auto")
        # What the camera said is there for those who look for the cause.
        alert.get_by_text("Details").click()
        expect(alert).to_contain_text("the camera's setting was not changed")
        camera.set_image(fault=None)
        vision.select_option("Off")
        wait_for(house, nightVision="off")
        expect(alert).to_be_hidden()
        camera.stop()
        vision.select_option("On")
        expect(alert).to_contain_text("The camera cannot be reached at the moment.")
        expect(vision).to_have_value("off")


def test_what_is_changed_elsewhere_is_shown_at_once(browser: Browser, house: Gateway) -> None:
    with opened(browser, house) as page:
        group = fold(page)
        group.locator("summary").click()
        send(house, "PATCH", SETTINGS, nightVision="off", hdrModeEnabled=True, imageRotation=270, speakerVolumeLevel=70)
        send(house, "PATCH", SETTINGS, recordingMicrophoneMuted=True)
        expect(group.get_by_role("combobox", name="Night vision")).to_have_value("off")
        expect(group.get_by_role("switch", name="Even out light and dark")).to_have_attribute("aria-checked", "true")
        expect(group.get_by_role("combobox", name="Turn the picture")).to_have_value("270")
        expect(group.get_by_role("slider", name="Loudspeaker")).to_have_value("70")
        expect(group.get_by_role("switch", name="Sound in recordings")).to_have_attribute("aria-checked", "false")
        expect(group).to_have_attribute("open", "")


def test_privacy_is_switched_on_and_off(browser: Browser, house: Gateway) -> None:
    with opened(browser, house) as page:
        group = fold(page, "Privacy")
        group.locator("summary").click()
        for title, attribute in (
            ("Block live views", "softLivestreamPrivacyModeEnabled"),
            ("Block recordings", "softRecordingPrivacyModeEnabled"),
        ):
            switch = group.get_by_role("switch", name=title)
            for is_on in (True, False):
                switch.click()
                wait_for(house, **{attribute: is_on})
                expect(switch).to_have_attribute("aria-checked", str(is_on).lower())


def test_the_chime_at_the_camera_is_a_setting_with_a_title(browser: Browser, house: Gateway) -> None:
    with opened(browser, house) as page:
        group = fold(page)
        expect(group).to_be_visible()
        # Beside the name it would look like the switch of the camera.
        expect(page.locator("#camera-door").get_by_role("switch")).to_have_count(0)
        group.locator("summary").click()
        group.get_by_role("switch", name="door: Chime at the camera").click()
        eventually(lambda: house.client.get("/v1/devices/door/traits/Chime")["enabled"] is False, "the chime is off")


def test_a_camera_is_switched_off_and_on(browser: Browser, house: Gateway) -> None:
    def states() -> set[str]:
        connections = house.client.get("/v1/devices/door/traits/PushAvStreamTransport")["currentConnections"]
        return {one["transportStatus"] for one in connections}

    with opened(browser, house) as page:
        group = fold(page, "Privacy")
        group.locator("summary").click()
        switch = group.get_by_role("switch", name="Camera switched on")
        expect(switch).to_have_attribute("aria-checked", "true")
        switch.click()
        eventually(lambda: states() == {"inactive"}, "the camera is off")
        expect(switch).to_have_attribute("aria-checked", "false")
        switch.click()
        eventually(lambda: states() == {"active"}, "the camera is on")
        expect(switch).to_have_attribute("aria-checked", "true")


def test_the_settings_speak_german(browser: Browser, camera: ONVIFCamera, house: Gateway) -> None:
    with opened(browser, house, locale="de-DE") as page:
        group = fold(page, "Bild und Ton")
        group.locator("summary").click()
        vision = group.get_by_role("combobox", name="door: Nachtsicht")
        expect(vision.locator("option")).to_have_text(["Aus", "An", "Automatisch"])
        expect(group.get_by_role("slider", name="Lautsprecher")).to_be_visible()
        camera.set_image(fault="ter:InvalidArgVal/ter:SettingsInvalid")
        vision.select_option("An")
        expect(page.get_by_role("alert")).to_contain_text("Die Kamera nimmt diese Einstellung nicht an.")
        expect(fold(page, "Privatsphäre")).to_be_visible()


def test_a_token_that_may_not_control_sees_no_settings(browser: Browser, house: Gateway) -> None:
    device = house.client.get("/v1/devices/door")["id"]
    made = send(house, "POST", "/v1/tokens", name="guest", grants=[{"scopes": ["read", "media"], "deviceID": device}])
    with opened(browser, house, made["token"]) as page:
        expect(page.locator("#camera-door")).to_contain_text(re.compile("Online", re.IGNORECASE))
        expect(fold(page)).to_have_count(0)
        expect(fold(page, "Privacy")).to_have_count(0)
