"""The clients of the matrix: how each is found, built and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "programs"
ROOT = Path(__file__).parent.parent.parent.parent
FOLDER = Path(os.environ.get("DPSQL_CLIENTS", ROOT / ".venv-clients"))
"""Where `.ci/clients all` puts clients from PyPI and npm that the other tests don't need."""
NPM = FOLDER / "node" / "node_modules"
JDBC = Path("/usr/share/java/postgresql.jar")
Builder = Callable[[Path], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Client:
    """A client, the language that its programs are in, and what comes before its addresses.

    `build` gives the words that run it, in a folder of its own; `last` are words behind the
    addresses.
    """

    name: str
    language: str
    is_there: Callable[[], bool]
    build: Builder
    last: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.language} {self.name}"


def _ran(*words: str, cwd: Path | None = None, **variables: str) -> None:
    ran = subprocess.run(
        words,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | variables,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


def _has(*programs: str) -> bool:
    return all(map(shutil.which, programs))


def _runs(*words: str) -> bool:
    """Whether a program that loads a library ends well."""
    if shutil.which(words[0]) is None:
        return False
    ran = subprocess.run(
        words, capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL
    )
    return ran.returncode == 0


def _loaded(extension: str) -> str:
    return f"exit(!extension_loaded('{extension}'));"


def _is(path: str) -> bool:
    return Path(path).exists()


def _script(program: str, *before: str) -> Builder:
    return lambda _: (*before, str(HERE / program))


def _python(name: str, *modules: str, of: str = "drivers") -> Client:
    def is_there() -> bool:
        path = [*sys.path, str(FOLDER / "python")]
        return all(_in(module, path) for module in modules or (name,))

    program = f"pgwire.matrix.programs.python_{of}"
    return Client(name, "Python", is_there, lambda _: (sys.executable, "-m", program, name))


def _in(module: str, path: Sequence[str]) -> bool:
    return any(any(Path(folder).glob(f"{module}*")) for folder in path if folder)


def _npm(name: str, package: str = "") -> Client:
    program = str(HERE / "node_clients.js")
    return Client(
        name,
        "JavaScript",
        lambda: _has("node") and (NPM / (package or name)).exists(),
        lambda _: ("node", program, name),
    )


def _go(program: str) -> Builder:
    def build(folder: Path) -> Sequence[str]:
        out = folder / program
        source = HERE / f"{program}.go"
        paths = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "-p=1"}
        paths["GOCACHE"] = str(FOLDER / "go")
        _ran("go", "build", "-o", str(out), str(source), cwd=None, **paths)
        return (str(out),)

    return build


def _libpq(folder: Path) -> Sequence[str]:
    out = folder / "libpq"
    _ran("cc", "-I/usr/include/postgresql", "-o", str(out), str(HERE / "libpq.c"), "-lpq")
    return (str(out),)


def _ecpg(folder: Path) -> Sequence[str]:
    _ran("ecpg", "-o", str(folder / "ecpg.c"), str(HERE / "ecpg.pgc"))
    out = str(folder / "ecpg")
    _ran("cc", "-I/usr/include/postgresql", "-o", out, str(folder / "ecpg.c"), "-lecpg")
    return (out,)


def _pqxx(folder: Path) -> Sequence[str]:
    out = folder / "pqxx"
    _ran("c++", "-std=c++17", "-w", "-o", str(out), str(HERE / "pqxx.cpp"), "-lpqxx", "-lpq")
    return (str(out),)


def _jdbc(folder: Path) -> Sequence[str]:
    compiler = shutil.which("javac") or shutil.which("ecj")
    assert compiler is not None
    options = ("-proc:none", "-source", "11", "-target", "11", "-d", str(folder))
    _ran(compiler, *options, str(HERE / "Jdbc.java"))
    return ("java", "-XX:TieredStopAtLevel=1", "-cp", f"{JDBC}:{folder}", "Jdbc")


def _has_java() -> bool:
    return JDBC.exists() and _has("java") and (_has("javac") or _has("ecj"))


