"""Limits that nobody chose and that may leave rows out of an answer, which no ± tells.

    SELECT origin, count(*) FROM flights GROUP BY origin

With 100 flights of each aircraft and the default limits, each counts for 8 of them in a group: the
count is a sixth of the true one, while noise moves it by 1 % alone. Whether a limit cuts depends on
the rows, so that an answer names every default that may; `dpsql check` tells the owner which do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    LimitGroups,
)
from dpsql.session.compile.compiled_release import CompiledRelease


def default_limits(bounded: BoundedRelease) -> Mapping[str, int]:
    """The limits, by name, that are defaults of the schema and may leave rows out of a release."""
    limited, table = bounded.limited, highest_fanout_table(bounded.contributions)
    if not isinstance(limited, LimitGroups) or one_row_per_unit(
        bounded.contributions.source, declared
    ):
        return {}
    limits, limit, rows = table.limits, limited.limit, limited.source.rows_per_group
    unchosen: dict[str, int] = {}
    is_cut = (
        isinstance(limit, ByHash | ByRank | ByStoredRank | ByNorm)
        and limit.groups == limits.groups > 1
    )
    if is_cut and "groups" not in limits.declared:
        unchosen["groups"] = limits.groups
    for name in ("rows_per_group", "rows"):
        if rows > 1 and rows == getattr(limits, name) and name not in limits.declared:
            unchosen[name] = rows
            break
    return unchosen


def default_limit_notes(releases: Iterable[CompiledRelease]) -> tuple[str, ...]:
    """A line for each table whose default limits may bind in `releases`."""
    return tuple(dict.fromkeys(line for release in releases for line in _notes(release)))


def _notes(release: CompiledRelease) -> Iterator[str]:
    bounded = release.step.bounded
    unchosen = default_limits(bounded)
    if not _counts_rows(bounded):
        unchosen = {name: value for name, value in unchosen.items() if name == "groups"}
    if not unchosen:
        return
    if release.opaque is not None:
        # Which limits these are is the view's text, which is its owner's.
        yield f"view {release.opaque.view}: default limits may leave rows out, which no ± tells"
        return
    table = highest_fanout_table(bounded.contributions)
    names = ", ".join(f"{name}: …" for name in unchosen)
    whose, counted = table.limits.view or table.display_name, _counted(unchosen)
    yield (
        f"{whose}: by default at most {counted}; what that leaves out is in no ±"
        f" (limits: {{{names}}} in the schema)"
    )


def _counted(limits: Mapping[str, int]) -> str:
    match limits:
        case {"groups": groups, "rows_per_group": rows}:
            return f"{groups} groups of a unit count, and {rows} of its rows in each"
        case {"groups": groups}:
            return f"{groups} groups of a unit count"
        case {"rows_per_group": rows}:
            return f"{rows} rows of a unit count in each group"
        case _:
            return f"{limits['rows']} rows of a unit count"


def _counts_rows(bounded: BoundedRelease) -> bool:
    terms = bounded.contributions
    return bool(terms.cell_choices) or any(s.is_row_sum for s in terms.statistics)
