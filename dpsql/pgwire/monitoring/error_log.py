"""Lines about failures on the server's stderr, for its operator: the cause, and the analyst.

Analysts get what they can act on, by `error_response`; paths, causes and the owner's commands are
in the log alone. It never has a row, a parameter or a statement.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Final

from dpsql.errors import Error, ExecutionFailed
from dpsql.pgwire.error_response import Cancelled

_LOG: Final = logging.getLogger("dpsql.pgwire")
_PACKAGE: Final = Path(__file__).parent.parent.parent


def note(error: BaseException, analyst: str) -> None:
    """Log an error that the operator can do something about, which a refused statement isn't."""
    who = ascii(analyst[:63])
    if not isinstance(error, Error):
        # The error's text could quote rows or parameters.
        _LOG.error("%s: fault of dpsql's own: %s%s", who, type(error).__name__, _location(error))
    elif error.instead:
        hint = f" (hint: {error.hint})" if error.hint else ""
        _LOG.error("%s: %s%s", who, error.message, hint)
    elif isinstance(error, Cancelled | ExecutionFailed):
        _LOG.warning("%s: %s", who, error.message)


def _location(error: BaseException) -> str:
    """The last line of dpsql's code in the traceback, and the system's reason if it is OSError."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_ours(f.filename)]
    at = ""
    if frames:
        at = f" in {Path(frames[-1].filename).relative_to(_PACKAGE)}:{frames[-1].lineno}"
    if isinstance(error, OSError) and error.strerror:
        at += f": {error.strerror}" + (f": {error.filename}" if error.filename else "")
    return at


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_PACKAGE)
