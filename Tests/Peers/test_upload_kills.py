"""A gateway that records and uploads is killed again and again. Nothing that it had promised is lost."""

import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.gateway import DOORBELL, Gateway
from peers.ingest import Ingest
from peers.pki import Authority
from peers.polling import PATIENCE, eventually

KILLS = int(os.environ.get("GATEHOUSE_UPLOAD_KILLS", "2"))
INTERFACES = {"interface1": "interface1", "dash": "interface2DASH", "hls": "interface2HLS"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    made = Authority(tmp_path_factory.mktemp("pki"), "authority")
    made.issue("server")
    made.issue("gateway")
    return made


@pytest.fixture
def server(authority: Authority, tmp_path: Path, interface: str) -> Iterator[Ingest]:
    made = Ingest(
        tmp_path / "ingest", authority.path, authority.folder / "server.pem", authority.folder / "server.key", interface
    )
    eventually((made.folder / "nginx.pid").exists, "nginx runs", every=0.01)
    yield made
    made.stop()


def command(house: Gateway, name: str, **parameters: object) -> dict[str, object]:
    reply = house.client.command(DOORBELL.id, "PushAvStreamTransport", name, parameters)
    assert reply.status == 200, reply.text
    return dict(reply.json or {})


def record_to(house: Gateway, binary: Path, authority: Authority, server: Ingest) -> int:
    """Lets the doorbell record without end, and upload to the server."""
    folder = authority.folder
    subprocess.run(
        [binary, "recordings", "endpoints", "add", "cloud", "--root", authority.path,
         "--client-certificate", folder / "gateway.pem", "--client-key", folder / "gateway.key",
         "--gateway", f"http://127.0.0.1:{house.port}"],
        env=os.environ | {"GATEHOUSE_TOKEN": house.token}, check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    container = {
        "cmafInterface": INTERFACES[server.strict.interface], "segmentDuration": 1000, "chunkDuration": 500,
        "sessionGroup": 1, "trackName": "main",
    }  # fmt: skip
    options = {
        "streamUsage": "recording", "videoStreamID": 1, "tlsEndpointID": 1, "url": f"{server.url}door/",
        "triggerOptions": {"triggerType": "continuous"}, "ingestMethod": "cmafIngest",
        "containerOptions": {"containerType": "cmaf", "cmafContainerOptions": container},
    }  # fmt: skip
    made = command(house, "allocatePushTransport", transportOptions=options)["transportConfiguration"]
    assert isinstance(made, dict)
    command(house, "setTransportStatus", connectionID=made["connectionID"], transportStatus="active")
    return int(made["connectionID"])


def kept_segments(recordings: Path) -> dict[str, bytes]:
    """The segments on the disk, by the paths that they have at the server."""
    kept = {}
    for path in recordings.rglob("*.m4s"):
        # The folder's name ends with the numbers of the session and of the connection.
        session = path.parent.name.rsplit("-", 2)[1]
        track, number = path.stem.rsplit("-", 1)
        kept[f"/door/session_{session}/{track}/segment_{int(number) + 1000}.m4s"] = path.read_bytes()
    return kept


def arrived_segments(server: Ingest) -> dict[str, bytes]:
    with server.strict.lock:
        objects = [session.objects for session in server.strict.sessions.values()]
        return {path: body for one in objects for path, body in one.items() if path.endswith(".m4s")}


@pytest.mark.parametrize("interface", list(INTERFACES))
def test_kills_of_the_gateway_lose_no_upload(
    binary: Path, tmp_path: Path, authority: Authority, server: Ingest, interface: str, report: list[str]
) -> None:
    chance = random.Random(interface)
    server.strict.answer = lambda _number, _path: 503 if chance.random() < 0.1 else None
    recording = {"trigger": "command", "folder": str(tmp_path / "recordings"), "freeGigabytes": 0}
    house = Gateway(binary, tmp_path, [DOORBELL], {"recording": recording})
    try:
        house.wait_until_flowing(DOORBELL.id)
        connection = record_to(house, binary, authority, server)
        for _ in range(KILLS):
            wanted = server.strict.count + chance.randrange(1, 6)
            eventually(lambda wanted=wanted: server.strict.count >= wanted, "some objects arrive", every=0.002)
            house.process.kill()
            # Counted before the start: the newest life may upload before that returns.
            sessions = len(server.strict.sessions)
            house.start()
        # The queue goes on with what an earlier life had left, and records again.
        eventually(lambda: len(server.strict.sessions) > sessions, "the newest life uploads")
        command(house, "setTransportStatus", connectionID=connection, transportStatus="inactive")
        server.strict.answer = lambda _number, _path: None
        folder = tmp_path / "recordings"

        def is_done() -> bool:
            # The newest recording may not have a segment yet, but it will.
            folders = [path.parent for path in folder.rglob("session.json")]
            journals = [one / "journal.jsonl" for one in folders]
            ended = all(one.exists() and '"end":' in one.read_text() for one in journals)
            uploads = [one for one in folders if (one / "upload.json").exists() or any(one.glob("*.m4s"))]
            return ended and bool(uploads) and all((one / "uploaded").exists() for one in uploads)

        # An attempt that the server does not answer in time costs a minute, and is followed by another.
        eventually(is_done, "everything is uploaded", 2 * PATIENCE)
        kept, arrived = kept_segments(folder), arrived_segments(server)
        assert server.violations() == []
        assert {path: len(body) for path, body in kept.items()} == {path: len(body) for path, body in arrived.items()}
        assert kept == arrived
        found = {match[0] for path in kept if (match := re.search(r"session_\d+", path))}
        report.append(f"{interface}: {KILLS} kills, {len(found)} sessions, {len(kept)} segments, nothing lost")
        assert house.stop() == 0
    finally:
        house.stop()
