"""Devices of a real MQTT broker as devices of the home, in both directions."""

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.broker import Broker, Subscriber, section
from peers.event_stream import EventStream
from peers.gateway import Gateway
from peers.mqtt_descriptions import BELL, CLIMATE_SENSOR, DESCRIPTIONS, LAMP, REMOTE, bulb, device
from peers.mqtt_house import JSON, MQTTHouse
from peers.polling import PATIENCE, eventually
from peers.ports import free_port

NAMES = "Lamp Blind Lock Fan Heating Bell Weather Motion Door Smoke Pair bulb air"


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MQTTHouse]:
    folder = tmp_path_factory.mktemp("house")
    broker = Broker(folder / "broker")
    for path, description in DESCRIPTIONS.items():
        broker.publish(f"homeassistant/{path}/config", description, retain=True)
    broker.publish("lamp/status", "online", retain=True)
    broker.publish("zigbee2mqtt/bridge/state", {"state": "online"}, retain=True)
    broker.publish("zigbee2mqtt/bridge/devices", [bulb("bulb"), CLIMATE_SENSOR], retain=True)
    presence = {"Anna": ["Anna's phone", "anna-watch"]}
    gateway = Gateway(binary, folder, [], {"mqtt": section(broker, presence=presence)})
    result = MQTTHouse(broker, gateway)
    for name in NAMES.split():
        result.device(name)
    yield result
    assert gateway.stop() == 0, gateway.process.output()[-4000:]
    broker.stop()


@pytest.fixture
def stream(house: MQTTHouse) -> Iterator[EventStream]:
    running = EventStream(house.gateway.client)
    # The present state comes first.
    eventually(lambda: len(running.named("device")) >= len(house.devices()), "the present state")
    yield running
    running.close()


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("Lamp", ["ExtendedColorLightDeviceType"]), ("Blind", ["WindowCoveringDeviceType"]),
        ("Lock", ["DoorLockDeviceType"]), ("Fan", ["FanDeviceType"]), ("Heating", ["ThermostatDeviceType"]),
        ("Bell", ["DoorbellDeviceType"]), ("Motion", ["MotionSensorDeviceType"]), ("Door", ["ContactSensorDeviceType"]),
        ("Weather", ["TemperatureSensorDeviceType", "HumiditySensorDeviceType"]), ("Smoke", ["SmokeCOAlarmDeviceType"]),
        ("bulb", ["DimmableLightDeviceType"]), ("air", ["TemperatureSensorDeviceType", "HumiditySensorDeviceType"]),
    ],
)  # fmt: skip
def test_each_description_becomes_a_device_of_its_type(house: MQTTHouse, name: str, types: list[str]) -> None:
    found = house.device(name)
    assert [type for part in found["endpoints"][1:] for type in part["types"]] == types
    assert found["type"] == types[0]
    assert found["endpoints"][0]["types"] == ["RootNodeDeviceType"]
    assert "key" not in found or found["key"] is None


def test_the_root_node_says_what_the_product_is(house: MQTTHouse) -> None:
    known = house.device("Lamp")["endpoints"][0]["traits"]["BasicInformation"]
    assert known["vendorName"] == "Maker" and known["productName"] == "Model 1"
    assert known["softwareVersionString"] == "1.2" and known["serialNumber"] == "S-1"
    assert known["nodeLabel"] == "Lamp" and known["uniqueID"] == "lamp"


def test_a_device_goes_to_the_room_that_its_description_suggests(house: MQTTHouse) -> None:
    rooms = {one["id"]: one["name"] for one in house.gateway.client.get("/v1/rooms")["rooms"]}
    assert rooms[house.device("Lamp")["roomID"]] == "Living room"
    assert list(rooms.values()) == ["Living room"]
    # Somebody moves it. The description comes again and changes nothing.
    path = f"/v1/devices/{house.device('Lamp')['id']}"
    assert house.gateway.client.request("PATCH", path, '{"roomID":null}', JSON).status == 200
    house.describe("light/lamp", LAMP | {"icon": "mdi:lamp"})
    house.describe(
        "light/other", LAMP | {"unique_id": "other", "device": device("Other", suggested_area="living ROOM")}
    )
    assert rooms[house.device("Other")["roomID"]] == "Living room"
    assert house.device("Lamp").get("roomID") is None
    house.describe("light/other", "")
    eventually(lambda: house.find("Other") is None, "the device leaves with its description")


