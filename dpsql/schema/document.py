"""A schema file as plain data that still knows its lines.

YAML is read down to mappings, lists and scalars, and no further: aliases, tags and merge keys are
refused (they can make a small file huge, or name Python objects), a key stands once, and scalars
are those of YAML 1.2, so that NO is a text and not false. Numbers keep their digits as Decimal.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

import yaml

from dpsql.errors import SchemaFault

Place = tuple[str | int, ...]
"""Where something stands in the document: keys and indexes from the top."""

Scalar = str | int | Decimal | bool | dt.date | dt.datetime | None

_MOST_BYTES: Final = 1024 * 1024
_MOST_DEPTH: Final = 32  # a schema needs 7
_MOST_DIGITS: Final = 400  # a double has no more before or after its point
_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
_WORDS: Final[Mapping[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


@dataclass(frozen=True, slots=True)
class Document:
    """`data` is made of dict, list and scalars; `lines` has the line of each place."""

    path: Path
    data: object
    lines: Mapping[Place, int]

    def fault(self, place: Place, what: str, fix: str) -> SchemaFault:
        """Say what is wrong at `place`, naming file, line, path and fix."""
        known = place
        while known and known not in self.lines:
            known = known[:-1]
        return _fault(self.path, self.lines.get(known, 1), place, what, fix)

    def unknown(self, place: Place, what: str, known: Iterable[str], fix: str) -> SchemaFault:
        """Say that the last step of `place` is no known name, and which one may be meant."""
        names = tuple(known)
        folded = {name.casefold(): name for name in names}
        close = difflib.get_close_matches(str(place[-1]).casefold(), folded, n=1)
        return self.fault(place, what, f"did you mean {folded[close[0]]}?" if close else fix)


def spell(place: Place) -> str:
    """Write a place as people do: tables.orders.columns.o_orderdate.bounds[0]."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


def read_document(path: Path) -> Document:
    """Read the YAML of a schema file."""
    text = _text(path)
    try:
        node = yaml.compose(text, Loader=_Loader)
    except _Alias as alias:
        raise _fault(
            path, alias.line, (), "an alias (*name) is not read", "write the value out"
        ) from None
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        fix = "indent with spaces" if "\\t" in str(error.problem) else "correct the YAML"
        raise _fault(path, line, (), f"not YAML: {error.problem}", fix) from None
    except _TooDeep as deep:
        raise _fault(
            path, deep.line, (), f"nested more than {_MOST_DEPTH} deep", "see `dpsql init`"
        ) from None
    except yaml.YAMLError:
        raise _fault(
            path, 1, (), "not YAML that can be read", "remove control characters"
        ) from None
    if node is None:
        raise _fault(path, 1, (), "the file is empty", "see `dpsql init`")
    lines: dict[Place, int] = {}
    return Document(path, _plain(path, node, (), lines), lines)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SchemaFault(
            f"{path}: can't be read: {error.strerror}", hint="name a schema file"
        ) from None
    if len(content) > _MOST_BYTES:
        raise _fault(path, 1, (), "longer than 1 MiB", "name a schema file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _fault(path, line, (), "not UTF-8", "save the file as UTF-8") from None


class _Alias(Exception):
    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


class _TooDeep(Exception):
    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


class _Loader(yaml.BaseLoader):
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise _Alias(line)
        if self.depth == _MOST_DEPTH:
            raise _TooDeep(line)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _plain(path: Path, node: yaml.Node, place: Place, lines: dict[Place, int]) -> object:
    line = node.start_mark.line + 1
    lines.setdefault(place, line)
    if node.tag not in _DEFAULT_TAGS:
        raise _fault(path, line, place, f"the tag {node.tag} is not read", "write the value alone")
    if isinstance(node, yaml.SequenceNode):
        return [_plain(path, item, (*place, index), lines) for index, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _mapping(path, node, place, lines)
    if isinstance(node, yaml.ScalarNode) and node.style is None:
        return _scalar(path, line, place, str(node.value))
    return str(node.value)


def _mapping(
    path: Path, node: yaml.MappingNode, place: Place, lines: dict[Place, int]
) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise _fault(path, line, place, "a key is not a name", "write name: value")
        at = (*place, key.value)
        if key.value in found:
            raise _fault(path, line, at, "stands twice", "remove one of them")
        lines[at] = line
        found[key.value] = _plain(path, value, at, lines)
    return found


def _scalar(path: Path, line: int, place: Place, text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        return Decimal(text.replace(".", ""))
    if _NUMBER.fullmatch(text):
        number = Decimal(text)
        # 1e999999999 would be written out as a Fraction of a billion digits.
        if len(text) > _MOST_DIGITS or abs(number.adjusted()) > _MOST_DIGITS:
            raise _fault(path, line, place, "no column holds such a number", "write fewer digits")
        return int(text) if _INTEGER.fullmatch(text) else number
    if _MOMENT.fullmatch(text):
        kind = dt.date if len(text) == len("2024-01-31") else dt.datetime
        try:
            return kind.fromisoformat(text)
        except ValueError:
            return text  # not a day of the calendar; whoever wants a date says so
    return text


_DEFAULT_TAGS: Final = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))


def _fault(path: Path, line: int, place: Place, what: str, fix: str) -> SchemaFault:
    where = f"{path}, line {line}" + (f", {spell(place)}" if place else "")
    return SchemaFault(f"{where}: {what}; {fix}", hint=fix)
