"""The real gateway, started as its own process with a config, ports and a state folder of its own."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from .client import Client
from .polling import eventually
from .ports import free_port
from .processes import OwnedProcess


@dataclass(frozen=True)
class Camera:
    """One camera of the gateway's config."""

    id: str
    source: str = "builtin:doorbell"
    type: str = "camera"
    name: str = ""

    def config(self) -> dict[str, str]:
        return {"id": self.id, "name": self.name or self.id, "type": self.type, "source": self.source}


DOORBELL = Camera("front-door", type="doorbell", name="Front door")


class Gateway:
    """A running gateway. It listens on every address, so that peers in other network namespaces reach it too."""

    def __init__(self, binary: Path, directory: Path, cameras: list[Camera]) -> None:
        self.port, self.media_port = free_port(), free_port()
        self.cameras = cameras
        self._state = directory / "state"
        self._environment = os.environ | {"XDG_STATE_HOME": str(directory / "standard-state")}
        config = directory / "gatehouse.yaml"
        # JSON is YAML.
        config.write_text(
            json.dumps(
                {
                    "http": {"host": "0.0.0.0", "port": self.port, "https": False},
                    "media": {"port": self.media_port},
                    "stateDirectory": str(self._state),
                    "log": {"level": "debug", "showAddresses": True},
                    "cameras": [camera.config() for camera in cameras],
                },
                indent=2,
            )
        )
        self.process = OwnedProcess(
            [str(binary), "serve", "--config", str(config)], directory / "gateway.log", self._environment
        )
        try:
            self.process.line_starting("Gatehouse ", within=30)
            self.client = self.client_at("127.0.0.1")
        except BaseException:
            self.process.stop()
            raise

    def client_at(self, host: str) -> Client:
        """A client that reaches the gateway by one of this machine's addresses."""
        return Client(host, self.port, self.token)

    @property
    def token(self) -> str:
        """The owner's token, as the command on the same machine reads it."""
        return (self._state / "token").read_text().split()[-1]

    def wait_until_flowing(self, device: str, within: float = 20) -> None:
        def is_flowing() -> bool:
            return self.client.get(f"/v1/devices/{device}")["source"]["state"] == "flowing"

        try:
            eventually(is_flowing, f"{device} delivers", within, every=0.2)
        except AssertionError as failure:
            source = self.client.get(f"/v1/devices/{device}")["source"]
            raise AssertionError(f"{failure}; its source: {source}") from None

    def stop(self) -> int:
        return self.process.stop()
