"""Why the engine failed, as one of a few fixed texts for the owner's log.

The message of an engine's exception quotes rows and SQL, so only the exception's class is used. The
cause, too, can depend on rows: it is never part of an error that analysts see, and is logged only
in an owner's process. Elsewhere a notebook, or a collector of logs, would show it to analysts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

_LOG: Final = logging.getLogger("dpsql.engine")
_LOG.setLevel(logging.CRITICAL + 1)

_INTERRUPTED: Final = "interrupted"


@cache
def _causes() -> tuple[tuple[type[BaseException], str], ...]:
    # Imported late: commands call causes_shown before they know whether they need an engine.
    import duckdb  # noqa: PLC0415

    from dpsql.engine.read_limit import MoreRowsError  # noqa: PLC0415

    return (
        (MemoryError, "out of memory"),
        (duckdb.OutOfMemoryException, "out of memory"),
        (duckdb.InterruptException, _INTERRUPTED),
        (MoreRowsError, _INTERRUPTED),
        (
            duckdb.IOException,
            "a file of the source can't be read or is damaged, or the disk is full",
        ),
        (duckdb.ConversionException, "a value can't be converted"),
        (duckdb.OutOfRangeException, "a value is out of range"),
        (duckdb.InvalidInputException, "the source has what the engine doesn't take"),
        (duckdb.InternalException, "the engine has a fault of its own"),
        (duckdb.Error, "the engine refused"),
    )


def cause_of(error: BaseException) -> str:
    """The text for the cause of `error`, by its class alone."""
    return next((text for kind, text in _causes() if isinstance(error, kind)), type(error).__name__)


@contextmanager
def causes_shown() -> Iterator[None]:
    """Within it, causes are logged, since the process is an owner's."""
    before = _LOG.level
    _LOG.setLevel(logging.WARNING)
    try:
        yield
    finally:
        _LOG.setLevel(before)


@contextmanager
def causes_hidden() -> Iterator[None]:
    """Within it, causes aren't logged: an analyst's program collects what the process writes."""
    before = _LOG.level
    _LOG.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        _LOG.setLevel(before)


@contextmanager
def causes_logged() -> Iterator[None]:
    """Logs the cause of an exception that is raised inside, if causes are shown, and raises it."""
    try:
        yield
    except Exception as error:
        cause = cause_of(error)
        # A statement that was interrupted, by a limit or by somebody, hasn't failed.
        if cause != _INTERRUPTED:
            _LOG.warning("a statement failed in the engine: %s", cause)
        raise
