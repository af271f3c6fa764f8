"""SHOW dpsql.releases: the kept tables that the analyst may read."""

from __future__ import annotations

import pyarrow as pa

from dpsql.report.result.result import Result
from dpsql.schema.sql_type import BIGINT, Double, Timestamp, Varchar
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.session import Session


def saved_releases(session: Session) -> Result:
    """A row for each kept table: its own maker's first, then the oldest.

    `rows` is NULL until it was opened, where a cap has to pay for that. `version` is that of the
    data it was made of, if the schema states one, and `data` tells if they are those of now.
    `epsilon` is what the releases in it cost, and what a reader's own cap pays at first.
    """
    rows = [
        (
            saved.table.name,
            saved.metadata.kind,
            saved.info.analyst,
            len(saved.metadata.columns),
            saved.metadata.rows if session.saved.is_paid(saved) else None,
            saved.info.at.replace(tzinfo=None),
            saved.metadata.version if saved.metadata.states_version else None,
            "current" if saved.metadata.version == session.version else "earlier",
            float(epsilon_of(session.schema, session.saved.cost(saved))),
            saved.metadata.statement,
        )
        for saved in session.saved.visible()
    ]
    names = (
        *("name", "kind", "owner", "columns", "rows"),
        *("made", "version", "data", "epsilon", "statement"),
    )
    text, number = (Varchar(), pa.string()), (BIGINT, pa.int64())
    moment, real = (Timestamp(), pa.timestamp("us")), (Double(), pa.float64())
    kinds = (text, text, text, number, number, moment, text, text, real, text)
    columns = [pa.array([row[n] for row in rows], kind) for n, (_, kind) in enumerate(kinds)]
    return Result(names, tuple(kind for kind, _ in kinds), pa.table(columns, names=list(names)))
