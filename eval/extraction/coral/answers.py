"""Answers to the tasks, one to each unit and task: kept in a file line by line, read into findings, or seen to fail.

An answer that failed says why, and is never scored as if it had been given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ....ingest.coral_schema.tuples import Finding, is_nothing, read, write
from ....ingest.note.read import shared_reader
from ....ingest.single import Document, ReadMention
from ....ingest.single import read as read_note
from ....kb.errors import UsageError
from ....kb.files.text_files import bytes_of, text_of
from ....kb.files.whole_files import open_privately, write_private
from .findings import Annotated, findings_of
from .tasks import Rules, Task, Tasks
from .units import Note, Stretch, Unit, load_notes

#: Why there is no answer: none was given; what was given is neither findings nor a word that there are none.
MISSING: Final = "missing"
NONSENSE: Final = "nonsense"

_CANCER: Final = "malignant_neoplasm"
_TIMES: Final = frozenset({"HappensAtOnDuring", "BeginsOnOrAt", "Temporal"})


@dataclass(frozen=True, slots=True)
class Answer:
    """The text that was given for one task on one unit. ``failure``: why there is none; ``asked``: the hash of what was
    asked of which model, empty where no model was."""

    document: str
    unit: str
    task: str
    output: str = ""
    failure: str = ""
    asked: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is the answer to."""
        return self.document, self.unit, self.task

    def as_dict(self) -> dict[str, str]:
        """For JSON; what is empty is left out."""
        return {"section" if name == "unit" else name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Understood:
    """An answer as findings. ``first``: what its line of another name told; ``failure`` as of the answer."""

    findings: tuple[Finding, ...] = ()
    first: tuple[str, ...] = ()
    failure: str = ""
    unread: int = 0


def understood(task: Task, answer: Answer | None, rules: Rules) -> Understood:
    """The findings of an answer. One that is not there is ``missing``, one that cannot be understood ``nonsense``."""
    if answer is None:
        return Understood(failure=MISSING)
    if answer.failure:
        return Understood(failure=answer.failure)
    parsed = read(task, answer.output)
    if parsed.findings or is_nothing(task, answer.output, rules.nothing):
        return Understood(parsed.findings, parsed.first, "", parsed.unread)
    return Understood(failure=NONSENSE, unread=parsed.unread)


# --- a file of answers ------------------------------------------------------------------------------------------------


def load_answers(
    path: str | Path, tasks: Tasks, told: Callable[[int], None] = lambda number: None
) -> dict[tuple[str, str, str], Answer]:
    """The answers of a file (JSONL: document, section, task, output or failure), a later one in place of an earlier.

    A last line that breaks off was being written when the run ended: it is left out, and ``told`` hears its number.
    UsageError for anything else that is no answer.
    """
    place = Path(path)
    rows = text_of(place).split("\n")
    found = {}
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        try:
            answer = _answer(json.loads(row))
        except (ValueError, RecursionError):
            if number == len(rows):
                told(number)
                break
            raise UsageError(
                f"line {number} of '{place}' is no answer. Hint: JSON with document, section, task, output"
            ) from None
        if answer.task not in tasks.by_id:
            raise UsageError(f"line {number} of '{place}' is of no task. Hint: {', '.join(tasks.by_id)}")
        found[answer.key] = answer
    return found


def _answer(row: Any) -> Answer:
    if not isinstance(row, dict):
        raise ValueError
    columns = {name: row.get(name, "") for name in ("document", "section", "task", "output", "failure", "asked")}
    if not all(isinstance(one, str) for one in columns.values()) or not (columns["document"] and columns["task"]):
        raise ValueError
    section = columns.pop("section")
    return Answer(unit=section, **columns)


class Kept:
    """A file that answers are written to as they come; what it holds already is not asked again."""

    def __init__(self, path: str | Path | None, tasks: Tasks) -> None:
        """``path``: the file, made at the first answer; None keeps nothing."""
        self._path = None if path is None else Path(path)
        held = self._path is not None and self._path.exists()
        self.answers = load_answers(self._path, tasks) if held and self._path is not None else {}
        self._mend()

    def get(self, key: tuple[str, str, str], asked: str) -> Answer | None:
        """The answer that is there, if the same was asked and it did not fail."""
        answer = self.answers.get(key)
        return answer if answer is not None and not answer.failure and answer.asked == asked else None

    def add(self, answer: Answer) -> None:
        """Keep an answer. UsageError when it cannot be written."""
        self.answers[answer.key] = answer
        if self._path is None:
            return
        try:
            with open_privately(self._path, append=True) as file:
                file.write(json.dumps(answer.as_dict()) + "\n")
        except OSError as error:
            raise UsageError(f"cannot write '{self._path}': {error.strerror}") from error

    def _mend(self) -> None:
        """Ends a line that broke off, so that the next answer begins one of its own."""
        if self._path is None or not self._path.exists():
            return
        data = bytes_of(self._path)
        if data and not data.endswith(b"\n"):
            whole = data.rfind(b"\n") + 1
            try:
                json.loads(data[whole:])
                write_private(self._path, data + b"\n")
            except ValueError:
                write_private(self._path, data[:whole])


# --- answers of annotations -------------------------------------------------------------------------------------------


def from_reader(notes: Iterable[Note], stretch: Stretch, tasks: Tasks) -> Iterator[Answer]:
    """The answers of our own reading: each note read as a whole, its annotations told in the format of the tasks."""
    for note in notes:
        document = read_note(note.text)
        standoff = document.standoff()
        for unit in note.units(stretch):
            annotated = Annotated(standoff, unit)
            for task in tasks:
                first = first_diagnosis(document, unit) if task.first else ()
                output = write(task, findings_of(task, annotated), first)
                yield Answer(note.name, unit.name, task.id, output)


def from_folder(folder: str | Path, notes: Sequence[Note], stretch: Stretch, tasks: Tasks) -> Iterator[Answer]:
    """The answers that another folder of annotations tells of the same notes; UsageError where a text is another."""
    held: Mapping[str, Note] = {note.name: note for note in load_notes(folder)}
    for note in notes:
        other = held.get(note.name)
        if other is None:
            continue
        if other.text != note.text:
            raise UsageError(f"'{note.name}' of '{folder}' is another text than the gold's")
        for unit in note.units(stretch):
            annotated = Annotated(other.standoff, unit)
            for task in tasks:
                yield Answer(note.name, unit.name, task.id, write(task, findings_of(task, annotated)))


def first_diagnosis(document: Document, unit: Unit) -> tuple[str, ...]:
    """The words of the earliest date that a cancer of the patient is tied to in the unit; empty where none is."""
    concepts = shared_reader().concepts
    inside = {one.id: one for one in document.mentions if unit.holds(one.start, one.end)}

    def cancer(one: ReadMention) -> bool:
        own = one.experiencer == "patient" and one.polarity == "present"
        return own and one.concept in concepts and concepts.is_a(one.concept, _CANCER)

    dates = [
        inside[date]
        for relation in document.relations
        if relation.type in _TIMES
        for one, date in ((relation.head, relation.tail), (relation.tail, relation.head))
        if one in inside and date in inside and inside[date].label == "Datetime" and cancer(inside[one])
    ]
    dated = sorted((one for one in dates if one.latest), key=lambda one: (one.latest, one.start))
    return (dated[0].text,) if dated else ()
