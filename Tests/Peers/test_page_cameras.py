"""Adding a camera on the page, trying it before, and changing its settings."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import DOORBELL, Gateway
from peers.home_page import JSON, opened, send
from peers.onvif_camera import ONVIFCamera
from peers.polling import eventually
from peers.rtsp_cameras import PASSWORD, USER, RTSPCameras
from playwright.sync_api import Browser, Locator, Page, expect


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path_factory.mktemp("adding"), [DOORBELL])
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]
    assert PASSWORD not in running.process.output()


def own_address() -> str:
    """The address of this network's interface; the loopback one where there is no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(one.getsockname()[0])


def dialog_of(page: Page) -> Locator:
    page.get_by_role("button", name="Add a camera").click()
    return page.get_by_role("dialog", name="Add a camera")


def test_cameras_of_the_network_are_listed(house: Gateway, browser: Browser, tmp_path: Path) -> None:
    address = own_address()
    if address.startswith("127."):
        pytest.skip("this network has no interface for multicast")
    camera = ONVIFCamera(tmp_path, "--discovery", address)
    try:
        with opened(browser, house) as page:
            dialog = dialog_of(page)
            row = dialog.get_by_role("button", name="Front Door")
            expect(dialog.get_by_text("Searching for cameras").or_(row)).to_be_visible()
            expect(row).to_contain_text(f"Doorbell-3 · {address}")
            row.click()
            expect(dialog.get_by_label("Address")).to_have_value(f"onvif://{address}")
            expect(dialog.get_by_label("Name", exact=True)).to_have_value("Front Door")
            expect(dialog.get_by_label("User")).to_be_focused()
    finally:
        camera.stop()


def test_a_camera_is_tried_before_it_is_added_and_changed_later(
    house: Gateway, browser: Browser, rtsp_cameras: RTSPCameras
) -> None:
    with opened(browser, house) as page:
        dialog = dialog_of(page)
        dialog.get_by_label("Address").fill(f"rtsp://127.0.0.1:{rtsp_cameras.port}/h264")
        dialog.get_by_label("Name", exact=True).fill("Back yard")
        add = dialog.get_by_role("button", name="Add", exact=True)
        add.click()
        expect(dialog.locator(".outcome.bad")).to_contain_text("user")
        assert house.client.request("GET", "/v1/cameras/back-yard").status == 404

        dialog.get_by_label("User").fill(USER)
        dialog.get_by_label("Password").fill(PASSWORD)
        add.click()
        outcome = dialog.locator(".outcome")
        expect(outcome).to_contain_text("Back yard was added.")
        expect(outcome).to_contain_text("Picture: H264, 320 × 240")
        expect(outcome).to_contain_text("Sound: PCMA")
        expect(dialog.get_by_label("Password")).to_have_value("")
        dialog.get_by_role("button", name="Close", exact=True).click()

        tile = page.locator("#camera-back-yard")
        tile.get_by_text("Settings", exact=True).click()
        tile.get_by_role("button", name="Change settings").click()
        settings = page.get_by_role("dialog", name="Settings of Back yard")
        # The password is kept, and tried, although the page never gets it.
        expect(settings.get_by_label("User").first).to_have_value(USER)
        expect(settings.get_by_label("Password").first).to_have_value("")
        settings.get_by_role("button", name="Try").click()
        expect(settings.locator(".outcome.good")).to_contain_text("The camera works.")
        settings.get_by_label("Runs on a battery").check()
        settings.get_by_role("button", name="Save").click()
        expect(settings).to_have_count(0)
        camera = house.client.get("/v1/cameras/back-yard")
        assert camera["battery"] is True


def settings_of(page: Page, name: str, id: str) -> Locator:
    tile = page.locator(f"#camera-{id}")
    tile.get_by_text("Settings", exact=True).click()
    tile.get_by_role("button", name="Change settings").click()
    return page.get_by_role("dialog", name=f"Settings of {name}")


def test_a_camera_that_has_moved_asks_for_its_password_again(house: Gateway, browser: Browser) -> None:
    # Nothing listens at the discard port. Another address of this machine is another host.
    source, smaller = (f"rtsp://viewer:hunter22@127.0.0.1:9/{path}" for path in ("1", "2"))
    send(house, "PUT", "/v1/cameras/drive", name="Drive", source=source, substream=smaller)
    with opened(browser, house) as page:
        settings = settings_of(page, "Drive", "drive")
        expect(settings.locator("select").filter(has_text="The camera’s own (ONVIF)")).to_have_value("address")
        settings.get_by_label("Address", exact=True).fill("rtsp://127.0.0.2:9/1")
        settings.get_by_role("button", name="Save").click()
        expect(settings.get_by_label("Address of its smaller stream")).to_have_value("rtsp://127.0.0.2:9/2")
        expect(settings.locator(".outcome.bad")).to_contain_text("Type the password again")
        password = settings.get_by_label("Password").first
        expect(password).to_be_focused()
        password.fill("hunter33")
        settings.get_by_role("button", name="Save").click()
        expect(settings).to_have_count(0)
    camera = house.client.get("/v1/cameras/drive")
    assert camera["source"] == "rtsp://viewer:***@127.0.0.2:9/1"
    assert camera["substream"] == "rtsp://viewer:***@127.0.0.2:9/2"


