"""Offers of every shape, the same for each peer, and what a camera's answer to one has to be."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

SAMPLES = 24
PARTS = 3
"""A run takes one of so many parts of `every_case`, unless it is told to take all."""
POLICIES, DATA = ("balanced", "max-compat", "max-bundle"), ("none", "first", "last")
AUDIO, VIDEO = ("recvonly", "sendrecv", "sendonly", "inactive"), ("recvonly", "sendrecv", "inactive")
PREFERENCES: tuple[dict[str, str], ...] = (
    {}, {"video": "VP8"}, {"video": "H264"}, {"audio": "opus"}, {"audio": "PCMU"}, {"audio": "G722"},
    {"video": "VP8", "audio": "PCMA"}, {"video": "AV1"},
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


@dataclass
class Outcome:
    """What became of one offer."""

    status: int = 0
    text: str = ""
    """The gateway's reason, or the peer's."""
    applied: bool = False
    answer: str = ""
    frames: int = 0
    applied_before: bool = False
    """Whether the peer has already applied an answer that differs only in keys, addresses and names."""


def shapes() -> Iterator[tuple[int, Shape]]:
    """Kinds and their order × directions × bundle policy × data channel, with codec preferences in turn. Those with the
    same number differ only in the data channel and in the preference."""
    chosen = random.Random(8)
    number = 0
    for kinds in ("a", "v", "av", "va", "vv", "aa", "avv", "vva", "aav"):
        audio = AUDIO if "a" in kinds else AUDIO[:1]
        video = VIDEO if "v" in kinds else VIDEO[:1]
        for policy, heard, seen in itertools.product(POLICIES, audio, video):
            number += 1
            for data in DATA:
                preference = chosen.choice(PREFERENCES)
                directions = {"audio": [heard, chosen.choice(AUDIO)], "video": [seen, chosen.choice(VIDEO)]}
                lines = []
                for letter in kinds:
                    kind = {"a": "audio", "v": "video"}[letter]
                    lines.append(Line(kind, directions[kind].pop(0), preference.get(kind, "")))
                yield number, Shape(tuple(lines), policy, data)


def every_case(cameras: list[Camera], codecs: frozenset[str], part: int | None = None) -> list[Case]:
    """Every shape against every camera, which makes its data channel in each way with a third of them; and the usual
    offers against all. A part has its share of the shapes, and each shape is in one part."""
    chosen = random.Random(888)
    parts = {number: chosen.randrange(PARTS) for number in sorted({number for number, _ in shapes()})}
    result = [
        Case(shape, camera)
        for number, shape in shapes()
        if part in (None, parts[number])
        for index, camera in enumerate(cameras)
        if (index + number) % len(DATA) == DATA.index(shape.data)
    ]
    return _sampled(result + _usual(cameras), codecs)


def some_cases(cameras: list[Camera], codecs: frozenset[str], stride: int) -> list[Case]:
    """Every `stride`th shape against a camera, and the usual offers against all."""
    chosen = random.Random(88)
    result = [Case(shape, chosen.choice(cameras)) for _, shape in itertools.islice(shapes(), 0, None, stride)]
    return _sampled(result + _usual(cameras), codecs)


def _usual(cameras: list[Camera]) -> list[Case]:
    kinds = (("audio", "video"), ("video", "audio"), ("audio",), ("video",))
    offers = [
        Shape(tuple(Line(kind, "recvonly") for kind in each), policy, data)
        for policy, data, each in itertools.product(POLICIES, ("none", "last"), kinds)
    ]
    return [Case(shape, camera) for shape in offers for camera in cameras]


def _sampled(cases: list[Case], codecs: frozenset[str]) -> list[Case]:
    """Of the cases that show a picture for certain, some are watched: some of each camera."""
    seen: dict[str, list[Case]] = {}
    for case in cases:
        if is_seen(case, codecs) and expectation(case, codecs) == {"played"}:
            seen.setdefault(case.camera.id, []).append(case)
    for those in seen.values():
        for case in those[:: max(1, len(those) * len(seen) // SAMPLES)]:
            case.sample = True
    return cases


def takes(line: Line, codec: str, codecs: frozenset[str]) -> bool:
    """Whether a line of a peer with these codecs offers one. A preference for a codec that it lacks changes nothing."""
    return codec in codecs and (line.codec in ("", codec) or line.codec not in codecs)


def is_seen(case: Case, codecs: frozenset[str]) -> bool:
    """Whether a line asks for a picture that the camera has as it is asked for."""
    return any(
        line.kind == "video" and line.receives and takes(line, case.camera.video, codecs)
        for line in case.shape.lines
        if case.camera.video
    )


def expectation(case: Case, codecs: frozenset[str]) -> set[str]:
    """What the gateway may do with an offer: "played", "refused"."""
    camera, lines = case.camera, case.shape.lines
    if case.shape.data != "none" and all(line.direction == "inactive" for line in lines):
        # Data channels alone.
        return {"played"}
    seen = [line for line in lines if line.kind == "video" and line.receives]
    if camera.video and seen:
        if is_seen(case, codecs):
            return {"played"}
        # Other video is transcoded to VP8 if the gateway's settings and limits allow it.
        return {"played", "refused"} if any(takes(line, "VP8", codecs) for line in seen) else {"refused"}
    heard = [line for line in lines if line.kind == "audio" and line.receives]
    # Every sound is transcoded to Opus.
    plays = camera.audio and any(takes(line, codec, codecs) for line in heard for codec in ("opus", camera.audio))
    return {"played"} if plays else {"refused"}


@dataclass
class Tally:
    """The outcomes of a peer's cases."""

    peer: str
    codecs: frozenset[str]
    """What the peer can receive."""
    answered: int = 0
    alike: int = 0
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
            self.alike += outcome.applied_before
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
        if ("played" if outcome.status == 201 else "refused") not in expectation(case, self.codecs):
            self.faults.append(f"{what}: status {outcome.status} is wrong: {outcome.text}")

    @property
    def line(self) -> str:
        return (
            f"offers of every shape, {self.peer}: {self.answered + self.refused} offers, {self.answered} answers,"
            f" {self.alike} of them like one before for the same offer, {self.unapplied} refused by the peer,"
            f" {self.refused} offers refused by the gateway,"
            f" pictures seen in {self.seen} of {self.watched} that were watched ({self.seconds:.0f} s)"
        )

    def check(self) -> None:
        assert not self.faults, f"{self.peer}: {len(self.faults)} faults, the first:\n" + "\n".join(self.faults[:12])
