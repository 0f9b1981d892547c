"""Notes that are written from a course state its facts at the places that their gold names."""

from __future__ import annotations

import ast
import datetime
import random
import re
from pathlib import Path

import pytest

from cohortium.eval.made_up.synthetic import writing
from cohortium.eval.made_up.synthetic.course import Course, Encounter, Fact, Person
from cohortium.eval.made_up.synthetic.writing.banks import shipped_banks
from cohortium.eval.made_up.synthetic.writing.marks import Marks
from cohortium.eval.made_up.synthetic.writing.notes import WrittenNote, write_course
from cohortium.eval.made_up.synthetic.writing.sections import fillers_for
from cohortium.eval.made_up.synthetic.writing.standing import standing
from cohortium.eval.made_up.synthetic.writing.statements import Entry, state
from cohortium.eval.made_up.synthetic.writing.voices import voice_of
from cohortium.eval.made_up.synthetic.writing.writer import Writer

DAY = datetime.date
STOPPED = {"line": "1", "status": "discontinued", "reason": "progression"}
SITES = (
    "Harbormouth Cancer Institute",
    "Lakesedge Regional Hospital",
    "St Brendoc University Hospital",
    "Pinehallow Oncology Associates",
    "a hospital without a house",
)
KINDS = (
    "diagnosis", "histology", "stage_group", "tnm", "grade", "metastasis", "lymph_node", "biomarker", "genomic_variant",
    "medication", "regimen", "radiation", "surgery", "procedure", "performance_status", "disease_state", "symptom",
    "adverse_event", "comorbidity", "social", "lab", "clinical_trial", "death", "a kind without a bank",
)  # fmt: skip
ASSERTIONS = ("present", "absent", "uncertain", "planned", "hypothetical", "family", "historical")

FACTS = (
    Fact("symptom", "cough", date=DAY(2019, 1, 3)),
    Fact("diagnosis", "lung cancer", "", {"site": "lung", "laterality": "right"}, DAY(2019, 1, 20), tumor="1"),
    Fact("stage_group", "stage group", "IVA", {}, DAY(2019, 1, 25), tumor="1"),
    Fact("genomic_variant", "ALK fusion", "", {"gene": "ALK"}, DAY(2019, 2, 1), None, "absent"),
    Fact("genomic_variant", "ROS1 fusion", "", {"gene": "ROS1"}, DAY(2019, 2, 1), None, "absent"),
    Fact("medication", "osimertinib", "", STOPPED, DAY(2019, 2, 10), DAY(2020, 6, 1)),
    Fact("medication", "pembrolizumab", "", {}, DAY(2020, 6, 1), None, "hypothetical"),
    Fact("diagnosis", "breast cancer", "mother", assertion="family"),
)  # fmt: skip
ENCOUNTERS = (
    Encounter(DAY(2019, 1, 3), "primary care", "diagnosis", (0,)),
    Encounter(DAY(2019, 1, 26), "oncology consult", "staging", (1, 2, 7), (0,)),
    Encounter(DAY(2019, 2, 1), "molecular", "staging", (3, 4), (1,)),
    Encounter(DAY(2019, 2, 10), "progress", "start of treatment", (5,), (1, 2)),
    Encounter(DAY(2019, 5, 10), "progress", "cycle", (), (1, 2, 5), 3),
    Encounter(DAY(2020, 6, 5), "a sort without a layout", "recurrence", (6,), (1, 5)),
)


def course(site: str, number: int = 1) -> Course:
    """A small invented course at a site."""
    return Course(Person(f"P{number}", site, "female", DAY(1950, 5, 1)), FACTS, ENCOUNTERS)


def notes_of_all_sites() -> list[WrittenNote]:
    """Some hundred notes in all styles."""
    return [note for site in SITES for number in range(6) for note in write_course(course(site, number), 11)]


def test_each_gold_span_is_what_stands_at_its_offsets() -> None:
    """Spans and statements lie in the text, mentions in their statements, and no sign of a mark is left."""
    for note in notes_of_all_sites():
        assert not set(note.text) & {"\x01", "\x02", "\x03"}
        for fact in note.gold()["facts"]:
            assert note.text[fact["start"] : fact["end"]] == fact["text"] != ""
            start, end = fact["evidence"]
            assert start <= fact["start"] < fact["end"] <= end


def test_what_is_new_in_an_encounter_is_stated_in_its_note() -> None:
    """Every new fact of every encounter has a span, with its kind, concept and assertion."""
    for site in SITES:
        for note, encounter in zip(write_course(course(site), 5, length=0.2), ENCOUNTERS, strict=True):
            stated = {fact["fact"]: fact for fact in note.gold()["facts"] if fact["role"] == "fact"}
            assert set(encounter.new) <= stated.keys() <= {*encounter.new, *encounter.recalled}
            for place, fact in stated.items():
                known = FACTS[place]
                assert (fact["kind"], fact["concept"], fact["assertion"]) == (
                    known.kind,
                    known.concept,
                    known.assertion,
                )


