"""A gateway whose network has IPv6 alone, and one whose address changes while it is watched."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from peers.aiortc_viewer import AiortcViewer, expect_live_view
from peers.chromium import launch_inside, open_page
from peers.coroutines import run
from peers.coturn import PASSWORD, PORT, USER, Coturn
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Gateway
from peers.links import Links, forwarder, inside
from peers.namespace import Place
from peers.polling import eventually
from peers.viewer import Page, viewing
from playwright.sync_api import Playwright

# Addresses for documentation (RFC 3849, RFC 5737): they count as global ones, and lead nowhere.
GATEWAY, GATEWAY_ROUTER = "2001:db8:1::10", "2001:db8:1::1"
VIEWER, VIEWER_ROUTER = "2001:db8:2::10", "2001:db8:2::1"
VIEWER_IPV4, ROUTER_IPV4 = "198.51.100.10", "198.51.100.1"


@pytest.fixture
def ipv6_only(links: Links) -> Links:
    """The gateway's host has no IPv4 address but that of its loopback. The viewer has both."""
    links.gateway.add_address(f"{GATEWAY}/64")
    links.middle.add_address(f"{GATEWAY_ROUTER}/64", "gateway")
    links.gateway.add_route("default", GATEWAY_ROUTER)
    links.viewer.add_address(f"{VIEWER}/64")
    links.middle.add_address(f"{VIEWER_ROUTER}/64", "viewer")
    links.viewer.add_route("default", VIEWER_ROUTER)
    links.viewer.add_address(f"{VIEWER_IPV4}/24")
    links.middle.add_address(f"{ROUTER_IPV4}/24", "viewer")
    return links


def start(binary: Path, folder: Path, links: Links, turn: list[dict[str, object]]) -> Gateway:
    gateway = Gateway(
        binary,
        folder,
        [DOORBELL],
        sections={"network": {"turn": turn}},
        prefix=links.gateway.prefix,
        http={"host": "::"},
    )
    gateway.client = gateway.client_at(GATEWAY)
    return gateway


@contextmanager
def open_browser(kind: str, driver: Playwright, links: Links, folder: Path, origin: str) -> Iterator[Page]:
    """Chromium or Firefox on the viewer's host, with a gateway's page."""
    if kind == "Chromium":
        chromium = launch_inside(driver, links.viewer.prefix, folder)
        try:
            with open_page(chromium, origin) as page:
                yield page
        finally:
            chromium.close()
        return
    firefox = Firefox(folder / "firefox", Place(links.viewer.name, GATEWAY))
    try:
        firefox.open(origin + "/")
        yield firefox
    finally:
        firefox.stop()


def candidates(answer: str, kind: str) -> list[str]:
    """The hosts of the candidates of a kind."""
    return [line.split()[4] for line in answer.splitlines() if f" typ {kind}" in line]


def test_an_ipv6_only_gateway_is_watched(binary: Path, ipv6_only: Links, tmp_path: Path) -> None:
    gateway = start(binary, tmp_path, ipv6_only, [])
    try:
        inside(ipv6_only.viewer.name, lambda: run(lambda: expect_live_view(gateway.client, DOORBELL.id)))
    finally:
        gateway.stop()


@pytest.mark.parametrize(("browser", "path"), [("Chromium", "direct"), ("Firefox", "direct"), ("Chromium", "tcp")])
def test_a_browser_watches_an_ipv6_only_gateway_over_udp_and_tcp(
    binary: Path, driver: Playwright, ipv6_only: Links, tmp_path: Path, browser: str, path: str
) -> None:
    gateway = start(binary, tmp_path, ipv6_only, [])
    try:
        if path == "tcp":
            ipv6_only.middle.set_forwarding("meta l4proto udp drop")
        with (
            open_browser(browser, driver, ipv6_only, tmp_path, f"http://[{GATEWAY}]:{gateway.port}") as page,
            viewing(page, gateway.token) as viewer,
        ):
            viewer.call("playWHEP", device=DOORBELL.id)
            assert viewer.expect_media().gatewayAddress == GATEWAY

            def paths() -> list[str | None]:
                return [session.get("path") for session in inside(ipv6_only.viewer.name, gateway.client.sessions)]

            # A browser that gets no processor time may begin over TCP, and moves to UDP then.
            eventually(lambda: paths() == [path], f"the picture comes by a path that is {path}")
    finally:
        gateway.stop()


