"""The release packages in .build/package: what they need of a system, and that they run in one that has nothing else.

tools/package makes them, which takes a quarter of an hour or more; without one its tests are skipped. A package for
another processor runs in QEMU.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# What tools/try-package says where a sandbox permits no chroot, no mounts or no containers, or where no package can be
# fetched. Everything else that goes wrong is a failure.
REFUSALS = (
    "debootstrap failed",
    "cannot be used with chroot",
    "apt-get update failed",
    "podman cannot import the base",
)
# These have another name in each Debian or Ubuntu, or are not in any of them.
LINKED_STATICALLY = (
    "swift",
    "Foundation",
    "_Foundation",
    "dispatch",
    "BlocksRuntime",
    "vpx",
    "openh264",
    "jpeg",
    "usrsctp",
)


HERE = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module", params=sorted({HERE, "arm64"}))
def package(request: pytest.FixtureRequest) -> Path:
    found = (ROOT / ".build/package").glob(f"gatehouse_*_{request.param}.deb")
    packages = sorted(found, key=lambda file: file.stat().st_mtime)
    if not packages:
        pytest.skip(f"there is no release package: tools/package --architecture {request.param} makes one")
    return packages[-1]


def is_foreign(package: Path) -> bool:
    return not package.stem.endswith(f"_{HERE}")


def test_the_program_brings_what_systems_have_under_different_names(package: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", str(package), str(tmp_path)], check=True)
    # It reads programs for every processor.
    headers = subprocess.run(
        ["readelf", "--dynamic", "--version-info", str(tmp_path / "usr/bin/gatehouse")],
        check=True, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"},
    ).stdout  # fmt: skip
    needed = re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", headers)
    assert "libc.so.6" in needed
    assert [name for name in needed if name.startswith(tuple(f"lib{part}" for part in LINKED_STATICALLY))] == []
    # Ubuntu 22.04 has glibc 2.35, and starts no program that names a later version. The package's dependencies do not
    # show that for every version: DT_RELR belongs to no function.
    versions = set(re.findall(r"\b(GLIBC_[\w.]+)", headers))
    assert "GLIBC_2.34" in versions and "GLIBC_ABI_DT_RELR" not in versions
    numbers = [name.removeprefix("GLIBC_") for name in versions if re.fullmatch(r"GLIBC_[0-9.]+", name)]
    assert max(tuple(int(part) for part in number.split(".")) for number in numbers) <= (2, 35)
    print(f"package: {package.stat().st_size / 1e6:.1f} MB, needs {', '.join(needed)}")


@pytest.mark.alone
@pytest.mark.parametrize("options", [(), ("--container",)], ids=["system", "container"])
def test_it_shows_a_picture_where_nothing_else_is_installed(package: Path, options: tuple[str, ...]) -> None:
    if os.geteuid() != 0:
        pytest.skip("chroot and containers need root")
    if options and is_foreign(package):
        pytest.skip("a container runs programs of this machine only")
    programs = ["debootstrap", *(["buildah", "podman"] if options else [])]
    if is_foreign(package):
        programs.append("qemu-aarch64-static")
    if options and not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        programs.append("runc")
    if missing := [name for name in programs if shutil.which(name) is None]:
        pytest.skip(f"missing: apt-get install {' '.join(missing)}")
    done = subprocess.run(
        ["tools/try-package", str(package), *options], cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3600,
    )  # fmt: skip
    if done.returncode != 0 and (
        said := [line for line in done.stdout.splitlines() if any(r in line for r in REFUSALS)]
    ):
        pytest.skip(f"this host does not permit it: {said[0]}")
    assert done.returncode == 0, done.stdout
    assert "to first picture" in done.stdout
    print(done.stdout)
