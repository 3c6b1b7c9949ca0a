"""Uploads of every codec, as DASH and as HLS: FFmpeg, GStreamer and Chromium read all of them from the ingest."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from peers import presentations
from peers.chromium import open_page
from peers.gateway import Camera, Gateway
from peers.gstreamer import decode
from peers.ingest import Ingest
from peers.media_source import PLAYER, SUPPORTS
from peers.pki import Authority
from peers.polling import PATIENCE, eventually
from peers.presentations import Presentation
from peers.publisher import publishing
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser

LENGTH = 4
"""Seconds that are asked for. A recording begins with the next key frame, which may be two seconds away."""

INTERFACES = {"dash": "interface2DASH", "hls": "interface2HLS"}


@dataclass(frozen=True)
class Kind:
    """A camera, and the sample entries of what it records."""

    path: str
    pictures: str
    sound: str
    interfaces: tuple[str, ...] = ("dash", "hls")


PHONE = "phone"
CAMERAS = {
    # The sound of the first four is G.711 of both laws, G.726 and G.722, which become Opus.
    "drive": Kind("h264", "avc1", "Opus"),
    "gate": Kind("pcmu", "avc1", "Opus", ("dash",)),
    "lobby": Kind("g726", "avc1", "Opus", ("hls",)),
    "cellar": Kind("g722", "vp08", "Opus"),
    "garden": Kind("h265", "hvc1", "mp4a"),
    "shed": Kind("vp9", "vp09", "Opus"),
    # GStreamer of Debian 12 has no AV1 for RTP, so a browser publishes it.
    PHONE: Kind("", "av01", "Opus"),
}
CASES = [(device, interface) for device, kind in CAMERAS.items() for interface in kind.interfaces]

FFMPEG_NAMES = {
    "avc1": "h264", "hvc1": "hevc", "vp08": "vp8", "vp09": "vp9", "av01": "av1", "Opus": "opus", "mp4a": "aac",
}  # fmt: skip

CHROMIUM_DECODES = {"avc1", "vp09", "av01", "Opus", "mp4a"}
"""Debian's Chromium decodes H.265 only in hardware, and plays VP8 only as WebM."""


@dataclass
class House:
    ingests: dict[str, Ingest]
    presentations: dict[tuple[str, str], Presentation]


def send(gateway: Gateway, device: str, command: str, **parameters: Any) -> Any:
    reply = gateway.client.command(device, "PushAvStreamTransport", command, parameters)
    assert reply.status == 200, f"{device}, {command}: {reply.text}"
    return reply.json


def connect(gateway: Gateway, device: str, interface: str, ingest: Ingest, endpoint: int) -> int:
    """Makes an active connection that waits for its command."""
    options = {
        "streamUsage": "recording",
        "videoStreamID": None,
        "audioStreamID": None,
        "tlsEndpointID": endpoint,
        "url": f"{ingest.url}{device}/",
        "triggerOptions": {"triggerType": "command", "maxPreRollLen": 0},
        "ingestMethod": "cmafIngest",
        "containerOptions": {
            "containerType": "cmaf",
            "cmafContainerOptions": {
                "cmafInterface": INTERFACES[interface], "segmentDuration": 2000, "chunkDuration": 0,
            },
        },
    }  # fmt: skip
    made = send(gateway, device, "allocatePushTransport", transportOptions=options)["transportConfiguration"]
    connection = int(made["connectionID"])
    send(gateway, device, "setTransportStatus", connectionID=connection, transportStatus="active")
    return connection


def uploaded(ingest: Ingest, device: str) -> Presentation:
    """The presentation of a camera's recording, once all of it has arrived."""

    def complete() -> list[dict[str, bytes]]:
        sessions = ingest.strict.objects(device)
        return sessions if all(presentations.is_complete(session) for session in sessions) else []

    sessions = eventually(complete, f"the recording of {device} is uploaded")
    # A browser may change the size of its pictures, which begins another session.
    assert len(sessions) == 1 or device == PHONE, [sorted(session) for session in sessions]
    longest = max(sessions, key=lambda session: sum(map(len, session.values())))
    return presentations.read(longest, ingest.origin)