def test_the_same_seed_gives_the_same_notes_and_another_seed_others() -> None:
    """Notes depend on the course, the seed and the length alone."""
    one, again, other = (write_course(course(SITES[0]), seed) for seed in (3, 3, 4))
    assert one == again
    assert [note.text for note in one] != [note.text for note in other]


def test_longer_notes_are_longer() -> None:
    """The factor of length makes more words."""
    short, long = (
        sum(
            len(note.text.split()) for number in range(20) for note in write_course(course(SITES[0], number), 1, length)
        )
        for length in (0.5, 2.0)
    )
    assert long > 1.6 * short


def test_nothing_of_the_future_is_told() -> None:
    """A drug that is stopped next year has only begun: its end and the reason for it are not in the note."""
    for site in SITES:
        for note in write_course(course(site), 9)[:5]:
            assert "progression" not in " ".join(
                note.text[fact["evidence"][0] : fact["evidence"][1]] for fact in note.gold()["facts"]
            )
    told = standing(FACTS[5], DAY(2019, 3, 1), True)
    assert (told.mode, told.ended) == ("started", None)
    assert standing(FACTS[5], DAY(2020, 7, 1), False).mode == "stopped"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("assertion", ASSERTIONS)
def test_each_style_says_each_kind_in_each_assertion(kind: str, assertion: str) -> None:
    """There is a sentence for every kind, assertion and register, and its frame expresses that very assertion."""
    banks = shipped_banks()
    fact = Fact(kind, "a thing", "", {"status": "declined"} if assertion == "absent" else {}, assertion=assertion)
    held = standing(fact, DAY(2020, 1, 1), True)
    assert banks.mode(kind, held.mode, assertion).assertion == assertion
    for house in banks.houses:
        for register in ("prose", "terse", "form"):
            chance = random.Random(f"{kind}{assertion}{house.name}{register}")
            marks = Marks()
            context = {
                "he": "she", "He": "She", "his": "her", "him": "her", "age": "61", "sex": "F", "female": "female",
                "man": "woman", "title": "Ms", "first": "Una", "last": "Zeller",
            }  # fmt: skip
            writer = Writer(voice_of(house, "progress", chance), chance, banks, marks, context, DAY(2020, 1, 1))
            text = state([Entry(0, held, False)], writer, register)
            assert "a thing" in text
            assert [mark.assertion for mark in marks.held] == [assertion] * len(marks.held)


def test_nothing_is_so_on_a_day_long_past() -> None:
    """A sentence in the present has its day in brackets or behind a comma; one in the past may say "on" that day."""
    banks = shipped_banks()
    fact = Fact("diagnosis", "breast cancer", "", {}, DAY(2015, 3, 9), tumor="1")
    entry = Entry(0, standing(fact, DAY(2016, 1, 1), False), True)
    texts = set()
    for seed in range(300):
        chance = random.Random(seed)
        voice = voice_of(banks.houses[seed % 4], "progress", chance)
        context = {"he": "she", "He": "She", "him": "her", "age": "61", "female": "female", "man": "woman"}
        texts.add(state([entry], Writer(voice, chance, banks, Marks(), context, DAY(2016, 1, 1)), "prose"))
    dated = [text for text in texts if " on " in text or " in " in text]
    assert any(" was " in text for text in dated)
    assert not [text for text in texts if re.search(r"\b(is|are|has)\b.* (on|in) [\dM]", text)]


def test_a_biopsy_has_no_margins() -> None:
    """What a report says of an operation's specimen it does not say of a needle's, and the other way round."""
    banks = shipped_banks()
    for register in ("prose", "terse", "form"):
        biopsy, operation = (
            {str(one) for one in fillers_for((f"pathology {purpose}", "pathology"), "diagnosis", register, banks)}
            for purpose in ("diagnosis", "staging")
        )
        assert biopsy != operation
        assert any("argins" in one for one in operation)
        assert not any("clear" in one or "uninvolved" in one for one in biopsy)


def test_every_frame_that_says_a_fact_holds_the_place_for_it() -> None:
    """No sentence of a bank leaves its fact out, and one for several facts names them all."""
    for frames in shipped_banks().frames.values():
        for mode in frames.modes.values():
            assert all("it" in one.needs for patterns in mode.single.values() for one in patterns)
            assert all("items" in one.needs for patterns in mode.several.values() for one in patterns)


def test_the_banks_are_apart_from_what_the_engine_reads_by() -> None:
    """No module that writes notes imports the reader or the ontology, or names a file of theirs (the kinds apart)."""
    folder = Path(writing.__file__).parent
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(alias.name for alias in node.names)]
            # The table of kinds names what a record can hold; it has no word that a note is read by.
            names = [name for name in names if name != "kb.kinds"]
            assert not any({"ingest", "kb"} & set(name.split(".")) for name in names), path
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not any(folder in node.value for folder in ("ingest/", "kb/")), path
