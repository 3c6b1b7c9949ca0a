"""Automations with others' devices: Zigbee2MQTT's, trackers, a gate, and switches of a broker that restarts."""

import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.automation_house import JSON, House, build, describe
from peers.broker import Subscriber
from peers.mqtt_client import BareClient
from peers.mqtt_descriptions import COVER, REMOTE, bulb, device
from peers.polling import PATIENCE, eventually

PHONE = {"unique_id": "anna-phone", "name": "Anna's phone", "state_topic": "trackers/phone"}
NAMES = ["sensor", "lamp", "marker", "echo", "first", "second"]


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    result = build(binary, tmp_path_factory.mktemp("house"), NAMES, presence={"Anna": ["anna-phone"]})
    yield result
    result.stop()


def starter(house: House, name: str, trait: str, event: str, **more: Any) -> dict[str, Any]:
    entity = {"device": house.device(name)}
    return {"type": "eventStarter", "id": "e", "entity": entity, "trait": trait, "event": event} | more


def equals(field: str, value: object, reference: str = "n1") -> dict[str, Any]:
    return {
        "type": "condition",
        "expression": {"equals": [{"field": field, "of": {"reference": reference}}, {"constant": value}]},
    }


def is_on(house: House, name: str) -> bool | None:
    parts = house.gateway.client.get(f"/v1/devices/{house.device(name)}")["endpoints"]
    return next((part["traits"]["OnOff"].get("onOff") for part in parts if "OnOff" in part["traits"]), None)


def test_a_zigbee_button_turns_a_bulb_on_and_the_bulb_a_lamp(house: House) -> None:
    broker = house.broker
    broker.publish("zigbee2mqtt/bridge/state", {"state": "online"}, retain=True)
    broker.publish("zigbee2mqtt/bridge/devices", [bulb("bulb"), REMOTE], retain=True)
    broker.publish("zigbee2mqtt/bulb", {"state": "OFF", "brightness": 100}, retain=True)
    sent = Subscriber(broker, "zigbee2mqtt/bulb/set")
    pressed = house.automate(starter(house, "remote", "Switch", "InitialPress"), house.action("bulb", "on"))
    followed = house.automate(house.starter("bulb"), equals("onOff", True), house.action("lamp", "on"))
    eventually(lambda: is_on(house, "bulb") is False, "the bulb's state is known")
    # The gateway hears the remote control only once the broker has answered its subscription.

    def press() -> bool:
        broker.publish("zigbee2mqtt/remote", {"action": "on_press"})
        return bool(house.runs(pressed))

    eventually(press, "a press", every=0.5)
    assert json.loads(sent.wait_for("zigbee2mqtt/bulb/set"))["state"] == "ON"
    ended = house.ended(pressed)[-1]
    assert ended["trigger"]["event"] == "InitialPress", ended
    # The bulb obeys, and says so. That starts the second automation, as the consequence of the first.
    broker.publish("zigbee2mqtt/bulb", {"state": "ON", "brightness": 100}, retain=True)
    assert house.sent
    house.sent.wait_for("lamp/set", "ON")
    (run,) = house.ended(followed)
    assert (run["end"], run["depth"]) == ("completed", 1), run
    # What somebody does at the bulb by hand is seen as well. It is off, so the condition does not hold.
    broker.publish("zigbee2mqtt/bulb", {"state": "OFF", "brightness": 100}, retain=True)
    assert house.ended(followed, 2)[0]["end"] == "conditionFalse"
    sent.stop()


def test_a_tracker_turns_the_lights_on_and_off(house: House) -> None:
    broker, sent = house.broker, house.sent
    assert sent
    broker.publish("homeassistant/device_tracker/phone/config", PHONE, retain=True)
    presence = f"/v1/structures/{house.structure}/presence"

    def is_home() -> list[bool]:
        return [one["isHome"] for one in house.gateway.client.get(presence)["persons"]]

    def come(place: str) -> None:
        broker.publish("trackers/phone", place, retain=True)
        eventually(lambda: is_home() == [place == "home"], f"Anna is at {place}")

    come("not_home")
    reader = {
        "type": "attributeStarter", "id": "n1", "entity": {"structure": house.structure}, "trait": "AreaPresenceState",
    }  # fmt: skip
    occupied = equals("presenceState", "presenceStateOccupied")["expression"]
    choice = {
        "type": "if", "ifThen": {"condition": occupied, "nodes": [house.action("echo", "on")]},
        "elseThen": {"nodes": [house.action("echo", "off")]},
    }  # fmt: skip
    automation = house.automate(reader, choice)
    come("home")
    sent.wait_for("echo/set", "ON")
    come("not_home")
    sent.wait_for("echo/set", "OFF")
    assert {run["end"] for run in house.ended(automation, 2)} == {"completed"}
    assert sent.payloads("echo/set") == ["ON", "OFF"]


