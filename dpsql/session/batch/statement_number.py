"""Which statement of a batch an error is of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dpsql.errors import Error


@contextmanager
def of_statement(number: int) -> Iterator[None]:
    """Errors in this block are of the statement `number` of a batch, counted from 1."""
    try:
        yield
    except Error as error:
        error.statement = number
        raise
