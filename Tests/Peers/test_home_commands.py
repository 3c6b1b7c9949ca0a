"""The home on the command line: devices of all kinds, rooms, structures and history."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually
from peers.shell import Shell

DEVICES = {
    "door-lamp": {"name": "Door lamp", "type": "DimmableLight"},
    "blinds": {"name": "Blinds", "type": "WindowCovering"},
    "heating": {"name": "Heating", "type": "Thermostat"},
}


class HomeShell(Shell):
    def error(self, *arguments: str, answer: str | None = None) -> str:
        message = super().error(*arguments, answer=answer)
        assert message.count("\n") == 1, message
        return message


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path_factory.mktemp("home"), [DOORBELL], {"devices": DEVICES})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture(scope="module")
def shell(binary: Path, home: Gateway) -> Shell:
    return HomeShell(binary, home.config)


def test_devices_of_all_kinds_are_listed_and_set(shell: Shell) -> None:
    rows = shell.words("devices").splitlines()
    assert rows[0].split() == ["ID", "NAME", "ROOM", "TYPE", "STATE", "TRACKS"]
    assert any(row.startswith("door-lamp") and "DimmableLight" in row and "off" in row for row in rows), rows
    assert "on, 40 %" in shell.words("device", "set", "door-lamp", "onOff=true", "level=40%")
    assert "100 % closed" in shell.words("device", "set", "Blinds", "position=100%")
    shown = shell.words("device", "show", "heating")
    assert "occupiedHeatingSetpoint" in shown and "(can be set)" in shown
    shell.words("device", "set", "heating", "occupiedHeatingSetpoint=2150")
    assert "21.5 °C" in shell.words("device", "show", "heating")
    assert "off" in shell.words("device", "set", "door-lamp", "OnOff.onOff=off")
    shell.words("device", "command", "door-lamp", "OnOff", "toggle")
    assert [one["name"] for one in shell.json("devices", "--type", "light")["devices"]] == ["Door lamp"]
    assert shell.json("device", "show", "door-lamp")["key"] == "door-lamp"


def test_errors_name_what_there_is_and_nothing_is_half_done(shell: Shell) -> None:
    shell.words("device", "set", "door-lamp", "onOff=false")
    assert "there is " in shell.error("device", "show", "attic") and "door-lamp" in shell.error(
        "device", "show", "attic"
    )
    refused = shell.error("device", "set", "door-lamp", "onOff=true", "colour=red")
    assert "onOff" in refused and "currentLevel" in refused
    assert "expected 0% to 100%" in shell.error("device", "set", "door-lamp", "onOff=true", "level=140%")
    assert "expected true or false" in shell.error("device", "set", "door-lamp", "onOff=perhaps")
    assert shell.words("devices").count(" off") >= 1
    assert "toggle" in shell.error("device", "command", "door-lamp", "OnOff", "dance")
    assert "LevelControl" in shell.error("device", "command", "door-lamp", "Dance", "on")
    assert shell.run("device", "set", "door-lamp", "on").returncode == 64


def test_rooms_and_structures_are_made_changed_and_deleted(shell: Shell) -> None:
    shell.words("rooms", "create", "Hall")
    shell.words("device", "move", "door-lamp", "--room", "hall")
    shell.words("rooms", "rename", "Hall", "Entrance")
    assert "Entrance" in shell.words("home") and "Door lamp" in shell.words("home")
    assert [row for row in shell.words("devices", "--room", "Entrance").splitlines() if "door-lamp" in row]
    assert "Entrance" in shell.error("rooms", "rename", "Attic", "Loft")
    shell.words("rooms", "delete", "Entrance")
    # The gateway keeps 60 characters, and the command says so.
    assert shell.words("rooms", "create", "x" * 200).startswith(f"{'x' * 60} is a room")
    assert f"is called {'y' * 60} now" in shell.words("rooms", "rename", "x" * 60, "y" * 200)
    shell.words("rooms", "delete", "y" * 60)
    assert "no rooms yet" in shell.words("rooms")
    shell.words("structures", "create", "Cabin", "--time-zone", "Europe/Helsinki", "--address", "Lakeside 1")
    assert "Lakeside 1" in shell.words("structures")
    shell.words("device", "move", "blinds", "--structure", "Cabin")
    assert "--structure" in shell.error("rooms", "create", "Sauna")
    shell.words("device", "move", "blinds", "--structure", "Home")
    shell.words("structures", "change", "Cabin", "--name", "Summer cabin")
    shell.words("structures", "delete", "Summer cabin")
    shell.words("device", "rename", "blinds", "Shutters")
    assert shell.json("device", "show", "Shutters")["key"] == "blinds"
    shell.words("device", "rename", "blinds", "")


def test_history_shows_what_happened_and_completion_knows_the_devices(shell: Shell, binary: Path) -> None:
    shell.words("press", "front-door")
    shell.words("device", "set", "door-lamp", "onOff=true")
    shell.words("device", "set", "door-lamp", "onOff=false")
    pressed = eventually(
        lambda: [row for row in shell.words("history", "--kind", "press").splitlines() if "doorbell pressed" in row],
        "the press is in the history",
    )
    assert "front-door" in pressed[0]
    lines = shell.words("history", "--device", "door-lamp", "--since", "1h", "--limit", "2", "--json").splitlines()
    items = [json.loads(line) for line in lines]
    assert [(one["attribute"], one["from"], one["to"]) for one in items] == [
        ("onOff", True, False), ("onOff", False, True),
    ]  # fmt: skip
    assert "Nothing" in shell.words("history", "--until", "2001-01-01T00:00:00Z")
    assert "cameraEvent" in shell.error("history", "--kind", "party")
    script = subprocess.run(
        [str(binary), "--generate-completion-script", "bash"], capture_output=True, text=True, check=True,
        env=os.environ,
    ).stdout  # fmt: skip
    assert "---completion" in script


def test_watch_prints_what_changes(shell: Shell, binary: Path) -> None:
    watching = subprocess.Popen(
        [str(binary), "device", "watch", "door-lamp", "--count", "1", "--config", shell.config],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert watching.stdout is not None
        assert watching.stdout.readline().startswith("door-lamp:")
        shell.words("device", "command", "door-lamp", "OnOff", "toggle")
        assert "OnOff.onOff" in watching.stdout.readline()
        assert watching.wait(timeout=PATIENCE) == 0
    finally:
        watching.kill()
        watching.wait()


def test_remove_shows_what_would_happen_and_asks(shell: Shell, home: Gateway) -> None:
    assert "cannot be removed" in shell.error("device", "remove", "front-door")
    body = json.dumps({"name": "Yard", "source": "rtsp://127.0.0.1:9/none"})
    answer = home.client.request("PUT", "/v1/cameras/yard", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    shell.words("token", "create", "gardener", "--scope", "read", "--device", "yard")
    asked = shell.words("device", "remove", "yard", answer="no\n")
    assert "gardener" in asked and "Nothing was changed" in asked and "none name it" in asked
    assert "yard" in shell.words("devices")
    assert "removed" in shell.words("device", "remove", "yard", answer="yes\n")
    assert "yard" not in shell.words("devices")
    assert "gardener" not in shell.words("token", "list")


def test_commands_for_cameras_take_names_and_refuse_what_is_not_there(shell: Shell, home: Gateway) -> None:
    home.wait_until_flowing("front-door")
    assert "ding dong" in shell.words("press", "Front door")
    assert "Stream" in shell.words("live", "front DOOR", "--duration", "1")
    link = shell.words("share", "Front door", "--for", "1h").splitlines()[-1]
    assert "/camera/front-door#token=" in link
    assert "no device has the id or key" in shell.error("share", "nope", "--for", "1h")
    assert "no device is called" in shell.error("share", "Back door", "--for", "1h")
    assert "Door lamp is not a camera" in shell.error("share", "door-lamp", "--for", "7d")
    wrong = shell.run("share", "front-door", "--for", "1h", "--address", "nonsense")
    assert wrong.returncode == 64 and "--address: nonsense is not an address" in wrong.stderr
    create = ("token", "create", "reader", "--scope", "read")
    assert "no device has the id or key" in shell.error(*create, "--device", "nope")
    assert "no structure is called" in shell.error(*create, "--structure", "Cabin")
    shell.words(*create, "--device", "Door lamp")
    lamp = home.client.device_id("door-lamp")
    token = next(one for one in home.client.get("/v1/tokens")["tokens"] if one["name"] == "reader")
    assert token["grants"] == [{"scopes": ["read"], "deviceID": lamp}]
