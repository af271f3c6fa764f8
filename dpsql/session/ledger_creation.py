"""A ledger that is made is a budget that begins anew: it is told, and refused where it surprises.

A schema that names no ledger has it with the user. Another user of the same data, or the same one
with another HOME, would be given the whole budget again, beside what was learnt already.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from dpsql.errors import LedgerFault
from dpsql.schema.load.paths import STATE, default_ledger
from dpsql.schema.model import Schema

log = logging.getLogger("dpsql.ledger")


def check_home(schema: Schema) -> None:
    """Refuse to make a ledger in the home of somebody who isn't the schema's owner."""
    if not _is_default(schema) or os.environ.get(STATE):
        return
    reason = _of_another(schema.path)
    if reason:
        raise LedgerFault(
            f"there is no ledger at {schema.ledger}, and {reason}: its owner's commands have"
            " another ledger, and the budget would be spent twice",
            hint=f"write ledger: PATH in {schema.path}, or export {STATE}, for all commands alike",
        )


def tell_of_new(schema: Schema) -> None:
    """Say where the ledger is, and who has another."""
    log.warning(
        "new ledger of %s: %s (anchor: %s)", schema.ledger_name, schema.ledger, schema.anchor
    )
    if _is_default(schema):
        log.warning(
            "its budget begins there: another user, HOME or %s has another ledger, and another"
            " budget; name one for all by ledger: in %s",
            STATE,
            schema.path,
        )


def _is_default(schema: Schema) -> bool:
    return schema.ledger == default_ledger(schema.dataset)


def _of_another(schema: Path) -> str:
    """Why the user's home isn't where the ledger is looked for; "" if nothing speaks against it."""
    try:
        import pwd  # noqa: PLC0415 - not everywhere
    except ImportError:
        return ""
    user = os.geteuid()
    if schema.exists() and schema.stat().st_uid != user:
        return f"the schema {schema} is another user's"
    try:
        home = Path(pwd.getpwuid(user).pw_dir)
    except KeyError:
        return ""
    here = Path.home()
    if here != home and here.resolve() != home.resolve():
        return f"HOME is {here}, and not {home}"
    return ""
