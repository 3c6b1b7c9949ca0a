"""A gateway with the devices of an MQTT broker."""

import itertools
import json
from dataclasses import dataclass
from typing import Any

from .broker import Broker
from .event_stream import EventStream
from .gateway import Gateway
from .polling import eventually

JSON = {"Content-Type": "application/json"}
# Temperatures that no test has had before, in degrees.
DEGREES = itertools.count(1)


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
        """The changes of a device by all that was published so far.

        What is published last arrives last, on the stream too: a change of the weather.
        """
        degrees = next(DEGREES)
        self.broker.publish("weather", {"temperature": degrees})
        eventually(lambda: degrees * 100 in self.temperatures(stream), "the weather", every=0.02)
        return [one.data for one in stream.named("device") if one.data["name"] == name]

    @staticmethod
    def temperatures(stream: EventStream) -> list[int | None]:
        """The temperatures of the weather that the stream has told."""
        parts = [
            part for one in stream.named("device") if one.data["name"] == "Weather" for part in one.data["endpoints"]
        ]
        return [part["traits"].get("TemperatureMeasurement", {}).get("measuredValue") for part in parts]