@pytest.mark.parametrize(
    ("topic", "payload", "name", "trait", "endpoint", "values"),
    [
        ("lamp/state", '{"state":"ON","brightness":255}', "Lamp", "LevelControl", 1, {"currentLevel": 254}),
        ("blind/position", "25", "Blind", "WindowCovering", 1, {"currentPositionLiftPercent100ths": 7500}),
        ("lock/state", "LOCKED", "Lock", "DoorLock", 1, {"lockState": "locked"}),
        ("fan/state", "ON", "Fan", "OnOff", 1, {"onOff": True}),
        ("fan/speed", "50", "Fan", "FanControl", 1, {"percentSetting": 50}),
        ("heating/current", "19.5", "Heating", "Thermostat", 1, {"localTemperature": 1950}),
        ("heating/mode", "heat", "Heating", "Thermostat", 1, {"systemMode": "heat"}),
        ("heating/target", "21", "Heating", "Thermostat", 1, {"occupiedHeatingSetpoint": 2100}),
        ("motion/state", "ON", "Motion", "OccupancySensing", 1, {"occupancy": 1}),
        ("door/state", "ON", "Door", "BooleanState", 1, {"stateValue": False}),
        ("smoke/state", "ON", "Smoke", "SmokeCoAlarm", 1, {"smokeState": "critical"}),
        ("zigbee2mqtt/bulb", '{"state":"ON","brightness":200}', "bulb", "LevelControl", 1, {"currentLevel": 200}),
    ],
)  # fmt: skip
def test_a_message_changes_the_home_once(
    house: MQTTHouse, stream: EventStream, topic: str, payload: str, name: str, trait: str, endpoint: int, values: Any
) -> None:
    before = len(house.changes(stream, name))
    for _ in range(3):
        house.broker.publish(topic, payload)
    house.wait_for(name, trait, endpoint, **values)
    assert len(house.changes(stream, name)) <= before + 1


def test_one_message_to_several_parts_is_one_change(house: MQTTHouse, stream: EventStream) -> None:
    before = len(house.changes(stream, "air"))
    house.broker.publish("zigbee2mqtt/air", {"temperature": 20.5, "humidity": 44, "battery": 80})
    house.wait_for("air", "RelativeHumidityMeasurement", endpoint=2, measuredValue=4400)
    house.wait_for("air", "TemperatureMeasurement", measuredValue=2050)
    last = house.changes(stream, "air")[before:]
    assert len(last) == 1
    parts = {part["id"]: part["traits"] for part in last[0]["endpoints"]}
    assert parts[1]["TemperatureMeasurement"]["measuredValue"] == 2050
    assert parts[2]["RelativeHumidityMeasurement"]["measuredValue"] == 4400
    assert parts[1]["ExtendedPowerSource"]["batPercentRemaining"] == 160
    assert len(last) == 1


def test_commands_and_writes_become_messages(house: MQTTHouse) -> None:
    topics = ["lamp/set", "blind/set", "blind/position/set", "lock/set", "fan/speed/set", "heating/#"]
    listener = Subscriber(house.broker, *topics, "zigbee2mqtt/bulb/set", "probe")
    try:
        while not listener.payloads("probe"):
            house.broker.publish("probe", "x")
        house.command("Lamp", "OnOff", "on")
        assert json.loads(listener.wait_for("lamp/set")) == {"state": "ON"}
        house.command("Blind", "WindowCovering", "downOrClose")
        listener.wait_for("blind/set", "CLOSE")
        house.command("Blind", "WindowCovering", "goToLiftPercentage", liftPercent100thsValue=4000)
        listener.wait_for("blind/position/set", "60")
        house.command("Lock", "DoorLock", "unlockDoor")
        listener.wait_for("lock/set", "UNLOCK")
        house.write("Fan", "FanControl", {"percentSetting": 30})
        listener.wait_for("fan/speed/set", "30")
        house.write("Heating", "Thermostat", {"systemMode": "heat"})
        listener.wait_for("heating/mode/set", "heat")
        house.write("Heating", "Thermostat", {"occupiedHeatingSetpoint": 2250})
        assert float(listener.wait_for("heating/target/set")) == 22.5
        house.command("bulb", "LevelControl", "moveToLevelWithOnOff", level=100, optionsMask=0, optionsOverride=0)
        assert json.loads(listener.wait_for("zigbee2mqtt/bulb/set"))["brightness"] == 100
    finally:
        listener.stop()


