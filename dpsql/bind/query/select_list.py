"""The SELECT list: its expressions and what their columns are called."""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.scope import Scope, near_columns, table_of
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.errors import Span, SyntaxFault, UnknownColumn
from dpsql.plan.expression import Expression


class Item(Struct, frozen=True):
    """One column of the SELECT list."""

    name: str
    expression: Expression
    at: Span | None


def bind_items(node: exp.Expr, binder: ExpressionBinder, scope: Scope) -> list[Item]:
    """The columns that one entry of the SELECT list stands for."""
    at = span(node)
    match node:
        case exp.Star():
            return _expanded(node, (), scope, binder)
        case exp.Column() if isinstance(node.this, exp.Star):
            require_args(node, "this", "table", "db", "catalog")
            return _expanded(node.this, table_of(node), scope, binder)
        case exp.Alias():
            require_args(node, "this", "alias")
            return [Item(node.alias, binder.bind(node.this), at)]
        case _:
            return [Item(default_name(node), binder.bind(node), at)]


def _expanded(
    star: exp.Expr, table: tuple[str, ...], scope: Scope, binder: ExpressionBinder
) -> list[Item]:
    """`*` without the columns of EXCLUDE, some computed by REPLACE, some named by RENAME."""
    require_args(star, "except_", "replace", "rename")
    columns = scope.expand(table, span(star), star.args.get("except_") or [])
    replaced = {a.alias.casefold(): a for a in star.args.get("replace") or []}
    renamed = {_folded(a.this): a for a in star.args.get("rename") or []}
    names = {column.name.casefold() for column in columns}
    for name, node in (replaced | renamed).items():
        if name not in names:
            what = f"there is no column {name} among those of *"
            raise UnknownColumn(what, at=span(node), **near_columns(name, names))
    items: list[Item] = []
    for column in columns:
        folded = column.name.casefold()
        shown = renamed[folded].alias if folded in renamed else column.name
        meant = binder.bind(replaced[folded].this) if folded in replaced else column.expression
        items.append(Item(shown, meant, span(star)))
    return items


def _folded(node: exp.Expr) -> str:
    return node.name.casefold()


def ordinal_item(node: exp.Literal, items: list[Item]) -> Item:
    """The item that a number in GROUP BY or ORDER BY means; SyntaxFault if there is none."""
    number = int(node.this) if node.this.isdigit() else 0
    if not 1 <= number <= len(items):
        raise SyntaxFault(f"there is no column {node.this} in the SELECT list", at=span(node))
    return items[number - 1]


def named_item(node: exp.Expr, items: list[Item]) -> Item | None:
    """The item whose alias `node` is, the last of several; None if there is none."""
    if not isinstance(node, exp.Column) or node.table:
        return None
    named = [i for i in items if i.name.casefold() == node.name.casefold()]
    return named[-1] if named else None


def default_name(node: exp.Expr) -> str:
    """What DuckDB calls a column without an alias."""
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return "count_star()"
    return node.sql(dialect="duckdb", normalize_functions="lower", comments=False)
