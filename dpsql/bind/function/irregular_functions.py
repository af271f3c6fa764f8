"""Calls whose syntax nodes don't have the shape of their arguments, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from dpsql.bind.syntax.allowlist import require_args, unlisted, unsupported
from dpsql.bind.syntax.parameter import Parameters, value_of
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.plan.duration import unit_named
from dpsql.plan.functions.date_part import part_named
from dpsql.plan.time_zone.conversion import CONVERSION
from dpsql.plan.time_zone.zone_names import UTC, zone_named

Named = tuple[str, list[exp.Expr]]
"""A function's name and arguments."""

_PAIR = ("this", "expression")

_PARTS_OF = ("date_part", "datepart")


def anonymous_call(node: exp.Anonymous) -> Named:
    """The function and arguments of a call for which the parser has no class of nodes."""
    require_args(node, "this", "expressions")
    name = node.name.lower()
    match name, node.expressions:
        case (_, [exp.Literal() as unit, moment]) if name in _PARTS_OF:
            return _part(unit, moment)
        case "dateadd", [unit, number, moment]:
            # Redshift's and SQL Server's; the unit may stand without quotes.
            step = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(unit.name))
            return "date_add", [moment, exp.Mul(this=step, expression=number)]
        case (("date_sub" | "datesub"), [exp.Literal(is_string=True) as unit, *rest]):
            return name, [exp.Literal.string(unit_named(unit.name) or unit.name), *rest]
        case _:
            return name, node.expressions


def with_unit_argument(node: exp.Expr, parameters: Parameters) -> exp.Expr:
    """extract(? FROM moment) with the parameter's value as its unit, which decides the function.

    Other nodes are returned as they are.
    """
    unit = node.this if isinstance(node, exp.Extract) else None
    if isinstance(node, exp.Anonymous) and node.name.lower() in _PARTS_OF and node.expressions:
        unit = node.expressions[0]
    if not isinstance(unit, exp.Parameter | exp.Placeholder):
        return node
    value = value_of(unit, parameters).value
    named = exp.Literal.string(value if isinstance(value, str) else "NULL")
    if isinstance(node, exp.Extract):
        return exp.Extract(this=named, expression=node.expression)
    return exp.Anonymous(this=node.name, expressions=[named, *node.expressions[1:]])


def is_negated(node: exp.Expr) -> bool:
    """Whether `node` is NOT LIKE or NOT ILIKE, with ESCAPE or without."""
    return bool((node.this if isinstance(node, exp.Escape) else node).args.get("negate"))


def unnegated(node: exp.Expr) -> exp.Expr:
    """`node`, for which `is_negated` holds, without its NOT."""
    plain = node.copy()
    (plain.this if isinstance(plain, exp.Escape) else plain).set("negate", None)
    return plain


def args_of(node: exp.Expr, names: tuple[str, ...]) -> list[exp.Expr]:
    """The parts of `node` called `names`, as far as it has them; a unit becomes a text."""
    arguments: list[exp.Expr] = []
    for name in names:
        value = node.args.get(name)
        values = value if isinstance(value, list) else [value]
        is_unit = name == "unit"
        arguments += [_text(each, is_unit=is_unit) for each in values if isinstance(each, exp.Expr)]
    return arguments


def _text(node: exp.Expr, *, is_unit: bool) -> exp.Expr:
    """`node`, where a unit is the text of one name for it, quoted or not."""
    quoted = is_unit and isinstance(node, exp.Literal) and node.is_string
    if not isinstance(node, exp.Var) and not quoted:
        return node
    text = exp.Literal.string(unit_named(node.name) or node.name.lower())
    text.meta.update(node.meta)
    return text


def _extract(node: exp.Expr) -> Named:
    require_args(node, "this", "expression")
    return _part(node.this, node.expression)


def _part(unit: exp.Expr, moment: exp.Expr) -> Named:
    name = part_named(unit.name)
    if name is None:
        raise Refused(
            f"{unit.name.lower()[:30]} isn't a part that has a rule",
            at=span(unit) or span(moment),
            hint="write extract(year FROM moment), or month, day, hour, minute, epoch …",
            note="functions_time",
        )
    return name, [moment]


