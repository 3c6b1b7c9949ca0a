"""The home's vocabulary: what follows from it is up to date, and a trait is added with one file and one command."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "tools/generate-traits"
HOME_TYPES = Path("Sources/Wire/HomeTypes")
CLOUD = Path("Sources/Home/CloudToCloud/Generated/CloudMappings.swift")

# A trait with every kind of type and constraint.
LAMP = {
    "name": "Lamp",
    "namespace": "Google",
    "identifier": "home.matter.6006.clusters.fcf0",
    "summary": "A lamp of the tests.",
    "source": "The tests.",
    "enums": [{"name": "Mood", "summary": "A mood.", "values": [{"name": "warm", "number": 0}]}],
    "bitmaps": [
        {
            "name": "Features",
            "summary": "Features.",
            "values": [{"name": "dimming", "number": 0}, {"name": "color", "number": 3}],
        }
    ],
    "structs": [
        {
            "name": "Step",
            "summary": "A step.",
            "fields": [
                {"name": "level", "id": 0, "type": "uint8", "minimum": 1, "maximum": 254, "summary": "The level."},
                {"name": "label", "id": 1, "type": "string", "nullable": True, "summary": "A label."},
                {
                    "name": "delay",
                    "id": 2,
                    "type": "uint16",
                    "optional": True,
                    "nullable": True,
                    "minimum": 5,
                    "summary": "A delay.",
                },
            ],
        }
    ],
    "attributes": [
        {"name": "features", "id": 0, "type": "Features", "readOnly": True, "summary": "Features."},
        {"name": "mood", "id": 1, "type": "Mood", "nullable": True, "summary": "The mood."},
        {"name": "steps", "id": 2, "type": "list<Step>", "minLength": 1, "maxLength": 8, "summary": "The steps."},
    ],
    "commands": [
        {
            "name": "play",
            "id": 0,
            "summary": "Plays steps.",
            "parameters": [
                {"name": "first", "id": 0, "type": "Step", "summary": "The first step."},
                {"name": "options", "id": 1, "type": "Features", "default": 0, "summary": "How to play them."},
                {"name": "mood", "id": 2, "type": "Mood", "default": "warm", "summary": "The mood."},
                {"name": "pause", "id": 3, "type": "uint8", "nullable": True, "default": None, "summary": "A pause."},
            ],
            "result": [{"name": "seconds", "id": 0, "type": "double", "summary": "The time it takes."}],
        }
    ],
    "events": [
        {
            "name": "Played",
            "id": 0,
            "summary": "It has played.",
            "fields": [{"name": "count", "id": 0, "type": "int64", "summary": "How many steps."}],
        }
    ],
    "cloudToCloud": [
        {
            "trait": "action.devices.traits.Modes",
            "states": [{"name": "mood", "from": "mood"}],
            "commands": [
                {
                    "name": "action.devices.commands.SetModes",
                    "steps": [{"write": {"mood": {"from": "mood"}}}],
                }
            ],
        }
    ],
}


@pytest.fixture
def project(tmp_path):
    """A copy of what the generator reads and writes."""
    for part in [HOME_TYPES, CLOUD, Path("docs/traits.md"), Path("Sources/App/WebFiles/openapi.yaml")]:
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tmp_path / part)
    return tmp_path


def generate(project, *options):
    return subprocess.run([GENERATOR, "--root", project, *options], capture_output=True, text=True)


def typechecked(project):
    """Has the compiler check each file of the vocabulary that the generator has changed, beside all others. Those that
    it has not changed are what the build compiles."""
    files = sorted((project / HOME_TYPES).rglob("*.swift"))

    def is_changed(file):
        original = ROOT / file.relative_to(project)
        return not original.exists() or original.read_bytes() != file.read_bytes()

    changed = [file for file in files if is_changed(file)]
    assert {"Google.LampTrait.swift", "Vocabulary.swift"} <= {file.name for file in changed}
    given = [word for file in files for word in (["-primary-file", file] if file in changed else [file])]
    options = ["-typecheck", "-swift-version", "6", "-package-name", "gatehouse"]
    return subprocess.run(["swiftc", "-frontend", *options, *given], capture_output=True, text=True)


def add(project, trait):
    (project / HOME_TYPES / "Traits" / f"{trait['name']}.json").write_text(json.dumps(trait))


def test_the_generated_files_match_the_vocabulary(project):
    checked = generate(project, "--check")
    assert checked.returncode == 0, checked.stderr


def test_a_trait_is_added_with_one_file_and_one_command(project):
    add(project, LAMP)
    assert generate(project, "--check").returncode == 1
    assert generate(project).returncode == 0
    assert generate(project, "--check").returncode == 0
    assert (project / HOME_TYPES / "Generated/Google.LampTrait.swift").exists()
    assert "LampTrait" in (project / HOME_TYPES / "Generated/Vocabulary.swift").read_text()
    assert "## Lamp" in (project / "docs/traits.md").read_text()
    document = (project / "Sources/App/WebFiles/openapi.yaml").read_text()
    assert 'Lamp: {"$ref": "#/components/schemas/Lamp"}' in document and "- play" in document
    compiled = typechecked(project)
    assert compiled.returncode == 0, compiled.stderr
    assert '"Lamp": #"[{"trait":"action.devices.traits.Modes"' in (project / CLOUD).read_text()
    # Without its file the trait is gone again.
    (project / HOME_TYPES / "Traits/Lamp.json").unlink()
    assert generate(project).returncode == 0
    assert not (project / HOME_TYPES / "Generated/Google.LampTrait.swift").exists()


def test_a_declared_trait_names_the_one_that_devices_have_instead(project):
    """Cameras have Matter's cluster 0x0555 under the name that the Home APIs give it."""
    page = project / "docs/traits.md"
    assert "declared only; devices have `Google.PushAvStreamTransportTrait` |" in page.read_text()
    assert "same attributes, commands and events as `Google.PushAvStreamTransportTrait`." in page.read_text()
    # Where nothing feeds that one either, there is nothing to name.
    file = project / HOME_TYPES / "Traits/PushAvStreamTransport.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"isFed": False}))
    assert generate(project).returncode == 0
    assert "declared only; devices have" not in page.read_text()


