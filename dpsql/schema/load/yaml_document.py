"""A schema file as plain data, with the line of each value.

YAML is read down to mappings, lists and scalars, and no further: aliases, tags and merge keys are
refused (they can make a small file huge, or name Python objects), a key stands once, and scalars
are those of YAML 1.2, so that NO is a text and not false. Numbers keep their digits as Decimal.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import yaml
from msgspec import Struct

from dpsql.errors import SchemaFault
from dpsql.near_name import near_name

DocumentPath = tuple[str | int, ...]
"""Where a value stands in the document: keys and indexes from the top."""

Scalar = str | int | Decimal | bool | dt.date | dt.datetime | None

_MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_QUOTED: Final = 1024 * 1024  # bytes that the slow reader reads
_MAX_LINES: Final = 10_000  # items of a list whose lines are known
_MAX_DEPTH: Final = 32  # a schema needs 7
_MAX_DIGITS: Final = 400  # a double has no more before or after its point
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


class Document(Struct, frozen=True):
    """A schema file: its `text`, and its `data`, made of dict, list and scalars.

    Lines are looked up in `text` only when a fault needs one: those of a hundred thousand columns
    take more memory than their data.
    """

    path: Path
    data: object
    text: str

    def error(self, path: DocumentPath, what: str, fix: str) -> SchemaFault:
        """The fault `what` at `path`, with `fix` and the line of `path` or of what holds it."""
        lines, known = _lines(self.path, self.text), path
        while known and known not in lines:
            known = known[:-1]
        return document_error(self.path, lines.get(known, 1), path, what, fix)

    def unknown_key_error(
        self, path: DocumentPath, what: str, known: Iterable[str], fix: str
    ) -> SchemaFault:
        """The fault that the last step of `path` isn't `known`; a similar name is the fix."""
        near = near_name(str(path[-1]), known)
        return self.error(path, what, f"did you mean {near}?" if near else fix)


def _lines(path: Path, text: str) -> Mapping[DocumentPath, int]:
    """The line of each path."""
    lines: dict[DocumentPath, int] = {}
    try:
        _Reader(path, text, _FAST, lines).document()
    except yaml.YAMLError:
        _Reader(path, text, yaml.BaseLoader, lines).document()
    return lines


