"""What fails where nothing was charged says so: the engines' own error tells of a charge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dpsql.errors import ExecutionFailed


@contextmanager
def telling_no_charge() -> Iterator[None]:
    """Within it nothing is charged for what runs: a stored answer is read, or public rows are."""
    try:
        yield
    except ExecutionFailed as failed:
        raise type(failed)("the query failed while it ran; nothing was charged") from None
