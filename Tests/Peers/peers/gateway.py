"""The real gateway, started as its own process with a config, ports and a state folder of its own."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .client import Client
from .polling import PATIENCE, eventually
from .ports import free_port
from .processes import OwnedProcess


@dataclass(frozen=True)
class Camera:
    """One camera of the gateway's config."""

    id: str
    source: str = "builtin:doorbell"
    type: str = "camera"
    name: str = ""
    transport: str = "auto"
    settings: Mapping[str, object] = field(default_factory=dict)
    """Further keys."""

    def config(self) -> dict[str, object]:
        return {
            "id": self.id,
            "name": self.name or self.id,
            "type": self.type,
            "source": self.source,
            "transport": self.transport,
        } | dict(self.settings)


DOORBELL = Camera("front-door", type="doorbell", name="Front door")


class Gateway:
    """A running gateway. It listens on every address, so that peers in other network namespaces reach it too."""

    def __init__(
        self,
        binary: Path,
        directory: Path,
        cameras: list[Camera],
        sections: Mapping[str, object] | None = None,
        https_port: int | None = None,
        prefix: list[str] | None = None,
        http: Mapping[str, object] | None = None,
    ) -> None:
        """`sections` are further sections of the config; HTTPS is off unless it has a port. `prefix` is a command that
        runs what follows it as the same process. `http` has further keys of that section."""
        self.port, self.media_port = free_port(), free_port()
        self.cameras = cameras
        self._state = directory / "state"
        self._environment = os.environ | {"XDG_STATE_HOME": str(directory / "standard-state")}
        self._sections = dict(sections or {})
        network = self._sections.pop("network", {})
        assert isinstance(network, dict)
        self._network: dict[str, object] = network
        self._https: object = {"port": https_port} if https_port else False
        self._http = dict(http or {})
        self.config = directory / "gatehouse.yaml"
        self.write_config(cameras)
        self._command = [*(prefix or []), str(binary), "serve", "--config", str(self.config)]
        self._log = directory / "gateway.log"
        self.start()
        self.client = self.client_at("127.0.0.1")

    def start(self) -> None:
        """Starts the process. If it has ended, it starts again with the same state folder and the same ports."""
        self.process = OwnedProcess(self._command, self._log, self._environment)
        try:
            self.process.line_starting("Gatehouse ")
        except BaseException:
            self.process.stop()
            raise

    def write_config(self, cameras: list[Camera], **changes: object) -> None:
        """Writes the config; a running gateway reads it again by itself."""
        # JSON is YAML.
        text = json.dumps(
            {
                "http": {"host": "0.0.0.0", "port": self.port, "https": self._https} | self._http,
                "media": {"port": self.media_port},
                "stateDirectory": str(self._state),
                "log": {"level": "debug", "showAddresses": True},
                "cameras": [camera.config() for camera in cameras],
            }
            | self._sections
            # Gateways that run side by side would share the name in the network, which only its own tests want.
            | {"network": {"mdns": False} | self._network}
            | changes,
            indent=2,
        )
        # As editors do it: a new file in the place of the old one.
        written = self.config.with_suffix(".new")
        written.write_text(text)
        written.rename(self.config)

    def client_at(self, host: str) -> Client:
        """A client that reaches the gateway by one of this machine's addresses."""
        return Client(host, self.port, self.token)

    @property
    def token(self) -> str:
        """The owner's token, as the command on the same machine reads it."""
        return (self._state / "token").read_text().split()[-1]

    def wait_until_flowing(self, device: str, within: float = PATIENCE) -> None:
        """Waits for the camera's first packets. The bound leaves room for attempts that a busy machine fails."""

        def is_flowing() -> bool:
            return self.client.get(f"/v1/devices/{device}")["source"]["state"] == "flowing"

        try:
            eventually(is_flowing, f"{device} delivers", within, every=0.2)
        except AssertionError as failure:
            source = self.client.get(f"/v1/devices/{device}")["source"]
            lines = [line for line in self.process.output().splitlines() if f"camera={device} " in line]
            raise AssertionError("\n".join([f"{failure}; its source: {source}", *lines[-20:]])) from None

    def stop(self) -> int:
        return self.process.stop()
