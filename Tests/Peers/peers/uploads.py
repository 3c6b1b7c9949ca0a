"""Recordings for the tests of uploads, and the program that records and uploads them."""

import json
import os
import struct
import subprocess
from pathlib import Path
from typing import Any

from .polling import PATIENCE

TIMESCALES = {"video": 15360, "audio": 48000}


def make_media(folder: Path, seconds: int = 6) -> dict[str, Path]:
    """A CMAF track of pictures and one of sound, in chunks of half a second, with a key frame every two seconds."""
    flags = "+cmaf+empty_moov+default_base_moof+skip_sidx+skip_trailer"
    video = folder / "video.mp4"
    audio = folder / "audio.mp4"
    common = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
    subprocess.run(
        [*common, "-f", "lavfi", "-i", f"testsrc=size=320x180:rate=15:duration={seconds}", "-c:v", "libx264",
         "-g", "30", "-keyint_min", "30", "-sc_threshold", "0", "-bf", "0", "-pix_fmt", "yuv420p",
         "-video_track_timescale", "15360", "-movflags", flags, "-frag_duration", "500000", "-f", "mp4", str(video)],
        check=True,
    )  # fmt: skip
    subprocess.run(
        [*common, "-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={seconds}", "-c:a", "libopus",
         "-movflags", flags, "-frag_duration", "500000", "-f", "mp4", str(audio)],
        check=True,
    )  # fmt: skip
    return {"video": video, "audio": audio}


def boxes(data: bytes, start: int = 0, end: int | None = None) -> list[tuple[str, int, int]]:
    """The boxes of a part of a file: kind, start and end."""
    found = []
    end = len(data) if end is None else end
    while start + 8 <= end:
        size = struct.unpack_from(">I", data, start)[0]
        found.append((data[start + 4 : start + 8].decode("latin1"), start, start + size))
        start += size
    return found


def _child(data: bytes, kind: str, start: int, end: int) -> tuple[int, int]:
    return next((first, last) for name, first, last in boxes(data, start + 8, end) if name == kind)


def _times(data: bytes, start: int, end: int) -> tuple[int, list[int]]:
    """The decode time of a movie fragment, and how long each of its samples lasts."""
    traf = _child(data, "traf", start, end)
    tfhd, tfdt, trun = (_child(data, kind, *traf)[0] for kind in ("tfhd", "tfdt", "trun"))
    flags = struct.unpack_from(">I", data, tfhd + 8)[0] & 0xFFFFFF
    position = tfhd + 16 + (8 if flags & 1 else 0) + (4 if flags & 2 else 0)
    usual = struct.unpack_from(">I", data, position)[0] if flags & 8 else 0
    time = struct.unpack_from(">Q", data, tfdt + 12)[0]
    flags, count = struct.unpack_from(">II", data, trun + 8)
    position = trun + 16 + (4 if flags & 1 else 0) + (4 if flags & 4 else 0)
    size = sum(4 for bit in (0x100, 0x200, 0x400, 0x800) if flags & bit)
    if not flags & 0x100:
        return time, [usual] * count
    return time, [struct.unpack_from(">I", data, position + index * size)[0] for index in range(count)]


def fragments(data: bytes) -> list[tuple[int, list[int]]]:
    """The movie fragments of a segment: the decode time, and how long each sample lasts."""
    return [_times(data, start, end) for kind, start, end in boxes(data) if kind == "moof"]


