"""The Debian package that tools/package makes, here of the debug build and without compression."""

import gzip
import http.server
import json
import os
import re
import shutil
import struct
import subprocess
import threading
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
import yaml
from peers.polling import PATIENCE

ROOT = Path(__file__).parent.parent.parent
UNIT = "usr/lib/systemd/system/gatehouse.service"


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=PATIENCE * 2, cwd=ROOT,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def packaged(binary: Path, folder: Path) -> Path:
    # A day of its own, so that nothing depends on the commit.
    run("tools/package", "--program", binary, "--output", folder, "--fast", SOURCE_DATE_EPOCH="1767225600")
    packages = list(folder.glob("gatehouse_*.deb"))
    assert len(packages) == 1
    return packages[0]


@pytest.fixture(scope="module")
def package(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packaged(binary, tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def tree(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the package puts into a system."""
    folder = tmp_path_factory.mktemp("tree")
    run("dpkg-deb", "--extract", package, folder)
    return folder


def test_the_package_holds_what_a_service_needs(package: Path, tree: Path, binary: Path) -> None:
    for path in (
        "usr/bin/gatehouse", UNIT, "usr/lib/sysusers.d/gatehouse.conf", "usr/lib/tmpfiles.d/gatehouse.conf",
        "usr/share/man/man1/gatehouse.1.gz", "usr/share/bash-completion/completions/gatehouse",
        "usr/share/fish/vendor_completions.d/gatehouse.fish", "usr/share/zsh/vendor-completions/_gatehouse",
        "usr/share/doc/gatehouse/copyright", "usr/share/doc/gatehouse/changelog.gz",
    ):  # fmt: skip
        assert (tree / path).stat().st_size > 0, path
    fields = run("dpkg-deb", "--field", package)
    version = run(binary, "--version").strip()
    assert re.search(rf"(?m)^Version: {re.escape(version.split('+')[0])}", fields)
    assert re.search(r"(?m)^Depends: .*\blibc6 ", fields)
    # Ubuntu 22.04 has OpenSSL 3.0.2 and glibc 2.35.
    for library, newest in (("libssl3", (3, 0, 2)), ("libc6", (2, 35))):
        needed = re.search(rf"\b{library} \(>= ([0-9.]+)\)", fields)
        assert needed and tuple(int(part) for part in needed[1].split(".")) <= newest, fields
    # The program is stripped, and still the same program.
    assert (tree / "usr/bin/gatehouse").stat().st_size < binary.stat().st_size
    assert run(tree / "usr/bin/gatehouse", "--version").strip() == version
    # Everything belongs to root, no matter who built the package.
    assert all(" root/root " in line for line in run("dpkg-deb", "--contents", package).splitlines())


def test_the_documents_that_messages_name_are_in_the_package(tree: Path) -> None:
    named = set()
    sources = [*Path("Sources").rglob("*.swift"), *Path("Sources/App/WebFiles/page").glob("*.js")]
    for file in sources:
        for line in file.read_text().splitlines():
            words = line.split(" // ")[0].strip()
            if words.startswith(("//", "*", "/*")):
                continue
            # The folder of the sources is on no other machine.
            assert not re.search(r"\bdocs/[a-z-]+\.md", words), f"{file}: {words}"
            # The package's folder is not there if the program was built or installed without the package.
            assert "/usr/share/doc/gatehouse" not in words, f"{file}: {words}"
            named |= set(re.findall(r"(?<![\w/.-])([a-z-]+\.md)\b", words))
    assert {"accounts.md", "configuration.md", "stream-cameras.md", "traits.md"} <= named
    for name in named:
        assert (tree / "usr/share/doc/gatehouse" / name).read_bytes() == (Path("docs") / name).read_bytes(), name


def refused(*command: str | Path) -> str:
    """What a script says that does not begin."""
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode != 0 and done.stdout == "", done
    return done.stderr


def test_a_package_is_built_only_for_processors_that_it_can_be_built_for(binary: Path) -> None:
    here = run("dpkg", "--print-architecture").strip()
    assert f"{here} cannot build for riscv64" in refused("tools/package", "--architecture", "riscv64")
    assert "--architecture needs a name" in refused("tools/package", "--architecture")
    other = "arm64" if here == "amd64" else "amd64"
    said = refused("tools/package", "--architecture", other, "--program", binary)
    assert f"{binary} is a program for {here}, not for {other}" in said or f"cannot build for {other}" in said
    if here == "amd64":
        # The compiler's system sees no other folder of this machine.
        assert "has to be in" in refused("tools/package", "--architecture", "arm64", "--scratch", "/nowhere")
    assert "--architecture needs names" in refused("tools/release", "--architecture", "amd64 arm64")


def test_two_packages_of_one_program_are_equal(package: Path, binary: Path, tmp_path: Path) -> None:
    again = packaged(binary, tmp_path)
    assert again.name == package.name
    # Not `==` of the bytes: pytest would compare 100 MB line by line.
    assert subprocess.run(["cmp", str(package), str(again)]).returncode == 0


def test_the_manual_page_names_every_command(tree: Path, binary: Path) -> None:
    page = gzip.decompress((tree / "usr/share/man/man1/gatehouse.1.gz").read_bytes()).decode()
    assert page == run("tools/manual", binary, "--date", "2026-01-01")
    root = json.loads(run(binary, "--experimental-dump-help"))["command"]
    for command in root["subcommands"]:
        if command["commandName"] != "help":
            assert f".SS gatehouse {command['commandName']}" in page
    # troff has nothing to complain about.
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_the_scripts_of_the_package_are_valid(package: Path, tree: Path, tmp_path: Path) -> None:
    run("dpkg-deb", "--control", package, tmp_path / "control")
    for name in ("postinst", "prerm", "postrm"):
        run("sh", "-n", tmp_path / "control" / name)
    run("bash", "-n", tree / "usr/share/bash-completion/completions/gatehouse")


def test_systemd_understands_the_unit(tree: Path, tmp_path: Path) -> None:
    # Where the package is not installed, neither the program nor the manual page is where the unit says.
    unit = tmp_path / "gatehouse.service"
    text = (tree / UNIT).read_text()
    assert "ExecStart=/usr/bin/gatehouse serve\n" in text
    unit.write_text(re.sub(r"(?m)^Documentation=.*\n", "", text).replace("/usr/bin/gatehouse", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", str(unit)], capture_output=True, text=True
    )
    assert done.returncode == 0 and "gatehouse" not in done.stderr, done.stderr


def test_the_bill_of_materials_names_what_is_linked(package: Path) -> None:
    bill = json.loads(run("tools/bill-of-materials", package, SOURCE_DATE_EPOCH="1767225600"))
    assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["timestamp"] == "2026-01-01T00:00:00Z"
    names = {component["name"]: component for component in bill["components"]}
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    assert {pin["identity"] for pin in pins} <= names.keys()
    assert {"swift", "libvpx-dev", "libc6"} <= names.keys()
    architecture = run("dpkg", "--print-architecture").strip()
    described = bill["metadata"]["component"]["properties"]
    assert described == [{"name": "gatehouse:architecture", "value": architecture}]
    references = [component["bom-ref"] for component in bill["components"]]
    assert len(references) == len(set(references))
    assert bill == json.loads(run("tools/bill-of-materials", package, SOURCE_DATE_EPOCH="1767225600"))


def test_the_add_on_starts_with_the_options_of_home_assistant(binary: Path, tmp_path: Path) -> None:
    programs, data, config = tmp_path / "bin", tmp_path / "data", tmp_path / "config"
    for folder in (programs, data, config):
        folder.mkdir()
    (programs / "gatehouse").symlink_to(binary)
    options = {"camera": "rtsp://192.0.2.20/1", "name": 'The "yard"', "recordings": True, "show_token": False}
    (data / "options.json").write_text(json.dumps(options))
    # Nobody else listens on the port of RTSP: another program is connected there, and to the port of the same number.
    proc = tmp_path / "proc"
    (proc / "net").mkdir(parents=True)
    (proc / "net/tcp").write_text(
        "   0: 0100007F:216A 0100007F:A000 01 00000000:00000000 00:00000000 00000000     0        0 1\n"
        "   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2\n"
    )
    folders = {"DATA": str(data), "CONFIG": str(config), "PROC": str(proc), "PATH": f"{programs}:{os.environ['PATH']}"}
    script = ROOT / "tools/packaging/home-assistant/run.sh"
    checked = run(script, "--check", **folders)
    assert f"{config}/gatehouse.yaml is valid: 1 camera" in checked
    made = (config / "gatehouse.yaml").read_text()
    assert "rtsp://192.0.2.20/1" in made and "/media/gatehouse" in made and "host: 0.0.0.0" in made
    # Home Assistant shows live pictures by these two, and only this machine reaches RTSP.
    settings = yaml.safe_load(made)
    assert settings["go2rtc"] is True and settings["rtsp"] == {"host": "127.0.0.1", "port": 8554}
    # Later the config counts, which the owner may have changed.
    (config / "gatehouse.yaml").write_text("cameras: []\n")
    assert "0 cameras" in run(script, "--check", **folders)
    assert (config / "gatehouse.yaml").read_text() == "cameras: []\n"

    def rtsp_beside(taken: range) -> dict[str, object] | None:
        """The section of a new config, where other programs of this machine listen on these ports."""
        (config / "gatehouse.yaml").unlink()
        with (proc / "net/tcp").open("a") as lines:
            for port in taken:
                lines.write(f"   2: 00000000:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n")
        assert "is valid: 1 camera" in run(script, "--check", **folders)
        section: dict[str, object] | None = yaml.safe_load((config / "gatehouse.yaml").read_text()).get("rtsp")
        return section

    # Another add-on that serves RTSP on this machine keeps its port, and the next one, which is for its WebRTC.
    assert rtsp_beside(range(8554, 8555)) == {"host": "127.0.0.1", "port": 8556}
    # No free port is left out.
    assert rtsp_beside(range(8556, 8557)) == {"host": "127.0.0.1", "port": 8557}
    # Where none is free, the gateway starts without RTSP.
    assert rtsp_beside(range(8554, 8600)) is None


def test_the_add_on_says_how_home_assistant_shows_live_pictures() -> None:
    words = (ADD_ON / "DOCS.md").read_text()
    section = words.partition("## Live pictures in Home Assistant\n")[2].partition("\n## ")[0]
    for line in (
        "  url: http://home-assistant:TOKEN@127.0.0.1:8080", "rtsp://127.0.0.1:8554/yard?token=TOKEN",
        "http://127.0.0.1:8080/v1/devices/yard/snapshot.jpg?token=TOKEN", "go2rtc: true",
    ):  # fmt: skip
        assert f"\n{line}\n" in section, line
    installing = (ROOT / "docs/installing.md").read_text()
    assert "home-assistant/DOCS.md#live-pictures-in-home-assistant" in installing


ADD_ON = ROOT / "tools/packaging/home-assistant"


class Supervisor(http.server.ThreadingHTTPServer):
    """Answers the add-on's question for the broker as Home Assistant's Supervisor does (supervisor/api/services.py)."""

    def __init__(self, service: dict[str, object] | None, failures: int) -> None:
        """`service` is what it knows of the broker; None for no broker. It refuses `failures` questions first."""
        super().__init__(("127.0.0.1", 0), AskedSupervisor)
        self.service = service
        self.failures = failures
        self.requests: list[tuple[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class AskedSupervisor(http.server.BaseHTTPRequestHandler):
    server: Supervisor

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers["Authorization"]))
        if len(self.server.requests) <= self.server.failures:
            self.send_error(503)
            return
        service = self.server.service
        answer = {"result": "error", "message": "Service not enabled"} if service is None else {
            "result": "ok", "data": service,
        }  # fmt: skip
        body = json.dumps(answer).encode()
        self.send_response(400 if service is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class AddOn:
    """The add-on in folders of its own, beside a Supervisor that knows a broker or none."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.programs, self.data, self.config = folder / "bin", folder / "data", folder / "config"
        for one in (self.programs, self.data, self.config):
            one.mkdir()
        (self.programs / "gatehouse").symlink_to(binary)
        self.file = self.config / "gatehouse.yaml"

    def start(self, service: dict[str, object] | None, mqtt: bool, failures: int = 0) -> Supervisor:
        options = {"camera": "builtin", "name": "Door", "recordings": False, "show_token": False, "mqtt": mqtt}
        (self.data / "options.json").write_text(json.dumps(options))
        supervisor = Supervisor(service, failures)
        try:
            checked = run(
                ADD_ON / "run.sh", "--check", DATA=str(self.data), CONFIG=str(self.config), SUPERVISOR=supervisor.url,
                SUPERVISOR_TOKEN="of-the-add-on", PATH=f"{self.programs}:{os.environ['PATH']}",
            )  # fmt: skip
        finally:
            supervisor.shutdown()
            supervisor.server_close()
        assert f"{self.file} is valid: 1 camera" in checked
        return supervisor


BROKER: dict[str, object] = {
    "addon": "core_mosquitto", "host": "core-mosquitto", "port": 1883, "ssl": False, "username": "addons",
    "password": 'pass"word $1', "protocol": "3.1.1",
}  # fmt: skip


def test_the_add_on_asks_for_the_broker_again_when_the_supervisor_is_not_ready(binary: Path, tmp_path: Path) -> None:
    add_on = AddOn(binary, tmp_path)
    # A repeated question also carries the token.
    question = ("/services/mqtt", "Bearer of-the-add-on")
    assert add_on.start(BROKER, mqtt=True, failures=1).requests == [question, question]
    assert yaml.safe_load(add_on.file.read_text())["mqtt"]["host"] == "core-mosquitto"


def test_the_add_on_uses_the_broker_of_home_assistant(binary: Path, tmp_path: Path) -> None:
    add_on = AddOn(binary, tmp_path)
    start, broker, file = add_on.start, BROKER, add_on.file
    # Without the option nobody is asked, and without a broker nothing changes.
    assert start(broker, mqtt=False).requests == []
    assert start(None, mqtt=True).requests == [("/services/mqtt", "Bearer of-the-add-on")]
    assert "mqtt" not in yaml.safe_load(file.read_text())
    start(broker, mqtt=True)
    section = {
        "host": "core-mosquitto", "port": 1883, "username": "${MQTT_USERNAME}", "password": "${MQTT_PASSWORD}",
    }  # fmt: skip
    assert yaml.safe_load(file.read_text())["mqtt"] == section
    # The password stays with the Supervisor. Later the config counts, also while there is no broker.
    made = file.read_text()
    assert 'pass"word' not in made
    start(broker | {"host": "elsewhere"}, mqtt=True)
    start(None, mqtt=True)
    assert file.read_text() == made
    # A broker with TLS and without a password, and a config that is the owner's.
    file.write_text("cameras: [{id: door, source: 'builtin:doorbell'}]")
    start({"addon": "other", "host": "192.0.2.9", "port": 8883, "ssl": True}, mqtt=True)
    assert yaml.safe_load(file.read_text())["mqtt"] == {"host": "192.0.2.9", "port": 8883, "tls": True}


def test_the_supervisor_accepts_the_add_on() -> None:
    """The rules of Home Assistant's Supervisor, which does not show an add-on that breaks one. They are described at
    https://developers.home-assistant.io/docs/add-ons/configuration, and written in supervisor/addons/validate.py and
    options.py of its repository."""
    config = yaml.safe_load((ADD_ON / "config.yaml").read_text())
    # The Supervisor drops keys that it does not know.
    assert config.keys() <= {
        "name", "version", "slug", "description", "arch", "init", "startup", "boot", "host_network", "webui",
        "watchdog", "map", "services", "video", "options", "schema",
    }  # fmt: skip
    rules = {
        "version": r"\d+\.\d+\.\d+",
        "slug": r"[-_.A-Za-z0-9]+",
        "startup": r"initialize|system|services|application|once",
        "boot": r"auto|manual|manual_only",
        "webui": r"(?:https?|\[PROTO:\w+\]):\/\/\[HOST\]:\[PORT:\d+\].*",
        "watchdog": r"(?:https?|\[PROTO:\w+\]|tcp):\/\/\[HOST\]:(\[PORT:\d+\]|\d+).*",
    }
    for key, rule in rules.items():
        assert re.fullmatch(rule, config[key]), key
    assert all(isinstance(config[key], str) for key in ("name", "description"))
    assert all(isinstance(config[key], bool) for key in ("init", "host_network", "video"))
    assert all(re.fullmatch(r"(mqtt|mysql):(provide|want|need)", service) for service in config["services"])
    # Without the service the Supervisor names no broker, and without video no camera of the machine can be opened.
    assert config["services"] == ["mqtt:want"] and config["video"]
    assert config["arch"] == ["amd64", "aarch64"]
    known = {"data", "ssl", "backup", "share", "media", "addon_config", "homeassistant_config"}
    for entry in config["map"]:
        assert entry.keys() <= {"type", "read_only", "path"} and entry["type"] in known
    # Every option has a type and a value.
    assert config["options"].keys() == config["schema"].keys()
    types = {"str": str, "bool": bool}
    assert all(isinstance(config["options"][key], types[name]) for key, name in config["schema"].items())
    # Home Assistant shows a name and a description for each option, in the user's language.
    for language in ("en", "de"):
        words = yaml.safe_load((ADD_ON / f"translations/{language}.yaml").read_text())
        assert words.keys() == {"configuration"} and words["configuration"].keys() == config["options"].keys()
        assert all(entry.keys() == {"name", "description"} for entry in words["configuration"].values())
    # And the documentation.
    documentation = (ADD_ON / "DOCS.md").read_text()
    assert all(f"| `{option}` |" in documentation for option in config["options"])
    # What run.sh calls is in the image.
    recipe = (ADD_ON / "Dockerfile").read_text()
    assert all(re.search(rf"\b{program}\b", recipe) for program in ("curl", "jq"))
    # The Supervisor asks at the host's address (not at 127.0.0.1, which is its own), where setup opens only HTTPS.
    assert "[PORT:8443]/healthz" in config["watchdog"] and config["watchdog"].startswith("https:")
    build = yaml.safe_load((ADD_ON / "build.yaml").read_text())
    image = r"([a-zA-Z\-\.:\d{}]+/)*?([\-\w{}]+)/([\-\w{}]+)(:[\.\-\w{}]+)?"
    assert build["build_from"].keys() == set(config["arch"])
    assert all(re.fullmatch(image, name) for name in build["build_from"].values())


def test_libavcodec_comes_with_every_way_to_install(package: Path) -> None:
    recommended = run("dpkg-deb", "--field", package, "Recommends").replace(" | ", "|").split(", ")
    names = next(entry for entry in recommended if entry.startswith("libavcodec")).strip().split("|")
    # Debian 12, Ubuntu 24.04 and Debian 13 have one each.
    assert {"libavcodec59", "libavcodec60", "libavcodec61"} <= set(names)
    layouts = (ROOT / "Sources/System/CAVCodec/Layouts.c").read_text()
    assert sorted(names) == sorted(f"libavcodec{major}" for major in re.findall(r"\.avcodec = (\d+)", layouts))
    assert "libavcodec[0-9]+" in (ADD_ON / "Dockerfile").read_text()
    # The container has a libavcodec of its own, with every codec that the gateway asks for.
    container = (ROOT / "tools/packaging/Containerfile").read_text()
    sources = "".join(file.read_text() for file in (ROOT / "Sources/Media/Codecs").rglob("*.swift"))
    for codec in ("h264", "hevc", "vp9", "libdav1d", "mjpeg", "aac", "g722", "g726", "g726le"):
        assert f'"{codec}"' in sources and re.search(rf"--enable-decoder=\S*\b{codec}\b", container), codec


def icu_data(items: dict[str, bytes]) -> bytes:
    """Data in ICU's form: a header of 32 bytes, the table of contents, the names, the items."""
    header = struct.pack("<H2B4xI4s", 32, 0xDA, 0x27, 0, b"CmnD").ljust(32, b"\0")
    table, names, contents = struct.pack("<I", len(items)), b"", b""
    first_name = 4 + 8 * len(items)
    first = first_name + sum(len(name) + 1 for name in items)
    for name, content in items.items():
        table += struct.pack("<II", first_name + len(names), first + len(contents))
        names += name.encode() + b"\0"
        contents += content
    return header + table + names + contents


def icu_items(data: bytes) -> dict[str, bytes]:
    body = data[32:]
    entries = [struct.unpack_from("<II", body, 4 + 8 * n) for n in range(struct.unpack_from("<I", body)[0])]
    # Readers expect that items begin at multiples of 16.
    assert all(start % 16 == 0 for _, start in entries)
    ends = [start for _, start in entries[1:]] + [len(body)]
    return {
        body[name : body.index(b"\0", name)].decode(): body[start:end]
        for (name, start), end in zip(entries, ends, strict=True)
    }


@pytest.mark.parametrize("binutils", ["", "aarch64-linux-gnu-"], ids=["here", "arm64"])
def test_data_of_icu_is_taken_out_of_an_archive(binutils: str, tmp_path: Path) -> None:
    if shutil.which(f"{binutils}as") is None:
        pytest.skip(f"{binutils}as is missing: tools/install-dependencies --arm64")
    items = {f"icudt76l/{name}": name.encode() * 3 for name in ("de.res", "translit/root_de.res")}
    (tmp_path / "all.dat").write_bytes(icu_data(items))
    (tmp_path / "data.s").write_text('.section .rodata\n.globl icudt76_dat\nicudt76_dat:\n.incbin "all.dat"\n')
    made = "icu_packaged_data.cpp.o"
    for command in (f"{binutils}as -o {made} data.s", f"{binutils}ar rc ICU.a {made}"):
        subprocess.run(command.split(), check=True, cwd=tmp_path)
    run("tools/packaging/trim-icu", tmp_path, "--archive", tmp_path / "ICU.a", "--binutils", binutils)
    data = tmp_path / "part.dat"
    run(f"{binutils}objcopy", "-O", "binary", "--only-section", ".rodata", tmp_path / "icudata.o", data)
    assert list(icu_items(data.read_bytes())) == ["icudt76l/de.res"]
    assert " R icudt76_dat" in run(f"{binutils}nm", tmp_path / "icudata.o")


DEBIAN12_CHECK = r"""
#include <stdio.h>
#include <string.h>

long __isoc23_strtol(const char *, char **, int);
long long __isoc23_strtoll(const char *, char **, int);
unsigned long __isoc23_strtoul(const char *, char **, int);
unsigned long long __isoc23_strtoull(const char *, char **, int);
int __isoc23_sscanf(const char *, const char *, ...);
size_t strlcpy(char *, const char *, size_t);
size_t strlcat(char *, const char *, size_t);

int main(void) {
    char *end, text[6] = "?????";
    int number = 0;
    printf("%ld ", __isoc23_strtol("-12x", &end, 10));
    printf("%s ", end);
    printf("%lld %lu ", __isoc23_strtoll("0x10", NULL, 0), __isoc23_strtoul("77", NULL, 8));
    printf("%llx ", __isoc23_strtoull("ffffffffffffffff", NULL, 16));
    printf("%d ", __isoc23_sscanf("7 door", "%d", &number));
    printf("%d\n", number);
    // The whole text is counted, and what does not fit is cut off. A size of nothing writes nothing.
    printf("%zu %s ", strlcpy(text, "abc", sizeof text), text);
    printf("%zu %s ", strlcat(text, "defg", sizeof text), text);
    printf("%zu %s ", strlcpy(text, "123456789", sizeof text), text);
    printf("%zu %s ", strlcpy(text, "xyz", 0), text);
    printf("%zu %s\n", strlcat(text, "xyz", 3), text);
    return 0;
}
"""


def test_what_debian_12_lacks_for_swift_on_arm_works(tmp_path: Path) -> None:
    """Compiled for this machine here: the source is the same. It stands before the functions of a later glibc."""
    (tmp_path / "check.c").write_text(DEBIAN12_CHECK)
    source = ROOT / "tools/packaging/arm64/debian12.c"
    options = ["-O1", "-fno-builtin", "-Wall", "-Werror"]
    run("cc", *options, "-o", tmp_path / "check", tmp_path / "check.c", source, "-lstdc++")
    assert run(tmp_path / "check").splitlines() == [
        "-12 x 16 63 ffffffffffffffff 1 7",
        "3 abc 7 abcde 9 12345 3 12345 6 12345",
    ]


def test_data_of_icu_that_the_gateway_uses_is_kept() -> None:
    loader = SourceFileLoader("trim_icu", str(ROOT / "tools/packaging/trim-icu"))
    trim = types.ModuleType(loader.name)
    loader.exec_module(trim)
    kept = ["coll/root.res", "coll/ucadata.icu", "de.res", "en.res", "zone/en_US.res", "zoneinfo64.res"]
    left_out = ["coll/de.res", "ibm-964_P110-1999.cnv", "translit/root_de.res", "zone/de.res"]
    items = {f"icudt76l/{name}": name.encode() * 3 for name in sorted(kept + left_out)}
    found = icu_items(trim.trimmed(icu_data(items)))
    assert list(found) == [f"icudt76l/{name}" for name in kept]
    assert all(found[name].startswith(items[name]) for name in found)
