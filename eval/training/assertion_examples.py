"""Examples of context: marked mentions with what their sentence says of them, and how the rules read them.

Four sources, each with its own meaning of the marks:

- *negex*, the NegEx sentences (``eval/extraction/negex.py``): negated or not, historical or recent, patient or not;
- *maccrobat*, BRAT files of case reports: findings with the attribute ``POLARITY`` (none: present; ``NEG``: absent; all
  else: uncertain), findings within a ``History`` (historical) or ``Family_history`` (the family's);
- *marked*, the project's own marked sentences (``tests/reading/language``);
- *facts*, an abstraction of notes: mentions within the evidence of a fact of their concept. Silver: a fact tells what
  is so of the patient, its evidence need not say it.

Examples of one group (a document; a sentence, whatever its case and numbers) must not be parted between training and
what is held aside.
"""

from __future__ import annotations

import datetime
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...ingest.abstraction.records import Abstraction, read_abstractions
from ...ingest.context.sentence import SentenceContext
from ...ingest.context.values import Reading, Target
from ...ingest.coral_schema.standoff import Event, Standoff, load
from ...ingest.models.assertion_model.second_reading import FINDINGS
from ...ingest.models.assertion_model.signs import signs, signs_of_rules
from ...ingest.note.read import NoteReader, Parts
from ...ingest.text.frame import Frame
from ...ingest.text.shape import Section
from ...kb.model import Context, Note
from ...kb.ontology.concepts import ConceptTable
from ..extraction.fact_level.gold import Statement, load_gold
from ..extraction.fact_level.matching import family
from ..extraction.negex import read_marked

