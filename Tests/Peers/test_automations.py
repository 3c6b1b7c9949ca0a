"""Automations between devices of a real MQTT broker, and through the end of the gateway in the middle of a run."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from peers.broker import Broker, Subscriber, section
from peers.gateway import Gateway
from peers.mqtt_descriptions import device
from peers.polling import eventually

JSON = {"Content-Type": "application/json"}


def lamp(name: str) -> dict[str, Any]:
    return {
        "unique_id": name, "state_topic": f"{name}/state", "command_topic": f"{name}/set", "optimistic": False,
        "device": device(name.title()),
    }  # fmt: skip


@dataclass
class House:
    """A gateway with switches of a broker, and what the gateway sends to them."""

    broker: Broker
    gateway: Gateway
    sent: Subscriber

    def device(self, name: str) -> str:
        def find() -> str | None:
            devices = self.gateway.client.get("/v1/devices")["devices"]
            return next((one["id"] for one in devices if one["name"] == name), None)

        return eventually(find, f"the device {name}") or ""

    def starter(self, name: str) -> dict[str, Any]:
        return {"type": "attributeStarter", "id": "n1", "entity": {"device": self.device(name)}, "trait": "OnOff"}

    def action(self, name: str, command: str) -> dict[str, Any]:
        return {"type": "action", "entity": {"device": self.device(name)}, "trait": "OnOff", "command": command}

    def automate(self, *nodes: dict[str, Any]) -> str:
        """Makes an automation, and gives its identifier."""
        structure = self.gateway.client.get("/v1/structures")["structures"][0]["id"]
        draft = {"name": "A test", "isActive": True, "automationGraph": {"version": 1, "nodes": list(nodes)}}
        path = f"/v1/structures/{structure}/automations"
        answer = self.gateway.client.request("POST", path, json.dumps(draft), JSON)
        assert answer.status == 201, answer.text
        return str(json.loads(answer.text)["id"])

    def runs(self, automation: str) -> list[dict[str, Any]]:
        return list(self.gateway.client.get(f"/v1/automations/{automation}/runs")["runs"])

    def ended(self, automation: str, count: int = 1) -> list[dict[str, Any]]:
        def find() -> list[dict[str, Any]] | None:
            runs = [run for run in self.runs(automation) if run.get("end")]
            return runs if len(runs) >= count else None

        return eventually(find, f"{count} ended runs", every=0.05) or []


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    broker = Broker(folder / "broker")
    names = ["sensor", "first", "second"]
    for name in names:
        broker.publish(f"homeassistant/switch/{name}/config", lamp(name), retain=True)
        broker.publish(f"{name}/state", "OFF", retain=True)
    sent = Subscriber(broker, "first/set", "second/set")
    gateway = Gateway(binary, folder, [], {"mqtt": section(broker)})
    result = House(broker, gateway, sent)
    for name in names:
        result.device(name.title())
    yield result
    sent.stop()
    assert gateway.stop() == 0, gateway.process.output()[-4000:]
    broker.stop()


def test_a_run_goes_on_after_the_gateway_was_killed_and_sends_nothing_twice(house: House) -> None:
    automation = house.automate(
        house.starter("Sensor"), house.action("First", "on"), {"type": "delay", "for": 3},
        house.action("Second", "on"),
    )  # fmt: skip
    # The old value is no change, whoever repeats it.
    house.broker.publish("sensor/state", "OFF", retain=True)
    house.broker.publish("sensor/state", "ON", retain=True)
    house.sent.wait_for("first/set", "ON")
    (run,) = house.runs(automation)
    assert "end" not in run
    house.gateway.process.kill()
    house.gateway.start()
    (ended,) = house.ended(automation)
    assert ended["id"] == run["id"]
    assert ended["end"] == "completed", ended
    assert house.sent.payloads("first/set") == ["ON"]
    assert house.sent.payloads("second/set") == ["ON"]
