"""What the tests wait for has a bound, and a failure names it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from peers import firefox as firefox_peer
from peers import namespace
from peers.firefox import Firefox
from peers.polling import PATIENCE
from peers.processes import OwnedProcess, program_of


class Unanswered:
    """A connection to a browser that hears its own commands and answers nothing else."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, text: str) -> None:
        self.sent.append(text)

    def recv(self, timeout: float) -> str:
        """An event first, which is no answer."""
        if len(self.sent) == 1:
            self.sent.append("")
            return json.dumps({"type": "event", "method": "log.entryAdded"})
        raise TimeoutError


def test_a_command_that_firefox_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firefox_peer, "PATIENCE", 7.0)
    browser = Firefox.__new__(Firefox)
    browser._number = 0
    monkeypatch.setattr(browser, "_socket", Unanswered(), raising=False)
    monkeypatch.setattr(browser, "_context", "tab", raising=False)
    named = r"not within 7 s: Firefox answers browsingContext\.navigate .*gate\.example"
    with pytest.raises(AssertionError, match=named):
        browser.open("http://gate.example/")


def test_a_line_that_a_process_does_not_print_is_named_with_what_it_has_printed(tmp_path: Path) -> None:
    script = "import time; print('looking at plugins', flush=True); time.sleep(3600)"
    started = OwnedProcess([sys.executable, "-c", script], tmp_path / "log", name="rtsp-camera.py")
    try:
        started.line_starting("looking")
        with pytest.raises(AssertionError, match=r"rtsp-camera\.py prints 'ready '.*\n.*looking at plugins"):
            started.line_starting("ready ", within=0)
    finally:
        started.stop()


def test_a_process_that_ends_is_reported_as_such(tmp_path: Path) -> None:
    started = OwnedProcess([sys.executable, "-c", "raise SystemExit('no port')"], tmp_path / "log", name="camera")
    with pytest.raises(AssertionError, match=r"camera ended with 1:\nno port"):
        started.line_starting("ready ")


def test_a_program_inside_a_namespace_has_its_own_name() -> None:
    assert program_of(["ip", "netns", "exec", "away", "/usr/bin/firefox-esr", "--headless"]) == "firefox-esr"
    assert program_of(["/usr/bin/ip", "link"]) == "ip"


def test_a_command_that_makes_a_network_may_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespace, "PATIENCE", 0.01)
    with pytest.raises(subprocess.TimeoutExpired, match="sleep"):
        namespace.run_or_unavailable("sleep", "3600")


def test_a_test_that_hangs_prints_where(pytestconfig: pytest.Config) -> None:
    """A library may wait without a bound, as Playwright does for the value of an expression."""
    assert float(pytestconfig.getini("faulthandler_timeout")) > PATIENCE
