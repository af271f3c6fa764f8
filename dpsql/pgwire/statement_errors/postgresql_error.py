"""What PostgreSQL says of a statement that has no answer here, where it has none there either.

Names come first: tables in FROM, then columns, then functions and operators for the types of their
arguments, each expression from the inside out. What no rule here shows isn't claimed.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.bind.scope import near_columns, or_text
from dpsql.bind.syntax.parse import span
from dpsql.errors import (
    DataError,
    Error,
    Refused,
    TypeFault,
    UnknownColumn,
    UnknownFunction,
    UnknownTable,
)
from dpsql.near_name import near_name
from dpsql.pgwire.sql.translate import UNREADABLE, Translated, calls_of
from dpsql.pgwire.sql.types.column_source import Missing
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.statement_errors import operand_types as o
from dpsql.pgwire.statement_errors.functions import check_call
from dpsql.schema.model import Schema
from dpsql.session.compile.deep_recursion import with_deep_stack

_OF_STATEMENT: Final = (
    UnknownTable,
    UnknownColumn,
    UnknownFunction,
    TypeFault,
    Refused,
    DataError,
)
"""Errors of a statement's names and types, which PostgreSQL may have in other words."""
_CLAUSES: Final = ("where", "having", "order", "group", "distinct", "windows")
"""The parts of a SELECT behind its list, in the order in which PostgreSQL reads them."""


def postgresql_error(error: Error, query: Translated, schema: Schema) -> Error | None:
    """The error that PostgreSQL has of `query`, which has `error` here; None if it shows none."""
    if query.tree is None or error.charge or not isinstance(error, _OF_STATEMENT):
        return None
    theirs = with_deep_stack(lambda: _first_error(error, query, schema))
    if theirs is not None:
        theirs.at = query.in_client_text(theirs.at)
    return theirs


def _first_error(error: Error, query: Translated, schema: Schema) -> Error | None:
    tree = calls_of(query.written, schema)
    if tree is None:
        return None
    reader = _Reader(schema, is_function_unknown=isinstance(error, UnknownFunction))
    try:
        reader.query(tree)
    except (_Unclear, *UNREADABLE):
        return None
    except Error as theirs:
        return theirs
    return None


class _Unclear(Exception):
    """What the columns of a table are isn't known."""


class _Reader:
    """Reads a statement in PostgreSQL's order, and raises the first error that it has there."""

    def __init__(self, schema: Schema, *, is_function_unknown: bool) -> None:
        self._typing = Typing(schema)
        self._is_function_unknown = is_function_unknown

    def query(self, node: exp.Expr) -> None:
        clause = node.args.get("with_")
        for cte in clause.expressions if clause is not None else ():
            self.query(cte.this)
        match node:
            case exp.Select():
                self._select(node)
            case exp.SetOperation():
                self.query(node.this)
                self.query(node.expression)
                o.check_columns(self._typing, node)
            case exp.Subquery():
                self.query(node.this)
            case _:
                self._parts(node)

    def _select(self, node: exp.Select) -> None:
        clause = node.args.get("from_")
        self._source(clause)
        for join in node.args.get("joins") or ():
            self._source(join)
        for item in node.expressions:
            self._read(item)
        for name in _CLAUSES:
            part = node.args.get(name)
            for each in part if isinstance(part, list) else [part]:
                self._read(each)

    def _source(self, node: exp.Expr | None) -> None:
        source = None if node is None else node.this
        match source:
            case None:
                return
            case exp.Table(this=exp.Identifier()):
                self._table(source)
            case exp.Subquery():
                self.query(source)
            case _:
                self._read(source)
        for join in source.args.get("joins") or ():
            self._source(join)
        if isinstance(node, exp.Join):
            condition = node.args.get("on")
            self._read(condition)
            o.check_truth(self._typing, condition, "JOIN/ON")

    def _read(self, node: exp.Expr | None) -> None:
        if node is None:
            return
        if isinstance(node, exp.Query):
            self.query(node)
            return
        self._parts(node)
        try:
            self._check(node)
        except Missing:
            raise _Unclear from None

    def _parts(self, node: exp.Expr) -> None:
        for child in node.iter_expressions():
            self._read(child)

    def _check(self, node: exp.Expr) -> None:
        match node:
            case exp.Column():
                self._column(node)
            case exp.DataType(this=exp.DataType.Type.USERDEFINED):
                o.check_type(node)
            case exp.Where() | exp.Having():
                o.check_truth(self._typing, node.this, type(node).__name__.upper())
            case exp.Filter():
                o.check_truth(self._typing, node.expression.this, "FILTER")
            case exp.And() | exp.Or():
                for side in (node.this, node.expression):
                    o.check_truth(self._typing, side, type(node).__name__.upper())
            case exp.Not():
                o.check_truth(self._typing, node.this, "NOT")
            case exp.If() if isinstance(node.parent, exp.Case) and node.parent.this is None:
                o.check_truth(self._typing, node.this, "CASE/WHEN")
            case exp.Extract() | exp.TimestampTrunc() | exp.DateTrunc():
                o.check_unit(self._typing, node)
            case exp.In():
                for value in node.expressions:
                    o.check_operator(self._typing, "=", [node.this, value], node)
            case exp.Between():
                o.check_operator(self._typing, ">=", [node.this, node.args["low"]], node)
                o.check_operator(self._typing, "<=", [node.this, node.args["high"]], node)
            case exp.Unary() | exp.Binary() if type(node) in o.OPERATORS:
                sides = [node.this, node.args.get("expression")]
                o.check_operator(
                    self._typing, o.OPERATORS[type(node)], [s for s in sides if s is not None], node
                )
            case exp.Coalesce():
                o.check_texts(self._typing, [node.this, *node.expressions])
            case exp.Func() if not isinstance(node.parent, exp.WithinGroup):
                check_call(node, self._typing, is_unknown=self._is_function_unknown)
            case _:
                pass

    def _table(self, node: exp.Table) -> None:
        sources = self._typing.sources
        if not sources.knows(node):
            name = ".".join(part.name for part in node.parts)
            near = near_name(name, sources.tables())
            raise UnknownTable(
                f'relation "{name[:130]}" does not exist',
                at=span(node),
                hint=f"did you mean {near}?" if near else f"tables: {', '.join(sources.tables())}",
                fix=near,
            )

    def _column(self, node: exp.Column) -> None:
        if isinstance(node.this, exp.Star):
            return
        try:
            self._typing.of(node)
        except Missing:
            table, sources = node.table, self._typing.sources
            if not table and sources.is_row(node):
                raise Refused(
                    "a whole row as a value has no rule", at=span(node), hint="name its columns"
                ) from None
            if table and not sources.has_source(node):
                raise UnknownTable(
                    f'missing FROM-clause entry for table "{table[:63]}"', at=span(node)
                ) from None
            shown = f"{table}.{node.name}" if table else f'"{node.name}"'
            near = near_columns(node.name, sources.names(node), f"{table}." if table else "")
            near = or_text(near, node)
            raise UnknownColumn(
                f"column {shown[:130]} does not exist", at=span(node), **near
            ) from None
