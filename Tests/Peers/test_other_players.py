"""Players that others have written work as they are: their requests, made by Chromium."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.chromium import open_page
from peers.gateway import Gateway
from peers.nginx import Nginx, temporary_paths
from peers.polling import eventually
from peers.ports import free_port
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser

SCRIPT = Path(__file__).parent / "peers/other-players.js"
STUN = "stun:127.0.0.1:9"


@pytest.fixture(scope="module")
def house(binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path_factory.mktemp("players"), [rtsp_cameras.camera("drive", "h264")])
    running.wait_until_flowing("drive")
    # With an ICE server, so that the header Link is there to be read.
    running.write_config(running.cameras, media={"port": running.media_port, "iceServers": [{"url": STUN}]})
    running.stop()
    running.start()
    running.wait_until_flowing("drive")
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture(scope="module")
def page_of_meetecho(house: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of Meetecho's page: nginx in front of the gateway, as docs/moving.md says."""
    port, folder = free_port(), tmp_path_factory.mktemp("nginx")
    gateway = f"http://127.0.0.1:{house.port}"
    nginx = Nginx(
        folder,
        f"""
        http {{
          access_log off;
          {temporary_paths(folder)}
          server {{
            listen 127.0.0.1:{port};
            proxy_set_header Host $http_host;
            location /whep/endpoint/ {{ proxy_pass {gateway}/whep/; }}
            location / {{ proxy_pass {gateway}; }}
          }}
        }}
        """,
    )
    yield f"http://127.0.0.1:{port}"
    nginx.stop()


@pytest.mark.parametrize(
    ("player", "statuses", "ended"),
    [
        ("mediamtx", {204}, 200),
        # It names no entity tag, which the standard demands of it (RFC 9725, section 4.3.1).
        ("medooze", {204}, 200),
        ("eyevinn", set(), 200),
        # Neither does this page, which shows an error over the picture for each candidate that is refused.
        ("meetecho", {204}, None),
    ],
)
def test_a_player_of_others_plays_a_camera(
    house: Gateway, page_of_meetecho: str, browser: Browser, player: str, statuses: set[int], ended: int | None
) -> None:
    grants = [{"scopes": ["view"], "deviceID": house.client.device_id("drive")}]
    body = json.dumps({"name": player, "grants": grants})
    token = house.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"}).json["token"]
    is_meetecho = player == "meetecho"
    origin = page_of_meetecho if is_meetecho else f"http://127.0.0.1:{house.port}"
    address = f"{origin}/whep/endpoint/drive" if is_meetecho else f"{origin}/whep/drive"
    with open_page(browser, origin) as opened:
        opened.page.evaluate(SCRIPT.read_text())
        # Where a player takes no token, it is in the address.
        with_token = address if player in ("medooze", "meetecho") else f"{address}?token={token}"
        opened.page.evaluate(
            "([name, address, token]) => window.otherPlayer.play(name, address, token)", [player, with_token, token]
        )
        eventually(lambda: opened.page.evaluate("window.otherPlayer.state()")["width"] == 320, "there are pictures")
        begun = opened.page.evaluate("window.otherPlayer.state()")["time"]
        eventually(lambda: opened.page.evaluate("window.otherPlayer.state()")["time"] > begun + 1, "it plays")
        assert set(opened.page.evaluate("window.otherPlayer.statuses()")) <= statuses
        own = house.client_at("127.0.0.1")
        own.token = token
        assert len(own.sessions()) == 1
        assert opened.page.evaluate("window.otherPlayer.stop()") == ended
        eventually(lambda: own.sessions() == [], "the view has ended")
