#!/usr/bin/python3
"""Serves test cameras by GStreamer's RTSP server on 127.0.0.1, prints "ready PORT", and runs until it is ended.

    /usr/bin/python3 Tests/Peers/rtsp-camera.py [--port PORT] [--user NAME --password PASSWORD [--auth digest|basic]]
        [--transport any|tcp|udp] [--tls]

    rtsp://127.0.0.1:PORT/h264    H.264 and PCMA        rtsp://127.0.0.1:PORT/vp8     VP8 and Opus
    rtsp://127.0.0.1:PORT/aac     H.264 and AAC at 16 kHz
    rtsp://127.0.0.1:PORT/pcmu    H.264 and PCMU        rtsp://127.0.0.1:PORT/silent  H.264 alone
    rtsp://127.0.0.1:PORT/bare    H.264 whose parameter sets stand in the description only
    rtsp://127.0.0.1:PORT/vp8-silent  VP8 alone          rtsp://127.0.0.1:PORT/tone   Opus alone
    rtsp://127.0.0.1:PORT/sound   Opus alone            rtsp://127.0.0.1:PORT/g722    VP8 and G.722
    rtsp://127.0.0.1:PORT/g726    H.264 and G.726
    rtsp://127.0.0.1:PORT/small   H.264 of half the width and height, alone: another camera's smaller stream
    rtsp://127.0.0.1:PORT/vp8-small   the same in VP8
    rtsp://127.0.0.1:PORT/h265    H.265 and AAC
    rtsp://127.0.0.1:PORT/b-frames  H.264 with B-frames, and AAC
    rtsp://127.0.0.1:PORT/mjpeg   Motion JPEG and AAC
    rtsp://127.0.0.1:PORT/talk-pcmu   H.264, PCMA, and a speaker that takes PCMU (ONVIF's back channel)
    rtsp://127.0.0.1:PORT/talk-pcma   the same with PCMA
    rtsp://127.0.0.1:PORT/talk-aac    the same with AAC at 16 kHz
    rtsp://127.0.0.1:PORT/talk-l16    the same with L16 at 16 kHz
    rtsp://127.0.0.1:PORT/talk-opus   the same with Opus

A speaker tells what it hears, ten lines a second: "heard PATH MILLISECOND LEVEL TONE" with the monotonic clock's
milliseconds at which the stretch's last sample arrived, the root of the mean square from 0 to 1, and the strongest tone
in hertz (0 where none stands out). Where sound begins after silence it tells "onset PATH MILLISECOND". With --ticks a
camera tells "ticked PATH MILLISECOND" when each of its sounds was made; all these times are the monotonic clock's.

The Debian packages gir1.2-gst-rtsp-server-1.0, python3-gi, gstreamer1.0-plugins-base, -good, -bad, -ugly and
gstreamer1.0-x hold what it needs. RTSP inside HTTP is answered on the same port; with --tls all of it goes through TLS,
with a certificate that the camera signs itself.

Each camera shows a moving test pattern with a clock and sounds a tone of 440 Hz.
"""

import argparse
import array
import math
import signal
import subprocess
import sys
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, GObject, Gst, GstRtsp, GstRtspServer  # noqa: E402

