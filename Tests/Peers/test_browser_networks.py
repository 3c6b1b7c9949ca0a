"""Firefox and Chromium on another network than the gateway, behind every kind of router that the kernel can be. They
reach the gateway as the other viewers do (test_networks.py): directly, through coturn, or over TCP."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import launch_inside, open_page
from peers.coturn import PASSWORD, PORT, TLS_PORT, USER, Coturn
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Gateway
from peers.namespace import Place
from peers.networks import INTERNET, NAT, PAGE, Networks
from peers.polling import eventually
from peers.remote_gateway import (
    STUN,
    await_own_address,
    gateway_at_home,
    gateway_reached_at_port_443,
    gateway_reached_by_tcp,
    gateway_that_knows_its_address,
    path_of_the_session,
)
from peers.viewer import Page, Reception, viewing
from playwright.sync_api import Playwright

TURN_NAME = "turn.example"
"""Firefox uses a TURN server over TLS only by a host name, so that it can check the certificate."""
NAMED = {"gathered": True, "configuration": {"iceServers": [{"urls": STUN}]}}
"""An offer that names the address at which a STUN server sees the browser, so that the gateway opens its router."""


@dataclass(frozen=True)
class Away:
    """A browser on the other network."""

    open: Callable[[str], AbstractContextManager[Page]]
    """Opens a gateway's page."""
    turn_host: str
    """What it calls a TURN server over TLS."""


@pytest.fixture(scope="module", params=["Firefox", "Chromium"])
def browser(
    request: pytest.FixtureRequest, networks: Networks, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Away]:
    """One of each kind for all tests of this file, since Firefox starts slowly."""
    folder = tmp_path_factory.mktemp("browser")
    if request.param == "Firefox":
        names = {TURN_NAME: INTERNET}
        firefox = Firefox(folder, Place(networks.away, PAGE), trusts_everybody=True, names=names)

        @contextmanager
        def open_in_firefox(origin: str) -> Iterator[Page]:
            firefox.open(origin + "/")
            yield firefox

        yield Away(open_in_firefox, TURN_NAME)
        firefox.stop()
        return
    driver: Playwright = request.getfixturevalue("driver")
    chromium = launch_inside(driver, networks.prefix(networks.away), folder, trusts_everybody=True)
    yield Away(lambda origin: open_page(chromium, origin), INTERNET)
    chromium.close()


@pytest.fixture(scope="module")
def remote(
    browser: Away, binary: Path, networks: Networks, coturn: Coturn, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """Another one for each browser: a gateway whose router blocks UDP forgets its address, and asks again later."""
    with gateway_that_knows_its_address(binary, tmp_path_factory.mktemp("home"), networks) as gateway:
        yield gateway


def play(browser: Away, networks: Networks, gateway: Gateway, path: str, **options: Any) -> Reception:
    """Plays until pictures and sound have come by a path of this kind."""
    with browser.open(f"http://{PAGE}:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
        viewer.call("playWHEP", device=DOORBELL.id, **options)
        # A better path may be found after the first one.
        eventually(lambda: path_of_the_session(networks, gateway) == path, f"the picture comes by a {path} path")
        return viewer.expect_media()


@pytest.mark.parametrize(
    ("home", "away", "path"),
    [
        (NAT.RESTRICTED, NAT.RESTRICTED, "reflexive"),
        (NAT.RESTRICTED, NAT.SYMMETRIC, "relayed"),
        (NAT.SYMMETRIC, NAT.RESTRICTED, "relayed"),
        (NAT.SYMMETRIC, NAT.SYMMETRIC, "relayed"),
    ],
)
def test_goes_through_both_routers_or_the_gateways_turn_server(
    browser: Away, networks: Networks, remote: Gateway, home: NAT, away: NAT, path: str
) -> None:
    networks.home_router.set(home, tcp_port=remote.port)
    networks.away_router.set(away)
    try:
        await_own_address(networks, remote)
        reception = play(browser, networks, remote, path, **NAMED)
        assert reception.gatewayAddress == (INTERNET if path == "relayed" else networks.home_router.outside)
    finally:
        networks.home_router.set(tcp_port=remote.port)
        networks.away_router.set()


@pytest.mark.parametrize("away", [NAT.RESTRICTED, NAT.SYMMETRIC])
def test_reaches_a_forwarded_port_without_naming_an_address(
    browser: Away, networks: Networks, remote: Gateway, away: NAT
) -> None:
    networks.home_router.set(tcp_port=remote.port, udp_port=remote.media_port)
    networks.away_router.set(away)
    try:
        await_own_address(networks, remote)
        play(browser, networks, remote, "reflexive")
    finally:
        networks.home_router.set(tcp_port=remote.port)
        networks.away_router.set()


@pytest.mark.parametrize("home", [NAT.RESTRICTED, NAT.SYMMETRIC])
@pytest.mark.parametrize(
    ("url", "blocks_udp"),
    [
        (f"turn:{INTERNET}:{PORT}", False),
        (f"turn:{INTERNET}:{PORT}?transport=tcp", True),
        (f"turns:{{host}}:{TLS_PORT}", True),
    ],
)
def test_plays_through_its_own_turn_server(
    browser: Away, networks: Networks, remote: Gateway, home: NAT, url: str, blocks_udp: bool
) -> None:
    networks.home_router.set(home, tcp_port=remote.port)
    networks.away_router.set(NAT.SYMMETRIC, blocks_udp=blocks_udp)
    try:
        # A TURN server lets in only the addresses that the browser has been told of.
        await_own_address(networks, remote)
        server = {"urls": url.format(host=browser.turn_host), "username": USER, "credential": PASSWORD}
        configuration = {"iceServers": [server], "iceTransportPolicy": "relay"}
        reception = play(browser, networks, remote, "relayed", gathered=True, configuration=configuration)
        assert reception.address == INTERNET
    finally:
        networks.home_router.set(tcp_port=remote.port)
        networks.away_router.set()


@pytest.mark.parametrize("url", [f"turn:{INTERNET}:{PORT}?transport=tcp", f"turns:{INTERNET}:{TLS_PORT}"])
def test_goes_through_the_gateways_turn_server_where_the_gateways_network_blocks_udp(
    browser: Away, networks: Networks, coturn: Coturn, binary: Path, tmp_path: Path, url: str
) -> None:
    turn: dict[str, object] = {"url": url}
    if url.startswith("turns:"):
        turn["ca"] = str(coturn.authority.path)
    networks.away_router.set(NAT.SYMMETRIC)
    try:
        with gateway_at_home(binary, tmp_path, networks, turn, blocks_udp=True) as gateway:
            reception = play(browser, networks, gateway, "relayed", **NAMED)
            assert reception.gatewayAddress == INTERNET
    finally:
        networks.away_router.set()


# With Chromium, test_networks.py has these two.
@pytest.mark.parametrize("browser", ["Firefox"], indirect=True)
def test_plays_over_tcp_where_its_network_blocks_udp(
    browser: Away, networks: Networks, binary: Path, tmp_path: Path
) -> None:
    with gateway_reached_by_tcp(binary, tmp_path, networks) as gateway:
        play(browser, networks, gateway, "tcp")


@pytest.mark.parametrize("browser", ["Firefox"], indirect=True)
def test_plays_over_tcp_at_the_port_of_tls(browser: Away, networks: Networks, binary: Path, tmp_path: Path) -> None:
    with gateway_reached_at_port_443(binary, tmp_path, networks) as gateway:
        play(browser, networks, gateway, "tcp")
