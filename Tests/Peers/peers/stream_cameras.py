"""Cameras that send streams other than RTP, made by FFmpeg and served by it or by this process."""

import threading
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .nginx import Nginx
from .pki import Authority
from .polling import eventually
from .ports import free_port
from .processes import OwnedProcess

SIZE = "320x240"

SOURCE = ["-re", "-f", "lavfi", "-i", f"testsrc2=size={SIZE}:rate=15", "-re", "-f", "lavfi", "-i", "sine=frequency=440"]
"""A moving picture and a tone, as fast as they are shown."""

H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "15", "-pix_fmt", "yuv420p"]
AAC = ["-c:a", "aac", "-b:a", "64k", "-ac", "1"]


class FFmpegCamera:
    """FFmpeg, which sends one stream for as long as it runs."""

    def __init__(self, folder: Path, output: Sequence[str], codecs: Sequence[str] = (*H264, *AAC)) -> None:
        self._process = OwnedProcess(["ffmpeg", "-v", "warning", *SOURCE, *codecs, *output], folder / "ffmpeg.log")

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    def output(self) -> str:
        return self._process.output()

    def stop(self) -> None:
        self._process.stop()


class PlaylistCamera:
    """FFmpeg, which writes a playlist and its segments, and a server that hands them out."""

    def __init__(self, folder: Path, fragments: bool = False, segments_host: str | None = None) -> None:
        """The playlist is on 127.0.0.1; `segments_host` is another name, under which it names the segments."""
        self.folder = folder
        self._server = FileServer(folder)
        kind = ["-hls_segment_type", "fmp4"] if fragments else []
        if segments_host is not None:
            kind += ["-hls_base_url", f"http://{segments_host}:{self._server.port}/"]
        self._ffmpeg = FFmpegCamera(
            folder,
            ["-f", "hls", "-hls_time", "1", "-hls_list_size", "6", "-hls_flags", "delete_segments+temp_file", *kind,
             str(folder / "live.m3u8")],
        )  # fmt: skip
        eventually((folder / "live.m3u8").exists, "FFmpeg writes a playlist", every=0.1)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/live.m3u8"

    def stop(self) -> None:
        self._server.stop()
        self._ffmpeg.stop()


class FileServer:
    """Serves the files of a folder over HTTP, and keeps the paths that were requested."""

    def __init__(self, folder: Path, answers: dict[str, tuple[int, dict[str, str], bytes]] | None = None) -> None:
        paths: list[str] = []
        self.paths = paths
        # The test may change it.
        given = {} if answers is None else answers

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                paths.append(self.path)
                answer = given.get(self.path)
                if answer is None:
                    super().do_GET()
                    return
                status, headers, body = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), lambda *arguments: Handler(*arguments, directory=str(folder))
        )
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


class RTMPServer:
    """nginx with its RTMP module, to which FFmpeg publishes. It also takes connections over TLS."""

    def __init__(self, folder: Path) -> None:
        self.port, self.secure_port = free_port(), free_port()
        certificate, key = Authority(folder / "authority", "authority").issue("camera")
        self._nginx = Nginx(
            folder,
            f"""
rtmp {{
  server {{
    listen 127.0.0.1:{self.port};
    application live {{ live on; wait_key on; }}
  }}
}}
stream {{
  server {{
    listen 127.0.0.1:{self.secure_port} ssl;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    proxy_pass 127.0.0.1:{self.port};
  }}
}}
""",
            modules=["rtmp", "stream"],
        )

    def address(self, stream: str, secure: bool = False) -> str:
        scheme, port = ("rtmps", self.secure_port) if secure else ("rtmp", self.port)
        return f"{scheme}://127.0.0.1:{port}/live/{stream}"

    def publish(self, folder: Path, stream: str) -> FFmpegCamera:
        return FFmpegCamera(folder, ["-f", "flv", self.address(stream)])

    def stop(self) -> None:
        self._nginx.stop()