def test_a_command_reaches_the_part_that_it_names(house: MQTTHouse) -> None:
    listener = Subscriber(house.broker, "left/set", "right/set", "probe")
    path = f"/v1/devices/{house.device('Pair')['id']}/traits/OnOff/commands/on"
    try:
        while not listener.payloads("probe"):
            house.broker.publish("probe", "x")
        # The parts are numbered in the order of their ids: left is 1, right is 2.
        assert house.gateway.client.request("POST", f"{path}?endpoint=2", "{}", JSON).status == 200
        listener.wait_for("right/set", "ON")
        assert not listener.payloads("left/set")
    finally:
        listener.stop()


def test_a_command_and_its_echo_are_one_change(house: MQTTHouse, stream: EventStream) -> None:
    house.broker.publish("lamp/state", {"state": "OFF"})
    house.wait_for("Lamp", "OnOff", onOff=False)
    before = len(house.changes(stream, "Lamp"))
    house.command("Lamp", "OnOff", "on")
    # Nothing is claimed before the device reports it. A lamp that stays silent has not failed.
    assert house.traits("Lamp")["OnOff"]["onOff"] is False
    for _ in range(2):
        house.broker.publish("lamp/state", {"state": "ON"})
    house.wait_for("Lamp", "OnOff", onOff=True)
    assert len(house.changes(stream, "Lamp")) == before + 1


def test_a_device_that_reports_nothing_is_what_it_was_told_to_be(house: MQTTHouse) -> None:
    plug = {"unique_id": "plug", "command_topic": "plug/set", "device": device("Plug")}
    house.describe("switch/plug", plug)
    house.device("Plug")
    for command, value in [("on", True), ("off", False)]:
        house.command("Plug", "OnOff", command)
        assert house.traits("Plug")["OnOff"]["onOff"] is value
    house.describe("switch/plug", "")
    eventually(lambda: house.find("Plug") is None, "the plug leaves with its description")


def test_a_press_is_an_event_and_a_kept_press_is_not(house: MQTTHouse, stream: EventStream) -> None:
    id = house.device("Bell")["id"]
    house.broker.publish("bell/event", {"event_type": "press"}, retain=True)
    assert stream.wait_for("DoorbellPressed").data["deviceID"] == id
    # The description again makes the gateway read the topic again: the broker sends the press that it has kept.
    house.describe("event/bell", BELL | {"state_topic": "bell/other"})
    house.describe("event/bell", BELL)
    house.broker.publish("door/state", "OFF")
    house.wait_for("Door", "BooleanState", stateValue=True)
    assert len(stream.named("DoorbellPressed")) == 1
    house.broker.publish("bell/event", "", retain=True)


