"""What an owner deletes is gone, by the page and by the command line, and a lost index comes back from the files."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import patient
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually
from peers.recorded_footage import make_tracks, write_recording
from playwright.sync_api import Browser, expect

LENGTH = 6
COUNT = 3


@dataclass
class House:
    gateway: Gateway
    binary: Path
    root: Path
    ids: list[str]
    """The oldest first."""
    start: datetime

    def listed(self) -> list[str]:
        found = self.gateway.client.get(f"/v1/devices/{DOORBELL.id}/recordings?order=oldest")["recordings"]
        return [one["id"] for one in found]

    def folders(self) -> list[str]:
        return sorted(path.parent.name for path in self.root.rglob("session.json"))

    def run(self, *arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.binary), "recordings", *arguments, "--config", str(self.gateway.config)], input=answer,
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    def time(self, seconds: float) -> str:
        return (self.start + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[House]:
    """Three recordings of yesterday, a minute apart."""
    start = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    root = tmp_path / "state" / "recordings"
    (tmp_path / "state").mkdir(mode=0o700)
    tracks = make_tracks(tmp_path, LENGTH)
    ids = [
        write_recording(root, DOORBELL.id, start + timedelta(minutes=number), number + 1, tracks)
        for number in range(COUNT)
    ]
    gateway = Gateway(binary, tmp_path, [DOORBELL], {"recording": {"trigger": "command"}})
    house = House(gateway, binary, root, ids, start)
    assert house.listed() == ids
    yield house
    assert gateway.stop() == 0, gateway.process.output()[-4000:]


def test_the_page_asks_and_deletes_a_recording(house: House, browser: Browser) -> None:
    page = patient(browser.new_page())
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"http://127.0.0.1:{house.gateway.port}/#token={house.gateway.token}")
    page.get_by_role("button", name="Recordings of Front door").click()
    dialog = page.locator("dialog.recordings")
    expect(dialog.locator(".happenings li")).to_have_count(COUNT)
    dialog.locator(".happenings li").nth(0).click()
    dialog.get_by_role("button", name="Delete").click()
    question = page.locator("dialog.ask")
    expect(question).to_contain_text("?")
    # One press asks, and nothing is gone.
    assert house.listed() == house.ids
    question.get_by_role("button", name="Delete").click()
    expect(dialog.locator(".happenings li")).to_have_count(COUNT - 1)
    expect(dialog).to_contain_text("The recording was deleted.")
    left = house.listed()
    assert len(left) == COUNT - 1 and set(left) < set(house.ids)
    eventually(lambda: house.folders() == sorted(left), "the files are gone")
    page.close()
    assert not problems


def test_the_command_line_deletes_one_recording_and_a_range(house: House) -> None:
    kept = house.run("delete", DOORBELL.id, house.ids[0], answer="n\n")
    assert kept.returncode == 0 and "Nothing was deleted" in kept.stdout, kept.stderr
    unanswered = house.run("delete", DOORBELL.id, house.ids[0], answer="")
    assert unanswered.returncode == 1 and "nobody answered; add --yes" in unanswered.stderr, unanswered.stderr
    assert house.listed() == house.ids
    gone = house.run("delete", DOORBELL.id, house.ids[0], answer="y\n")
    assert gone.returncode == 0, gone.stderr
    assert house.listed() == house.ids[1:] and house.folders() == sorted(house.ids[1:])
    again = house.run("delete", DOORBELL.id, house.ids[0], "--yes")
    assert again.returncode == 1 and "the recording does not exist" in again.stderr
    # From the second recording on, and not all of the third.
    gone = house.run("delete", DOORBELL.id, "--from", house.time(50), "--until", house.time(123), "--yes")
    assert gone.returncode == 0, gone.stderr
    assert house.listed() == house.ids[2:] and house.folders() == house.ids[2:]
    # What was deleted does not come back with a start.
    house.gateway.stop()
    house.gateway.start()
    assert house.listed() == house.ids[2:]


def test_the_files_of_one_device_are_checked_whatever_names_it(house: House) -> None:
    device = house.gateway.client.get(f"/v1/devices/{DOORBELL.id}")["id"]
    for name in (DOORBELL.id, device, DOORBELL.name.upper()):
        checked = house.run("verify", name)
        assert checked.returncode == 0 and checked.stdout.startswith(f"{COUNT} recordings"), checked.stderr
    stranger = house.run("verify", "attic")
    assert stranger.returncode == 1 and 'no device has the id, key or name "attic"' in stranger.stderr, stranger.stdout


@pytest.mark.parametrize("damage", ["lost", "garbled", "whole"])
def test_the_index_is_made_again_from_the_files(house: House, damage: str) -> None:
    def described() -> list[dict[str, Any]]:
        return list(house.gateway.client.get(f"/v1/devices/{DOORBELL.id}/recordings")["recordings"])

    before = described()
    house.gateway.stop()
    index = house.root.parent / "recordings.sqlite"
    assert index.exists()
    for path in index.parent.glob(index.name + "*") if damage != "whole" else []:
        path.unlink() if damage == "lost" else path.write_bytes(b"\x5a" * 4096)
    made = house.run("rebuild-index")
    assert made.returncode == 0, made.stdout + made.stderr
    assert str(COUNT) in made.stdout
    house.gateway.start()
    assert described() == before
