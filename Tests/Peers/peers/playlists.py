"""Cameras that send HTTP Live Streaming as its servers do: FFmpeg writes the files, and nginx hands them out."""

import subprocess
from pathlib import Path

from .nginx import Nginx
from .pki import Authority
from .polling import eventually
from .ports import free_port
from .stream_cameras import AAC, H264, SIZE, FFmpegCamera

LIVE = ["-f", "hls", "-hls_time", "1", "-hls_list_size", "6"]
SEPARATE = [
    "-map", "0:v", "-map", "1:a", *LIVE, "-master_pl_name", "live.m3u8",
    "-var_stream_map", "v:0,agroup:sound a:0,agroup:sound,default:yes",
]  # fmt: skip
"""Sound in a playlist of its own, and a playlist that names both."""


class PlaylistServer:
    """nginx, which hands out the files of a folder and parts of them over HTTP and HTTPS, and logs the requests."""

    def __init__(self, folder: Path, files: Path) -> None:
        self.port, self.secure_port = free_port(), free_port()
        self._log = folder / "access.log"
        certificate, key = Authority(folder / "authority", "authority").issue("camera")
        self._nginx = Nginx(
            folder,
            f"""
http {{
  log_format requests '$scheme $request_uri $status $http_range';
  access_log {self._log} requests;
  server {{
    listen 127.0.0.1:{self.port};
    listen 127.0.0.1:{self.secure_port} ssl;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    root {files};
  }}
}}
""",
        )

    def address(self, path: str, secure: bool = False) -> str:
        scheme, port = ("https", self.secure_port) if secure else ("http", self.port)
        return f"{scheme}://127.0.0.1:{port}/{path}"

    def requests(self) -> list[list[str]]:
        """For each request, its scheme, path and status, and `bytes=…` or `-`."""
        return [line.split() for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def stop(self) -> None:
        self._nginx.stop()


class PlaylistWriter:
    """FFmpeg, which writes `live.m3u8` and what it names."""

    def __init__(self, folder: Path, output: list[str], name: str = "live.m3u8") -> None:
        self._folder, self._output, self._name = folder, output, name
        self._starts = 0
        self.start()
        eventually((folder / "live.m3u8").exists, "FFmpeg writes a playlist", every=0.1)

    def start(self) -> None:
        self._starts += 1
        log = self._folder / f"log-{self._starts}"
        log.mkdir()
        self._camera = FFmpegCamera(log, [*self._output, str(self._folder / self._name)])

    def stop(self) -> None:
        self._camera.stop()


def write_key(folder: Path, name: str) -> None:
    """Has FFmpeg encrypt what it writes from now on with a new key."""
    key = subprocess.run(["openssl", "rand", "16"], capture_output=True, check=True).stdout
    (folder / name).write_bytes(key)
    info = folder / "key.info.new"
    info.write_text(f"{name}\n{folder / name}\n")
    info.rename(folder / "key.info")


def encrypt(folder: Path, name: str, key: str, vector: str) -> None:
    """Encrypts a file in its place."""
    path = folder / name
    result = subprocess.run(
        ["openssl", "enc", "-aes-128-cbc", "-K", key, "-iv", vector, "-in", str(path)], capture_output=True, check=True
    )
    path.write_bytes(result.stdout)


def write_recording(folder: Path, output: list[str]) -> None:
    """Has FFmpeg write six seconds of fragmented MP4, and their playlist, as fast as it can."""
    folder.mkdir()
    source = [f"testsrc2=size={SIZE}:rate=15:duration=6", "sine=frequency=440:duration=6"]
    subprocess.run(
        [
            "ffmpeg", "-v", "warning", "-f", "lavfi", "-i", source[0], "-f", "lavfi", "-i", source[1], *H264, *AAC,
            *LIVE, "-hls_segment_type", "fmp4", *output, str(folder / "live.m3u8"),
        ],
        check=True, timeout=60,
    )  # fmt: skip