def test_an_action_of_a_remote_control_is_an_event_of_its_button(house: MQTTHouse, stream: EventStream) -> None:
    house.broker.publish("zigbee2mqtt/bridge/devices", [bulb("bulb"), CLIMATE_SENSOR, REMOTE], retain=True)
    remote = house.device("remote")
    assert [part["types"] for part in remote["endpoints"][1:]] == [["GenericSwitchDeviceType"]] * 2
    # The buttons are numbered in the order of their names: off, on. Only the first counts its presses.
    assert house.traits("remote", 1)["Switch"]["multiPressMax"] == 2
    assert "multiPressMax" not in house.traits("remote", 2)["Switch"]
    expected = [
        ("off_press", 1, "InitialPress"), ("on_press", 2, "InitialPress"), ("off_double", 1, "MultiPressComplete"),
        ("on_hold", 2, "LongPress"), ("on_hold_release", 2, "LongRelease"),
    ]  # fmt: skip

    def heard() -> list[tuple[int, str]]:
        names = ("InitialPress", "MultiPressComplete", "LongPress", "LongRelease")
        return [
            (one.data["endpoint"], one.name) for one in stream.named(*names) if one.data["deviceID"] == remote["id"]
        ]

    # The gateway reads the topic when the broker's answer to its subscription has come.
    def listens() -> bool:
        house.broker.publish("zigbee2mqtt/remote", {"battery": 50})
        return bool(power(house) == 100)

    eventually(listens, "it listens")
    for action, _, _ in expected:
        house.broker.publish("zigbee2mqtt/remote", {"action": action, "battery": 50})
    wanted = [(endpoint, name) for _, endpoint, name in expected]
    eventually(lambda: len(heard()) >= len(wanted), "the buttons' events")
    # What the broker keeps, and an action that the device did not name, are not events.
    house.broker.publish("zigbee2mqtt/remote", {"action": "shake"})
    house.broker.publish("zigbee2mqtt/remote", {"battery": 40})
    eventually(lambda: power(house) == 80, "what was published last")
    assert heard() == wanted
    history = house.gateway.client.get(f"/v1/history?device={remote['id']}&kind=press")["items"]
    assert {one["event"] for one in history} == {name for _, name in wanted}
    house.broker.publish("zigbee2mqtt/bridge/devices", [bulb("bulb"), CLIMATE_SENSOR], retain=True)
    eventually(lambda: house.find("remote") is None, "the remote control leaves with its description")


def power(house: MQTTHouse) -> object:
    """What the remote control says of its battery, in half percent."""
    return house.traits("remote", 1).get("ExtendedPowerSource", {}).get("batPercentRemaining")


def test_messages_that_come_too_late_change_nothing(house: MQTTHouse, stream: EventStream) -> None:
    id = house.device("Lock")["id"]
    house.broker.publish("lock/state", "LOCKED")
    house.wait_for("Lock", "DoorLock", lockState="locked")
    house.describe("lock/lock", "")
    stream.wait_for("deviceRemoved", deviceID=id)
    # The device has left. Its last words, and words of a part that it never had, come afterwards.
    for topic, payload in [("lock/state", "UNLOCKED"), ("lock/status", "offline"), ("lock/other", "x")]:
        house.broker.publish(topic, payload)
    house.broker.publish("door/state", "ON")
    house.wait_for("Door", "BooleanState", stateValue=False)
    house.broker.publish("door/state", "OFF")
    house.wait_for("Door", "BooleanState", stateValue=True)
    assert house.find("Lock") is None
    # It comes back with nothing of what it said while nobody knew it.
    house.describe("lock/lock", DESCRIPTIONS["lock/lock"])
    assert house.device("Lock")["id"] == id
    assert house.traits("Lock")["DoorLock"].get("lockState") != "unlocked"
    for state, words in [("LOCKED", "locked"), ("UNLOCKED", "unlocked"), ("LOCKED", "locked")]:
        house.broker.publish("lock/state", state, retain=True)
        house.wait_for("Lock", "DoorLock", lockState=words)
    house.broker.publish("lock/state", "", retain=True)


def test_availability_is_connectivity_and_commands_to_an_offline_device_fail(house: MQTTHouse) -> None:
    id = house.device("Lamp")["id"]
    house.broker.publish("lamp/status", "offline", retain=True)
    eventually(lambda: house.device("Lamp")["connectivityState"] == "offline", "the lamp is offline")
    answer = house.gateway.client.command(id, "OnOff", "on")
    assert answer.status == 503 and answer.json["error"]["status"] == "UNAVAILABLE", answer.text
    house.broker.publish("lamp/status", "online", retain=True)
    eventually(lambda: house.device("Lamp")["connectivityState"] == "online", "the lamp is back")


