"""Numbers and dates of a query are those of its question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.query_lang.llm.faithful import dropped, invented


@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("ECOG <= 1", "ECOG of 1 or better"),
        ("ECOG between 0 and 1", "ECOG 0-1"),
        ("stage >= 3", "stage III or higher"),
        ("stage >= IIIB", "stage 3b and above"),
        ("grade 3", "grade III tumours"),
        ("medication with line = 2", "second-line therapy"),
        ("medication with line = 1", "first line"),
        ("surgery within 6 weeks of death", "died within six weeks of surgery"),
        ("surgery within 1 year of death", "died within a year of surgery"),
        ("death since 2019-03", "died since March 2019"),
        ("death since 2019-03-04", "died since 4 March 2019"),
        ("death since 2019-03-04", "died since 03/04/2019"),
        ("lab PSA > 1000", "PSA above 1,000"),
        ("biomarker 'PD-L1' >= 50%", "PD-L1 of at least 50 %"),
        ("biomarker 'PD-L1' >= 0.5", "PD-L1 at or above .50, that is 0.50"),
        ("at least 2 of (ER+, PR+, HER2+)", "two or more of ER, PR and HER2 positive"),
        ("2nd ECOG <= 1", "second ECOG at most 1"),
        ("variant EGFR with exon = 19", "EGFR exon 19 deletion"),
        ("diagnosis 'type 2 diabetes'", "type 2 diabetics"),
        ("variant KRAS G12C and medication 'CDK4/6 inhibitor'", "KRAS G12C on a CDK4/6 inhibitor"),
        ("variant EGFR and HER2+ and T2N0M0", "anything without numbers"),
        ("lung cancer", "lung cancer"),
    ],
)
def test_a_number_that_is_said_in_some_way_is_not_invented(query: str, question: str) -> None:
    """Digits, words, ordinals, months, Roman stages and parts of names count as saying it."""
    assert invented(query, question) == ()


@pytest.mark.parametrize(
    ("query", "question", "numbers"),
    [
        ("medication chemotherapy since 2023-01", "recent chemo", ("2023-01",)),
        ("death within 30 days of surgery", "died soon after surgery", ("30",)),
        ("ECOG <= 2", "fit patients", ("2",)),
        ("surgery within 42 days of death", "surgery within 6 weeks of death", ("42",)),
        ("lab PSA > 4", "high PSA", ("4",)),
        ("biomarker 'PD-L1' >= 50%", "PD-L1 high", ("50",)),
        ("at least 3 of (ER+, PR+, HER2+)", "two of ER, PR, HER2 positive", ("3",)),
        ("3rd ECOG <= 1", "second ECOG at most 1", ("3rd",)),
        ("death since 2019-05", "died since March 2019", ("2019-05",)),
        ("stage >= 4", "stage III", ("4",)),
    ],
)
def test_a_number_that_the_question_does_not_say_is_invented(
    query: str, question: str, numbers: tuple[str, ...]
) -> None:
    """A window for *recent*, a bound for *high*, another unit: each is a guess."""
    assert invented(query, question) == numbers


@pytest.mark.parametrize(
    ("query", "question", "unread", "numbers"),
    [
        ("lung cancer", "lung cancer, ECOG 2", (), ("2",)),
        ("lung cancer", "lung cancer, ECOG 2", ("ECOG 2",), ()),
        ("lung cancer", "lung cancer since 2019", (), ("2019",)),
        ("stage III", "stage 3", (), ()),
        ("lab PSA > 4", "PSA > 4.0 ng/mL", (), ()),
        ("biomarker PD-L1 >= 50%", "PD-L1 TPS ≥50%.", (), ()),
        ("biomarker PD-L1 high", "PD-L1 TPS ≥50%.", (), ("50",)),
        ("variant BRCA1", "BRCA 1 carriers", (), ()),
        ("medication 5-FU", "5-FU", (), ()),
        ("lung cancer", "lung cancer on day 15", (), ("15",)),
        ("grade 3 adverse event", "CTCAE grade 3+ toxicity", (), ()),
        ("toxicity", "CTCAE grade 3+ toxicity", (), ("3",)),
    ],
)
def test_a_number_of_the_question_is_said_or_left_openly(
    query: str, question: str, unread: tuple[str, ...], numbers: tuple[str, ...]
) -> None:
    """A query that forgets a bound is a wider one than was asked for."""
    assert dropped(query, question, unread) == numbers


@given(st.text(max_size=80))
def test_a_text_is_faithful_to_itself(text: str) -> None:
    """Whatever it holds, it invents nothing and drops nothing."""
    assert invented(text, text) == ()
    assert dropped(text, text, ()) == ()


@given(st.text(max_size=40), st.integers(min_value=101, max_value=10**9))
def test_a_large_number_that_was_never_said_is_always_seen(question: str, number: int) -> None:
    """However the question reads, a number without a trace in it is invented."""
    if not any(letter.isdigit() for letter in question):
        assert invented(f"lab PSA > {number}", question) == (str(number),)
