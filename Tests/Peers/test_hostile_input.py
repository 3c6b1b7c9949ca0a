"""A gateway under attack from every side, while a viewer watches and must not notice."""

import contextlib
import ipaddress
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from aioice import stun
from OpenSSL import SSL
from peers.chromium import ChromiumPage, open_page
from peers.client import Client
from peers.garbage import datagrams, texts
from peers.gateway import DOORBELL, Camera, Gateway
from peers.hostile_camera import HostileCamera
from peers.memory import own_memory
from peers.polling import PATIENCE, eventually
from peers.spoofing import Spoofer
from peers.viewer import BrowserViewer, Reception, viewing
from playwright.sync_api import Browser

OFFER = (
    (Path(__file__).parent.parent.parent / "sdp-samples/offers/chromium-recvonly-av.offer.sdp").read_bytes().decode()
)
NUMBERED = """(async () => {
    let count = 0;
    (await window.viewer.pc.getStats()).forEach((entry) => {
        if (entry.type === "inbound-rtp") count += entry.packetsReceived + entry.packetsLost;
    });
    return count;
})()"""
"""The packets of picture and sound by their sequence numbers, whether they came or not."""


@pytest.fixture(scope="module")
def hostile_camera() -> Iterator[HostileCamera]:
    camera = HostileCamera(seed=7)
    yield camera
    camera.stop()


