"""The parser's own warnings, which quote the statement: what is wrong with it, an error says."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_PARSING: Final = ContextVar("dpsql is parsing", default=False)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Drop what sqlglot logs meanwhile; what an application parses beside it is none of ours."""
    token = _PARSING.set(True)
    try:
        yield
    finally:
        _PARSING.reset(token)


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not _PARSING.get()


logging.getLogger("sqlglot").addFilter(_is_not_ours)
