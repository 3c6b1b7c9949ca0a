"""The shell completes the home's own names, as a person sees it in bash."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually

COMPLETE = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE="${COMP_WORDS[*]}"
COMP_POINT=${#COMP_LINE}
_gatehouse gatehouse "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    cameras = [DOORBELL, Camera("back-yard", "builtin:silent", name="Yard")]
    running = Gateway(binary, tmp_path_factory.mktemp("completion"), cameras)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def completions(home: Gateway, binary: Path, folder: Path, *words: str, url: str | None = None) -> list[str]:
    """What bash offers for the last of these words."""
    script = folder / "gatehouse.bash"
    made = subprocess.run(
        [str(binary), "--generate-completion-script", "bash"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert made.returncode == 0, made.stderr
    script.write_text(made.stdout)
    environment = os.environ | {
        "PATH": f"{binary.parent}:{os.environ['PATH']}",
        "GATEHOUSE_URL": url or f"http://127.0.0.1:{home.port}", "GATEHOUSE_TOKEN": home.token,
    }  # fmt: skip
    result = subprocess.run(
        ["bash", "--norc", "-c", COMPLETE, "bash", str(script), "gatehouse", *words],
        capture_output=True, text=True, timeout=PATIENCE, env=environment, cwd=folder,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return [line for line in result.stdout.splitlines() if line]


def offered(home: Gateway, binary: Path, folder: Path, *words: str) -> list[str]:
    """What bash offers of the home's names. A person does not wait longer than two seconds: if the gateway has not
    answered by then, nothing is offered."""
    return eventually(lambda: completions(home, binary, folder, *words), f"something is offered for {words}")


def test_commands_and_options_are_completed(home: Gateway, binary: Path, tmp_path: Path) -> None:
    assert sorted(completions(home, binary, tmp_path, "devi")) == ["device", "devices"]
    assert "watch" in completions(home, binary, tmp_path, "device", "")
    assert "--json" in completions(home, binary, tmp_path, "devices", "--")


def test_devices_are_completed_by_their_keys(home: Gateway, binary: Path, tmp_path: Path) -> None:
    assert offered(home, binary, tmp_path, "device", "show", "") == ["front-door", "back-yard"]
    assert offered(home, binary, tmp_path, "device", "show", "back") == ["back-yard"]


def test_without_a_gateway_nothing_is_offered_and_nothing_is_said(home: Gateway, binary: Path, tmp_path: Path) -> None:
    assert completions(home, binary, tmp_path, "device", "show", "", url="http://127.0.0.1:9") == []


def test_names_that_a_shell_would_expand_are_offered_by_their_ids(home: Gateway, binary: Path, tmp_path: Path) -> None:
    def make(path: str, **fields: str) -> str:
        answer = home.client.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
        assert answer.status == 201, answer.text
        return str(answer.json["id"])

    structure = home.client.get("/v1/structures")["structures"][0]["id"]
    # The Malayalam letter and the dollar sign behind it are one character for Swift.
    hostile = ["$(>ran)", "`>ran`", "\u0d4e$(>ran)", "a\\b", "Ben's", 'Say "hi"', "~", "Hall: upper", "<(>ran)"]
    rooms = [make(f"/v1/structures/{structure}/rooms", name=name) for name in hostile]
    make(f"/v1/structures/{structure}/rooms", name="Living room")
    make(f"/v1/structures/{structure}/rooms", name="Küche")
    assert sorted(offered(home, binary, tmp_path, "rooms", "rename", "")) == sorted([*rooms, "Living room", "Küche"])
    assert offered(home, binary, tmp_path, "rooms", "rename", "Liv") == ["Living room"]
    cabin = make("/v1/structures", name="$(>ran)", timeZone="UTC")
    assert cabin in offered(home, binary, tmp_path, "structures", "delete", "")
    assert not (tmp_path / "ran").exists()
