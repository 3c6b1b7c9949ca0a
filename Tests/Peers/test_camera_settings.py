"""The settings of an ONVIF camera: night vision, dynamic range, rotation and loudspeaker, read and written by apps.

The camera is the device simulator. An ONVIF client library checks it, and ONVIF's own schema checks what the gateway
sends.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onvif
import pytest
from lxml import etree
from peers.client import Answer
from peers.coroutines import run
from peers.gateway import Gateway
from peers.onvif_camera import PASSWORD, USER, ONVIFCamera
from peers.polling import PATIENCE, eventually
from peers.shell import Shell
from test_onvif import doorbell, subscribed

SETTINGS = "/v1/devices/door/traits/CameraAvStreamManagement"
NAMES = ("nightVision", "hdrModeEnabled", "imageRotation", "speakerVolumeLevel")
READ = {
    "imaging.wsdl": {"GetOptions", "GetImagingSettings", "SetImagingSettings"},
    "media.wsdl": {
        "GetProfiles", "GetVideoSourceConfiguration", "GetVideoSourceConfigurationOptions",
        "GetAudioOutputConfiguration", "GetAudioOutputConfigurations", "GetAudioOutputConfigurationOptions",
    },
}  # fmt: skip
WSDL = Path(onvif.__file__).parent / "wsdl"
FIRST = {"nightVision": "auto", "hdrModeEnabled": False, "imageRotation": 0, "speakerVolumeLevel": 40}
XS = "{http://www.w3.org/2001/XMLSchema}"


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[ONVIFCamera]:
    running = ONVIFCamera(tmp_path, "--imaging", "--degrees", "90,180,270", "--speaker")
    yield running
    running.stop()


@pytest.fixture
def house(binary: Path, camera: ONVIFCamera, tmp_path: Path) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path, [doorbell(camera)])
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def settings(house: Gateway) -> dict[str, Any]:
    trait = house.client.get(SETTINGS)
    return {name: trait[name] for name in NAMES if name in trait}


def wait_for(house: Gateway, **expected: Any) -> None:
    eventually(lambda: settings(house) == expected, f"the settings are {expected}")


def write(house: Gateway, **values: Any) -> Answer:
    return house.client.request("PATCH", SETTINGS, json.dumps(values), {"Content-Type": "application/json"})


def check_against_schema(wsdl: str, request: str) -> None:
    """Checks a request's body against the schema inside a WSDL file of ONVIF."""
    types = etree.parse(str(WSDL / wsdl)).find(f".//{XS}schema")
    schema = etree.XMLSchema(etree.fromstring(etree.tostring(types), base_url=str(WSDL / wsdl)))
    schema.assertValid(etree.fromstring(request))


def test_the_simulator_has_an_imaging_service(camera: ONVIFCamera) -> None:
    """A client library with ONVIF's own WSDL files reads and writes what the simulator keeps."""

    async def talk() -> None:
        device = onvif.ONVIFCamera("127.0.0.1", camera.port, USER, PASSWORD)
        await device.update_xaddrs()
        media = await device.create_media_service()
        lens = (await media.GetProfiles())[0].VideoSourceConfiguration
        imaging = await device.create_imaging_service()
        options = await imaging.GetOptions({"VideoSourceToken": lens.SourceToken})
        assert options.IrCutFilterModes == ["ON", "OFF", "AUTO"] and options.WideDynamicRange.Mode == ["OFF", "ON"]
        await imaging.SetImagingSettings(
            {"VideoSourceToken": lens.SourceToken, "ImagingSettings": {"IrCutFilter": "OFF"}}
        )
        settings = await imaging.GetImagingSettings({"VideoSourceToken": lens.SourceToken})
        assert settings.IrCutFilter == "OFF" and settings.WideDynamicRange.Mode == "OFF"
        await media.GetVideoSourceConfigurationOptions({"ConfigurationToken": lens.token})
        await media.GetVideoSourceConfiguration({"ConfigurationToken": lens.token})
        horn = (await media.GetAudioOutputConfigurations())[0]
        options = await media.GetAudioOutputConfigurationOptions({"ConfigurationToken": horn.token})
        assert (horn.OutputLevel, options.OutputLevelRange.Max) == (40, 100)
        horn.OutputLevel = 70
        await media.SetAudioOutputConfiguration({"Configuration": horn, "ForcePersistence": True})
        assert (await media.GetAudioOutputConfiguration({"ConfigurationToken": horn.token})).OutputLevel == 70
        await device.close()

    run(talk)
    # The library loses some of the extensions; the schema knows them.
    for operation, answer in camera.state["answers"].items():
        if service := next((name for name, operations in READ.items() if operation in operations), None):
            check_against_schema(service, etree.tostring(etree.fromstring(answer)[0], encoding="unicode"))


