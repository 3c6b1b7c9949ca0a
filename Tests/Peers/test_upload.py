"""Recordings reach real servers: nginx with client certificates, and an S3 store, whatever goes wrong on the way."""

import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import botocore.client
import pytest
from peers import gstreamer
from peers.bad_server import BadServer
from peers.ingest import Ingest
from peers.pki import Authority
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.processes import OwnedProcess
from peers.uploads import Driver, Media

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def program() -> Path:
    path = Path(os.environ.get("GATEHOUSE_UPLOAD_DRIVER", ROOT / ".build/debug/upload-driver"))
    if not path.exists():
        pytest.exit(f"{path} is missing: run swift build first", returncode=3)
    return path


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Media:
    return Media(tmp_path_factory.mktemp("media"))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    made = Authority(tmp_path_factory.mktemp("pki"), "authority")
    made.issue("server")
    made.issue("gateway")
    made.issue("expired", expired=True)
    return made


@pytest.fixture
def ingest(authority: Authority, tmp_path: Path) -> Iterator[Callable[[str], Ingest]]:
    made: list[Ingest] = []

    def make(interface: str) -> Ingest:
        server, key = authority.folder / "server.pem", authority.folder / "server.key"
        made.append(Ingest(tmp_path / f"ingest-{len(made)}", authority.path, server, key, interface))
        eventually((made[-1].folder / "nginx.pid").exists, "nginx runs", every=0.01)
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def driver(program: Path, media: Media, authority: Authority, tmp_path: Path) -> Iterator[Driver]:
    folder = authority.folder
    endpoint = {
        "root": str(authority.path),
        "certificate": str(folder / "gateway.pem"),
        "key": str(folder / "gateway.key"),
    }
    made = Driver(program, tmp_path / "state", media, endpoint)
    yield made
    if made.process and made.process.poll() is None:
        made.kill()


def check(ingest: Ingest, media: Media, sequences: list[int]) -> None:
    """Everything is there, byte for byte, and nothing came in a wrong order."""
    assert ingest.violations() == []
    for sequence in sequences:
        prefix = f"/camera{sequence % 2}/session_{sequence}/"
        session = ingest.strict.sessions[f"camera{sequence % 2}/{sequence}"]
        objects = {path: body for path, body in session.objects.items() if path.rsplit(".", 1)[1] in ("init", "m4s")}
        assert objects == media.objects(prefix)
        last = session.puts[-1]
        if ingest.strict.interface == "dash":
            assert b'type="static"' in last.body
        if ingest.strict.interface == "hls":
            assert sum(b"#EXT-X-ENDLIST" in body for body in session.objects.values()) == len(media.tracks)


@pytest.mark.parametrize("interface", ["interface1", "dash", "hls"])
def test_a_session_arrives_in_the_order_of_its_interface(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media, interface: str, tmp_path: Path
) -> None:
    server = ingest(interface)
    driver.run(server.url, interface=interface, recordings=3)
    check(server, media, [1, 2, 3])
    assert {put.headers["x-protocol"] for put in server.strict.requests} == {"HTTP/2.0"}
    assert {put.headers["x-subject"] for put in server.strict.requests} == {"CN=gateway"}
    if interface == "interface1":
        return
    # Independent players read the manifests as the receiver has them.
    for path, body in server.strict.sessions["camera1/1"].objects.items():
        target = tmp_path / "received" / path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
    manifest = tmp_path / "received/camera1/session_1" / ("index.mpd" if interface == "dash" else "index.m3u8")
    command = ["ffprobe", "-v", "error", "-allowed_extensions", "ALL", "-count_frames", "-show_entries",
               "stream=codec_name,nb_read_frames", "-of", "csv=p=0", str(manifest)]  # fmt: skip
    report = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert "h264,90" in report.stdout, report
    assert "opus" in report.stdout, report
    pictures, seconds = gstreamer.decode(manifest.as_uri(), tmp_path)
    assert pictures == 90
    assert abs(seconds - 6) < 0.1


# An upload that begins after the last chunk of its segment has a length, which a machine that is busy makes of all.
@pytest.mark.alone
def test_a_segment_is_uploaded_while_it_is_recorded(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media, report: list[str]
) -> None:
    server = ingest("interface1")
    arrived: list[float] = []
    server.strict.answer = lambda *_: arrived.append(time.time())
    events = driver.run(server.url, while_recording=True, chunk_interval=150)
    check(server, media, [1])
    began = float(next(event["at"] for event in events if event["event"] == "began"))
    report.append(f"upload: trigger to the first object at the receiver: {1000 * (arrived[0] - began):.0f} ms")
    # The receiver saw a body without a length: it began before the segment was complete.
    bodies = [put.headers for put in server.strict.requests if put.path.endswith(".m4s")]
    assert any("content-length" not in headers for headers in bodies)


