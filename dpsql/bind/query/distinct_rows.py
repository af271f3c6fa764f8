"""The distinct rows of a plan, for SELECT DISTINCT and for set operations without ALL."""

from __future__ import annotations

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.analysis.lineage.unit_identity import determines_unit
from dpsql.bind.context import Context
from dpsql.bind.proof.join_ownership import require_total_keys
from dpsql.bind.proof.unmatched_public_rows import release_without_unmatched
from dpsql.plan.operator import Aggregate, Output, Plan, Project
from dpsql.plan.output_columns import output_columns


def distinct_rows(plan: Plan, context: Context) -> Plan:
    """The distinct rows of `plan`: a release of keys if it is private and no column tells units."""
    if visibility(plan) is Visibility.PRIVATE and not determines_unit(plan, output_columns(plan)):
        require_total_keys(plan, _fresh(plan, context))
        return released_if_private(plan, context)
    return grouped_by_all_columns(plan, context)


def released_if_private(plan: Plan, context: Context) -> Plan:
    """The distinct rows of `plan` as a release if it is private, else `plan`."""
    if visibility(plan) is not Visibility.PRIVATE:
        return plan
    return release_without_unmatched(
        plan, _fresh(plan, context), (), lambda column: column.name, context.names
    )


def grouped_by_all_columns(plan: Plan, context: Context) -> Plan:
    """The distinct rows of `plan`, which aren't private or belong to one unit each."""
    return Aggregate(plan, _fresh(plan, context), ())


def _fresh(plan: Plan, context: Context) -> tuple[Output, ...]:
    """The columns of `plan` under new ids, with the places of the expressions that they are of."""
    spans = {o.column: o.at for o in plan.outputs} if isinstance(plan, Project) else {}
    return tuple(Output(context.names.like(c), c, spans.get(c)) for c in output_columns(plan))
