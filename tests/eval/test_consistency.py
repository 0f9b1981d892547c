"""The consistency run: on the sample notes nothing fails, and what is wrong is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyroaring import BitMap

import cohortium
from cohortium.engine.api import OpenKb
from cohortium.engine.reference import meaning as reference
from cohortium.eval.bank.acr.bank import BankQuery, load_bank
from cohortium.eval.bank.consistency import run
from cohortium.eval.bank.consistency.laws import LAWS, Law, Pair
from cohortium.eval.bank.consistency.pairs import Intersection, Paraphrase, Subtype, load_paraphrases, written
from cohortium.eval.bank.consistency.report import HOLDS, Report
from cohortium.eval.bank.consistency.run import run_consistency
from cohortium.kb.model import World
from cohortium.query_lang.resolution.resolve import resolve_text

SOME = load_bank()[::5]


@pytest.fixture(scope="module")
def kb(samples_kb: Path) -> Iterator[OpenKb]:
    """The knowledge base of the sample notes."""
    with cohortium.open(samples_kb) as session:
        yield session


@pytest.fixture(scope="module")
def whole(kb: OpenKb) -> Report:
    """All shipped pairs, and the laws of some queries of the bank (all of them take long)."""
    return run_consistency(kb, bank=SOME)


def test_the_sample_notes_are_answered_consistently(whole: Report) -> None:
    """Every shipped pair and every law holds."""
    failed = [one.as_dict() for compared in whole.sections.values() for one in compared if one.failed]
    assert failed == []
    assert whole.consistent


def test_the_paraphrases_hold_by_the_definition_of_every_node(kb: OpenKb) -> None:
    """In the reference engine as well."""
    journeys = [kb.journey(patient).journey for patient in kb.patients]
    for pair in load_paraphrases():
        left, right = (resolve_text(written(text), kb.concepts, kb.scales) for text in (pair.left, pair.right))
        for world in (World.BELIEVED,) if pair.believed_only else (World.CERTAIN, World.BELIEVED, World.POSSIBLE):
            answers = [reference.evaluate(one, journeys, kb.concepts, kb.scales, world) for one in (left, right)]
            assert answers[0] == answers[1], (pair, world)


def test_most_comparisons_are_of_patients(whole: Report) -> None:
    """Half of the paraphrases and of the intersections, and each law, are met by sets that are not empty."""
    told = whole.as_dict()
    for section in ("paraphrases", "intersections", "subtypes"):
        assert told[section][HOLDS[section]] > told[section]["pairs"] / 2
    assert all(counts["held"] >= 5 for counts in told["laws"]["by_kind"].values())


def test_the_counts_add_up(whole: Report) -> None:
    """In every section and kind, pairs = those that hold + trivial + failed; each law is asked of each query."""
    told = whole.as_dict()
    for section, word in HOLDS.items():
        part = told[section]
        assert part["pairs"] == part[word] + part["trivial"] + len(part["failed"])
        assert part["pairs"] == sum(counts["pairs"] for counts in part["by_kind"].values())
        for counts in part["by_kind"].values():
            assert counts["pairs"] == counts[word] + counts["trivial"] + counts["failed"]
    assert {law.name: len(SOME) for law in LAWS} == {
        kind: counts["pairs"] for kind, counts in told["laws"]["by_kind"].items()
    }


def test_the_signature_makes_the_run_repeatable(whole: Report, kb: OpenKb) -> None:
    """It names the program, the state of the knowledge base and the pairs."""
    signature = whole.as_dict()["signature"]
    assert signature["kb"]["generation"] == kb.info()["generation"]
    assert signature["cohortium"] == cohortium.__version__
    assert len(signature["pairs_sha256"]) == 64


def only(kb: OpenKb, **parts: list[Paraphrase] | list[Intersection] | list[Subtype]) -> Report:
    """A run of these pairs alone, with two queries for the laws."""
    bank = [one for one in load_bank() if one.id in (57, 58)]
    return run_consistency(kb, **{"paraphrases": [], "intersections": [], "subtypes": [], "bank": bank, **parts})  # type: ignore[arg-type]


def test_a_paraphrase_that_is_none_is_found_with_its_patients(kb: OpenKb) -> None:
    """Both queries, the world, and the patients on either side."""
    report = only(kb, paraphrases=[Paraphrase("synonym", "diagnosis 'lung cancer'", "diagnosis 'breast cancer'")])
    assert not report.consistent
    (failed,) = report.as_dict()["paraphrases"]["failed"]
    assert (failed["left"], failed["right"]) == ("diagnosis 'lung cancer'", "diagnosis 'breast cancer'")
    believed = {one["world"]: one for one in failed["differences"]}["believed"]
    assert believed["only_left"] == list(kb.find("diagnosis 'lung cancer' except diagnosis 'breast cancer'"))
    assert believed["only_right"] == list(kb.find("diagnosis 'breast cancer' except diagnosis 'lung cancer'"))
    assert believed["only_left"]
    assert believed["only_right"]


def test_bounds_that_differ_count_unless_only_the_answer_is_wanted(kb: OpenKb) -> None:
    """A fact that is only possible makes two queries differ in the possible world, where that is looked at."""
    left = "diagnosis 'malignant neoplasm'"
    right = "diagnosis 'malignant neoplasm' before 2020 or diagnosis 'malignant neoplasm' since 2020"
    assert only(kb, paraphrases=[Paraphrase("time", left, right)]).consistent
    wide = next(
        text
        for text in ("metastasis", "diagnosis 'lung cancer'", "biomarker", "surgery", "state 'progressive disease'")
        if len(kb.find(text).possible) > len(kb.find(text))
    )
    # There is a first one or there is none: everyone in the believed world, and nothing tells that both ask one fact.
    both = Paraphrase("boolean", f"first {wide} or not {wide}", "death or not death", believed_only=True)
    assert only(kb, paraphrases=[both]).consistent
    assert not only(kb, paraphrases=[Paraphrase(both.kind, both.left, both.right)]).consistent
    assert only(kb, paraphrases=[Paraphrase("boolean", f"{wide} or not {wide}", "death or not death")]).consistent


def test_equal_empty_sets_are_counted_apart(kb: OpenKb) -> None:
    """They agree, and show little."""
    told = only(
        kb, paraphrases=[Paraphrase("boolean", "death and not death", "surgery except surgery", True)]
    ).as_dict()
    assert told["paraphrases"] | {"by_kind": {}} == {
        "pairs": 1, "equal": 0, "trivial": 1, "failed": [], "by_kind": {},
    }  # fmt: skip


def test_a_query_that_cannot_be_answered_fails_its_pair(kb: OpenKb) -> None:
    """With the reason, and the run goes on."""
    pairs = [
        Paraphrase("brand", "medication nosuchdrug", "death"),
        Paraphrase("brand", "surgery", "surgery or surgery"),
    ]
    told = only(kb, paraphrases=pairs).as_dict()["paraphrases"]
    assert "nosuchdrug" in told["failed"][0]["error"]
    assert told["equal"] == 1


def test_an_intersection_that_is_none_is_found(kb: OpenKb) -> None:
    """The answer to both is held against what the two answers share, asked apart."""
    wrong = Intersection("surgery", "diagnosis 'breast cancer'", "surgery or diagnosis 'breast cancer'")
    right = Intersection("surgery", "diagnosis 'breast cancer'", "diagnosis 'breast cancer' and surgery")
    told = only(kb, intersections=[wrong, right, Intersection(right.left, right.right)]).as_dict()["intersections"]
    assert [one["left"] for one in told["failed"]] == [wrong.both]
    assert told["equal"] == 2


def test_a_child_that_is_no_subset_is_found(kb: OpenKb) -> None:
    """And what the parent has more than the child is no fault."""
    told = only(kb, subtypes=[Subtype(58, 57, "wrong"), Subtype(57, 57, "itself")]).as_dict()["subtypes"]
    (failed,) = told["failed"]
    assert (failed["left"], failed["right"]) == ("bank 58", "bank 57 (wrong)")
    assert all(one["only_left"] and not one["only_right"] for one in failed["differences"])
    assert told["contained"] == 1


def test_a_law_that_is_broken_is_found(kb: OpenKb, monkeypatch: pytest.MonkeyPatch) -> None:
    """A union that loses what only one side has."""

    def broken(pair: Pair) -> Iterator[tuple[str, BitMap, BitMap]]:
        yield "believed", pair.both.numbers, pair.a.cohort.numbers | pair.b.cohort.numbers

    monkeypatch.setattr(run, "LAWS", (Law("union", "A or B", "A | B", broken),))
    failed = only(kb).as_dict()["laws"]["failed"]
    assert failed[0]["left"] == "A or B; A = bank 57, B = bank 58"


def test_a_bank_query_that_cannot_be_answered_fails_its_laws_only(kb: OpenKb) -> None:
    """The laws of the others are still asked."""
    bank = [BankQuery(1, "", "base", "diagnosis nosuchdisease"), BankQuery(2, "", "base", "death")]
    told = run_consistency(kb, paraphrases=[], intersections=[], subtypes=[], bank=bank).as_dict()["laws"]
    assert all("A = bank 1" in one["left"] or "B = bank 1" in one["left"] for one in told["failed"])
    unary = [law.name for law in LAWS if not law.binary]
    assert all(told["by_kind"][name]["failed"] == 1 for name in unary)
