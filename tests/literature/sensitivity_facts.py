"""Sensitivities, enumerated over small databases, or the largest change of a closed form."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np
from literature.facts import Given, fact

Query = Callable[[Sequence[float]], float]
QUERIES: dict[str, Query] = {
    "mean": lambda rows: float(np.mean(rows)),
    "median": lambda rows: float(np.median(rows)),
    "count": len,
    "sum": lambda rows: float(sum(rows)),
    "std": lambda rows: float(np.std(rows)),
    "var": lambda rows: float(np.var(rows)),
}


def removals(rows: tuple[float, ...], k: int) -> set[tuple[float, ...]]:
    return set(combinations(rows, len(rows) - k))


def rest(universe: Iterable[float], rows: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sorted((Counter(universe) - Counter(rows)).elements()))


@cache
def enumerated(
    universe: tuple[float, ...], name: str, n: int, k: int
) -> tuple[float, float, float]:
    """The largest change by adding k rows, by removing k, and by replacing k."""
    known: dict[tuple[float, ...], float] = {}

    def of(rows: tuple[float, ...]) -> float:
        if rows not in known:
            known[rows] = QUERIES[name](rows)
        return known[rows]

    added = removed = replaced = 0.0
    for rows in set(combinations(universe, n)):
        here = of(rows)
        left = rest(universe, rows)
        for some in set(combinations(left, k)) if k <= len(left) else ():
            added = max(added, abs(of(tuple(sorted(rows + some))) - here))
        for fewer in removals(rows, k):
            removed = max(removed, abs(of(fewer) - here))
    for kept in set(combinations(universe, n - k)):
        left = rest(universe, kept)
        ways = [of(tuple(sorted(kept + some))) for some in set(combinations(left, k))]
        if ways:
            replaced = max(replaced, max(ways) - min(ways))
    return added, removed, replaced


@fact("empirical.*")
def empirical(given: Given) -> dict[str, list[float]]:
    n, query = given["n"], given["name"].rpartition(".")[2]
    # A range of values stands for n copies of each.
    universe = given.get("universe") or [value for value in given["values"] for _ in range(n)]
    found = [enumerated(tuple(sorted(universe)), query, n, k) for k in given["k"]]
    both = [max(added, removed) for added, removed, _ in found]
    table = {"unbounded": both, "bounded": [replaced for _, _, replaced in found]}
    if "universe" in given:
        table |= {"add_only": [f[0] for f in found], "remove_only": [f[1] for f in found]}
    return table


@fact("table.sum_6_10")
def bounded_sum(given: Given) -> dict[str, float]:
    values = range(given["L"], given["U"] + 1)
    databases = [rows for size in range(4) for rows in product(values, repeat=size)]
    added = max(abs(value) for rows in databases for value in values if len(rows) < 3)
    changed = max(abs(one - other) for one in values for other in values)
    removed_and_added = max(
        abs(sum(one) - sum(other))
        for one in databases
        for other in databases
        if len(one) == len(other) == 2 and sum((Counter(one) - Counter(other)).values()) == 1
    )
    return {"add_remove": added, "change_one": changed, "sized_symmetric_din2": removed_and_added}


@fact("table.sized")
def sized(given: Given) -> dict[str, float]:
    # Extremes: any number of rows at one end, the rest at the other, and one moves over.
    low, high, size = given["L"], given["U"], given["N"]
    edits = given["d_in"] // 2

    def largest(query: Query) -> float:
        return max(
            abs(query([low] * k + [high] * (size - k)) - query([low] * j + [high] * (size - j)))
            for k, j in ((k, k + edits) for k in range(size - edits + 1))
        )

    return {
        "count": largest(len),
        "sum": largest(sum),
        "mean": largest(QUERIES["mean"]),
        "variance_ddof1": largest(lambda rows: float(np.var(rows, ddof=1))),
        "variance_ddof0": largest(QUERIES["var"]),
    }


@fact("variance.sized.k_changes_exact")
def variance_of_edits(given: Given) -> float:
    size, edits = given["N"], given["k"]
    ends = (0.0, float(given["U_minus_L"]))
    return max(
        abs(float(np.var(one + kept)) - float(np.var(other + kept)))
        for kept in product(ends, repeat=size - edits)
        for one in product(ends, repeat=edits)
        for other in product(ends, repeat=edits)
    )


def symmetric(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(((Counter(one) - Counter(other)) + (Counter(other) - Counter(one))).values())


@fact("metric.one_edit_is_two")
def edit(_: Given) -> int:
    databases = list(product(range(3), repeat=3))
    distances = {
        symmetric(one, other)
        for one in databases
        for other in databases
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1 and symmetric(one, other)
    }
    (distance,) = distances
    return distance


@fact("resize.stability")
def resize(_: Given) -> int:
    def resized(rows: tuple[int, ...]) -> tuple[int, ...]:
        return (*rows[:2], *[0] * (2 - len(rows[:2])))

    return max(
        symmetric(resized(rows), resized((*rows[:at], value, *rows[at:])))
        for size in range(4)
        for rows in product((1, 2, 3), repeat=size)
        for at in range(size + 1)
        for value in (1, 2, 3)
    )


@fact("sens.sum.centred")
def centred(given: Given) -> dict[str, float]:
    values = range(given["L"], given["U"] + 1)
    centre = (given["L"] + given["U"]) / 2
    return {"raw": max(map(abs, values)), "centred": max(abs(value - centre) for value in values)}


@fact("sens.l2_capped")
def capped(given: Given) -> dict[str, float]:
    vectors = list(product(range(given["linf"] + 1), repeat=given["l0"]))
    within = [v for v in vectors if sum(v) <= given["l1"]]
    return {
        "l1": max(map(sum, within)),
        "l2": max(math.hypot(*v) for v in within),
        "l2_without_l1": max(math.hypot(*v) for v in vectors),
    }


@fact("sens.hist.change_one_l2")
def histogram(given: Given) -> float:
    cells = range(given["linf"] + 1)
    groups = 2 * given["l0"]
    units = [v for v in product(cells, repeat=groups) if sum(map(bool, v)) <= given["l0"]]
    extreme = [v for v in units if set(v) <= {0, given["linf"]}]
    return max(math.dist(one, other) for one in extreme for other in extreme)


def corners(feature: Callable[[float], Sequence[float]]) -> list[Sequence[float]]:
    return [feature(y / 1000) for y in range(-1000, 1001)]


@fact("sens.var_vector_l2")
def moments_l2(_: Given) -> float:
    return max(math.hypot(*v) for v in corners(lambda y: (1, y, y * y - 1)))


@fact("sens.var_vector_l1")
def moments_l1(_: Given) -> float:
    return max(sum(map(abs, v)) for v in corners(lambda y: (1, y, y * y - 1)))


@fact("sens.join_truncate*")
def truncated_join(given: Given) -> dict[str, int]:
    most_left, most_right = given["T_A"], given["T_B"]

    def truncated(left: tuple[int, ...], right: range) -> list[tuple[int, int]]:
        # The first rows by an order of their own, so a new row may take an old one's place.
        return list(product(sorted(left)[:most_left], sorted(right)[:most_right]))

    def dropped(left: tuple[int, ...], right: range) -> list[tuple[int, int]]:
        fits = len(left) <= most_left and len(right) <= most_right
        return list(product(left, right)) if fits else []

    return {
        name: max(
            symmetric(join(rows, right), join(tuple(r for r in rows if r != gone), right))
            for size in range(most_left + 3)
            for rows in combinations(range(most_left + 3), size)
            for gone in rows
            for right in map(range, range(most_right + 2))
        )
        for name, join in (("truncate", truncated), ("drop", dropped))
    }


@fact("sens.mean_min_n")
def mean_of_many(given: Given) -> float:
    # A row at one end joins n others at the other end, for n from the least on.
    low, high, least = given["L"], given["U"], given["n_min"]
    return float(max(abs((low * n + high) / (n + 1) - low) for n in range(least, least + 50)))
