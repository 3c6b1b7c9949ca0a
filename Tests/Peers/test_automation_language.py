"""What the compiler takes of the language in which apps write automations: operators depend on the attribute's type."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import GoogleHomeSDK
import GoogleHomeTypes

@MainActor func draft(_ structure: Structure, _ device: HomeDevice) -> any DraftAutomation {{
    automation {{
        let temperature = starter(device, TemperatureSensorDeviceType.self, Matter.TemperatureMeasurementTrait.self)
        let light = stateReader(device, OnOffLightDeviceType.self, Matter.OnOffTrait.self)
        let time = stateReader(structure, Google.TimeTrait.self)
        let presence = stateReader(structure, Google.AreaPresenceStateTrait.self)
        temperature
        light
        time
        presence
        {line}
    }}
}}
"""

GOOD = [
    "condition { temperature.measuredValue.lessThan(1555) }",
    "condition { temperature.measuredValue.between(0, 2_000) }",
    "condition { light.onOff.equals(true).and(light.onOff.notEquals(false)).not() }",
    "condition { time.currentTime.between(time.sunsetTime, time.sunriseTime) }",
    "condition(for: .seconds(60)) { presence.presenceState.equals(.presenceStateVacant) }",
]
BAD = [
    ('condition { temperature.measuredValue.lessThan("warm") }', "lessThan"),
    ("condition { temperature.measuredValue.equals(true) }", "Int16"),
    ("condition { temperature.measuredValue.lessThan(light.onOff) }", "lessThan"),
    ("condition { light.onOff.equals(1) }", "Bool"),
    ("condition { time.currentTime.lessThan(8) }", "lessThan"),
    ("condition { presence.presenceState.equals(.presenceStateAsleep) }", "presenceStateAsleep"),
    ("condition { temperature.measuredValue }", "Bool"),
    ("condition { light.brightness.equals(1) }", "brightness"),
    ("condition { light.onOff.and(temperature.measuredValue) }", "Bool"),
    ("action(device, OnOffLightDeviceType.self) { 7 }", "action"),
]


def compiled(build: Path, folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Compiles the program with a line in it, against the modules of the build."""
    source = folder / "draft.swift"
    source.write_text(PROGRAM.format(line=line))
    maps = [
        *build.glob("*.build/module.modulemap"),
        *ROOT.glob(".build/checkouts/*/Sources/*/include/module.modulemap"),
    ]
    flags = [flag for one in maps for flag in ("-Xcc", f"-fmodule-map-file={one}")]
    modules = build / "Modules"
    assert (modules / "GoogleHomeSDK.swiftmodule").exists(), "the library has not been built: swift build --build-tests"
    return subprocess.run(
        ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules, *flags, source],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize("line", GOOD)
def test_what_fits_the_attribute_compiles(binary: Path, tmp_path: Path, line: str) -> None:
    done = compiled(binary.parent, tmp_path, line)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("line", "word"), BAD)
def test_what_does_not_fit_the_attribute_does_not_compile(binary: Path, tmp_path: Path, line: str, word: str) -> None:
    done = compiled(binary.parent, tmp_path, line)
    assert done.returncode != 0
    errors = [one for one in done.stderr.splitlines() if "error:" in one]
    # The line itself is wrong, and nothing around it.
    number = PROGRAM.format(line=line).splitlines().index(f"        {line}") + 1
    assert any(f"draft.swift:{number}:" in one for one in errors), done.stderr
    assert word in done.stderr, done.stderr
