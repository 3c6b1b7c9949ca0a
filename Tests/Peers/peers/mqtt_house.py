"""A gateway with the devices of an MQTT broker."""

import json
from dataclasses import dataclass
from typing import Any

from .broker import Broker
from .event_stream import EventStream
from .gateway import Gateway
from .polling import eventually

JSON = {"Content-Type": "application/json"}


@dataclass
class MQTTHouse:
    broker: Broker
    gateway: Gateway

    def devices(self) -> list[dict[str, Any]]:
        return list(self.gateway.client.get("/v1/devices")["devices"])

    def find(self, name: str) -> dict[str, Any] | None:
        return next((one for one in self.devices() if one["name"] == name), None)

    def device(self, name: str) -> dict[str, Any]:
        return eventually(lambda: self.find(name), f"the device {name}") or {}

    def traits(self, name: str, endpoint: int = 1) -> dict[str, Any]:
        parts = (self.find(name) or {"endpoints": []})["endpoints"]
        return next((dict(part["traits"]) for part in parts if part["id"] == endpoint), {})

    def wait_for(self, name: str, trait: str, endpoint: int = 1, **values: Any) -> None:
        def holds() -> bool:
            known = self.traits(name, endpoint).get(trait, {})
            return all(known.get(key) == value for key, value in values.items())

        eventually(holds, f"{trait} of {name} is {values}", every=0.05)

    def describe(self, path: str, description: object) -> None:
        self.broker.publish(f"homeassistant/{path}/config", description, retain=True)

    def command(self, name: str, trait: str, command: str, **parameters: Any) -> None:
        answer = self.gateway.client.command(self.device(name)["id"], trait, command, parameters)
        assert answer.status == 200, answer.text

    def write(self, name: str, trait: str, values: dict[str, Any]) -> None:
        path = f"/v1/devices/{self.device(name)['id']}/traits/{trait}"
        answer = self.gateway.client.request("PATCH", path, json.dumps(values), JSON)
        assert answer.status == 200, answer.text

    def changes(self, stream: EventStream, name: str) -> list[dict[str, Any]]:
        return [one.data for one in stream.named("device") if one.data["name"] == name]
