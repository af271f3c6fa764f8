"""Lines over axes in decades, drawn with characters or as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final

WIDTH, HEIGHT = 60, 14
"""Of a picture of characters."""

_MIN: Final = 0.1
_SIZE: Final = (640, 360)
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 40
_COLORS = ("#2a78d6", "#eb6834", "#1baa79", "#a05bd0", "#c99a06", "#d64f7f", "#5a6b7b", "#12a5b8")


@dataclass(frozen=True, slots=True)
class Line:
    """A title, the mark of its points, and these: x and y above 0, x ascending."""

    title: str
    mark: str
    points: tuple[tuple[float, float], ...]


def blocks(lines: Sequence[Line]) -> list[str]:
    """The lines in `HEIGHT` rows of `WIDTH` characters, with their axes, and what marks which."""
    frame = _Frame.around(lines)
    rows = [[" "] * WIDTH for _ in range(HEIGHT)]
    for line in reversed(lines):
        for column in range(WIDTH):
            x = 10 ** (frame.left + (frame.right - frame.left) * column / (WIDTH - 1))
            y = _between(line.points, x)
            rows[HEIGHT - 1 - round(frame.up(y) * (HEIGHT - 1))][column] = line.mark
    labels = {HEIGHT - 1 - round(frame.up(y) * (HEIGHT - 1)): _short(y) for y in frame.across()}
    margin = max(map(len, labels.values()))
    found: list[str] = []
    for place, row in enumerate(rows):
        axis = "┤" if place in labels else "│"
        found.append(f"{labels.get(place, ''):>{margin}} {axis}{''.join(row)}".rstrip())
    found.append(" " * (margin + 1) + "└" + "─" * WIDTH)
    ends = [_short(10**end) for end in (frame.left, frame.right)]
    found.append(" " * (margin + 2) + ends[0] + f"{ends[1]:>{WIDTH - len(ends[0])}}")
    found += [f"{' ' * (margin + 2)}{line.mark} {line.title}" for line in lines]
    return found


def svg(lines: Sequence[Line]) -> str:
    """The lines as a picture that takes the colours of the page it stands on."""
    frame, (width, height) = _Frame.around(lines), _SIZE
    across, along = width - _LEFT - _RIGHT, height - _TOP - _BOTTOM

    def place(x: float, y: float) -> str:
        return f"{_LEFT + frame.along(x) * across:.1f},{_TOP + (1 - frame.up(y)) * along:.1f}"

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" font-family="system-ui,sans-serif" font-size="12"'
            ' fill="currentColor" role="img" aria-label="95 % error against epsilon">'
        )
    ]
    # Alone, as an image, it stands on a page whose colours it can't take.
    parts.append("<style>@media(prefers-color-scheme:dark){svg:root{color:#ddd}}</style>")
    for y in frame.across():
        at = _TOP + (1 - frame.up(y)) * along
        parts.append(
            f'<path d="M{_LEFT} {at:.1f}H{width - _RIGHT}" stroke="currentColor" opacity=".15"/>'
            f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_short(y)}</text>'
        )
    for x in frame.ticks():
        at = _LEFT + frame.along(x) * across
        parts.append(
            f'<text x="{at:.1f}" y="{height - 20}" text-anchor="middle">{_short(x)}</text>'
        )
    parts.append(f'<text x="{width - _RIGHT}" y="{height - 4}" text-anchor="end">epsilon</text>')
    # The first lies on top; what is below shows through its gaps.
    for number, line in reversed(list(enumerate(lines))):
        colour = _COLORS[number % len(_COLORS)]
        dashes = ' stroke-dasharray="7 5"' if number % 2 else ""
        points = " ".join(place(x, y) for x, y in line.points)
        title = f"{line.mark} {escape(line.title)}"
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"'
            f"{dashes}/>"
            f'<text x="{width - _RIGHT}" y="{_TOP + 16 * (number + 1)}" fill="{colour}"'
            f' text-anchor="end">{title}</text>'
        )
    return "".join([*parts, "</svg>"])


@dataclass(frozen=True, slots=True)
class _Frame:
    """The ends of both axes, as powers of ten."""

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
        """Where the powers of ten are on the upright axis."""
        return [10.0**n for n in range(round(self.low), round(self.high) + 1)]

    def ticks(self) -> list[float]:
        """Powers of ten along the other, or its ends."""
        found = [10.0**n for n in range(math.ceil(self.left), math.floor(self.right) + 1)]
        return found if len(found) > 1 else [10**self.left, 10**self.right]


def _decades(error: float) -> float:
    """Noise that is 0 nearly always has no error that a decade could hold."""
    return math.log10(max(error, _MIN))


def _part(value: float, low: float, high: float) -> float:
    return 0.5 if low == high else (value - low) / (high - low)


def _between(points: Sequence[tuple[float, float]], x: float) -> float:
    """The y at `x` on the straight line, in decades, between the points beside it."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1 * 1.000001:
            part = _part(math.log10(x), math.log10(x0), math.log10(x1))
            return float(10 ** (_decades(y0) + (_decades(y1) - _decades(y0)) * part))
    return points[-1][1]


def _short(number: float) -> str:
    return f"{number:.3g}".replace("e+0", "e").replace("e-0", "e-")