def test_wrong_commands_are_refused_and_send_nothing(house: MQTTHouse) -> None:
    client, lamp, lock = house.gateway.client, house.device("Lamp")["id"], house.device("Lock")["id"]
    assert client.command(lamp, "LevelControl", "moveToLevel", {"level": 900}).status == 400
    assert client.command(lock, "OnOff", "on").status == 404
    assert client.command(lock, "DoorLock", "unlockWithTimeout", {"timeout": 5}).status == 501
    path = f"/v1/devices/{house.device('Heating')['id']}/traits/Thermostat"
    answer = client.request("PATCH", path, '{"occupiedHeatingSetpoint":9000}', JSON)
    assert answer.status == 400, answer.text


def test_renaming_at_the_broker_keeps_the_id(house: MQTTHouse, stream: EventStream) -> None:
    id = house.device("bulb")["id"]
    house.broker.publish("zigbee2mqtt/bridge/devices", [bulb("hall/bulb"), CLIMATE_SENSOR], retain=True)
    assert house.device("hall/bulb")["id"] == id
    house.broker.publish("zigbee2mqtt/hall/bulb", {"state": "OFF"})
    house.wait_for("hall/bulb", "OnOff", onOff=False)
    assert not [one for one in stream.named("deviceRemoved") if one.data["deviceID"] == id]
    house.broker.publish("zigbee2mqtt/bridge/devices", [bulb("bulb"), CLIMATE_SENSOR], retain=True)
    assert house.device("bulb")["id"] == id


def test_a_device_that_comes_back_has_its_old_id(house: MQTTHouse, stream: EventStream) -> None:
    id = house.device("Lock")["id"]
    house.describe("lock/lock", "")
    stream.wait_for("deviceRemoved", deviceID=id)
    assert house.gateway.client.request("GET", f"/v1/devices/{id}").status == 404
    house.describe("lock/lock", DESCRIPTIONS["lock/lock"])
    assert house.device("Lock")["id"] == id


def test_a_flood_does_not_delay_a_command_to_another_device(house: MQTTHouse) -> None:
    listener = Subscriber(house.broker, "lock/set", "probe")
    command = house.broker.command("mosquitto_pub", "-t", "lamp/state", "-l", "--repeat", "1")
    flood = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    is_over = threading.Event()

    def feed() -> None:
        assert flood.stdin
        with contextlib.suppress(OSError, ValueError):
            while not is_over.is_set():
                flood.stdin.write('{"state":"ON"}\n{"state":"OFF"}\n')

    def superseded() -> int:
        return int(house.gateway.client.get("/v1/mqtt")["superseded"])

    feeder = threading.Thread(target=feed, daemon=True)
    try:
        while not listener.payloads("probe"):
            house.broker.publish("probe", "x")
        before = superseded()
        feeder.start()
        eventually(lambda: superseded() > before + 1_000, "the flood runs")
        house.command("Lock", "DoorLock", "lockDoor")
        listener.wait_for("lock/set", "LOCK")
        before = superseded()
        eventually(lambda: superseded() > before, "the flood goes on")
    finally:
        is_over.set()
        flood.kill()
        flood.wait()
        if feeder.ident is not None:
            feeder.join(PATIENCE)
        listener.stop()


def persons(house: MQTTHouse) -> dict[str, bool]:
    structure = house.gateway.client.get("/v1/structures")["structures"][0]["id"]
    found = house.gateway.client.get(f"/v1/structures/{structure}/presence")["persons"]
    return {one["person"]: one["isHome"] for one in found}


