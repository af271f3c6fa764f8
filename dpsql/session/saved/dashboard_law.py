"""What the ledger keeps of a dashboard beside its table: its noise's law, and what its columns are.

Of the law follows each read sum's error; by what columns mean it is known which queries ask for
what the table has already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from msgspec import Struct

from dpsql.engine.digest import Digest
from dpsql.errors import InternalError
from dpsql.plan.operator import Project
from dpsql.privacy.domain import Value
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise, Residual, ResidualGaussian
from dpsql.release.dashboard.chart_error import half_width, linear, worths
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.digest.sum_digest import sum_digests

MAX_RESIDUALS = 5_000
"""Of more of them no law is kept, so that what is said of a table stays small."""


class DashboardContent(Struct, frozen=True):
    """What a table's columns mean: the digest of its rows, and of each key and value by its name.

    Names are in the order of the table's columns. `granted` is what the dashboard was asked for at,
    in the ledger's currency, and `policy` the hash of the schema's, under which digests hold.
    """

    rows: Digest
    keys: Mapping[str, Digest]
    values: Mapping[str, Digest]
    granted: Fraction
    policy: str


class DashboardLaw(Struct, frozen=True):
    """The noise of a kept table's values, by their names.

    `axes` has the names of each axis' keys, of which `noise.statistics` all have the shape. A value
    is the sum of worths times statistics, by their indices, in `values`. `content` is None where an
    earlier version kept the table.
    """

    axes: tuple[tuple[str, ...], ...]
    values: Mapping[str, tuple[tuple[Fraction, int], ...]]
    noise: MarginalNoise
    content: DashboardContent | None = None

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

    def largest_variance(
        self, value: str, keys: Collection[str], cells: Sequence[Mapping[str, Value | None]]
    ) -> Fraction | None:
        """The largest variance of the sums of `value` by `keys`, if the table has these `cells`.

        Of some keys of an axis alone each of their values has another number of cells. None where
        no chart shows these keys together.
        """
        sides = []
        for axis, names in enumerate(self.axes):
            wanted = [name for name in names if name in keys]
            if wanted and len(wanted) < len(names):
                along = {tuple(cell[name] for name in names): cell for cell in cells}.values()
                merged = Counter(tuple(cell[name] for name in wanted) for cell in along)
                sides.append(sorted(set(merged.values())))
            else:
                sides.append([1 if wanted else self.noise.statistics[0].shape[axis]])
        variances = [self.noise.variance(self.values[value], box) for box in product(*sides)]
        known = [one for one in variances if one is not None]
        return max(known) if len(known) == len(variances) else None


def dashboard_law(compiled: CompiledStatement, policy: str) -> DashboardLaw | None:
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
    own = compiled.statement.names
    if len({*own}) < len(own):
        # No table has such columns: it is no name's, and these are read by their places.
        own = tuple(map(str, range(len(own))))
    names = {o.expression: name for o, name in zip(plan.outputs, own, strict=True)}
    keys = [names[key.column] for key in bounded.contributions.keys]
    axes = tuple(tuple(keys[k] for k in domain.keys) for domain in bounded.contributions.domains)
    values = {}
    for output in bounded.outputs:
        values[names[output.column]] = worths(linear(output.estimator))
    digests = sum_digests(bounded)
    meanings = {name: digest for name, digest in zip(values, digests.values, strict=True) if digest}
    if len(meanings) < len(values):
        raise InternalError("a dashboard is of sums over rows")
    content = DashboardContent(
        digests.rows,
        dict(zip(keys, digests.keys, strict=True)),
        meanings,
        compiled.query_loss.amount,
        policy,
    )
    return DashboardLaw(axes, values, noise, content)


def encode_law(law: DashboardLaw) -> dict[str, Any]:
    """`law` for JSON."""
    content = law.content
    known = {} if content is None else {"content": _encode_content(content)}
    return {
        **known,
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
    content = _decode_content(fields["content"]) if "content" in fields else None
    return DashboardLaw(tuple(tuple(names) for names in fields["axes"]), values, noise, content)


def _encode_content(content: DashboardContent) -> dict[str, Any]:
    # As lists: their order is that of the columns.
    return {
        "rows": content.rows,
        "keys": list(content.keys.items()),
        "values": list(content.values.items()),
        "granted": str(content.granted),
        "policy": content.policy,
    }


def _decode_content(fields: Mapping[str, Any]) -> DashboardContent:
    keys, values = dict(fields["keys"]), dict(fields["values"])
    granted = Fraction(fields["granted"])
    return DashboardContent(fields["rows"], keys, values, granted, fields["policy"])
