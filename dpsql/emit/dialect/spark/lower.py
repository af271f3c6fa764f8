"""Spark's nodes for neutral ones: a tree is rebuilt from its leaves, and nothing else passes.

| neutral, or DuckDB's clause | Spark                                                           |
| --------------------------- | --------------------------------------------------------------- |
| a + b, a * b, a % b         | of decimals of 38 digits, or BIGINT, which hold what is known   |
| wide sum                    | SUM of terms so wide that the sum has 38 digits                 |
| sum of a unit's rows        | TRY_SUM of BIGINT, NULL of more rows than it surely holds       |
| keyed hash                  | xxhash64 of the salt's and the items' texts                     |
| QUALIFY                     | a subquery with the rank as a column, and WHERE                 |
| total of a unit             | a window: Spark would compute what a WITH has for each reader   |
| table of a domain           | a view that is a parameter, of a name that no table has         |
| table of a sidecar          | a view of the engine's, of such a name, too                     |
| MATERIALIZED                | nothing: rows are ranked alike, however often they are read     |
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field
from sqlglot import exp

from dpsql.emit.dialect import nodes
from dpsql.emit.dialect.key_cells import WithCells
from dpsql.emit.dialect.row_estimate import RowLimit, Unestimated
from dpsql.emit.dialect.scaled_units import ScaledUnits, windowed_units
from dpsql.emit.dialect.sidecar_table import stored_table
from dpsql.emit.dialect.spark import guard
from dpsql.emit.dialect.spark.aggregate import emit_aggregate
from dpsql.emit.dialect.spark.expression import constant, emit_expression
from dpsql.emit.dialect.spark.interval import in_64_bits, known
from dpsql.emit.dialect.spark.steps import is_nan, steps, sum_in_steps
from dpsql.emit.dialect.spark.unit_sum import unit_sum, unit_value_count
from dpsql.emit.dialect.unit_total import windowed_total
from dpsql.emit.sql.identifier import column_ref, schema_name, subquery
from dpsql.engine.supported import prepared_name
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.plan.bounded_release.server_query import DomainRows, Parameter, Salt
from dpsql.schema.sql_type import Date, Double, Integer, SqlType, Timestamp, Varchar

_POSITIVE: Final = 2**63 - 1
"""The bits of a hash without its sign: the remainder of a negative number would be negative."""

_NO_VALUE: Final = "\\N"

_TERM_DIGITS: Final = 28
"""A sum has ten digits more than its terms."""


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

    def parameter(self, parameter: Parameter) -> int:
        """The number of `parameter` among the statement's, from 1 on."""
        if parameter not in self.parameters:
            self.parameters.append(parameter)
        return self.parameters.index(parameter) + 1


def _stored_column(_: Lowering, column: exp.Expr, kind: SqlType, *, is_saved: bool) -> exp.Expr:
    guard.type_name(kind)
    if is_saved:
        raise guard.refused("a released table")
    return _by_bytes(column) if isinstance(kind, Varchar) else column


def _by_bytes(text: exp.Expr) -> exp.Expr:
    """Texts are equal if their bytes are, whatever a column's collation has for equal."""
    return exp.Paren(this=exp.Collate(this=text, expression=exp.to_identifier("UTF8_BINARY")))


def _wide_sum(_: Lowering, term: exp.Expr) -> exp.Expr:
    if isinstance(term, exp.Distinct):
        (value,) = term.expressions
        return guard.call("SUM", exp.Distinct(expressions=[_widened(value)]))
    return guard.call("SUM", _widened(term))


def _widened(term: exp.Expr) -> exp.Expr:
    """A term as a decimal of 28 digits before the point: the sum has 38.

    A sum of BIGINT is one, and raises; one of DECIMAL(5,2) has 15 digits, and does so, too. To add
    0 keeps the digits after the point, whose number isn't known here.
    """
    zero = guard.cast(nodes.integer(0), guard.decimal_name(_TERM_DIGITS - 1, 0))
    return exp.Add(this=exp.Paren(this=term), expression=zero)


