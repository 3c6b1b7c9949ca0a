"""Requests that two readers could understand in two ways, and commands that are repeated endlessly."""

import hashlib
import io
import re
import socket
import struct
import subprocess
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from peers.client import Client
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE
from peers.ports import free_port

OWNER, GUEST = "gatehouse_owner-token-" + "o" * 40, "gatehouse_guest-token-" + "g" * 40
OFFERS = Path(__file__).parent.parent.parent / "sdp-samples/offers"
OFFER = (OFFERS / "chromium-recvonly-av.offer.sdp").read_bytes().decode()
SDP = {"Content-Type": "application/sdp"}
FRAGMENT = {"Content-Type": "application/trickle-ice-sdpfrag"}


@pytest.fixture(scope="module")
def rtsp_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def gateway(binary: Path, rtsp_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("requests")
    (folder / "state").mkdir(mode=0o700)
    token = folder / "state/token"
    token.touch(mode=0o600)
    token.write_text(f"{GUEST} guest\n{OWNER}\n")
    running = Gateway(
        binary, folder, [DOORBELL, Camera("phone", "whip")], {"rtsp": {"host": "127.0.0.1", "port": rtsp_port}}
    )
    running.wait_until_flowing("front-door")
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"
    assert "request failed" not in running.process.output()


def guest(gateway: Gateway) -> Client:
    return Client("127.0.0.1", gateway.port, GUEST)


def conversation(port: int, request: bytes) -> bytes:
    """Everything that the gateway answers to a client that sends nothing more."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except ConnectionResetError:
            pass
        return answer


def statuses(answer: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]


def test_no_request_is_smuggled_in_another(gateway: Gateway) -> None:
    token = f"Authorization: Bearer {OWNER}\r\n".encode()
    post = b"POST /whep/front-door HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\n" + token
    hidden = b"GET /v1/devices HTTP/1.1\r\nHost: x\r\n" + token + b"\r\n"
    framings = [
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n folded\r\n\r\n0\r\n\r\n",
        b"X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: +5\r\n\r\nhello",
        b"Content-Length: 0x5\r\n\r\nhello",
        b"Content-Length: 5, 5\r\n\r\nhello",
        b"Content-Length: 5 5\r\n\r\nhello",
        b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        b"Content-Length: -5\r\n\r\nhello",
        b"Content-Length: 99999999999999999999\r\n\r\nhello",
        b"Content-Length:\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5;x=\xff\x00\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n",
    ]
    for framing in framings:
        answer = conversation(gateway.port, post + framing + hidden)
        found = statuses(answer)
        # One answer, a refusal, and what followed it is not read as a request.
        assert len(found) == 1 and found[0] in (400, 413, 501), f"{framing!r}: {answer[:300]!r}"
        assert b"front-door" not in answer.partition(b"\r\n\r\n")[2], framing
    # Where both ends agree on the end, both requests are answered.
    for framing in (b"Content-Length: 5\r\n\r\nhello", b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"):
        assert statuses(conversation(gateway.port, post + framing + hidden)) == [400, 200], framing


def test_odd_targets_and_methods_open_nothing(gateway: Gateway) -> None:
    targets = [
        b"/%76%31/devices", b"/healthz/../v1/devices", b"/healthz/%2e%2e/v1/devices", b"/healthz%2f..%2fv1%2fdevices",
        b"//v1/devices", b"/v1//devices", b"/./v1/devices", b"/V1/devices", b"/v1/devices/", b"/v1/devices?/healthz",
        b"/v1/devices#/healthz", b"/v1/devices;/healthz", b"/v1/devices%00", b"/v1/devices%0d%0aX:%20y",
        b"http://127.0.0.1/v1/devices", b"http://evil.example/v1/devices", b"/?/../v1/devices", b"*", b"v1/devices",
        b"/v1/devices/" + b"../" * 1000 + b"etc/passwd", b"/" + b"%2e%2e%2f" * 800 + b"etc/passwd", b"/\xff\xfe",
        b"/v1/webhooks/..%2f..%2fv1%2fdevices", b"/whep/front-door/../../v1/devices",
    ]  # fmt: skip
    methods = [b"GET", b"HEAD", b"DELETE", b"PATCH", b"PUT", b"TRACE", b"PROPFIND", b"M-SEARCH", b"get", b"PRI"]
    for target in targets:
        for method in methods:
            answer = conversation(gateway.port, method + b" " + target + b" HTTP/1.1\r\nHost: door\r\n\r\n")
            found = statuses(answer)
            assert len(found) == 1, f"{method!r} {target[:60]!r}: {answer[:200]!r}"
            # The page is public, and `/?...` is the page.
            if not (target.startswith(b"/?") and method in (b"GET", b"HEAD")):
                assert 400 <= found[0] < 500 or found[0] == 505, f"{method!r} {target[:60]!r}: {answer[:200]!r}"
            assert b"front-door" not in answer and b"root:" not in answer
            assert b"\r\nX: y" not in answer and b"\r\nx: y" not in answer
    for request in (
        b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: door\r\n\r\nSSH-2.0-x\r\n",
        (
            b"GET /v1/events HTTP/1.1\r\nHost: door\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81\x05hello"
        ),
        (
            b"GET /v1/devices HTTP/1.1\r\nHost: door\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
            b"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        ),
        b"GET /v1/devices HTTP/1.1\r\nHost: door\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(500)) + b"\r\n",
        b"GET /v1/devices HTTP/1.1\r\nHost: door\r\nX: a\x00b\r\n\r\n",
        b"GET /v1/devices HTTP/1.1\r\nHost: door\rX: a\r\n\r\n",
    ):
        found = statuses(conversation(gateway.port, request))
        assert len(found) == 1 and 400 <= found[0] < 500, f"{request[:80]!r}: {found}"


def test_a_page_of_another_origin_gets_nothing_by_simple_requests(gateway: Gateway) -> None:
    press = "/v1/devices/front-door/traits/DoorbellPress/commands/press"
    for origin in (
        "null",
        "http://evil.example",
        f"http://127.0.0.1.evil.example:{gateway.port}",
        "file://",
        "x" * 400,
    ):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            answer = gateway.client.request("POST", press, "{}", {"Origin": origin, "Content-Type": kind})
            assert answer.status == 403, f"{origin[:40]} {kind}: {answer.status}"
            assert answer.headers.get("access-control-allow-credentials") is None
    # A name that an attacker points at the gateway makes its page the gateway's own origin; the token is still missing.
    rebound = {"Host": f"evil.example:{gateway.port}", "Origin": f"http://evil.example:{gateway.port}"}
    assert gateway.client.request("GET", "/v1/devices", headers=rebound, token=None).status == 401
    assert "set-cookie" not in gateway.client.request("GET", "/v1/devices").headers


def test_event_streams_accept_any_last_event_id(gateway: Gateway) -> None:
    for value in ("0", "-1", "18446744073709551615", "9" * 400, "NaN", "1e9", "' OR 1=1", "\x7f", "é", "a-1", ""):
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=PATIENCE) as connection:
            connection.sendall(
                f"GET /v1/events HTTP/1.1\r\nHost: door\r\nAuthorization: Bearer {OWNER}\r\n"
                f"Last-Event-ID: {value}\r\n\r\n".encode()
            )
            answer = connection.recv(65536)
            assert statuses(answer)[0] in (200, 400), f"{value!r}: {answer[:200]!r}"


def test_snapshots_of_every_width_leave_the_owner_some(gateway: Gateway) -> None:
    def picture(width: int) -> int:
        return guest(gateway).request("GET", f"/v1/devices/front-door/snapshot.jpg?width={width}").status

    with ThreadPoolExecutor(40) as pool:
        theirs = [pool.submit(picture, 16 + number) for number in range(200)]
        mine = [gateway.client.request("GET", "/v1/devices/front-door/snapshot.jpg").status for _ in range(5)]
    found = {one.result() for one in theirs}
    assert mine == [200] * 5
    assert found <= {200, 429} and 200 in found
    for width in ("0", "-1", "8193", "1e3", "9" * 40, "%00", "16&width=99999999"):
        answer = gateway.client.request("GET", f"/v1/devices/front-door/snapshot.jpg?width={width}")
        assert answer.status in (200, 400) and len(answer.body) < 1 << 20, f"{width}: {answer.status}"


def test_restarts_and_fragments_without_end_change_one_session(gateway: Gateway) -> None:
    before = len(gateway.client.sessions())
    started = gateway.client.whep("front-door", OFFER)
    assert started.status == 201
    location = started.headers["location"]
    for number in range(100):
        fragment = f"a=ice-ufrag:r{number:04}\r\na=ice-pwd:{'p' * 24}\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"
        fragment += "".join(f"a=candidate:1 1 udp 1 192.0.2.{n % 250 + 1} {5000 + n} typ host\r\n" for n in range(40))
        answer = gateway.client.request("PATCH", location, fragment, FRAGMENT | {"If-Match": "*"})
        assert answer.status in (200, 204, 400, 429), f"{number}: {answer.status} {answer.text}"
    assert len(gateway.client.sessions()) <= before + 1
    assert gateway.client.request("DELETE", location).status == 200


def test_offers_of_thousands_of_sections_are_refused(gateway: Gateway) -> None:
    head = OFFER.split("m=")[0]
    section = "m=" + OFFER.split("m=")[1]
    for offer in (
        head + "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n" * 1_900,
        head + "m=application 9 x y\r\n" * 2_900,
        head + "a=group:BUNDLE " + " ".join(str(n) for n in range(9_000)) + "\r\n" + section,
        head + section.replace("a=mid:0", "a=mid:0\r\n" + "a=candidate:1 1 udp 1 192.0.2.1 5000 typ host\r\n" * 1_000),
        head + section.replace("a=mid:0", "a=mid:0\r\n" + "a=rtpmap:96 opus/48000/2\r\n" * 2_000),
    ):
        answer = gateway.client.whep("front-door", offer)
        assert answer.status in (201, 400, 406, 413), f"{offer[:80]!r}: {answer.status} {answer.text[:300]}"
        assert len(answer.body) < 64_000
        if answer.status == 201:
            assert gateway.client.request("DELETE", answer.headers["location"]).status == 200


def wav(channels: int = 1, rate: int = 8_000, bits: int = 16, data: int | None = None, form: int = 1) -> bytes:
    samples = bytes(1_600)
    head = struct.pack(
        "<HHIIHH", form, channels, rate, rate * channels * bits // 8 & 0xFFFFFFFF, channels * bits // 8 & 0xFFFF, bits
    )
    size = len(samples) if data is None else data
    body = b"WAVEfmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", size & 0xFFFFFFFF) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def test_odd_clips_are_refused_with_a_reason(gateway: Gateway) -> None:
    clips = [
        wav(channels=0), wav(channels=65_535), wav(rate=0), wav(rate=0xFFFFFFFF), wav(rate=1), wav(bits=0), wav(bits=7),
        wav(bits=65_535), wav(data=0), wav(data=0xFFFFFFFF), wav(data=1), wav(form=0), wav(form=0xFFFE), wav(form=0x55),
        wav()[:20], wav()[:36], b"RIFF" + b"\xff" * 4_000, b"RIFF\x00\x00\x00\x00WAVE", b"",
        b"RIFF\xff\xff\xff\xffWAVE" + b"junk\x00\x00\x00\x00" * 10_000,
        b"RIFF\xff\xff\xff\xffWAVE" + b"junk\xff\xff\xff\xff" * 10,
        b"RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\x7f" + bytes(100),
    ]  # fmt: skip
    clip = "/v1/devices/front-door/speaker/clips"
    for number, body in enumerate(clips):
        answer = gateway.client.request("POST", clip, body, {"Content-Type": "audio/wav"})
        assert answer.status in (201, 400, 413, 415), f"{number}: {answer.status} {answer.text}"
        if answer.status == 201:
            assert gateway.client.request("DELETE", answer.headers["location"]).status == 204
        else:
            assert answer.json["error"]["message"], number
    good = io.BytesIO()
    with wave.open(good, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44_100)
        file.writeframes(bytes(44_100))
    answer = gateway.client.request("POST", clip, good.getvalue(), {"Content-Type": "audio/wav"})
    assert answer.status == 201, answer.text


def test_a_guest_cannot_take_all_readers_places(gateway: Gateway, rtsp_port: int) -> None:
    """Readers by RTSP, with Digest as every player does it."""

    def digest(text: str) -> str:
        return hashlib.md5(text.encode()).hexdigest()

    def read(token: str) -> tuple[socket.socket, int]:
        connection = socket.create_connection(("127.0.0.1", rtsp_port), timeout=PATIENCE)
        url = f"rtsp://127.0.0.1:{rtsp_port}/front-door/trackID=0"
        connection.sendall(f"SETUP {url} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode())
        nonce = re.findall(rb'nonce="(\w+)"', connection.recv(65536))[0].decode()
        response = digest(f"{digest(f'me:Gatehouse:{token}')}:{nonce}:{digest(f'SETUP:{url}')}")
        connection.sendall(
            f"SETUP {url} RTSP/1.0\r\nCSeq: 2\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
            f'Authorization: Digest username="me", realm="Gatehouse", nonce="{nonce}", uri="{url}", '
            f'response="{response}"\r\n\r\n'.encode()
        )
        return connection, int(connection.recv(65536).split(b" ")[1])

    held = [read(GUEST) for _ in range(20)]
    try:
        assert [status for _, status in held].count(200) == 16, "a quarter of 64"
        assert {status for _, status in held} == {200, 453}
        held += [read(OWNER) for _ in range(3)]
        assert [status for _, status in held[20:]] == [200] * 3
    finally:
        for connection, _ in held:
            connection.close()


def test_configs_of_any_depth_are_refused_in_time(binary: Path, tmp_path: Path) -> None:
    config = tmp_path / "gatehouse.yaml"
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    for text in (
        "[" * 20_000,
        "{a: " * 20_000,
        "- " * 20_000,
        bomb,
        f"cameras: {'[' * 5_000}{']' * 5_000}",
        "a: &a [*a]",
    ):
        config.write_text(text)
        checked = subprocess.run(
            [str(binary), "serve", "--check", "--config", str(config)], capture_output=True, text=True, timeout=PATIENCE
        )
        assert checked.returncode == 1, f"{text[:40]}: {checked.returncode} {checked.stderr[:300]}"
        assert str(config) in checked.stderr and len(checked.stderr) < 10_000


def test_publishers_of_mediamtx_stay_connected(gateway: Gateway) -> None:
    """What publisher.js sends: the token with OPTIONS and POST, none with PATCH and DELETE."""
    offer = (OFFERS / "chromium-sendonly-publish-av.offer.sdp").read_bytes().decode()
    client = gateway.client
    assert client.request("OPTIONS", "/whip/phone").status == 200
    assert client.request("POST", "/whip/phone", offer, SDP, token=None).status == 401
    started = client.whip("phone", offer)
    assert started.status == 201 and "etag" in started.headers
    location = started.headers["location"]
    lines = offer.splitlines()
    credentials = [next(line for line in lines if line.startswith(name)) for name in ("a=ice-ufrag:", "a=ice-pwd:")]
    # publisher.js writes each media line with the candidates that it has found since the last time.
    media = [line for line in lines if line.startswith("m=")]
    fragment = "\r\n".join([*credentials, *(
        text for number, line in enumerate(media)
        for text in (line, f"a=mid:{number}", f"a=candidate:1 1 udp 2130706431 192.0.2.7 5000{number} typ host")
    ), ""])  # fmt: skip
    for _ in range(2):
        assert client.request("PATCH", location, fragment, FRAGMENT | {"If-Match": "*"}, token=None).status == 204
    # Without the path nobody gets in, and a token that is wrong is refused even there.
    elsewhere = location.rsplit("/", 1)[0] + "/" + "x" * 22
    assert client.request("PATCH", elsewhere, fragment, FRAGMENT | {"If-Match": "*"}, token=None).status == 404
    assert client.request("DELETE", elsewhere, token=None).status == 404
    assert client.request("DELETE", location, token="gatehouse_wrong").status == 401
    assert client.request("DELETE", location, token=None).status == 200
    assert client.request("PATCH", location, fragment, FRAGMENT | {"If-Match": "*"}, token=None).status == 404
    assert location.rsplit("/", 1)[1] not in gateway.process.output()
