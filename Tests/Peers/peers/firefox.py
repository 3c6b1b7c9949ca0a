"""Debian's Firefox, driven by WebDriver BiDi without a driver program between."""

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from .namespace import Place
from .polling import PATIENCE
from .ports import free_port
from .processes import OwnedProcess

EXECUTABLE = "/usr/bin/firefox-esr"
PREFERENCES: dict[str, Any] = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    # The page comes by plain HTTP from another host, where cameras are for pages of a secure context otherwise.
    "media.devices.insecure.enabled": True,
    "media.getusermedia.insecure.enabled": True,
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004"}
"""What WebDriver calls the keys that type nothing."""


def own_address() -> str:
    """An address of this host that is not loopback: the one that packets to elsewhere would leave from."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


class Firefox:
    """One browser with one page, inside `namespace` if there is one."""

    def __init__(
        self,
        directory: Path,
        namespace: Place | None,
        trusts_everybody: bool = False,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """With `trusts_everybody` it accepts every certificate, also that of a TURN server. `names` maps host names
        that only this browser knows to addresses; it needs a namespace."""
        profile = directory / "profile"
        profile.mkdir(parents=True)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("\n".join(lines) + "\n")
        self._namespace = namespace
        self.host = namespace.host_address if namespace else own_address()
        """The address by which it reaches what listens on this host."""
        self._port = free_port()
        prefix = namespace.command_prefix if namespace else []
        if names:
            hosts = directory / "hosts"
            hosts.write_text("".join(f"{address} {name}\n" for name, address in names.items()))
            # Entering a namespace gives the process mounts of its own.
            prefix = [*prefix, "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(hosts)]
        self.process = OwnedProcess(
            [*prefix, EXECUTABLE, "--headless", "--no-remote", "--profile", str(profile),
             "--remote-debugging-port", str(self._port)],
            directory / "firefox.log",
            # A home of its own: as root Firefox refuses one that belongs to somebody else.
            os.environ | {"HOME": str(directory), "MOZ_HEADLESS": "1"},
        )  # fmt: skip
        self._number = 0
        self._resources = ExitStack()
        try:
            self.process.line_starting("WebDriver BiDi listening")
            self._socket = self._open()
            self._command("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": trusts_everybody}})
            self._context = self._command("browsingContext.getTree")["contexts"][0]["context"]
        except BaseException:
            self.stop()
            raise

    def _open(self) -> ClientConnection:
        plain: socket.socket
        if self._namespace:
            plain = self._namespace.connect("127.0.0.1", self._port)
        else:
            plain = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
        return self._resources.enter_context(
            connect(f"ws://127.0.0.1:{self._port}/session", sock=plain, max_size=None, open_timeout=PATIENCE)
        )

    def _command(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        deadline = time.monotonic() + PATIENCE
        while True:
            # Events have no number; answers come in order, since one command is sent at a time.
            try:
                message = json.loads(self._socket.recv(timeout=max(0.0, deadline - time.monotonic())))
            except TimeoutError:
                asked = json.dumps(parameters)[:300]
                raise AssertionError(f"not within {PATIENCE:g} s: Firefox answers {method} {asked}") from None
            if message.get("id") == self._number:
                if message["type"] == "error":
                    raise AssertionError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]

    def open(self, address: str) -> None:
        self._command("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, by way of JSON; promises are awaited."""
        result = self._command(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression}) ?? null))()",
            target={"context": self._context},
            awaitPromise=True,
            # Counts as a tap, which playing sound asks for.
            userActivation=True,
        )
        if result["type"] == "exception":
            raise AssertionError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    def resize(self, width: int, height: int) -> None:
        """Gives the page so much room, in CSS pixels."""
        viewport = {"width": width, "height": height}
        self._command("browsingContext.setViewport", context=self._context, viewport=viewport)

    def press(self, key: str) -> None:
        """Presses a key and lets it go: a letter, or one of `KEYS`."""
        value = KEYS.get(key, key)
        presses = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": presses}
        self._command("input.performActions", context=self._context, actions=[keyboard])

    @contextmanager
    def preloaded(self, script: str) -> Iterator[None]:
        """Runs a script in each page that is opened meanwhile, before the page's own."""
        added = self._command("script.addPreloadScript", functionDeclaration=f"() => {{\n{script}\n}}")
        try:
            yield
        finally:
            self._command("script.removePreloadScript", script=added["script"])

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Uses another tab meanwhile, with a cache and a storage of its own, both empty."""
        user = self._command("browser.createUserContext")["userContext"]
        before = self._context
        try:
            self._context = self._command("browsingContext.create", type="tab", userContext=user)["context"]
            yield
        finally:
            self._context = before
            # Closes its tabs, too.
            self._command("browser.removeUserContext", userContext=user)

    def stop(self) -> None:
        self._resources.close()
        self.process.stop()
