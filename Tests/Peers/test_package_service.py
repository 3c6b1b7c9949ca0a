"""The Debian package in a Debian with systemd and in one without: real dpkg installs, upgrades, removes and purges it.

Real systemd runs the service with all restrictions of its unit. peers/debian_machine.py makes both from this machine.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from peers.debian_machine import DebianMachine, MachineUnavailable
from peers.polling import eventually
from test_package import packaged, run

Machines = Callable[[Literal["systemd", "container"]], DebianMachine]

CONFIG = """\
# Written by the owner.
http: {port: 8123, https: false}
cameras:
  - {id: porch, name: Porch, source: "${PORCH_SOURCE}"}
"""
NEXT = "9.0.0"
STATE = "/var/lib/gatehouse"


def later(package: Path, folder: Path, scripts: dict[str, str] | None = None) -> Path:
    """The package as a later version, with another unit. `scripts` are lines that its scripts begin with."""
    tree = folder / "later"
    run("dpkg-deb", "--raw-extract", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {NEXT}", control.read_text()))
    unit = tree / "usr/lib/systemd/system/gatehouse.service"
    unit.write_text(re.sub(r"(?m)^Description=.*", f"Description=Gatehouse {NEXT}", unit.read_text()))
    for name, lines in (scripts or {}).items():
        script = tree / "DEBIAN" / name
        begun = script.read_text().removeprefix("#!/bin/sh\n") if script.exists() else ""
        script.write_text(f"#!/bin/sh\n{lines}\n{begun}")
        script.chmod(0o755)
    file = folder / f"gatehouse_{NEXT}.deb"
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file)
    shutil.rmtree(tree)
    return file


@pytest.fixture(scope="module")
def first(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packaged(binary, tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def second(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An upgrade whose scripts also write down whether the service runs: before the files come, and after."""
    active = "systemctl is-active gatehouse.service >>/service-during-upgrade || true"
    return later(first, tmp_path_factory.mktemp("second"), {"preinst": active, "postinst": active})


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    made: list[DebianMachine] = []

    def make(kind: Literal["systemd", "container"]) -> DebianMachine:
        folder = tmp_path / f"machine-{len(made)}"
        folder.mkdir()
        try:
            made.append(DebianMachine(folder, kind))
        except MachineUnavailable as reason:
            pytest.skip(f"this host permits no machine of its own: {reason}")
        if made[-1].path("usr/bin/gatehouse").exists():
            pytest.skip("the package is installed on this machine, so a copy of it is not new")
        # A gateway that ran as root may have left these on this machine.
        made[-1].output("rm", "-rf", "/etc/gatehouse", STATE)
        return made[-1]

    yield make
    for machine in made:
        machine.close()


@pytest.fixture
def machine(machines: Machines) -> DebianMachine:
    return machines("systemd")


def install(machine: DebianMachine, package: Path) -> str:
    shutil.copyfile(package, machine.path("tmp/gatehouse.deb"))
    return machine.output("dpkg", "--install", "/tmp/gatehouse.deb")


def property_of_service(machine: DebianMachine, name: str) -> str:
    return machine.output("systemctl", "show", "--property", name, "--value", "gatehouse.service")


def is_active(machine: DebianMachine) -> bool:
    return machine.run("systemctl", "is-active", "gatehouse.service").stdout.strip() == "active"


def owner(machine: DebianMachine, path: str) -> str:
    return machine.output("stat", "--format", "%U:%G %a", path)


def configure(machine: DebianMachine) -> None:
    """What an owner does after the installation."""
    machine.path("etc/gatehouse/gatehouse.yaml").write_text(CONFIG)
    machine.output("chown", "root:gatehouse", "/etc/gatehouse/gatehouse.yaml")
    machine.output("chmod", "640", "/etc/gatehouse/gatehouse.yaml")
    environment = machine.path("etc/gatehouse/environment")
    environment.write_text("PORCH_SOURCE='builtin:doorbell'\n")
    environment.chmod(0o600)
    done = machine.run("systemctl", "restart", "gatehouse.service")
    assert done.returncode == 0, machine.run("journalctl", "--unit=gatehouse", "--lines=20").stdout


def leave_recording(machine: DebianMachine) -> None:
    machine.output("install", "-d", "-o", "gatehouse", "-g", "gatehouse", f"{STATE}/recordings/porch")
    machine.output("sh", "-c", f"echo a recording >{STATE}/recordings/porch/1.mp4")


def watch(machine: DebianMachine, camera: str) -> str:
    """Watches a live view. The command fails if no picture comes; a busy machine may need more than a second for it."""

    def said() -> str:
        done = machine.run("gatehouse", "live", camera, "--duration", "1")
        return done.stdout if done.returncode == 0 else ""

    return eventually(said, f"a picture of {camera} comes") or ""


