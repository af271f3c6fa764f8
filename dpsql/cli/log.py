"""What a server logs, on the operator's terminal: no line of it acts there.

What is logged may hold a client's words, an error's or a file's. So it is made visible where it is
written, once for all that is logged, not where each line is made.
"""

from __future__ import annotations

import logging
import sys

from dpsql.terminal.visible import visible_lines


class VisibleFormatter(logging.Formatter):
    """A line of the log, tracebacks too, with escapes for whatever isn't printable."""

    def format(self, record: logging.LogRecord) -> str:
        """The text of `record`."""
        return visible_lines(super().format(record))


class ShortFormatter(VisibleFormatter):
    """The same without tracebacks: who reads the log isn't only who may see the data."""

    def formatException(self, ei: object) -> str:  # noqa: ARG002, N802 - logging names it so
        """Nothing of what was raised."""
        return ""


def log_to_terminal() -> None:
    """Write the log to stderr from now on."""
    _log(VisibleFormatter, logging.INFO)


def log_without_tracebacks() -> None:
    """Write warnings and errors to stderr from now on, each on its line."""
    _log(ShortFormatter, logging.WARNING)


def _log(form: type[VisibleFormatter], level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(form("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=level)
    # It warns of statements that it can't parse by quoting them.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
