"""The Python API on a stored knowledge base: cohorts, their algebra, explanations, journeys."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cohortium
from cohortium.engine.answers.journey import timeline
from cohortium.kb.errors import MissingKb, UnknownPatient, UsageError
from cohortium.kb.model import (
    Context,
    DayInterval,
    Decision,
    Event,
    Journey,
    Mention,
    Note,
    Polarity,
    Temporality,
    World,
)
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang import nodes as q

TEXT = "Seen today. Carcinoma of the left breast.  HER2 is positive; stage is perhaps II."
DATE = datetime.date(2020, 3, 4)
TODAY = DayInterval(DATE.toordinal(), DATE.toordinal())


def patient() -> Journey:
    """A patient with a tumor, a marker, an uncertain stage and a decision."""
    note = Note("P1", "visit-1", TEXT, DATE, "clinic")

    def mention(words: str, kind: str, concept: str) -> Mention:
        start = TEXT.index(words)
        first = TEXT.rindex(".", 0, start) + 2
        sentence = (first, TEXT.index(".", start) + 1)
        return Mention(
            note.note_id, start, start + len(words), words, kind, "X", concept, source="lexicon:test", sentence=sentence
        )

    tumor = mention("Carcinoma of the left breast", "diagnosis", "breast_cancer")
    marker = mention("HER2 is positive", "biomarker", "her2")
    events = (
        Event(
            "P1",
            "diagnosis",
            "breast_cancer",
            TODAY,
            attributes={"laterality": "left"},
            tumor="t1",
            evidence=(tumor.mention_id,),
        ),
        Event(
            "P1",
            "biomarker",
            "her2",
            TODAY,
            attributes={"result": "positive"},
            tumor="t1",
            evidence=(marker.mention_id,),
            sources=2,
        ),
        Event(
            "P1",
            "stage",
            "",
            TODAY,
            attributes={"stage": "II"},
            context=Context(Polarity.UNCERTAIN),
            world=World.POSSIBLE,
            tumor="t1",
        ),
    )
    decision = Decision("P1", "later_report_wins", (events[1].event_id,), (), "The later report counts.")
    return Journey("P1", (note,), (tumor, marker), (), events, (decision,))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of three patients."""
    folder = tmp_path_factory.mktemp("api") / "small.kb"
    other = Event("P2", "diagnosis", "lung_cancer", DayInterval(), tumor="t1")
    build_generation(folder, [Journey("P3"), patient(), Journey("P2", events=(other,))])
    return folder


@pytest.fixture(scope="module")
def kb(path: Path):
    """It, open."""
    with cohortium.open(path) as opened:
        yield opened


def test_a_cohort_is_a_sorted_set_of_patient_ids(kb) -> None:
    """len, iter, in."""
    cohort = kb.find("not death")
    assert list(cohort) == ["P1", "P2", "P3"]
    assert len(cohort) == 3
    assert "P2" in cohort
    assert "P9" not in cohort
    assert 1 not in cohort
    assert list(kb.find("diagnosis of breast cancer")) == ["P1"]


def test_the_three_worlds_of_a_cohort(kb) -> None:
    """.certain and .possible are cohorts of the same query."""
    cohort = kb.find("stage II")
    assert (list(cohort), list(cohort.certain), list(cohort.possible)) == ([], [], ["P1"])
    assert cohort.possible.query == cohort.query
    assert cohort.possible.believed.world is World.BELIEVED


def test_algebra_is_that_of_sets_and_says_its_query(kb) -> None:
    """&, | and - give the intersection, union and difference, and a query that gives the same again."""
    breast, lung, alive = (
        kb.find("diagnosis of breast cancer"),
        kb.find("diagnosis of lung cancer"),
        kb.find("not death"),
    )
    assert list(breast & alive) == ["P1"]
    assert list(breast | lung) == ["P1", "P2"]
    assert list(alive - breast) == ["P2", "P3"]
    for cohort in (breast & alive, breast | lung | alive, alive - breast - lung):
        assert list(kb.find(cohort.resolved)) == list(cohort)


def test_definitions_of_joined_cohorts_do_not_mix(kb) -> None:
    """The same name for two things stays two things."""
    one = kb.find("let mine be diagnosis of breast cancer; mine and not death")
    two = kb.find("let mine be diagnosis of lung cancer; mine and not death")
    assert list(one | two) == ["P1", "P2"]
    assert list(one & one) == ["P1"]
    assert list(kb.find((one | two).resolved)) == ["P1", "P2"]


def test_only_believed_cohorts_of_one_kb_are_joined(kb, tmp_path: Path) -> None:
    """Anything else is an error that says what to do."""
    build_generation(tmp_path / "other.kb", [Journey("P1")])
    with cohortium.open(tmp_path / "other.kb") as other, pytest.raises(UsageError, match="different knowledge bases"):
        kb.find("death") & other.find("death")
    with pytest.raises(UsageError, match="believed"):
        kb.find("death").certain | kb.find("death")
    with pytest.raises(TypeError):
        kb.find("death") & {"P1"}


def test_the_contract_of_to_dict_and_to_arrow(kb) -> None:
    """The keys that outsiders use."""
    cohort = kb.find("diagnosis of breast cancer or stage II")
    assert cohort.to_dict() == {
        "query": "diagnosis of breast cancer or stage II",
        "resolved": cohort.resolved,
        "count": 1,
        "certain": 1,
        "possible": 1,
        "patients": ["P1"],
    }
    assert cohort.to_arrow().to_pylist() == [{"patient_id": "P1", "certainty": "certain"}]
    assert kb.find("stage II").possible.to_arrow()["certainty"].to_pylist() == ["possible"]


