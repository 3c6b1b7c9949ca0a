"""Live streams without WebRTC while nothing comes: a player learns that its camera has gone, and a player that has
gone keeps no place."""

import http.client
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.rtsp_cameras import RTSPCameras

# What the gateway sends between two fragments while nothing comes (ISO/IEC 14496-12, section 8.1.2).
EMPTY_BOX = b"\0\0\0\x08free"
# How many places a token other than the owner's has.
SHARE = 16


def stop(gateway: Gateway) -> None:
    assert gateway.stop() == 0, gateway.process.output()[-4000:]


def test_a_player_that_waits_for_a_playlist_learns_that_its_camera_has_gone(binary: Path, tmp_path: Path) -> None:
    # Nobody answers there. It is called only while somebody asks for it, which shows that the player waits.
    shed = Camera("shed", "rtsp://127.0.0.1:9/", settings={"pull": "on-demand"})
    gateway = Gateway(binary, tmp_path, [DOORBELL, shed])

    def rests() -> bool:
        return gateway.client.get("/v1/devices/shed")["source"]["state"] == "idle"

    try:
        eventually(rests, "the camera rests")
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(gateway.client.request, "GET", "/v1/devices/shed/live.m3u8")
            eventually(lambda: not rests(), "the player waits for the camera")
            gateway.write_config([DOORBELL])
            answer = waiting.result(PATIENCE)
        # It does not wait for as long as for a camera that may still come.
        assert answer.status == 503 and "the camera's stream has ended" in answer.text, answer.text
    finally:
        stop(gateway)


def player(gateway: Gateway, token: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """A connection over which a player asks for the stream, and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
    connection.request("GET", "/v1/devices/drive/live.mp4", headers={"Authorization": f"Bearer {token}"})
    return connection, connection.getresponse()


def read_until_silence(answer: http.client.HTTPResponse) -> None:
    """Reads what the camera has sent, and then the first empty box."""
    seen = b""
    for _ in range(100_000):
        part = answer.read1(65_536)
        assert part, "the stream has ended"
        seen = seen[1 - len(EMPTY_BOX) :] + part
        if EMPTY_BOX in seen:
            return
    raise AssertionError("the camera still sends")


def test_a_player_that_leaves_while_its_camera_is_silent_gives_its_place_back(binary: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        cameras = RTSPCameras(tmp_path / "cameras.log")
        stack.callback(cameras.stop)
        gateway = Gateway(binary, tmp_path, [cameras.camera("drive", "h264")])
        stack.callback(stop, gateway)
        gateway.wait_until_flowing("drive")
        token = gateway.client.viewing_token("players", "drive")

        def has_place() -> bool:
            connection, answer = player(gateway, token)
            with closing(connection):
                return answer.status != 429

        with ExitStack() as players:
            answers = []
            for _ in range(SHARE):
                connection, answer = player(gateway, token)
                players.callback(connection.close)
                players.callback(answer.close)
                assert answer.status == 200
                answers.append(answer)
            assert not has_place()
            # The connection to the camera stays, and nothing comes over it.
            cameras.process.send(signal.SIGSTOP)
            stack.callback(cameras.process.send, signal.SIGCONT)
            read_until_silence(answers[0])
        # Nothing but empty boxes is written to players that have left.
        eventually(has_place, "there is a place again")
