"""Cameras' events by ONVIF and webhook, from a device simulator that an ONVIF client library has checked."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import onvif
import pytest
import zeep.exceptions
from peers import rtsp_cameras as rtsp
from peers.coroutines import run
from peers.event_stream import EventStream
from peers.gateway import DOORBELL, Camera, Gateway
from peers.home_page import send
from peers.onvif_camera import CELL_MOTION, MOTION, PASSWORD, PEOPLE, USER, VISITOR, ONVIFCamera
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.rtsp_cameras import RTSPCameras

# Years behind: what a camera without a battery says after a power cut.
WRONG_CLOCK = str(-9 * 365 * 86_400)


class ONVIFGatewayCamera(Camera):
    """A doorbell whose events come by ONVIF and by webhook, and whose pictures do not matter."""

    device = ""
    password = PASSWORD

    def config(self) -> dict[str, Any]:
        return {
            **super().config(),
            "type": "doorbell",
            "webhook": True,
            "onvif": {"url": self.device, "username": USER, "password": self.password},
        }


def doorbell(camera: ONVIFCamera, id: str = "door", password: str = PASSWORD) -> ONVIFGatewayCamera:
    configured = ONVIFGatewayCamera(id)
    object.__setattr__(configured, "device", camera.url)
    object.__setattr__(configured, "password", password)
    return configured


def subscribed(gateway: Gateway, id: str = "door", within: float = PATIENCE) -> dict[str, Any]:
    def find() -> dict[str, Any] | None:
        source = gateway.client.get(f"/v1/devices/{id}").get("eventSource", {})
        return dict(source) if source.get("state") == "subscribed" else None

    return eventually(find, f"{id} is subscribed", within) or {}


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[ONVIFCamera]:
    # Its subscriptions live longer than a machine stands still: what is reported to none of them is lost.
    running = ONVIFCamera(tmp_path, "--clock-offset", WRONG_CLOCK, "--told-host", "10.255.0.9")
    yield running
    running.stop()


@pytest.fixture
def house(binary: Path, camera: ONVIFCamera, tmp_path: Path) -> Iterator[Gateway]:
    running = Gateway(binary, tmp_path, [doorbell(camera)])
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def test_the_simulator_is_an_onvif_device(tmp_path: Path) -> None:
    """A client library with ONVIF's own WSDL files reads what the simulator answers."""
    camera = ONVIFCamera(tmp_path)

    async def model(device: onvif.ONVIFCamera) -> str:
        await device.update_xaddrs()
        management = await device.create_devicemgmt_service()
        return str((await management.GetDeviceInformation())["Model"])

    async def talk() -> None:
        device = onvif.ONVIFCamera("127.0.0.1", camera.port, USER, PASSWORD)
        assert await model(device) == "Doorbell 3"
        media = await device.create_media_service()
        profiles = await media.GetProfiles()
        assert [profile.token for profile in profiles] == ["small", "large"]
        uri = await media.GetStreamUri(
            {"StreamSetup": {"Stream": "RTP-Unicast", "Transport": {"Protocol": "RTSP"}}, "ProfileToken": "large"}
        )
        assert uri.Uri == "rtsp://127.0.0.1:554/large"
        manager = await device.create_pullpoint_manager(timedelta(seconds=60), lambda: None)
        pullpoint = manager.get_service()
        seen = []
        for _ in range(4):
            answer = await pullpoint.PullMessages({"MessageLimit": 2, "Timeout": timedelta(seconds=1)})
            seen += [message.Topic._value_1 for message in answer.NotificationMessage]
        assert seen == [VISITOR, VISITOR, MOTION, MOTION]
        await manager.shutdown()
        await device.close()

        wrong = onvif.ONVIFCamera("127.0.0.1", camera.port, USER, "wrong")
        with pytest.raises((onvif.ONVIFError, zeep.exceptions.Fault), match="uthori"):
            await model(wrong)
        await wrong.close()

    try:
        run(talk)
        assert camera.state["counts"]["PullMessages"] >= 4
    finally:
        camera.stop()


