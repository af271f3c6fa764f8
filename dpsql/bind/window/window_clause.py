"""WINDOW w AS (…): each OVER that names a window, written out."""

from __future__ import annotations

from msgspec import Struct, field
from sqlglot import exp

from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.errors import SyntaxFault

_CLAUSES = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "frame"}


class NamedWindows(Struct):
    """The WINDOW clause of one SELECT: its windows by lowercase name.

    A window of the clause may itself name only windows that stand before it.
    """

    known: dict[str, exp.Window] = field(default_factory=dict)

    @staticmethod
    def of(node: exp.Select) -> NamedWindows:
        """The windows that the WINDOW clause of `node` names."""
        windows = NamedWindows()
        for named in node.args.get("windows") or []:
            require_args(named, "this", "alias", *_CLAUSES)
            name = named.name.lower()
            if name in windows.known:
                raise SyntaxFault(
                    f"window {name} is there twice", at=span(named), hint="rename one of them"
                )
            windows.known[name] = windows.written_out(named)
        return windows

    def written_out(self, node: exp.Window) -> exp.Window:
        """`node` with its own clauses and those of the window that it names."""
        alias = node.args.get("alias")
        if alias is None:
            return node
        window = self.known.get(alias.name.lower())
        if window is None:
            raise SyntaxFault(
                f"there is no window {alias.name}",
                at=span(node),
                hint=f"add WINDOW {alias.name} AS (PARTITION BY …) after HAVING",
            )
        full = node.copy()
        full.set("alias", None)
        for clause, written in _CLAUSES.items():
            shared = window.args.get(clause)
            if shared is None:
                continue
            if node.args.get(clause):
                raise SyntaxFault(
                    f"window {alias.name} has its own {written}",
                    at=span(node),
                    hint="write OVER (…) in full",
                )
            copied = [t.copy() for t in shared] if isinstance(shared, list) else shared.copy()
            full.set(clause, copied)
        return full
