#!/usr/bin/python3
"""Makes the requests of Meetecho's simple-whep-client and simple-whip-client, with GStreamer's webrtcbin as they do.

    GATEHOUSE_TOKEN=… /usr/bin/python3 Tests/Peers/meetecho-client.py whep ADDRESS [OPTION]...

`whep` watches and `whip` publishes, with the codecs of their documentation. The options are

    --follow-link    ask for the STUN and TURN servers first
    --no-trickle     offer once all candidates are known
    --silent         a picture alone, as without their option -A
    --sendrecv       offer to receive, too, as whip-client did before it named the direction

It prints a line for each answer ("POST 201"), "candidates N" for those that it takes from the answer, "connected" when
media can flow, and "decoded video" and "decoded audio" when these have come. None of their code is here. What is odd
here is so there.
"""

import http.client
import os
import re
import signal
import sys
import urllib.parse
from collections import Counter, deque

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

AUDIO = "application/x-rtp,media=audio,encoding-name=opus,clock-rate=48000,encoding-params=(string)2,payload=111"
VIDEO = "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload=96"
# The picture comes before the sound, and the synchronization sources are 1 and 2.
PICTURE = """
    videotestsrc is-live=true pattern=ball ! videoconvert ! queue ! vp8enc deadline=1 ! rtpvp8pay pt=96 ssrc=2 ! queue
        ! application/x-rtp,media=video,encoding-name=VP8,payload=96 ! peer.
"""
SOUND = """
    audiotestsrc is-live=true wave=red-noise ! audioconvert ! audioresample ! queue ! opusenc ! rtpopuspay pt=100 ssrc=1
        ! queue ! application/x-rtp,media=audio,encoding-name=OPUS,payload=100 ! peer.
"""
FRAGMENT = "application/trickle-ice-sdpfrag"
END = "end-of-candidates"
ENOUGH = 10
"""Decoded buffers of a kind, after which it has come."""


