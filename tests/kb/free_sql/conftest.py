"""A generation's database with a few rows, and words that no statement may reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from cohortium.kb.free_sql.cage import FreeSql
from cohortium.kb.sql_files import script

#: It stands in a file beside the database, in the environment, and in the name of the folder.
CANARY = "kestrel-4711"


@pytest.fixture(scope="session")
def canary_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of one line, in a folder of that name."""
    path = tmp_path_factory.mktemp(CANARY) / "canary.csv"
    path.write_text(f"a,b\n{CANARY},1\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def database(canary_file: Path) -> Path:
    """Two patients, three notes."""
    path = canary_file.with_name("kb.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(script("storage/schema"))
        connection.execute("INSERT INTO patient VALUES (0, 'P1', 0, 0, ''), (1, 'P2', 0, 0, '')")
        for patient, ordinal, text in ((0, 0, "no mass"), (0, 1, "a mass"), (1, 0, "nothing")):
            connection.execute(
                "INSERT INTO note VALUES ($1, $2, $3, $3, DATE '2020-01-01', 'path', '', $4, '', 'current', NULL)",
                [patient, ordinal, f"n{patient}{ordinal}", text],
            )
        connection.execute("INSERT INTO concept VALUES (0, 'mass', 'finding', 'mass', '', '')")
    return path


@pytest.fixture(scope="session")
def free_sql(database: Path) -> Iterator[FreeSql]:
    """Free SQL over it, for the whole run of tests; the words stand in the environment of whoever asks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY", CANARY)
        asked = FreeSql(database)
        yield asked
        asked.close()