def test_a_trait_that_is_like_another_has_its_members_as_well(project):
    add(project, LAMP)
    more = {"name": "level", "id": 3, "type": "uint8", "summary": "The level."}
    member = {"name": "color", "id": 3, "type": "uint8", "optional": True, "summary": "The colour."}
    like = {
        "name": "Lantern",
        "namespace": "Google",
        "identifier": "home.matter.6006.clusters.fcf1",
        "summary": "A lantern of the tests.",
        "source": "The tests.",
        "like": "Lamp",
        "structs": [{"name": "Step", "summary": "A step of a lantern.", "fields": [member]}],
        "attributes": [more],
    }
    add(project, like)
    generated = generate(project)
    assert generated.returncode == 0, generated.stderr
    text = (project / HOME_TYPES / "Generated/Google.LanternTrait.swift").read_text()
    for line in (
        "@Attribute public var mood: Mood?",
        "@Attribute public var level: UInt8?",
        "/// A step of a lantern.",
        "public var delay: UInt16??",
        "public var color: UInt8?",
        "public struct PlayCommand: Command {",
    ):
        assert line in text, line
    # What it is in cloud-to-cloud is its own.
    assert '"Lantern"' not in (project / CLOUD).read_text()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"identifier": "home.matter.6006.clusters.fc51"}, "identifier occurs twice"),
        ({"identifier": "lamp"}, "is not home.matter.<vendor>.clusters.<cluster>"),
        ({"namespace": "Nobody"}, "the namespace Nobody is not known; Matter and Google are"),
        ({"cloudToCloud": [{"states": []}]}, "missing 1 required positional argument: 'trait'"),
        ({"cloudToCloud": [{"trait": "x", "types": ["Lamp"]}]}, "the device type Lamp is not declared"),
        ({"cloudToCloud": [{"trait": "x", "unlessTrait": "Sun"}]}, "the trait Sun has no file"),
        (
            {"cloudToCloud": [{"trait": "x", "commands": [{"name": "y", "steps": [{"send": "z"}]}]}]},
            "Lamp does not have z among its commands",
        ),
        (
            {"cloudToCloud": [{"trait": "x", "commands": [{"name": "y", "handler": "z"}]}]},
            "the handler z is not known",
        ),
        (
            {"cloudToCloud": [{"trait": "x", "computed": [{"name": "y", "value": 1, "convert": {}}]}]},
            "a conversion has exactly one form",
        ),
        (
            {
                "commands": [
                    {
                        "name": "a",
                        "id": 0,
                        "summary": "",
                        "parameters": [
                            {"name": "b", "id": 0, "type": "bool", "optional": True, "default": True, "summary": ""}
                        ],
                    }
                ]
            },
            "b is optional, so it cannot have a default",
        ),
        ({"nme": "x"}, "nme is not known"),
        ({"like": "Sun"}, "the trait Sun that it is like has no file"),
        ({"like": "Pm10ConcentrationMeasurement"}, "is like another trait itself"),
        ({"attributes": [{"name": "a", "id": 0, "type": "Colour", "summary": ""}]}, "which is not declared"),
        (
            {"attributes": [{"name": "a", "id": 0, "type": "uint8", "maximum": 256, "summary": ""}]},
            "does not fit into uint8",
        ),
        ({"attributes": [{"name": "a", "id": 0, "type": "bool", "minimum": 1, "summary": ""}]}, "not a whole number"),
        ({"attributes": [{"name": "a", "id": 0, "type": "bool"}]}, "summary"),
        (
            {"structs": [{"name": "Clock", "summary": "", "end": "hour", "fields": []}]},
            "the end hour is not a field with a maximum",
        ),
        (
            {
                "structs": [
                    {
                        "name": "Clock",
                        "summary": "",
                        "end": "hour",
                        "fields": [
                            {"name": "hour", "id": 0, "type": "uint8", "maximum": 24, "summary": ""},
                            {"name": "minute", "id": 1, "type": "uint16", "summary": ""},
                        ],
                    }
                ]
            },
            "minute comes after the end hour and is not of its type",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_what_is_wrong(project, change, words):
    empty: dict[str, list[object]] = {
        key: [] for key in ("events", "commands", "structs", "attributes", "cloudToCloud")
    }
    add(project, LAMP | empty | change)
    refused = generate(project)
    assert refused.returncode == 1
    assert words in refused.stderr, refused.stderr
