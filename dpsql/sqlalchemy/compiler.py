"""SQLAlchemy's expressions and types as SQL that dpsql reads: DuckDB's dialect."""

from __future__ import annotations

from typing import Any

from sqlalchemy.sql.compiler import GenericTypeCompiler, SQLCompiler


class Compiler(SQLCompiler):
    """Compiles statements. Where dpsql needs a constant, SQLAlchemy's parameter becomes one."""

    def limit_clause(self, select: Any, **kw: Any) -> str:
        """LIMIT and OFFSET with the numbers themselves, put in when the statement runs."""
        text = ""
        if select._limit_clause is not None:  # noqa: SLF001 - SQLAlchemy's interface for dialects
            limit = select._limit_clause.render_literal_execute()  # noqa: SLF001
            text += f"\n LIMIT {self.process(limit, **kw)}"
        if select._offset_clause is not None:  # noqa: SLF001
            offset = select._offset_clause.render_literal_execute()  # noqa: SLF001
            text += f"\n OFFSET {self.process(offset, **kw)}"
        return text

    def visit_date_trunc_func(self, fn: Any, **kw: Any) -> str:
        """date_trunc('month', x): the unit decides which groups there are, so it is a constant."""
        return self._unit_first("date_trunc", fn, kw)

    def visit_date_part_func(self, fn: Any, **kw: Any) -> str:
        """date_part('year', x)."""
        return self._unit_first("date_part", fn, kw)

    def visit_date_diff_func(self, fn: Any, **kw: Any) -> str:
        """date_diff('day', x, y)."""
        return self._unit_first("date_diff", fn, kw)

    def visit_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:  # noqa: ARG002
        """ILIKE, which DuckDB has."""
        return self._like("ILIKE", binary, kw)

    def visit_not_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:  # noqa: ARG002
        """NOT ILIKE."""
        return self._like("NOT ILIKE", binary, kw)

    def _unit_first(self, name: str, fn: Any, kw: dict[str, Any]) -> str:
        unit, *rest = fn.clauses
        parts = [
            self.process(unit, **(kw | {"literal_binds": True})),
            *(self.process(part, **kw) for part in rest),
        ]
        return f"{name}({', '.join(parts)})"

    def _like(self, word: str, binary: Any, kw: dict[str, Any]) -> str:
        text = f"{self.process(binary.left, **kw)} {word} {self.process(binary.right, **kw)}"
        escape = binary.modifiers.get("escape")
        return text if escape is None else f"{text} ESCAPE '{escape.replace(chr(39), chr(39) * 2)}'"


class TypeCompiler(GenericTypeCompiler):
    """Compiles types, as a CAST names them."""

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:  # noqa: ARG002, N802
        """A float of 64 bits, as Python's is; DuckDB's FLOAT has 32."""
        return "DOUBLE"

    visit_DOUBLE = visit_FLOAT  # noqa: N815
    visit_DOUBLE_PRECISION = visit_FLOAT  # noqa: N815

    def visit_TEXT(self, type_: Any, **kw: Any) -> str:  # noqa: ARG002, N802
        """VARCHAR, the only type of text."""
        return "VARCHAR"

    visit_CLOB = visit_TEXT  # noqa: N815
    visit_NVARCHAR = visit_TEXT  # noqa: N815
    visit_VARCHAR = visit_TEXT  # noqa: N815

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:  # noqa: ARG002, N802
        """TIMESTAMP, the only type of date and time."""
        return "TIMESTAMP"

    visit_TIMESTAMP = visit_DATETIME  # noqa: N815