def _logarithm(node: exp.Expr) -> Named:
    """log10(x) and log2(x) come as log(10, x) and log(2, x)."""
    require_args(node, "this", "expression")
    base, number = node.this, node.args.get("expression")
    if number is None:
        return "log", [base]
    named = {"10": "log10", "2": "log2"}.get(base.name if isinstance(base, exp.Literal) else "")
    return (named, [number]) if named else ("log", [base, number])


def _subscript(node: exp.Expr) -> Named:
    """text[2] is its second character; text[2:4] the three from there."""
    require_args(node, "this", "expressions", "offset")
    subscript = node.expressions[0] if len(node.expressions) == 1 else None
    first, last = subscript, subscript
    if isinstance(subscript, exp.Slice):
        require_args(subscript, "this", "expression")
        first, last = subscript.this, subscript.expression
    ends = [int(e.name) if isinstance(e, exp.Literal) and e.is_int else None for e in (first, last)]
    start, stop = ends
    if start is None or stop is None:
        raise unsupported(node, "[…] that isn't a constant place", "substring(text, 1, 2)")
    if first is last:
        start, stop = start + 1, stop + 1  # the parser counts them from 0
    length = max(stop - start + 1, 0)
    return "substring", [node.this, exp.Literal.number(start), exp.Literal.number(length)]


def _trim(node: exp.Expr) -> Named:
    require_args(node, "this", "expression", "position")
    sides = {"LEADING": "ltrim", "TRAILING": "rtrim"}
    return sides.get(str(node.args.get("position")), "trim"), args_of(node, _PAIR)


def _pad(node: exp.Expr) -> Named:
    require_args(node, "this", "expression", "fill_pattern", "is_left")
    name = "lpad" if node.args.get("is_left") else "rpad"
    return name, args_of(node, ("this", "expression", "fill_pattern"))


def _sha2(node: exp.Expr) -> Named:
    require_args(node, "this", "length")
    return f"sha{node.args['length'].name}", [node.this]


def _since_epoch(node: exp.Expr) -> Named:
    require_args(node, "this", "scale")
    scale = node.args.get("scale")
    if scale is None:
        return "to_timestamp", [node.this]
    if scale.is_string:
        return "strptime", [node.this, exp.Literal.string(_format(scale))]
    return {"3": "epoch_ms", "6": "make_timestamp"}.get(scale.name, "to_timestamp"), [node.this]


_POSTGRES = {
    "YYYY": "%Y",
    "MM": "%m",
    "DD": "%d",
    "HH24": "%H",
    "HH12": "%I",
    "MI": "%M",
    "SS": "%S",
    "MS": "%g",
    "US": "%f",
    "AM": "%p",
    "PM": "%p",
}


def _format(node: exp.Expr) -> str:
    """PostgreSQL's pattern of a moment as a pattern of strptime(); BI tools send either."""
    pattern = re.sub("|".join(_POSTGRES), lambda token: _POSTGRES[token[0]], node.name)
    if re.search(r"(?<!%)[A-Za-z]", pattern.replace("T%H", "%H")):
        raise Refused(
            "to_timestamp() doesn't know this pattern",
            at=span(node),
            hint="write to_timestamp(text, 'YYYY-MM-DD HH24:MI:SS.US')",
            note="functions_time",
        )
    return pattern


def _concat(node: exp.Expr) -> Named:
    require_args(node, "expressions", "safe", "coalesce")
    if not node.args.get("safe"):
        # 'a' 'b' is an alias in DuckDB.
        raise unsupported(node, "two texts side by side", hint="write 'a' || 'b'")
    return "concat", node.expressions


def _complement(node: exp.Expr) -> Named:
    """DuckDB reads ~1 + 1 as ~(1 + 1), and sqlglot as (~1) + 1."""
    require_args(node, "this")
    if isinstance(node.parent, _TIGHTER):
        raise unsupported(
            node, "~ beside an arithmetic operator", hint="write (~n) + 1 or ~(n + 1)"
        )
    return "~", [node.this]


