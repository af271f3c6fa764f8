"""PIVOT as a statement of its own: SELECT * from the same PIVOT in FROM."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

_PARTS: Final = {"this", "expressions", "using", "group"}


def as_select(tree: exp.Expr) -> exp.Expr:
    """A PIVOT statement as `SELECT * FROM t PIVOT (sum(x) FOR kind IN ('a', 'b'))`.

    Any other statement is returned as it is.
    """
    if not isinstance(tree, exp.Pivot) or tree.args.get("unpivot"):
        return tree
    if not {name for name, part in tree.args.items() if part} <= _PARTS:
        return tree
    calls = tree.args.get("using") or [exp.Count(this=exp.Star(), big_int=True)]
    group = tree.args.get("group")
    pivot = exp.Pivot(
        expressions=[call.copy() for call in calls],
        fields=[field.copy() for field in tree.expressions],
        group=group and group.copy(),
    )
    source = tree.this.copy()
    source.append("pivots", pivot)
    return exp.select("*").from_(source)
