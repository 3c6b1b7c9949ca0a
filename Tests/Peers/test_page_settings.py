"""The settings of the gateway on the page in Chromium: what the config file says, and the lines for a change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from peers.gateway import DOORBELL, Camera, Gateway
from peers.home_page import opened, send
from peers.polling import eventually
from peers.ports import free_port
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

PASSWORD = "hunter22-of-the-broker"
CAMERAS = [DOORBELL, Camera("yard", f"rtsp://viewer:{PASSWORD}@127.0.0.1:9/s", name="Yard")]


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    # Nothing listens there: the settings do not depend on it.
    broker = {"host": "127.0.0.1", "port": free_port(), "username": "gatehouse", "password": PASSWORD}
    running = Gateway(binary, tmp_path, CAMERAS, {"mqtt": broker, "network": {"mdns": False}})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]
    assert PASSWORD not in running.process.output()


def dialog_of(page: Page, name: str = "Settings of the gateway") -> Locator:
    page.locator("#open-settings").click()
    return page.get_by_role("dialog", name=name)


def part(dialog: Locator, title: str) -> Locator:
    """A part of the settings, opened."""
    found = dialog.locator("details.section", has=dialog.page.locator("h3", has_text=title))
    found.locator("summary").first.click()
    return found


def checked(form: Locator) -> str:
    """The lines that the page shows after a check."""
    form.get_by_role("button", name="Check and show the lines").click()
    lines = form.get_by_label("Lines for the config file")
    expect(lines).to_be_visible()
    return lines.input_value()


def write(house: Gateway, lines: str) -> None:
    """Does what the page says: writes the keys into the sections of the file that have them, and new sections below."""
    config: dict[str, Any] = yaml.safe_load(house.config.read_text())
    for name, keys in yaml.safe_load(lines).items():
        config[name] = (config.get(name) or {}) | keys
    replace(house, yaml.safe_dump(config))


def append(house: Gateway, lines: str) -> None:
    """Writes lines with new sections as they are."""
    replace(house, yaml.safe_dump(yaml.safe_load(house.config.read_text())) + lines)


def replace(house: Gateway, text: str) -> None:
    changed = house.config.with_suffix(".new")
    changed.write_text(text)
    changed.rename(house.config)


def settings(house: Gateway) -> dict[str, Any]:
    answer: dict[str, Any] = house.client.get("/v1/configuration/settings")["settings"]
    return answer


def test_another_broker_is_checked_copied_and_in_force_at_once(house: Gateway, browser: Browser) -> None:
    with opened(browser, house, permissions=["clipboard-read", "clipboard-write"]) as page:
        dialog = dialog_of(page)
        expect(dialog).to_contain_text(str(house.config))
        mqtt = part(dialog, "MQTT")
        host, port = mqtt.get_by_label("Name or address"), mqtt.get_by_label("Port", exact=True)
        expect(host).to_have_value("127.0.0.1")
        expect(mqtt.get_by_label("User")).to_have_value("gatehouse")
        expect(mqtt.get_by_label("The broker asks for a password")).to_be_checked()

        # The gateway's own words are at the field, and the focus too.
        port.fill("70000")
        port.press("Enter")
        expect(mqtt.get_by_text("70000 is not from 1 to 65535")).to_be_visible()
        expect(port).to_be_focused()
        expect(port).to_have_attribute("aria-invalid", "true")
        expect(port).to_have_accessible_description("70000 is not from 1 to 65535")
        expect(mqtt.get_by_label("Lines for the config file")).to_be_hidden()

        other = free_port()
        port.fill(str(other))
        host.fill("localhost")
        lines = checked(mqtt)
        assert lines == f'mqtt:\n  host: "localhost"\n  port: {other}\n'
        expect(port).not_to_have_attribute("aria-invalid", "true")
        expect(mqtt).to_contain_text("as soon as the file is saved")
        mqtt.get_by_role("button", name="Copy the lines").click()
        expect(mqtt).to_contain_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == lines
        assert PASSWORD not in page.content()

        write(house, lines)
        eventually(lambda: settings(house)["mqtt"]["host"] == "localhost", "the lines are in force")
        assert settings(house)["mqtt"]["port"] == other
        assert settings(house)["mqtt"]["password"] == "***"
        status = house.client.get("/v1/configuration")
        assert status["problems"] == []
        assert status["needsRestart"] == []
        assert PASSWORD in house.config.read_text()


def test_a_change_of_the_network_says_that_it_waits_for_a_restart(house: Gateway, browser: Browser) -> None:
    with opened(browser, house) as page:
        dialog = dialog_of(page)
        network = part(dialog, "Network")
        network.get_by_label("Public address of the page").fill("https://home.example")
        network.get_by_label("STUN servers of the gateway").fill("stun.example.org\nturn:wrong")
        network.get_by_role("button", name="Add a TURN server").click()
        url = network.get_by_label("Address of the server").first
        expect(url).to_be_focused()
        url.fill("turn:turn.example.org")
        network.get_by_role("button", name="Check and show the lines").click()
        expect(network).to_contain_text("Line 2: expected a STUN server")
        expect(network).to_contain_text("expected a username and a credential")

        network.get_by_label("STUN servers of the gateway").fill("stun.example.org")
        network.get_by_label("User").first.fill("gatehouse")
        lines = checked(network)
        assert yaml.safe_load(lines) == {
            "http": {"publicURL": "https://home.example"},
            "network": {
                "stun": ["stun.example.org"],
                "turn": [
                    {"credential": "${TURN_PASSWORD}", "url": "turn:turn.example.org", "username": "gatehouse"},
                ],
            },
        }
        expect(network).to_contain_text("Replace ${TURN_PASSWORD}")
        expect(network).to_contain_text("when the gateway restarts")

        # A variable that the environment does not have is refused, and does not become a password.
        write(house, lines)
        eventually(lambda: house.client.get("/v1/configuration")["problems"], "the variable is missed")
        write(house, lines.replace("${TURN_PASSWORD}", "a-word"))
        eventually(lambda: house.client.get("/v1/configuration")["needsRestart"], "a restart is needed")
        # The page did not see that the lines were copied.
        close = dialog.get_by_role("button", name="Close", exact=True)
        close.click()
        question = page.get_by_role("dialog", name="Discard your changes?")
        expect(question.get_by_role("button", name="Keep editing")).to_be_focused()
        # Escape keeps them. The dialog below stays, each time, and has the focus again.
        for _ in range(3):
            page.keyboard.press("Escape")
            expect(question).to_have_count(0)
            expect(close).to_be_focused()
            page.keyboard.press("Escape")
            expect(question).to_be_visible()
        question.get_by_role("button", name="Discard", exact=True).click()
        expect(dialog).to_have_count(0)
        again = part(dialog_of(page), "Network")
        expect(again).to_contain_text("http.publicURL, network.stun, network.turn")
        expect(again.get_by_label("Public address of the page")).to_have_value("https://home.example")


def test_what_is_off_is_switched_on(house: Gateway, browser: Browser) -> None:
    with opened(browser, house) as page:
        dialog = dialog_of(page)
        rtsp = part(dialog, "RTSP server")
        expect(rtsp.get_by_label("Port", exact=True)).to_be_hidden()
        rtsp.get_by_label("Serve the cameras over RTSP").check()
        served = checked(rtsp)
        assert served == 'rtsp:\n  host: "127.0.0.1"\n  port: 8554\n'
        rtmp = part(dialog, "RTMP server")
        rtmp.get_by_label("Accept streams over RTMP").check()
        assert checked(rtmp) == 'rtmp:\n  host: "127.0.0.1"\n  port: 1935\n'
        recording = part(dialog, "Recording")
        recording.get_by_label("Record the cameras").check()
        recording.get_by_label("Days to keep recordings").fill("3")
        recorded = checked(recording)
        expected = {"trigger": "motion", "preRoll": 4, "days": 3, "freeGigabytes": 2}
        assert yaml.safe_load(recorded) == {"recording": expected}
        # Lines of other values are not there any more.
        recording.get_by_label("Record the cameras").uncheck()
        expect(recording.get_by_label("Lines for the config file")).to_be_hidden()
        recording.get_by_role("button", name="Check and show the lines").click()
        expect(recording).to_contain_text("Nothing differs from the config file.")
        append(house, served + recorded)
        waiting = ["rtsp", "recording"]
        eventually(lambda: house.client.get("/v1/configuration")["needsRestart"] == waiting, "the file has both")


def test_a_camera_of_the_file_is_changed_by_its_lines(house: Gateway, browser: Browser) -> None:
    with opened(browser, house) as page:
        cameras = part(dialog_of(page), "Cameras of the config file")
        cameras.get_by_role("button", name="Yard").click()
        camera = page.get_by_role("dialog", name="Settings of Yard")
        camera.get_by_label("Address").first.fill("rtsp://127.0.0.1:9/other")
        camera.get_by_text("Connection", exact=True).click()
        camera.get_by_label("How its packets travel").select_option("udp")
        lines = checked(camera)
        source = "rtsp://viewer:${YARD_PASSWORD}@127.0.0.1:9/other"
        assert yaml.safe_load(lines) == {"cameras": [{"id": "yard", "source": source, "transport": "udp"}]}
        assert PASSWORD not in page.content()
        camera.get_by_label("Address").first.fill("rtsp://")
        camera.get_by_role("button", name="Check and show the lines").click()
        expect(camera.locator(".outcome.bad")).to_contain_text("The gateway would not accept this.")
        expect(camera.get_by_label("Lines for the config file")).to_be_hidden()
    # Nothing was sent but questions.
    assert house.client.get("/v1/cameras/yard")["transport"] == "auto"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_a_phone(house: Gateway, browser: Browser, scheme: str) -> None:
    with opened(browser, house, color_scheme=scheme, reduced_motion="reduce") as page:
        dialog = dialog_of(page)
        for title in ("Cameras of the config file", "MQTT", "Network", "RTSP server", "Recording"):
            opening = part(dialog, title)
            if title == "Network":
                opening.get_by_role("button", name="Add a TURN server").click()
                opening.get_by_role("button", name="Add a server for viewers").click()
                opening.get_by_role("button", name="Check and show the lines").click()
                expect(opening.locator("[aria-invalid]")).to_have_count(2)
            if title == "MQTT":
                opening.get_by_label("Name or address").fill("localhost")
                checked(opening)
        for width in (390, 1440):
            page.set_viewport_size(ViewportSize(width=width, height=844))
            found = Axe().run(page, ".settings-dialog").response["violations"]
            assert not found, [(one["id"], [node["target"] for node in one["nodes"]]) for one in found]
            assert dialog.evaluate("(node) => node.scrollWidth <= node.clientWidth")


def test_the_settings_speak_german(house: Gateway, browser: Browser) -> None:
    with opened(browser, house, locale="de-DE") as page:
        dialog = dialog_of(page, "Einstellungen des Gateways")
        network = part(dialog, "Netzwerk")
        network.get_by_label("Öffentliche Adresse der Seite").fill("https://home.example")
        network.get_by_role("button", name="Prüfen und Zeilen zeigen").click()
        expect(network).to_contain_text("Die Änderung wirkt nach einem Neustart des Gateways.")


def test_only_an_administrator_sees_the_settings(house: Gateway, browser: Browser) -> None:
    made = send(house, "POST", "/v1/tokens", name="guest", grants=[{"scopes": ["read", "view", "control"]}])
    with opened(browser, house, made["token"]) as page:
        expect(page.locator("#camera-front-door")).to_be_visible()
        expect(page.locator("#open-history")).to_be_visible()
        expect(page.locator("#open-settings")).to_be_hidden()
    for method, path in (("GET", "/v1/configuration/settings"), ("POST", "/v1/configuration/check")):
        assert house.client.request(method, path, token=made["token"]).status == 403
