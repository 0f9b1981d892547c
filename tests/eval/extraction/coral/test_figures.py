"""BLEU-4, ROUGE-1 and exact match, by hand: the examples of the paper, several pairs, nothing on one side or both."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.extraction.coral.scores import (
    Convention,
    bleu_4,
    bleu_4_of_tables,
    pairs,
    rouge_1,
    rouge_1_of_tables,
    score,
    stated,
)
from cohortium.eval.extraction.coral.tasks import Task
from cohortium.ingest.coral_schema.tuples import Finding

OUTPUT, GOLD = "chest MRI: december 2015", "MRI: 12th december 2015"
PAIRS = st.frozensets(st.text("abc :12", min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=4)


@pytest.mark.parametrize("bleu", [bleu_4, bleu_4_of_tables])
def test_the_papers_example_has_a_bleu_of_45(bleu) -> None:
    """Supplement, "BLEU and ROUGE metric example": 0.45, however single words are smoothed."""
    assert round(bleu(OUTPUT, [GOLD]), 2) == 0.45


@pytest.mark.parametrize("rouge", [rouge_1, rouge_1_of_tables])
def test_the_papers_example_has_a_rouge_of_75(rouge) -> None:
    """Of *mri, 12th, december, 2015* the output has three; the colon is no word."""
    assert rouge(OUTPUT, GOLD) == 0.75


def test_the_example_by_hand() -> None:
    """Tokens chest mri : december 2015 against mri : 12th december 2015: 4 of 5, 2 of 4, 0 of 3, 0 of 2 match."""
    by_hand = 4 / 5 * (2 + 1) / (4 + 1) * 1 / (3 + 1) * 1 / (2 + 1)
    assert math.isclose(bleu_4(OUTPUT, [GOLD]), by_hand**0.25)
    by_hand = (4 + 1) / (5 + 1) * 3 / 5 * 1 / 4 * 1 / 3
    assert math.isclose(bleu_4_of_tables(OUTPUT, [GOLD]), by_hand**0.25)


def test_the_example_as_a_unit_has_both_figures() -> None:
    """One pair of the output, one of the gold: the figures of the example, and no exact match."""
    found = score({OUTPUT.lower()}, {GOLD.lower()})
    assert (round(found.bleu, 2), found.rouge, found.f1) == (0.45, 0.75, 0.0)


def test_a_spelling_apart_is_no_exact_match() -> None:
    """The paper: *ER+: 2020* and *ER positive: 2020* are different answers."""
    found = score({"er+: 2020"}, {"er positive: 2020"})
    assert (found.precision, found.recall, found.f1) == (0.0, 0.0, 0.0)
    assert found.rouge == 2 / 3


def test_short_texts_are_not_punished_for_being_short() -> None:
    """Two tokens have no three in a row: an exact match is 1 all the same."""
    assert bleu_4("mri: 2015", ["mri: 2015"]) == 1.0
    assert bleu_4("iia", ["iia"]) == 1.0
    assert bleu_4_of_tables("iia", ["iia"]) == pytest.approx(1)


def test_nothing_in_common_is_zero_by_the_papers_definition_and_not_as_its_tables_were_computed() -> None:
    """One word against another: (0+1)/(1+1) to the fourth root is 0.84 where single words are smoothed, too."""
    assert bleu_4("fever", ["pain"]) == 0
    assert bleu_4_of_tables("fever", ["pain"]) == pytest.approx(0.5**0.25)


def test_an_output_shorter_than_its_reference_is_punished() -> None:
    """*mri* against *mri : 2015*: all of its words are right, and the brevity penalty is e to the 1 - 3/1."""
    assert bleu_4("mri", ["mri: 2015"]) == pytest.approx(math.exp(-2))
    assert bleu_4_of_tables("mri", ["mri: 2015"]) == pytest.approx(math.exp(-2))


def test_the_closest_reference_is_the_length_in_the_paper_and_the_shortest_in_the_tables() -> None:
    """Two tokens against references of one and of two: the shortest cannot punish it."""
    assert bleu_4("left breast", ["left breast", "mri"]) == pytest.approx(1)
    assert bleu_4_of_tables("left", ["left breast", "mri"]) == pytest.approx(1)


def test_each_output_is_held_against_all_of_the_gold() -> None:
    """Two outputs, one exact, one without a common word: BLEU is their mean; each gold takes its best output."""
    found = score({"fever: 2015", "cough"}, {"fever: 2015", "pain: 2016"})
    assert found.bleu == pytest.approx(1 / 2)
    assert found.rouge == pytest.approx((1 + 0) / 2)
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)


def test_more_output_than_gold_costs_precision_alone() -> None:
    """One right of three: precision a third, recall 1, F1 a half."""
    found = score({"a: 1", "b: 2", "c: 3"}, {"a: 1"})
    assert (found.precision, found.recall, found.f1) == (1 / 3, 1.0, 0.5)
    assert found.rouge == 1


def test_nothing_on_both_sides_is_right_and_on_one_side_is_not(symptoms: Task) -> None:
    """Without a finding the pair says so; it equals the other side's where that has none either."""
    fever = Finding("fever", {"Datetime": ("2015",)})
    none, one = pairs(symptoms, ()), pairs(symptoms, [fever])
    assert none == {"Symptoms Datetime": frozenset({"unknown: unknown"})}
    name = "Symptoms Datetime"
    both = score(none[name], none[name], annotated=False)
    assert (both.bleu, both.rouge, both.f1) == (pytest.approx(1), 1.0, 1.0)
    for output, gold in ((none, one), (one, none)):
        found = score(output[name], gold[name])
        assert (found.rouge, found.precision, found.recall, found.f1) == (0.0, 0.0, 0.0, 0.0)
        # The colon is a token of BLEU and stands in both.
        assert found.bleu == pytest.approx((1 / 3 * 1 / 3 * 1 / 2 * 1) ** 0.25)


