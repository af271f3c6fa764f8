"""The parts of a syntax tree that are of some classes, as sqlglot finds them, and sooner.

sqlglot's own search hands each node through four generators, and a statement is searched some sixty
times until it is told in the other dialect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

from sqlglot import exp

_TEXTS: Final = exp.DataType.TEXT_TYPES

Node = TypeVar("Node", bound=exp.Expr)

_ATOMS: Final = frozenset({str, bool, type(None)})
"""What most parts are, in which no node is."""


def find_all(tree: exp.Expr, *kinds: type[Node]) -> Iterator[Node]:
    """The nodes of `tree`, itself included, of one of `kinds`, those above first.

    What is changed below a node while it is looked at is searched as it is then.
    """
    waiting = [tree]
    for node in waiting:
        if isinstance(node, kinds):
            yield node
        for part in node.args.values():
            if type(part) in _ATOMS:
                continue
            if isinstance(part, list):
                waiting += [item for item in part if isinstance(item, exp.Expr)]
            elif isinstance(part, exp.Expr):
                waiting.append(part)


def constant_text(node: exp.Expr | None) -> str | None:
    """The text constant that `node` is, as which it may be cast; None if it is something else."""
    while isinstance(node, exp.Paren) or (isinstance(node, exp.Cast) and node.to.this in _TEXTS):
        node = node.this
    return node.name if node is not None and node.is_string else None
