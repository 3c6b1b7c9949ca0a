#!/usr/bin/python3
"""Shows an RTSP camera to browsers with GStreamer's webrtcbin, prints "ready PORT", and runs until it is ended.

    /usr/bin/python3 tools/webrtcbin-server.py rtsp://127.0.0.1:8554/h264 [--host 127.0.0.1] [--no-sound]

Picture (H.264) and sound (PCMA) are packed again and not encoded again. Lost packets of the picture are sent again when
the browser asks (`do-nack`: NACK and RTX). Nothing limits the rate: Debian 12 has no bandwidth estimator for webrtcbin.
Each viewer has a pipeline of its own, which pulls the camera as well. `offering_server.py` says how a browser asks for
a view.

The Debian packages gir1.2-gst-plugins-bad-1.0, gstreamer1.0-nice, gstreamer1.0-plugins-base, -good and -bad hold what
it needs.
"""

import argparse
import itertools
import signal
import sys
import threading

import gi
from offering_server import serve_offers

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

# Seconds to wait, so that a camera that is not there does not block a view for ever.
PATIENCE = 15
PIPELINE = """
    webrtcbin name=peer bundle-policy=max-bundle
    rtspsrc name=camera protocols=tcp latency=0
    camera. ! application/x-rtp,media=video ! rtph264depay ! h264parse
        ! rtph264pay name=pay0 pt=96 config-interval=-1 aggregate-mode=zero-latency
        ! application/x-rtp,media=video,encoding-name=H264,payload=96,clock-rate=90000 ! peer.
"""
SOUND = """
    camera. ! application/x-rtp,media=audio ! rtppcmadepay ! rtppcmapay name=pay1 pt=8
        ! application/x-rtp,media=audio,encoding-name=PCMA,payload=8,clock-rate=8000 ! peer.
"""


class View:
    """One viewer's pipeline."""

    def __init__(self, camera: str, has_sound: bool) -> None:
        self._pipeline = Gst.parse_launch(PIPELINE + (SOUND if has_sound else ""))
        self._peer = self._pipeline.get_by_name("peer")
        self._pipeline.get_by_name("camera").set_property("location", camera)
        self._payloaders = [self._pipeline.get_by_name(f"pay{index}") for index in range(2 if has_sound else 1)]

    def offer(self) -> str:
        """The offer with all candidates, when the camera has said what it sends."""
        described = [threading.Event() for _ in self._payloaders]
        for payloader, event in zip(self._payloaders, described, strict=True):
            payloader.get_static_pad("src").connect("notify::caps", lambda *_, event=event: event.set())
        gathered = threading.Event()
        self._peer.connect("notify::ice-gathering-state", lambda *_: self._look(gathered))
        self._pipeline.set_state(Gst.State.PLAYING)
        for event in described:
            self._wait(event, "media of the camera")
        for index in range(len(self._payloaders)):
            transceiver = self._peer.emit("get-transceiver", index)
            transceiver.set_property("direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)
            # NACK for the sound would add RTX to its offer, and Chromium refuses that.
            transceiver.set_property("do-nack", index == 0)
        promise = Gst.Promise.new()
        self._peer.emit("create-offer", None, promise)
        if promise.wait() != Gst.PromiseResult.REPLIED:
            raise ValueError("webrtcbin makes no offer")
        # The session description belongs to the reply, so the reply has to live as long.
        reply = promise.get_reply()
        self._peer.emit("set-local-description", reply["offer"], Gst.Promise.new())
        self._wait(gathered, "candidates")
        lines = self._peer.get_property("local-description").sdp.as_text().splitlines()
        # The line to measure loses only UDP.
        kept = [line for line in lines if not line.startswith("a=candidate:") or line.split(" ")[2].upper() == "UDP"]
        return "\r\n".join(kept) + "\r\n"

    def answer(self, answer: str) -> None:
        """Applies the browser's answer."""
        result, description = GstSdp.SDPMessage.new_from_text(answer)
        if result != GstSdp.SDPResult.OK:
            raise ValueError("the body is not a session description")
        promise = Gst.Promise.new()
        self._peer.emit(
            "set-remote-description",
            GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, description),
            promise,
        )
        promise.wait()

    def end(self) -> None:
        """Stops the pipeline."""
        self._pipeline.set_state(Gst.State.NULL)

    def _look(self, gathered: threading.Event) -> None:
        if self._peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            gathered.set()

    def _wait(self, event: threading.Event, words: str) -> None:
        for _ in range(PATIENCE * 10):
            if event.wait(0.1):
                return
            if message := self._pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR):
                raise ValueError(f"no {words}: {message.parse_error().gerror.message}")
        raise ValueError(f"no {words} within {PATIENCE} s")


class Views:
    """All viewers, each with a number as its name."""

    def __init__(self, camera: str, has_sound: bool) -> None:
        self._camera, self._has_sound = camera, has_sound
        self._numbers = itertools.count(1)
        self._views: dict[str, View] = {}

    def offer(self) -> tuple[str, str]:
        name, view = str(next(self._numbers)), View(self._camera, self._has_sound)
        self._views[name] = view
        try:
            return name, view.offer()
        except ValueError:
            self.end(name)
            raise

    def answer(self, name: str, answer: str) -> None:
        self._views[name].answer(answer)

    def end(self, name: str) -> None:
        self._views.pop(name).end()


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows an RTSP camera to browsers with GStreamer's webrtcbin.")
    parser.add_argument("camera", help="the RTSP address of a camera with H.264 and PCMA")
    parser.add_argument("--host", default="127.0.0.1", help="the address that browsers connect to by HTTP")
    parser.add_argument("--no-sound", action="store_true", help="the camera has none, or it is not wanted")
    options = parser.parse_args()
    Gst.init(None)
    missing = [
        name for name in ("webrtcbin", "rtspsrc", "nicesink", "h264parse") if Gst.ElementFactory.find(name) is None
    ]
    if missing:
        sys.exit(f"GStreamer has no {', '.join(missing)}; tools/install-dependencies --tests installs what it needs")
    signals = {signal.SIGINT, signal.SIGTERM}
    # All threads block the signals, so that these end the wait and nothing else.
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    print(f"ready {serve_offers(Views(options.camera, not options.no_sound), options.host)}", flush=True)
    signal.sigwait(signals)


if __name__ == "__main__":
    main()
