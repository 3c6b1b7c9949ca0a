"""Chromium, Firefox and aiortc open data channels, hear the state on them, and send commands."""

import asyncio
import json
from typing import Any

import pytest
from aiortc import RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from peers.channels import BrowserChannels, holding
from peers.chromium import ChromiumPage
from peers.client import Client
from peers.coroutines import run
from peers.firefox import Firefox
from peers.gateway import Gateway
from peers.polling import PATIENCE, eventually

KINDS = ["camera", "session", "talkback"]
ORDERS = [["data"], ["data", "audio", "video"], ["audio", "data", "video"], ["audio", "video", "data"]]
POLICIES = ["balanced", "max-compat", "max-bundle"]


def expect_state(channels: BrowserChannels, device: str) -> None:
    session = channels.call("expect", "session", "state", "connected")
    assert 0 < session["expiresInSeconds"] <= 300
    camera = channels.call("newest", "camera")
    assert camera["state"] == "flowing" and camera["deviceID"]
    assert channels.call("newest", "talkback")["floor"] == "free"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("lines", ORDERS, ids="-".join)
def test_chromium_opens_a_channel_on_every_line(
    chromium: ChromiumPage, gateway: Gateway, lines: list[str], policy: str
) -> None:
    gateway.wait_until_flowing("front-door")
    with holding(chromium, gateway.token) as channels:
        kinds = channels.open(device="front-door", lines=lines, configuration={"bundlePolicy": policy})
        assert kinds == {"data": KINDS}
        assert channels.value("order") == lines
        expect_state(channels, "front-door")
        assert "a=max-message-size:16384" in channels.value("answer")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("lines", [ORDERS[0], ORDERS[1], ORDERS[3]], ids="-".join)
def test_firefox_opens_a_channel_on_every_line(
    firefox: Firefox, gateway: Gateway, lines: list[str], policy: str
) -> None:
    gateway.wait_until_flowing("front-door")
    with holding(firefox, gateway.token) as channels:
        kinds = channels.open(device="front-door", lines=lines, configuration={"bundlePolicy": policy})
        assert kinds == {"data": KINDS}
        assert channels.value("order") == lines
        expect_state(channels, "front-door")


def talk(channels: BrowserChannels) -> None:
    options = {"device": "front-door", "lines": ["audio", "video", "data"], "microphone": True}
    channels.open(**options)
    channels.call("expect", "session", "state", "connected")
    assert channels.call("request", "startTalkback") == {"id": 1, "result": {}}
    # The answer may come before the news: the session has the floor while its speaker is still opening.
    assert channels.call("expect", "talkback", "state", "talking")["floor"] == "you"
    assert channels.call("request", "stopTalkback")["result"] == {}
    assert channels.call("expect", "talkback", "floor", "free")["state"] == "ended"
    extended = channels.call("request", "extendLiveView", {"extendedDurationSeconds": 400})
    assert extended["result"]["liveSessionDurationSeconds"] >= 399
    # The answer may come before the news of what it has changed.
    eventually(lambda: channels.call("newest", "session")["expiresInSeconds"] > 300, "the session reports its new end")


