"""The options of tools/test: what it runs and refuses. Stand-ins record what would be installed, built and tested."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from peers.polling import PATIENCE

TOOLS = Path(__file__).parent.parent.parent / "tools"
# Writes down its name, which parts it is to run, and its arguments. A run of tests leaves a result behind.
STAND_IN = """#!/bin/sh
echo "$(basename "$0") ${GATEHOUSE_PARTS:-one} $*" >>"$CALLS"
while [ $# -gt 0 ]; do
    if [ "$1" = --junitxml ]; then echo '<testsuite tests="1"><testcase name="a"/></testsuite>' >"$2"; fi
    shift
done
"""


class House:
    """A folder with tools/test and stand-ins for everything that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        (folder / "tools").mkdir()
        for name in ("test", "support.sh"):
            shutil.copy2(TOOLS / name, folder / "tools" / name)
        for name in ("tools/install-dependencies", "tools/lint", ".build/python/bin/pytest", "bin/swift"):
            stand_in = folder / name
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            stand_in.write_text(STAND_IN)
            stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)

    def test(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Runs tools/test."""
        environment = os.environ | {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "CALLS": str(self.calls)}
        # This test may run in a run of all parts.
        environment.pop("GATEHOUSE_PARTS", None)
        command = [str(self.folder / "tools/test"), *options]
        return subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
        )

    def called(self) -> list[list[str]]:
        """The words of each call."""
        return [line.split() for line in self.calls.read_text().splitlines()] if self.calls.exists() else []


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize(
    ("options", "parts"),
    [(["--only", "peers"], "one"), (["--all", "--only", "peers"], "all"), (["--only", "peers", "--all"], "all")],
)
def test_the_tests_with_peers_run_alone_and_with_the_parts_that_were_asked_for(
    house: House, options: list[str], parts: str
) -> None:
    done = house.test(*options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "2 passed, 0 failed"
    called = house.called()
    assert [call[0] for call in called] == ["install-dependencies", "swift", "pytest", "pytest"]
    assert {call[1] for call in called} == {parts}
    assert called[0][2:] == ["--tests"]
    assert called[1][2:5] == ["build", "--product", "gatehouse"]
    for call in called[2:]:
        assert call[2] == "Tests/Peers" and "--rotate" in call


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--only"], "--only takes"),
        (["--only", "none"], "--only takes"),
        (["--all", "--only", "--all"], "--only takes"),
        (["--every"], "--every is not known"),
        (["peers"], "peers is not known"),
        (["--changed", "no-such-revision"], "which no-such-revision is not"),
        (["--only", "lint", "--changed"], "leave out --only"),
        (["--changed", "--only", "lint"], "leave out --only"),
    ],
)
def test_options_that_mean_nothing_are_refused_before_anything_runs(
    house: House, options: list[str], reason: str
) -> None:
    done = house.test(*options)
    assert done.returncode == 1 and reason in done.stderr
    assert house.called() == []


def test_the_help_is_the_whole_comment_at_the_top(house: House) -> None:
    done = house.test("--help")
    lines = (TOOLS / "test").read_text().splitlines()[1:]
    comment = lines[: next(number for number, line in enumerate(lines) if not line.startswith("#"))]
    assert done.returncode == 0
    assert done.stdout.splitlines() == [line.removeprefix("#").removeprefix(" ") for line in comment]
    assert house.called() == []
