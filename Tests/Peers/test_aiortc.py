"""aiortc plays every kind of camera."""

import pytest
from peers.aiortc_viewer import AiortcViewer, run
from peers.gateway import Gateway


@pytest.mark.parametrize("device", ["front-door", "garden", "drive", "porch"])
def test_plays_pictures_and_sound(gateway: Gateway, device: str) -> None:
    gateway.wait_until_flowing(device)

    async def play() -> None:
        viewer = AiortcViewer(gateway.client, device)
        try:
            await viewer.start()
            await viewer.expect_media()
        finally:
            await viewer.stop()

    run(play)
    assert not [one for one in gateway.client.sessions() if one["deviceID"] == device]
