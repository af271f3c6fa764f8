"""Why a table of groups whose keys aren't listed is empty: no group has enough units.

    SELECT dest, count(*) FROM flights GROUP BY dest

A key that nothing lists appears where a noisy number of units reaches a threshold. An answer
without rows would look as if there were no flights; that it has none follows from noisy groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from dpsql.session.compile.compiled_release import CompiledRelease


def unlisted_key_notes(
    releases: Sequence[CompiledRelease], tables: Mapping[str, pa.Table]
) -> Iterator[str]:
    """A line for each of `releases` that has no group in `tables`, with what would show some."""
    for release in releases:
        table, threshold = tables.get(release.name), release.threshold_in_units
        if table is None or table.num_rows or threshold is None:
            continue
        unlisted = release.step.bounded.contributions.unlisted_keys
        names = ", ".join(release.display_name(key.column) for key in unlisted)
        number = f"{threshold} {release.threshold_of}"
        yield (
            f"no {names} is shown: each appears from a noisy number of {number} on"
            " (values: […] in the schema, fewer groups, or a higher epsilon)"
        )