@pytest.mark.parametrize("version", ["IPv4", "IPv6"])
def test_an_ipv6_only_gateway_is_watched_through_a_turn_server(
    binary: Path, ipv6_only: Links, tmp_path: Path, version: str
) -> None:
    """The viewer has one version of the Internet Protocol, and no direct path to the gateway."""
    router = ROUTER_IPV4 if version == "IPv4" else VIEWER_ROUTER
    server = Coturn(GATEWAY_ROUTER, tmp_path, ipv6_only.middle.prefix, relay=router)
    turn: dict[str, object] = {"url": f"turn:[{GATEWAY_ROUTER}]:{PORT}", "username": USER, "credential": PASSWORD}
    gateway = start(binary, tmp_path, ipv6_only, [turn])
    # Only the server reaches both.
    ipv6_only.middle.set_forwarding("drop")
    missing = f"{VIEWER}/64" if version == "IPv4" else f"{VIEWER_IPV4}/24"
    ipv6_only.viewer.remove_address(missing)
    try:
        with forwarder(ipv6_only.middle, router, gateway.port, (GATEWAY, gateway.port)):
            gateway.client = gateway.client_at(router)

            def relays() -> bool:
                return inside(ipv6_only.viewer.name, lambda: gateway.client.metric("gatehouse_turn_allocated") == 1)

            eventually(relays, "the TURN server relays for the gateway")

            async def watch() -> str:
                viewer = AiortcViewer(gateway.client, DOORBELL.id)
                try:
                    await viewer.start()
                    await viewer.expect_media()
                    (session,) = gateway.client.sessions()
                    assert session["path"] == "relayed", session
                    return viewer.answer
                finally:
                    await viewer.stop()

            answer = inside(ipv6_only.viewer.name, lambda: run(watch))
            assert candidates(answer, "relay") == [router]
            assert GATEWAY in candidates(answer, "host")
    finally:
        gateway.stop()
        server.stop()


def test_a_restart_of_ice_finds_the_gateway_at_its_new_address(
    binary: Path, driver: Playwright, links: Links, tmp_path: Path
) -> None:
    api, old, new, viewer_address = "10.9.0.1", "192.168.1.10", "192.168.1.77", "192.168.2.10"
    links.gateway.add_address(f"{old}/24")
    links.gateway.add_address(f"{api}/32", "lo")
    links.middle.add_address("192.168.1.1/24", "gateway")
    links.middle.add_address("192.168.2.1/24", "viewer")
    links.viewer.add_address(f"{viewer_address}/24")
    links.viewer.add_route("default", "192.168.2.1")
    links.gateway.add_route("default", "192.168.1.1")
    # The page's address stays, and carries no media.
    links.middle.add_route(f"{api}/32", old)
    links.middle.set_forwarding(f"ip daddr {api} meta l4proto udp drop", f"ip saddr {api} meta l4proto udp drop")
    gateway = Gateway(binary, tmp_path, [DOORBELL], sections={"network": {"tcp": False}}, prefix=links.gateway.prefix)
    gateway.client = gateway.client_at(api)
    browser = launch_inside(driver, links.viewer.prefix, tmp_path)
    try:
        with open_page(browser, f"http://{api}:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
            viewer.call("playWHEP", device=DOORBELL.id)
            viewer.expect_media()
            assert viewer.stats().gatewayAddress == old
            links.gateway.add_address(f"{new}/24")
            links.middle.run("ip", "route", "replace", f"{api}/32", "via", new)
            links.gateway.remove_address(f"{old}/24")
            # The default route went with the address that it was made with.
            links.gateway.run("ip", "route", "replace", "default", "via", "192.168.1.1")
            hosts = viewer.call("restartICE")["hosts"]
            assert new in hosts and old not in hosts
            eventually(lambda: viewer.stats().gatewayAddress == new, "the path leads to the new address")
            viewer.expect_media()
    finally:
        browser.close()
        gateway.stop()
