"""``cohortium.read``: one text on its own."""

from __future__ import annotations

import datetime

import pytest

import cohortium

TEXT = "Adenocarcinoma of the right lung.\nMother had breast cancer. No brain\nmetastasis. ECOG 1."


def test_mentions_point_into_the_text() -> None:
    """Each span gives the mention's text, and mentions come in the order of the text."""
    document = cohortium.read(TEXT)
    assert document.mentions
    assert all(TEXT[mention.start : mention.end] == mention.text for mention in document.mentions)
    assert [mention.start for mention in document.mentions] == sorted(mention.start for mention in document.mentions)


def test_a_date_is_a_date_or_its_text() -> None:
    """Both spellings of the note's date date the facts alike; what is no date is refused with a hint."""
    written = cohortium.read(TEXT, date="2019-03-04")
    assert written == cohortium.read(TEXT, date=datetime.date(2019, 3, 4))
    assert {mention.latest for mention in written.mentions if mention.assertion == "present"} == {"2019-03-04"}
    with pytest.raises(cohortium.CohortiumError, match="Hint: write it as"):
        cohortium.read(TEXT, date="4.3.19")


def test_targets_become_mentions() -> None:
    """A span that the lexicon does not know is judged in its context when it is a target."""
    text = "No evidence of zibbelitis."
    start = text.index("zibbelitis")
    (mention,) = cohortium.read(text, targets=[(start, start + len("zibbelitis"))]).mentions
    assert (mention.text, mention.assertion) == ("zibbelitis", "absent")


@pytest.mark.parametrize("target", [(3, 3), (-1, 2), (0, 1000)])
def test_a_target_outside_the_text_is_refused(target: tuple[int, int]) -> None:
    """Spans are offsets into the text, start before end."""
    with pytest.raises(cohortium.CohortiumError, match="outside the text of"):
        cohortium.read("short", targets=[target])


def test_brat_lines_name_each_mention_once() -> None:
    """The annotation file has a T line a mention, even where its text breaks, and A lines that refer to those."""
    document = cohortium.read(TEXT)
    lines = document.to_brat().splitlines()
    names = [line.split("\t")[0] for line in lines if line.startswith("T")]
    assert names == [f"T{number}" for number in range(1, len(document.mentions) + 1)]
    assert all(len(line.split("\t")) == 3 for line in lines if line.startswith("T"))
    marked = [line.split("\t")[1].split() for line in lines if line.startswith("A")]
    assert ["ExperiencerVal", "family"] in [[name, value] for name, _, value in marked]
    assert all(name in names for _, name, _ in marked)
