"""Joins of private rows: proofs, from the schema's keys, that joined rows belong to one unit."""

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
    """Refuse a join of private sources unless keys prove that joined rows share a unit.

    The emitted SQL equates the units in any case; without the proof that would change what the
    query means: orders joined on a date would silently lose all pairs of different customers.

    `spans` are the sources' places in the text; `qualified` writes a column with its table's name.
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
    released, `unmatched_public_rows` sees to it that nothing depends on that row. Raises Refused if
    the kind of the join, or a missing proof of equal units, leaves rows without an owner.
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
    """Refuse a subquery of private rows that isn't proved to be about the outer row's own unit.

    `source` are the outer rows, `relation` the subquery's, and `equal` the expressions of both that
    the subquery's conditions equate.
    """
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
    """Refuse keys that identify a unit in some rows, and are NULL in others by an outer join.

    Released, no unit's group would pass the threshold; grouped by unit, the group of NULL would
    hold rows of several units.
    """
    by_expression = {key.expression: key for key in keys}
    if identifies_unit(source, by_expression):
        named = next((k for e, k in by_expression.items() if identifies_unit(source, [e])), None)
        shown = "its columns" if named is None else describe(named.expression)
        raise Refused(
            "groups by a key of the unit that is NULL where an outer join has no partner",
            at=None if named is None else named.at,
            hint=f"add WHERE {shown} IS NOT NULL, or join by USING",
            note="outer_join",
        )


def is_same_unit(sources: Sequence[Plan], relation: Plan, equal: list[Pair]) -> bool:
    """Whether `equal` proves that rows of `sources` meet only rows of their unit in `relation`."""
    agreed = _Equal(equal)
    named = (pairs for source in sources for pairs in _shared(source, relation))
    proved = any(not list(agreed.missing(pairs)) for pairs in named)
    kinds = {unit_kind(s) for s in sources if visibility(s) is Visibility.PRIVATE}
    by_row = any(map(has_row_units, (*sources, relation)))
    return proved and kinds == {unit_kind(relation)} and not by_row


def _extreme_instead(node: exp.Expr) -> str:
    """The hint for x > ANY (…), which is x > the minimum of its values; empty for other nodes."""
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
    """Whether `equal` equates all columns of some unit identifier that both sides have."""
    return any(not list(equal.missing(pairs)) for pairs in _shared(left, right))


def _shared(left: Plan, right: Plan) -> list[list[tuple[Column, Column]]]:
    """For each unit identifier of both sides, the pairs of its columns; in a fixed order."""
    ours, theirs = unit_identifiers(left), unit_identifiers(right)
    shared = [
        list(zip(a.columns, b.columns, strict=True))
        for a in ours
        for b in theirs
        if a.identity == b.identity
    ]
    return sorted(shared, key=lambda pairs: [(a.id, b.id) for a, b in pairs])


class _Equal:
    """Which columns are equal where all of some equalities hold, by union-find.

    Equality is transitive among columns of one type, or of integers. '7' and '07' are both the
    number 7, and two texts.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._parents: dict[Column, Column] = {}
        for a, b in pairs:
            if isinstance(a, Column) and isinstance(b, Column) and _is_transitive(a, b):
                self._parents[self._root(a)] = self._root(b)

    def missing(self, pairs: Iterable[tuple[Column, Column]]) -> Iterator[tuple[Column, Column]]:
        """Those of `pairs` whose columns needn't be equal."""
        return (pair for pair in pairs if self._root(pair[0]) != self._root(pair[1]))

    def _root(self, column: Column) -> Column:
        root = column
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        # The next search is one step: a chain of n joins would take n² of them.
        if root != column:
            self._parents[column] = root
        return root


def _is_transitive(a: Column, b: Column) -> bool:
    """Whether equality of `a` and `b` is one of values as they are, without a lossy conversion."""
    return a.type == b.type or (isinstance(a.type, Integer) and isinstance(b.type, Integer))


def _unproved(
    equal: _Equal,
    connected: list[Plan],
    source: Plan,
    at: Span | None,
    qualified: Callable[[Column], str],
) -> Refused:
    """The refusal to join `source` to the `connected` ones, with the fewest equalities to add."""
    mine = private_scans(source)[0].table.display_name
    absent = [list(equal.missing(pairs)) for other in connected for pairs in _shared(other, source)]
    if absent:
        equalities = min(absent, key=len)
        added = " AND ".join(f"{qualified(a)} = {qualified(b)}" for a, b in equalities)
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
