"""Which functions and operators PostgreSQL has for arguments of some types.

What it has stands in its own rows of pg_proc, pg_operator and pg_cast. An argument of a type that
can't be derived fits everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from dpsql.pgwire.catalog.relations import types
from dpsql.pgwire.catalog.rows.system_rows import recorded_rows
from dpsql.pgwire.sql.types.pg_type import OIDS, Kind

_OPEN: Final = frozenset(
    {"any", "anyelement", "anynonarray", "anycompatible", "anycompatiblenonarray"}
)
"""Types of arguments that take values of any type that isn't an array."""


class _Form(NamedTuple):
    """The types of arguments, by their OIDs; `rest` is that of any further ones, 0 for none."""

    wanted: Sequence[int]
    rest: int = 0


def is_function(name: str) -> bool:
    """Whether PostgreSQL has a function of that name, or a type, whose name is a cast's."""
    return name in _functions() or name in types()


def has_function(name: str, kinds: Sequence[Kind | None]) -> bool:
    """Whether a function of that name takes arguments of these types."""
    if name in types() and len(kinds) == 1:
        return True
    return any(_takes(wanted, kinds) for wanted in _functions().get(name, ()))


def has_operator(name: str, kinds: Sequence[Kind | None]) -> bool:
    """Whether an operator of that name takes operands of these types."""
    return any(_takes(wanted, kinds) for wanted in _operators().get(name, ()))


def _takes(form: _Form, kinds: Sequence[Kind | None]) -> bool:
    further = len(kinds) - len(form.wanted)
    if further < 0 or (further and not form.rest):
        return False
    return all(map(_fits, kinds, [*form.wanted, *[form.rest] * further]))


def _fits(kind: Kind | None, wanted: int) -> bool:
    if kind is None or kind is Kind.UNKNOWN or wanted in _open_types():
        return True
    own = OIDS[kind]
    return own == wanted or (own, wanted) in _implicit_casts()


@cache
def _open_types() -> frozenset[int]:
    rows = recorded_rows("pg_type", "oid", "typname")
    return frozenset(row["oid"] for row in rows if row["typname"] in _OPEN)


@cache
def _implicit_casts() -> frozenset[tuple[int, int]]:
    rows = recorded_rows("pg_cast", "castsource", "casttarget", "castcontext")
    return frozenset((r["castsource"], r["casttarget"]) for r in rows if r["castcontext"] == "i")


@cache
def _functions() -> Mapping[str, Sequence[_Form]]:
    functions: dict[str, list[_Form]] = {}
    columns = ("proname", "proargtypes", "pronargdefaults", "provariadic")
    for row in recorded_rows("pg_proc", *columns):
        wanted, rest = row["proargtypes"], row["provariadic"]
        forms = functions.setdefault(row["proname"], [])
        # Arguments that have defaults may be left out, from the last one on.
        ends = range(len(wanted) - row["pronargdefaults"], len(wanted) + 1)
        forms += [_Form(wanted[:end]) for end in ends]
        if rest:
            forms.append(_Form(wanted[:-1], rest))
    return functions


@cache
def _operators() -> Mapping[str, Sequence[_Form]]:
    operators: dict[str, list[_Form]] = {}
    for row in recorded_rows("pg_operator", "oprname", "oprleft", "oprright"):
        sides = [side for side in (row["oprleft"], row["oprright"]) if side]
        operators.setdefault(row["oprname"], []).append(_Form(sides))
    return operators
