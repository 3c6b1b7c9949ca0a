"""Waiting for a condition with a bound, in place of sleeping for a guessed time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 90.0
"""Seconds that a test waits for an event. One that comes ends the wait, so only what never comes costs this time."""


def eventually(probe: Callable[..., T | None], what: str, within: float = PATIENCE, every: float = 0.1) -> T:
    """Calls `probe` until what it returns is true, and returns that. Fails after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {within:g} s: {what}; last seen: {value!r}")
        time.sleep(every)
