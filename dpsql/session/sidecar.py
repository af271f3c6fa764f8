"""The sidecar of a source: where it is, what it has to be made of, and how it is made.

Its stamp names the version of the data and all that decides which rows belong to whom, and what is
counted: of another version, other columns or other units it is not used. It holds no limit, so that
limits are the statement's own, however they are set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb
from sqlglot import exp

from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.release.contribution import clamp, discretize, to_steps
from dpsql.emit.release.contributions import select_from
from dpsql.emit.sql.identifier import column_ref, reference, schema_name, with_alias
from dpsql.engine.atomic_file import remove_left_behind
from dpsql.engine.digest import digest_of, encoded
from dpsql.engine.engine import Engine
from dpsql.engine.fingerprint import fingerprint, identity
from dpsql.engine.opening import SourceEngine, open_engine
from dpsql.engine.sidecar import unit_sums
from dpsql.engine.sidecar.file import Sidecar, write_sidecar
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, SidecarTable
from dpsql.engine.sidecar.update import Origin
from dpsql.engine.source import DuckDBSource
from dpsql.errors import SourceFault
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Column
from dpsql.plan.operator import Scan
from dpsql.privacy.mechanisms.randomness import Randomness, SystemRandomness
from dpsql.schema.load.paths import path_next_to_ledger
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Column as Declared
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.schema.sidecar_columns import (
    SummedColumn,
    group_count_columns,
    lent_unit_column,
    month_count_columns,
    month_of,
    range_checked_columns,
    unit_sum_columns,
)
from dpsql.schema.source_location import ServerSource, Source
from dpsql.schema.sql_type import BIGINT, Double
from dpsql.schema.verify import record_path, verify_keys
from dpsql.session.digest.codec import digested
from dpsql.session.unit_rows import rows_with_unit

_FORMAT = "16"
"""Of the file: what this package writes and reads. Who renames a column of it counts on."""

_SYSTEM = SystemRandomness()


def open_source(schema: Schema) -> SourceEngine:
    """The source, with its sidecar where there is one."""
    remove_left(schema)
    source = engine_source(schema)
    if not isinstance(source, DuckDBSource):
        return open_engine(source)
    before = identity(source)
    # Without a file, the data needn't be identified.
    engine = open_engine(source, sidecar=sidecar_of(schema, lambda: fingerprint(source)))
    if identity(source) != before:
        # The sidecar may be of the data before, and the engine's tables of those since.
        engine.close()
        raise SourceFault("the source has changed while it was opened", hint="open it again")
    return engine


def sidecar_of(schema: Schema, version: Callable[[], str]) -> Sidecar | None:
    """The file, if there is one, as it has to be for the data whose fingerprint is `version`.

    A server's data have none, but tables beside them (`session/preparing`). Of a sample there is
    none: what was prepared has all units.
    """
    if isinstance(schema.source, ServerSource) or schema.budget.sample is not None:
        return None
    path = sidecar_path(schema)
    return Sidecar(str(path), _stamp(schema, version())) if path.exists() else None


def sidecar_path(schema: Schema) -> Path:
    """Beside the ledger: it belongs to the dataset, not to a folder of files.

    Of a server's source it is the note that a sidecar is there.
    """
    name = "prepared.json" if isinstance(schema.source, ServerSource) else "prepared.duckdb"
    return path_next_to_ledger(schema.ledger, schema.anchor, name)


def remove_left(schema: Schema) -> tuple[Path, ...]:
    """Remove the copies of rows that killed commands left, and name them."""
    targets = [sidecar_path(schema), record_path(schema)]
    if isinstance(schema.source, Source) and schema.source.spill is not None:
        targets.append(Path(schema.source.spill.target))
    return tuple(left for target in targets for left in remove_left_behind(target))


def old_files(schema: Schema) -> tuple[Path, ...]:
    """What version 0.1 wrote beside the ledger, by names that two ledgers could share.

    The folders and files that end in eight letters are what killed commands left of them.
    """
    if not isinstance(schema.ledger, Path):
        return ()
    folder = schema.ledger.parent
    patterns = ("prepared.duckdb", "keys.json", "prepared.duckdb????????", "keys.json????????")
    paths = {path for pattern in patterns for path in folder.glob(pattern)}
    return tuple(sorted(paths - {schema.ledger}))


def sidecar_seen(path: Path) -> tuple[int, int] | None:
    """When the file at `path` was made, and which it is; None if there is none."""
    with suppress(OSError):
        status = path.stat()
        return status.st_mtime_ns, status.st_ino
    return None


def is_prepared(schema: Schema) -> bool:
    """Whether there is a sidecar that statements over the data as they are now can read."""
    if not sidecar_path(schema).exists():
        return False
    with open_source(schema) as engine:
        return bool(engine.sidecar_tables)


def prepare_source(
    schema: Schema,
    engine: Engine,
    step: Callable[[str], None] = lambda _: None,
    randomness: Randomness = _SYSTEM,
) -> tuple[str, ...]:
    """Verify the keys and make the sidecar; names the tables that are in it.

    `step` is told what is being done. A server's source is refused.
    """
    if schema.budget.sample is not None:
        raise SourceFault(
            "answers are of a sample, and a prepared file has all units",
            hint="queries are answered without it: they read the units that are drawn",
        )
    source = engine_source(schema)
    if not isinstance(source, DuckDBSource):
        raise SourceFault(
            f"{source} can't be prepared here: its rows change, and a prepared file wouldn't",
            hint="queries are answered without it",
        )
    before = identity(source)
    holds = verify_keys(schema, engine)
    chosen = sidecar_tables(schema, frozenset(name for name, held in holds.items() if held))
    # Of the version that the engine opened, whose keys were verified; of another it refuses.
    sidecar = Sidecar(str(sidecar_path(schema)), _stamp(schema, engine.fingerprint()))
    # Which groups of a unit are kept is decided once for as long as the file is used and updated.
    origin = Origin(_form(schema, chosen), randomness.bytes(16).hex())
    write_sidecar(source, sidecar, chosen, origin, before, step)
    return tuple(table.name for table in chosen)


def sidecar_tables(schema: Schema, verified: frozenset[str]) -> tuple[SidecarTable, ...]:
    """What a sidecar has of each table that can be prepared where the keys of `verified` hold."""
    tables = schema.tables.values()
    return tuple(
        _contents(table, table.ownership)
        for table in tables
        if isinstance(table.ownership, EntityUnit)
        and can_have_sidecar(table, table.ownership, schema, verified)
    )


def can_have_sidecar(
    table: Table, own: EntityUnit, schema: Schema, verified: frozenset[str]
) -> bool:
    """Whether each row has one unit at most: two orders of one key would make two of each line."""
    return has_free_names(table, own) and all(
        hop.table in verified and schema.tables[hop.table].key == hop.key for hop in own.hops
    )


def has_free_names(table: Table, own: EntityUnit) -> bool:
    """Whether no column of `table` has a name of those that a sidecar adds."""
    # To DuckDB, names that differ in case only are one.
    taken = {name.casefold() for name in table.columns}
    added = {name.casefold() for name in _contents(table, own).added}
    return not added & {*taken, own.column.casefold()}


def _contents(table: Table, own: EntityUnit) -> SidecarTable:
    """The rows of `table` and their unit, as a scan of it has them, and what is counted."""
    columns = tuple(
        Column(number, column.name, column.type)
        for number, column in enumerate(table.columns.values(), start=1)
    )
    unit = Column(0, UNIT_COLUMN, BIGINT)  # its type is that of the rows, whatever is said here
    shown = [with_alias(reference(c), c.name) for c in (*columns, unit)]
    for item in shown:
        item.args["alias"].set("quoted", True)
    rows = rendered(select_from(emit_plan(Scan(table, columns, unit), {}), shown))
    limits, range_checked = (
        table.limits,
        tuple((c.name, _bounds_of(c)) for c in range_checked_columns(table)),
    )
    summed = unit_sum_columns(table)
    sums = None if summed is None else tuple(map(_sum, summed))
    return SidecarTable(
        table.name,
        rows,
        rows_with_unit(table, own).sql(dialect="duckdb"),
        group_count_columns(table),
        tuple((month_of(name), _month(name)) for name in month_count_columns(table)),
        range_checked,
        sums,
        own.column,
        lent_unit_column(table),
        limits.rows,
        limits.rows_per_group,
        tuple(map(_compared, columns)),
    )


def _month(name: str) -> str:
    """The month of a day, by the name of a column of the file, as a key of a statement has it.

    One that is too far for a moment is NULL to the key: of sixty such days and sixty of no day a
    unit has a hundred and twenty rows of one group.
    """
    day = column_ref(schema_name(name))
    month = exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string("month"), day])
    return rendered(exp.Anonymous(this="TRY", expressions=[month]))


def _compared(column: Column) -> str:
    """What tells two values of a column of the file apart: 0 and -0 are equal, and texts aren't."""
    value: exp.Expr = column_ref(schema_name(column.name))
    if isinstance(column.type, Double):
        value = exp.Cast(this=value, to=exp.DataType.build("VARCHAR", dialect="duckdb"))
    return rendered(value)


