"""The public part of a private relation: the combinations of public rows that its rows can have.

Each row of a join agrees with one combination of rows of the public sources, and that combination
satisfies every condition that reads public columns only. So these combinations list, among others,
all values that expressions of public columns can take in the join: group keys, for example, or the
values that a correlated subquery reads.
"""

from __future__ import annotations

from typing import NamedTuple

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.plan.expression import Expression, conjunction, conjuncts
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    MarkJoin,
    OuterJoin,
    OuterKind,
    Output,
    Plan,
    Project,
)
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns, rewrite_top_down


class PublicKeySource(NamedTuple):
    """A public plan whose distinct rows list the values of keys.

    `includes_null`: rows whose keys are all NULL are possible, too.
    """

    plan: Plan
    includes_null: bool


def public_key_source(plan: Plan, keys: tuple[Output, ...]) -> PublicKeySource | None:
    """The source that lists the values of `keys`; None unless they read public sources alone."""
    wanted = columns(*(key.expression for key in keys))
    predicates: list[Expression] = []
    while True:
        match plan:
            case Filter(source=source, predicate=predicate):
                predicates += conjuncts(predicate)
                plan = source
            case OuterJoin(kind=OuterKind.LEFT, right=right) if _are_columns(keys, right):
                # Columns of a public partner, or NULL where there is none.
                return PublicKeySource(Aggregate(right, keys, ()), includes_null=True)
            case MarkJoin() | OuterJoin() if visibility(plan) is Visibility.PUBLIC:
                # A predicate may read what they add: all of it is public.
                break
            case (
                MarkJoin(source=source)
                | OuterJoin(kind=OuterKind.LEFT | OuterKind.PUBLIC, left=source)
            ):
                if not wanted <= set(output_columns(source)):
                    return None
                plan = source
            case Project(source=source, outputs=outputs):
                # Names of a derived table: ask for what they stand for.
                meaning: dict[Expression, Expression] = {o.column: o.expression for o in outputs}
                keys = tuple(
                    Output(k.column, rewrite_top_down(meaning.get, k.expression)) for k in keys
                )
                predicates = [rewrite_top_down(meaning.get, p) for p in predicates]
                wanted = columns(*(key.expression for key in keys))
                plan = source
            case _:
                break
    if not wanted:
        return None
    joined, on = (plan.sources, plan.on) if isinstance(plan, Join) else ((plan,), ())
    sources = tuple(s for s in joined if visibility(s) is Visibility.PUBLIC)
    readable = frozenset(c for s in sources for c in output_columns(s))
    if not wanted <= readable:
        return None
    own = tuple(p for p in (*predicates, *on) if columns(p) <= readable)
    return PublicKeySource(
        Aggregate(_connected(sources, own, wanted), keys, ()), includes_null=False
    )


def _are_columns(keys: tuple[Output, ...], right: Plan) -> bool:
    """All `keys` are plain columns of `right`, and `right` is public."""
    public_columns = frozenset[Expression](output_columns(right))
    return visibility(right) is Visibility.PUBLIC and all(
        k.expression in public_columns for k in keys
    )


def _connected(
    sources: tuple[Plan, ...], predicates: tuple[Expression, ...], wanted: frozenset[object]
) -> Plan:
    """The join of the sources that conditions connect with the `wanted` columns.

    Any other source would only multiply rows.
    """
    reached = set(wanted)
    while True:
        used = [s for s in sources if reached & set(output_columns(s))]
        more = reached | {c for s in used for c in output_columns(s)}
        for predicate in predicates:
            if columns(predicate) & more:
                more |= columns(predicate)
        if more == reached:
            break
        reached = more
    own = tuple(p for p in predicates if columns(p) <= reached)
    joined = used[0] if len(used) == 1 else Join(tuple(used), ())
    return Filter(joined, conjunction(own)) if own else joined
