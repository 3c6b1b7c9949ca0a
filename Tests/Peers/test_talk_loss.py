"""A talker behind a line that loses packets is understood: what is lost is restored or concealed, and reported."""

import math
import random
import struct
import wave
from pathlib import Path

import pytest
from peers.chromium import launch_inside, open_page
from peers.gateway import DOORBELL, Gateway
from peers.links import Host, forwarder
from peers.lossy_line import LossyLine
from peers.polling import eventually
from peers.viewer import viewing
from playwright.sync_api import Playwright

pytestmark = pytest.mark.alone

RATE = 16_000


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    """Syllables of a voice with a moving pitch: redundancy is for what the encoder takes for speech."""
    noise = random.Random(1)
    phase, samples = 0.0, []
    for index in range(7 * RATE):
        seconds = index / RATE
        place = seconds % 0.28 / 0.28
        phase += 2 * math.pi * (120 + 25 * math.sin(3 * seconds)) / RATE
        loudness = 6000 * math.sin(math.pi * place / 0.8) if place < 0.8 else 0
        vowel = sum(weight * math.sin(phase * (number + 1)) for number, weight in enumerate((1, 0.7, 0.5, 0.3, 0.2)))
        samples.append(int(loudness * vowel + noise.uniform(-60, 60)))
    path = tmp_path / "voice.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path


def test_a_lossy_uplink_keeps_the_speech_and_reports_what_was_concealed(
    binary: Path, driver: Playwright, line: LossyLine, voice: Path, tmp_path: Path, report: list[str]
) -> None:
    # After the line: its interface is among those that the gateway offers.
    gateway = Gateway(binary, tmp_path, [DOORBELL])
    browser = launch_inside(driver, line.command_prefix, tmp_path, microphone=voice)
    try:
        gateway.wait_until_flowing(DOORBELL.id)
        with (
            # Browsers give the microphone to pages of their own host without TLS, and to no others.
            forwarder(Host(line.name), "127.0.0.1", gateway.port, (line.host_address, gateway.port)),
            open_page(browser, f"http://127.0.0.1:{gateway.port}") as page,
            viewing(page, gateway.token) as viewer,
        ):
            viewer.call("playByTrait", device=DOORBELL.id, microphone=True)
            viewer.expect_media(frames=10)
            session = page.evaluate("window.viewer.session")

            def talk() -> dict[str, float]:
                return gateway.client.get(f"/v1/sessions/{session}")["talkback"]

            page.evaluate("window.viewer.command('startTalkback')")
            eventually(lambda: talk()["packetsReceived"] >= 100, "two seconds of the microphone have come")
            for loss in (10, 20):
                line.set(up=loss)
                # Reports tell the talker how much is lost, and its encoder then adds redundancy.
                begun = talk()["packetsReceived"]
                eventually(lambda begun=begun: talk()["packetsReceived"] >= begun + 300, "the talker knows of the loss")
                before = talk()
                wanted = before["packetsReceived"] + 750
                eventually(lambda wanted=wanted: talk()["packetsReceived"] >= wanted, "15 s of microphone have come")
                after = talk()
                came = {name: after[name] - before[name] for name in after if isinstance(after[name], (int, float))}
                lost = came["packetsLost"] * 20
                total = came["packetsReceived"] * 20 + lost
                restored, concealed = came["millisecondsRestored"], came["millisecondsConcealed"]
                report.append(
                    f"Chromium talks at {loss} % loss: of {lost / total:.1%} lost sound {restored / lost:.0%} were"
                    f" restored and {concealed / lost:.0%} concealed, {concealed / total:.1%} of all"
                )
                assert 0.4 * loss < lost / total * 100 < 2 * loss
                # Nothing is left out but what is lost in a row for more than 100 ms, which random loss hardly does.
                assert 0.9 * lost <= restored + concealed <= 1.1 * lost
                # Measured: 75 % at 10 % loss, 67 % at 20 %. Without redundancy there is nothing to restore from.
                assert restored > 0.3 * lost
            page.evaluate("window.viewer.command('stopTalkback')")
    finally:
        browser.close()
        gateway.stop()
