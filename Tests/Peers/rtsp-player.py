#!/usr/bin/python3
"""Plays a live view or recorded footage by RTSP with GStreamer, and prints what it gets.

    GATEHOUSE_TOKEN=… /usr/bin/python3 Tests/Peers/rtsp-player.py [--onvif] [--pictures N] URL PROTOCOLS ELEMENTS

URL has no password, PROTOCOLS are those of rtspsrc (`tcp`, `udp`), and ELEMENTS are what the packets of the pictures
pass, as in `rtph264depay ! avdec_h264`. Other tracks are received too and shown to nobody.

What leaves the last element is a line "TIME KEY DISCONTINUITY": its time in seconds, and two digits, 0 or 1. With
--onvif it asks as an ONVIF client does, and times are those of the capture, in seconds since 1900. rtspsrc asks as
ONVIF does, but does not require the extension by itself. A goodbye of a track is a line "goodbye SESSION", and the end
of all tracks is a line "ended". The last line is "end", or what failed.

With --pictures, the end comes after as many. Without, it comes when every track has ended, or when each has said
goodbye and nothing has been shown for five seconds. The jitter buffer of GStreamer 1.22 can wait for itself at its end:
the timer that it sets to the announced end of the presentation fires, the packets that are popped after that set it
again, and nobody wakes the thread that waits for it.

This is not gst-launch, which links the tracks in another thread than the one that brings them, and now and then loses
the first packets, or its own pads. The Debian packages python3-gi, gir1.2-gst-plugins-base-1.0,
gstreamer1.0-plugins-good and -bad hold what this needs.
"""

import argparse
import os
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
from gi.repository import GLib, Gst, GstRtsp  # noqa: E402

SECONDS_WITHOUT_A_PICTURE = 5


def say(line: str) -> None:
    """Writes a line at once and whole: several threads write."""
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


def require_replay(_: Gst.Element, request: GstRtsp.RTSPMessage) -> bool:
    request.add_header(GstRtsp.RTSPHeaderField.REQUIRE, "onvif-replay")
    return True


class Player:
    """A pipeline whose tracks are linked as they come, before their first packet."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.elements: str = options.elements
        self.pictures: int | None = options.pictures
        self.failures: list[str] = []
        self.loop = GLib.MainLoop()
        self.has_ended = False
        self.tracks = 0
        self.goodbyes: set[int] = set()
        self.shown = 0
        self.shown_before = -1
        self.pipeline = Gst.Pipeline.new(None)
        source = Gst.ElementFactory.make("rtspsrc")
        Gst.util_set_object_arg(source, "protocols", options.protocols)
        settings = {
            "location": options.url,
            "user-id": "anybody",
            "user-pw": os.environ["GATEHOUSE_TOKEN"],
            "latency": 100,
            "onvif-mode": options.onvif,
        }
        for name, value in settings.items():
            source.set_property(name, value)
        if options.onvif:
            source.connect("before-send", require_replay)
        source.connect("new-manager", lambda _, manager: manager.connect("on-bye-ssrc", self.heard_goodbye))
        source.connect("pad-added", self.link)
        self.pipeline.add(source)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.heard)

    def link(self, _: Gst.Element, pad: Gst.Pad) -> None:
        self.tracks += 1
        caps = pad.get_current_caps() or pad.query_caps(None)
        is_video = caps.get_structure(0).get_string("media") == "video"
        elements = f"{self.elements} ! fakesink name=sink sync=false" if is_video else "fakesink sync=false"
        part = Gst.parse_bin_from_description(elements, ghost_unlinked_pads=True)
        if is_video:
            kinds = Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST
            part.get_by_name("sink").get_static_pad("sink").add_probe(kinds, self.show)
        self.pipeline.add(part)
        part.sync_state_with_parent()
        pad.link(part.sinkpads[0])

    def show(self, _: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        buffers = []
        if info.type & Gst.PadProbeType.BUFFER:
            buffers.append(info.get_buffer())
        elif info.type & Gst.PadProbeType.BUFFER_LIST:
            found = info.get_buffer_list()
            buffers += [found.get(index) for index in range(found.length())]
        for buffer in buffers:
            flags = buffer.get_flags()
            is_key, is_new = not flags & Gst.BufferFlags.DELTA_UNIT, bool(flags & Gst.BufferFlags.DISCONT)
            say(f"{buffer.pts / Gst.SECOND:.6f} {is_key:d} {is_new:d}")
        self.shown += len(buffers)
        if self.pictures is not None and self.shown >= self.pictures:
            self.loop.quit()
        return Gst.PadProbeReturn.OK

    def heard_goodbye(self, _: Gst.Element, session: int, __: int) -> None:
        say(f"goodbye {session}")
        self.goodbyes.add(session)
        if len(self.goodbyes) == self.tracks:
            GLib.timeout_add_seconds(SECONDS_WITHOUT_A_PICTURE, self.end_if_nothing_comes)

    def end_if_nothing_comes(self) -> bool:
        if self.shown == self.shown_before:
            self.loop.quit()
        self.shown_before = self.shown
        return GLib.SOURCE_CONTINUE

    def heard(self, _: Gst.Bus, message: Gst.Message) -> None:
        if message.type == Gst.MessageType.ERROR:
            self.failures.append(str(message.parse_error()))
            self.loop.quit()
        elif message.type == Gst.MessageType.EOS:
            self.has_ended = True
            say("ended")
            self.loop.quit()

    def play(self) -> int:
        self.pipeline.set_state(Gst.State.PLAYING)
        self.loop.run()
        if self.has_ended:
            self.pipeline.set_state(Gst.State.NULL)
        say("\n".join(self.failures) or "end")
        return 1 if self.failures else 0


if __name__ == "__main__":
    Gst.init(None)
    parser = argparse.ArgumentParser()
    parser.add_argument("--onvif", action="store_true")
    parser.add_argument("--pictures", type=int)
    for name in ("url", "protocols", "elements"):
        parser.add_argument(name)
    # Without the interpreter's end: a jitter buffer that waits for itself cannot be stopped.
    os._exit(Player(parser.parse_args()).play())
