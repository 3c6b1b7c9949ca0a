"""The router forwards the media port: miniupnpd, as in most homes, and routers that know NAT-PMP or UPnP alone."""

import json
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from peers.aiortc_viewer import AiortcViewer
from peers.coroutines import run
from peers.gateway import DOORBELL, Gateway
from peers.miniupnpd import MiniUPnPd
from peers.namespace import NamespaceUnavailable
from peers.networks import PAGE, Networks, inside
from peers.polling import eventually

ROUTER = "192.168.1.1"
OUTSIDE = "223.255.255.6"
"""An address of the home's router that looks public. It exists in the test's own networks only."""
OWN_IPV6 = "2001:db8:1::10"
"""The gateway's global address in the home's network of IPv6."""


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks]:
    try:
        made = Networks()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no networks: {reason}")
    for name, command in (
        (made.home_router.name, f"ip address add {OUTSIDE}/32 dev wan"),
        (made.internet, f"ip route add {OUTSIDE}/32 via {made.home_router.outside}"),
    ):
        subprocess.run([*made.prefix(name), *command.split()], check=True)
    yield made
    made.close()


@contextmanager
def gateway_at_home(binary: Path, folder: Path, networks: Networks, *, tcp: bool = False) -> Iterator[Gateway]:
    """A gateway at home, whose page and API are forwarded by the router. Its media port is not. With `tcp` it has a TCP
    port of media."""
    gateway = Gateway(
        binary,
        folder,
        [DOORBELL],
        sections={"network": {"portMapping": True, "tcp": tcp}},
        prefix=networks.prefix(networks.home),
    )
    gateway.client = gateway.client_at(PAGE)
    # A table of its own: the router's other rules stay, those of its port mapping server too.
    rules = f"""
        table ip page {{
            chain inward {{
                type nat hook prerouting priority dstnat
                iifname "wan" tcp dport {gateway.port} dnat to {networks.home_router.inside_host}
            }}
        }}
    """
    router = networks.prefix(networks.home_router.name)
    subprocess.run([*router, "nft", "-f", "-"], input=rules, text=True, check=True)
    try:
        yield gateway
    finally:
        gateway.stop()
        subprocess.run([*router, "nft", "delete", "table", "ip", "page"], check=True)


def from_away(networks: Networks, probe: Callable[[], bool]) -> bool:
    return inside(networks.away, probe)


def findings(gateway: Gateway) -> list[dict[str, str]]:
    return [one for one in gateway.client.get("/v1/doctor")["findings"] if one["subject"] == "portMapping"]


def states(gateway: Gateway) -> list[str]:
    return [one["state"] for one in findings(gateway)]


def finding(gateway: Gateway) -> dict[str, str]:
    return findings(gateway)[0]


async def watch(gateway: Gateway) -> str:
    """Watches until pictures and sound have come, and returns the answer to the offer."""
    viewer = AiortcViewer(gateway.client, DOORBELL.id)
    try:
        await viewer.start()
        await viewer.expect_media()
        return viewer.answer
    finally:
        await viewer.stop()


@pytest.mark.parametrize("protocol", ["PCP", "UPnP"])
def test_a_viewer_elsewhere_reaches_the_port_that_the_router_forwards(
    binary: Path, networks: Networks, tmp_path: Path, protocol: str
) -> None:
    upnp = protocol == "UPnP"
    router = MiniUPnPd(tmp_path, networks.prefix(networks.home_router.name), OUTSIDE, upnp=upnp)
    try:
        with gateway_at_home(binary, tmp_path, networks) as gateway:
            inside(networks.away, lambda: gateway.wait_until_flowing(DOORBELL.id))
            eventually(
                lambda: from_away(networks, lambda: gateway.client.metric("gatehouse_port_mapped") == 1),
                "the router forwards the media port",
            )
            assert router.forwards(gateway.media_port), router.output()
            answer = inside(networks.away, lambda: run(lambda: watch(gateway)))
            (line,) = [line for line in answer.splitlines() if " typ srflx " in line]
            assert line.split()[4:6] == [OUTSIDE, str(gateway.media_port)]
            told = inside(networks.away, lambda: finding(gateway))
            assert told["state"] == "good" and f"({protocol})" in told["message"], told
            assert gateway.stop() == 0
            eventually(lambda: not router.forwards(gateway.media_port), "the mapping ends with the gateway")
    finally:
        router.stop()


def test_the_doctor_says_that_the_router_forwards_the_tcp_port_too(
    binary: Path, networks: Networks, tmp_path: Path
) -> None:
    router = MiniUPnPd(tmp_path, networks.prefix(networks.home_router.name), OUTSIDE)
    try:
        with gateway_at_home(binary, tmp_path, networks, tcp=True) as gateway:
            eventually(
                lambda: from_away(networks, lambda: states(gateway)[:2] == ["good", "good"]),
                "the router forwards both ports",
            )
            told = inside(networks.away, lambda: findings(gateway))
            address = f"{OUTSIDE}:{gateway.media_port}"
            assert f"{address} to the media port (PCP)" in told[0]["message"], told
            assert f"{address} to TCP port {gateway.media_port} (PCP)" in told[1]["message"], told
            assert gateway.stop() == 0
    finally:
        router.stop()


