"""WINDOW w AS (…): each OVER that names a window, written out."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.errors import SyntaxFault

_CLAUSES = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "frame"}


@dataclass(slots=True)
class NamedWindows:
    """The WINDOW clause of one SELECT; names are without case, and mean windows before them."""

    known: dict[str, exp.Window] = field(default_factory=dict)

    @staticmethod
    def of(node: exp.Select) -> NamedWindows:
        """The windows that `node` names."""
        found = NamedWindows()
        for named in node.args.get("windows") or []:
            require_args(named, "this", "alias", *_CLAUSES)
            name = named.name.lower()
            if name in found.known:
                raise SyntaxFault(
                    f"window {name} is there twice", at=span(named), hint="rename one of them"
                )
            found.known[name] = found.written_out(named)
        return found

    def written_out(self, node: exp.Window) -> exp.Window:
        """`node` with all clauses of the window that it names, and its own besides."""
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
            taken = window.args.get(clause)
            if taken is None:
                continue
            if node.args.get(clause):
                raise SyntaxFault(
                    f"window {alias.name} has its own {written}",
                    at=span(node),
                    hint="write OVER (…) in full",
                )
            copied = [t.copy() for t in taken] if isinstance(taken, list) else taken.copy()
            full.set(clause, copied)
        return full
