"""Which syntax nodes are calls of scalar functions, and of which: sqlglot has a class for many."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql.bind.function.irregular_functions import UNLIKE, Named, anonymous, parts
from dpsql.bind.syntax.allowlist import only


@dataclass(frozen=True, slots=True)
class Shape:
    """A node that is a call of `name`: its parts in the order of the function's arguments.

    `marks` are parts that say how DuckDB differs from other dialects, and change nothing here.
    """

    name: str
    parts: tuple[str, ...] = ("this",)
    marks: tuple[str, ...] = ()


_PAIR = ("this", "expression")

SHAPES: dict[type[exp.Expr], Shape] = {
    # sqlglot gives common functions nodes of their own.
    **{
        node: Shape(name)
        for node, name in (
            (exp.Abs, "abs"),
            (exp.Sign, "sign"),
            (exp.Floor, "floor"),
            (exp.Ceil, "ceil"),
            (exp.Sqrt, "sqrt"),
            (exp.Cbrt, "cbrt"),
            (exp.Exp, "exp"),
            (exp.Ln, "ln"),
            (exp.Degrees, "degrees"),
            (exp.Radians, "radians"),
            (exp.Sin, "sin"),
            (exp.Cos, "cos"),
            (exp.Tan, "tan"),
            (exp.Cot, "cot"),
            (exp.Asin, "asin"),
            (exp.Acos, "acos"),
            (exp.Atan, "atan"),
            (exp.Sinh, "sinh"),
            (exp.Cosh, "cosh"),
            (exp.Tanh, "tanh"),
            (exp.Asinh, "asinh"),
            (exp.Acosh, "acosh"),
            (exp.Atanh, "atanh"),
            (exp.IsNan, "isnan"),
            (exp.IsInf, "isinf"),
            (exp.Lower, "lower"),
            (exp.Upper, "upper"),
            (exp.Reverse, "reverse"),
            (exp.Length, "length"),
            (exp.Ascii, "ascii"),
            (exp.Unicode, "unicode"),
            (exp.MD5, "md5"),
            (exp.SHA, "sha1"),
            (exp.Year, "year"),
            (exp.Quarter, "quarter"),
            (exp.Month, "month"),
            (exp.Week, "week"),
            (exp.WeekOfYear, "week"),
            (exp.Day, "day"),
            (exp.DayOfMonth, "day"),
            (exp.DayOfWeek, "dayofweek"),
            (exp.DayOfWeekIso, "isodow"),
            (exp.DayOfYear, "dayofyear"),
            (exp.Hour, "hour"),
            (exp.Minute, "minute"),
            (exp.Second, "second"),
            (exp.TimeToUnix, "epoch"),
            (exp.Dayname, "dayname"),
            (exp.Monthname, "monthname"),
            (exp.LastDay, "last_day"),
        )
    },
    **{
        node: Shape(name, _PAIR)
        for node, name in (
            (exp.Mod, "%"),
            (exp.IntDiv, "//"),
            (exp.Pow, "power"),
            (exp.Atan2, "atan2"),
            (exp.BitwiseAnd, "&"),
            (exp.BitwiseOr, "|"),
            (exp.BitwiseXor, "xor"),
            (exp.BitwiseLeftShift, "<<"),
            (exp.BitwiseRightShift, ">>"),
            (exp.Left, "left"),
            (exp.Right, "right"),
            (exp.EndsWith, "ends_with"),
            (exp.Contains, "contains"),
            (exp.Like, "like"),
            (exp.ILike, "ilike"),
            (exp.Glob, "glob"),
            (exp.SimilarTo, "regexp_full_match"),
        )
    },
    exp.Pi: Shape("pi", ()),
    exp.Round: Shape("round", ("this", "decimals")),
    exp.Trunc: Shape("trunc", ("this", "decimals")),
    exp.Greatest: Shape("greatest", ("this", "expressions"), ("ignore_nulls",)),
    exp.Least: Shape("least", ("this", "expressions"), ("ignore_nulls",)),
    exp.Substring: Shape("substring", ("this", "start", "length")),
    exp.StrPosition: Shape("strpos", ("this", "substr")),
    exp.SplitPart: Shape("split_part", ("this", "delimiter", "part_index")),
    exp.Replace: Shape("replace", ("this", "expression", "replacement")),
    exp.Translate: Shape("translate", ("this", "from_", "to")),
    exp.Chr: Shape("chr", ("expressions",)),
    exp.DPipe: Shape("||", _PAIR, ("safe",)),
    exp.ConcatWs: Shape("concat_ws", ("expressions",), ("safe", "coalesce")),
    exp.RegexpLike: Shape("regexp_matches", ("this", "expression", "flag")),
    exp.RegexpFullMatch: Shape("regexp_full_match", ("this", "expression", "options")),
    exp.RegexpExtract: Shape(
        "regexp_extract",
        ("this", "expression", "group", "parameters"),
        ("null_if_pos_overflow",),
    ),
    exp.RegexpReplace: Shape(
        "regexp_replace", ("this", "expression", "replacement", "modifiers"), ("single_replace",)
    ),
    exp.TimestampTrunc: Shape("date_trunc", ("unit", "this")),
    exp.DateTrunc: Shape("date_trunc", ("unit", "this")),
    exp.DateDiff: Shape("date_diff", ("unit", "expression", "this"), ("date_part_boundary",)),
    exp.DateBin: Shape("time_bucket", ("this", "expression", "unit")),
    exp.TimeToStr: Shape("strftime", ("this", "format")),
    exp.StrToTime: Shape("strptime", ("this", "format")),
    exp.DateFromParts: Shape("make_date", ("year", "month", "day")),
    exp.TimestampFromParts: Shape("make_timestamp", ("year", "month", "day", "hour", "min", "sec")),
}


def shaped(node: exp.Expr) -> Named | None:
    """The function that `node` calls, and its arguments; None if its class is none of these."""
    if type(node) in UNLIKE:
        return UNLIKE[type(node)](node)
    if type(node) in SHAPES:
        shape = SHAPES[type(node)]
        only(node, *shape.parts, *shape.marks)
        return shape.name, parts(node, shape.parts)
    if isinstance(node, exp.Anonymous):
        return anonymous(node)
    return None
