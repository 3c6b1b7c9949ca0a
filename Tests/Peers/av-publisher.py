"""Publishes a test picture and a tone with the FFmpeg that PyAV brings, until it is ended.

    python av-publisher.py URL hevc|av1|h264

It is newer than Debian's: it puts AV1 into RTP, and H.265 and AV1 into RTMP as enhanced RTMP has them. The sound is AAC
over RTMP and Opus over RTSP.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import cast

import av
from av.video.stream import VideoStream

RATE, SAMPLES = 15, 48_000
# One picture, or one piece of sound, becomes one packet at once.
ENCODERS = {
    "hevc": ("libx265", {"preset": "ultrafast", "tune": "zerolatency", "x265-params": "log-level=none:keyint=15"}),
    "av1": ("libsvtav1", {"preset": "12", "g": "15", "svtav1-params": "pred-struct=1:rc=2:tbr=300"}),
    "h264": ("libx264", {"preset": "ultrafast", "tune": "zerolatency", "profile": "baseline", "g": "15"}),
}


def pictures() -> Iterator[av.VideoFrame]:
    """A bright bar that moves over grey."""
    number = 0
    while True:
        frame = av.VideoFrame(320, 240, "yuv420p")
        for plane, shade in zip(frame.planes, (96, 128, 128), strict=True):
            plane.update(bytes([shade]) * plane.buffer_size)
        luma = bytearray(bytes([96]) * frame.planes[0].buffer_size)
        begin = number * 4 % 288
        for row in range(240):
            at = row * frame.planes[0].line_size + begin
            luma[at : at + 32] = bytes([230]) * 32
        frame.planes[0].update(bytes(luma))
        frame.pts, frame.time_base = number, Fraction(1, RATE)
        yield frame
        number += 1


def sound(size: int) -> Iterator[av.AudioFrame]:
    """A square wave of 400 Hz."""
    begin = 0
    while True:
        frame = av.AudioFrame(format="s16", layout="mono", samples=size)
        values = (8_000 if (begin + index) // 60 % 2 == 0 else -8_000 for index in range(size))
        frame.planes[0].update(b"".join(value.to_bytes(2, "little", signed=True) for value in values))
        frame.sample_rate, frame.pts, frame.time_base = SAMPLES, begin, Fraction(1, SAMPLES)
        yield frame
        begin += size


def publish(url: str, codec: str) -> None:
    is_rtmp = url.startswith("rtmp:")
    options = {} if is_rtmp else {"rtsp_transport": "tcp", "strict": "experimental"}
    with av.open(url, "w", format="flv" if is_rtmp else "rtsp", options=options) as output:
        name, settings = ENCODERS[codec]
        video = cast(VideoStream, output.add_stream(name, rate=RATE, options=settings))
        video.width, video.height, video.pix_fmt = 320, 240, "yuv420p"
        audio = output.add_stream("aac" if is_rtmp else "libopus", rate=SAMPLES, layout="mono")
        began, size = time.monotonic(), 1024 if is_rtmp else 960
        heard = 0
        tone = sound(size)
        for number, picture in enumerate(pictures()):
            for packet in video.encode(picture):
                output.mux(packet)
            while heard < (number + 1) * SAMPLES // RATE:
                for packet in audio.encode(next(tone)):
                    output.mux(packet)
                heard += size
            time.sleep(max(0.0, began + (number + 1) / RATE - time.monotonic()))


def main() -> int:
    parser = argparse.ArgumentParser(description="Publishes a test picture and a tone.")
    parser.add_argument("url")
    parser.add_argument("codec", choices=ENCODERS)
    options = parser.parse_args()
    publish(options.url, options.codec)
    return 0


if __name__ == "__main__":
    sys.exit(main())
