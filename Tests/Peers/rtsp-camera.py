#!/usr/bin/python3
"""Serves test cameras by GStreamer's RTSP server on 127.0.0.1, prints "ready PORT", and runs until it is ended.

    /usr/bin/python3 Tests/Peers/rtsp-camera.py [--port PORT] [--user NAME --password PASSWORD [--auth digest|basic]]

    rtsp://127.0.0.1:PORT/h264    H.264 and PCMA        rtsp://127.0.0.1:PORT/vp8     VP8 and Opus
    rtsp://127.0.0.1:PORT/pcmu    H.264 and PCMU        rtsp://127.0.0.1:PORT/silent  H.264 alone
    rtsp://127.0.0.1:PORT/bare    H.264 whose parameter sets stand in the description only
    rtsp://127.0.0.1:PORT/vp8-silent  VP8 alone

The Debian packages gir1.2-gst-rtsp-server-1.0, python3-gi, gstreamer1.0-plugins-base, -good, -bad and -ugly hold what
it needs. Each camera shows a moving test pattern with a clock and sounds a tone of 440 Hz.
"""

import argparse
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

VIDEO_SOURCE = (
    "videotestsrc is-live=true pattern={pattern} ! video/x-raw,format=I420,width={width},height={height},framerate={rate}/1"
    " ! clockoverlay time-format=%H:%M:%S"
)
AUDIO_SOURCE = "audiotestsrc is-live=true wave=sine freq=440 volume=0.3 samplesperbuffer={samples}"
H264 = (
    " ! x264enc tune=zerolatency speed-preset=ultrafast bitrate={bitrate} key-int-max={interval} bframes=0"
    " ! video/x-h264,profile=constrained-baseline ! rtph264pay name=pay0 pt=96 config-interval={config}"
)
VP8 = (
    " ! vp8enc deadline=1 cpu-used=8 threads=1 target-bitrate={bits} keyframe-max-dist={interval}"
    " error-resilient=default ! rtpvp8pay name=pay0 pt=97 picture-id-mode=15-bit"
)
G711 = (
    " ! audio/x-raw,rate=8000,channels=1 ! {law}enc"
    " ! rtppcm{letter}pay name=pay1 pt={type} min-ptime=20000000 max-ptime=20000000"
)
OPUS = (
    " ! audio/x-raw,rate=48000,channels=2 ! opusenc frame-size=20 bitrate=48000 ! rtpopuspay name=pay1 pt=98"
)


def pipelines(options):
    """The launch line of each camera by its path."""
    video = VIDEO_SOURCE.format(
        pattern=options.pattern, width=options.width, height=options.height, rate=options.rate
    )
    interval = int(options.rate * options.key_interval)

    def h264(config):
        return video + H264.format(bitrate=options.bitrate, interval=interval, config=config)

    vp8 = video + VP8.format(bits=options.bitrate * 1000, interval=interval)
    narrow = AUDIO_SOURCE.format(samples=160)
    wide = AUDIO_SOURCE.format(samples=960)
    pcma = narrow + G711.format(law="alaw", letter="a", type=8)
    pcmu = narrow + G711.format(law="mulaw", letter="u", type=0)
    return {
        "/h264": f"( {h264(-1)} {pcma} )",
        "/pcmu": f"( {h264(-1)} {pcmu} )",
        "/silent": f"( {h264(-1)} )",
        # config-interval 0: the payloader leaves the parameter sets to the description.
        "/bare": f"( {h264(0)} {pcma} )",
        "/vp8": f"( {vp8} {wide}{OPUS} )",
        "/vp8-silent": f"( {vp8} )",
    }


def authentication(options):
    """Asks every client for the given name and password."""
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    if options.auth == "basic":
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(options.user, options.password), token)
    else:
        auth.set_supported_methods(2)  # GST_RTSP_AUTH_DIGEST, which the bindings do not export under every version.
        auth.add_digest(options.user, options.password, token)
    return auth


def main():
    parser = argparse.ArgumentParser(description="Serves RTSP test cameras on the loopback interface.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--user")
    parser.add_argument("--password", default="")
    parser.add_argument("--auth", choices=["digest", "basic"], default="digest")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--pattern", default="ball", help="videotestsrc's; snow fills any bitrate")
    parser.add_argument("--rate", type=int, default=15, help="frames a second")
    parser.add_argument("--bitrate", type=int, default=600, help="kbit/s of the video")
    parser.add_argument("--key-interval", type=float, default=4, help="seconds from key frame to key frame")
    options = parser.parse_args()

    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(str(options.port))
    if options.user:
        server.set_auth(authentication(options))

    mounts = server.get_mount_points()
    for path, launch in pipelines(options).items():
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(launch)
        # One encoder for all clients of a path, as in a camera.
        factory.set_shared(True)
        factory.set_suspend_mode(GstRtspServer.RTSPSuspendMode.NONE)
        if options.user:
            factory.add_role_from_structure(
                Gst.Structure.from_string(
                    "viewer, media.factory.access=(boolean)true, media.factory.construct=(boolean)true"
                )[0]
            )
        mounts.add_factory(path, factory)

    if server.attach(None) == 0:
        print(f"port {options.port} of 127.0.0.1 cannot be used", file=sys.stderr)
        return 1
    print(f"ready {server.get_bound_port()}", flush=True)
    loop = GLib.MainLoop()
    for number in (signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, loop.quit)
    loop.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
