"""Plans, formulas and mechanisms as digests, by the table of what they are made of.

A value of a listed class is its tag and its fields in the table's order: neither the name of a
class nor that of a field is in a digest, so that renaming one charges nobody again. What isn't
listed has none: a class whose fields nobody chose could give one answer to two questions.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import Any, Final

from dpsql.engine.digest import ATOMS, Digest, digest_of
from dpsql.plan.expression import Call
from dpsql.plan.time_zone.conversion import CONVERSION, shift_of
from dpsql.session.digest.tag import Tagged
from dpsql.session.digest.tags import CLASSES, ENUMS

Layout = tuple[str, Callable[[Any], tuple[object, ...]]]
"""What a class is called in digests, and how its fields that count are read."""


def parted(value: Any, part: Callable[[Any], str]) -> str:
    """The digest of `value` by what `part` makes of its parts; an atom stands for itself."""
    kind = type(value)
    layout = LAYOUTS.get(kind)
    if layout is not None:
        tag, fields = layout
        parts = map(part, fields(value))
        if kind is Call and value.function == CONVERSION:
            # What it means follows from the machine's rules, which governments change.
            return digest_of(tag, *parts, digest_of("zone", repr(shift_of(value))))
        return digest_of(tag, *parts)
    if kind is tuple:
        return digest_of("tuple", *map(part, value))
    if kind is frozenset:
        # A set's own order differs from process to process.
        return digest_of("set", *sorted(map(part, value)))
    atom = ATOMS.get(kind)
    if atom is not None:
        return atom(value)
    if isinstance(value, Enum) and value in _MEMBERS:
        return _MEMBERS[value]
    raise TypeError(f"{kind.__qualname__} has no tag in dpsql/session/digest/tags.py")


def digested(value: object) -> Digest:
    """The digest of `value` by all its parts."""
    return parted(value, digested)


def layout(listed: Tagged) -> Layout:
    """How a class that is `listed` is read."""
    # What is written by hand has no such prefix.
    return f"class {listed.tag}", _fields(listed.fields)


def _fields(names: tuple[str, ...]) -> Callable[[Any], tuple[object, ...]]:
    match names:
        case ():
            return lambda _: ()
        case (name,):
            one = attrgetter(name)
            return lambda value: (one(value),)
        case _:
            return attrgetter(*names)


LAYOUTS: Final[dict[type, Layout]] = {kind: layout(listed) for kind, listed in CLASSES.items()}

_MEMBERS: Final[dict[Enum, str]] = {
    member: f"O{tag}:{name}" for tag, names in ENUMS.items() for member, name in names.items()
}