def test_a_smaller_stream_is_tried_with_the_login_of_the_camera(
    house: Gateway, browser: Browser, rtsp_cameras: RTSPCameras
) -> None:
    send(house, "PUT", "/v1/cameras/lane", name="Lane", source=rtsp_cameras.address("h264"))
    with opened(browser, house) as page:
        settings = settings_of(page, "Lane", "lane")
        smaller = settings.get_by_label("Address of its smaller stream")
        expect(smaller).to_be_hidden()
        settings.locator("select").filter(has_text="The camera’s own (ONVIF)").select_option("At another address")
        smaller.fill(f"rtsp://127.0.0.1:{rtsp_cameras.port}/small")
        outcome = settings.locator(".outcome.good")

        def has_sizes() -> bool:
            """A camera that gets no processor time sends no key frame in the three seconds of a try."""
            settings.get_by_role("button", name="Try").click()
            expect(outcome).to_be_visible()
            text = outcome.inner_text()
            return "Picture: H264, 320 × 240" in text and "Smaller stream: H264, 160 × 120" in text

        eventually(has_sizes, "both streams are described with their sizes")
        smaller.fill(f"rtsp://127.0.0.1:{rtsp_cameras.port}/nowhere")
        settings.get_by_role("button", name="Try").click()
        expect(settings.locator(".outcome.bad")).to_contain_text(
            "its smaller stream does not yet: the camera has no stream at this address"
        )


def test_what_is_wrong_with_an_address_is_said(house: Gateway, browser: Browser) -> None:
    with opened(browser, house) as page:
        dialog = dialog_of(page)
        address = dialog.get_by_label("Address")
        # Its user and password are in the query, where the fields cannot write them.
        address.fill("rtmp://192.0.2.20/live/gate")
        expect(dialog.get_by_label("User")).to_be_disabled()
        expect(dialog.get_by_label("Password")).to_be_disabled()
        expect(dialog.get_by_text("RTMP takes the user and the password from the address")).to_be_visible()
        address.fill("rtsp://192.0.2.20:99999/")
        expect(dialog.get_by_label("User")).to_be_enabled()
        expect(dialog.get_by_text("RTMP takes the user")).to_be_hidden()
        dialog.get_by_label("Name", exact=True).fill("Shed")
        dialog.get_by_role("button", name="Add", exact=True).click()
        expect(dialog.locator(".outcome.bad")).to_contain_text("Address: the URL cannot be used: ")


def test_a_camera_of_the_config_file_is_changed_removed_and_brought_back(house: Gateway, browser: Browser) -> None:
    def camera() -> dict[str, Any]:
        return next(one for one in house.client.get("/v1/cameras")["cameras"] if one["id"] == "front-door")

    written = house.config.read_text()
    with opened(browser, house) as page:
        tile = page.locator("#camera-front-door")
        tile.get_by_text("Settings", exact=True).click()
        tile.get_by_role("button", name="Change settings").click()
        settings = page.get_by_role("dialog", name="Settings of Front door")
        expect(settings).to_contain_text("This camera is set in the config file. What you save here takes precedence")
        expect(settings.get_by_role("button", name="Check and show the lines")).to_be_visible()
        settings.locator("select").filter(has_text="If it has a speaker").select_option("Never")
        settings.get_by_role("button", name="Save").click()
        expect(settings).to_have_count(0)
        assert (camera()["origin"], camera()["talkback"]) == ("overridden", "off")

        # The tile has the new settings at once.
        expect(tile).to_contain_text("differs from the config file")
        tile.get_by_role("button", name="Change settings").click()
        expect(settings.get_by_role("button", name="Check and show the lines")).to_have_count(0)
        settings.get_by_role("button", name="Use the config file’s settings again").click()
        expect(settings).to_have_count(0)
        assert (camera()["origin"], camera()["talkback"]) == ("file", "auto")

        tile.get_by_role("button", name="Remove this camera").click()
        question = page.get_by_role("dialog", name="Remove Front door?")
        expect(question).to_contain_text("The config file stays as it is")
        expect(question.get_by_role("button", name="Cancel", exact=True)).to_be_focused()
        question.get_by_role("button", name="Remove", exact=True).click()
        expect(tile).to_have_count(0)
        page.locator("#open-settings").click()
        dialog = page.get_by_role("dialog", name="Settings of the gateway")
        dialog.get_by_text("Cameras of the config file").click()
        dialog.get_by_role("button", name=re.compile("Front door.*Bring back")).click()
        expect(tile).to_be_visible()
        expect(dialog.get_by_text("Bring back")).to_have_count(0)
        assert camera()["origin"] == "file"
    assert house.config.read_text() == written


def test_who_may_not_administer_cannot_search_or_try(house: Gateway) -> None:
    token = send(house, "POST", "/v1/tokens", name="guest", grants=[{"scopes": ["read", "view", "control"]}])["token"]
    for path, body in [("/v1/cameras/discover", None), ("/v1/cameras/probe", '{"source": "rtsp://127.0.0.1:9/x"}')]:
        answer = house.client.request("POST", path, body, JSON, token)
        assert answer.status == 403, answer.text
