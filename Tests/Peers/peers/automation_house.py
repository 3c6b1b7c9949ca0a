"""A gateway with switches of a real MQTT broker, and automations between them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .broker import Broker, Subscriber, section
from .gateway import Camera, Gateway
from .mqtt_descriptions import device
from .polling import eventually

JSON = {"Content-Type": "application/json"}


def switch(name: str) -> dict[str, Any]:
    """A switch as it describes itself to the broker. Its topics begin with its name."""
    return {
        "unique_id": name, "state_topic": f"{name}/state", "command_topic": f"{name}/set", "optimistic": False,
        "device": device(name.title()),
    }  # fmt: skip


def describe(broker: Broker, name: str) -> None:
    """Lets a switch describe itself."""
    broker.publish(f"homeassistant/switch/{name}/config", switch(name), retain=True)


@dataclass
class House:
    """A gateway with switches of a broker, and what the gateway sends to them."""

    broker: Broker
    gateway: Gateway
    sent: Subscriber | None = None
    _devices: dict[str, str] = field(default_factory=dict)

    def device(self, name: str) -> str:
        """The identifier of a switch, by its name."""

        def find() -> str | None:
            if name not in self._devices:
                devices = self.gateway.client.get("/v1/devices")["devices"]
                self._devices.update({one["name"].lower(): one["id"] for one in devices})
            return self._devices.get(name)

        return eventually(find, f"the device {name}") or ""

    def known(self) -> set[str]:
        """The names of the switches whose state the gateway has read."""
        return {
            device["name"].lower()
            for device in self.gateway.client.get("/v1/devices")["devices"]
            for part in device["endpoints"]
            if part["traits"].get("OnOff", {}).get("onOff") is not None
        }

    @property
    def structure(self) -> str:
        return str(self.gateway.client.get("/v1/structures")["structures"][0]["id"])

    def starter(self, name: str, reference: str = "n1") -> dict[str, Any]:
        return {"type": "attributeStarter", "id": reference, "entity": {"device": self.device(name)}, "trait": "OnOff"}

    def action(self, name: str, command: str, **more: Any) -> dict[str, Any]:
        entity = {"device": self.device(name)}
        return {"type": "action", "entity": entity, "trait": "OnOff", "command": command} | more

    def automate(self, *nodes: dict[str, Any], name: str = "A test", **members: Any) -> str:
        """Makes an automation, and gives its identifier."""
        draft = {"name": name, "automationGraph": {"version": 1, "nodes": list(nodes)}} | members
        path = f"/v1/structures/{self.structure}/automations"
        answer = self.gateway.client.request("POST", path, json.dumps(draft), JSON)
        assert answer.status == 201, answer.text
        return str(json.loads(answer.text)["id"])

    def runs(self, automation: str) -> list[dict[str, Any]]:
        return list(self.gateway.client.get(f"/v1/automations/{automation}/runs")["runs"])

    def run(self, automation: str, number: str) -> dict[str, Any]:
        """One run with its entries."""
        return dict(self.gateway.client.get(f"/v1/automations/{automation}/runs/{number}"))

    def ended(self, automation: str, count: int = 1) -> list[dict[str, Any]]:
        """The runs that have ended, newest first, as soon as there are so many."""

        def find() -> list[dict[str, Any]] | None:
            runs = [run for run in self.runs(automation) if run.get("end")]
            return runs if len(runs) >= count else None

        return eventually(find, f"{count} ended runs", every=0.05) or []

    def stop(self) -> None:
        if self.sent:
            self.sent.stop()
        assert self.gateway.stop() == 0, self.gateway.process.output()[-4000:]
        self.broker.stop()


def build(
    binary: Path,
    folder: Path,
    names: Iterable[str],
    cameras: Iterable[Camera] = (),
    listen: bool = True,
    presence: dict[str, list[str]] | None = None,
    **sections: Any,
) -> House:
    """Starts a broker with switches of these names, which are off, and a gateway that knows them. `presence` has the
    trackers of each person."""
    broker = Broker(folder / "broker")
    names = list(names)
    for name in names:
        describe(broker, name)
        broker.publish(f"{name}/state", "OFF", retain=True)
    sent = Subscriber(broker, *(f"{name}/set" for name in names)) if listen else None
    mqtt = section(broker, **({"presence": presence} if presence else {}))
    house = House(broker, Gateway(binary, folder, list(cameras), {"mqtt": mqtt} | sections), sent)
    for name in names:
        house.device(name)
    # Of a state that the broker repeats to a new subscriber, the first value starts nothing. It has to be known before
    # a test publishes the second one.
    eventually(lambda: house.known() >= set(names), f"the states of {names} are known")
    return house