def _sum(summed: SummedColumn) -> unit_sums.ColumnSum:
    """The sum of a column's values within its bounds, in steps, by names of the file."""
    column = Column(0, summed.column.name, summed.column.type)
    value = Discretized(column, summed.step, summed.low, summed.high, 0)
    amount = Statistic(Sum(value), None)
    terms = discretize(amount, (column_ref(schema_name(column.name)),))
    steps = to_steps(amount, column_ref(schema_name(unit_sums.sum_of(column.name))))
    term = clamp(amount, terms)
    return unit_sums.ColumnSum(column.name, rendered(term), rendered(steps))


def _bounds_of(column: Declared) -> str:
    """The condition that a value lies within its bounds, by the names of the file's columns."""
    assert column.bounds is not None
    low, high = (emit_literal(end, column.type) for end in column.bounds)
    value = column_ref(schema_name(column.name))
    return rendered(exp.Between(this=value, low=low, high=high))


def _form(schema: Schema, tables: Sequence[SidecarTable]) -> str:
    """All that the file's rows follow from but the rows of the source: by it files are updated.

    Hashes are DuckDB's own, which another release may have others of.
    """
    names = encoded(tuple(table.name for table in tables))
    return digest_of("form", duckdb.__version__, names, _stamp(schema, ""))


def _stamp(schema: Schema, version: str) -> str:
    """All that the file's rows follow from: of anything else it would be another file.

    Limits are none of it: they order rows, and are enforced in any order. Bounds are: sums of each
    unit's values are of what lies within them.
    """
    source = digested(engine_source(schema))
    return digest_of("stamp", _FORMAT, version, source, *map(_has_unit, schema.tables.values()))


def _has_unit(table: Table) -> str:
    range_checked = tuple((column.name, column.bounds) for column in range_checked_columns(table))
    counted = tuple(
        map(encoded, (group_count_columns(table), month_count_columns(table), range_checked))
    )
    return digest_of("table", table.name, digested(table.ownership), *counted)
