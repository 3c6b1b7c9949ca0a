"""Two homes and the internet between them: networks of this host's own, behind routers that translate addresses.

    home 192.168.1.10 ── router 203.0.113.6 ── internet 203.0.113.1 ── router 203.0.113.10 ── away 10.0.0.10

The kernel translates, as in most routers. None of these networks is joined to the host's own, so the addresses may be
any.
"""

import os
import subprocess
from enum import Enum

from .namespace import NamespaceUnavailable, add_namespace, inside, run_or_unavailable

INTERNET = "203.0.113.1"
"""Where the servers of the internet listen."""
INTERNET_2 = "203.0.113.2"
"""Another address of theirs."""
PAGE = "203.0.113.14"
"""Another address of the home's router, by which the page and the API are reached. Datagrams to it lead nowhere, so a
viewer has to learn the address of the media port in another way."""


class NAT(Enum):
    """How a router translates."""

    RESTRICTED = "masquerade"
    """One outside address for all destinations, and only those that have been sent to get through (RFC 4787: mapping
    independent of the endpoint, filtering dependent on address and port)."""
    SYMMETRIC = "masquerade random,fully-random"
    """Another outside port for each destination."""
    FULL_CONE = "masquerade persistent"
    """One outside address for all destinations, and everybody who sends there gets through (filtering independent of
    the endpoint)."""


class Router:
    """Between a network and the internet. Datagrams that nobody inside has asked for are dropped."""

    def __init__(self, name: str, inside_host: str, outside: str) -> None:
        self.name, self.inside_host, self.outside = name, inside_host, outside

    def set(
        self,
        nat: NAT = NAT.RESTRICTED,
        tcp_port: int | None = None,
        udp_port: int | None = None,
        blocks_udp: bool = False,
        media_tcp_port: int | None = None,
        loss: int = 0,
    ) -> None:
        """The ports are forwarded to the network's host. `loss` is the percentage of datagrams that are dropped at
        random, in both directions."""
        forwarded = "\n".join(
            f'iifname "wan" {protocol} dport {port} dnat to {self.inside_host}'
            for protocol, port in (("tcp", tcp_port), ("tcp", media_tcp_port), ("udp", udp_port))
            if port
        )
        if nat == NAT.FULL_CONE:
            # The outside port is the inside one, since the network has one host.
            forwarded += f'\niifname "wan" ip daddr {self.outside} meta l4proto udp dnat to {self.inside_host}'
        script = f"""
            flush ruleset
            table ip translation {{
                chain outward {{
                    type nat hook postrouting priority srcnat
                    oifname "wan" {nat.value}
                }}
                chain inward {{
                    type nat hook prerouting priority dstnat
                    {forwarded}
                }}
            }}
            table ip filter {{
                chain input {{
                    type filter hook input priority 0
                    iifname "wan" drop
                }}
                chain forward {{
                    type filter hook forward priority 0
                    {"meta l4proto udp drop" if blocks_udp else ""}
                    {f"meta l4proto udp numgen random mod 100 < {loss} drop" if loss else ""}
                    iifname "wan" ct state established,related accept
                    iifname "wan" ct status dnat accept
                    iifname "wan" drop
                }}
            }}
        """
        run_or_unavailable(*Networks.prefix(self.name), "nft", "-f", "-", input=script)


class Networks:
    """Made at once, removed by `close` with everything in them."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise NamespaceUnavailable("only root can make a network namespace")
        number = os.getpid()
        self.home, self.away, self.internet = (f"gatehouse-{kind}-{number}" for kind in ("home", "away", "net"))
        self.home_router = Router(f"{self.home}-router", "192.168.1.10", "203.0.113.6")
        self.away_router = Router(f"{self.away}-router", "10.0.0.10", "203.0.113.10")
        self._made: list[str] = []
        try:
            for name in (self.home, self.away, self.internet, self.home_router.name, self.away_router.name):
                add_namespace(name)
                self._made.append(name)
                self._in(name, "ip", "link", "set", "lo", "up")
                self._in(name, "sysctl", "-qw", "net.ipv4.ip_forward=1")
            for address in (INTERNET, INTERNET_2):
                self._in(self.internet, "ip", "address", "add", f"{address}/32", "dev", "lo")
            self._join(self.home, self.home_router, "192.168.1.1", "home", "203.0.113.5")
            self._in(self.internet, "ip", "route", "add", f"{PAGE}/32", "via", self.home_router.outside)
            self._join(self.away, self.away_router, "10.0.0.1", "away", "203.0.113.9")
            self._lose_what_goes_to_private_addresses()
        except BaseException:
            self.close()
            raise

    def _join(self, network: str, router: Router, gateway: str, device: str, provider: str) -> None:
        """Joins a network to its router, and the router to the internet."""
        self._in(network, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "lan", "netns", router.name)
        self._in(
            router.name, "ip", "link", "add", "wan", "type", "veth", "peer", "name", device, "netns", self.internet
        )
        for name, interface, address, length in (
            (network, "eth0", router.inside_host, 24),
            (router.name, "lan", gateway, 24),
            (router.name, "wan", router.outside, 30),
            (self.internet, device, provider, 30),
        ):
            self._in(name, "ip", "address", "add", f"{address}/{length}", "dev", interface)
            self._in(name, "ip", "link", "set", interface, "up")
        # A run of datagrams that the kernel splits late would reach the router whole, and be lost whole.
        self._in(network, "ethtool", "-K", "eth0", "tx-udp-segmentation", "off")
        self._in(network, "ip", "route", "add", "default", "via", gateway)
        self._in(router.name, "ip", "route", "add", "default", "via", provider)
        router.set()

    def _lose_what_goes_to_private_addresses(self) -> None:
        """On the internet it vanishes. Without a way to go it would be an error of the sender, at which coturn ends the
        whole allocation."""
        self._in(self.internet, "ip", "link", "add", "nowhere", "type", "veth", "peer", "name", "nobody")
        for interface in ("nowhere", "nobody"):
            self._in(self.internet, "ip", "link", "set", interface, "up")
        for router in (self.home_router, self.away_router):
            self._in(self.internet, "ip", "route", "add", f"{router.inside_host}/32", "dev", "nowhere")
            # Nobody has this hardware address, so nobody is asked for it either.
            self._in(
                self.internet, "ip", "neighbour", "add", router.inside_host, "lladdr", "02:00:00:00:00:01", "dev",
                "nowhere", "nud", "permanent",
            )  # fmt: skip

    def _in(self, name: str, *command: str) -> None:
        run_or_unavailable(*self.prefix(name), *command)

    @staticmethod
    def prefix(name: str) -> list[str]:
        """Runs what follows inside one of the networks, as the same process."""
        return ["ip", "netns", "exec", name]

    def close(self) -> None:
        # The interfaces go with the namespaces.
        for name in self._made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


__all__ = ["INTERNET", "INTERNET_2", "NAT", "PAGE", "Networks", "Router", "inside"]