@contextmanager
def ipv6_at_home(networks: Networks) -> Iterator[None]:
    """Gives the home IPv6. The host knows the router by its link-local address only, as in most homes."""
    router, home = networks.prefix(networks.home_router.name), networks.prefix(networks.home)
    show = [*router, "ip", "-json", "-6", "address", "show", "dev", "lan", "scope", "link"]
    shown = json.loads(subprocess.run(show, capture_output=True, text=True, check=True).stdout)
    (link_local,) = [one["local"] for device in shown for one in device.get("addr_info", [])]
    parts: tuple[tuple[list[str], str, list[str], list[str]], ...] = (
        (router, "address", ["2001:db8:1::1/64", "dev", "lan"], ["nodad"]),
        (home, "address", [f"{OWN_IPV6}/64", "dev", "eth0"], ["nodad"]),
        (home, "route", ["default", "via", link_local, "dev", "eth0"], []),
    )
    for prefix, kind, part, options in parts:
        subprocess.run([*prefix, "ip", "-6", kind, "add", *part, *options], check=True)
    try:
        yield
    finally:
        for prefix, kind, part, _ in reversed(parts):
            subprocess.run([*prefix, "ip", "-6", kind, "delete", *part], check=True)


def test_a_router_that_knows_only_upnp_lets_the_media_port_through_its_ipv6_firewall(
    binary: Path, networks: Networks, tmp_path: Path
) -> None:
    prefix = networks.prefix(networks.home_router.name)
    # miniupnpd answers PCP over IPv6, whatever its settings say.
    rules = """
        table ip6 mapping {
            chain input {
                type filter hook input priority 0
                udp dport 5351 drop
            }
        }
    """
    with ipv6_at_home(networks):
        subprocess.run([*prefix, "nft", "-f", "-"], input=rules, text=True, check=True)
        router = MiniUPnPd(tmp_path, prefix, OUTSIDE, upnp=True, ipv6=True)
        try:
            with gateway_at_home(binary, tmp_path, networks) as gateway:
                opened = f"lets IPv6 datagrams for [{OWN_IPV6}]:{gateway.media_port} through to this machine (UPnP)"
                eventually(
                    lambda: from_away(networks, lambda: any(opened in one["message"] for one in findings(gateway))),
                    "the router opens its IPv6 firewall",
                )
                assert router.lets_in(gateway.media_port, OWN_IPV6), router.output()
                assert gateway.stop() == 0
                eventually(
                    lambda: not router.lets_in(gateway.media_port, OWN_IPV6), "the pinhole ends with the gateway"
                )
        finally:
            router.stop()
            subprocess.run([*prefix, "nft", "delete", "table", "ip6", "mapping"], check=True)


def test_a_router_that_answers_only_to_multicast_is_found_by_upnp(
    binary: Path, networks: Networks, tmp_path: Path
) -> None:
    prefix = networks.prefix(networks.home_router.name)
    rules = f"""
        table inet search {{
            chain input {{
                type filter hook input priority 0
                ip daddr {ROUTER} udp dport 1900 drop
            }}
        }}
    """
    subprocess.run([*prefix, "nft", "-f", "-"], input=rules, text=True, check=True)
    router = MiniUPnPd(tmp_path, prefix, OUTSIDE, upnp=True)
    try:
        with gateway_at_home(binary, tmp_path, networks) as gateway:
            eventually(
                lambda: from_away(networks, lambda: gateway.client.metric("gatehouse_port_mapped") == 1),
                "the router forwards the media port",
            )
            assert gateway.stop() == 0
    finally:
        router.stop()
        subprocess.run([*prefix, "nft", "delete", "table", "inet", "search"], check=True)


class NATPMPRouter:
    """Answers as RFC 6886 says, and nothing newer. It forwards nothing: what it is asked is what counts."""

    def __init__(self, address: str, outside: str) -> None:
        self.requests: list[bytes] = []
        self._outside = socket.inet_aton(outside)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, 5351))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            request, source = self._socket.recvfrom(1100)
            if not request:
                return
            self.requests.append(request)
            if request[0] != 0:
                # Section 3.5: the version of the answer is the router's; the code says that it knows no other.
                answer = struct.pack("!BBHI", 0, 128 + request[1], 1, 9)
            elif request[1] == 0:
                answer = struct.pack("!BBHI4s", 0, 128, 0, 9, self._outside)
            else:
                own, wanted, lifetime = struct.unpack("!HHI", request[4:12])
                answer = struct.pack("!BBHIHHI", 0, 129, 0, 9, own, wanted, lifetime)
            self._socket.sendto(answer, source)

    def stop(self) -> None:
        # An empty datagram to itself ends the thread.
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


def test_a_router_that_knows_only_nat_pmp_is_asked_in_its_own_words(
    binary: Path, networks: Networks, tmp_path: Path
) -> None:
    router = inside(networks.home_router.name, lambda: NATPMPRouter(ROUTER, OUTSIDE))
    try:
        with gateway_at_home(binary, tmp_path, networks) as gateway:
            eventually(
                lambda: from_away(networks, lambda: gateway.client.metric("gatehouse_port_mapped") == 1),
                "the router forwards the media port",
            )
            told = inside(networks.away, lambda: finding(gateway))
            assert f"{OUTSIDE}:{gateway.media_port}" in told["message"] and "(NAT-PMP)" in told["message"], told
            assert gateway.stop() == 0
        end = struct.pack("!BBHHHI", 0, 1, 0, gateway.media_port, 0, 0)
        eventually(lambda: router.requests[-1] == end, "the mapping ends with the gateway")
    finally:
        router.stop()


def test_the_doctor_says_that_the_router_does_not_answer(binary: Path, networks: Networks, tmp_path: Path) -> None:
    with gateway_at_home(binary, tmp_path, networks) as gateway:
        told = inside(networks.away, lambda: finding(gateway))
        # Whoever asks after the last attempt learns that there was no answer.
        no_answer = "answers neither PCP nor NAT-PMP nor UPnP" in told["message"]
        assert ROUTER in told["message"] and told["state"] == ("failure" if no_answer else "note"), told
        assert inside(networks.away, lambda: gateway.client.metric("gatehouse_port_mapped")) == 0
