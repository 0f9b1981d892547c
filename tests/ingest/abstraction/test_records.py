"""Files of abstractions that hold bad records: each is told with its place and reason, and the rest is loaded."""

from __future__ import annotations

import datetime
import json
import stat
from pathlib import Path
from typing import Any

import pytest

import cohortium
from cohortium.ingest.abstraction.load import AbstractionReport, load_abstractions
from cohortium.ingest.abstraction.records import Abstraction, BadRecord, day_of, read_abstractions
from cohortium.kb.errors import UsageError
from cohortium.kb.model import DayInterval
from cohortium.kb.storage.reader import KnowledgeBase

GOOD = {"kind": "diagnosis", "concept": "colon cancer", "date": "2020-01-01"}

#: Lines that are no patient, and a word of the reason that must be told.
BAD_LINES: list[tuple[Any, str]] = [
    ('{"patient_id": "P1", "facts": [', "not JSON"),
    (b'{"patient_id": "P\xff"}', "not UTF-8"),
    ('["P1"]', "object"),
    ("17", "object"),
    ({"facts": []}, "patient_id"),
    ({"patient_id": "", "facts": []}, "patient_id"),
    ({"patient_id": 7, "facts": []}, "patient_id"),
    ({"patient_id": "P1", "facts": {"kind": "diagnosis"}}, "facts"),
    ({"patient_id": "P1", "facts": "none"}, "facts"),
    ({"patient_id": "P1", "facts": None}, "facts"),
    ({"patient_id": "P1"}, "facts"),
]