VIDEO_SOURCE = (
    "videotestsrc is-live=true pattern={pattern}"
    " ! video/x-raw,format=I420,width={width},height={height},framerate={rate}/1"
    " ! clockoverlay time-format=%H:%M:%S"
)
AUDIO_SOURCE = "audiotestsrc is-live=true {wave} samplesperbuffer={samples}"
TONE = "wave=sine freq=440 volume=0.3"
# Twenty milliseconds of a tone each second.
TICKS = "wave=ticks freq=1000 volume=0.5 sine-periods-per-tick=20 tick-interval=1000000000"
H264 = (
    " ! x264enc tune=zerolatency speed-preset=ultrafast bitrate={bitrate} key-int-max={interval} bframes=0"
    " ! video/x-h264,profile=constrained-baseline ! rtph264pay name=pay0 pt=96 config-interval={config}"
)
H265 = (
    " ! x265enc tune=zerolatency speed-preset=ultrafast bitrate={bitrate} key-int-max={interval}"
    " option-string=log-level=none:pools=1 ! rtph265pay name=pay0 pt=96 config-interval=-1"
)
B_FRAMES = (
    " ! x264enc speed-preset=ultrafast bitrate={bitrate} key-int-max={interval} bframes=2 b-adapt=false rc-lookahead=0"
    " ! video/x-h264,profile=main ! rtph264pay name=pay0 pt=96 config-interval=-1"
)
MOTION_JPEG = " ! jpegenc ! rtpjpegpay name=pay0 pt=26"
VP8 = (
    " ! vp8enc deadline=1 cpu-used=8 threads=1 target-bitrate={bits} keyframe-max-dist={interval}"
    " error-resilient=default ! rtpvp8pay name=pay0 pt=97 picture-id-mode=15-bit"
)
VP9 = (
    " ! vp9enc deadline=1 cpu-used=8 threads=1 lag-in-frames=0 target-bitrate={bits} keyframe-max-dist={interval}"
    " ! rtpvp9pay name=pay0 pt=97 picture-id-mode=15-bit"
)
G711 = (
    " ! audio/x-raw,format=S16LE,rate=8000,channels=1 ! identity name=mouth ! {law}enc"
    " ! rtppcm{letter}pay name=pay1 pt={type} min-ptime=20000000 max-ptime=20000000"
)
AAC = (
    " ! audio/x-raw,format=S16LE,rate=16000,channels=1 ! identity name=mouth ! audioconvert"
    " ! avenc_aac bitrate=48000 ! aacparse ! rtpmp4gpay name=pay1 pt=97"
)
# RFC 3551, section 4.5.2: 16 kHz of sound on an RTP clock of 8 kHz.
G722 = (
    " ! audio/x-raw,format=S16LE,rate=16000,channels=1 ! identity name=mouth ! avenc_g722"
    " ! rtpg722pay name=pay1 pt=9 min-ptime=20000000 max-ptime=20000000"
)
# RFC 3551, section 4.5.4: at 32 kbit/s, with the bits in the order that the name stands for.
G726 = (
    " ! audio/x-raw,format=S16LE,rate=8000,channels=1 ! identity name=mouth ! avenc_g726 bitrate=32000"
    " ! rtpg726pay name=pay1 pt=99 force-aal2=false min-ptime=20000000 max-ptime=20000000"
)
OPUS = " ! audio/x-raw,rate=48000,channels=2 ! opusenc frame-size=20 bitrate=48000 ! rtpopuspay name=pay1 pt=98"


# A back channel's element is handed packets by the server and has its payload type in the caps, which the server reads
# for its description.
SPEAKERS = {
    "pcmu": (
        "application/x-rtp, media=(string)audio, payload=(int)0, clock-rate=(int)8000, encoding-name=(string)PCMU",
        "rtppcmudepay ! mulawdec",
    ),
    "pcma": (
        "application/x-rtp, media=(string)audio, payload=(int)8, clock-rate=(int)8000, encoding-name=(string)PCMA",
        "rtppcmadepay ! alawdec",
    ),
    "aac": (
        (
            "application/x-rtp, media=(string)audio, payload=(int)97, clock-rate=(int)16000,"
            " encoding-name=(string)MPEG4-GENERIC, encoding-params=(string)1, streamtype=(string)5,"
            " profile-level-id=(string)15, mode=(string)AAC-hbr, config=(string)1408, sizelength=(string)13,"
            " indexlength=(string)3, indexdeltalength=(string)3"
        ),
        "rtpmp4gdepay ! aacparse ! avdec_aac",
    ),
    "l16": (
        (
            "application/x-rtp, media=(string)audio, payload=(int)99, clock-rate=(int)16000,"
            " encoding-name=(string)L16, encoding-params=(string)1, channels=(int)1"
        ),
        "rtpL16depay",
    ),
    "opus": (
        (
            "application/x-rtp, media=(string)audio, payload=(int)98, clock-rate=(int)48000,"
            " encoding-name=(string)OPUS, encoding-params=(string)2"
        ),
        "rtpopusdepay ! opusdec",
    ),
}


