"""The log of a server that an analyst's client starts: a line for each fault, no tracebacks."""

from __future__ import annotations

import logging
import sys

from dpsql.cli.log import VisibleFormatter


class ShortFormatter(VisibleFormatter):
    """Formats records without exceptions: readers of the log may not be allowed to see the data."""

    def formatException(self, ei: object) -> str:  # noqa: ARG002, N802 - logging names it so
        """Nothing: the exception is left out."""
        return ""


def log_without_tracebacks() -> None:
    """Write warnings and errors to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ShortFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    # sqlglot warns of statements that it can't parse, and quotes them.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
