"""Lines over axes in decades or in equal steps, drawn with characters or as SVG.

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
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

WIDTH, HEIGHT = 60, 14
"""Columns and rows of a picture drawn with characters."""

_MIN: Final = 0.1
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 28, 40
_LINE_HEIGHT, _MAX_TICKS = 16, 8
_COLORS = ("#2a78d6", "#eb6834", "#1baa79", "#a05bd0", "#c99a06", "#d64f7f", "#5a6b7b", "#12a5b8")


class Line(Struct, frozen=True):
    """A line: its title, the character that marks it, and its points, whose x ascends.

    In decades, x and y are above 0; in equal steps, x is whole and y isn't below 0. A line that
    `is_bound` is drawn wide and pale, in the colour of the line before it.
    """

    title: str
    mark: str
    points: tuple[tuple[float, float], ...]
    is_bound: bool = False


class Axes(Struct, frozen=True):
    """What a picture shows, the captions of its axes, its size in pixels, and its scale.

    The names of lines stand in the corner at the top where axes are in decades, else below.
    """

    shown: str
    upright: str
    along: str
    size: tuple[int, int] = (640, 360)
    in_decades: bool = True


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


def picture(lines: Sequence[Line], axes: Axes) -> dict[str, object]:
    """A chart of the template `chart.svg.j2`: positions in pixels, and labels."""
    frame, (width, height) = _Frame.around(lines, in_decades=axes.in_decades), axes.size
    across, along = width - _LEFT - _RIGHT, height - _TOP - _BOTTOM

    def x_of(x: float) -> float:
        return round(_LEFT + frame.along(x) * across, 1)

    def y_of(y: float) -> float:
        return round(_TOP + (1 - frame.up(y)) * along, 1)

    top = _TOP if axes.in_decades else height
    return {
        "axes": axes,
        "width": width,
        "height": height + (0 if axes.in_decades else _LINE_HEIGHT * len(lines) + _LINE_HEIGHT),
        "left": _LEFT,
        "right": width - _RIGHT,
        "bottom": height - _BOTTOM,
        "upright": [(_short(y), y_of(y)) for y in frame.across()],
        "along": [(_short(x), x_of(x)) for x in frame.ticks()],
        "lines": [
            {
                "title": f"{line.mark} {line.title}",
                "points": " ".join(f"{x_of(x)},{y_of(y)}" for x, y in line.points),
                "dots": [] if axes.in_decades else [(x_of(x), y_of(y)) for x, y in line.points],
                "colour": _COLORS[order % len(_COLORS)],
                "is_dashed": order % 2 == 1 and not line.is_bound,
                "is_bound": line.is_bound,
                "at": top + _LINE_HEIGHT * (number + 1),
            }
            for number, (line, order) in enumerate(zip(lines, _orders(lines), strict=True))
        ],
    }


def _orders(lines: Sequence[Line]) -> Iterator[int]:
    """How many lines came before each, without bounds; a bound has that of the line before it."""
    before = -1
    for line in lines:
        before += not line.is_bound
        yield max(before, 0)


class _Frame(Struct, frozen=True):
    """The ends of both axes: decimal logarithms where axes are in decades, else the numbers."""

    left: float
    right: float
    low: float
    high: float
    in_decades: bool = True

    @classmethod
    def around(cls, lines: Sequence[Line], *, in_decades: bool = True) -> _Frame:
        if not in_decades:
            xs = [x for line in lines for x, _ in line.points]
            y_max = max((y for line in lines for _, y in line.points), default=0.0)
            step = _step(y_max)
            # A line of zeros is seen at the axis, below a first tick.
            return cls(min(xs), max(xs), 0.0, max(step * math.ceil(y_max / step), step), False)
        xs = [math.log10(x) for line in lines for x, _ in line.points]
        ys = [_decades(y) for line in lines for _, y in line.points]
        return cls(min(xs), max(xs), math.floor(min(ys)), math.ceil(max(ys)))

    def along(self, x: float) -> float:
        return _part(math.log10(x) if self.in_decades else x, self.left, self.right)

    def up(self, y: float) -> float:
        return _part(_decades(y) if self.in_decades else y, self.low, self.high)

    def across(self) -> list[float]:
        """The numbers that label the y axis: powers of ten, or equal steps."""
        if not self.in_decades:
            step = _step(self.high)
            return [step * n for n in range(round(self.high / step) + 1)]
        return [10.0**n for n in range(round(self.low), round(self.high) + 1)]

    def ticks(self) -> list[float]:
        """The numbers that label the x axis: powers of ten, or both ends, or whole numbers."""
        if not self.in_decades:
            step = max(1, math.ceil(_step(self.right - self.left)))
            return [float(x) for x in range(round(self.left), round(self.right) + 1, step)]
        powers = [10.0**n for n in range(math.ceil(self.left), math.floor(self.right) + 1)]
        return powers if len(powers) > 1 else sorted({10**self.left, 10**self.right})


def _step(width: float) -> float:
    """1, 2 or 5 times a power of ten, of which at most `_MAX_TICKS` reach `width`."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width / _MAX_TICKS))
    return next(f * power for f in (1, 2, 5, 10, 20) if f * power * _MAX_TICKS >= width)


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
