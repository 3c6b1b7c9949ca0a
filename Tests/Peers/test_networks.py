"""Viewers on another network, behind another router than the gateway."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from aiortc import RTCIceServer
from peers.aiortc_viewer import AiortcViewer
from peers.coroutines import run
from peers.coturn import PORT, Coturn
from peers.gateway import DOORBELL, Gateway
from peers.namespace import NamespaceUnavailable
from peers.networks import INTERNET, NAT, PAGE, Networks, inside
from peers.polling import eventually

STUN = f"stun:{INTERNET}:{PORT}"


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks]:
    try:
        made = Networks()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no networks: {reason}")
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(networks: Networks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coturn]:
    started = Coturn(INTERNET, tmp_path_factory.mktemp("coturn"), networks.prefix(networks.internet))
    yield started
    started.stop()


@pytest.fixture(scope="module")
def remote(
    binary: Path, networks: Networks, server: Coturn, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """A gateway at home, whose page and API are forwarded by the router. Its media port is not."""
    gateway = Gateway(
        binary,
        tmp_path_factory.mktemp("home"),
        [DOORBELL],
        sections={"network": {"stun": [f"{INTERNET}:{PORT}"]}},
        prefix=networks.prefix(networks.home),
    )
    gateway.client = gateway.client_at(PAGE)
    networks.home_router.set(tcp_port=gateway.port)

    def knows_its_address() -> bool:
        return inside(networks.away, lambda: gateway.client.metric("gatehouse_media_port_outside_addresses") == 1)

    eventually(knows_its_address, "the STUN server says where it sees the media port")
    yield gateway
    gateway.stop()


async def watch(gateway: Gateway) -> str:
    """Watches until pictures and sound have come, and returns the answer to the offer."""
    viewer = AiortcViewer(gateway.client, DOORBELL.id, [RTCIceServer(STUN)])
    try:
        await viewer.start()
        await viewer.expect_media()
        return viewer.answer
    finally:
        await viewer.stop()


def reflexive_candidate(answer: str) -> tuple[str, int]:
    """The address and the port of the one reflexive candidate of an answer."""
    (line,) = [line for line in answer.splitlines() if " typ srflx " in line]
    address, port = line.split()[4:6]
    return address, int(port)


def test_a_viewer_behind_another_router_gets_pictures_and_sound(networks: Networks, remote: Gateway) -> None:
    answer = inside(networks.away, lambda: run(lambda: watch(remote)))
    assert reflexive_candidate(answer) == (networks.home_router.outside, remote.media_port)


def test_a_viewer_whose_router_has_a_port_for_each_destination_reaches_a_forwarded_port(
    networks: Networks, remote: Gateway
) -> None:
    networks.home_router.set(tcp_port=remote.port, udp_port=remote.media_port)
    networks.away_router.set(NAT.SYMMETRIC)
    try:
        answer = inside(networks.away, lambda: run(lambda: watch(remote)))
        assert reflexive_candidate(answer) == (networks.home_router.outside, remote.media_port)
    finally:
        networks.home_router.set(tcp_port=remote.port)
        networks.away_router.set()


def test_the_doctor_says_how_the_gateway_is_reached(networks: Networks, remote: Gateway) -> None:
    findings = inside(networks.away, lambda: remote.client.get("/v1/doctor"))["findings"]
    states = {finding["subject"]: finding["state"] for finding in findings}
    assert states["outsideAddress"] == states["mediaPort"] == states["camera"] == "good", findings
    # One server cannot tell how the router translates, and the config names no server for viewers.
    assert (states["translation"], states["viewerServers"]) == ("note", "warning"), findings
    (seen,) = [one for one in findings if one["subject"] == "outsideAddress"]
    assert f"{networks.home_router.outside}:{remote.media_port}" in seen["message"]
    assert all("advice" in finding for finding in findings if finding["state"] in ("warning", "failure"))
