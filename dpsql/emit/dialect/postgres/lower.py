"""PostgreSQL's nodes for neutral ones: a tree is rebuilt from its leaves, and nothing else passes.

| neutral, or DuckDB's clause | PostgreSQL                                                      |
| --------------------------- | --------------------------------------------------------------- |
| a + b, a * b, a % b         | in numeric, whatever the types: no product of counts overflows  |
| wide sum                    | SUM of numerics                                                 |
| keyed hash                  | hash of each item by its type, seeded with that of those before |
| QUALIFY                     | a subquery with the rank as a column, and WHERE                 |
| table of a domain           | UNNEST of arrays, which are parameters                          |
| table of a sidecar          | a name of its own, which the engine knows                       |
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field
from sqlglot import exp

from dpsql.emit.dialect import nodes
from dpsql.emit.dialect.key_cells import WithCells
from dpsql.emit.dialect.postgres import guard
from dpsql.emit.dialect.postgres.aggregate import emit_aggregate
from dpsql.emit.dialect.postgres.expression import byte_order, emit_expression
from dpsql.emit.dialect.postgres.steps import is_nan, steps, sum_in_steps
from dpsql.emit.dialect.row_estimate import RowLimit, Unestimated
from dpsql.emit.dialect.scaled_units import ScaledUnits, changed_units
from dpsql.emit.dialect.sidecar_table import stored_table
from dpsql.emit.dialect.unit_total import joined_total
from dpsql.emit.sql.identifier import subquery
from dpsql.engine.postgres.connection import LONGEST_NAME
from dpsql.engine.supported import prepared_name
from dpsql.plan.bounded_release.column_names import DOMAIN_CELL, domain_key_name, is_of_row
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.plan.bounded_release.server_query import DomainColumn, Parameter, Salt
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Date, Double, SqlType, Timestamp, Varchar

_POSITIVE: Final = 2**63 - 1
"""The bits of a hash without its sign: the remainder of a negative number would be negative."""


class DomainRows(exp.Expression):
    """The rows of a domain: `columns` are its arrays, by name."""


class Lowering(Struct):
    """One statement's lowering: its `domains` by name, its `own` tables, and what it has so far.

    That are `parameters`, the schema's `tables`, those whose `prepared` rows are read, and `names`
    of any kind.
    """

    domains: Mapping[str, DomainTable]
    own: frozenset[str] = frozenset()
    parameters: list[Parameter] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)
    prepared: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    ranks: int = 0

    def lower(self, node: exp.Expr) -> exp.Expr:
        """`node` without neutral parts; Refused for what isn't on the list."""
        parts = {name: self._part(part) for name, part in node.args.items()}
        own = _LOWERED.get(type(node))
        if own is not None:
            return own(self, **parts)
        if isinstance(node, nodes.Neutral):
            raise guard.refused(_NAMES.get(type(node), type(node).__name__))
        return type(node)(**parts)

    def _part(self, part: Any) -> Any:
        if isinstance(part, exp.Expr):
            return self.lower(part)
        return list(map(self._part, part)) if isinstance(part, list) else part

    def parameter(self, parameter: Parameter) -> exp.Expr:
        """The parameter of the statement that stands for `parameter`."""
        if parameter not in self.parameters:
            self.parameters.append(parameter)
        number = self.parameters.index(parameter) + 1
        name = "TEXT"
        if isinstance(parameter, DomainColumn):
            kind = None if parameter.key is None else parameter.domain.types[parameter.key]
            name = ("BIGINT" if kind is None else guard.type_name(kind)) + "[]"
        return guard.cast(exp.Parameter(this=exp.Literal.number(number)), name)


def _stored_column(_: Lowering, column: exp.Expr, kind: SqlType, *, is_saved: bool) -> exp.Expr:
    """A column as the engine hands it out: of this type, and no decimal is NaN."""
    guard.type_name(kind)
    if is_saved:
        raise guard.refused("a released table")
    match kind:
        case Varchar():
            return byte_order(column)
        case _:
            return column


def _wide_sum(_: Lowering, term: exp.Expr) -> exp.Expr:
    if isinstance(term, exp.Distinct):
        (value,) = term.expressions
        return guard.call("SUM", exp.Distinct(expressions=[guard.exact(value)]))
    return guard.call("SUM", guard.exact(term))


