"""What browsers received behind a line between two moments, and the table of several lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from peers.viewer import Reception


def received(begin: Sequence[Reception], end: Sequence[Reception], rate: float, seconds: float) -> dict[str, Any]:
    """What the viewers of a camera with `rate` frames a second received between two moments. `seconds` is used where a
    browser has no clock yet, since it has received nothing."""
    pairs = list(zip(begin, end, strict=True))

    def total(name: str) -> float:
        return float(sum(getattr(later, name) - getattr(before, name) for before, later in pairs))

    lengths = [(later.timestamp - before.timestamp) / 1000 if before.timestamp else seconds for before, later in pairs]
    still = [stood_still(before, later, length, rate) for (before, later), length in zip(pairs, lengths, strict=True)]
    samples = total("totalSamplesReceived")
    result: dict[str, Any] = {
        "expected": round(lengths[0] * rate),
        "decoded": round(total("framesDecoded") / sum(lengths) / rate, 3),
        "keyFrames": round(total("keyFramesDecoded")),
        "freezes": round(total("freezeCount")) + sum(length > 0 for length in still),
        "frozenSeconds": round(total("totalFreezesDuration") + sum(still), 1),
        "concealed": round(total("concealedSamples") / samples, 4) if samples else None,
    }
    if len(pairs) > 1:
        rates = [
            (later.bytesReceived - before.bytesReceived) * 8 / 1e6 / length
            for (before, later), length in zip(pairs, lengths, strict=True)
        ]
        result["rates"] = [round(each, 2) for each in rates]
        squares = sum(each**2 for each in rates)
        result["fairness"] = round(sum(rates) ** 2 / (len(rates) * squares), 3) if squares else None
    return result


def stood_still(before: Reception, later: Reception, seconds: float, rate: float) -> float:
    """How long the picture has stood still at the end, in seconds; 0 if that is not a freeze. Chromium counts a freeze
    when it is over: a pause that is 150 ms longer than usual."""
    pause = seconds - (later.totalInterFrameDelay - before.totalInterFrameDelay)
    return pause if pause > 0.15 + 1 / rate else 0


COLUMNS = {
    "server": "Server",
    "line": "Path",
    "decoded": "Frames decoded",
    "freezes": "Freezes (seconds)",
    "concealed": "Sound made up",
    "megabitsOnTheWire": "Mbit/s on the wire",
    "lineUsed": "Line used",
    "fairness": "Fairness",
}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a table in Markdown; a dash where something was not measured."""
    lines = ["| " + " | ".join(COLUMNS.values()) + " |", "|---" * len(COLUMNS) + "|"]
    lines += ["| " + " | ".join(_cell(row, name) for name in COLUMNS) + " |" for row in rows]
    return "\n".join(lines)


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return "–"
    match name:
        case "decoded" | "concealed":
            return f"{value * 100:.1f} %"
        case "freezes":
            return f"{value} ({row['frozenSeconds']})"
    return str(value)
