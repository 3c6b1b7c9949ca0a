"""The parts into which long files of tests are divided: each file is in one of them, and every part has its turn."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from peers import parts
from peers.rotation import PARTS, left_out

HERE = Path(__file__).parent


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
