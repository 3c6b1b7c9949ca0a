"""The page sends its candidates while its browser finds them, and nothing depends on that."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.chromium import LONG_START, careful_page
from peers.gateway import DOORBELL, Gateway
from peers.polling import eventually
from peers.ports import free_port
from playwright.sync_api import Browser, Page, Request, Route, expect

SPIES = """
window.spies = [];
const set = RTCPeerConnection.prototype.setLocalDescription;
RTCPeerConnection.prototype.setLocalDescription = function (...given) {
  spies.push(this);
  return set.apply(this, given);
};
const send = window.fetch;
window.fetch = function (path, options) {
  if (String(path).endsWith("/startLiveView")) spies.at(-1).stateAtOffer = spies.at(-1).iceGatheringState;
  return send.call(this, path, options);
};
"""


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Its STUN server answers nobody, so a browser looks for candidates for many seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        servers = [{"url": f"stun:127.0.0.1:{silent.getsockname()[1]}"}]
        media = {"port": free_port(), "iceServers": servers}
        running = Gateway(binary, tmp_path_factory.mktemp("candidates"), [DOORBELL], sections={"media": media})
        running.wait_until_flowing(DOORBELL.id)
        yield running
        assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with careful_page(browser) as made:
        made.add_init_script(LONG_START)
        made.add_init_script(SPIES)
        yield made


def show(page: Page, house: Gateway) -> None:
    page.goto(f"http://127.0.0.1:{house.port}/#camera/{DOORBELL.id}&token={house.token}")
    expect(page.locator(".view-state")).to_have_text(re.compile(r"^Live"))


def is_fragment(request: Request) -> bool:
    return request.method == "PATCH"


def fragments(page: Page) -> list[Request]:
    """The requests with candidates from now on. The list grows while Playwright is asked for something."""
    sent: list[Request] = []

    def note(request: Request) -> None:
        if is_fragment(request):
            sent.append(request)

    page.on("request", note)
    return sent


def candidates(text: str) -> set[str]:
    """The candidates of a description or a fragment that the gateway can use, up to their ports."""
    return set(re.findall(r"^a=(candidate:\S+ 1 udp \d+ \S+ \d+) ", text, re.MULTILINE))


def value(text: str, name: str) -> str:
    found = re.search(rf"^a={name}:(\S+)", text, re.MULTILINE)
    assert found, f"no {name} in {text}"
    return found[1]


def session_of(request: Request) -> str:
    return request.url.rsplit("/", 1)[1]


def test_the_offer_waits_for_no_candidate_and_they_follow_in_few_requests(page: Page, house: Gateway) -> None:
    sent = fragments(page)
    show(page, house)
    assert page.evaluate("spies.map(({ stateAtOffer }) => stateAtOffer)") in (["new"], ["gathering"])

    def are_all_sent() -> bool:
        named = candidates("".join(request.post_data or "" for request in sent))
        return named != set() and named == candidates(page.evaluate("spies[0].localDescription.sdp"))

    eventually(are_all_sent, "each candidate is sent")
    offer = page.evaluate("spies[0].localDescription.sdp")
    for request in list(sent):
        assert value(request.post_data or "", "ice-ufrag") == value(offer, "ice-ufrag")
        answer = request.response()
        assert answer and answer.status == 204
    assert len({session_of(request) for request in sent}) == 1
    assert len(sent) <= len(candidates(offer))


def test_a_view_that_starts_again_names_only_its_own_candidates(page: Page, house: Gateway) -> None:
    sent = fragments(page)
    with page.expect_request(is_fragment) as first:
        show(page, house)
    before = session_of(first.value)
    with page.expect_request(lambda one: is_fragment(one) and session_of(one) != before) as second:
        assert house.client.request("DELETE", f"/v1/sessions/{before}").status == 204
    after = session_of(second.value)
    offers = page.evaluate("spies.map((one) => one.localDescription?.sdp ?? '')")
    users = [
        {value(one.post_data or "", "ice-ufrag") for one in sent if session_of(one) == session}
        for session in (before, after)
    ]
    assert users == [{value(offer, "ice-ufrag")} for offer in offers]


@pytest.mark.parametrize("status", [0, 404, 412, 500, 502])
def test_a_view_does_not_depend_on_its_candidates(page: Page, house: Gateway, status: int) -> None:
    def refuse(route: Route) -> None:
        if status:
            route.fulfill(status=status, body="<html>")
        else:
            route.abort()

    page.route("**/whep/**", refuse)
    with page.expect_request(is_fragment) as sent:
        show(page, house)
    expect(page.locator(".one-camera .fault")).to_be_hidden()
    assert session_of(sent.value) in [session["mediaSessionId"] for session in house.client.sessions()]
    assert page.evaluate("spies.length") == 1
