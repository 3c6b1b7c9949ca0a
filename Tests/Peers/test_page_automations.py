"""Automations on the page in Chromium, as on a phone: made in the editor, run, looked at, switched off and deleted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.gateway import Gateway
from peers.home_page import opened, send
from peers.polling import eventually
from playwright.sync_api import Browser, expect


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    devices = {
        "lamp": {"name": "Lamp", "type": "DimmableLight"},
        "door": {"name": "Door", "type": "ContactSensor"},
    }
    running = Gateway(binary, tmp_path_factory.mktemp("automations"), [], {"devices": devices})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture(scope="module")
def structure(home: Gateway) -> str:
    return str(home.client.get("/v1/structures")["structures"][0]["id"])


def test_a_token_without_the_scope_has_no_automations(browser: Browser, home: Gateway) -> None:
    made = send(home, "POST", "/v1/tokens", name="guest", grants=[{"scopes": ["read", "control"]}])
    with opened(browser, home, made["token"]) as page:
        expect(page.get_by_role("button", name="History", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Automations")).to_be_hidden()


def test_where_a_home_is_can_be_set(browser: Browser, home: Gateway, structure: str) -> None:
    with opened(browser, home) as page:
        page.get_by_role("button", name="Rooms of Home").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Degrees north").fill("52.5")
        dialog.get_by_label("Degrees east").fill("13.4")
        dialog.get_by_label("Time zone").fill("Europe/Berlin")
        dialog.get_by_role("button", name="Save where it is").click()

        def is_set() -> bool:
            known = home.client.get(f"/v1/structures/{structure}")
            return (known["latitude"], known["longitude"], known["timeZone"]) == (52.5, 13.4, "Europe/Berlin")

        eventually(is_set, "the home knows where it is")
