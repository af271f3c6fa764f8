"""What of a plan an analyst may read: decided here, and nowhere else.

A view that reads hidden tables stands in the place of all below it. Where the view is itself a
release, its keys, aggregates, filters, bounds and limits are the view's text, which is the owner's:
what is told of such a release is the view's name, the names that the view gives to its columns, and
how noisy these are. Whatever describes a release to analysts asks `opaque` first.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from dpsql.analysis.plan_text import hidden_in
from dpsql.errors import Error
from dpsql.plan.expression import Column
from dpsql.plan.operator import Plan, Project, Release
from dpsql.plan.traversal import operators
from dpsql.session.compile.column_provenance import origins


class Opaque(Struct, frozen=True):
    """The view that hides a release; `names` are those of its columns that the view shows."""

    view: str
    names: Mapping[int, str] = field(default_factory=dict)

    def name(self, column: Column) -> str:
        """What a column of the release is called: the view, where the view computes of it."""
        return self.names.get(column.id, self.view)

    def error(self, error: Error) -> Error:
        """`error`, which was made of the view's text, without what it says of it."""
        return type(error)(
            f"view {self.view} can't be answered with these settings",
            at=error.at,
            hint="ask for it as it is declared, or ask its owner: dpsql check says more",
        )


def opaque(release: Release, plan: Plan) -> Opaque | None:
    """The view that hides `release`, somewhere in `plan`; None where it may be read."""
    view = hidden_in(release.source)
    if not view:
        return None
    names: dict[int, str] = {}
    for part in operators(plan):
        if isinstance(part, Project) and part.view == view:
            for output in part.outputs:
                for origin, column in origins(part, output.column.id) or ():
                    if origin == release:
                        names.setdefault(column, output.column.name)
    return Opaque(view, names)


def hides(plan: Plan) -> bool:
    """Whether some of `plan` stands below a view that hides it, so that no text of it is shown."""
    return any(isinstance(part, Project) and bool(part.view) for part in operators(plan))