def test_press_motion_and_person_arrive(camera: ONVIFCamera, house: Gateway, report: list[str]) -> None:
    source = subscribed(house)
    assert source["model"] == "Doorbell 3" and source["manufacturer"] == "Example"
    information = house.client.get("/v1/devices/door/traits/BasicInformation")
    assert (information["serialNumber"], information["softwareVersionString"]) == ("77", "1.2.3")
    assert (information["vendorName"], information["hardwareVersionString"]) == ("Example", "D3")
    stream = EventStream(house.client)
    # What was there before the subscription is not an event.
    assert house.client.get("/v1/devices/door/events")["events"] == []

    start = time.monotonic()
    camera.notify(VISITOR, True)
    press = stream.wait_for("DoorbellPressed")
    report.append(f"ONVIF press to event stream: {(time.monotonic() - start) * 1000:.0f} ms")
    assert press.data["deviceID"] == house.client.device_id("door")
    for _ in range(5):
        camera.notify(VISITOR, True)
    camera.notify(MOTION, True)
    camera.notify(CELL_MOTION, True, item="IsMotion")
    camera.notify(PEOPLE, True)
    began = stream.wait_for("Motion", phase="began")
    assert began.data["trait"] == "CameraMotion"
    at_camera = datetime.fromisoformat(began.data["cameraTimestamp"])
    assert datetime.now(UTC) - at_camera > timedelta(days=8 * 365)
    stream.wait_for("Person", phase="began")
    assert house.client.get("/v1/devices/door")["activeDetections"] == ["motion", "person"]
    for topic, item in ((MOTION, "State"), (CELL_MOTION, "IsMotion"), (PEOPLE, "State")):
        camera.notify(topic, False, item=item)
    ended = stream.wait_for("Motion", phase="ended")
    assert ended.data["eventSessionId"] == began.data["eventSessionId"]
    stream.wait_for("Person", phase="ended")
    # One press, however often the camera said it, and one stay, though two rules saw it.
    assert len(stream.named("DoorbellPressed")) == 1
    assert len(stream.named("Motion")) == 2
    kept = house.client.get("/v1/devices/door/events")["events"]
    assert sorted(event["event"] for event in kept) == ["DoorbellPressed", "Motion", "Motion", "Person", "Person"]
    assert kept[-1]["event"] == "DoorbellPressed"
    stream.close()


@pytest.fixture
def forgetful_camera(tmp_path: Path) -> Iterator[ONVIFCamera]:
    """A machine that stalls for half of a lifetime costs a subscription of it."""
    running = ONVIFCamera(tmp_path, "--clock-offset", WRONG_CLOCK, "--lifetime", "16", "--told-host", "10.255.0.9")
    yield running
    running.stop()


def test_the_subscription_is_renewed_and_ended_politely(
    binary: Path, forgetful_camera: ONVIFCamera, tmp_path: Path
) -> None:
    camera = forgetful_camera
    gateway = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        subscribed(gateway)
        eventually(lambda: camera.state["counts"].get("Renew", 0) >= 3, "three renewals", every=0.5)
        counts = camera.state["counts"]
        assert counts["CreatePullPointSubscription"] < counts["Renew"]
        stream = EventStream(gateway.client)
        eventually(lambda: camera.notify(VISITOR, True) > 0, "the press is reported to a subscription")
        stream.wait_for("DoorbellPressed")
        stream.close()
        # The gateway also ends a subscription that has failed.
        before = camera.state["counts"].get("Unsubscribe", 0)
    finally:
        assert gateway.stop() == 0
    eventually(
        lambda: camera.state["counts"].get("Unsubscribe", 0) > before and camera.state["subscriptions"] == [],
        "it is ended",
    )


def test_a_restart_of_the_camera_is_survived(camera: ONVIFCamera, house: Gateway, report: list[str]) -> None:
    subscribed(house)
    stream = EventStream(house.client)
    camera.stop()

    def reason() -> str:
        source = house.client.get("/v1/devices/door")["eventSource"]
        return str(source.get("reason", "")) if source["state"] == "backingOff" else ""

    eventually(reason, "the failure is shown")
    start = time.monotonic()
    camera.restart()
    subscribed(house)
    report.append(f"ONVIF subscription after the camera's restart: {time.monotonic() - start:.1f} s")
    camera.notify(VISITOR, True)
    stream.wait_for("DoorbellPressed")
    stream.close()


