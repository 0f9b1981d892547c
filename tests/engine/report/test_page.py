"""The page of an answer: whole, self-contained, escaped, readable without colour and without sight."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

import cohortium
from cohortium.engine.cohort import Cohort
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.errors import UsageError
from tests.engine.report.page_reader import PageReader

QUERY = (
    "let cancer be diagnosis lung cancer;\ncancer and (medication osimertinib or ECOG <= 2) and not metastasis to brain"
)
NOTES = (
    (
        "A<1>",
        "n1",
        "2019-03-04",
        "Lung adenocarcinoma, stage IV. ECOG 1. <b>alert('x')</b> & started osimertinib.",
    ),
    ("A<1>", "n2", "2020-03-04", "Lung adenocarcinoma. Possible liver metastasis. No fever."),
    ("B", "n3", "2019-05-06", "Lung adenocarcinoma. Brain metastases. ECOG 1."),
    ("C", "n4", "2019-05-06", "Probable lung cancer. ECOG 2."),
    ("D", "n5", "2019-05-06", "Breast cancer."),
)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> cohortium.engine.api.OpenKb:  # type: ignore[name-defined]
    """Four patients; the first has what a page must not read as markup."""
    folder = tmp_path_factory.mktemp("report")
    rows = [dict(zip(("patient_id", "doc_id", "date", "text"), note, strict=True)) for note in NOTES]
    (folder / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run_ingest([folder / "notes.jsonl"], folder / "notes.kb", progress=False)
    return cohortium.open(folder / "notes.kb")


@pytest.fixture(scope="module")
def cohort(kb) -> Cohort:  # type: ignore[no-untyped-def]
    return kb.find(QUERY)


@pytest.fixture(scope="module")
def page(cohort: Cohort) -> str:
    return cohort.report().as_html()


def test_the_page_is_whole_and_needs_nothing_else(page: str) -> None:
    """Each element is closed; there is no script, and nothing is loaded."""
    read = PageReader(page)
    assert read.wrong == []
    names = {name for name, _ in read.elements}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert all(value.startswith("#") for value in read.attributes("href"))
    assert read.attributes("src") == []
    assert not any(name.startswith("on") for _, attrs in read.elements for name in attrs)
    assert not re.search(r"url\(|@import|https?:", page)


def test_a_page_can_be_read_without_seeing_it(page: str) -> None:
    """A language and a title; headings in order; each picture says what it shows or is told in words beside it; each
    heading of a table says what it heads; links lead to what is there, and no id is there twice."""
    read = PageReader(page)
    assert read.elements[0] == ("html", {"lang": "en"})
    levels = [int(name[1]) for name, _ in read.elements if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for name, attrs in read.elements:
        if name == "svg":
            assert attrs.get("aria-hidden") == "true" or (attrs["role"] == "img" and attrs["aria-label"])
        if name == "th":
            assert attrs.get("scope") in {"row", "col"}
    ids = read.attributes("id")
    assert len(ids) == len(set(ids))
    assert {value.removeprefix("#") for value in read.attributes("href")} <= set(ids)
    assert set(read.attributes("aria-labelledby")) <= set(ids)


def test_words_of_notes_are_words(page: str) -> None:
    """Neither ids nor quotes are read as markup."""
    assert "<b>" not in page
    assert "<1>" not in page
    words = PageReader(page).words
    assert "A<1>" in words
    assert "<b>alert('x')</b> & started" in words


def test_the_page_tells_all_of_the_answer(cohort: Cohort, page: str) -> None:
    """Query, read-back, counts, each criterion of the funnel, each member with all quotes, the signature."""
    words = PageReader(page).words
    report = cohort.report()
    assert " ".join(QUERY.split()) in words
    assert " ".join(cohort.resolved.split()) in words
    assert f"{len(cohort)} ({len(cohort.certain)}–{len(cohort.possible)}) of 4 patients" in words
    for row in cohort.funnel().rows:
        assert row.text in words
    assert [member.patient_id for member in report.members] == list(cohort) == ["A<1>"]
    assert "“ Lung adenocarcinoma ,".replace(" ", "") in words.replace(" ", "")
    assert cohort.kb.generation in words
    assert cohort.kb.path.name in words
    assert str(cohort.kb.path.parent) not in words


def test_what_the_answer_rests_on_is_marked_in_the_picture(cohort: Cohort) -> None:
    """And nothing else."""
    (member,) = cohort.report().members
    told = {row.name for lane in member.picture.lanes for row in lane.rows if row.told}
    assert told == {"diagnosis lung adenocarcinoma", "medication osimertinib", "performance ECOG performance status"}


def test_members_beyond_the_limit_are_named(cohort: Cohort) -> None:
    """Without their evidence; of the world that was asked."""
    possible = cohort.possible
    report = possible.report(1)
    assert [report.members[0].patient_id, *report.others] == list(possible) == ["A<1>", "C"]
    assert "1 more, without their evidence C" in PageReader(report.as_html()).words
    assert possible.report(None).others == ()
    with pytest.raises(UsageError, match="0 or more"):
        cohort.report(-1)


def test_an_answer_without_members_is_a_page_too(kb) -> None:  # type: ignore[no-untyped-def]
    """It says so."""
    report = kb.find("diagnosis melanoma").report()
    read = PageReader(report.as_html())
    assert read.wrong == []
    assert "Nobody." in read.words


@pytest.mark.parametrize(
    "query",
    [
        "diagnosis lung cancer or diagnosis breast cancer",
        "at least 2 of (diagnosis lung cancer, ECOG <= 2, stage IV)",
        "same tumor (diagnosis lung cancer and stage IV)",
        "medication osimertinib after diagnosis lung cancer",
        "age >= 40 at diagnosis of lung cancer",
    ],
)
def test_any_shape_of_query_has_its_page(kb, query: str) -> None:  # type: ignore[no-untyped-def]
    """Whatever the criteria are joined by, in JSON and in a notebook, too; the same answer gives the same page."""
    report = kb.find(query).report()
    assert PageReader(report.as_html()).wrong == []
    assert PageReader(report._repr_html_()).wrong == []
    assert json.loads(json.dumps(report.as_dict()))["resolved"] == report.resolved
    assert kb.find(query).report() == report


def test_the_signature_tells_states_and_answers_apart(cohort: Cohort) -> None:
    """Equal for the same answer; another where the members are others."""
    signature = cohort.report(0).signature
    assert signature == cohort.report(5).signature
    assert signature["answer"] != cohort.possible.report(0).signature["answer"]
    assert not any(value.startswith(str(Path.home())) for value in signature.values())


def test_a_name_of_another_extent_is_told(kb) -> None:  # type: ignore[no-untyped-def]
    """On the page as in the table."""
    report = kb.find("smoker or diagnosis lung cancer").report()
    (line,) = report.read_as
    assert "'smoker' is read as" in line
    assert line in PageReader(report.as_html()).words
    assert line in PageReader(report._repr_html_()).words


def test_no_words_of_notes_stand_in_a_repr(kb, cohort: Cohort) -> None:  # type: ignore[no-untyped-def]
    """A repr ends up in logs and tracebacks."""
    patient = next(iter(cohort))
    for one in (cohort.report(), kb.journey(patient), kb.journey(patient).journey, cohort.explain(patient), cohort, kb):
        assert "started osimertinib" not in repr(one), type(one)
        assert "Possible liver" not in repr(one), type(one)
