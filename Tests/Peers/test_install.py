"""`tools/install` with a toolchain that builds a program of two lines: where it goes, and what it says."""

import os
import subprocess
from pathlib import Path

import pytest
from peers.polling import PATIENCE

ROOT = Path(__file__).parent.parent.parent
INSTALL = ROOT / "tools/install"


@pytest.fixture
def toolchain(tmp_path: Path) -> Path:
    """A folder with a `swift` that claims to have built a program."""
    folder, built = tmp_path / "toolchain", tmp_path / "built"
    folder.mkdir()
    built.mkdir()
    program = built / "gatehouse"
    program.write_text("#!/bin/sh\necho 1.2.3\n")
    program.chmod(0o644)
    swift = folder / "swift"
    swift.write_text(
        f"#!/bin/sh\ncase \"$*\" in *--show-bin-path*) echo '{built}';; --version) echo 'Swift version 6.2';; esac\n"
    )
    swift.chmod(0o755)
    return folder


def install(toolchain: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{toolchain}:{environment.pop('PATH', '')}{os.environ['PATH']}"
    return subprocess.run(
        [str(INSTALL), *arguments], capture_output=True, text=True, timeout=PATIENCE, cwd=toolchain.parent,
        env=os.environ | {"PATH": path} | environment,
    )  # fmt: skip


def test_installs_and_removes_the_program(toolchain: Path, tmp_path: Path) -> None:
    program = tmp_path / "a prefix/bin/gatehouse"
    first = install(toolchain, "--prefix", "a prefix")
    assert first.returncode == 0, first.stderr
    assert f"Installed {program} (1.2.3)" in first.stdout
    assert os.access(program, os.X_OK)
    # The program would not be found, and the line that is printed helps.
    assert "is not on PATH" in first.stderr
    export = next(line for line in first.stdout.splitlines() if "export PATH" in line)
    found = subprocess.run(["bash", "-c", f"{export}; command -v gatehouse"], capture_output=True, text=True)
    assert found.stdout.strip() == str(program)

    again = install(toolchain, f"--prefix={tmp_path}/a prefix", PATH=f"{program.parent}:")
    assert again.returncode == 0 and "PATH" not in again.stderr, again.stderr
    assert [one.name for one in program.parent.iterdir()] == ["gatehouse"]

    removed = install(toolchain, "--prefix", "a prefix", "--uninstall")
    assert removed.returncode == 0 and not program.exists()
    missing = install(toolchain, "--prefix", "a prefix", "--uninstall")
    assert missing.returncode == 1 and "does not exist" in missing.stderr


def test_warns_that_another_program_of_this_name_comes_first(toolchain: Path, tmp_path: Path) -> None:
    other = toolchain / "gatehouse"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    result = install(toolchain, "--prefix", str(tmp_path / "p"), PATH=f"{tmp_path}/p/bin:")
    assert result.returncode == 0
    assert f"Another gatehouse comes first on PATH: {other}" in result.stderr


def test_names_an_unknown_argument(toolchain: Path) -> None:
    for arguments in (["--prefx"], ["--prefix"]):
        result = install(toolchain, *arguments)
        assert result.returncode == 1 and "tools/install" in result.stderr
