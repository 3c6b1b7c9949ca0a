"""Cameras that send JPEG pictures over HTTP: FFmpeg's MJPEG server, and a picture that nginx serves."""

import subprocess
from pathlib import Path

from .gateway import Camera
from .nginx import Nginx, temporary_paths
from .ports import free_port
from .processes import OwnedProcess

USER, PASSWORD = "viewer", "a-word-for-pictures"
SIZE = "320x240"


class PictureServer:
    """nginx, which asks for a password (Basic) and serves one picture."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={SIZE}", "-frames:v", "1",
             str(folder / "snapshot.jpg")],
            check=True, timeout=60,
        )  # fmt: skip
        (folder / "passwords").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
        self._nginx = Nginx(
            folder,
            f"""
http {{
  access_log off;
  {temporary_paths(folder)}
  types {{ image/jpeg jpg; }}
  server {{
    listen 127.0.0.1:{self.port};
    location / {{
      root {folder};
      auth_basic "camera";
      auth_basic_user_file {folder}/passwords;
    }}
  }}
}}
""",
        )

    def address(self, password: str = PASSWORD) -> str:
        return f"http://{USER}:{password}@127.0.0.1:{self.port}/snapshot.jpg"

    def stop(self) -> None:
        self._nginx.stop()


class MotionServer:
    """FFmpeg, which sends a series of pictures in one answer to one client, and then ends."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._ffmpeg = OwnedProcess(
            ["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", f"testsrc2=size={SIZE}:rate=10", "-c:v", "mjpeg",
             "-content_type", "multipart/x-mixed-replace;boundary=ffmpeg", "-listen", "1", "-f", "mpjpeg",
             f"http://127.0.0.1:{self.port}/"],
            folder / "ffmpeg.log",
        )  # fmt: skip

    def camera(self, name: str) -> Camera:
        # It serves one connection, so the gateway keeps it.
        return Camera(name, f"http://127.0.0.1:{self.port}/stream", settings={"pull": "always"})

    def stop(self) -> None:
        self._ffmpeg.stop()
