"""Functions and operators whose values have one type, whatever their arguments are."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.pgwire.sql.types.pg_type import Kind

FIXED: Final[tuple[tuple[Kind, tuple[type[exp.Expr], ...]], ...]] = (
    (
        Kind.BOOL,
        (
            exp.Predicate,
            exp.Connector,
            exp.Not,
            exp.Boolean,
            exp.Between,
            exp.In,
            exp.Like,
            exp.ILike,
            exp.SimilarTo,
            exp.RegexpLike,
            exp.RegexpILike,
            exp.Escape,
            exp.Is,
            exp.Exists,
            exp.LogicalAnd,
            exp.LogicalOr,
            exp.StartsWith,
        ),
    ),
    (
        Kind.INT8,
        (exp.Count, exp.RowNumber, exp.Rank, exp.DenseRank, exp.RegrCount, exp.ApproxDistinct),
    ),
    (
        Kind.INT4,
        (
            exp.Length,
            exp.Ascii,
            exp.StrPosition,
            exp.Unicode,
            exp.Ntile,
            exp.WidthBucket,
            exp.RegexpCount,
            exp.RegexpInstr,
            exp.BitLength,
            exp.ArraySize,
        ),
    ),
    (
        Kind.FLOAT8,
        (
            exp.Corr,
            exp.CovarPop,
            exp.CovarSamp,
            exp.RegrSlope,
            exp.RegrIntercept,
            exp.RegrR2,
            exp.RegrAvgx,
            exp.RegrAvgy,
            exp.PercentileCont,
            exp.PercentRank,
            exp.CumeDist,
            exp.Cbrt,
            exp.Degrees,
            exp.Radians,
            exp.Pi,
            exp.Sin,
            exp.Cos,
            exp.Tan,
            exp.Cot,
            exp.Asin,
            exp.Acos,
            exp.Atan,
            exp.Atan2,
            exp.Sinh,
            exp.Cosh,
            exp.Tanh,
            exp.Asinh,
            exp.Acosh,
            exp.Atanh,
        ),
    ),
    (Kind.NUMERIC, (exp.Extract,)),
    (
        Kind.TEXT,
        (
            exp.Concat,
            exp.ConcatWs,
            exp.DPipe,
            exp.Lower,
            exp.Upper,
            exp.Trim,
            exp.Substring,
            exp.Repeat,
            exp.Replace,
            exp.Left,
            exp.Right,
            exp.Pad,
            exp.Reverse,
            exp.Initcap,
            exp.MD5,
            exp.Translate,
            exp.SplitPart,
            exp.RegexpReplace,
            exp.RegexpSubstr,
            exp.TimeToStr,
            exp.Chr,
            exp.GroupConcat,
            exp.JSONExtractScalar,
        ),
    ),
    (Kind.TIMESTAMP, (exp.Localtimestamp,)),
    (Kind.TIMESTAMPTZ, (exp.CurrentTimestamp, exp.UnixToTime, exp.StrToTime)),
    (Kind.DATE, (exp.CurrentDate, exp.DateFromParts, exp.Date, exp.StrToDate)),
    (Kind.INTERVAL, (exp.Interval,)),
    (Kind.UNKNOWN, (exp.Null,)),
)
PART_BY_PATTERN: Final = "\0part_by_pattern"
"""The part of a text that a pattern matches, or its group, until patterns are rewritten.

No statement can have the name: none has its first character.
"""

NAMED: Final = {
    "statement_timestamp": Kind.TIMESTAMPTZ,
    "clock_timestamp": Kind.TIMESTAMPTZ,
    "to_char": Kind.TEXT,
    "btrim": Kind.TEXT,
    "substr": Kind.TEXT,
    "repeat": Kind.TEXT,
    PART_BY_PATTERN: Kind.TEXT,
    "cardinality": Kind.INT4,
    "array_upper": Kind.INT4,
    "num_nulls": Kind.INT4,
    "num_nonnulls": Kind.INT4,
    "octet_length": Kind.INT4,
    "bit_length": Kind.INT4,
    "date_part": Kind.FLOAT8,
    "div": Kind.NUMERIC,
    "every": Kind.BOOL,
    "isfinite": Kind.BOOL,
    "make_timestamp": Kind.TIMESTAMP,
    "make_timestamptz": Kind.TIMESTAMPTZ,
    "regexp_count": Kind.INT4,
    "regexp_instr": Kind.INT4,
    "to_date": Kind.DATE,
    "to_timestamp": Kind.TIMESTAMPTZ,
}
"""Types of functions by name, where the parser has no node of their own for them."""
