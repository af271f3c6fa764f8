"""GROUP BY: keys, grouping sets, and the frontier between private rows and released ones."""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.analysis.lineage.unit_identity import determines_unit
from dpsql.bind.aggregate import text_extremes
from dpsql.bind.aggregate.aggregates import Aggregates, GroupingCall
from dpsql.bind.aggregate.public_aggregate import check_private
from dpsql.bind.context import Context
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.grouping.dependent_value import with_dependent
from dpsql.bind.grouping.grouping_sets import SETS, KeyReader, Keys
from dpsql.bind.grouping.public_key import with_public_keys
from dpsql.bind.proof.join_ownership import require_total_keys
from dpsql.bind.query.select_list import Item
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.bind.window.window import Windows
from dpsql.errors import GroupingFault, Refused, Span, SyntaxFault
from dpsql.plan.aggregate import AggregateFunction, AggregateOutput, OutputKind
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Aggregate, Output, Plan, Project, Union, Values
from dpsql.plan.output_columns import output_columns
from dpsql.plan.total_form import aggregate_form
from dpsql.plan.traversal import columns
from dpsql.structs import replace


class Grouping(Struct, frozen=True):
    """The keys in order, each with its name and its place in the text.

    `sets` has the indices of the keys of each grouping set; it is None for a plain GROUP BY.
    """

    keys: tuple[Expression, ...]
    names: tuple[str, ...]
    spans: tuple[Span | None, ...]
    sets: tuple[tuple[int, ...], ...] | None

    @classmethod
    def of(
        cls,
        node: exp.Select,
        items: list[Item],
        binder: ExpressionBinder,
        aggregates: Aggregates,
        windows: Windows,
    ) -> Grouping:
        """The GROUP BY clause of a SELECT; no keys at all without one."""
        group = node.args.get("group")
        computed = {w.column for w in windows.outputs} | aggregates.columns
        keys: Keys = {}
        sets: list[tuple[int, ...]] | None = None
        if group is not None:
            require_args(group, "expressions", "all")
            if not group.expressions and not group.args.get("all"):
                raise SyntaxFault("GROUP BY lists no keys", at=span(node), hint="name keys, or ALL")
            reader = KeyReader(items, binder, computed, keys)
            if group.args.get("all"):
                keys |= {i.expression: i.at for i in items if not columns(i.expression) & computed}
            written = [k for k in group.expressions if not isinstance(k, SETS)]
            plain = tuple(index for k in written for index in reader.indices_of(k))
            sets = reader.sets([k for k in group.expressions if isinstance(k, SETS)], plain)
        listed = [(key, at) for key, at in keys.items()]
        return cls(
            tuple(key for key, _ in listed),
            tuple(_key_name(key, items) for key, _ in listed),
            tuple(at for _, at in listed),
            None if sets is None else tuple(sets),
        )

    def with_key(self, key: Expression) -> Grouping:
        """The grouping by one more key, if `key` isn't one yet."""
        if key in self.keys:
            return self
        return replace(
            self,
            keys=(*self.keys, key),
            names=(*self.names, "key"),
            spans=(*self.spans, None),
        )


class Grouped(Struct, frozen=True):
    """A grouped relation and its columns.

    `substitution` maps each key, aggregate and GROUPING() to what stands for it above the grouping.
    """

    plan: Plan
    substitution: dict[Expression, Expression]
    columns: frozenset[Column]


def grouped(
    source: Plan, grouping: Grouping, bound_aggregates: Aggregates, context: Context
) -> Grouped:
    """`source` grouped: a release if it is private and the keys don't determine the unit."""
    aggregates = tuple(bound_aggregates.outputs)
    for grouping_call in bound_aggregates.grouping_calls:
        _check_keys(grouping_call, grouping)
    below = frozenset(output_columns(source))
    for key, at in zip(grouping.keys, grouping.spans, strict=True):
        # A subquery of the SELECT list is joined to the groups, not to the rows below them.
        if not columns(key) <= below:
            raise Refused(
                "a group key has a subquery of the SELECT list",
                at=at,
                hint="SELECT k, count(*) FROM (SELECT … AS k FROM …) AS t GROUP BY k",
                note="group_by",
            )
    keys = [
        Output(context.names.column(name, key.type), key, at)
        for key, name, at in zip(grouping.keys, grouping.names, grouping.spans, strict=True)
    ]
    used = tuple(k for k in keys if not isinstance(k.expression, Literal))
    lifted: dict[Expression, Expression] = {k.expression: k.column for k in used}
    if grouping.sets is None:
        if visibility(source) is Visibility.PRIVATE:
            used, aggregates = with_dependent(source, used, aggregates)
        plan: Plan = _frontier(source, used, aggregates, bound_aggregates, context)
        lifted |= {g.column: g.value(grouping.keys) for g in bound_aggregates.grouping_calls}
    else:
        plan = _sets(source, tuple(keys), grouping.sets, bound_aggregates, context)
        calls: list[AggregateOutput | GroupingCall] = [*aggregates]
        calls += bound_aggregates.grouping_calls
        known = (*(k.expression for k in keys), *(call.column for call in calls))
        lifted = dict(zip(known, output_columns(plan), strict=True))
    return Grouped(plan, lifted, frozenset(output_columns(plan)))


