"""Which part of many combinations a run tests. All of them would take too long each time."""

import os
import subprocess
import time
import zlib
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


def chosen_part(parts: int, variable: str) -> int | None:
    """The number of the part, from 0; None for all parts. The time of the commit decides, so that a commit always has
    the same part, and others come with later ones. An environment variable overrides that: "all", or the part's
    number. `GATEHOUSE_PARTS=all` does it for every division (`tools/test --all`)."""
    wanted = os.environ.get(variable, os.environ.get("GATEHOUSE_PARTS"))
    if wanted == "all":
        return None
    if wanted is None:
        git = ["git", "-C", str(Path(__file__).parent), "log", "-1", "--format=%ct"]
        found = subprocess.run(git, capture_output=True, text=True, timeout=60, check=False)
        # Outside of a repository the day decides.
        moment = found.stdout.strip() if found.returncode == 0 else str(int(time.time()) // 86_400)
        # With one number for all divisions, a part of one would always meet the same part of another.
        return zlib.crc32(f"{variable} {moment}".encode()) % parts
    assert wanted in map(str, range(parts)), f"{variable} is all, or a number below {parts}"
    return int(wanted)


def chosen(values: list[Value], variable: str) -> list[Value]:
    """One of the values, or all of them, as `chosen_part` says."""
    part = chosen_part(len(values), variable)
    return values if part is None else [values[part]]
