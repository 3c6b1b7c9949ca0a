"""The home on the page in Chromium: rooms, devices of every type with their controls, tokens, a thousand devices."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.broker import Broker, section
from peers.gateway import DOORBELL, Gateway
from peers.home_page import opened, send
from peers.polling import eventually
from playwright.sync_api import Browser, Locator, Page, expect

TYPES = {
    "OnOffLight": "Light",
    "DimmableLight": "Dimmable light",
    "ColorTemperatureLight": "White light",
    "ExtendedColorLight": "Colour light",
    "OnOffPluginUnit": "Plug",
    "DimmablePlugInUnit": "Dimmable plug",
    "OnOffLightSwitch": "Light switch",
    "GenericSwitch": "Button",
    "Fan": "Fan",
    "WindowCovering": "Blind",
    "DoorLock": "Lock",
    "Thermostat": "Thermostat",
    "TemperatureSensor": "Temperature sensor",
    "HumiditySensor": "Humidity sensor",
    "OccupancySensor": "Occupancy sensor",
    "ContactSensor": "Contact sensor",
    "MotionSensor": "Motion sensor",
    "SmokeCOAlarm": "Smoke and CO alarm",
    "AirQualitySensor": "Air quality sensor",
    "Chime": "Chime",
    "Speaker": "Speaker",
    "GoogleTV": "Television",
    "GoogleDisplay": "Display",
    "Doorbell": "Doorbell",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker with a lamp that can be out of reach, and a blind with slats. Virtual devices have neither."""
    running = Broker(tmp_path_factory.mktemp("broker"))
    lamp = {
        "unique_id": "far", "state_topic": "far/state", "command_topic": "far/set", "availability_topic": "far/status",
        "device": {"identifiers": ["far"], "name": "Far lamp"},
    }  # fmt: skip
    running.publish("homeassistant/light/far/config", lamp, retain=True)
    running.publish("far/status", "online", retain=True)
    running.publish("far/state", "ON", retain=True)
    slats = {
        "unique_id": "slats", "command_topic": "slats/set", "tilt_command_topic": "slats/tilt", "retain": True,
        "tilt_status_topic": "slats/tilted", "device": {"identifiers": ["slats"], "name": "Slatted blind"},
    }  # fmt: skip
    running.publish("homeassistant/cover/slats/config", slats, retain=True)
    running.publish("slats/tilted", "100", retain=True)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory, broker: Broker) -> Iterator[Gateway]:
    """A home with a virtual device of every type, and a lamp of a broker."""
    devices: dict[str, object] = {name.lower(): {"name": f"My {name}", "type": name} for name in TYPES}
    devices["party"] = {"name": "Party box", "types": ["Speaker", "DimmableLight"]}
    sections = {"devices": devices, "recording": {"trigger": "motion"}, "mqtt": section(broker)}
    running = Gateway(binary, tmp_path_factory.mktemp("home"), [DOORBELL], sections)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def report(home: Gateway, device: str, trait: str, **values: Any) -> None:
    send(home, "POST", f"/v1/devices/{device}/traits/{trait}/report", **values)


def trait(home: Gateway, device: str, name: str, endpoint: int = 1) -> dict[str, Any]:
    for part in home.client.get(f"/v1/devices/{device}")["endpoints"]:
        if part["id"] == endpoint:
            return dict(part["traits"][name])
    raise AssertionError(f"{device} has no endpoint {endpoint}")


@pytest.fixture
def page(browser: Browser, home: Gateway) -> Iterator[Page]:
    with opened(browser, home) as page:
        expect(tile(page, "onofflight")).to_be_visible()
        yield page


def tile(page: Page, key: str) -> Locator:
    return page.locator(f"#device-{key}")


def near(page: Page, key: str) -> Locator:
    """A tile that has been scrolled to, so that it has its controls."""
    found = tile(page, key)
    found.scroll_into_view_if_needed()
    return found


def slide(slider: Locator, value: int) -> None:
    """Moves a slider as a finger does that lets go there."""
    slider.evaluate(
        "(node, value) => { node.value = value; for (const name of ['input', 'change'])"
        " node.dispatchEvent(new Event(name, { bubbles: true })); }",
        value,
    )