class Answers:
    """Sends requests as theirs are: each on a connection of its own, with the token and, once it is known, the tag."""

    def __init__(self, token: str) -> None:
        self._token = token
        self.tag = ""

    def request(
        self, method: str, url: str, body: str | None = None, media_type: str = ""
    ) -> tuple[int, http.client.HTTPMessage, str]:
        for _ in range(10):
            status, headers, text = self._once(method, url, body, media_type)
            if status not in (301, 307):
                break
            url = urllib.parse.urljoin(url, headers["Location"])
        return status, headers, text

    def _once(
        self, method: str, url: str, body: str | None, media_type: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.putrequest(method, path, skip_accept_encoding=True)
        content = None if body is None else body.encode()
        if content is not None:
            connection.putheader("Content-Type", media_type)
            connection.putheader("Content-Length", str(len(content)))
        connection.putheader("Authorization", f"Bearer {self._token}")
        if self.tag:
            connection.putheader("If-Match", self.tag)
        connection.putheader("Accept-Encoding", "gzip, deflate")
        connection.putheader("Connection", "Keep-Alive")
        connection.endheaders(content)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, response.headers, text


class MeetechoClient:
    """One session: an offer, its answer, candidates every tenth of a second, and a DELETE."""

    def __init__(self, publishes: bool, endpoint: str, token: str, options: set[str]) -> None:
        self._publishes, self._endpoint, self._options = publishes, endpoint, options
        self._is_silent = "--silent" in options
        self._answers = Answers(token)
        self._resource = ""
        self._offer = ""
        self._candidates: deque[str] = deque()
        self._decoded: Counter[str] = Counter()
        self._loop = GLib.MainLoop()

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self._loop.quit)
        if "--follow-link" in self._options:
            status, headers, _ = self._answers.request("OPTIONS", self._endpoint)
            print("OPTIONS", status, *servers(", ".join(headers.get_all("Link") or [])), flush=True)
        pipeline = self._publishing() if self._publishes else self._watching()
        self._pipeline, self._peer = pipeline, pipeline.get_by_name("peer")
        self._peer.connect("on-negotiation-needed", self._negotiate)
        self._peer.connect("on-ice-candidate", self._gather)
        self._peer.connect("notify::ice-gathering-state", self._gathered)
        self._peer.connect("notify::connection-state", self._changed)
        bus = pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self._fail)
        pipeline.set_state(Gst.State.PLAYING)
        self._loop.run()
        if self._resource:
            print("DELETE", self._answers.request("DELETE", self._resource)[0], flush=True)
        pipeline.set_state(Gst.State.NULL)

    def _publishing(self) -> Gst.Pipeline:
        if self._is_silent:
            return Gst.parse_launch("webrtcbin name=peer bundle-policy=none" + PICTURE)
        return Gst.parse_launch("webrtcbin name=peer bundle-policy=max-bundle" + PICTURE + SOUND)

    def _watching(self) -> Gst.Pipeline:
        pipeline = Gst.Pipeline.new()
        peer = Gst.ElementFactory.make("webrtcbin", "peer")
        peer.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        pipeline.add(peer)
        for caps in (VIDEO,) if self._is_silent else (AUDIO, VIDEO):
            peer.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps))
        peer.connect("pad-added", self._receive)
        return pipeline

    def _negotiate(self, peer: Gst.Element) -> None:
        if not self._offer:
            peer.emit("create-offer", None, Gst.Promise.new_with_change_func(self._offered, peer))

    def _offered(self, promise: Gst.Promise, peer: Gst.Element) -> None:
        promise.wait()
        # The description belongs to the reply, so that has to live as long.
        reply = promise.get_reply()
        # What is sent is the offer as it was made, without candidates.
        self._offer = reply["offer"].sdp.as_text()
        peer.emit("set-local-description", reply["offer"], Gst.Promise.new())
        if "--no-trickle" not in self._options:
            GLib.idle_add(self._connect)

    def _gather(self, peer: Gst.Element, index: int, candidate: str) -> None:
        # In a bundle only the first section counts, and only RTP.
        if index == 0 and candidate.split(" ")[1] == "1":
            self._candidates.append(candidate)

    def _gathered(self, peer: Gst.Element, _: object) -> None:
        if peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self._candidates.append(END)
            if "--no-trickle" in self._options:
                GLib.idle_add(self._connect)

    def _connect(self) -> bool:
        offer = self._offer
        if "--no-trickle" in self._options:
            offer = self._with_candidates(offer)
        if self._publishes and "--sendrecv" not in self._options:
            offer = offer.replace("sendrecv", "sendonly")
        status, headers, answer = self._answers.request("POST", self._endpoint, offer, "application/sdp")
        print("POST", status, flush=True)
        if (
            status != 201
            or headers["Content-Type"].partition(";")[0].lower() != "application/sdp"
            or not answer.startswith("v=0\r\n")
        ):
            print(f"this is no answer: {answer}", file=sys.stderr)
            self._loop.quit()
            return False
        self._answers.tag = headers["ETag"] or ""
        # Any location with "http" in it counts as a whole address.
        location = headers["Location"]
        self._resource = location if "http" in location else urllib.parse.urljoin(self._endpoint, location)
        if "--no-trickle" not in self._options:
            GLib.timeout_add(100, self._trickle)
        self._accept(answer)
        return False

    def _with_candidates(self, offer: str) -> str:
        """The offer with the same candidates at the end of each of its sections."""
        lines = "".join(f"a={candidate}\r\n" for candidate in self._candidates)
        self._candidates.clear()
        session, *sections = re.split("^m=", offer, flags=re.MULTILINE)
        return session + "".join(f"m={section}{lines}" for section in sections)

    def _accept(self, answer: str) -> None:
        # It takes candidates from the first section alone.
        first = answer.split("\r\nm=")[1].split("\r\n")
        candidates = [line.removeprefix("a=") for line in first if line.startswith("a=candidate")]
        for candidate in candidates:
            self._peer.emit("add-ice-candidate", 0, candidate)
        print("candidates", len(candidates), flush=True)
        _, description = GstSdp.SDPMessage.new_from_text(answer)
        self._peer.emit(
            "set-remote-description",
            GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, description),
            Gst.Promise.new(),
        )

    def _trickle(self) -> bool:
        if not self._candidates:
            return True
        lines = [f"a={name}:{value(self._offer, name)}" for name in ("ice-ufrag", "ice-pwd")]
        # With sound the kind is audio, even where the first section, whose tag follows, is the picture.
        lines.append(f"m={'video' if self._is_silent else 'audio'} 9 RTP/AVP 0")
        lines.append(f"a=mid:{value(self._offer, 'mid')}")
        waiting = [self._candidates.popleft() for _ in range(len(self._candidates))]
        body = "".join(f"{line}\r\n" for line in lines + [f"a={candidate}" for candidate in waiting])
        print("PATCH", self._answers.request("PATCH", self._resource, body, FRAGMENT)[0], flush=True)
        return END not in waiting

    def _receive(self, peer: Gst.Element, pad: Gst.Pad) -> None:
        decoder = Gst.ElementFactory.make("decodebin")
        decoder.connect("pad-added", self._decode)
        self._pipeline.add(decoder)
        decoder.sync_state_with_parent()
        pad.link(decoder.get_static_pad("sink"))

    def _decode(self, decoder: Gst.Element, pad: Gst.Pad) -> None:
        kind = pad.get_current_caps().get_structure(0).get_name().partition("/")[0]
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("sync", False)
        sink.set_property("signal-handoffs", True)
        sink.connect("handoff", self._take, kind)
        self._pipeline.add(sink)
        sink.sync_state_with_parent()
        pad.link(sink.get_static_pad("sink"))

    def _take(self, sink: Gst.Element, buffer: Gst.Buffer, pad: Gst.Pad, kind: str) -> None:
        self._decoded[kind] += 1
        if self._decoded[kind] == ENOUGH:
            print("decoded", kind, flush=True)

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


def value(description: str, name: str) -> str:
    """The first value of an attribute."""
    start = f"a={name}:"
    return next(line for line in description.split("\r\n") if line.startswith(start)).removeprefix(start)


def servers(links: str) -> list[str]:
    """The servers of a header Link, in the form that webrtcbin takes."""
    found = []
    for link in links.split(", "):
        if 'rel="ice-server"' not in link:
            continue
        address, *parameters = link.removeprefix("<").split("; ")
        kind, _, host = address.removesuffix(">").partition(":")
        given = dict(parameter.split("=", 1) for parameter in parameters)
        user, password = (given.get(name, "").strip('"') for name in ("username", "credential"))
        found.append(f"{kind}://{user}:{password}@{host}" if user and password else f"{kind}://{host}")
    return found


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("whep", "whip"):
        sys.exit(str(__doc__))
    Gst.init(None)
    MeetechoClient(sys.argv[1] == "whip", sys.argv[2], os.environ["GATEHOUSE_TOKEN"], set(sys.argv[3:])).run()
