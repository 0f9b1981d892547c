"""All expressions of change in a text: every form tried, the doubtful judged by its surroundings, overlaps settled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from ...kb.ontology.variants import gene_of, gene_symbols, has_known_changes, is_known
from ..text.frame import first_come
from ..text.gates import Places, places_of
from ..text.words import words_of
from . import dna, protein, structural
from .expression import Expression
from .residues import any_of, words

FORMS: Final = (*protein.FORMS, *dna.FORMS, *structural.FORMS)

#: How far, in characters, words bear on a doubtful change.
_WINDOW: Final = 80
#: How near a word of alleles must stand to a bare pair of them.
_BESIDE: Final = 25
#: From this place on a change of one letter to another of A, C, G, T is one of nucleotides where nothing else tells.
_PLACE_OF_NUCLEOTIDES: Final = 100
_GENE_BEFORE: Final = re.compile(r"(?<![A-Za-z0-9])([A-Z][A-Z0-9]{1,9})[ :(-]{0,2}$")
_GENE_BEHIND: Final = re.compile(r"[ -]([A-Z][A-Z0-9]{1,9})(?![A-Za-z0-9])")
_DBSNP_BEFORE: Final = re.compile(r"rs\d{3,11}[ ,:(]{1,3}$")
#: Members of one list: another change of letters, that can be of residues only, or one of nucleotides as HGVS has it.
_MEMBER: Final = r"(?:(?P<residues>(?!(?:[ACGT]\d+[ACGT])(?![A-Za-z]))[A-Z]\d{2,4}[A-Z*])|\d{2,5}[ACGT]>[ACGT])"
_JOINT: Final = r"(?:, (?:and |or )?|/| and | or |; )"
_IN_LIST_BEFORE: Final = re.compile(rf"(?<![A-Za-z0-9.]){_MEMBER}{_JOINT}$")
_IN_LIST_AFTER: Final = re.compile(rf"{_JOINT}{_MEMBER}(?![A-Za-z0-9])")
_FIGURES: Final = re.compile(r"\d+")


#: One character each, so that spans in the plain text are spans in the text as written.
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2192\u2794\u279c\u279d\u279e\u27f6\u21d2\u2b62\uff1e\u203a", ">"),
        **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\t", " "),
        **dict.fromkeys("\u0394\u2206", "\u0394"),
        "\uff0b": "+",
        "\u2217": "*",
        "\u2236": ":",
    }
)


def _plain(text: str) -> str:
    """``text`` with one spelling of dashes, arrows, blanks and deltas; as long as before, place by place."""
    return text.replace("\t", " ") if text.isascii() else text.translate(_PLAIN)


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    table = words()
    return {
        "nucleotide": re.compile(rf"(?<![A-Za-z0-9]){any_of(table['reading']['nucleotide'])}(?![A-Za-z0-9])"),
        "residue": re.compile(rf"(?<![A-Za-z0-9]){any_of(table['reading']['residue'])}(?![A-Za-z0-9])"),
        "support": re.compile(rf"(?<![A-Za-z0-9]){any_of(table['support']['words'])}(?![A-Za-z0-9])"),
        "allele": re.compile(rf"(?<![A-Za-z0-9]){any_of(table['support']['allele'])}(?![A-Za-z0-9])"),
        "fusion": re.compile(rf"(?<![A-Za-z0-9]){any_of(table['fusion']['words'])}(?![A-Za-z0-9])"),
        "after": re.compile(
            rf"[ -](?:{any_of(table['none']['between'])}[ ])?{any_of(table['none']['after'])}(?![A-Za-z0-9])"
        ),
        "before": re.compile(
            rf"(?i:(?<![A-Za-z0-9]){any_of(table['none']['before'])})"
            rf"(?:[ ]{any_of(table['none']['numbering'])})?[ :#.]{{1,3}}$"
        ),
    }


@lru_cache(maxsize=1)
def _no_changes() -> frozenset[str]:
    return frozenset(words()["none"]["tokens"])


def expressions_of(text: str, places: Places | None = None) -> tuple[Expression, ...]:
    """The expressions of change in ``text``, in its order, without overlap; each span is of the whole expression.

    ``places``: of the words of the text (:mod:`~cohortium.ingest.text.gates`), if they are known.
    """
    flat = _plain(text)
    places = places_of(words_of(text)) if places is None else places
    found = [one for form in FORMS for one in form.find(places, flat)]
    # A text that speaks of changes for sure lends weight to what may be one.
    among_others = any(_speaks_for_itself(flat, one) for one in found)
    settled = _settled(filter(None, (_judged(flat, one, among_others) for one in found)))
    # A change written in words beside its notation is one change, and the notation is its expression.
    written = {_change(one) for one in settled if not one.in_words}
    return tuple(one for one in settled if not (one.in_words and _change(one) in written))


def _change(one: Expression) -> tuple[str, str]:
    """What tells one change from another."""
    return one.form, str(one.attributes.get("protein", one.attributes.get("cdna", one.attributes.get("genomic", ""))))


def _speaks_for_itself(text: str, one: Expression) -> bool:
    """Whether the letters alone tell that it is a change: its notation, or a place of three figures and more."""
    if one.form not in ("protein", "dna"):
        return False
    surface = text[one.start : one.end]
    return one.certain or surface not in _no_changes() and bool(re.search(r"\d{3}", surface))


def _judged(text: str, one: Expression, among_others: bool) -> Expression | None:
    """The expression in the reading that its surroundings ask for; None if they make it none at all."""
    surface = text[one.start : one.end]
    if surface in _no_changes():
        return None
    if one.certain:
        return one
    patterns = _patterns()
    before, after = text[max(0, one.start - _WINDOW) : one.start], text[one.end : one.end + _WINDOW]
    if patterns["before"].search(before):
        return None
    if "alleles" in one.attributes:
        beside = bool(
            patterns["allele"].search(before[-_BESIDE:])
            or _DBSNP_BEFORE.search(before[-_BESIDE:])
            or patterns["allele"].search(after[:_BESIDE])
        )
        return one if beside else None
    if one.form == "fusion":
        return one if patterns["fusion"].search(before) or patterns["fusion"].search(after) else None
    known = bool(gene_of(surface))
    if not known and patterns["after"].match(after):
        return None
    figures = len(_FIGURES.findall(surface)[0])
    short = figures == 1 or figures == 2 and not among_others or surface[0] == "X" or "-" in surface
    if (
        not known
        and one.form == "protein"
        and short
        and not (
            patterns["support"].search(before)
            or patterns["support"].search(after)
            or gene_before(text, one.start)
            or _gene_behind(after)
        )
    ):
        return None
    if (
        one.form == "dna"
        and one.other is None
        and not any(patterns[name].search(side) for name in ("nucleotide", "support") for side in (before, after))
    ):
        return None
    if one.other is not None:
        return one.other if not _of_nucleotides(surface, before, after) else one
    return one


def gene_before(text: str, start: int) -> str:
    """The gene whose symbol stands right before ``start`` (``TERT -124C>T``, ``BRAFV600E``); empty if none does."""
    match = _GENE_BEFORE.search(text[max(0, start - 12) : start])
    return gene_symbols().get(match[1], "") if match else ""


def _gene_behind(after: str) -> bool:
    """Whether the symbol of a gene follows right behind a change (``D90A-SOD1``)."""
    match = _GENE_BEHIND.match(after)
    return match is not None and match[1] in gene_symbols()


def _of_nucleotides(surface: str, before: str, after: str) -> bool:
    """Whether a change that may be one of nucleotides or of residues is one of nucleotides.

    What stands in one list with it tells first, then a known residue, then the word beside it; else its place:
    counted in nucleotides, places run higher.
    """
    left, right = _IN_LIST_BEFORE.search(before), _IN_LIST_AFTER.match(after)
    for match in (left, right):
        if match:
            return match["residues"] is None
    patterns = _patterns()
    beside = before[-_BESIDE:], after[:_BESIDE]
    if any(patterns["nucleotide"].search(side) for side in beside):
        return True
    gene = gene_before(before, len(before))
    if is_known(surface) or has_known_changes(gene) or patterns["residue"].search(beside[0]):
        return False
    return int(_FIGURES.findall(surface)[0]) >= _PLACE_OF_NUCLEOTIDES


def _settled(found: Iterable[Expression]) -> list[Expression]:
    """Of expressions that overlap the longest; of equally long ones that with a second reading, then the first form."""
    return first_come(sorted(found, key=lambda one: (one.start - one.end, one.certain, one.start)))
