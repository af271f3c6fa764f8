"""What a writer of one kind of node needs: its parts, and the text of those."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlglot import exp

Write = Callable[[exp.Expr], str]
"""The text of any node."""

Writer = Callable[[Any, Write], str]
"""The text of a node of one kind, given how its parts are written."""


class UnknownNode(Exception):
    """The generator has to write this node."""


def node_args(node: exp.Expr, *known: str) -> Mapping[str, Any]:
    """The parts of `node`: it has none but those that are known, so that none goes unwritten."""
    args: Mapping[str, Any] = node.args
    for name, value in args.items():
        if value and name not in known:
            raise UnknownNode
    return args


def write_list(nodes: Iterable[exp.Expr], write: Write) -> str:
    """The texts of `nodes`, with commas."""
    return ", ".join(map(write, nodes))
