"""A name that is refused is told for what it is: unknown, a spread to an organ, the stage of an illness, a slip."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.parsing.parse import parse_with_places
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text
from tests.spec import book

CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()
UNKNOWN = "foobarz"
EVERY = 3


def refused(text: str) -> QueryError:
    """The error that the text meets."""
    with pytest.raises(QueryError) as caught:
        resolve_text(text, CONCEPTS, SCALES)
    return caught.value


def misnamed() -> Iterator[tuple[str, int]]:
    """Queries of the guide's chapters, with a concept's name in each changed for one that nobody knows."""
    queries = sorted({question.query for part in book.parts() for question in part.questions})
    for query in queries[::EVERY]:
        for name, offset in parse_with_places(query).places.items():
            at = query.find(name, offset, offset + len(name) + 1)
            # A value may be any word ("with reason = …"), and so may what a query defines.
            free = re.search(rf"\blet\s+'?{re.escape(name)}\b", query) or query[:at].rstrip("' ").endswith("=")
            # Who is called Ana is no antibody.
            free = free or re.search(r"\bpatients? in \([^)]*$", query[:at])
            if at >= 0 and CONCEPTS.lookup(name) and not free:
                yield f"{query[:at]}{UNKNOWN}{query[at + len(name) :]}", at


def test_an_unknown_name_is_told_wherever_it_stands() -> None:
    """Behind *not*, in brackets, in relations and conditions: the message is about the name, at its place."""
    tried = 0
    for query, at in misnamed():
        errors = refused(query).errors
        if "need a kind with an order" in str(errors[0]):
            continue
        tried += 1
        assert UNKNOWN in errors[0].message, f"{query}: {errors[0]}"
        assert errors[0].offset == at or query[errors[0].offset or 0] in "'\"", query
    assert tried > 100


@pytest.mark.parametrize(
    "text",
    ["not {}", "not not {}", "lung cancer and not {}", "lung cancer or not {}", "lung cancer but not {}",
     "lung cancer and not ({} before surgery)", "not (lung cancer and not {})", "let x be not {}; x",
     "same tumor (lung cancer and not {})", "at least 1 of (not {}, death)"],
)  # fmt: skip
def test_an_unknown_name_behind_not(text: str) -> None:
    """No joining word is asked for where one stands; a slip is told as one, and so is that of what is not held."""
    assert f"'{UNKNOWN}' is not known" in str(refused(text.format(UNKNOWN)))
    assert "did you mean 'cisplatin'" in refused(text.format("cisplatine")).hint
    assert "'lung function' is none" in refused(text.format("'lung functoin'")).message


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("brain-metastases", "metastasis to brain"),
        ("brian metastasis", "metastasis to brain"),
        ("diagnosis brain metastasis", "metastasis to brain"),
        ("mets to the liver", "metastasis to liver"),
        ("metastatic disease to bone", "metastasis to bone"),
        ("spread to brain", "metastasis to brain"),
        ("lymph node metastasis", "metastasis to 'lymph node'"),
        ("lung cancer metastatic to brain", "lung cancer and metastasis to brain"),
        ("breast cancer brain metastases", "breast cancer and metastasis to brain"),
        ("lung metastasis from colon cancer", "colon cancer and metastasis to lung"),
    ],
)
def test_spread_to_an_organ_is_told_as_the_query_that_says_it(text: str, write: str) -> None:
    """However it is named, and with the disease where that is known; and what is told can be asked."""
    assert refused(text).hint.endswith(f"write: {write}")
    assert resolve_text(write, CONCEPTS, SCALES)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("brain metastasis", "metastasis to brain"),
        ("lung mets", "metastasis to lung"),
        ("LIVER METS", "metastasis to liver"),
        ("hepatic metastases", "metastasis to liver"),
        ("adrenal metastasis", "metastasis to adrenal gland"),
    ],
)
def test_spread_with_its_organ_before_it_is_a_name(text: str, means: str) -> None:
    """It is asked for as it is said."""
    assert render(resolve_text(text, CONCEPTS, SCALES)) == means


@pytest.mark.parametrize(
    "text", ["metastatic lung cancer", "lung MET amplification", "metastasis of foobarz", "brain foobarz"]
)
def test_what_tells_of_no_spread_to_an_organ(text: str) -> None:
    """The organ of the tumor itself, a gene of that name, and organs that nobody knows."""
    assert "metastasis to" not in refused(text).hint


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("stage 3b chronic kidney disease", "chronic kidney disease"),
        ("heart failure NYHA 3", "heart failure"),
        ("NYHA class III heart failure", "heart failure"),
        ("COPD GOLD 2-3", "COPD"),
        ("cirrhosis Child-Pugh C", "cirrhosis"),
        ("hypertension stage 2", "hypertension"),
        ("grade 3 colitis", "adverse event colitis with grade = 3"),
        ("diarrhea grade 2", "adverse event diarrhea with grade = 2"),
    ],
)
def test_the_stage_of_an_illness_is_none_of_a_tumor(text: str, write: str) -> None:
    """It is told as not held, or as the grade of an adverse event; and what is told can be asked."""
    error = refused(text)
    assert error.hint == f"write: {write}"
    assert "and stage" not in str(error)
    assert "same tumor" not in str(error)
    assert resolve_text(write, CONCEPTS, SCALES)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GOLD stage III", "none of the clinical scores"),
        ("KDIGO stage 3", "none of the clinical scores"),
        ("wobbly toe stage 3", "'wobbly toe' is not known"),
        ("lnug cancer stage 4", "did you mean 'lung cancer'"),
        ("comorbidity CKD with stage = 4", "no stage of an illness is held"),
        ("lung cancer stage 4", "write: lung cancer and stage 4"),
        ("lymphoma grade 2", "write: lymphoma and grade 2"),
        ("metastases in the brain", "leave the article out: brain"),
    ],
)
def test_stages_without_an_illness_that_is_known(text: str, words: str) -> None:
    """A scale alone is not held, an unknown illness is told as such, and tumors have their stages."""
    assert words in str(refused(text))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("HER2 postive", "HER2 positive"),
        ("biomarker HER2 negatve", "biomarker HER2 negative"),
        ("EGFR mutatoin", "EGFR mutation"),
        ("surgery beofre chemotherapy", "surgery before chemotherapy"),
        ("lung cancer witout surgery", "lung cancer without surgery"),
        ("surgery wihtin 30 days of death", "surgery within 30 days of death"),
    ],
)
def test_a_misspelled_result_or_keyword_is_told_with_the_words_around_it(text: str, meant: str) -> None:
    """What is offered can be asked; a word that resembles none is not respelled."""
    assert refused(text).hint == f"did you mean {meant}?"
    assert resolve_text(meant, CONCEPTS, SCALES)
    assert "did you mean" not in refused("HER2 foobarz").hint


@pytest.mark.parametrize("text", ["MSI high", "biomarker MSI high"])
def test_a_marker_with_its_result_is_that_marker_whatever_else_the_result_is_called(text: str) -> None:
    """*MSI high* is a name of the result *high* as well, which other markers have."""
    assert resolve_text(text, CONCEPTS, SCALES) == resolve_text("biomarker MSI with result = high", CONCEPTS, SCALES)