def test_an_empty_set_has_no_figures() -> None:
    """That nothing was found is a pair; no pair at all is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least"):
        score((), {"a"})
    with pytest.raises(ValueError, match="at least"):
        score({"a"}, ())


def test_pairs_are_compared_in_small_letters_and_single_blanks(symptoms: Task) -> None:
    """Case, blanks and kinds of quotation marks are no difference; several values are several pairs."""
    finding = Finding("Crohn’s  Pain", {"Datetime": ("May\n2015", "June 2016")})
    assert pairs(symptoms, [finding])["Symptoms Datetime"] == {"crohn's pain: may 2015", "crohn's pain: june 2016"}
    tables = pairs(symptoms, [finding], Convention.TABLES)["Symptoms Datetime"]
    assert tables == {"crohn's pain may 2015", "crohn's pain june 2016"}


def test_pairs_of_which_a_half_is_unknown_are_not_stated(symptoms: Task) -> None:
    """What a knowledge base would hold has a name and a value."""
    findings = [Finding("fever", {"Datetime": ("unknown",)}), Finding("cough", {"Datetime": ("2015",)})]
    assert stated(symptoms, findings) == {"Symptoms Datetime": {("cough", "2015")}}


def test_every_part_of_a_text_is_scored_only_where_the_schema_annotates_it(tasks) -> None:
    """Additional testing is asked for and annotated nowhere: 29 pairs are scored, and none of them is it."""
    names = [name for task in tasks for name in task.relations]
    assert len(names) == len(set(names)) == 29
    assert not any(name.endswith("AdditionalTesting") for name in names)


@given(PAIRS)
def test_the_gold_against_itself_is_one(gold: frozenset[str]) -> None:
    """BLEU and exact match of a set with itself are 1, in both conventions, whatever its size."""
    for convention in Convention:
        found = score(gold, gold, convention)
        assert found.bleu == pytest.approx(1)
        assert (found.precision, found.recall, found.f1) == (1.0, 1.0, 1.0)


@given(PAIRS, PAIRS)
def test_every_figure_is_a_share(output: frozenset[str], gold: frozenset[str]) -> None:
    """Between 0 and 1; turning output and gold around turns precision and recall around."""
    for convention in Convention:
        found, turned = score(output, gold, convention), score(gold, output, convention)
        for name in ("bleu", "rouge", "precision", "recall", "f1"):
            assert 0 <= found[name] <= 1 + 1e-9
        assert (found.precision, found.recall, found.f1) == (turned.recall, turned.precision, turned.f1)


def slow_bleu(output: list[str], references: list[list[str]], *, from_order: int, length: int) -> float:
    """The definition, word for word: clipped counts, one added from an order on, the brevity penalty of a length."""
    product = 1.0
    for order in range(1, 5):
        grams = Counter(tuple(output[at : at + order]) for at in range(len(output) - order + 1))
        most: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            most |= Counter(tuple(reference[at : at + order]) for at in range(len(reference) - order + 1))
        more = order >= from_order
        right = sum((grams & most).values())
        if order == 1 and not more and not right:
            return 0.0
        product *= (right + more) / (sum(grams.values()) + more)
    return math.exp(min(0, 1 - length / len(output))) * product**0.25


WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=7)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_bleu_agrees_with_its_definition(output: list[str], references: list[list[str]]) -> None:
    """Of several references the closest length counts (the shorter of two as close), in the tables the shortest."""
    texts = [" ".join(one) for one in references]
    lengths = [len(one) for one in references]
    closest = min(lengths, key=lambda one: (abs(one - len(output)), one))
    expected = slow_bleu(output, references, from_order=2, length=closest)
    assert bleu_4(" ".join(output), texts) == pytest.approx(expected)
    expected = slow_bleu(output, references, from_order=1, length=min(lengths))
    assert bleu_4_of_tables(" ".join(output), texts) == pytest.approx(expected)
