"""Automations between devices of a real MQTT broker, and through the end of the gateway in the middle of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.automation_house import House, build
from peers.automation_kills import SHAPES, Killer, switch_names


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    result = build(binary, tmp_path_factory.mktemp("house"), ["sensor", "first", "second"])
    yield result
    result.stop()


def test_a_run_goes_on_after_the_gateway_was_killed_and_sends_nothing_twice(house: House) -> None:
    assert house.sent
    automation = house.automate(
        house.starter("sensor"), house.action("first", "on"), {"type": "delay", "for": 3},
        house.action("second", "on"),
    )  # fmt: skip
    # The old value is not a change, whoever repeats it.
    house.broker.publish("sensor/state", "OFF", retain=True)
    house.broker.publish("sensor/state", "ON", retain=True)
    house.sent.wait_for("first/set", "ON")
    (run,) = house.runs(automation)
    assert "end" not in run
    house.gateway.process.kill()
    house.gateway.start()
    (ended,) = house.ended(automation)
    assert ended["id"] == run["id"]
    assert ended["end"] == "completed", ended
    # The broker passes the command on a moment after the gateway has sent it.
    house.sent.wait_for("second/set", "ON")
    assert house.sent.payloads("first/set") == ["ON"]
    assert house.sent.payloads("second/set") == ["ON"]


def test_no_run_is_lost_and_no_command_sent_twice_by_kills_at_seeded_moments(binary: Path, tmp_path: Path) -> None:
    house = build(binary, tmp_path, switch_names(), listen=False)
    killer = Killer(house, seed=12)
    killer.start_all()
    for _ in range(5):
        killer.kill(longest=1)
    verdict = killer.finish(tmp_path / "state")
    house.broker.stop()
    assert not verdict.problems, [verdict.words(), *verdict.problems]
    assert verdict.ends.total() >= SHAPES and verdict.outcomes.total() >= SHAPES, verdict.words()
