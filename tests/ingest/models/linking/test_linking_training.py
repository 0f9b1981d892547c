"""How the linker is trained and measured: cases, logistic models, calibration, threshold, scores."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.training.linking.cases import Case, Matched, Term, misspelt, part_of, terminology_cases
from cohortium.eval.training.linking.fit import (
    calibrated,
    calibration_error,
    fit_logistic,
    fit_signed,
    threshold_for,
)
from cohortium.eval.training.linking.mentions import corpus_mentions, corrected, judged_cases, key_of
from cohortium.eval.training.linking.training import fit, measure, prepare, untrained
from cohortium.ingest.models.linking.linker import Linker
from cohortium.ingest.models.linking.names import NameTable
from cohortium.ingest.models.linking.score import Scorer
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.rows import ConceptRow

ORGANS = ("lung", "liver", "kidney", "bladder", "stomach", "thyroid", "pancreas", "larynx", "uterus", "ovary")
CONCEPTS = ConceptTable(
    ConceptRow(f"{organ}_cancer", "tumor", f"{organ} cancer", codes=(f"DOID:{number}",))
    for number, organ in enumerate(ORGANS)
)


def test_a_logistic_model_finds_what_tells() -> None:
    """The feature that tells has the weight, noise has hardly any, and odds go with the feature."""
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(400, 2))
    right = (rows[:, 0] + 0.3 * draw.normal(size=400) > 0.5).astype(float)
    found = fit_logistic(rows, right)
    assert found.weights[0] > 5 * abs(found.weights[1])
    assert found.scores(np.array([[2.0, 0.0]]))[0] > 0 > found.scores(np.array([[-1.0, 0.0]]))[0]


def test_a_weight_against_its_sign_is_left_out() -> None:
    """Likeness that happens to count against a pair counts nothing; a free feature keeps its weight."""
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, 0.8], [0.9, 0.1]] * 20)
    right = np.array([1.0, 0.0, 1.0, 0.0] * 20)
    found = fit_signed(rows, right, np.array([1.0, 0.0]))
    assert found.weights[0] == 0
    assert found.weights[1] > 0


@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=1, max_size=120))
def test_calibration_rises_and_stays_between_0_and_1(cases: list[tuple[float, bool]]) -> None:
    """Whatever the cases, a higher score never means a lower probability."""
    points = calibrated(np.array([one for one, _ in cases]), np.array([float(hit) for _, hit in cases]), least=10)
    assert all(0 < probability < 1 for _, probability in points)
    assert [one[1] for one in points] == sorted(one[1] for one in points)


def test_the_threshold_gives_the_precision_that_is_wanted() -> None:
    """Worked by hand: of 0.9 right, 0.8 right, 0.7 wrong, 0.6 right two of two, then three of four are right."""
    probabilities, right = np.array([0.9, 0.8, 0.7, 0.6]), np.array([1.0, 1.0, 0.0, 1.0])
    assert threshold_for(probabilities, right, 0.9) == 0.8
    assert threshold_for(probabilities, right, 0.75) == 0.6
    assert threshold_for(probabilities, 1 - right, 0.9) > 1


def test_calibration_error_is_the_distance_from_the_share() -> None:
    """Half right at 0.5 is no error, all wrong at 0.5 is 0.5, no cases are no error."""
    halves = np.full(4, 0.5)
    assert calibration_error(halves, np.array([1.0, 0.0, 1.0, 0.0]), bins=1) == 0
    assert calibration_error(halves, np.zeros(4), bins=1) == 0.5
    assert calibration_error(np.zeros(0), np.zeros(0)) == 0


@given(st.sampled_from(["osimertinib", "squamous cell carcinoma", "lung", "", "HER2", "metastatic melanoma"]))
def test_a_slip_changes_one_word_of_six_letters_or_more(name: str) -> None:
    """Short names stay; others differ in one word, the same way each time."""
    wrong = misspelt(name)
    assert wrong == misspelt(name)
    changed = [one for one, other in zip(name.split(), wrong.split(), strict=True) if one != other]
    assert len(changed) <= 1
    assert all(len(word) >= 6 for word in changed)


def test_concepts_are_divided_once_for_all() -> None:
    """A concept is always in the same part, and every part has some."""
    parts = [part_of(f"concept {number}") for number in range(200)]
    assert parts == [part_of(f"concept {number}") for number in range(200)]
    assert set(parts) == {"train", "tune", "test"}


def test_cases_are_names_that_the_ontology_cannot_look_up() -> None:
    """A synonym of a known code is a case of its concept; a strange term one that stays unlinked; known names none."""
    terms = [
        Term("DOID:0", ("lung cancer", "pulmonary carcinoma"), ("tumor",), "doid"),
        Term("DOID:1", ("liver cancer",), ("tumor",), "doid"),
        Term("DOID:99", ("gout",), ("tumor",), "doid", ("DOID:1",)),
    ]
    found = {one.text: one for one in terminology_cases(Matched(CONCEPTS, terms))}
    assert set(found) == {"pulmonary carcinoma", "gout"}
    assert found["pulmonary carcinoma"].concepts == ("lung_cancer",)
    assert found["gout"].concepts == ()
    assert found["gout"].broader == ("liver_cancer",)


def test_a_fitted_linker_tells_known_from_unknown() -> None:
    """On names with slips and words of nothing: numbers can be written, read, and link what is there."""
    names = NameTable(CONCEPTS)
    cases = [
        Case(f"{organ[:-1]}{organ[-1] * 2} cancers", "diagnosis", (f"{organ}_cancer",), "slips", "tune")
        for organ in ORGANS
    ] + [Case(f"{word} disorder", "diagnosis", (), "others", "tune") for word in ("sleep", "mood", "eating", "gait")]
    linker = Linker(names, untrained())
    prepared = prepare(linker, cases)
    scorer = fit(linker, prepared, {"made": "here"})
    found = measure(linker, scorer, prepared, threshold=0.0)
    assert found["recall_at_1"] == 1
    assert found["linkable"] == len(ORGANS)
    assert json.loads(json.dumps(scorer.as_data()))["recipe"] == {"made": "here"}


def test_no_cases_measure_as_none() -> None:
    """Shares of nothing are None, not errors."""
    linker = Linker(NameTable(CONCEPTS), untrained())
    found = measure(linker, untrained(), [])
    assert found["precision"] is found["recall_at_1"] is None


def test_mentions_are_read_from_tags_and_from_brat(tmp_path: Path) -> None:
    """Spans of the known labels, whatever file they stand in (fictional texts)."""
    (tmp_path / "maccrobat").mkdir()
    (tmp_path / "maccrobat" / "1.ann").write_text(
        "T1\tSign_symptom 0 5\tcough\nT2\tAge 6 8\t50\nE1\tSign_symptom:T1\n", encoding="utf-8"
    )
    (tmp_path / "maccrobat" / "1.txt").write_text("cough 50\n", encoding="utf-8")
    folder = tmp_path / "ner_iob" / "NCBI-disease-IOB"
    folder.mkdir(parents=True)
    (folder / "train.tsv").write_text("mild\tO\ngouty\tB-Disease\nknees\tI-Disease\n\nfever\tB-Disease\n", "utf-8")
    assert list(corpus_mentions(tmp_path)) == [
        ("symptom", "cough"),
        ("comorbidity", "gouty knees"),
        ("comorbidity", "fever"),
    ]


def test_judgements_are_found_by_hash_and_hold_no_text(tmp_path: Path) -> None:
    """A judged mention becomes a case; a judged name of a terminology is corrected; others stay as they are."""
    path = tmp_path / "judged.json"
    told = {"right": ["lung_cancer"], "broader": []}
    path.write_text(
        json.dumps(
            {
                "judgements": {key_of("symptom", "Bad Lung"): told},
                "terminologies": {key_of("terminology", "lung growth"): told},
            }
        ),
        encoding="utf-8",
    )
    (case,) = judged_cases([("symptom", "bad lung"), ("symptom", "gout")], path)
    assert case.concepts == ("lung_cancer",)
    plain = Case("gout", "diagnosis", (), "doid", "tune")
    assert corrected([Case("lung growth", "diagnosis", (), "doid", "tune"), plain], path)[0].concepts == (
        "lung_cancer",
    )
    assert corrected([plain], path) == [plain]


def test_shipped_judgements_name_concepts_that_exist() -> None:
    """Every concept that was judged right or broader is one of the shipped ontology."""
    from cohortium.eval.training.linking.mentions import JUDGEMENTS

    told = json.loads(JUDGEMENTS.read_text(encoding="utf-8"))
    concepts = shipped_concepts()
    held = [one for part in ("judgements", "terminologies") for one in told[part].values()]
    assert len(told["judgements"]) >= 150
    assert {name for one in held for name in (*one["right"], *one["broader"]) if name not in concepts} == set()


def test_shipped_numbers_were_fitted_to_the_shipped_vectors() -> None:
    """The recipe beside the numbers names the very vectors that are shipped."""
    from cohortium.ingest.models.linking.encoders import GramEncoder

    assert Scorer.load().recipe["encoder"] == GramEncoder.load().signature()
    assert Scorer.load(encoder="none").recipe["encoder"] is None


def test_vectors_of_synonyms_come_near() -> None:
    """After training, the two names of a concept are nearer than names of others."""
    pytest.importorskip("torch")
    from cohortium.eval.training.linking.vectors import VectorSettings, train_vectors

    adjectives = ("pulmonary", "hepatic", "renal", "vesical", "gastric", "thyroidal", "pancreatic", "laryngeal")
    pairs = [(organ, organ, adjective) for organ, adjective in zip(ORGANS, adjectives, strict=False)] * 4
    encoder = train_vectors(pairs, VectorSettings(buckets=512, dimension=16, epochs=20, batch=16, slips=0))
    lung, pulmonary, renal = encoder.encode(["lung", "pulmonary", "renal"])
    assert lung @ pulmonary > lung @ renal
