"""How an extra of dpsql is installed here: a clone isn't what an index has under that name."""

from __future__ import annotations

import json
from functools import cache


def install_extra(extra: str) -> str:
    """The command that installs the extra `extra`; of a clone, in the clone's own folder."""
    if is_clone():
        return f"pip install '.[{extra}]', in dpsql's clone"
    return f"pip install 'dpsql[{extra}]'"


@cache
def is_clone() -> bool:
    """Whether pip was given a folder, as PEP 610 has it recorded."""
    # It imports the whole of email, and only who lacks an extra asks.
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415

    try:
        origin = json.loads(distribution("dpsql").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError, OSError):
        return False
    return isinstance(origin, dict) and "dir_info" in origin
