"""The ONVIF device simulator as its own process, with what a test does to it."""

import json
import ssl
import sys
import urllib.request
from pathlib import Path
from typing import Any

from .polling import PATIENCE
from .processes import OwnedProcess

SCRIPT = Path(__file__).parent.parent / "onvif-camera.py"
USER, PASSWORD = "admin", "correct-Horse:staple"

# The camera signs its certificate itself.
UNVERIFIED = ssl._create_unverified_context()

VISITOR = "tns1:RuleEngine/MyRuleDetector/Visitor"
MOTION = "tns1:VideoSource/MotionAlarm"
CELL_MOTION = "tns1:RuleEngine/CellMotionDetector/Motion"
PEOPLE = "tns1:RuleEngine/MyRuleDetector/PeopleDetect"


class ONVIFCamera:
    """A camera on loopback; `restart` gives it the same port and none of its subscriptions."""

    def __init__(self, directory: Path, *options: str, password: str = PASSWORD) -> None:
        self._directory, self._options, self._password, self._starts = directory, options, password, 0
        self.port = 0
        self.process = self._start()

    def _start(self) -> OwnedProcess:
        self._starts += 1
        process = OwnedProcess(
            [sys.executable, str(SCRIPT), "--port", str(self.port), "--user", USER, "--password", self._password,
             *self._options],
            self._directory / f"onvif-camera-{self._starts}.log",
        )  # fmt: skip
        self.port = int(process.line_starting("ready ").split()[1])
        return process

    @property
    def _origin(self) -> str:
        return f"{'https' if '--tls' in self._options else 'http'}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self._origin}/onvif/device_service"

    def restart(self) -> None:
        self.stop()
        self.process = self._start()

    def stop(self) -> None:
        self.process.stop()

    def set_image(self, **values: Any) -> None:
        """Changes the picture's settings at the camera itself, or how it treats those who change them."""
        request = urllib.request.Request(f"{self._origin}/control/image", json.dumps(values).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE, context=UNVERIFIED):
            pass

    def notify(self, topic: str, value: bool, item: str = "State", operation: str = "Changed") -> int:
        """Tells all subscribers; returns how many there are."""
        event = {"topic": topic, "operation": operation, "data": {item: "true" if value else "false"}}
        request = urllib.request.Request(f"{self._origin}/control/event", json.dumps(event).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE, context=UNVERIFIED) as response:
            return int(json.load(response)["subscribers"])

    @property
    def state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._origin}/control/state", timeout=PATIENCE, context=UNVERIFIED) as response:
            return dict(json.load(response))
