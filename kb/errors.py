"""The errors that a user can meet, each with the exit code of the command line."""

from __future__ import annotations

from typing import ClassVar


class CohortiumError(Exception):
    """The root of every error that is shown without a traceback. ``exit_code`` is what the command line returns."""

    exit_code: ClassVar[int] = 1


class UsageError(CohortiumError):
    """The command or call itself is wrong: an option, a path, a value (exit 2)."""

    exit_code = 2


class MissingKb(UsageError):
    """There is no knowledge base at this path (exit 2)."""


class UnknownGeneration(UsageError):
    """The knowledge base keeps no such generation (exit 2)."""


class BadModel(UsageError):
    """A directory of a trained model is missing, not whole, corrupted, of another version, or does not fit (exit 2)."""


class NotWritable(UsageError):
    """The knowledge base, or the folder it should stand in, cannot be written (exit 2)."""


class UnknownPatient(UsageError):
    """The knowledge base holds no such patient (exit 2)."""


class UnknownNote(UsageError):
    """The knowledge base holds no such note (exit 2)."""


class NothingStored(CohortiumError):
    """The run ended without a single stored note (exit 4)."""

    exit_code = 4


class OntologyError(CohortiumError):
    """A data file of the ontology cannot be read at all (exit 2)."""

    exit_code = 2


class SchemaVersionError(CohortiumError):
    """The knowledge base was written under another schema version (exit 6)."""

    exit_code = 6


class DamagedKb(CohortiumError):
    """The knowledge base cannot be read, or what it holds does not fit together (exit 5)."""

    exit_code = 5


class DamagedExport(CohortiumError):
    """An export is not as it was written, or was not written by this program (exit 5)."""

    exit_code = 5


class DamagedIndex(DamagedKb):
    """The index of the knowledge base is missing or does not fit: it can be made again from the tables (exit 5)."""


class LockedError(CohortiumError):
    """Another process is writing this knowledge base (exit 7)."""

    exit_code = 7


class SqlError(CohortiumError):
    """A statement of free SQL cannot be read, is not allowed, or fails (exit 3)."""

    exit_code = 3
