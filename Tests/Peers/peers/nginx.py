"""nginx, with a configuration of the test's own instead of the machine's."""

from collections.abc import Sequence
from pathlib import Path

from .polling import eventually
from .processes import OwnedProcess


class Nginx:
    """Runs until `stop`. All of its files are in one folder."""

    def __init__(self, folder: Path, sections: str, modules: Sequence[str] = (), connections: int = 64) -> None:
        """`sections` are `http { … }` and the like, `modules` the names of those that nginx loads (`rtmp`)."""
        configuration, pid = folder / "nginx.conf", folder / "nginx.pid"
        loaded = "\n".join(f"load_module /usr/lib/nginx/modules/ngx_{name}_module.so;" for name in modules)
        configuration.write_text(
            f"""
{loaded}
daemon off;
worker_processes 1;
pid {pid};
user root;
events {{ worker_connections {connections}; }}
{sections}
"""
        )
        self._process = OwnedProcess(
            ["/usr/sbin/nginx", "-p", str(folder), "-c", str(configuration), "-e", str(folder / "error.log")],
            folder / "nginx.log",
        )
        try:
            eventually(pid.exists, "nginx runs", every=0.02)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._process.stop()


def temporary_paths(folder: Path) -> str:
    """Lines of `http { … }` by which nginx keeps bodies in this folder."""
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return "\n".join(f"{name}_temp_path {folder}/{name};" for name in names)