# Between two chunks the server waits for a while only, which a machine that is busy can exceed.
@pytest.mark.alone
def test_a_segment_may_take_longer_than_a_request(
    ingest: Callable[[str], Ingest], driver: Driver, tmp_path: Path
) -> None:
    """How long a segment lasts depends on the camera: it ends with the next key frame, which may be minutes away."""
    server = ingest("interface1")
    # One segment of pictures and one of sound are enough.
    folder = tmp_path / "short"
    folder.mkdir()
    driver.media = media = Media(folder, seconds=2)
    # A whole segment has four chunks: its upload begins with the first one and ends with the last one, 3.6 s later.
    driver.run(server.url, while_recording=True, chunk_interval=1_200, patience=3_000)
    check(server, media, [1])
    segments = [put for put in server.strict.requests if put.path.endswith(".m4s")]
    assert len(segments) == len(media.segments)
    # A segment whose first attempt failed is sent again with its length. So is one of a single chunk that is complete
    # before its upload begins, as the rest of the sound often is.
    slow = tuple(media.name(segment) for segment in media.segments if len(segment["chunks"]) > 1)
    assert len(slow) == 2
    again = [put.path for put in segments if put.path.endswith(slow) and "content-length" in put.headers]
    assert not again, "the first attempt failed"


def test_a_server_that_wants_a_length_gets_whole_segments(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media
) -> None:
    server = ingest("interface1")
    strict = server.strict
    strict.answer = lambda *_: 411 if "content-length" not in strict.requests[-1].headers else None
    driver.run(server.url, while_recording=True, chunk_interval=5)
    check(server, media, [1])


def test_http_1_is_spoken_where_http_2_is_not_offered(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media
) -> None:
    server = ingest("interface1")
    driver.run(f"https://127.0.0.1:{server.old_port}/strict/")
    check(server, media, [1])
    assert {put.headers["x-protocol"] for put in server.strict.requests} == {"HTTP/1.1"}


def test_nginx_keeps_what_was_put_with_webdav(ingest: Callable[[str], Ingest], driver: Driver, media: Media) -> None:
    server = ingest("interface1")
    driver.run(f"https://127.0.0.1:{server.port}/store/")
    root = server.folder / "store/camera1/session_1"
    stored = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.*")}
    assert stored == media.objects("")


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_when_the_server_fails_at_random(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media, seed: int
) -> None:
    server = ingest(["interface1", "dash", "hls"][seed])
    chance = random.Random(seed)
    statuses = [500, 503, 429, 403, 404, 413, 302, 400]
    server.strict.answer = lambda *_: chance.choice(statuses) if chance.random() < 0.3 else None
    driver.run(server.url, interface=server.strict.interface, recordings=3)
    check(server, media, [1, 2, 3])


@pytest.mark.parametrize(
    "kind",
    ["redirect", "stall", "silence", "gigabyte", "endless head", "reset", "close", "nonsense", "403", "500", "200"],
)
def test_a_bad_server_loses_nothing(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media, authority: Authority, kind: str
) -> None:
    server = ingest("interface1")
    folder = authority.folder
    front = BadServer(kind, 2, server.port, folder / "server.pem", folder / "server.key")
    try:
        # The status 200 is for the header, which arrives; the recording then misses it, as it would at such a server.
        events = driver.run(f"https://127.0.0.1:{front.port}/strict/")
        assert front.connections >= 3 or kind == "200"
        assert front.sent < 512 << 20, "the response was read"
        assert not any("elsewhere" in put.path for put in server.strict.requests), "the redirect was followed"
        if kind == "200":
            return
        check(server, media, [1])
        if kind in ("redirect", "403"):
            assert any("failing" in event["detail"] for event in events)
    finally:
        front.stop()


@pytest.mark.parametrize("kind", ["stranger", "expired"])
def test_a_server_that_cannot_prove_itself_gets_nothing(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media, authority: Authority, kind: str, tmp_path: Path
) -> None:
    server = ingest("interface1")
    certificate, key = authority.folder / "expired.pem", authority.folder / "expired.key"
    if kind == "stranger":
        certificate, key = Authority(tmp_path / "other", "authority").issue("server")
    front = BadServer("200", 4, server.port, certificate, key)
    try:
        events = driver.run(f"https://127.0.0.1:{front.port}/strict/")
        # What the front would have answered with 200 would be missing now.
        check(server, media, [1])
        assert any("secure connection" in event["detail"] or "certificate" in event["detail"] for event in events)
    finally:
        front.stop()


