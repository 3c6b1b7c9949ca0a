"""Cameras that leave while the broker or the gateway is away are removed from the broker later, and no others."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.broker import Broker, section
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import eventually

JSON = {"Content-Type": "application/json"}
CELLAR = Camera("cellar", "builtin:silent")
#: Of another gateway on the same broker.
OTHER = {"homeassistant/device/gatehouse_other/config", "gatehouse/other/availability", "gatehouse/other/picture"}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    running = Broker(tmp_path / "broker", persistent=True)
    yield running
    running.stop()


@pytest.fixture
def home(binary: Path, broker: Broker, tmp_path: Path) -> Iterator[Gateway]:
    """A gateway with two cameras, one with a picture of a press, beside another gateway's camera."""
    running = Gateway(binary, tmp_path, [DOORBELL, CELLAR], {"mqtt": section(broker, pictures=True)})
    running.wait_until_flowing(DOORBELL.id)
    door, cellar = ids(running)
    eventually(lambda: {description(door), description(cellar)} <= broker.retained_topics(), "both are described")
    path = f"/v1/devices/{door}/traits/DoorbellPress/commands/press"
    assert running.client.request("POST", path, "{}", JSON).status == 200
    eventually(lambda: f"gatehouse/{door}/picture" in broker.retained_topics(), "the press has a picture")
    text = eventually(lambda: broker.retained(description(door)), "the description is read")
    assert json.loads(text)["origin"] == {"name": "Gatehouse (gatehouse)"}
    foreign = text.replace(door, "other").replace("(gatehouse)", "(gatehouse-2)")
    for topic, payload in zip(sorted(OTHER, reverse=True), [foreign, "picture", "online"], strict=True):
        broker.publish(topic, payload, retain=True)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def ids(gateway: Gateway) -> tuple[str, str]:
    door, cellar = (str(gateway.client.get(f"/v1/devices/{camera.id}")["id"]) for camera in (DOORBELL, CELLAR))
    return door, cellar


def description(id: str) -> str:
    return f"homeassistant/device/gatehouse_{id}/config"


def wait_until_gone(broker: Broker, *ids: str) -> None:
    """Waits until the broker retains nothing of these cameras, and checks that those of the other gateway stay."""

    def left() -> set[str]:
        return {topic for topic in broker.retained_topics() if any(id in topic for id in ids)}

    eventually(lambda: not left(), "nothing of the cameras is left")
    assert broker.retained_topics() >= OTHER


def test_a_camera_that_is_removed_while_the_gateway_is_stopped(home: Gateway, broker: Broker) -> None:
    door, cellar = ids(home)
    assert home.stop() == 0
    home.write_config([CELLAR])
    home.start()
    wait_until_gone(broker, door)
    assert {description(cellar), f"gatehouse/{cellar}/availability"} <= broker.retained_topics()


def test_a_camera_that_is_removed_while_the_broker_is_stopped(home: Gateway, broker: Broker) -> None:
    door, cellar = ids(home)
    broker.stop()
    home.write_config([CELLAR])
    eventually(lambda: home.client.request("GET", f"/v1/devices/{door}").status == 404, "the camera has left the home")
    broker.start()
    wait_until_gone(broker, door)
    assert {description(cellar), f"gatehouse/{cellar}/availability"} <= broker.retained_topics()


def test_without_a_discovery_prefix_former_cameras_go_and_devices_do_not_come(home: Gateway, broker: Broker) -> None:
    door, cellar = ids(home)
    assert home.stop() == 0
    plug = {
        "device": {"identifiers": ["plug"], "name": "Plug"},
        "origin": {"name": "test"},
        "components": {"plug": {"platform": "switch", "unique_id": "plug", "command_topic": "plug/set"}},
    }
    broker.publish("homeassistant/device/a-plug/config", plug, retain=True)
    home.write_config([CELLAR], mqtt=section(broker, pictures=True, discoveryPrefix=False))
    home.start()
    wait_until_gone(broker, door)
    assert description(cellar) in broker.retained_topics()
    assert [one["id"] for one in home.client.get("/v1/devices")["devices"]] == [cellar]


def test_cameras_of_a_lost_state_folder(home: Gateway, broker: Broker, tmp_path: Path) -> None:
    before = ids(home)
    assert home.stop() == 0
    shutil.rmtree(tmp_path / "state")
    home.start()
    home.client = home.client_at("127.0.0.1")
    now = ids(home)
    assert not set(now) & set(before)
    wait_until_gone(broker, *before)
    eventually(lambda: {description(id) for id in now} <= broker.retained_topics(), "the new devices are described")


def test_topics_below_another_prefix(home: Gateway, broker: Broker) -> None:
    door, cellar = ids(home)
    home.write_config([DOORBELL, CELLAR], mqtt=section(broker, pictures=True, topicPrefix="my/house"))
    expected = {description(id) for id in (door, cellar)} | {f"my/house/{id}/availability" for id in (door, cellar)}
    eventually(lambda: expected <= broker.retained_topics(), "the cameras are published below the new prefix")

    def old() -> set[str]:
        return {topic for topic in broker.retained_topics() - OTHER if topic.startswith("gatehouse/")}

    eventually(lambda: old() == {"gatehouse/status"}, "the old states and the picture are gone")
    assert broker.retained_topics() >= OTHER | expected


def test_topics_below_another_prefix_after_a_connection_that_ended_early(home: Gateway, broker: Broker) -> None:
    def move(id: str) -> None:
        text = eventually(lambda: broker.retained(description(id)), "the description is read")
        assert f"gatehouse/{id}/availability" in text
        broker.publish(description(id), text.replace("gatehouse/", "my/house/"), retain=True)

    door, cellar = ids(home)
    assert home.stop() == 0
    # As if the gateway had described its cameras below the new prefix, and then lost the broker.
    for id in (door, cellar):
        move(id)
    # Another gateway publishes below the former prefix.
    foreign = f"gatehouse/d{'0' * 32}/availability"
    broker.publish(foreign, "online", retain=True)
    home.write_config([DOORBELL, CELLAR], mqtt=section(broker, pictures=True, topicPrefix="my/house"))
    home.start()
    expected = {description(id) for id in (door, cellar)} | {f"my/house/{id}/availability" for id in (door, cellar)}
    eventually(lambda: expected <= broker.retained_topics(), "the cameras are published below the new prefix")

    def old() -> set[str]:
        return {topic for topic in broker.retained_topics() - OTHER if topic.startswith("gatehouse/")}

    eventually(lambda: old() == {"gatehouse/status", foreign}, "the old states and the picture are gone")
    assert broker.retained_topics() >= OTHER | expected