def test_chromium_talks_by_its_channel(chromium: ChromiumPage, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with holding(chromium, gateway.token) as channels:
        talk(channels)


def test_firefox_talks_by_its_channel(firefox: Firefox, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with holding(firefox, gateway.token) as channels:
        talk(channels)


@pytest.mark.parametrize(
    "channel",
    [{"ordered": True}, {"ordered": False}, {"ordered": False, "maxRetransmits": 3}, {"maxPacketLifeTime": 900}],
)
def test_chromium_opens_several_channels_of_every_kind(
    chromium: ChromiumPage, gateway: Gateway, channel: dict[str, Any]
) -> None:
    gateway.wait_until_flowing("front-door")
    labels = ["data", "data-channel1", ""]
    with holding(chromium, gateway.token) as channels:
        kinds = channels.open(device="front-door", labels=labels, channel=channel)
        assert kinds == dict.fromkeys(labels, KINDS)
        for index in range(len(labels)):
            assert channels.call("request", "getState", {}, index)["result"] == {}
        # One is closed and opened again while the others go on.
        assert channels.call("reopen", 1) == dict.fromkeys(labels, KINDS)
        assert channels.value("closed") == ["data-channel1"]


def test_firefox_closes_and_opens_a_channel(firefox: Firefox, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with holding(firefox, gateway.token) as channels:
        channels.open(device="front-door", labels=["data", "other"])
        assert channels.call("reopen", 0) == {"data": KINDS, "other": KINDS}


def test_explains_what_is_wrong_with_a_request(chromium: ChromiumPage, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with holding(chromium, gateway.token) as channels:
        channels.open(device="front-door")
        for text in ("hello", "[]", "1", "{}", '{"id":{},"method":"startTalkback"}', "[" * 5_000, ""):
            assert channels.call("say", text)["error"]["status"] == "INVALID_ARGUMENT", text
        unknown = channels.call("request", "startLiveView", {"offerSdp": "v=0"})
        assert unknown["error"]["status"] == "NOT_FOUND" and "startTalkback" in unknown["error"]["message"]
        # There is no microphone in the offer.
        refused = channels.call("request", "startTalkback")
        assert refused["error"]["code"] == 9 and "microphone" in refused["error"]["message"]
        wrong = channels.call("request", "changeLiveViewQuality", {"qualityHint": "huge"})
        assert wrong["error"]["status"] == "INVALID_ARGUMENT"
        # Another session's name is not listened to.
        stolen = channels.call("request", "extendLiveView", {"mediaSessionId": "0" * 32})
        assert stolen["result"]["liveSessionDurationSeconds"] > 0
        # A viewer that does not keep the limit loses its channel, and keeps its session.
        chromium.evaluate("window.held.channels[0].send('x'.repeat(16384))")
        assert channels.call("request", "getState")["result"] == {}
        sessions = len(gateway.client.sessions())
        chromium.evaluate(
            "Promise.race([new Promise((done) => { window.held.channels[0].onclose = () => done(0); "
            "for (let turn = 0; turn < 4000; turn++) try { window.held.channels[0].send('{}') } catch { break } }), "
            "new Promise((done) => setTimeout(done, 80000))])"
        )
        assert channels.value("channels[0].readyState") == "closed"
        assert len(gateway.client.sessions()) == sessions


def test_says_why_a_session_ends(chromium: ChromiumPage, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with holding(chromium, gateway.token) as channels:
        channels.open(device="front-door")
        assert channels.call("request", "stopLiveView")["result"] == {}
        ended = channels.call("expect", "session", "state", "ended")
        assert "stopped" in ended["reason"]
        assert channels.value("closed") in ([], ["data"])


async def open_with_aiortc(client: Client, device: str, media: bool) -> list[dict[str, Any]]:
    """The messages that came, and the answer to a request."""
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    channel: RTCDataChannel = connection.createDataChannel("data")
    messages: list[dict[str, Any]] = []
    answered = asyncio.get_running_loop().create_future()

    @channel.on("open")
    def opened() -> None:
        channel.send(json.dumps({"id": "first", "method": "getState"}))

    @channel.on("message")
    def received(text: str) -> None:
        message = json.loads(text)
        if "id" in message:
            answered.set_result(message)
        else:
            messages.append(message)

    if media:
        connection.addTransceiver("audio", direction="recvonly")
        connection.addTransceiver("video", direction="recvonly")
    await connection.setLocalDescription(await connection.createOffer())
    answer = await asyncio.to_thread(client.whep, device, connection.localDescription.sdp)
    assert answer.status == 201, f"{answer.status} {answer.text}"
    try:
        await connection.setRemoteDescription(RTCSessionDescription(answer.text, "answer"))
        assert await asyncio.wait_for(answered, PATIENCE) == {"id": "first", "result": {}}

        async def heard() -> None:
            while {one["type"] for one in messages} != set(KINDS):
                await asyncio.sleep(0.05)

        await asyncio.wait_for(heard(), PATIENCE)
    finally:
        await connection.close()
        await asyncio.to_thread(client.request, "DELETE", answer.headers["location"])
    return messages


@pytest.mark.parametrize("media", [True, False])
def test_aiortc_opens_a_channel(gateway: Gateway, media: bool) -> None:
    gateway.wait_until_flowing("front-door")
    run(lambda: open_with_aiortc(gateway.client, "front-door", media))
