"""Joins of private rows: the proof, by the schema's keys, that rows which meet share their unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from sqlglot import exp

from dpsql.analysis.lineage.lineage import (
    Visibility,
    has_row_units,
    private_scans,
    unit_kind,
    visibility,
)
from dpsql.analysis.lineage.lineage import unit as unit_of
from dpsql.analysis.lineage.unit_identity import identifies_unit, unit_identifiers
from dpsql.bind.column_ids import Names
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused, Span
from dpsql.plan.expression import Column, Expression, matched
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Join, OuterJoin, OuterKind, Output, Plan
from dpsql.schema.sql_type import BIGINT, Integer

Pair = tuple[Expression, Expression]


def check_same_unit(
    join: Join, spans: Mapping[Plan, Span | None], qualified: Callable[[Column], str]
) -> None:
    """Refuse a join of private sources unless keys prove that rows that meet share a unit.

    The emitted SQL equates the units in any case; without the proof that would change what the
    query means: orders joined on a date would silently lose all pairs of different customers.
    """
    private = [s for s in join.sources if visibility(s) is Visibility.PRIVATE]
    if len(private) < 2:
        return
    _check_kinds(private, spans.get(private[-1]))
    equal, connected, waiting = _Equal(matched(join.on)), [private[0]], private[1:]
    while waiting:
        linked = [s for s in waiting if any(_share_unit(equal, s, c) for c in connected)]
        if not linked:
            raise _unproved(equal, connected, waiting[0], spans.get(waiting[0]), qualified)
        connected += linked
        waiting = [s for s in waiting if s not in linked]


def outer_join(
    node: exp.Join,
    kind: OuterKind,
    left: Plan,
    right: Plan,
    on: tuple[Expression, ...],
    names: Names,
    qualified: Callable[[Column], str],
) -> OuterJoin:
    """An outer join in which each row, with or without a partner, belongs to one unit or nobody.

    A public row that is kept for lack of a private partner tells that there is none: where rows are
    released, `kept_row` sees to it that nothing depends on it.
    """
    sides = (visibility(left), visibility(right))
    if kind is OuterKind.LEFT and sides == (Visibility.PUBLIC, Visibility.PRIVATE):
        return OuterJoin(OuterKind.PUBLIC, left, right, on, unit_of(right), span(node))
    unit = None if Visibility.PRIVATE not in sides else names.column("unit", BIGINT)
    match kind:
        case OuterKind.LEFT:
            sound = sides[0] is Visibility.PRIVATE or unit is None
        case OuterKind.FULL | OuterKind.PUBLIC:
            sound = sides == (Visibility.PRIVATE, Visibility.PRIVATE) or unit is None
        case missing:
            assert_never(missing)
    if not sound:
        raise Refused(
            "an outer join that keeps public rows tells which of them have no private partner",
            at=span(node),
            hint="write private LEFT JOIN public, or public LEFT JOIN private",
            note="outer_join",
        )
    if sides == (Visibility.PRIVATE, Visibility.PRIVATE):
        _check_kinds([left, right], span(node))
        equal = _Equal(matched(on))
        if not _share_unit(equal, left, right):
            raise _unproved(equal, [left], right, span(node), qualified)
    return OuterJoin(kind, left, right, on, unit)


def require_subquery_unit(node: exp.Expr, source: Plan, relation: Plan, equal: list[Pair]) -> None:
    """Refuse to ask private rows anything that isn't about the asking row's own unit."""
    if visibility(relation) is not Visibility.PRIVATE:
        return
    single = identifies_unit(relation, (side for pair in equal for side in pair))
    if single and visibility(source) is not Visibility.PRIVATE:
        raise Refused(
            "asks private rows whether one privacy unit is there",
            at=span(node),
            hint="ask by a column that many units share: which of them there are isn't told",
            note="subqueries",
        )
    if visibility(source) is not Visibility.PRIVATE:
        raise Refused(
            "asks private rows about rows that belong to nobody",
            at=span(node),
            hint="compare a count: (SELECT count(*) FROM … WHERE inner = outer) > 0",
            note="subqueries",
        )
    if not is_same_unit([source], relation, equal):
        raise Refused(
            "the subquery asks rows of other privacy units",
            at=span(node),
            hint=_extreme_instead(node)
            or "correlate it on a key of the unit, or aggregate it with GROUP BY",
            note="subqueries",
        )


def require_total_keys(source: Plan, keys: Iterable[Output]) -> None:
    """Refuse keys that name a unit in some rows, and none where an outer join left them NULL.

    As a release no unit's group would appear; as groups of units, that of NULL is of several.
    """
    found = {key.expression: key for key in keys}
    if identifies_unit(source, found):
        named = next((k for e, k in found.items() if identifies_unit(source, [e])), None)
        shown = "its columns" if named is None else describe(named.expression)
        raise Refused(
            "groups by a key of the unit that is NULL where an outer join has no partner",
            at=None if named is None else named.at,
            hint=f"add WHERE {shown} IS NOT NULL, or join by USING",
            note="outer_join",
        )


def is_same_unit(sources: Sequence[Plan], relation: Plan, equal: list[Pair]) -> bool:
    """Whether `equal` proves that the rows of `sources` ask about rows of their own unit."""
    agreed = _Equal(equal)
    named = (pairs for source in sources for pairs in _shared(source, relation))
    proved = any(not list(agreed.missing(pairs)) for pairs in named)
    kinds = {unit_kind(s) for s in sources if visibility(s) is Visibility.PRIVATE}
    by_row = any(map(has_row_units, (*sources, relation)))
    return proved and kinds == {unit_kind(relation)} and not by_row


def _extreme_instead(node: exp.Expr) -> str:
    """X > ANY (…) is x > the least of them, which can be released."""
    rows = node.args.get("expression")
    if not isinstance(rows, exp.Any | exp.All) or isinstance(node, exp.EQ | exp.NEQ):
        return ""
    is_above = isinstance(node, exp.GT | exp.GTE)
    extreme = "min" if is_above is isinstance(rows, exp.Any) else "max"
    return f"compare with (SELECT {extreme}(…) …), which can be released"


def _check_kinds(private: list[Plan], at: Span | None) -> None:
    kinds = {unit_kind(s) or "" for s in private}
    if len(kinds) > 1 or any(has_row_units(s) for s in private):
        shown = sorted({_shown_kind(s) for s in private})
        raise Refused(
            f"joins rows of different privacy units: {' and '.join(shown)}",
            at=at,
            hint="join a private table with public ones, or with tables of the same entity",
            note="join",
        )


def _shown_kind(source: Plan) -> str:
    first = private_scans(source)[0].table
    return f"row of {first.display_name}" if has_row_units(source) else unit_kind(source) or ""


def _share_unit(equal: _Equal, left: Plan, right: Plan) -> bool:
    """What names one thing on both sides, which has one unit, agrees in all its columns."""
    return any(not list(equal.missing(pairs)) for pairs in _shared(left, right))


def _shared(left: Plan, right: Plan) -> list[list[tuple[Column, Column]]]:
    """The columns of both that name the same things, beside each other, in a fixed order."""
    ours, theirs = unit_identifiers(left), unit_identifiers(right)
    found = [
        list(zip(a.columns, b.columns, strict=True))
        for a in ours
        for b in theirs
        if a.identity == b.identity
    ]
    return sorted(found, key=lambda pairs: [(a.id, b.id) for a, b in pairs])


class _Equal:
    """Which columns are equal where all of some equalities hold.

    Equality goes on from column to column of one type, or of integers. '7' and '07' are both the
    number 7, and two texts.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._like: dict[Column, Column] = {}
        for a, b in pairs:
            if isinstance(a, Column) and isinstance(b, Column) and _alike(a, b):
                self._like[self._first(a)] = self._first(b)

    def missing(self, pairs: Iterable[tuple[Column, Column]]) -> Iterator[tuple[Column, Column]]:
        """Those of `pairs` that needn't be equal."""
        return (pair for pair in pairs if self._first(pair[0]) != self._first(pair[1]))

    def _first(self, column: Column) -> Column:
        first = column
        while (like := self._like.get(first, first)) != first:
            first = like
        # The next search is one step: a chain of n joins would take n² of them.
        if first != column:
            self._like[column] = first
        return first


def _alike(a: Column, b: Column) -> bool:
    return a.type == b.type or (isinstance(a.type, Integer) and isinstance(b.type, Integer))


def _unproved(
    equal: _Equal,
    connected: list[Plan],
    source: Plan,
    at: Span | None,
    qualified: Callable[[Column], str],
) -> Refused:
    mine = private_scans(source)[0].table.display_name
    absent = [list(equal.missing(pairs)) for other in connected for pairs in _shared(other, source)]
    if absent:
        least = min(absent, key=len)
        added = " AND ".join(f"{qualified(a)} = {qualified(b)}" for a, b in least)
        return Refused(
            f"{mine} is joined on columns that don't determine the privacy unit",
            at=at,
            hint=f"only rows of one unit meet: {added} asks for those, and leaves out the others",
            note="join",
        )
    return Refused(
        f"{mine} shares no key with the tables it is joined to",
        at=at,
        hint="join through the tables that reference one another",
        note="join",
    )