#: Facts that cannot be used, and a word of the reason that must be told.
BAD_FACTS: list[tuple[Any, str]] = [
    ("colon cancer", "object"),
    (None, "object"),
    ({"concept": "colon cancer"}, "kind"),
    ({**GOOD, "kind": "diagnoses"}, "kind is not one of"),
    ({**GOOD, "kind": "Diagnosis"}, "kind is not one of"),
    ({**GOOD, "assertion": "maybe"}, "assertion is not one of"),
    ({**GOOD, "attributes": ["site", "colon"]}, "attributes"),
    ({**GOOD, "date": "01/02/2020"}, "not YYYY"),
    ({**GOOD, "date": "2020-13"}, "no such date"),
    ({**GOOD, "date": "2021-02-29"}, "no such date"),
    ({**GOOD, "date": "0000-01-01"}, "not between"),
    ({**GOOD, "date": "last spring"}, "not YYYY"),
    ({**GOOD, "end_date": "2020-00-10"}, "no such date"),
    ({**GOOD, "end_date": "2019-12-31"}, "ends before it begins"),
    ({**GOOD, "concept": "colon cancer \ud800"}, "half a character"),
    ({**GOOD, "attributes": {"site": "\udfff"}}, "half a character"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_LINES, ids=[str(number) for number in range(len(BAD_LINES))])
def test_a_bad_line_is_told_and_the_rest_goes_on(line: Any, reason: str, written: Any) -> None:
    """A line that is no patient is named by its number, with the reason; those around it are read."""
    before, after = ({"patient_id": name, "facts": [GOOD]} for name in ("A", "B"))
    first, bad, last = read_abstractions(written([before, line, after]))
    assert isinstance(first, Abstraction)
    assert isinstance(last, Abstraction)
    assert (first.patient_id, last.patient_id) == ("A", "B")
    assert isinstance(bad, BadRecord)
    assert bad.place == "line 2"
    assert reason in bad.reason
    assert bad.raw


@pytest.mark.parametrize(("fact", "reason"), BAD_FACTS, ids=[str(number) for number in range(len(BAD_FACTS))])
def test_a_bad_fact_is_told_and_the_others_stay(fact: Any, reason: str, written: Any) -> None:
    """A fact that cannot be used is named by line and number, with the reason and its text; the others keep theirs."""
    bad, patient = read_abstractions(written([{"patient_id": "A", "facts": [GOOD, fact, GOOD]}]))
    assert isinstance(bad, BadRecord)
    assert (bad.place, bad.patient_id) == ("line 1, fact 2", "A")
    assert reason in bad.reason
    assert json.loads(bad.raw) == fact
    assert isinstance(patient, Abstraction)
    assert [one.number for one in patient.facts] == [1, 3]


@pytest.mark.parametrize("name", ["kind", "assertion", "date", "end_date"])
def test_a_reason_does_not_repeat_a_text(name: str, written: Any) -> None:
    """A wrong word is told; a sentence in its place may tell of the patient, and stands in the quarantine alone."""
    sentence = "Mrs Invented was seen on the ward round"
    bad, _ = read_abstractions(written([{"patient_id": "A", "facts": [{**GOOD, name: sentence}]}]))
    assert isinstance(bad, BadRecord)
    assert "Invented" not in bad.reason
    assert "Invented" in bad.raw


def test_a_second_line_of_a_patient_is_refused(written: Any) -> None:
    """The first line of a patient stands; the second is told, whatever it holds."""
    lines = [{"patient_id": "A", "facts": [GOOD]}, {"patient_id": "B", "facts": []}, {"patient_id": "A", "facts": []}]
    first, other, bad = read_abstractions(written(lines))
    assert isinstance(first, Abstraction)
    assert len(first.facts) == 1
    assert isinstance(other, Abstraction)
    assert other.facts == ()
    assert isinstance(bad, BadRecord)
    assert bad.place == "line 3"
    assert "A" in bad.reason


def test_a_bad_first_line_does_not_use_up_its_patient(written: Any) -> None:
    """A line that could not be used is no line of its patient: the next one is the first."""
    bad, good = read_abstractions(written([{"patient_id": "A", "facts": 1}, {"patient_id": "A", "facts": [GOOD]}]))
    assert isinstance(bad, BadRecord)
    assert isinstance(good, Abstraction)
    assert len(good.facts) == 1


def test_empty_lines_and_a_byte_order_mark_are_no_harm(written: Any) -> None:
    """Lines of blanks count as lines, and as nothing else."""
    bom = b"\xef\xbb\xbf" + json.dumps({"patient_id": "A", "facts": []}).encode()
    first, bad = read_abstractions(written([bom, "", "   ", "{"]))
    assert isinstance(first, Abstraction)
    assert isinstance(bad, BadRecord)
    assert bad.place == "line 4"


def test_deep_brackets_are_a_bad_line(written: Any) -> None:
    """What is nested too deep to be read is one bad line."""
    deep = '{"patient_id": "A", "facts": ' + "[" * 100_000 + "]" * 100_000 + "}"
    bad, good = read_abstractions(written([deep, {"patient_id": "B", "facts": []}]))
    assert isinstance(bad, BadRecord)
    assert isinstance(good, Abstraction)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """The message names the file."""
    with pytest.raises(UsageError, match=r"nowhere\.jsonl"):
        list(read_abstractions(tmp_path / "nowhere.jsonl"))


def test_what_is_left_out_has_its_default(written: Any) -> None:
    """A fact needs its kind alone: the assertion is present, the rest is empty."""
    (patient,) = read_abstractions(written([{"patient_id": "A", "facts": [{"kind": "death"}]}]))
    assert isinstance(patient, Abstraction)
    (fact,) = patient.facts
    assert (fact.concept, fact.value, fact.assertion, dict(fact.attributes)) == ("", "", "present", {})
    assert (fact.day, fact.end, fact.docs, fact.evidence) == (None, None, (), "")


def test_numbers_and_lists_are_text(written: Any) -> None:
    """A number, a list or a truth value is what a person would have written; null is nothing."""
    attributes = {"positive": 3, "percent": 90.0, "level": 0.5, "sites": ["liver", "lung"], "sentinel": True, "m": None}
    fact = {"kind": "lymph_node", "value": 2, "attributes": attributes, "docs": "D1"}
    (patient,) = read_abstractions(written([{"patient_id": "A", "facts": [fact]}]))
    assert isinstance(patient, Abstraction)
    (read,) = patient.facts
    assert read.value == "2"
    assert read.attributes == {
        "positive": "3", "percent": "90", "level": "0.5", "sites": "liver, lung", "sentinel": "yes",
    }  # fmt: skip
    assert read.docs == ("D1",)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2020", "2020-01-01", "2020-12-31"),
        (2020, "2020-01-01", "2020-12-31"),
        ("2020-02", "2020-02-01", "2020-02-29"),
        ("2021-2", "2021-02-01", "2021-02-28"),
        ("2020-03-04", "2020-03-04", "2020-03-04"),
        ("2020-03-04T10:00:00", "2020-03-04", "2020-03-04"),
    ],
)
def test_a_date_is_the_days_that_it_may_mean(text: object, first: str, last: str) -> None:
    """A year or a month is all of its days."""
    low, high = (datetime.date.fromisoformat(day).toordinal() for day in (first, last))
    assert day_of(text) == DayInterval(low, high)


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_no_date_is_none(nothing: object) -> None:
    """Where there is no date, none is made up."""
    assert day_of(nothing) is None


BROKEN = [
    {"patient_id": "A", "facts": [GOOD, {**GOOD, "kind": "disease"}, {"kind": "symptom", "concept": "zzyx"}]},
    "{",
    {"patient_id": "B", "vital_status": "dead", "facts": [{"kind": "surgery", "concept": "colectomy"}]},
    {"patient_id": "A", "facts": [GOOD]},
    {"patient_id": "C", "facts": []},
]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory, write: Any) -> tuple[AbstractionReport, Path]:
    """The loader's report on those records, and the knowledge base; nobody changes it."""
    folder = tmp_path_factory.mktemp("broken")
    return load_abstractions(write(folder / "facts.jsonl", BROKEN), folder / "facts.kb"), folder / "facts.kb"


