"""What the benchmarks of the relay measure with several cameras: the loop alone, and the whole process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.gateway import DOORBELL, Gateway

ROOT = Path(__file__).parent.parent.parent
LONGEST = 600
"""Seconds for one run: a debug build encrypts and sends some hundred thousand packets."""


def relay(binary: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(binary), "bench", "relay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)


@pytest.fixture(scope="module")
def door(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    gateway = Gateway(binary, tmp_path_factory.mktemp("door"), [DOORBELL])
    gateway.wait_until_flowing(DOORBELL.id)
    yield gateway
    assert gateway.stop() == 0


def test_the_viewers_are_spread_over_cameras_of_which_recordings_read_each(binary: Path) -> None:
    # Seven viewers are not a multiple of three cameras. The benchmark fails unless each one gets every packet of its
    # camera.
    done = relay(binary, "--cameras", "3", "--viewers", "7", "--taps", "1", "--json")
    assert done.returncode == 0, done.stderr
    (one,) = map(json.loads, done.stdout.splitlines())
    assert (one["cameras"], one["viewers"]) == (3, 7)
    assert one["floorNanoseconds"] > 0
    assert one["ratio"] == pytest.approx(one["nanosecondsPerPacketViewer"] / one["floorNanoseconds"])


def test_the_table_has_the_cameras_before_the_viewers(binary: Path) -> None:
    done = relay(binary, "--cameras", "2", "--viewers", "2,4")
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split() for line in done.stdout.splitlines()]
    assert header[:3] == ["cameras", "viewers", "ns/packet"]
    assert [row[:2] for row in rows] == [["2", "2"], ["2", "4"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cameras", "0"), "--cameras must be from 1 to 1000"),
        (("--cameras", "50", "--viewers", "200,10"), "10 viewers cannot watch 50 cameras"),
        (("--cameras", "2", "--viewers", "4", "--shards", "1,2"), "--shards measures one camera"),
    ],
)
def test_what_cannot_be_measured_is_refused(binary: Path, arguments: tuple[str, ...], words: str) -> None:
    done = relay(binary, *arguments)
    assert done.returncode != 0 and words in done.stderr, done.stdout + done.stderr


def test_a_load_is_spread_over_the_addresses_in_turn(binary: Path, door: Gateway) -> None:
    # Only one of the two cameras exists, so only every second viewer gets its picture.
    urls = [f"http://127.0.0.1:{door.port}/whep/{camera}" for camera in (DOORBELL.id, "nobody")]
    done = subprocess.run(
        [str(binary), "bench", "viewers", "--url", urls[0], "--url", urls[1], "--count", "4", "--duration", "0.1",
         "--json"],
        capture_output=True, text=True, timeout=LONGEST, env=os.environ | {"GATEHOUSE_TOKEN": door.token},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    (report,) = map(json.loads, done.stdout.splitlines())
    assert (report["viewers"], report["playing"], report["failed"]) == (4, 2, 2), report
    assert report["urls"] == urls


def test_the_script_measures_a_process_with_several_cameras(binary: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/bench-viewers"), "--gatehouse", str(binary), "--cameras", "2",
         "--counts", "4", "--rounds", "1", "--seconds", "1"],
        capture_output=True, text=True, timeout=LONGEST,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    first, *threads = done.stdout.splitlines()
    assert first.startswith("4 viewers of 2 cameras, ") and first.endswith("failed 0"), first
    assert [line.split()[0] for line in threads if "relay" in line] == ["relay"], threads
