"""Short forms defined in a note: which pairs are definitions, and what holds of every text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.recognizers.short_forms import Abbreviations, definitions
from cohortium.ingest.text.frame import Frame
from cohortium.kb.model import Note
from tests.amounts import examples

#: Text, and its definitions as "short = long".
PAIRED = [
    ("seen for adenoid cystic carcinoma (ACC) of the lip", ["ACC = adenoid cystic carcinoma"]),
    ("SCC (squamous cell carcinoma) of the lip", ["SCC = squamous cell carcinoma"]),
    ('large cell lymphoma ("LCL"), relapsed', ["LCL = large cell lymphoma"]),
    ("diffuse large\nB-cell lymphoma (DLBCL; stage IV)", ["DLBCL = diffuse large\nB-cell lymphoma"]),
    ("Lymph nodes (LNs) and basal cell carcinomas (BCCs)", ["LNs = Lymph nodes", "BCCs = basal cell carcinomas"]),
    ("5-fluorouracil (5-FU) was given", ["5-FU = 5-fluorouracil"]),
    ("mantle cell lymphoma (MCL, stage IV) and MCL again", ["MCL = mantle cell lymphoma"]),
    ("The letters do not fit: breast carcinoma (LCNEC).", []),
    ("Not behind a stop: squamous cell. (SCC)", []),
    ("aspirin (81 MG), pain (R), liver (3 CM), seen (by me)", []),
    ("genes tested (KRAS, NRAS)", []),
    ("KRAS gene (KRAS)", []),
    ("squamous cell carcinoma(SCC) stands too close", []),
    ("Dr. (SCC) squamous cell carcinoma", []),
    ("mild anemia (ma) is in small letters", []),
]
PIECES = st.sampled_from(
    "squamous|cell|carcinoma|(SCC)|SCC|SCC (|(|)|((|(A|progressive disease|(PD)|PD|PD-L1|PR|ER positive, PR negative|"
    'partial response (PR)|\n|. |;|("LNs")|LNs|İ|ſ|٣'.split("|")
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=30).flatmap(
    lambda pieces: st.sampled_from([" ", "", "\n"]).map(lambda joint: joint.join(pieces))
)


@pytest.mark.parametrize(("text", "pairs"), PAIRED)
def test_definitions(text: str, pairs: list[str]) -> None:
    """Exactly the pairs of the algorithm are found."""
    assert [f"{one.short} = {text[one.start : one.end]}" for one in definitions(text)] == pairs


def test_the_last_definition_counts_from_where_it_stands() -> None:
    """A short form defined twice has each meaning up to the next definition."""
    text = "MM. Malignant melanoma (MM), MM resected. Later multiple myeloma (MM). MM relapsed."
    spans = sorted(Abbreviations(shared_reader().lexicon).find(Frame(Note("", "", text))), key=lambda one: one.start)
    assert [span.concept for span in spans] == ["melanoma", "melanoma", "multiple_myeloma", "multiple_myeloma"]


@settings(max_examples=examples(200), deadline=None)
@given(text=TEXTS)
def test_any_text(text: str) -> None:
    """No text raises; definitions and places lie inside it, each place quotes its short form, behind a definition."""
    pairs = list(definitions(text))
    for one in pairs:
        assert 0 <= one.start < one.end <= len(text)
        assert text.startswith(one.short, one.short_start)
    for span in Abbreviations(shared_reader().lexicon).find(Frame(Note("", "", text))):
        assert 0 <= span.start < span.end <= len(text)
        short = span.source.removeprefix("abbreviation:").removesuffix("s")
        assert text[span.start : span.end].removesuffix("s") == short
        assert span.start >= min(one.short_start for one in pairs if one.short.removesuffix("s") == short)