def test_a_person_is_at_home_while_one_of_her_trackers_is(house: MQTTHouse, stream: EventStream) -> None:
    phone = {"unique_id": "anna-phone", "name": "Anna's phone", "state_topic": "trackers/phone"}
    watch = {"unique_id": "anna-watch", "name": "Watch", "state_topic": "trackers/watch"}
    house.describe("device_tracker/phone", phone)
    house.describe("device_tracker/watch", watch)
    house.describe("device_tracker/guest", {"unique_id": "guest", "name": "Guest", "state_topic": "trackers/guest"})
    for tracker, place in [("guest", "home"), ("phone", "home"), ("watch", "not_home")]:
        house.broker.publish(f"trackers/{tracker}", place, retain=True)
    eventually(lambda: persons(house) == {"Anna": True}, "Anna is at home; nobody asked about the guest")
    traits = house.gateway.client.get("/v1/structures")["structures"][0]["traits"]
    assert traits["AreaPresenceState"]["presenceState"] == "presenceStateOccupied", traits
    house.broker.publish("trackers/watch", "home", retain=True)
    house.broker.publish("trackers/phone", "Work", retain=True)
    house.broker.publish("trackers/watch", "not_home", retain=True)
    eventually(lambda: persons(house) == {"Anna": False}, "Anna has left")
    # The stream is a path of its own: what a request has read may not have arrived on it yet.
    eventually(
        lambda: (
            stream.named("structure")[-1].data["traits"]["AreaPresenceState"]["presenceState"] == "presenceStateVacant"
        ),
        "the stream says so too",
    )
    # A repetition is not news. The door's change comes after it on the stream, so nothing is on its way any more.
    before = len(stream.events)
    house.broker.publish("trackers/watch", "not_home", retain=True)
    house.broker.publish("door/state", "ON")
    door = house.device("Door")["id"]
    eventually(lambda: any(event.data.get("id") == door for event in stream.events[before:]), "the door's change")
    assert "structure" not in {event.name for event in stream.events[before:]}


def test_nobody_leaves_because_the_gateway_starts(house: MQTTHouse, stream: EventStream) -> None:
    for tracker, place in [("phone", "not_home"), ("watch", "home")]:
        house.broker.publish(f"trackers/{tracker}", place, retain=True)
    eventually(lambda: persons(house) == {"Anna": True}, "Anna is at home by her watch")
    cursor = eventually(lambda: [one.id for one in stream.events if one.id], "a cursor")[-1]
    for _ in range(3):
        assert house.gateway.stop() == 0
        house.gateway.start()
        # The broker delivers what it has kept one message after the other.
        eventually(lambda: house.gateway.client.get("/v1/mqtt")["trackers"] == 3, "the trackers are described")
        eventually(lambda: not house.gateway.client.get("/v1/mqtt")["silentTrackers"], "both trackers have spoken")
        assert persons(house) == {"Anna": True}
        later = EventStream(house.gateway.client, after=cursor)
        # A change that comes behind all others, with a value of its own: nothing is on its way any more.
        house.changes(later, "Door")
        states = [one.data["traits"]["AreaPresenceState"]["presenceState"] for one in later.named("structure")]
        assert "presenceStateVacant" not in states, states
        later.close()


def test_without_the_broker_all_are_offline_and_nothing_leaves(house: MQTTHouse, stream: EventStream) -> None:
    ids = {one["id"] for one in house.devices()}
    house.broker.stop()
    eventually(lambda: {one["connectivityState"] for one in house.devices()} == {"offline"}, "all are offline")
    answer = house.gateway.client.command(house.device("Lock")["id"], "DoorLock", "lockDoor")
    assert answer.status == 503, answer.text
    house.broker.start()
    eventually(lambda: house.device("Lock")["connectivityState"] == "online", "they are back with the broker")
    house.command("Lock", "DoorLock", "lockDoor")
    assert {one["id"] for one in house.devices()} == ids
    assert not stream.named("deviceRemoved")