@pytest.mark.parametrize("seed", range(6))
def test_a_kill_at_any_moment_loses_nothing(
    ingest: Callable[[str], Ingest], driver: Driver, media: Media, seed: int
) -> None:
    server = ingest(["interface1", "dash", "hls"][seed % 3])
    chance = random.Random(seed)
    server.strict.answer = lambda _number, _path: 503 if chance.random() < 0.2 else None
    options: dict[str, Any] = {"interface": server.strict.interface, "while_recording": seed % 2 == 0}
    driver.start(server.url, recordings=2, chunk_interval=1, **options)
    for _ in range(4):
        target = server.strict.count + chance.randrange(1, 9)
        eventually(
            lambda target=target: server.strict.count >= target or driver.has_ended,
            "some objects arrive", every=0.002,
        )  # fmt: skip
        driver.kill()
        driver.start(server.url, recordings=0, **options)
    assert driver.wait() == 0, driver.output()[-4000:]
    assert server.violations() == []
    # The first kill may have come in the middle of the recordings. What the store kept of them is at the receiver.
    kept: dict[str, bytes] = {}
    for path in (driver.state / "recordings").rglob("*.m4s"):
        assert (path.parent / "uploaded").exists()
        sequence = int(path.parent.name.rsplit("-", 1)[1])
        track, number = path.stem.rsplit("-", 1)
        kept[f"/camera{sequence % 2}/session_{sequence}/{track}/segment_{int(number) + 1000}.m4s"] = path.read_bytes()
    arrived = {
        path: body
        for session in server.strict.sessions.values()
        for path, body in session.objects.items()
        if path.endswith(".m4s")
    }
    assert kept == arrived
    assert kept


@pytest.fixture
def store(authority: Authority, tmp_path: Path) -> Iterator[dict[str, str]]:
    """An S3 store that checks signatures, with a bucket and a user."""
    port = free_port()
    folder = authority.folder
    process = OwnedProcess(
        [str(ROOT / ".build/python/bin/moto_server"), "-H", "127.0.0.1", "-p", str(port),
         "-c", str(folder / "server.pem"), "-k", str(folder / "server.key")],
        tmp_path / "moto.log",
        {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "4"},
    )  # fmt: skip
    url = f"https://127.0.0.1:{port}"
    eventually(lambda: "Running on" in process.output(), "the store runs")
    common: dict[str, Any] = {
        "endpoint_url": url, "region_name": "eu-central-1", "verify": str(authority.path),
        "aws_access_key_id": "nobody", "aws_secret_access_key": "nothing",
    }  # fmt: skip
    iam = boto3.client("iam", **common)
    iam.create_user(UserName="gateway")
    policy = '{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:*","Resource":"*"}}'
    iam.put_user_policy(UserName="gateway", PolicyName="all", PolicyDocument=policy)
    key = iam.create_access_key(UserName="gateway")["AccessKey"]
    boto3.client("s3", config=botocore.client.Config(s3={"addressing_style": "path"}), **common).create_bucket(
        Bucket="footage", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    yield {"url": url, "id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}
    process.stop()


def test_a_store_takes_signed_uploads_and_another_program_reads_them(
    store: dict[str, str], driver: Driver, media: Media, authority: Authority, tmp_path: Path
) -> None:
    driver.endpoint = {
        "root": str(authority.path), "accessKeyId": store["id"], "secretAccessKey": store["secret"],
        "region": "eu-central-1",
    }  # fmt: skip
    driver.run(f"{store['url']}/footage/home-one/", interface="hls", while_recording=True)
    credentials = {"aws_access_key_id": store["id"], "aws_secret_access_key": store["secret"]}
    reader = boto3.client(
        "s3", endpoint_url=store["url"], region_name="eu-central-1", verify=str(authority.path), **credentials
    )
    prefix = "home-one/camera1/session_1/"
    expected = media.objects("")
    for path, body in expected.items():
        assert reader.get_object(Bucket="footage", Key=prefix + path)["Body"].read() == body
    for path in ["index.m3u8", "video/index.m3u8", "audio/index.m3u8"]:
        stored = reader.get_object(Bucket="footage", Key=prefix + path)
        assert stored["ContentType"] == "application/vnd.apple.mpegurl"
    # The AWS command line lists with a query whose signature this store computes in another way; it copies.
    environment = {
        **os.environ, "AWS_ACCESS_KEY_ID": store["id"], "AWS_SECRET_ACCESS_KEY": store["secret"],
        "AWS_CA_BUNDLE": str(authority.path), "AWS_DEFAULT_REGION": "eu-central-1",
    }  # fmt: skip
    copying = subprocess.run(
        [str(ROOT / ".build/python/bin/aws"), "--endpoint-url", store["url"], "s3", "cp",
         f"s3://footage/{prefix}video/segment_1001.m4s", str(tmp_path / "copy")],
        env=environment, timeout=PATIENCE, capture_output=True, text=True,
    )  # fmt: skip
    assert copying.returncode == 0, copying.stderr
    assert (tmp_path / "copy").read_bytes() == expected["video/segment_1001.m4s"]


def test_a_store_that_refuses_the_signature_is_reported(
    store: dict[str, str], driver: Driver, authority: Authority
) -> None:
    driver.endpoint = {
        "root": str(authority.path), "accessKeyId": store["id"], "secretAccessKey": "wrong", "region": "eu-central-1",
    }  # fmt: skip
    driver.start(f"{store['url']}/footage/")
    eventually(lambda: "refuses access (status 403)" in driver.output(), "an alarm")
