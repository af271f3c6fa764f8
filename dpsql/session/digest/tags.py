"""What digests are made of: a tag for each class, and its fields that count, in a lasting order.

Answers are stored under these digests. A tag, and a place in `fields`, means one thing for ever:
who renames a class or a field changes its name here, and nothing else. A further field goes to the
end, and answers that have it are drawn anew. Fields and classes that no digest has are listed with
the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from dpsql.engine.source import DuckDBSource, SourceTable
from dpsql.plan import aggregate, expression, frame, operator
from dpsql.plan.bounded_release import bounded_release, cell_selection, estimator, statistic
from dpsql.plan.sort_key import SortKey
from dpsql.privacy import domain
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.allocation import mwem_calibration
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.selection.exponential import Exponential
from dpsql.privacy.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dpsql.privacy.mechanisms.selection.quantile import Quantiles
from dpsql.release.calibration import Measurement
from dpsql.release.exact_answers import AsSaid
from dpsql.release.selection_mechanism import Frequent
from dpsql.schema import model
from dpsql.schema import sql_type as sql


@dataclass(frozen=True, slots=True)
class Tagged:
    """A class in digests; `apart` says of each other field that is compared why it is in none."""

    tag: str
    fields: tuple[str, ...] = ()
    apart: Mapping[str, str] = field(default_factory=dict)


_EXPRESSIONS: Final[dict[type, Tagged]] = {
    expression.Literal: Tagged("literal", ("value", "type")),
    expression.Arithmetic: Tagged("arithmetic", ("op", "left", "right", "type")),
    expression.Compare: Tagged("compare", ("op", "left", "right")),
    expression.And: Tagged("and", ("operands",)),
    expression.Or: Tagged("or", ("operands",)),
    expression.Not: Tagged("not", ("operand",)),
    expression.IsNull: Tagged("is null", ("operand",)),
    expression.InList: Tagged("in list", ("operand", "values")),
    expression.When: Tagged("when", ("condition", "result")),
    expression.Case: Tagged("case", ("branches", "otherwise", "type")),
    expression.Cast: Tagged("cast", ("operand", "type")),
    expression.Call: Tagged("call", ("function", "arguments", "type")),
    aggregate.AggregateCall: Tagged(
        "aggregate call",
        (
            *("function", "arguments", "distinct", "filter", "type"),
            *("fraction", "from_above", "part", "order"),
        ),
    ),
    aggregate.AggregateOutput: Tagged("aggregate output", ("column", "call")),
    SortKey: Tagged("sort key", ("expression", "descending", "nulls_first")),
    domain.Domain: Tagged("domain", ("bounds", "values", "nullable", "declared_length")),
    domain.Interval: Tagged("interval", ("low", "high")),
}

_TYPES: Final[dict[type, Tagged]] = {
    sql.Boolean: Tagged("boolean"),
    sql.Integer: Tagged("integer", ("bits", "signed")),
    sql.Decimal: Tagged("decimal", ("precision", "scale")),
    sql.Double: Tagged("double", ("bits",)),
    sql.Varchar: Tagged("varchar"),
    sql.Date: Tagged("date"),
    sql.Timestamp: Tagged("timestamp"),
    sql.Interval: Tagged("length of time"),
    sql.Uuid: Tagged("uuid"),
    sql.Array: Tagged("array", ("of",)),
    sql.Null: Tagged("null"),
}

_OPERATORS: Final[dict[type, Tagged]] = {
    operator.Filter: Tagged("filter", ("source", "predicate")),
    operator.Output: Tagged("output", ("column", "expression", "declared")),
    operator.Project: Tagged("project", ("source", "outputs", "view")),
    operator.Join: Tagged("join", ("sources", "on")),
    operator.Aggregate: Tagged("aggregate", ("source", "keys", "aggregates")),
    operator.OuterJoin: Tagged("outer join", ("kind", "left", "right", "on", "unit")),
    operator.Mark: Tagged("mark", ("source", "relation", "on", "column")),
    operator.Union: Tagged("union", ("sources", "outputs", "unit")),
    operator.SetOperation: Tagged("set operation", ("kind", "left", "right", "outputs")),
    frame.Offset: Tagged("offset", ("distance", "following")),
    frame.Frame: Tagged("frame", ("kind", "first", "last", "excluded")),
    operator.WindowCall: Tagged(
        "window call",
        (
            *("function", "arguments", "partition", "order"),
            *("frame", "type", "ignore_nulls", "distinct"),
        ),
    ),
    operator.WindowOutput: Tagged("window output", ("column", "call")),
    operator.Window: Tagged("window", ("source", "outputs")),
    operator.Values: Tagged("values", ("outputs", "rows")),
    operator.Whole: Tagged("whole", ("outputs", "sql", "tables", "casts")),
    operator.Sort: Tagged("sort", ("source", "by")),
    operator.Limit: Tagged("limit", ("source", "count", "offset")),
}

_BOUNDED: Final[dict[type, Tagged]] = {
    bounded_release.BoundedRelease: Tagged(
        "release",
        ("limited", "outputs", "selection", "least"),
        {
            "notes": "what analysts are told of limits, which are in `limited`",
            "bounding": "another way to integers that the same limits allow",
        },
    ),
    bounded_release.Terms: Tagged(
        "terms", ("source", "keys", "domains", "statistics", "selections")
    ),
    bounded_release.Partials: Tagged("partials", ("source",)),
    bounded_release.ClampPartials: Tagged("clamp partials", ("source", "rows_per_group")),
    bounded_release.ByHash: Tagged("by hash", ("groups",)),
    bounded_release.ByDomain: Tagged("by domain", ("groups",)),
    bounded_release.ByUnit: Tagged("by unit", ("tables",)),
    bounded_release.LimitGroups: Tagged("limit groups", ("source", "limit", "rows")),
    bounded_release.OneRowPerUnit: Tagged("one row per unit", ("source",)),
    bounded_release.LeastUnits: Tagged("least units", ("place", "units")),
    statistic.Measured: Tagged("measured", ("argument", "step", "low", "high", "centre")),
    statistic.Ones: Tagged("ones"),
    statistic.Present: Tagged("present", ("argument",)),
    statistic.Amount: Tagged("amount", ("value",)),
    statistic.Square: Tagged("square", ("value",)),
    statistic.Product: Tagged("product", ("left", "right")),
    statistic.Deviations: Tagged("deviations", ("value", "rows")),
    statistic.Presence: Tagged("presence"),
    statistic.Over: Tagged("over"),
    statistic.Distinct: Tagged("distinct", ("argument", "most")),
    statistic.DistinctSum: Tagged("distinct sum", ("value", "most")),
    statistic.Statistic: Tagged("statistic", ("term", "filter")),
    cell_selection.Spaced: Tagged("spaced", ("value", "width")),
    cell_selection.Listed: Tagged("listed", ("argument", "values")),
    cell_selection.Places: Tagged("places", ("quantiles",)),
    cell_selection.MostFrequent: Tagged("most frequent"),
    cell_selection.Selection: Tagged("selection", ("cells", "filter", "wanted")),
    estimator.Linear: Tagged(
        "linear", ("terms", "step", "type", "least", "constant", "said", "others")
    ),
    estimator.Others: Tagged("others", ("key", "groups", "terms")),
    estimator.Said: Tagged("said", ("inside", "outside", "rows")),
    estimator.Mean: Tagged("mean", ("total", "count", "centre", "step", "low", "high")),
    estimator.Axis: Tagged("axis", ("total", "square", "centre", "radius", "step")),
    estimator.Moments: Tagged("moments", ("function", "count", "x", "y", "product")),
    estimator.Variance: Tagged("variance", ("function", "place", "rows", "value")),
    estimator.Position: Tagged("position", ("place", "low", "width", "high", "type", "count")),
    estimator.Named: Tagged("named", ("place", "values", "count")),
    estimator.FormulaOutput: Tagged("formula output", ("column", "formula", "part")),
}

_MECHANISMS: Final[dict[type, Tagged]] = {
    Measurement: Tagged("measurement", ("mechanisms", "threshold", "loss", "choosers", "weighing")),
    PrivacyLoss: Tagged("loss", ("accounting", "amount", "delta")),
    DiscreteLaplace: Tagged("laplace noise", ("scale",)),
    DiscreteGaussian: Tagged("gaussian noise", ("variance",)),
    AsSaid: Tagged("as said"),
    Exponential: Tagged("exponential", ("epsilon", "spread")),
    PermuteAndFlip: Tagged("permute and flip", ("epsilon", "spread")),
    Frequent: Tagged("frequent", ("mechanism", "groups")),
    Quantiles: Tagged("quantiles", ("quantiles", "epsilon", "rows", "accounting", "slices")),
    mwem_calibration.Weighing: Tagged(
        "weighing", ("rounds", "moves", "total", "choice", "amount", "gaussian")
    ),
    mwem_calibration.Moves: Tagged("moves", ("groups", "per_cell")),
}

_SOURCES: Final[dict[type, Tagged]] = {
    DuckDBSource: Tagged("duckdb source", ("database", "tables")),
    SourceTable: Tagged("source table", ("name", "file", "columns", "renamed")),
    model.Public: Tagged("public"),
    model.RowUnit: Tagged("row unit"),
    model.EntityUnit: Tagged("entity unit", ("kind", "hops", "column")),
    model.Hop: Tagged(
        "hop",
        ("columns", "table", "key"),
        {
            "hidden": "a file has the same rows, whoever may read of the table",
            "same_unit": "a proof for joins; units are found by the keys alone",
        },
    ),
}

CLASSES: Final[Mapping[type, Tagged]] = {
    **_EXPRESSIONS,
    **_TYPES,
    **_OPERATORS,
    **_BOUNDED,
    **_MECHANISMS,
    **_SOURCES,
}

APART: Final[Mapping[type, str]] = {
    expression.Column: "it goes by what it means, or by the order in which columns are met",
    operator.Scan: "it goes by what engines call the table and its columns",
    operator.Release: "it goes by the key of its answer",
    bounded_release.KeyDomain: "its cells are in any order, and may be a million",
}
"""Classes that are met and are never read by their fields."""


def _by_value(kind: type[Enum]) -> dict[Enum, str]:
    return {member: member.value for member in kind}


ENUMS: Final[Mapping[str, Mapping[Enum, str]]] = {
    # SQL's own words and signs, and the ledger's.
    "arithmetic": _by_value(expression.ArithmeticOperator),
    "comparison": _by_value(expression.Comparison),
    "aggregate": _by_value(aggregate.AggregateFunction),
    "open aggregate": _by_value(aggregate.OpenFunction),
    "frame": _by_value(frame.FrameKind),
    "excluded": _by_value(frame.FrameExclusion),
    "set": _by_value(operator.SetKind),
    "accounting": _by_value(Accounting),
    # Words of ours, which may change where they are said.
    "outer": {
        operator.OuterKind.LEFT: "left",
        operator.OuterKind.FULL: "full",
        operator.OuterKind.PUBLIC: "public",
    },
    "part": {
        aggregate.Part.VALUE: "value",
        aggregate.Part.LOW: "low",
        aggregate.Part.HIGH: "high",
        aggregate.Part.STDDEV: "stddev",
        aggregate.Part.CLIPPED: "clipped",
        aggregate.Part.OVER: "over",
    },
}
