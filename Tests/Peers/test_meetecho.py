"""Meetecho's simple-whep-client and simple-whip-client: their requests, made with GStreamer's webrtcbin as they do. The
page of its simple-whep-server is in test_other_players.py."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.coroutines import run
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import eventually
from peers.processes import OwnedProcess

SCRIPT = Path(__file__).parent / "meetecho-client.py"
STUN = {"url": "stun:127.0.0.1:9"}
TURN = {"url": "turn:127.0.0.1:9?transport=udp", "username": "gate", "credential": "secret"}


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path_factory.mktemp("meetecho"), [DOORBELL, Camera("phone", "whip")])
    running.write_config(running.cameras, media={"port": running.media_port, "iceServers": [STUN, TURN]})
    assert running.stop() == 0, running.process.output()[-4000:]
    running.start()
    running.wait_until_flowing(DOORBELL.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@contextmanager
def client(
    house: Gateway, folder: Path, kind: str, camera: str, token: str, options: list[str]
) -> Iterator[OwnedProcess]:
    """The client, from the answer to its offer until it has deleted its session. All of its requests have succeeded."""
    command = ["/usr/bin/python3", str(SCRIPT), kind, f"http://127.0.0.1:{house.port}/{kind}/{camera}", *options]
    process = OwnedProcess(command, folder / "client.log", os.environ | {"GATEHOUSE_TOKEN": token})
    try:
        process.line_starting("POST 201")
        # It takes none from any section but the first.
        assert int(process.line_starting("candidates ").split()[1]) > 0
        if "--no-trickle" not in options:
            process.line_starting("PATCH 204")
        process.line_starting("connected")
        yield process
    finally:
        code = process.stop()
    answers = [line.split()[:2] for line in process.output().splitlines() if line.startswith(("PATCH", "DELETE"))]
    assert code == 0 and answers[-1] == ["DELETE", "200"], process.output()
    assert all(answer == ["PATCH", "204"] for answer in answers[:-1]), process.output()


@pytest.mark.parametrize("options", [["--follow-link"], ["--no-trickle"], ["--silent"]])
def test_simple_whep_client_plays_a_camera(house: Gateway, tmp_path: Path, options: list[str]) -> None:
    grants = [{"scopes": ["view"], "deviceID": house.client.device_id(DOORBELL.id)}]
    body = json.dumps({"name": f"whep-client {options[0]}", "grants": grants})
    token = house.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"}).json["token"]
    own = house.client_at("127.0.0.1")
    own.token = token
    with client(house, tmp_path, "whep", DOORBELL.id, token, options) as playing:
        if options == ["--follow-link"]:
            # webrtcbin gets the servers in this form.
            assert playing.line_starting("OPTIONS ").split()[1:] == [
                "204", "stun://127.0.0.1:9", "turn://gate:secret@127.0.0.1:9?transport=udp",
            ]  # fmt: skip
        playing.line_starting("decoded video")
        if options != ["--silent"]:
            playing.line_starting("decoded audio")
        assert len(own.sessions()) == 1
    eventually(lambda: own.sessions() == [], "the view has ended")


@pytest.mark.parametrize("options", [["--follow-link"], ["--no-trickle"], ["--silent"], ["--sendrecv"]])
def test_simple_whip_client_publishes(house: Gateway, tmp_path: Path, options: list[str]) -> None:
    is_silent = options == ["--silent"]
    with client(house, tmp_path, "whip", "phone", house.token, options) as publishing:
        if options == ["--follow-link"]:
            assert publishing.line_starting("OPTIONS ").split()[1:3] == ["200", "stun://127.0.0.1:9"]
        house.wait_until_flowing("phone")
        tracks = house.client.get("/v1/devices/phone")["source"]["tracks"]
        assert [track["codec"].lower() for track in tracks] == (["vp8"] if is_silent else ["vp8", "opus"])
        run(lambda: expect_live_view(house.client, "phone", sound=not is_silent))
    eventually(
        lambda: house.client.get("/v1/devices/phone")["source"]["state"] == "backingOff", "the camera waits again"
    )
