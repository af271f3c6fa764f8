"""What the operator reads of a failure, on the server's stderr: its cause, and whom it met.

Analysts are told what they can do, by `failure`; paths, commands of an owner and causes are here.
No row, no parameter and no statement is ever written down.
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
    """Log what an operator can do something about; a refusal is between analyst and schema."""
    who = ascii(analyst[:63])
    if not isinstance(error, Error):
        # Its text could quote rows or parameters.
        _LOG.error("%s: fault of dpsql's own: %s%s", who, type(error).__name__, _location(error))
    elif error.instead:
        hint = f" (hint: {error.hint})" if error.hint else ""
        _LOG.error("%s: %s%s", who, error.message, hint)
    elif isinstance(error, Cancelled | ExecutionFailed):
        _LOG.warning("%s: %s", who, error.message)


def _location(error: BaseException) -> str:
    """The last line of dpsql's own that it came by, and what the system said of a file."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_ours(f.filename)]
    at = ""
    if frames:
        at = f" in {Path(frames[-1].filename).relative_to(_PACKAGE)}:{frames[-1].lineno}"
    if isinstance(error, OSError) and error.strerror:
        at += f": {error.strerror}" + (f": {error.filename}" if error.filename else "")
    return at


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_PACKAGE)
