"""SQL types, as DuckDB names them."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from dpsql.near_name import near_name


class Boolean(Struct, frozen=True):
    """TRUE, FALSE or NULL."""

    def __str__(self) -> str:
        return "BOOLEAN"


class Integer(Struct, frozen=True):
    """A signed or unsigned integer of 8, 16, 32, 64 or 128 bits."""

    bits: int
    signed: bool = True

    def __post_init__(self) -> None:
        if self.bits not in _INTEGER_NAMES:
            raise ValueError(f"no integer type has {self.bits} bits")

    def __str__(self) -> str:
        return ("" if self.signed else "U") + _INTEGER_NAMES[self.bits]

    def mixes(self, other: Integer) -> bool:
        """Whether some integer type holds the values of both types."""
        unsigned = self.signed != other.signed and (other if self.signed else self)
        return not unsigned or unsigned.bits < 128

    def holds(self, other: Integer) -> bool:
        """Whether each value of `other` is a value of this type."""
        if self.signed == other.signed:
            return other.bits <= self.bits
        return self.signed and other.bits < self.bits


class Decimal(Struct, frozen=True):
    """An exact number of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= 38 and 0 <= self.scale <= self.precision):
            raise ValueError(f"decimal({self.precision},{self.scale}) is not a type")

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"


class Double(Struct, frozen=True):
    """A float: `bits` is 32 or 64."""

    bits: int = 64

    def __str__(self) -> str:
        return "DOUBLE" if self.bits == 64 else "FLOAT"


class Varchar(Struct, frozen=True):
    """Text."""

    def __str__(self) -> str:
        return "VARCHAR"


class Date(Struct, frozen=True):
    """A day."""

    def __str__(self) -> str:
        return "DATE"


class Timestamp(Struct, frozen=True):
    """A moment without time zone, in microseconds."""

    def __str__(self) -> str:
        return "TIMESTAMP"


class Interval(Struct, frozen=True):
    """A span of time; only of constants, and in statements over public tables alone."""

    def __str__(self) -> str:
        return "INTERVAL"


class Uuid(Struct, frozen=True):
    """A UUID; only compared and counted."""

    def __str__(self) -> str:
        return "UUID"


class Array(Struct, frozen=True):
    """A list of values of type `of`; only in answers of statements over public tables alone."""

    of: SqlType

    def __str__(self) -> str:
        return f"{self.of}[]"


class Null(Struct, frozen=True):
    """The type of a bare NULL."""

    def __str__(self) -> str:
        return '"NULL"'


SqlType = (
    Boolean
    | Integer
    | Decimal
    | Double
    | Varchar
    | Date
    | Timestamp
    | Interval
    | Uuid
    | Array
    | Null
)

_INTEGER_NAMES = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT", 128: "HUGEINT"}

BIGINT = Integer(64)
HUGEINT = Integer(128)
UHUGEINT = Integer(128, signed=False)
"""Arrow has no such type, and a decimal of as many bits is another number."""

_INTEGERS: dict[str, SqlType] = {
    prefix + name: Integer(bits, signed=not prefix)
    for bits, name in _INTEGER_NAMES.items()
    for prefix in ("", "U")
}

_BY_NAME: dict[str, SqlType] = {
    **_INTEGERS,
    "BOOLEAN": Boolean(),
    "BOOL": Boolean(),
    "INT": Integer(32),
    "INT1": Integer(8),
    "INT2": Integer(16),
    "INT4": Integer(32),
    "INT8": Integer(64),
    "INT128": Integer(128),
    "UINT128": Integer(128, signed=False),
    "LONG": Integer(64),
    "SHORT": Integer(16),
    "DOUBLE": Double(),
    "DOUBLE PRECISION": Double(),
    "FLOAT8": Double(),
    "FLOAT": Double(32),
    "FLOAT4": Double(32),
    "REAL": Double(32),
    "VARCHAR": Varchar(),
    "TEXT": Varchar(),
    "STRING": Varchar(),
    "CHAR": Varchar(),
    "DATE": Date(),
    "TIMESTAMP": Timestamp(),
    "DATETIME": Timestamp(),
    "UUID": Uuid(),
    "DECIMAL": Decimal(18, 3),
    "NUMERIC": Decimal(18, 3),
}

_DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\s*\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)")


@lru_cache(maxsize=1024)
def parse_type(name: str) -> SqlType | None:
    """The type that DuckDB or a schema file calls `name`; None if dpsql has no such type."""
    folded = " ".join(name.upper().split())
    match = _DECIMAL.fullmatch(folded)
    if match:
        precision, scale = int(match[1]), int(match[2] or 0)
        return Decimal(precision, scale) if 1 <= precision <= 38 and scale <= precision else None
    if re.fullmatch(r"(VARCHAR|CHAR)\s*\(\s*\d+\s*\)", folded):
        return Varchar()
    return _BY_NAME.get(folded)


def type_instead(name: str) -> str:
    """What to write instead of `name`, which is no type; empty where nothing is near to it."""
    if name.count("(") > name.count(")"):
        return 'quote it, as in "decimal(10,2)"'  # YAML ends a value of a mapping at a comma
    near = near_name(name, _BY_NAME, 0.8)
    return f"did you mean {near.lower()}?" if near else ""
