"""Home Assistant's own schemas of MQTT discovery, from its packages on PyPI.

2024.3.3 is the newest version whose modules this Python reads; it has the schema of each platform. The description of a
whole device is newer than that: its schema comes from 2024.12.5. Nothing is unpacked: the modules are imported from the
wheels.
"""

import importlib
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

from .downloads import fetched

PLATFORMS, DEVICES = "2024.3.3", "2024.12.5"


def _wheel(version: str) -> Path:
    folder = fetched(f"home-assistant/{version}")
    return next(folder.glob("homeassistant-*.whl"))


class DiscoverySchemas:
    """Checks descriptions as Home Assistant does when they arrive."""

    def __init__(self) -> None:
        libraries = fetched("home-assistant/libraries")
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
