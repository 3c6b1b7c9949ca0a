"""Viewers on another network, behind another router than the gateway."""

import json
import os
import re
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from aiortc import RTCIceServer
from peers.aiortc_viewer import AiortcViewer
from peers.chromium import launch_inside, open_page
from peers.coroutines import run
from peers.coturn import PASSWORD, PORT, TLS_PORT, USER, Coturn
from peers.gateway import DOORBELL, Gateway
from peers.networks import INTERNET, NAT, PAGE, Networks, inside
from peers.pki import Authority
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.remote_gateway import (
    STUN,
    TURN,
    gateway_at_home,
    gateway_reached_at_port_443,
    gateway_reached_by_tcp,
    gateway_that_knows_its_address,
    relays,
)
from peers.viewer import viewing
from playwright.sync_api import Playwright, expect


@pytest.fixture(scope="module")
def remote(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """A gateway whose servers are reached over UDP."""
    with gateway_that_knows_its_address(binary, tmp_path_factory.mktemp("home"), networks) as gateway:
        yield gateway


async def watch(gateway: Gateway, path: str, turn: RTCIceServer | None = None) -> str:
    """Watches until pictures and sound have come by a path of this kind, and returns the answer to the offer. A viewer
    with a TURN server uses that alone."""
    viewer = AiortcViewer(gateway.client, DOORBELL.id, [turn or RTCIceServer(STUN)], relayed=turn is not None)
    try:
        await viewer.start()
        await viewer.expect_media()
        (session,) = gateway.client.sessions()
        assert session["path"] == path, session
        return viewer.answer
    finally:
        await viewer.stop()


def relayed_host(answer: str) -> str:
    """The host of the one relayed candidate of an answer."""
    (line,) = [line for line in answer.splitlines() if " typ relay " in line]
    return line.split()[4]


def reflexive_candidate(answer: str) -> tuple[str, int]:
    """The address and the port of the one reflexive candidate of an answer."""
    (line,) = [line for line in answer.splitlines() if " typ srflx " in line]
    address, port = line.split()[4:6]
    return address, int(port)


def test_a_viewer_behind_another_router_gets_pictures_and_sound(networks: Networks, remote: Gateway) -> None:
    answer = inside(networks.away, lambda: run(lambda: watch(remote, "reflexive")))
    assert reflexive_candidate(answer) == (networks.home_router.outside, remote.media_port)


def test_a_viewer_whose_router_has_a_port_for_each_destination_reaches_a_forwarded_port(
    networks: Networks, remote: Gateway
) -> None:
    networks.home_router.set(tcp_port=remote.port, udp_port=remote.media_port)
    networks.away_router.set(NAT.SYMMETRIC)
    try:
        answer = inside(networks.away, lambda: run(lambda: watch(remote, "reflexive")))
        assert reflexive_candidate(answer) == (networks.home_router.outside, remote.media_port)
    finally:
        networks.home_router.set(tcp_port=remote.port)
        networks.away_router.set()


def test_the_doctor_says_how_the_gateway_is_reached(networks: Networks, remote: Gateway) -> None:
    findings = inside(networks.away, lambda: remote.client.get("/v1/doctor"))["findings"]
    states = {finding["subject"]: finding["state"] for finding in findings}
    assert states["outsideAddress"] == states["mediaPort"] == states["turnServer"] == states["camera"] == "good"
    # One server cannot tell how the router translates, and the config names no server for viewers.
    assert (states["translation"], states["viewerServers"]) == ("note", "warning"), findings
    (seen,) = [one for one in findings if one["subject"] == "outsideAddress"]
    assert f"{networks.home_router.outside}:{remote.media_port}" in seen["message"]
    assert all("advice" in finding for finding in findings if finding["state"] in ("warning", "failure"))


def look_from_outside(binary: Path, networks: Networks, gateway: Gateway) -> dict[tuple[str, str], str]:
    """What `gatehouse doctor` finds in the other network about the way: the messages, by subject and state. What the
    gateway finds by itself is left out."""
    command = [str(binary), "doctor", "--json", "--gateway", f"http://{PAGE}:{gateway.port}"]
    done = subprocess.run(
        [*networks.prefix(networks.away), *command], capture_output=True, text=True, timeout=PATIENCE,
        env=os.environ | {"GATEHOUSE_TOKEN": gateway.token},
    )  # fmt: skip
    findings = json.loads(done.stdout)["findings"]
    # The gateway begins with where its page is served.
    seen = next((number for number, one in enumerate(findings) if "http.host" in one.get("advice", "")), len(findings))
    return {(one["subject"], one["state"]): one["message"] for one in findings[:seen]}


def test_the_doctor_in_another_network_says_how_media_comes(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path: Path
) -> None:
    media: dict[str, object] = {"port": free_port(), "iceServers": [{"url": STUN}]}
    with gateway_at_home(binary, tmp_path, networks, TURN, media=media) as gateway:
        inside(networks.away, lambda: gateway.wait_until_flowing(DOORBELL.id))
        found = look_from_outside(binary, networks, gateway)
        assert found["mediaPort", "good"].startswith("Media comes over UDP through a router"), found
        # Its router forwards the port of the page alone.
        assert "over TCP" in found["mediaPort", "warning"], found
        assert "in the clear" in found["page", "warning"], found
        networks.away_router.set(blocks_udp=True)
        try:
            found = look_from_outside(binary, networks, gateway)
            assert found["mediaPort", "failure"].startswith("No media comes over UDP to this machine"), found
        finally:
            networks.away_router.set()


def test_the_doctor_in_another_network_finds_the_way_over_tcp(
    binary: Path, networks: Networks, reached_by_tcp: Gateway
) -> None:
    found = look_from_outside(binary, networks, reached_by_tcp)
    assert found["mediaPort", "warning"].startswith("No media comes over UDP"), found
    assert "over TCP" in found["mediaPort", "good"], found
    assert f":{reached_by_tcp.media_port}" in found["mediaPort", "good"], found


def test_media_goes_through_the_turn_server_where_both_routers_have_a_port_for_each_destination(
    networks: Networks, remote: Gateway
) -> None:
    networks.home_router.set(NAT.SYMMETRIC, tcp_port=remote.port)
    networks.away_router.set(NAT.SYMMETRIC)
    try:
        answer = inside(networks.away, lambda: run(lambda: watch(remote, "relayed")))
        assert relayed_host(answer) == INTERNET
    finally:
        networks.home_router.set(tcp_port=remote.port)
        networks.away_router.set()


@pytest.mark.parametrize(("home", "away"), [(NAT.FULL_CONE, NAT.SYMMETRIC), (NAT.SYMMETRIC, NAT.FULL_CONE)])
def test_a_router_that_lets_everybody_in_makes_up_for_one_that_has_a_port_for_each_destination(
    networks: Networks, remote: Gateway, home: NAT, away: NAT
) -> None:
    networks.home_router.set(home, tcp_port=remote.port)
    networks.away_router.set(away)
    try:
        inside(networks.away, lambda: run(lambda: watch(remote, "reflexive")))
    finally:
        networks.home_router.set(tcp_port=remote.port)
        networks.away_router.set()


@pytest.mark.parametrize(
    ("url", "blocks_udp"),
    [
        (f"turn:{INTERNET}:{PORT}", False),
        (f"turn:{INTERNET}:{PORT}?transport=tcp", True),
        (f"turns:{INTERNET}:{TLS_PORT}", True),
    ],
)
def test_aiortc_plays_through_its_own_turn_server(
    networks: Networks, remote: Gateway, coturn: Coturn, monkeypatch: pytest.MonkeyPatch, url: str, blocks_udp: bool
) -> None:
    # It checks the server's certificate.
    monkeypatch.setenv("SSL_CERT_FILE", str(coturn.authority.path))
    networks.away_router.set(NAT.SYMMETRIC, blocks_udp=blocks_udp)
    try:
        inside(networks.away, lambda: run(lambda: watch(remote, "relayed", RTCIceServer(url, USER, PASSWORD))))
    finally:
        networks.away_router.set()


@pytest.mark.parametrize(("nat", "path"), [(NAT.RESTRICTED, "reflexive"), (NAT.SYMMETRIC, "relayed")])
def test_the_page_names_its_addresses_so_that_the_gateway_opens_the_way_to_it(
    driver: Playwright,
    binary: Path,
    networks: Networks,
    coturn: Coturn,
    tmp_path: Path,
    nat: NAT,
    path: str,
) -> None:
    """The gateway's router lets in only what the gateway has sent to, and so does the TURN server."""
    media: dict[str, object] = {"port": free_port(), "iceServers": [{"url": STUN}]}
    with gateway_at_home(binary, tmp_path, networks, TURN, media=media) as gateway:
        inside(networks.away, lambda: gateway.wait_until_flowing(DOORBELL.id))
        networks.home_router.set(nat, tcp_port=gateway.port)
        networks.away_router.set(nat)
        browser = launch_inside(driver, networks.prefix(networks.away), tmp_path)
        try:
            page = browser.new_page()
            page.goto(f"http://{PAGE}:{gateway.port}/#camera/{DOORBELL.id}&token={gateway.token}")
            expect(page.locator(".view-state")).to_have_text(re.compile(r"^Live"))

            def paths() -> list[str | None]:
                return [session.get("path") for session in inside(networks.away, gateway.client.sessions)]

            eventually(lambda: paths() == [path], f"the picture comes by a path that is {path}")
        finally:
            browser.close()
            networks.away_router.set()


def test_media_goes_through_the_turn_server_over_tcp_where_the_gateways_network_blocks_udp(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path: Path
) -> None:
    turn: dict[str, object] = {"url": f"turn:{INTERNET}:{PORT}?transport=tcp"}
    with gateway_at_home(binary, tmp_path, networks, turn, blocks_udp=True) as gateway:
        answer = inside(networks.away, lambda: run(lambda: watch(gateway, "relayed")))
        assert relayed_host(answer) == INTERNET


def test_media_goes_through_the_turn_server_over_tls_also_after_the_server_was_restarted(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path: Path
) -> None:
    turn: dict[str, object] = {"url": f"turns:{INTERNET}:{TLS_PORT}", "ca": str(coturn.authority.path)}
    with gateway_at_home(binary, tmp_path, networks, turn, blocks_udp=True) as gateway:
        coturn.stop()
        try:
            eventually(lambda: not relays(networks, gateway), "the gateway notices that the server is gone")
        finally:
            coturn.start()
        eventually(lambda: relays(networks, gateway), "the TURN server relays for the gateway again")
        answer = inside(networks.away, lambda: run(lambda: watch(gateway, "relayed")))
        assert relayed_host(answer) == INTERNET


def test_a_turn_server_with_a_certificate_of_a_stranger_gets_no_credentials(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger")
    turn: dict[str, object] = {"url": f"turns:{INTERNET}:{TLS_PORT}", "ca": str(stranger.path)}
    gateway = Gateway(
        binary,
        tmp_path,
        [DOORBELL],
        sections={"network": {"turn": [turn | {"username": USER, "credential": PASSWORD}]}},
        prefix=networks.prefix(networks.home),
    )

    def verdict() -> dict[str, str] | None:
        findings = inside(networks.home, lambda: gateway.client.get("/v1/doctor"))["findings"]
        return next((one for one in findings if one["subject"] == "turnServer" and one["state"] == "failure"), None)

    try:
        finding = eventually(verdict, "the doctor says why no server relays")
        assert "certificate" in finding["message"]
    finally:
        gateway.stop()


@pytest.fixture
def reached_by_tcp(binary: Path, networks: Networks, tmp_path: Path) -> Iterator[Gateway]:
    with gateway_reached_by_tcp(binary, tmp_path, networks) as gateway:
        yield gateway


@pytest.fixture
def reached_at_port_443(binary: Path, networks: Networks, tmp_path: Path) -> Iterator[Gateway]:
    with gateway_reached_at_port_443(binary, tmp_path, networks) as gateway:
        yield gateway


@pytest.mark.parametrize("transport", ["tcp", "ssltcp"])
def test_chromium_plays_at_the_port_of_tls_with_and_without_its_hello(
    driver: Playwright, networks: Networks, reached_at_port_443: Gateway, tmp_path: Path, transport: str
) -> None:
    gateway = reached_at_port_443
    browser = launch_inside(driver, networks.prefix(networks.away), tmp_path)
    try:
        with open_page(browser, f"http://{PAGE}:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
            viewer.call("playWHEP", device=DOORBELL.id, transport=transport)
            viewer.expect_media()
            (session,) = inside(networks.away, gateway.client.sessions)
            assert session["path"] == "tcp", session
    finally:
        browser.close()


def test_aiortc_plays_where_it_does_not_know_one_of_the_transports(
    networks: Networks, reached_at_port_443: Gateway
) -> None:
    networks.away_router.set()
    media_port = reached_at_port_443.media_port
    networks.home_router.set(tcp_port=reached_at_port_443.port, udp_port=media_port, media_tcp_port=443)
    answer = inside(networks.away, lambda: run(lambda: watch(reached_at_port_443, "reflexive")))
    assert " ssltcp " in answer and " tcp " in answer


def connect(networks: Networks, gateway: Gateway) -> socket.socket:
    """A connection to the media port from the other network."""
    address = (networks.home_router.outside, gateway.media_port)
    return inside(networks.away, lambda: socket.create_connection(address, timeout=PATIENCE))


def test_chromium_plays_over_tcp_where_its_network_blocks_udp_and_strangers_do_not_disturb_it(
    driver: Playwright, networks: Networks, reached_by_tcp: Gateway, tmp_path: Path
) -> None:
    gateway = reached_by_tcp

    def metric(name: str) -> float:
        return inside(networks.away, lambda: gateway.client.metric(name))

    browser = launch_inside(driver, networks.prefix(networks.away), tmp_path)
    try:
        with open_page(browser, f"http://{PAGE}:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
            viewer.call("playWHEP", device=DOORBELL.id)
            viewer.expect_media()
            (session,) = inside(networks.away, gateway.client.sessions)
            assert session["path"] == "tcp", session
            assert metric("gatehouse_media_tcp_connections") >= 1
            # Idle connections of one host: the oldest give way, and none of them is the viewer's. Each is shown out
            # after five seconds. So where opening them takes longer, they give way to the next forty.
            strangers: list[socket.socket] = []

            def give_way() -> bool:
                strangers.extend(connect(networks, gateway) for _ in range(40))
                return metric("gatehouse_media_tcp_refused_total") > 0

            eventually(give_way, "strangers give way")
            assert metric("gatehouse_media_tcp_connections") < 40
            viewer.expect_media()
            for stranger in strangers:
                stranger.close()
    finally:
        browser.close()


@pytest.mark.parametrize(
    "first",
    [
        struct.pack("!H", 0),
        struct.pack("!H", 65535) + bytes(64),
        b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n",
        # A connectivity check of no session, half a frame, and nothing at all.
        struct.pack("!HHHIIQHH", 32, 1, 12, 0x2112A442, 1, 2, 6, 5) + b"a:bcd" + bytes(3),
        struct.pack("!HB", 100, 0),
        b"",
    ],
)
def test_a_stranger_over_tcp_is_shown_out_within_seconds(
    networks: Networks, reached_by_tcp: Gateway, first: bytes
) -> None:
    with connect(networks, reached_by_tcp) as stranger:
        if first:
            stranger.sendall(first)
        with suppress(ConnectionResetError):
            assert stranger.recv(1) == b"", "it says nothing"
