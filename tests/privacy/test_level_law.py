"""Levels are listed by vectors of integers, and errors are told in doubles: beside the definition.

Here each level is listed by itself, in Python's integers, and errors are sums over all levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy.seeded import SeededRandomness

from dpsql.privacy.directed_rounding import scaled_exp
from dpsql.privacy.mechanisms.level_law import level_cuts, products, scaled_levels
from dpsql.privacy.mechanisms.noise.k_norm import KNorm, KNormNoise
from dpsql.privacy.mechanisms.one_direction import OneDirection, OneDirectionNoise

Law = KNorm | OneDirection

BITS = 64
CONFIDENCE = Fraction(95, 100)

LAWS = [
    KNorm(Fraction(1), (1, 1)),
    KNorm(Fraction(256, 275), (30, 9 * 10**8), levels=160),
    KNorm(Fraction(1, 20), (84, 84 * 50, 10**15), 3, 2),
    KNorm(Fraction(40), (1, 3), 12, 192),
    KNorm(Fraction(1, 3), (1,) * 6, levels=7),
    OneDirection(Fraction(1), (1,), 6),
    OneDirection(Fraction(7), (128, 128 * 10**12), 1, 64),
    OneDirection(Fraction(1, 9), (2, 30), 30, 2),
]


def volume(law: Law, level: int) -> int:
    """How many outcomes are up to `level`: vectors, or vectors and how far up they may be."""
    group: int
    if isinstance(law, KNorm):
        group = math.prod(2 * edge(law, j, level) + 1 for j in range(len(law.moves)))
        return int(group**law.cells)
    group = math.prod(level * (move // law.levels) + 1 for move in law.moves)
    return int((level + 1) * group**law.cells)


def edge(law: Law, index: int, level: int) -> int:
    return level * law.moves[index] // law.levels


def plain_cuts(law: Law, bits: int) -> list[int]:
    """The ends of the levels, from weights that are listed one by one until none can be told."""
    rate = law.epsilon / law.levels
    log_rate = float(rate) / math.log(2)

    def log_weight(level: int) -> float:
        return math.log2(volume(law, level)) - level * log_rate

    last = math.ceil(2 * law.degree / rate) + 1
    largest = max(map(log_weight, range(last + 1)))
    while law.log_bound(last) - last * log_rate + math.log2(2 / rate) >= largest - bits - 5:
        last += max(1, last // 8)
    volumes = [volume(law, level) for level in range(last + 1)]
    errors = sum((2 * level + 2) * one for level, one in enumerate(volumes))
    size = max(bits + 6 + math.ceil(errors.bit_length() - largest), 1)
    factor, height = scaled_exp(rate, size), 1 << size
    sums: list[int] = []
    total = 0
    for one in volumes:
        sums.append(total := total + one * height)
        height = height * factor >> size
    return [((end << bits) + (total >> 1)) // total for end in sums]


def parts(law: Law) -> Sequence[KNormNoise | OneDirectionNoise]:
    return law.parts()


def probabilities(law: Law) -> list[int]:
    cuts = plain_cuts(law, BITS)
    return [end - start for start, end in zip([0, *cuts], cuts, strict=False)]


def variance(law: Law, index: int) -> float:
    """That of h evenly from -h to h, or of as many of P levels up and S - P down."""
    if isinstance(law, KNorm):
        squares = sum(
            p * edge(law, index, s) * (edge(law, index, s) + 1)
            for s, p in enumerate(probabilities(law))
        )
        return float(Fraction(squares, 3 << BITS))
    step = law.moves[index] // law.levels
    squares = sum(
        p * (s * step * (s * step + 2) + step**2 * s * (s + 2))
        for s, p in enumerate(probabilities(law))
    )
    return float(Fraction(squares, 12 << BITS))


def half_width(law: Law, index: int) -> int:
    """The one from which on the exact tail is small enough, found by the tail alone."""
    part, tail = parts(law)[index], (1 - CONFIDENCE) / 2
    low, high = 0, 1
    while part.tail(high) > tail:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if part.tail(middle) > tail else (low, middle)
    return high - 1


def check(law: Law) -> None:
    for bits in (32, BITS):
        assert list(level_cuts(law, bits)) == plain_cuts(law, bits)
    for index, part in enumerate(parts(law)):
        assert part.variance == pytest.approx(variance(law, index), rel=1e-12)
        # To the unit, but of widths of 10^10 and more.
        assert part.half_width(CONFIDENCE) == pytest.approx(half_width(law, index), rel=1e-10)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_levels_and_errors_are_those_of_the_definition(law: Law) -> None:
    check(law)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_of_no_group_nothing_is_drawn(law: Law) -> None:
    nothing = [np.zeros(0, dtype=np.int64) for _ in law.moves]
    assert [column.size for column in law.release(nothing, SeededRandomness("none"))] == [
        0 for _ in law.moves
    ]


@pytest.mark.parametrize("law", LAWS[:1] + LAWS[5:6], ids=str)
def test_any_tail_has_its_point(law: Law) -> None:
    (part, *_) = parts(law)
    assert part.tail_point(Fraction(1)) == part.tail_point(Fraction(1, 2)) == 1
    for probability in (Fraction(2, 5), Fraction(1, 10**9), Fraction(1, 10**300)):
        point = part.tail_point(probability)
        below = part.half_width(1 - 2 * probability)
        assert below in (point - 1, point)  # exact tails are rounded up by a thousandth
    for wrong in (Fraction(1), Fraction(-1, 10)):
        with pytest.raises(ValueError, match="confidence"):
            part.half_width(wrong)


@given(
    epsilon=st.fractions(Fraction(1, 3), 8, max_denominator=50),
    moves=st.lists(st.sampled_from([1, 2, 3, 7, 30, 10**6, 10**12]), min_size=1, max_size=4),
    cells=st.integers(1, 8),
    levels=st.sampled_from([1, 2, 3, 16]),
    up=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_levels_and_errors_of_any_law_are_those_of_the_definition(
    epsilon: Fraction, moves: list[int], cells: int, levels: int, up: bool
) -> None:
    if up:
        check(OneDirection(epsilon, tuple(levels * move for move in moves), cells, levels))
    else:
        check(KNorm(epsilon, tuple(moves), cells, levels))


@pytest.mark.parametrize("move", [1, 49, 2**45 + 1, 2**59 + 3, 2**70 + 1])
@pytest.mark.parametrize("per_move", [1, 7, 64, 2**20])
def test_levels_are_scaled_exactly_whatever_the_move(move: int, per_move: int) -> None:
    levels = np.arange(20_000)
    scaled = scaled_levels(levels, move, per_move).tolist()
    assert scaled == [level * move // per_move for level in levels.tolist()]


def test_products_are_exact_beyond_64_bits() -> None:
    columns = [np.array([3, 2**30]), np.array([5, 2**29]), np.array([1, 2**59]), np.array([2, 7])]
    columns.append(np.array([1, 2**80], dtype=object))
    assert products(columns) == [30, 7 * 2**198]
