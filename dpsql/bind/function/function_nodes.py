"""Which syntax nodes are calls of scalar functions, and of which: sqlglot has a class for many."""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.function.irregular_functions import IRREGULAR, Named, anonymous_call, args_of
from dpsql.bind.syntax.allowlist import require_args


class FunctionNode(Struct, frozen=True):
    """A class of nodes that are calls of `name`: `parts` are in the order of its arguments.

    `ignored_args` are parts by which sqlglot marks differences of dialects: they change nothing
    here.
    """

    name: str
    parts: tuple[str, ...] = ("this",)
    ignored_args: tuple[str, ...] = ()


_PAIR = ("this", "expression")

FUNCTION_NODES: dict[type[exp.Expr], FunctionNode] = {
    # sqlglot gives common functions nodes of their own.
    **{
        node: FunctionNode(name)
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
        node: FunctionNode(name, _PAIR)
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
    exp.Pi: FunctionNode("pi", ()),
    exp.Round: FunctionNode("round", ("this", "decimals")),
    exp.Trunc: FunctionNode("trunc", ("this", "decimals")),
    exp.Greatest: FunctionNode("greatest", ("this", "expressions"), ("ignore_nulls",)),
    exp.Least: FunctionNode("least", ("this", "expressions"), ("ignore_nulls",)),
    exp.Substring: FunctionNode("substring", ("this", "start", "length")),
    exp.StrPosition: FunctionNode("strpos", ("this", "substr")),
    exp.SplitPart: FunctionNode("split_part", ("this", "delimiter", "part_index")),
    exp.Replace: FunctionNode("replace", ("this", "expression", "replacement")),
    exp.Translate: FunctionNode("translate", ("this", "from_", "to")),
    exp.Chr: FunctionNode("chr", ("expressions",)),
    exp.DPipe: FunctionNode("||", _PAIR, ("safe",)),
    exp.ConcatWs: FunctionNode("concat_ws", ("expressions",), ("safe", "coalesce")),
    exp.RegexpLike: FunctionNode("regexp_matches", ("this", "expression", "flag")),
    exp.RegexpFullMatch: FunctionNode("regexp_full_match", ("this", "expression", "options")),
    exp.RegexpExtract: FunctionNode(
        "regexp_extract",
        ("this", "expression", "group", "parameters"),
        ("null_if_pos_overflow",),
    ),
    exp.RegexpReplace: FunctionNode(
        "regexp_replace", ("this", "expression", "replacement", "modifiers"), ("single_replace",)
    ),
    exp.TimestampTrunc: FunctionNode("date_trunc", ("unit", "this")),
    exp.DateTrunc: FunctionNode("date_trunc", ("unit", "this")),
    exp.DateDiff: FunctionNode(
        "date_diff", ("unit", "expression", "this"), ("date_part_boundary",)
    ),
    exp.DateBin: FunctionNode("time_bucket", ("this", "expression", "unit")),
    exp.TimeToStr: FunctionNode("strftime", ("this", "format")),
    exp.StrToTime: FunctionNode("strptime", ("this", "format")),
    exp.DateFromParts: FunctionNode("make_date", ("year", "month", "day")),
    exp.TimestampFromParts: FunctionNode(
        "make_timestamp", ("year", "month", "day", "hour", "min", "sec")
    ),
}


def match_node(node: exp.Expr) -> Named | None:
    """The function that `node` calls, and its arguments; None if its class is no function's."""
    if type(node) in IRREGULAR:
        return IRREGULAR[type(node)](node)
    if type(node) in FUNCTION_NODES:
        shape = FUNCTION_NODES[type(node)]
        require_args(node, *shape.parts, *shape.ignored_args)
        return shape.name, args_of(node, shape.parts)
    if isinstance(node, exp.Anonymous):
        return anonymous_call(node)
    return None
