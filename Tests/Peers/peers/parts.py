"""Which part of many combinations a run tests. All of them would take too long each time."""

import os
import subprocess
import time
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


def chosen_part(parts: int, variable: str) -> int | None:
    """The number of the part, from 0; None for all parts. The time of the commit decides, so that a commit always has
    the same part, and others come with later ones. An environment variable overrides that: "all", or the part's
    number."""
    wanted = os.environ.get(variable)
    if wanted == "all":
        return None
    if wanted is None:
        git = ["git", "-C", str(Path(__file__).parent), "log", "-1", "--format=%ct"]
        found = subprocess.run(git, capture_output=True, text=True, timeout=60, check=False)
        # Outside of a repository the day decides.
        return (int(found.stdout) if found.returncode == 0 else int(time.time()) // 86_400) % parts
    assert wanted in map(str, range(parts)), f"{variable} is all, or a number below {parts}"
    return int(wanted)


def chosen(values: list[Value], variable: str) -> list[Value]:
    """One of the values, or all of them, as `chosen_part` says."""
    part = chosen_part(len(values), variable)
    return values if part is None else [values[part]]
