#!/usr/bin/python3
"""Publishes a test picture and a tone by WHIP (RFC 9725) from GStreamer's webrtcbin, and runs until it is ended.

    GATEHOUSE_TOKEN=… /usr/bin/python3 Tests/Peers/gstreamer-publisher.py http://127.0.0.1:8080/whip/DEVICE

It prints "published LOCATION" when the gateway has answered, and "connected" when media can flow. Debian 12 has no WHIP
element of GStreamer; webrtcbin is what those elements are made of. The Debian packages gir1.2-gst-plugins-bad-1.0,
gstreamer1.0-nice, gstreamer1.0-plugins-base, -good and -bad hold what it needs.
"""

import os
import signal
import sys
import urllib.parse
import urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

PIPELINE = """
    webrtcbin name=peer bundle-policy=max-bundle
    videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=15/1
        ! vp8enc deadline=1 keyframe-max-dist=15 ! rtpvp8pay pt=96 picture-id-mode=2
        ! application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000 ! peer.
    audiotestsrc is-live=true wave=sine freq=440 volume=0.3 ! audio/x-raw,rate=48000,channels=2
        ! opusenc ! rtpopuspay pt=97
        ! application/x-rtp,media=audio,encoding-name=OPUS,payload=97,clock-rate=48000 ! peer.
"""


class Publisher:
    """One publication: an offer with all of its candidates, the answer, and the resource to delete at the end."""

    def __init__(self, endpoint: str, token: str) -> None:
        self._endpoint = endpoint
        self._headers = {"Authorization": f"Bearer {token}"}
        self._resource = ""
        self._loop = GLib.MainLoop()
        self._pipeline = Gst.parse_launch(PIPELINE)
        self._peer = self._pipeline.get_by_name("peer")
        self._peer.connect("on-negotiation-needed", self._offer)
        self._peer.connect("notify::ice-gathering-state", self._gathered)
        self._peer.connect("notify::connection-state", self._changed)

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self._loop.quit)
        bus = self._pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self._fail)
        self._pipeline.set_state(Gst.State.PLAYING)
        self._loop.run()
        if self._resource:
            self._request("DELETE", self._resource, None)
        self._pipeline.set_state(Gst.State.NULL)

    def _offer(self, peer: Gst.Element) -> None:
        for index in range(2):
            transceiver = peer.emit("get-transceiver", index)
            transceiver.set_property("direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)
        peer.emit("create-offer", None, Gst.Promise.new_with_change_func(self._offered, peer))

    def _offered(self, promise: Gst.Promise, peer: Gst.Element) -> None:
        promise.wait()
        # The description belongs to the reply, so that has to live as long.
        reply = promise.get_reply()
        peer.emit("set-local-description", reply["offer"], Gst.Promise.new())

    def _gathered(self, peer: Gst.Element, _: object) -> None:
        if peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            GLib.idle_add(self._publish)

    def _publish(self) -> bool:
        offer = self._peer.get_property("local-description").sdp.as_text()
        try:
            answer = self._request("POST", self._endpoint, offer)
        except OSError as error:
            print(f"the gateway did not answer: {error}", file=sys.stderr)
            self._loop.quit()
            return False
        _, description = GstSdp.SDPMessage.new_from_text(answer)
        self._peer.emit(
            "set-remote-description",
            GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, description),
            Gst.Promise.new(),
        )
        print(f"published {self._resource}", flush=True)
        return False

    def _changed(self, peer: Gst.Element, _: object) -> None:
        state = peer.get_property("connection-state")
        if state == GstWebRTC.WebRTCPeerConnectionState.CONNECTED:
            print("connected", flush=True)
        elif state == GstWebRTC.WebRTCPeerConnectionState.FAILED:
            print("the connection failed", file=sys.stderr)
            self._loop.quit()

    def _fail(self, _: Gst.Bus, message: Gst.Message) -> None:
        print(message.parse_error(), file=sys.stderr)
        self._loop.quit()

    def _request(self, method: str, url: str, body: str | None) -> str:
        request = urllib.request.Request(url, method=method, headers=dict(self._headers))
        if body is not None:
            request.data = body.encode()
            request.add_header("Content-Type", "application/sdp")
        with urllib.request.urlopen(request, timeout=60) as response:
            if location := response.headers.get("Location"):
                self._resource = urllib.parse.urljoin(self._endpoint, location)
            return str(response.read().decode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(str(__doc__))
    Gst.init(None)
    Publisher(sys.argv[1], os.environ["GATEHOUSE_TOKEN"]).run()
