"""Cameras that nobody here wrote: GStreamer's RTSP server, with a Digest password."""

from collections.abc import Sequence
from pathlib import Path

from .gateway import Camera
from .processes import OwnedProcess

SCRIPT = Path(__file__).parent.parent / "rtsp-camera.py"
USER, PASSWORD = "viewer", "a-Secret:with/marks"
# The password as it is written in an address.
QUOTED_PASSWORD = "a-Secret%3Awith%2Fmarks"


class RTSPCameras:
    """Serves the cameras until `stop`."""

    def __init__(self, log: Path, *options: str, prefix: Sequence[str] = ()) -> None:
        """`prefix` is a command that runs what follows it as the same process."""
        self.scheme = "rtsps" if "--tls" in options else "rtsp"
        self._log, self._options, self._prefix = log, options, prefix
        self.process = self._launch(*options)
        self.port = int(self._ready().split()[1])

    def _launch(self, *options: str) -> OwnedProcess:
        return OwnedProcess(
            # The interpreter that Debian's bindings belong to.
            [*self._prefix, "/usr/bin/python3", str(SCRIPT), "--user", USER, "--password", PASSWORD, "--auth", "digest",
             "--width", "320", "--height", "240", "--rate", "15", "--bitrate", "300", "--key-interval", "2", *options],
            self._log,
            name=SCRIPT.name,
        )  # fmt: skip

    def _ready(self) -> str:
        """Waits until the cameras serve. The first time, GStreamer looks at all of its plugins, which takes a while."""
        try:
            return self.process.line_starting("ready ")
        except BaseException:
            self.process.stop()
            raise

    def start_again(self) -> None:
        """Starts the cameras at the same addresses after `process` was killed."""
        self.process = self._launch(*self._options, "--port", str(self.port))
        self._ready()

    def address(self, path: str) -> str:
        return f"{self.scheme}://{USER}:{QUOTED_PASSWORD}@127.0.0.1:{self.port}/{path}"

    def camera(self, id: str, path: str, transport: str = "auto", **settings: object) -> Camera:
        return Camera(id, self.address(path), transport=transport, settings=settings)

    def stop(self) -> None:
        self.process.stop()
