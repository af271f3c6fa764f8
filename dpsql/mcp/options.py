"""The server's options: every fault in them is reported before the schema is read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsql.errors import BadParameter
from dpsql.session.compile.loss_conversion import MIN_EPSILON

_MAX_SECONDS: Final = 24 * 3600
_MAX_PORT: Final = 65_535


class Options(Struct, frozen=True):
    """The options of `dpsql mcp` as written on the command line; amounts are ε.

    `max_cost` bounds each statement, `max_total` all statements together until the server ends.
    `epsilon` is a query's default. Where one of these is None, `spending_limit` chooses it. A
    human has to approve a statement that costs more than `ask_above`, none if that is None. `http`
    is a port; None is stdin and stdout.
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
    """Options that can't be used together, or at all; `faults` has a line for each fault."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def check(options: Options) -> None:
    """Raise WrongOptions with all faults, and what to write instead, if there are any."""
    faults = tuple(_faults(options))
    if faults:
        raise WrongOptions(faults)


def _faults(options: Options) -> Iterator[str]:
    for name, lower, amount in (
        ("max-cost", MIN_EPSILON, options.max_cost),
        ("max-total", MIN_EPSILON, options.max_total),
        ("ask-above", Fraction(0), options.ask_above),
    ):
        # NaN compares with nothing, and would be no limit.
        if amount is not None and not (math.isfinite(amount) and amount >= lower):
            yield f"--{name} {amount:g}: write an epsilon of {float(lower):g} or more"
    epsilon, max_cost = options.epsilon, options.max_cost
    if epsilon is not None and max_cost is not None and epsilon > max_cost:
        yield f"--epsilon {epsilon:g}: no query could be asked: write no more than --max-cost"
    seconds = options.statement_seconds
    if not (math.isfinite(seconds) and 0 < seconds <= _MAX_SECONDS):
        yield f"--statement-seconds {seconds:g}: write more than 0 and at most {_MAX_SECONDS}"
    if options.http is not None and not 0 <= options.http <= _MAX_PORT:
        yield f"--http {options.http}: write 0 to {_MAX_PORT}, 0 for any"
