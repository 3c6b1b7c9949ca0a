"""Clients that read `/v1/events` and stop reading: they cost the gateway little, and the other readers nothing."""

import http.client
import itertools
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Gateway
from peers.memory import own_memory
from peers.polling import PATIENCE, eventually

MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(
        binary, tmp_path_factory.mktemp("readers"), [DOORBELL], {"log": {"level": "info", "showAddresses": True}}
    )
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


def test_event_readers_that_stall_cost_the_others_nothing(house: Gateway, report: list[str]) -> None:
    """All places of the principals are taken by clients that read nothing; another client gets every change."""
    owner = house.client
    request = {"name": "", "grants": [{"scopes": ["read"]}]}
    made = []
    for number in range(3):
        body = json.dumps(request | {"name": f"Stalled {number}"})
        made.append(owner.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"}).json)
    stalled: list[socket.socket] = []
    reading = EventStream(owner)
    before = own_memory(house.process.pid)
    try:
        for token in made:
            for _ in range(16):
                connection = socket.socket()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.settimeout(PATIENCE)
                connection.connect((owner.host, owner.port))
                head = f"GET /v1/events HTTP/1.1\r\nHost: door\r\nAuthorization: Bearer {token['token']}\r\n\r\n"
                connection.sendall(head.encode())
                stalled.append(connection)
        eventually(lambda: owner.metric("gatehouse_event_watchers") == 49, "all of them watch")
        names = [f"Door {number} " + "x" * 40 for number in range(1_000)]
        changing = http.client.HTTPConnection(owner.host, owner.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {owner.token}", "Content-Type": "application/json"}
        for name in names:
            changing.request("PATCH", "/v1/devices/front-door", json.dumps({"name": name}), headers)
            answer = changing.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
        changing.close()
        reading.wait_for("device", name=names[-1])
        peak = own_memory(house.process.pid)
        seen = [event.data["name"] for event in reading.named("device") if event.data["name"] in names]
        # The device may change in other ways meanwhile, and is told of again with the same name.
        assert [name for name, _ in itertools.groupby(seen)] == names
        # A client that takes no byte for 30 seconds is closed.
        eventually(lambda: owner.metric("gatehouse_event_watchers") == 1, "those that read nothing are closed")
        report.append(f"48 stalled event readers: {(peak - before) // MEBIBYTE} MiB more while 1,000 changes came")
        assert peak - before < 64 * MEBIBYTE
    finally:
        for connection in stalled:
            connection.close()
        reading.close()
        for token in made:
            owner.request("DELETE", f"/v1/tokens/{token['id']}")
