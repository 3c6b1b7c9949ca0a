"""Firefox plays the built-in camera and an RTSP camera, and is a camera. Debian's has no H.264, so all send VP8."""

import json

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.coroutines import run
from peers.firefox import Firefox
from peers.gateway import Gateway
from peers.publisher import publishing
from peers.viewer import viewing


@pytest.mark.parametrize("device", ["front-door", "garden"])
def test_plays_pictures_and_sound(firefox: Firefox, gateway: Gateway, device: str) -> None:
    gateway.wait_until_flowing(device)
    with viewing(firefox, gateway.token) as viewer:
        viewer.call("playWHEP", device=device)
        reception = viewer.expect_media()
        assert reception.codec == "video/VP8"
        viewer.expect_no_loss()


@pytest.mark.parametrize("policy", ["balanced", "max-bundle"])
@pytest.mark.parametrize("device", ["shed", "cellar"])
def test_plays_a_camera_without_sound(firefox: Firefox, gateway: Gateway, device: str, policy: str) -> None:
    gateway.wait_until_flowing(device)
    with viewing(firefox, gateway.token) as viewer:
        viewer.call("playWHEP", device=device, configuration={"bundlePolicy": policy})
        assert viewer.expect_media(frames=10, sound=False).width > 0


@pytest.mark.parametrize("sound", ["G722", "opus"])
def test_g722_is_passed_through_or_transcoded_to_opus(firefox: Firefox, gateway: Gateway, sound: str) -> None:
    gateway.wait_until_flowing("yard")
    with viewing(firefox, gateway.token) as viewer:
        viewer.call("playWHEP", device="yard", sound=sound)
        viewer.expect_media(frames=10)
        yard = gateway.client.device_id("yard")
        session = next(one for one in gateway.client.sessions() if one["deviceID"] == yard)
        assert session["codecs"] == ["VP8", sound] or session["codecs"] == [sound, "VP8"]


def test_plays_where_it_does_not_know_the_transport_of_a_candidate(firefox: Firefox, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with viewing(firefox, gateway.token) as viewer:
        # What an answer holds where media may come over TCP at port 443.
        disguised = "9s 1 ssltcp 1518280446 192.0.2.1 443 typ host tcptype passive"
        viewer.call("playWHEP", device="front-door", also=disguised)
        viewer.expect_media(frames=10)


def test_restarts_ice_without_losing_the_session(firefox: Firefox, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with viewing(firefox, gateway.token) as viewer:
        viewer.call("playWHEP", device="front-door")
        viewer.expect_media(frames=10)
        tags = viewer.call("restartICE")
        assert tags["before"] != tags["after"]
        viewer.expect_media(frames=45)


def test_publishes(firefox: Firefox, gateway: Gateway) -> None:
    settings = json.dumps({"name": "Phone", "source": "whip"})
    added = gateway.client.request("PUT", "/v1/cameras/phone", settings, {"Content-Type": "application/json"})
    assert added.status == 201, added.text

    try:
        with publishing(firefox, gateway.token, "phone"):
            gateway.wait_until_flowing("phone")
            run(lambda: expect_live_view(gateway.client, "phone"))
    finally:
        assert gateway.client.request("DELETE", "/v1/cameras/phone").status in (200, 204)