def speaker(codec, path):
    """The launch line of a back channel that measures what it plays."""
    caps, decoder = SPEAKERS[codec]
    return (
        f'( capsfilter caps="{caps}" name=depay_backchannel ! {decoder} ! audioconvert ! audioresample'
        f" ! audio/x-raw,format=S16LE,channels=1,rate=8000,layout=interleaved"
        f" ! appsink name=ear-{path} emit-signals=true sync=false async=false max-buffers=100 drop=true )"
    )


class Onsets:
    """Finds where sound begins after a third of a second of silence."""

    LOUD = 1000

    def __init__(self, rate):
        self.rate = rate
        self.quiet = 0

    def find(self, samples):
        """The number of the first loud sample after silence; None if there is none."""
        if max(samples, default=0) < self.LOUD and min(samples, default=0) > -self.LOUD:
            self.quiet += len(samples)
            return None
        was_quiet = self.quiet >= self.rate / 3
        self.quiet = 0
        if not was_quiet:
            return None
        return next(index for index, value in enumerate(samples) if abs(value) >= self.LOUD)


class Ear:
    """Listens to what a speaker plays, and reports it every 100 ms."""

    STRETCH = 800
    TONES = range(200, 3400, 20)

    def __init__(self, path):
        self.path = path
        self.samples = array.array("h")
        self.onsets = Onsets(8000)

    def hear(self, sink):
        sample = sink.emit("pull-sample")
        if sample is None:
            return Gst.FlowReturn.OK
        buffer = sample.get_buffer()
        now = time.monotonic() * 1000
        came = array.array("h", buffer.extract_dup(0, buffer.get_size()))
        if (onset := self.onsets.find(came)) is not None:
            print(f"onset {self.path} {now + onset / 8:.2f}", flush=True)
        self.samples.extend(came)
        while len(self.samples) >= self.STRETCH:
            stretch, self.samples = self.samples[: self.STRETCH], self.samples[self.STRETCH :]
            behind = len(self.samples) / 8
            energy = sum(value * value for value in stretch)
            level = math.sqrt(energy / len(stretch)) / 32768
            tone = self.tone(stretch, energy) if level > 0.005 else 0
            print(f"heard {self.path} {now - behind:.1f} {level:.4f} {tone}", flush=True)
        return Gst.FlowReturn.OK

    def tone(self, samples, energy):
        """Goertzel's algorithm over a grid of 20 Hz."""
        best, loudest = 0, 0.0
        for frequency in self.TONES:
            factor = 2 * math.cos(2 * math.pi * frequency / 8000)
            last = before = 0.0
            for value in samples:
                last, before = value + factor * last - before, last
            power = last * last + before * before - factor * last * before
            if power > loudest:
                best, loudest = frequency, power
        return best if loudest * 2 / (energy * len(samples)) > 0.3 else 0


def listen(media, path):
    """Listens to a media's speaker as soon as it is made."""
    element = media.get_element().get_by_name(f"ear-{path}")
    if element is not None:
        element.connect("new-sample", Ear(path).hear)


class Mouth:
    """Tells when each sound of a camera with a ticking clock was made, by the monotonic clock."""

    def __init__(self, media, path):
        self.path = path
        self.element = media.get_element().get_by_name("mouth")
        if self.element is not None:
            self.element.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.speak)
        self.onsets = None

    def speak(self, pad, info):
        buffer = info.get_buffer()
        rate = pad.get_current_caps().get_structure(0).get_int("rate")[1]
        self.onsets = self.onsets or Onsets(rate)
        onset = self.onsets.find(array.array("h", buffer.extract_dup(0, buffer.get_size())))
        if onset is not None:
            passed = self.element.get_base_time() + buffer.pts + onset * 1_000_000_000 // rate
            internal, external, numerator, denominator = self.element.get_clock().get_calibration()
            # The camera's own clock may run at another rate than this machine's.
            passed = internal + (passed - external) * denominator // numerator
            print(f"ticked {self.path} {passed / 1e6:.2f}", flush=True)
        return Gst.PadProbeReturn.OK


