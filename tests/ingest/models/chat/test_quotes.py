"""A quote is found where it stands, as whole words, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.ingest.models.chat.quotes import MOST_CHARACTERS, places_of

TEXT = "Started Ibrance (palbociclib) for bone\npain. IBRANCE held; non-small\u2011cell tumor, Crohn\u2019s. Chemo now."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Ibrance", ["Ibrance", "IBRANCE"]),
        ("palbociclib", ["palbociclib"]),
        ("(palbociclib)", ["palbociclib"]),
        ("Ibrance (palbociclib)", ["Ibrance (palbociclib)"]),
        ("bone pain", ["bone\npain"]),
        ("'bone  pain.'", ["bone\npain"]),
        ("non-small-cell tumor", ["non-small\u2011cell tumor"]),
        ("Crohn's", ["Crohn\u2019s"]),
        ("pain", ["pain"]),
    ],
)
def test_a_quote_is_found_in_any_spelling_of_blanks_hyphens_and_case(quote: str, found: list[str]) -> None:
    """Every place is given; signs around the quote are not part of it."""
    assert [TEXT[start:end] for start, end in places_of(quote, TEXT)] == found


@pytest.mark.parametrize("quote", ["", " ", "...", "()", "brance", "hemo", "letrozole", "Ibrance palbociclib", "."])
def test_what_does_not_stand_there_as_words_is_not_found(quote: str) -> None:
    """Parts of words, other words, and nothing at all."""
    assert not list(places_of(quote, TEXT))


def test_a_page_is_no_quote() -> None:
    """However true it is."""
    text = "word " * MOST_CHARACTERS
    assert not list(places_of(text, text))


@given(st.text(max_size=60), st.text(max_size=80))
def test_whatever_is_quoted_places_lie_in_the_text_in_order(quote: str, text: str) -> None:
    """No quote breaks it, and no place is empty."""
    places = list(places_of(quote, text))
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)


@given(st.from_regex(r"[a-z0-9]{1,8}( [a-z0-9]{1,8}){0,3}", fullmatch=True), st.text("(). ", max_size=5))
def test_words_of_a_text_are_found_in_it(words: str, around: str) -> None:
    """Whatever signs stand beside them."""
    text = f"{around} {words} {around}"
    assert (len(around) + 1, len(around) + 1 + len(words)) in list(places_of(words, text))
