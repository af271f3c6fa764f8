"""Statements that were compiled before: the same text over the same data is proved once."""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict
from collections.abc import Callable, Hashable

from dpsql.bind.expression.current_time import utc
from dpsql.session.compile.compiled import CompiledStatement

MAX_PLANS = 64
"""Statements that are remembered: each may list a great many group keys."""


class PlanCache:
    """The last statements that were compiled, by all that their compilation depends on.

    What now() means changes from minute to minute, so statements that ask for it are remembered for
    a minute.
    """

    def __init__(self, clock: Callable[[], dt.datetime] = utc) -> None:
        self._clock = clock
        self._compiled: OrderedDict[Hashable, tuple[dt.datetime, CompiledStatement]] = OrderedDict()

    def get(
        self, key: Hashable, compile_statement: Callable[[], CompiledStatement]
    ) -> CompiledStatement:
        """The plan that `key` had, if it still means that, else what `compile_statement` makes."""
        minute = self._clock().replace(second=0, microsecond=0)
        known = self._compiled.get(key)
        if known is None or (known[1].statement.reads_clock and known[0] != minute):
            # The minute from before: one that ends while the statement is bound is over.
            compiled = compile_statement()
            if compiled.saved_tables:
                return compiled  # its names may mean other tables by the next time
            self._compiled[key] = known = minute, compiled
            if len(self._compiled) > MAX_PLANS:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(key)
        return known[1]
