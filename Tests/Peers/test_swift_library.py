"""The example program of docs/swift-library.md, on a running gateway."""

import os
import subprocess
from pathlib import Path

from peers.gateway import Gateway
from peers.polling import PATIENCE

ROOT = Path(__file__).parent.parent.parent
PROGRAM = ROOT / ".build/debug/home-watch"


def run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, timeout=PATIENCE, env=os.environ | environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_lists_the_devices_of_a_home(gateway: Gateway) -> None:
    words = run({"GATEHOUSE_URL": f"http://127.0.0.1:{gateway.port}", "GATEHOUSE_TOKEN": gateway.token})
    names = [line.split(":")[0] for line in words.splitlines()]
    assert names == sorted(device["name"] for device in gateway.client.get("/v1/devices")["devices"])


def test_a_light_that_is_none_is_said_so(gateway: Gateway) -> None:
    environment = {"GATEHOUSE_URL": f"http://127.0.0.1:{gateway.port}", "GATEHOUSE_TOKEN": gateway.token}
    assert "Front door is not a light" in run(environment, "Front door")


def test_a_wrong_token_and_a_missing_gateway_are_said(gateway: Gateway, tmp_path: Path) -> None:
    wrong = {"GATEHOUSE_URL": f"http://127.0.0.1:{gateway.port}", "GATEHOUSE_TOKEN": "x" * 40}
    assert run(wrong).startswith("unauthenticated:")
    nowhere = {"XDG_STATE_HOME": str(tmp_path), "GATEHOUSE_URL": "http://127.0.0.1:9", "GATEHOUSE_TOKEN": "x" * 40}
    assert "no gateway runs at" in run(nowhere)
