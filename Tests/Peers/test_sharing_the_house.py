"""Several principals, and somebody else's files in the state folder: nobody shuts the others out or gets in."""

import io
import json
import os
import signal
import subprocess
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from peers.client import Client
from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port

OWNER, GUEST = "gatehouse_owner-token-" + "o" * 40, "gatehouse_guest-token-" + "g" * 40
OFFER = Path(__file__).parent.parent.parent / "sdp-samples/offers/chromium-recvonly-av.offer.sdp"
SDP = {"Content-Type": "application/sdp"}


def state(folder: Path) -> Path:
    """A state folder with two principals; the owner's token comes last."""
    made = folder / "state"
    made.mkdir(mode=0o700)
    token = made / "token"
    token.touch(mode=0o600)
    token.write_text(f"{GUEST} guest\n{OWNER}\n")
    return made


@pytest.fixture(scope="module")
def gateway(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("sharing")
    state(folder)
    running = Gateway(
        binary, folder, [DOORBELL, Camera("yard")], {"sessions": {"perCamera": 16}, "events": {"watchers": 64}}
    )
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


def guest(gateway: Gateway) -> Client:
    return Client("127.0.0.1", gateway.port, GUEST)


def test_a_guest_cannot_take_all_watchers_places(gateway: Gateway) -> None:
    def attempt(_: int) -> EventStream | None:
        try:
            return EventStream(guest(gateway))
        except AssertionError:
            return None

    with ThreadPoolExecutor(40) as pool:
        streams = [stream for stream in pool.map(attempt, range(120)) if stream]
    try:
        assert len(streams) == 16, "a quarter of 64"
        mine = EventStream(gateway.client)
        assert gateway.client.command("front-door", "DoorbellPress", "press").status == 200
        mine.wait_for("DoorbellPressed", deviceID=gateway.client.device_id("front-door"))
        mine.close()
        refused = guest(gateway).request("GET", "/v1/events")
        assert refused.status == 429 and "share of 16" in refused.text and "retry-after" in refused.headers
    finally:
        for stream in streams:
            stream.close()


def test_a_guest_cannot_fill_a_camera_with_views_that_never_connect(gateway: Gateway) -> None:
    gateway.wait_until_flowing("yard")
    offer = OFFER.read_bytes().decode()

    def attempt(_: int) -> tuple[int, str]:
        answer = guest(gateway).request("POST", "/whep/yard", offer, SDP)
        return answer.status, answer.headers.get("location", "")

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(attempt, range(40)))
    started = [location for status, location in answers if status == 201]
    # After ten seconds, which a busy machine may need, a view that has not connected gives way to the guest's next one.
    assert len(started) >= 4 and len(guest(gateway).sessions()) == 4, "a quarter of 16"
    assert {status for status, _ in answers} == {201, 429}
    mine = gateway.client.whep("yard", offer)
    assert mine.status == 201
    # Nobody can end another's view, and ending one's own twice is not an error.
    for location in started:
        assert gateway.client.request("DELETE", f"/v1/sessions/{location.rsplit('/', 1)[1]}").status == 404
        for _ in range(2):
            assert guest(gateway).request("DELETE", location).status == 200
    assert gateway.client.request("DELETE", mine.headers["location"]).status == 200


def twenty_seconds_of_silence() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as clip:
        clip.setnchannels(1)
        clip.setsampwidth(2)
        clip.setframerate(8_000)
        clip.writeframes(bytes(2 * 8_000 * 20))
    return file.getvalue()


