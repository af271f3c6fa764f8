"""How many unlisted keys appear, by ways to weigh the units that they are chosen by.

Each way has Gaussian noise and a threshold at (1, 10^-6), half of δ for either, and spends all of
it on the choice; a unit in too many groups counts in as many as it may, drawn at random. Numbers
are expected ones, seeds of the data fixed.

`uniform`: each unit counts once in each of its groups. `weighted`: √(g / n) times, of one in n of
at most g. `rerouted`: what keys have beyond the threshold is given to others of their units (after
MaxAdaptiveDegree, Chen et al. 2025, with d_max = g and β = 2σ). `oracle`: units know which keys
appear anyway, and weigh nothing there, as nobody does who has to find that out. `optimal`: uniform,
where a key of n units appears with the largest probability that zCDP allows for each n (after
Harrison & Manurangsi 2026).

python -m benchmarks.key_selection FOLDER     FOLDER has orders of TPC-H, of scale 1
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

HALF: Final = Fraction(1, 2 * 10**6)
WAYS: Final = ("uniform", "weighted", "rerouted", "oracle", "optimal")
GROUPS: Final = (3, 10, 30)


@dataclass(frozen=True)
class Pairs:
    """Units and the keys that they have, one pair each; `share` is the part of ρ and δ spent."""

    name: str
    unit: Integers
    key: Integers
    share: Fraction = Fraction(1)

    def limited(self, groups: int) -> tuple[Integers, Integers, Floats]:
        """The pairs that are left of a unit in too many groups, and how many its unit has."""
        chance = np.random.default_rng(7).random(self.unit.size)
        order = np.lexsort((chance, self.unit))
        unit, key = self.unit[order], self.key[order]
        first = np.r_[True, unit[1:] != unit[:-1]]
        starts = np.flatnonzero(first)
        place = np.arange(unit.size) - np.repeat(starts, np.diff(np.r_[starts, unit.size]))
        kept = place < groups
        numbers = np.cumsum(first)[kept] - 1
        sizes = np.bincount(numbers)
        return numbers, key[kept], sizes[numbers].astype(np.float64)


def shown(weights: Floats, deviation: float, threshold: float) -> float:
    """The expected number of keys whose noisy weight reaches the threshold."""
    return float(norm.sf((threshold - weights[weights > 0]) / deviation).sum())


def each(groups: int, delta: float) -> float:
    """1 - (1 - δ)^(1/groups)."""
    return -math.expm1(math.log1p(-delta) / groups)


def kept(pairs: Pairs, groups: int) -> dict[str, float]:
    """The expected number of keys that appear, by each way."""
    unit, key, size = pairs.limited(groups)
    keys = int(key.max()) + 1

    def summed(weights: Floats) -> Floats:
        return np.bincount(key, weights, minlength=keys).astype(np.float64)

    rho, delta = float(rho_of_epsilon(Fraction(1), HALF) * pairs.share), float(HALF * pairs.share)
    one = 1 / math.sqrt(2 * rho)
    count = np.bincount(key, minlength=keys).astype(np.float64)
    deviation = one * math.sqrt(groups)
    uniform = shown(count, deviation, 1 + deviation * float(norm.isf(each(groups, delta))))
    threshold = max(
        1 / math.sqrt(n) + one * float(norm.isf(each(n, delta))) for n in range(1, groups + 1)
    )
    weight = summed(1 / np.sqrt(size))
    # Weights of 1/n are cut where keys have enough of them; what is cut goes back to the units.
    flat, enough = summed(1 / size), threshold + 2 * one
    beyond = np.maximum(flat - enough, 0) / np.maximum(flat, 1e-12)
    back = np.bincount(unit, beyond[key] / size)
    rerouted = np.minimum(flat, enough) + summed(back[unit] / groups)
    rerouted += summed(1 / np.sqrt(size) - 1 / size)
    sure = weight > threshold + 4 * one
    others = np.bincount(unit, ~sure[key])[unit]
    known = summed(np.where(sure[key], 0, 1 / np.sqrt(np.maximum(others, 1))))
    chances = largest_chances(rho / groups, each(groups, delta))
    numbers = np.minimum(count[count > 0].astype(np.int64), chances.size - 1)
    return {
        "uniform": uniform,
        "weighted": shown(weight, one, threshold),
        "rerouted": shown(rerouted, one, threshold),
        "oracle": float(sure.sum()) + shown(np.where(sure, 0, known), one, threshold),
        "optimal": float(chances[numbers].sum()),
    }


def largest_chances(rho: float, first: float) -> Floats:
    """The largest chances of a key of 0, 1, 2 … units that neighbours' may have under ρ-zCDP.

    That of the first unit is δ's.
    """
    orders = 1 + np.exp(np.linspace(math.log(1e-3), math.log(3000), 300))

    def is_near(p: float, q: float) -> bool:
        shows = orders * math.log(p) + (1 - orders) * math.log(q)
        hides = orders * math.log1p(-p) + (1 - orders) * math.log1p(-q)
        return bool(np.all(np.logaddexp(shows, hides) <= orders * (orders - 1) * rho))

    chances = [0.0, first]
    while chances[-1] < 0.5:
        low, high = chances[-1], 1 - 1e-9
        for _ in range(60):
            middle = math.sqrt(low * high) if low < 0.1 else (low + high) / 2
            near = is_near(middle, chances[-1]) and is_near(chances[-1], middle)
            low, high = (middle, high) if near else (low, middle)
        chances.append(low)
    # What hides a key is as likely as what shows it was.
    return np.asarray([*chances[:-1], *(1 - c for c in reversed(chances))])


def of_orders(folder: Path) -> Iterator[Pairs]:
    """Customers, and the clerks, or clerks and years, of their orders."""
    clerk = "substr(o_clerk, 7)::INT"
    asked = {
        "clerks": (clerk, Fraction(1)),
        "clerks, a hundredth of the loss": (clerk, Fraction(1, 100)),
        "clerks and years": (f"{clerk} * 10 + year(o_orderdate) - 1992", Fraction(1)),
    }
    with duckdb.connect() as connection:
        for name, (key, share) in asked.items():
            found = connection.execute(
                f"SELECT DISTINCT o_custkey AS u, {key} AS k FROM '{folder / 'orders.parquet'}'"
                " ORDER BY u, k"
            ).fetchnumpy()
            unit, keys = (np.asarray(found[c], dtype=np.int64) for c in ("u", "k"))
            yield Pairs(name, unit, keys, share)


def of_zipf(exponent: float, units: int = 100_000, keys: int = 100_000) -> Pairs:
    """Units in numbers of keys by Zipf's law of `exponent`; keys are popular by that of 1.1."""
    random = np.random.default_rng(7)
    sizes = np.minimum(random.zipf(exponent, units), 1000)
    popularity = np.arange(1, keys + 1) ** -1.1
    chosen = random.choice(keys, int(sizes.sum()), p=popularity / popularity.sum())
    pairs = np.unique(np.repeat(np.arange(units), sizes) * keys + chosen)
    return Pairs(f"Zipf {exponent:g}", pairs // keys, pairs % keys)


def main() -> None:
    """Print the table."""
    say = sys.stdout.write
    say(f"| units and keys | groups | {' | '.join(WAYS)} |\n| --- | ---: |" + " ---: |" * len(WAYS))
    for pairs in (*of_orders(Path(sys.argv[1])), of_zipf(1.5), of_zipf(2), of_zipf(3)):
        for groups in GROUPS:
            numbers = kept(pairs, groups)
            cells = " | ".join(f"{numbers[way]:,.0f}" for way in WAYS)
            say(f"\n| {pairs.name} | {groups} | {cells} |")
    say("\n")


if __name__ == "__main__":
    main()