def _quotient(_: Lowering, dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    return guard.call("DIV", guard.exact(dividend), guard.exact(divisor))


def _share(
    lowering: Lowering, total: exp.Expr, part: exp.Expr, whole: exp.Expr, largest: int | None
) -> exp.Expr:
    del largest  # numerics hold whatever it is
    product = _exact(exp.Mul)(lowering, total, part)
    return _quotient(lowering, exp.Paren(this=product), whole)


def _narrow(_: Lowering, integers: exp.Expr, low: int, high: int) -> exp.Expr:
    for bits, name in ((32, "INTEGER"), (64, "BIGINT")):
        if -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1):
            return guard.cast(exp.Paren(this=integers), name)
    return exp.Paren(this=integers)


def _keyed_hash(lowering: Lowering, items: list[exp.Expr], below: int | None) -> exp.Expr:
    """Each item hashed with the hash of those before as its seed, the salt first of all.

    By the hash of its type, of which equal values have one: 1.0 and 1.00 are one number, 0 and -0
    too, and which of them a group shows is up to the order of rows. That of a record has it for any
    type; of NULL it would be 0 whatever the seed, so that a constant stands beside each item.
    """
    salt = byte_order(lowering.parameter(Salt()))
    hashed: exp.Expr = guard.call("HASHTEXTEXTENDED", salt, nodes.integer(0))
    for item in items:
        record = guard.call("ROW", guard.cast(nodes.integer(1), "INTEGER"), item)
        hashed = guard.call("HASH_RECORD_EXTENDED", record, hashed)
    bits = _POSITIVE if below is None else below - 1
    return exp.Paren(this=exp.BitwiseAnd(this=hashed, expression=nodes.integer(bits)))


def _readable_key(_: Lowering, key: exp.Expr, kind: SqlType) -> exp.Expr:
    match kind:
        case Double():
            # 0.0 for -0.0
            return exp.Paren(
                this=exp.Add(this=guard.finite(key, "DOUBLE PRECISION"), expression=guard.double(0))
            )
        case Date() | Timestamp():
            moment = dt.date if isinstance(kind, Date) else dt.datetime
            low, high = (emit_expression(Literal(end, kind)) for end in (moment.min, moment.max))
            there = exp.Between(this=key.copy(), low=low, high=high)
            return exp.case().when(there, key, copy=False)
        case _:
            return key


def _listed_key(_: Lowering, key: exp.Expr, kind: SqlType) -> exp.Expr:
    return byte_order(key) if isinstance(kind, Varchar) else key


def _exact(operator: type[exp.Binary]) -> Callable[..., exp.Expr]:
    """Arithmetic of releases: of integers and decimals alone, exact in numeric.

    In the types of its operands, a unit's sum times its rows would be of 64 bits and raise.
    """

    def emitted(_: Lowering, this: exp.Expr, expression: exp.Expr) -> exp.Expr:
        return operator(this=guard.exact(this), expression=expression)

    return emitted


def _select(lowering: Lowering, **parts: Any) -> exp.Expr:
    qualify = parts.pop("qualify", None)
    select = exp.Select(**parts)
    if qualify is None:
        return select.offset(0, copy=False) if _computes_terms(select) else select
    if not isinstance(qualify.this, exp.LTE) or not isinstance(qualify.this.this, exp.Window):
        raise guard.refused("QUALIFY of anything but a rank")
    lowering.ranks += 1
    name = f"rank {lowering.ranks}"  # no column of a statement has a space
    identifier = exp.to_identifier(name, quoted=True)
    rank = exp.Alias(this=qualify.this.this, alias=identifier)
    ranked = select.select(rank, copy=False)
    few = exp.LTE(this=exp.Column(this=identifier.copy()), expression=qualify.this.expression)
    rows = exp.select(exp.Star(), copy=False).from_(subquery(ranked, "t"), copy=False)
    return rows.where(few, copy=False)


def _computes_terms(select: exp.Select) -> bool:
    """Whether clamps above would have the planner compute a term once for each of its names.

    OFFSET keeps it from putting terms there. A sum of products clamped takes two thirds as long.
    """
    return any(
        is_of_row(item.alias) and not isinstance(item.this, exp.Column)
        for item in select.expressions
        if isinstance(item, exp.Alias)
    )


