"""A schema file as plain data that still knows its lines.

YAML is read down to mappings, lists and scalars, and no further: aliases, tags and merge keys are
refused (they can make a small file huge, or name Python objects), a key stands once, and scalars
are those of YAML 1.2, so that NO is a text and not false. Numbers keep their digits as Decimal.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import yaml

from dpsql.errors import SchemaFault

Place = tuple[str | int, ...]
"""Where something stands in the document: keys and indexes from the top."""

Scalar = str | int | Decimal | bool | dt.date | dt.datetime | None

_MOST_BYTES: Final = 64 * 1024 * 1024
_MOST_EXPLAINED: Final = 1024 * 1024  # bytes that the slow reader reads
_MOST_LINES: Final = 10_000  # items of a list whose lines are known
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


_FAST: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The reader in C, where PyYAML was built with it: ten times as fast."""


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
        try:
            return _read(path, text, _FAST)
        except yaml.YAMLError:
            if len(text) > _MOST_EXPLAINED:
                raise
            # The slow reader says better what is wrong.
            return _read(path, text, yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        fix = "indent with spaces" if "\\t" in str(error.problem) else "correct the YAML"
        raise _fault(path, line, (), f"not YAML: {error.problem}", fix) from None
    except yaml.YAMLError:
        raise _fault(
            path, 1, (), "not YAML that can be read", "remove control characters"
        ) from None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SchemaFault(
            f"{path}: can't be read: {error.strerror}", hint="name a schema file"
        ) from None
    if len(content) > _MOST_BYTES:
        raise _fault(path, 1, (), "longer than 64 MiB", "name a schema file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _fault(path, line, (), "not UTF-8", "save the file as UTF-8") from None


def _read(path: Path, text: str, loader: Any) -> Document:
    lines: dict[Place, int] = {}
    events = yaml.parse(text, Loader=loader)
    nodes: list[object] = []
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            if nodes:
                line = _line(event)
                raise _fault(path, line, (), "not YAML: a second document", "correct the YAML")
            nodes.append(_plain(path, next(events), events, (), lines))
    if not nodes:
        raise _fault(path, 1, (), "the file is empty", "see `dpsql init`")
    return Document(path, nodes[0], lines)


def _plain(
    path: Path,
    event: yaml.Event,
    events: Iterator[yaml.Event],
    place: Place,
    lines: dict[Place, int],
) -> object:
    """What begins with `event`, down to mappings, lists and scalars."""
    line = _line(event)
    lines.setdefault(place, line)
    match event:
        case yaml.ScalarEvent(value=value, tag=tag, style=style):
            _check_tag(path, line, place, tag)
            return str(value) if style else _scalar(path, line, place, str(value))
        case yaml.AliasEvent():
            raise _fault(path, line, (), "an alias (*name) is not read", "write the value out")
        case yaml.SequenceStartEvent(tag=tag) | yaml.MappingStartEvent(tag=tag):
            if len(place) == _MOST_DEPTH:
                what = f"nested more than {_MOST_DEPTH} deep"
                raise _fault(path, line, (), what, "see `dpsql init`")
            _check_tag(path, line, place, tag)
            read = _list if isinstance(event, yaml.SequenceStartEvent) else _mapping
            return read(path, events, place, lines)
        case _:
            raise _fault(path, line, place, "not YAML that can be read", "correct the YAML")


def _list(
    path: Path, events: Iterator[yaml.Event], place: Place, lines: dict[Place, int]
) -> list[object]:
    found: list[object] = []
    begins = lines[place]
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        number = len(found)
        if isinstance(event, yaml.ScalarEvent) and event.tag is None:
            # A list of a million values has no place in `lines` for each of them.
            line = _line(event)
            if line != begins and number < _MOST_LINES:
                lines[*place, number] = line
            text = str(event.value)
            is_text = event.style or (text[:1].isalpha() and text not in _WORDS)
            found.append(text if is_text else _scalar(path, line, (*place, number), text))
        else:
            found.append(_plain(path, event, events, (*place, number), lines))
    return found


def _mapping(
    path: Path, events: Iterator[yaml.Event], place: Place, lines: dict[Place, int]
) -> dict[str, object]:
    found: dict[str, object] = {}
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            break
        line = _line(key)
        if isinstance(key, yaml.AliasEvent):
            raise _fault(path, line, (), "an alias (*name) is not read", "write the value out")
        if not isinstance(key, yaml.ScalarEvent):
            raise _fault(path, line, place, "a key is not a name", "write name: value")
        name = str(key.value)
        at = (*place, name)
        if name in found:
            raise _fault(path, line, at, "stands twice", "remove one of them")
        lines[at] = line
        found[name] = _plain(path, next(events), events, at, lines)
    return found


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


def _check_tag(path: Path, line: int, place: Place, tag: str | None) -> None:
    if tag not in _DEFAULT_TAGS:
        raise _fault(path, line, place, f"the tag {tag} is not read", "write the value alone")


def _scalar(path: Path, line: int, place: Place, text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if text[0].isalpha():
        return text
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


_DEFAULT_TAGS: Final = frozenset(
    {None, "!", *(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))}
)


def _fault(path: Path, line: int, place: Place, what: str, fix: str) -> SchemaFault:
    where = f"{path}, line {line}" + (f", {spell(place)}" if place else "")
    return SchemaFault(f"{where}: {what}; {fix}", hint=fix)
