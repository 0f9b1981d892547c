"""Expressions of change: exact spans and normal forms, in marked sentences (``notations.txt``) and as mentions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cohortium
from cohortium.ingest.notation.expressions import expressions_of
from cohortium.ingest.notation.protein import effect_of, normal
from cohortium.ingest.note.read import read_text
from cohortium.kb.model import Value
from tests.amounts import examples
from tests.ingest.note.marks import lines_of, taken_apart

LINES = lines_of(Path(__file__).with_name("notations.txt"))
RESIDUES = {"A": "Ala", "R": "Arg", "D": "Asp", "C": "Cys", "E": "Glu", "G": "Gly", "H": "His", "K": "Lys", "V": "Val"}


def plain(value: Value) -> str:
    """A value as the data file writes it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("line", LINES)
def test_the_marked_expressions_are_read_and_no_others(line: str) -> None:
    """Spans are exact, the form is the marked one, and the attributes that a mark names have its values."""
    text, marks = taken_apart(line)
    wanted = {(start, start + len(text[start:end].rstrip())): mark for start, end, mark in marks if mark != "-"}
    got = {(one.start, one.end): one for one in expressions_of(text)}
    assert {text[start:end] for start, end in got} == {text[start:end] for start, end in wanted}
    assert set(got) == set(wanted)
    for span, mark in wanted.items():
        form, *pairs = mark.split()
        assert got[span].form == form
        for name, value in (pair.split("=", 1) for pair in pairs):
            assert plain(got[span].attributes.get(name, "")) == value, name


@pytest.mark.parametrize(
    "written",
    [
        "p.V600E", "V600E", "p.Val600Glu", "Val600Glu", "p.(Val600Glu)", "p.(V600E)", "Val-600-Glu", "Val(600)Glu",
        "Val600 to Glu", "Val600→Glu", "valine 600 to glutamic acid", "valine to glutamic acid at codon 600",
        "Val-to-Glu substitution at position 600", "glutamic acid for valine at codon 600", "p.VAL600GLU",
    ],
)  # fmt: skip
def test_one_change_has_one_normal_form(written: str) -> None:
    """However it is written, the change is V600E, a missense change of codon 600."""
    (one,) = expressions_of(f"The mutation {written} was found.")
    assert one.attributes == {"protein": "V600E", "codon": 600.0, "effect": "missense"}


@pytest.mark.parametrize(
    "written",
    ["c.1799T>A", "1799T>A", "c.1799T&gt;A", "c.1799T→A", "1799 T-->A", "c.T1799A", "T-to-A change at nucleotide 1799"],
)
def test_one_change_of_nucleotides_has_one_normal_form(written: str) -> None:
    """However it is written, the change is 1799T>A."""
    (one,) = expressions_of(f"The nucleotide change {written} was found.")
    assert one.attributes["cdna"] == "1799T>A"


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        ("V600E", "missense"), ("R213*", "nonsense"), ("T276Afs*14", "frameshift"),
        ("E746_A750del", "inframe_deletion"),
        ("A767_V769dup", "duplication"), ("D770_N771insSVD", "inframe_insertion"),
        ("L747_P753delinsS", "inframe_indel"),
        ("M1V", "start_lost"), ("L858=", "synonymous"), ("L858L", "synonymous"), ("G719X", ""), ("V600", ""),
    ],
)  # fmt: skip
def test_the_notation_tells_the_effect(change: str, effect: str) -> None:
    """Each normal form has the effect that its letters tell, or none."""
    assert effect_of(change) == effect


def test_a_change_is_a_mention_with_the_gene_and_context_of_its_finding() -> None:
    """The change shares gene, polarity and origin with the gene's mention, which stays what it was."""
    text = "No EGFR p.L858R mutation. Germline BRCA1 c.68_69delAG, pathogenic. KRAS G12D present."
    doc = cohortium.read(text)
    by_text = {one.text: one for one in doc.mentions}
    change = by_text["p.L858R"]
    assert (change.label, change.kind, change.concept, change.polarity) == (
        "GenomicTestResult",
        "variant",
        "egfr",
        "absent",
    )
    assert change.attributes["protein"] == "L858R"
    inherited = by_text["c.68_69delAG"]
    assert (inherited.concept, inherited.attributes["origin"], inherited.polarity) == ("brca1", "germline", "present")
    assert (by_text["G12D"].concept, by_text["KRAS"].attributes["protein"]) == ("kras", "G12D")


def test_a_change_without_a_gene_has_a_context_of_its_own() -> None:
    """No gene is named: the change is denied, or present, by the words of its own sentence."""
    doc = cohortium.read("Negative for c.4375C>T. The variant c.1100+2T>C was detected. Her mother carries c.35delG.")
    by_text = {one.text: one for one in doc.mentions}
    assert (by_text["c.4375C>T"].polarity, by_text["c.4375C>T"].concept) == ("absent", "")
    assert by_text["c.1100+2T>C"].polarity == "present"
    assert by_text["c.35delG"].experiencer == "family"


def test_the_other_mentions_are_those_of_the_knowledge_base() -> None:
    """A note read for a knowledge base holds the same mentions, without those of notation."""
    text = "BRAF V600E mutated melanoma, c.1799T>A. EML4-ALK fusion absent. rs1799853 noted. Started dabrafenib."
    stored = {one.mention_id for one in read_text(text).mentions}
    shown = {one.id for one in cohortium.read(text).mentions if not one.source.startswith("notation:")}
    assert shown == stored


PIECES = st.sampled_from(
    "p. c. g. m. IVS V600E Val600Glu 600 Val Glu valine to glutamic acid at codon position 1799 T>A T → &gt; -->"
    " del ins dup fs * X Ter ( ) [ ] ; / + - _ , exon 19 t(9;22) rs123 ΔF508 C677T A/G BRAF EML4-ALK :: \n".split(" ")
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.one_of(PIECES, PIECES, st.text(max_size=4)), max_size=25), st.sampled_from(["", " ", "\n"]))
def test_expressions_of_any_text_lie_inside_it_in_order(pieces: list[str], joint: str) -> None:
    """Nothing raises; spans lie in the text, follow one another, and begin and end with no blank."""
    text = joint.join(pieces)
    position = 0
    for one in expressions_of(text):
        assert position <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == text[one.start : one.end].strip()
        position = one.end


@settings(max_examples=examples(100), deadline=None)
@given(st.sampled_from(sorted(RESIDUES)), st.integers(100, 3000), st.sampled_from(sorted(RESIDUES)))
def test_three_letters_and_one_say_the_same(old: str, place: int, new: str) -> None:
    """The three-letter form of any change has the normal form of its letters."""
    assert normal(f"{RESIDUES[old]}{place}{RESIDUES[new]}") == f"{old}{place}{new}"
    (one,) = expressions_of(f"p.{RESIDUES[old]}{place}{RESIDUES[new]}")
    assert one.attributes["protein"] == f"{old}{place}{new}"
