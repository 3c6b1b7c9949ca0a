"""`gatehouse sdp` prints what the gateway does, and neither it nor `gatehouse live` passes on what a terminal obeys."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.client import Answer
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE

SAMPLES = Path(__file__).parent.parent.parent / "sdp-samples"
OFFERS = sorted((SAMPLES / "offers").glob("*.sdp"))
# What depends on keys, addresses and random numbers.
OWN = re.compile(r"^(o=|c=|a=(candidate|end-of-candidates|ice-|fingerprint|ssrc|msid:))")
# A camera takes ten publishers in ten seconds, and a fast machine makes more. So each camera gets ten offers in all.
OFFERS_OF_A_PHONE = 10
CONTROLLING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def run(binary: Path, *arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload]
        [str(binary), *map(str, arguments)], capture_output=True, encoding="utf-8", timeout=PATIENCE, **options
    )


def decided(answer: str) -> list[str]:
    """The lines of an answer that the offer decides; a port other than 0 is an address."""
    lines = [line for line in answer.splitlines() if line and not OWN.match(line)]
    return [re.sub(r"^(m=\S+) [1-9]\d*", r"\1 9", line) for line in lines]


def variants() -> Iterator[tuple[str, str]]:
    """Each recorded offer, and one in six with each DTLS role."""
    for index, path in enumerate(OFFERS):
        text = path.read_bytes().decode()
        yield path.name, text
        if index % 6 == 0:
            for role in ("active", "passive"):
                yield f"{path.name} {role}", text.replace("a=setup:actpass", f"a=setup:{role}")


def phone_of(index: int) -> str:
    """The camera to which the offer of this index is published."""
    return f"phone-{index // OFFERS_OF_A_PHONE}"


@pytest.fixture(scope="module")
def door(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    phones = [Camera(phone, source="whip") for phone in sorted({phone_of(index) for index, _ in enumerate(variants())})]
    gateway = Gateway(binary, tmp_path_factory.mktemp("sdp"), [DOORBELL, *phones])
    gateway.wait_until_flowing("front-door")
    yield gateway
    assert gateway.stop() == 0


def test_an_answer_is_the_one_that_the_gateway_gives(binary: Path, door: Gateway, tmp_path: Path) -> None:
    file = tmp_path / "offer.sdp"
    outcomes = set()
    for index, (name, text) in enumerate(variants()):
        file.write_bytes(text.encode())
        for reading, post in (("viewer", door.client.whep), ("publisher", door.client.whip)):
            said = run(binary, "sdp", "answer", "--as", reading, file)
            answer: Answer = post("front-door" if reading == "viewer" else phone_of(index), text)
            outcomes.add((reading, answer.status))
            if answer.status == 201:
                door.client.request("DELETE", answer.headers["location"])
                assert said.returncode == 0, f"{name} as {reading}: {said.stderr}"
                assert decided(said.stdout) == decided(answer.text), f"{name} as {reading}"
            else:
                assert said.returncode == 2, f"{name} as {reading}: the gateway says {answer.text}"
                reason = re.sub(r"^gatehouse: \S+: (line \d+: )?", "", said.stderr.strip())
                assert reason in answer.json["error"]["message"], f"{name} as {reading}"
    assert {(reading, 201) for reading in ("viewer", "publisher")} < outcomes
    assert len({status for _, status in outcomes}) > 1


def test_explain_and_parse_give_the_same_verdict_in_every_process(binary: Path) -> None:
    for path in sorted(SAMPLES.glob("*/*.sdp"))[::3]:
        explained = [run(binary, "sdp", "explain", "--json", path) for _ in range(2)]
        parsed = run(binary, "sdp", "parse", "--json", path)
        assert explained[0].stdout == explained[1].stdout, path.name
        assert {result.returncode for result in [*explained, parsed]} in ({0}, {2}), path.name


def test_the_real_cause_is_named_with_its_line(binary: Path, tmp_path: Path) -> None:
    text = (SAMPLES / "offers/chromium-recvonly-video.offer.sdp").read_bytes().decode()
    weak = "a=fingerprint:sha-1 " + ":".join(["AB"] * 20)
    causes = {
        "no a=fingerprint": re.sub(r"a=fingerprint:[^\r]*\r\n", "", text),
        "only sha-1": re.sub(r"a=fingerprint:[^\r]*", weak, text),
        "no ICE credentials": re.sub(r"a=ice-pwd:[^\r]*\r\n", "", text),
        "no common codec": re.sub(r"(a=rtpmap:\d+) (?!rtx)\w", r"\1 X", text),
    }
    for cause, offer in causes.items():
        file = tmp_path / "offer.sdp"
        file.write_bytes(offer.encode())
        result = run(binary, "sdp", "explain", file)
        assert result.returncode == 2, cause
        assert re.search(rf"offer\.sdp: line [1-9]\d*: .*{cause}", result.stderr), f"{cause}: {result.stderr}"


def test_an_answer_without_a_camera_says_whose_it_is(binary: Path) -> None:
    offer = SAMPLES / "offers/chromium-recvonly-av.offer.sdp"
    assert "answered for the built-in doorbell" in run(binary, "sdp", "answer", offer).stderr
    camera = run(binary, "sdp", "answer", offer, "--camera", SAMPLES / "cameras/live555-plain.sdp")
    assert camera.returncode == 0 and "H264/90000" in camera.stdout and "built-in" not in camera.stderr
    # AAC, which no browser plays, is transcoded to Opus as in a live view.
    sound = run(binary, "sdp", "answer", offer, "--camera", SAMPLES / "cameras/third-media-speaker.sdp")
    assert "opus/48000/2" in sound.stdout and "MPEG4-GENERIC is transcoded to opus" in sound.stderr


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202egnp.exe\u2066"


def test_nothing_in_a_description_reaches_the_terminal_as_it_came(binary: Path, tmp_path: Path) -> None:
    file = tmp_path / "hostile.sdp"
    file.write_text(
        f"v=0\r\no=- 1 1 IN IP4 {HOSTILE}\r\ns={HOSTILE}\r\nt=0 0\r\n{HOSTILE}\r\n"
        f"m=video 0 RTP/AVP 96\r\na=rtpmap:96 {HOSTILE}/90000\r\na=control:{HOSTILE}\r\n"
        f"m=audio 0 RTP/AVP 0 {HOSTILE}\r\na=rtpmap:0 A{HOSTILE}\rB/8000\r\n"
        f"m={HOSTILE} 0 RTP/AVP 1\r\na=mid:{HOSTILE}\r\n",
        newline="",
    )
    for command in ("parse", "explain", "answer"):
        for arguments in ([], ["--json"], ["--as", "viewer"], ["--as", "publisher"]):
            if command == "answer" and arguments == ["--json"]:
                continue
            result = run(binary, "sdp", command, file, *arguments)
            found = CONTROLLING.search((result.stdout + result.stderr).replace("\r\n", "\n"))
            assert not found, f"{command} {arguments}: {found}"


def limited() -> None:
    """Half a gigabyte of memory: reading all of a large file would need more."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))


