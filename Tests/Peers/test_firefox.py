"""Firefox plays the built-in camera and an RTSP camera. Debian's has no H.264, so both send VP8."""

import pytest
from peers.firefox import Firefox
from peers.gateway import Gateway
from peers.viewer import viewing


@pytest.mark.parametrize("device", ["front-door", "garden"])
def test_plays_pictures_and_sound(firefox: Firefox, gateway: Gateway, device: str) -> None:
    gateway.wait_until_flowing(device)
    with viewing(firefox, gateway.token) as viewer:
        viewer.call("playWHEP", device=device)
        reception = viewer.expect_media()
        assert reception.codec == "video/VP8"
        # The first packets may come before a browser has its keys, and come again; from then on nothing is lost.
        assert viewer.expect_media().packetsLost == reception.packetsLost


def test_restarts_ice_without_losing_the_session(firefox: Firefox, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with viewing(firefox, gateway.token) as viewer:
        viewer.call("playWHEP", device="front-door")
        viewer.expect_media(frames=10)
        tags = viewer.call("restartICE")
        assert tags["before"] != tags["after"]
        viewer.expect_media(frames=45)
