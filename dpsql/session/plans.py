"""Statements that were prepared before: the same text over the same data is proved once."""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict
from collections.abc import Callable, Hashable

from dpsql.bind.clock import utc
from dpsql.session.prepared import Prepared

MOST = 64
"""Statements that are remembered: each may list a great many group keys."""


class Plans:
    """The last statements that were prepared, by all that their preparation depends on.

    What now() means changes from minute to minute, so plans are remembered for a minute.
    """

    def __init__(self, clock: Callable[[], dt.datetime] = utc) -> None:
        self._clock = clock
        self._found: OrderedDict[Hashable, Prepared] = OrderedDict()

    def prepared(self, key: Hashable, prepare: Callable[[], Prepared]) -> Prepared:
        """The plan that `key` had within this minute, else what `prepare` makes."""
        now = (key, self._clock().replace(second=0, microsecond=0))
        if now not in self._found:
            self._found[now] = prepare()
            if len(self._found) > MOST:
                self._found.popitem(last=False)
        self._found.move_to_end(now)
        return self._found[now]
