"""Reads `budget.sample`: the part of the units that answers are of, and what that makes of ε."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.subsampling import PoissonSampling
from dpsql.schema.budget import Budget, Sample
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.model import RowUnit, Table
from dpsql.schema.source_location import ServerSource, Source
from dpsql.structs import replace

_PATH: Final = ("budget", "sample")
_SMALLEST: Final = Fraction(1, 1_000_000)
_LARGEST: Final = 1 - _SMALLEST


def of_sample(document: Document, of_all: Budget, rate: Fraction) -> Budget:
    """What may be spent on a sample of `rate` of the units, if `of_all` is promised to all units.

    Raises SchemaFault for a rate that draws nobody or everybody, and for accountings in which a
    sample isn't known to lose less.
    """
    if not _SMALLEST <= rate <= _LARGEST:
        raise document.error(
            _PATH, "out of range", "write the part of the units to draw, from 1e-6 to 0.999999"
        )
    if of_all.accounting not in (Accounting.PURE, Accounting.APPROX):
        # The bound is of (ε, δ). Of ρ, which bounds Rényi divergences of all orders, there is none
        # like it: at high orders a sample loses nearly as much as all rows do.
        raise document.error(
            ("budget", "accounting"),
            f"no bound of {of_all.accounting.value} is known to shrink with a sample",
            "write accounting: approx, or pure without a delta",
        )
    law = PoissonSampling(rate)
    epsilon, delta = law.epsilon_of_sample(of_all.epsilon), law.delta_of_sample(of_all.delta)
    if delta >= 1:
        raise document.error(
            ("budget", "delta"), "of the sample it would be 1 or more", "lower it: delta < sample"
        )
    return replace(
        of_all, epsilon=epsilon, delta=delta, sample=Sample(law, of_all.epsilon, of_all.delta)
    )


def check_sample(
    document: Document,
    source: Source | ServerSource,
    tables: Mapping[str, Table],
    distance: NeighborDistance,
) -> None:
    """Refuse a sample where its bound isn't proved, or its units couldn't be told."""
    if distance.is_replacement:
        raise document.error(
            _PATH,
            "the bound is of a unit that is there or isn't: one that is replaced has another",
            "write neighbors: add_remove, or remove sample",
        )
    if distance.units > 1:
        raise document.error(
            _PATH,
            f"one of {distance.units} units is drawn more often than one unit is",
            "write group_size: 1, or remove sample",
        )
    if isinstance(source, ServerSource):
        raise document.error(
            _PATH,
            f"of {source} no sample is drawn",
            "name a DuckDB file or a folder of files as source, or remove sample",
        )
    for name, table in tables.items():
        if isinstance(table.ownership, RowUnit) and table.key is None:
            raise document.error(
                ("tables", name),
                "nothing says which row is which once they change: each version would draw anew",
                "declare its key: the sample goes by it",
            )
        if table.min_rows is not None or table.resized is not None:
            size = "at_least" if table.resized is None else "resize"
            raise document.error(
                ("tables", name, size),
                "of a sample's rows there are fewer, and nobody knows how many",
                f"remove {size}, or budget.sample",
            )
        for column in table.columns.values():
            if column.local_epsilon is not None:
                raise document.error(
                    ("tables", name, "columns", column.name),
                    "of a sample no estimate from hidden values is known",
                    "remove budget.sample, or the column",
                )
