"""*Now* in a query: how it is written, that it is put in before anything is decided, and what it cannot say."""

from __future__ import annotations

import dataclasses
import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.nodes import Exists, Now, NowWindow, Query, QueryTreeError, Window
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.now import at_day, names_now
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.tree import find

CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()
DAY = datetime.date(2021, 3, 4).toordinal()
#: What is written, and what it is as of that day.
WRITTEN = {
    "surgery since now": "surgery since 2021-03-04",
    "surgery after today": "surgery since 2021-03-05",
    "surgery before now": "surgery until 2021-03-03",
    "surgery until now": "surgery until 2021-03-04",
    "surgery on now": "surgery between 2021-03-04 and 2021-03-04",
    "surgery between 2020 and now": "surgery between 2020-01-01 and 2021-03-04",
    "surgery within 30 days before now": "surgery between 2021-02-02 and 2021-03-04",
    "surgery in the last 30 days": "surgery between 2021-02-02 and 2021-03-04",
    "surgery within the past year": "surgery between 2020-03-04 and 2021-03-04",
    "surgery at least 30 days ago": "surgery until 2021-02-02",
    "surgery more than 30 days before now": "surgery until 2021-02-01",
    "surgery at most 30 days ago": "surgery between 2021-02-02 and 2021-03-04",
    "surgery in the last year at least 30 days ago": "surgery between 2020-03-04 and 2021-02-02",
    "surgery since 2021 in the last year": "surgery between 2021-01-01 and 2021-03-04",
    "first surgery in the last year before death": "first surgery between 2020-03-04 and 2021-03-04 before death",
    "age < 50 now": "age <= 49 on 2021-03-04",
    "age >= 65 on today": "age >= 65 on 2021-03-04",
    "age = 65 at now": "age = 65 on 2021-03-04",
    "state remission now": "state remission at 2021-03-04",
    "state complete response at now": "state complete response at 2021-03-04",
    "ongoing state remission": "state remission at 2021-03-04",
    "ongoing remission": "state remission at 2021-03-04",
    "ongoing medication osimertinib": "ongoing medication osimertinib at 2021-03-04",
    "ongoing osimertinib with line = 2": "ongoing medication osimertinib with line = 2 at 2021-03-04",
    "ongoing regimen FOLFOX at 2020-06-30": "ongoing regimen FOLFOX at 2020-06-30",
    "let late be death in the last year; not late": "let late be death between 2020-03-04 and 2021-03-04;\nnot late",
    "death with no surgery before now after it": "death with no surgery until 2021-03-03 after it",
}


@pytest.mark.parametrize(("written", "meant"), WRITTEN.items())
def test_now_is_the_day_that_it_is(written: str, meant: str) -> None:
    """What is asked as of a day is asked with that day, and the query tells which it was."""
    found = resolve_text(written, CONCEPTS, SCALES, today=lambda: DAY)
    assert render(found) == meant
    assert found == resolve_text(meant, CONCEPTS, SCALES)
    assert found.as_of == (None if "2020-06-30" in written else DAY)
    assert ("as of 2021-03-04" in read_back(found, CONCEPTS)) is (found.as_of is not None)


@pytest.mark.parametrize("written", WRITTEN)
def test_what_names_now_is_rendered_and_read_back(written: str) -> None:
    """Before the day is known, the text says the same again, and English can be made of it."""
    query = parse(written)
    assert parse(render(query)) == query
    assert read_back(query)


@given(st.tuples(st.none() | st.integers(-900, 1), st.none() | st.integers(-900, 0)))
def test_each_window_has_its_words(ends: tuple[int | None, int | None]) -> None:
    """A window that can be is written so that it is read as itself; no two are told alike."""
    try:
        window = NowWindow(*ends)
    except QueryTreeError:
        return
    (plain,) = find(parse("surgery since now"), Exists)
    text = render(Query(Exists(dataclasses.replace(plain.events, now=window))))
    assert list(find(parse(text), NowWindow)) == [window]
    settled = at_day(parse(text), lambda: DAY)
    assert not names_now(settled)
    assert settled.as_of == DAY
    assert len(list(find(settled, Window))) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("surgery since 2022 until now", "the window ends before it begins"),
        ("surgery after now before now", "the window ends before it begins"),
        ("ongoing surgery", "what goes on is a treatment"),
        ("ongoing lung cancer", "this is a diagnosis"),
        ("first ongoing medication", "first chooses one event"),
        ("planned ongoing medication", "what is planned does not go on"),
        ("ongoing medication on at least 3 days", "takes no count"),
        ("medication osimertinib now", "'ongoing medication …'"),
        ("ongoing medication before death", "relates two single facts"),
        ("ongoing remission since 2020", "takes no"),
    ],
)
def test_what_means_nothing_is_refused(text: str, says: str) -> None:
    """A message says what is wrong."""
    with pytest.raises(QueryError) as caught:
        resolve_text(text, CONCEPTS, SCALES, today=lambda: DAY)
    assert says in str(caught.value)


def test_without_a_day_now_is_refused() -> None:
    """No clock is asked: where nobody tells the day, the query says what to do."""
    with pytest.raises(QueryError, match=r"is not known here"):
        resolve_text("age < 50 now", CONCEPTS, SCALES)
    with pytest.raises(QueryError, match="no note has a date"):
        resolve_text("age < 50 now", CONCEPTS, SCALES, today=lambda: None)
    assert resolve_text("age < 50 on 2020-01-01", CONCEPTS, SCALES, today=lambda: 1 // 0).as_of is None


def test_now_is_no_word_of_a_name() -> None:
    """A name with the word in it stands in quotes."""
    (window,) = find(parse("lung cancer before now"), NowWindow)
    assert window == NowWindow(None, -1)
    assert not list(find(parse("'lung cancer before now'"), Now))
    assert render(parse("'cancer now'")) == "'cancer now'"