@pytest.fixture(scope="module")
def attacked(
    binary: Path, hostile_camera: HostileCamera, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    running = Gateway(
        binary,
        tmp_path_factory.mktemp("attacked"),
        [DOORBELL, Camera("hostile", f"rtsp://127.0.0.1:{hostile_camera.port}/x")],
        # A low limit, so that all sessions start before the first one, which never connects, is dropped after 10 s.
        {"sessions": {"perCamera": 8}},
    )
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


@pytest.fixture(scope="module")
def page(browser: Browser, attacked: Gateway) -> Iterator[ChromiumPage]:
    with open_page(browser, f"http://127.0.0.1:{attacked.port}") as opened:
        yield opened


@pytest.fixture
def viewer(page: ChromiumPage, attacked: Gateway) -> Iterator[BrowserViewer]:
    """Plays before the attack, and must play on after it: same connection, hardly any loss."""
    attacked.wait_until_flowing("front-door")
    with viewing(page, attacked.token) as playing:
        playing.call("playWHEP", device="front-door")
        before = playing.expect_media(frames=15)
        yield playing
        after = playing.expect_media(frames=30)
        numbered, counts = page.evaluate(NUMBERED), [one["statistics"] for one in attacked.client.sessions()]
        sent = sum(one["packetsSent"] + one["packetsRetransmitted"] for one in counts)
        # A browser that gets no processor time drops a datagram now and then, or all of some seconds. What an attack
        # does to a view is a hole in its numbers: there are more of them than packets were sent.
        lost = after.packetsLost - before.packetsLost
        assert lost < 5 or numbered <= sent, (lost, numbered, counts)
        assert playing.connection_state() in ("connected", "completed")
        assert attacked.process.is_running


def username_of_a_session(viewer: BrowserViewer) -> str:
    """The USERNAME of the viewer's own checks, which an attacker on the path could read."""
    remote = viewer.call_value("pc.remoteDescription.sdp")
    local = viewer.call_value("pc.localDescription.sdp")
    fragments = [re.search(r"^a=ice-ufrag:(\S+)", sdp, re.MULTILINE) for sdp in (remote, local)]
    return ":".join(found[1] for found in fragments if found)


def own_address(path: Reception) -> str:
    """The viewer's address on this host. A browser that hides it sends from the address that it sends to."""
    try:
        return str(ipaddress.ip_address(path.address))
    except ValueError:
        return path.gatewayAddress


def received(gateway: Gateway) -> float:
    return gateway.client.metric("gatehouse_media_port_datagrams_received_total")


def refused_datagrams(gateway: Gateway) -> int:
    return sum(int(one["statistics"]["refusedDatagrams"]) for one in gateway.client.sessions())


def test_damaged_datagrams_from_strangers(viewer: BrowserViewer, attacked: Gateway) -> None:
    before, count = received(attacked), 5_000
    memory = own_memory(attacked.process.pid)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number, datagram in enumerate(datagrams(1, count, username_of_a_session(viewer))):
            sender.sendto(datagram, ("127.0.0.1", attacked.media_port))
            if number % 500 == 499:
                # In step with the gateway, so that its socket drops none of them unread.
                goal = before + number * 0.9
                eventually(lambda goal=goal: received(attacked) >= goal, "the gateway reads what is sent")
    assert own_memory(attacked.process.pid) - memory < 16 << 20


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can send from another's address")
def test_damaged_datagrams_from_the_viewers_own_address(viewer: BrowserViewer, attacked: Gateway) -> None:
    # Otherwise they did not reach the session that they were meant for.
    eventually(lambda: are_refused(3_000, viewer, attacked), "the session refuses what was forged")


def are_refused(count: int, viewer: BrowserViewer, attacked: Gateway) -> bool:
    """Sends damaged datagrams from the viewer's address, and answers whether its session has refused some of them.

    It answers no if the browser has changed its path meanwhile; see `are_contested`.
    """
    path = viewer.stats()
    if path.protocol != "udp":
        return False
    local = own_address(path)
    before, refused = received(attacked), refused_datagrams(attacked)
    spoofer = Spoofer()
    try:
        for number, datagram in enumerate(datagrams(2, count, username_of_a_session(viewer))):
            spoofer.send(datagram, (local, path.port), (path.gatewayAddress, attacked.media_port))
            if number % 500 == 499:
                goal = before + number * 0.9
                eventually(lambda goal=goal: received(attacked) >= goal, "the gateway reads what is sent")
    finally:
        spoofer.close()
    try:
        eventually(lambda: refused_datagrams(attacked) > refused + count / 10, "many are refused", within=15)
    except AssertionError:
        return False
    return True


def client_hello() -> bytes:
    """What a DTLS client sends first: aiortc's library makes it."""
    context = SSL.Context(SSL.DTLS_METHOD)
    connection = SSL.Connection(context)
    connection.set_connect_state()
    with contextlib.suppress(SSL.WantReadError):
        connection.do_handshake()
    return connection.bio_read(2_000)


def test_client_hellos_of_strangers_are_not_answered(viewer: BrowserViewer, attacked: Gateway) -> None:
    """An answer with a certificate is many times as long as a hello, and costs a signature."""
    before, count, hello = received(attacked), 20_000, client_hello()
    assert hello[0] == 22 and hello[13] == 1, hello[:20]
    memory = own_memory(attacked.process.pid)
    with contextlib.ExitStack() as stack:
        # Many ports are many peers.
        senders = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(50)]
        for number in range(count):
            senders[number % len(senders)].sendto(hello, ("127.0.0.1", attacked.media_port))
            if number % 500 == 499:
                goal = before + number * 0.9
                eventually(lambda goal=goal: received(attacked) >= goal, "the gateway reads what is sent")
        viewer.expect_media(frames=30)
        for sender in senders:
            sender.setblocking(False)
            with pytest.raises(BlockingIOError):
                sender.recv(2_000)
    assert own_memory(attacked.process.pid) - memory < 16 << 20


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can send from another's address")
def test_client_hellos_from_a_viewers_address_do_not_end_its_view(viewer: BrowserViewer, attacked: Gateway) -> None:
    """An attacker who can forge a viewer's address starts no second handshake, and does not end the first one."""
    before, count, hello = received(attacked), 5_000, client_hello()
    path = viewer.stats()
    local = own_address(path)
    spoofer = Spoofer()
    try:
        for number in range(count):
            spoofer.send(hello, (local, path.port), (path.gatewayAddress, attacked.media_port))
            if number % 500 == 499:
                goal = before + number * 0.9
                eventually(lambda goal=goal: received(attacked) >= goal, "the gateway reads what is sent")
    finally:
        spoofer.close()
    viewer.expect_media(frames=45)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can send from another's address")
