"""Packages of PyPI that tests read or run, but that must not mix with those that the tests use themselves.

tools/install-dependencies fetches them: from the networks in which the tests run, PyPI cannot be reached.
"""

import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path(__file__).parent.parent.parent.parent / ".build"

# What the modules of Home Assistant's platforms import and the tests do not have otherwise.
HOME_ASSISTANT_NEEDS = [
    "voluptuous==0.14.2", "voluptuous-serialize==2.6.0", "python-slugify==8.0.4", "orjson", "atomicwrites==1.4.1",
    "ulid-transform", "awesomeversion==24.2.0", "lru-dict", "aiohttp-fast-url-dispatcher==0.3.0",
    "aiohttp-zlib-ng==0.3.1", "zlib-ng", "async-interrupt==1.1.1", "text-unidecode==1.3",
]  # fmt: skip

#: What is fetched, by its folder in .build: pip's command and its arguments.
DOWNLOADS = {
    "go2rtc-client": ["install", "--ignore-requires-python", "go2rtc-client==0.4.0"],
    "home-assistant/libraries": ["install", "--no-deps", *HOME_ASSISTANT_NEEDS],
    "home-assistant/2024.3.3": ["download", "--no-deps", "--ignore-requires-python", "homeassistant==2024.3.3"],
    "home-assistant/2024.12.5": ["download", "--no-deps", "--ignore-requires-python", "homeassistant==2024.12.5"],
    # Each release of av brings libavcodec in the version that names the folder.
    "libavcodec/60": ["download", "--no-deps", "av==12.3.0"],
    "libavcodec/61": ["download", "--no-deps", "av==13.1.0"],
    "libavcodec/62": ["download", "--no-deps", "av==16.0.1"],
    # Its page brings hls.js 1.5.13, which PyPI does not have by itself (hls_js.py).
    "hls.js": ["download", "--no-deps", "--ignore-requires-python", "gradio==5.0.0"],
}


def fetched(name: str) -> Path:
    """The folder of a package. The test that asks for one that is not there is skipped."""
    if not _is_there(name):
        pytest.skip(f".build/{name} is missing: tools/install-dependencies --tests fetches it from PyPI")
    return BUILD / name


def _note(name: str) -> Path:
    return BUILD / name / "fetched.txt"


def _is_there(name: str) -> bool:
    note = _note(name)
    return note.exists() and note.read_text() == " ".join(DOWNLOADS[name])


def _fetch(name: str) -> None:
    command, *arguments = DOWNLOADS[name]
    where = "--target" if command == "install" else "--dest"
    print(f"{name}: {' '.join(arguments)}", flush=True)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            command,
            "--quiet",
            "--disable-pip-version-check",
            where,
            BUILD / name,
            *arguments,
        ],
        check=True,
        timeout=300,
    )
    _note(name).write_text(" ".join(DOWNLOADS[name]))


if __name__ == "__main__":
    for each in DOWNLOADS:
        if not _is_there(each):
            _fetch(each)
