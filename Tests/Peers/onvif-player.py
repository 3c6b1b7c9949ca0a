#!/usr/bin/python3
"""Plays recorded footage by RTSP as an ONVIF client does, with GStreamer, and prints what the replay extension says.

    GATEHOUSE_TOKEN=… /usr/bin/python3 Tests/Peers/onvif-player.py rtsp://127.0.0.1:8554/recordings/DEVICE

Each packet of the pictures is a line "TIME KEY DISCONTINUITY": when it was captured in seconds since 1900, and two
digits, 0 or 1. The last line is "end". GStreamer's rtspsrc asks as ONVIF does, but does not require the extension by
itself. The Debian packages python3-gi, gir1.2-gst-plugins-base-1.0, gstreamer1.0-plugins-good and -bad hold what it
needs.
"""

import os
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
from gi.repository import GLib, Gst, GstRtsp  # noqa: E402

PIPELINE = """
    rtspsrc name=source onvif-mode=true protocols=tcp latency=100
        ! application/x-rtp,media=video ! rtponvifparse name=parser ! fakesink name=sink sync=false
"""


def require(_: Gst.Element, request: GstRtsp.RTSPMessage) -> bool:
    request.add_header(GstRtsp.RTSPHeaderField.REQUIRE, "onvif-replay")
    return True


def show(_: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
    packets = []
    if info.type & Gst.PadProbeType.BUFFER:
        packets.append(info.get_buffer())
    elif info.type & Gst.PadProbeType.BUFFER_LIST:
        found = info.get_buffer_list()
        packets += [found.get(index) for index in range(found.length())]
    for packet in packets:
        flags = packet.get_flags()
        is_key, is_new = not flags & Gst.BufferFlags.DELTA_UNIT, bool(flags & Gst.BufferFlags.DISCONT)
        print(f"{packet.pts / Gst.SECOND:.6f} {is_key:d} {is_new:d}", flush=True)
    return Gst.PadProbeReturn.OK


def main() -> int:
    Gst.init(None)
    pipeline = Gst.parse_launch(PIPELINE)
    source = pipeline.get_by_name("source")
    for name, value in (("location", sys.argv[1]), ("user-id", "anybody"), ("user-pw", os.environ["GATEHOUSE_TOKEN"])):
        source.set_property(name, value)
    source.connect("before-send", require)
    kinds = Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST
    pipeline.get_by_name("sink").get_static_pad("sink").add_probe(kinds, show)
    loop = GLib.MainLoop()
    failures = []

    def heard(_: Gst.Bus, message: Gst.Message) -> None:
        if message.type == Gst.MessageType.ERROR:
            failures.append(str(message.parse_error()))
            loop.quit()
        elif message.type == Gst.MessageType.EOS:
            loop.quit()

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", heard)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    print("\n".join(failures) or "end")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
