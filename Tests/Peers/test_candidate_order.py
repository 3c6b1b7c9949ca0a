"""A gateway in two networks: which of its addresses a viewer is offered first, and which one a browser uses."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.chromium import launch_inside, open_page
from peers.client import Client
from peers.gateway import DOORBELL, Gateway
from peers.links import Links, inside
from peers.namespace import NamespaceUnavailable
from peers.nginx import Nginx, temporary_paths
from peers.polling import eventually
from peers.ports import free_port
from peers.viewer import viewing
from playwright.sync_api import Playwright

OFFER = (
    (Path(__file__).parent.parent.parent / "sdp-samples/offers/chromium-recvonly-av.offer.sdp").read_bytes().decode()
)
# The gateway's addresses in the viewer's home, and in another network, which the viewer does not reach. The kernel
# names the latter first.
HOME, HOME_IPV6 = "192.168.1.10", "fd00:1::10"
OTHER, OTHER_IPV6 = "192.168.11.10", "fd00:11::10"
ALL = [OTHER, HOME, OTHER_IPV6, HOME_IPV6]
VIEWER, VIEWER_IPV6 = "192.168.2.10", "fd00:2::10"
NAME = "door.example"
LOOPBACK = "127.0.0.1"
LEAST_OF_A_BROWSER = 30
"""The local preference of Chromium's candidates for IPv4; those for IPv6 are 40 and 50."""


@pytest.fixture(scope="module")
def links() -> Iterator[Links]:
    try:
        made = Links()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no networks: {reason}")
    gateway, middle, viewer = made.gateway, made.middle, made.viewer
    gateway.run("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "home", "netns", middle.name)
    gateway.run("ip", "link", "set", "eth1", "up")
    middle.run("ip", "link", "set", "home", "up")
    for other, home, router, away in (
        (f"{OTHER}/24", f"{HOME}/24", "192.168.1.1/24", "192.168.2.1/24"),
        (f"{OTHER_IPV6}/64", f"{HOME_IPV6}/64", "fd00:1::1/64", "fd00:2::1/64"),
    ):
        gateway.add_address(other)
        gateway.add_address(home, "eth1")
        middle.add_address(router, "home")
        middle.add_address(away, "viewer")
        gateway.add_route("default", router.split("/")[0])
    viewer.add_address(f"{VIEWER}/24")
    viewer.add_address(f"{VIEWER_IPV6}/64")
    viewer.add_route("default", "192.168.2.1")
    viewer.add_route("default", "fd00:2::1")
    # What goes to the other network vanishes.
    middle.run("ip", "route", "add", "blackhole", "192.168.11.0/24")
    middle.run("ip", "-6", "route", "add", "blackhole", "fd00:11::/64")
    yield made
    made.close()


@pytest.fixture(scope="module")
def gateway(binary: Path, links: Links, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    sections = {"network": {"tcp": False}}
    running = Gateway(binary, folder, [DOORBELL], sections=sections, prefix=links.gateway.prefix, http={"host": "::"})
    yield running
    running.stop()


@pytest.fixture(scope="module")
def proxy(gateway: Gateway, links: Links, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of nginx on the gateway's host, which says for whom it asks."""
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    headers = "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
    server = f"""
        listen 0.0.0.0:{port};
        listen [::]:{port};
        location / {{ proxy_pass http://{LOOPBACK}:{gateway.port}; {headers} }}
    """
    sections = f"http {{ access_log off; {temporary_paths(folder)} server {{ {server} }} }}"
    nginx = inside(links.gateway.name, lambda: Nginx(folder, sections))
    yield port
    nginx.stop()


def offered(client: Client, **headers: str) -> dict[str, int]:
    """The hosts of the candidates that an answer names, the best first, with their local preferences."""
    sent = {"Content-Type": "application/sdp", "Host": NAME} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    answer = client.request("POST", f"/whep/{DOORBELL.id}", OFFER, sent)
    assert answer.status == 201, answer.text
    lines = {line for line in answer.text.splitlines() if line.startswith("a=candidate:")}
    found = [(int(fields[3]), fields[4]) for fields in (line.split() for line in lines)]
    return {host: priority >> 8 & 0xFFFF for priority, host in sorted(found, reverse=True)}


def expect_first(offer: dict[str, int], host: str) -> None:
    """The address is the best one, and whatever the local preferences of a browser are, it checks the others later."""
    assert list(offer) == [host, *(other for other in ALL if other != host)]
    assert offer.pop(host) > LEAST_OF_A_BROWSER > max(offer.values())


@pytest.mark.parametrize("host", [HOME, HOME_IPV6])
def test_the_address_that_a_viewer_has_reached_comes_before_all_others(
    gateway: Gateway, links: Links, host: str
) -> None:
    expect_first(inside(links.viewer.name, lambda: offered(gateway.client_at(host))), host)


@pytest.mark.parametrize("host", [HOME, HOME_IPV6])
def test_behind_a_proxy_the_address_on_the_way_to_the_viewer_comes_first(
    gateway: Gateway, links: Links, proxy: int, host: str
) -> None:
    client = Client(host, proxy, gateway.token)
    expect_first(inside(links.viewer.name, lambda: offered(client)), host)


def test_a_viewer_outside_whose_proxy_says_so_has_the_usual_order(gateway: Gateway, links: Links) -> None:
    offer = inside(links.gateway.name, lambda: offered(gateway.client, X_Forwarded_For="198.51.100.7"))
    assert list(offer) == ALL
    assert min(offer.values()) > LEAST_OF_A_BROWSER


def test_a_viewer_outside_whose_router_translates_has_the_usual_order(gateway: Gateway, links: Links) -> None:
    """The router at home forwards the port: the viewer has a global address, and arrives at a private one."""
    outside = "198.51.100.7"
    links.viewer.add_address(f"{outside}/32")
    links.viewer.run("ip", "route", "add", f"{HOME}/32", "via", "192.168.2.1", "src", outside)
    links.middle.run("ip", "route", "add", f"{outside}/32", "dev", "viewer")
    try:
        offer = inside(links.viewer.name, lambda: offered(gateway.client_at(HOME)))
    finally:
        links.viewer.run("ip", "route", "delete", f"{HOME}/32")
        links.viewer.remove_address(f"{outside}/32")
        links.middle.run("ip", "route", "delete", f"{outside}/32")
    assert list(offer) == ALL
    assert min(offer.values()) > LEAST_OF_A_BROWSER


def test_a_proxy_that_says_nothing_does_not_put_loopback_first(gateway: Gateway, links: Links) -> None:
    offer = inside(links.gateway.name, lambda: offered(gateway.client))
    assert list(offer) == [*ALL, LOOPBACK]
    assert min(offer.values()) > LEAST_OF_A_BROWSER


@pytest.mark.parametrize("host", [HOME, HOME_IPV6])
def test_chromium_gets_media_from_the_address_that_it_has_reached(
    gateway: Gateway, links: Links, driver: Playwright, tmp_path: Path, host: str
) -> None:
    """By itself Chromium would prefer IPv6."""
    literal = f"[{host}]" if ":" in host else host
    browser = launch_inside(driver, links.viewer.prefix, tmp_path)
    try:
        with (
            open_page(browser, f"http://{literal}:{gateway.port}") as page,
            viewing(page, gateway.token) as viewer,
        ):
            viewer.call("playWHEP", device=DOORBELL.id)
            viewer.expect_media()
            # A browser without processor time may lose a check, and begin with another address.
            eventually(lambda: viewer.stats().gatewayAddress == host, "the path leads to the address")
    finally:
        browser.close()
