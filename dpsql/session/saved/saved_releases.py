"""The tables that analysts keep, as one of them may read them: public, but for a reader's own cap.

A kept table is made of noisy releases and public rows, so it is public to all who may see it. Whose
own cap bounds all that they see pays for the releases in it when it is first opened, as for any
stored answer; so nothing of its rows, their number and their values as group keys included, is told
before that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Final

import pyarrow as pa

from dpsql.bounding.public_facts import Facts
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.errors import InternalError, ProgrammingError, Refused, UnknownRelease
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.saved_release import ReleaseName
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.operator import Limit, Plan
from dpsql.release.columns.arrow import rows
from dpsql.schema.model import Hop, Reference, Schema, Table
from dpsql.schema.qualified_name import resolve_name
from dpsql.session.answer.stored_answer import from_bytes
from dpsql.session.compile.release_compiler import saved_tables
from dpsql.session.ladders.stored_ladders import StoredLadders
from dpsql.session.run.execution import Execution
from dpsql.session.saved.saved_table import SavedTable, first_reading, read_rows, saved_table
from dpsql.session.saved.table_law import TableLaw
from dpsql.structs import replace

ALERT: Final = "alert"
"""The kind of what is kept, and is no table."""

_MAX_OPEN = 8
"""Tables whose rows a session holds at once."""


class WrongKind(ProgrammingError):
    """What has the name that is dropped is of another kind."""

    sqlstate = "42809"


class NotPaid(Refused):
    """The reader's cap would have to pay for the table's rows, and the statement is free."""


class SavedReleases:
    """What one analyst may read: their own tables, and others' where answers are shared."""

    def __init__(
        self,
        schema: Schema,
        analyst: str,
        ledger: Callable[[], Ledger | None],
        cap: Callable[[], Fraction | None],
    ) -> None:
        self._schema = schema
        self._analyst = analyst
        self._ledger = ledger
        self._cap = cap
        self._known: dict[int, SavedTable] = {}
        self._open: OrderedDict[str, pa.Table] = OrderedDict()
        self._read_ladders: dict[int, StoredLadders] = {}

    def all(self) -> tuple[SavedTable, ...]:
        """As the ledger has them now: one's own first, then the oldest of others'."""
        may = [
            saved
            for saved in self._named()
            if saved.metadata.kind != ALERT
            and (self._schema.has_shared_store or saved.info.analyst == self._analyst)
        ]
        return tuple(sorted(may, key=lambda k: (k.info.analyst != self._analyst, k.info.entry)))

    def alerts(self) -> tuple[SavedTable, ...]:
        """The analyst's own alerts, which have no rows, and are no tables; the oldest first."""
        own = [one for one in self._named() if one.info.analyst == self._analyst]
        return tuple(one for one in own if one.metadata.kind == ALERT)

    def own_kind(self, name: str) -> str | None:
        """What the analyst keeps under `name`, as CREATE and DROP call it; None: nothing."""
        own = [one for one in self._named() if one.info.analyst == self._analyst]
        return {one.info.name: one.metadata.kind for one in own}.get(name.casefold())

    def _named(self) -> Collection[SavedTable]:
        """All that has a name in the ledger now, whosever it is."""
        ledger = self._ledger()
        if ledger is None:
            return ()
        named = ledger.names.all({seq: saved.info for seq, saved in self._known.items()})
        self._known = {one.entry: self._known.get(one.entry) or saved_table(one) for one in named}
        return self._known.values()

    def entries(self) -> tuple[int, ...]:
        """The ledger's entries of all, which tell whether a name means what it meant before."""
        return tuple(saved.info.entry for saved in self.all())

    def find(self, name: str) -> Table | None:
        """The table kept as `name`, in whatever case; None if there is none to be read."""
        folded = name.casefold()
        return next((saved.table for saved in self.all() if saved.info.name == folded), None)

    def names(self) -> Sequence[str]:
        """Every name that `find` finds."""
        return [saved.table.name for saved in self.all()]

    def visible(self) -> tuple[SavedTable, ...]:
        """Those that a statement can name: a declared table hides one of its name."""
        shown: dict[str, SavedTable] = {}
        for one in self.all():
            if not resolve_name(self._schema.visible_tables, [one.info.name], self._schema.dataset):
                shown.setdefault(one.info.name, one)
        return tuple(shown.values())

    def ladders(
        self, sql: str, version: Callable[[], str], *, pays: bool
    ) -> tuple[StoredLadders, ...]:
        """The ladders by which limits of `sql` may be chosen, the oldest first.

        `version` is the data's. Whose own cap would have to pay for a look at them has none unless
        the statement `pays`; one that names no table or view of theirs has none anyway.
        """
        if not self._may_read_calibrated(sql.casefold()):
            return ()
        stored = [saved for saved in self.all() if saved.metadata.ladders is not None]
        unpaid = [one for one in stored if not self.is_paid(one)]
        if pays:
            self.rows([one.table for one in unpaid], charge=True)
        seen = [one for one in stored if pays or one not in unpaid]
        if not seen:
            return ()
        current = version()
        self._read_ladders = {one.info.entry: self._ladders(one) for one in seen}
        return tuple(
            replace(self._read_ladders[one.info.entry], is_old=one.metadata.version != current)
            for one in sorted(seen, key=lambda one: one.info.entry)
        )

    def _ladders(self, saved: SavedTable) -> StoredLadders:
        """The ladders of a table that the analyst may see, read once."""
        entry, about = saved.info.entry, saved.metadata.ladders
        if entry in self._read_ladders:
            return self._read_ladders[entry]
        if about is None:
            raise InternalError(f"{saved.table.name} holds no ladders")
        table = self.rows([saved.table], charge=False)[saved.table.engine_name]
        return StoredLadders.of(entry, saved.table.name, about, table)

    def _may_read_calibrated(self, sql: str) -> bool:
        """Whether limits may be chosen for `sql`: only then a ledger is looked into."""
        calibrated = [t for t in self._schema.tables.values() if t.limits.calibrated]
        named = [table.name for table in calibrated if table.visible]
        views = self._schema.views
        named += [name for name in views if calibrated or views[name].limits is not None]
        return any(name.rpartition(".")[2].casefold() in sql for name in named)

    def name(self, name: str) -> ReleaseName:
        """The analyst's own `name`."""
        schema = self._schema
        shared, max_releases = schema.has_shared_store, schema.releases
        return ReleaseName(self._analyst, name.casefold(), shared, max_releases)

    def drop(self, name: str, kind: str) -> None:
        """The `kind` that the analyst keeps as `name` is gone; what was charged stays charged."""
        ledger = self._ledger()
        if ledger is None:
            raise UnknownRelease(f"there is no {kind} {name[:80]}")
        own_kind = self.own_kind(name)
        if own_kind is not None and own_kind != kind:
            raise WrongKind(f"{name} is no {kind}", hint=f"write DROP {own_kind.upper()} {name}")
        ledger.names.drop(self.name(name))

    def law(self, table: Table) -> TableLaw | None:
        """How the values of a table are off that a statement has read; None if nothing tells."""
        saved = None if table.saved_entry is None else self._known.get(table.saved_entry)
        return None if saved is None else saved.metadata.law

    def cost(self, table: SavedTable) -> Fraction:
        """What the releases in a table cost, in the ledger's currency."""
        ledger = self._ledger()
        stored = {} if ledger is None else ledger.stored_answers(table.info.keys)
        return sum((one.loss.amount for one in stored.values()), Fraction(0))

    def catalog(self) -> Schema:
        """The schema with the tables that a statement can name beside its own."""
        more = {saved.table.name: saved.table for saved in self.visible()}
        return (
            replace(self._schema, tables={**self._schema.tables, **more}) if more else self._schema
        )

    def keys(self, tables: Sequence[Table]) -> tuple[str, ...]:
        """The stored releases that `tables` were made of, each once."""
        return tuple(dict.fromkeys(key for t in tables for key in self._of(t).info.keys))

    def is_paid(self, table: SavedTable) -> bool:
        """The analyst may see its rows for nothing: they paid for them, or have no cap."""
        ledger = self._ledger()
        return ledger is not None and (
            self._cap() is None
            or all(ledger.has_paid(key, self._analyst) for key in table.info.keys)
        )

    def rows(self, tables: Sequence[Table], *, charge: bool) -> dict[str, pa.Table]:
        """The rows of `tables` by what engines call them.

        What the analyst sees for the first time is charged to their own account, all of it or
        none, or refused unless the statement may `charge`.
        """
        ledger = self._ledger()
        if not tables or ledger is None:
            return {}
        saved = [self._of(table) for table in tables]
        if not charge:
            for one in saved:
                if not self.is_paid(one):
                    raise NotPaid(
                        f"{one.table.name} is another analyst's, and you haven't opened it yet",
                        hint=f"{first_reading(one.table)}: your own cap pays for it once",
                        note="releases",
                    )
        cap, policy = self._cap(), self._schema.policy_hash
        if keys := self.keys(tables):
            ledger.read_answers(keys, self._analyst, cap, policy)
        for one, table in zip(saved, tables, strict=True):
            if table.engine_name not in self._open:
                stored = from_bytes(ledger.names.rows(one.info), list(one.table.columns))
                self._open[table.engine_name] = read_rows(one, table, stored)
        read = {table.engine_name: self._open[table.engine_name] for table in tables}
        while len(self._open) > _MAX_OPEN:
            self._open.popitem(last=False)
        return read

    def _of(self, table: Table) -> SavedTable:
        saved = None if table.saved_entry is None else self._known.get(table.saved_entry)
        if saved is None:
            raise UnknownRelease(f"{table.name} was dropped, or replaced, meanwhile")
        return saved


