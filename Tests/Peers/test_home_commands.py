"""The home on the command line: devices of all kinds, rooms, structures and history."""

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
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
# So that the doorbell has privacy modes and a list of recordings.
RECORDING = {"trigger": "command", "preRoll": 0, "freeGigabytes": 0}


class HomeShell(Shell):
    def error(self, *arguments: str, answer: str | None = None) -> str:
        message = super().error(*arguments, answer=answer)
        assert message.count("\n") == 1, message
        return message

    def rows(self, *arguments: str) -> list[str]:
        """What a command shows on a terminal of 80 columns, line by line."""
        screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        try:
            subprocess.run(
                [*self._command, *arguments, "--config", self.config], stdout=terminal, stdin=subprocess.DEVNULL,
                timeout=PATIENCE, check=True,
            )  # fmt: skip
        finally:
            os.close(terminal)
        shown = b""
        # The read fails when everything has been read, because the other end is closed.
        with os.fdopen(screen, "rb", buffering=0) as reader, contextlib.suppress(OSError):
            while some := reader.read(4096):
                shown += some
        return shown.decode().splitlines()


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path_factory.mktemp("home"), [DOORBELL], {"devices": DEVICES, "recording": RECORDING})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture(scope="module")
def shell(binary: Path, home: Gateway) -> HomeShell:
    return HomeShell(binary, home.config)


def test_devices_of_all_kinds_are_listed_and_set(shell: HomeShell) -> None:
    rows = shell.words("devices").splitlines()
    assert rows[0].split() == ["ID", "NAME", "ROOM", "TYPE", "STATE", "TRACKS"]
    assert any(row.startswith("door-lamp") and "DimmableLight" in row and "off" in row for row in rows), rows
    assert "on, 40 %" in shell.words("device", "set", "door-lamp", "onOff=true", "level=40%")
    assert "100 % closed" in shell.words("device", "set", "Blinds", "position=100%")
    shown = shell.words("device", "show", "heating")
    assert "occupiedHeatingSetpoint" in shown and "(can be set)" in shown
    # Matter changes these by commands.
    lamp = [
        line.split(" = ")[0].strip()
        for line in shell.words("device", "show", "door-lamp").splitlines()
        if line.endswith("(can be set)")
    ]
    assert {"onOff", "currentLevel"} <= set(lamp), lamp
    shell.words("device", "set", "heating", "occupiedHeatingSetpoint=2150")
    assert "21.5 °C" in shell.words("device", "show", "heating")
    shell.words("device", "set", "heating", "occupiedHeatingSetpoint=22.5°C")
    shown = shell.words("device", "show", "heating")
    assert "occupiedHeatingSetpoint = 22.5 °C" in shown and "maxHeatSetpointLimit = 30.0 °C" in shown, shown
    assert "off" in shell.words("device", "set", "door-lamp", "OnOff.onOff=off")
    shell.words("device", "command", "door-lamp", "OnOff", "toggle")
    assert isinstance(shell.json("device", "command", "door-lamp", "OnOff", "toggle"), dict)
    assert [one["name"] for one in shell.json("devices", "--type", "light")["devices"]] == ["Door lamp"]
    assert shell.json("device", "show", "door-lamp")["key"] == "door-lamp"


def test_errors_name_what_there_is_and_nothing_is_half_done(shell: HomeShell) -> None:
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


def test_rooms_and_structures_are_made_changed_and_deleted(shell: HomeShell) -> None:
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


def test_history_shows_what_happened_and_completion_knows_the_devices(shell: HomeShell, binary: Path) -> None:
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
    assert '--since: "lately" is not a time like' in shell.error("history", "--since", "lately")
    script = subprocess.run(
        [str(binary), "--generate-completion-script", "bash"], capture_output=True, text=True, check=True,
        env=os.environ,
    ).stdout  # fmt: skip
    assert "---completion" in script


def test_watch_prints_what_changes(shell: HomeShell, binary: Path) -> None:
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


