"""How a budget burned down, drawn with blocks for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.report.budget_history import Point

WIDTH, HEIGHT = 60, 6

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def burn_down_chart(points: Sequence[Point], now: Point) -> list[str]:
    """What was left over time: a column for each of `WIDTH` equal spans, up to `now`."""
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
    """What is left at the end of each of `spans` equal spans between the first and last point."""
    start, end = points[0].at, points[-1].at
    lefts, place = [], 0
    for span in range(1, spans + 1):
        until = start + (end - start) * span / spans
        while place + 1 < len(points) and points[place + 1].at <= until:
            place += 1
        lefts.append(points[place].left)
    return lefts


def _block(left: Fraction, row: int) -> str:
    eighths = round(left * HEIGHT * 8) - row * 8
    # What is left is never drawn as nothing.
    least = 1 if left and not row else 0
    return _EIGHTHS[min(8, max(least, eighths))]