def test_bad_records_lie_in_quarantine_and_the_counts_balance(broken: tuple[AbstractionReport, Path]) -> None:
    """What came in is what is stored and what is in quarantine; the reasons and the records can be looked up there."""
    report, kb = broken
    assert report.patients == 3
    assert [one.place for one in report.bad] == ["line 1, fact 2", "line 2", "line 4"]
    with cohortium.open(kb) as session:
        info = session.info()
        assert session.patients == ("A", "B", "C")
    assert info["balanced"] is True
    assert info["quarantined"] == 3
    assert sum(info["quarantine"].values()) == 3
    assert info["stored"] == info["notes"] == 4  # the vital status of B is a fact of its own
    assert info["notes_in"] == 7
    with KnowledgeBase.open(kb) as store:
        held = {row["place"]: row for row in store.quarantine().to_pylist()}
    assert held["line 1, fact 2"]["patient_id"] == "A"
    assert held["line 1, fact 2"]["raw"] == json.dumps({**GOOD, "kind": "disease"})
    assert held["line 2"]["raw"] == "{"
    assert {row["source"] for row in held.values()} == {"facts.jsonl"}


def test_the_report_counts_by_kind(broken: tuple[AbstractionReport, Path]) -> None:
    """Facts of a kind are resolved, known by their kind alone, or unresolved; the report for JSON holds no text."""
    report, _ = broken
    table = report.by_kind()
    assert table["symptom"] == {"facts": 1, "resolved": 0, "kind_only": 0, "unresolved": 1, "share": 0.0}
    assert table["diagnosis"]["resolved"] == 1
    (missed,) = report.unresolved
    assert (missed.patient_id, missed.number, missed.concept) == ("A", 3, "zzyx")
    sums = report.as_dict()
    # The vital status of B is not one of the facts that were written down.
    assert sums["facts"] == sums["resolved"] + sums["kind_only"] + sums["unresolved"] == 3
    assert "zzyx" not in json.dumps(sums)


def test_the_vital_status_is_told_once(loaded: Any) -> None:
    """Who is recorded as dead has one death, with its day, whether a fact tells of it, too, or not."""
    told = {"kind": "death", "concept": "died at home", "date": "2022-05-06"}
    base = {"vital_status": "Deceased", "death_date": "2022-05-06"}
    report, kb = loaded(
        [
            {"patient_id": "A", **base, "facts": []},
            {"patient_id": "B", **base, "facts": [told]},
            {"patient_id": "C", "vital_status": "alive", "facts": [{**told, "assertion": "absent"}]},
            {"patient_id": "D", "vital_status": "dead", "death_date": "in spring", "facts": []},
            {"patient_id": "E", "death_date": "2022-05-06", "facts": []},
        ]
    )
    with KnowledgeBase.open(kb) as store:
        deaths = {
            patient: [event for event in store.journey(patient).events if event.kind == "death" and event.world > 0]
            for patient in store.patients
        }
    assert {patient: len(events) for patient, events in deaths.items()} == {"A": 1, "B": 1, "C": 0, "D": 1, "E": 1}
    day = datetime.date(2022, 5, 6).toordinal()
    assert deaths["A"][0].day == deaths["B"][0].day == deaths["E"][0].day == DayInterval(day, day)
    assert not deaths["D"][0].day.known
    (bad,) = report.bad
    assert (bad.place, bad.patient_id) == ("line 4, death_date", "D")
    assert "a date is not YYYY" in bad.reason
    assert "spring" not in bad.reason


def test_only_the_owner_can_read_the_knowledge_base(broken: tuple[AbstractionReport, Path]) -> None:
    """Facts are as private as the notes that they are from."""
    _, kb = broken
    files = [kb, *kb.rglob("*")]
    assert len(files) > 2
    for file in files:
        assert not stat.S_IMODE(file.stat().st_mode) & 0o077, file


def test_a_journey_holds_the_facts_as_notes(loaded: Any) -> None:
    """Each fact is a note of its own, which names the documents that it cites and quotes its evidence."""
    fact = {**GOOD, "value": "sigmoid", "docs": ["D1", "D2"], "evidence": "biopsy: adenocarcinoma of the sigmoid"}
    _, kb = loaded([{"patient_id": "A", "facts": [fact]}])
    with KnowledgeBase.open(kb) as store:
        (note,) = store.journey("A").notes
    assert "D1" in note.doc_id
    assert "D2" in note.doc_id
    assert note.text.startswith("colon cancer: sigmoid")
    assert fact["evidence"] in note.text


def test_an_abstraction_of_nobody_makes_an_empty_knowledge_base(loaded: Any) -> None:
    """An empty file is no error of the loader: there is nothing to hold."""
    report, kb = loaded([])
    assert report.patients == 0
    assert report.as_dict()["share"] is None
    with cohortium.open(kb) as session:
        assert session.patients == ()
