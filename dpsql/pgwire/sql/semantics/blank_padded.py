"""Casts to char(n): texts that are filled with blanks, which most of PostgreSQL's functions ignore.

A value of the type is its text without blanks at the end, but where it is a column of the answer:
that is filled. What else sees the blanks in PostgreSQL (LIKE, concat(), octet_length()), or orders
by them, is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import BadParameter, Refused

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]
Cut = Callable[[exp.Cast, exp.Expr], exp.Expr]

_T = exp.DataType.Type
PADDED: Final = frozenset({_T.CHAR, _T.NCHAR, _T.BPCHAR})
_TEXTS: Final = frozenset({_T.TEXT, _T.VARCHAR})
_IGNORES_BLANKS: Final = (exp.DPipe, exp.Length, exp.Upper, exp.Lower, exp.Is, exp.MD5)
_LONGEST: Final = 10_485_760


def is_padded(node: exp.Expr) -> bool:
    """Whether `node` is a cast to char(n)."""
    return isinstance(node, exp.Cast) and node.to.this in PADDED


def padded_edits(node: exp.Cast, text: Callable[[], exp.Expr], tree: exp.Expr) -> list[Edit]:
    """Replacements of a cast to char(n), of a value whose text is `text`, and of what it is in."""
    length = _length(node)
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    match parent:
        case exp.EQ() | exp.NEQ():
            others = (parent.this.unnest(), parent.expression.unnest())
            constants = [other for other in others if other.is_string]
            edits: list[Edit] = [(c, partial(_stripped_constant, c)) for c in constants]
            return [*edits, (node, lambda: _stripped(text(), length))]
        case exp.Cast() if parent.to.this in _TEXTS:
            return [(node, lambda: _stripped(text(), length))]
        case _ if isinstance(parent, _IGNORES_BLANKS):
            return [(node, lambda: _stripped(text(), length))]
        case exp.Select() | exp.Alias() if node.find_ancestor(exp.Query) is tree:
            select = tree.args
            if not any(select.get(name) for name in ("group", "order", "distinct")):
                return [(node, lambda: _filled(text(), length))]
        case _:
            pass
    raise Refused(
        "char(n) is filled with blanks, which has no rule here",
        at=span(node),
        hint="write x::varchar(10), or x::text",
    )


def _length(node: exp.Cast) -> int | None:
    """How many characters the type has: one if it doesn't say, and any number if it is bpchar."""
    sizes = [p.this.this for p in node.to.expressions if isinstance(p.this, exp.Literal)]
    if not sizes:
        return None if node.to.this is _T.BPCHAR else 1
    if not sizes[0].isdigit() or not 0 < int(sizes[0]) <= _LONGEST:
        raise BadParameter("length for type char must be at least 1", at=span(node))
    return int(sizes[0])


def _stripped(text: exp.Expr, length: int | None) -> exp.Expr:
    if length is not None:
        text = exp.Left(this=text, expression=exp.Literal.number(length))
    return exp.Anonymous(this="rtrim", expressions=[text, exp.Literal.string(" ")])


def _stripped_constant(node: exp.Expr) -> exp.Expr:
    return exp.Literal.string(node.name.rstrip(" "))


def _filled(text: exp.Expr, length: int | None) -> exp.Expr:
    if length is None:
        return text
    blank = exp.Literal.string(" ")
    return exp.Anonymous(this="rpad", expressions=[text, exp.Literal.number(length), blank])