def _prefix(node: exp.Expr) -> Named:
    """DuckDB reads a ^@ b || c as (a ^@ b) || c, and sqlglot as a ^@ (b || c)."""
    require_args(node, *_PAIR)
    if not node.meta and isinstance(node.expression, exp.Binary):
        raise unsupported(node, "^@ beside another operator", hint="write starts_with(text, part)")
    return "starts_with", [node.this, node.expression]


def _escape(node: exp.Expr) -> Named:
    """`text LIKE pattern ESCAPE character`."""
    require_args(node, *_PAIR)
    like = node.this
    require_args(like, *_PAIR)
    names = {exp.Like: "like_escape", exp.ILike: "ilike_escape"}
    if type(like) not in names:
        raise unsupported(node, "ESCAPE here", hint="write text LIKE 'a!%' ESCAPE '!'")
    return names[type(like)], [like.this, like.expression, node.expression]


def _ignoring_case(node: exp.Expr) -> Named:
    require_args(node, *_PAIR)
    return "regexp_matches", [node.this, node.expression, exp.Literal.string("i")]


def _at_path(node: exp.Expr) -> Named:
    """`text ->> '$.a'`, and the function of the same meaning; the path 'a' is '$.a'."""
    require_args(node, *_PAIR, "only_json_types", "scalar_only")
    path, written = node.expression, "$"
    steps = path.expressions[1:] if isinstance(path, exp.JSONPath) else [path]
    for step in steps:
        match step:
            case exp.JSONPathKey(this=str() as key):
                written += f'."{key}"'
            case exp.JSONPathSubscript(this=int() as index) if index >= 0:
                written += f"[{index}]"
            case _:
                raise unsupported(node, "this path", hint="write a constant: text ->> '$.a[0]'")
    return "json_extract_string", [node.this, exp.Literal.string(written)]


def _conversion(node: exp.Expr) -> Named:
    require_args(node, "source_tz", "target_tz", "timestamp", "options")
    zones = [node.args.get(name) for name in ("source_tz", "target_tz", "timestamp")]
    if None in zones or node.args.get("options"):
        hint = f"write {CONVERSION}('UTC', 'Europe/Berlin', moment)"
        raise unsupported(node, f"{CONVERSION}() of other arguments", hint=hint)
    return _between(*(part for part in zones if part is not None))


def _at_zones(node: exp.Expr) -> Named:
    """`moment AT TIME ZONE a AT TIME ZONE b` is the local time in b when it is `moment` in a."""
    require_args(node, "this", "zone")
    inner = node.this.unnest()
    if not isinstance(inner, exp.AtTimeZone):
        raise unlisted(node)
    require_args(inner, "this", "zone")
    return _between(inner.args["zone"], node.args["zone"], inner.this)


def _between(source: exp.Expr, target: exp.Expr, moment: exp.Expr) -> Named:
    """A conversion between two zones of which neither is UTC goes by UTC."""
    if UTC not in (zone_named(source.name), zone_named(target.name)):
        utc = exp.Literal.string(UTC)
        moment = exp.ConvertTimezone(source_tz=source, target_tz=utc, timestamp=moment)
        source = utc.copy()
    return CONVERSION, [source, target, moment]


_TIGHTER = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Pow)

IRREGULAR: dict[type[exp.Expr], Callable[[exp.Expr], Named]] = {
    exp.Extract: _extract,
    exp.ConvertTimezone: _conversion,
    exp.AtTimeZone: _at_zones,
    exp.Log: _logarithm,
    exp.Bracket: _subscript,
    exp.Trim: _trim,
    exp.Pad: _pad,
    exp.SHA2: _sha2,
    exp.UnixToTime: _since_epoch,
    exp.Concat: _concat,
    exp.RegexpILike: _ignoring_case,
    exp.BitwiseNot: _complement,
    exp.StartsWith: _prefix,
    exp.Escape: _escape,
    exp.JSONExtractScalar: _at_path,
}