def _gocode(package: str) -> Callable[[], bool]:
    return lambda: _has("go") and Path("/usr/share/gocode/src/github.com", package).exists()


CLIENTS = (
    Client("psql", "shell", lambda: _has("psql", "bash"), _script("psql.sh", "bash")),
    _python("psycopg"),
    _python("psycopg_binary", "psycopg"),
    _python("psycopg2"),
    _python("asyncpg"),
    _python("pg8000"),
    _python("adbc", "adbc_driver_postgresql", "pyarrow"),
    _python("connectorx", "connectorx", "pyarrow"),
    _python("pyodbc", "pyodbc", of="tools"),
    _python("sqlalchemy", "sqlalchemy", "psycopg2", of="tools"),
    _python("pandas", "pandas", "sqlalchemy", "psycopg2", of="tools"),
    _python("polars", "polars", "adbc_driver_postgresql", of="tools"),
    _python("pygresql", "pgdb", of="tools"),
    _python("aiopg", "aiopg", "psycopg2"),
    _python("peewee", "peewee", "psycopg2", of="mappers"),
    _python("django", "django", "psycopg2", of="mappers"),
    _python("tortoise", "tortoise", "asyncpg", of="mappers"),
    Client("libpq", "C", lambda: _has("cc") and _is("/usr/include/postgresql/libpq-fe.h"), _libpq),
    Client("ecpg", "C", lambda: _has("cc", "ecpg"), _ecpg),
    Client("libpqxx", "C++", lambda: _has("c++") and _is("/usr/include/pqxx"), _pqxx),
    Client("pgjdbc", "Java", _has_java, _jdbc, ("extended",)),
    Client("pgjdbc (simple protocol)", "Java", _has_java, _jdbc, ("simple",)),
    _npm("pg"),
    _npm("postgres"),
    _npm("pg-promise"),
    _npm("knex"),
    _npm("sequelize"),
    _npm("kysely"),
    _npm("drizzle", "drizzle-orm"),
    _npm("typeorm"),
    _npm("objection"),
    Client(
        "DBD::Pg", "Perl", lambda: _runs("perl", "-MDBD::Pg", "-e1"), _script("dbd_pg.pl", "perl")
    ),
    Client("pg", "Ruby", lambda: _runs("ruby", "-rpg", "-e1"), _script("ruby_pg.rb", "ruby")),
    Client(
        "Sequel",
        "Ruby",
        lambda: _runs("ruby", "-rpg", "-rsequel", "-e1"),
        _script("ruby_sequel.rb", "ruby"),
    ),
    Client(
        "pgsql",
        "PHP",
        lambda: _runs("php", "-r", _loaded("pgsql")),
        _script("php_pgsql.php", "php"),
    ),
    Client(
        "PDO",
        "PHP",
        lambda: _runs("php", "-r", _loaded("pdo_pgsql")),
        _script("php_pdo.php", "php"),
    ),
    Client(
        "pgtcl",
        "Tcl",
        lambda: _has("tclsh") and _is("/usr/share/doc/libpgtcl"),
        _script("pgtcl.tcl", "tclsh"),
    ),
    Client(
        "tdbc::postgres",
        "Tcl",
        lambda: _has("tclsh8.6") and _is("/usr/share/doc/tcl8.6-tdbc-postgres"),
        _script("tdbc.tcl", "tclsh8.6"),
    ),
    Client(
        "LuaSQL",
        "Lua",
        lambda: _runs("lua5.3", "-e", "require 'luasql.postgres'"),
        _script("luasql.lua", "lua5.3"),
    ),
    Client(
        "LuaDBI",
        "Lua",
        lambda: _runs("lua5.3", "-e", "require 'DBI'"),
        _script("luadbi.lua", "lua5.3"),
    ),
    Client("lib/pq", "Go", _gocode("lib/pq"), _go("pq")),
    Client("pgx", "Go", _gocode("jackc/pgx"), _go("pgx")),
    Client(
        "RPostgreSQL",
        "R",
        lambda: _runs("Rscript", "-e", "library(RPostgreSQL)"),
        _script("rpostgresql.R", "Rscript"),
    ),
)