class Media:
    """The tracks and segments of a recording, in the form that the program takes."""

    def __init__(self, folder: Path, seconds: int = 6) -> None:
        self.tracks: list[dict[str, Any]] = []
        self.segments: list[dict[str, Any]] = []
        self.headers: list[bytes] = []
        for index, (name, path) in enumerate(make_media(folder, seconds).items()):
            data = path.read_bytes()
            timescale = TIMESCALES[name]
            first = next(start for kind, start, _ in boxes(data) if kind in ("moof", "styp", "prft"))
            header = folder / f"{name}.init"
            header.write_bytes(data[:first])
            self.headers.append(data[:first])
            self.tracks.append(
                {
                    "name": name,
                    "isVideo": name == "video",
                    "codec": "avc1.64000D" if name == "video" else "opus",
                    "timescale": timescale,
                    "header": str(header),
                    **({"width": 320, "height": 180} if name == "video" else {}),
                }
            )
            segments: dict[int, dict[str, Any]] = {}
            chunk_start = first
            time, duration = 0, 0
            for kind, start, end in boxes(data, first):
                if kind == "moof":
                    time, lengths = _times(data, start, end)
                    duration = sum(lengths)
                if kind != "mdat":
                    continue
                number = time // (2 * timescale) + 1
                segment = segments.setdefault(
                    number,
                    {"track": index, "number": number, "decodeTime": time, "duration": 0, "chunks": []},
                )
                segment["duration"] = time + duration - segment["decodeTime"]
                segment["chunks"].append(
                    {"file": str(path), "offset": chunk_start, "length": end - chunk_start,
                     "decodeTime": time, "duration": duration}
                )  # fmt: skip
                chunk_start = end
            self.segments += segments.values()
        self.segments.sort(key=lambda segment: (segment["number"], segment["track"]))

    def body(self, track: int, number: int) -> bytes:
        """The bytes of a segment."""
        segment = next(one for one in self.segments if (one["track"], one["number"]) == (track, number))
        pieces = []
        for chunk in segment["chunks"]:
            data = Path(chunk["file"]).read_bytes()
            pieces.append(data[chunk["offset"] : chunk["offset"] + chunk["length"]])
        return b"".join(pieces)

    def name(self, segment: dict[str, Any]) -> str:
        """What the path of a segment ends with."""
        track: str = self.tracks[segment["track"]]["name"]
        return f"{track}/segment_{segment['number'] + 1000}.m4s"

    def objects(self, prefix: str) -> dict[str, bytes]:
        """All objects of a session that are not manifests, by their paths."""
        made = {f"{prefix}{t['name']}/{t['name']}.init": h for t, h in zip(self.tracks, self.headers, strict=True)}
        for segment in self.segments:
            made[prefix + self.name(segment)] = self.body(segment["track"], segment["number"])
        return made


class Driver:
    """Runs the program that records and uploads."""

    def __init__(self, binary: Path, state: Path, media: Media, endpoint: dict[str, str]) -> None:
        self.binary = binary
        self.state = state
        self.media = media
        self.endpoint = endpoint
        self.process: subprocess.Popen[bytes] | None = None
        state.mkdir(parents=True, exist_ok=True)

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended by itself."""
        return self.process is not None and self.process.poll() is not None

    def start(
        self,
        url: str,
        interface: str = "interface1",
        recordings: int = 1,
        chunk_interval: int = 0,
        while_recording: bool = False,
        ends: bool = True,
        first_sequence: int = 1,
        patience: int = 5_000,
    ) -> None:
        plan = {
            "state": str(self.state),
            "endpoint": self.endpoint,
            "interface": interface,
            "whileRecording": while_recording,
            "firstRetry": 50,
            "idle": 700,
            "patience": patience,
            "recordings": [
                {
                    "device": f"camera{sequence % 2}",
                    "sequence": sequence,
                    "url": f"{url}camera{sequence % 2}/",
                    "tracks": self.media.tracks,
                    "segments": self.media.segments,
                    "chunkInterval": chunk_interval,
                    "ends": ends,
                }
                for sequence in range(first_sequence, first_sequence + recordings)
            ],
        }
        self.log = (self.state / f"driver-{os.urandom(4).hex()}.log").open("wb+")
        self.process = subprocess.Popen([str(self.binary)], stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(plan).encode())
        self.process.stdin.close()

    def wait(self, within: float = PATIENCE) -> int:
        assert self.process is not None
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
            raise AssertionError(f"not done within {within:g} s:\n{self.output()[-4000:]}") from None

    def run(self, url: str, **options: Any) -> list[dict[str, str]]:
        """Records and uploads everything, and returns what was reported."""
        self.start(url, **options)
        assert self.wait() == 0, self.output()[:6000]
        return self.events()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def output(self) -> str:
        return Path(self.log.name).read_text(errors="replace")

    def events(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in self.output().splitlines() if line.startswith("{")]
