"""A chart of the remaining budget over time, drawn with block characters for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.report.budget_history import Point

WIDTH, HEIGHT = 60, 6

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def burn_down_chart(points: Sequence[Point], now: Point) -> list[str]:
    """Lines of a chart: a column for each of `WIDTH` equal spans of time, up to `now`."""
    lefts = left_over_time([*points, now], WIDTH)
    lines = []
    for row in reversed(range(HEIGHT)):
        label = {HEIGHT - 1: "100 %", 0: "  0 %"}.get(row, "")
        lines.append(f"{label:>5} │" + "".join(_block(left, row) for left in lefts))
    lines.append("      └" + "─" * WIDTH)
    first, last = (f"{point.at.astimezone():%Y-%m-%d %H:%M}" for point in (points[0], now))
    lines.append(" " * 7 + first + f"{last:>{WIDTH - len(first)}}")
    return lines


def left_over_time(points: Sequence[Point], spans: int) -> list[Fraction]:
    """The share left at the end of each of `spans` equal spans between the first and last point."""
    start, end = points[0].at, points[-1].at
    lefts, index = [], 0
    for span in range(1, spans + 1):
        until = start + (end - start) * span / spans
        while index + 1 < len(points) and points[index + 1].at <= until:
            index += 1
        lefts.append(points[index].left)
    return lefts


def _block(left: Fraction, row: int) -> str:
    eighths = round(left * HEIGHT * 8) - row * 8
    # A small rest is drawn as one eighth, never as nothing.
    min_eighths = 1 if left and not row else 0
    return _EIGHTHS[min(8, max(min_eighths, eighths))]
