"""What the gateway publishes of its cameras, checked by Home Assistant's own schemas of MQTT discovery."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.broker import Broker, section
from peers.gateway import DOORBELL, Camera, Gateway
from peers.home_assistant import DiscoverySchemas, Refused
from peers.onvif_camera import PEOPLE, ONVIFCamera
from peers.polling import eventually
from test_onvif import doorbell, subscribed


@pytest.fixture(scope="module")
def schemas() -> Iterator[DiscoverySchemas]:
    running = DiscoverySchemas()
    yield running
    running.stop()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    running = Broker(tmp_path / "broker")
    yield running
    running.stop()


def described(gateway: Gateway, broker: Broker, camera: str, needs: str) -> tuple[str, str]:
    """The topic and the description of a camera once it has a part."""
    id = gateway.client.get(f"/v1/devices/{camera}")["id"]
    topic = f"homeassistant/device/gatehouse_{id}/config"

    def find() -> str | None:
        text = broker.retained(topic)
        return text if text and needs in json.loads(text)["components"] else None

    return topic, eventually(find, f"{camera} is described with {needs}") or ""


def check_states(broker: Broker, parts: dict[str, dict[str, Any]]) -> None:
    """Checks that the states are words that Home Assistant expects of the parts."""
    words: dict[str, set[str]] = {}
    for part in parts.values():
        if part["platform"] in ("binary_sensor", "switch"):
            words[part["state_topic"]] = {part["payload_on"], part["payload_off"]}
        for one in part["availability"]:
            words[one["topic"]] = {one["payload_available"], one["payload_not_available"]}
    for topic, expected in words.items():

        def state(topic: str = topic) -> str | None:
            return broker.retained(topic)

        assert eventually(state, f"{topic} has a state") in expected, topic


def test_home_assistant_takes_every_camera(
    schemas: DiscoverySchemas, binary: Path, broker: Broker, tmp_path: Path
) -> None:
    device = ONVIFCamera(tmp_path)
    cameras = [DOORBELL, Camera("cellar", "builtin:silent"), doorbell(device)]
    gateway = Gateway(binary, tmp_path, cameras, {"mqtt": section(broker, commands=True, pictures=True)})
    try:
        subscribed(gateway)
        device.notify(PEOPLE, True)
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for camera, needs in ((DOORBELL.id, "picture"), ("cellar", "recording"), ("door", "person")):
            found[camera] = schemas.check(*described(gateway, broker, camera, needs))
            check_states(broker, found[camera])
        kinds = {name: part["platform"] for name, part in found["door"].items()}
        assert kinds == {
            "doorbell": "event", "detection": "event", "motion": "binary_sensor", "person": "binary_sensor",
            "recording_active": "binary_sensor", "recording": "switch", "picture": "image",
        }  # fmt: skip
        assert found["door"]["doorbell"]["event_types"] == ["press"]
        assert set(found["door"]["detection"]["event_types"]) == {"motion", "person"}
        names = [part["unique_id"] for parts in found.values() for part in parts.values()]
        assert len(set(names)) == len(names)
    finally:
        gateway.stop()
        device.stop()


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one["components"]["doorbell"].pop("event_types"),
        lambda one: one["components"]["doorbell"].update(device_class="bell"),
        lambda one: one["components"]["doorbell"].update(state_topic="a/#/b"),
        lambda one: one["components"]["doorbell"].update(platform="unheard"),
        lambda one: one["device"].pop("identifiers"),
        lambda one: one.pop("origin"),
        lambda one: one.update(availability_mode="some"),
    ],
)
def test_the_schemas_refuse_what_is_wrong(schemas: DiscoverySchemas, change: Any) -> None:
    part = {
        "platform": "event", "unique_id": "u", "name": "Doorbell", "state_topic": "t", "device_class": "doorbell",
        "event_types": ["press"],
    }  # fmt: skip
    one: dict[str, Any] = {
        "device": {"identifiers": ["d"], "name": "Door"}, "origin": {"name": "Gatehouse"},
        "availability": [{"topic": "s"}], "availability_mode": "all", "components": {"doorbell": part},
    }  # fmt: skip
    topic = "homeassistant/device/d/config"
    assert schemas.check(topic, json.dumps(one))["doorbell"]["platform"] == "event"
    change(one)
    with pytest.raises(Refused):
        schemas.check(topic, json.dumps(one))
