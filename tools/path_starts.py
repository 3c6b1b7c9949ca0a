"""Starts views of a camera, one after the other, and measures those that took the intended path."""

import random
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from bench_support import ROOT
from path_kinds import Case
from path_networks import House
from playwright.sync_api import Error

PROBE = (ROOT / "Tests/Peers/peers/path-probe.js").read_text()
PATIENCE = 20
"""Seconds after which a view without a picture has failed."""
MOST_FAILURES = 5
"""After this many failures, a path is given up."""
LONGEST_PAUSE = 0.3
"""Seconds before each view, so that it begins at any moment between two pictures."""
DECODED = "offer to decoded picture"
STEPS = {
    "firstCheck": "first check received",
    "pair": "path found",
    "dtls": "keys agreed on",
    "firstKeyFrame": "first key frame sent",
}
"""The steps of a start that the gateway reports."""


@dataclass
class Starts:
    """What was found out about one case. Times are in milliseconds."""

    case: Case
    times: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, times: Mapping[str, float]) -> None:
        for name, value in times.items():
            self.times.setdefault(name, []).append(value)


class Failure(Exception):
    """A view that does not count."""


def view(house: House, case: Case) -> dict[str, float]:
    """A new visitor sees the first picture. Returns the times in milliseconds."""
    script = f"pathProbe.keepOnly('{case.kind.transport}');" if case.kind.transport else ""
    with house.browser.visitor(PROBE, script) as visitor, visitor.tab() as tab:
        tab.open(house.address)
        start = tab.evaluate(f"pathProbe.start({PATIENCE * 1000})")
        sessions = house.sessions()
    if "shown" not in start:
        raise Failure(f"no picture by WebRTC within {PATIENCE} s: {start}")
    if start["connections"] != 1:
        raise Failure(f"the page made {start['connections']} connections")
    if len(sessions) != 1:
        raise Failure(f"the gateway has {len(sessions)} sessions")
    if problem := case.kind.problem(sessions[0].get("path"), start["pair"]):
        raise Failure(problem)
    steps = {step["name"]: float(step["milliseconds"]) for step in sessions[0]["steps"]}
    asked, shown = float(start["asked"]), float(start["shown"])
    return {
        # The page may hear of it later than of the picture that it shows.
        DECODED: min(start["decoded"], shown) - asked,
        "offer to shown picture": shown - asked,
        "offer to answer": start["answered"] - asked,
        **{f"gateway: {words}": steps[name] for name, words in STEPS.items() if name in steps},
        "navigation to shown picture": shown,
        "navigation to offer": asked,
    }


def measure(house: House, case: Case, rounds: int, chance: random.Random) -> Starts:
    """Starts this many views, after one that is not counted, because everything is cold for the first one."""
    starts = Starts(case)
    for number in range(rounds + 1):
        try:
            house.wait_until_alone()
            time.sleep(chance.uniform(0, LONGEST_PAUSE))
            times = view(house, case)
        except (Failure, AssertionError, Error) as failure:
            starts.failures.append(f"round {number}: {failure}")
            print(f"{case.name}: {starts.failures[-1]}", file=sys.stderr, flush=True)
            if len(starts.failures) == MOST_FAILURES:
                break
        else:
            if number > 0:
                starts.add(times)
    return starts
