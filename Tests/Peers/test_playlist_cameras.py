"""Cameras that send HTTP Live Streaming in all the forms that servers write."""

import asyncio
import json
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from peers.aiortc_viewer import AiortcViewer, expect_live_view
from peers.coroutines import run
from peers.gateway import Camera, Gateway
from peers.playlists import LIVE, SEPARATE, PlaylistServer, PlaylistWriter, encrypt, write_key, write_recording
from peers.polling import eventually
from peers.stream_cameras import FileServer

FRAGMENTS = ["-hls_segment_type", "fmp4"]
PLAIN = [*LIVE, "-hls_flags", "delete_segments+temp_file"]
PARTS = [*LIVE, "-hls_flags", "single_file"]
ENCRYPTED = [*LIVE, "-hls_flags", "delete_segments+temp_file+periodic_rekey"]


class House:
    """A gateway, and the server of its cameras' playlists."""

    def __init__(self, binary: Path, folder: Path, running: ExitStack) -> None:
        self.files, state, home = folder / "files", folder / "server", folder / "gateway"
        for path in (self.files, state, home):
            path.mkdir()
        self.server = PlaylistServer(state, self.files)
        running.callback(self.server.stop)
        self.writers: dict[str, PlaylistWriter] = {}

        def write(name: str, output: list[str], playlist: str = "live.m3u8") -> None:
            (self.files / name).mkdir(exist_ok=True)
            self.writers[name] = PlaylistWriter(self.files / name, output, playlist)
            running.callback(self.writers[name].stop)

        (self.files / "encrypted").mkdir()
        write_key(self.files / "encrypted", "first.key")
        write("plain", PLAIN)
        write("parts", PARTS)
        write("parts-of-fragments", [*PARTS, *FRAGMENTS])
        write("encrypted", [*ENCRYPTED, "-hls_key_info_file", str(self.files / "encrypted" / "key.info")])
        write("separate", SEPARATE, "part%v.m3u8")
        cameras = [Camera(name, self.server.address(f"{name}/live.m3u8")) for name in self.writers]
        cameras.append(Camera("secure", self.server.address("plain/live.m3u8", secure=True)))
        self.gateway = Gateway(binary, home, cameras)

    def requests(self, camera: str) -> list[list[str]]:
        return [request for request in self.server.requests() if request[1].startswith(f"/{camera}/")]

    def paths(self, camera: str) -> list[str]:
        return [path for _, path, *_ in self.requests(camera)]


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with ExitStack() as running:
        house = House(binary, tmp_path_factory.mktemp("playlists"), running)
        yield house
        assert house.gateway.stop() == 0, house.gateway.process.output()[-4000:]


@pytest.mark.parametrize("camera", ["secure", "parts", "parts-of-fragments", "encrypted", "separate"])
def test_a_viewer_sees_and_hears_the_camera(house: House, camera: str) -> None:
    house.gateway.wait_until_flowing(camera)
    run(lambda: expect_live_view(house.gateway.client, camera))


def test_tls_is_used_where_the_address_says_so(house: House) -> None:
    house.gateway.wait_until_flowing("secure")
    assert any(scheme == "https" and path.endswith(".ts") for scheme, path, *_ in house.requests("plain"))


def test_a_camera_whose_playlist_does_not_count_goes_on(house: House) -> None:
    """FFmpeg gives the first part in the playlist of its one file the number 0, whatever has gone before it."""
    house.gateway.wait_until_flowing("parts")
    playlist = house.files / "parts" / "live.m3u8"

    def has_moved_on() -> bool:
        """FFmpeg empties the file before it writes it."""
        text = playlist.read_text()
        return "#EXT-X-MEDIA-SEQUENCE:0\n" in text and "#EXTINF" in text and "@0\n" not in text

    eventually(has_moved_on, "the first part has gone, and the number stays 0")

    # More than the playlist holds.
    run(lambda: expect_frames(house.gateway, "parts", 120))
    assert "camera is down camera=parts " not in house.gateway.process.output()


@pytest.mark.parametrize("camera", ["parts", "parts-of-fragments"])
def test_only_the_parts_that_the_playlist_names_are_requested(house: House, camera: str) -> None:
    house.gateway.wait_until_flowing(camera)
    media = [request for request in house.requests(camera) if not request[1].endswith(".m3u8")]
    assert media and all(status == "206" and part != "-" for _, _, status, part in media), media


def test_a_viewer_goes_on_when_the_key_changes(house: House) -> None:
    house.gateway.wait_until_flowing("encrypted")
    write_key(house.files / "encrypted", "second.key")

    async def watch() -> None:
        viewer = AiortcViewer(house.gateway.client, "encrypted")
        try:
            await viewer.start()
            await viewer.expect_media()
            await asyncio.to_thread(
                eventually, lambda: "/encrypted/second.key" in house.paths("encrypted"), "the second key is requested"
            )
            await viewer.expect_media()
        finally:
            await viewer.stop()

    run(watch)
    # A key serves all of the segments in a row that have it.
    asked = [path for path in house.paths("encrypted") if path.endswith(".key")]
    assert len(asked) == len(set(asked)), asked


def test_the_sound_has_its_own_playlist(house: House) -> None:
    house.gateway.wait_until_flowing("separate")
    segments = {path.split("/")[-1][:5] for path in house.paths("separate") if path.endswith(".ts")}
    assert segments == {"part0", "part1"}