def test_states_that_a_broker_repeats_after_its_restart_start_nothing(house: House) -> None:
    broker = house.broker
    repeated = house.automate(house.starter("sensor"), house.action("lamp", "off"))
    marked = house.automate(house.starter("marker"), house.action("lamp", "off"))
    broker.publish("sensor/state", "ON", retain=True)
    assert house.ended(repeated)[0]["end"] == "completed"
    broker.stop()
    broker.start()
    for name in NAMES:
        describe(broker, name)
        broker.publish(f"{name}/state", "ON" if name == "sensor" else "OFF", retain=True)
    eventually(lambda: is_on(house, "marker") is False, "the gateway is back")

    # The gateway reads what is published in its order: when this has had its run, the states before have been read.
    def mark() -> bool:
        broker.publish("marker/state", "ON")
        return bool(house.runs(marked))

    eventually(mark, "the marker's run", every=0.5)
    assert len(house.runs(repeated)) == 1
    broker.publish("sensor/state", "OFF", retain=True)
    assert [run["end"] for run in house.ended(repeated, 2)] == ["completed", "completed"]


def test_two_switches_that_toggle_each_other_are_cut(house: House) -> None:
    client = BareClient(house.broker.port, "obedient")
    client.subscribe("first/set", "second/set")
    commands: queue.Queue[tuple[str, str]] = queue.Queue()

    def read() -> None:
        for message in client.messages():
            commands.put(message)

    thread = threading.Thread(target=read)
    thread.start()
    automations = [
        house.automate(house.starter(one), house.action(other, "toggle"), name=f"When {one} changes")
        for one, other in (("first", "second"), ("second", "first"))
    ]
    eventually(lambda: is_on(house, "first") is False and is_on(house, "second") is False, "both are off")
    house.broker.publish("first/state", "ON", retain=True)

    def ends() -> list[tuple[int, str]]:
        return sorted((run["depth"], run.get("end") or "") for one in automations for run in house.runs(one))

    # The runs of depths 0 to 8 send a command each, and what the last one changes starts nothing. A switch obeys once
    # the run that sent the command has ended. If it obeyed earlier, the change that comes back two commands later could
    # find that run still waiting for its answer, and would only be counted by it.
    for depth in range(9):
        topic, payload = commands.get(timeout=PATIENCE)
        eventually(
            lambda depth=depth: (depth, "completed") in ends(), f"the run of depth {depth} has ended", every=0.02
        )
        client.publish(topic.replace("/set", "/state"), payload, retain=True)
    eventually(lambda: (9, "loopCut") in ends(), "the loop is cut")
    assert ends() == [*((depth, "completed") for depth in range(9)), (9, "loopCut")]
    client.close()
    thread.join(PATIENCE)
    assert commands.empty(), list(commands.queue)


def test_a_gate_opens_only_with_the_right_to_unlock(house: House) -> None:
    gate = COVER | {"unique_id": "gate", "device_class": "gate", "device": device("Gate")}
    house.broker.publish("homeassistant/cover/gate/config", gate, retain=True)
    identifier = house.device("gate")
    client, structure = house.gateway.client, house.structure

    def token(*scopes: str) -> str:
        body = {"name": "-".join(scopes), "grants": [{"scopes": list(scopes)}]}
        return str(json.loads(client.request("POST", "/v1/tokens", json.dumps(body), JSON).text)["token"])

    def create(command: str, token: str) -> tuple[int, Any]:
        action = {
            "type": "action", "entity": {"device": identifier}, "trait": "WindowCovering", "command": command,
        }  # fmt: skip
        graph = {"version": 1, "nodes": [{"type": "manualStarter"}, action]}
        answer = client.request(
            "POST", f"/v1/structures/{structure}/automations", json.dumps({"automationGraph": graph}), JSON, token=token
        )
        return answer.status, json.loads(answer.text)

    household = token("automate", "read", "control")
    status, answer = create("upOrOpen", household)
    (issue,) = answer["error"]["details"]["validationIssues"]
    assert (status, issue["type"], issue["id"]) == (400, "BlockedAction", "upOrOpen"), answer
    assert create("downOrClose", household)[0] == 201
    assert create("upOrOpen", token("automate", "read", "control", "unlock"))[0] == 201