def test_checks_of_another_session_from_a_viewers_address(viewer: BrowserViewer, attacked: Gateway) -> None:
    """A principal's valid checks of its own session, from the address of somebody else's viewer."""
    refused = refused_datagrams(attacked)
    try:
        eventually(lambda: are_contested(50, viewer, attacked), "50 checks are contested")
    except AssertionError as reason:
        metrics = attacked.client.request("GET", "/metrics").text.splitlines()
        relay = [line for line in metrics if line.startswith("gatehouse_relay_")]
        raise AssertionError(f"{reason}; {viewer.call('progress')}; {relay}") from reason
    # The viewer's reports still reach its own session: to the attacker's they would be undecipherable.
    viewer.expect_media(frames=45)
    assert refused_datagrams(attacked) == refused


def are_contested(count: int, viewer: BrowserViewer, attacked: Gateway) -> bool:
    """Sends checks of another session from the viewer's address, and answers whether the relay gave none of them to
    that session.

    A browser that gets no processor time may begin on another path than the one that it stays on, or over TCP. An
    address that it no longer uses is nobody's. So the answer may be no, and the caller tries again.
    """
    path = viewer.stats()
    if path.protocol != "udp":
        return False
    local = own_address(path)
    started = attacked.client.whep("front-door", OFFER)
    fragment, password = (
        re.findall(rf"^a=ice-{name}:(\S+)", started.text, re.MULTILINE)[0] for name in ("ufrag", "pwd")
    )
    theirs = re.findall(r"^a=ice-ufrag:(\S+)", OFFER, re.MULTILINE)[0]
    spoofer = Spoofer()

    def send_check() -> None:
        check = stun.Message(stun.Method.BINDING, stun.Class.REQUEST)
        check.attributes["USERNAME"] = f"{fragment}:{theirs}"
        check.attributes["PRIORITY"] = 0x6E0000FF
        check.attributes["ICE-CONTROLLING"] = 1
        check.attributes["USE-CANDIDATE"] = None
        check.add_message_integrity(password.encode())
        spoofer.send(bytes(check), (local, path.port), (path.gatewayAddress, attacked.media_port))

    def contested() -> float:
        return attacked.client.metric("gatehouse_relay_contested_checks_total")

    def is_contested(since: float) -> bool:
        send_check()
        return contested() > since

    try:
        # Of checks that come before the relay knows their session, it keeps only a few. The session lasts 10 s.
        since = contested()
        eventually(lambda: is_contested(since), "a check is contested", within=5)
        since = contested()
        for _ in range(count):
            send_check()
        eventually(lambda: contested() >= since + count, "all checks are contested", within=5)
    except AssertionError:
        return False
    finally:
        spoofer.close()
        attacked.client.request("DELETE", started.headers["location"])
    return True


def test_damaged_offers(viewer: BrowserViewer, attacked: Gateway) -> None:
    client = attacked.client
    statuses: dict[int, int] = {}
    for body in texts(3, 300, OFFER):
        answer = client.request("POST", "/whep/front-door", body, {"Content-Type": "application/sdp"})
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        if answer.status == 201:
            assert client.request("DELETE", answer.headers["location"]).status == 200
        else:
            assert answer.json["error"]["message"]
    assert set(statuses) <= {201, 400, 406}, statuses
    assert statuses.get(400, 0) > 20, statuses


def test_damaged_fragments(viewer: BrowserViewer, attacked: Gateway) -> None:
    started = attacked.client.whep("front-door", OFFER)
    location, tag = started.headers["location"], started.headers["etag"]
    fragment = "".join(
        line for line in OFFER.splitlines(keepends=True) if line.startswith(("a=ice-", "m=", "a=mid:", "a=candidate:"))
    )
    headers = {"Content-Type": "application/trickle-ice-sdpfrag"}
    for body in texts(4, 200, fragment):
        answer = attacked.client.request("PATCH", location, body, headers | {"If-Match": tag})
        assert answer.status in (200, 204, 400), f"{answer.status} {answer.text}"
        # Damaged credentials are other credentials, which restart ICE.
        tag = answer.headers.get("etag", tag)
    assert attacked.client.request("DELETE", location).status == 200