def test_a_server_that_knows_no_parts_of_files_sends_the_whole(binary: Path, tmp_path: Path) -> None:
    write_recording(tmp_path / "files", ["-hls_flags", "single_file"])
    # Python's server sends the whole file whatever the request says.
    server = FileServer(tmp_path / "files")
    try:
        assert tracks_of(binary, f"http://127.0.0.1:{server.port}/live.m3u8") == {"H264", "mpeg4-generic"}
    finally:
        server.stop()


@pytest.mark.parametrize("is_damaged", [False, True])
def test_encrypted_fragments_are_decrypted(binary: Path, tmp_path: Path, is_damaged: bool) -> None:
    files = tmp_path / "files"
    write_recording(files, [])
    key, vector = secrets.token_hex(16), secrets.token_hex(16)
    (files / "the.key").write_bytes(bytes.fromhex(key))
    for name in ["init.mp4", *(path.name for path in files.glob("*.m4s"))]:
        encrypt(files, name, key, vector)
    if is_damaged:
        # With another key the padding would be right by chance in one of 256 cases. In CBC, the last byte of the block
        # before the last flips the same bit of the padding, which is never valid then.
        header = bytearray((files / "init.mp4").read_bytes())
        header[-17] ^= 0x80
        (files / "init.mp4").write_bytes(header)
    playlist = files / "live.m3u8"
    tag = f'#EXT-X-KEY:METHOD=AES-128,URI="the.key",IV=0x{vector}\n#EXT-X-MAP'
    playlist.write_text(playlist.read_text().replace("#EXT-X-MAP", tag))
    server = FileServer(files)
    address = f"http://127.0.0.1:{server.port}/live.m3u8"
    try:
        if is_damaged:
            assert "decrypted" in str(probe(binary, address)["failure"])
        else:
            assert tracks_of(binary, address) == {"H264", "mpeg4-generic"}
    finally:
        server.stop()


@pytest.mark.parametrize("kind", [[], FRAGMENTS], ids=["transport stream", "fragments"])
def test_a_camera_that_restarts_goes_on_in_its_playlist(binary: Path, tmp_path: Path, kind: list[str]) -> None:
    """FFmpeg appends to its old playlist after `EXT-X-DISCONTINUITY`, and its times begin at zero."""
    state, files, home = tmp_path / "server", tmp_path / "files", tmp_path / "gateway"
    for path in (state, files, home):
        path.mkdir()
    server = PlaylistServer(state, files)
    writer = PlaylistWriter(files, [*LIVE, "-hls_flags", "append_list+discont_start+omit_endlist", *kind])
    gateway = Gateway(binary, home, [Camera("yard", server.address("live.m3u8"))])
    try:
        gateway.wait_until_flowing("yard")

        async def watch() -> None:
            viewer = AiortcViewer(gateway.client, "yard")
            try:
                await viewer.start()
                await viewer.expect_media()
                writer.stop()
                writer.start()
                await asyncio.to_thread(
                    eventually, lambda: "EXT-X-DISCONTINUITY\n" in (files / "live.m3u8").read_text(), "FFmpeg appends"
                )
                # Up to three segments of 15 pictures may be from before.
                await viewer.expect_media(frames=90)
            finally:
                await viewer.stop()

        run(watch)
        assert gateway.client.get("/v1/devices/yard")["source"]["state"] == "flowing"
    finally:
        assert gateway.stop() == 0
        writer.stop()
        server.stop()


def test_a_playlist_that_is_being_written_is_read_again(binary: Path, tmp_path: Path) -> None:
    files, home = tmp_path / "files", tmp_path / "gateway"
    for path in (files, home):
        path.mkdir()
    writer = PlaylistWriter(files, PLAIN)
    answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
    server = FileServer(files, answers)
    gateway = Gateway(binary, home, [Camera("yard", f"http://127.0.0.1:{server.port}/live.m3u8")])

    def empty() -> int:
        """Empties the playlist, and returns how often it had been requested."""
        answers["/live.m3u8"] = (200, {}, b"")
        return server.paths.count("/live.m3u8")

    try:
        gateway.wait_until_flowing("yard")
        before = empty()
        eventually(lambda: server.paths.count("/live.m3u8") > before + 1, "it is requested while it is empty")
        answers.clear()
        # Up to three segments of 15 pictures may be from before.
        run(lambda: expect_frames(gateway, "yard", 60))
        # The camera may have been down for another reason, such as a server that got no processor time.
        reported = "#EXTM3U is missing"
        assert reported not in gateway.process.output()
        empty()
        eventually(lambda: reported in gateway.process.output(), "a playlist that stays empty is reported")
    finally:
        assert gateway.stop() == 0
        server.stop()
        writer.stop()


async def expect_frames(gateway: Gateway, camera: str, frames: int) -> None:
    viewer = AiortcViewer(gateway.client, camera)
    try:
        await viewer.start()
        await viewer.expect_media(frames=frames)
    finally:
        await viewer.stop()


def probe(binary: Path, address: str) -> dict[str, object]:
    result = subprocess.run(
        [str(binary), "camera", "probe", "--json", "--duration", "2", address],
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert result.stdout, result.stderr
    found: dict[str, object] = json.loads(result.stdout)
    return found


def tracks_of(binary: Path, address: str) -> set[str]:
    found = probe(binary, address)
    tracks = found["tracks"]
    assert isinstance(tracks, list) and tracks, found
    return {track["codec"] for track in tracks}
