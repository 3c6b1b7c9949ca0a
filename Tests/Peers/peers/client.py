"""A plain HTTP client for the gateway's API, which lets a test send anything it likes."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .polling import PATIENCE


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Speaks to one gateway, with the owner's token unless another is given."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self.host, self.port, self.token = host, port, token

    def request(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = "",
    ) -> Answer:
        """Sends one request. `token` is the owner's unless given; None sends none."""
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token or self.token}"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body.encode() if isinstance(body, str) else body, sent)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.request("GET", path)
        assert answer.status == 200, f"GET {path}: {answer.status} {answer.text}"
        return answer.json

    def command(self, device: str, trait: str, name: str, parameters: Mapping[str, Any] | None = None) -> Answer:
        return self.request(
            "POST",
            f"/v1/devices/{device}/traits/{trait}/commands/{name}",
            json.dumps(parameters or {}),
            {"Content-Type": "application/json"},
        )

    def whep(self, device: str, offer: str) -> Answer:
        return self.request("POST", f"/whep/{device}", offer, {"Content-Type": "application/sdp"})

    def whip(self, device: str, offer: str) -> Answer:
        return self.request("POST", f"/whip/{device}", offer, {"Content-Type": "application/sdp"})

    def viewing_token(self, name: str, device: str) -> str:
        """A new token that only permits watching one camera, as a share link has it."""
        grants = [{"scopes": ["view"], "deviceID": self.device_id(device)}]
        body = json.dumps({"name": name, "grants": grants})
        answer = self.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"})
        assert answer.status == 201, answer.text
        return str(answer.json["token"])

    def device_id(self, key: str) -> str:
        """The identifier of the device that the config calls `key`."""
        return str(self.get(f"/v1/devices/{key}")["id"])

    def sessions(self) -> list[dict[str, Any]]:
        return list(self.get("/v1/sessions")["sessions"])

    def metric(self, name: str) -> float:
        """The value of a metric without labels, or the sum over its labels."""
        answer = self.request("GET", "/metrics")
        lines = [line for line in answer.text.splitlines() if line.split("{")[0].split(" ")[0] == name]
        assert lines, f"no metric {name}"
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def traits_of(device: Mapping[str, Any]) -> dict[str, Any]:
    """The traits of a device's main part."""
    for endpoint in device.get("endpoints", []):
        if device["type"] in endpoint["types"]:
            return dict(endpoint["traits"])
    return {}
