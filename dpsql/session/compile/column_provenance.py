"""Which columns of an answer are released values as they are, and so have their noise."""

from __future__ import annotations

from msgspec import Struct

from dpsql.plan.expression import Column, Literal
from dpsql.plan.operator import Filter, Limit, Output, Plan, Project, Release, Sort, Union, Window
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns, operators, sources
from dpsql.schema.sql_type import BIGINT
from dpsql.structs import replace

Origin = tuple[Release, int]
"""A release, and the id of one of its columns."""

_ONLY_ROWS = (Project, Filter, Sort, Limit, Window)
"""What hands on its source's rows, or some of them, each once."""


def origins(plan: Plan, column: int) -> tuple[Origin, ...] | None:
    """The released columns whose values `column` of `plan` has, unchanged; one for each arm.

    Empty for keys and constants, which have no noise. None for what is computed of released values,
    whose error is another one, and for what was joined or aggregated again, where a value may be
    missing or stand twice.
    """
    match plan:
        case Release(keys=keys, aggregates=aggregates, chosen=chosen):
            if any(key.column.id == column for key in keys):
                return ()
            ids = (*(a.column.id for a in aggregates), *(o.column.id for o in chosen))
            is_released = column in ids
            return ((plan, column),) if is_released else None
        case Project(source=source, outputs=outputs):
            (own,) = (output for output in outputs if output.column.id == column)
            if isinstance(own.expression, Column):
                return origins(source, own.expression.id)
            exact = all(origins(source, read.id) == () for read in columns(own.expression))
            return () if exact else None
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return origins(source, column)
        case Window(source=source, outputs=windows):
            computed = any(output.column.id == column for output in windows)
            return None if computed else origins(source, column)
        case Union(sources=arms):
            index = [c.id for c in plan.outputs].index(column)
            arm_origins = [origins(arm, output_columns(arm)[index].id) for arm in arms]
            if any(each is None for each in arm_origins):
                return None
            return tuple(origin for each in arm_origins for origin in each or ())
        case _:
            return None


class TaggedUnion(Struct, frozen=True):
    """A plan whose rows say in `tag` from which of `arms` they are, by its index.

    So the values of a column that are released ones have each the error of its own release.
    """

    plan: Plan
    tag: Column
    arms: tuple[Plan, ...]
    outputs: tuple[Column, ...]

    def origins(self, column: int) -> tuple[tuple[Origin, ...] | None, ...]:
        """For each arm where the values of `column` come from, as `origins` tells."""
        united = _united(self.plan, column)
        if united is None:
            return (None,) * len(self.arms)
        index = [c.id for c in self.outputs].index(united)
        return tuple(origins(arm, output_columns(arm)[index].id) for arm in self.arms)


def tagged_union(plan: Plan) -> TaggedUnion | None:
    """`plan` with a mark, where its rows are those of several releases; None where they aren't."""
    union = plan
    while isinstance(union, _ONLY_ROWS):
        (union,) = sources(union)
    if not isinstance(union, Union) or not any(isinstance(p, Release) for p in operators(union)):
        return None
    ids = (c.id for part in operators(plan) for c in output_columns(part))
    mark = Column(1 + max(ids), "arm", BIGINT)
    return TaggedUnion(_with_mark(plan, mark), mark, union.sources, union.outputs)


def _with_mark(plan: Plan, mark: Column) -> Plan:
    match plan:
        case Union(sources=arms, outputs=outputs):
            numbered = tuple(_numbered(arm, mark, number) for number, arm in enumerate(arms))
            return replace(plan, sources=numbered, outputs=(*outputs, mark))
        case Project(source=source, outputs=outputs):
            return Project(_with_mark(source, mark), (*outputs, Output(mark, mark)))
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return replace(plan, source=_with_mark(source, mark))
        case Window(source=source):
            return replace(plan, source=_with_mark(source, mark))
        case _:
            raise ValueError("a mark comes up through rows that are handed on")


def _numbered(arm: Plan, mark: Column, number: int) -> Plan:
    outputs = tuple(Output(column, column) for column in output_columns(arm))
    return Project(arm, (*outputs, Output(mark, Literal(number, mark.type))))


def _united(plan: Plan, column: int) -> int | None:
    """The column of the union below `plan` that `column` is, unchanged."""
    match plan:
        case Union():
            return column
        case Project(source=source, outputs=outputs):
            (own,) = (output for output in outputs if output.column.id == column)
            read = own.expression
            return _united(source, read.id) if isinstance(read, Column) else None
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return _united(source, column)
        case Window(source=source, outputs=windows):
            computed = any(output.column.id == column for output in windows)
            return None if computed else _united(source, column)
        case _:
            return None
