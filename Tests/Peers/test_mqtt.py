"""Devices from a real MQTT broker, and the gateway's cameras on it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.broker import Broker, Subscriber, section
from peers.gateway import DOORBELL, Gateway
from peers.memory import own_memory
from peers.pki import Authority
from peers.polling import PATIENCE, eventually
from peers.shell import Shell

JSON = {"Content-Type": "application/json"}

SWITCH = {
    "name": None, "stat_t": "plug/state", "cmd_t": "plug/set", "avty_t": "plug/status", "uniq_id": "plug-1",
    "dev": {"ids": ["plug"], "name": "Plug", "mf": "Maker", "mdl": "Model 1", "sw": "1.2"},
}  # fmt: skip


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    running = Broker(tmp_path / "broker")
    yield running
    running.stop()


@pytest.fixture
def home(binary: Path, broker: Broker, tmp_path: Path) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path, [DOORBELL], {"mqtt": section(broker, commands=True)})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def status(gateway: Gateway) -> dict[str, Any]:
    answer: dict[str, Any] = gateway.client.get("/v1/mqtt")
    return answer


def wait_until(gateway: Gateway, state: str) -> dict[str, Any]:
    eventually(lambda: status(gateway)["state"] == state, f"the broker is {state}")
    return status(gateway)


def names(gateway: Gateway) -> list[str]:
    return [one["name"] for one in status(gateway)["devices"]]


def test_a_described_device_appears_once_and_leaves_with_its_description(home: Gateway, broker: Broker) -> None:
    wait_until(home, "connected")
    for _ in range(3):
        broker.publish("homeassistant/switch/plug/config", SWITCH, retain=True)
    broker.publish("homeassistant/sensor/broken/config", "{", retain=True)
    eventually(lambda: names(home) == ["Plug"] and status(home)["refused"], "the plug appears, and the rest was read")
    answer = status(home)
    assert answer["devices"] == [{"key": "plug", "name": "Plug", "types": ["OnOffPluginUnitDeviceType"]}]
    assert [one["topic"] for one in answer["refused"]] == ["homeassistant/sensor/broken/config"]
    broker.publish("homeassistant/switch/plug/config", "", retain=True)
    eventually(lambda: names(home) == [], "the plug leaves")


def test_the_command_shows_the_broker_its_devices_and_what_could_not_be_used(
    home: Gateway, broker: Broker, binary: Path
) -> None:
    shell = Shell(binary, home.config, "mqtt")
    broker.publish("homeassistant/switch/plug/config", json.dumps(SWITCH), retain=True)
    broker.publish("homeassistant/switch/broken/config", '{"stat_t":"s"}', retain=True)
    broker.publish("homeassistant/vacuum/robot/config", '{"cmd_t":"v","uniq_id":"robot-1"}', retain=True)
    eventually(lambda: names(home) == ["Plug"] and status(home)["refused"] and status(home)["ignored"], "all was read")
    broker.publish("plug/state", "perhaps")
    eventually(lambda: status(home)["unreadable"], "the odd state was read")
    words = shell.words("status")
    assert f"127.0.0.1:{broker.port} is connected" in words
    row = next(line for line in words.splitlines() if line.startswith("Plug "))
    assert row.split() == ["Plug", "OnOffPluginUnit", "plug"]
    assert "ignored: 1 × vacuum" in words
    assert "not usable: homeassistant/switch/broken/config command_topic is missing" in words
    assert "not readable: plug/state perhaps is neither ON nor OFF" in words
    assert shell.json("status")["devices"][0]["key"] == "plug"
    broker.stop()
    wait_until(home, "lost")
    assert f"127.0.0.1:{broker.port} is lost: " in shell.words("status")
    broker.start()


def test_the_gateway_comes_back_after_the_broker(home: Gateway, broker: Broker) -> None:
    broker.publish("homeassistant/switch/plug/config", SWITCH, retain=True)
    eventually(lambda: names(home) == ["Plug"], "the plug appears")
    broker.stop()
    assert "reason" in wait_until(home, "lost")
    broker.start()
    wait_until(home, "connected")
    # The new broker knows nothing. The device stays, because nobody has taken it away.
    assert names(home) == ["Plug"]
    eventually(lambda: broker.retained("gatehouse/status") == "online", "the gateway says again that it is there")
    eventually(lambda: "MQTT broker connected again" in home.process.output(), "the log says so")
    assert "MQTT broker lost" in home.process.output()


def test_a_device_that_the_broker_has_lost_stays_until_its_owner_removes_it(home: Gateway, broker: Broker) -> None:
    def ids() -> list[str]:
        return [one["id"] for one in home.client.get("/v1/devices")["devices"] if one["name"] == "Plug"]

    broker.publish("homeassistant/switch/plug/config", SWITCH, retain=True)
    before = eventually(ids, "the plug is in the home")
    path = f"/v1/devices/{before[0]}"
    assert home.client.request("DELETE", path).status == 409, "the broker describes it"
    broker.stop()
    wait_until(home, "lost")
    assert home.client.request("DELETE", path).status == 409, "nobody knows"
    broker.start()
    wait_until(home, "connected")
    assert ids() == before

    def is_removed() -> bool:
        answer = home.client.request("DELETE", path)
        # At first, its description may still come.
        assert answer.status == 200 or (answer.status == 409 and "may still describe" in answer.text), answer.text
        return answer.status == 200

    eventually(is_removed, "the broker has sent all that it retains, and the plug can be removed")
    assert ids() == []
    # If it was only late, it comes back, as another device.
    broker.publish("homeassistant/switch/plug/config", SWITCH, retain=True)
    assert eventually(ids, "the plug is back") != before


def test_cameras_are_published_with_their_events(home: Gateway, broker: Broker) -> None:
    home.wait_until_flowing("front-door")
    id = home.client.get("/v1/devices/front-door")["id"]
    topic = f"homeassistant/device/gatehouse_{id}/config"
    text = eventually(lambda: broker.retained(topic), "the camera is described")
    described = json.loads(text)
    assert described["device"]["name"] == "Front door"
    assert described["components"]["doorbell"]["device_class"] == "doorbell"
    eventually(lambda: broker.retained(f"gatehouse/{id}/availability") == "online", "the camera is online")
    listener = Subscriber(broker, f"gatehouse/{id}/doorbell", "gatehouse/status")
    try:
        listener.wait_for("gatehouse/status", "online")
        answer = home.client.request("POST", f"/v1/devices/{id}/traits/DoorbellPress/commands/press", "{}", JSON)
        assert answer.status == 200, answer.text
        listener.wait_for(f"gatehouse/{id}/doorbell", '{"event_type":"press"}')
    finally:
        listener.stop()
    assert broker.retained(f"gatehouse/{id}/doorbell") is None, "a press is over"
    assert names(home) == [], "its own cameras do not come back as devices"


def test_a_press_has_a_picture_where_the_config_asks_for_pictures(binary: Path, broker: Broker, tmp_path: Path) -> None:
    running = Gateway(binary, tmp_path, [DOORBELL], {"mqtt": section(broker, pictures=True)})
    try:
        running.wait_until_flowing("front-door")
        id = running.client.get("/v1/devices/front-door")["id"]
        topic = f"gatehouse/{id}/picture"
        described = eventually(
            lambda: broker.retained(f"homeassistant/device/gatehouse_{id}/config"), "the camera is described"
        )
        part = json.loads(described)["components"]["picture"]
        assert (part["platform"], part["image_topic"], part["content_type"]) == ("image", topic, "image/jpeg")
        assert broker.retained_bytes(topic) == b""
        answer = running.client.request("POST", f"/v1/devices/{id}/traits/DoorbellPress/commands/press", "{}", JSON)
        assert answer.status == 200, answer.text
        picture = eventually(lambda: broker.retained_bytes(topic), "the press has a picture")
        shown = subprocess.run(
            ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width", "-of", "csv=p=0", "-f", "mjpeg",
             "-"],
            input=picture, capture_output=True, timeout=PATIENCE,
        )  # fmt: skip
        codec, width = shown.stdout.decode().strip().split(",")
        assert codec == "mjpeg" and 0 < int(width) <= 640
        # An owner who no longer wants pictures there finds none.
        running.write_config([DOORBELL], mqtt=section(broker))
        eventually(lambda: broker.retained_bytes(topic) == b"", "the picture is taken away")
    finally:
        assert running.stop() == 0, running.process.output()[-4000:]


def test_the_broker_learns_when_the_gateway_is_gone(home: Gateway, broker: Broker) -> None:
    eventually(lambda: broker.retained("gatehouse/status") == "online", "the gateway is there")
    home.process.kill()
    eventually(lambda: broker.retained("gatehouse/status") == "offline", "the last will is published")
    home.start()
    eventually(lambda: broker.retained("gatehouse/status") == "online", "the gateway is there again")


def test_recording_is_switched_where_the_config_allows_it(home: Gateway, broker: Broker) -> None:
    home.wait_until_flowing("front-door")
    id = home.client.get("/v1/devices/front-door")["id"]
    eventually(lambda: broker.retained(f"gatehouse/{id}/recording") == "ON", "recording is allowed")
    broker.publish(f"gatehouse/{id}/recording/set", "OFF")
    eventually(lambda: broker.retained(f"gatehouse/{id}/recording") == "OFF", "recording is switched off")


def test_tls_and_credentials(binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path / "pki", "authority")
    broker = Broker(tmp_path / "broker", tls=authority, password="quite-secret-word", client_certificates=True)
    certificate, key = authority.issue("gatehouse-client")
    tls = {"ca": str(authority.path), "certificate": str(certificate), "privateKey": str(key)}
    credentials = {"username": "gatehouse", "password": "${MQTT_PASSWORD}"}
    monkeypatch.setenv("MQTT_PASSWORD", "quite-secret-word")
    home = Gateway(binary, tmp_path, [], {"mqtt": section(broker, tls=tls, **credentials)})
    try:
        wait_until(home, "connected")
        broker.publish("homeassistant/switch/plug/config", SWITCH, retain=True)
        eventually(lambda: names(home) == ["Plug"], "the plug appears")
        # A wrong password, an authority that did not sign, and no TLS at all: each says what to look at.
        for change, words in [
            ({"tls": tls, "username": "gatehouse", "password": "wrong"}, "user name"),
            ({"tls": {"ca": str(Authority(tmp_path / "other", "other").path)}, **credentials}, "TLS"),
        ]:
            home.write_config([], mqtt=section(broker, **change))
            eventually(lambda words=words: words in status(home).get("reason", ""), f"the reason names {words}")
        home.write_config([], mqtt=section(broker, tls=tls, **credentials))
        wait_until(home, "connected")
        assert "quite-secret-word" not in home.process.output()
    finally:
        home.stop()
        broker.stop()


def test_commands_that_a_broker_with_tls_has_not_taken_when_it_is_lost_are_not_sent_later(
    binary: Path, tmp_path: Path
) -> None:
    """A door would be unlocked when nobody expects it any more."""
    authority = Authority(tmp_path / "pki", "authority")
    broker = Broker(tmp_path / "broker", tls=authority)
    home = Gateway(binary, tmp_path, [], {"mqtt": section(broker, tls={"ca": str(authority.path)})})
    # The broker retains their commands, so that none can be missed.
    for name in ["door", "lamp"]:
        description = {
            "name": None, "cmd_t": f"{name}/set", "stat_t": f"{name}/state", "uniq_id": name, "qos": 1, "ret": True,
            "dev": {"ids": [name], "name": name},
        }  # fmt: skip
        broker.publish(f"homeassistant/switch/{name}/config", description, retain=True)

    def command(name: str, command: str) -> int:
        return home.client.command(ids[name], "OnOff", command).status

    try:
        eventually(lambda: sorted(names(home)) == ["door", "lamp"], "both appear")
        ids = {one["name"]: one["id"] for one in home.client.get("/v1/devices")["devices"]}
        assert command("lamp", "on") == 200
        eventually(lambda: broker.retained("lamp/set") == "ON", "the broker retains a command")
        broker.freeze()
        assert [command("door", word) for word in ["on", "off", "on"]] == [200] * 3
        broker.kill()
        wait_until(home, "lost")
        assert command("door", "on") == 503
        broker.start()
        wait_until(home, "connected")
        # What the gateway sends over a connection comes in order.
        assert command("lamp", "off") == 200
        eventually(lambda: broker.retained("lamp/set") == "OFF", "a new command arrives")
        assert broker.retained("door/set") is None
        assert command("door", "on") == 200
        eventually(lambda: broker.retained("door/set") == "ON", "the door takes commands again")
    finally:
        home.stop()
        broker.stop()


def test_a_flood_does_not_keep_the_home_busy(home: Gateway, broker: Broker) -> None:
    broker.publish("homeassistant/switch/plug/config", SWITCH, retain=True)
    eventually(lambda: names(home) == ["Plug"], "the plug appears")
    before = own_memory(home.process.pid)
    broker.publish_lines("plug/state", ["ON", "OFF"] * 50_000)
    for number in range(4):
        broker.publish_lines(f"homeassistant/switch/flood{number}/config", [json.dumps(SWITCH)] * 2_000)
    answer = eventually(lambda: (s := status(home))["superseded"] > 90_000 and s, "the flood is counted")
    assert answer["state"] == "connected"
    assert names(home) == ["Plug"]
    assert own_memory(home.process.pid) - before < 80 << 20
    other = SWITCH | {"uniq_id": "lamp", "dev": {"ids": ["lamp"], "name": "Lamp"}}
    broker.publish("homeassistant/switch/lamp/config", other, retain=True)
    # Behind a hundred thousand messages they would be: the home reads two thousand in a second at most.
    eventually(lambda: "Lamp" in names(home), "other devices are not late", within=30)


def test_the_broker_may_come_later_and_go_for_good(binary: Path, broker: Broker, tmp_path: Path) -> None:
    home = Gateway(binary, tmp_path, [])
    try:
        assert home.client.request("GET", "/v1/mqtt").status == 404
        home.write_config([], mqtt=section(broker))
        eventually(lambda: home.client.request("GET", "/v1/mqtt").status == 200, "the config is read again")
        wait_until(home, "connected")
        home.write_config([])
        eventually(lambda: home.client.request("GET", "/v1/mqtt").status == 404, "the broker is left")
        eventually(lambda: broker.retained("gatehouse/status") == "offline", "the gateway has said goodbye")
    finally:
        home.stop()
