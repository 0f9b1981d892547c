"""Small invented journeys and a small ontology for the tests of the knowledge base."""

from __future__ import annotations

import dataclasses
import datetime
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cohortium.kb.model import (
    Context,
    Cue,
    DayInterval,
    Decision,
    Event,
    Experiencer,
    Journey,
    Mention,
    Note,
    Polarity,
    Relation,
    Temporality,
    World,
)
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales

# What tells the state of a knowledge base on disk is shared with the benchmarks.

ONTOLOGY = """\
# a small ontology
id\tkind\tname\tparents\tsynonyms\tabbreviations\tcodes\tsite\tsource
neoplasm\ttumor\tneoplasm\t\ttumour\t\t\t\ttest
carcinoma\ttumor\tcarcinoma\tneoplasm\t\tCA{stage,mass}\t\t\ttest
adenocarcinoma\ttumor\tadenocarcinoma\tcarcinoma\t\t\t\t\ttest
lung_cancer\ttumor\tlung cancer\tneoplasm\tmalignant neoplasm of the lung\t\tNCIT:C7377\tlung\ttest
nsclc\ttumor\tnon-small cell lung cancer\tlung_cancer|carcinoma\t\tNSCLC\tONCOTREE:NSCLC\tlung\ttest
lung_adenocarcinoma\ttumor\tlung adenocarcinoma\tadenocarcinoma|nsclc\t\tLUAD\tONCOTREE:LUAD\tlung\ttest
leukemia\ttumor\tleukemia\tneoplasm\t\tALL{blast,marrow}\t\t\ttest
lung\tsite\tlung\t\t\t\t\t\ttest
osimertinib\tdrug\tosimertinib\t\tTagrisso\t\tRXNORM:1721560\t\ttest
progesterone_receptor\tbiomarker\tprogesterone receptor\t\t\tPR{ER,receptor}\t\t\ttest
partial_response\tstate\tpartial response\t\t\tPR{RECIST,response}\t\t\ttest
her2\tbiomarker\tHER2\t\tHER2/neu|c-erbB-2\tHER2\t\t\ttest
metastasis\tcondition\tmetastasis\t\t\t\t\t\ttest
"""

VALUE_SETS = """\
egfr_inhibitors = ["osimertinib"]

[lung_core]
name = "lung basket"
members = ["nsclc", "leukemia"]
aliases = ["core of the lung basket"]
"""

SCALES = {
    "t": {"values": ["T0", "Tis", "T1", "T1a", "T1b", "T2", "T2a", "T2b", "T2c", "T3", "T3a"]},
    "n": {"values": ["N0", "N1", "N1mi", "N1a", "N2", "N3", "N3a", "N3b", "N3c"]},
    "stage": {"values": ["0", "I", "II", "III", "IV"], "aliases": {"3": "III"}},
}


#: Of a name, what writes a folder, and where a copy is wanted: the copy.
Copied = Callable[[str, Callable[[Path], object], Path], Path]


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    """What has a name is written once, and each test has its own copy, which it may change."""
    written = tmp_path_factory.mktemp("written")

    def copy(name: str, write: Callable[[Path], object], place: Path) -> Path:
        if not (written / name).exists():
            write(written / name)
        return Path(shutil.copytree(written / name, place))

    return copy


@pytest.fixture
def concepts(tmp_path: Path) -> ConceptTable:
    """The small ontology, read from files."""
    folder = tmp_path / "ontology"
    folder.mkdir()
    (folder / "all.tsv").write_text(ONTOLOGY, encoding="utf-8")
    (folder / "other.tsv").write_text("british\tamerican\nx\ty\n", encoding="utf-8")
    (folder / "value_sets.toml").write_text(VALUE_SETS, encoding="utf-8")
    return ConceptTable.from_files(folder)


@pytest.fixture
def scales() -> Scales:
    """Three small scales."""
    return Scales(SCALES)


def invent(patient_id: str, text: str = "Adenocarcinoma of the lung. Mother had leukemia.") -> Journey:
    """One patient with every kind of row, and every field away from its default somewhere."""
    day = datetime.date(2019, 3, 4).toordinal()
    note = Note(patient_id, "d1", text, datetime.date(2019, 3, 4), "path", "Pathology – δ")
    undated = Note(patient_id, "d2", "", None)
    mention = Mention(
        note.note_id,
        0,
        26,
        text[0:26],
        "diagnosis",
        "ConditionName",
        "lung_adenocarcinoma",
        {"site": "lung", "size": 2.5, "count": 3},
        Context(Polarity.UNCERTAIN, Temporality.HISTORICAL, Experiencer.PATIENT, "none"),
        DayInterval(day - 3, day),
        "pattern:composed",
        "diagnosis",
        (0, 27),
        (Cue(0, 4, "likely"), Cue(5, 9, "history")),
        0.75,
    )
    relative = Mention(
        note.note_id,
        39,
        47,
        text[39:47],
        "diagnosis",
        "ConditionName",
        "leukemia",
        context=Context(experiencer=Experiencer.FAMILY),
    )
    events = (
        Event(
            patient_id,
            "diagnosis",
            "lung_adenocarcinoma",
            DayInterval(day, day),
            attributes={"site": "lung", "laterality": "left"},
            tumor="tumor-1",
            tumor_rule=0,
            evidence=(mention.mention_id,),
            sources=2,
            anchors=("explicit:3/4/19", "note:2019-03-04"),
            confidence=0.9,
        ),
        Event(
            patient_id,
            "diagnosis",
            "leukemia",
            context=Context(experiencer=Experiencer.FAMILY),
            world=World.NONE,
            evidence=(relative.mention_id, mention.mention_id),
        ),
        Event(
            patient_id,
            "medication",
            "osimertinib",
            DayInterval(day, day + 30),
            DayInterval(day + 90, day + 120),
            {"dose": 80.5, "line": 1},
            Context(Polarity.PRESENT, Temporality.HISTORICAL, reason="discontinued"),
            World.BELIEVED,
        ),
        Event(patient_id, "stage", "", attributes={"stage": "IIIA"}, world=World.POSSIBLE),
    )
    decision = Decision(
        patient_id, "pathology_over_clinic", (events[0].event_id,), (events[3].event_id,), "The report is final."
    )
    relation = Relation(note.note_id, "has_family_history", mention.mention_id, relative.mention_id, "same_sentence")
    return Journey(patient_id, (note, undated), (mention, relative), (relation,), events, (decision,))


@pytest.fixture
def make_journey() -> Callable[..., Journey]:
    """A function of patient id and first note's text to a journey."""
    return invent


@pytest.fixture
def make_update() -> Callable[[Sequence[str]], tuple[list[Journey], list[Journey]]]:
    """A function of names to the twelve patients P00 to P11 as they were, and to those named as they were read again:
    every other one has no events any more."""

    def update(changed: Sequence[str]) -> tuple[list[Journey], list[Journey]]:
        before = [invent(f"P{number:02}") for number in range(12)]
        again = [dataclasses.replace(invent(name, "Another text."), events=()) for name in changed[::2]]
        again += [invent(name, "Adenocarcinoma of the lung, once more.") for name in changed[1::2]]
        return before, again

    return update


@pytest.fixture
def journeys() -> list[Journey]:
    """Five patients, one of whom has no facts at all."""
    return [
        invent("P2"),
        invent("P10", "Adenocarcinoma of the lung, again. "),
        invent("é"),
        Journey("P1"),
        invent("P3", "Another text altogether, with a \0 and an emoji 🩺."),
    ]
