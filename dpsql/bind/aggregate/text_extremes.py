"""The least, the greatest and the most frequent text of private rows, where nothing lists them.

    SELECT ward, count(*), min(note) FROM visits GROUP BY ward

No mechanism can choose among notes that nobody knows. Which pairs of a ward and a note enough units
share is a release of its own, and of its rows the least note is taken as it is:

    SELECT ward, count(*), least FROM (SELECT ward, count(*) FROM visits GROUP BY ward)
    LEFT JOIN (SELECT ward, min(note) AS least
               FROM (SELECT ward, note FROM visits WHERE note IS NOT NULL GROUP BY ward, note)
               GROUP BY ward) USING (ward)

The most frequent one is that of the pair with the greatest count.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.analysis.lineage.public_keys import public_key_source
from dpsql.analysis.lineage.unit_identity import identifies_unit
from dpsql.bind.column_ids import Names
from dpsql.bind.context import Context
from dpsql.bind.expression.coercion import COUNT_TYPE
from dpsql.bind.proof.unmatched_public_rows import Qualified, release_without_unmatched
from dpsql.bind.subquery.single_row import grouping_of
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput, OutputKind
from dpsql.plan.bounded_release.cell_selection import MAX_LISTED
from dpsql.plan.expression import Compare, Comparison, Expression, IsNull, Not, conjunction
from dpsql.plan.operator import Aggregate, Filter, OuterJoin, OuterKind, Output, Plan
from dpsql.schema.sql_type import Varchar

_CHOSEN = frozenset({AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.MODE})


def released(
    source: Plan,
    keys: tuple[Output, ...],
    aggregates: tuple[AggregateOutput, ...],
    qualified: Qualified,
    context: Context,
) -> Plan:
    """Private rows grouped: one release, and one more for each text that isn't listed."""
    names = context.names
    texts = tuple(o for o in aggregates if _is_unlisted(o.call, source, names))
    others = tuple(output for output in aggregates if output not in texts)
    parts = [_text(source, keys, output, qualified, context) for output in texts]
    is_alone = bool(parts) and not others and not keys
    rows: Plan = (
        parts.pop(0)
        if is_alone
        else release_without_unmatched(source, keys, others, qualified, names)
    )
    own = [key.column for key in keys]
    for part in parts:
        # A group without such a value is there, and so is one whose key is NULL.
        on = tuple(
            Compare(Comparison.NOT_DISTINCT, mine, key.column)
            for mine, key in zip(own, part.keys, strict=True)
        )
        rows = OuterJoin(OuterKind.LEFT, rows, part, on, None)
    return rows


def _is_unlisted(call: AggregateCall, source: Plan, names: Names) -> bool:
    """Whether it is some text of those that are there, and nothing public lists which these are."""
    if call.function not in _CHOSEN or call.output_kind is not OutputKind.VALUE:
        return False
    (text,) = call.arguments
    if not isinstance(text.type, Varchar):
        return False
    below = column_domains(source)
    values = domain(text, below if call.filter is None else narrow(call.filter, below)).values
    if values and len(values) <= MAX_LISTED:
        return False
    if identifies_unit(source, [text]):
        return False  # no two units have it in common
    return public_key_source(source, (Output(names.column("text", text.type), text),)) is None


def _text(
    source: Plan,
    keys: tuple[Output, ...],
    output: AggregateOutput,
    qualified: Qualified,
    context: Context,
) -> Aggregate:
    """The text of each group, by columns of its own for the keys."""
    call = output.call
    (text,) = call.arguments
    wanted: tuple[Expression, ...] = (Not(IsNull(text)),)
    if call.filter is not None:
        wanted = (call.filter, *wanted)
    names = context.names
    pairs = tuple(
        replace(key, column=names.column(key.column.name, key.column.type)) for key in keys
    )
    value = Output(names.column("text", text.type), text, call.at)
    function = call.function
    asked: tuple[AggregateOutput, ...] = ()
    if function is AggregateFunction.MODE:
        count = AggregateCall(AggregateFunction.COUNT, (), False, None, COUNT_TYPE, at=call.at)
        asked = (AggregateOutput(names.column("count", COUNT_TYPE), count),)
        function = AggregateFunction.ARG_MAX
    rows = release_without_unmatched(
        Filter(source, conjunction(wanted)), (*pairs, value), asked, qualified, names
    )
    groups = tuple(Output(names.column(p.column.name, p.column.type), p.column) for p in pairs)
    arguments = (value.column, *(o.column for o in asked))
    best = replace(call, function=function, arguments=arguments, filter=None, distinct=False)
    found = Aggregate(rows, groups, (AggregateOutput(output.column, best),))
    # Where a statement shows its groups, this doesn't make it read them.
    context.values.append(grouping_of(found) or found)
    return found
