"""The first minute with the gateway: the questions of `gatehouse setup`, a start without a config, and what the service
manager learns."""

import contextlib
import fcntl
import json
import os
import pty
import select
import socket
import stat
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.processes import OwnedProcess


class Home:
    """The folders of a user who has just installed the gateway."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary = binary
        self.environment = os.environ | {
            "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")
        }  # fmt: skip
        for name in ("CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "GATEHOUSE_URL", "GATEHOUSE_TOKEN"):
            self.environment.pop(name, None)
        self.config = folder / "config/gatehouse/gatehouse.yaml"
        self.log = folder / "gateway.log"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self._binary), *arguments], capture_output=True, text=True, timeout=PATIENCE, env=self.environment,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def on_a_terminal(self, *arguments: str) -> str:
        """What a command writes to standard output that is a terminal of 120 columns."""
        screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 120, 0, 0))
        try:
            subprocess.run(
                [str(self._binary), *arguments], stdout=terminal, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                check=True, env=self.environment,
            )  # fmt: skip
        finally:
            os.close(terminal)
        shown = b""
        # The read fails when everything has been read, because the other end is closed.
        with os.fdopen(screen, "rb", buffering=0) as reader, contextlib.suppress(OSError):
            while some := reader.read(4096):
                shown += some
        return shown.decode()

    def answer(self, lines: list[str], *options: str) -> tuple[int, str]:
        """Runs setup with these options on a terminal of its own, and types each line when something is asked. Returns
        the exit code and everything on the screen."""
        process, terminal = pty.fork()
        if process == 0:
            os.execve(self._binary, [str(self._binary), "setup", "--no-search", *options], self.environment)
        screen = b""
        waiting, deadline = list(lines), time.monotonic() + PATIENCE
        typed = 0
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                screen += os.read(terminal, 4096)
            except OSError:
                # The other end is closed: the program has ended.
                break
            # A question has no line end.
            if waiting and screen[typed:].endswith((b"] ", b") ")):
                typed = len(screen)
                os.write(terminal, waiting.pop(0).encode() + b"\n")
        os.close(terminal)
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status), screen.decode()


@pytest.fixture
def home(binary: Path, tmp_path: Path) -> Home:
    return Home(binary, tmp_path)


def test_setup_without_a_terminal_takes_the_options(home: Home) -> None:
    made = home.run(
        "setup", "--camera", "rtsp://viewer:${YARD}@192.0.2.20/1", "--name", "Yard", "--open", "--recordings", "state",
        "--stun", "stun.example.org",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o600
    assert "gatehouse serve" in made.stdout and "8443" in made.stdout
    home.environment["YARD"] = "p"
    check = home.run("serve", "--check")
    assert check.returncode == 0 and str(home.config) in check.stdout, check.stderr

    text = home.config.read_text()
    again = home.run("setup", "--name", "Other")
    assert again.returncode == 1 and "exists already" in again.stderr
    assert home.config.read_text() == text
    replaced = home.run("setup", "--force")
    assert replaced.returncode == 0 and home.config.read_text() != text
    pictures = home.run("setup", "--camera", "http://192.0.2.1:81/stream", "--force")
    assert pictures.returncode == 0, pictures.stderr
    assert "http://192.0.2.1:81/stream" in home.config.read_text()
    assert home.run("serve", "--check").returncode == 0
    wrong = home.run("setup", "--camera", "ftp://192.0.2.1/", "--force")
    assert wrong.returncode == 64 and "onvif://" in wrong.stderr


def test_setup_asks_on_a_terminal(home: Home) -> None:
    code, screen = home.answer(["192.0.2.20", "viewer", "pass word", "Yard", "n", ""], "--no-try")
    assert code == 0, screen
    assert "pass" not in screen.replace("password", ""), "the password was shown"
    assert "Looking for" not in screen and "answered" not in screen, screen
    assert "onvif://viewer:pass%20word@192.0.2.20" in home.config.read_text()

    text = home.config.read_text()
    code, screen = home.answer(["n"])
    assert code == 1 and "left as it is" in screen
    assert home.config.read_text() == text


def test_setup_tries_the_camera_and_lets_the_person_decide(home: Home) -> None:
    # Nothing listens at the discard port.
    camera = "rtsp://viewer:hunter22@127.0.0.1:9/1"
    code, screen = home.answer([camera, "n", camera, "y", "Side doorbell", "n", ""])
    assert code == 0, screen
    assert screen.count("It does not work yet: ") == 2 and screen.count("Use it anyway?") == 2, screen
    text = home.config.read_text()
    assert f'source: "{camera}"' in text and "type: doorbell" in text
    # Without a terminal nothing is tried.
    made = home.run("setup", "--force", "--camera", camera, "--name", "Side", "--type", "camera")
    assert made.returncode == 0 and "does not work" not in made.stdout + made.stderr
    assert "type: camera" in home.config.read_text()
    assert home.run("setup", "--force", "--type", "bell").returncode == 64


class ServiceManager:
    """The socket to which a service reports, read as the service manager does it: all the time."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "notify")
        self.messages: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while message := self._socket.recv(4096):
            self.messages.append(message.decode())

    def received(self, beginning: str) -> str:
        """Waits for a message."""
        return eventually(
            lambda: next((one for one in self.messages if one.startswith(beginning)), ""), f"{beginning} is received"
        )

    def close(self) -> None:
        # An empty message ends the thread.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self.path)
        self._thread.join(PATIENCE)
        self._socket.close()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ServiceManager]:
    made = ServiceManager(tmp_path)
    yield made
    made.close()


def test_the_service_manager_learns_how_the_gateway_is(home: Home, binary: Path, manager: ServiceManager) -> None:
    assert home.run("setup").returncode == 0
    own, others = free_port(), free_port()
    sections = {"http": {"port": own, "https": {"port": others, "host": "0.0.0.0"}}, "media": {"port": free_port()}}
    config = home.config.read_text()
    cameras = config[config.index("cameras:") :]
    home.config.write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in sections.items()) + "\n" + cameras)
    environment = home.environment | {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"}
    # Without --config: the file of setup is found.
    gateway = OwnedProcess([str(binary), "serve"], home.log, environment)
    try:
        assert "STATUS=1 camera, page at http" in manager.received("READY=1")
        manager.received("WATCHDOG=1")
        gateway.line_starting("To sign in")
        signed_in = [address.split("#token=")[0] for address in home.run("token", "--url").stdout.splitlines()]
        assert signed_in[0] == f"http://127.0.0.1:{own}/"
        assert all(address.endswith(f":{others}/") for address in signed_in[1:])
        # A terminal also gets a code for phones, where another device reaches the page.
        codes = [home.on_a_terminal("token", "--url", *options) for options in ((), ("--light",))]
        for shown in codes:
            assert f"http://127.0.0.1:{own}/#token=" in shown
            assert ("A phone signs in" in shown) == ("█" in shown) == (len(signed_in) > 1), shown
        assert (codes[0] == codes[1]) == (len(signed_in) == 1)
        # A machine without a network has no address for others, and says that.
        assert "not on a network" in gateway.output() or all(f"  {one}\n" in gateway.output() for one in signed_in[1:])
    finally:
        assert gateway.stop() == 0
    manager.received("STOPPING=1")
    assert manager.messages[-1] == "STOPPING=1" and manager.messages.count("STOPPING=1") == 1
