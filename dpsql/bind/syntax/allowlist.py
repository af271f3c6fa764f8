"""Which parts of a syntax node may be present: allow-listing classes alone lets modifiers through.

sqlglot keeps TABLESAMPLE, PIVOT, hints, FINAL and their like as further arguments of harmless
nodes; each binder names the arguments it reads, and anything else is refused.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.syntax.construct_name import node_words, part_words
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused


def require_args(node: exp.Expr, *names: str) -> None:
    """Refuse `node` if it carries an argument that isn't among `names`."""
    for name, value in node.args.items():
        if name not in names and value not in (None, False, [], ""):
            raise unsupported(node, *part_words(node, name))


def unsupported(node: exp.Expr, what: str, hint: str) -> Refused:
    """The refusal of a construct that has no rule, called `what`; `hint`: what to write instead."""
    return Refused(f"{what} has no rule", at=span(node), hint=hint, note="refused_constructs")


def unlisted(node: exp.Expr) -> Refused:
    """The refusal of a node of a class that has no rule."""
    return unsupported(node, *node_words(node))