def test_every_type_has_a_tile_that_says_what_it_is(page: Page) -> None:
    expect(page.get_by_role("heading", name="Home", exact=True)).to_be_visible()
    for name, words in TYPES.items():
        expect(tile(page, name.lower())).to_contain_text(words, ignore_case=True)
    expect(page.locator("#camera-front-door")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_controls_change_the_devices(page: Page, home: Gateway) -> None:
    near(page, "onofflight").get_by_role("switch").click()
    eventually(lambda: trait(home, "onofflight", "OnOff")["onOff"], "the light is on")
    expect(tile(page, "onofflight")).to_contain_text("On")

    slide(near(page, "dimmablelight").get_by_role("slider", name="brightness"), 40)
    eventually(lambda: trait(home, "dimmablelight", "LevelControl")["currentLevel"] == 102, "the light is dimmed")
    expect(tile(page, "dimmablelight")).to_contain_text("Brightness 40 %")
    expect(tile(page, "dimmablelight").get_by_role("switch")).to_have_attribute("aria-checked", "true")

    light = near(page, "extendedcolorlight")
    light.get_by_text("Colour", exact=True).click()
    slide(light.get_by_role("slider", name="colour temperature"), 4000)
    eventually(
        lambda: trait(home, "extendedcolorlight", "ColorControl")["colorTemperatureMireds"] == 250, "the light is white"
    )
    slide(light.get_by_role("slider", name="hue"), 240)
    eventually(lambda: trait(home, "extendedcolorlight", "ColorControl")["currentHue"] == 169, "the light is blue")

    blind = near(page, "windowcovering")
    blind.get_by_role("button", name="close").click()
    expect(blind).to_contain_text("Closed")
    slide(blind.get_by_role("slider"), 30)
    eventually(
        lambda: trait(home, "windowcovering", "WindowCovering")["currentPositionLiftPercent100ths"] == 7000,
        "the blind is up by 30 %",
    )
    slide(near(page, "fan").get_by_role("slider"), 50)
    eventually(lambda: trait(home, "fan", "FanControl")["fanMode"] == "medium", "the fan runs")

    thermostat = near(page, "thermostat")
    thermostat.get_by_role("combobox", name="mode").select_option("heat")
    expect(thermostat.get_by_role("button", name="cool to: lower")).to_be_hidden()
    for _ in range(3):
        thermostat.get_by_role("button", name="heat to: higher").click()
    eventually(lambda: trait(home, "thermostat", "Thermostat")["occupiedHeatingSetpoint"] == 2150, "it heats to 21.5")

    near(page, "googletv").get_by_role("button", name="play").click()
    expect(tile(page, "googletv")).to_contain_text("Playing")
    near(page, "chime").get_by_role("switch").click()
    expect(tile(page, "chime").get_by_role("button", name="Ring")).to_be_disabled()


def test_each_part_of_a_device_has_its_own_controls(page: Page, home: Gateway) -> None:
    near(page, "party").get_by_role("switch", name="Party box, Dimmable light").click()
    eventually(lambda: trait(home, "party", "OnOff", 2)["onOff"], "the light is on")
    assert trait(home, "party", "OnOff", 1)["onOff"] is False


def test_unlocking_asks_once(page: Page, home: Gateway) -> None:
    lock = near(page, "doorlock")
    lock.get_by_role("button", name="Unlock").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert trait(home, "doorlock", "DoorLock")["lockState"] == "locked"
    lock.get_by_role("button", name="Unlock").click()
    page.get_by_role("dialog").get_by_role("button", name="Unlock").click()
    eventually(lambda: trait(home, "doorlock", "DoorLock")["lockState"] == "unlocked", "the lock opens")
    lock.get_by_role("button", name="Lock My DoorLock").click()
    eventually(lambda: trait(home, "doorlock", "DoorLock")["lockState"] == "locked", "the lock closes, unasked")
    report(home, "doorlock", "DoorLock", requirePINforRemoteOperation=True)
    # Nothing on the page shows that it has heard of that, so it is loaded again.
    page.reload()
    near(page, "doorlock").get_by_role("button", name="Unlock").click()
    page.get_by_role("dialog").get_by_label("PIN").fill("1234")
    page.get_by_role("dialog").get_by_role("button", name="Unlock").click()
    eventually(lambda: trait(home, "doorlock", "DoorLock")["lockState"] == "unlocked", "the lock takes the PIN")


def test_a_refusal_puts_the_control_back_and_says_why(page: Page, home: Gateway) -> None:
    plug = near(page, "onoffpluginunit")
    page.route("**/commands/on?*", lambda route: route.abort())
    plug.get_by_role("switch").click()
    expect(plug.get_by_role("alert")).to_contain_text("The gateway does not answer")
    expect(plug.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    page.unroute("**/commands/on?*")
    # What happens elsewhere is shown without a touch.
    send(home, "POST", "/v1/devices/onoffpluginunit/traits/OnOff/commands/on")
    expect(plug.get_by_role("switch")).to_have_attribute("aria-checked", "true")


def test_a_device_out_of_reach_says_so_and_refuses(page: Page, home: Gateway, broker: Broker) -> None:
    lamp = page.locator("article", has=page.get_by_role("heading", name="Far lamp"))
    lamp.scroll_into_view_if_needed()
    switch = lamp.get_by_role("switch")
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(lamp).not_to_contain_text("Offline")
    broker.publish("far/status", "offline", retain=True)
    expect(lamp).to_contain_text("Offline")
    # It shows the last that is known.
    expect(switch).to_have_attribute("aria-checked", "true")
    broker.publish("far/status", "online", retain=True)
    expect(lamp).not_to_contain_text("Offline")
    broker.publish("far/state", "OFF", retain=True)
    expect(switch).to_have_attribute("aria-checked", "false")


def test_the_slats_of_a_blind_are_tilted(page: Page, broker: Broker) -> None:
    blind = page.locator("article", has=page.get_by_role("heading", name="Slatted blind"))
    blind.scroll_into_view_if_needed()
    slats = blind.get_by_role("slider", name="Slatted blind: slats open")
    expect(slats).to_have_value("100")
    slide(slats, 30)
    eventually(lambda: broker.retained("slats/tilt") == "30", "the blind is told to tilt its slats")
    # Somebody tilts them by hand.
    broker.publish("slats/tilted", "60", retain=True)
    expect(slats).to_have_value("60")


def test_sensors_show_their_values_with_units(page: Page, home: Gateway) -> None:
    report(home, "temperaturesensor", "TemperatureMeasurement", measuredValue=2153)
    report(home, "humiditysensor", "RelativeHumidityMeasurement", measuredValue=4500)
    report(home, "contactsensor", "BooleanState", stateValue=True)
    report(home, "motionsensor", "OccupancySensing", occupancy=1)
    report(home, "smokecoalarm", "SmokeCoAlarm", smokeState="critical", coState="normal")
    report(home, "airqualitysensor", "AirQuality", airQuality="good")
    for key, words in {
        "temperaturesensor": "21.5 °C",
        "humiditysensor": "45 %",
        "contactsensor": "Closed",
        "motionsensor": "Motion",
        "smokecoalarm": "Smoke!",
        "airqualitysensor": "Good",
    }.items():
        expect(tile(page, key)).to_contain_text(words)
    expect(tile(page, "smokecoalarm")).to_have_attribute("data-level", "alarm")


def test_rooms_are_made_named_filled_and_removed(page: Page, home: Gateway) -> None:
    page.get_by_role("button", name="Rooms of Home").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("New room").fill("Kitchn")
    dialog.get_by_role("button", name="Add").first.click()
    dialog.get_by_label("Name of Kitchn").fill("Kitchen")
    dialog.get_by_role("button", name="Rename").click()
    expect(dialog.get_by_label("Name of Kitchen")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    kitchen = page.get_by_role("region", name="Kitchen")
    page.get_by_role("button", name="More about My Fan").click()
    dialog.get_by_label("Name").fill("Hood")
    dialog.get_by_label("Room").select_option(label="Kitchen")
    dialog.get_by_role("button", name="Save").click()
    expect(kitchen.locator("#device-fan")).to_contain_text("Hood")
    assert home.client.get("/v1/devices/fan")["name"] == "Hood"
    page.get_by_role("button", name="Rooms of Home").click()
    dialog.get_by_role("button", name="Remove Kitchen").click()
    page.get_by_role("dialog").last.get_by_role("button", name="Remove", exact=True).click()
    expect(kitchen).to_have_count(0)
    dialog.get_by_role("button", name="Close").click()
    expect(tile(page, "fan")).to_be_visible()


def test_removing_a_device_says_first_what_would_happen(page: Page, home: Gateway) -> None:
    page.get_by_role("button", name="More about My GoogleDisplay").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Remove").click()
    plan = home.client.get("/v1/devices/googledisplay/decommission")
    if plan["isEligible"]:
        expect(dialog).to_contain_text("It has no recordings.")
        dialog.get_by_role("button", name="Remove My GoogleDisplay for good").click()
        expect(tile(page, "googledisplay")).to_have_count(0)
    else:
        expect(dialog).to_contain_text(plan["reason"])
    send(home, "PUT", "/v1/cameras/shed", name="Shed", source="builtin:silent", type="camera")
    camera = page.locator("#camera-shed")
    if plan["isEligible"] is False:
        dialog.get_by_role("button", name="Close").click()
    camera.get_by_role("button", name="More about Shed").click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(dialog).to_contain_text("Shed is removed from the home")
    dialog.get_by_role("button", name="Remove Shed for good").click()
    expect(camera).to_have_count(0)


def test_a_limited_token_shows_only_what_it_may(browser: Browser, home: Gateway) -> None:
    lamp = home.client.get("/v1/devices/onofflight")["id"]
    plug = home.client.get("/v1/devices/onoffpluginunit")["id"]
    grants = [{"scopes": ["read"], "deviceID": lamp}, {"scopes": ["read", "control"], "deviceID": plug}]
    made = send(home, "POST", "/v1/tokens", name="guest", grants=grants)
    with opened(browser, home, made["token"]) as page:
        expect(tile(page, "onofflight")).to_be_visible()
        expect(tile(page, "onoffpluginunit").get_by_role("switch")).to_be_visible()
        expect(tile(page, "onofflight").get_by_role("switch")).to_have_count(0)
        expect(page.locator("article")).to_have_count(2)
        for hidden in ("#add", "#access"):
            expect(page.locator(hidden)).to_be_hidden()
        expect(page.get_by_role("button", name="Rooms of")).to_have_count(0)
        # What it loses is gone at once, and so is the page when the token is.
        send(home, "PATCH", f"/v1/tokens/{made['id']}", grants=grants[1:])
        expect(tile(page, "onofflight")).to_have_count(0)
        page.get_by_role("button", name="More about My OnOffPluginUnit").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        send(home, "DELETE", f"/v1/tokens/{made['id']}")
        expect(page.get_by_label("Token")).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_tokens_are_made_changed_and_revoked(page: Page, home: Gateway) -> None:
    page.get_by_text("Who may use this home").click()
    form = page.locator("#access-add")
    expect(form).to_be_visible()
    form.get_by_label("Name of the app or person").fill("Tablet")
    form.get_by_label("Where").select_option(label="All of Home")
    form.get_by_label("Expires after").fill("7")
    form.get_by_role("button", name="Save").click()
    made = page.locator("#access-made")
    expect(made).to_contain_text("Copy the token now. It is not shown again")
    assert re.search(r"gatehouse_\S+", made.inner_text())
    listed = page.locator(".token", has_text="Tablet")
    expect(listed).to_contain_text("read, media")
    expect(listed).to_contain_text("Expires on")
    expect(listed).to_contain_text("not used since the gateway started")
    listed.get_by_role("button", name="Change what Tablet may do").click()
    form.get_by_role("checkbox", name="Switch devices").check()
    form.get_by_role("button", name="Another place").click()
    form.get_by_label("Where").last.select_option(label="Front door")
    form.get_by_role("button", name="Save").click()
    expect(listed).to_contain_text("read, control, media")
    expect(listed).to_contain_text("read for Front door")
    assert "gatehouse_" not in page.locator("main").inner_text()
    listed.get_by_role("button", name="Revoke the token of Tablet").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(listed).to_have_count(0)


def test_history_is_filtered_and_played(page: Page, home: Gateway) -> None:
    home.wait_until_flowing("front-door")
    send(home, "POST", "/v1/devices/front-door/events", type="person", active=True)
    send(home, "POST", "/v1/devices/dimmablepluginunit/traits/OnOff/commands/on")

    def is_recorded() -> bool:
        items = home.client.get("/v1/history?device=front-door&kind=cameraEvent")["items"]
        return any(item["event"] == "Person" and "recordingID" in item for item in items)

    eventually(is_recorded, "the history knows the recording")
    page.get_by_role("button", name="History", exact=True).click()
    dialog = page.locator("dialog.history-dialog")
    expect(dialog.locator(".happened", has_text="My DimmablePlugInUnit").first).to_contain_text("On (was off)")
    dialog.get_by_label("Device").select_option(label="Front door")
    dialog.get_by_label("What").select_option(label="At cameras")
    expect(dialog.locator(".happened", has_text="My DimmablePlugInUnit")).to_have_count(0)
    seen = dialog.get_by_role("button", name="Play: Person, Front door").first
    eventually(lambda: seen.locator("img").evaluate("node => node.naturalWidth > 0"), "the moment has a picture")
    dialog.get_by_label("Day").fill("2020-01-01")
    expect(dialog).to_contain_text("Nothing in the history matches.")
    dialog.get_by_label("Day").fill("")
    seen.click()
    video = page.locator("dialog.recordings video")
    eventually(lambda: video.evaluate("node => node.currentTime > 0 && !node.paused"), "the recording plays")
    send(home, "POST", "/v1/devices/front-door/events", type="person", active=False)


def test_an_open_history_grows_when_something_happens(page: Page, home: Gateway) -> None:
    lamp = "My ColorTemperatureLight"
    page.get_by_role("button", name="History", exact=True).click()
    dialog = page.locator("dialog.history-dialog")
    dialog.get_by_label("Device").select_option(label=lamp)
    expect(dialog).to_contain_text("Nothing in the history matches.")
    rows = dialog.locator(".happened", has_text=lamp)
    path = "/v1/devices/colortemperaturelight/traits/OnOff/commands/"
    for count, (command, words) in enumerate([("on", "On (was off)"), ("off", "Off (was on)"), ("on", "On (was off)")]):
        send(home, "POST", path + command)
        # The latest comes first.
        expect(rows).to_have_count(count + 1)
        expect(rows.first).to_contain_text(words)
    expect(dialog).not_to_contain_text("Nothing in the history matches.")
    # What happens at other devices belongs to another list, and so does what happens today to that of another day.
    send(home, "POST", "/v1/devices/onofflight/traits/OnOff/commands/toggle")
    dialog.get_by_label("Day").fill("2020-01-01")
    expect(dialog).to_contain_text("Nothing in the history matches.")
    send(home, "POST", path + "off")
    dialog.get_by_label("Day").fill("")
    expect(rows).to_have_count(4)
    dialog.get_by_label("Device").select_option(label="All devices")
    expect(dialog.locator(".happened", has_text="My OnOffLight").first).to_be_visible()
    expect(dialog.locator("h3")).to_have_count(1)


def test_the_page_comes_back_with_the_gateway(browser: Browser, home: Gateway) -> None:
    with opened(browser, home) as page:
        switch = near(page, "onofflightswitch").get_by_role("switch")
        expect(switch).to_have_attribute("aria-checked", "false")
        assert home.stop() == 0
        expect(page.locator("#link-text")).to_have_text("Reconnecting")
        home.start()
        expect(page.locator("#link-text")).to_have_text("Connected")
        send(home, "POST", "/v1/devices/onofflightswitch/traits/OnOff/commands/on")
        expect(switch).to_have_attribute("aria-checked", "true")


def test_a_thousand_devices_are_not_all_laid_out(browser: Browser, binary: Path, tmp_path: Path) -> None:
    devices = {f"lamp-{number}": {"name": f"Lamp {number}", "type": "DimmableLight"} for number in range(1000)}
    home = Gateway(binary, tmp_path, [], {"devices": devices})
    try:
        with opened(browser, home) as page:
            expect(page.locator("article")).to_have_count(1000)
            expect(page.locator("article").first.get_by_role("switch")).to_be_visible()
            assert page.get_by_role("switch").count() < 100
            # A device far away has its state, and its controls when somebody scrolls there.
            send(home, "POST", "/v1/devices/lamp-999/traits/OnOff/commands/on")
            expect(tile(page, "lamp-999")).to_contain_text("Brightness 100 %")
            # The tiles above it get their controls as well, and push it down again.
            eventually(
                lambda: near(page, "lamp-999").get_by_role("switch", checked=True).count() == 1,
                "it shows its switch to somebody who scrolls there",
            )
            assert page.get_by_role("switch").count() < 200
            # 77 to 977, and 770 to 779.
            page.get_by_placeholder("Name, room or kind").fill("lamp 77")
            expect(page.locator("article:visible")).to_have_count(19)
    finally:
        home.stop()
