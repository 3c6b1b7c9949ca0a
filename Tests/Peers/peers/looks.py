"""What a page looks like, as text that can be read in a diff and compared with a stored one.

A screenshot is divided into cells, and each cell has three characters, in a block each:

- lightness: the mean, from ` ` (black) to `@` (white)
- detail: how much the lightness varies, from ` ` (one colour) to `9`. Words are seen here, even small grey ones.
- colour: `r`ed, `o`range and yellow, `g`reen, `c`yan, `b`lue or `m`agenta, and `.` for greys

A cell is measured several times, with the grid moved by some pixels to each side. It differs when the stored character
lies outside of everything that was measured, by more than a tolerance.
"""

import base64
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page

SCRIPT = f"(request) => {{ {(Path(__file__).parent / 'looks.js').read_text()} return measureLook(request); }}"

LIGHTNESS = " .:-=+*#%@"
DETAIL = " 123456789"
DETAIL_BOUNDS = [0, 0.02, 0.04, 0.07, 0.10, 0.14, 0.19, 0.25, 0.32, 0.40, 1]
"""The standard deviation of the lightness where each character begins; the last one ends the scale."""
HUES = "mbcgor"
HUE_BOUNDS = [28, 75, 140, 208, 265, 320, 388]
"""Degrees (`hue_of`) where each hue begins; the last one ends the circle."""
GREY_BELOW = 0.04
"""The distance of a mean colour from grey; red itself has 0.76."""

LIGHTNESS_TOLERANCE = 0.04
DETAIL_TOLERANCE = 0.05
COLOUR_TOLERANCE = 0.02
HUE_TOLERANCE = 15
PIXELS_DOWN = 2
"""By how many pixels things may lie higher or lower than in the stored look."""
CELLS_ASIDE = 0.5
"""By which part of a cell things may lie further left or right: another version of a font has other widths."""

Measured = Sequence[Sequence[float]]
"""Of one cell: lightness, detail, blue - lightness and red - lightness, first in its place, then moved."""


def hue_of(blue: float, red: float) -> float:
    """The direction of a colour without its lightness, in degrees: magenta 45, blue 97, cyan 157, green 225, yellow
    277, orange 305, red 337."""
    return math.degrees(math.atan2(blue, red)) % 360


def level_of(value: float, bounds: Sequence[float]) -> int:
    """Which part of a scale a value is in."""
    return next((index for index, end in enumerate(bounds[1:]) if value < end), len(bounds) - 2)


def is_of_hue(hue: float, index: int, tolerance: float) -> bool:
    begin, end = HUE_BOUNDS[index], HUE_BOUNDS[index + 1]
    return any(begin - tolerance <= hue + turn < end + tolerance for turn in (-360, 0, 360))


LIGHTNESS_BOUNDS = [index / len(LIGHTNESS) for index in range(len(LIGHTNESS) + 1)]


def is_within(values: Sequence[float], character: str, scale: str, bounds: Sequence[float], tolerance: float) -> bool:
    """Whether what was measured reaches the part of the scale that a character stands for."""
    level = scale.index(character)
    return min(values) <= bounds[level + 1] + tolerance and max(values) >= bounds[level] - tolerance


def is_lightness(cell: Measured, character: str) -> bool:
    return is_within([one[0] for one in cell], character, LIGHTNESS, LIGHTNESS_BOUNDS, LIGHTNESS_TOLERANCE)


def is_detail(cell: Measured, character: str) -> bool:
    return is_within([one[1] for one in cell], character, DETAIL, DETAIL_BOUNDS, DETAIL_TOLERANCE)


def is_colour(cell: Measured, character: str) -> bool:
    for _, _, blue, red in cell:
        strength = math.hypot(blue, red)
        if character == "." and strength < GREY_BELOW + COLOUR_TOLERANCE:
            return True
        is_coloured = character != "." and strength >= GREY_BELOW - COLOUR_TOLERANCE
        if is_coloured and is_of_hue(hue_of(blue, red), HUES.index(character), HUE_TOLERANCE):
            return True
    return False


BLOCKS = {"lightness": is_lightness, "detail": is_detail, "colour": is_colour}


def characters_of(cell: Measured) -> tuple[str, str, str]:
    """The three characters of a cell, in the order of `BLOCKS`."""
    lightness, detail, blue, red = cell[0]
    hue = hue_of(blue, red)
    is_grey = math.hypot(blue, red) < GREY_BELOW
    colour = "." if is_grey else next(HUES[index] for index in range(len(HUES)) if is_of_hue(hue, index, 0))
    return LIGHTNESS[level_of(lightness, LIGHTNESS_BOUNDS)], DETAIL[level_of(detail, DETAIL_BOUNDS)], colour


