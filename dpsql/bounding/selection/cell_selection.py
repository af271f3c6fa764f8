"""Quantiles, extremes and modes become choices among cells that follow from public facts alone.

median(age), quantile_cont(age, 0.9)   with age in [0, 120]

EquidistantCells(age in [0, 120], width=1)   121 cells, of which two are chosen together

min(ward)                              with ward one of ICU, ER, GP

ListedCells(ward, ER, GP, ICU)         3 cells in the order of text, of which one is chosen
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct, field

from dpsql.analysis.domains.expression_domain import DAY, Environment, domain
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.bounding.statistics.discretization import Grid, grid_of
from dpsql.errors import Refused
from dpsql.plan.aggregate import (
    QUANTILES,
    AggregateCall,
    AggregateFunction,
    AggregateOutput,
    OpenFunction,
    OutputKind,
)
from dpsql.plan.bounded_release.cell_selection import (
    MAX_LISTED,
    CellChoice,
    Cells,
    EquidistantCells,
    ListedCells,
    Mode,
    QuantileRanks,
)
from dpsql.plan.bounded_release.estimator import ChosenValue, EstimatedColumn, QuantileValue
from dpsql.plan.expression import Expression, conjunction, conjuncts
from dpsql.plan.expression_text import describe
from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import Boolean, Date, SqlType, Timestamp, Varchar
from dpsql.structs import replace

CELLS = 4096
"""The largest number of cells.

