"""brat standoff: every line read, written again without loss; what is malformed is told with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cohortium
from cohortium.ingest.coral_schema import standoff as brat
from cohortium.ingest.coral_schema.brat_folder import annotation_conf, save
from cohortium.ingest.coral_schema.types import schema
from tests.amounts import examples

EVERY_KIND = """T1\tSymptom 0 6\tnausea
T2\tSymptom 8 16;24 28\tvomiting rash
T3\tMedicationName 34 43\tcisplatin
R1\tConditionOrTreatmentCausesProblem Arg1:T3 Arg2:T1\t
E1\tGiven:T3 Cause:T1 Cause2:T2
E2\tSeen:T1
A1\tNegationModalityVal T1 negated
M1\tFlag E1
N1\tReference T3 RxNorm:2555\tcisplatin
*\tEquiv T1 T2
#1\tAnnotatorNotes T1\tas the patient says
#2\tNote\tof the whole

*\tOVERLAP T1 T2 T3
"""
TEXT = "nausea, vomiting, no bad rash due to cisplatin given"


def test_every_kind_of_line_is_read() -> None:
    """Each line is what its first letter says, and the file is written as it was."""
    read = brat.parse(EVERY_KIND)
    assert read.to_ann() == EVERY_KIND
    assert [one.id for one in read.entities] == ["T1", "T2", "T3"]
    assert read.entities[1].spans == ((8, 16), (24, 28))
    assert (read.entities[1].start, read.entities[1].end) == (8, 28)
    assert read.relations[0].arguments == (("Arg1", "T3"), ("Arg2", "T1"))
    assert [(one.name, one.value) for one in read.attributes] == [("NegationModalityVal", "negated"), ("Flag", "")]
    (event, bare) = read.lines_of(brat.Event)
    assert (event.trigger, event.arguments, bare.arguments) == ("T3", (("Cause", "T1"), ("Cause2", "T2")), ())
    assert read.lines_of(brat.Equivalence)[1].members == ("T1", "T2", "T3")
    assert [one.text for one in read.lines_of(brat.Remark)] == ["as the patient says", "of the whole"]
    assert read.lines_of(brat.Normalization)[0].entry == "2555"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("T2 Symptom 0 6 nausea", "line 2.*tab"),
        ("T2\tSymptom 0 6", "line 2.*tab is missing"),
        ("T2\tSymptom 0 x\tnausea", "line 2.*two numbers"),
        ("T2\tSymptom 0 -6\tnausea", "line 2.*two numbers"),
        ("T2\tSymptom 6 0\tnausea", "line 2.*ends where it begins"),
        ("T2\t\tnausea", "line 2.*type"),
        ("T2\tSymptom 0 600\tnausea", "line 2.*outside the text of 52"),
        ("T2\tSymptom 8 16\tnausea", "line 2.*T2 quotes other words"),
        ("T1\tSymptom 0 6\tnausea", "line 2.*T1 stands twice"),
        ("R1\tSiteOf Arg1:T1", "line 2.*two arguments, not 1"),
        ("R1\tSiteOf T1 T1", "line 2.*Role:ID"),
        ("R1\tSiteOf Arg1:T1 Arg2:T9", "line 2.*R1 speaks of T9"),
        ("E1\t", "line 2.*trigger"),
        ("A1\tNegated", "line 2.*Name target value"),
        ("N1\tReference T1 nothing\tx", "line 2.*Resource:entry"),
        ("*\tEquiv", "line 2.*members"),
        ("X1\tWhat T1", "line 2.*begins with 'X'"),
        ("#1\tNote T1 T2\tx", "line 2.*Type target"),
    ],
)
def test_a_malformed_line_is_told_by_its_number(line: str, told: str) -> None:
    """The message names the line and what it should be; it is a user's error."""
    with pytest.raises(brat.StandoffError, match=told) as caught:
        brat.parse(f"T1\tSymptom 0 6\tnausea\n{line}\n", TEXT)
    assert caught.value.exit_code == 2


def test_a_changed_line_is_written_anew() -> None:
    """Another program's spacing is kept only while the annotation is the one it wrote."""
    (line,) = brat.parse("R1\tSiteOf Arg1:R1 Arg2:R1\t").relations
    assert line.written().endswith("\t")
    assert replace(line, type="SizeOf").written() == "R1\tSizeOf Arg1:R1 Arg2:R1"


NAMES = st.text(st.characters(categories=("Lu", "Ll", "Nd"), max_codepoint=0x2FF), min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_characters="\n\r\t", exclude_categories=("Cs",)), min_size=1, max_size=30)