def test_settings_are_read_and_written(camera: ONVIFCamera, house: Gateway, binary: Path, tmp_path: Path) -> None:
    subscribed(house)
    wait_for(house, **FIRST)
    answer = write(house, nightVision="on", imageRotation=90)
    assert answer.status == 200, answer.text
    assert {name: answer.json[name] for name in NAMES} == {
        "nightVision": "on", "hdrModeEnabled": False, "imageRotation": 90, "speakerVolumeLevel": 40,
    }  # fmt: skip
    image = camera.state["image"]
    # The filter keeps infrared light out, so it is off while the camera sees in the dark.
    assert (image["filter"], image["wide"], image["rotate"], image["degree"]) == ("OFF", "OFF", "ON", 90)
    requests = camera.state["requests"]
    check_against_schema("imaging.wsdl", requests["SetImagingSettings"])
    check_against_schema("media.wsdl", requests["SetVideoSourceConfiguration"])
    assert "WideDynamicRange" not in requests["SetImagingSettings"]

    # The same by the command line, and by the other values.
    command = [str(binary), "device", "set", "door", "--config", str(tmp_path / "gatehouse.yaml")]
    result = subprocess.run(
        [*command, "nightVision=off", "hdrModeEnabled=true", "imageRotation=0", "speakerVolumeLevel=100"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert settings(house) == {
        "nightVision": "off", "hdrModeEnabled": True, "imageRotation": 0, "speakerVolumeLevel": 100,
    }  # fmt: skip
    image = camera.state["image"]
    assert (image["filter"], image["wide"], image["rotate"], image["level"]) == ("ON", "ON", "OFF", 100)
    check_against_schema("imaging.wsdl", camera.state["requests"]["SetImagingSettings"])
    check_against_schema("media.wsdl", camera.state["requests"]["SetVideoSourceConfiguration"])
    check_against_schema("media.wsdl", camera.state["requests"]["SetAudioOutputConfiguration"])
    trait = house.client.get(SETTINGS)
    assert (trait["speakerMinLevel"], trait["speakerMaxLevel"]) == (1, 100)
    assert trait["supportedNightVisionModes"] == ["off", "on", "auto"]
    assert trait["supportedImageRotations"] == [0, 90, 180, 270]
    assert '"code":135' in write(house, speakerVolumeLevel=0).text.replace(" ", "")


def test_the_command_line_says_what_a_setting_can_be(camera: ONVIFCamera, house: Gateway, binary: Path) -> None:
    wait_for(house, **FIRST)
    eventually(lambda: "microphoneMuted" in house.client.get(SETTINGS), "the camera's sound is known")
    shell = Shell(binary, house.config)
    shown = shell.words("device", "show", "door")
    assert "nightVision = auto  (can be set)" in shown
    assert "supportedNightVisionModes = [off, on, auto]" in shown
    assert "supportedImageRotations = [0, 90, 180, 270]" in shown
    shell.words("device", "set", "door", "nightVision=on", "hdrModeEnabled=yes", "speakerVolumeLevel=50%")
    wait_for(house, nightVision="on", hdrModeEnabled=True, imageRotation=0, speakerVolumeLevel=50)
    # The range begins at 1.
    shell.words("device", "set", "door", "speakerVolumeLevel=0%", "microphoneMuted=on")
    wait_for(house, nightVision="on", hdrModeEnabled=True, imageRotation=0, speakerVolumeLevel=1)
    assert house.client.get(SETTINGS)["microphoneMuted"] is True
    before = camera.state["requests"]
    for values, words in (
        (["nightVision=dim"], "nightVision: expected one of off, on, auto"),
        (["imageRotation=45"], "only these values of imageRotation: 0, 90, 180, 270"),
        (["imageRotation=left"], "imageRotation: expected a number"),
        (["speakerVolumeLevel=101"], "only these values of speakerVolumeLevel: 1 to 100"),
        (["speakerVolumeLevel=120%"], "expected 0% to 100%"),
        (["hdrModeEnabled=perhaps"], "hdrModeEnabled: expected true or false"),
        (["statusLightEnabled=true"], "nightVision"),
        (["supportedImageRotations=[0]"], "imageRotation"),
        # The second of them is refused, so the first is not changed either.
        (["nightVision=off", "imageRotation=45"], "nothing was changed"),
    ):
        assert words in shell.error("device", "set", "door", *values), values
    assert camera.state["requests"] == before
    camera.set_image(fault="ter:InvalidArgVal/ter:SettingsInvalid")
    assert "the camera's setting was not changed" in shell.error("device", "set", "door", "nightVision=off")


def test_what_the_camera_does_not_offer_is_refused(binary: Path, tmp_path: Path) -> None:
    camera = ONVIFCamera(tmp_path, "--imaging", "--filters", "ON,AUTO", "--auth", "digest")
    gateway = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        wait_for(gateway, nightVision="auto", hdrModeEnabled=False)
        trait = gateway.client.get(SETTINGS)
        assert trait["supportedNightVisionModes"] == ["off", "auto"] and "supportedImageRotations" not in trait
        for values, status, code in (
            ({"nightVision": "on"}, 0x87, "INVALID_ARGUMENT"), ({"imageRotation": 180}, 0x86, "INVALID_ARGUMENT"),
            ({"imageFlipVertical": True}, 0x86, "INVALID_ARGUMENT"),
        ):  # fmt: skip
            error = write(gateway, **values)
            assert error.status == 400 and error.json["error"]["status"] == code, error.text
            assert f'"code":{status}' in error.text.replace(" ", ""), error.text
        assert camera.state["requests"] == {}
    finally:
        gateway.stop()
        camera.stop()


def test_a_camera_without_imaging_has_no_such_settings(binary: Path, tmp_path: Path) -> None:
    camera = ONVIFCamera(tmp_path, "--old")
    gateway = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        subscribed(gateway)
        eventually(
            lambda: "GetVideoSourceConfigurationOptions" in camera.state["answers"], "the camera has answered about it"
        )
        assert write(gateway, nightVision="on").status == 400
        assert settings(gateway) == {}
    finally:
        gateway.stop()
        camera.stop()


def test_what_the_camera_refuses_changes_nothing(camera: ONVIFCamera, house: Gateway) -> None:
    wait_for(house, **FIRST)
    for fault, status in (("ter:InvalidArgVal/ter:SettingsInvalid", 400), ("ter:ActionNotSupported", 501)):
        camera.set_image(fault=fault)
        answer = write(house, nightVision="off", softRecordingPrivacyModeEnabled=True)
        assert answer.status == status, answer.text
        assert "refused" in answer.json["error"]["message"]
        assert house.client.get(SETTINGS)["softRecordingPrivacyModeEnabled"] is False
    camera.set_image(fault=None)
    assert write(house, nightVision="off").status == 200
    camera.stop()
    away = write(house, nightVision="auto")
    assert away.status == 503, away.text


def test_settings_are_read_again_when_the_camera_is_back(camera: ONVIFCamera, house: Gateway) -> None:
    wait_for(house, **FIRST)
    assert write(house, nightVision="off", hdrModeEnabled=True, imageRotation=270).status == 200
    # The restarted simulator has its first settings again, as after a reset.
    camera.restart()
    wait_for(house, **FIRST)
