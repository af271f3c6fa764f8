"""Arrays: their items from the text format, and their dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dpsql.errors import DataError

_ITEM: Final = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s{}",\\](?:[^{}",\\]*[^\s{}",\\])?))\s*')


class Ragged(DataError):
    """Inner lists differ in length, so that PostgreSQL has no array of them."""

    sqlstate = "2202E"


def dimensions(value: Sequence[object]) -> tuple[int, ...]:
    """How many items an array has in each dimension, () if it is empty.

    Raises `Ragged` if inner lists differ in length or in depth.
    """
    if not value:
        return ()
    inner = [item for item in value if isinstance(item, list)]
    if not inner:
        return (len(value),)
    shapes = set(map(dimensions, inner))
    if len(inner) < len(value) or len(shapes) > 1:
        raise Ragged("lists of different lengths are no array", hint="write len(…), or unnest them")
    (shape,) = shapes
    return (len(value), *shape) if shape else ()


def leaves(value: Sequence[object]) -> Iterator[object]:
    """The items of all dimensions, in order."""
    for item in value:
        if isinstance(item, list):
            yield from leaves(item)
        else:
            yield item


def items(text: str) -> list[str | None] | None:
    """The items of `text`, an array of one dimension as PostgreSQL writes it.

    None if `text` is no such array; an item that is None stands for NULL.
    """
    inside = text.strip()
    if not (inside.startswith("{") and inside.endswith("}")):
        return None
    inside = inside[1:-1]
    if not inside.strip():
        return []
    values: list[str | None] = []
    at = 0
    while True:
        item = _ITEM.match(inside, at)
        if item is None:
            return None
        if item[1] is not None:
            values.append(re.sub(r"\\(.)", r"\1", item[1], flags=re.DOTALL))
        else:
            values.append(None if item[2].upper() == "NULL" else item[2])
        at = item.end()
        if at == len(inside):
            return values
        if inside[at] != ",":
            return None
        at += 1