@pytest.mark.parametrize("options", [("--auth", "digest"), ("--auth", "digest", "--chunked"), ("--old",)])
def test_other_firmware_works_too(binary: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    camera = ONVIFCamera(tmp_path, *options)
    gateway = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        subscribed(gateway)
        stream = EventStream(gateway.client)
        camera.notify(PEOPLE, True)
        stream.wait_for("Person", phase="began")
        stream.close()
    finally:
        gateway.stop()
        camera.stop()


def test_https_is_spoken_with_the_certificate_that_the_camera_made_itself(binary: Path, tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=camera", "-days", "1",
         "-out", str(certificate), "-keyout", str(key)],
        capture_output=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    camera = ONVIFCamera(tmp_path, "--tls", f"{certificate},{key}", "--lifetime", "6")
    gateway = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        subscribed(gateway)
        eventually(lambda: camera.state["counts"].get("Renew", 0) >= 1, "a renewal", every=0.5)
    finally:
        gateway.stop()
        camera.stop()


@pytest.mark.parametrize("auth", ["ws-security", "digest"])
def test_a_wrong_password_is_reported_and_never_printed(binary: Path, tmp_path: Path, auth: str) -> None:
    camera = ONVIFCamera(tmp_path, "--auth", auth)
    wrong = "not-The-password"
    gateway = Gateway(binary, tmp_path, [doorbell(camera, password=wrong)])
    try:

        def refusal() -> str:
            source = gateway.client.get("/v1/devices/door").get("eventSource", {})
            return str(source.get("reason", ""))

        reason = eventually(refusal, "the refusal is shown")
        assert "does not accept the user name and password" in reason
        # Cameras lock an account after a few attempts.
        pause = re.search(r"the next try is in (\d+) s", reason)
        assert pause is not None and int(pause.group(1)) >= 15
        assert camera.state["refusals"] <= 2
        shown = json.dumps(gateway.client.get("/v1/devices")) + gateway.process.output()
        assert wrong not in shown
    finally:
        gateway.stop()
        camera.stop()


def test_a_webhook_reports_events(house: Gateway, binary: Path, tmp_path: Path) -> None:
    token = subprocess.run(
        [str(binary), "token", "--webhook", "door", "--config", str(tmp_path / "gatehouse.yaml")],
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    ).stdout.strip()  # fmt: skip
    stream = EventStream(house.client)
    body = json.dumps({"type": "doorbellPressed", "complementaryToneId": "ding", "doorbellPressTimeSeconds": 2})
    headers = {"Content-Type": "application/json"}
    began = time.monotonic()
    answer = house.client.request("POST", "/v1/devices/door/events", body, headers, token=token)
    assert answer.status == 200 and answer.json == {"accepted": True}
    press = stream.wait_for("DoorbellPressed")
    assert press.data["complementaryToneId"] == "ding" and press.data["doorbellPressTimeSeconds"] == 2
    again = house.client.request("POST", "/v1/devices/door/events", body, headers, token=token)
    # Presses within three seconds are one.
    assert again.json == {"accepted": False} or time.monotonic() - began >= 3
    simple = house.client.request("GET", f"/v1/webhooks/door/{token}/motion?active=true", token=None)
    assert simple.json == {"accepted": True}
    stream.wait_for("Motion", phase="began")
    assert house.client.request("GET", "/v1/devices", token=token).status == 403
    sounds = time.monotonic()
    statuses = [house.client.request("GET", f"/v1/webhooks/door/{token}/sound", token=None).status for _ in range(40)]
    # Twenty are taken at once, and then one each second.
    assert len(statuses) - statuses.count(429) <= 20 + (time.monotonic() - sounds)
    assert token not in house.process.output()
    stream.close()


def test_events_survive_a_restart_of_the_gateway(binary: Path, camera: ONVIFCamera, tmp_path: Path) -> None:
    gateway = Gateway(binary, tmp_path, [doorbell(camera)])
    subscribed(gateway)
    camera.notify(VISITOR, True)
    before = eventually(lambda: gateway.client.get("/v1/devices/door/events")["events"], "the press is kept")
    assert gateway.stop() == 0
    again = Gateway(binary, tmp_path, [doorbell(camera)])
    try:
        assert again.client.get("/v1/devices/door/events")["events"][-1] == before[-1]
    finally:
        again.stop()


def test_cameras_are_discovered(binary: Path, tmp_path: Path) -> None:
    port = free_port()
    camera = ONVIFCamera(tmp_path, "--discovery", "127.0.0.1", "--discovery-port", str(port))
    try:
        for way in (["--host", "127.0.0.1"], ["--interface", "lo"]):
            result = subprocess.run(
                [str(binary), "camera", "discover", "--json", "--seconds", "6", "--port", str(port), *way],
                capture_output=True, text=True, timeout=PATIENCE,
            )  # fmt: skip
            cameras = json.loads(result.stdout)["cameras"]
            assert cameras == [
                {
                    "name": "Front Door",
                    "model": "Doorbell-3",
                    "address": "127.0.0.1",
                    "endpoint": "urn:uuid:00000000-1111-2222-3333-444444444444",
                    "xaddrs": [camera.url],
                }
            ], f"{way}: {result.stdout} {result.stderr}"
    finally:
        camera.stop()


@pytest.fixture
def streaming_camera(rtsp_cameras: RTSPCameras, tmp_path: Path) -> Iterator[ONVIFCamera]:
    """An ONVIF camera whose small stream is H.264 and whose large one is VP8; its address reaches nobody."""
    running = ONVIFCamera(
        tmp_path, "--user", rtsp.USER, "--profiles", "small,vp8", "--stream", f"rtsp://10.255.0.9:{rtsp_cameras.port}",
        password=rtsp.PASSWORD,
    )  # fmt: skip
    yield running
    running.stop()


@pytest.mark.parametrize("settings", [{}, {"substream": "onvif"}, {"substream": "none"}])
def test_the_streams_of_an_onvif_camera_are_found(
    binary: Path, streaming_camera: ONVIFCamera, tmp_path: Path, settings: dict[str, object]
) -> None:
    source = f"onvif://{rtsp.USER}:{rtsp.QUOTED_PASSWORD}@127.0.0.1:{streaming_camera.port}"
    gateway = Gateway(binary, tmp_path, [Camera("yard", source, settings=settings)])
    try:
        gateway.wait_until_flowing("yard")
        subscribed(gateway, "yard")

        def notes() -> list[str]:
            return list(gateway.client.get("/v1/cameras/yard")["findings"]["notes"])

        # The large profile is the camera's picture.
        codecs = [track["codec"] for track in gateway.client.get("/v1/devices/yard")["source"]["tracks"]]
        assert codecs[0] == "VP8"
        if settings.get("substream") == "none":
            assert not any("substream" in note for note in notes())
        else:
            eventually(lambda: "substream: it is sending media over tcp" in notes(), "the substream flows")
    finally:
        assert gateway.stop() == 0


@pytest.mark.parametrize("way", ["page", "setup"])
@pytest.mark.parametrize(
    ("profiles", "codecs"), [("small,h265:H265", ["H265", "H264"]), ("h264", ["H264"]), ("h264,mjpeg:JPEG", ["H264"])]
)
def test_a_camera_that_is_added_has_all_of_its_streams(
    binary: Path, rtsp_cameras: RTSPCameras, tmp_path: Path, way: str, profiles: str, codecs: list[str]
) -> None:
    """Nobody names a stream. The camera's picture is the largest one, with a smaller one if the camera has it."""
    camera = ONVIFCamera(
        tmp_path, "--user", rtsp.USER, "--profiles", profiles, "--stream", f"rtsp://10.255.0.9:{rtsp_cameras.port}",
        password=rtsp.PASSWORD,
    )  # fmt: skip
    source = f"onvif://{rtsp.USER}:{rtsp.QUOTED_PASSWORD}@127.0.0.1:{camera.port}"
    cameras = [DOORBELL]
    if way == "setup":
        output = tmp_path / "setup.yaml"
        command = [str(binary), "setup", "--camera", source, "--name", "Yard", "--output", str(output)]
        subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        assert f'source: "{source}"' in output.read_text() and "substream" not in output.read_text()
        cameras = [Camera("yard", source)]
    gateway = Gateway(binary, tmp_path, cameras)
    try:
        if way == "page":
            send(gateway, "PUT", "/v1/cameras/yard", name="Yard", source=source, type="camera")
        gateway.wait_until_flowing("yard")

        def pictures() -> list[str]:
            tracks = gateway.client.get("/v1/devices/yard")["source"]["tracks"]
            return [track["codec"] for track in tracks if track["kind"] == "video"]

        eventually(lambda: pictures() == codecs, f"the pictures are {codecs}")
        notes = gateway.client.get("/v1/cameras/yard")["findings"]["notes"]
        assert any("no second profile" in note for note in notes) == (len(codecs) == 1), notes
        # Both streams are found with one login, and a camera with one stream is left in peace.
        assert camera.state["counts"]["GetStreamUri"] == len(codecs)
    finally:
        assert gateway.stop() == 0
        camera.stop()


def test_a_probe_finds_the_large_stream_and_says_that_there_is_another(
    binary: Path, streaming_camera: ONVIFCamera
) -> None:
    source = f"onvif://{rtsp.USER}:{rtsp.QUOTED_PASSWORD}@127.0.0.1:{streaming_camera.port}"
    result = subprocess.run(
        [str(binary), "camera", "probe", "--json", "--duration", "1", source],
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert found["tracks"][0]["codec"] == "VP8"
    assert any(line.startswith("Second stream: ") for line in found["viewers"]), found["viewers"]
