"""Links that show one camera: made by command and page, read by zbar, opened alone and in frames, taken back."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from peers.chromium import LONG_START, patient
from peers.gateway import DOORBELL, Camera, Gateway
from peers.home_page import opened
from peers.polling import PATIENCE
from peers.ports import free_port
from playwright.sync_api import Browser, Page, expect

# A page that is still loading has no video yet.
PLAYS = "() => document.querySelector('video')?.videoWidth > 0 && document.querySelector('video').currentTime > 0"


class Dashboard:
    """A page of another origin."""

    def __init__(self) -> None:
        dashboard = self
        self.body = ""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = dashboard.body.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        port = free_port()
        self.origin = f"http://127.0.0.1:{port}"
        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def dashboards() -> Iterator[tuple[Dashboard, Dashboard]]:
    """One that the config lists, and one that it does not."""
    made = (Dashboard(), Dashboard())
    yield made
    for one in made:
        one.stop()


@pytest.fixture(scope="module")
def house(
    binary: Path, tmp_path_factory: pytest.TempPathFactory, dashboards: tuple[Dashboard, Dashboard]
) -> Iterator[Gateway]:
    cameras = [DOORBELL, Camera("yard", name="Yard")]
    http = {"frameAncestors": [dashboards[0].origin]}
    running = Gateway(binary, tmp_path_factory.mktemp("sharing"), cameras, http=http)
    running.wait_until_flowing("front-door")
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def share(house: Gateway, binary: Path, *arguments: str) -> tuple[str, list[str]]:
    """Runs `gatehouse share`, and returns the link and the lines before it."""
    address = f"http://127.0.0.1:{house.port}"
    result = subprocess.run(
        [str(binary), "share", *arguments, "--gateway", address, "--address", address],
        capture_output=True, text=True, timeout=PATIENCE, env=os.environ | {"GATEHOUSE_TOKEN": house.token},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    *lines, link = result.stdout.splitlines()
    return link, lines


def revoke(house: Gateway, name: str) -> None:
    token = next(one for one in house.client.get("/v1/tokens")["tokens"] if one["name"] == name)
    assert house.client.request("DELETE", f"/v1/tokens/{token['id']}").status == 204


def decoded(image: Path) -> str:
    """What zbar reads in a picture."""
    command = ["zbarimg", "--quiet", "--raw", "-Sbinary", "-Sdisable", "-Sqrcode.enable", str(image)]
    result = subprocess.run(command, capture_output=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode()


def written(rows: list[list[bool]], path: Path, scale: int = 4) -> Path:
    """Rows of modules as a picture (PGM)."""
    width, height = len(rows[0]) * scale, len(rows) * scale
    lines = [b"".join((b"\0" if dark else b"\xff") * scale for dark in row) * scale for row in rows]
    path.write_bytes(f"P5 {width} {height} 255\n".encode() + b"".join(lines))
    return path


def from_terminal(lines: list[str]) -> list[list[bool]]:
    """The modules of a code in half blocks, where light modules are drawn."""
    rows = []
    for line in lines:
        rows += [[character not in "█▀" for character in line], [character not in "█▄" for character in line]]
    return rows


def from_svg(svg: str) -> list[list[bool]]:
    side = int(re.search(r'viewBox="0 0 (\d+)', svg)[1])  # type: ignore[index]
    rows = [[False] * side for _ in range(side)]
    for column, row, width in re.findall(r"M(\d+) (\d+)h(\d+)v1", svg):
        rows[int(row)][int(column) : int(column) + int(width)] = [True] * int(width)
    return rows


@contextmanager
def stranger(browser: Browser) -> Iterator[Page]:
    """A page of somebody who has signed in nowhere."""
    with browser.new_context() as context:
        context.add_init_script(LONG_START)
        yield patient(context).new_page()


def test_a_link_from_the_command_line_plays_the_camera_and_leads_to_the_other(
    house: Gateway, binary: Path, browser: Browser, tmp_path: Path
) -> None:
    link, lines = share(house, binary, "front-door", "yard", "--for", "1h", "--name", "Ana")
    assert link.startswith(f"http://127.0.0.1:{house.port}/camera/front-door#token=gatehouse_")
    assert decoded(written(from_terminal(lines), tmp_path / "terminal.pgm")) == link
    with stranger(browser) as page:
        requested: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        page.goto(link)
        expect(page.get_by_role("heading", name="Front door")).to_be_visible()
        page.wait_for_function(PLAYS, timeout=PATIENCE * 1000)
        assert page.get_by_role("link", name="Yard").get_attribute("href").startswith("/camera/yard#token=")  # type: ignore[union-attr]
        assert not any("gatehouse_" in url.partition("#")[0] for url in requested)
        revoke(house, "Ana")
        expect(page.get_by_text("This link has expired")).to_be_visible()


def test_the_owner_sees_the_name_of_the_camera(house: Gateway, browser: Browser) -> None:
    with stranger(browser) as page:
        page.goto(f"http://127.0.0.1:{house.port}/camera/front-door#token={house.token}")
        expect(page.get_by_role("heading", name="Front door")).to_be_visible()
        expect(page).to_have_title("Front door")


def test_a_code_of_every_size_is_read(house: Gateway, tmp_path: Path) -> None:
    for count in (1, 15, 60, 110, 180, 181, 300, 450, 666):
        text = "".join(chr(33 + index * 7 % 90) for index in range(count))
        answer = house.client.request("POST", "/v1/qr-codes", text, {"Content-Type": "text/plain"})
        assert decoded(written(from_svg(answer.text), tmp_path / f"{count}.pgm")) == text


def test_a_link_is_neither_made_for_nothing_nor_lost(house: Gateway, binary: Path, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{house.port}"

    def attempt(svg: Path, seen_at: str, name: str) -> subprocess.CompletedProcess[str]:
        command = [str(binary), "share", "front-door", "--for", "1h", "--name", name, "--svg", str(svg)]
        return subprocess.run(
            [*command, "--gateway", address, "--address", seen_at],
            capture_output=True, text=True, timeout=PATIENCE, env=os.environ | {"GATEHOUSE_TOKEN": house.token},
        )  # fmt: skip

    def names() -> list[str]:
        return [one["name"] for one in house.client.get("/v1/tokens")["tokens"]]

    # The file cannot be written: no link is made that nobody gets to see.
    refused = attempt(tmp_path / "missing" / "code.svg", address, "Nobody")
    assert refused.returncode == 1 and "does not exist" in refused.stderr, refused.stderr
    assert "Nobody" not in names()

    # Too long for a code: the link is shown nevertheless.
    long = attempt(tmp_path / "code.svg", "http://far.example/" + "x" * 3000, "Far")
    assert long.returncode == 1 and "too long for a QR code" in long.stderr, long.stderr
    assert long.stdout.startswith("http://far.example/xxx") and "#token=gatehouse_" in long.stdout
    assert not (tmp_path / "code.svg").exists()

    # The code holds a secret.
    written_code = attempt(tmp_path / "code.svg", address, "Near")
    assert written_code.returncode == 0, written_code.stderr
    assert decoded(written(from_svg((tmp_path / "code.svg").read_text()), tmp_path / "code.pgm")) == (
        written_code.stdout.strip()
    )
    assert (tmp_path / "code.svg").stat().st_mode & 0o777 == 0o600
    for name in ("Far", "Near"):
        revoke(house, name)


def test_the_page_makes_a_link_and_takes_it_back(house: Gateway, browser: Browser, tmp_path: Path) -> None:
    with opened(browser, house) as page, stranger(browser) as other:
        page.get_by_role("button", name="More about Front door").click()
        page.get_by_role("button", name="Share").click()
        dialog = page.get_by_role("dialog", name="Share Front door")
        dialog.get_by_label("Who is it for?").fill("Grandma")
        dialog.get_by_role("button", name="Make a link").click()
        link = dialog.get_by_label("The link", exact=True).input_value()
        dialog.get_by_text("Show it in another web page").click()
        assert f'<iframe src="{link}" ' in dialog.get_by_label("The frame as HTML").input_value()
        code = dialog.get_by_alt_text("The link as a QR code")
        expect(code).to_be_visible()
        code.screenshot(path=tmp_path / "code.png")
        assert decoded(tmp_path / "code.png") == link
        other.goto(link)
        other.wait_for_function(PLAYS, timeout=PATIENCE * 1000)
        dialog.get_by_role("button", name="Revoke the link of Grandma").click()
        expect(other.get_by_text("This link has expired")).to_be_visible()
        expect(dialog.get_by_text("Grandma")).to_have_count(0)


def test_a_person_signs_in_with_a_name_and_a_password(house: Gateway, binary: Path, browser: Browser) -> None:
    address = f"http://127.0.0.1:{house.port}"
    result = subprocess.run(
        [str(binary), "token", "create", "Bea", "--password", "--scope", "read", "--gateway", address],
        input="correct horse battery\n", capture_output=True, text=True, timeout=PATIENCE,
        env=os.environ | {"GATEHOUSE_TOKEN": house.token},
    )  # fmt: skip
    assert result.returncode == 0 and result.stdout == "", result.stderr
    with stranger(browser) as page:
        page.goto(address)
        page.get_by_label("Name (leave it empty").fill("Bea")
        for password in ("wrong horse battery", "correct horse battery"):
            page.get_by_label("Token or password").fill(password)
            page.get_by_role("button", name="Open", exact=True).click()
            if password.startswith("wrong"):
                expect(page.get_by_text("the name or the password is wrong")).to_be_visible()
        expect(page.get_by_role("heading", name="Front door")).to_be_visible()
        got = page.evaluate("localStorage.getItem('gatehouse.token')")
        assert house.client.request("GET", "/v1/access", token=got).status == 200
        with page.expect_response("**/v1/sign-out") as answer:
            page.get_by_role("button", name="Sign out").click()
        assert answer.value.status == 204
        expect(page.get_by_label("Token or password")).to_be_focused()
        expect(page.get_by_role("heading", name="Front door")).to_be_hidden()
        expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
        page.reload()
        expect(page.get_by_label("Token or password")).to_be_visible()
        assert house.client.request("GET", "/v1/access", token=got).status == 401
    assert "horse battery" not in house.process.output()


def test_only_a_listed_page_shows_the_camera_in_a_frame(
    house: Gateway, binary: Path, browser: Browser, dashboards: tuple[Dashboard, Dashboard]
) -> None:
    link, _ = share(house, binary, "front-door", "--for", "1h", "--name", "frames")
    token = link.partition("#token=")[2]
    picture = f"http://127.0.0.1:{house.port}/v1/devices/front-door/snapshot.jpg?token={token}"
    is_loaded = "() => document.images[0].naturalWidth > 0"
    for one in dashboards:
        one.body = f'<iframe src="{link}" width="640" height="400"></iframe><img src="{picture}">'
    listed, other = dashboards
    with stranger(browser) as page:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.goto(listed.origin)
        page.frames[1].wait_for_function(PLAYS, timeout=PATIENCE * 1000)
        page.wait_for_function(is_loaded, timeout=PATIENCE * 1000)
        assert not any("frame-ancestors" in text for text in said), said
        page.goto(other.origin)
        page.wait_for_function(is_loaded, timeout=PATIENCE * 1000)
        assert any("frame-ancestors" in text for text in said), said
        assert page.frames[1].url == "chrome-error://chromewebdata/"
    assert token not in house.process.output()
