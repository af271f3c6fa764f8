"""The fields of immutable values, and copies of these with other fields.

Values are frozen `msgspec.Struct`s: they are like frozen dataclasses, but defined, made, copied and
compared several times as fast, which counts at every start and in every compilation. Those that
are in keys, and have plans or fractions, know their hash (`cache_hash`): a key is hashed whenever
it is looked up. Which fields aren't shown, compared or hashed is said above the class:

    @not_shown("url")
    class Server(Struct, frozen=True): ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, structs

__all__ = ["field_names", "has_fields", "not_compared", "not_hashed", "not_shown", "replace"]

Value = TypeVar("Value")
Kind = TypeVar("Kind", bound=type[Struct])

if TYPE_CHECKING:
    from dataclasses import replace  # mypy checks the fields that it takes, of structs too
else:

    def replace(value: Value, /, **changes: Any) -> Value:
        """A copy of `value`, whose fields in `changes` have these values.

        Raises TypeError where it has no such field.
        """
        if isinstance(value, Struct):
            return structs.replace(value, **changes)
        kind = type(value)
        return kind(**{name: getattr(value, name) for name in _arguments(kind)} | changes)


@cache
def _arguments(kind: type) -> tuple[str, ...]:
    """The fields that a dataclass takes: to find them takes longer than to make a copy.

    Raises TypeError of any other class.
    """
    return tuple(field.name for field in dataclasses.fields(kind) if field.init)


def has_fields(kind: type) -> bool:
    """Whether instances of `kind` are structs or of a dataclass."""
    return issubclass(kind, Struct) or dataclasses.is_dataclass(kind)


def field_names(kind: Any) -> tuple[str, ...]:
    """The fields of a struct or dataclass in their order; raises TypeError of any other class."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind.__struct_fields__
    return tuple(field.name for field in dataclasses.fields(kind))


def not_shown(*names: str) -> Callable[[Kind], Kind]:
    """The fields `names` of a struct are in no representation of it: they are secret, or long."""

    def hide(kind: Kind) -> Kind:
        fields = _others(kind, names)

        def listed(value: Struct) -> Iterator[tuple[str, object]]:
            return ((name, getattr(value, name)) for name in fields)

        def text(value: Struct) -> str:
            return f"{kind.__name__}({', '.join(f'{name}={one!r}' for name, one in listed(value))})"

        _define(kind, __repr__=text, __rich_repr__=listed)
        return kind

    return hide


def not_compared(*names: str) -> Callable[[Kind], Kind]:
    """Structs that differ in the fields `names` alone are equal; these aren't hashed either."""

    def compare_others(kind: Kind) -> Kind:
        fields = _others(kind, names)
        compared = attrgetter(*fields)

        def equal(value: object, other: object) -> object:
            if type(value) is not type(other):
                return NotImplemented
            return compared(value) == compared(other)

        # A struct's own __ne__ needn't ask __eq__: that depends on the version of msgspec.
        _define(kind, __eq__=equal, __ne__=object.__ne__, __compared_fields__=fields)
        return not_hashed(*names)(kind)

    return compare_others


def not_hashed(*names: str) -> Callable[[Kind], Kind]:
    """The fields `names` of a struct, which can't be hashed or are large, aren't in its hash."""

    def hash_others(kind: Kind) -> Kind:
        hashed = attrgetter(*_others(kind, names))
        _define(kind, __hash__=lambda value: hash(hashed(value)))
        return kind

    return hash_others


def _others(kind: type[Struct], names: tuple[str, ...]) -> tuple[str, ...]:
    """The fields of `kind` but `names`; raises TypeError if it lacks one of these."""
    fields = field_names(kind)
    if not names or not set(names) <= {*fields}:
        raise TypeError(f"{kind.__name__} hasn't all of the fields {', '.join(names)}")
    return tuple(name for name in fields if name not in names)


def _define(kind: type[Struct], **methods: object) -> None:
    for name, method in methods.items():
        setattr(kind, name, method)
