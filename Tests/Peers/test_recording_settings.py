"""The section `recording` of the config, changed while a camera is recorded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import DOORBELL, Gateway
from peers.polling import eventually

DEVICE = DOORBELL.id
SECTION: dict[str, object] = {"trigger": "continuous", "days": 7}


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    gateway = Gateway(binary, tmp_path, [DOORBELL], {"recording": SECTION})
    yield gateway
    gateway.stop()


def running(house: Gateway) -> dict[str, Any] | None:
    recordings = house.client.get(f"/v1/devices/{DEVICE}/recordings")["recordings"]
    assert len(recordings) <= 1, recordings
    return next((one for one in recordings if one["isRunning"]), None)


def longer_than(house: Gateway, seconds: float) -> dict[str, Any] | None:
    one = running(house)
    return one if one and one["durationSeconds"] > seconds else None


def gap_reasons(house: Gateway, recording: str) -> set[str]:
    details = house.client.get(f"/v1/devices/{DEVICE}/recordings/{recording}")
    return {gap["reason"] for gap in details["gaps"]}


def test_a_recording_goes_on_while_the_section_changes(house: Gateway) -> None:
    first = eventually(lambda: longer_than(house, 1), "the doorbell is recorded")
    changes: list[tuple[object, list[str], int]] = [
        (SECTION | {"days": 3}, ["recording"], 0),
        # A broken section changes nothing, so what waits for the next start still does.
        ({"trigger": "sometimes"}, ["recording"], 1),
        (False, ["recording"], 0),
        (SECTION, [], 0),
    ]
    for section, waiting, problems in changes:
        house.write_config(house.cameras, recording=section)

        def has_taken_effect(waiting: list[str] = waiting, problems: int = problems) -> bool:
            status = house.client.get("/v1/configuration")
            return status["needsRestart"] == waiting and len(status["problems"]) == problems

        eventually(has_taken_effect, f"the config {section} was read")
        now = running(house)
        # A camera that gets no processor time may leave a gap by itself. The gateway must not.
        assert now and now["id"] == first["id"] and gap_reasons(house, first["id"]) <= {"cameraAway"}
    last = running(house)
    assert last
    after = eventually(lambda: longer_than(house, last["durationSeconds"] + 1), "it goes on")
    assert after["id"] == first["id"] and gap_reasons(house, first["id"]) <= {"cameraAway"}