def format_path(path: DocumentPath) -> str:
    """Write a path as text: tables.orders.columns.o_orderdate.bounds[0]."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def read_document(path: Path) -> Document:
    """Read the YAML of a schema file; SchemaFault if it can't be read."""
    text = _text(path)
    try:
        try:
            return _read(path, text, _FAST)
        except yaml.YAMLError:
            if len(text) > _MAX_QUOTED:
                raise
            # The slow reader says better what is wrong.
            return _read(path, text, yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        fix = "indent with spaces" if "\\t" in str(error.problem) else "correct the YAML"
        raise document_error(path, line, (), f"not YAML: {error.problem}", fix) from None
    except yaml.YAMLError:
        raise document_error(
            path, 1, (), "not YAML that can be read", "remove control characters"
        ) from None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise SchemaFault(
            f"{path}: can't be read: {error.strerror}", hint="name a schema file"
        ) from None
    if len(content) > _MAX_BYTES:
        raise document_error(path, 1, (), "longer than 64 MiB", "name a schema file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise document_error(path, line, (), "not UTF-8", "save the file as UTF-8") from None


def _read(path: Path, text: str, loader: Any) -> Document:
    return Document(path, _Reader(path, text, loader).document(), text)


class _Reader:
    """Reads the events of a text, and records the lines of its paths in `lines`, if not None."""

    def __init__(
        self, path: Path, text: str, loader: Any, lines: dict[DocumentPath, int] | None = None
    ) -> None:
        self._path = path
        self._next: Callable[[], yaml.Event] = loader(text).get_event
        self._lines = lines
        self._document_path: list[str | int] = []
        self._names: dict[str, str] = {}

    def document(self) -> object:
        """The data of the text's one document."""
        nodes: list[object] = []
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                if nodes:
                    raise self._error(event, "not YAML: a second document", "correct the YAML")
                nodes.append(self._node(self._next()))
        if not nodes:
            raise document_error(self._path, 1, (), "the file is empty", "see `dpsql init`")
        return nodes[0]

    def _node(self, event: yaml.Event) -> object:
        """The value that begins with `event`."""
        self._note(event)
        match event:
            case yaml.ScalarEvent(value=value, tag=tag, style=style):
                self._check_tag(event, tag)
                return value if style else self._scalar(event, value)
            case yaml.AliasEvent():
                raise self._error(event, "an alias (*name) is not read", "write the value out")
            case yaml.SequenceStartEvent(tag=tag) | yaml.MappingStartEvent(tag=tag):
                if len(self._document_path) == _MAX_DEPTH:
                    what = f"nested more than {_MAX_DEPTH} deep"
                    raise self._error(event, what, "see `dpsql init`")
                self._check_tag(event, tag)
                is_list = isinstance(event, yaml.SequenceStartEvent)
                return self._list(event) if is_list else self._mapping()
            case _:
                what = "not YAML that can be read"
                raise self._error(event, what, "correct the YAML", tuple(self._document_path))

    def _list(self, begin: yaml.Event) -> list[object]:
        values: list[object] = []
        first, path = _line(begin), self._document_path
        path.append(0)
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            path[-1] = len(values)
            if isinstance(event, yaml.ScalarEvent) and event.tag is None:
                # A list of a million values has no line for each of them.
                if self._lines is not None and len(values) < _MAX_LINES and _line(event) != first:
                    self._note(event)
                text: str = event.value
                is_text = event.style or (text[:1].isalpha() and text not in _WORDS)
                values.append(text if is_text else self._scalar(event, text))
            else:
                values.append(self._node(event))
        path.pop()
        return values

    def _mapping(self) -> dict[str, object]:
        entries: dict[str, object] = {}
        path, names = self._document_path, self._names
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                if isinstance(key, yaml.AliasEvent):
                    raise self._error(key, "an alias (*name) is not read", "write the value out")
                what = "a key is not a name"
                raise self._error(key, what, "write name: value", tuple(path))
            name = names.setdefault(key.value, key.value)
            path.append(name)
            if name in entries:
                raise self._error(key, "stands twice", "remove one of them", tuple(path))
            self._note(key)
            entries[name] = self._node(self._next())
            path.pop()
        return entries

    def _scalar(self, event: yaml.Event, text: str) -> Scalar:
        if text.isdigit() and text.isascii() and len(text) <= _MAX_DIGITS:
            return int(text)
        try:
            return _scalar(text)
        except OverflowError:
            what, path = "no column holds such a number", tuple(self._document_path)
            raise self._error(event, what, "write fewer digits", path) from None

    def _note(self, event: yaml.Event) -> None:
        if self._lines is not None:
            self._lines.setdefault(tuple(self._document_path), _line(event))

    def _check_tag(self, event: yaml.Event, tag: str | None) -> None:
        if tag not in _DEFAULT_TAGS:
            what, path = f"the tag {tag} is not read", tuple(self._document_path)
            raise self._error(event, what, "write the value alone", path)

    def _error(
        self, event: yaml.Event, what: str, fix: str, path: DocumentPath = ()
    ) -> SchemaFault:
        return document_error(self._path, _line(event), path, what, fix)


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


def _scalar(text: str) -> Scalar:
    """The value of a plain scalar; `OverflowError` for a number that no column holds."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0].isalpha():
        return text
    if _NOT_FINITE.fullmatch(text):
        return Decimal(text.replace(".", ""))
    if _NUMBER.fullmatch(text):
        number = Decimal(text)
        # 1e999999999 would be written out as a Fraction of a billion digits.
        if len(text) > _MAX_DIGITS or abs(number.adjusted()) > _MAX_DIGITS:
            raise OverflowError
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


def document_error(
    path: Path, line: int, document_path: DocumentPath, what: str, fix: str
) -> SchemaFault:
    """An error that names the file, the line and the path in the document."""
    where = f"{path}, line {line}" + (f", {format_path(document_path)}" if document_path else "")
    error = SchemaFault(f"{where}: {what}; {fix}", hint=fix)
    error.document_path = document_path
    return error
