"""Automations on the command line."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually
from peers.shell import Shell

DEVICES = {
    "door-lamp": {"name": "Door lamp", "type": "OnOffLight"},
    "hall-lamp": {"name": "Hall lamp", "type": "OnOffLight"},
}

# Devices by key and by name, as people write them. `on` and 8:00 are texts in today's YAML.
BOTH_LAMPS = """
name: Both lamps
description: The hall follows the door
automationGraph:
  version: 1
  nodes:
    - type: select
      nodes:
        - {type: attributeStarter, id: n1, entity: {device: door-lamp}, deviceType: OnOffLightDeviceType, trait: OnOff}
        - {type: manualStarter}
    - {type: action, entity: {device: Hall lamp}, deviceType: OnOffLightDeviceType, trait: OnOff, command: on}
    - {type: delay, for: 3600}
"""


class AutomationShell(Shell):
    def __init__(self, binary: Path, gateway: Gateway, folder: Path) -> None:
        super().__init__(binary, gateway.config, "automation")
        self._folder = folder

    def file(self, name: str, text: str) -> str:
        path = self._folder / name
        path.write_text(text)
        return str(path)


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path_factory.mktemp("automations"), [DOORBELL], {"devices": DEVICES})
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture(scope="module")
def shell(binary: Path, home: Gateway, tmp_path_factory: pytest.TempPathFactory) -> AutomationShell:
    return AutomationShell(binary, home, tmp_path_factory.mktemp("files"))


@pytest.fixture
def both(shell: AutomationShell) -> Iterator[str]:
    made = shell.json("create", shell.file("both.yaml", BOTH_LAMPS))
    yield str(made["id"])
    shell.words("delete", made["id"])
    assert "no automation is called" in shell.error("show", made["id"])


def test_a_file_becomes_an_automation_and_comes_back_as_the_same_file(
    shell: AutomationShell, both: str, home: Gateway
) -> None:
    shown = shell.json("show", "both lamps")
    assert shown["id"] == both and shown["isActive"] and shown["isValid"]
    action = shown["automationGraph"]["nodes"][1]
    hall = home.client.get("/v1/devices/hall-lamp")["id"]
    assert action["command"] == "on" and action["entity"] == {"device": hall}
    assert "Both lamps" in shell.words("list") and "active" in shell.words()
    assert "The hall follows the door" in shell.words("show", both)

    text = shell.words("export", both)
    for name, exported in (("yaml", text), ("json", json.dumps(shell.json("export", both)))):
        again = shell.json("create", shell.file(f"again.{name}", exported))
        assert again["automationGraph"] == shown["automationGraph"] and again["description"] == shown["description"]
        assert "2 automations are called" in shell.error("show", "Both lamps")
        shell.words("delete", again["id"])


def test_automations_are_changed_and_switched(shell: AutomationShell, both: str) -> None:
    assert "New name is changed" in shell.words("update", both, "--name", "New name", "--maximum-runs", "3")
    assert shell.json("show", both)["maxExecutionCount"] == 3
    shell.words("update", both, "-", "--name", "Both lamps", answer="{maxExecutionCount: null, description: Other}")
    shown = shell.json("show", both)
    assert (shown["name"], shown["description"], shown.get("maxExecutionCount")) == ("Both lamps", "Other", None)
    assert "is off" in shell.words("deactivate", both) and "off" in shell.words("list")
    assert "is active" in shell.words("activate", both)


def test_an_automation_runs_is_stopped_and_says_why(shell: AutomationShell, both: str, home: Gateway) -> None:
    assert "It has not run yet" in shell.words("history", both)
    assert shell.error("stop", both).count("\n") == 1
    shell.words("run", both)

    def is_on() -> bool:
        lamp = home.client.get("/v1/devices/hall-lamp")
        return bool(lamp["endpoints"][-1]["traits"]["OnOff"]["onOff"])

    eventually(is_on, "the lamp is on")
    assert "running" in shell.words("list")
    shell.words("stop", both)
    stopped = eventually(
        lambda: [run for run in shell.json("history", both)["runs"] if run.get("end") == "stopped"], "the stopped run"
    )
    run = stopped[0]
    assert run["id"] in shell.words("history", both)
    assert "automationGraph.nodes[1]" in shell.words("history", both, "--run", run["id"])
    assert shell.words("explain", both).strip()
    assert shell.json("explain", both)["runs"]


def complete(binary: Path, home: Gateway, folder: Path, line: str) -> list[str]:
    """What bash offers at the end of a line, with the script that the program writes for it."""
    standard = folder / "standard"
    standard.mkdir()
    (standard / "gatehouse").symlink_to(home.config.parent / "state")
    script = subprocess.run(
        [str(binary), "--generate-completion-script", "bash"], capture_output=True, text=True, check=True
    )
    (folder / "completion").write_text(script.stdout)
    program = (
        f'source "{folder / "completion"}"; COMP_LINE="{binary} {line}"; COMP_POINT=${{#COMP_LINE}}; '
        f'COMP_WORDS=("{binary}" {line} ""); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _gatehouse; '
        r'printf "%s\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, timeout=PATIENCE,
        env=os.environ | {"XDG_STATE_HOME": str(standard)},
    )  # fmt: skip
    return [one.replace("\\", "") for one in done.stdout.splitlines()]


def test_the_shell_completes_the_names_of_automations(
    shell: AutomationShell, both: str, home: Gateway, binary: Path, tmp_path: Path
) -> None:
    other = shell.json("create", shell.file("other.yaml", BOTH_LAMPS.replace("Both lamps", "Hall only")))["id"]
    twin = shell.json("create", shell.file("twin.yaml", BOTH_LAMPS))["id"]
    # Those that share a name are offered by their ids.
    assert sorted(complete(binary, home, tmp_path, "automation show ")) == sorted(["Hall only", both, twin])
    for one in (other, twin):
        shell.words("delete", one)


def test_what_the_gateway_does_not_know_is_named_and_does_not_run(shell: AutomationShell) -> None:
    words = shell.words("create", shell.file("dealy.yaml", BOTH_LAMPS.replace("type: delay", "type: dealy")))
    assert 'warning: automationGraph.nodes[2]: the type "dealy" is not known; did you mean delay?' in words, words
    assert "It will not run" in words
    shell.words("delete", "Both lamps")


def test_what_is_wrong_is_said_with_its_place_and_nothing_is_kept(shell: AutomationShell) -> None:
    wrong = BOTH_LAMPS.replace("Hall lamp", "attic-lamp").replace("3600", "1000000")
    message = shell.error("create", shell.file("wrong.yaml", wrong))
    assert "error: automationGraph.nodes[1]: " in message and "attic-lamp" in message, message
    assert "automationGraph.nodes[2]: " in message and "24 hours" in message, message
    message = shell.error("create", shell.file("member.yaml", BOTH_LAMPS + "isActve: false\n"))
    assert "isActve" in message and "did you mean isActive?" in message, message
    assert "There are no automations yet" in shell.words("list")
    assert "neither YAML nor JSON" in shell.error("create", "-", answer="{[")
    assert "must have keys and values" in shell.error("create", "-", answer="- a list")
    assert "cannot be read" in shell.error("create", "/nowhere.yaml")
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{chr(ord(name) - 1)}'] * 10)}]\n" for name in "bcdefg"
    )
    assert "too many values" in shell.error("create", "-", answer=bomb)
    assert shell.run("update", "x").returncode == 64


def test_candidates_are_listed_and_a_draft_is_simulated(shell: AutomationShell) -> None:
    words = shell.words("candidates", "--device", "door-lamp")
    assert "toggle" in words and "door-lamp" in words and "hall-lamp" not in words
    assert "Scheduled" in shell.words("candidates")
    simulated = shell.json("simulate", shell.file("draft.yaml", BOTH_LAMPS), "--since", "1d")
    assert simulated["runs"] == []
    assert "It would not have run" in shell.words("simulate", shell.file("draft.yaml", BOTH_LAMPS), "--since", "1d")


def test_a_token_that_may_not_read_the_home_is_told_so_and_names_automations_by_their_ids(
    shell: AutomationShell, home: Gateway
) -> None:
    grants = [{"scopes": ["automate"]}]
    made = home.client.request(
        "POST", "/v1/tokens", json.dumps({"name": "blind", "grants": grants}), {"Content-Type": "application/json"}
    )
    token = ["--token", json.loads(made.text)["token"], "--gateway", f"http://127.0.0.1:{home.port}"]
    for command in (["list"], ["candidates"], ["show", "Both lamps"], ["create", shell.file("blind.yaml", BOTH_LAMPS)]):
        assert "does not have the scope read" in shell.error(*command, *token)
    structure = home.client.get("/v1/structures")["structures"][0]["id"]
    draft = {"name": "Blind", "automationGraph": {"version": 1, "nodes": [{"type": "manualStarter"}]}}
    answer = home.client.request(
        "POST", f"/v1/structures/{structure}/automations", json.dumps(draft), {"Content-Type": "application/json"},
        token=token[1],
    )  # fmt: skip
    automation = json.loads(answer.text)["id"]
    assert "Blind" in shell.words("show", automation, *token)
    shell.words("delete", automation, *token)
