"""The log of a server, without control characters that the operator's terminal would act on.

Lines may quote a client, an error or a file. So the formatter escapes every line where it is
written, not the code that logs it.
"""

from __future__ import annotations

import logging
import sys

from dpsql.report.terminal.sanitize import sanitize_lines


class VisibleFormatter(logging.Formatter):
    """Formats records, tracebacks included, with escapes for characters that aren't printable."""

    def format(self, record: logging.LogRecord) -> str:
        """The text of `record`."""
        return sanitize_lines(super().format(record))


def log_to_terminal() -> None:
    """Write the log to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(VisibleFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO)
    # sqlglot warns of statements that it can't parse, and quotes them.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