_POLARITY: Final = {"NEG": "absent", "POS": "present"}
_OF_REPORTS: Final = frozenset({"Sign_symptom", "Disease_disorder"})
_MARK: Final = re.compile(r"\{(?P<surface>[^{}]*?)=>(?P<kind>\w+) (?P<concept>\S+)(?P<rest>[^{}]*)\}")
_ANY_MARK: Final = re.compile(r"\{(?P<surface>[^{}]*?)=>[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Gold:
    """What is marked of a mention; empty where the source does not tell."""

    polarity: str = ""
    temporality: str = ""
    experiencer: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A mention: its signs, those of the rules, what the rules read and by which cues, and what is marked."""

    source: str
    group: str
    place: str
    signs: tuple[str, ...]
    signs_of_rules: tuple[str, ...]
    read: Context
    cues: tuple[str, ...]
    gold: Gold


@dataclass(frozen=True, slots=True)
class _Seen:
    signs: tuple[str, ...]
    of_rules: tuple[str, ...]
    reading: Reading


class Watcher:
    """Reads notes and keeps what a model would have seen of each finding: (start, end, kind) to that."""

    def __init__(self, concepts: ConceptTable | None = None) -> None:
        self._seen: dict[tuple[int, int, str], _Seen] = {}
        self.reader = NoteReader(concepts or ConceptTable.from_files(), Parts(second=lambda: self._watch))

    def _watch(
        self,
        frame: Frame,
        sentence: tuple[int, int],
        context: SentenceContext,
        target: Target,
        section: Section,
        reading: Reading,
    ) -> Reading:
        if target.kind in FINDINGS:
            seen = _Seen(
                tuple(signs(frame, sentence, context, target, section)), tuple(signs_of_rules(reading)), reading
            )
            self._seen[target.start, target.end, target.kind] = seen
        return reading

    def read(self, note: Note, targets: Sequence[tuple[int, int]] = ()) -> dict[tuple[int, int, str], _Seen]:
        """What was seen in a note."""
        self._seen = {}
        self.reader.read(note, targets)
        return self._seen


def _example(source: str, group: str, place: str, seen: _Seen, gold: Gold) -> Example:
    cues = tuple(cue.rule for cue in seen.reading.cues)
    return Example(source, group, place, seen.signs, seen.of_rules, seen.reading.context, cues, gold)


def folded(sentence: str) -> str:
    """A sentence without case, numbers and spacing: those that fold to one must not be parted."""
    return " ".join(re.sub(r"\d+", "0", sentence.lower()).split())


def from_negex(path: Path, watcher: Watcher) -> Iterator[Example]:
    """The NegEx sentences; *not particular* has no temporality."""
    sentences, _ = read_marked(path)
    for one in sentences:
        seen = watcher.read(Note("", "", one.text), [(one.start, one.end)]).get((one.start, one.end, "symptom"))
        if seen is None:
            continue
        gold = Gold(
            "absent" if one.negated else "present",
            {True: "historical", False: "current", None: ""}[one.historical],
            "patient" if one.patient else "family",
        )
        yield _example("negex", folded(one.text), one.number, seen, gold)


def from_reports(folder: Path, watcher: Watcher) -> Iterator[Example]:
    """The findings of a folder of BRAT files in one stretch each, every document read once."""
    for path in sorted(folder.glob("*.ann")):
        annotations = load(path)
        text, polarity = annotations.text or "", _polarity(annotations)
        spans = {one.id: (one.type, one.start, one.end) for one in annotations.entities if len(one.spans) == 1}
        findings = [span for span in spans.items() if span[1][0] in _OF_REPORTS]
        seen = watcher.read(Note("", "", text), sorted({(start, end) for _, (_, start, end) in findings}))
        within = {
            label: [(start, end) for name, start, end in spans.values() if name == label]
            for label in ("History", "Family_history")
        }
        for name, (_, start, end) in findings:
            if (start, end, "symptom") not in seen:
                continue
            inside = {label for label, places in within.items() if any(a <= start and end <= b for a, b in places)}
            marked = polarity.get(name, "POS")
            gold = Gold(
                _POLARITY.get(marked, "uncertain"),
                "historical" if "History" in inside else "" if inside else "current",
                "family" if "Family_history" in inside else "patient",
            )
            yield _example("maccrobat", path.stem, f"{path.stem} {name}", seen[start, end, "symptom"], gold)


def _polarity(annotations: Standoff) -> dict[str, str]:
    """The polarity of some entities, by their id; annotators put it on an entity or on the event that it begins."""
    triggers = {event.id: event.trigger for event in annotations.of(Event)}
    return {triggers.get(one.target, one.target): one.value for one in annotations.attributes if one.name == "POLARITY"}


def from_marked(folder: Path, watcher: Watcher) -> Iterator[Example]:
    """Sentences of the form ``{surface=>kind concept assertion …}``, one a line; the known gaps are left out."""
    for path in sorted(folder.glob("*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if line.startswith("#") or "=>" not in line or "::" in line:
                continue
            note_type, _, line = line[1:].partition("|") if line.startswith("@") else ("", "", line)
            text = _ANY_MARK.sub(lambda mark: mark["surface"], line).replace(r"\n", "\n")
            seen = watcher.read(Note("", "", text, datetime.date(2021, 6, 15), note_type))
            for (start, end, kind), gold in _marks(line.replace(r"\n", "\n")):
                if (start, end, kind) in seen:
                    place = f"{path.stem} {number}"
                    yield _example("marked", folded(text), place, seen[start, end, kind], gold)


def _marks(line: str) -> Iterator[tuple[tuple[int, int, str], Gold]]:
    taken = 0
    for mark in _ANY_MARK.finditer(line):
        start = mark.start() - taken
        taken += len(mark.group()) - len(mark["surface"])
        found = _MARK.fullmatch(mark.group())
        if found is None or found["kind"] not in FINDINGS:
            continue
        said = found["rest"].split()
        experiencer = next((word for word in said if word in ("family", "other")), "patient")
        words = {"present", "absent", "uncertain", "historical", "hypothetical", "planned"}
        assertion = next((word for word in said if word in words), "present" if experiencer == "patient" else "")
        yield (
            (start, start + len(mark["surface"]), found["kind"]),
            Gold(
                {"historical": "present"}.get(assertion, assertion)
                if assertion not in ("hypothetical", "planned")
                else "",
                {"present": "current"}.get(assertion, assertion) if assertion not in ("absent", "uncertain") else "",
                "family" if experiencer != "patient" else "patient",
            ),
        )


def from_facts(notes: Path, facts: Path, watcher: Watcher) -> Iterator[Example]:
    """Findings of notes that lie in the evidence of a fact of their concept, unless two facts tell differently."""
    records = {one.patient_id: one for one in read_abstractions(facts) if isinstance(one, Abstraction)}
    gold = load_gold(facts).patients
    mentions = NoteReader(watcher.reader.concepts)
    for line in notes.read_text("utf-8").splitlines():
        row: Mapping[str, str] = json.loads(line)
        if row["patient_id"] not in records:
            continue
        note = Note(
            row["patient_id"],
            row["doc_id"],
            row["text"],
            datetime.date.fromisoformat(row["date"]),
            row["type"],
            row["title"],
        )
        evidence = [
            (place, place + len(fact.evidence), stated.statements)
            for fact in records[note.patient_id].facts
            for stated in gold[note.patient_id]
            if stated.number == fact.number and note.doc_id in fact.docs and fact.evidence
            for place in [note.text.find(fact.evidence)]
            if place >= 0
        ]
        told: dict[tuple[int, int, str], set[Gold]] = defaultdict(set)
        for mention in mentions.read(note).mentions:
            for low, high, statements in evidence:
                if mention.kind in FINDINGS and low <= mention.start and mention.end <= high:
                    for statement in statements:
                        if _is_of(mention.kind, mention.concept, statement, watcher.reader.concepts):
                            told[mention.start, mention.end, mention.kind].add(_silver(statement))
        seen = watcher.read(note)
        for span, golds in sorted(told.items()):
            if len(golds) == 1 and span in seen:
                yield _example("facts", note.patient_id, f"{note.doc_id} {span[0]}", seen[span], next(iter(golds)))


def _is_of(kind: str, concept: str, statement: Statement, concepts: ConceptTable) -> bool:
    if family(kind) != family(statement.kind) or statement.context.reason != "none":
        return False
    if concept == statement.concept:
        return True
    known = concept in concepts and statement.concept in concepts
    return known and (concepts.is_a(concept, statement.concept) or concepts.is_a(statement.concept, concept))


def _silver(statement: Statement) -> Gold:
    context = statement.context
    happens = context.temporality in ("current", "historical")
    return Gold(
        str(context.polarity) if happens else "",
        "" if happens else str(context.temporality),
        "patient" if context.experiencer == "patient" else "family",
    )
