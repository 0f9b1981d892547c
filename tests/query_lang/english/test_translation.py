"""What questions become: the query, the words that were not used, the readings, the corrections."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.query_lang.english.spelling import corrected
from cohortium.query_lang.english.translate import Translation

Ask = Callable[[str], Translation]

READ = {
    "lung cancer with brain mets": "same tumor (diagnosis lung cancer and metastasis to brain)",
    "breast cancer with liver or bone metastases": (
        "same tumor (diagnosis breast cancer and (metastasis to liver or metastasis to bone))"
    ),
    "CRC pts who never received oxaliplatin": "diagnosis colorectal cancer and not medication oxaliplatin",
    "NSCLC with PD-L1 >= 50%": "same tumor (diagnosis non-small cell lung cancer and biomarker PD-L1 >= 50%)",
    "stage III or IV melanoma": "same tumor (diagnosis melanoma and stage with stage in (III, IV))",
    "breast cancer on a CDK4/6 inhibitor and fulvestrant": (
        "same tumor (diagnosis breast cancer and medication CDK4/6 inhibitor and medication fulvestrant)"
    ),
    "Hodgkin lymphoma treated with ABVD": "same tumor (diagnosis Hodgkin lymphoma and regimen ABVD)",
    "hemoglobin below 8 g/dL": "lab hemoglobin < 8 g/dL",
    "A1c of at least 7": "lab hemoglobin A1c >= 7",
    "temperature above 101 F": "vital sign temperature > 38.3333 °C",
    "BP over 140/90": ("vital sign systolic blood pressure > 140 or vital sign diastolic blood pressure > 90"),
    "blood pressure below 130/80": (
        "vital sign systolic blood pressure < 130 and vital sign diastolic blood pressure < 80"
    ),
    "patients with diabetes and lung cancer": "diagnosis lung cancer and diabetes mellitus",
}


@pytest.mark.parametrize("text", READ)
def test_plain_questions_become_plain_queries(text: str, ask: Ask) -> None:
    """Diseases, findings and treatments of one tumor are asked of the same tumor, the rest of the patient."""
    assert ask(text).text == READ[text]


#: Spread that is denied: as a whole it is the tumor's extent, with a place only that place is denied.
NOT_SPREAD = {
    "lung cancer that is not metastatic": "same tumor (diagnosis lung cancer and 'no distant spread')",
    "patients whose lung cancer has not metastasized": "same tumor (diagnosis lung cancer and 'no distant spread')",
    "patients whose lung cancer has metastasized": (
        "same tumor (diagnosis lung cancer and ('spread as recorded' or stage = IV))"
    ),
    "lung cancer not metastatic to the brain": "diagnosis lung cancer and not metastasis to brain",
    "lung cancer and no metastases to the brain": "diagnosis lung cancer and not metastasis to brain",
    "patients whose lung cancer has not metastasized to bone or liver": (
        "diagnosis lung cancer and not (metastasis to bone or metastasis to liver)"
    ),
}


@pytest.mark.parametrize("text", NOT_SPREAD)
def test_denied_spread_is_denied(text: str, ask: Ask) -> None:
    """A verb of spread that is denied is read as the adjective is; beside a place it denies spread to that place."""
    assert ask(text).text.rpartition(";\n")[2] == NOT_SPREAD[text]


def test_a_denied_verb_completes_the_name_of_a_state(ask: Ask) -> None:
    """What a disease has not done makes with what it is the state that has a name of its own."""
    said = ask("patients whose prostate cancer is hormone sensitive and has not metastasized")
    assert said.text == ask("patients with nmCSPC").text


DECLINED = {
    "patients with lung cancer and flibbertigibbet": "flibbertigibbet",
    "HER2 patients": "HER2",
    "recent chemo": "recent",
    "responders": "responders",
    "breast cancer patients who were treated with": "were treated with",
    "young men with lung cancer": "young",
    "NSCLC pts with the mutation": "mutation",
}


@pytest.mark.parametrize("text", DECLINED)
def test_what_cannot_be_read_is_declined_and_named(text: str, ask: Ask) -> None:
    """A word that carries meaning and is not used stops the answer, and is told."""
    answer = ask(text)
    assert answer.readings == ()
    assert DECLINED[text] in answer.unread
    assert answer.query is None
    assert answer.confidence == 0.0


OPEN = (
    "melanoma with brain metastases and",
    "colorectal cancer with KRAS mutation or",
    "patients with melanoma who",
    "list the US patients with melanoma",
    "ALL patients with a TP53 mutation",
    "stage higher than IV melanoma",
    "breast cancer with N > N3",
    "NSCLC with PD-L1 > 120%",
    "KRAS wild type and KRAS G12C colorectal cancer",
    "ER positive and ER negative breast cancer",
    "HER2 positive and HER2 negative breast cancer",
    "ALK-positive and ALK-negative NSCLC",
    "melanoma never treated with ipilimumab and nivolumab",
    "leukemia patients with MDS",
    "HER2 amplification and gastric cancer or GEJ cancer and brain metastases",
    "lung cancer, brain mets not excluded",
)


@pytest.mark.parametrize("text", OPEN)
def test_what_is_half_said_or_contradicts_itself_is_declined(text: str, ask: Ask) -> None:
    """Half sentences, capitals of several meanings, steps beyond a scale, missing units, contradictions."""
    answer = ask(text)
    assert answer.readings == ()
    assert answer.reason


SAME = (
    ("lung cancer, brain mets excluded", "lung cancer, no brain mets"),
    ("lung cancer; brain mets and liver mets excluded", "lung cancer without brain mets or liver mets"),
    ("NSCLC free of brain mets and liver mets", "NSCLC without brain mets or liver mets"),
    (
        "no brain mets or liver mets, have lung cancer or melanoma",
        "lung cancer or melanoma, no brain mets or liver mets",
    ),
    (
        "lung cancer AND NOT (brain mets OR liver mets) AND EGFR L858R",
        "lung cancer with EGFR L858R, without brain mets or liver mets",
    ),
    (
        "lung cancer AND NOT brain mets AND (EGFR L858R OR BRAF V600E)",
        "lung cancer with EGFR L858R or BRAF V600E, no brain mets",
    ),
    ("cohort: dx=melanoma AND gene=BRAF AND mutation AND drug=vemurafenib", "BRAF-mutated melanoma on vemurafenib"),
    ("melanoma, ECOG in 0..1", "melanoma with ECOG 0-1"),
    ("melanoma, ECOG in (0, 1)", "melanoma with ECOG 0-1"),
    ("Eligibility: (1) melanoma; (2) ECOG from 0 until 1", "melanoma with ECOG 0-1"),
    ("cancer of the lung or liver", "lung cancer or liver cancer"),
    ("loc. adv. melanoma", "locally advanced melanoma"),
    ("melanoma with BRAF V600 E/K", "melanoma with BRAF V600E/K"),
    ("rectal cancer, post-treatment pathologic T3", "rectal cancer, ypT3"),
    ("lsit plesae: melanoma caess", "melanoma"),
)


@pytest.mark.parametrize(("text", "plain"), SAME, ids=[one for one, _ in SAME])
def test_other_ways_to_write_a_question_ask_the_same(text: str, plain: str, ask: Ask) -> None:
    """Eligibility lists, columns, exclusions after their list and slips say what the plain form says."""
    assert ask(text).text == ask(plain).text != ""


NOT_LOST = {
    "metastatic breast cancer": "spread as recorded",
    "HPV-positive oropharyngeal cancer": "HPV",
    "in situ ductal carcinoma": "ductal carcinoma in situ",
    "germline BRCA1 C61G": "origin = germline",
    "NSCLC with both EGFR and TP53 mutations": "TP53 and a counted mutation",
    "ER+/HER2- breast cancer": "percent >= 1) and HER2 negative",
    "ECOG 0-2, no primary brain tumor or leptomeningeal mets": "leptomeninges",
}


@pytest.mark.parametrize("text", NOT_LOST)
def test_nothing_that_is_said_is_lost(text: str, ask: Ask) -> None:
    """What stands before, after or inside a name is in the query, also where the ontology has a wider name."""
    assert NOT_LOST[text] in ask(text).text


@pytest.mark.parametrize(
    "text",
    [
        "Known or suspected breast cancer",
        "drug or alcohol abuse",
        "ataxia or quixotry",
        "COL1A1/PDGFB fusion",
        "KRAS mut/BRAF V600E CRC",
        "KRAS G12Z",
        "surgery but not mastectomy",
        "T2 and T3 breast cancer with N0 and N1",
    ],
)
def test_a_near_miss_of_a_clear_question_is_not_answered(text: str, ask: Ask) -> None:
    """An alternative to nothing, a word that only resembles a known one, a sign that can mean two things: no answer."""
    assert ask(text).abstained


AMBIGUOUS = (
    "breast cancer patients with ER positive and HER2 positive or PR positive",
    "advanced NSCLC or melanoma",
    "patients with breast cancer and ovarian cancer",
)


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_several_readings_are_all_given_and_none_is_chosen(text: str, ask: Ask) -> None:
    """Where 'and', 'or' or an adjective can reach differently, each reading is a query of its own."""
    answer = ask(text)
    assert len({reading.text for reading in answer.readings}) >= 2
    assert all(reading.says for reading in answer.readings)
    assert answer.abstained
    assert answer.query is None


def test_corrected_words_are_told(ask: Ask) -> None:
    """A misspelled word is read as the known word next to it, and the answer says so."""
    answer = ask("patients with ovairan cancer and diabtes")
    assert dict(answer.corrected) == {"ovairan": "ovarian", "diabtes": "diabetes"}
    assert "'ovairan' is read as 'ovarian'" in answer.understood
    assert answer.confidence < ask("patients with ovarian cancer and diabetes").confidence


def test_a_known_word_is_never_corrected(ask: Ask) -> None:
    """Names that are near each other stay what they are: cetuximab is not made to rituximab."""
    for text in ("treated with cetuximab", "treated with rituximab", "treated with axitinib", "treated with afatinib"):
        answer = ask(text)
        assert answer.corrected == ()
        assert text.split()[-1] in answer.text


def test_the_json_form_has_the_contract_s_keys(ask: Ask) -> None:
    """Understood, unread, readings, abstained and confidence are there whatever became of the question."""
    for text in ("lung cancer", "responders", "advanced NSCLC or melanoma", ""):
        told = ask(text).to_dict()
        assert {"understood", "unread", "readings", "abstained", "confidence"} <= told.keys()
        assert told["abstained"] == (text != "lung cancer")
        assert all(set(reading) == {"query", "says"} for reading in told["readings"])


def test_no_text_raises(ask: Ask) -> None:
    """Whatever is typed, the answer is a translation."""
    for text in (
        "((((",
        ")",
        "no no no",
        "or or",
        "not",
        "'; drop table",
        "T T T",
        "ECOG",
        "=",
        "exon exon",
        "with with",
    ):
        assert ask(text).abstained
    assert ask("lung cancer " * 1000).abstained


@pytest.mark.parametrize(
    "word", ["serious", "presentation", "hyperthyroid", "afebrile", "atraumatic", "elective", "saturation"]
)
def test_a_word_that_is_spelled_right_is_not_corrected(word: str, concepts: ConceptTable) -> None:
    """An ordinary word, and the opposite of a known one, are no misspellings of it."""
    assert corrected(word, concepts) == (word, ())


@pytest.mark.parametrize(
    "text",
    [
        "NSCLC not treated with pembrolizumab and nivolumab or chemotherapy",
        "melanoma without BRAF V600E and NRAS mutations or KIT amplification",
    ],
)
def test_a_denied_list_with_both_and_and_or_is_declined(text: str, ask: Ask) -> None:
    """Which of them must be missing, alone or together, cannot be told."""
    assert ask(text).abstained


def test_all_in_capitals_may_be_a_leukemia(ask: Ask) -> None:
    """Where no disease is named, ALL could be one; beside a disease, or in a text of capitals, it is everybody."""
    assert ask("Find ALL patients with a TP53 mutation").abstained
    assert not ask("Find all patients with a TP53 mutation").abstained
    assert not ask("Find ALL patients with melanoma").abstained
    assert not ask("FIND ALL PATIENTS WITH A TP53 MUTATION").abstained
