"""What GStreamer gets when it plays: a live view or footage by RTSP, and files and playlists."""

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
    has_ended: bool = False
    """Whether GStreamer says that all tracks have ended: after their goodbyes, or by itself at the announced end."""


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
        if line == "ended":
            playing.has_ended = True
        elif line.startswith("goodbye "):
            playing.goodbyes.add(int(line.removeprefix("goodbye ")))
        else:
            time, is_key, is_new = line.split()
            playing.shown.append(Shown(float(time), is_key == "1", is_new == "1"))
    return playing


# All pictures in one size, so that they can be counted by the bytes, and sound in one channel of 48 kHz.
WIDTH, HEIGHT = 64, 48
RAW_PICTURES = f"videoscale ! videoconvert ! video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT}"
RAW_SOUND = "audioconvert ! audioresample ! audio/x-raw,format=S16LE,rate=48000,channels=1"


def launch(elements: str) -> None:
    """Runs a pipeline until its end."""
    done = subprocess.run(
        ["gst-launch-1.0", "-q", *elements.split()], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr


def count_pictures(raw: Path) -> float:
    """The pictures in a file of `RAW_PICTURES`."""
    return raw.stat().st_size / (WIDTH * HEIGHT)


def seconds_of_sound(raw: Path) -> float:
    """The length of a file of `RAW_SOUND`."""
    return raw.stat().st_size / 2 / 48_000


def decode(uri: str, folder: Path) -> tuple[float, float]:
    """Plays a manifest or a playlist to its end; the number of pictures, and the seconds of sound."""
    pictures, sound = folder / "pictures.raw", folder / "sound.raw"
    launch(
        f"uridecodebin uri={uri} name=d d. ! queue ! {RAW_PICTURES} ! filesink location={pictures} "
        f"d. ! queue ! {RAW_SOUND} ! filesink location={sound}"
    )
    return count_pictures(pictures), seconds_of_sound(sound)
