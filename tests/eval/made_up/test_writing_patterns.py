"""Patterns of text are rendered by their brackets, and repeatably."""

from __future__ import annotations

import random

import pytest

from cohortium.eval.made_up.synthetic.writing.marks import Mark, Marks, taken_out
from cohortium.eval.made_up.synthetic.writing.patterns import PatternError, compile_pattern, fitting, render


def test_a_choice_gives_each_of_its_options_and_nothing_else() -> None:
    """Each alternative of a choice comes up, nested ones too."""
    pattern = compile_pattern("<a|b<c|d>> {it}")
    texts = {render(pattern, random.Random(seed), {"it": "x"}, {}) for seed in range(60)}
    assert texts == {"a x", "bc x", "bd x"}


def test_an_option_whose_slot_is_missing_is_not_taken() -> None:
    """A choice takes only options whose slots are all given; a pattern needs what all its options need."""
    pattern = compile_pattern("<{it} {site}|{it}>")
    assert pattern.needs == {"it"}
    assert {render(pattern, random.Random(seed), {"it": "x"}, {}) for seed in range(20)} == {"x"}
    assert fitting([compile_pattern("{site}")], {"it": "x"}) == []


def test_arrows_and_columns_outside_of_a_choice_are_plain_signs() -> None:
    """'->' and '|' stand for themselves where no choice is open, and a backslash keeps any sign."""
    assert render(compile_pattern(r"a -> b | c \<1"), random.Random(1), {}, {}) == "a -> b | c <1"


def test_numbers_lie_in_their_range_with_their_decimals() -> None:
    """A number has as many decimals as its lower bound is written with."""
    found = [render(compile_pattern("{1.0..2.5}"), random.Random(seed), {}, {}) for seed in range(50)]
    assert all(1.0 <= float(text) <= 2.5 and len(text) == 3 for text in found)


@pytest.mark.parametrize("text", ["<a|b", "{no slot}", "{"])
def test_a_pattern_that_is_not_well_formed_is_refused(text: str) -> None:
    """An open bracket or a strange slot is an error when the bank is read."""
    with pytest.raises(PatternError):
        compile_pattern(text)


def test_marks_become_offsets_of_the_text_without_them() -> None:
    """Marks may nest; each covers its own text, without blanks at its ends."""
    marks = Marks()
    inner = marks.around("lung cancer", Mark("mention", (0,)))
    text = "He has " + marks.around(f" known {inner} ", Mark("statement", (0,))) + "."
    plain, places = taken_out(text, marks.held)
    assert plain == "He has  known lung cancer ."
    assert [plain[one.start : one.end] for one in places] == ["known lung cancer", "lung cancer"]
