"""The page where the gateway's TURN server comes back at another address, behind a router that lets in only datagrams
from addresses that the browser has sent to. The page restarts ICE, and its view goes on."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import careful_page, launch_inside
from peers.coturn import PORT, Coturn
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Gateway
from peers.namespace import Place
from peers.networks import INTERNET, INTERNET_2, NAT, PAGE, Networks, inside
from peers.polling import eventually
from peers.ports import free_port
from peers.remote_gateway import STUN, coturn_on_the_internet, gateway_at_home
from peers.viewer import Page
from playwright.sync_api import Playwright

# The page gives its path up after a time, so the gateway must not be slow.
pytestmark = pytest.mark.alone

# The connections that the page makes, the requests that restart ICE, and where the gateway's end of the path in use is.
SPIES = """
window.spies = { connections: [], restarts: 0 };
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(...given) {
    super(...given);
    spies.connections.push(this);
  }
  restartIce() {
    spies.restarts += 1;
    super.restartIce();
  }
};
spies.look = async () => {
  const report = await spies.connections.at(-1)?.getStats() ?? new Map();
  const entries = [...report.values()];
  const chosen = entries.find(({ type, selectedCandidatePairId }) => type === "transport" && selectedCandidatePairId);
  const pair = chosen ? report.get(chosen.selectedCandidatePairId)
    : entries.find(({ type, selected }) => type === "candidate-pair" && selected);
  const picture = entries.find(({ type, kind }) => type === "inbound-rtp" && kind === "video");
  return {
    gateway: report.get(pair?.remoteCandidateId)?.address ?? "", frames: picture?.framesDecoded ?? 0,
    connections: spies.connections.length, restarts: spies.restarts,
    words: document.querySelector(".view-state")?.textContent ?? "",
  };
};
"""


@pytest.fixture
def server(networks: Networks, tmp_path: Path) -> Iterator[Coturn]:
    folder = tmp_path / "coturn"
    folder.mkdir()
    with coturn_on_the_internet(networks, folder) as started:
        yield started


@pytest.fixture
def gateway(
    request: pytest.FixtureRequest, binary: Path, networks: Networks, server: Coturn, tmp_path: Path
) -> Iterator[Gateway]:
    """The parameter says how it reaches the server: over "tcp" or "udp"."""
    folder = tmp_path / "gateway"
    folder.mkdir()
    turn: dict[str, object] = {"url": f"turn:{INTERNET}:{PORT}?transport={request.param}"}
    media: dict[str, object] = {"port": free_port(), "iceServers": [{"url": STUN}]}
    with gateway_at_home(binary, folder, networks, turn, media=media) as started:
        inside(networks.away, lambda: started.wait_until_flowing(DOORBELL.id))
        networks.home_router.set(NAT.SYMMETRIC, tcp_port=started.port)
        networks.away_router.set(NAT.SYMMETRIC)
        yield started
        networks.away_router.set()


Open = Callable[[str], AbstractContextManager[Page]]
"""Opens an address in a browser in the other network, with the spies inside."""


@pytest.fixture
def opened(request: pytest.FixtureRequest, driver: Playwright, networks: Networks, tmp_path: Path) -> Open:
    """The parameter is the name of the browser."""

    @contextmanager
    def in_chromium(address: str) -> Iterator[Page]:
        browser = launch_inside(driver, networks.prefix(networks.away), tmp_path)
        try:
            with careful_page(browser) as page:
                page.add_init_script(SPIES)
                page.goto(address)
                yield page
        finally:
            browser.close()

    @contextmanager
    def in_firefox(address: str) -> Iterator[Page]:
        firefox = Firefox(tmp_path / "firefox", Place(networks.away, PAGE))
        try:
            with firefox.preloaded(SPIES):
                firefox.open(address)
                yield firefox
        finally:
            firefox.stop()

    return in_chromium if request.param == "chromium" else in_firefox


@pytest.mark.parametrize(
    ("opened", "gateway", "is_prompt"),
    [("chromium", "tcp", True), ("firefox", "tcp", True), ("chromium", "udp", False)],
    indirect=["opened", "gateway"],
)
def test_a_view_goes_on_when_the_turn_server_relays_at_another_address(
    networks: Networks, server: Coturn, gateway: Gateway, opened: Open, is_prompt: bool
) -> None:
    """Over TCP the gateway notices at once that the server has gone, and the session goes on. Over UDP it notices that
    up to ten seconds later, and the page may have asked for another session by then."""

    def session() -> dict[str, Any]:
        (found,) = eventually(lambda: one_of(inside(networks.away, gateway.client.sessions)), "there is one session")
        return found

    with opened(f"http://{PAGE}:{gateway.port}/#camera/{DOORBELL.id}&token={gateway.token}") as page:

        def look() -> dict[str, Any]:
            return dict(page.evaluate("spies.look()"))

        def expect_picture(gateways_end: str) -> None:
            eventually(lambda: look()["gateway"] == gateways_end, f"the path ends at {gateways_end}")
            frames = look()["frames"]
            eventually(lambda: look()["frames"] > frames + 30, "the picture moves")
            eventually(lambda: look()["words"].startswith("Live · through a TURN server"), "the page says so")

        expect_picture(INTERNET)
        page.evaluate("document.documentElement.dataset.old = 'yes'")
        before = session()
        assert before["path"] == "relayed"

        server.stop()
        server.start(INTERNET_2)
        expect_picture(INTERNET_2)
        after, seen = session(), look()
        assert after["path"] == "relayed" and "wantsICERestart" not in after, after
        assert page.evaluate("document.documentElement.dataset.old") == "yes"
        if is_prompt:
            assert after["mediaSessionId"] == before["mediaSessionId"], seen
            assert seen["connections"] == 1 and seen["restarts"] > 0, seen


def one_of(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """These sessions if there is one of them. The page gives one back while it begins another."""
    return sessions if len(sessions) == 1 else []