def pipelines(options):
    """The launch line of each camera by its path."""
    video = VIDEO_SOURCE.format(pattern=options.pattern, width=options.width, height=options.height, rate=options.rate)
    interval = int(options.rate * options.key_interval)

    def h264(config):
        return video + H264.format(bitrate=options.bitrate, interval=interval, config=config)

    small = VIDEO_SOURCE.format(
        pattern=options.pattern, width=options.width // 4 * 2, height=options.height // 4 * 2, rate=options.rate
    )
    vp8 = video + VP8.format(bits=options.bitrate * 1000, interval=interval)
    wave = TICKS if options.ticks else TONE
    narrow = AUDIO_SOURCE.format(samples=160, wave=wave)
    wide = AUDIO_SOURCE.format(samples=960, wave=wave)
    pcma = narrow + G711.format(law="alaw", letter="a", type=8)
    pcmu = narrow + G711.format(law="mulaw", letter="u", type=0)
    return {
        "/h264": f"( {h264(-1)} {pcma} )",
        "/pcmu": f"( {h264(-1)} {pcmu} )",
        "/aac": f"( {h264(-1)} {AUDIO_SOURCE.format(samples=320, wave=wave)}{AAC} )",
        "/silent": f"( {h264(-1)} )",
        # config-interval 0: the payloader leaves the parameter sets to the description.
        "/bare": f"( {h264(0)} {pcma} )",
        "/small": f"( {small}{H264.format(bitrate=options.bitrate // 3, interval=interval, config=-1)} )",
        "/h265": f"( {video}{H265.format(bitrate=options.bitrate, interval=interval)} {narrow}{AAC} )",
        "/b-frames": f"( {video}{B_FRAMES.format(bitrate=options.bitrate, interval=interval)} {narrow}{AAC} )",
        "/mjpeg": f"( {video}{MOTION_JPEG} {narrow}{AAC} )",
        "/vp8": f"( {vp8} {wide}{OPUS} )",
        "/vp8-silent": f"( {vp8} )",
        "/vp8-small": f"( {small}{VP8.format(bits=options.bitrate * 1000 // 3, interval=interval)} )",
        "/vp9": f"( {video}{VP9.format(bits=options.bitrate * 1000, interval=interval)} {wide}{OPUS} )",
        "/tone": f"( {wide}{OPUS.replace('pay1', 'pay0')} )",
        "/sound": f"( {wide}{OPUS.replace('pay1', 'pay0')} )",
        "/g722": f"( {vp8} {AUDIO_SOURCE.format(samples=320, wave=wave)}{G722} )",
        "/g726": f"( {h264(-1)} {narrow}{G726} )",
    }


def talking_pipeline(options):
    """A camera whose picture and sound may go nowhere."""
    aside = " ! tee name={0} {0}. ! queue ! fakesink async=false {0}. ! queue"
    video = VIDEO_SOURCE.format(pattern=options.pattern, width=options.width, height=options.height, rate=options.rate)
    picture = H264.format(bitrate=options.bitrate, interval=int(options.rate * options.key_interval), config=-1)
    sound = AUDIO_SOURCE.format(samples=160, wave=TONE) + aside.format("heard")
    return f"( {video}{aside.format('seen')}{picture} {sound}{G711.format(law='alaw', letter='a', type=8)} )"


def certificate():
    """A certificate that signs itself, as cameras have it, with its key."""
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=camera"
    command += " -keyout /dev/stdout -out /dev/stdout"
    made = subprocess.run(command.split(), check=True, capture_output=True, text=True)
    return Gio.TlsCertificate.new_from_pem(made.stdout, -1)


