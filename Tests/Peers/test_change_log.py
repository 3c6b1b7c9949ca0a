"""The change log when the process is killed: what a reader got is still there, and one that returns misses nothing."""

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import threading
from pathlib import Path

from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually


def test_what_a_reader_got_is_in_the_file_after_a_kill(binary: Path, tmp_path: Path) -> None:
    """Three times over the same file, at thousands of changes a second."""
    seen: list[int] = []
    for _ in range(3):
        process = subprocess.Popen(
            [binary, "bench", "events", "--endless", "--folder", tmp_path], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        first = len(seen)
        for line in process.stdout:
            seen.append(int(line))
            if len(seen) - first == 10_000:
                process.send_signal(signal.SIGKILL)
                # What it had printed by then counts as well.
                break
        seen += [int(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        assert process.wait(timeout=PATIENCE) == -signal.SIGKILL
    with sqlite3.connect(tmp_path / "endless.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kept = [row[0] for row in database.execute("SELECT sequence FROM log ORDER BY sequence")]
        runs = [row[0] for row in database.execute("SELECT DISTINCT incarnation FROM log ORDER BY 1")]
    assert set(seen) <= set(kept)
    assert kept == list(range(1, kept[-1] + 1)), "no number is missing and none was given out twice"
    assert len(seen) == len(set(seen)) >= 30_000 and runs == [1, 2, 3]


def test_a_client_goes_on_over_a_kill_with_nothing_missed(binary: Path, tmp_path: Path) -> None:
    gateway = Gateway(binary, tmp_path, [DOORBELL])
    stream = EventStream(gateway.client)
    stream.wait_for("device", key="front-door", connectivityState="online")
    ended = threading.Event()
    asked: list[str] = []
    accepted: list[str] = []

    def rename() -> None:
        """Changes a camera as fast as the gateway takes it, and notes each name that it has accepted."""
        for number in range(100_000):
            name = f"Yard {number}"
            asked.append(name)
            try:
                body = json.dumps({"source": "builtin:silent", "name": name})
                reply = gateway.client.request("PUT", "/v1/cameras/yard", body, {"Content-Type": "application/json"})
            except (OSError, http.client.HTTPException):
                # The kill may also come in the middle of an answer.
                break
            if reply.status in (200, 201):
                accepted.append(name)
        ended.set()

    renaming = threading.Thread(target=rename, daemon=True)
    renaming.start()
    eventually(lambda: len(stream.named("device")) > 40, "changes arrive")
    os.kill(gateway.process.pid, signal.SIGKILL)
    assert ended.wait(PATIENCE)
    renaming.join()
    gateway.stop()
    before = list(stream.events)
    place = before[-1].id
    assert place and accepted

    second = Gateway(binary, tmp_path, [DOORBELL])
    try:
        again = EventStream(second.client, after=place)
        again.wait_for("device", key="front-door", connectivityState="online")
        assert not again.named("missed")
        assert second.client.command("front-door", "DoorbellPress", "press").status == 200
        again.wait_for("DoorbellPressed", deviceID=second.client.device_id("front-door"))
        events = before + again.events
        numbers = [int(event.id.rpartition("-")[2]) for event in events if event.id]
        # The place of the state at the beginning is that of a change which is part of it.
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "each change comes once, in order"
        assert len({event.id for event in events if event.id}) == len(numbers)
        # The last name that was accepted before the kill is not lost. The gateway may have been killed after it had
        # kept the next one, too, and before anybody was told of either.
        names = [event.data["name"] for event in events if event.data.get("key") == "yard"]
        assert names[-1] in asked[asked.index(accepted[-1]) :]

        # Another log's cursor gets the whole state, and is told so.
        other = EventStream(second.client, after="0123456789abcdef-1-7")
        other.wait_for("missed")
        assert {event.data["key"] for event in other.named("device")} == {"front-door", "yard"}
        other.close()
        again.close()
    finally:
        assert second.stop() == 0


def test_a_press_that_was_answered_is_there_after_a_kill(binary: Path, tmp_path: Path) -> None:
    """The kill follows the answer directly. Without a wait for the store, about one press in ten was lost."""
    kills = 20
    gateway = Gateway(binary, tmp_path, [DOORBELL])
    try:
        for _ in range(kills):
            press = json.dumps({"type": "doorbellPressed"})
            answer = gateway.client.request(
                "POST", "/v1/devices/front-door/events", press, {"Content-Type": "application/json"}
            )
            gateway.process.kill()
            assert answer.json == {"accepted": True}
            gateway.start()
        events = gateway.client.get(f"/v1/devices/front-door/events?limit={2 * kills}")["events"]
        assert sum(event["event"] == "DoorbellPressed" for event in events) == kills
    finally:
        gateway.stop()


def test_a_damaged_log_does_not_stop_the_gateway(binary: Path, tmp_path: Path) -> None:
    first = Gateway(binary, tmp_path, [DOORBELL])
    stream = EventStream(first.client)
    place = eventually(lambda: next((event.id for event in stream.events if event.id), None), "a place")
    stream.close()
    assert first.stop() == 0
    file = next(tmp_path.rglob("local.sqlite"))
    file.write_bytes(b"\xaa" * 20_000)
    second = Gateway(binary, tmp_path, [DOORBELL])
    try:
        second.wait_until_flowing("front-door")
        again = EventStream(second.client, after=place)
        again.wait_for("missed")
        again.close()
        assert len(list(file.parent.glob("local.sqlite.damaged-*"))) == 1
        metrics = second.client.request("GET", "/metrics").text
        assert "gatehouse_event_journal_failing 0" in metrics
    finally:
        assert second.stop() == 0