@st.composite
def documents(draw: st.DrawFn) -> brat.Standoff:
    """An annotation file of any annotations over any text."""
    text = draw(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60))
    lines: list[brat.Line] = []
    entities = draw(st.integers(1, 6))
    for number in range(1, entities + 1):
        ends = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=4, unique=True)))
        spans = tuple(zip(ends[::2], ends[1::2], strict=False))
        lines.append(brat.Entity(f"T{number}", draw(NAMES), spans, brat.quoted(text, spans)))
    targets = st.integers(1, entities).map("T{}".format)
    for number in range(draw(st.integers(0, 4))):
        made = draw(st.sampled_from("REANM*#"))
        match made:
            case "R":
                pair = (("Arg1", draw(targets)), ("Arg2", draw(targets)))
                lines.append(brat.Relation(f"R{number}", draw(NAMES), pair))
            case "E":
                arguments = tuple((draw(NAMES), draw(targets)) for _ in range(draw(st.integers(0, 2))))
                lines.append(brat.Event(f"E{number}", draw(NAMES), draw(targets), arguments))
            case "A" | "M":
                value = draw(st.one_of(st.just(""), NAMES))
                lines.append(brat.Attribute(f"{made}{number}", draw(NAMES), draw(targets), value))
            case "N":
                normal = (draw(NAMES), draw(targets), draw(NAMES), draw(NAMES), draw(TEXTS))
                lines.append(brat.Normalization(f"N{number}", *normal))
            case "*":
                members = draw(st.lists(targets, min_size=1, max_size=3))
                lines.append(brat.Equivalence("*", draw(NAMES), tuple(members)))
            case _:
                lines.append(brat.Remark(f"#{number}", draw(NAMES), draw(targets), draw(TEXTS)))
    return brat.Standoff(tuple(lines), text)


@settings(max_examples=examples(200), deadline=None)
@given(documents())
def test_what_is_written_is_read_again(document: brat.Standoff) -> None:
    """Writing and reading gives the same annotations, and the same bytes when written again."""
    written = document.to_ann()
    again = brat.parse(written, document.text)
    assert again == document
    assert again.to_ann() == written


@settings(max_examples=examples(200), deadline=None)
@given(documents(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_other_line_ends_and_blank_lines_are_kept(document: brat.Standoff, end: str, closed: bool) -> None:
    """A file with other line ends, blank lines or no last end is written as it was."""
    written = document.to_ann().replace("\n", f"{end}{end}")
    written = written if closed else written.rstrip("\r\n")
    again = brat.parse(written)
    assert again.to_ann() == written
    assert again.lines_of(brat.Entity) == document.lines_of(brat.Entity)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but a StandoffError is raised, and what is read is written as it was."""
    try:
        read = brat.parse(text)
    except brat.StandoffError:
        return
    assert read.to_ann() == text


def test_a_note_that_was_read_goes_to_a_folder_and_back(tmp_path: Path) -> None:
    """read() gives annotations that quote the text, and a file of them is read again as they were."""
    text = "Stage IIA breast\ncancer, ER positive. Mother had\tmelanoma. No nausea from cisplatin 50 mg.\n\nLABS: CEA 3"
    document = cohortium.read(text, date="2020-03-04")
    written = save(document.standoff(), tmp_path / "note.ann")
    assert {path.name for path in written} == {"note.ann", "note.txt", "annotation.conf"}
    again = cohortium.read_brat(tmp_path / "note.ann")
    assert again == document.standoff()
    assert again.to_ann() == document.to_brat() == (tmp_path / "note.ann").read_bytes().decode()
    assert len(again.entities) == len(document.mentions)
    assert len(again.relations) == len(document.relations) > 0
    values = {(one.name, one.value) for one in again.attributes}
    assert {("NegationModalityVal", "negated"), ("ExperiencerVal", "family")} <= values
    for one in again.attributes:
        assert one.value in schema().attributes[one.name].values


def test_another_text_is_not_overwritten(tmp_path: Path) -> None:
    """A text that stands beside the place already must be the same."""
    (tmp_path / "note.txt").write_text("another")
    with pytest.raises(cohortium.CohortiumError, match="holds another text"):
        save(cohortium.read("ECOG 1.").standoff(), tmp_path / "note.ann")
    with pytest.raises(cohortium.CohortiumError, match=r"Hint: name it note\.ann"):
        save(cohortium.read("ECOG 1.").standoff(), tmp_path / "note.txt")


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """A missing file, bytes that are no text, a malformed line: each names the file."""
    with pytest.raises(cohortium.CohortiumError, match=r"nowhere\.ann"):
        cohortium.read_brat(tmp_path / "nowhere.ann")
    (tmp_path / "bytes.ann").write_bytes(b"T1\t\xff")
    with pytest.raises(cohortium.CohortiumError, match="UTF-8"):
        cohortium.read_brat(tmp_path / "bytes.ann")
    (tmp_path / "bad.ann").write_text("T1 x")
    with pytest.raises(cohortium.CohortiumError, match=r"bad\.ann: line 1"):
        cohortium.read_brat(tmp_path / "bad.ann")


def test_the_configuration_names_the_whole_schema() -> None:
    """annotation.conf has its four sections, every type, relation and attribute, refined types below their own."""
    conf = annotation_conf()
    assert [line for line in conf.splitlines() if line.startswith("[")] == [
        "[entities]", "[relations]", "[events]", "[attributes]",
    ]  # fmt: skip
    entities = conf.split("[relations]")[0].split()[1:]
    assert sorted(entities) == sorted(schema().entities)
    assert "SDoH\n\tAlcohol\n" in conf
    assert "LateralityOfSite\tArg1:Laterality, Arg2:Site\n" in conf
    assert "CycleType\tArg:Cycles, Value:ongoing|completed|target\n" in conf
