"""What the benchmark scripts share: ports, cameras, gateways, and the processes that they start and end."""

import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / ".build/release/gatehouse"
# GStreamer's server stalls when fifty readers connect at once.
CAMERAS_OF_A_SERVER = 10
# A viewer of `bench viewers` takes at most 30 s for its answer, 10 s for its key frame, 3 s for pauses and 5 s for its
# end; on a busy machine some more.
VIEWER_SECONDS = 60
# A script that imports this file can use what the tests with real peers share: `peers`.
sys.path.append(str(ROOT / "Tests/Peers"))


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """A port that is free now, below those that the system gives to connections while the gateway starts."""
    for _ in range(50):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("0.0.0.0", random.randrange(10_000, 32_000)))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    sys.exit("this host has no free port")


def wait_for(url: str, process: subprocess.Popen[Any], words: str) -> None:
    """Waits up to 15 s until `url` answers, with any status."""
    for _ in range(150):
        if process.poll() is not None:
            sys.exit(f"{words} has ended with code {process.returncode}")
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{words} does not answer at {url}")


def stop(processes: list[subprocess.Popen[Any]]) -> None:
    """Ends processes that the script has started, the last one first."""
    for process in reversed(processes):
        process.terminate()
    for process in reversed(processes):
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    processes.clear()


@contextlib.contextmanager
def workplace(prefix: str) -> Iterator[tuple[pathlib.Path, list[subprocess.Popen[Any]]]]:
    """A folder and a list of processes; both are gone afterwards, even if the script is ended early."""
    owned: list[subprocess.Popen[Any]] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        try:
            yield pathlib.Path(name), owned
        finally:
            stop(owned)


def start_camera(owned: list[subprocess.Popen[Any]], *arguments: object) -> tuple[subprocess.Popen[str], str]:
    """Starts GStreamer's RTSP server; returns its process and its address without a path."""
    command = ["/usr/bin/python3", str(ROOT / "Tests/Peers/rtsp-camera.py"), *map(str, arguments)]
    camera = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    owned.append(camera)
    return camera, f"rtsp://127.0.0.1:{read_port(camera, 'the RTSP camera')}"


def start_cameras(owned: list[subprocess.Popen[Any]], count: int, path: str, *arguments: object) -> list[str]:
    """Starts servers for `count` cameras, which share encoders; returns the address of each camera."""
    servers = [start_camera(owned, *arguments)[1] + path for _ in range(math.ceil(count / CAMERAS_OF_A_SERVER))]
    return [servers[number % len(servers)] for number in range(count)]


def read_port(process: subprocess.Popen[str], words: str, seconds: float = 30) -> int:
    """The port of a server that prints "ready PORT" when it has started, which may take `seconds`."""
    assert process.stdout
    if not select.select([process.stdout], [], [], seconds)[0]:
        sys.exit(f"{words} has not printed its port after {seconds:g} s")
    line = process.stdout.readline().split()
    if line[:1] != ["ready"]:
        sys.exit(f"{words} does not start; tools/install-dependencies --tests installs what it needs")
    return int(line[1])


class Gateway:
    """A gateway with its own ports and state folder."""

    def __init__(self, program, folder, cameras, owned, host="127.0.0.1", more=""):
        """`cameras` are the entries of the config's list, each in YAML's short form; `host` is the listen address;
        `more` are further sections of the config."""
        self.port = free_port()
        self.config = folder / "gatehouse.yaml"
        self.config.write_text(
            f"http: {{ host: {host}, port: {self.port}, https: false }}\n"
            f"media: {{ port: {free_port(socket.SOCK_DGRAM)} }}\n"
            f"stateDirectory: {folder / 'state'}\n"
            "sessions: { perCamera: 2000, perPrincipal: 2000 }\n"
            "cameras:\n" + "".join(f"  - {line}\n" for line in cameras) + more
        )
        self.environment = dict(os.environ, XDG_STATE_HOME=str(folder / "xdg"))
        self.environment.pop("GATEHOUSE_TOKEN", None)
        self.program, self.folder = program, folder
        self.start(owned)
        self.token = (folder / "state" / "token").read_text().split()[-1]

    def start(self, owned):
        """Starts the process, again if it has ended, and waits until it answers."""
        with open(self.folder / "gatehouse.log", "a") as log:
            self.process = subprocess.Popen(
                [str(self.program), "serve", "--config", str(self.config)], stdout=log, stderr=log, env=self.environment
            )
        owned.append(self.process)
        wait_for(f"http://127.0.0.1:{self.port}/healthz", self.process, "the gateway")

    def get(self, path):
        """The text that a route of the API returns."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.read().decode()

    def wait_until_flowing(self, count: int, seconds: float = 60) -> float:
        """Waits until `count` cameras deliver; returns how long that took."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            devices = json.loads(self.get("/v1/devices"))["devices"]
            if sum(device["source"]["state"] == "flowing" for device in devices) >= count:
                return time.monotonic() - begin
            time.sleep(0.02)
        sys.exit(f"not all of {count} cameras deliver after {seconds} s: {self.get('/v1/devices')[:2000]}")

    def log_end(self) -> str:
        """What the gateway has logged last, in words."""
        lines = (self.folder / "gatehouse.log").read_text(errors="replace").splitlines()
        return f"the gateway's log ends with: {' | '.join(lines[-5:])}"


def seconds_together(count: int, duration: float) -> float:
    """The seconds that `bench viewers` may take when `count` viewers join side by side and watch for `duration` s."""
    return 180 + 5 * count + duration


def run_viewers(loader: str, gateway: Gateway, paths: Sequence[str], *arguments: str, seconds: float) -> dict[str, Any]:
    """Spreads viewers over the endpoints `paths`; returns the report of `bench viewers`, which may take `seconds`.

    Ends the script if a viewer got no packet. One that got packets and failed anyway is reported on the error output.
    """
    urls = [part for path in paths for part in ("--url", f"http://127.0.0.1:{gateway.port}{path}")]
    words = " ".join(["bench viewers", *arguments])
    try:
        result = subprocess.run(
            [loader, "bench", "viewers", *urls, "--json", *arguments],
            capture_output=True,
            text=True,
            timeout=seconds,
            env=gateway.environment | {"GATEHOUSE_TOKEN": gateway.token},
        )
    except subprocess.TimeoutExpired:
        sys.exit(f"{words} has not reported after {seconds:g} s; {gateway.log_end()}")
    if result.returncode != 0:
        sys.exit(f"{words} failed: {first_failure(result.stdout) or result.stderr.strip() or result.stdout.strip()}")
    report: dict[str, Any] = json.loads(result.stdout.splitlines()[0])
    if report["failed"]:
        reason = report.get("firstFailure")
        print(f"{report['failed']} of {report['viewers']} viewers failed; the first: {reason}", file=sys.stderr)
    return report


def first_failure(output: str) -> str | None:
    """Why the first viewer failed, if the output of `bench viewers` begins with a report."""
    try:
        reason = json.loads(output.partition("\n")[0])["firstFailure"]
    except (ValueError, TypeError, KeyError):
        return None
    return str(reason) if reason else None


def check_program(parser: argparse.ArgumentParser, program: str | os.PathLike[str]) -> None:
    """Ends the script if the program to measure is missing."""
    if not os.access(program, os.X_OK):
        parser.error(
            f"{program} is not a program; build it with swift build -c release --product gatehouse, or name --gatehouse"
        )
