"""The benchmarks wait for nothing without a limit, and say what they waited for."""

import json
import os
import re
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from bench_support import Gateway as MeasuredGateway
from bench_support import read_port, run_viewers, stop
from peers.gateway import DOORBELL, Gateway
from peers.ports import free_port


@pytest.fixture
def way_that_leads_nowhere(binary: Path, tmp_path: Path) -> Iterator[tuple[Gateway, str]]:
    """A gateway, and a WHEP endpoint of it where neither side learns an address of the other."""
    gateway = Gateway(binary, tmp_path, [DOORBELL])
    gateway.wait_until_flowing(DOORBELL.id)
    nobody = free_port()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            offer = self.rfile.read(int(self.headers["Content-Length"])).decode()
            request = urllib.request.Request(
                f"http://127.0.0.1:{gateway.port}/whep/{DOORBELL.id}",
                data=re.sub(r"a=candidate:[^\n]*\n", "", offer).encode(),
                headers={"Content-Type": "application/sdp", "Authorization": f"Bearer {gateway.token}"},
            )
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = response.read().decode()
            answer = re.sub(r"a=candidate:\S+ \d+ tcp [^\n]*\n", "", answer)
            answer = re.sub(r"(a=candidate:\S+ \d+ udp \d+ \S+) \d+", rf"\1 {nobody}", answer)
            self.send_response(201)
            self.send_header("Content-Type", "application/sdp")
            self.send_header("Content-Length", str(len(answer.encode())))
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield gateway, f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()
    assert gateway.stop() == 0


def test_a_viewer_without_a_key_frame_fails_and_the_reason_says_what_came(
    binary: Path, way_that_leads_nowhere: tuple[Gateway, str]
) -> None:
    gateway, url = way_that_leads_nowhere
    done = subprocess.run(
        [str(binary), "bench", "viewers", "--url", url, "--sequential", "--count", "1", "--json"],
        capture_output=True, text=True, timeout=120, env=os.environ | {"GATEHOUSE_TOKEN": gateway.token},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[0])
    assert (report["viewers"], report["playing"], report["failed"]) == (1, 0, 1), report
    assert report["firstFailure"] == "no whole key frame came within 10 s: no transport came up", report


def gateway_without_process(folder: Path) -> MeasuredGateway:
    """What a load has to know of a gateway."""
    gateway = MeasuredGateway.__new__(MeasuredGateway)
    gateway.port, gateway.token, gateway.environment, gateway.folder = 1, "token", {"PATH": "/usr/bin:/bin"}, folder
    (folder / "gatehouse.log").write_text("one\nthe last line\n")
    return gateway


def loader(folder: Path, *lines: str) -> str:
    """A program in place of the load tester."""
    program = folder / "loader"
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)
    return str(program)


def test_a_load_that_does_not_end_is_ended_and_named(tmp_path: Path) -> None:
    program = loader(tmp_path, "exec sleep 600")
    words = r"bench viewers --count 3 has not reported after 0\.5 s; the gateway's log ends with: one \| the last line"
    with pytest.raises(SystemExit, match=words):
        run_viewers(program, gateway_without_process(tmp_path), ["/whep/door"], "--count", "3", seconds=0.5)


def test_viewers_that_failed_are_reported_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reason = "no whole key frame came within 10 s: packets came"
    program = loader(tmp_path, f"""echo '{{"viewers": 3, "failed": 1, "firstFailure": "{reason}"}}'""")
    report = run_viewers(program, gateway_without_process(tmp_path), ["/whep/door"], seconds=60)
    assert report["viewers"] == 3
    assert f"1 of 3 viewers failed; the first: {reason}" in capsys.readouterr().err


def test_a_load_with_a_viewer_that_got_nothing_ends_with_the_reason(tmp_path: Path) -> None:
    reason = "no whole key frame came within 10 s: no packet came"
    report = f"""echo '{{"viewers": 3, "playing": 2, "failed": 1, "firstFailure": "{reason}"}}'"""
    program = loader(tmp_path, report, "echo a hint >&2", "exit 1")
    with pytest.raises(SystemExit, match=rf"bench viewers --count 3 failed: {reason}$"):
        run_viewers(program, gateway_without_process(tmp_path), ["/whep/door"], "--count", "3", seconds=60)


def test_a_load_that_fails_without_a_report_ends_with_its_error(tmp_path: Path) -> None:
    program = loader(tmp_path, "echo 'Error: the process is not there' >&2", "exit 1")
    with pytest.raises(SystemExit, match=r"bench viewers failed: Error: the process is not there$"):
        run_viewers(program, gateway_without_process(tmp_path), ["/whep/door"], seconds=60)


def test_all_endpoints_are_watched(tmp_path: Path) -> None:
    program = loader(tmp_path, f'echo "$@" >{tmp_path}/arguments', """echo '{"viewers": 2, "failed": 0}'""")
    run_viewers(program, gateway_without_process(tmp_path), ["/whep/a", "/whep/b"], "--count", "2", seconds=60)
    words = "bench viewers --url http://127.0.0.1:1/whep/a --url http://127.0.0.1:1/whep/b --json --count 2"
    assert (tmp_path / "arguments").read_text().strip() == words


def test_a_camera_that_names_no_port_is_named() -> None:
    processes = [subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE, text=True)]
    try:
        with pytest.raises(SystemExit, match=r"the RTSP camera has not printed its port after 0\.5 s"):
            read_port(processes[0], "the RTSP camera", seconds=0.5)
    finally:
        stop(processes)