def test_after_a_restart_the_devices_are_there_before_they_are_described(house: MQTTHouse, stream: EventStream) -> None:
    known = {one["name"]: one for one in house.devices()}
    cursor = eventually(lambda: [one.id for one in stream.events if one.id], "a cursor")[-1]
    assert house.gateway.stop() == 0
    # The broker of the test before has forgotten everything, so nothing is described.
    for path in DESCRIPTIONS:
        house.describe(path, "")
    house.broker.publish("zigbee2mqtt/bridge/devices", "", retain=True)
    house.gateway.start()
    found = {one["name"]: one for one in house.devices()}
    assert {name: one["id"] for name, one in found.items()} == {name: one["id"] for name, one in known.items()}
    assert {name: one["type"] for name, one in found.items()} == {name: one["type"] for name, one in known.items()}
    assert {one["connectivityState"] for one in found.values()} == {"offline"}
    assert found["Lamp"].get("roomID") == known["Lamp"].get("roomID")
    lamp = found["Lamp"]["id"]
    assert house.gateway.client.command(lamp, "OnOff", "on").status == 503
    later = EventStream(house.gateway.client, after=cursor)
    try:
        # Another of its identifiers comes first now. One that is known is enough.
        house.describe("light/lamp", LAMP | {"device": device("Lamp", identifiers=["lamp-board", "lamp"])})
        house.broker.publish("lamp/status", "online", retain=True)
        eventually(lambda: house.device("Lamp")["connectivityState"] == "online", "the lamp is described")
        assert house.device("Lamp")["id"] == lamp
        assert not later.named("deviceRemoved", "deviceAdded")
    finally:
        later.close()
    # The parts keep their numbers, whichever is described first.
    for side, endpoint in [("right", 2), ("left", 1)]:
        house.describe(f"switch/{side}", DESCRIPTIONS[f"switch/{side}"])
        for state in [True, False]:
            # Kept, because the gateway may not have subscribed to it yet.
            house.broker.publish(f"{side}/state", "ON" if state else "OFF", retain=True)
            house.wait_for("Pair", "OnOff", endpoint, onOff=state)


def test_a_device_that_nothing_describes_can_be_removed_for_good(house: MQTTHouse) -> None:
    client = house.gateway.client
    lamp, fan = house.device("Lamp")["id"], house.device("Fan")["id"]
    refusal = client.get(f"/v1/devices/{lamp}/decommission")
    assert not refusal["isEligible"] and "still describes" in refusal["reason"]
    assert client.request("DELETE", f"/v1/devices/{lamp}").status == 409

    def is_removed() -> bool:
        answer = client.request("DELETE", f"/v1/devices/{fan}")
        # At first, its description may still come.
        assert answer.status == 200 or (answer.status == 409 and "may still describe" in answer.text), answer.text
        return answer.status == 200

    eventually(is_removed, "the broker has sent all that it retains, and the fan can be removed")
    assert house.find("Fan") is None
    house.describe("fan/fan", DESCRIPTIONS["fan/fan"])
    assert house.device("Fan")["id"] not in {fan, lamp}


def test_changes_of_the_config_reach_broker_and_virtual_devices(house: MQTTHouse) -> None:
    lamp = house.device("Lamp")["id"]
    changed = section(house.broker, presence=False, clientID="other-name")
    desk = {"name": "Desk", "type": "OnOffLight", "room": "Study"}
    house.gateway.write_config([], mqtt=changed, devices={"desk": desk})
    id = house.device("Desk")["id"]
    rooms = {one["id"]: one["name"] for one in house.gateway.client.get("/v1/rooms")["rooms"]}
    assert rooms[house.device("Desk")["roomID"]] == "Study"
    house.command("Desk", "OnOff", "on")
    eventually(lambda: house.device("Lamp")["connectivityState"] == "online", "the lamp is described again")
    assert house.device("Lamp")["id"] == lamp
    # Nobody answers at another port, and nobody knows whether the lamp is there.
    house.gateway.write_config([], mqtt=changed | {"port": free_port()}, devices={"desk": desk})
    eventually(lambda: house.device("Lamp")["connectivityState"] == "offline", "the lamp is out of reach")
    assert house.gateway.client.command(lamp, "OnOff", "on").status == 503
    house.gateway.write_config([], mqtt=changed, devices={"desk": desk})
    eventually(lambda: house.device("Lamp")["connectivityState"] == "online", "the lamp is back")
    # Another name and room: the same device in the same state.
    house.gateway.write_config([], mqtt=changed, devices={"desk": desk | {"name": "Table", "room": "Hall"}})
    assert house.device("Table")["id"] == id
    assert house.traits("Table")["OnOff"]["onOff"] is True
    rooms = {one["id"]: one["name"] for one in house.gateway.client.get("/v1/rooms")["rooms"]}
    assert rooms[house.device("Table")["roomID"]] == "Hall"
    house.gateway.write_config([], mqtt=False, devices={})
    eventually(lambda: house.devices() == [], "neither the broker nor the virtual device is configured any more")
    assert house.gateway.client.get("/v1/configuration")["needsRestart"] == []