def test_counts_by_part(kb) -> None:
    """Each sub-expression with its depth and its three counts."""
    counts = kb.find("diagnosis of breast cancer and not (stage II)").counts_by_part()
    assert [(part.depth, part.certain, part.believed, part.possible) for part in counts] == [
        (0, 1, 1, 1),
        (0, 2, 3, 3),
        (1, 0, 0, 1),
    ]


def test_explain_gives_truth_and_quoted_evidence(kb) -> None:
    """For each criterion its certainty, the events, and the sentence with document, date and span."""
    told = kb.find("same tumor (diagnosis of breast cancer and HER2 positive) and not (stage II)").explain("P1")
    assert told.certainty == "believed"
    scoped, negated = told.criterion.parts
    assert (scoped.certainty, negated.certainty, negated.parts[0].certainty) == ("certain", "believed", "possible")
    assert "t1" in scoped.scope
    diagnosis, marker = scoped.parts[0].parts
    (event,) = diagnosis.events
    assert (event.kind, event.when, event.attributes, event.tumor) == (
        "diagnosis",
        "2020-03-04",
        {"laterality": "left"},
        "t1",
    )
    (quote,) = event.quotes
    assert quote.sentence == "Carcinoma of the left breast."
    assert TEXT[quote.start : quote.end] == quote.text == "Carcinoma of the left breast"
    assert (quote.doc_id, quote.date) == ("visit-1", "2020-03-04")
    assert marker.events[0].decisions == ("The later report counts.",)
    assert quote.sentence in told.as_text()
    json.dumps(told.as_dict())


def test_explain_shows_what_does_not_count(kb) -> None:
    """An event of the kind and concept that fails the condition stands beside those that count."""
    told = kb.find("biomarker HER2 negative").explain("P1")
    assert told.certainty == "no"
    assert not told.criterion.events
    assert [event.name for event in told.criterion.others] == [kb.concepts.name("her2")]
    with pytest.raises(UnknownPatient):
        kb.find("death").explain("P7")


def test_a_journey_is_in_order_of_time_with_decisions(kb) -> None:
    """Rows for people, model objects, and how conflicts were resolved."""
    record = kb.journey("P1")
    assert [row.kind for row in record.rows] == ["biomarker", "diagnosis", "stage"]
    assert record.events == patient().events
    assert record.decisions[0].explanation == "The later report counts."
    assert record.decisions[0].believed[0].kind == "biomarker"
    assert kb.journey("P2").rows[0].when == "undated"
    json.dumps(record.as_dict())


def test_find_takes_a_tree(kb) -> None:
    """A query built from nodes is resolved like a text."""
    tree = q.Query(q.Exists(q.Events("diagnosis", q.Under(q.Name("lung cancer")))))
    assert list(kb.find(tree)) == ["P2"]


def test_errors_are_told(kb, tmp_path: Path) -> None:
    """A wrong query, a wrong statement and a missing kb each have their own error."""
    with pytest.raises(cohortium.CohortiumError) as caught:
        kb.find("diagnosis of brest cancer")
    assert caught.value.exit_code == 3
    with pytest.raises(MissingKb):
        cohortium.open(tmp_path / "nothing.kb")
    with pytest.raises(cohortium.CohortiumError):
        kb.sql("anything")


def test_threads_share_an_open_kb(kb) -> None:
    """Answers are the same from many threads at once."""
    answers: list[list[str]] = []

    def ask() -> None:
        for _ in range(5):
            answers.append(list(kb.find("(latest HER2 positive) or (diagnosis of lung cancer and not first death)")))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    assert all(answer == answers[0] for answer in answers)


def test_a_whole_query_loads_no_slow_package(path: Path) -> None:
    """From opening to explaining, neither networkx nor torch nor transformers is imported."""
    code = (
        "import sys, cohortium\n"
        "kb = cohortium.open(sys.argv[1])\n"
        "cohort = kb.find('same tumor (diagnosis of breast cancer and HER2 positive) and not first stage II')\n"
        "cohort.explain(list(cohort)[0]), kb.journey('P1'), kb.info(), cohort.counts_by_part()\n"
        "print([name for name in ('networkx', 'torch', 'transformers') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_journey_tells_its_lines_of_therapy() -> None:
    """Each line of a tumor with its drugs, days, intents and reasons; what was only planned is none."""
    planned = Context(temporality=Temporality.PLANNED)
    events = (
        Event("P1", "medication", "docetaxel", TODAY, attributes={"line": 1.0, "reason": "progression"}, tumor="t1"),
        Event("P1", "regimen", "folfox", TODAY, attributes={"line": 1.0}, tumor="t1"),
        Event("P1", "medication", "tamoxifen", TODAY, TODAY, {"line": 2.0, "intent": "palliative"}, tumor="t1"),
        Event("P1", "medication", "olaparib", attributes={"line": 3.0}, context=planned, world=World.NONE, tumor="t1"),
    )
    told = timeline(Journey("P1", events=events), shipped_concepts())
    first, second = told.lines
    assert (first.line, first.since, first.until, first.treatments) == (1, DATE.isoformat(), "", ("docetaxel",))
    assert (first.intents, first.reasons) == ((), ("progression",))
    assert (second.line, second.until, second.treatments) == (2, DATE.isoformat(), ("tamoxifen",))
    assert second.intents == ("palliative",)
    assert told.as_dict()["lines"][0]["line"] == 1
