"""Public facts for the rewriter: verified keys, and rows of public tables, read once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from dpsql.bounding.public_facts import distinct_values
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.engine import Engine
from dpsql.engine.fingerprint import Identity
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.operator import Limit, Plan, Sort
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.release.columns.arrow import rows
from dpsql.release.open_public import open_rows
from dpsql.schema.model import Hop, Public, Reference, Schema, Table
from dpsql.schema.source_location import ServerSource
from dpsql.schema.verify import duplicate_free, enforced_keys, record_path, verified
from dpsql.session.compile.proofs.release_proofs import ReleaseProofs
from dpsql.session.ladders.stored_ladders import StoredLadders
from dpsql.session.run.public_table_copies import Copies
from dpsql.structs import replace

MAX_ROWS: Final = ReadLimit(1_000_000, 256 * 2**20)
"""What is read of public rows at once: more is refused."""

MAX_VALUES: Final = 2_000_000
"""Values of public rows that are remembered, beyond those that were read last."""


class DataEdition(Struct, frozen=True):
    """What a statement is compiled for: a `version` of the data, and the `ladders` that are kept.

    The version is part of what answers are stored by. `files` are those that keys were verified in,
    None where the engine itself refuses others. `proofs` rest on the facts of that version; None:
    nothing was proved before.
    """

    version: str
    ladders: tuple[StoredLadders, ...] = ()
    files: Identity | None = None
    proofs: ReleaseProofs | None = None


class SourceFacts:
    """Facts of one version of the data.

    The source is opened when a public table has to be read, or the owner has verified keys: a
    statement that needs neither is explained without it. `values` of public rows are remembered.
    `copies` are those of its public tables. `edition` is the same object for as long as the facts
    are, and for no others. `files` are what they are of, None where the engine refuses others.
    `proofs` are those that rest on them.
    """

    def __init__(
        self,
        schema: Schema,
        engine: Callable[[], Engine],
        prepared: Callable[[], frozenset[str]] = frozenset,
        files: Identity | None = None,
    ) -> None:
        self.edition = object()
        self.proofs = ReleaseProofs()
        self.files = files
        self._schema = schema
        self._engine = engine
        self.copies = Copies(schema, engine)
        self._sidecar_tables = prepared
        self._owner_verified: frozenset[str] | None = None
        self._public_keys: dict[str, bool] = {}
        self._rows: OrderedDict[str, tuple[Cell, ...]] = OrderedDict()
        self.values = 0
        # Of a server, all sessions share them.
        self._lock = threading.Lock()
        self._on_server: ServerSidecar | None = None
        if self._is_server:
            from dpsql.session.preparing.server_sidecar import noted_sidecar  # noqa: PLC0415

            self._on_server = noted_sidecar(schema)
        self._referenced: dict[Reference, tuple[Cell, ...]] = {}

    def verified(self, table: Table | Hop) -> bool:
        """A private table's key as its owner checked it; a public one's is looked up here.

        On a server rows may change under a version that is stated: no key is believed there that
        no constraint keeps, and limits that it would save are enforced.
        """
        if isinstance(table, Hop):
            return table.table in self._of_private_tables()
        if table.key is None:
            return False
        if not isinstance(table.ownership, Public) or self._is_server:
            return table.name in self._of_private_tables()
        if table.name not in self._public_keys:
            self._public_keys[table.name] = duplicate_free(self._engine(), table.name, table.key)
        return self._public_keys[table.name]

    @property
    def _is_server(self) -> bool:
        return isinstance(self._schema.source, ServerSource)

    def _of_private_tables(self) -> frozenset[str]:
        """The tables whose key holds: of a server, what its constraints keep, and no other's."""
        if self._is_server:
            return enforced_keys(self._schema)
        if self._owner_verified is None:
            recorded = record_path(self._schema).exists()
            self._owner_verified = (
                verified(self._schema, self._engine().fingerprint()) if recorded else frozenset()
            )
        return self._owner_verified

    def in_sidecar(self, table: Table) -> bool:
        """`table`'s rows stand ready with their unit; a sidecar is only opened with the source."""
        return not self._is_server and table.name in self._sidecar_tables()

    def server_sidecar(self) -> ServerSidecar | None:
        """As the note beside the ledger says; the server isn't asked."""
        return self._on_server

    def holds_sidecar(self) -> bool:
        """An engine of this process has; of workers each opens it when a job comes."""
        return self._engine().holds_sidecar

    def rows(self, plan: Plan, limit: int) -> tuple[Cell, ...] | None:
        """The rows of a public plan in order, None if there are more than `limit`."""
        by = tuple(SortKey(c, descending=False, nulls_first=False) for c in output_columns(plan))
        ordered = Limit(Sort(plan, by) if by else plan, limit + 1, 0)
        sql = rendered(emit_plan(ordered, {}))
        with self._lock:
            known = self._rows.get(sql)
            if known is not None:
                self._rows.move_to_end(sql)
        if known is None:
            max_read = replace(MAX_ROWS, rows=limit + 1)
            known = rows(open_rows(plan, self._engine().execute(sql, limit=max_read)))
            self._remember(sql, known)
        return known if len(known) <= limit else None

    def _remember(self, sql: str, value: tuple[Cell, ...]) -> None:
        """`value` is known from now on; of too many, what was asked for longest ago isn't."""
        with self._lock:
            self.values += _values(value) - _values(self._rows.get(sql, ()))
            self._rows[sql] = value
            while self.values > MAX_VALUES and len(self._rows) > 1:
                self.values -= _values(self._rows.popitem(last=False)[1])

    def referenced(self, reference: Reference, limit: int) -> tuple[Cell, ...] | None:
        """The distinct values of a public table's column: one object for as long as it is known.

        So what is computed of a long list, such as its digest, is looked up for all statements.
        """
        plan = distinct_values(self._schema, reference)
        values = None if plan is None else self.rows(plan, limit)
        if values is None:
            return None
        # Days beyond all years are NULL here, however many there are.
        distinct = dict.fromkeys(values)
        return values if len(distinct) == len(values) else tuple(distinct)


def _values(rows: tuple[Cell, ...]) -> int:
    return sum(map(len, rows[:1])) * len(rows)
