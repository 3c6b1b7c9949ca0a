"""Programs that were written for the Smart Device Management API: google-nest-sdm, unchanged, speaks to the gateway."""

import base64
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from google_nest_sdm.auth import AbstractAuth
from google_nest_sdm.event import CameraClipPreviewEvent, EventMessage
from google_nest_sdm.exceptions import ApiException
from google_nest_sdm.google_nest_api import GoogleNestAPI
from peers.coroutines import run
from peers.gateway import DOORBELL, Gateway
from peers.polling import eventually

PROJECT = "home"
PERSON = "sdm.devices.events.CameraPerson.Person"
CLIP = "sdm.devices.events.CameraClipPreview.ClipPreview"
FEED = f"/v1/projects/{PROJECT}/subscriptions/tests"


class TokenAuth(AbstractAuth):
    """Gives the library a token of the gateway."""

    def __init__(self, session: aiohttp.ClientSession, host: str, token: str) -> None:
        super().__init__(session, host)
        self._token = token

    async def async_get_access_token(self) -> str:
        return self._token


def with_api(gateway: Gateway, body: Callable[[GoogleNestAPI, TokenAuth], Awaitable[None]]) -> None:
    """Runs `body` with the library's API, pointed at the gateway."""

    async def main() -> None:
        async with aiohttp.ClientSession() as session:
            auth = TokenAuth(session, f"http://127.0.0.1:{gateway.port}/v1", gateway.client.token)
            await body(GoogleNestAPI(auth, PROJECT), auth)

    run(main)


async def offer_of(connection: RTCPeerConnection) -> str:
    """An offer with sound, a picture and a data channel, in the order that the API asks for."""
    connection.addTransceiver("audio", direction="recvonly")
    connection.addTransceiver("video", direction="recvonly")
    connection.createDataChannel("data")
    await connection.setLocalDescription(await connection.createOffer())
    return connection.localDescription.sdp


