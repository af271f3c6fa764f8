"""min(), max() and mode() of private text whose domain nothing public lists.

    SELECT ward, count(*), min(note) FROM visits GROUP BY ward

No mechanism can choose among notes that nobody knows. So a release of its own selects the pairs of
a ward and a note that enough units share, and the minimum is over the notes that it shows:

    SELECT ward, count(*), least FROM (SELECT ward, count(*) FROM visits GROUP BY ward)
    LEFT JOIN (SELECT ward, min(note) AS least
               FROM (SELECT ward, note FROM visits WHERE note IS NOT NULL GROUP BY ward, note)
               GROUP BY ward) USING (ward)

mode(note) is the note of the pair with the greatest noisy count.
"""

from __future__ import annotations

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.analysis.lineage.public_keys import public_key_source
from dpsql.analysis.lineage.unit_identity import identifies_unit
from dpsql.bind.column_ids import Names
from dpsql.bind.context import Context
from dpsql.bind.expression.coercion import COUNT_TYPE
from dpsql.bind.proof.unmatched_public_rows import release_without_unmatched
from dpsql.bind.proof.unmatched_refusal import Qualified
from dpsql.bind.subquery.single_row import grouping_of
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput, OutputKind
from dpsql.plan.bounded_release.cell_selection import MAX_LISTED
from dpsql.plan.expression import Compare, Comparison, Expression, IsNull, Not, conjunction
from dpsql.plan.operator import Aggregate, Filter, OuterJoin, OuterKind, Output, Plan
from dpsql.schema.sql_type import Varchar
from dpsql.structs import replace

_CHOSEN = frozenset({AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.MODE})


def released(
    source: Plan,
    keys: tuple[Output, ...],
    aggregates: tuple[AggregateOutput, ...],
    qualified: Qualified,
    context: Context,
) -> Plan:
    """`source`, of private rows, grouped by `keys`: a release, and one more for each unlisted text.

    `qualified` writes a column with its table's name, for hints.
    """
    names = context.names
    texts = tuple(o for o in aggregates if _is_unlisted(o.call, source, names))
    others = tuple(output for output in aggregates if output not in texts)
    parts = [_text(source, keys, output, qualified, context) for output in texts]
    is_only_text = bool(parts) and not others and not keys
    rows: Plan = (
        parts.pop(0)
        if is_only_text
        else release_without_unmatched(source, keys, others, qualified, names)
    )
    own = [key.column for key in keys]
    for part in parts:
        # A group without any text stays, and so does one whose key is NULL.
        on = tuple(
            Compare(Comparison.NOT_DISTINCT, mine, key.column)
            for mine, key in zip(own, part.keys, strict=True)
        )
        rows = OuterJoin(OuterKind.LEFT, rows, part, on, None)
    return rows


def _is_unlisted(call: AggregateCall, source: Plan, names: Names) -> bool:
    """Whether `call` chooses one of the rows' texts, and nothing public lists their domain."""
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
        return False  # no two units share a text
    return public_key_source(source, (Output(names.column("text", text.type), text),)) is None


def _text(
    source: Plan,
    keys: tuple[Output, ...],
    output: AggregateOutput,
    qualified: Qualified,
    context: Context,
) -> Aggregate:
    """`output` of each group, over a release of its own; its keys are columns of its own."""
    call = output.call
    (text,) = call.arguments
    conditions: tuple[Expression, ...] = (Not(IsNull(text)),)
    if call.filter is not None:
        conditions = (call.filter, *conditions)
    names = context.names
    pairs = tuple(replace(key, column=names.like(key.column)) for key in keys)
    value = Output(names.column("text", text.type), text, call.at)
    function = call.function
    counts: tuple[AggregateOutput, ...] = ()
    if function is AggregateFunction.MODE:
        count = AggregateCall(AggregateFunction.COUNT, (), False, None, COUNT_TYPE, at=call.at)
        counts = (AggregateOutput(names.column("count", COUNT_TYPE), count),)
        function = AggregateFunction.ARG_MAX
    rows = release_without_unmatched(
        Filter(source, conjunction(conditions)), (*pairs, value), counts, qualified, names
    )
    groups = tuple(Output(names.like(p.column), p.column) for p in pairs)
    arguments = (value.column, *(o.column for o in counts))
    best = replace(call, function=function, arguments=arguments, filter=None, distinct=False)
    best_of_group = Aggregate(rows, groups, (AggregateOutput(output.column, best),))
    # This reads the release a group at a time, which doesn't make it leave out empty groups.
    context.values.append(grouping_of(best_of_group) or best_of_group)
    return best_of_group
