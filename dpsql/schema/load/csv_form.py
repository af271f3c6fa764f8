"""How the CSV files of a schema are written: its tables say it, nothing is guessed from rows."""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from dpsql.engine.source import CsvForm
from dpsql.schema.load.file_format import CsvSection, TableSection, fill
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.source_location import ServerSource, Source
from dpsql.structs import replace


def read_csv_forms(
    document: Document, sections: Mapping[str, TableSection], source: Source | ServerSource
) -> Source | ServerSource:
    """`source` with the forms of its CSV files; SchemaFault where a table has no such file."""
    forms: dict[str, CsvForm] = {}
    for name, section in sections.items():
        path = ("tables", name, "csv")
        if section.csv is None:
            continue
        if not isinstance(source, Source) or (
            source.path.exists() and not source.is_delimited(name)
        ):
            raise document.error(path, "is for tables of CSV files", "remove it")
        written = fill(CsvSection, document, path, section.csv)
        if (
            len(written.delimiter) != 1
            or written.delimiter in '"\r\n'
            or not written.delimiter.isascii()
        ):
            raise document.error(
                (*path, "delimiter"), "is one ASCII character", 'write ";", "|" or "\\t"'
            )
        try:
            # Of the same encoding there are many names, as latin-1 and l1.
            encoding = codecs.lookup(written.encoding).name
            "".encode(encoding)
        except (LookupError, ValueError):
            raise document.error(
                (*path, "encoding"),
                f"{written.encoding!r:.40} names no encoding",
                "write utf-8, utf-16, latin-1 or windows-1252, or what else Python has",
            ) from None
        forms[name] = CsvForm(written.delimiter, encoding)
    return replace(source, csv=forms) if isinstance(source, Source) and forms else source
