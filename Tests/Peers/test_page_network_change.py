"""The page on a device that gets another address while somebody watches and talks, as between two networks: the view
goes on in its session."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import careful_page, launch_inside
from peers.gateway import DOORBELL, Gateway
from peers.links import Links, inside
from peers.polling import eventually
from peers.ports import free_port
from playwright.sync_api import Browser, Page, Playwright, Request, expect

# The page gives its session up after a time, so neither the browser nor the gateway must be slow.
pytestmark = pytest.mark.alone

GATEWAY, ROUTER_OF_GATEWAY = "192.168.1.10", "192.168.1.1"
OLD, NEW, ROUTER_OF_VIEWER = "192.168.2.10", "192.168.2.77", "192.168.2.1"

# The longest time between two pictures since the test began to watch, and what became of the page's connections.
SPIES = """
window.spies = { connections: [], restarts: 0, pictures: 0, longest: 0 };
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
spies.watch = () => {
  const video = document.querySelector(".large-picture video:not(.borrowed)");
  let last = performance.now();
  const seen = (now) => {
    spies.pictures += 1;
    spies.longest = Math.max(spies.longest, now - last);
    last = now;
    video.requestVideoFrameCallback(seen);
  };
  video.requestVideoFrameCallback(seen);
};
spies.look = () => ({
  connections: spies.connections.length, restarts: spies.restarts, pictures: spies.pictures, longest: spies.longest,
  states: spies.connections.map(({ connectionState }) => connectionState),
  words: document.querySelector(".view-state")?.textContent ?? "",
});
"""


@pytest.fixture
def gateway(binary: Path, links: Links, tmp_path: Path) -> Iterator[Gateway]:
    links.gateway.add_address(f"{GATEWAY}/24")
    links.middle.add_address(f"{ROUTER_OF_GATEWAY}/24", "gateway")
    links.gateway.add_route("default", ROUTER_OF_GATEWAY)
    links.viewer.add_address(f"{OLD}/24")
    links.middle.add_address(f"{ROUTER_OF_VIEWER}/24", "viewer")
    links.viewer.add_route("default", ROUTER_OF_VIEWER)
    folder = tmp_path / "gateway"
    folder.mkdir()
    running = Gateway(binary, folder, [DOORBELL], https_port=free_port(), prefix=links.gateway.prefix)
    running.client = running.client_at(GATEWAY)
    try:
        inside(links.viewer.name, lambda: running.wait_until_flowing(DOORBELL.id))
        yield running
    finally:
        running.stop()


@pytest.fixture
def away(driver: Playwright, links: Links, tmp_path: Path) -> Iterator[Browser]:
    launched = launch_inside(driver, links.viewer.prefix, tmp_path, trusts_everybody=True)
    yield launched
    launched.close()


def test_a_view_goes_on_when_the_viewers_address_changes(
    links: Links, gateway: Gateway, away: Browser, report: list[str]
) -> None:
    starts: list[str] = []

    def count(request: Request) -> None:
        if request.url.endswith("/startLiveView"):
            starts.append(request.url)

    def session() -> dict[str, Any]:
        (found,) = inside(links.viewer.name, gateway.client.sessions)
        return dict(found)

    with careful_page(away) as page:
        # Only a page that may use the microphone binds its sockets to addresses. Others bind them to all, and go on by
        # themselves. Only over HTTPS may a page use it.
        page.context.grant_permissions(["microphone"])
        page.on("request", count)
        page.add_init_script(SPIES)
        port = inside(links.viewer.name, lambda: gateway.client.get("/v1/gateway"))["httpsPort"]
        page.goto(f"https://{GATEWAY}:{port}/#camera/{DOORBELL.id}&token={gateway.token}")
        expect_picture(page)
        page.evaluate("spies.watch()")
        expect_picture(page, more_than=0)
        page.get_by_role("button", name="Talk", exact=True).click()
        talk = page.get_by_role("button", name="Stop talking", exact=True)
        expect(talk).to_have_attribute("aria-pressed", "true")
        eventually(lambda: session()["isTalking"], "the camera is talked to")
        before, started = session(), len(starts)

        # One command, so that the route is missing only briefly: removing the address also removes the default route.
        links.viewer.run(
            "ip", "-batch", "-",
            input=f"address del {OLD}/24 dev eth0\naddress add {NEW}/24 dev eth0\n"
            f"route replace default via {ROUTER_OF_VIEWER}\n",
        )  # fmt: skip
        eventually(lambda: look(page)["restarts"] + look(page)["connections"] > 1, "the page has lost its path")
        expect_picture(page, more_than=look(page)["pictures"] + 30)

        after, seen = session(), look(page)
        assert after["mediaSessionId"] == before["mediaSessionId"], seen
        assert len(starts) == started and seen["connections"] == 1, seen
        assert after["path"] == "direct", after
        # The gateway ends a talk of which it has heard nothing for five seconds, which a busy machine may need.
        talk_went_on = "went on" if after["isTalking"] else f"ended: {after['talkback']}"
        froze = f"{seen['longest'] / 1000:.1f} s"
        report.append(f"viewer's address changed: the picture froze for {froze}, the talk {talk_went_on}")


def look(page: Page) -> dict[str, Any]:
    return dict(page.evaluate("spies.look()"))


def expect_picture(page: Page, more_than: int | None = None) -> None:
    """The page says that it is live, and shows so many pictures since the test began to watch."""
    eventually(lambda: look(page)["words"].startswith("Live"), "the view is live")
    if more_than is not None:
        eventually(lambda: look(page)["pictures"] > more_than, "the picture moves")