def traces(machine: DebianMachine) -> list[str]:
    """Every file of the system that has the package's name. dpkg's log, and the user, stay as with every package."""
    return machine.output("find", "/etc", "/usr", "/var/lib", "/run", "-name", "*gatehouse*").splitlines()


def test_a_new_package_serves_at_once_with_its_own_user(machine: DebianMachine, first: Path) -> None:
    said = install(machine, first)
    assert "sudo gatehouse setup" in said
    assert property_of_service(machine, "ActiveState") == "active", machine.run("journalctl", "--unit=gatehouse").stdout
    assert property_of_service(machine, "UnitFileState") == "enabled"
    # A user without a shell, and folders that nobody else reads.
    assert machine.output("getent", "passwd", "gatehouse").endswith(f":{STATE}:/usr/sbin/nologin")
    assert owner(machine, "/etc/gatehouse") == "root:gatehouse 2750"
    assert owner(machine, STATE) == "gatehouse:gatehouse 700"
    process = property_of_service(machine, "MainPID")
    assert machine.output("ps", "-o", "user=", "-p", process) == "gatehouse"
    # Within the restrictions of its unit it does its work, and root may sign in without a password.
    assert "Picture" in watch(machine, "front-door")
    assert "#token=" in machine.output("gatehouse", "token", "--url")
    assert "1 camera" in property_of_service(machine, "StatusText")


def test_the_service_reads_the_owners_config_and_passwords(machine: DebianMachine, first: Path) -> None:
    install(machine, first)
    configure(machine)
    # Without the environment file the variable has no value, and the gateway does not start.
    assert "Picture" in watch(machine, "porch")
    process = property_of_service(machine, "MainPID")
    config = machine.path("etc/gatehouse/gatehouse.yaml")
    config.write_text(CONFIG + '  - {id: yard, name: Yard, source: "builtin:silent"}\n')
    machine.output("systemctl", "reload", "gatehouse.service")
    eventually(
        lambda: machine.run("gatehouse", "live", "yard", "--duration", "1").returncode == 0, "the new camera is served"
    )
    assert property_of_service(machine, "MainPID") == process


def test_an_upgrade_restarts_the_service_and_keeps_what_the_owner_wrote(
    machine: DebianMachine, first: Path, second: Path
) -> None:
    install(machine, first)
    configure(machine)
    leave_recording(machine)
    drop_in = machine.path("etc/systemd/system/gatehouse.service.d/owner.conf")
    drop_in.parent.mkdir()
    drop_in.write_text("[Service]\nNice=5\n")
    machine.output("systemctl", "daemon-reload")
    process, token = property_of_service(machine, "MainPID"), machine.path(f"{STATE}/token").read_bytes()
    written = [machine.path(f"etc/gatehouse/{name}") for name in ("gatehouse.yaml", "environment")]
    before = [(file.read_text(), file.stat().st_mode, file.stat().st_gid) for file in written]

    said = install(machine, second)
    assert "sudo gatehouse setup" not in said
    assert machine.output("dpkg-query", "--show", "--showformat", "${Version}", "gatehouse") == NEXT
    # The cameras are watched while the files are replaced; the pause is that of a restart.
    assert machine.path("service-during-upgrade").read_text() == "active\nactive\n"
    assert is_active(machine) and property_of_service(machine, "MainPID") != process
    assert property_of_service(machine, "Description") == f"Gatehouse {NEXT}"
    assert property_of_service(machine, "NeedDaemonReload") == "no"
    assert property_of_service(machine, "Nice") == "5"
    assert [(file.read_text(), file.stat().st_mode, file.stat().st_gid) for file in written] == before
    assert machine.path(f"{STATE}/token").read_bytes() == token
    assert machine.path(f"{STATE}/recordings/porch/1.mp4").read_text() == "a recording\n"
    assert "Picture" in watch(machine, "porch")

    # And back again.
    said = install(machine, first)
    assert "downgrading" in said
    assert machine.output("dpkg-query", "--show", "--showformat", "${Version}", "gatehouse") != NEXT
    assert is_active(machine) and property_of_service(machine, "Description") != f"Gatehouse {NEXT}"
    assert [(file.read_text(), file.stat().st_mode, file.stat().st_gid) for file in written] == before
    assert "Picture" in watch(machine, "porch")


def test_an_upgrade_that_fails_leaves_the_service_running(machine: DebianMachine, first: Path, tmp_path: Path) -> None:
    install(machine, first)
    broken = later(first, tmp_path, {"preinst": "exit 1"})
    shutil.copyfile(broken, machine.path("tmp/gatehouse.deb"))
    assert machine.run("dpkg", "--install", "/tmp/gatehouse.deb").returncode == 1
    assert machine.output("dpkg-query", "--show", "--showformat", "${db:Status-Status}", "gatehouse") == "installed"
    assert is_active(machine) and "Picture" in watch(machine, "front-door")


