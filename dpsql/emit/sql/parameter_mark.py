"""Marks for the parameters of a generic plan in its SQL: constants are written in their places.

A mark has a NUL, which no text of a statement or a schema has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

_MARK = re.compile("\0([ut][0-9]+)\0")


def mark_name(number: int, *, is_typed: bool) -> str:
    """What a parameter is called; it is not `is_typed` beside an operand of its very type."""
    return f"{'t' if is_typed else 'u'}{number}"


def parameter_mark(number: int, *, is_typed: bool) -> exp.Expr:
    """What stands for a parameter in SQL."""
    return exp.Literal.number(f"\0{mark_name(number, is_typed=is_typed)}\0")


def has_marks(sql: str) -> bool:
    """Whether `sql` has a parameter, or what could be taken for one."""
    return "\0" in sql


def marks(sql: str) -> list[str]:
    """The names of the parameters in `sql`, in their order, each as often as it stands there."""
    return _MARK.findall(sql)


def filled(sql: str, texts: Mapping[str, str]) -> str:
    """`sql` with the `texts` of parameters, by their names, where their marks stood."""
    return _MARK.sub(lambda mark: texts[mark[1]], sql)
