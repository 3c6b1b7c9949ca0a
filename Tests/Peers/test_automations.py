"""Automations between devices of a real MQTT broker, and through the end of the gateway in the middle of a run."""

import json
import subprocess
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from peers.automation_house import House, build
from peers.automation_kills import SHAPES, Killer, switch_names
from peers.mqtt_client import BareClient
from peers.polling import eventually


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    result = build(binary, tmp_path_factory.mktemp("house"), ["sensor", "first", "second"])
    yield result
    result.stop()


def test_a_run_goes_on_after_the_gateway_was_killed_and_sends_nothing_twice(house: House) -> None:
    assert house.sent
    # The test has so many seconds to see that the run waits, and to kill the gateway.
    automation = house.automate(
        house.starter("sensor"), house.action("first", "on"), {"type": "delay", "for": 20},
        house.action("second", "on"),
    )  # fmt: skip
    # The old value is not a change, no matter who repeats it.
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
    for _ in range(20):
        killer.kill(longest=1)
    verdict = killer.finish(tmp_path / "state")
    house.broker.stop()
    assert not verdict.problems, [verdict.words(), *verdict.problems]
    assert verdict.ends.total() >= SHAPES and verdict.outcomes.total() >= SHAPES, verdict.words()


def test_what_starts_nothing_allocates_nothing(binary: Path, report: list[str]) -> None:
    done = subprocess.run(
        [binary, "bench", "automations", "--events", "10", "--sleeping", "1", "--json"],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    measured = [one for one in map(json.loads, done.stdout.splitlines()) if "idle" in one]
    counts = {idle["kind"]: idle["allocations"] for idle in measured[0]["idle"]}
    assert len(counts) == 6, counts
    # With 10,000 automations it is the same as with one.
    for one in measured:
        assert {idle["kind"]: idle["allocations"] for idle in one["idle"]} == counts, one
    if measured[0]["isOptimized"]:
        assert not any(counts.values()), counts
    # Without optimization the compiler's own boxes are counted, six at most. A collection for each event would be more.
    assert all(count < 10 for count in counts.values()), counts
    report.append(f"allocations of what starts nothing: {counts}")


def test_other_automations_act_while_a_device_changes_without_end(house: House) -> None:
    flooded = house.automate(house.starter("sensor"), house.action("first", "on"), name="Flooded")
    other = house.automate(house.starter("second", "n2"), house.action("first", "off"), name="Other")
    client = BareClient(house.broker.port, "flooder")
    is_over = threading.Event()

    def flood() -> None:
        count = 0
        while not is_over.wait(0.001):
            count += 1
            client.publish("sensor/state", "ON" if count % 2 else "OFF")

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        eventually(
            lambda: house.gateway.client.get(f"/v1/automations/{flooded}")["isPaused"], "the flooded one is paused"
        )
        # The known state comes first; each change of it starts the other one.
        before = len(house.runs(other))
        for count in range(4):
            house.broker.publish("second/state", "ON" if count % 2 else "OFF")
            house.broker.publish("second/state", "OFF" if count % 2 else "ON")
            runs = house.ended(other, before + count + 1)
            assert {run["end"] for run in runs} <= {"completed", "alreadyRunning"}, runs
    finally:
        is_over.set()
        thread.join()
        client.close()
    # Twenty within ten seconds are too many. A gateway that gets no processor time for a while comes to that later.
    times = sorted(
        datetime.fromisoformat(run["startedAt"]) for run in house.runs(flooded) if run.get("end") == "completed"
    )
    assert all(later - earlier > timedelta(seconds=9.9) for earlier, later in zip(times, times[20:], strict=False))
    assert house.gateway.client.request("POST", f"/v1/automations/{flooded}/release").status == 204