def test_a_guest_cannot_end_the_owners_clip(gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    clip = (twenty_seconds_of_silence(), {"Content-Type": "audio/wav"})
    clips = "/v1/devices/front-door/speaker/clips"
    mine = gateway.client.request("POST", clips, *clip)
    assert mine.status == 201, mine.text
    assert guest(gateway).request("DELETE", mine.headers["location"]).status == 403
    speaker = gateway.client.get("/v1/devices/front-door/speaker")
    # On a machine that stands still, the clip may have been played to its end before somebody asks.
    assert speaker["talker"] == "clip" or speaker["clip"]["talkback"]["reason"] == "the clip has ended", speaker
    assert [gateway.client.request("DELETE", mine.headers["location"]).status for _ in range(2)] == [204, 204]
    theirs = guest(gateway).request("POST", clips, *clip)
    assert theirs.status == 201, theirs.text
    assert gateway.client.request("DELETE", theirs.headers["location"]).status == 204
    assert gateway.client.request("DELETE", f"{clips}/no-such").status == 404


def test_credentials_of_30000_bytes_are_refused_with_their_line(gateway: Gateway) -> None:
    lines = OFFER.read_bytes().decode().split("\r\n")
    index = next(number for number, line in enumerate(lines) if line.startswith("a=ice-pwd:"))
    # In one line of several: with all of them so long, the body would be refused for its length.
    lines[index] = "a=ice-pwd:" + "x" * 30_000
    answer = gateway.client.whep("front-door", "\r\n".join(lines))
    assert answer.status == 400
    assert f"line {index + 1}: a=ice-pwd has 30000 characters" in answer.json["error"]["message"]
    assert len(answer.body) < 1_000


def serve(binary: Path, folder: Path, state_folder: Path) -> subprocess.Popen[str]:
    """Another gateway with ports of its own, whose output is read."""
    folder.mkdir(exist_ok=True)
    config = folder / "gatehouse.yaml"
    config.write_text(
        json.dumps(
            {
                "http": {"port": free_port(), "https": False},
                "media": {"port": free_port()},
                "stateDirectory": str(state_folder),
                "cameras": [],
            }
        )
    )
    return subprocess.Popen(
        [str(binary), "serve", "--config", str(config)],
        env=os.environ | {"XDG_STATE_HOME": str(folder / "standard")},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def refusal(binary: Path, folder: Path, state_folder: Path) -> str:
    """What a gateway says that does not start; a start that hangs or works fails."""
    process = serve(binary, folder, state_folder)
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"it did not end: {process.communicate()[0]}") from None
    assert process.returncode == 1, output
    return output


def test_two_gateways_do_not_share_a_state_folder(binary: Path, tmp_path: Path) -> None:
    folder = state(tmp_path)
    first = Gateway(binary, tmp_path, [DOORBELL])
    said = refusal(binary, tmp_path / "second", folder)
    assert f"process {first.process.pid}," in said and "stateDirectory" in said
    assert first.client.get("/v1/gateway")["name"] == "Gatehouse"
    first.wait_until_flowing("front-door")
    # However the gateway ends, the kernel releases the folder, and the write in progress destroys no event.
    assert first.client.command("front-door", "DoorbellPress", "press").status == 200
    eventually(lambda: len(presses(first)) == 1, "the press is written down")
    os.kill(first.process.pid, signal.SIGKILL)
    first.stop()
    second = Gateway(binary, tmp_path, [DOORBELL])
    try:
        second.wait_until_flowing("front-door")
        assert second.client.command("front-door", "DoorbellPress", "press").status == 200
        eventually(lambda: len(presses(second)) == 2, "the next press is written down")
    finally:
        assert second.stop() == 0
    third = Gateway(binary, tmp_path, [DOORBELL])
    try:
        assert len(presses(third)) == 2
    finally:
        assert third.stop() == 0


def presses(gateway: Gateway) -> list[dict]:
    return gateway.client.get("/v1/devices/front-door/events")["events"]


def test_what_is_not_as_the_gateway_left_it_is_refused_and_not_replaced(binary: Path, tmp_path: Path) -> None:
    folder = state(tmp_path)
    token = folder / "token"
    content = token.read_text()

    def said() -> str:
        return refusal(binary, tmp_path / "gateway", folder)

    for empty in ("", "# nothing\n"):
        token.write_text(empty)
        assert "contains no token" in said() and token.read_text() == empty
    token.unlink()
    for name in ("token", "webhook-tokens", "cameras.yaml", "gateway.lock"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name, 0o600)
        assert f"{name}: " in (output := said()) and "not a regular file" in output
        (folder / name).unlink()
        if name == "token":
            token.touch(mode=0o600)
            token.write_text(content)
    webhooks = folder / "webhook-tokens"
    webhooks.touch(mode=0o600)
    webhooks.write_text("garbage\n")
    assert "line 1 must be a token" in said() and webhooks.read_text() == "garbage\n"
    webhooks.unlink()
    folder.chmod(0o777)
    assert "chmod go-w" in said()
    folder.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(token, 12_345, 12_345)
        assert "12345" in said()
