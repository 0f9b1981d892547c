"""An empty answer says which criterion nobody meets, and what is recorded near it: every count is that of its query."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.engine.api import OpenKb
from cohortium.engine.commands.repl import Conversation
from cohortium.engine.tables import WorldName, cohort_payload, print_cohort
from cohortium.kb.model import World

ATOMS = (
    "breast cancer", "lung cancer", "melanoma", "diagnosis exactly cancer", "variant HER2", "HER2 = positive",
    "HER2 = negative", "ECOG <= 1", "ECOG >= 4", "latest ECOG = 2", "trastuzumab", "planned trastuzumab", "carboplatin",
    "medication 'systemic therapy' before 2019", "metastasis to liver", "suspected metastasis to liver",
    "no evidence of metastasis", "breast cancer before trastuzumab", "trastuzumab before breast cancer",
    "trastuzumab on at least 2 days", "family history of breast cancer", "surgery", "procedure mastectomy",
    "breast cancer after 2019-04", "death", "undisputed lung cancer", "state 'progressive disease'",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "criterion", "near"),
    [
        ("variant HER2", "variant ERBB2", ["2 have it as biomarker"]),
        ("lung cancer and surgery lobectomy", "surgery 'lung lobectomy'", []),
        ("ECOG >= 4", "ECOG >= 4", ["3 have it with other values: "]),
        ("trastuzumab before 2019", "medication trastuzumab until 2018-12-31", ["1 have it at another time: "]),
        ("planned carboplatin", "planned medication carboplatin", ["1 have it as a fact: "]),
        ("metastasis to liver", "metastasis to liver", []),
        ("family history of breast cancer", "family history of diagnosis breast cancer", ["3 have it as a fact: "]),
        ("let a be melanoma; a and breast cancer", "diagnosis melanoma", []),
        ("brain cancer or melanoma", "diagnosis melanoma", []),
        ("at least 2 of (melanoma, glioma, breast cancer)", "diagnosis melanoma", []),
    ],
)
def test_the_criterion_that_nobody_meets(kb: OpenKb, text: str, criterion: str, near: list[str]) -> None:
    """It is named as it was understood, with other kinds, values, times and contexts under which there is somebody."""
    empty = kb.find(text).why_empty()
    assert empty is not None
    told = {part.criterion.replace("'", ""): part for part in empty.parts}
    assert criterion.replace("'", "") in told
    lines = "\n".join(told[criterion.replace("'", "")].lines())
    assert all(one in lines for one in near)
    assert "why-not" in list(empty.lines())[-1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("breast cancer and metastasis to brain", "each criterion is met, and nobody meets them together: "),
        ("HER2 = positive except breast cancer", "all of"),
        ("not ECOG <= 5", "nobody"),
        ("same tumor (breast cancer and lung cancer)", "nobody in one and the same tumor"),
        ("trastuzumab before breast cancer", "by themselves: "),
        ("carboplatin on at least 2 days", "by themselves: "),
    ],
)
def test_criteria_that_are_met_and_not_together(kb: OpenKb, text: str, says: str) -> None:
    """Where each has somebody, the join is what nobody meets."""
    cohort = kb.find(text)
    empty = cohort.why_empty()
    assert (empty is None) == bool(len(cohort))
    if empty is not None:
        assert says in "\n".join(empty.lines())


def test_a_possible_patient_is_told(kb: OpenKb) -> None:
    """What a note leaves open is no emptiness for good."""
    empty = kb.find("metastasis to liver").why_empty()
    assert empty is not None
    assert empty.parts[0].possible == 1
    assert kb.find("metastasis to liver").possible.why_empty() is None


def test_every_form_of_an_answer_has_it(kb: OpenKb, capsys: pytest.CaptureFixture[str]) -> None:
    """Table, JSON and conversation; an answer with patients has none of it."""
    cohort = kb.find("variant HER2")
    payload = cohort_payload(cohort, WorldName.BELIEVED, 20)
    assert payload["empty"][0]["near"] == ({"how": "have it as biomarker", "count": 2, "query": "biomarker HER2"},)
    print_cohort(cohort, payload, 20)
    assert "2 have it as biomarker: biomarker HER2" in capsys.readouterr().out
    assert Conversation(kb).reply("variant HER2")
    assert "2 have it as biomarker: biomarker HER2" in capsys.readouterr().out
    assert "empty" not in cohort_payload(kb.find("breast cancer"), WorldName.BELIEVED, 20)
    assert kb.find("breast cancer").why_empty() is None


def drawn(random: Random, depth: int) -> str:
    """A query over these records, nested at most so deep."""
    one = random.choice(ATOMS)
    if depth == 0:
        return one
    left, right = drawn(random, depth - 1), drawn(random, depth - 1)
    shape = random.choice(
        ["({}) and ({})", "({}) or ({})", "({}) except ({})", "not ({})", "at least 2 of ({}, {})"]
        + ["same tumor (({}) and ({}))"] * (depth == 1)
    )
    return shape.format(left, right)


@given(seed=st.integers(0, 2**32))
def test_what_is_told_is_so(kb: OpenKb, seed: int) -> None:
    """Of drawn queries that find nobody: a criterion is named, and each query near it finds as many as are told."""
    random = Random(f"empty {seed}")
    cohort = kb.find(drawn(random, random.randint(0, 3))).in_world(random.choice([World.BELIEVED, World.CERTAIN]))
    empty = cohort.why_empty()
    assert (empty is None) == bool(len(cohort))
    for part in () if empty is None else empty.parts:
        assert part.why
        for near in part.near:
            assert len(kb.find(near.query).in_world(cohort.world)) == near.count > 0
    assert empty is None or empty.parts
