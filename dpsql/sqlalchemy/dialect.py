"""The dialect: it connects by URL, and declares which features dpsql has."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import ArgumentError

from dpsql.schema.qualified_name import MAIN
from dpsql.sqlalchemy.compiler import Compiler, TypeCompiler
from dpsql.sqlalchemy.reflection import Reflection

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_OPTIONS = frozenset({"analyst", "epsilon"})


class DpsqlDialect(Reflection, DefaultDialect):  # type: ignore[misc] # it returns plain dicts
    """dpsql:///schema.yaml?analyst=alice&epsilon=0.1, or dpsql:////home/me/schema.yaml."""

    name = "dpsql"
    driver = "dpsql"
    default_paramstyle = "qmark"
    statement_compiler = Compiler
    type_compiler = TypeCompiler
    type_compiler_cls = TypeCompiler
    supports_statement_cache = True

    supports_alter = False
    supports_comments = True
    supports_default_values = False
    supports_multivalues_insert = False
    supports_native_boolean = True
    supports_native_decimal = True
    supports_sane_rowcount = False
    supports_unicode_statements = True
    supports_unicode_binds = True
    postfetch_lastrowid = False
    div_is_floordiv = False
    max_identifier_length = 63

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module of PEP 249, as SQLAlchemy 2 asks for it."""
        import dpsql  # noqa: PLC0415 - the entry point is read without it

        return dpsql

    @classmethod
    def dbapi(cls) -> ModuleType:  # type: ignore[override]
        """The module of PEP 249, as SQLAlchemy 1.4 asks for it."""
        return cls.import_dbapi()

    def create_connect_args(self, url: URL) -> tuple[list[str], dict[str, str]]:
        """The schema's path, and the options `analyst` and `epsilon` of the URL.

        `ArgumentError` if the URL names no file, or has other options.
        """
        if not url.database or url.host:
            raise ArgumentError(
                "a URL of dpsql names a schema file: dpsql:///schema.yaml?analyst=alice,"
                " or dpsql:////home/me/schema.yaml"
            )
        unknown = sorted(set(url.query) - _OPTIONS)
        if unknown:
            raise ArgumentError(
                f"a URL of dpsql has no option {unknown[0]}: it takes analyst and epsilon"
            )
        options = {name: value for name, value in url.query.items() if isinstance(value, str)}
        return [url.database], options

    def _get_default_schema_name(self, connection: Connection) -> str:  # noqa: ARG002
        return MAIN

    def get_isolation_level_values(self, dbapi_connection: object) -> list[str]:  # type: ignore[override] # noqa: ARG002
        """AUTOCOMMIT alone: no statement writes, so that there is nothing to isolate."""
        return ["AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection: object) -> str:  # type: ignore[override] # noqa: ARG002
        """AUTOCOMMIT: a charge is final as soon as it is made."""
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: object, level: str) -> None:
        """Nothing changes: AUTOCOMMIT is the only level there is."""

    def reset_isolation_level(self, dbapi_connection: object) -> None:
        """Nothing changes: AUTOCOMMIT is the only level there is."""
