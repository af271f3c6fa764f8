"""Which divisions are of integers: PostgreSQL gives 7 / 2 = 3, the pipeline 3.5.

Types of columns come from the schema, by name: of two columns of one name in the statement's tables
both have to be integers. A slip changes what is asked, never what is proved about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sqlglot import exp

from dpsql.schema.model import Schema
from dpsql.schema.type import Integer

_LIKE_THEIR_ARGUMENT: Final = (exp.Abs, exp.Min, exp.Max, exp.Neg, exp.Paren)
_OF_ALL: Final = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)


def whole_divisions(tree: exp.Expr, schema: Schema) -> None:
    """Divisions of two integers in `tree` become integer divisions, in place."""
    known = _Known(tree, schema)
    for node in list(tree.find_all(exp.Div)):
        if known.is_whole(node):
            node.replace(exp.IntDiv(this=node.this, expression=node.expression))


class _Known:
    def __init__(self, tree: exp.Expr, schema: Schema) -> None:
        parts = {(t.catalog, t.db, t.name) for t in tree.find_all(exp.Table)}
        named = (schema.meant(*filter(None, part)) for part in parts if part[-1])
        self._columns: dict[str, list[bool]] = {}
        for table in {table.name: table for table in named if table is not None}.values():
            for name, column in table.columns.items():
                found = self._columns.setdefault(name.casefold(), [])
                found.append(isinstance(column.type, Integer))
        self._aliases: Mapping[str, exp.Expr] = {
            alias.alias.casefold(): alias.this for alias in tree.find_all(exp.Alias)
        }
        self._asked: set[str] = set()

    def is_whole(self, node: exp.Expr) -> bool:
        """All values of `node` are integers by their type."""
        match node:
            case exp.Literal():
                return not node.is_string and node.this.isdigit()
            case exp.Column():
                return self._column(node.name.casefold())
            case exp.Cast():
                return node.to.this in exp.DataType.INTEGER_TYPES
            case exp.Count() | exp.Length() | exp.StrPosition() | exp.RowNumber():
                return True
            case exp.Sum() | exp.Coalesce() | exp.Case() | exp.If():
                return self._all(self._parts(node))
            case _ if isinstance(node, _LIKE_THEIR_ARGUMENT):
                return self.is_whole(node.this)
            case _ if isinstance(node, _OF_ALL):
                return self._all((node.this, node.expression))
            case _:
                return False

    def _parts(self, node: exp.Expr) -> Iterable[exp.Expr]:
        match node:
            case exp.Case():
                default = node.args.get("default")
                return [
                    *(arm.args["true"] for arm in node.args["ifs"]),
                    *([default] if default else []),
                ]
            case exp.If():
                return [part for part in (node.args["true"], node.args.get("false")) if part]
            case _:
                return [node.this, *node.expressions]

    def _all(self, nodes: Iterable[exp.Expr]) -> bool:
        return all(self.is_whole(node) for node in nodes if not isinstance(node, exp.Null))

    def _column(self, name: str) -> bool:
        if name in self._columns:
            return all(self._columns[name])
        if name not in self._aliases or name in self._asked:
            return False
        self._asked.add(name)
        try:
            return self.is_whole(self._aliases[name])
        finally:
            self._asked.discard(name)
