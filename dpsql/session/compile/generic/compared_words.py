"""Words of a text that conjuncts of WHERE compare columns with, and nothing else reads.

| written as                          | read as                                   |
| ----------------------------------- | ----------------------------------------- |
| age > 30, 30 < age                  | the constant                              |
| age BETWEEN 20 AND 40               | the constants                             |
| seen > TIMESTAMP '2024-01-31'       | a constant of the type that is named      |

Of a constant within anything else, binding may compute another one:

    name = trim('a')    and    name = trim(' a ')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from dpsql.bind.syntax.parse import parse_query
from dpsql.errors import Error
from dpsql.schema.sql_type import Date, SqlType, Timestamp

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)

_NAMED: Final[Mapping[exp.DType, SqlType]] = {
    exp.DType.DATE: Date(),
    exp.DType.TIMESTAMP: Timestamp(),
    exp.DType.TIMESTAMPNTZ: Timestamp(),
}
"""Types of which constants are written, as the parser calls them."""


def compared_words(sql: str, words: list[Token]) -> Mapping[int, SqlType | None]:
    """The indices of such `words` of `sql`, with the types that are named beside them, if any."""
    try:
        tree = parse_query(sql, words=words)
    except Error:  # it is a statement of dpsql's own
        return {}
    indices = {word.start: index for index, word in enumerate(words)}
    compared: dict[int, SqlType | None] = {}
    for literal in tree.find_all(exp.Literal):
        index = indices.get(literal.meta.get("start", -1))  # the parser makes 0.5 of .5
        operand, named = _operand(literal)
        if index is not None and operand is not None and _is_conjunct(operand):
            compared[index] = named
    return compared


def _operand(literal: exp.Literal) -> tuple[exp.Expr | None, SqlType | None]:
    """What may be compared: `literal`, or it as a constant of the type that is named."""
    cast = literal.parent
    if type(cast) is not exp.Cast:
        return literal, None
    named = _NAMED.get(cast.to.this) if cast.to == exp.DataType.build(cast.to.this) else None
    return (None if named is None else cast), named


def _is_conjunct(operand: exp.Expr) -> bool:
    """Whether a column is compared with `operand`, and WHERE lets no row through unless it is."""
    comparison = operand.parent
    match comparison:
        case exp.Between(this=exp.Column()) if not comparison.args.get("symmetric"):
            pass
        case exp.Binary(left=left, right=right) if isinstance(comparison, _COMPARISONS):
            other = right if operand is left else left
            if not isinstance(other, exp.Column):
                return False
        case _:
            return False
    above = comparison.parent
    while isinstance(above, exp.And | exp.Paren):
        above = above.parent
    return isinstance(above, exp.Where) and isinstance(above.parent, exp.Select)