def _frontier(
    source: Plan,
    keys: tuple[Output, ...],
    aggregates: tuple[AggregateOutput, ...],
    aggregates_bound: Aggregates,
    context: Context,
) -> Plan:
    """`source` grouped by `keys`: a release where its rows are private and keys don't tell units.

    Public and released rows are aggregated as they are, and so are the rows of each unit.
    """
    if not keys and not aggregates:
        # One row without columns, whatever the data: nothing is read, and nothing paid.
        source = Values((), ())
    if visibility(source) is not Visibility.PRIVATE:
        _check_noisy(aggregates)
        return Aggregate(source, keys, aggregates)
    if determines_unit(source, (key.expression for key in keys)):
        return _per_unit(source, keys, aggregates)
    require_total_keys(source, keys)
    keys = with_public_keys(source, keys)
    for output in aggregates:
        check_private(output.call)
        _check_distinct(output)
    return text_extremes.released(
        source, keys, aggregates, aggregates_bound.scope.qualified, context
    )


def _per_unit(
    source: Plan, keys: tuple[Output, ...], aggregates: tuple[AggregateOutput, ...]
) -> Aggregate:
    """Aggregates of one unit's rows; Refused if they depend on the rows' order."""
    _check_noisy(aggregates)
    for output in aggregates:
        arguments = output.call.arguments
        argument = arguments[0].type if arguments else None
        if aggregate_form(output.call.function, argument) is None:
            raise Refused(
                f"{output.call.function.value}() of one unit's rows depends on how they lie",
                at=output.call.at,
                hint="use count, sum, avg, min, max or median, or take one row of each: "
                f"SELECT DISTINCT ON ({', '.join(describe(key.expression) for key in keys)}) …",
                note="derived_tables",
            )
    return Aggregate(source, keys, aggregates)


_GroupedSet = tuple[Plan, dict[int, Column], tuple[AggregateOutput, ...]]
"""The grouped rows of one set, the column of each key by its index, and the aggregates."""


def _sets(
    source: Plan,
    keys: tuple[Output, ...],
    sets: tuple[tuple[int, ...], ...],
    aggregates: Aggregates,
    context: Context,
) -> Plan:
    """The union of one grouping for each set, where keys that the set leaves out are NULL.

    A set that is named twice is released once, and its rows appear twice.
    """
    grouped_sets: dict[tuple[int, ...], _GroupedSet] = {}
    arms: list[Plan] = []
    for indices in sets:
        if indices not in grouped_sets:
            grouped_sets[indices] = _set(source, indices, keys, aggregates, context)
        rows, chosen, results = grouped_sets[indices]
        outputs = [
            Output(
                context.names.like(key.column),
                chosen.get(index, Literal(None, key.column.type)),
            )
            for index, key in enumerate(keys)
        ]
        outputs += [Output(context.names.like(a.column), a.column) for a in results]
        set_keys = [keys[p].expression for p in indices]
        outputs += [
            Output(context.names.like(a.column), a.value(set_keys))
            for a in aggregates.grouping_calls
        ]
        arms.append(Project(rows, tuple(outputs)))
    if len(arms) == 1:
        return arms[0]
    united = tuple(context.names.like(c) for c in output_columns(arms[0]))
    return Union(tuple(arms), united, None)


def _set(
    source: Plan,
    indices: tuple[int, ...],
    keys: tuple[Output, ...],
    aggregates: Aggregates,
    context: Context,
) -> _GroupedSet:
    """`source` grouped by the keys at `indices`."""
    own = {
        p: replace(keys[p], column=context.names.like(keys[p].column))
        for p in indices
        if not isinstance(keys[p].expression, Literal)
    }
    results = tuple(replace(a, column=context.names.like(a.column)) for a in aggregates.outputs)
    rows = _frontier(source, tuple(own.values()), results, aggregates, context)
    if visibility(rows) is Visibility.PRIVATE:
        raise Refused(
            "grouping sets of keys that determine the privacy unit",
            at=keys[indices[0]].at if indices else None,
            hint="group by them plainly in a subquery first",
            note="grouping_sets",
        )
    return rows, {index: output.column for index, output in own.items()}, results


def _check_keys(call: GroupingCall, grouping: Grouping) -> None:
    for key in call.keys:
        if key not in grouping.keys:
            raise GroupingFault(
                f"GROUPING({describe(key)}): it isn't grouped by",
                at=call.at,
                hint="name keys of GROUP BY",
            )


def _check_noisy(aggregates: tuple[AggregateOutput, ...]) -> None:
    """Refuse functions of an aggregate's noise where the aggregate isn't released, so has none."""
    for output in aggregates:
        if output.call.output_kind is not OutputKind.VALUE:
            raise Refused(
                f"{output.call.output_kind.value}() of an aggregate without noise of its own",
                at=output.call.at,
                hint="write it beside the aggregate of the private rows, in the same SELECT",
                note="error_functions",
            )


_DISTINCT = frozenset({AggregateFunction.COUNT, AggregateFunction.SUM, AggregateFunction.AVG})
"""Aggregates of distinct values that can be released: one unit adds or removes so many values."""


def _check_distinct(output: AggregateOutput) -> None:
    call = output.call
    if call.distinct and call.function not in _DISTINCT:
        raise Refused(
            f"{call.function.value}(DISTINCT …) of private rows has no rule",
            at=call.at,
            hint=f"count(DISTINCT {describe(call.arguments[0])}), or group by it first",
            note="aggregate_count",
        )


def _key_name(key: Expression, items: list[Item]) -> str:
    if isinstance(key, Column):
        return key.name
    return next((item.name for item in items if item.expression == key), "key")
