"""Why the engine failed, for the log of whoever runs the process: one of a few fixed texts.

An exception of the engine quotes rows and SQL, so nothing of it but its class is looked at. Which
cause it was can depend on rows: it is never a part of an error, and is logged only in processes of
an owner's. In others a notebook, or whoever collects logs, would show it to analysts.
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
    # Commands say whose process it is before they know whether they need an engine.
    import duckdb  # noqa: PLC0415

    return (
        (MemoryError, "out of memory"),
        (duckdb.OutOfMemoryException, "out of memory"),
        (duckdb.InterruptException, _INTERRUPTED),
        (duckdb.IOException, "a file of the source can't be read, or is damaged"),
        (duckdb.ConversionException, "a value can't be converted"),
        (duckdb.OutOfRangeException, "a value is out of range"),
        (duckdb.InvalidInputException, "the source has what the engine doesn't take"),
        (duckdb.InternalException, "the engine has a fault of its own"),
        (duckdb.Error, "the engine refused"),
    )


def cause_of(error: BaseException) -> str:
    """The cause, by the class of `error` alone."""
    return next((text for kind, text in _causes() if isinstance(error, kind)), type(error).__name__)


@contextmanager
def causes_shown() -> Iterator[None]:
    """Causes are logged, since the process is an owner's."""
    before = _LOG.level
    _LOG.setLevel(logging.WARNING)
    try:
        yield
    finally:
        _LOG.setLevel(before)


@contextmanager
def causes_untold() -> Iterator[None]:
    """Causes aren't logged: what the process writes is collected by a program of an analyst's."""
    before = _LOG.level
    _LOG.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        _LOG.setLevel(before)


@contextmanager
def causes_logged() -> Iterator[None]:
    """What fails inside is logged by its cause where causes are told, and raised as it is."""
    try:
        yield
    except Exception as error:
        cause = cause_of(error)
        # Who interrupts a statement says so; it hasn't failed.
        if cause != _INTERRUPTED:
            _LOG.warning("a statement failed in the engine: %s", cause)
        raise