def _narrow(_: Lowering, integers: exp.Expr, low: int, high: int) -> exp.Expr:
    for bits, name in ((32, "INT"), (64, "BIGINT")):
        if -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1):
            return known(guard.cast(exp.Paren(this=integers), name), (low, high))
    return exp.Paren(this=integers)


def _keyed_hash(lowering: Lowering, items: list[exp.Expr], below: int | None) -> exp.Expr:
    """Each item's text hashed with the hash of those before as its seed, the salt first of all.

    As texts, an item has one hash in all statements of a release, in whatever type of integer it
    comes. NULL is a text too: Spark would leave it out.
    """
    salt = exp.Parameter(this=exp.to_identifier(f"p{lowering.parameter(Salt())}"))
    texts = (
        exp.Coalesce(this=guard.cast(item, "STRING"), expressions=[exp.Literal.string(_NO_VALUE)])
        for item in items
    )
    hashed = guard.call("XXHASH64", salt, *texts)
    largest = _POSITIVE if below is None else below - 1
    bits = guard.cast(nodes.integer(largest), "BIGINT")
    return known(exp.Paren(this=exp.BitwiseAnd(this=hashed, expression=bits)), (0, largest))


def _readable_key(_: Lowering, key: exp.Expr, kind: SqlType) -> exp.Expr:
    match kind:
        case Double():
            finite = exp.LT(
                this=guard.call("ABS", key.copy()), expression=guard.double(float("inf"))
            )
            # 0.0 for -0.0
            unsigned = exp.Add(this=key, expression=guard.double(0))
            return exp.case().when(finite, unsigned, copy=False)
        case Varchar():
            return guard.call("TRY_VALIDATE_UTF8", key)
        case Date() | Timestamp():
            moment = dt.date if isinstance(kind, Date) else dt.datetime
            low, high = (constant(end, kind) for end in (moment.min, moment.max))
            there = exp.Between(this=key.copy(), low=low, high=high)
            return exp.case().when(there, key, copy=False)
        case _:
            return key


def _listed_key(_: Lowering, key: exp.Expr, kind: SqlType) -> exp.Expr:
    match kind:
        case Varchar():
            return _by_bytes(key)
        case Integer(bits=128):
            return guard.try_cast(key, guard.type_name(kind))  # it comes as text
        case _:
            return key


def _exact(operator: type[exp.Binary]) -> Callable[..., exp.Expr]:
    """Arithmetic of releases: of integers, as decimals of 38 digits; of decimals as they are.

    In the types of its operands, a unit's sum times its rows would be of 64 bits and raise.
    """

    def emitted(_: Lowering, this: exp.Expr, expression: exp.Expr) -> exp.Expr:
        if _has_scale(expression):
            return operator(this=this, expression=expression)
        narrow = in_64_bits(operator, this, expression)
        if narrow is not None:
            return narrow
        return operator(this=guard.exact(this), expression=guard.exact(expression))

    return emitted


def _has_scale(constant: exp.Expr) -> bool:
    """Whether it is a constant with digits after the point, which is taken from decimals alone."""
    if not isinstance(constant, exp.Cast):
        return False
    name = str(constant.args["to"].args.get("kind"))
    return name.startswith("DECIMAL") and not name.endswith(",0)")


def _remainder(_: Lowering, this: exp.Expr, expression: exp.Expr) -> exp.Expr:
    narrow = in_64_bits(exp.Mod, this, expression)
    if narrow is not None:
        return narrow
    return guard.call("TRY_MOD", guard.exact(this), guard.exact(expression))


