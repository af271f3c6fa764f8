"""What the server is started with: every fault is found before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from dpsql.errors import BadParameter
from dpsql.session.compile.loss_conversion import MIN_EPSILON

_MAX_SECONDS: Final = 24 * 3600
_MAX_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class Options:
    """As they are written on the command line; amounts are ε.

    `max_cost` bounds each statement, `max_total` all together until the server ends. A human is
    asked before a statement that costs more than `ask_above`. `epsilon` is what a query spends if
    nothing is said. None: what `SpendingLimit` chooses, or nobody is asked.
    """

    schema: Path
    analyst: str = "analyst"
    epsilon: float | None = None
    max_cost: float | None = None
    max_total: float | None = None
    ask_above: float | None = None
    statement_seconds: float = 60
    http: int | None = None


class WrongOptions(BadParameter):
    """Options that can't be meant; `faults` has a line for each."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def check(options: Options) -> None:
    """Nothing, or WrongOptions with all that is wrong and what to write instead."""
    faults = tuple(_faults(options))
    if faults:
        raise WrongOptions(faults)


def _faults(options: Options) -> Iterator[str]:
    for name, least, amount in (
        ("max-cost", MIN_EPSILON, options.max_cost),
        ("max-total", MIN_EPSILON, options.max_total),
        ("ask-above", Fraction(0), options.ask_above),
    ):
        # NaN compares with nothing, and would be no limit.
        if amount is not None and not (math.isfinite(amount) and amount >= least):
            yield f"--{name} {amount:g}: write an epsilon of {float(least):g} or more"
    epsilon, most = options.epsilon, options.max_cost
    if epsilon is not None and most is not None and epsilon > most:
        yield f"--epsilon {epsilon:g}: no query could be asked: write no more than --max-cost"
    seconds = options.statement_seconds
    if not (math.isfinite(seconds) and 0 < seconds <= _MAX_SECONDS):
        yield f"--statement-seconds {seconds:g}: write more than 0 and at most {_MAX_SECONDS}"
    if options.http is not None and not 0 <= options.http <= _MAX_PORT:
        yield f"--http {options.http}: write 0 to {_MAX_PORT}, 0 for any"
