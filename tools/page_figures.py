"""The figures of a measurement: percentiles in a table for people, and in a line for programs."""

import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PERCENTILES = (50, 95, 99)


def percentile(values: Sequence[float], share: int) -> float:
    """The smallest of the values that is not exceeded by `share` per cent of them (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(len(ordered) * share / 100)) - 1]


@dataclass(frozen=True)
class Figure:
    """One thing that was measured several times."""

    name: str
    unit: str
    values: list[float] = field(default_factory=list)
    """In the order in which they were measured."""

    def summary(self) -> dict[str, float | None]:
        """The least, the percentiles and the most; None for each of them if nothing was measured."""
        if not self.values:
            return {"min": None, **{f"p{share}": None for share in PERCENTILES}, "max": None}
        middle = {f"p{share}": percentile(self.values, share) for share in PERCENTILES}
        return {"min": min(self.values), **middle, "max": max(self.values)}

    def quarters(self) -> dict[str, float | None]:
        """The medians of the first and of the last quarter, which show whether it grows."""
        size = math.ceil(len(self.values) / 4)
        if size == 0:
            return {"first": None, "last": None}
        return {"first": statistics.median(self.values[:size]), "last": statistics.median(self.values[-size:])}


def shown(value: float | None) -> str:
    """A number with three digits or all that are before the point; a dash for None."""
    if value is None:
        return "–"
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def table(figures: Sequence[Figure], has_quarters: bool = False) -> str:
    """The figures as a table in Markdown, with the medians of their first and last quarters if that is asked for."""
    names = ["count", "min", *(f"p{share}" for share in PERCENTILES), "max"]
    names += ["first quarter", "last quarter"] if has_quarters else []
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for figure in figures:
        cells = list(figure.summary().values()) + (list(figure.quarters().values()) if has_quarters else [])
        words = f"{figure.name}, {figure.unit}" if figure.unit else figure.name
        lines.append(f"| {words} | {len(figure.values)} | " + " | ".join(map(shown, cells)) + " |")
    return "\n".join(lines)


def line(part: str, about: Mapping[str, object], figures: Sequence[Figure], has_quarters: bool = False) -> str:
    """The same as one object of JSON; `about` says what was measured."""
    rows = [
        {"figure": one.name, "unit": one.unit, "count": len(one.values)}
        | {name: None if value is None else round(value, 3) for name, value in one.summary().items()}
        | ({name: None if value is None else round(value, 3) for name, value in one.quarters().items()}
           if has_quarters else {})
        for one in figures
    ]  # fmt: skip
    return json.dumps({"part": part, **about, "machine load": round(os.getloadavg()[0], 1), "figures": rows})


def show(part: str, about: Mapping[str, object], figures: Sequence[Figure], has_quarters: bool = False) -> None:
    """Prints both."""
    words = ", ".join(f"{name} {value}" for name, value in about.items() if isinstance(value, str | int | float))
    print(f"\n{part}: {words}\n\n{table(figures, has_quarters)}\n", flush=True)
    print(line(part, about, figures, has_quarters), flush=True)
