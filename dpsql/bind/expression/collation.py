"""COLLATE in comparisons: texts are compared by their bytes, or without regard to case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.bind.syntax.allowlist import require_args

_BINARY: Final = frozenset({"binary", "c", "posix", "default"})
_WITHOUT_CASE: Final = "nocase"


def collated(operands: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The operands of one comparison, with the COLLATE of any of them for all: NOCASE is lower().

    A collation that has no rule stays in its operand, and is refused there.
    """
    names = {_name(operand) for operand in operands} - {None}
    if not names or not names <= _BINARY | {_WITHOUT_CASE}:
        return list(operands)
    plain = [o.this if _name(o) is not None else o for o in operands]
    return [exp.Lower(this=o) for o in plain] if _WITHOUT_CASE in names else plain


def _name(node: exp.Expr) -> str | None:
    if not isinstance(node, exp.Collate):
        return None
    require_args(node, "this", "expression")
    return str(node.expression.name).casefold()
