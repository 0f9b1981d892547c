"""Questions about tumors themselves: features, sizes, margins, extension; asked of a few invented reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import cohortium
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.query_lang.english.translate import Translation

Ask = Callable[[str], Translation]

#: Patient -> one report of pathology.
REPORTS = {
    "colon": "Sigmoid colon, sigmoidectomy: adenocarcinoma of the colon. Tumor size: 6.5 cm."
    " Lymphovascular invasion: present. Perineural invasion: not identified. Proximal margin: negative."
    " Metastatic carcinoma in 3 of 18 nodes.",
    "rectum": "Rectum, low anterior resection: adenocarcinoma of the rectum. Tumor size: 3 cm."
    " No lymphovascular invasion."
    " The tumor invades through the muscularis propria. Lymph nodes, all negative (0/19).",
    "cecum": "Cecum, right hemicolectomy: adenocarcinoma of the colon, pT3 pN1.",
    "breast": "Left breast, lumpectomy: multifocal invasive ductal carcinoma. Tumor size: 1.8 cm."
    " Deep margin: positive. ER positive, PR positive, HER2 negative.",
    "other breast": "Right breast, mastectomy: invasive ductal carcinoma, pT2 pN0. Tumor size: 2.6 cm."
    " The deep margin is 0.5 mm from the tumor. ER negative, PR negative, HER2 negative.",
    "third breast": "Left breast, mastectomy: invasive ductal carcinoma. Tumor size: 2.2 cm."
    " All margins are negative. ER positive, PR negative, HER2 positive (3+). Eleven lymph nodes, all negative (0/11).",
    "melanoma": "Skin of back, wide excision: malignant melanoma. Breslow thickness: 1.4 mm. Ulceration: present.",
    "thin melanoma": "Skin of arm, excision: malignant melanoma. Breslow thickness 0.6 mm. Ulceration: absent.",
    "tongue": "Tongue, hemiglossectomy: squamous cell carcinoma of the tongue. Depth of invasion: 7 mm."
    " Extranodal extension: present.",
    "thyroid": "Thyroid, total thyroidectomy: papillary thyroid carcinoma. Extrathyroidal extension: present.",
    "prostate": "Prostate, radical prostatectomy: prostatic adenocarcinoma. Extraprostatic extension: present."
    " Seminal vesicle invasion: present.",
    "other prostate": "Prostate, radical prostatectomy: prostatic adenocarcinoma. Tumor is confined to the prostate."
    " Seminal vesicle invasion: not identified.",
    "kidney": "Left kidney, radical nephrectomy: clear cell renal cell carcinoma. Tumor size: 8 cm."
    " The tumor invades the perinephric fat.",
    "bladder": "Bladder, cystectomy: urothelial carcinoma of the bladder. The tumor invades the muscularis propria.",
}  # fmt: skip

#: Question -> the patients that it finds.
FOUND = {
    "colon cancer with lymphovascular invasion": {"colon"},
    "colorectal cancer without LVI": {"rectum", "cecum"},
    "LVI negative colorectal cancer": {"rectum"},
    "colon cancer, no perineural invasion": {"colon", "cecum"},
    "positive margins": {"breast"},
    "breast cancer with positive deep margin": {"breast"},
    "breast cancer with negative margins": {"other breast", "third breast"},
    "breast cancer with close margins under 1 mm": {"other breast"},
    "tumors larger than 5 cm": {"colon", "kidney"},
    "kidney cancer larger than 7 cm": {"kidney"},
    "breast cancer with tumor size between 2 and 5 cm": {"other breast", "third breast"},
    "breast cancer 1 to 2 cm": {"breast"},
    "depth of invasion over 4 mm": {"tongue"},
    "melanoma with Breslow thickness >= 1 mm": {"melanoma"},
    "melanoma thinner than 1 mm": {"thin melanoma"},
    "ulcerated melanoma": {"melanoma"},
    "extranodal extension": {"tongue"},
    "extrathyroidal extension": {"thyroid"},
    "prostate cancer with extraprostatic extension": {"prostate"},
    "seminal vesicle invasion": {"prostate"},
    "tumor extending into perinephric fat": {"kidney"},
    "prostate cancer confined to the prostate": {"other prostate"},
    "colorectal cancer extending through the muscularis propria": {"rectum"},
    "multifocal breast cancer": {"breast"},
    "muscle-invasive bladder cancer": {"bladder"},
    "node-positive colorectal cancer": {"colon", "cecum"},
    "node-negative breast cancer": {"other breast", "third breast"},
    "triple negative breast cancer": {"other breast"},
    "HER2 positive luminal": {"third breast"},
    "breast cancer with stated T2": {"other breast"},
    "colorectal cancer with derived T3": {"rectum"},
    "colorectal cancer with N1 as stated in the report": {"cecum"},
}

#: What is not understood, or not held: the words that are told.
DECLINED = {
    "gross extrathyroidal extension": ("gross",),
    "large tumors": ("large",),
    "5 cm tumors": ("5", "cm"),
    "tumor size over 5": ("5",),
    "depth of invasion": ("depth of invasion",),
    "breast cancer with margins": ("margins",),
    "lymph node metastasis larger than 2 mm": ("larger than",),
    "cancer extending into": ("extending into",),
    "breast cancer as derived": ("as derived",),
    "surgery as stated": ("as stated",),
    "luminal A breast cancer": ("luminal A",),
    "necrosis over 50%": ("over", "50%"),
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports, read."""
    folder = tmp_path_factory.mktemp("features")
    notes = folder / "notes.jsonl"
    note = {"date": "2012-05-04", "type": "pathology report"}
    rows = [
        {"patient_id": patient, "doc_id": f"{patient} report", "text": text, **note}
        for patient, text in REPORTS.items()
    ]
    notes.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run_ingest([notes], folder / "reports.kb")
    return folder / "reports.kb"


@pytest.mark.parametrize("question", FOUND)
def test_a_question_finds_the_reports_that_say_it(question: str, kb: Path) -> None:
    """The answer is right, by its patients, and its query, asked as text, has the same."""
    with cohortium.open(kb) as session:
        answer = session.ask(question)
        assert set(answer) == FOUND[question], answer.translation.text or answer.translation.reason
        assert set(session.find(answer.translation.text)) == FOUND[question]
        assert answer.translation.understood


@pytest.mark.parametrize("question", DECLINED)
def test_what_is_not_understood_is_declined_with_its_words(question: str, ask: Ask) -> None:
    """Nothing wider is answered in its place."""
    told = ask(question)
    assert told.query is None
    assert told.unread == DECLINED[question]