def test_an_upgrade_starts_no_service_that_the_owner_has_disabled(
    machine: DebianMachine, first: Path, second: Path
) -> None:
    install(machine, first)
    machine.output("systemctl", "disable", "--now", "gatehouse.service")
    install(machine, second)
    assert not is_active(machine)
    assert property_of_service(machine, "UnitFileState") == "disabled"


def test_a_removed_package_keeps_config_and_state_for_the_next_installation(
    machine: DebianMachine, first: Path
) -> None:
    install(machine, first)
    configure(machine)
    leave_recording(machine)
    token = machine.path(f"{STATE}/token").read_bytes()
    process = property_of_service(machine, "MainPID")

    machine.output("dpkg", "--remove", "gatehouse")
    assert not machine.path("usr/bin/gatehouse").exists()
    assert not machine.path(f"proc/{process}").exists()
    assert machine.path("etc/gatehouse/gatehouse.yaml").read_text() == CONFIG
    assert owner(machine, "/etc/gatehouse/environment") == "root:gatehouse 600"
    assert machine.path(f"{STATE}/token").read_bytes() == token

    install(machine, first)
    assert is_active(machine)
    assert machine.path(f"{STATE}/token").read_bytes() == token
    assert "Picture" in watch(machine, "porch")


def test_a_purge_leaves_nothing_but_recordings(machine: DebianMachine, first: Path) -> None:
    before = traces(machine)
    install(machine, first)
    configure(machine)
    machine.output("dpkg", "--purge", "gatehouse")
    assert traces(machine) == before
    assert property_of_service(machine, "LoadState") == "not-found"

    install(machine, first)
    leave_recording(machine)
    said = machine.output("dpkg", "--purge", "gatehouse")
    assert f"the recordings are still in {STATE}/recordings" in said
    assert sorted(traces(machine)) == sorted([*before, STATE])
    assert machine.output("find", STATE, "-type", "f") == f"{STATE}/recordings/porch/1.mp4"
    # The user stays, so the files keep its name, and no other user gets its number.
    assert owner(machine, f"{STATE}/recordings/porch").startswith("gatehouse:gatehouse")


@pytest.mark.parametrize("recorded", [False, True], ids=["nothing recorded", "recorded"])
@pytest.mark.parametrize("way", ["mount", "link"])
def test_a_purge_empties_a_state_folder_on_another_disk(
    machines: Machines, first: Path, way: str, recorded: bool
) -> None:
    machine = machines("container")
    machine.output("mkdir", "/srv/disk")
    if way == "mount":
        machine.output("mkdir", STATE)
        machine.output("mount", "--bind", "/srv/disk", STATE)
    else:
        machine.output("ln", "-s", "/srv/disk", STATE)
    install(machine, first)
    assert owner(machine, "/srv/disk") == "gatehouse:gatehouse 700"
    machine.output("install", "-o", "gatehouse", "-m", "600", "/dev/null", "/srv/disk/token")
    expected = []
    if recorded:
        leave_recording(machine)
        # Another folder that the config names for recordings has the marker of one.
        machine.output("install", "-d", "-o", "gatehouse", "/srv/disk/video")
        machine.output("install", "-o", "gatehouse", "/dev/null", "/srv/disk/video/.gatehouse-recordings")
        expected = ["/srv/disk/recordings/porch/1.mp4", "/srv/disk/video/.gatehouse-recordings"]
    else:
        machine.output("mkdir", f"{STATE}/recordings")
    if way == "link":
        # What a link leads to may be somebody else's as well.
        machine.output("install", "-d", "/srv/disk/family")
        machine.output("install", "/dev/null", "/srv/disk/family/letter")
        expected.insert(0, "/srv/disk/family/letter")
    machine.output("dpkg", "--purge", "gatehouse")
    left = machine.output("find", "/srv/disk", "-mindepth", "1", "-not", "-type", "d").splitlines()
    assert sorted(left) == expected


def test_without_systemd_the_package_makes_its_user_and_folders(machines: Machines, first: Path, second: Path) -> None:
    machine = machines("container")
    before = traces(machine)
    install(machine, first)
    assert machine.output("getent", "passwd", "gatehouse").endswith(f":{STATE}:/usr/sbin/nologin")
    assert owner(machine, "/etc/gatehouse") == "root:gatehouse 2750"
    assert owner(machine, STATE) == "gatehouse:gatehouse 700"
    user = machine.output("getent", "passwd", "gatehouse")
    install(machine, second)
    assert machine.output("getent", "passwd", "gatehouse") == user
    machine.output("dpkg", "--remove", "gatehouse")
    machine.output("dpkg", "--purge", "gatehouse")
    assert traces(machine) == before
