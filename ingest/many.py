"""Many notes read into a knowledge base: what ``cohortium.ingest`` and the command ``ingest`` do.

One text on its own is read by :mod:`.single`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..kb.arguments import expect, expect_path, paths_of
from ..kb.errors import CohortiumError, NothingStored
from ..kb.skin.terminal import counted
from .readers.note_dates import ORDERS
from .run.note_budget import budget_of
from .run.pipeline import run_ingest
from .run.report import IngestReport


class Quarantined(CohortiumError):
    """With ``strict``, a run that put records into quarantine (exit 1)."""

    exit_code = 1


# Public: each option has its name in the command, too.
def ingest(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    kb: str | os.PathLike[str],
    *,
    mapping: Mapping[str, str] | None = None,
    workers: int = 1,
    strict: bool = False,
    ontology: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    note_seconds: float | None = None,
    note_characters: int | None = None,
    patient_notes: int | None = None,
    dates: str = ORDERS[0],
) -> IngestReport:
    """Read the notes of a file or a folder, or of several, into the knowledge base at ``kb``, made when missing.

    ``mapping``: field of a note → its name in the source (``{"patient_id": "subject_id"}``). ``workers``: processes
    that read; a script that asks for more than one needs the usual ``if __name__ == "__main__":``. ``ontology``: a
    folder of concepts beside the shipped ones. ``model``: a model directory that proposes what the rules lack,
    ``shipped``, ``llm`` (the chat model of the environment, which is sent the notes) or None. ``progress``: a bar on a
    terminal. ``note_seconds`` (of the processor), ``note_characters``, ``patient_notes``: what one note and one patient
    may take (30, 1,000,000 and 100,000 where None; 0 is without bound); what takes more goes to quarantine.
    ``dates``: whether ``5/2/2023`` is read ``month-first`` or ``day-first`` in all sources; a date that exists in the
    other order alone goes to quarantine.

    The report counts what came in and where it ended (``stored``, ``unchanged``, ``superseding``, ``quarantined``,
    ``quarantine`` with the reasons). NothingStored when no note could be stored; with ``strict`` also an error when any
    is in quarantine: what could be stored is stored then. UsageError (a source, the mapping, the order of
    dates, a folder, a model), NotWritable, LockedError, SchemaVersionError.
    """
    sources = paths_of("source", source, "a file of notes or a folder of them")
    expect_path("kb", kb, "the folder of the knowledge base to write")
    expect("mapping", mapping, (Mapping, type(None)), "a mapping of our fields to their names in the source")
    expect("workers", workers, int, "a number of processes")
    options: dict[str, Any] = {"mapping": mapping, "workers": workers, "strict": strict, "ontology": ontology}
    expect("dates", dates, str, "an order of dates: " + " or ".join(ORDERS))
    options["dates"] = dates
    options["budget"] = budget_of(note_seconds, note_characters, patient_notes)
    report = ingest_notes(sources, kb, **options, model=model, progress=progress)
    require_notes(report, sources)
    return report


def ingest_notes(sources: Iterable[Any], kb: str | os.PathLike[str], **options: Any) -> IngestReport:
    """The report of a run, however it ended; options and errors are those of :func:`.run.pipeline.run_ingest`."""
    return run_ingest(sources, kb, **options)


def require_notes(report: IngestReport, sources: Iterable[Any]) -> None:
    """NothingStored for a run that stored no note, Quarantined for a strict one with records in quarantine."""
    if report.exit_code == NothingStored.exit_code:
        if not report.notes_in:
            raise NothingStored(f"there is no note in {', '.join(map(str, sources))}")
        reasons = ", ".join(f"{reason} ({number})" for reason, number in report.reasons.most_common(3))
        raise NothingStored(f"no note of {report.notes_in} could be stored: {reasons}")
    if report.exit_code == Quarantined.exit_code:
        raise Quarantined(f"{report.quarantined} of {counted(report.notes_in, 'record')} in quarantine (strict)")
