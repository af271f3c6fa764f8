"""What is told of limits that ladders chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.plan.aggregate import AggregateFunction, AggregateOutput, OutputKind
from dpsql.plan.expression import Expression
from dpsql.privacy.ladder.expected_bias import ExpectedBias, KeyBiases
from dpsql.privacy.ladder.joint_choice import ChosenLimits
from dpsql.session.ladders.stored_ladders import StoredLadders


def names_of(ladders: Sequence[StoredLadders]) -> str:
    """The names of ladders, each once."""
    return ", ".join(dict.fromkeys(each.name for each in ladders))


def limit_notes(
    named: Sequence[str], biases: Sequence[ExpectedBias | None], ladders: Sequence[StoredLadders]
) -> tuple[str, ...]:
    """What the limits leave out of a group, as the ladders let expect."""
    notes = []
    for name, one in zip(named, biases, strict=True):
        if one is None:
            notes.append(
                f"{name}: what declared limits leave out, or those that are set,"
                f" {names_of(ladders)} can't tell, and no ± has it"
            )
            continue
        notes.append(
            f"{name}: limits leave out about {one.expected:,.3g} of {one.total:,.6g} in a group"
            f" (90 %: {one.low:,.3g} to {one.high:,.3g}), as expected by {names_of(ladders)}"
        )
    if any(each.is_old for each in ladders):
        notes.append(f"{names_of(ladders)}: of an earlier version of the data; CALIBRATE again")
    return tuple(notes)


def gain_notes(chosen: ChosenLimits, ladders: Sequence[StoredLadders]) -> tuple[str, ...]:
    """Why units in too many groups are scaled, where ladders chose that."""
    if not chosen.gain:
        return ()
    less = f"{100 * chosen.gain:.0f} % less error than if groups were drawn"
    by = names_of(ladders)
    return (f"units in too many groups count less in each: {less}, as expected by {by}",)


def key_biases(
    aggregates: Sequence[AggregateOutput], summed: Mapping[Expression, KeyBiases]
) -> Mapping[int, KeyBiases]:
    """What is left out of each group of plain sums, by their columns' ids; `summed` by argument."""
    by_column: dict[int, KeyBiases] = {}
    for aggregate in aggregates:
        call = aggregate.call
        if call.distinct or call.output_kind is not OutputKind.VALUE:
            continue
        if call.function is AggregateFunction.SUM and call.arguments[0] in summed:
            by_column[aggregate.column.id] = summed[call.arguments[0]]
    return by_column


def column_biases(
    aggregates: Sequence[AggregateOutput],
    summed: Mapping[Expression, ExpectedBias | None],
    counted: ExpectedBias | None,
) -> Mapping[int, ExpectedBias]:
    """What is left out of plain counts and sums, by their columns' ids; `summed` by argument."""
    by_column: dict[int, ExpectedBias] = {}
    for aggregate in aggregates:
        call, bias = aggregate.call, None
        if call.distinct or call.output_kind is not OutputKind.VALUE:
            continue
        if call.function is AggregateFunction.SUM:
            bias = summed.get(call.arguments[0])
        elif call.function is AggregateFunction.COUNT and not call.arguments:
            bias = counted
        if bias is not None:
            by_column[aggregate.column.id] = bias
    return by_column
