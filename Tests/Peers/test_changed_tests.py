"""What tools/test --changed chooses."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from peers import scripts

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def chooser() -> ModuleType:
    return scripts.load("changed-tests")


def target(name: str, path: str, *dependencies: str, kind: str = "regular") -> dict[str, Any]:
    return {
        "name": name,
        "path": path,
        "type": kind,
        "dependencies": [{"byName": [one, None]} for one in dependencies] + [{"product": ["NIOCore", "swift-nio"]}],
    }


TARGETS = [
    target("SDP", "Sources/Wire/SDP"),
    target("SDPX", "Sources/Wire/SDPX"),
    target("Clocks", "Sources/Media/Clocks"),
    target("Signalling", "Sources/Services/Signalling", "SDP"),
    target("SDPTests", "Tests/SDPTests", "SDP", kind="test"),
    target("SignallingTests", "Tests/SignallingTests", "Signalling", "Clocks", kind="test"),
    target("GatewayTests", "Tests/GatewayTests", "Signalling", "SDP", kind="test"),
]


def test_a_module_is_tested_by_its_tests_or_by_those_that_name_it(chooser: ModuleType) -> None:
    assert chooser.swift_tests(["Sources/Wire/SDP/Parser.swift"], TARGETS) == {"SDPTests"}
    assert chooser.swift_tests(["Sources/Media/Clocks/A.swift"], TARGETS) == {"SignallingTests"}
    assert chooser.swift_tests(["Tests/SignallingTests/A.swift", "README.md"], TARGETS) == {"SignallingTests"}
    assert chooser.swift_tests(["Sources/Wire/SDPX/A.swift"], TARGETS) == set()
    assert chooser.swift_tests(["Package.swift"], TARGETS) == {"SDPTests", "SignallingTests", "GatewayTests"}


def test_a_shared_part_of_the_peer_tests_is_tested_by_those_that_import_it(chooser: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "peers").mkdir()
    for name, text in {
        "peers/low.py": "",
        "peers/high.py": "from .low import A\nfrom . import other as another\n",
        "peers/other.py": "from .high import B\n",
        "test_low.py": "from peers.low import A\n",
        "test_high.py": "from peers import high\n",
        "test_neither.py": "import json\n",
    }.items():
        (tmp_path / name).write_text(text)
    uses = chooser.imports(tmp_path)
    assert chooser.peer_tests(["Tests/Peers/peers/low.py"], uses) == {"test_low.py", "test_high.py"}
    assert chooser.peer_tests(["Tests/Peers/peers/other.py"], uses) == {"test_high.py"}
    assert chooser.peer_tests(["Tests/Peers/test_neither.py", "docs/README.md"], uses) == {"test_neither.py"}


def test_the_longest_matching_place_chooses_the_peer_tests(chooser: ModuleType) -> None:
    assert chooser.peer_tests(["Sources/Media/Cameras/ONVIF/ONVIFClient.swift"], {}) == {"test_onvif.py"}
    assert chooser.peer_tests(["Sources/Media/Cameras/RTSP/RTSPSource.swift"], {}) == {"test_transports.py"}
    assert chooser.peer_tests(["Sources/Testing/fuzz/Fuzz.swift"], {}) == set()
    # Every test that is named exists.
    for tests in chooser.SHOWN_BY.values():
        assert all((ROOT / "Tests/Peers" / test).is_file() for test in tests), tests


def test_files_are_checked_by_what_they_are(chooser: ModuleType) -> None:
    lines = {"tools/test": "#!/usr/bin/env bash\n", "tools/bench-loss": "#!/usr/bin/env python3\n", "LICENSE": "Apache"}
    assert chooser.checks(["a/B.swift", *lines], lines) == {"swift", "imports", "shell", "python", "annotations"}
    assert chooser.checks(["page/page.css"], {}) == {"css"}
    assert chooser.checks(["page/types.d.ts"], {}) == {"types"}
    assert chooser.checks(["page/tsconfig.json", ".mypy.ini"], {}) == {"types", "annotations"}
    assert chooser.checks(["page/app.js", "page/index.html", "openapi.yaml"], {}) == {
        "javascript",
        "types",
        "html",
        "openapi",
    }
