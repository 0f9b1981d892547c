"""DuckDB prints nothing: what a command writes to the standard output is its answer alone."""

from __future__ import annotations

from pathlib import Path

from cohortium.kb.storage.quiet_database import quiet_database
from tests.places import ROOT

#: The door itself, and the one that is quiet by a list of settings of its own.
_DOORS = {"kb/storage/quiet_database.py", "kb/free_sql/instance.py"}


def test_no_bar_is_drawn_under_a_long_question(tmp_path: Path) -> None:
    """Neither a connection nor a cursor of it draws DuckDB's own bar, of a file or in memory."""
    for database in (quiet_database(), quiet_database(tmp_path / "x.duckdb")):
        with database:
            for asked in (database, database.cursor()):
                assert asked.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]


def test_every_database_is_opened_so() -> None:
    """No part of the program opens a database in another way."""
    opening = {
        path.relative_to(ROOT).as_posix()
        for folder in ("kb", "ingest", "query_lang", "engine", "eval")
        for path in (ROOT / folder).rglob("*.py")
        if "duckdb.connect(" in path.read_text(encoding="utf-8")
    }
    assert opening == _DOORS
