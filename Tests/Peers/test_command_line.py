"""What the commands print for people, right and wrong."""

import json
import os
import re
import signal
import socket
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port


class CommandLine:
    """Commands that speak to one gateway by its address."""

    def __init__(self, binary: Path, address: str, token: str) -> None:
        self._binary, self._address = binary, address
        self._environment = os.environ | {"GATEHOUSE_TOKEN": token}

    def run(self, *arguments: str, address: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self._binary), *arguments, "--gateway", address or self._address],
            capture_output=True, text=True, timeout=PATIENCE, env=self._environment,
        )  # fmt: skip

    def run_into(self, output: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command that writes to an open file."""
        return subprocess.run(
            [str(self._binary), *arguments, "--gateway", self._address],
            stdout=output, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, env=self._environment,
        )  # fmt: skip

    def error(self, *arguments: str, address: str | None = None) -> str:
        """What a command that fails prints: one line, without the names of classes and requests."""
        result = self.run(*arguments, address=address)
        assert result.returncode == 1, result.stdout + result.stderr
        assert result.stderr.startswith("gatehouse: ") and result.stderr.count("\n") == 1, result.stderr
        for raw in ("Error Domain", "GET /v1", "HTTPClientError", "errno", "SSLError", "sslError", "(null)"):
            assert raw not in result.stderr
        return result.stderr


@pytest.fixture
def line(binary: Path, gateway: Gateway) -> CommandLine:
    return CommandLine(binary, f"http://127.0.0.1:{gateway.port}", gateway.token)


def columns(text: str) -> int:
    """How many columns of a terminal a text needs, as far as this test uses them."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) != 0 for one in text)


def test_devices_are_listed_in_columns_whatever_their_names(line: CommandLine, gateway: Gateway) -> None:
    for name in ("玄関カメラ", "Tu\u0308r 🔔"):
        body = json.dumps({"name": name, "source": "rtsp://127.0.0.1:9/none"})
        answer = gateway.client.request("PUT", f"/v1/cameras/{len(name)}", body, {"Content-Type": "application/json"})
        assert answer.status == 201, answer.text
    try:
        rows = [row for row in line.run("devices").stdout.splitlines() if not row.startswith("  ")]
    finally:
        for name in ("5", "6"):
            gateway.client.request("DELETE", f"/v1/cameras/{name}")
    header = rows[0]
    assert header.split() == ["ID", "NAME", "ROOM", "TYPE", "STATE", "TRACKS"]
    assert len(rows) == len(gateway.cameras) + 3
    for row in rows[1:]:
        # Two spaces or more end each cell in front of the header's words.
        for word in ("NAME", "ROOM", "TYPE", "STATE"):
            place = header.index(word)
            before = next(row[:end] for end in range(len(row) + 1) if columns(row[:end]) == place)
            assert before.endswith("  ") and row[len(before)] != " ", (word, row)


def test_live_separates_the_rate_of_the_camera_from_the_backlog(line: CommandLine, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    # The seconds begin before the connection does, which takes some of them on a busy machine.
    report = json.loads(line.run("live", "front-door", "--duration", "6", "--json").stdout)["video"]
    # With the backlog it would be 18 and more. The camera of a busy machine may leave frames out.
    assert 1 < report["framesPerSecond"] < 15.6
    assert 0 <= report["backlogFrames"] < report["framesDecoded"]
    words = line.run("live", "front-door", "--duration", "6").stdout
    rate = re.search(r"from before the start\), (\d+\.\d) per second", words)
    assert rate and 1 < float(rate[1]) < 16, words


def test_live_says_which_stream_it_got_and_why(line: CommandLine, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    words = line.run("live", "front-door", "--duration", "4").stdout
    assert "Stream   main, the only one that fits" in words, words
    report = json.loads(line.run("live", "front-door", "--duration", "4", "--json").stdout)
    assert report["stream"] == {"name": "main", "reason": "only"}


def test_errors_name_what_was_wrong_and_the_command_that_helps(
    line: CommandLine, binary: Path, gateway: Gateway, tmp_path: Path
) -> None:
    for command in (["live", "attic"], ["talk", "attic", "--chime"], ["press", "attic"]):
        assert "gatehouse devices lists them" in line.error(*command)
    assert "has no button" in line.error("press", "garden")
    assert "No such file or directory" in line.error("talk", "front-door", str(tmp_path / "none.wav"))
    assert "is a folder; name a file in it" in line.error("talk", "front-door", str(tmp_path))
    assert "No such file or directory" in line.error("live", "front-door", "--talk", str(tmp_path / "none.wav"))
    text = tmp_path / "text.wav"
    text.write_text("no sound")
    assert f"{text} cannot be played" in line.error("live", "front-door", "--talk", str(text))
    stranger = CommandLine(binary, f"http://127.0.0.1:{gateway.port}", "gatehouse_wrong")
    assert "gatehouse token shows the right one" in stranger.error("devices")


@pytest.mark.parametrize("arguments", [["devices"], ["devices", "--json"], ["device", "show", "front-door"]])
def test_a_reader_that_closes_its_pipe_ends_a_command_quietly(line: CommandLine, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = line.run_into(writing, *arguments)
    finally:
        os.close(writing)
    assert (result.returncode, result.stderr) == (-signal.SIGPIPE, "")


def test_output_that_cannot_be_written_is_an_error(line: CommandLine) -> None:
    with Path("/dev/full").open("w") as full:
        result = line.run_into(full.fileno(), "devices")
    assert result.returncode == 1, result.stderr
    assert result.stderr == "gatehouse: standard output cannot be written: No space left on device\n"


def test_a_camera_that_was_taken_out_of_the_config_can_be_removed(binary: Path, tmp_path: Path) -> None:
    gateway = Gateway(binary, tmp_path, [DOORBELL, Camera("yard", "builtin:silent", name="Yard")])
    try:
        line = CommandLine(binary, f"http://127.0.0.1:{gateway.port}", gateway.token)
        gateway.write_config([DOORBELL])
        eventually(
            lambda: [one["key"] for one in gateway.client.get("/v1/devices")["devices"]] == ["front-door"],
            "the camera has left the home",
        )
        removed = line.run("device", "remove", "yard", "--yes")
        assert removed.returncode == 0 and "yard is removed" in removed.stdout, removed.stderr
        assert "no device has the id or key" in line.error("device", "remove", "yard", "--yes")
    finally:
        assert gateway.stop() == 0


def test_an_index_is_not_rebuilt_in_a_folder_that_does_not_exist(binary: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mistyped"
    result = subprocess.run(
        [str(binary), "recordings", "rebuild-index", "--state", str(folder)],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert result.returncode == 1 and f"{folder} does not exist" in result.stderr, result.stdout + result.stderr
    assert not folder.exists()


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_search_that_no_camera_answers_fails_in_both_forms(binary: Path, form: list[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        result = subprocess.run(
            [str(binary), "camera", "discover", "--host", "127.0.0.1", "--port", str(silent.getsockname()[1]),
             "--seconds", "1", *form],
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
    assert result.returncode == 1 and "no camera answered within 1 s" in result.stderr, result.stderr
    assert bool(result.stdout) == bool(form)
    assert not form or json.loads(result.stdout) == {"cameras": []}


# What a command needs to begin at all, where "nothing" is not a value of it.
NEEDED = {
    "share": ["--for", "1h"],
    "device set": ["Matter.OnOffTrait.onOff=true"],
    "recordings export": ["--output", "/nonexistent/file.mp4"],
}
# They do not use a gateway, or do not end by themselves.
LEFT_OUT = {"serve", "setup", "import", "events", "help"}


def leaves(command: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """All commands without subcommands, with their paths."""
    below = [one for one in command.get("subcommands", []) if one["commandName"] != "help"]
    for one in below:
        yield from leaves(one, (*path, one["commandName"]))
    if not below:
        yield path, command


def test_no_command_names_a_request_of_the_api(binary: Path, tmp_path: Path) -> None:
    """A person who types commands is told which command helps, whatever they misspell."""
    dump = subprocess.run([str(binary), "--experimental-dump-help"], capture_output=True, text=True, timeout=PATIENCE)
    gateway = Gateway(binary, tmp_path, [DOORBELL])
    line = CommandLine(binary, f"http://127.0.0.1:{gateway.port}", gateway.token)
    ran, failed = 0, 0
    try:
        for path, command in leaves(json.loads(dump.stdout)["command"]):
            help_text = subprocess.run([str(binary), *path, "--help"], capture_output=True, text=True, timeout=PATIENCE)
            assert help_text.returncode == 0 and "/v1/" not in help_text.stdout, path
            arguments = command.get("arguments", [])
            names = {name["name"] for one in arguments for name in one.get("names", [])}
            if "gateway" not in names or path[0] in LEFT_OUT:
                continue
            values = ["nothing" for one in arguments if one["kind"] == "positional" and not one["isOptional"]]
            result = line.run(*path, *values, *NEEDED.get(" ".join(path), []))
            ran, failed = ran + 1, failed + (result.returncode != 0)
            assert "/v1/" not in result.stdout + result.stderr, (path, result.stdout, result.stderr)
    finally:
        assert gateway.stop() == 0
    assert ran > 30 and failed > 20, (ran, failed)


def test_connection_errors_are_reported_at_once(line: CommandLine, gateway: Gateway) -> None:
    assert "no gateway runs at http://127.0.0.1:9" in line.error("devices", address="http://127.0.0.1:9")
    assert "is not the address of a gateway" in line.error("devices", address="front-door")
    assert "is not the address of a gateway" in line.error("devices", address="ftp://127.0.0.1:9")
    assert "cannot be resolved" in line.error("devices", address="http://gatehouse.invalid:8080")
    plain = f"https://127.0.0.1:{gateway.port}"
    assert "try http://" in line.error("devices", address=plain)


def test_a_certificate_that_the_gateway_signed_itself_can_be_named(binary: Path, tmp_path: Path) -> None:
    port, secure = free_port(), free_port()
    section = {"http": {"host": "127.0.0.1", "port": port, "https": {"port": secure}}}
    gateway = Gateway(binary, tmp_path, [DOORBELL], section)
    try:
        line = CommandLine(binary, f"https://127.0.0.1:{secure}", gateway.token)
        assert "name the copy with --certificate" in line.error("devices")
        certificate = tmp_path / "state/https-certificate.pem"
        listed = line.run("devices", "--certificate", str(certificate))
        assert listed.returncode == 0 and "front-door" in listed.stdout, listed.stderr
        key = tmp_path / "state/https-key.pem"
        assert "cannot be read as a certificate" in line.error("devices", "--certificate", str(key))
    finally:
        assert gateway.stop() == 0
