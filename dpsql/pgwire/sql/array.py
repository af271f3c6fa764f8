"""Lists of constants: `= ANY` of an array, and of a parameter that is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.bind.parse import span
from dpsql.errors import Refused

_ITEM: Final = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s{}",\\](?:[^{}",\\]*[^\s{}",\\])?))\s*')


def items(text: str) -> list[str | None] | None:
    """The items of an array of one dimension as PostgreSQL writes it; None if it isn't one."""
    inside = text.strip()
    if not (inside.startswith("{") and inside.endswith("}")):
        return None
    inside = inside[1:-1]
    if not inside.strip():
        return []
    found: list[str | None] = []
    at = 0
    while True:
        item = _ITEM.match(inside, at)
        if item is None:
            return None
        if item[1] is not None:
            found.append(re.sub(r"\\(.)", r"\1", item[1], flags=re.DOTALL))
        else:
            found.append(None if item[2].upper() == "NULL" else item[2])
        at = item.end()
        if at == len(inside):
            return found
        if inside[at] != ",":
            return None
        at += 1


def memberships(tree: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The comparisons with ANY or ALL, and the array that each has."""
    found = ((node, _array(node)) for node in tree.find_all(exp.EQ, exp.NEQ))
    return [(node, array) for node, array in found if array is not None]


def _array(node: exp.Expr) -> exp.Expr | None:
    match node, node.expression:
        case (exp.EQ(), exp.Any(this=found)) | (exp.NEQ(), exp.All(this=found)):
            pass
        case exp.NEQ(), exp.Anonymous(expressions=[found]) if node.expression.name.lower() == "all":
            pass
        case _:
            return None
    while isinstance(found, exp.Paren):
        found = found.this
    return found if isinstance(found, exp.Expr) else None


def list_constants(tree: exp.Expr) -> None:
    """`x = ANY ('{a,b}')` becomes `x IN ('a', 'b')`, in place."""
    for node, written in memberships(tree):
        kind, array = None, written
        if isinstance(array, exp.Cast) and array.to.this == exp.DataType.Type.ARRAY:
            kind = array.to.expressions[0] if array.to.expressions else None
            array = array.this
        if not isinstance(array, exp.Literal) or not array.is_string:
            continue
        found = items(array.this)
        if found is None:
            raise Refused(
                "an array of constants isn't written so", at=span(node), hint="write '{1,2,3}'"
            )
        values = [exp.null() if item is None else exp.Literal.string(item) for item in found]
        of = [exp.cast(v, kind) if kind is not None else v for v in values]
        node.replace(listed(node, of))


def listed(node: exp.Expr, values: Sequence[exp.Expr]) -> exp.Expr:
    """`node`, a comparison with ANY or ALL, as one with `values`."""
    if not values:
        return exp.false() if isinstance(node, exp.EQ) else exp.true()
    found = exp.In(this=node.this.copy(), expressions=list(values))
    return exp.paren(exp.Not(this=found)) if isinstance(node, exp.NEQ) else found