def _stored_table(lowering: Lowering, **parts: Any) -> exp.Expr:
    """The rows of a table as a sidecar has them, under a name of their own."""
    name = stored_table(parts["catalog"], parts.get("db"), parts["this"])
    if name is None:
        raise guard.refused("sums of a sidecar")
    lowering.prepared.add(name)
    shown = _identifier(lowering, this=prepared_name(name), quoted=True)
    return exp.Table(this=shown, alias=parts.get("alias"))


def _table(lowering: Lowering, **parts: Any) -> exp.Expr:
    if parts.get("catalog") is not None:
        return _stored_table(lowering, **parts)
    name = parts["this"].name
    if parts["this"].args.get("quoted") and " " not in name:
        lowering.tables.add(name)
        return exp.Table(**parts)
    if name in lowering.own:
        return exp.Table(**parts)
    if name not in lowering.domains:
        raise guard.refused("a released table")
    domain = lowering.domains[name]
    arrays = [lowering.parameter(DomainColumn(domain, None))]
    arrays += [lowering.parameter(DomainColumn(domain, key)) for key in range(len(domain.types))]
    names = [DOMAIN_CELL, *map(domain_key_name, range(len(domain.types)))]
    alias = exp.TableAlias(this=parts["alias"].this, columns=list(map(exp.to_identifier, names)))
    return DomainRows(expressions=arrays, alias=alias)


def _identifier(lowering: Lowering, **parts: Any) -> exp.Expr:
    name = str(parts["this"])
    if len(name.encode()) > LONGEST_NAME or "\0" in name:
        raise guard.refused(f"a name of more than {LONGEST_NAME} bytes")
    lowering.names.add(name)
    return exp.Identifier(**parts)


def _join(_: Lowering, **parts: Any) -> exp.Expr:
    if parts.get("side") == "FULL":
        raise guard.refused("FULL JOIN")
    return exp.Join(**parts)


_LOWERED: Final[Mapping[type[exp.Expr], Callable[..., exp.Expr]]] = {
    nodes.Scalar: lambda _, expression: emit_expression(expression),
    nodes.UntypedConstant: lambda _, value, kind: emit_expression(Literal(value, kind)),
    nodes.StoredColumn: _stored_column,
    nodes.ExactAggregate: lambda _, call, own, **__: emit_aggregate(call, own),
    nodes.MonthNumber: lambda _, computed, **__: emit_expression(computed),
    nodes.Steps: lambda _, value, column: steps(value, column),
    WithCells: lambda _, joined, **__: joined,
    nodes.WithUnitTotal: lambda _, **parts: joined_total(**parts),
    ScaledUnits: lambda _, **parts: changed_units(**parts),
    nodes.SumInSteps: lambda _, column, kind, magnitude, has_few_rows: sum_in_steps(
        column, kind, magnitude, has_few_rows=has_few_rows
    ),
    nodes.WideSum: _wide_sum,
    RowLimit: lambda _, count: exp.Literal.number(count),
    Unestimated: lambda _, expression: expression,
    nodes.UnitSum: lambda lowering, term, **_: _wide_sum(lowering, term),
    nodes.UnitValueCount: lambda _, values, **__: guard.call("COUNT", values),
    nodes.Quotient: _quotient,
    nodes.Share: _share,
    nodes.Wide: lambda _, whole: guard.exact(whole),
    nodes.Narrow: _narrow,
    # In numeric, no integer is too large.
    nodes.NullIfTooLarge: lambda _, expression: exp.Paren(this=expression),
    nodes.KeyedHash: _keyed_hash,
    nodes.IsNaN: lambda _, expression: is_nan(expression),
    nodes.ReadableKey: _readable_key,
    nodes.ListedKey: _listed_key,
    exp.Add: _exact(exp.Add),
    exp.Sub: _exact(exp.Sub),
    exp.Mul: _exact(exp.Mul),
    exp.Mod: _exact(exp.Mod),
    exp.Select: _select,
    exp.Table: _table,
    exp.Join: _join,
    exp.Identifier: _identifier,
}

_NAMES: Final[Mapping[type[exp.Expr], str]] = {
    nodes.RowNumber: "a number of a row as its unit",
    nodes.ExactWindow: "a window function",
}
"""What people call the neutral nodes that PostgreSQL has none for."""