@dataclass(frozen=True)
class Look:
    """A screenshot that was measured, in rows of cells."""

    title: str
    rows: list[list[Measured]]

    @property
    def blocks(self) -> dict[str, list[str]]:
        """The lines of each block."""
        lines = [[characters_of(cell) for cell in row] for row in self.rows]
        return {name: ["".join(cell[index] for cell in line) for line in lines] for index, name in enumerate(BLOCKS)}

    @property
    def text(self) -> str:
        """As it is stored: the title, and the lines of each block between bars."""
        parts = [self.title]
        for name, lines in self.blocks.items():
            parts += ["", name, *(f"|{line}|" for line in lines)]
        return "\n".join(parts) + "\n"

    def differences(self, stored: str) -> str:
        """What differs from a stored look, for a person: which rows and columns, and both looks next to each other.
        It is empty when nothing differs."""
        expected = read_blocks(stored)
        size = [(len(lines), {len(line) for line in lines}) for lines in expected.values()]
        if list(expected) != list(BLOCKS) or set(map(repr, size)) != {repr((len(self.rows), {len(self.rows[0])}))}:
            return "the stored look has another number of cells: store it again"
        wrong = {
            name: {
                (row, column)
                for row, cells in enumerate(self.rows)
                for column, cell in enumerate(cells)
                if not fits(cell, expected[name][row][column])
            }
            for name, fits in BLOCKS.items()
        }
        lone = lone_cells(list(wrong.values()))
        return "\n".join(
            described(name, cells - lone, expected[name], self.blocks[name])
            for name, cells in wrong.items()
            if cells - lone
        )


def lone_cells(wrong: list[set[tuple[int, int]]]) -> set[tuple[int, int]]:
    """The cells that differ in one block only, and have no neighbour that differs."""
    count = Counter(cell for cells in wrong for cell in cells)
    return {
        (row, column)
        for row, column in count
        if sum(count[row + down, column + right] for down in (-1, 0, 1) for right in (-1, 0, 1)) == 1
    }


def read_blocks(text: str) -> dict[str, list[str]]:
    """The lines of each block of a stored look."""
    blocks: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines()[1:]:
        if line.startswith("|"):
            blocks.setdefault(name, []).append(line[1:-1])
        else:
            name = line or name
    return blocks


def spans(numbers: set[int]) -> str:
    """Numbers in words: 3-5, 9."""
    ordered = sorted(numbers)
    begins = [ordered[0], *(after for before, after in pairwise(ordered) if after > before + 1)]
    ends = [*(before for before, after in pairwise(ordered) if after > before + 1), ordered[-1]]
    return ", ".join(f"{begin}" if begin == end else f"{begin}-{end}" for begin, end in zip(begins, ends, strict=True))


def described(name: str, wrong: set[tuple[int, int]], stored: list[str], found: list[str]) -> str:
    rows, columns = {row for row, _ in wrong}, {column for _, column in wrong}
    width = len(stored[0])
    lines = [
        f"  {name}: {len(wrong)} cells differ, in rows {spans(rows)} and columns {spans(columns)}",
        f"      {'stored':<{width + 2}}  {'now':<{width + 2}}",
    ]
    for row in sorted(rows):
        marks = "".join("^" if (row, column) in wrong else " " for column in range(width))
        lines.append(f"  {row:>3} |{stored[row]}|  |{found[row]}|")
        lines.append(f"       {marks}    {marks}".rstrip())
    return "\n".join(lines)


def steps(columns: int, width: int) -> Iterator[int]:
    """By how many pixels the grid is moved to the side."""
    aside = width / columns * CELLS_ASIDE
    for part in (-1, -0.5, 0, 0.5, 1):
        yield round(aside * part)


def measure(bench: Page, png: bytes, title: str, width: int, height: int, columns: int) -> Look:
    """Measures a screenshot. `bench` is any page; its canvas is used."""
    rows = round(height / (2 * width / columns))
    request = {
        "png": base64.b64encode(png).decode(), "columns": columns, "rows": rows,
        "across": list(steps(columns, width)), "down": [-PIXELS_DOWN, 0, PIXELS_DOWN],
    }  # fmt: skip
    cells = json.loads(bench.evaluate(SCRIPT, request))
    return Look(title, [cells[row * columns : (row + 1) * columns] for row in range(rows)])