def authentication(options):
    """Asks every client for the given name and password, and speaks TLS where that is asked for."""
    auth = GstRtspServer.RTSPAuth()
    if options.tls:
        auth.set_tls_certificate(certificate())
    if not options.user:
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        auth.set_default_token(token)
        return auth
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    if options.auth == "basic":
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(options.user, options.password), token)
    else:
        auth.set_supported_methods(2)  # GST_RTSP_AUTH_DIGEST, which the bindings do not export under every version.
        auth.add_digest(options.user, options.password, token)
    return auth


def wrong_clock(error):
    """A clock that runs too fast by so many millionths."""
    clock = GObject.new(Gst.SystemClock.__gtype__, name="wrong")
    now = clock.get_internal_time()
    clock.set_calibration(now, now, 1_000_000_000 + int(error * 1000), 1_000_000_000)
    return clock


def main():
    parser = argparse.ArgumentParser(description="Serves RTSP test cameras on the loopback interface.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--user")
    parser.add_argument("--password", default="")
    parser.add_argument("--auth", choices=["digest", "basic"], default="digest")
    parser.add_argument("--transport", choices=["any", "tcp", "udp"], default="any")
    parser.add_argument("--tls", action="store_true", help="rtsps:// instead of rtsp://")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--pattern", default="ball", help="videotestsrc's; snow fills any bitrate")
    parser.add_argument("--rate", type=int, default=15, help="frames a second")
    parser.add_argument("--bitrate", type=int, default=600, help="kbit/s of the video")
    parser.add_argument("--key-interval", type=float, default=4, help="seconds from key frame to key frame")
    parser.add_argument("--ticks", action="store_true", help="a tick each second instead of a tone")
    parser.add_argument(
        "--clock-error", type=float, default=0, help="how much too fast the camera's clock runs, in millionths"
    )
    options = parser.parse_args()

    Gst.init(None)
    server = GstRtspServer.RTSPOnvifServer()
    server.set_address("127.0.0.1")
    server.set_service(str(options.port))
    if options.user or options.tls:
        server.set_auth(authentication(options))

    try:
        for launch in [*pipelines(options).values(), talking_pipeline(options)]:
            Gst.parse_launch(launch)
    except GLib.Error as error:
        # Clients would only learn that the service is unavailable.
        print(f"GStreamer cannot make a camera: {error.message}", file=sys.stderr)
        return 1

    mounts = server.get_mount_points()
    cameras: list[tuple[str, str, str | None]] = [(path, launch, None) for path, launch in pipelines(options).items()]
    # A client that only talks leaves picture and sound without a receiver, at which their sources would end.
    with_sound = talking_pipeline(options)
    cameras += [(f"/talk-{codec}", with_sound, speaker(codec, f"talk-{codec}")) for codec in SPEAKERS]
    for path, launch, back_channel in cameras:
        if back_channel is None:
            factory = GstRtspServer.RTSPMediaFactory()
        else:
            factory = GstRtspServer.RTSPOnvifMediaFactory()
            factory.set_media_gtype(GstRtspServer.RTSPOnvifMedia.__gtype__)
            factory.set_backchannel_launch(back_channel)
            name = path[1:]
            factory.connect("media-configure", lambda _, media, name=name: listen(media, name))
        factory.set_launch(launch)
        if options.ticks:
            factory.connect("media-configure", lambda _, media, name=path[1:]: Mouth(media, name))
        if options.clock_error:
            factory.set_clock(wrong_clock(options.clock_error))
        # One encoder for all clients of a path, as in a camera. The server gives each client that talks a speaker, and
        # with it a pipeline, of its own.
        factory.set_shared(back_channel is None)
        factory.set_suspend_mode(GstRtspServer.RTSPSuspendMode.NONE)
        if options.transport != "any":
            factory.set_protocols(
                GstRtsp.RTSPLowerTrans.UDP if options.transport == "udp" else GstRtsp.RTSPLowerTrans.TCP
            )
        if options.user or options.tls:
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