def test_a_file_that_is_not_a_description_is_refused_before_it_is_read(binary: Path, tmp_path: Path) -> None:
    large = tmp_path / "large.sdp"
    with large.open("wb") as file:
        file.truncate(4 << 30)
    result = run(binary, "sdp", "parse", large, preexec_fn=limited)
    assert result.returncode == 1 and "the limit is 262144 bytes" in result.stderr
    # Of a pipe that never ends no more is read than shows that.
    result = run(binary, "sdp", "parse", "/dev/zero", preexec_fn=limited)
    assert result.returncode == 1 and "the limit is 262144 bytes" in result.stderr
    with Path("/dev/zero").open("rb") as zeros:
        result = run(binary, "sdp", "explain", "-", stdin=zeros, preexec_fn=limited)
    assert result.returncode == 1 and "standard input" in result.stderr
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = (SAMPLES / "cameras/live555-plain.sdp").read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(text,))
    writer.start()
    assert run(binary, "sdp", "parse", pipe).returncode == 0
    writer.join()


def test_a_file_that_cannot_be_used_is_named_in_plain_words(binary: Path, door: Gateway, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "file"
    reach = ["--gateway", f"http://127.0.0.1:{door.port}", "--token", door.client.token]
    cases: list[tuple[list[str | Path], str]] = [
        (["sdp", "parse", tmp_path], f"{tmp_path} is a folder; name a file in it"),
        (["sdp", "explain", missing], f"{missing} cannot be read: No such file or directory"),
        (["sdp", "answer", missing], f"{missing} cannot be read: No such file or directory"),
        (["talk", "front-door", tmp_path, *reach], f"{tmp_path} is a folder; name a file in it"),
        (["live", "front-door", "--talk", missing, *reach], f"{missing} cannot be read: No such file or directory"),
        (["live", "front-door", "--snapshot", missing, *reach], f"the folder {missing.parent} does not exist"),
        (["live", "front-door", "--record", missing, *reach], f"the folder {missing.parent} does not exist"),
        (["live", "front-door", "--snapshot", tmp_path, *reach], f"{tmp_path} is a folder; name a file in it"),
    ]
    for arguments, words in cases:
        result = run(binary, *arguments)
        assert result.returncode == 1, arguments
        assert words in result.stderr, result.stderr
        assert "Error Domain" not in result.stderr and "NS" not in result.stderr