def test_damaged_configs(binary: Path, tmp_path: Path) -> None:
    original = """\
http: {host: 127.0.0.1, port: 8080, https: false, origins: ["https://home.example"]}
media: {port: 8189, addresses: [192.0.2.1]}
sessions: {durationSeconds: 300, perCamera: 4}
cameras:
  - {id: front-door, name: Front door, type: doorbell, source: "builtin:doorbell"}
  - {id: drive, name: Drive, type: camera, source: "rtsp://name:a-secret@192.0.2.7/stream"}
"""
    config = tmp_path / "gatehouse.yaml"
    codes = set()
    # Each is a process. The fuzz target `yaml` reads many more inside one.
    for body in texts(5, 24, original):
        config.write_bytes(body)
        checked = subprocess.run(
            [str(binary), "serve", "--check", "--config", str(config)], capture_output=True, text=True, timeout=PATIENCE
        )
        codes.add(checked.returncode)
        if checked.returncode == 1:
            assert str(config) in checked.stderr
        assert "a-secret" not in checked.stdout + checked.stderr
    assert codes == {0, 1}


def test_damaged_json(viewer: BrowserViewer, attacked: Gateway) -> None:
    path = "/v1/devices/front-door/traits/WebRtcLiveView/commands/"
    bodies = [
        b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"mediaSessionId": 5}', b'{"mediaSessionId": null}',
        b'{"offerSdp": {"a": [1, 2, 3]}}', b"[" * 100_000, b'{"offerSdp": "' + b"a" * 150_000 + b'"}',
        b'{"extendedDurationSeconds": 1e999, "mediaSessionId": "x"}',
        b'{"extendedDurationSeconds": -1, "mediaSessionId": "x"}',
    ]  # fmt: skip
    for command in ("startLiveView", "extendLiveView", "stopLiveView", "startTalkback", "changeLiveViewQuality", "no"):
        for body in bodies:
            answer = attacked.client.request("POST", path + command, body, {"Content-Type": "application/json"})
            assert 400 <= answer.status < 500, f"{command} {body[:60]!r}: {answer.status} {answer.text}"
            assert answer.json["error"]["message"]


def test_damaged_http(viewer: BrowserViewer, attacked: Gateway) -> None:
    token = f"Authorization: Bearer {attacked.token}\r\n".encode()
    requests = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/devices HTTP/1.1\r\nHost: x\r\n" + token + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
        b"POST /whep/front-door HTTP/1.1\r\nHost: x\r\n" + token + b"Content-Length: -1\r\n\r\n",
        b"POST /whep/front-door HTTP/1.1\r\nHost: x\r\n"
        + token
        + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello",
        b"POST /whep/front-door HTTP/1.1\r\nHost: x\r\n" + token + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /whep/..%2f..%2fetc/passwd HTTP/1.1\r\nHost: x\r\n" + token + b"\r\n",
        b"GET /v1/devices/%00%ff HTTP/1.1\r\nHost: x\r\n" + token + b"\r\n",
        bytes(range(256)) * 40,
    ]
    for request in requests:
        with socket.create_connection(("127.0.0.1", attacked.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            try:
                answer = connection.recv(65536)
            except ConnectionResetError:
                answer = b""
            status = re.match(rb"HTTP/1\.[01] (\d+)", answer)
            assert not answer or (status and int(status[1]) in {*range(400, 500), 505}), (
                f"{request[:60]!r}: {answer[:200]!r}"
            )


def test_a_camera_that_speaks_nonsense(viewer: BrowserViewer, attacked: Gateway, hostile_camera: HostileCamera) -> None:
    # It comes back again and again, later each time, and gets another nonsense each time.
    eventually(lambda: hostile_camera.conversations >= 4, "four conversations with the camera")
    source = Client("127.0.0.1", attacked.port, attacked.token).get("/v1/devices/hostile")["source"]
    assert source["state"] != "flowing"


def test_half_a_start_leaves_nothing_behind(viewer: BrowserViewer, attacked: Gateway) -> None:
    """Sessions whose viewers never come count against their limit and end; others continue."""
    locations: list[str] = []
    while len(locations) < 100:
        answer = attacked.client.whep("front-door", OFFER)
        if answer.status == 429:
            assert answer.json["error"]["status"] == "RESOURCE_EXHAUSTED"
            break
        assert answer.status == 201
        locations.append(answer.headers["location"])
    assert 0 < len(locations) < 100, "a limit on sessions"
    for location in locations:
        assert attacked.client.request("DELETE", location).status == 200
