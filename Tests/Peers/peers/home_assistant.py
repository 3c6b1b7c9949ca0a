"""Home Assistant's own schemas of MQTT discovery, from its packages on PyPI.

2024.3.3 is the newest version whose modules this Python reads; it has the schema of each platform. The description of a
whole device is newer than that: its schema comes from 2024.12.5. Nothing is unpacked: the modules are imported from the
wheels.

They are imported in a process of their own. Home Assistant replaces functions of Python's library when it is imported,
`time.sleep` among them, and the tests of this process would no longer run.
"""

import importlib
import json
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

from .downloads import fetched
from .polling import PATIENCE

PLATFORMS, DEVICES = "2024.3.3", "2024.12.5"


class Refused(Exception):
    """Home Assistant would refuse a device or a part; says why."""


def _wheel(version: str) -> Path:
    folder = fetched(f"home-assistant/{version}")
    return next(folder.glob("homeassistant-*.whl"))


class DiscoverySchemas:
    """Checks descriptions as Home Assistant does when they arrive."""

    def __init__(self) -> None:
        paths = [fetched("home-assistant/libraries"), _wheel(PLATFORMS), _wheel(DEVICES)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "peers.home_assistant", *map(str, paths)],
            cwd=Path(__file__).parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def check(self, topic: str, payload: str) -> dict[str, dict[str, Any]]:
        """Checks the description of a device.

        :returns: each part with Home Assistant's defaults, by its name.
        :raises Refused: when Home Assistant would refuse the device or a part."""
        # As its integration matches topics, and merges what the parts share.
        assert re.fullmatch(r"homeassistant/device/[a-zA-Z0-9_-]+/config", topic), topic
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(json.loads(payload)) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"Home Assistant's schemas ended with {self._process.wait(PATIENCE)}"
        answer = json.loads(line)
        if "refused" in answer:
            raise Refused(answer["refused"])
        parts: dict[str, dict[str, Any]] = answer["parts"]
        return parts

    def stop(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=PATIENCE)


class _Schemas:
    """The schemas themselves, in the process that imports them."""

    def __init__(self, libraries: str, platforms: str, devices: str) -> None:
        # After what the tests use already, so that aiohttp stays the same.
        sys.path += [libraries, platforms]
        constants = importlib.import_module("homeassistant.const")
        util = importlib.import_module("homeassistant.components.mqtt.util")
        # The newer schema among the older modules: it needs one more constant, and the checks of topics.
        constants.CONF_MODEL_ID = "model_id"  # type: ignore[attr-defined]
        package = types.ModuleType("newer_mqtt")
        package.__path__ = [str(Path(devices) / "homeassistant/components/mqtt")]
        sys.modules["newer_mqtt"] = package
        sys.modules["newer_mqtt.util"] = util
        self._device = importlib.import_module("newer_mqtt.schemas")
        #: What a schema raises.
        self.invalid: type[Exception] = importlib.import_module("voluptuous").Invalid

    def parts(self, described: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Each part with its defaults. Raises `invalid`."""
        self._device.DEVICE_DISCOVERY_SCHEMA(described)
        parts: dict[str, dict[str, Any]] = {}
        for name, part in described["components"].items():
            platform = part.pop("platform")
            shared = {key: described[key] for key in self._device.SHARED_OPTIONS if key in described}
            whole = {**shared, **part, "device": described["device"], "origin": described["origin"]}
            module = importlib.import_module(f"homeassistant.components.mqtt.{platform}")
            parts[name] = {"platform": platform, **module.DISCOVERY_SCHEMA(whole)}
        return parts


def main() -> None:
    """Reads a description from each line, and writes a line about it, until the input ends."""
    schemas = _Schemas(*sys.argv[1:])
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"parts": schemas.parts(json.loads(line))}
        except schemas.invalid as refusal:
            answer = {"refused": str(refusal)}
        # Templates and the like are written as their words.
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