More cost rank error, by their logarithm; fewer cost half a cell's width.
"""

EXTREME = Fraction(1, 200)
"""A minimum is released as the quantile of 0.5 %: nothing private tells where the lowest row is."""

CHOSEN = QUANTILES | {AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.MODE}
"""The functions of private rows that become choices."""

_Key = tuple[Cells, Expression | None]


class CellChoices(Struct):
    """Collects the choices of one release; quantiles of the same rows are chosen together.

    `domains` are those of the columns of the release's rows. `quantiles` and `modes` are keyed by
    cells and filter. `notes` are lines of EXPLAIN.
    """

    domains: Environment
    quantiles: dict[_Key, set[Fraction]] = field(default_factory=dict)
    modes: list[_Key] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def estimators(
        self, outputs: tuple[AggregateOutput, ...], count: int | None
    ) -> tuple[EstimatedColumn, ...]:
        """The estimator of each of `outputs`, all of which are functions in CHOSEN.

        `count` is the index of a statistic that counts the rows of each group, if there is one.
        Raises Refused where values aren't known, and where an interval of a chosen value is asked
        for.
        """
        for output in outputs:
            _check_value(output.call)
            self._collect(output.call)
        chosen = [(o.column, self._estimator(o.call)) for o in outputs]
        return tuple(EstimatedColumn(column, replace(f, count=count)) for column, f in chosen)

    def choices(self) -> tuple[CellChoice, ...]:
        """The choices of the release, those of quantiles first."""
        chosen = [
            CellChoice(cells, only, QuantileRanks(tuple(sorted(ranks))))
            for (cells, only), ranks in self.quantiles.items()
        ]
        modes = [CellChoice(cells, only, Mode()) for cells, only in self.modes]
        return (*chosen, *modes)

    def _collect(self, call: AggregateCall) -> None:
        key = self._key(call)
        if call.function in (AggregateFunction.MIN, AggregateFunction.MAX):
            percent = float(100 * fraction_of(call))
            self.notes.append(f"{call.function.value} is the {percent:g} % quantile")
        if call.function is AggregateFunction.MODE:
            if key not in self.modes:
                self.modes.append(key)
        else:
            self.quantiles.setdefault(key, set()).add(fraction_of(call))

    def _estimator(self, call: AggregateCall) -> QuantileValue | ChosenValue:
        key, is_mode = self._key(call), call.function is AggregateFunction.MODE
        before = 0
        for selection in self.choices():
            if (selection.cells, selection.filter) == key:
                match selection.target, selection.cells:
                    case QuantileRanks(quantiles=quantiles), EquidistantCells(
                        value=value, width=width
                    ):
                        index = before + quantiles.index(fraction_of(call))
                        middle = value.low + Fraction(width - 1, 2)
                        step = value.step * _unit(value.argument.type, call.type)
                        high = self._range(call).high * step
                        return QuantileValue(index, middle * step, width * step, high, call.type)
                    case QuantileRanks(quantiles=quantiles), ListedCells(values=values) if (
                        not is_mode
                    ):
                        return ChosenValue(before + quantiles.index(fraction_of(call)), values)
                    case Mode(), ListedCells(values=values) if is_mode:
                        return ChosenValue(before, values)
                    case _:
                        pass
            before += selection.choices
        raise ValueError(f"{call.function.value} wasn't collected")

    def _key(self, call: AggregateCall) -> _Key:
        (argument,) = call.arguments
        only = None if call.filter is None else _ordered(call.filter)
        if call.function is AggregateFunction.MODE:
            return _listed_choice(call, argument, self._known(call)), only
        if isinstance(argument.type, Varchar | Boolean):
            listed = _listed_choice(call, argument, self._known(call))
            # Engines compare text by its bytes, as Python does by its code points.
            return replace(listed, values=tuple(sorted(listed.values, key=_in_order))), only
        grid = self._range(call)
        value = grid.centered(argument, grid.low)
        return EquidistantCells(value, -(-(value.high - value.low + 1) // CELLS)), only

    def _range(self, call: AggregateCall) -> Grid:
        (argument,) = call.arguments
        return grid_of(argument, self._known(call), call.at, squared=False, ordered=True)

    def _known(self, call: AggregateCall) -> Environment:
        """The domains in the rows that `call` is over."""
        only = call.filter
        return self.domains if only is None else narrow(_ordered(only), self.domains)


def _unit(argument: SqlType, result: SqlType) -> Fraction:
    """The microseconds of a day where dates have a timestamp as their quantile, else 1."""
    return DAY if isinstance(argument, Date) and isinstance(result, Timestamp) else Fraction(1)


def _check_value(call: AggregateCall) -> None:
    """Refuse intervals of chosen values: their error depends on where the rows lie.

    Only the error of a value's rank doesn't. Fifty rows of 1,000 have their median at 1,000,
    however noisy its rank.
    """
    if call.output_kind in (OutputKind.LOW, OutputKind.HIGH, OutputKind.STDDEV):
        raise Refused(
            f"{call.output_kind.value}() of what is chosen by its rank",
            at=call.at,
            hint="EXPLAIN PRIVACY tells by how many rows its rank may be off",
            note="error_functions",
        )


def fraction_of(call: AggregateCall) -> Fraction:
    """The fraction of the quantile that answers `call`; for extremes it has rows on both sides."""
    match call.function:
        case AggregateFunction.MIN:
            return EXTREME
        case AggregateFunction.MAX:
            return 1 - EXTREME
        case _:
            if call.fraction is None:
                raise ValueError(f"{call.function.value} has no place")
            return min(max(call.fraction, EXTREME), 1 - EXTREME)


def _listed_choice(call: AggregateCall, argument: Expression, domains: Environment) -> ListedCells:
    values = domain(argument, domains).values
    if not values or len(values) > MAX_LISTED:
        text = describe(argument)
        raise Refused(
            f"{call.function.value} of {text} needs its values to be known",
            at=call.at,
            hint="declare `values` of it in the schema" + _first_group(call.function, text),
            note="aggregate_quantile",
        )
    return ListedCells(argument, values)


def _first_group(function: AggregateFunction | OpenFunction, text: str) -> str:
    """A hint at another way to release such a value: the first of the groups in some order."""
    orders: dict[AggregateFunction | OpenFunction, str] = {
        AggregateFunction.MODE: "count(*) DESC",
        AggregateFunction.MIN: text,
        AggregateFunction.MAX: f"{text} DESC",
    }
    order = orders.get(function)
    if order is None:
        return ""
    return f", or count(*) … GROUP BY {text} ORDER BY {order} LIMIT 1"


def _in_order(value: Value | None) -> tuple[bool, str]:
    return (value is True, value if isinstance(value, str) else "")


def _ordered(only: Expression) -> Expression:
    return conjunction(tuple(sorted(set(conjuncts(only)), key=describe)))
