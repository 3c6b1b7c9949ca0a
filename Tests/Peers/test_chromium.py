"""Chromium plays every kind of camera, talks to the doorbell, and keeps its picture through an ICE restart."""

import statistics

import pytest
from peers.chromium import ChromiumPage, open_page
from peers.gateway import Gateway
from peers.polling import eventually
from peers.viewer import viewing
from playwright.sync_api import Browser


@pytest.mark.parametrize(
    ("device", "codec"),
    [("front-door", "VP8"), ("garden", "VP8"), ("drive", "H264"), ("porch", "H264")],
)
def test_plays_pictures_and_sound(chromium: ChromiumPage, gateway: Gateway, device: str, codec: str) -> None:
    gateway.wait_until_flowing(device)
    with viewing(chromium, gateway.token) as viewer:
        viewer.call("playWHEP", device=device)
        reception = viewer.expect_media()
        assert reception.codec == f"video/{codec}"
        assert reception.width > 0
        viewer.expect_no_loss()


@pytest.mark.parametrize("policy", ["balanced", "max-bundle"])
@pytest.mark.parametrize("device", ["gate", "shed", "cellar"])
def test_plays_a_camera_without_sound(chromium: ChromiumPage, gateway: Gateway, device: str, policy: str) -> None:
    gateway.wait_until_flowing(device)
    with viewing(chromium, gateway.token) as viewer:
        viewer.call("playWHEP", device=device, configuration={"bundlePolicy": policy})
        assert viewer.expect_media(frames=10, sound=False).width > 0


def test_plays_a_camera_without_a_picture(chromium: ChromiumPage, gateway: Gateway) -> None:
    gateway.wait_until_flowing("nursery")
    with viewing(chromium, gateway.token) as viewer:
        viewer.call("playWHEP", device="nursery", soundOnly=True, configuration={"bundlePolicy": "max-bundle"})
        assert viewer.expect_media(picture=False).has_sound


@pytest.mark.parametrize("sound", ["G722", "opus"])
def test_g722_is_passed_through_or_transcoded_to_opus(chromium: ChromiumPage, gateway: Gateway, sound: str) -> None:
    gateway.wait_until_flowing("yard")
    with viewing(chromium, gateway.token) as viewer:
        viewer.call("playWHEP", device="yard", sound=sound)
        viewer.expect_media(frames=10)
        yard = gateway.client.device_id("yard")
        session = next(one for one in gateway.client.sessions() if one["deviceID"] == yard)
        assert session["codecs"] == ["VP8", sound] or session["codecs"] == [sound, "VP8"]


def test_explains_that_camera_and_viewer_share_no_codec(chromium: ChromiumPage, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with viewing(chromium, gateway.token) as viewer:
        viewer.call("prepare", device="front-door", codec="H264")
        offer = chromium.evaluate("window.viewer.pc.localDescription.sdp")
        answer = gateway.client.whep("front-door", offer)
        # A session with only sound is still useful; otherwise the gateway names both sides' codecs.
        if answer.status == 201:
            assert "a=inactive" in answer.text.split("m=video")[1]
            gateway.client.request("DELETE", answer.headers["location"])
        else:
            assert "VP8" in answer.json["error"]["message"] and "H264" in answer.json["error"]["message"]


def test_restarts_ice_without_losing_the_session(chromium: ChromiumPage, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    with viewing(chromium, gateway.token) as viewer:
        viewer.call("playWHEP", device="front-door")
        viewer.expect_media(frames=10)
        tags = viewer.call("restartICE")
        assert tags["before"] != tags["after"]
        viewer.expect_media(frames=45)
        assert viewer.connection_state() in ("connected", "completed")


def test_shows_the_first_picture_soon(browser: Browser, gateway: Gateway, report: list[str]) -> None:
    gateway.wait_until_flowing("front-door")
    rounds: list[dict[str, float]] = []
    for _ in range(5):
        with (
            open_page(browser, f"http://127.0.0.1:{gateway.port}") as page,
            viewing(page, gateway.token) as viewer,
        ):
            rounds.append(viewer.call("playWHEP", device="front-door"))
    # Measured and reported: what it is worth depends on the machine.
    for step, words in (("answered", "answer"), ("decoded", "first decoded frame"), ("shown", "first shown frame")):
        values = sorted(one[step] for one in rounds)
        report.append(
            f"Chromium, POST of the offer to {words}: median {statistics.median(values):.0f} ms,"
            f" least {values[0]:.0f} ms, most {values[-1]:.0f} ms ({len(values)} rounds)"
        )


def test_talks_through_the_speaker_of_the_doorbell(chromium: ChromiumPage, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")

    def samples() -> int:
        return int(gateway.client.get("/v1/devices/front-door/speaker")["reading"]["samples"])

    with viewing(chromium, gateway.token) as viewer:
        viewer.call("playByTrait", device="front-door", microphone=True)
        viewer.expect_media(frames=10)
        silent = samples()
        chromium.evaluate("window.viewer.command('startTalkback')")
        # A second of microphone.
        eventually(lambda: samples() >= silent + 48_000, "the speaker plays a second of the microphone")

        def is_loud() -> bool:
            return gateway.client.get("/v1/devices/front-door/speaker")["reading"]["rootMeanSquare"] > 0.001

        # The microphone beeps once a second, so that some readings are of silence.
        eventually(is_loud, "the speaker hears the microphone's beep", every=0.03)
        chromium.evaluate("window.viewer.command('stopTalkback')")
        ended = samples()
        viewer.expect_media(frames=30)
        # What was under way at the stop may still be played.
        assert samples() <= ended + 9_600


def test_a_second_talker_learns_that_the_speaker_is_busy(browser: Browser, gateway: Gateway) -> None:
    gateway.wait_until_flowing("front-door")
    origin = f"http://127.0.0.1:{gateway.port}"
    with (
        open_page(browser, origin) as first_page,
        open_page(browser, origin) as second_page,
        viewing(first_page, gateway.token) as first,
        viewing(second_page, gateway.token) as second,
    ):
        for viewer in (first, second):
            viewer.call("playByTrait", device="front-door", microphone=True)
        first_page.evaluate("window.viewer.command('startTalkback')")
        second_session = second_page.evaluate("window.viewer.session")
        refused = gateway.client.command(
            "front-door", "WebRtcLiveView", "startTalkback", {"mediaSessionId": second_session}
        )
        assert refused.status == 409 and "somebody else is talking" in refused.json["error"]["message"]
        first_page.evaluate("window.viewer.command('stopTalkback')")
        second_page.evaluate("window.viewer.command('startTalkback')")
