"""Uploaded recordings as their own manifests describe them, for players that read them from an ingest."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from .ingest import MPD
from .recorded_footage import boxes, inside
from .uploads import fragments


@dataclass(frozen=True)
class UploadedTrack:
    media_type: str
    """`video/mp4` or `audio/mp4`."""
    codec: str
    """As the manifest names it (RFC 6381)."""
    header: bytes
    files: list[str]
    """The header and all segments, relative to the presentation's folder."""
    stated: float
    """The seconds that its segments last, as the manifest says."""
    start: float
    """The decode time of its first sample in seconds, and when the last one ends."""
    end: float
    samples: int
    held: float
    """The seconds of what its samples hold. A camera on a busy machine leaves moments out, which `seconds` includes."""

    @property
    def is_video(self) -> bool:
        return self.media_type.startswith("video/")

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Presentation:
    folder: str
    """Its address, and that of its manifest."""
    manifest: str
    tracks: list[UploadedTrack]
    """Pictures first."""


def is_complete(objects: Mapping[str, bytes]) -> bool:
    """Whether the manifests of a session say that nothing follows."""
    ends = [
        b'type="static"' in body if path.endswith(".mpd") else b"#EXT-X-ENDLIST" in body
        for path, body in objects.items()
        if path.endswith(".mpd") or re.fullmatch(r"/[^/]+/session_\d+/[^/]+/index\.m3u8", path)
    ]
    return bool(ends) and all(ends)


def read(objects: Mapping[str, bytes], origin: str) -> Presentation:
    """Reads the manifests of a session with pictures and sound."""
    manifest = next(path for path in objects if re.fullmatch(r"/[^/]+/session_\d+/index\.(mpd|m3u8)", path))
    folder = manifest.rsplit("/", 1)[0] + "/"
    tracks = (_dash if manifest.endswith(".mpd") else _hls)(objects, folder)
    tracks.sort(key=lambda track: not track.is_video)
    return Presentation(origin + folder, origin + manifest, tracks)


def _dash(objects: Mapping[str, bytes], folder: str) -> list[UploadedTrack]:
    tracks = []
    for adaptation in ET.fromstring(objects[folder + "index.mpd"]).iter(f"{MPD}AdaptationSet"):
        [representation] = adaptation.findall(f"{MPD}Representation")
        [template] = representation.findall(f"{MPD}SegmentTemplate")
        runs = [(int(run.attrib["d"]), int(run.get("r", 0)) + 1) for run in template.iter(f"{MPD}S")]
        first = int(template.attrib["startNumber"])
        numbers = range(first, first + sum(count for _, count in runs))
        names = [template.attrib["media"].replace("$Number%04d$", f"{number:04}") for number in numbers]
        stated = sum(duration * count for duration, count in runs) / int(template.attrib["timescale"])
        files = [template.attrib["initialization"], *names]
        codec = representation.attrib["codecs"]
        tracks.append(_track(objects, folder, adaptation.attrib["mimeType"], codec, files, stated))
    return tracks


def _hls(objects: Mapping[str, bytes], folder: str) -> list[UploadedTrack]:
    text = objects[folder + "index.m3u8"].decode()
    assert "\n#EXT-X-INDEPENDENT-SEGMENTS\n" in text, text
    variant = re.search(r'^#EXT-X-STREAM-INF:.*\bCODECS="([^",]+),([^",]+)".*\n(.+)$', text, re.MULTILINE)
    sound = re.search(r'^#EXT-X-MEDIA:TYPE=AUDIO,.*\bURI="([^"]+)"$', text, re.MULTILINE)
    assert variant is not None and sound is not None, text
    tracks = []
    for kind, codec, address in (("video", variant[1], variant[3]), ("audio", variant[2], sound[1])):
        playlist = objects[folder + address].decode()
        header = re.search(r'^#EXT-X-MAP:URI="([^"]+)"$', playlist, re.MULTILINE)
        assert header is not None, playlist
        place = address.rsplit("/", 1)[0] + "/"
        names = [header[1], *(line for line in playlist.splitlines() if line and not line.startswith("#"))]
        stated = sum(float(one) for one in re.findall(r"^#EXTINF:([\d.]+),$", playlist, re.MULTILINE))
        tracks.append(_track(objects, folder, f"{kind}/mp4", codec, [place + name for name in names], stated))
    return tracks


def _track(
    objects: Mapping[str, bytes], folder: str, media_type: str, codec: str, files: Sequence[str], stated: float
) -> UploadedTrack:
    header, *segments = (objects[folder + name] for name in files)
    timescale = int.from_bytes(inside(_movie(header), "trak", "mdia", "mdhd")[12:16], "big")
    found = [fragment for segment in segments for fragment in fragments(segment)]
    (start, _), (last, final) = found[0], found[-1]
    lengths = [length for _, durations in found for length in durations]
    return UploadedTrack(
        media_type, codec, header, list(files), stated, start / timescale, (last + sum(final)) / timescale,
        len(lengths), len(lengths) * median(lengths) / timescale,
    )  # fmt: skip


def _movie(header: bytes) -> bytes:
    return next(box for kind, box in boxes(header) if kind == "moov")


def sample_entry(header: bytes) -> str:
    """The kind of the only sample entry of a track."""
    return _entry(header)[4:8].decode()


def _entry(header: bytes) -> bytes:
    return inside(_movie(header), "trak", "mdia", "minf", "stbl", "stsd")[8:]


def codec_name(header: bytes) -> str:
    """The codec as RFC 6381 and the codec's binding to MP4 derive it from what the header gives to the decoder."""
    entry = _entry(header)
    kind = sample_entry(header)
    fixed = 28 if kind in ("Opus", "mp4a") else 78
    made = {name: box[8:] for name, box in boxes(entry[8 + fixed :])}
    match kind:
        case "avc1":
            return f"avc1.{made['avcC'][1:4].hex().upper()}"
        case "hvc1":
            return _hevc(made["hvcC"])
        case "vp09":
            profile, level, depth = made["vpcC"][4:7]
            return f"vp09.{profile:02}.{level:02}.{depth >> 4:02}"
        case "vp08":
            # VP8 has no levels, so the header leaves it open. Parsers want one: the lowest.
            profile, _, depth = made["vpcC"][4:7]
            return f"vp08.{profile:02}.10.{depth >> 4:02}"
        case "av01":
            first, second = made["av1C"][1:3]
            depth = (12 if second & 0x20 else 10) if second & 0x40 else 8
            return f"av01.{first >> 5}.{first & 31:02}{'H' if second & 0x80 else 'M'}.{depth:02}"
        case "mp4a":
            # Three descriptors, one in the other: of the stream, of the decoder, and what it needs.
            stream = made["esds"][4:]
            decoder = stream[5:]
            specific = decoder[15:]
            assert (stream[0], decoder[0], specific[0]) == (3, 4, 5)
            return f"mp4a.{decoder[2]:02x}.{specific[2] >> 3}"
        case _:
            return kind.lower()


def _hevc(record: bytes) -> str:
    """ISO/IEC 14496-15, annex E.3."""
    general, level, constraints = record[1], record[12], record[6:12].rstrip(b"\0")
    compatible = int(f"{int.from_bytes(record[2:6], 'big'):032b}"[::-1], 2)
    space = ["", "A", "B", "C"][general >> 6]
    tier = "H" if general & 0x20 else "L"
    return ".".join(
        ["hvc1", f"{space}{general & 31}", f"{compatible:X}", f"{tier}{level}", *(f"{byte:X}" for byte in constraints)]
    )
