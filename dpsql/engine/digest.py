"""Digests that stay equal in every later version, so that they can be keys of stored answers.

They depend on no name in the code and on no `repr`. A value is encoded as an atom: a letter for its
type, then the value; of several texts, each follows its length, so that none runs into the next:

| value                    | text                                   |
| ------------------------ | -------------------------------------- |
| None, True, False        | N, T, F                                |
| 255, '255', b'255'       | Iff, S255, B323535                     |
| Fraction(1, 2), 0.5      | Q1/2, R0x1.0000000000000p-1            |
| Decimal('-0.50')         | X1:50:-2                               |
| a day, a moment, a time  | Y2026-01-31, M2026-01-31T12:00:00, H12:00:00 |
| a length of time         | L1:0:0                                 |
| (1, 'a')                 | (2:I12:Sa                              |
| frozenset({1, 2})        | {2:I12:I2                              |

No atom begins with a small letter or a digit, and each digest does: in a sequence of both, neither
can be taken for the other.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

Digest = str


def digest_of(kind: str, *parts: str) -> Digest:
    """The sha256, in hexadecimal, of `kind` and `parts` in order; never equal for two kinds."""
    return hashlib.sha256(_joined_texts((kind, *parts)).encode(errors="surrogatepass")).hexdigest()


def encoded(value: object) -> str:
    """The text of the atom `value`, which no other value has; TypeError if its type has none."""
    atom = ATOMS.get(type(value))
    if atom is None:
        raise TypeError(f"{type(value).__qualname__} isn't an atom that digests are made of")
    return atom(value)


def _joined_texts(texts: Iterable[str]) -> str:
    return "".join([f"{len(text)}:{text}" for text in texts])


def _decimal(value: Decimal) -> str:
    sign, digits, exponent = value.as_tuple()
    return f"X{sign}:{''.join(map(str, digits))}:{exponent}"


def _local(letter: str, value: dt.datetime | dt.time) -> str:
    if value.tzinfo is not None:
        raise TypeError("moments in digests have no zone")
    return f"{letter}{value.isoformat()}{'' if value.fold == 0 else ' again'}"


ATOMS: Final[dict[type, Callable[[Any], str]]] = {
    type(None): lambda _: "N",
    bool: lambda value: "T" if value else "F",
    int: "I{:x}".format,
    str: "S".__add__,
    bytes: lambda value: f"B{value.hex()}",
    Fraction: lambda value: f"Q{value.numerator:x}/{value.denominator:x}",
    # The sign of a zero is encoded; the sign and payload of a NaN are not.
    float: lambda value: f"R{value.hex()}",
    Decimal: _decimal,
    dt.date: lambda value: f"Y{value.isoformat()}",
    dt.datetime: lambda value: _local("M", value),
    dt.time: lambda value: _local("H", value),
    dt.timedelta: lambda value: f"L{value.days:x}:{value.seconds:x}:{value.microseconds:x}",
    tuple: lambda value: f"({_joined_texts(map(encoded, value))}",
    frozenset: lambda value: f"{{{_joined_texts(sorted(map(encoded, value)))}",
}
"""How each type is encoded; its subclasses aren't encoded as it is."""
