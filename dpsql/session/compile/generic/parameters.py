"""The constants of a statement that no proof can use, and the statement with parameters for them.

    SELECT dept, count(*), avg(pay) FROM people WHERE age > 30 GROUP BY dept

A constant that a column is compared with narrows the column's domain, and nothing else. Where the
statement reads the column in such comparisons alone, nothing is computed of that domain; so another
constant changes no bound, no limit and no list of keys, unless it contradicts what is declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.analysis.domains.column_domains import declared_domain
from dpsql.analysis.domains.predicate_narrowing import bare, narrow
from dpsql.analysis.domains.renamed_columns import origins, renamed
from dpsql.bind.statement import Statement
from dpsql.physical.selectivity import share_of_values
from dpsql.plan.expression import (
    Column,
    Compare,
    Comparison,
    Expression,
    Literal,
    Parameter,
    conjunction,
    conjuncts,
)
from dpsql.plan.operator import Filter, Plan, Release, Scan, SetOperation, Union
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import bottom_up, expressions, operators, subexpressions
from dpsql.privacy.domain import Domain, coordinate
from dpsql.schema.sql_type import SqlType
from dpsql.structs import replace

_SMALLEST_SHARE: Final = Fraction(1, 1024)

_FEWEST: Final = 2
"""Listed values of which a comparison may leave out some, and leave others."""

_OPERATORS: Final = frozenset(
    {
        Comparison.EQUAL,
        Comparison.UNEQUAL,
        Comparison.LESS,
        Comparison.LESS_EQUAL,
        Comparison.GREATER,
        Comparison.GREATER_EQUAL,
    }
)
"""Those that no NULL makes true."""


class ConstantComparison(Struct, frozen=True):
    """A comparison of a column of `declared` values with a constant, and which of rows it leaves.

    `condition` has some constant of the type that all of them have.
    """

    condition: Compare
    declared: Domain
    share: Fraction

    def accepts(self, constant: Literal) -> bool:
        """Whether the plan is the same with `constant` there."""
        return _share(replace(self.condition, right=constant), self.declared) == self.share


class GenericStatement(Struct, frozen=True):
    """A statement with parameters; `comparisons` are those of each parameter, by its number."""

    statement: Statement
    comparisons: tuple[tuple[ConstantComparison, ...], ...]

    @property
    def types(self) -> tuple[SqlType, ...]:
        """The types of the parameters, by their numbers."""
        return tuple(first.condition.right.type for first, *_ in self.comparisons)


Generalisation = tuple[GenericStatement, tuple[Literal, ...]]
"""A statement with parameters, and the constants that they are in one of its statements."""


def with_parameters(statement: Statement) -> Generalisation | None:
    """`statement` with parameters, and the constants that they are here; None if it has none.

    Equal constants are one parameter, so that two releases that ask for the same are still one.
    """
    columns = _Columns(statement.plan)
    comparisons: dict[Literal, list[ConstantComparison]] = {}

    def parameterised(condition: Expression) -> Expression:
        match condition:
            case Compare(left=left, right=Literal() as constant) if columns.is_compared(condition):
                declared = columns.declared(left)
                share = _share(condition, declared)
                if share is not None:
                    comparisons.setdefault(constant, []).append(
                        ConstantComparison(condition, declared, share)
                    )
                    number = list(comparisons).index(constant)
                    return replace(condition, right=Parameter(number, constant.type, share))
        return condition

    def rule(plan: Plan) -> Plan:
        if not isinstance(plan, Filter):
            return plan
        before = conjuncts(plan.predicate)
        after = tuple(map(parameterised, before))
        return plan if after == before else replace(plan, predicate=conjunction(after))

    plan = bottom_up(rule, statement.plan)
    if not comparisons:
        return None
    of_parameters = tuple(map(tuple, comparisons.values()))
    return GenericStatement(replace(statement, plan=plan), of_parameters), tuple(comparisons)


class _Columns:
    """The columns of private tables that the releases of `plan` compare with constants alone.

    A projection may give a column another id.
    """

    def __init__(self, plan: Plan) -> None:
        parts = tuple(operators(plan))
        self._origins = origins(parts)
        self._declared = _declared_domains(parts)
        conditions = [
            condition
            for part in parts
            if isinstance(part, Filter)
            for condition in conjuncts(part.predicate)
        ]
        compared = Counter(
            self._origin(condition.left)
            for condition in conditions
            if isinstance(condition, Compare) and self._is_candidate(condition)
        )
        read = _reads(plan, parts, self._origins)
        self._free = {
            number
            for number, times in compared.items()
            if number is not None and read[number] == times
        }

    def is_compared(self, condition: Compare) -> bool:
        """Whether `condition` compares such a column, which nothing else reads, with a constant."""
        return self._is_candidate(condition) and self._origin(condition.left) in self._free

    def declared(self, compared: Expression) -> Domain:
        """What the schema says of the column that is `compared`."""
        number = self._origin(compared)
        assert number is not None
        return self._declared[number]

    def _is_candidate(self, condition: Compare) -> bool:
        constant = condition.right
        return (
            condition.op in _OPERATORS
            and isinstance(constant, Literal)
            and constant.value is not None
            and self._origin(condition.left) in self._declared
        )

    def _origin(self, compared: Expression) -> int | None:
        column = bare(compared)
        if not isinstance(column, Column):
            return None
        return self._origins.get(column.id, column.id)


def _declared_domains(parts: Sequence[Plan]) -> dict[int, Domain]:
    """What the schema says of the columns of private tables that releases read, by their ids."""
    below = (part for one in parts if isinstance(one, Release) for part in operators(one.source))
    scans = {id(p): p for p in below if isinstance(p, Scan) and p.unit is not None}
    return {
        column.id: declared_domain(scan.table.columns[column.name])
        for scan in scans.values()
        for column in scan.columns
    }


def _reads(plan: Plan, parts: Sequence[Plan], origins: Mapping[int, int]) -> Counter[int]:
    """How often each column is read, but for where its table is, or where it only gets a name."""
    read = Counter(
        column.id
        for outermost in expressions(plan)
        for column in subexpressions(outermost)
        if isinstance(column, Column)
    )
    for part in parts:
        if isinstance(part, Scan):
            read.subtract(column.id for column in part.columns)
        read.subtract(column.id for pair in renamed(part) for column in pair)
        read.update(column.id for column in _read_in_order(part))
    by_origin: Counter[int] = Counter()
    for number, times in read.items():
        by_origin[origins.get(number, number)] += times
    return by_origin


def _read_in_order(part: Plan) -> Iterator[Column]:
    """The columns that `part` reads without naming them: those of its sources, in their order."""
    match part:
        case Union(sources=sources):
            pass
        case SetOperation(left=left, right=right):
            sources = left, right
        case _:
            return
    for source in sources:
        yield from output_columns(source)


def _share(condition: Compare, declared: Domain) -> Fraction | None:
    """How much of the rows `condition` is taken to leave; None if it contradicts what is declared.

    It is a power of a half, no less than the share of the declared values that it lets through, so
    that many constants share a plan.
    """
    assert isinstance(condition.right, Literal)
    value = condition.right.value
    number = None if value is None else coordinate(value)
    if declared.values is not None:
        if value not in declared.values or len(declared.values) < _FEWEST:
            return None
    elif declared.bounds is not None:
        low, high = declared.bounds.low, declared.bounds.high
        if number is None or (low is not None and number <= low):
            return None
        if high is not None and number >= high:
            return None
    column = 0
    after = narrow(
        replace(condition, left=Column(column, "", condition.left.type)), {column: declared}
    )
    share = max(share_of_values(declared, after[column]), _SMALLEST_SHARE)
    halved = (share.denominator // share.numerator).bit_length() - 1
    return Fraction(1, 1 << max(halved, 0))
