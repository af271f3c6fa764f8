"""Forty releases whose loss is bounded from below: queries, mechanisms, accountings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from notes.compiler import schema_of

from dpsql.audit.databases.search_space import Size, compiled, search_space
from dpsql.audit.empirical.answer_sampling import AnswerSampler
from dpsql.audit.empirical.epsilon_lower_bound import Bound, lower_bound, worst_pair
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise, Noise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.release.calibration import Measurement
from dpsql.release.exact_answers import NoNoise
from dpsql.release.selection_mechanism import (
    CountedTopMechanism,
    ModeMechanism,
    ScoreMechanism,
    SelectionMechanism,
    TopMechanism,
)
from dpsql.schema.budget import Budget, PerQuery
from dpsql.schema.model import Schema
from dpsql.structs import replace

QUERIES = (
    "SELECT count(*) FROM patients",
    "SELECT count(*) FROM visits",
    "SELECT count(*) FROM readings",
    "SELECT count(age) FROM patients",
    "SELECT count(*) FROM patients WHERE age > 50",
    "SELECT count(DISTINCT patient_id) FROM visits",
    "SELECT count(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits)",
    "SELECT count(*) FROM tests JOIN visits USING (visit_id) WHERE cost > 10",
    "SELECT insured, count(*) FROM patients GROUP BY insured",
    "SELECT sum(age) FROM patients",
    "SELECT sum(weight) FROM patients",
    "SELECT sum(cost) FROM visits",
    "SELECT sum(score) FROM tests",
    "SELECT sum(value) FROM readings",
    "SELECT count(*) FROM tests",
    "SELECT sum(CASE WHEN insured THEN 1 ELSE 0 END) FROM patients",
    "SELECT sex, sum(age) FROM patients GROUP BY sex",
    "SELECT avg(age) FROM patients",
    "SELECT avg(cost) FROM visits",
)

CHOICE = "SELECT mode(sex) FROM patients"

EPSILON = {
    Accounting.PURE: Fraction(1),
    Accounting.APPROX: Fraction(1),
    Accounting.ZCDP: Fraction(6),
}
"""Under zcdp more, since a Gaussian's loss shows only where it is large."""


@dataclass(frozen=True)
class Canary:
    sql: str
    accounting: Accounting

    @property
    def name(self) -> str:
        return f"{self.accounting.value}: {self.sql}"


FEW_INTEGERS = (
    "SELECT count(*) FROM patients",
    "SELECT count(*) FROM readings",
    "SELECT count(age) FROM patients",
    "SELECT count(*) FROM patients WHERE age > 50",
    "SELECT count(DISTINCT patient_id) FROM visits",
    "SELECT count(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits)",
    "SELECT insured, count(*) FROM patients GROUP BY insured",
    "SELECT sum(CASE WHEN insured THEN 1 ELSE 0 END) FROM patients",
)
"""Of unit sensitivity: an event says less of Gaussian noise that spans few integers."""

CANARIES = [
    *(Canary(sql, Accounting.PURE) for sql in QUERIES),
    *(
        Canary(sql, Accounting.APPROX if sql in FEW_INTEGERS else Accounting.ZCDP)
        for sql in QUERIES
    ),
    *(Canary(CHOICE, accounting) for accounting in (Accounting.PURE, Accounting.APPROX)),
]


def canary_schema(accounting: Accounting) -> Schema:
    """The clinic under this accounting."""
    delta = Fraction(0) if accounting is Accounting.PURE else Fraction(1, 10**6)
    epsilon = EPSILON[accounting]
    return replace(
        schema_of("clinic"),
        budget=Budget(Fraction(100), delta, accounting),
        per_query=PerQuery(epsilon, epsilon, delta / 10),
    )


def bound_of(
    canary: Canary, draws: int, alpha: float, *, violated: Fraction = Fraction(1)
) -> Bound:
    """A lower bound on the canary's loss; its noise may be less than what is charged says."""
    schema = canary_schema(canary.accounting)
    (release,) = compiled(canary.sql, schema, schema.per_query.epsilon).releases
    found = search_space(release.release, schema, schema.neighbors, Size(units=8, max_units=2))
    pair = worst_pair(release, found, {})
    less = replace(release.step, measurement=with_less_noise(release.step.measurement, violated))
    drawn = [AnswerSampler.of(less, found.worlds, world) for world in pair]
    return lower_bound(release.step, drawn, schema, draws, alpha)


def with_less_noise(measurement: Measurement, factor: Fraction) -> Measurement:
    """Every mechanism as if its sensitivity were `factor` times as large: a seeded violation."""
    return replace(
        measurement,
        mechanisms=tuple(
            m if isinstance(m, NoNoise) else _less(m, factor) for m in measurement.mechanisms
        ),
        choosers=tuple(_bolder(chooser, factor) for chooser in measurement.choosers),
    )


def _less(noise: Noise, factor: Fraction) -> Noise:
    match noise:
        case DiscreteLaplace() | DiscreteGaussian() | RoundedGaussian():
            return _less_alone(noise, factor)
        case RoundedNoise(fine=fine):
            return replace(noise, fine=_less_alone(fine, factor))
        case CorrelatedNoise(law=law):
            less = tuple(variance / factor**2 for variance in law.variances)
            return replace(noise, law=replace(law, variances=less, shared=law.shared / factor**2))
        case KNormNoise(law=law):
            return replace(noise, law=replace(law, epsilon=law.epsilon * factor))
        case OneDirectionNoise(law=law):
            return replace(noise, law=replace(law, epsilon=law.epsilon * factor))
        case missing:
            assert_never(missing)


def _less_alone(noise: IndependentNoise, factor: Fraction) -> IndependentNoise:
    match noise:
        case DiscreteLaplace(scale=scale):
            return DiscreteLaplace(scale / factor)
        case DiscreteGaussian(variance=variance):
            return DiscreteGaussian(variance / factor**2)
        case RoundedGaussian(normal_variance=variance):
            return RoundedGaussian(variance / factor**2)
        case missing:
            assert_never(missing)


def _bolder(chooser: SelectionMechanism, factor: Fraction) -> SelectionMechanism:
    if isinstance(chooser, ModeMechanism | TopMechanism | ScoreMechanism):
        bolder = replace(chooser.mechanism, epsilon=chooser.mechanism.epsilon * factor)
        return replace(chooser, mechanism=bolder)
    if isinstance(chooser, CountedTopMechanism):
        top = _bolder(chooser.top, factor)
        assert isinstance(top, TopMechanism)
        return replace(chooser, top=top, noise=_less(chooser.noise, factor))
    return replace(chooser, epsilon=chooser.epsilon * factor)
