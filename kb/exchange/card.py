"""The card of an export: what it is an export of, which tables it holds, and the checksum of each file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import DamagedExport, SchemaVersionError, UsageError
from ..files.untrusted import read_regular, shape_expected, text, whole_number
from ..storage.layout import SCHEMA_VERSION

CARD: Final = "export.json"
FORM: Final = "cohortium export"
#: Raised whenever the files of an export are laid out otherwise.
FORM_VERSION: Final = 1
#: What an export without text leaves out: the columns that hold words of notes, by table.
TEXT_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "note": ("title", "text"),
    "mention": ("text",),
    "quarantine": ("raw",),
}
#: What that costs; told on the card itself, which travels with the files.
NOT_WITHOUT_TEXT: Final = (
    "be restored to a knowledge base",
    "show the sentences that justify an event",
    "have proofs verified",
)


@dataclass(frozen=True, slots=True)
class TableFile:
    """One table of an export. ``sha256`` is of its file, ``size`` in bytes."""

    rows: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Card:
    """What an export holds: the generation that it was made of, and its tables by name."""

    generation: str
    tables: Mapping[str, TableFile]
    without_text: bool = False
    schema_version: int = SCHEMA_VERSION

    def as_dict(self) -> dict[str, Any]:
        """For JSON; no clock and no place, so that equal generations give equal exports."""
        data: dict[str, Any] = {
            "form": FORM,
            "form_version": FORM_VERSION,
            "schema_version": self.schema_version,
            "generation": self.generation,
            "without_text": self.without_text,
        }
        if self.without_text:
            data["left_out"] = [f"{table}.{column}" for table, names in TEXT_COLUMNS.items() for column in names]
            data["cannot"] = list(NOT_WITHOUT_TEXT)
        data["tables"] = {
            name: {"file": file_name(name), "rows": file.rows, "bytes": file.size, "sha256": file.sha256}
            for name, file in sorted(self.tables.items())
        }
        return data

    @property
    def rows(self) -> int:
        """Of all tables together."""
        return sum(file.rows for file in self.tables.values())

    @property
    def size(self) -> int:
        """Of all files together, in bytes."""
        return sum(file.size for file in self.tables.values())


def file_name(table: str) -> str:
    """The file that holds a table."""
    return f"{table}.parquet"


def write_card(folder: Path, card: Card) -> None:
    """Write the card of the export in ``folder``."""
    (folder / CARD).write_text(json.dumps(card.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_card(folder: Path) -> Card:
    """The card of the export in ``folder``.

    UsageError if there is none, DamagedExport if it cannot be read, SchemaVersionError if another version of the
    program wrote it.
    """
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is no folder. Hint: 'cohortium export KB OUT' makes one")
    try:
        data = json.loads(read_regular(folder / CARD).decode("utf-8"))
    except FileNotFoundError as error:
        raise UsageError(
            f"'{folder}' is no export: there is no {CARD} in it. Hint: 'cohortium export KB OUT' makes one; notes in "
            "Parquet files are read by 'cohortium ingest'"
        ) from error
    except OSError as error:
        raise damaged(folder, f"{CARD} cannot be read ({error.strerror or type(error).__name__})") from error
    except (ValueError, RecursionError) as error:
        raise damaged(folder, f"{CARD} is no JSON, or nested too deeply") from error
    if not isinstance(data, dict) or data.get("form") != FORM:
        raise UsageError(f"'{folder / CARD}' is not the card of an export of Cohortium. Hint: name the export's folder")
    versions = (data.get("form_version"), data.get("schema_version"))
    if versions != (FORM_VERSION, SCHEMA_VERSION):
        raise SchemaVersionError(
            f"The export in '{folder}' is of form {versions[0]} and schema version {versions[1]}; this program reads "
            f"form {FORM_VERSION} and version {SCHEMA_VERSION}. Hint: restore it with the version of the program that "
            "wrote it, or export it again from a knowledge base of this version"
        )
    with shape_expected(lambda what: damaged(folder, f"{CARD} lacks what a card tells ({what})")):
        tables = {
            name: TableFile(whole_number(one["rows"]), whole_number(one["bytes"]), text(one["sha256"]))
            for name, one in data["tables"].items()
        }
        return Card(text(data["generation"]), tables, bool(data["without_text"]))


def damaged(folder: Path, what: str) -> DamagedExport:
    """The error for an export that is not as it was written."""
    return DamagedExport(
        f"The export in '{folder}' is damaged: {what}. Hint: copy it again from where it was made, or export again"
    )