def _quotient(_: Lowering, dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    narrow = in_64_bits(exp.IntDiv, dividend, divisor)
    return guard.quotient(dividend, divisor) if narrow is None else narrow


def _select(lowering: Lowering, **parts: Any) -> exp.Expr:
    qualify = parts.pop("qualify", None)
    if parts.get("limit") or parts.get("offset"):
        # Which rows are left could be others each time that they are read.
        raise guard.refused("LIMIT below a release")
    select = exp.Select(**parts)
    if qualify is None:
        return select
    if not isinstance(qualify.this, exp.LTE) or not isinstance(qualify.this.this, exp.Window):
        raise guard.refused("QUALIFY of anything but a rank")
    lowering.ranks += 1
    name = f"rank {lowering.ranks}"  # no column of a statement has a space
    rank = exp.Alias(this=qualify.this.this, alias=schema_name(name))
    ranked = select.select(rank, copy=False)
    few = exp.LTE(this=column_ref(schema_name(name)), expression=qualify.this.expression)
    rows = exp.select(exp.Star(), copy=False).from_(subquery(ranked, "t"), copy=False)
    return rows.where(few, copy=False)


def _stored_table(lowering: Lowering, **parts: Any) -> exp.Expr:
    """The rows of a table as a sidecar has them: the engine's view of them."""
    name = stored_table(parts.get("catalog"), parts.get("db"), parts["this"])
    if name is None:
        raise guard.refused("sums of a sidecar")
    lowering.prepared.add(name)
    return exp.Table(this=schema_name(prepared_name(name)), alias=parts.get("alias"))


def _table(lowering: Lowering, **parts: Any) -> exp.Expr:
    if parts.get("db") or parts.get("catalog"):
        return _stored_table(lowering, **parts)
    name = parts["this"].name
    if parts["this"].args.get("quoted") and " " not in name:
        lowering.tables.add(name)
        return exp.Table(**parts)
    if name in lowering.own:
        return exp.Table(**parts)
    if name not in lowering.domains:
        raise guard.refused("a released table")
    number = lowering.parameter(DomainRows(lowering.domains[name]))
    return exp.Table(this=schema_name(f"parameter {number}"), alias=parts["alias"])


def _identifier(lowering: Lowering, **parts: Any) -> exp.Expr:
    lowering.names.add(str(parts["this"]))
    return exp.Identifier(**parts)


_LOWERED: Final[Mapping[type[exp.Expr], Callable[..., exp.Expr]]] = {
    nodes.Scalar: lambda _, expression: emit_expression(expression),
    nodes.UntypedConstant: lambda _, value, kind: constant(value, kind),
    nodes.StoredColumn: _stored_column,
    nodes.ExactAggregate: lambda _, call, own, **__: emit_aggregate(call, own),
    nodes.MonthNumber: lambda _, computed, **__: emit_expression(computed),
    nodes.Steps: lambda _, value, column: steps(value, column),
    WithCells: lambda _, joined, **__: joined,
    nodes.WithUnitTotal: lambda _, **parts: windowed_total(**parts),
    ScaledUnits: lambda _, **parts: windowed_units(**parts),
    nodes.SumInSteps: lambda _, **parts: sum_in_steps(**parts),
    nodes.WideSum: _wide_sum,
    RowLimit: lambda _, count: exp.Literal.number(count),
    Unestimated: lambda _, expression: expression,
    nodes.UnitSum: lambda own, term, **parts: unit_sum(term, **parts) or _wide_sum(own, term),
    nodes.UnitValueCount: lambda _, **parts: unit_value_count(**parts),
    nodes.Quotient: _quotient,
    nodes.Share: lambda own, total, part, whole, **_: _quotient(
        own, exp.Paren(this=_exact(exp.Mul)(own, total, part)), whole
    ),
    nodes.Wide: lambda _, whole: guard.exact(whole),
    nodes.Narrow: _narrow,
    # Of 38 digits, as all that is computed of sums is bounded by.
    nodes.NullIfTooLarge: lambda _, expression: exp.Paren(this=expression),
    nodes.KeyedHash: _keyed_hash,
    nodes.IsNaN: lambda _, expression: is_nan(expression),
    nodes.ReadableKey: _readable_key,
    nodes.ListedKey: _listed_key,
    exp.Add: _exact(exp.Add),
    exp.Sub: _exact(exp.Sub),
    exp.Mul: _exact(exp.Mul),
    exp.Mod: _remainder,
    exp.Select: _select,
    exp.Table: _table,
    exp.CTE: lambda _, this, alias, **__: exp.CTE(this=this, alias=alias),
    exp.Identifier: _identifier,
}

_NAMES: Final[Mapping[type[exp.Expr], str]] = {
    nodes.RowNumber: "a number of a row as its unit",
    nodes.ExactWindow: "a window function",
}
"""What people call the neutral nodes that Spark has none for."""
