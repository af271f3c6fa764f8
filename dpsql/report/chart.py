"""Lines over logarithmic axes, drawn with characters or as SVG.

An SVG picture has to be a fragment of HTML without scripts or links, with the colours of the page
around it, and with labels at powers of ten, where errors are read. Plotting libraries were measured
against these needs, as of 2026-11 (size installed without what dpsql has already, import, one
picture):

| library                | size    | import | picture | why not                                    |
| ---------------------- | ------- | ------ | ------- | ------------------------------------------ |
| altair + vl-convert    | 106 MB  | 0.7 s  |         | weight; has scripts without vl-convert     |
| matplotlib             | 80 MB   | 1.2 s  | 26 KB   | weight; colours are those of its theme     |
| pygal                  | 1.9 MB  | 0.14 s | 21 KB   | has a script; no decades along x           |
| leather                | 0.4 MB  | 0.08 s |         | no decades at all                          |
| plotext (characters)   | 2.9 MB  | 0.41 s |         | slower than a command's own start          |
| plotille (characters)  | 0.5 MB  | 0.04 s |         | labels are of rows (864, 435), not decades |
| this and its template  | 0       | 0      | 1.7 KB  |                                            |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

WIDTH, HEIGHT = 60, 14
"""Columns and rows of a picture drawn with characters."""

_MIN: Final = 0.1
_SIZE: Final = (640, 360)
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 28, 40
_COLORS = ("#2a78d6", "#eb6834", "#1baa79", "#a05bd0", "#c99a06", "#d64f7f", "#5a6b7b", "#12a5b8")


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its title, the character that marks it, and its points.

    x and y of the points are above 0, and x ascends.
    """

    title: str
    mark: str
    points: tuple[tuple[float, float], ...]


def blocks(lines: Sequence[Line]) -> list[str]:
    """The lines in `HEIGHT` rows of `WIDTH` characters, with axes and a legend below."""
    frame = _Frame.around(lines)
    rows = [[" "] * WIDTH for _ in range(HEIGHT)]
    for line in reversed(lines):
        for column in range(WIDTH):
            x = 10 ** (frame.left + (frame.right - frame.left) * column / (WIDTH - 1))
            y = _between(line.points, x)
            rows[HEIGHT - 1 - round(frame.up(y) * (HEIGHT - 1))][column] = line.mark
    labels = {HEIGHT - 1 - round(frame.up(y) * (HEIGHT - 1)): _short(y) for y in frame.across()}
    margin = max(map(len, labels.values()))
    text: list[str] = []
    for number, row in enumerate(rows):
        axis = "┤" if number in labels else "│"
        text.append(f"{labels.get(number, ''):>{margin}} {axis}{''.join(row)}".rstrip())
    text.append(" " * (margin + 1) + "└" + "─" * WIDTH)
    ends = [_short(10**end) for end in (frame.left, frame.right)]
    text.append(" " * (margin + 2) + ends[0] + f"{ends[1]:>{WIDTH - len(ends[0])}}")
    text += [f"{' ' * (margin + 2)}{line.mark} {line.title}" for line in lines]
    return text


def picture(lines: Sequence[Line]) -> dict[str, object]:
    """The values of the template `error_curve.svg.j2`: positions in pixels, and labels."""
    frame, (width, height) = _Frame.around(lines), _SIZE
    across, along = width - _LEFT - _RIGHT, height - _TOP - _BOTTOM

    def x_of(x: float) -> float:
        return round(_LEFT + frame.along(x) * across, 1)

    def y_of(y: float) -> float:
        return round(_TOP + (1 - frame.up(y)) * along, 1)

    return {
        "width": width,
        "height": height,
        "left": _LEFT,
        "right": width - _RIGHT,
        "upright": [(_short(y), y_of(y)) for y in frame.across()],
        "along": [(_short(x), x_of(x)) for x in frame.ticks()],
        "lines": [
            {
                "title": f"{line.mark} {line.title}",
                "points": " ".join(f"{x_of(x)},{y_of(y)}" for x, y in line.points),
                "colour": _COLORS[number % len(_COLORS)],
                "is_dashed": number % 2 == 1,
                "at": _TOP + 16 * (number + 1),
            }
            for number, line in enumerate(lines)
        ],
    }


@dataclass(frozen=True, slots=True)
class _Frame:
    """The ends of both axes, as decimal logarithms."""

    left: float
    right: float
    low: float
    high: float

    @classmethod
    def around(cls, lines: Sequence[Line]) -> _Frame:
        xs = [math.log10(x) for line in lines for x, _ in line.points]
        ys = [_decades(y) for line in lines for _, y in line.points]
        return cls(min(xs), max(xs), math.floor(min(ys)), math.ceil(max(ys)))

    def along(self, x: float) -> float:
        return _part(math.log10(x), self.left, self.right)

    def up(self, y: float) -> float:
        return _part(_decades(y), self.low, self.high)

    def across(self) -> list[float]:
        """The powers of ten that label the y axis."""
        return [10.0**n for n in range(round(self.low), round(self.high) + 1)]

    def ticks(self) -> list[float]:
        """The powers of ten that label the x axis, or its ends if it has fewer than two powers."""
        powers = [10.0**n for n in range(math.ceil(self.left), math.floor(self.right) + 1)]
        return powers if len(powers) > 1 else sorted({10**self.left, 10**self.right})


def _decades(error: float) -> float:
    """The decimal logarithm of an error; an error of 0, which has none, is drawn as `_MIN`."""
    return math.log10(max(error, _MIN))


def _part(value: float, low: float, high: float) -> float:
    return 0.5 if low == high else (value - low) / (high - low)


def _between(points: Sequence[tuple[float, float]], x: float) -> float:
    """The y at `x`, by interpolation in logarithms between the two points around it."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1 * 1.000001:
            part = _part(math.log10(x), math.log10(x0), math.log10(x1))
            return float(10 ** (_decades(y0) + (_decades(y1) - _decades(y0)) * part))
    return points[-1][1]


def _short(number: float) -> str:
    return f"{number:.3g}".replace("e+0", "e").replace("e-0", "e-")
