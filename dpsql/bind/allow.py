"""Which parts of a syntax node may be present: allow-listing classes alone lets modifiers through.

sqlglot keeps TABLESAMPLE, PIVOT, hints, FINAL and their like as further arguments of harmless
nodes; each binder names the arguments it reads, and anything else is refused.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.parse import span
from dpsql.errors import Refused


def only(node: exp.Expr, *names: str) -> None:
    """Refuse `node` if it carries an argument that isn't among `names`."""
    for name, value in node.args.items():
        if name not in names and value not in (None, False, [], ""):
            raise refused(node, f"{name.replace('_', ' ').strip().upper()} here")


def refused(node: exp.Expr, what: str = "", hint: str = "") -> Refused:
    """The refusal of a construct that has no rule."""
    kind = what or type(node).__name__.upper()
    return Refused(f"{kind} has no rule", at=span(node), hint=hint, note="refused_constructs")
