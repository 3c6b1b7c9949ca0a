"""A gateway at home that is watched from another network: its config, and what its router lets in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .coturn import PASSWORD, PORT, USER, Coturn
from .gateway import DOORBELL, Gateway
from .networks import INTERNET, PAGE, Networks, inside
from .polling import eventually
from .ports import free_port

STUN = f"stun:{INTERNET}:{PORT}"
TURN: dict[str, object] = {"url": f"turn:{INTERNET}:{PORT}"}
"""The gateway's server, over UDP."""


@contextmanager
def coturn_on_the_internet(networks: Networks, folder: Path) -> Iterator[Coturn]:
    started = Coturn(INTERNET, folder, networks.prefix(networks.internet))
    try:
        yield started
    finally:
        started.stop()


def relays(networks: Networks, gateway: Gateway) -> bool:
    """Whether a TURN server relays for the gateway."""
    return inside(networks.away, lambda: gateway.client.metric("gatehouse_turn_allocated") == 1)


def path_of_the_session(networks: Networks, gateway: Gateway) -> str | None:
    """How the gateway reaches the one viewer that it has."""
    (session,) = inside(networks.away, gateway.client.sessions)
    path = session.get("path")
    return None if path is None else str(path)


@contextmanager
def gateway_at_home(
    binary: Path,
    folder: Path,
    networks: Networks,
    turn: dict[str, object],
    blocks_udp: bool = False,
    media: dict[str, object] | None = None,
) -> Iterator[Gateway]:
    """A gateway at home, whose page and API are forwarded by the router. Its media port is not. `media` is that section
    of the config."""
    networks.home_router.set(blocks_udp=blocks_udp)
    gateway = Gateway(
        binary,
        folder,
        [DOORBELL],
        sections={
            "network": {
                "stun": [f"{INTERNET}:{PORT}"],
                "turn": [turn | {"username": USER, "credential": PASSWORD}],
            }
        }
        | ({"media": media} if media else {}),
        prefix=networks.prefix(networks.home),
    )
    gateway.client = gateway.client_at(PAGE)
    networks.home_router.set(tcp_port=gateway.port, blocks_udp=blocks_udp)
    try:
        eventually(lambda: relays(networks, gateway), "the TURN server relays for the gateway")
        yield gateway
    finally:
        gateway.stop()
        networks.home_router.set()


def await_own_address(networks: Networks, gateway: Gateway) -> None:
    """Waits until a STUN server has reported where it sees the gateway. After a question without an answer, for example
    because its router has just got other rules, the gateway asks again 15 s later."""

    def knows_its_address() -> bool:
        metric = "gatehouse_media_port_outside_addresses"
        return inside(networks.away, lambda: gateway.client.metric(metric) == 1)

    eventually(knows_its_address, "the STUN server says where it sees the media port")


@contextmanager
def gateway_that_knows_its_address(binary: Path, folder: Path, networks: Networks) -> Iterator[Gateway]:
    """A gateway at home whose servers are reached over UDP, and have reported where they see it."""
    with gateway_at_home(binary, folder, networks, TURN) as gateway:
        await_own_address(networks, gateway)
        inside(networks.away, lambda: gateway.wait_until_flowing(DOORBELL.id))
        yield gateway


@contextmanager
def gateway_reached_by_tcp(binary: Path, folder: Path, networks: Networks) -> Iterator[Gateway]:
    """A gateway whose router forwards its ports, and a network away from it that blocks all UDP."""
    media_port = free_port()
    gateway = Gateway(
        binary,
        folder,
        [DOORBELL],
        sections={"media": {"port": media_port}},
        prefix=networks.prefix(networks.home),
    )
    gateway.media_port = media_port
    gateway.client = gateway.client_at(PAGE)
    networks.home_router.set(tcp_port=gateway.port, udp_port=media_port, media_tcp_port=media_port)
    networks.away_router.set(blocks_udp=True)
    try:
        inside(networks.away, lambda: gateway.wait_until_flowing(DOORBELL.id))
        yield gateway
    finally:
        gateway.stop()
        networks.home_router.set()
        networks.away_router.set()


@contextmanager
def gateway_reached_at_port_443(binary: Path, folder: Path, networks: Networks) -> Iterator[Gateway]:
    """A gateway that accepts media over TCP at the port of TLS, and a network away from it that blocks all UDP."""
    gateway = Gateway(
        binary, folder, [DOORBELL], sections={"network": {"tcp": 443}}, prefix=networks.prefix(networks.home)
    )
    gateway.client = gateway.client_at(PAGE)
    networks.home_router.set(tcp_port=gateway.port, media_tcp_port=443)
    networks.away_router.set(blocks_udp=True)
    try:
        inside(networks.away, lambda: gateway.wait_until_flowing(DOORBELL.id))
        yield gateway
    finally:
        gateway.stop()
        networks.home_router.set()
        networks.away_router.set()
