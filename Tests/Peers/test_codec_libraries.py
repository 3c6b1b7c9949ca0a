"""libavcodec in every version that the gateway accepts: Debian's own, and those that PyPI's package av brings."""

import array
import math
import os
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from peers.downloads import fetched
from peers.polling import PATIENCE

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "Sources/System/CAVCodec"
# The version of Debian 12, then those of releases of av.
VERSIONS = [59, 60, 61, 62]
WIDTH, HEIGHT = 192, 112


def run(command: list[str | Path], given: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(part) for part in command],
        input=given,
        capture_output=True,
        timeout=PATIENCE,
        env=os.environ | environment,
    )


def ffmpeg(*arguments: str, given: bytes = b"") -> bytes:
    done = run(["ffmpeg", "-v", "error", *arguments, "-"], given)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass
class Driver:
    """The project's code around libavcodec, alone in a program, with one version of the library."""

    program: Path
    version: int
    libraries: Path | None

    def run(self, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        environment = {} if self.libraries is None else {"LD_LIBRARY_PATH": str(self.libraries)}
        return run([self.program, *arguments], given, **environment)

    def work(self, *arguments: str, given: bytes = b"") -> tuple[bytes, str]:
        """What comes out, and what the program says about it."""
        done = self.run(*arguments, given=given)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr.decode()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("codecs") / "codec-libraries"
    done = run(
        ["cc", "-Wall", "-Werror", "-o", made, "-I", SOURCES / "include", ROOT / "Tests/Peers/codec-libraries.c",
         *sorted(SOURCES.glob("*.c")), "-ldl", "-lpthread"]
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return made


def libraries(version: int, folder: Path) -> Path | None:
    """A folder with the version's libraries under the names that Debian gives them; None where the system has it."""
    if version == VERSIONS[0]:
        return None
    wheels = fetched(f"libavcodec/{version}")
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        for name in wheel.namelist():
            if name.startswith("av.libs/"):
                wheel.extract(name, folder)
    for file in list((folder / "av.libs").iterdir()):
        # libavcodec-1a1332f2.so.60.31.102 is libavcodec.so.60.
        name, _, number = file.name.partition(".so.")
        if name.startswith(("libavcodec-", "libavutil-")):
            file.with_name(f"{name.split('-')[0]}.so.{number.split('.')[0]}").symlink_to(file.name)
    return folder / "av.libs"


@pytest.fixture(scope="module", params=VERSIONS)
def driver(request: pytest.FixtureRequest, program: Path, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    version = request.param
    made = Driver(program, version, libraries(version, tmp_path_factory.mktemp("libraries")))
    assert f"libavcodec {version}\n" in made.work()[1]
    return made


def packets(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def unpacked(stream: bytes) -> list[bytes]:
    parts = []
    while stream:
        size = int.from_bytes(stream[:4], "big")
        parts.append(stream[4 : 4 + size])
        stream = stream[4 + size :]
    return parts


def picture() -> bytes:
    made = ("-f", "lavfi", "-i", f"testsrc2=size={WIDTH}x{HEIGHT}", "-frames:v", "1")
    return ffmpeg(*made, "-pix_fmt", "yuvj420p", "-f", "rawvideo")


def difference(one: bytes, other: bytes) -> float:
    assert len(one) == len(other) == WIDTH * HEIGHT * 3 // 2
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one)


@pytest.mark.parametrize(
    ("decoder", "options"),
    [("h264", ["-c:v", "libx264", "-f", "h264"]), ("hevc", ["-c:v", "libx265", "-f", "hevc"]),
     ("mjpeg", ["-c:v", "mjpeg", "-q:v", "2", "-f", "mjpeg"])],
)  # fmt: skip
def test_pictures_are_decoded(driver: Driver, decoder: str, options: list[str]) -> None:
    shown = picture()
    size = f"{WIDTH}x{HEIGHT}"
    coded = ffmpeg("-f", "rawvideo", "-pix_fmt", "yuvj420p", "-s", size, "-i", "-", *options, given=shown)
    decoded, words = driver.work("decode", decoder, str(1 << 24), given=packets(coded))
    assert difference(decoded, shown) < 5
    assert f"{WIDTH} x {HEIGHT}, damaged 0, full range 1\n" in words


def test_a_stream_cannot_hold_more_memory_than_it_may(driver: Driver) -> None:
    made = ("-f", "lavfi", "-i", f"testsrc2=size={WIDTH}x{HEIGHT}", "-frames:v", "1")
    coded = ffmpeg(*made, "-c:v", "libx265", "-f", "hevc")
    refused = driver.run("decode", "hevc", "1000", given=packets(coded))
    assert refused.returncode == 2 and b"Cannot allocate memory" in refused.stderr


def loudest(samples: array.array, rate: int, candidates: list[int]) -> int:
    """Which of some frequencies is the loudest in the sound."""

    def power(frequency: int) -> float:
        turns = [2 * math.pi * frequency * n / rate for n in range(len(samples))]
        return abs(complex(sum(s * math.cos(t) for s, t in zip(samples, turns, strict=True)),
                           sum(s * math.sin(t) for s, t in zip(samples, turns, strict=True))))  # fmt: skip

    return max(candidates, key=power)


def tone() -> tuple[str, ...]:
    return ("-f", "lavfi", "-i", "sine=frequency=700:sample_rate=16000:duration=0.5")


def adts_frames(stream: bytes) -> Iterator[bytes]:
    while stream:
        size = (stream[3] & 3) << 11 | stream[4] << 3 | stream[5] >> 5
        yield stream[:size]
        stream = stream[size:]


def test_sound_is_decoded(driver: Driver) -> None:
    coded = ffmpeg(*tone(), "-ac", "2", "-c:a", "aac", "-f", "adts")
    decoded, words = driver.work("decode", "aac", "1", given=packets(*adts_frames(coded)))
    assert "16000 Hz, 2 channels\n" in words
    assert loudest(array.array("f", decoded), 16000, [350, 700, 1400, 2100]) == 700


def adts_header(length: int) -> bytes:
    return bytes([0xFF, 0xF1, 0x60, 0x40 | length >> 11, length >> 3 & 0xFF, (length & 7) << 5 | 0x1F, 0xFC])


def test_sound_is_encoded(driver: Driver) -> None:
    config, *units = unpacked(driver.work("encode", "aac", "0", "0", given=ffmpeg(*tone(), "-f", "s16le"))[0])
    # AAC-LC, 16 kHz, one channel (ISO/IEC 14496-3, section 1.6.2.1).
    assert config[:2] == bytes([0x14, 0x08])
    # ffmpeg reads it with the header of ADTS, which says the same.
    stream = b"".join(adts_header(len(unit) + 7) + unit for unit in units)
    sound = ffmpeg("-f", "aac", "-i", "-", "-f", "f32le", given=stream)
    assert loudest(array.array("f", sound), 16000, [350, 700, 1400, 2100]) == 700


def test_pictures_are_encoded(driver: Driver) -> None:
    shown = picture()
    made, *_ = unpacked(driver.work("encode", "mjpeg", str(WIDTH), str(HEIGHT), given=shown)[0])[1:]
    decoded = ffmpeg("-f", "mjpeg", "-i", "-", "-pix_fmt", "yuvj420p", "-f", "rawvideo", given=made)
    assert difference(decoded, shown) < 5


def test_an_owner_without_the_library_learns_what_to_install(program: Path, tmp_path: Path) -> None:
    # Files that are not libraries hide those of the system.
    for version in range(59, 64):
        (tmp_path / f"libavcodec.so.{version}").write_bytes(b"")
    alone = run([program], LD_LIBRARY_PATH=str(tmp_path))
    assert alone.returncode == 3 and b"install " in alone.stderr and b"libavcodec59" in alone.stderr
