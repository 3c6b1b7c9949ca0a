"""What GStreamer gets when it plays a live view or footage by RTSP."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .polling import PATIENCE

PLAYER = Path(__file__).parents[1] / "rtsp-player.py"


@dataclass
class Shown:
    """What left the last element: when, and whether it was a key frame and a new beginning."""

    time: float
    is_key: bool
    is_new: bool


@dataclass
class Playing:
    """What came until the end."""

    shown: list[Shown]
    goodbyes: set[int]
    """The sessions, one for each track, that ended with a goodbye."""


def play(url: str, token: str, elements: str, *options: str, protocols: str = "tcp") -> Playing:
    """Plays until the end; `rtsp-player.py` says what the elements and options mean."""
    result = subprocess.run(
        ["/usr/bin/python3", str(PLAYER), *options, url, protocols, elements], capture_output=True, text=True,
        timeout=PATIENCE, check=False, env=os.environ | {"GATEHOUSE_TOKEN": token},
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    *lines, end = result.stdout.splitlines()
    assert end == "end"
    playing = Playing([], set())
    for line in lines:
        if line.startswith("goodbye "):
            playing.goodbyes.add(int(line.removeprefix("goodbye ")))
        else:
            time, is_key, is_new = line.split()
            playing.shown.append(Shown(float(time), is_key == "1", is_new == "1"))
    return playing