@pytest.fixture(scope="module")
def house(
    binary: Path, rtsp_cameras: RTSPCameras, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """All cameras are recorded at the same time, each once for every interface."""
    folder = tmp_path_factory.mktemp("uploaded")
    authority = Authority(folder / "pki", "authority")
    certificate, key = authority.issue("server")
    own_certificate, own_key = authority.issue("gateway")
    with ExitStack() as running:
        ingests: dict[str, Ingest] = {}
        for interface in INTERFACES:
            ingests[interface] = Ingest(folder / interface, authority.path, certificate, key, interface)
            running.callback(ingests[interface].stop)
        cameras = [rtsp_cameras.camera(id, kind.path) for id, kind in CAMERAS.items() if id != PHONE]
        sections = {"recording": {"trigger": "command", "preRoll": 0}}
        gateway = Gateway(binary, folder, [*cameras, Camera(PHONE, "whip")], sections)
        running.callback(gateway.stop)
        material = {
            "kind": "tls",
            "rootCertificates": authority.path.read_text(),
            "clientCertificate": own_certificate.read_text(),
            "privateKey": own_key.read_text(),
        }
        headers = {"Content-Type": "application/json"}
        made = gateway.client.request("PUT", "/v1/upload-endpoints/ingest", json.dumps(material), headers)
        assert made.status == 201, made.text
        with (
            open_page(browser, f"http://127.0.0.1:{gateway.port}") as page,
            publishing(page, gateway.token, PHONE, "AV1"),
        ):
            for device in CAMERAS:
                gateway.wait_until_flowing(device)
            connections = [
                (device, connect(gateway, device, interface, ingests[interface], made.json["id"]))
                for device, interface in CASES
            ]
            time = {"initialDuration": LENGTH, "augmentationDuration": 0, "maxDuration": LENGTH, "blindDuration": 0}
            for device, connection in connections:
                send(
                    gateway, device, "manuallyTriggerTransport",
                    connectionID=connection, activationReason="userInitiated", timeControl=time,
                )  # fmt: skip
            found = {(device, interface): uploaded(ingests[interface], device) for device, interface in CASES}
        assert [ingest.violations() for ingest in ingests.values()] == [[], []]
        yield House(ingests, found)
        assert gateway.stop() == 0, gateway.process.output()[-4000:]


@pytest.mark.parametrize(("device", "interface"), CASES)
def test_a_manifest_says_what_the_files_hold(house: House, device: str, interface: str) -> None:
    kind, tracks = CAMERAS[device], house.presentations[device, interface].tracks
    assert [track.media_type for track in tracks] == ["video/mp4", "audio/mp4"]
    assert [presentations.sample_entry(track.header) for track in tracks] == [kind.pictures, kind.sound]
    assert [track.codec for track in tracks] == [presentations.codec_name(track.header) for track in tracks]
    for track in tracks:
        # A moment without sound belongs to no segment.
        assert -0.001 < track.seconds - track.stated < 0.1, (track.seconds, track.stated, track.files)
        assert 1 < track.seconds < LENGTH + 2.5, track.files


def run(*command: str) -> str:
    """The output of a command that has nothing to complain about."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, ""), (command, done.stderr[-2000:])
    return done.stdout


@pytest.mark.parametrize(("device", "interface"), CASES)
def test_ffprobe_finds_the_codecs_the_length_and_every_frame(house: House, device: str, interface: str) -> None:
    presentation = house.presentations[device, interface]
    end = max(track.end for track in presentation.tracks)
    for track in presentation.tracks:
        # FFmpeg ends a DASH presentation with the track that ends first, so each is read alone.
        entries = "format=duration:stream=codec_name,codec_tag_string,nb_read_frames"
        report = json.loads(
            run(
                "ffprobe", "-v", "error", "-allowed_extensions", "ALL", "-select_streams", track.media_type[0],
                "-count_frames", "-show_entries", entries, "-of", "json", presentation.manifest,
            )
        )  # fmt: skip
        entry = presentations.sample_entry(track.header)
        [stream] = report["streams"]
        assert (stream["codec_name"], stream["codec_tag_string"]) == (FFMPEG_NAMES[entry], entry)
        assert int(stream["nb_read_frames"]) == track.samples
        # FFmpeg takes the whole seconds of a DASH presentation's duration.
        missing = end - float(report["format"]["duration"])
        assert -0.5 < missing < (1.5 if interface == "dash" else 0.5)


@pytest.mark.parametrize(("device", "interface"), CASES)
def test_ffmpeg_decodes_every_picture_and_all_sound(house: House, device: str, interface: str) -> None:
    presentation = house.presentations[device, interface]
    for track in presentation.tracks:
        hashes = run(
            "ffmpeg", "-nostdin", "-v", "error", "-allowed_extensions", "ALL", "-i", presentation.manifest, "-map",
            f"0:{track.media_type[0]}", "-fps_mode", "passthrough", "-f", "framemd5", "-",
        )  # fmt: skip
        comments = dict(line.split(": ", 1) for line in hashes.splitlines() if line.startswith("#") and ": " in line)
        frames = [line.split(",") for line in hashes.splitlines() if not line.startswith("#")]
        if track.is_video:
            assert len(frames) == track.samples
            assert len({frame[-1] for frame in frames}) > track.samples / 2, "the pictures move"
        else:
            ticks, second = (int(one) for one in comments["#tb 0"].split("/"))
            assert abs(sum(int(frame[3]) for frame in frames) * ticks / second - track.held) < 0.1


@pytest.mark.parametrize(("device", "interface"), CASES)
def test_gstreamer_decodes_every_picture_and_all_sound(
    house: House, device: str, interface: str, tmp_path: Path
) -> None:
    presentation = house.presentations[device, interface]
    video, sound = presentation.tracks
    pictures, seconds = decode(presentation.manifest, tmp_path)
    assert pictures == video.samples
    assert abs(seconds - sound.held) < 0.15


@pytest.mark.parametrize(("device", "interface"), CASES)
def test_chromium_plays_what_it_can_decode_by_media_source_extensions(
    house: House, browser: Browser, device: str, interface: str
) -> None:
    presentation = house.presentations[device, interface]
    types = [f'{track.media_type}; codecs="{track.codec}"' for track in presentation.tracks]
    decodes = [presentations.sample_entry(track.header) in CHROMIUM_DECODES for track in presentation.tracks]
    with open_page(browser, house.ingests[interface].origin) as opened:
        assert opened.page.evaluate(SUPPORTS, types) == decodes, types
        # Where it cannot decode the pictures, it plays the sound alone.
        tracks = [track for track, is_decoded in zip(presentation.tracks, decodes, strict=True) if is_decoded]
        start, end = max(track.start for track in tracks), min(track.end for track in tracks)
        times = [end - 0.4, start + 0.2, (start + end) / 2]
        listed = [
            {"kind": "video" if track.is_video else "audio", "codec": track.codec, "files": track.files}
            for track in tracks
        ]
        # The ingest asks for no token.
        played = opened.page.evaluate(PLAYER, [presentation.folder, "none", listed, times])
    assert played["shown"] == [True] * 3
    assert played["sound"] > 0
    assert (played["width"] > 0) == decodes[0]
    assert len(played["contrasts"]) == (3 if decodes[0] else 0)
    assert all(contrast > 50 for contrast in played["contrasts"]), played["contrasts"]
    for (count, begin, until), track in zip(played["ranges"], tracks, strict=True):
        assert count == 1, played["ranges"]
        # How long the last picture lasts, only the next one would say.
        assert abs(until - begin - track.seconds) < 0.25, (played["ranges"], track.files)
