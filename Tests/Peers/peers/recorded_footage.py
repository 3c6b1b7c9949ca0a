"""A folder of recordings as the gateway writes it, made of real pictures and sound."""

import json
import struct
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .polling import PATIENCE

SECONDS_TO_1970 = 2_208_988_800


def boxes(data: bytes) -> list[tuple[str, bytes]]:
    """The boxes of a file, each with its header."""
    found = []
    place = 0
    while place < len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        found.append((data[place + 4 : place + 8].decode(), data[place : place + length]))
        place += length
    return found


def inside(box: bytes, *path: str) -> bytes:
    """The content of the box that a path leads to."""
    content = box[8:]
    for name in path:
        content = next(one for kind, one in boxes(content) if kind == name)[8:]
    return content


def producer_time(microseconds: int, decode_time: int) -> bytes:
    """A `prft`: when the sample with this decode time was captured."""
    seconds, rest = divmod(microseconds, 1_000_000)
    network = ((seconds + SECONDS_TO_1970) << 32) | ((rest << 32) // 1_000_000)
    content = struct.pack(">IIQQ", 1 << 24 | 24, 1, network, decode_time)
    return struct.pack(">I4s", len(content) + 8, b"prft") + content


@dataclass(frozen=True)
class Track:
    name: str
    is_video: bool
    codec: str
    timescale: int
    source: Path


VIDEO_CODECS = {
    "h264": (
        "avc1.4D400C",
        ["libx264", "-profile:v", "main", "-preset", "veryfast", "-bf", "0", "-keyint_min", "25", "-sc_threshold", "0"],
    ),
    "h265": (
        "hvc1.1.6.L60.90",
        ["libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params",
         "log-level=none:bframes=0:keyint=25:min-keyint=25:scenecut=0:open-gop=0"],
    ),
    "vp9": (
        "vp09.00.11.08",
        ["libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "400k", "-lag-in-frames", "0"],
    ),
    "av1": (
        "av01.0.00M.08",
        ["libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-b:v", "400k", "-lag-in-frames", "0"],
    ),
}  # fmt: skip
"""The codec as a recording names it, and how ffmpeg makes it."""

SOUND_CODECS = {"opus": ("opus", "libopus"), "aac": ("mp4a.40.2", "aac")}


def make_tracks(
    folder: Path, seconds: int, size: str = "320x180", video_codec: str = "h264", sound_codec: str = "opus"
) -> list[Track]:
    """Pictures with a clock and a bar that moves, and a tone, each as fragments that begin with key frames."""
    common = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"]
    flags = ["-movflags", "cmaf+empty_moov+default_base_moof+frag_keyframe", "-f", "mp4"]
    video, sound = folder / f"{video_codec}.mp4", folder / f"{sound_codec}.mp4"
    video_name, encoder = VIDEO_CODECS[video_codec]
    sound_name, sound_encoder = SOUND_CODECS[sound_codec]
    # In two steps: while it encodes, ffmpeg 5.1 knows the configuration of AV1 too late for the header of fragments.
    whole = folder / f"{video_codec}-whole.mp4"
    timescale = ["-video_track_timescale", "90000"]
    subprocess.run(
        [*common, "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25:duration={seconds}", "-c:v", *encoder, "-g", "25",
         "-pix_fmt", "yuv420p", *timescale, str(whole)],
        check=True, timeout=PATIENCE,
    )  # fmt: skip
    subprocess.run(
        [*common, "-i", str(whole), "-c", "copy", *timescale, *flags, str(video)], check=True, timeout=PATIENCE
    )
    subprocess.run(
        [*common, "-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={seconds}", "-c:a",
         sound_encoder, "-movflags", "cmaf+empty_moov+default_base_moof", "-frag_duration", "1000000", "-f", "mp4",
         str(sound)],
        check=True, timeout=PATIENCE,
    )  # fmt: skip
    return [
        Track("main", True, video_name, 90_000, video),
        Track("sound", False, sound_name, 48_000, sound),
    ]


def write_recording(
    root: Path, device: str, start: datetime, sequence: int, tracks: list[Track], *, kind: str = "motion",
    reason: str = "motion in Driveway", chunks_in_segment: int = 2,
) -> str:  # fmt: skip
    """Writes a recording that began at a time. The gateway finds it at its start. Returns its id."""
    milliseconds = int(start.astimezone(UTC).timestamp() * 1000)
    stamp = start.astimezone(UTC).strftime("%Y%m%dT%H%M%S.") + f"{milliseconds % 1000:03}Z"
    name = f"{stamp}-1-{sequence}"
    folder = root / device / start.astimezone(UTC).strftime("%Y-%m-%d") / name
    folder.mkdir(parents=True)
    described = []
    for track in tracks:
        header = b""
        pending: list[bytes] = []
        segment = b""
        number, count = 1, 0
        for kind_of_box, box in boxes(track.source.read_bytes()):
            if kind_of_box in ("ftyp", "moov"):
                header += box
            elif kind_of_box == "moof":
                time = int.from_bytes(inside(box, "traf", "tfdt")[4:12], "big")
                wall = milliseconds * 1000 + time * 1_000_000 // track.timescale
                pending = [producer_time(wall, time), box]
            elif kind_of_box == "mdat" and pending:
                segment += b"".join([*pending, box])
                pending = []
                count += 1
                if count == chunks_in_segment:
                    (folder / f"{track.name}-{number:06}.m4s").write_bytes(segment)
                    number, count, segment = number + 1, 0, b""
        if segment:
            (folder / f"{track.name}-{number:06}.m4s").write_bytes(segment)
        (folder / f"{track.name}.init").write_bytes(header)
        width = {"width": 320, "height": 180} if track.is_video else {}
        described.append(
            {
                "name": track.name,
                "isVideo": track.is_video,
                "codec": track.codec,
                "timescale": track.timescale,
                "initializationSegment": "",
            }
            | width
        )
    session = {
        "id": {"device": device, "start": milliseconds, "epoch": 1, "sequence": sequence},
        "connection": 1,
        "number": sequence,
        "trigger": {"kind": kind, "reason": reason, "events": []},
        "triggeredAt": milliseconds + 500,
        "tracks": described,
    }
    (folder / "session.json").write_text(json.dumps({"version": 1, "session": session}, indent=2) + "\n")
    return name
