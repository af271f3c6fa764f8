"""Statements that were compiled before: the same text over the same data is proved once."""

from __future__ import annotations

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from dpsql.bind.expression.current_time import utc
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.generic.generic_plans import GenericPlans

MAX_PLANS = 64
"""Statements that one session remembers: each may list a great many group keys."""


def names_no_saved_table(compiled: CompiledStatement) -> bool:
    """Whether `compiled` means the same to all analysts: to each a name may be another table."""
    return not compiled.statement.names_release


class RememberedPlans:
    """The last statements that were compiled, by all that their compilation depends on.

    What now() means changes from minute to minute, so statements that ask for it are remembered for
    a minute. Who asks for what another compiles at that moment waits for it. None is remembered
    that isn't what it was by the next time.
    """

    def __init__(
        self,
        clock: Callable[[], dt.datetime],
        size: int,
        stays: Callable[[CompiledStatement], bool],
    ) -> None:
        self._clock = clock
        self._size = size
        self._stays = stays
        self._guard = threading.Lock()
        self._compiled: OrderedDict[Hashable, tuple[dt.datetime, CompiledStatement]] = OrderedDict()
        self._in_progress: dict[Hashable, threading.Event] = {}

    def get(
        self, key: Hashable, compile_statement: Callable[[], CompiledStatement]
    ) -> CompiledStatement:
        """The plan that `key` had, if it still means that, else what `compile_statement` makes."""
        minute = self._clock().replace(second=0, microsecond=0)
        known, other = self._begin(key, minute)
        if known is None and other is not None:
            check_may_wait()
            other.wait()
            # What another was refused, or is remembered for nobody, is compiled by each for itself.
            known, other = self._begin(key, minute)
        if known is not None:
            return known
        try:
            check_may_wait()
            # The minute from before: one that ends while the statement is bound is over.
            compiled = compile_statement()
            if self._stays(compiled):
                with self._guard:
                    self._compiled[key] = minute, compiled
                    self._compiled.move_to_end(key)
                    if len(self._compiled) > self._size:
                        self._compiled.popitem(last=False)
            return compiled
        finally:
            if other is None:
                with self._guard:
                    self._in_progress.pop(key).set()

    def _begin(
        self, key: Hashable, minute: dt.datetime
    ) -> tuple[CompiledStatement | None, threading.Event | None]:
        """The plan of `key`, or the end of another's compiling; if neither, one's own has begun."""
        with self._guard:
            known = self._compiled.get(key)
            if known is not None and not (known[1].statement.reads_clock and known[0] != minute):
                self._compiled.move_to_end(key)
                return known[1], None
            other = self._in_progress.get(key)
            if other is None:
                self._in_progress[key] = threading.Event()
            return None, other


class PlanCache(RememberedPlans):
    """The same, which sessions of one edition of the schema may share.

    `proved` are those of each version of the data, of which plans of single analysts are made that
    differ in keys alone. `generic` plans are those of statements that differ in constants alone.
    """

    def __init__(self, clock: Callable[[], dt.datetime] = utc, size: int = MAX_PLANS) -> None:
        # By the next time a name may mean another table, also to the same analyst.
        super().__init__(clock, size, names_no_saved_table)
        self.proved = RememberedPlans(clock, size, names_no_saved_table)
        self.generic = GenericPlans(size)
