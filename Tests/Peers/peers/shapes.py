"""Offers of every shape, the same for each peer, and what a camera's answer to one has to be."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

SAMPLES = 24
POLICIES = ("balanced", "max-compat", "max-bundle")
AUDIO, VIDEO = ("recvonly", "sendrecv", "sendonly", "inactive"), ("recvonly", "sendrecv", "inactive")
PREFERENCES: tuple[dict[str, str], ...] = (
    {}, {"video": "VP8"}, {"video": "H264"}, {"audio": "opus"}, {"audio": "PCMU"}, {"audio": "G722"},
    {"video": "VP8", "audio": "PCMA"},
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    kind: str
    direction: str
    codec: str = ""
    """The only codec; all of the peer's codecs if it is empty or the peer does not have it."""

    @property
    def receives(self) -> bool:
        return self.direction in ("recvonly", "sendrecv")


@dataclass(frozen=True)
class Shape:
    lines: tuple[Line, ...]
    policy: str
    data: str
    """Where the data channel was made: "none", "first" or "last"."""

    def __str__(self) -> str:
        lines = " ".join(f"{line.kind}:{line.direction}{':' + line.codec if line.codec else ''}" for line in self.lines)
        return f"{lines} {self.policy} data:{self.data}"


@dataclass(frozen=True)
class Camera:
    id: str
    video: str = ""
    audio: str = ""


@dataclass
class Case:
    shape: Shape
    camera: Camera
    sample: bool = False
    """Whether a picture is waited for."""

    def message(self) -> dict[str, Any]:
        return asdict(self.shape) | {"camera": self.camera.id, "sample": self.sample}


@dataclass
class Outcome:
    """What became of one offer."""

    status: int = 0
    text: str = ""
    """The gateway's reason, or the peer's."""
    applied: bool = False
    answer: str = ""
    frames: int = 0


def shapes() -> Iterator[Shape]:
    """Kinds and their order × directions × bundle policy × data channel, with codec preferences in turn."""
    chosen = random.Random(8)
    for kinds in ("a", "v", "av", "va", "vv", "aa", "avv", "vva", "aav"):
        audio = AUDIO if "a" in kinds else AUDIO[:1]
        video = VIDEO if "v" in kinds else VIDEO[:1]
        for policy, data, heard, seen in itertools.product(POLICIES, ("none", "first", "last"), audio, video):
            preference = chosen.choice(PREFERENCES)
            directions = {"audio": [heard, chosen.choice(AUDIO)], "video": [seen, chosen.choice(VIDEO)]}
            lines = []
            for letter in kinds:
                kind = {"a": "audio", "v": "video"}[letter]
                lines.append(Line(kind, directions[kind].pop(0), preference.get(kind, "")))
            yield Shape(tuple(lines), policy, data)


def cases(cameras: list[Camera], has_h264: bool, stride: int = 1) -> list[Case]:
    """Every `stride`th shape against a camera, and the usual offers against all."""
    chosen = random.Random(88)
    result = [Case(shape, chosen.choice(cameras)) for shape in itertools.islice(shapes(), 0, None, stride)]
    usual = (("audio", "video"), ("video", "audio"), ("audio",), ("video",))
    result += [
        Case(Shape(tuple(Line(kind, "recvonly") for kind in kinds), policy, data), camera)
        for camera, policy, data, kinds in itertools.product(cameras, POLICIES, ("none", "last"), usual)
    ]
    # Of those that show a picture for certain, some are watched.
    seen = [case for case in result if is_seen(case, has_h264) and expectation(case, has_h264) == {"played"}]
    for case in seen[:: max(1, len(seen) // SAMPLES)]:
        case.sample = True
    return result


def takes(line: Line, codec: str, has_h264: bool) -> bool:
    """Whether a line offers a codec."""
    if codec == "H264" and not has_h264:
        return False
    return line.codec in ("", codec) or (line.codec == "H264" and not has_h264)


def is_seen(case: Case, has_h264: bool) -> bool:
    """Whether a line asks for a picture that the camera has as it is asked for."""
    return any(
        line.kind == "video" and line.receives and takes(line, case.camera.video, has_h264)
        for line in case.shape.lines
        if case.camera.video
    )


def expectation(case: Case, has_h264: bool) -> set[str]:
    """What the gateway may do with an offer: "played", "refused"."""
    camera, lines = case.camera, case.shape.lines
    if case.shape.data != "none" and all(line.direction == "inactive" for line in lines):
        # Data channels alone.
        return {"played"}
    seen = [line for line in lines if line.kind == "video" and line.receives]
    if camera.video and seen:
        if is_seen(case, has_h264):
            return {"played"}
        # Other video is transcoded to VP8 if the gateway's settings and limits allow it.
        return {"played", "refused"} if any(takes(line, "VP8", has_h264) for line in seen) else {"refused"}
    heard = [line for line in lines if line.kind == "audio" and line.receives]
    # Every sound is transcoded to Opus.
    plays = camera.audio and any(line.codec in ("", "opus", camera.audio) for line in heard)
    return {"played"} if plays else {"refused"}


@dataclass
class Tally:
    """The outcomes of a peer's cases."""

    peer: str
    has_h264: bool
    answered: int = 0
    refused: int = 0
    watched: int = 0
    seen: int = 0
    seconds: float = 0
    faults: list[str] = field(default_factory=list)
    unapplied: int = 0

    def add(self, case: Case, outcome: Outcome) -> None:
        what = f"{case.camera.id}: {case.shape}"
        if outcome.status == 201:
            self.answered += 1
            if not outcome.applied:
                self.unapplied += 1
                self.faults.append(f"{what}: the peer refused the answer: {outcome.text}\n{outcome.answer}")
            if case.sample:
                self.watched += 1
                self.seen += outcome.frames > 0
                if outcome.frames == 0:
                    self.faults.append(f"{what}: no picture")
        else:
            self.refused += 1
            if outcome.status not in (400, 406):
                self.faults.append(f"{what}: status {outcome.status}: {outcome.text}")
        if ("played" if outcome.status == 201 else "refused") not in expectation(case, self.has_h264):
            self.faults.append(f"{what}: status {outcome.status} is wrong: {outcome.text}")

    @property
    def line(self) -> str:
        return (
            f"offers of every shape, {self.peer}: {self.answered + self.refused} offers, {self.answered} answers,"
            f" {self.unapplied} of them refused by the peer, {self.refused} offers refused by the gateway,"
            f" pictures seen in {self.seen} of {self.watched} that were watched ({self.seconds:.0f} s)"
        )

    def check(self) -> None:
        assert not self.faults, f"{len(self.faults)} faults, the first:\n" + "\n".join(self.faults[:12])
