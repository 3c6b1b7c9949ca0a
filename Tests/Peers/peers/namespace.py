"""A network namespace that is joined to this host by a pair of interfaces.

Firefox uses no loopback address for media, so its packets have to come from somewhere else.
"""

import concurrent.futures
import ctypes
import os
import socket
import subprocess
from collections.abc import Callable
from typing import TypeVar

from .polling import PATIENCE

CLONE_NEWNET = 0x40000000
ADDRESSES_AT_ONCE = ("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0")
"""Gives the interfaces of a network their link-local addresses at once. One that becomes valid a second later is a
change of the network, and Chromium then ends what it is loading."""


T = TypeVar("T")


class NamespaceUnavailable(Exception):
    """This host gives no namespace; says why."""


def run_or_unavailable(*command: str, input: str | None = None) -> str:
    """Runs a command that makes or changes a network, and returns its output."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, input=input, timeout=PATIENCE)
    except FileNotFoundError:
        raise NamespaceUnavailable(f"{command[0]} is missing") from None
    if result.returncode != 0:
        raise NamespaceUnavailable(f"{' '.join(command)}: {result.stderr.strip()}")
    return result.stdout


def add_namespace(name: str) -> None:
    """Makes a network namespace."""
    run_or_unavailable("ip", "netns", "add", name)
    run_or_unavailable("ip", "netns", "exec", name, *ADDRESSES_AT_ONCE)


def inside(namespace: str, work: Callable[[], T]) -> T:
    """Does some work on a thread of its own that is inside a namespace, and so are the threads that it starts."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:

        def enter_and_work() -> T:
            library = ctypes.CDLL(None, use_errno=True)
            with open(f"/run/netns/{namespace}") as handle:
                if library.setns(handle.fileno(), CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), "setns")
            return work()

        return pool.submit(enter_and_work).result()


class Place:
    """A network namespace, as a program that lives there needs it."""

    def __init__(self, name: str, host_address: str) -> None:
        self.name = name
        self.host_address = host_address
        """The address by which the gateway's page is reached from there."""

    @property
    def command_prefix(self) -> list[str]:
        """Runs what follows inside the namespace, as the same process."""
        return ["ip", "netns", "exec", self.name]

    def connect(self, host: str, port: int) -> socket.socket:
        """Connects by TCP from inside the namespace. A thread of its own enters it, so that the test stays outside."""
        return inside(self.name, lambda: socket.create_connection((host, port), timeout=PATIENCE))


class Namespace(Place):
    """Made at once, removed by `close` with everything in it."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise NamespaceUnavailable("only root can make a network namespace")
        number = os.getpid() % 16384
        # 198.18.0.0/15 is set aside for tests between networks (RFC 2544); four addresses for each process.
        base = f"198.18.{number // 64}."
        first = number % 64 * 4
        super().__init__(f"gatehouse-{os.getpid()}", base + str(first + 1))
        self.address = base + str(first + 2)
        outside, inside = f"gh{os.getpid()}o", f"gh{os.getpid()}i"
        add_namespace(self.name)
        try:
            run_or_unavailable("ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", self.name)
            run_or_unavailable("ip", "address", "add", f"{self.host_address}/30", "dev", outside)
            run_or_unavailable("ip", "link", "set", outside, "up")
            self._inside("ip", "address", "add", f"{self.address}/30", "dev", inside)
            self._inside("ip", "link", "set", inside, "up")
            self._inside("ip", "link", "set", "lo", "up")
        except BaseException:
            self.close()
            raise

    def _inside(self, *command: str) -> None:
        run_or_unavailable(*self.command_prefix, *command)

    def close(self) -> None:
        # The interfaces go with the namespace that one of them is in.
        subprocess.run(["ip", "netns", "delete", self.name], capture_output=True, timeout=PATIENCE)
