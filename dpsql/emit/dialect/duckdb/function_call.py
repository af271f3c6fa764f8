"""Calls of scalar functions as DuckDB has them, in total form."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from dpsql.emit.dialect.duckdb.time_zone import converted
from dpsql.emit.sql.identifier import column_ref
from dpsql.plan.expression import Call, Expression, Literal
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.functions.function import Totalization
from dpsql.plan.time_zone.conversion import CONVERSION, shift_of
from dpsql.schema.sql_type import Double, Integer, Null, SqlType, Varchar

_INFIX: dict[str, type[exp.Binary]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "%": exp.Mod,
    "//": exp.IntDiv,
    "&": exp.BitwiseAnd,
    "|": exp.BitwiseOr,
    "<<": exp.BitwiseLeftShift,
    ">>": exp.BitwiseRightShift,
    "||": exp.DPipe,
    "like": exp.Like,
    "ilike": exp.ILike,
    "glob": exp.Glob,
}


def emit_call(call: Call, arguments: list[exp.Expr]) -> exp.Expr:
    """`call` of `arguments`, NULL where it would raise, or be no finite number."""
    entry = FUNCTIONS[call.function]
    if call.function == CONVERSION:
        return try_(converted(arguments[2], shift_of(call)))
    if entry.total is not Totalization.PLAIN:
        arguments = [
            argument if isinstance(operand, Literal) else unknown(argument)
            for operand, argument in zip(call.arguments, arguments, strict=True)
        ]
    rendered = _rendered(
        call.function,
        [
            _bare(operand, argument) if _typed_argument(call, index) else argument
            for index, (operand, argument) in enumerate(zip(call.arguments, arguments, strict=True))
        ],
    )
    match entry.total:
        case Totalization.PLAIN:
            return rendered
        case Totalization.FINITE if isinstance(call.type, Double):
            return finite(try_(rendered))
        case Totalization.TRY | Totalization.FINITE:
            return try_(rendered)


def try_(expression: exp.Expr) -> exp.Expr:
    """`TRY(expression)`: NULL in the rows where it raises."""
    return exp.Anonymous(this="TRY", expressions=[expression])


def unknown(expression: exp.Expr) -> exp.Expr:
    """`expression` as a value of which DuckDB derives no statistics, for a call that may raise.

    Its optimizer calls functions on the least and greatest value that an argument may have, outside
    of the TRY that is around them, and what raises there fails the statement.
    """
    is_attempt = isinstance(expression, exp.Anonymous) and expression.name == "TRY"
    return expression if is_attempt else try_(expression)


def finite(expression: exp.Expr) -> exp.Expr:
    """`expression`, NULL where it is NaN or infinite.

    CASE WHEN isfinite(e) THEN e END would write e twice, and a nest of them grow without end: a
    lambda binds its value to a name.
    """
    value = column_ref("v")
    checked = exp.case().when(
        exp.Anonymous(this="isfinite", expressions=[value]), value.copy(), copy=False
    )
    bound = exp.Lambda(this=checked, expressions=[exp.to_identifier("v")], colon=True)
    one = exp.Array(expressions=[expression])
    mapped = exp.Anonymous(this="list_transform", expressions=[one, bound])
    return exp.Anonymous(this="list_extract", expressions=[mapped, exp.Literal.number(1)])


def printed(number: exp.Expr, kind: Double) -> exp.Expr:
    """The text of a double: one for both zeros, and one for NaN of either sign.

    0.0 = -0.0, so that a unit which determines the one determines the other, and its text.
    """
    text = try_cast(exp.Paren(this=unsigned(number, kind)), Varchar())
    signed, plain = exp.Literal.string("-nan"), exp.Literal.string("nan")
    return exp.Anonymous(this="replace", expressions=[text, signed, plain])


def unsigned(number: exp.Expr, kind: Double) -> exp.Expr:
    """A double, with 0.0 for -0.0."""
    return exp.Add(this=number, expression=zero(kind))


def zero(kind: Double) -> exp.Expr:
    """0.0 of exactly the type `kind`."""
    return cast(exp.Literal.number(0), str(kind))


def try_cast(expression: exp.Expr, target: SqlType) -> exp.Expr:
    """`TRY_CAST(expression AS target)`."""
    return exp.TryCast(this=expression, to=data_type(str(target)), requires_string=False)


def cast(expression: exp.Expr, target: str) -> exp.Expr:
    """`CAST(expression AS target)`, of a constant that is known to be one."""
    return exp.Cast(this=expression, to=data_type(target))


def narrowest_cast(integers: exp.Expr, low: int, high: int) -> exp.Expr:
    """`integers`, which lie between `low` and `high`, in 32 bits, or 64, if those hold them all."""
    for bits, name in ((32, "INTEGER"), (64, "BIGINT")):
        if -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1):
            return cast(integers, name)
    return integers


@lru_cache(maxsize=256)
def data_type(name: str) -> exp.DataType:
    """A type by DuckDB's name of it: the same node in all trees, which only the text is made of."""
    if name == str(Null()):
        # sqlglot's own NULL is written without the quotes that DuckDB asks for.
        return exp.DataType(this=exp.DType.USERDEFINED, kind=name)
    return exp.DataType.build(name, dialect="duckdb")


def _typed_argument(call: Call, index: int) -> bool:
    """DuckDB reads a plain number there in the type that it has in `call`."""
    if index in FUNCTIONS[call.function].constants:
        return True
    others = [a for p, a in enumerate(call.arguments) if p != index]
    kind = call.arguments[index].type
    return len(others) == 1 and others[0].type == kind and not isinstance(others[0], Literal)


def _bare(operand: Expression, rendered: exp.Expr) -> exp.Expr:
    """A constant integer without a cast to its type."""
    match operand:
        case Literal(value=int() as number, type=Integer()):
            digits = exp.Literal.number(abs(number))
            return exp.Paren(this=exp.Neg(this=digits)) if number < 0 else digits
        case _:
            return rendered


def _rendered(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    if name in _INFIX:
        left, right = arguments
        return exp.Paren(this=_INFIX[name](this=left, expression=right))
    match name:
        case "~":
            return exp.Paren(this=exp.BitwiseNot(this=arguments[0]))
        case "atan2":
            return exp.Anonymous(this=name, expressions=[unsigned(a, Double()) for a in arguments])
        case "signbit":
            # DuckDB's own tells -0.0 from 0.0, which are equal.
            return exp.Paren(this=exp.LT(this=arguments[0], expression=exp.Literal.number(0)))
        case "date_add":
            base, length, *times = arguments
            by = exp.Mul(this=length, expression=times[0]) if times else length
            return exp.Paren(this=exp.Add(this=base, expression=by))
        case "strptime":
            return exp.Anonymous(this="try_strptime", expressions=arguments)
        case "to_timestamp":
            microseconds = exp.Mul(this=arguments[0], expression=exp.Literal.number("1000000"))
            whole = cast(exp.Paren(this=microseconds), "BIGINT")
            return exp.Anonymous(this="make_timestamp", expressions=[whole])
        case _:
            return exp.Anonymous(this=name, expressions=arguments)
