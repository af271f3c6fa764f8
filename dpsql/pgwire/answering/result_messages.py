"""Answers → messages: RowDescription, DataRow in the portal's formats, ParameterStatus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpsql.pgwire.codec import binary, text
from dpsql.pgwire.codec.oid import Column
from dpsql.pgwire.portal import Portal, Rows
from dpsql.pgwire.protocol import backend_messages as b

CHUNK: Final = 64 * 1024
"""Bytes."""


def described(columns: tuple[Column, ...] | None, portal: Portal | None) -> bytes:
    """A RowDescription, or that there are no rows; without a portal, all formats are text."""
    if columns is None:
        return b.NO_DATA
    return b.rows(
        [
            b.Field(c.name, c.oid, c.size, c.modifier, portal.format(n) if portal else 0)
            for n, c in enumerate(columns)
        ]
    )


def encoded(columns: tuple[Column, ...], portal: Portal, rows: Rows) -> Iterator[bytes]:
    """DataRow messages in chunks of about `CHUNK` bytes, many rows in each."""
    encoders = [
        (binary if portal.format(n) else text).encoder(c.oid) for n, c in enumerate(columns)
    ]
    held = bytearray()
    for row in rows:
        held += b.row(
            [
                None if value is None else encode(value)
                for encode, value in zip(encoders, row, strict=True)
            ]
        )
        if len(held) >= CHUNK:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


def reported(settings: Mapping[str, str]) -> Iterator[bytes]:
    """A ParameterStatus for each of `settings`, which have changed."""
    for name, value in settings.items():
        yield b.parameter(name, value)
