"""Names that PostgreSQL gives within a statement: unnamed columns, columns of VALUES."""

from __future__ import annotations

from sqlglot import exp

from dpsql.pgwire.sql.column_labels import label
from dpsql.pgwire.sql.tree_search import find_all


def name_columns(tree: exp.Expr) -> None:
    """Give unnamed columns PostgreSQL's names where the statement uses these, in place."""
    for values in list(find_all(tree, exp.Values)):
        _name_values(values)
    named = list(find_all(tree, exp.Column))
    for select in list(find_all(tree, exp.Select)):
        labels = [label(item) for item in select.expressions]
        used = {c.name.casefold() for c in named if _sees(c, select)}
        for item, name in zip(list(select.expressions), labels, strict=True):
            plain = isinstance(item, exp.Alias | exp.Column | exp.Star) or item.is_star
            if not plain and name.casefold() in used and labels.count(name) == 1:
                item.replace(exp.alias_(item.copy(), name, quoted=True))


def _name_values(values: exp.Values) -> None:
    alias = values.args.get("alias")
    first = values.expressions[0] if values.expressions else None
    if alias is None or alias.args.get("columns") or first is None:
        return
    count = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    alias.set("columns", [exp.to_identifier(f"column{n}") for n in range(1, count + 1)])


def _sees(column: exp.Column, select: exp.Select) -> bool:
    """Whether `column` can name an output of `select`: in its ORDER BY or GROUP BY, or outside."""
    at: exp.Expr | None = column
    while at is not None and at.parent is not select:
        at = at.parent
    return at is None or (not column.table and at.arg_key in {"order", "group"})
