"""The law of a dashboard's noise, as the ledger keeps it: of it follows each read sum's error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsql.errors import InternalError
from dpsql.plan.operator import Project
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise, Residual, ResidualGaussian
from dpsql.release.dashboard.chart_error import half_width, linear, worths
from dpsql.session.compile.compiled import CompiledStatement

MAX_RESIDUALS = 5_000
"""Of more of them no law is kept, so that what is said of a table stays small."""


@dataclass(frozen=True, slots=True)
class DashboardLaw:
    """The noise of a kept table's values, by their names.

    `axes` has the names of each axis' keys, of which `noise.statistics` all have the shape. A value
    is the sum of worths times statistics, by their indices, in `values`.
    """

    axes: tuple[tuple[str, ...], ...]
    values: Mapping[str, tuple[tuple[Fraction, int], ...]]
    noise: MarginalNoise

    @property
    def mechanism(self) -> str:
        """The mechanism's name in reports."""
        return self.noise.name

    def half_width(self, variance: Fraction) -> float:
        """The 95 % half-width of a sum whose noise has this variance."""
        return half_width(variance)

    def variance(self, value: str, single: Collection[str]) -> Fraction | None:
        """The variance of the sum of `value` over all cells that have one value of `single` keys.

        None where it isn't known: of what no chart shows together, and of some keys of an axis
        alone, of whose values each has another number of cells.
        """
        box = []
        for axis, names in enumerate(self.axes):
            named = sum(name in single for name in names)
            if named not in (0, len(names)):
                return None
            box.append(1 if named else self.noise.statistics[0].shape[axis])
        return self.noise.variance(self.values[value], box)


def dashboard_law(compiled: CompiledStatement) -> DashboardLaw | None:
    """The law of what `compiled` makes; None of no dashboard, and of one of too many residuals."""
    noises = [release.step.measurement.table_mechanism for release in compiled.releases]
    if len(noises) != 1 or not isinstance(noises[0], MarginalNoise):
        return None
    noise, plan = noises[0], compiled.statement.plan
    if sum(len(one.residuals) for one in noise.statistics) > MAX_RESIDUALS:
        return None
    if not isinstance(plan, Project):
        raise InternalError("a dashboard is of columns of one release")
    bounded = compiled.releases[0].step.bounded
    names = {
        output.expression: name
        for output, name in zip(plan.outputs, compiled.statement.names, strict=True)
    }
    keys = [names[key.column] for key in bounded.contributions.keys]
    axes = tuple(tuple(keys[k] for k in domain.keys) for domain in bounded.contributions.domains)
    values = {}
    for output in bounded.outputs:
        values[names[output.column]] = worths(linear(output.estimator))
    return DashboardLaw(axes, values, noise)


def encode_law(law: DashboardLaw) -> dict[str, Any]:
    """`law` for JSON."""
    return {
        "axes": law.axes,
        "values": {
            name: [[str(worth), index] for worth, index in terms]
            for name, terms in law.values.items()
        },
        "shape": law.noise.statistics[0].shape,
        "rounded": law.noise.statistics[0].is_rounded,
        "noise": [
            [[one.axes, str(one.variance)] for one in statistic.residuals]
            for statistic in law.noise.statistics
        ],
    }


def decode_law(fields: Mapping[str, Any]) -> DashboardLaw:
    """What `encode_law` wrote."""
    shape = tuple(fields["shape"])
    noise = MarginalNoise(
        tuple(
            ResidualGaussian(
                shape,
                tuple(Residual(tuple(axes), Fraction(v)) for axes, v in residuals),
                fields["rounded"],
            )
            for residuals in fields["noise"]
        )
    )
    values = {
        name: tuple((Fraction(worth), index) for worth, index in terms)
        for name, terms in fields["values"].items()
    }
    return DashboardLaw(tuple(tuple(names) for names in fields["axes"]), values, noise)
