"""aiortc plays every kind of camera."""

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.coroutines import run
from peers.gateway import Gateway


@pytest.mark.parametrize("device", ["front-door", "garden", "drive", "porch", "yard"])
def test_plays_pictures_and_sound(gateway: Gateway, device: str) -> None:
    gateway.wait_until_flowing(device)
    run(lambda: expect_live_view(gateway.client, device))
    id = gateway.client.device_id(device)
    assert not [one for one in gateway.client.sessions() if one["deviceID"] == id]


@pytest.mark.parametrize("device", ["gate", "shed", "cellar"])
def test_plays_a_camera_without_sound(gateway: Gateway, device: str) -> None:
    gateway.wait_until_flowing(device)
    run(lambda: expect_live_view(gateway.client, device, sound=False))


def test_plays_a_camera_without_a_picture(gateway: Gateway) -> None:
    gateway.wait_until_flowing("nursery")
    run(lambda: expect_live_view(gateway.client, "nursery", picture=False))
