"""A network namespace that is joined to this host by a pair of interfaces.

Firefox uses no loopback address for media, so its packets have to come from somewhere else.
"""

import ctypes
import os
import socket
import subprocess
import threading

from .polling import PATIENCE

CLONE_NEWNET = 0x40000000


class NamespaceUnavailable(Exception):
    """This host gives no namespace; says why."""


def _run(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise NamespaceUnavailable(f"{' '.join(command)}: {result.stderr.strip()}")


class Namespace:
    """Made at once, removed by `close` with everything in it."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise NamespaceUnavailable("only root can make a network namespace")
        number = os.getpid() % 16384
        self.name = f"gatehouse-{os.getpid()}"
        # 198.18.0.0/15 is set aside for tests between networks (RFC 2544); four addresses for each process.
        base = f"198.18.{number // 64}."
        first = number % 64 * 4
        self.host_address, self.address = base + str(first + 1), base + str(first + 2)
        outside, inside = f"gh{os.getpid()}o", f"gh{os.getpid()}i"
        _run("ip", "netns", "add", self.name)
        try:
            _run("ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", self.name)
            _run("ip", "address", "add", f"{self.host_address}/30", "dev", outside)
            _run("ip", "link", "set", outside, "up")
            self._inside("ip", "address", "add", f"{self.address}/30", "dev", inside)
            self._inside("ip", "link", "set", inside, "up")
            self._inside("ip", "link", "set", "lo", "up")
        except BaseException:
            self.close()
            raise

    def _inside(self, *command: str) -> None:
        _run(*self.command_prefix, *command)

    @property
    def command_prefix(self) -> list[str]:
        """Runs what follows inside the namespace, as the same process."""
        return ["ip", "netns", "exec", self.name]

    def connect(self, host: str, port: int) -> socket.socket:
        """Connects by TCP from inside the namespace. A thread of its own enters it, so that the test stays outside."""
        result: list[socket.socket | OSError] = []

        def enter_and_connect() -> None:
            try:
                library = ctypes.CDLL(None, use_errno=True)
                with open(f"/run/netns/{self.name}") as handle:
                    if library.setns(handle.fileno(), CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                result.append(socket.create_connection((host, port), timeout=PATIENCE))
            except OSError as error:
                result.append(error)

        thread = threading.Thread(target=enter_and_connect)
        thread.start()
        thread.join()
        if isinstance(result[0], OSError):
            raise result[0]
        return result[0]

    def close(self) -> None:
        # The interfaces go with the namespace that one of them is in.
        subprocess.run(["ip", "netns", "delete", self.name], capture_output=True)
