"""The fields of immutable values, and copies of these with other fields.

Values are frozen `msgspec.Struct`s: they are like frozen dataclasses, but defined, made, copied and
compared several times as fast, which counts at every start and in every compilation. Those that
are in keys, and have plans or fractions, know their hash (`cache_hash`): a key is hashed whenever
it is looked up. A class some of whose fields aren't compared, hashed or shown is a dataclass, since
structs have no such fields.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, structs

__all__ = ["field_names", "has_fields", "replace"]

Value = TypeVar("Value")

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
