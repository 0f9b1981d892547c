"""The errors that a user can meet, each with the exit code of the command line.

A command that answers, and whose answer is no error, may still leave with a code: ``DECLINED``.
"""

from __future__ import annotations

from typing import ClassVar, Final

#: A question was declined, or has several readings: it was answered with what to say instead (exit 8).
DECLINED: Final = 8

#: What each code of the command line means, in a few words: ``cohortium --help`` and docs/reference/exit_codes.md.
EXIT_CODES: Final[dict[int, str]] = {
    0: "done",
    1: "done, with quarantined notes or a contradiction under --strict; a check of the ontology or of consistency "
    "found something; or a defect of the program",
    2: "the command is wrong: an option, a path, a value",
    3: "the query or statement cannot be read, resolved or answered",
    4: "nothing was stored",
    5: "a proof fails",
    6: "the knowledge base is of another version",
    7: "another process is writing the knowledge base",
    8: "the question was declined, or has several readings",
    9: "out of time or memory, and no part of an answer is given",
    10: "the knowledge base or the export is damaged",
    130: "interrupted (Ctrl-C)",
}


class CohortiumError(Exception):
    """The root of every error that is shown without a traceback. ``exit_code`` is what the command line returns.

    ``has_lines``: its words are of several lines; else a line end in them came with a name, and is shown as such.
    """

    exit_code: ClassVar[int] = 1
    has_lines: ClassVar[bool] = False


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
    """The knowledge base cannot be read, or what it holds does not fit together (exit 10)."""

    exit_code = 10


class DamagedExport(CohortiumError):
    """An export is not as it was written, or was not written by this program (exit 10)."""

    exit_code = 10


class DamagedIndex(DamagedKb):
    """The index of the knowledge base is missing or does not fit: it can be made again from the tables (exit 10)."""


class LockedError(CohortiumError):
    """Another process is writing this knowledge base (exit 7)."""

    exit_code = 7


class SqlError(CohortiumError):
    """A statement of free SQL cannot be read, is not allowed, or fails (exit 3)."""

    exit_code = 3
    has_lines = True


class DeadlineExceeded(CohortiumError):
    """An answer was not there when its time was up, or needs more than an answer may take (exit 9). Nothing of it is
    given: a part of an answer looks like a whole one."""

    exit_code = 9
