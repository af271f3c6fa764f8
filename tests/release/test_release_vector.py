"""Whole columns are, byte for byte, what going through the groups one by one makes of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from privacy.seeded import SeededRandomness

from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator, Mean
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.arrow import arrow_array
from dpsql.release.columns.estimate import evaluate
from dpsql.release.columns.estimate_vectorized import whole_column
from dpsql.release.columns.integer_arrays import of_column, of_list
from dpsql.schema.sql_type import BIGINT, HUGEINT, Decimal, Double, Integer, SqlType

EXTREMES = [0, 1, -1, 2, 127, 128, -128, -129, 2**31, -(2**31) - 1, 10**15, -(10**15), 2**53 + 1]
CENT = Fraction(1, 100)


def spread(name: str, most: int, count: int = 500) -> Integers:
    """Integers of all sizes up to `most`, either way."""
    bits = np.frombuffer(SeededRandomness(name).bytes(8 * count), dtype=np.uint64)
    sizes = [int(word) % (2 * most + 1) - most for word in bits]
    shrunk = [size >> (place % 60) for place, size in enumerate(sizes)]
    return of_list([*shrunk, *(e for e in EXTREMES if abs(e) <= most), most, -most])


def total(step: Fraction, kind: SqlType, least: int | None = None) -> LinearEstimator:
    return LinearEstimator(((0, 1), (1, -7)), step, kind, least)


def mean(step: Fraction, centre: int, low: int, high: int) -> Mean:
    return Mean(0, 1, centre, step, low * step, high * step)


FORMULAS: list[tuple[Estimator, SqlType]] = [
    (total(Fraction(1), BIGINT), BIGINT),
    (total(Fraction(1), BIGINT, least=0), BIGINT),
    (total(Fraction(1), HUGEINT), HUGEINT),
    (total(Fraction(10), HUGEINT), HUGEINT),
    (total(Fraction(1), Integer(8)), Integer(8)),
    (total(Fraction(3), Integer(64, signed=False)), Integer(64, signed=False)),
    (total(CENT, Decimal(38, 2)), Decimal(38, 2)),
    (total(Fraction(1), Decimal(38, 2)), Decimal(38, 2)),
    (total(CENT, Decimal(5, 2)), Decimal(5, 2)),
    (total(CENT, Double()), Double()),
    (total(Fraction(3, 2**30), Double()), Double()),
    (mean(Fraction(1), 25, 0, 50), Double()),
    (mean(CENT, 0, -(10**12), 10**12), Double()),
    (mean(CENT, 5_295_000, 90_000, 10_500_000), Double()),
    (mean(Fraction(1, 3), -17, -(10**9), 10**9), Double()),
    (mean(Fraction(5, 2**40), 10**9, 0, 10**10), Double()),
]


@pytest.mark.parametrize("most", [1, 1000, 2**31, 10**13, 10**17])
@pytest.mark.parametrize(("formula", "kind"), FORMULAS)
def test_a_whole_column_is_that_of_its_groups(formula: Estimator, kind: SqlType, most: int) -> None:
    everything = (spread("left", most), spread("right", most))
    few = [tuple(each[at : at + 12] for each in everything) for at in range(0, 512, 12)]
    for statistics in (everything, *few):
        _check_whole_column(formula, kind, statistics, may_be_none=most > 2**31 or Double() == kind)


def _check_whole_column(
    formula: Estimator, kind: SqlType, statistics: tuple[Integers, ...], *, may_be_none: bool
) -> None:
    found = whole_column(formula, statistics, kind)
    rows = zip(*(s.tolist() for s in statistics), strict=True)
    one_by_one = arrow_array([evaluate(formula, row, ()) for row in rows], kind)
    if found is not None:
        assert found.type == one_by_one.type
        assert found.buffers()[1].to_pybytes() == one_by_one.buffers()[1].to_pybytes()
    else:
        assert may_be_none


@pytest.mark.parametrize(("formula", "kind"), [FORMULAS[0], FORMULAS[6], FORMULAS[13]])
def test_ordinary_sums_and_means_never_go_row_by_row(formula: Estimator, kind: SqlType) -> None:
    statistics = (spread("left", 10**9), spread("right", 10**6))
    assert whole_column(formula, statistics, kind) is not None


@pytest.mark.parametrize("formula", [total(CENT, Decimal(38, 2)), mean(CENT, 3, 0, 9)])
def test_integers_beyond_machine_words_have_no_vector(formula: Estimator) -> None:
    statistics = (of_list([2**70, 5]), of_list([1, 2**64]))
    assert whole_column(formula, statistics, Double()) is None


@pytest.mark.parametrize("mechanism", [DiscreteLaplace(Fraction(7)), DiscreteGaussian(Fraction(9))])
@pytest.mark.parametrize("most", [100, 2**62 + 5, 2**80])
def test_a_vector_gets_the_noise_that_a_list_gets(mechanism: IndependentNoise, most: int) -> None:
    values = [0, most, -most, 17]
    listed = mechanism.release(values, SeededRandomness("noise"))
    assert mechanism.release_vector(of_list(values), SeededRandomness("noise")).tolist() == listed


@pytest.mark.parametrize("values", [np.array([1.5]), np.array([True, 2], dtype=object)])
def test_a_vector_of_anything_but_integers_gets_no_noise(values: Integers) -> None:
    with pytest.raises(TypeError):
        DiscreteLaplace(Fraction(7)).release_vector(values, SeededRandomness("noise"))


@pytest.mark.parametrize(
    "values", [[], [1, None, -5], [2**62, -(2**63), 2**63 - 1], [2**63, -(2**90), 10**37], [7]]
)
@pytest.mark.parametrize("kind", [pa.int64(), pa.decimal128(38, 0)])
def test_a_column_of_the_engine_is_read_exactly(
    values: list[int | None], kind: pa.DataType
) -> None:
    if kind == pa.int64() and any(v is not None and abs(v) > 2**63 - 1 for v in values):
        values = [v for v in values if v is None or abs(v) < 2**63]
    whole = pa.chunked_array([pa.array([0, *values], kind).slice(1), pa.array([], kind)])
    assert of_column(whole).tolist() == [v or 0 for v in values]
