"""A person links a program in a browser, and the program's cloud lists and streams what it was granted."""

import asyncio
import base64
import hashlib
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from peers.chromium import patient
from peers.coroutines import run
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE
from peers.ports import free_port
from playwright.sync_api import Browser, expect

VERIFIER = "the-verifier-of-a-program-that-is-linked-in-tests-00"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}


class Linked:
    """A gateway that knows one public client."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.redirect = f"http://127.0.0.1:{free_port()}/done"
        clients = [{"id": "app", "name": "The App", "redirects": [self.redirect]}]
        self.gateway = Gateway(binary, folder, [DOORBELL, Camera("hall")], {"oauth": {"clients": clients}})

    def form(self, path: str, fields: dict[str, str]) -> Any:
        return self.gateway.client.request("POST", path, urllib.parse.urlencode(fields), FORM, token=None)

    def authorize_address(self, **changes: str) -> str:
        query = {
            "client_id": "app", "redirect_uri": self.redirect, "response_type": "code", "state": "s-1",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        } | changes  # fmt: skip
        return f"http://127.0.0.1:{self.gateway.port}/oauth/authorize?{urllib.parse.urlencode(query)}"


@pytest.fixture(scope="module")
def linked(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linked]:
    running = Linked(binary, tmp_path_factory.mktemp("linking"))
    yield running
    assert running.gateway.stop() == 0, running.gateway.process.output()[-4000:]


def consent(linked: Linked, browser: Browser, address: str, button: str) -> str:
    """Signs in, chooses the front door, presses a button, and returns the address that the browser goes to."""
    with browser.new_context() as context:
        page = context.new_page()
        visited: list[str] = []
        page.on("request", lambda request: visited.append(request.url))
        page.goto(address)
        page.get_by_label("Token").fill(linked.gateway.client.token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("The App")).to_be_visible()
        expect(page.get_by_text("You are signed in as owner.")).to_be_visible()
        page.get_by_label("Front door").check()
        # Nobody listens at the redirect, which the browser asks for all the same.
        with page.expect_request(lambda request: request.url.startswith(linked.redirect), timeout=PATIENCE * 1000):
            page.get_by_role("button", name=button, exact=True).click()
        return next(url for url in visited if url.startswith(linked.redirect))


def code_of(address: str) -> str:
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
    assert query["state"] == ["s-1"]
    return query["code"][0]


def tokens_of(linked: Linked, code: str) -> dict[str, Any]:
    answer = linked.form(
        "/oauth/token",
        {"grant_type": "authorization_code", "client_id": "app", "code": code, "redirect_uri": linked.redirect,
         "code_verifier": VERIFIER},
    )  # fmt: skip
    assert answer.status == 200, answer.text
    return dict(answer.json)


def test_a_person_links_a_program_and_it_gets_only_what_was_chosen(linked: Linked, browser: Browser) -> None:
    # The address is somebody else's, who would like to be linked in the person's place.
    body = json.dumps({"name": "somebody else", "grants": [{"scopes": ["read"]}]})
    foreign = linked.gateway.client.request("POST", "/v1/tokens", body, JSON).json["token"]
    address = f"{linked.authorize_address()}#token={foreign}"
    code = code_of(consent(linked, browser, address, "Allow"))
    tokens = tokens_of(linked, code)
    devices = linked.gateway.client.request("GET", "/v1/devices", token=tokens["access_token"]).json["devices"]
    assert [one["name"] for one in devices] == ["Front door"]
    # The code comes again: somebody has a copy, and what it led to ends.
    replayed = linked.form(
        "/oauth/token",
        {"grant_type": "authorization_code", "client_id": "app", "code": code, "redirect_uri": linked.redirect,
         "code_verifier": VERIFIER},
    )  # fmt: skip
    assert (replayed.status, replayed.json["error"]) == (400, "invalid_grant")
    assert linked.gateway.client.request("GET", "/v1/access", token=tokens["access_token"]).status == 401


def test_a_refusal_goes_back_to_the_program(linked: Linked, browser: Browser) -> None:
    address = consent(linked, browser, linked.authorize_address(), "Do not allow")
    assert "error=access_denied" in address and "code=" not in address


def test_nobody_answers_for_a_person_who_has_signed_out(linked: Linked, browser: Browser) -> None:
    with browser.new_context() as context:
        page, other = patient(context).new_page(), context.new_page()
        other.goto(f"http://127.0.0.1:{linked.gateway.port}/#token={linked.gateway.client.token}")
        expect(other.get_by_text("Signed in as owner")).to_be_visible()
        page.goto(linked.authorize_address())
        expect(page.get_by_text("You are signed in as owner.")).to_be_visible()
        other.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        expect(page.get_by_role("button", name="Allow", exact=True)).to_be_hidden()


def test_a_forged_redirect_is_never_visited(linked: Linked, browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        visited: list[str] = []
        page.on("request", lambda request: visited.append(request.url))
        page.goto(linked.authorize_address(redirect_uri="http://127.0.0.1:9/stolen"))
        page.get_by_label("Token").fill(linked.gateway.client.token)
        page.get_by_role("button", name="Sign in").click()
        for button in ["Allow", "Do not allow"]:
            page.get_by_role("button", name=button, exact=True).click()
            expect(page.get_by_role("alert").first).to_contain_text("redirect_uri")
        assert not [url for url in visited if ":9/" in url]


def test_the_cloud_lists_queries_and_streams(linked: Linked, browser: Browser) -> None:
    linked.gateway.wait_until_flowing("front-door")
    token = tokens_of(linked, code_of(consent(linked, browser, linked.authorize_address(), "Allow")))["access_token"]

    def ask(intent: str, payload: dict[str, Any]) -> dict[str, Any]:
        body = {"requestId": "r1", "inputs": [{"intent": f"action.devices.{intent}", "payload": payload}]}
        answer = linked.gateway.client.request("POST", "/v1/cloud-to-cloud", json.dumps(body), JSON, token)
        assert answer.status == 200, answer.text
        return dict(answer.json.get("payload", {}))

    (device,) = ask("SYNC", {})["devices"]
    assert device["type"] == "action.devices.types.DOORBELL"
    assert "action.devices.traits.CameraStream" in device["traits"]
    assert device["matterUniqueId"] and device["otherDeviceIds"] == [{"deviceId": device["id"]}]
    states = ask("QUERY", {"devices": [{"id": device["id"]}, {"id": "hall"}]})["devices"]
    assert states[device["id"]]["online"] is True and states[device["id"]]["status"] == "SUCCESS"
    assert states["hall"]["errorCode"] == "deviceNotFound"
    execution = {
        "command": "action.devices.commands.GetCameraStream",
        "params": {"StreamToChromecast": True, "SupportedStreamProtocols": ["webrtc"]},
    }
    (result,) = ask("EXECUTE", {"commands": [{"devices": [{"id": device["id"]}], "execution": [execution]}]})[
        "commands"
    ]
    assert result["status"] == "SUCCESS", result
    stream = result["states"]
    assert stream["cameraStreamProtocol"] == "webrtc"
    path = urllib.parse.urlsplit(stream["cameraStreamSignalingUrl"]).path

    def signal(body: dict[str, Any]) -> Any:
        answer = linked.gateway.client.request(
            "POST",
            path,
            json.dumps(body),
            JSON | {"Origin": "https://display.example"},
            stream["cameraStreamAuthToken"],
        )
        assert answer.status == 200, answer.text
        return answer.json

    async def watch() -> None:
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        tracks: dict[str, Any] = {}
        connection.on("track", lambda track: tracks.update({track.kind: track}))
        connection.addTransceiver("audio", direction="recvonly")
        connection.addTransceiver("video", direction="recvonly")
        try:
            await connection.setLocalDescription(await connection.createOffer())
            offer = {"action": "offer", "deviceId": device["id"], "sdp": connection.localDescription.sdp}
            answer = await asyncio.to_thread(signal, offer)
            await connection.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["action"]))
            for _ in range(10):
                await asyncio.wait_for(tracks["video"].recv(), PATIENCE)
            await asyncio.to_thread(signal, {"action": "end", "deviceId": device["id"]})
        finally:
            await connection.close()

    run(watch)
    assert ask("DISCONNECT", {}) == {}
    assert linked.gateway.client.request("GET", "/v1/access", token=token).status == 401
