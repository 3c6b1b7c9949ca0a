"""Hosts of a gateway, a viewer and the internet, joined by links that a test gives any addresses.

    gateway eth0 ── gateway ┐
                            ├ middle
    viewer  eth0 ── viewer  ┘

No link has an address at first, so a test decides which versions of the Internet Protocol there are. The host in the
middle forwards.
"""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .namespace import NamespaceUnavailable, add_namespace, inside, run_or_unavailable


class Host:
    """One network namespace."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def prefix(self) -> list[str]:
        """Runs what follows on the host, as the same process."""
        return ["ip", "netns", "exec", self.name]

    def run(self, *command: str, input: str | None = None) -> str:
        return run_or_unavailable(*self.prefix, *command, input=input)

    def add_address(self, address: str, interface: str = "eth0") -> None:
        """`address` has a length behind a slash. An IPv6 address can be used at once."""
        settled = ["nodad"] if ":" in address else []
        self.run("ip", "address", "add", address, "dev", interface, *settled)

    def remove_address(self, address: str, interface: str = "eth0") -> None:
        self.run("ip", "address", "del", address, "dev", interface)

    def add_route(self, destination: str, gateway: str) -> None:
        family = ["-6"] if ":" in gateway else []
        self.run("ip", *family, "route", "add", destination, "via", gateway)

    def set_forwarding(self, *rules: str) -> None:
        """Exchanges the rules for what the host forwards; without any, everything is forwarded."""
        lines = "\n".join(["type filter hook forward priority 0", *rules])
        script = f"flush ruleset\ntable inet filter {{\nchain forward {{\n{lines}\n}}\n}}\n"
        self.run("nft", "-f", "-", input=script)


class Links:
    """Made at once, removed by `close` with everything in it."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise NamespaceUnavailable("only root can make a network namespace")
        number = os.getpid()
        self.gateway, self.viewer, self.middle = (
            Host(f"gatehouse-{kind}-{number}") for kind in ("links-gate", "links-view", "links-middle")
        )
        self._made: list[str] = []
        try:
            for host in (self.gateway, self.viewer, self.middle):
                add_namespace(host.name)
                self._made.append(host.name)
                host.run("ip", "link", "set", "lo", "up")
                for setting in (
                    "net.ipv4.ip_forward=1",
                    "net.ipv6.conf.all.forwarding=1",
                    # The links have the addresses that the test gives them, and no others.
                    "net.ipv6.conf.all.accept_ra=0",
                    # One that is removed takes no others with it.
                    "net.ipv4.conf.all.promote_secondaries=1",
                ):
                    host.run("sysctl", "-qw", setting)
            for host, device in ((self.gateway, "gateway"), (self.viewer, "viewer")):
                host.run("ip", "link", "add", "eth0", "type", "veth", "peer", "name", device, "netns", self.middle.name)
                host.run("ip", "link", "set", "eth0", "up")
                self.middle.run("ip", "link", "set", device, "up")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for name in self._made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@contextmanager
def forwarder(host: Host, address: str, port: int, target: tuple[str, int]) -> Iterator[None]:
    """Forwards TCP connections to an address of a host, which may be of another version of the Internet Protocol."""

    def listen() -> socket.socket:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen()
        return listener

    listener = inside(host.name, listen)

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                try:
                    server = inside(host.name, lambda: socket.create_connection(target, timeout=10))
                except OSError:
                    client.close()
                    continue
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


__all__ = ["Host", "Links", "forwarder", "inside"]
