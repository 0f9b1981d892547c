"""Trust in single statements: who is told of, the signs of a statement, what a model makes of them, what doubt does."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import pytest

from cohortium.ingest.journey import trust as step
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.trust.model import AGAIN, TrustModel, read_model
from cohortium.ingest.trust.persons import Person, Persons
from cohortium.ingest.trust.signs import Record, Statement
from cohortium.kb.errors import BadModel
from cohortium.kb.model import Journey, Note, World

WORDS = "The ward was calm and the night was long. " * 8
OWN = f"{WORDS}\n\nShe has lung cancer."
ANOTHER = f"{WORDS}\n\nThe zebra in the next bed, 34M, has colon cancer."


def _weights(**some: float) -> dict[str, float]:
    """A model whose second regression takes the points of the first as they are."""
    plain = dict.fromkeys(AGAIN, 0.0) | {"again own": 1.0}
    return plain | {"bias": 3.0, "doubt": 0.5} | {name.replace("_", " "): value for name, value in some.items()}


@pytest.fixture
def no_zebras(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that trusts everything but sentences with a zebra."""
    monkeypatch.setattr(step, "trust_model", lambda: TrustModel(_weights(in_zebra=-6.0)))


def _journey(*texts: str, type: str = "progress note") -> Journey:
    reader = shared_reader()
    notes = [
        Note("P1", f"D{number}", text, datetime.date(2020, 1, 1 + number), type) for number, text in enumerate(texts)
    ]
    return build_journey("P1", [reader.read(note) for note in notes], reader.concepts)


def _worlds(journey: Journey) -> dict[str, World]:
    """The world of each diagnosis that is told as the patient's."""
    return {one.concept: one.world for one in journey.events if one.kind == "diagnosis" and one.world > World.NONE}


def test_what_the_surroundings_speak_against_is_possible_and_the_decision_says_how_probable(no_zebras: None) -> None:
    journey = _journey(f"{OWN}\n\n{ANOTHER}")
    worlds = _worlds(journey)
    assert worlds["lung_cancer"] > World.POSSIBLE
    assert worlds["colon_cancer"] == World.POSSIBLE
    (taken,) = [one for one in journey.decisions if one.rule == step.RULE]
    doubted = [one for one in journey.events if one.event_id in taken.rejected]
    assert [one.concept for one in doubted] == ["colon_cancer"]
    assert "0.05" in taken.explanation
    assert "zebra" not in taken.explanation


def test_what_another_note_says_without_doubt_is_believed(no_zebras: None) -> None:
    worlds = _worlds(_journey(f"{OWN}\n\n{ANOTHER}", f"{WORDS}\n\nShe has colon cancer as well."))
    assert worlds["colon_cancer"] > World.POSSIBLE


def test_a_note_of_few_words_is_about_its_patient(no_zebras: None) -> None:
    assert _worlds(_journey("The zebra has colon cancer."))["colon_cancer"] > World.POSSIBLE


def test_the_order_in_which_notes_come_changes_nothing() -> None:
    notes = [(OWN, 2020), (ANOTHER, 2021), (f"A 61-year-old woman. {WORDS}", 2020)]
    assert Persons(notes).patient == Persons(notes[::-1]).patient == Person("female", 1959)


@pytest.mark.parametrize(
    ("text", "born"),
    [
        ("A 61-year-old woman", 1959), ("61 yo F", 1959), ("61F with cough", 1959), ("aged 61", 1959),
        ("Mrs Doe, 61, comes", 1959), ("61 mg twice", 0), ("bed 61", 0),
    ],
)  # fmt: skip
def test_ages_are_told_in_the_forms_in_which_people_are(text: str, born: int) -> None:
    assert Persons([(text, 2020)]).patient.born == born


def test_an_age_and_a_sex_beside_a_statement_are_the_patients_or_anothers() -> None:
    text = "A 61-year-old woman. She is well. Her neighbor here, a 34-year-old man, has colon cancer."
    persons = Persons([(text, 2020), ("A 61-year-old woman; she and her daughter.", 2020)])
    at = text.index("colon")
    signs = persons.signs(0, text, at, (text.index("Her"), len(text)), (0, len(text)))
    assert signs["other age in sentence"] == 1.0
    assert signs["own age in sentence"] == 0.0
    assert signs["own age in paragraph"] == 1.0
    assert signs["last sex is another in sentence"] == 1.0


def _statements(text: str) -> Iterator[Statement]:
    for name in ("lung cancer", "colon cancer"):
        at = text.index(name)
        start, end = text.rindex("\n", 0, at) + 1, text.index(".", at) + 1
        yield Statement(0, at, at + len(name), (start, end), "diagnosis", name.replace(" ", "_"), True, 0)


def test_the_signs_of_a_statement_are_words_in_their_places_and_figures_of_the_record() -> None:
    text = f"{OWN}\n\n{ANOTHER}\n\n{WORDS}"
    record = Record([(text, 2020), (OWN, 2020)], list(_statements(text)))
    _, told = (record.signs(one) for one in _statements(text))
    assert {"in zebra", "pair zebra in"} <= set(told.around)
    assert {"is colon", "left has", "concept colon_cancer", "pair has <>"} <= set(told.words)
    assert told.figures["share of notes"] == 1.0
    assert told.figures["one note"] == 2.0
    assert told.figures["kin in sentence"] == 0.25


def test_points_add_up_and_what_stands_beside_counts_again() -> None:
    text = f"{OWN}\n\n{ANOTHER}\n\n{WORDS}"
    statements = list(_statements(text))
    record = Record([(text, 2020)], statements)
    alone = TrustModel(_weights(in_zebra=-6.0)).probabilities(record, statements)
    assert alone == pytest.approx([0.9526, 0.0474], abs=1e-4)
    weights = _weights(in_zebra=-6.0) | {"again own": 0.0, "again mean of sentence": 1.0, "again bias": -1.0}
    again = TrustModel(weights).probabilities(record, statements)
    assert again == pytest.approx([0.8808, 0.0180], abs=1e-4)


@pytest.mark.parametrize("text", ["in zebra\tmuch\n", "in zebra\n", "# nothing\n", "bias\t1.0\n"])
def test_what_is_no_model_of_trust_is_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trust.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadModel, match="model of trust"):
        read_model(path)


def test_the_shipped_model_doubts_the_cases_of_others_and_trusts_the_patients_own() -> None:
    """Fictional, and in no training text."""
    board = (
        "Minutes of the chest conference. Present: radiology, pathology, surgery, oncology. "
        "Case 1. Our patient, a 61-year-old woman with adenocarcinoma of the right upper lobe, EGFR L858R, is seen "
        "today after lobectomy; her margins are clear and she will be offered osimertinib once the wound has healed. "
        "She lives with her sister and walks two miles a day.\n\n"
        "Case 2. Mr. Q., 78M, smoker, small cell carcinoma, limited stage, started carboplatin and etoposide. "
        "Case 3. Mr. R., 55M, melanoma with BRAF V600E, on dabrafenib and trametinib, liver metastases smaller."
    )
    own = f"A 61-year-old woman returns. Adenocarcinoma of the right upper lobe, EGFR L858R. She feels well. {WORDS}"
    events = _journey(board, own).events
    sure = {one.concept for one in events if one.world > World.POSSIBLE}
    assert {"lung_adenocarcinoma", "egfr"} <= sure
    assert not {"braf", "melanoma", "dabrafenib"} & sure
