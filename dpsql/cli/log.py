"""What a server logs, on the operator's terminal: no line of it acts there.

What is logged may hold a client's words, an error's or a file's. So it is made visible where it is
written, once for all that is logged, not where each line is made.
"""

from __future__ import annotations

import logging
import sys

from dpsql.report.terminal.sanitize import sanitize_lines


class VisibleFormatter(logging.Formatter):
    """A line of the log, tracebacks too, with escapes for whatever isn't printable."""

    def format(self, record: logging.LogRecord) -> str:
        """The text of `record`."""
        return sanitize_lines(super().format(record))


def log_to_terminal() -> None:
    """Write the log to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(VisibleFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO)
    # It warns of statements that it can't parse by quoting them.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
