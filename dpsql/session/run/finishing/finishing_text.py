"""What stands above a statement's releases as SQL, written once for all that share its plan.

Plans of analysts who have answers of their own differ in the keys of these answers, which no SQL
has: the operators are the very same objects.
"""

from __future__ import annotations

from typing import Final

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.total_form import in_total_form
from dpsql.emit.relation.relation import emit_plan
from dpsql.plan.operator import Release
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.proofs.recently_used import RecentlyUsed
from dpsql.session.run.finishing.public_tables import copied_plan

MAX_TEXTS: Final = 64
"""Plans whose SQL is remembered."""

MAX_TRIED: Final = 64
"""Columns of released tables of which it is remembered that the SQL can be computed."""


ReleasedColumns = tuple[tuple[str, ...], ...]
"""The names of the columns of each released table."""


class FinishingText:
    """The SQL of what stands above the releases of `compiled`, and the public rows it reads.

    `plan` is what it says, over copies of these rows.
    """

    __slots__ = ("_names", "_plans", "_releases", "_tried", "copies", "plan", "sql")

    def __init__(self, compiled: CompiledStatement) -> None:
        copied = copied_plan(compiled.finishing_plan)
        self.plan: Final = copied.plan
        self.sql: Final = rendered(emit_plan(copied.plan, compiled.finishing_names))
        self.copies: Final = copied.copies
        self._tried: RecentlyUsed[ReleasedColumns, bool] = RecentlyUsed(MAX_TRIED)
        self._plans = _plans(compiled)
        self._releases, self._names = _releases(compiled)

    def is_of(self, compiled: CompiledStatement) -> bool:
        """Whether it is made of the very operators that `compiled` has, by the same names.

        Operators that are equal needn't be written alike: 1 is equal to 1.0, and TRUE to 1.
        """
        releases, names = _releases(compiled)
        return (
            names == self._names
            and _are_same(_plans(compiled), self._plans)
            and _are_same(releases, self._releases)
        )

    def was_tried(self, columns: ReleasedColumns) -> bool:
        """Whether it was computed of tables with these columns; False if it was forgotten."""
        return self._tried.get(columns) is not None

    def note_tried(self, columns: ReleasedColumns) -> None:
        """Remember that it was computed of tables with these columns, without rows."""
        self._tried.put(columns, value=True)


def total_sql(text: FinishingText, compiled: CompiledStatement) -> str:
    """SQL for the rows of `text` that takes longer, and that no released number makes fail."""
    return rendered(in_total_form(emit_plan(text.plan, compiled.finishing_names)))


class FinishingTexts:
    """Those that were used last."""

    def __init__(self, size: int = MAX_TEXTS) -> None:
        # By where the plan is; what is remembered holds it, so that its id stays its own.
        self._texts: RecentlyUsed[int, FinishingText] = RecentlyUsed(size)

    def of(self, compiled: CompiledStatement) -> FinishingText:
        """That of `compiled`: tried before its charge, and run after it."""
        known = self._texts.get(id(compiled.plan))
        if known is None or not known.is_of(compiled):
            known = FinishingText(compiled)
            self._texts.put(id(compiled.plan), known)
        return known


def _plans(compiled: CompiledStatement) -> tuple[object, ...]:
    return compiled.plan, compiled.tagged_union, compiled.numbered


def _releases(compiled: CompiledStatement) -> tuple[tuple[Release, ...], tuple[str, ...]]:
    releases = compiled.releases
    return tuple(one.release for one in releases), tuple(one.name for one in releases)


def _are_same(some: tuple[object, ...], others: tuple[object, ...]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))
