"""Numbers: remainders, whole quotients, divisors, bits, extremes, and tests of floats."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import ceil, floor

from dpsql.plan.expression import Expression
from dpsql.plan.functions.domain_rules import boolean, corner_values, nullable, top
from dpsql.plan.functions.function import (
    Application,
    Function,
    Rule,
    Signature,
    Totalization,
    Types,
)
from dpsql.plan.functions.type_rules import binary, doubles, first, fixed, times, unary
from dpsql.plan.numeric_types import integer_type, quotient_type, remainder_type
from dpsql.privacy.domain import Domain, Interval
from dpsql.schema.sql_type import BIGINT, HUGEINT, UHUGEINT, Boolean, Integer, SqlType

_ZERO = Interval(Fraction(0), Fraction(0))
_UNBOUNDED = Interval(None, None)


def _remainder(application: Application) -> Domain:
    """The domain of a remainder: nearer to 0 than divisor and dividend, on the dividend's side."""
    dividend, divisor = (d.bounds or _UNBOUNDED for d in application.domains)
    if divisor.ends is None:
        return Domain(nullable=True)
    size = max(map(abs, divisor.ends))
    if isinstance(application.call.type, Integer):
        size = max(size - 1, Fraction(0))
    bounds = Interval(-size, size).intersection(dividend.union(_ZERO))
    return Domain(bounds, nullable=application.out_of_domain or Fraction(0) in divisor)


def _quotient(application: Application) -> Domain:
    """The domain of a quotient: monotone in each operand while the divisor keeps its sign.

    Division by zero is NULL.
    """
    dividend, divisor = (d.bounds or _UNBOUNDED for d in application.domains)
    extremes = None if Fraction(0) in divisor else corner_values(application)
    if extremes is not None:
        return Domain(Interval(*extremes), nullable=application.null)
    whole = isinstance(application.call.type, Integer)
    quotients = dividend.divide(divisor, Fraction(1)) if whole else None
    ends = None if quotients is None else quotients.ends
    if ends is None:
        return Domain(nullable=True)
    return Domain(Interval(*map(Fraction, (floor(ends[0]), ceil(ends[1])))), nullable=True)


def _not_negative(application: Application) -> Domain:
    del application
    return Domain(Interval(Fraction(0), None), nullable=True)


def _alike(arguments: tuple[Expression, ...]) -> Signature | None:
    kinds = tuple(argument.type for argument in arguments)
    return Signature(kinds, kinds[0]) if kinds and len(set(kinds)) == 1 else None


def _extreme(*, largest: bool) -> Rule:
    """The rule of greatest and least, which skip NULLs.

    So only arguments that are never NULL bound the result from their side.
    """

    def rule(application: Application) -> Domain:
        known = [d.bounds or _UNBOUNDED for d in application.domains]
        sure = [b for b, d in zip(known, application.domains, strict=True) if not d.nullable]
        around = reduce(Interval.union, known)
        lows = [b.low for b in sure if b.low is not None]
        highs = [b.high for b in sure if b.high is not None]
        bounds = (
            Interval(max(lows) if lows else around.low, around.high)
            if largest
            else Interval(around.low, min(highs) if highs else around.high)
        )
        return Domain(bounds, nullable=all(d.nullable for d in application.domains))

    return rule


def _bits(left: SqlType, right: SqlType) -> SqlType | None:
    if not (isinstance(left, Integer) and isinstance(right, Integer)):
        return None
    kind = integer_type(left, right)
    return kind if isinstance(kind, Integer) else None


def _one_integer(gives: Callable[[Integer], SqlType | None]) -> Types:
    return unary(lambda kind: gives(kind) if isinstance(kind, Integer) else None)


def _bit_count(counted: Integer) -> Integer | None:
    """The type of the number of bits of a `counted`; DuckDB converts UBIGINT to HUGEINT first."""
    if counted == UHUGEINT:
        return None  # it is not defined there
    return Integer(16) if counted in (HUGEINT, Integer(64, signed=False)) else Integer(8)


def _number_of_bits(application: Application) -> Domain:
    """Each bit of the argument's type may be set."""
    (counted,) = application.call.arguments
    assert isinstance(counted.type, Integer)
    return Domain(Interval(Fraction(0), Fraction(counted.type.bits)), nullable=application.null)


_DIVISORS = first(fixed(BIGINT, BIGINT, gives=BIGINT), fixed(HUGEINT, HUGEINT, gives=HUGEINT))
_FLOAT = doubles(1, Boolean())
_FLOAT_OR_TIME = first(_FLOAT, times(Boolean()))

NUMERIC = (
    Function("%", binary(remainder_type), _remainder, Totalization.FINITE, "x % 7", ("mod",)),
    Function("//", binary(quotient_type), _quotient, Totalization.FINITE, "x // 7"),
    Function(
        "greatest", _alike, _extreme(largest=True), Totalization.PLAIN, "greatest(a, b)", unify=True
    ),
    Function(
        "least", _alike, _extreme(largest=False), Totalization.PLAIN, "least(a, b)", unify=True
    ),
    Function(
        "gcd",
        _DIVISORS,
        _not_negative,
        Totalization.TRY,
        "gcd(12, n)",
        ("greatest_common_divisor",),
    ),
    Function(
        "lcm", _DIVISORS, _not_negative, Totalization.TRY, "lcm(12, n)", ("least_common_multiple",)
    ),
    Function("&", binary(_bits), top, Totalization.PLAIN, "n & 7"),
    Function("|", binary(_bits), top, Totalization.PLAIN, "n | 8"),
    Function("xor", binary(_bits), top, Totalization.PLAIN, "xor(n, 8)"),
    Function("~", _one_integer(lambda kind: kind), top, Totalization.PLAIN, "~n"),
    Function("<<", binary(_bits), nullable, Totalization.TRY, "n << 2"),
    Function(">>", binary(_bits), nullable, Totalization.TRY, "n >> 2"),
    Function(
        "bit_count",
        _one_integer(_bit_count),
        _number_of_bits,
        Totalization.PLAIN,
        "bit_count(n)",
    ),
    Function("isnan", _FLOAT, boolean, Totalization.PLAIN, "isnan(x)"),
    Function("isinf", _FLOAT_OR_TIME, boolean, Totalization.PLAIN, "isinf(x)"),
    Function("isfinite", _FLOAT_OR_TIME, boolean, Totalization.PLAIN, "isfinite(x)"),
    Function("signbit", _FLOAT, boolean, Totalization.PLAIN, "signbit(x)"),
)
