"""A watcher of /v1/events."""

import http.client
import json
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any

from .client import Client
from .polling import PATIENCE, eventually


@dataclass(frozen=True)
class Event:
    name: str
    id: str
    data: dict[str, Any]
    at: float = 0
    """When it came, by the monotonic clock."""


class EventStream:
    """Collects the events of a gateway until `close`."""

    def __init__(self, client: Client, after: str | None = None) -> None:
        self.events: list[Event] = []
        self._connection = http.client.HTTPConnection(client.host, client.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {client.token}"} | ({"Last-Event-ID": after} if after else {})
        self._connection.request("GET", "/v1/events", headers=headers)
        self._socket = self._connection.sock
        self._response = self._connection.getresponse()
        assert self._response.status == 200
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        fields: dict[str, str] = {}
        try:
            for raw in self._response:
                line = raw.decode().rstrip("\n")
                if not line and "data" in fields:
                    data = json.loads(fields["data"])
                    self.events.append(Event(fields["event"], fields.get("id", ""), data, time.monotonic()))
                    fields = {}
                elif ": " in line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
        except (OSError, ValueError, AttributeError):
            pass  # The stream was closed.

    @property
    def has_ended(self) -> bool:
        """Whether the gateway has closed the stream."""
        return not self._reader.is_alive()

    def named(self, *names: str) -> list[Event]:
        return [event for event in self.events if event.name in names]

    def wait_for(self, name: str, /, count: int = 1, within: float = PATIENCE, **data: Any) -> Event:
        """Waits for the `count`th event of this name whose data hold these values."""

        def find() -> Event | None:
            found = [one for one in self.named(name) if all(one.data.get(k) == v for k, v in data.items())]
            return found[count - 1] if len(found) >= count else None

        return eventually(find, f"event {name} {data or ''}", within, every=0.02) or Event("", "", {})

    def close(self) -> None:
        # Closing would only wait for the thread that reads.
        self._socket.shutdown(socket.SHUT_RDWR)
