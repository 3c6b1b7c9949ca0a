"""A gateway behind nginx, which ends TLS: the addresses that clients get are those that they reach, and clients wait
for a gateway that restarts."""

import json
import os
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import patient
from peers.gateway import DOORBELL, Gateway
from peers.nginx import Nginx, temporary_paths
from peers.pki import Authority
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.processes import OwnedProcess
from peers.shell import Shell
from playwright.sync_api import Browser, expect


class Proxied:
    """A gateway on loopback, and nginx in front of it, which sends its upstream's name as the Host by itself."""

    def __init__(self, binary: Path, folder: Path) -> None:
        authority = Authority(folder / "pki", "authority")
        certificate, key = authority.issue("proxy")
        port = free_port()
        self.url = f"https://localhost:{port}"
        self.binary = binary
        self.gateway = Gateway(binary, folder, [DOORBELL], http={"host": "127.0.0.1", "publicURL": f"{self.url}/"})
        self.authority = authority.path
        self.trust = ssl.create_default_context(cafile=str(authority.path))
        nginx = folder / "nginx"
        nginx.mkdir()
        self._answers = nginx / "answers.log"
        self._nginx = Nginx(
            nginx,
            f"""
            http {{
              log_format answers '$status $uri';
              access_log {self._answers} answers;
              {temporary_paths(nginx)}
              server {{
                listen 127.0.0.1:{port} ssl;
                ssl_certificate {certificate};
                ssl_certificate_key {key};
                location / {{ proxy_pass http://127.0.0.1:{self.gateway.port}; }}
              }}
            }}
            """,
        )

    def send(self, method: str, url: str, body: Any = None, **headers: str) -> Any:
        """Sends a request to a whole address, and returns the JSON of the answer."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.gateway.client.token}", "Content-Type": "application/json"} | headers
        request = urllib.request.Request(url, data, sent, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE, context=self.trust) as response:
            content = response.read()
            return json.loads(content) if response.headers["Content-Type"] == "application/json" else content

    @contextmanager
    def without_gateway(self) -> Iterator[None]:
        """The time from a kill of the gateway to its next start."""
        self.gateway.process.kill()
        self._answers.write_text("")
        try:
            yield
        finally:
            self.gateway.start()

    def await_refusal(self, path: str) -> None:
        """Waits until nginx has said to a client that the gateway is away."""
        eventually(lambda: f"502 {path}" in self._answers.read_text().splitlines(), f"nginx answers {path} with 502")

    def stop(self) -> None:
        self._nginx.stop()
        assert self.gateway.stop() == 0, self.gateway.process.output()[-4000:]


@pytest.fixture(scope="module")
def proxied(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    running = Proxied(binary, tmp_path_factory.mktemp("proxied"))
    running.gateway.wait_until_flowing("front-door")
    yield running
    running.stop()


def test_account_linking_names_the_address_of_the_proxy(proxied: Proxied) -> None:
    metadata = proxied.send("GET", f"{proxied.url}/.well-known/oauth-authorization-server")
    assert metadata["issuer"] == proxied.url
    for name in ("authorization_endpoint", "token_endpoint", "revocation_endpoint"):
        assert metadata[name].startswith(f"{proxied.url}/oauth/")


def test_a_stream_of_the_cloud_is_signalled_through_the_proxy(proxied: Proxied) -> None:
    devices = proxied.send(
        "POST", f"{proxied.url}/v1/cloud-to-cloud",
        {"requestId": "1", "inputs": [{"intent": "action.devices.SYNC"}]},
    )["payload"]["devices"]  # fmt: skip
    command = {
        "command": "action.devices.commands.GetCameraStream",
        "params": {"StreamToChromecast": False, "SupportedStreamProtocols": ["webrtc"]},
    }
    answer = proxied.send(
        "POST", f"{proxied.url}/v1/cloud-to-cloud",
        {
            "requestId": "2",
            "inputs": [
                {
                    "intent": "action.devices.EXECUTE",
                    "payload": {"commands": [{"devices": [{"id": devices[0]["id"]}], "execution": [command]}]},
                }
            ],
        },
    )  # fmt: skip
    states = answer["payload"]["commands"][0]["states"]
    address = states["cameraStreamSignalingUrl"]
    assert address.startswith(f"{proxied.url}/v1/camera-streams/")
    token = f"Bearer {states['cameraStreamAuthToken']}"
    assert proxied.send("POST", address, {"action": "end"}, Authorization=token) == {}


def test_a_picture_of_an_event_is_fetched_through_the_proxy(proxied: Proxied) -> None:
    proxied.send("POST", f"{proxied.url}/v1/devices/front-door/traits/DoorbellPress/commands/press", {})

    def press() -> Any:
        return proxied.send("GET", f"{proxied.url}/v1/devices/front-door/events")["events"]

    eventually(press, "the press is in the log", every=0.05)
    device = proxied.send("GET", f"{proxied.url}/v1/devices/front-door")["id"]
    command = {
        "command": "sdm.devices.commands.CameraEventImage.GenerateImage",
        "params": {"eventId": press()[0]["id"]},
    }
    results = proxied.send("POST", f"{proxied.url}/v1/enterprises/home/devices/{device}:executeCommand", command)[
        "results"
    ]
    assert results["url"].startswith(f"{proxied.url}/v1/event-images/")
    picture = proxied.send("GET", results["url"], Authorization=f"Basic {results['token']}")
    assert picture.startswith(b"\xff\xd8")


def test_the_page_of_the_proxy_may_use_the_api(proxied: Proxied) -> None:
    # A browser sends the origin that it knows, which is not the name that nginx passes on.
    access = proxied.send("GET", f"{proxied.url}/v1/access", Origin=proxied.url)
    assert access["principal"] == "owner"
    for origin in ("https://other.example", proxied.url.replace("https", "http")):
        with pytest.raises(urllib.error.HTTPError) as refusal:
            proxied.send("GET", f"{proxied.url}/v1/access", Origin=origin)
        assert refusal.value.code == 403


def test_links_begin_with_the_address_of_the_proxy(proxied: Proxied) -> None:
    assert proxied.send("GET", f"{proxied.url}/v1/gateway")["publicURL"] == proxied.url
    shared = Shell(proxied.binary, proxied.gateway.config).words("share", "front-door", "--for", "1h")
    assert f"{proxied.url}/camera/front-door#token=" in shared


def test_a_command_behind_the_proxy_waits_for_a_gateway_that_restarts(proxied: Proxied, tmp_path: Path) -> None:
    there = ["--gateway", proxied.url, "--certificate", str(proxied.authority)]
    environment = os.environ | {"GATEHOUSE_TOKEN": proxied.gateway.token}
    events = OwnedProcess([str(proxied.binary), "events", "--json", *there], tmp_path / "events.log", environment)
    try:
        events.line_starting("{")
        with proxied.without_gateway():
            proxied.await_refusal("/v1/events")
            # A command that does not wait says why.
            devices = subprocess.run(
                [str(proxied.binary), "devices", *there],
                capture_output=True, text=True, timeout=PATIENCE, env=environment,
            )  # fmt: skip
            assert devices.returncode == 1
            assert "answered with HTTP status 502: the gateway is away" in devices.stderr
        proxied.send("PATCH", f"{proxied.url}/v1/devices/front-door", {"name": "Door that is back"})

        def reads_on() -> bool:
            assert events.is_running, events.output()[-4000:]
            return "Door that is back" in events.output()

        eventually(reads_on, "the command reads on")
    finally:
        events.stop()


def test_the_page_behind_the_proxy_finds_a_gateway_again_that_restarts(proxied: Proxied, browser: Browser) -> None:
    page = patient(browser.new_page(ignore_https_errors=True))
    try:
        page.goto(f"{proxied.url}/#token={proxied.gateway.token}")
        link = page.locator("#link-text")
        expect(link).to_have_text("Connected")
        with proxied.without_gateway():
            expect(link).to_have_text("Reconnecting")
            proxied.await_refusal("/v1/events")
            expect(link).to_have_text("Reconnecting")
        expect(link).to_have_text("Connected")
        # nginx's answer says nothing about the token.
        expect(page.locator("#sign-in")).to_be_hidden()
    finally:
        page.close()
