"""What digests are made of: a tag for each class, and its fields that count, in a lasting order.

Answers are stored under these digests. A tag, and a place in `fields`, means one thing for ever:
who renames a class or a field changes its name here, and nothing else. A further field goes to the
end, and answers that have it are drawn anew. Fields and classes that no digest has are listed with
the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from dpsql.engine.source import DuckDBSource, PostgresSource, ServerTable, SourceTable, SparkSource
from dpsql.plan import aggregate, expression, frame, operator
from dpsql.plan.bounded_release import (
    bounded_release,
    cell_selection,
    estimator,
    key_factors,
    statistic,
    unit_weight,
)
from dpsql.plan.sort_key import SortKey
from dpsql.privacy import domain
from dpsql.privacy.accounting.loss import Accounting
from dpsql.schema import model
from dpsql.schema import sql_type as sql
from dpsql.session.digest.mechanism_tags import MECHANISMS
from dpsql.session.digest.tag import Tagged

_EXPRESSIONS: Final[dict[type, Tagged]] = {
    expression.Literal: Tagged("literal", ("value", "type")),
    expression.Parameter: Tagged(
        "parameter",
        ("number", "type"),
        {"share": "it decides time alone; and no answer is stored under a generic plan's digest"},
    ),
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
            *("fraction", "from_above", "output_kind", "order"),
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
    operator.MarkJoin: Tagged("mark", ("source", "relation", "on", "column")),
    operator.Union: Tagged("union", ("sources", "outputs", "unit")),
    operator.SetOperation: Tagged("set operation", ("kind", "left", "right", "outputs")),
    frame.RangeOffset: Tagged("offset", ("distance", "following")),
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
    operator.PublicStatement: Tagged("whole", ("outputs", "sql", "tables", "casts")),
    operator.Sort: Tagged("sort", ("source", "by")),
    operator.Limit: Tagged("limit", ("source", "count", "offset")),
}

_BOUNDED: Final[dict[type, Tagged]] = {
    bounded_release.BoundedRelease: Tagged(
        "release",
        ("limited", "outputs", "partition_count_index", "min_units"),
        {
            "notes": "what analysts are told of limits, which are in `limited`",
            "sampling": "what follows from it is in `outputs`, and it is in the policy",
        },
    ),
    bounded_release.Contributions: Tagged(
        "terms", ("source", "keys", "domains", "statistics", "cell_choices")
    ),
    bounded_release.PerUnitGroup: Tagged("partials", ("source",)),
    bounded_release.ClampPerGroup: Tagged("clamp partials", ("source", "rows_per_group")),
    bounded_release.ByHash: Tagged("by hash", ("groups",)),
    bounded_release.ByRank: Tagged("by rank", ("groups", "ranks")),
    bounded_release.ByDomain: Tagged("by domain", ("groups",)),
    bounded_release.ByNorm: Tagged("by norm", ("groups", "cells", "parts", "order")),
    bounded_release.ByUnit: Tagged("by unit", ("tables",)),
    bounded_release.LimitGroups: Tagged("limit groups", ("source", "limit", "rows")),
    bounded_release.OneRowPerUnit: Tagged("one row per unit", ("source",)),
    bounded_release.MinUnits: Tagged("least units", ("count_index", "threshold")),
    statistic.Discretized: Tagged(
        "measured",
        ("argument", "step", "low", "high", "center"),
        {
            "scaled": "what the argument's own expression scales it into",
            "factored": "what the argument's own expression multiplies",
        },
    ),
    statistic.RowCount: Tagged("ones"),
    statistic.NonNullCount: Tagged("present", ("argument",)),
    statistic.Sum: Tagged("amount", ("value",)),
    statistic.CappedSum: Tagged("capped amount", ("value", "cap")),
    statistic.Square: Tagged("square", ("value",)),
    statistic.Product: Tagged("product", ("left", "right")),
    statistic.PairwiseDeviations: Tagged("deviations", ("value", "rows")),
    statistic.BoundedMean: Tagged("mean of many", ("value", "rows")),
    statistic.UnitCount: Tagged("presence"),
    unit_weight.UnitWeight: Tagged("weight of presence", ("groups",)),
    statistic.UnitsOverLimit: Tagged("over"),
    statistic.DistinctValues: Tagged("distinct", ("argument", "limit")),
    statistic.DistinctSum: Tagged("distinct sum", ("value", "limit")),
    statistic.Statistic: Tagged("statistic", ("term", "filter")),
    cell_selection.EquidistantCells: Tagged("spaced", ("value", "width")),
    cell_selection.ListedCells: Tagged("listed", ("argument", "values")),
    cell_selection.QuantileRanks: Tagged("places", ("quantiles",)),
    cell_selection.Mode: Tagged("most frequent"),
    cell_selection.FrequentCell: Tagged("most frequent of groups", ("rows",)),
    cell_selection.TopCells: Tagged("most frequent groups", ("rows", "count")),
    cell_selection.CountedCells: Tagged(
        "most frequent groups and their counts", ("rows", "count", "choice_share")
    ),
    cell_selection.ThresholdCells: Tagged("passed", ("argument", "comparison", "thresholds")),
    cell_selection.ThresholdScores: Tagged("scores", ("first_cells", "weights", "step")),
    cell_selection.CellChoice: Tagged("selection", ("cells", "filter", "target")),
    estimator.LinearEstimator: Tagged(
        "linear",
        ("summands", "step", "type", "minimum", "constant", "row_variance", "cross_group"),
    ),
    estimator.DividedSum: Tagged("divided", ("estimator", "factors")),
    key_factors.KeyFactors: Tagged("factors by key", ("key", "factors", "otherwise")),
    estimator.CrossGroupSum: Tagged("others", ("key", "groups", "summands")),
    estimator.RowVariance: Tagged("said", ("inside", "outside", "rows")),
    estimator.Mean: Tagged("mean", ("total", "count", "center", "step", "low", "high")),
    estimator.MomentIndices: Tagged("axis", ("total", "square", "center", "radius", "step")),
    estimator.Moments: Tagged("moments", ("function", "count", "x", "y", "product")),
    estimator.Variance: Tagged("variance", ("function", "index", "rows", "value")),
    estimator.QuantileValue: Tagged("position", ("index", "low", "width", "high", "type", "count")),
    estimator.ChosenValue: Tagged("named", ("index", "values", "count")),
    estimator.CellCount: Tagged("count of a choice", ("index", "minimum")),
    estimator.ExpertChoice: Tagged("expert", ("losses",)),
    estimator.AlertCondition: Tagged("at least", ("index", "sign", "threshold")),
    estimator.NamedCondition: Tagged("alert", ("conditions", "firings")),
    estimator.OfSample: Tagged("of a sample", ("estimator", "missing", "unit_rows")),
    estimator.EstimatedColumn: Tagged("formula output", ("column", "estimator", "output_kind")),
}

_SOURCES: Final[dict[type, Tagged]] = {
    DuckDBSource: Tagged(
        "duckdb source",
        ("database", "tables"),
        {
            "sample": "no file is prepared of a sample, and a digest of its key could be guessed",
            "spill": "what memory doesn't hold is the same, wherever it is written meanwhile",
        },
    ),
    SourceTable: Tagged(
        "source table",
        ("name", "file", "columns", "renamed"),
        {
            "csv": "the fingerprint of the data says how their files are written",
            "is_public": "whose rows they are is part of the plan",
        },
    ),
    PostgresSource: Tagged(
        "postgres source",
        ("version", "tables"),
        {"url": "the same data by another way; and a digest of a password could be guessed"},
    ),
    SparkSource: Tagged(
        "spark source",
        ("version", "tables"),
        {"url": "the same data by another way; and a digest of a token could be guessed"},
    ),
    ServerTable: Tagged(
        "server table",
        ("name", "columns", "renamed", "key", "identifying"),
        {"is_public": "whose rows they are is part of the plan"},
    ),
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
    **MECHANISMS,
    **_SOURCES,
}

EXCLUDED: Final[Mapping[type, str]] = {
    expression.Column: "it goes by what it means, or by the order in which columns are met",
    operator.Scan: "it goes by what engines call the table and its columns",
    operator.Release: "it goes by the key of its answer",
    bounded_release.KeyDomain: "its cells are in any order, and may be a million",
    bounded_release.ByStoredRank: "it goes by the choice that it stands for, by the same law",
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
        aggregate.OutputKind.VALUE: "value",
        aggregate.OutputKind.LOW: "low",
        aggregate.OutputKind.HIGH: "high",
        aggregate.OutputKind.STDDEV: "stddev",
        aggregate.OutputKind.CLIPPED: "clipped",
        aggregate.OutputKind.OVER: "over",
    },
}
