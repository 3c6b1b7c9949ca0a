"""Home Assistant's own schemas of MQTT discovery, from its packages on PyPI.

2024.3.3 is the newest version whose modules this Python reads; it has the schema of each platform. The description of a
whole device is newer than that: its schema comes from 2024.12.5. Nothing is unpacked: the modules are imported from the
wheels.
"""

import importlib
import json
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

from .polling import PATIENCE

FOLDER = Path(__file__).parent.parent.parent.parent / ".build/home-assistant"
PLATFORMS, DEVICES = "2024.3.3", "2024.12.5"
# What the modules of the platforms import and the tests do not have otherwise.
NEEDED = [
    "voluptuous==0.14.2", "voluptuous-serialize==2.6.0", "python-slugify==8.0.4", "orjson", "atomicwrites==1.4.1",
    "ulid-transform", "awesomeversion==24.2.0", "lru-dict", "aiohttp-fast-url-dispatcher==0.3.0",
    "aiohttp-zlib-ng==0.3.1", "zlib-ng", "async-interrupt==1.1.1", "text-unidecode==1.3",
]  # fmt: skip


class NotInstallable(Exception):
    """PyPI cannot be reached, or has the packages no longer."""


def _wheel(version: str) -> Path:
    return FOLDER / f"homeassistant-{version}-py3-none-any.whl"


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * 4)
    if done.returncode != 0:
        raise NotInstallable(done.stderr[-300:])


class DiscoverySchemas:
    """Checks descriptions as Home Assistant does when they arrive."""

    def __init__(self) -> None:
        """Downloads what is missing.

        :raises NotInstallable: when that fails."""
        libraries = FOLDER / "libraries"
        if not (libraries / "zlib_ng").exists():
            _pip("install", "--quiet", "--no-deps", "--target", str(libraries), *NEEDED)
        for version in (PLATFORMS, DEVICES):
            if not _wheel(version).exists():
                _pip("download", "--quiet", "--no-deps", "--ignore-requires-python", "--dest", str(FOLDER),
                     f"homeassistant=={version}")  # fmt: skip
        # After what the tests use already, so that aiohttp stays the same.
        sys.path += [str(libraries), str(_wheel(PLATFORMS))]
        constants = importlib.import_module("homeassistant.const")
        util = importlib.import_module("homeassistant.components.mqtt.util")
        # The newer schema among the older modules: it needs one more constant, and the checks of topics.
        constants.CONF_MODEL_ID = "model_id"  # type: ignore[attr-defined]
        package = types.ModuleType("newer_mqtt")
        package.__path__ = [str(_wheel(DEVICES) / "homeassistant/components/mqtt")]
        sys.modules["newer_mqtt"] = package
        sys.modules["newer_mqtt.util"] = util
        self._device = importlib.import_module("newer_mqtt.schemas")
        #: What a schema raises.
        self.invalid: type[Exception] = importlib.import_module("voluptuous").Invalid

    def check(self, topic: str, payload: str) -> dict[str, dict[str, Any]]:
        """Checks the description of a device.

        :returns: each part with Home Assistant's defaults, by its name.
        :raises voluptuous.Invalid: when Home Assistant would refuse the device or a part."""
        # As its integration matches topics, and merges what the parts share.
        assert re.fullmatch(r"homeassistant/device/[a-zA-Z0-9_-]+/config", topic), topic
        described: dict[str, Any] = json.loads(payload)
        self._device.DEVICE_DISCOVERY_SCHEMA(described)
        parts: dict[str, dict[str, Any]] = {}
        for name, part in described["components"].items():
            platform = part.pop("platform")
            shared = {key: described[key] for key in self._device.SHARED_OPTIONS if key in described}
            whole = {**shared, **part, "device": described["device"], "origin": described["origin"]}
            module = importlib.import_module(f"homeassistant.components.mqtt.{platform}")
            parts[name] = {"platform": platform, **module.DISCOVERY_SCHEMA(whole)}
        return parts
