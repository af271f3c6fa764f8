"""Which parts of a syntax node may be present: allow-listing classes alone lets modifiers through.

sqlglot keeps TABLESAMPLE, PIVOT, hints, FINAL and their like as further arguments of harmless
nodes; each binder names the arguments it reads, and anything else is refused.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.parse import span
from dpsql.errors import Refused

_INSTEAD = {
    "sample": "leave it out: an answer over all rows costs the same, and is closer",
    "recursive": "list numbers and dates by generate_series(1, 12) in FROM",
    "pivots": "write a column for each value: sum(x) FILTER (WHERE kind = 'a') AS a, …",
    "symmetric": "write the smaller end first: x BETWEEN 1 AND 5",
}
"""What to write where an argument has no rule."""


def only(node: exp.Expr, *names: str) -> None:
    """Refuse `node` if it carries an argument that isn't among `names`."""
    for name, value in node.args.items():
        if name not in names and value not in (None, False, [], ""):
            what = f"{name.replace('_', ' ').strip().upper()} here"
            raise refused(node, what, _INSTEAD.get(name, ""))


def refused(node: exp.Expr, what: str = "", hint: str = "") -> Refused:
    """The refusal of a construct that has no rule."""
    kind = what or type(node).__name__.upper()
    return Refused(f"{kind} has no rule", at=span(node), hint=hint, note="refused_constructs")
