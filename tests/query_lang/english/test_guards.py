"""Questions of which a plain reading would mean something else: read right, or declined."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cohortium.query_lang.english.translate import Translation

Ask = Callable[[str], Translation]


def _body(ask: Ask, text: str) -> str:
    return ask(text).text.rpartition(";\n")[2]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("T4 or N2", ("T4", "N2")),
        ("either T3 or N1", ("T3", "N1")),
        ("T4 or M1", ("T4", "M1")),
        ("T3 or N1 or M1", ("T3", "N1", "M1")),
        ("T3 or higher or N1 or higher", ("T3 or higher", "N1 or higher")),
        ("cT3 or cN1", ("cT3", "cN1")),
    ],
)
def test_alternatives_of_t_n_and_m_stay_alternatives(text: str, parts: tuple[str, ...], ask: Ask) -> None:
    """Each is read as it is alone, and one of them is enough."""
    whole = _body(ask, text)
    alone = [_body(ask, part) for part in parts]
    assert whole in (" or ".join(alone), " or ".join(one if " or " not in one else f"({one})" for one in alone))
    assert whole in _body(ask, f"lung cancer with {text}")


def test_what_is_said_of_one_staging_stays_together(ask: Ask) -> None:
    """Only an *or* between them parts them."""
    assert "T4N2" in _body(ask, "T4 and N2")
    assert "t in (T3, T4) and n = N1" in _body(ask, "T3 or T4 and N1")
    assert _body(ask, "no T4 or N2") == f"not ({_body(ask, 'T4 or N2')})"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("never smokers", "never smoker"),
        ("lung cancer in never-smokers", "lung cancer in patients who never smoked"),
        ("ER and PR negative", "ER- PR-"),
        ("breast cancer, ER/PR negative", "breast cancer, ER- PR-"),
        ("ER and PR positive", "ER+ PR+"),
        ("KRAS and NRAS wild type", "both KRAS and NRAS wild type"),
        ("KRAS/NRAS wild-type colorectal cancer", "colorectal cancer, both KRAS and NRAS wild type"),
        ("wild type KRAS and NRAS", "both KRAS and NRAS wild type"),
    ],
)
def test_what_is_said_of_each_is_asked_of_each(text: str, same: str, ask: Ask) -> None:
    """One result of two markers or genes is the result of both; who never smoked is no one who does not now."""
    assert ask(text).text
    assert _body(ask, text).replace("(", "").replace(")", "") == _body(ask, same).replace("(", "").replace(")", "")


def test_who_never_smoked_is_a_never_smoker(ask: Ask) -> None:
    """Not whoever does not smoke now; an alternative beside it is not denied with it."""
    assert _body(ask, "never smokers") == _body(ask, "non-smokers") == "never smoker"
    assert _body(ask, "never smokers or former smokers") == "never smoker or former smoker"
    assert " or " in _body(ask, "KRAS or NRAS wild type")
    assert "not " not in _body(ask, "former smokers or never smokers")


DECLINED = (
    "not T4 or N2",
    "T3, N1 or M1",
    "T3N1 or M1",
    "clinical T3 or N1",
    "T4 lung cancer or N2 breast cancer",
    "not (breast cancer and surgery)",
    "excluding (breast cancer and surgery)",
    "lung cancer excluding (surgery and chemotherapy)",
    "lung cancer excluding (diabetes with surgery)",
    "lung cancer without both surgery and chemotherapy",
    "heavy smokers",
    "lung cancer in heavy smokers",
    "at least 3 lines of chemotherapy",
    "first-line chemotherapy was carboplatin",
    "no other malignancy",
    "no prior cancer",
    "no previous malignancy",
    "lung cancer with no history of other cancer",
    "currently on tamoxifen",
    "breast cancer currently taking tamoxifen",
    "breast cancer, now on letrozole",
)


@pytest.mark.parametrize("text", DECLINED)
def test_what_says_more_than_would_be_read_is_declined(text: str, ask: Ask) -> None:
    """No word that carries meaning is dropped, and no bracket is opened."""
    answer = ask(text)
    assert answer.readings == ()
    assert answer.reason


@pytest.mark.parametrize(
    "text",
    [
        "no history of cancer",
        "no prior chemotherapy",
        "at least 3 lines of systemic therapy",
        "first-line carboplatin",
        "patients currently in our database with lung cancer",
        "lung cancer excluding (brain metastases or liver metastases)",
        "first-line treatment was osimertinib",
    ],
)
def test_what_is_plain_beside_it_is_read(text: str, ask: Ask) -> None:
    """The guards stop only what says more."""
    assert len(ask(text).readings) == 1


@pytest.mark.parametrize(
    ("text", "illness"),
    [
        ("hypertension stage 2", "hypertension"),
        ("patients with stage 3 hypertension", "hypertension"),
        ("stage IV cirrhosis", "cirrhosis"),
        ("lung cancer with COPD stage 3", "COPD"),
    ],
)
def test_the_stage_of_an_illness_is_declined(text: str, illness: str, ask: Ask) -> None:
    """It is none of a tumor, and the illness is not passed over."""
    found = ask(text)
    assert found.abstained, found.text
    assert f"the stage of '{illness}'" in found.reason


@pytest.mark.parametrize(
    "text",
    ["CKD and stage IV lung cancer", "patients with CKD, stage IV lung cancer", "lung cancer stage IV with CKD",
     "stage IV lung cancer, CKD"],
)  # fmt: skip
def test_an_illness_beside_a_staged_tumor_is_asked_for(text: str, ask: Ask) -> None:
    """The stage is the tumor's, and both are in the query."""
    whole = "same tumor (diagnosis lung cancer and stage = IV) and chronic kidney disease"
    assert _body(ask, text) == whole
