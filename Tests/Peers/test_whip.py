"""Chromium, aiortc and GStreamer publish by WHIP (RFC 9725) and are cameras like any other."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.chromium import open_page
from peers.coroutines import run
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.processes import OwnedProcess
from peers.publisher import BrowserPublisher, aiortc_publishing, publishing
from peers.viewer import viewing
from playwright.sync_api import Browser

SAMPLES = Path(__file__).parent.parent.parent / "sdp-samples/offers"
SDP = {"Content-Type": "application/sdp"}
FRAGMENT = {"Content-Type": "application/trickle-ice-sdpfrag"}


@pytest.fixture(scope="module")
def rtsp_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def gateway(binary: Path, rtsp_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(
        binary, tmp_path_factory.mktemp("whip"), [DOORBELL, Camera("phone", "whip"), Camera("studio", "whip")],
        {"rtsp": {"host": "127.0.0.1", "port": rtsp_port}},
    )  # fmt: skip
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"
    assert running.token not in running.process.output(), "the token is in the log"


def offer() -> str:
    return (SAMPLES / "chromium-sendonly-publish-av.offer.sdp").read_bytes().decode()


def source(gateway: Gateway, device: str = "phone") -> dict[str, Any]:
    return dict(gateway.client.get(f"/v1/devices/{device}")["source"])


def watch_by_rtsp(browser: Browser, gateway: Gateway, rtsp_port: int) -> None:
    """The publisher's AV1 leaves the gateway by RTSP, comes back as an RTSP camera, and is seen."""
    url = f"rtsp://anybody:{gateway.token}@127.0.0.1:{rtsp_port}/phone"
    settings = json.dumps({"name": "Copy", "source": url, "transport": "tcp"})
    added = gateway.client.request("PUT", "/v1/cameras/copy", settings, {"Content-Type": "application/json"})
    assert added.status == 201, added.text
    try:
        gateway.wait_until_flowing("copy")
        with open_page(browser, f"http://127.0.0.1:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
            viewer.call("playWHEP", device="copy")
            assert viewer.expect_media().codec == "video/AV1"
    finally:
        assert gateway.client.request("DELETE", "/v1/cameras/copy").status in (200, 204)


@pytest.mark.parametrize("codec", ["VP8", "H264", "AV1"])
def test_chromium_is_a_camera_like_any_other(
    browser: Browser, gateway: Gateway, rtsp_port: int, report: list[str], codec: str
) -> None:
    origin = f"http://127.0.0.1:{gateway.port}"
    with (
        open_page(browser, origin) as sending,
        open_page(browser, origin) as watching,
        publishing(sending, gateway.token, "phone", codec) as publisher,
    ):
        gateway.wait_until_flowing("phone")
        assert [track["codec"] for track in source(gateway)["tracks"]] == [codec, "opus"]
        with viewing(watching, gateway.token) as viewer:
            times = viewer.call("playWHEP", device="phone")
            reception = viewer.expect_media()
            assert reception.codec == f"video/{codec}" and reception.width > 0
            report.append(f"published {codec}, Chromium to Chromium: first decoded frame {times['decoded']:.0f} ms")
        # The gateway reports what arrives. Without that, Chromium would stay at its initial estimate.
        eventually(lambda: publisher.call("stats")["roundTripTime"] >= 0, "a receiver report reaches the publisher")
        eventually(lambda: abs(publisher.call("stats")["estimate"] - 300_000) > 1_000, "the estimate moves")
        picture = gateway.client.request("GET", "/v1/devices/phone/snapshot.jpg")
        assert picture.status == 200 and picture.body[:2] == b"\xff\xd8" and picture.body[-2:] == b"\xff\xd9"
        if codec == "AV1":
            # Debian's ffprobe reads no AV1 from RTP; the gateway's own reader does, below.
            watch_by_rtsp(browser, gateway, rtsp_port)
            return
        url = f"rtsp://anybody:{gateway.token}@127.0.0.1:{rtsp_port}/phone"
        # Pictures since the newest key frame come first, and a browser sends one on request only: sound follows.
        probed = subprocess.run(
            ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-read_intervals", "%+#400",
             "-show_entries", "stream=codec_name:packet=codec_type", "-of", "json", url],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert probed.returncode == 0, probed.stderr.replace(url, "")
        read = json.loads(probed.stdout)
        assert {stream["codec_name"] for stream in read["streams"]} == {codec.lower(), "opus"}
        kinds = [packet["codec_type"] for packet in read["packets"]]
        assert kinds.count("video") > 10 and kinds.count("audio") > 20
    eventually(lambda: source(gateway)["state"] == "backingOff", "the camera waits again")
    assert source(gateway)["reason"] == "the publisher has stopped; waiting for a publisher"


def test_a_picture_without_sound_is_published_and_seen(browser: Browser, gateway: Gateway) -> None:
    origin = f"http://127.0.0.1:{gateway.port}"
    policy = {"bundlePolicy": "max-bundle"}
    with (
        open_page(browser, origin) as sending,
        open_page(browser, origin) as watching,
        publishing(sending, gateway.token, "phone", silent=True, configuration=policy),
    ):
        gateway.wait_until_flowing("phone")
        assert [track["codec"] for track in source(gateway)["tracks"]] == ["VP8"]
        with viewing(watching, gateway.token) as viewer:
            viewer.call("playWHEP", device="phone", configuration=policy)
            viewer.expect_media(frames=10, sound=False)

    async def exchange() -> None:
        async with aiortc_publishing(gateway.client, "studio", silent=True):
            await asyncio.to_thread(gateway.wait_until_flowing, "studio")
            await expect_live_view(gateway.client, "studio", sound=False)

    run(exchange)


def test_viewers_stay_when_the_publisher_returns(browser: Browser, gateway: Gateway) -> None:
    origin = f"http://127.0.0.1:{gateway.port}"
    with open_page(browser, origin) as sending, open_page(browser, origin) as watching:
        publisher = BrowserPublisher(sending, gateway.token)
        publisher.call("publish", device="phone", codec="VP8")
        gateway.wait_until_flowing("phone")
        with viewing(watching, gateway.token) as viewer:
            viewer.call("playWHEP", device="phone")
            viewer.expect_media(frames=10)
            tags = publisher.call("restartICE")
            assert tags["before"] != tags["after"]
            viewer.expect_media(frames=20)
            # Its page is closed; nobody sends a DELETE.
            publisher.call("vanish")
            eventually(lambda: source(gateway)["state"] == "backingOff", "the camera waits again")
            assert source(gateway)["reason"].endswith("waiting for a publisher")
            with publishing(sending, gateway.token, "phone"):
                viewer.expect_media(frames=30)
                # Another one takes over, and the viewer stays again.
                with open_page(browser, origin) as other, publishing(other, gateway.token, "phone"):
                    viewer.expect_media(frames=30)


def test_aiortc_publishes_and_plays(gateway: Gateway) -> None:
    async def exchange() -> None:
        async with aiortc_publishing(gateway.client, "studio"):
            await asyncio.to_thread(gateway.wait_until_flowing, "studio")
            await expect_live_view(gateway.client, "studio")

    run(exchange)
    eventually(lambda: source(gateway, "studio")["state"] == "backingOff", "the camera waits again")


def test_gstreamer_publishes(gateway: Gateway, tmp_path: Path) -> None:
    script = Path(__file__).parent / "gstreamer-publisher.py"
    endpoint = f"http://127.0.0.1:{gateway.port}/whip/studio"
    publisher = OwnedProcess(
        ["/usr/bin/python3", str(script), endpoint], tmp_path / "publisher.log",
        os.environ | {"GATEHOUSE_TOKEN": gateway.token},
    )  # fmt: skip
    try:
        publisher.line_starting("published ")
        gateway.wait_until_flowing("studio")
        assert [track["codec"].lower() for track in source(gateway, "studio")["tracks"]] == ["vp8", "opus"]

        run(lambda: expect_live_view(gateway.client, "studio"))
    finally:
        publisher.stop()
    eventually(lambda: source(gateway, "studio")["state"] == "backingOff", "the camera waits again")
    assert source(gateway, "studio")["reason"] == "the publisher has stopped; waiting for a publisher"


def test_the_resource_follows_the_rules(gateway: Gateway) -> None:
    client = gateway.client
    answer = client.whip("studio", offer())
    assert answer.status == 201, answer.text
    location, tag = answer.headers["location"], answer.headers["etag"]
    assert answer.headers["content-type"] == "application/sdp"
    assert re.fullmatch(r"/whip/studio/[\w-]{20,}", location) and re.fullmatch(r'"[^"]+"', tag)
    assert "application/trickle-ice-sdpfrag" in answer.headers["accept-patch"]
    assert "a=setup:passive" in answer.text and answer.text.count("a=recvonly") == 2
    assert "a=sendonly" not in answer.text and "a=sendrecv" not in answer.text
    candidate = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.9 50000 typ host\r\n"
    assert client.request("PATCH", location, candidate, FRAGMENT).status == 428
    assert client.request("PATCH", location, candidate, FRAGMENT | {"If-Match": '"other"'}).status == 412
    assert client.request("PATCH", location, candidate, FRAGMENT | {"If-Match": tag}).status == 204
    assert client.request("PATCH", location, candidate, SDP | {"If-Match": tag}).status == 415
    endpoint, session = client.request("OPTIONS", "/whip/studio"), client.request("OPTIONS", location)
    assert endpoint.status == 200 and endpoint.headers["accept-post"] == "application/sdp"
    assert session.status == 200 and "application/trickle-ice-sdpfrag" in session.headers["accept-patch"]
    for method, path in (("GET", "/whip/studio"), ("PUT", "/whip/studio"), ("GET", location), ("POST", location)):
        refused = client.request(method, path)
        assert refused.status == 405, f"{method} {path}: {refused.status}"
    # The newer publisher has taken over, and the session of the one before is gone.
    newer = client.whip("studio", offer())
    assert newer.status == 201 and newer.headers["location"] != location
    # Ending is idempotent for who published.
    assert client.request("DELETE", location).status == 200
    assert client.request("DELETE", newer.headers["location"]).status == 200
    assert client.request("DELETE", newer.headers["location"]).status == 200


def test_publishers_replace_each_other_once_a_second_at_most(gateway: Gateway) -> None:
    answers = [gateway.client.whip("studio", offer()) for _ in range(20)]
    taken = [answer.headers["location"] for answer in answers if answer.status == 201]
    refused = [answer for answer in answers if answer.status != 201]
    assert refused and {answer.status for answer in refused} == {429}
    # A second, or what is left of the ten seconds in which ten publishers may begin.
    assert all(1 <= int(answer.headers["retry-after"]) <= 10 for answer in refused)
    assert all("the publishers of studio change too often" in answer.text for answer in refused)
    # The camera keeps its publisher, and all of them may end.
    eventually(lambda: source(gateway, "studio")["state"] == "connecting", "the last one has not ended")
    for location in taken:
        assert gateway.client.request("DELETE", location).status == 200


def test_refuses_unauthorized_publishers_and_unusable_offers(gateway: Gateway) -> None:
    client = gateway.client
    watching = (SAMPLES / "chromium-recvonly-av.offer.sdp").read_bytes().decode()
    two = (SAMPLES / "chromium-two-videos-recvonly.offer.sdp").read_bytes().decode()
    cases = {
        "no token": (client.request("POST", "/whip/phone", offer(), SDP, token=None), 401),
        "a wrong token": (client.request("POST", "/whip/phone", offer(), SDP, token="gatehouse_no"), 401),
        "another type": (client.request("POST", "/whip/phone", offer(), {"Content-Type": "text/plain"}), 415),
        "no SDP": (client.whip("phone", "hello"), 400),
        "no such device": (client.whip("attic", offer()), 404),
        "a camera of its own": (client.whip("front-door", offer()), 409),
        "who sends nothing": (client.whip("phone", watching), 406),
        "two pictures": (client.whip("phone", two.replace("a=recvonly", "a=sendonly")), 406),
        "a codec that nobody plays": (client.whip("phone", re.sub("(VP8|H264|VP9|AV1)/", "X-\\1/", offer())), 406),
        "a foreign page": (
            client.request("POST", "/whip/phone", offer(), SDP | {"Origin": "https://elsewhere.example"}), 403,
        ),
    }  # fmt: skip
    assert {name: answer.status for name, (answer, _) in cases.items()} == {
        name: expected for name, (_, expected) in cases.items()
    }
    for answer, _ in cases.values():
        assert answer.json["error"]["message"]
    assert "source: publisher" in cases["a camera of its own"][0].json["error"]["message"]
    assert source(gateway)["state"] == "backingOff"
