"""Seven shapes, how long a library takes for each, and how far off it is.

Runs in every library's environment, so it imports nothing else than they all have.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

Clock = Callable[[], float]
Rows = Sequence[Sequence[Any]]

SHAPES = ("count", "flags", "segment", "month", "clerk", "distinct", "median")
KEYS = {
    "count": 0,
    "flags": 2,
    "segment": 1,
    "month": 1,
    "clerk": 1,
    "distinct": 1,
    "median": 1,
}
"""How many of a shape's first columns are keys; the others are values."""

EPSILON, DELTA = 1.0, 1e-6
ORDERS, LINES = 30, 120
"""Of a customer, at most so many are counted: 0.1 % of orders and 0.2 % of lines are more."""


def clock_told() -> Clock:
    """What the third argument of a script names; it tells the seconds of the wall, otherwise."""
    is_processor = sys.argv[3:] == ["processor"]
    return time.process_time if is_processor else time.perf_counter


def measured(
    shape: str,
    plain: Callable[[], Rows],
    private: Callable[[int], Rows],
    runs: int,
    clock: Clock = time.perf_counter,
    before: int = 1,
) -> dict[str, object]:
    """Medians in ms, each run after the other, the first `before` left out; errors in percent.

    `clock` tells the seconds: of the wall, or those that processors took.

    An error is the median over groups and runs of |noisy - exact| / |exact|, column by column; a
    group that doesn't appear is wholly wrong. What a library refuses has its message.
    """
    took: dict[str, list[float]] = {"plain": [], "private": []}
    errors: list[list[list[float]]] = []
    for run in range(before + runs):
        start = clock()
        exact = plain()
        took["plain"].append(clock() - start)
        start = clock()
        try:
            noisy = private(run)
        except BaseException as error:  # a panic of Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            return {"shape": shape, "refused": str(error).split("\n")[0][:200]}
        took["private"].append(clock() - start)
        errors.append(group_errors(exact, noisy, KEYS[shape]))
    plainly, privately = (1000 * statistics.median(t[before:]) for t in took.values())
    return {
        "shape": shape,
        "plain": plainly,
        "private": privately,
        "ratio": privately / plainly,
        "errors": percents(errors[before:]),
    }


def show(found: list[dict[str, object]]) -> None:
    """Hand over what was found."""
    sys.stdout.write(json.dumps(found) + "\n")


def group_errors(exact: Rows, noisy: Rows, keys: int) -> list[list[float]]:
    """Of each value column, the error in each group; 1 where the group doesn't appear."""
    answered = {_key(row, keys): row[keys:] for row in noisy}
    found: list[list[float]] = [[] for _ in exact[0][keys:]]
    for row in exact:
        shown = answered.get(_key(row, keys))
        for place, true in enumerate(row[keys:]):
            given = None if shown is None else shown[place]
            off = 1.0 if given is None else abs(float(given) - float(true)) / abs(float(true))
            found[place].append(off)
    return found


def percents(errors: Sequence[list[list[float]]]) -> list[float]:
    """Of each column the median over groups and runs, in percent."""
    columns = zip(*errors, strict=True)
    return [100 * statistics.median(e for groups in runs for e in groups) for runs in columns]


def _key(row: Sequence[Any], keys: int) -> tuple[str, ...]:
    return tuple(str(value)[:10] if len(str(value)) > 18 else str(value) for value in row[:keys])
