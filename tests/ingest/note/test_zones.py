"""Stretches of a note that are about nobody, or about another patient, state no fact of this one."""

from __future__ import annotations

import pytest

import cohortium
from tests.places import ROOT

#: A stretch that is about nobody, and a concept that it names.
ABOUT_NOBODY = {
    "a gene at large": (
        "KRAS mutations are found in approximately 40% of pancreatic cancers and are associated with resistance to "
        "cetuximab. Patients with BRAF V600E have a poor prognosis (Marr et al. 2019).",
        "cetuximab",
    ),
    "how a test is made": (
        "Test methodology: hybrid capture sequencing of EGFR, ALK and ROS1 fusions. The limit of detection is 5%. This "
        "test was developed by the laboratory and has not been cleared or approved by the FDA.",
        "alk",
    ),
    "a handout": (
        "What are the possible side effects? You may have mouth sores, hair loss or diarrhea. Call your care team if "
        "you have a fever. Do not take ibuprofen without asking your doctor.",
        "alopecia",
    ),
    "whom a trial wants": (
        "Key inclusion criteria: metastatic melanoma, ECOG 0 to 1. Key exclusion criteria: active brain metastases, "
        "prior ipilimumab within 4 weeks. Patients must have adequate organ function.",
        "ipilimumab",
    ),
    "the literature": (
        "In the randomized trial of Obel et al., olaparib improved median progression free survival among women with "
        "ovarian cancer who carry a BRCA1 mutation (hazard ratio 0.3).",
        "olaparib",
    ),
}


def _read(text: str) -> list[tuple[str, bool]]:
    """Concept of each mention, and whether the patient has it."""
    return [
        (one.concept, one.polarity == "present" and one.temporality != "hypothetical" and one.experiencer == "patient")
        for one in cohortium.read(text, "2021-02-03").mentions
    ]


@pytest.mark.parametrize("kind", ABOUT_NOBODY)
@pytest.mark.parametrize("joint", ["\n\n", "\n"])
def test_what_is_about_nobody_is_nobody_s(kind: str, joint: str) -> None:
    """Between two statements about the patient, which stay the patient's."""
    stretch, named = ABOUT_NOBODY[kind]
    before = "She was seen today for colon cancer and started FOLFOX on 1/4/2021."
    after = "Her liver metastases are stable on the CT of 2/1/2021."
    read = _read(joint.join([before, stretch, after]))
    assert (named, True) not in read
    assert any(concept == named for concept, _ in read), "it stays a mention"
    assert {("colon_cancer", True), ("folfox", True), ("liver", True)} <= set(read)


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Patient with known breast cancer is on letrozole.", "letrozole"),
        ("Method: next generation sequencing. KRAS G12D: DETECTED (VAF 22%) in this specimen.", "kras"),
        ("If you have questions call the clinic. He has diarrhea on capecitabine.", "capecitabine"),
        ("Her tumor is associated with a BRCA1 mutation; she has ovarian cancer.", "ovarian_cancer"),
        ("Teaching done today: she understands that her fatigue is from paclitaxel.", "paclitaxel"),
    ],
)
def test_what_is_said_of_the_patient_stays_hers(text: str, concept: str) -> None:
    """Words of handouts and methods beside a fact do not take it away."""
    assert (concept, True) in _read(text)


def test_another_patient_s_case() -> None:
    """What follows in the minutes is somebody else's, to the next heading."""
    read = _read(
        "She has lung cancer and was given osimertinib.\n\nNext patient: 71M, melanoma, on nivolumab.\n\nPlan: CT."
    )
    assert ("osimertinib", True) in read
    assert ("nivolumab", True) not in read


def test_the_time_it_takes_grows_with_the_text() -> None:
    """Looked at: sentences, and what was said of each, once."""
    from cohortium.ingest.text import zones

    counted: list[int] = []
    original = zones._said

    def count(*given: object) -> object:
        counted.append(1)
        return original(*given)  # type: ignore[arg-type]

    for times in (20, 40):
        counted.clear()
        zones._said = count  # type: ignore[assignment]
        try:
            cohortium.read("Patients with melanoma may benefit from nivolumab. " * times, "2020-01-01")
        finally:
            zones._said = original
        assert len(counted) <= times + 2


def test_what_a_pattern_needs_stands_in_whatever_it_matches() -> None:
    """What a sentence must hold before a pattern is tried on it leaves out nothing that the pattern would find."""
    from cohortium.ingest.text.gates import places_of
    from cohortium.ingest.text.words import words_of
    from cohortium.ingest.text.zones import zone_table

    table = zone_table()
    lines = {
        line
        for path in (ROOT / "benchmarks" / "reading" / "long_notes" / "learned").rglob("*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
    }
    found = [0] * len(table.patterns)
    for line in lines:
        places = places_of(words_of(line))
        for number, one in enumerate(table.patterns):
            if one.pattern.search(line):
                found[number] += 1
                assert one.may_match(line.lower(), places, 0, len(line)), (one.evidence.why, line)
    assert sum(map(bool, found)) > len(found) // 2
