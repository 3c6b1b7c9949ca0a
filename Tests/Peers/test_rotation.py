"""The parts into which tests that take long are divided: each is in one of them, and every part has its turn."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from peers import parts, scripts
from peers.rotation import PARTS, left_out

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def test_every_name_is_that_of_a_file_and_is_there_once() -> None:
    names = Counter(name for part in PARTS for name in part)
    assert set(names.values()) == {1}
    assert [name for name in names if not (HERE / f"{name}.py").exists()] == []


def test_what_is_left_out_is_what_the_other_parts_have(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {name for part in PARTS for name in part}
    for number, part in enumerate(PARTS):
        monkeypatch.setenv("GATEHOUSE_PEERS", str(number))
        left_out.cache_clear()
        assert left_out() == every - set(part)
    monkeypatch.delenv("GATEHOUSE_PEERS")
    monkeypatch.setenv("GATEHOUSE_PARTS", "all")
    left_out.cache_clear()
    assert left_out() == set()
    left_out.cache_clear()


def test_each_part_has_its_turn_and_meets_those_of_other_divisions(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GATEHOUSE_PARTS", "FIRST", "SECOND"):
        monkeypatch.delenv(variable, raising=False)
    met: Counter[tuple[int | None, int | None]] = Counter()
    for moment in range(1_800_000_000, 1_800_000_900):
        answer = subprocess.CompletedProcess([], 0, stdout=f"{moment}\n")
        monkeypatch.setattr(parts.subprocess, "run", lambda *_, answer=answer, **__: answer)
        met[parts.chosen_part(3, "FIRST"), parts.chosen_part(3, "SECOND")] += 1
    assert len(met) == 9 and min(met.values()) > 50, met


@pytest.fixture(scope="module")
def chooser() -> ModuleType:
    return scripts.load("chosen-tests")


def test_everything_that_is_divided_has_its_turn(chooser: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    sanitized: set[tuple[str, str]] = set()
    for number in range(len(chooser.sanitized_parts())):
        monkeypatch.setenv("GATEHOUSE_SANITIZED", str(number))
        found = [(sanitizer, target) for sanitizer, targets in chooser.sanitized().items() for target in targets]
        assert sanitized.isdisjoint(found)
        sanitized.update(found)
    every = {suite for suites in chooser.simulated_parts() for suite in suites}
    simulated: set[str] = set()
    for number in range(len(chooser.simulated_parts())):
        monkeypatch.setenv("GATEHOUSE_SIMULATIONS", str(number))
        kept = every - set(chooser.left_out())
        assert kept and simulated.isdisjoint(kept)
        simulated |= kept
    assert simulated == every
    for name in ("GATEHOUSE_SANITIZED", "GATEHOUSE_SIMULATIONS"):
        monkeypatch.setenv(name, "all")
    assert {(one, target) for one, targets in chooser.sanitized().items() for target in targets} == sanitized
    assert chooser.left_out() == []


def test_each_simulation_is_a_suite(chooser: ModuleType) -> None:
    for suites in chooser.simulated_parts():
        for target, name in (suite.split(".") for suite in suites):
            texts = [file.read_text() for file in (ROOT / "Tests" / target).rglob("*.swift")]
            assert any(re.search(rf"(?:class|struct) {name}\b", text) for text in texts), name


def test_what_is_left_out_is_a_pattern_of_these_suites_only(
    chooser: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEHOUSE_SIMULATIONS", "0")
    monkeypatch.setenv("GATEHOUSE_SANITIZED", "4")
    command = [sys.executable, str(ROOT / "tools/chosen-tests")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    assert lines[0] == "address FuzzTargetsTests,fuzz"
    kind, pattern = lines[1].split(" ", 1)
    assert kind == "leave-out"
    assert re.search(pattern, "MediaRelayTests.LossTests/burstsAndReorderingCostNextToNoPictures()")
    assert not re.search(pattern, "SignallingTests.TalkbackLossTests/aLongGapIsAPause()")
    assert not re.search(pattern, "MediaRelayTests.LossTestsOfAnotherKind/aTest()")
    kind, pattern = lines[2].split(" ", 1)
    assert kind == "unsanitized" and re.search(pattern, "SignallingTests.TalkbackLossTests/aLongGapIsAPause()")
