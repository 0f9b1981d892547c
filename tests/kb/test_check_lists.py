"""The check makes the lists by attribute value again from the events: sound ones agree, damaged ones are told."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from pyroaring import BitMap

from cohortium.kb.check.checking import RULES, CheckReport, check_kb
from cohortium.kb.errors import DamagedIndex
from cohortium.kb.index.lists.list_file import LISTS, ListFile
from cohortium.kb.index.lists.values import VALUES, limits
from cohortium.kb.model import Event, Journey, Value, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.layout import INDEX, Layout
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation

#: Values of one attribute by how common they are, with ties, numbers beside words, one text that is empty.
RESULTS: tuple[Value, ...] = ("positive", "positive", "negative", "équivoque", "équivoque", 3, 3.0, 2.5, "")
CONCEPTS = ("her2", "progesterone_receptor", "unheard_of")


def journeys_of(results: tuple[Value, ...]) -> list[Journey]:
    """A patient for each result, with an event of it and another of the one before in another world."""
    pairs = zip(results, (*results[1:], results[0]), strict=True)
    return [
        Journey(
            f"P{number}",
            events=(
                Event(f"P{number}", "biomarker", CONCEPTS[number % 3], attributes={"result": one, "site": "lung"}),
                Event(f"P{number}", "biomarker", "her2", attributes={"result": other}, world=World.POSSIBLE),
            ),
        )
        for number, (one, other) in enumerate(pairs)
    ]


def looked_at(kb: Path, name: str = "lists by value") -> CheckReport:
    """What one rule finds."""
    return check_kb(kb, progress=False, rules=[rule for rule in RULES if rule.name == name])


def index_of(kb: Path) -> Path:
    """The folder of the current generation's index."""
    layout = Layout(kb)
    return layout.generation(str(layout.current())) / INDEX


@pytest.fixture
def kb(tmp_path: Path, concepts: ConceptTable) -> Path:
    """A knowledge base of those patients."""
    build_generation(tmp_path / "x.kb", journeys_of(RESULTS), concepts=concepts)
    return tmp_path / "x.kb"


def test_sound_lists_agree_under_any_limits(
    tmp_path: Path, concepts: ConceptTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few values are listed, told by name or not at all, what the writer made is what the check makes."""
    forms = set()
    for most, told, share in ((1, 0, 0.2), (2, 3, 0.2), (2, 1, 0.9), (64, 192, 0.8)):
        for name, value in (("most_values", most), ("most_told", told), ("least_share", share)):
            monkeypatch.setitem(limits(), name, value)
        kb = tmp_path / f"{most}-{told}-{share}.kb"
        build_generation(kb, journeys_of(RESULTS), concepts=concepts)
        assert looked_at(kb).sound
        with KnowledgeBase.open(kb) as opened:
            values = opened.lists.values("biomarker", "result")
        forms.add("none" if values is None else (bool(values.others), values.others is None))
    assert forms == {"none", (False, False), (True, False), (False, True)}


def test_a_patient_in_the_list_of_another_value(kb: Path, tmp_path: Path, concepts: ConceptTable) -> None:
    """Lists that have a patient under another value of the same attribute are found by this rule alone."""
    journeys = journeys_of(RESULTS)
    first = journeys[0].events[0]
    changed = dataclasses.replace(first, attributes={"result": "negative", "site": "lung"})
    journeys[0] = dataclasses.replace(journeys[0], events=(changed, *journeys[0].events[1:]))
    build_generation(tmp_path / "y.kb", journeys, concepts=concepts)
    shutil.copyfile(index_of(tmp_path / "y.kb") / LISTS, index_of(kb) / LISTS)
    assert looked_at(kb, "posting lists").sound
    (finding,) = looked_at(kb).findings
    assert finding.number >= 2
    assert finding.example.startswith("biomarker result ")
    assert "--repair" in finding.advice
    assert "negative" not in finding.example


def test_values_under_another_number(kb: Path) -> None:
    """Two values that are told in the other's place, an attribute too many, and a file of other bytes are found."""
    file = index_of(kb) / VALUES
    whole = json.loads(file.read_text(encoding="utf-8"))
    values, others = whole["biomarker"]["result"]
    for damaged, number, example in (
        (
            {"biomarker": {**whole["biomarker"], "result": [[*values[1::-1], *values[2:]], others]}},
            1,
            "biomarker result",
        ),
        ({"biomarker": {**whole["biomarker"], "weather": [["rain"], []]}}, 1, "biomarker weather"),
        ({"biomarker": {"result": [values, others]}}, 1, "biomarker site"),
        ({}, 2, "biomarker result"),
        (["biomarker"], 1, "values.json"),
    ):
        file.write_text(json.dumps(damaged), encoding="utf-8")
        # A file of another size is told as such besides.
        (finding,) = [one for one in looked_at(kb).findings if one.name == "lists by value"]
        assert (finding.number, finding.example) == (number, example)


def test_bytes_that_lead_out_of_the_file(kb: Path) -> None:
    """A file of lists whose directory was overwritten is a finding of both rules, never an error."""
    file = index_of(kb) / LISTS
    whole = file.read_bytes()
    for size in (400, len(whole) - 56):
        file.write_bytes(whole[:-size] + b"\xff" * size)
        for name in ("posting lists", "lists by value"):
            assert [one.name for one in looked_at(kb, name).findings] == [name], size
    file.write_bytes(whole[:-400] + b"\xff" * 400)
    lists = ListFile(file)
    with pytest.raises(DamagedIndex, match="lists in the index cannot be read"):
        _all_patients(lists)


def _all_patients(lists: ListFile) -> list[BitMap]:
    return [lists.patients(entry, World.POSSIBLE) for entry in range(len(lists))]
