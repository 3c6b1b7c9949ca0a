"""Home Assistant's own client of go2rtc, against the gateway: the requests of its integration, in their order."""

import asyncio
import json
import sys
import types
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaPlayer
from peers import coroutines
from peers.aiortc_viewer import AiortcViewer
from peers.downloads import fetched
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.rtsp_cameras import PASSWORD, RTSPCameras

ENTITY = "camera.driveway"


@pytest.fixture(scope="module")
def library() -> Iterator[Any]:
    """The client of Home Assistant. It asks for Python 3.12 because of the syntax of its exceptions. For the older
    interpreter of the tests, others stand in for them. Everything that sends or reads something is its own."""
    folder = fetched("go2rtc-client")

    class ClientError(Exception):
        pass

    exceptions: Any = types.ModuleType("go2rtc_client.exceptions")
    exceptions.Go2RtcClientError = exceptions.Go2RtcVersionError = ClientError
    exceptions.handle_error = lambda function: function
    sys.modules["go2rtc_client.exceptions"] = exceptions
    # After what the tests use already, so that aiohttp stays the same.
    sys.path.append(str(folder))
    import go2rtc_client
    import go2rtc_client.ws

    yield go2rtc_client
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def house(binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    cameras = [
        DOORBELL, Camera("cellar", "builtin:silent"), rtsp_cameras.camera("drive", "h264", transport="tcp"),
        rtsp_cameras.camera("gate", "talk-pcmu", transport="tcp"),
    ]  # fmt: skip
    running = Gateway(binary, tmp_path_factory.mktemp("go2rtc"), cameras, {"go2rtc": True})
    for camera in cameras:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def token(house: Gateway, name: str, *scopes: str, device: str | None = None) -> str:
    grant: dict[str, object] = {"scopes": list(scopes)}
    if device:
        grant["deviceID"] = house.client.device_id(device)
    body = json.dumps({"name": name, "grants": [grant]})
    answer = house.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    return str(answer.json["token"])


def url(house: Gateway, secret: str) -> str:
    return f"http://homeassistant:{secret}@127.0.0.1:{house.port}"


def run(body: Callable[[aiohttp.ClientSession], Awaitable[None]]) -> None:
    async def work() -> None:
        async with aiohttp.ClientSession() as session:
            # A body waits for several events, each of which may take so long.
            await asyncio.wait_for(body(session), 4 * PATIENCE)

    coroutines.run(work)


@asynccontextmanager
async def view(
    library: Any, house: Gateway, session: aiohttp.ClientSession, address: str, source: str, sound: str | None = None
) -> AsyncIterator[AiortcViewer]:
    """What the integration does for a browser: an offer over the WebSocket, then its candidates."""
    socket = library.ws.Go2RtcWsClient(session, address, source=source)
    answers: asyncio.Queue[Any] = asyncio.Queue()
    socket.subscribe(answers.put_nowait)
    viewer = AiortcViewer(house.client, source)
    connection: RTCPeerConnection = viewer._connection
    if sound:
        player = MediaPlayer(sound, format="lavfi")
        assert player.audio is not None
        connection.addTrack(player.audio)
    else:
        connection.addTransceiver("audio", direction="recvonly")
    connection.addTransceiver("video", direction="recvonly")
    await connection.setLocalDescription(await connection.createOffer())
    offer = connection.localDescription.sdp
    # The integration passes candidates on one by one. aiortc has them in its offer.
    lines = [line for line in offer.splitlines() if not line.startswith(("a=candidate", "a=end-of-candidates"))]
    candidates = [line[2:] for line in offer.splitlines() if line.startswith("a=candidate")]
    await socket.send(library.ws.WebRTCOffer("\r\n".join(lines) + "\r\n", []))
    answer = await asyncio.wait_for(answers.get(), PATIENCE)
    assert isinstance(answer, library.ws.WebRTCAnswer), answer
    for candidate in candidates:
        await socket.send(library.ws.WebRTCCandidate(candidate))
    await connection.setRemoteDescription(RTCSessionDescription(answer.sdp, "answer"))
    try:
        yield viewer
    finally:
        await viewer.stop()
        await socket.close()


def test_home_assistant_plays_a_camera(library: Any, house: Gateway, rtsp_cameras: RTSPCameras) -> None:
    address = url(house, token(house, "home-assistant", "read", "media"))
    source = rtsp_cameras.address("h264")

    async def integration(session: aiohttp.ClientSession) -> None:
        client = library.Go2RtcRestClient(session, address)
        assert str(await client.validate_server_version()) == "1.9.14"
        assert source.partition(":")[0] in await client.schemes.list()
        assert ENTITY not in await client.streams.list()
        extra = [f"ffmpeg:{ENTITY}#audio=opus#query=log_level=debug", f"ffmpeg:{ENTITY}#video=mjpeg"]
        await client.streams.add(ENTITY, [source, *extra])
        streams = await client.streams.list()
        # So the integration knows that it need not give the name again.
        assert [producer.url for producer in streams[ENTITY].producers] == [source]
        assert {"drive", "cellar", "front-door"} <= streams.keys()
        async with view(library, house, session, address, ENTITY) as viewer:
            await viewer.expect_media()
            assert viewer.received.width == 320
            assert len(house.client.sessions()) == 0, "the owner sees no view of somebody else"
        assert (await client.get_jpeg_snapshot(ENTITY, 160, 120))[:2] == b"\xff\xd8"
        await client.preload.enable(ENTITY)
        assert await client.preload.list() == {}
        await client.preload.disable(ENTITY)

    run(integration)
    assert PASSWORD not in house.process.output()


def test_the_view_ends_with_the_websocket(library: Any, house: Gateway) -> None:
    secret = token(house, "closing", "media")

    async def integration(session: aiohttp.ClientSession) -> None:
        async with view(library, house, session, url(house, secret), "drive") as viewer:
            await viewer.expect_media(frames=5)
            own = house.client_at("127.0.0.1")
            own.token = secret
            assert len(own.sessions()) == 1

    run(integration)
    own = house.client_at("127.0.0.1")
    own.token = secret
    eventually(lambda: own.sessions() == [], "the view has ended")


def test_a_browser_that_sends_sound_talks(library: Any, house: Gateway) -> None:
    secret = token(house, "talking", "read", "media")

    async def integration(session: aiohttp.ClientSession) -> None:
        async with view(
            library, house, session, url(house, secret), "gate", "sine=frequency=700:sample_rate=48000"
        ) as viewer:
            await viewer.expect_media(frames=5, sound=False)

            def talks() -> bool:
                speaker = house.client.get("/v1/devices/gate/speaker")
                return '"talking"' in json.dumps(speaker)

            await asyncio.to_thread(eventually, talks, "the viewer has the camera's speaker")

    run(integration)


def test_offers_by_post(library: Any, house: Gateway) -> None:
    async def integration(session: aiohttp.ClientSession) -> None:
        client = library.Go2RtcRestClient(session, url(house, token(house, "posting", "view")))
        viewer = AiortcViewer(house.client, "drive")
        connection = viewer._connection
        connection.addTransceiver("audio", direction="recvonly")
        connection.addTransceiver("video", direction="recvonly")
        await connection.setLocalDescription(await connection.createOffer())
        offer = library.WebRTCSdpOffer(connection.localDescription.sdp)
        answer = await client.webrtc.forward_whep_sdp_offer("drive", offer)
        await connection.setRemoteDescription(RTCSessionDescription(answer.sdp, "answer"))
        await viewer.expect_media()
        await viewer.stop()

    run(integration)


@pytest.mark.parametrize(
    "source",
    ["rtsp://192.0.2.99/stream", "exec:touch /tmp/made", "echo:x", "ffmpeg:device?video=0", "http://127.0.0.1:1/x"],
)
def test_foreign_addresses_are_refused_and_not_opened(library: Any, house: Gateway, source: str) -> None:
    async def integration(session: aiohttp.ClientSession) -> None:
        client = library.Go2RtcRestClient(session, url(house, house.token))
        with pytest.raises(aiohttp.ClientResponseError) as refused:
            await client.streams.add("camera.foreign", [source, "ffmpeg:camera.foreign#audio=opus"])
        assert refused.value.status == 400
        assert "camera.foreign" not in await client.streams.list()

    run(integration)


def test_a_token_sees_its_own_cameras_and_names(library: Any, house: Gateway, rtsp_cameras: RTSPCameras) -> None:
    async def integration(session: aiohttp.ClientSession) -> None:
        mine = library.Go2RtcRestClient(session, url(house, token(house, "one camera", "view", device="cellar")))
        assert set(await mine.streams.list()) == {"cellar"}
        with pytest.raises(aiohttp.ClientResponseError):
            await mine.streams.add("camera.other", [rtsp_cameras.address("h264")])
        with pytest.raises(aiohttp.ClientResponseError) as hidden:
            await mine.get_jpeg_snapshot("drive")
        assert hidden.value.status == 404
        wrong = library.Go2RtcRestClient(session, url(house, "wrong"))
        with pytest.raises(aiohttp.ClientResponseError) as refused:
            await wrong.application.get_info()
        assert refused.value.status == 401

    run(integration)


def test_basic_is_for_this_api_only(house: Gateway) -> None:
    header = {"Authorization": "Basic " + b64encode(f"x:{house.token}".encode()).decode()}
    assert house.client.request("GET", "/api", headers=header, token=None).status == 200
    for path in ("/v1/devices", "/api-docs", "/v1/tokens"):
        assert house.client.request("GET", path, headers=header, token=None).status == 401


def test_it_is_off_unless_the_config_says_so(gateway: Gateway) -> None:
    for path in ("/api", "/api/streams", "/api/ws?src=front-door"):
        assert gateway.client.request("GET", path).status == 404
