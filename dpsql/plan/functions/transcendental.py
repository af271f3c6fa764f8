"""Roots, powers, logarithms, angles: computed in DOUBLE, NULL where they are no finite number."""

from __future__ import annotations

from fractions import Fraction

from dpsql.plan.functions.domain_rules import (
    corner_values,
    finite_interval,
    monotone,
    nullable,
)
from dpsql.plan.functions.function import Application, Function, Rule, Totalization
from dpsql.plan.functions.type_rules import doubles, first
from dpsql.privacy.domain import Domain, Interval


def _power(application: Application) -> Domain:
    """The domain of a power: monotone in base and exponent over bases from 0 on.

    With a whole exponent, negative bases are allowed: a square turns at 0.
    """
    base, exponent = application.domains
    if base.bounds is None or base.bounds.low is None:
        return Domain(nullable=True)
    fixed = (
        exponent.values[0] if exponent.values is not None and len(exponent.values) == 1 else None
    )
    turns = isinstance(fixed, int | Fraction) and fixed > 0 and Fraction(fixed).denominator == 1
    if base.bounds.low < 0 and not turns:
        return Domain(nullable=True)
    zero = (Fraction(0),) if Fraction(0) in base.bounds else ()
    extremes = corner_values(application, *zero)
    if extremes is None:
        return Domain(nullable=True)
    return Domain(Interval(*extremes), nullable=application.null)


def _function(name: str, rule: Rule, *aliases: str) -> Function:
    return Function(name, doubles(1), rule, Totalization.FINITE, f"{name}(x)", aliases)


_increasing = monotone()

TRANSCENDENTAL = (
    _function("sqrt", monotone(0)),
    _function("cbrt", _increasing),
    _function("exp", monotone(0)),
    _function("ln", _increasing),
    _function("log10", _increasing),
    _function("log2", _increasing),
    Function(
        "log",
        first(doubles(1), doubles(2)),
        lambda application: (_increasing if len(application.domains) == 1 else nullable)(
            application
        ),
        Totalization.FINITE,
        "log(x)",
    ),
    Function("power", doubles(2), _power, Totalization.FINITE, "power(x, 2)", ("pow", "**", "^")),
    _function("degrees", _increasing),
    _function("radians", _increasing),
    _function("sin", finite_interval(-1, 1)),
    _function("cos", finite_interval(-1, 1)),
    _function("tan", nullable),
    _function("cot", nullable),
    _function("asin", monotone(-2, 2)),
    _function("acos", monotone(0, 4)),
    _function("atan", monotone(-2, 2)),
    Function("atan2", doubles(2), finite_interval(-4, 4), Totalization.FINITE, "atan2(y, x)"),
    _function("sinh", _increasing),
    _function("cosh", nullable),
    _function("tanh", monotone(-1, 1)),
    _function("asinh", _increasing),
    _function("acosh", monotone(0)),
    _function("atanh", _increasing),
    _function("gamma", nullable),
    _function("lgamma", nullable),
    Function("pi", doubles(0), nullable, Totalization.PLAIN, "pi()"),
)
