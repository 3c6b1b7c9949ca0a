"""What a wall of cameras needs over time, and whether each of its pictures goes on: memory, processor time, stalls."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from page_browsers import PageBrowser, Tab, processor_seconds, proportional_mebibytes
from page_figures import Figure

EVERY = 5.0
"""Seconds between two looks at the pictures: longer than the page takes to see that one has stopped."""
MEASUREMENTS = 40
"""How often memory and processor time are measured: a garbage collection each time, so not with each look."""


@dataclass
class Cell:
    """One camera of the wall."""

    frames: int = 0
    silent: int = 0
    """Looks without a new picture while the page said that it was live."""
    absent: int = 0
    """Looks at which the page did not show it as live."""
    _last: int | None = None
    _was_live: bool = False

    def look(self, sample: Mapping[str, Any]) -> None:
        """Takes what the page says about it. The count of pictures begins again with each connection."""
        count = int(sample["frames"])
        is_live = bool(sample["isPlaying"]) and not sample["isStalled"]
        if self._last is not None:
            come = count - self._last if count >= self._last else count
            self.frames += come
            self.silent += come == 0 and is_live and self._was_live
        self.absent += not is_live
        self._last, self._was_live = count, is_live


@dataclass
class Usage:
    """Memory and processor time of some processes, at each measurement."""

    memory: list[float] = field(default_factory=list)
    cores: list[float] = field(default_factory=list)
    _used: dict[int, float] = field(default_factory=dict)
    _at: float = 0

    def measure(self, processes: set[int], now: float) -> None:
        """`now` is in seconds. The first call only begins."""
        used = {number: processor_seconds(number) for number in processes}
        if self._used:
            spent = sum(max(0, seconds - self._used.get(number, 0)) for number, seconds in used.items())
            self.cores.append(spent / (now - self._at))
            self.memory.append(sum(map(proportional_mebibytes, processes)))
        self._used, self._at = used, now


@dataclass
class Wall:
    """What was found so far."""

    cells: dict[str, Cell] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    held: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    freezes: dict[int, Mapping[str, float]] = field(default_factory=dict)
    """Of each connection, by its number, as it reported them last."""

    def look(self, sample: Mapping[str, Any]) -> None:
        for one in sample["cells"]:
            self.cells.setdefault(str(one["name"]), Cell()).look(one)

    def measure(
        self, sample: Mapping[str, Any], held: Mapping[tuple[str, str], float], processes: Mapping[str, set[int]]
    ) -> None:
        now = time.monotonic()
        for name, numbers in processes.items():
            self.usage.setdefault(name, Usage()).measure(numbers, now)
        counts = {("live RTCPeerConnections", ""): sample["connections"], ("elements", ""): sample["elements"]}
        for key, value in {**held, **counts}.items():
            self.held.setdefault(key, []).append(float(value))

    def figures(self, seconds: float) -> list[Figure]:
        found = [Figure(name, unit, values) for (name, unit), values in self.held.items()]
        for name, usage in self.usage.items():
            found.append(Figure(f"memory of the {name} (PSS)", "MiB", usage.memory))
            found.append(Figure(f"processor time of the {name}", "cores", usage.cores))
        rates = [cell.frames / seconds for cell in self.cells.values()]
        return [*found, Figure("pictures a second, by camera", "", rates)]


def watch(browser: PageBrowser, tab: Tab, gateway: int, minutes: float) -> tuple[list[Figure], dict[str, object]]:
    """Watches a wall that plays already; `gateway` is the process. Returns figures, and what happened."""
    wall = Wall()
    tab.evaluate("pageProbe.followWall()")
    looks = max(1, math.ceil(minutes * 60 / EVERY))
    pace = max(1, looks // MEASUREMENTS)
    begin = time.monotonic()
    first = sample = tab.evaluate("pageProbe.wall()")
    for number in range(looks + 1):
        time.sleep(max(0, begin + number * EVERY - time.monotonic()))
        sample = tab.evaluate("pageProbe.wall()")
        wall.look(sample)
        if number % pace == 0 or number == looks:
            for reception in tab.evaluate("pageProbe.receptions()"):
                wall.freezes[int(reception["number"])] = reception
            # The browser's "page" may be several processes: those of other tabs have nothing to do.
            wall.measure(sample, tab.held(), browser.processes() | {"gateway": {gateway}})
    seconds = time.monotonic() - begin
    happened: dict[str, object] = {
        "seconds": round(seconds),
        "stalls that the page showed": sample["stalls"] - first["stalls"],
        "looks without a new picture that the page called live": sum(cell.silent for cell in wall.cells.values()),
        "looks at a camera that was not live": sum(cell.absent for cell in wall.cells.values()),
        "times that a picture went away": sample["interruptions"] - first["interruptions"],
        "new connections": sample["connectionsMade"] - first["connectionsMade"],
        "freezes that the browser counted": sum(round(one["freezes"]) for one in wall.freezes.values()),
        "frozen seconds": round(sum(one["frozenSeconds"] for one in wall.freezes.values()), 1),
        "pictures dropped by the browser": sum(round(one["dropped"]) for one in wall.freezes.values()),
        "pictures by camera": {name: cell.frames for name, cell in wall.cells.items()},
    }
    return wall.figures(seconds), happened