class SavedReleaseFacts:
    """Public facts of the source, and of kept tables: their rows may list group keys."""

    def __init__(
        self, facts: Facts, saved: SavedReleases, execution: Execution, *, pays: bool
    ) -> None:
        self._facts = facts
        self._saved = saved
        self._execution = execution
        self._charge = pays

    def verified(self, table: Table | Hop) -> bool:
        """A declared table's key; a kept one has none."""
        return self._facts.verified(table)

    def in_sidecar(self, table: Table) -> bool:
        """A declared table's rows stand ready with their unit."""
        return self._facts.in_sidecar(table)

    def holds_sidecar(self) -> bool:
        """Whether the engine has the sidecar open."""
        return self._facts.holds_sidecar()

    def server_sidecar(self) -> ServerSidecar | None:
        """What was prepared on the source's server."""
        return self._facts.server_sidecar()

    def rows(self, plan: Plan, limit: int) -> tuple[Cell, ...] | None:
        """The rows of a public plan, None if there are more than `limit`."""
        tables = saved_tables(plan)
        if not tables:
            return self._facts.rows(plan, limit)
        read: Mapping[str, pa.Table] = self._saved.rows(tables, charge=self._charge)
        cells = rows(self._execution.rows(Limit(plan, limit + 1, 0), read))
        return cells if len(cells) <= limit else None

    def referenced(self, reference: Reference, limit: int) -> tuple[Cell, ...] | None:
        """A declared public table column's distinct values."""
        return self._facts.referenced(reference, limit)