def test_remove_shows_what_would_happen_and_asks(shell: HomeShell, home: Gateway) -> None:
    assert "cannot be removed" in shell.error("device", "remove", "front-door")
    assert "the device door-lamp is defined in the config file" in shell.error("device", "remove", "door-lamp")
    body = json.dumps({"name": "Yard", "source": "rtsp://127.0.0.1:9/none"})
    answer = home.client.request("PUT", "/v1/cameras/yard", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    shell.words("token", "create", "gardener", "--scope", "read", "--device", "yard")
    asked = shell.words("device", "remove", "yard", answer="no\n")
    assert "gardener" in asked and "Nothing was changed" in asked and "none use it" in asked
    assert "nobody answered; add --yes" in shell.error("device", "remove", "yard", answer="")
    assert "yard" in shell.words("devices")
    assert "removed" in shell.words("device", "remove", "yard", answer="yes\n")
    assert "yard" not in shell.words("devices")
    assert "gardener" not in shell.words("token", "list")


def test_commands_for_cameras_take_names_and_refuse_what_is_not_there(shell: HomeShell, home: Gateway) -> None:
    home.wait_until_flowing("front-door")
    assert "ding dong" in shell.words("press", "Front door")
    assert "Stream" in shell.words("live", "front DOOR", "--duration", "10")
    link = shell.words("share", "Front door", "--for", "1h").splitlines()[-1]
    assert "/camera/front-door#token=" in link
    shared = shell.json("share", "Front door", "--for", "1h", "--name", "Grandma")
    assert "/camera/front-door#token=" in shared["link"] and shared["cameras"] == ["front-door"]
    assert shared["id"] in shell.words("token", "list")
    shell.words("token", "revoke", "grandma")
    assert shared["id"] not in shell.words("token", "list")
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
    listed = shell.words("token", "list")
    assert "read on door-lamp" in listed and lamp not in listed, listed
    made = shell.json("token", "create", "writer", "--scope", "control")
    assert made["token"].startswith("gatehouse_") and made["grants"] == [{"scopes": ["control"]}]
    assert shell.json("token", "grant", made["id"][:12], "--scope", "read")["grants"] == [{"scopes": ["read"]}]


def test_recordings_take_names_and_times_ago(shell: HomeShell) -> None:
    by_name = shell.json("recordings", "list", "FRONT door", "--from", "1h", "--until", "30m")
    assert by_name == {"recordings": []}
    listed = shell.words("recordings", "list", "Front door", "--from", "2d", "--until", "1.5d")
    assert "no recordings of front-door" in listed
    assert "no device is called" in shell.error("recordings", "list", "Back door", "--from", "1h")
    deleted = shell.json("recordings", "delete", "Front door", "--from", "2d", "--until", "1d", "--yes")
    assert deleted == {"deleted": 0, "kept": 0}
    wrong = shell.run("recordings", "list", "front-door", "--from", "yesterday")
    assert wrong.returncode == 64 and '--from: "yesterday" is not a time like' in wrong.stderr
    assert "30m, 1h or 2d" in wrong.stderr


def test_tables_fit_a_terminal_and_their_short_ids_name_things(shell: HomeShell) -> None:
    name = "A cabin with a very long name by the lake"
    cabin = shell.json("structures", "create", name, "--address", "Lakeside 1, Savonlinna")["id"]
    try:
        rows = shell.rows("structures")
        assert len(rows) == 3 and all(len(row) <= 80 for row in rows), rows
        short = next(row for row in rows if row.startswith("A cabin")).split()[-1]
        assert len(short) < len(cabin) and cabin.startswith(short) and "…" in " ".join(rows), rows
        # Where nobody looks, everything is in full.
        assert cabin in shell.words("structures")
        shell.words("structures", "change", short, "--name", "Cabin")
        assert "no structure is called" in shell.error("structures", "change", cabin[:5], "--name", "Hut")
        for table in (["devices"], ["rooms"], ["token", "list"], ["history"], ["home"]):
            shown = shell.rows(*table)
            assert shown and all(len(row) <= 80 for row in shown), shown
    finally:
        shell.words("structures", "delete", cabin)


def test_live_says_why_it_ended_before_its_time(shell: HomeShell, binary: Path, home: Gateway) -> None:
    def watch(end: Callable[[str], object]) -> tuple[int, str]:
        """The exit code and the errors of a view that `end` ends by its session."""
        home.wait_until_flowing("front-door")
        watching = subprocess.Popen(
            [str(binary), "live", "front-door", "--duration", "600", "--config", shell.config],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            session = eventually(
                lambda: [one for one in home.client.sessions() if one["statistics"]["packetsSent"] > 200],
                "the camera is watched",
            )[0]
            end(session["mediaSessionId"])
            said = watching.communicate(timeout=PATIENCE)[1]
        finally:
            watching.kill()
            watching.wait()
        return watching.returncode, said

    code, said = watch(lambda session: home.client.request("DELETE", f"/v1/sessions/{session}"))
    assert code == 2 and "s: the viewer stopped the live view" in said, said
    mode = "softLivestreamPrivacyModeEnabled"
    try:
        code, said = watch(lambda _: shell.words("device", "set", "front-door", f"{mode}=on"))
    finally:
        shell.words("device", "set", "front-door", f"{mode}=off")
    assert code == 2 and "s: privacy: the camera's live views were switched off" in said, said
