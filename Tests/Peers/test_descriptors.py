"""The limit of descriptors itself: what an attacker gets when a process has few of them, and what the owner keeps."""

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.attackers import Attackers
from peers.client import Client
from peers.gateway import DOORBELL, Gateway
from peers.namespace import Namespace
from peers.polling import eventually

EXHAUSTED = "no file descriptors are left; unauthenticated connections"


@pytest.fixture(scope="module")
def attackers(namespace: Namespace | None) -> Attackers:
    if namespace is None:
        pytest.skip("several hosts need a network namespace")
    return Attackers(namespace, 8)


@pytest.fixture
def gateway(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path, [DOORBELL])
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


def descriptors(gateway: Gateway) -> int:
    return len(os.listdir(f"/proc/{gateway.process.pid}/fd"))


def processor_seconds(gateway: Gateway) -> float:
    fields = Path(f"/proc/{gateway.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def attempt(owner: Client, path: str = "/v1/gateway", content: str = "") -> bool:
    """One request over a new connection; the listener may be pausing."""
    try:
        answer = owner.request("GET", path)
    except OSError:
        return False
    return answer.status == 200 and content in answer.text


def test_strangers_and_the_owner_when_there_is_no_descriptor_left(
    gateway: Gateway, attackers: Attackers, report: list[str]
) -> None:
    owner = gateway.client_at(attackers.namespace.host_address)
    gateway.wait_until_flowing("front-door")
    pid = gateway.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # The gateway counts on as many as it has found at its start, so its own bound does not hold now.
    limit = descriptors(gateway) + 40
    began = time.monotonic()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, before[1]))
    with attackers.attack("idle", gateway.port, connections=200):
        eventually(lambda: EXHAUSTED in gateway.process.output(), "the descriptors are used up")
        used, begin = processor_seconds(gateway), time.monotonic()
        # Strangers are closed each time, and then the owner is as quick as they are.
        served = 0

        def three_requests_are_served() -> bool:
            nonlocal served
            served += attempt(owner)
            return served >= 3

        eventually(three_requests_are_served, "the owner is served")
        cores = (processor_seconds(gateway) - used) / (time.monotonic() - begin)
        report.append(f"no descriptor left: {cores:.2f} cores while the owner got {served} requests served")
        eventually(lambda: attempt(owner, "/v1/devices/front-door", '"state":"flowing"'), "the camera flows")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    eventually(lambda: all(attempt(owner) for _ in range(5)), "everything works again")
    # One line a minute.
    assert gateway.process.output().count(EXHAUSTED) <= 2 + (time.monotonic() - began) // 60


def test_a_process_with_few_descriptors_keeps_some_for_its_cameras(
    binary: Path, tmp_path: Path, attackers: Attackers
) -> None:
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 256
    # The gateway inherits both limits, so it cannot raise its own.
    running = Gateway(binary, tmp_path, [DOORBELL], prefix=["prlimit", f"--nofile={limit}:{limit}"])
    try:
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == own
        owner = running.client_at(attackers.namespace.host_address)
        with attackers.attack("idle", running.port, connections=300):
            for _ in range(3):
                assert owner.request("GET", "/v1/gateway").status == 200
            assert owner.metric("gatehouse_connections") <= 32
            assert descriptors(running) < limit - 100
            added = owner.request(
                "PUT", "/v1/cameras/yard", '{"name": "Yard", "source": "builtin:doorbell"}',
                {"Content-Type": "application/json"},
            )  # fmt: skip
            assert added.status == 201, added.text
            eventually(
                lambda: owner.get("/v1/devices/yard")["source"]["state"] == "flowing", "a camera that comes later flows"
            )
        assert EXHAUSTED not in running.process.output()
    finally:
        assert running.stop() == 0
