"""Work on columns of rows that are in memory, two columns at a time.

numpy and pyarrow let others run while they work. What is made of a column follows from that column
alone, so that it is the same in whichever order columns come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

_ITEMS_AT_ONCE: Final = 2
"""Columns at a time. More would have more arrays of a part's rows in memory at once."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """What `work` makes of each of `items`, in their order."""
    with ThreadPoolExecutor(_ITEMS_AT_ONCE) as pool:
        return list(pool.map(work, items))
