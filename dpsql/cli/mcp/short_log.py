"""What a server of an analyst's own client logs: a line for each fault, and never a traceback."""

from __future__ import annotations

import logging
import sys

from dpsql.cli.log import VisibleFormatter


class ShortFormatter(VisibleFormatter):
    """Who reads the log isn't only who may see the data."""

    def formatException(self, ei: object) -> str:  # noqa: ARG002, N802 - logging names it so
        """Nothing of what was raised."""
        return ""


def log_without_tracebacks() -> None:
    """Write warnings and errors to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ShortFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    # It warns of statements that it can't parse by quoting them.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
