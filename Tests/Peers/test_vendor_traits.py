"""A vendor outside this package declares traits: tools/generate-traits with folders of its own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "Sources/Testing/ExampleOrganization"


def generate(*arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "tools/generate-traits", *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    """A copy of the example's data files, without what was generated from them."""
    for folder in ("Traits", "Types"):
        shutil.copytree(EXAMPLE / folder, tmp_path / "vendor" / folder)
    return tmp_path / "vendor"


def change(path: Path, **members: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | members))


def test_the_example_is_what_its_data_files_say(vendor: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    result = generate("--vendor", vendor, "--output", output)
    assert result.returncode == 0, result.stderr
    expected = {path.name: path.read_text() for path in (EXAMPLE / "Generated").iterdir()}
    assert {path.name: path.read_text() for path in output.iterdir()} == expected
    assert generate("--vendor", vendor, "--output", output, "--check").returncode == 0


def test_a_change_is_noticed_and_old_files_go(vendor: Path) -> None:
    assert generate("--vendor", vendor).returncode == 0
    (vendor / "Traits/OnOff.json").unlink()
    change_types(vendor, optionalTraits=["OnOff"])
    mine = vendor / "Generated/Mine.swift"
    mine.write_text("// Written by hand.\n")
    check = generate("--vendor", vendor, "--check")
    assert check.returncode == 1
    assert "ExampleOrganization.OnOffTrait.swift does not match" in check.stderr
    assert generate("--vendor", vendor).returncode == 0
    names = {path.name for path in (vendor / "Generated").iterdir()}
    assert "ExampleOrganization.OnOffTrait.swift" not in names
    assert "Mine.swift" in names


def test_a_page_describes_the_traits(vendor: Path, tmp_path: Path) -> None:
    page = tmp_path / "pages/traits.md"
    assert generate("--vendor", vendor, "--page", page).returncode == 0
    assert "## ExampleOrganization.Spinner" in page.read_text()
    assert "WebRtcLiveView" not in page.read_text()


def change_types(vendor: Path, **members: object) -> None:
    path = vendor / "Types/spinner.json"
    types = json.loads(path.read_text())
    types["deviceTypes"][0] |= members
    path.write_text(json.dumps(types))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"namespace": "Google"}, "the namespace Google is the project's; choose one of your own"),
        ({"namespace": "no name"}, "the namespace no name cannot be the name of a Swift type"),
        ({"identifier": "home.matter.6006.clusters.fc10"}, "the vendor number 6006 is the project's; use your own"),
        ({"identifier": "spinner"}, "spinner is not home.matter.<vendor>.clusters.<cluster>"),
        ({"attributes": [{"name": "rpm", "id": 0, "type": "rounds", "summary": "-"}]}, "rounds, which is not declared"),
        (
            {"cloudToCloud": [{"trait": "x", "states": [{"name": "y", "from": "z"}]}]},
            "does not have z among its attributes",
        ),
        ({"colour": "red"}, "colour is not known"),
    ],
)
def test_a_mistake_is_named(vendor: Path, members: dict, message: str) -> None:
    change(vendor / "Traits/Spinner.json", **members)
    result = generate("--vendor", vendor)
    assert result.returncode == 1
    assert message in result.stderr
    assert not (vendor / "Generated").exists()


def test_a_type_that_needs_an_unknown_trait_is_refused(vendor: Path) -> None:
    change_types(vendor, requiredTraits=["ExampleOrganization.Spinner", "Nothing"])
    result = generate("--vendor", vendor)
    assert result.returncode == 1
    assert "SpinnerDeviceType: the trait Nothing has no file" in result.stderr


def test_the_folder_of_a_vendor_has_to_be_there(tmp_path: Path) -> None:
    result = generate("--vendor", tmp_path / "nothing")
    assert result.returncode == 1
    assert "no trait is in Traits" in result.stderr
    assert generate("--output", tmp_path).returncode == 2