def post(gateway: Gateway, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = gateway.client.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.text
    return dict(answer.json)


def test_lists_the_devices_with_their_traits(gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")

    async def check(api: GoogleNestAPI, _: TokenAuth) -> None:
        devices = {one.name: one for one in await api.async_get_devices()}
        names = {one.info.custom_name: one for one in devices.values() if one.info}
        door = names["Front door"]
        assert door.type == "sdm.devices.types.DOORBELL"
        assert door.connectivity and door.connectivity.status == "ONLINE"
        assert door.doorbell_chime is not None and door.camera_live_stream is not None
        assert names["garden"].type == "sdm.devices.types.CAMERA"
        same = await api.async_get_device(door.name.rsplit("/", 1)[1])
        assert same is not None and same.name == door.name

    with_api(gateway, check)


def test_lists_structures_and_rooms_and_says_where_a_device_is(gateway: Gateway) -> None:
    structure = gateway.client.get("/v1/structures")["structures"][0]
    room = gateway.client.request(
        "POST", f"/v1/structures/{structure['id']}/rooms", json.dumps({"name": "Porch"}),
        {"Content-Type": "application/json"},
    ).json  # fmt: skip
    placed = {"structureID": structure["id"], "roomID": room["id"]}
    answer = gateway.client.request(
        "PATCH", "/v1/devices/front-door", json.dumps(placed), {"Content-Type": "application/json"}
    )
    assert answer.status == 200, answer.text

    async def check(api: GoogleNestAPI, _: TokenAuth) -> None:
        structures = await api.async_get_structures()
        assert [one.info.custom_name for one in structures if one.info] == [structure["name"]]
        devices = {one.info.custom_name: one for one in await api.async_get_devices() if one.info}
        parents = {one.parent: one.display_name for one in devices["Front door"].relations}
        assert parents == {f"enterprises/{PROJECT}/structures/{structure['id']}/rooms/{room['id']}": "Porch"}

    with_api(gateway, check)
    for path in ("/v1/devices/front-door", f"/v1/rooms/{room['id']}"):
        method, body = ("PATCH", json.dumps({"roomID": None})) if "devices" in path else ("DELETE", None)
        gateway.client.request(method, path, body, {"Content-Type": "application/json"} if body else {})


def test_streams_a_camera_extends_it_and_stops(gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")

    async def check(api: GoogleNestAPI, _auth: TokenAuth) -> None:
        door = next(one for one in await api.async_get_devices() if one.info and one.info.custom_name == "Front door")
        assert door.camera_live_stream is not None
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        tracks: dict[str, Any] = {}
        connection.on("track", lambda track: tracks.update({track.kind: track}))
        try:
            stream = await door.camera_live_stream.generate_web_rtc_stream(await offer_of(connection))
            await connection.setRemoteDescription(RTCSessionDescription(stream.answer_sdp, "answer"))
            for _ in range(10):
                await tracks["video"].recv()
            longer = await stream.extend_stream()
            assert longer.media_session_id == stream.media_session_id
            assert longer.expires_at >= stream.expires_at
            await longer.stop_stream()
            with pytest.raises(ApiException, match="invalid session or user id mismatch"):
                await longer.extend_stream()
        finally:
            await connection.close()

    with_api(gateway, check)


def test_an_offer_that_breaks_the_rules_is_refused_as_by_google(gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")

    async def check(api: GoogleNestAPI, _: TokenAuth) -> None:
        door = next(one for one in await api.async_get_devices() if one.info and one.info.custom_name == "Front door")
        assert door.camera_live_stream is not None
        with pytest.raises(ApiException, match="Offer must contain each of audio, video and application"):
            await door.camera_live_stream.generate_web_rtc_stream("v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n")
        with pytest.raises(ApiException, match="offerSdp value must be set"):
            await door.camera_live_stream.generate_web_rtc_stream("")

    with_api(gateway, check)


def test_a_press_comes_as_an_event_with_a_picture(gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    post(gateway, f"{FEED}:pull", {"returnImmediately": True})
    assert gateway.client.command("front-door", "DoorbellPress", "press").status == 200
    found: dict[str, Any] = {}
    acknowledgements: list[str] = []
    for _ in range(20):
        for received in post(gateway, f"{FEED}:pull", {"maxMessages": 50})["receivedMessages"]:
            acknowledgements.append(received["ackId"])
            message = json.loads(base64.b64decode(received["message"]["data"]))
            if "sdm.devices.events.DoorbellChime.Chime" in message.get("resourceUpdate", {}).get("events", {}):
                found = message
        if found:
            break
    assert found, "the press never came"
    post(gateway, f"{FEED}:acknowledge", {"ackIds": acknowledgements})

    async def check(api: GoogleNestAPI, auth: TokenAuth) -> None:
        event = EventMessage.create_event(found, auth)
        devices = {one.name: one for one in await api.async_get_devices()}
        assert event.resource_update_name is not None
        door = devices[event.resource_update_name]
        await door.async_handle_event(event)
        assert event.resource_update_events is not None and door.camera_event_image is not None
        chime = event.resource_update_events["sdm.devices.events.DoorbellChime.Chime"]
        image = await door.camera_event_image.generate_image(chime.event_id)
        assert (await image.contents())[:3] == b"\xff\xd8\xff"

    with_api(gateway, check)


@pytest.fixture
def recorded(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    """A gateway that records what happens at its doorbell."""
    running = Gateway(binary, tmp_path, [DOORBELL], {"recording": {"trigger": "motion", "freeGigabytes": 0}})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def test_a_recorded_event_is_followed_by_its_clip(recorded: Gateway) -> None:
    recorded.wait_until_flowing("front-door")
    post(recorded, f"{FEED}:pull", {"returnImmediately": True})

    def transport(status: str) -> None:
        parameters = {"transportStatus": status}
        answer = recorded.client.command("front-door", "PushAvStreamTransport", "setTransportStatus", parameters)
        assert answer.status == 200, answer.text

    def is_recorded() -> bool:
        """Whether more than two seconds after the trigger are there: messages count in whole seconds."""
        found = recorded.client.get("/v1/devices/front-door/recordings")["recordings"]
        ends = [(datetime.fromisoformat(one["end"]), one["trigger"]["at"]) for one in found if one["segments"] > 0]
        return any((end - datetime.fromisoformat(trigger)).total_seconds() > 2 for end, trigger in ends)

    events: dict[str, EventMessage] = {}

    async def check(api: GoogleNestAPI, auth: TokenAuth) -> None:
        door = next(one for one in await api.async_get_devices() if one.info and one.info.custom_name == "Front door")
        assert door.camera_clip_preview is not None
        post(recorded, "/v1/devices/front-door/events", {"type": "person", "active": True})
        eventually(is_recorded, "a recording")
        # The recording ends before its time, and so does the clip.
        transport("inactive")

        def clipped() -> bool:
            pulled = post(recorded, f"{FEED}:pull", {"maxMessages": 50, "returnImmediately": True})
            for received in pulled.get("receivedMessages", []):
                message = json.loads(base64.b64decode(received["message"]["data"]))
                event = EventMessage.create_event(message, auth)
                events.update(dict.fromkeys(event.resource_update_events or {}, event))
            return CLIP in events

        eventually(clipped, "the message of the clip")
        transport("active")
        seen, preview = ((events[name].resource_update_events or {})[name] for name in (PERSON, CLIP))
        assert preview.event_session_id == seen.event_session_id
        assert isinstance(preview, CameraClipPreviewEvent)
        clip = await door.camera_clip_preview.generate_event_image(preview.preview_url)
        assert clip is not None and (await clip.contents())[4:8] == b"ftyp"

    with_api(recorded, check)
