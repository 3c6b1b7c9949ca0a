"""What automations do with a camera: record, switch recording, change settings, ring, and notify with its picture."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.automation_house import House, build
from peers.gateway import DOORBELL
from peers.notified import NotifiedServer, NotifiedTopic
from peers.pki import Authority
from peers.polling import eventually
from peers.ports import free_port

CAMERA = DOORBELL.id
STREAMS = f"/v1/devices/{CAMERA}/traits/CameraAvStreamManagement"
TOPIC = "house/told"
MANUAL = {"type": "manualStarter"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotifiedServer]:
    authority = Authority(tmp_path_factory.mktemp("authority"), "authority")
    running = NotifiedServer(authority)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory, server: NotifiedServer) -> Iterator[House]:
    trusted = str(server.authority.path)
    receivers: list[dict[str, str]] = [
        {"name": "house", "topic": TOPIC},
        {"name": "phone", "url": f"{server.address}/told", "token": "${PHONE_TOKEN}", "ca": trusted},
        {"name": "refusing", "url": f"{server.address}/told/503", "ca": trusted},
        {"name": "moved", "url": f"{server.address}/told/307", "ca": trusted},
        {"name": "unknown", "url": f"{server.address}/told"},
        {"name": "away", "url": f"https://localhost:{free_port()}/told", "ca": trusted},
    ]
    os.environ["PHONE_TOKEN"] = "a-token-of-the-phone"
    result = build(
        binary, tmp_path_factory.mktemp("house"), [], [DOORBELL], listen=False,
        recording={"trigger": "command"}, automations={"notify": receivers},
        devices={"gong": {"name": "Gong", "type": "Chime"}},
    )  # fmt: skip
    result.gateway.wait_until_flowing(CAMERA)
    yield result
    result.stop()


def on_camera(house: House, trait: str, **behaviour: Any) -> dict[str, Any]:
    return {"type": "action", "entity": {"device": house.device("front door")}, "trait": trait} | behaviour


def notify(house: House, **parameters: Any) -> dict[str, Any]:
    entity = {"structure": house.structure}
    return {"type": "action", "entity": entity, "trait": "Notification", "command": "notify", "parameters": parameters}


def run(house: House, *nodes: dict[str, Any]) -> dict[str, Any]:
    """Makes an automation, runs it by hand, and gives its run with the entries."""
    automation = house.automate(MANUAL, *nodes)
    answer = house.gateway.client.request("POST", f"/v1/automations/{automation}/execute")
    assert answer.status == 204, answer.text
    (ended,) = house.ended(automation)
    return house.run(automation, ended["id"])


def outcomes(ended: dict[str, Any]) -> list[str]:
    return [entry["outcome"] for entry in ended["entries"] if entry["kind"] == "sent"]


def recordings(house: House) -> list[dict[str, Any]]:
    return list(house.gateway.client.get(f"/v1/devices/{CAMERA}/recordings")["recordings"])


def test_a_press_records_with_the_reason_automation(house: House) -> None:
    time = {"initialDuration": 2, "augmentationDuration": 0, "maxDuration": 4, "blindDuration": 0}
    press = {
        "type": "eventStarter", "id": "e", "entity": {"device": house.device("front door")},
        "trait": "DoorbellPress", "event": "DoorbellPressed",
    }  # fmt: skip
    trigger = {"connectionID": 1, "activationReason": "automation", "timeControl": time}
    record = on_camera(house, "PushAvStreamTransport", command="manuallyTriggerTransport", parameters=trigger)
    automation = house.automate(press, record)
    assert recordings(house) == []
    assert house.gateway.client.command(CAMERA, "DoorbellPress", "press").status == 200
    (ended,) = house.ended(automation)
    assert ended["end"] == "completed", house.run(automation, ended["id"])
    made = eventually(lambda: recordings(house), "a recording")[0]
    assert (made["trigger"]["kind"], made["trigger"]["reason"]) == ("command", "command (automation)"), made
    eventually(lambda: not recordings(house)[0]["isRunning"], "the recording ends")


def test_recording_is_switched_off_and_on(house: House) -> None:
    def switch(status: str) -> dict[str, Any]:
        parameters = {"transportStatus": status}
        return on_camera(house, "PushAvStreamTransport", command="setTransportStatus", parameters=parameters)

    picture = f"/v1/devices/{CAMERA}/snapshot.jpg"
    for status, answer in (("inactive", 409), ("active", 200)):
        ended = run(house, switch(status))
        assert (ended["end"], outcomes(ended)) == ("completed", ["succeeded"]), json.dumps(ended["entries"])
        assert house.gateway.client.request("GET", picture).status == answer


def test_settings_of_the_camera_are_changed_and_privacy_keeps_pictures_back(house: House) -> None:
    private = {"softLivestreamPrivacyModeEnabled": True, "softRecordingPrivacyModeEnabled": True}
    ended = run(house, on_camera(house, "CameraAvStreamManagement", update=private))
    assert (ended["end"], outcomes(ended)) == ("completed", ["succeeded"]), json.dumps(ended["entries"])
    shown = house.gateway.client.get(STREAMS)
    assert shown["softLivestreamPrivacyModeEnabled"], shown
    refused = run(house, notify(house, message="Look", receiver="house", snapshotOf=house.device("front door")))
    assert (refused["end"], outcomes(refused)) == ("failed", ["failed"]), refused
    open_again = dict.fromkeys(private, False)
    assert run(house, on_camera(house, "CameraAvStreamManagement", update=open_again))["end"] == "completed"
    assert not house.gateway.client.get(STREAMS)["softLivestreamPrivacyModeEnabled"]


def test_a_chime_rings(house: House) -> None:
    ring = {
        "type": "action", "entity": {"device": house.device("gong")}, "trait": "Chime", "command": "playChimeSound",
    }  # fmt: skip
    ended = run(house, ring)
    assert (ended["end"], outcomes(ended)) == ("completed", ["succeeded"]), json.dumps(ended["entries"])


def test_a_sound_is_played_on_the_camera_and_a_picture_is_kept(house: House) -> None:
    client = house.gateway.client
    before = client.get(f"/v1/devices/{CAMERA}/speaker")["reading"]["samples"]
    ended = run(
        house,
        on_camera(house, "Chime", command="playChimeSound", parameters={"chimeID": 0}),
        on_camera(house, "CameraSnapshot", command="takeSnapshot"),
    )
    assert (ended["end"], outcomes(ended)) == ("completed", ["succeeded", "succeeded"]), json.dumps(ended["entries"])
    eventually(
        lambda: client.get(f"/v1/devices/{CAMERA}/speaker")["reading"]["samples"] > before, "the camera hears the sound"
    )
    (item,) = client.get("/v1/history?event=SnapshotTaken")["items"]
    picture = client.request("GET", item["thumbnail"])
    assert picture.status == 200 and picture.body[:2] == b"\xff\xd8" and picture.body[-2:] == b"\xff\xd9"


def test_people_are_notified_over_mqtt_and_https_with_the_picture(house: House, server: NotifiedServer) -> None:
    told = NotifiedTopic(house.broker.port, TOPIC)
    camera = house.device("front door")
    ended = run(
        house, *(notify(house, message="Look", receiver=name, snapshotOf=camera) for name in ("house", "phone"))
    )
    assert (ended["end"], outcomes(ended)) == ("completed", ["succeeded", "succeeded"]), ended
    eventually(lambda: told.pictures, "the picture at the broker")
    (message,) = told.notifications
    request = server.requests[-1]
    assert (request.path, request.authorization) == ("/told", "Bearer a-token-of-the-phone")
    for notification in (message, request.notification):
        assert (notification["message"], notification["deviceID"], notification["runID"]) == (
            "Look",
            camera,
            ended["id"],
        )
    for picture in (told.pictures[0], request.picture or b""):
        assert picture[:2] == b"\xff\xd8" and picture[-2:] == b"\xff\xd9" and len(picture) > 1_000

    count = len(server.requests)
    assert run(house, notify(house, message="Only text", receiver="phone"))["end"] == "completed"
    assert len(server.requests) == count + 1 and server.requests[-1].picture is None
    assert "deviceID" not in server.requests[-1].notification
    told.stop()


def test_a_receiver_that_gets_nothing_keeps_no_other_from_it(house: House, server: NotifiedServer) -> None:
    told = NotifiedTopic(house.broker.port, TOPIC)
    count = len(server.requests)
    # To all: among them are one that cannot be reached, one that is not trusted, and two that refuse.
    ended = run(house, notify(house, message="To all"))
    assert (ended["end"], outcomes(ended)) == ("failed", ["failed"]), ended
    eventually(lambda: told.notifications, "the message at the broker")
    paths = sorted(request.path for request in server.requests[count:])
    assert paths == ["/told", "/told/307", "/told/503"], paths
    (message,) = [entry["message"] for entry in ended["entries"] if entry["kind"] == "sent"]
    for name in ("refusing", "moved", "unknown", "away"):
        assert f"the receiver {name} " in message, message
    assert "the receiver phone" not in message and "the receiver house" not in message
    told.stop()


@pytest.mark.parametrize(
    ("receiver", "words", "arrives"),
    [
        ("refusing", "status 503", True), ("moved", "status 307", True), ("unknown", "not trusted", False),
        ("away", "cannot be reached", False), ("nobody", "no such receiver", False),
    ],
)  # fmt: skip
def test_a_notification_that_nobody_gets_fails_with_the_reason(
    house: House, server: NotifiedServer, receiver: str, words: str, arrives: bool
) -> None:
    count = len(server.requests)
    ended = run(house, notify(house, message="Look", receiver=receiver))
    assert (ended["end"], outcomes(ended)) == ("failed", ["failed"]), ended
    assert words in json.dumps(ended), ended
    # A redirect is not followed, and nothing is sent twice.
    assert len(server.requests) == count + arrives
