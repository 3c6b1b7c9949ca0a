"""Automations that record: pictures of GStreamer's RTSP server, and presses, motion and persons by ONVIF."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.automation_house import House, build
from peers.gateway import Camera
from peers.onvif_camera import MOTION, PASSWORD, PEOPLE, USER, VISITOR, ONVIFCamera
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras

CAMERA = "door"


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ONVIFCamera]:
    running = ONVIFCamera(tmp_path_factory.mktemp("onvif"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def house(
    binary: Path, tmp_path_factory: pytest.TempPathFactory, rtsp_cameras: RTSPCameras, events: ONVIFCamera
) -> Iterator[House]:
    onvif = {"url": events.url, "username": USER, "password": PASSWORD}
    camera = Camera(CAMERA, rtsp_cameras.address("h264"), type="doorbell", name="Door", settings={"onvif": onvif})
    result = build(
        binary, tmp_path_factory.mktemp("house"), ["light"], [camera], recording={"trigger": "command"},
    )  # fmt: skip
    result.gateway.wait_until_flowing(CAMERA)

    def is_subscribed() -> bool:
        source = result.gateway.client.get(f"/v1/devices/{CAMERA}").get("eventSource", {})
        return bool(source.get("state") == "subscribed")

    eventually(is_subscribed, "the camera's events are subscribed to")
    yield result
    result.stop()


def node(house: House, kind: str, trait: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "entity": {"device": house.device("door")}, "trait": trait} | more


def recordings(house: House) -> list[dict[str, Any]]:
    return list(house.gateway.client.get(f"/v1/devices/{CAMERA}/recordings")["recordings"])


def test_the_end_of_a_recording_that_records_again_is_cut_as_a_loop(house: House) -> None:
    time = {"initialDuration": 1, "augmentationDuration": 0, "maxDuration": 1, "blindDuration": 0}
    trigger = {"connectionID": 1, "activationReason": "automation", "timeControl": time}
    record = node(house, "action", "PushAvStreamTransport", command="manuallyTriggerTransport", parameters=trigger)
    automation = house.automate(
        {"type": "select", "nodes": [
            {"type": "manualStarter"},
            node(house, "eventStarter", "PushAvStreamTransport", id="e", event="PushTransportEnd"),
        ]},
        record,
    )  # fmt: skip
    shown = house.gateway.client.get(f"/v1/automations/{automation}")
    assert [issue["type"] for issue in shown["validationIssues"]] == ["TriggersItself"], shown["validationIssues"]
    before = len(recordings(house))
    assert house.gateway.client.request("POST", f"/v1/automations/{automation}/execute").status == 204
    eventually(lambda: any(run.get("end") == "loopCut" for run in house.runs(automation)), "the loop is cut")
    assert sorted(run["depth"] for run in house.runs(automation)) == list(range(10))
    eventually(lambda: not any(one["isRunning"] for one in recordings(house)), "nothing records any more")
    # A second in which a busy machine reads no picture leaves nothing to keep.
    assert before < len(recordings(house)) <= before + 9
    # It would record again after each recording of the tests that follow.
    assert house.gateway.client.request("DELETE", f"/v1/automations/{automation}").status == 204


@pytest.mark.parametrize(
    ("topic", "trait", "event"),
    [
        (VISITOR, "DoorbellPress", "DoorbellPressed"), (MOTION, "CameraMotion", "Motion"),
        (PEOPLE, "CameraPerson", "Person"),
    ],
)  # fmt: skip
def test_what_the_camera_reports_records_its_pictures(
    house: House, events: ONVIFCamera, topic: str, trait: str, event: str
) -> None:
    time = {"initialDuration": 2, "augmentationDuration": 0, "maxDuration": 4, "blindDuration": 0}
    trigger = {"connectionID": 1, "activationReason": "automation", "timeControl": time}
    automation = house.automate(
        node(house, "eventStarter", trait, id="e", event=event),
        node(house, "action", "PushAvStreamTransport", command="manuallyTriggerTransport", parameters=trigger),
        name=event,
    )
    before = len(recordings(house))
    assert events.notify(topic, True) == 1
    (ended,) = house.ended(automation)
    assert (ended["end"], ended["trigger"]["event"]) == ("completed", event), house.run(automation, ended["id"])
    made = eventually(lambda: recordings(house)[: len(recordings(house)) - before], "a recording")[0]
    assert (made["trigger"]["kind"], made["trigger"]["reason"]) == ("command", "command (automation)"), made
    eventually(lambda: not recordings(house)[0]["isRunning"], "the recording ends")
    # The end of a stay starts nothing, and so does the end of a press.
    events.notify(topic, False)
    assert recordings(house)[0]["bytes"] > 1_000, recordings(house)[0]
    assert house.gateway.client.request("DELETE", f"/v1/automations/{automation}").status == 204
    assert len(recordings(house)) == before + 1
