"""Descriptors of molecular and immunohistochemical findings: protein and cDNA changes, exons, results, percentages.

A descriptor says something of a marker that stands near it; ``ingest.results`` binds the two.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ...kb.model import Value
from ...kb.ontology.normal_forms import ONTOLOGY_FOLDER
from ...kb.units import amount_of
from ..notation.expressions import expressions_of
from ..notation.residues import LETTER, ONE_LETTER, words
from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated, Places
from ..text.statements import statement
from ..text.word_classes import word_classes
from ..text.words import PhraseTrie, fold

_CLASSES: Final = word_classes("recognizers", "molecular")

_THREE = {**ONE_LETTER, "Ter": "*"}
_RESIDUE = "(?:" + "|".join(_THREE) + ")"
_THREE_LETTER = re.compile(_RESIDUE)
_ANY = f"(?:{_RESIDUE}|{LETTER})"
# Look-aheads first: they spare the engine most places of a text.
_PROTEIN = re.compile(
    rf"""(?=[(\[A-Zip])(?<![A-Za-z0-9_])(?P<p>p\.\s?)?[(\[]?(?P<change>
        {_ANY}\d{{1,4}}_{_ANY}\d{{1,4}}(?:delins|del|ins|dup)(?:{_ANY})*\*?
      | {_ANY}\d{{1,4}}(?:{_ANY})?fs(?:\*|X|Ter)?\s?\d*
      | {_ANY}\d{{1,4}}(?:delins{_ANY}+|del|dup|ins{_ANY}+|ext\S*)
      | {_ANY}\d{{1,4}}(?:{_ANY}(?:/(?={LETTER}\b){LETTER})?|\*|X|=|\?)
      | ins[A-Z]{{3,4}}\b
      )[)\]]?(?![A-Za-z0-9])""",
    re.VERBOSE,
)
_CDNA = re.compile(
    r"(?=[cgnI\d])(?:(?<![A-Za-z0-9])(?:c|g|n)\.\s?(?P<change>[*\-]?\d[\d_+\-*?]*\s?(?:[ACGT]+\s?>\s?[ACGT]+|delins[ACGT]*"
    r"|del[ACGT\d]*(?:ins[ACGT]+)?|ins[ACGT\d]+|dup[ACGT\d]*|inv)?)"
    r"|(?<![A-Za-z0-9])(?P<legacy>\d{2,5}(?:del|ins)[ACGT]{1,4})(?![A-Za-z0-9])"
    r"|(?<![A-Za-z])(?P<ivs>IVS\d{1,2}[+\-]\d+[ACGT]>[ACGT]))"
)
_EXON = _CLASSES.compile(
    r"""(?=[EediM12])(?:(?<![A-Za-z0-9])(?:{exon}|E(?=\d\d?(?:del|ins)))\s?(?P<exon>\d{1,2})(?!\d)
        (?P<more>(?:\s?{exon_joins}\s?\d{1,2}(?!\d))*)
        (?:[\s\-]{0,2}(?:in-?frame\s+)?
            (?P<type>{exon_change})(?![A-Za-z]))?
      | (?<![A-Za-z0-9])(?P<reverse>{exon_change_before})\s?(?:of|in)?\s?(?:exon)?\s?
            (?P<reverse_exon>19|20)(?![\d.])
      | (?<![A-Za-z0-9])(?P<joined>19|20)(?P<joined_type>del|ins)(?![A-Za-z])
      | (?<![A-Za-z])METex14\w*|ex14)""",
    re.VERBOSE,
)
_CODON = re.compile(r"(?<![A-Za-z])codons?\s?(?P<codon>\d{1,4})", re.IGNORECASE)
_BARE_CODON = re.compile(rf"(?=[A-Z])(?<![A-Za-z0-9]){LETTER}(?P<codon>\d{{3,4}}|1[23]|61)(?![A-Za-z0-9%.])")
#: M1D is a stage, not the loss of a start.
_CATEGORY = re.compile(r"[TNM][0-4][A-D]")
_PERCENT = re.compile(
    r"(?=[<>≥≤~\s\d])(?P<sign>[<>≥≤~]|>=|<=)?\s?(?P<low>\d{1,3}(?:\.\d+)?)(?:\s?(?:-|–|to)\s?(?P<high>\d{1,3}))?\s?(?:%|percent\b)"
)
_PERCENT_SIGN = re.compile("%")
_SIGN_OR_WORD = re.compile(r"%|percent\b")
#: All but blanks and figures that can stand before it.
_BEFORE_PERCENT = ".<>≥≤~=-–to"
#: So far before a percentage may the name of what is measured begin (characters).
_REACH_OF_MEASURE = 40
_ALLRED = re.compile(
    r"(?=[0-8AQq])(?:(?<![\d/])(?P<score>[0-8])\s?/\s?8(?![\d/])|Allred\s*(?:score)?\s*[:=]?\s*(?P<allred>[0-8])(?!\d)"
    r"|[Qq]uick\s?score\s*[:=]?\s*(?P<quick>[0-8])(?!\d))"
)
#: An H-score (0 to 300), and the zero of a stain behind its word: "negative, H-score: 0", "negative (0)".
_H_SCORE = _CLASSES.compile(
    r"{h_score}\s?(?:of|is|[:=])?\s{0,8}(?P<score>[0-2]?\d?\d|300)(?![\d%/+]|\.\d)", re.IGNORECASE
)
_ZERO_BEHIND = _CLASSES.compile(
    r"{negative}[ \t]?[,(][ \t]?(?P<score>0)(?=[ \t]*(?:[),;]|\.(?!\d)|\r?\n|\Z))", re.IGNORECASE
)
_PLUS = _CLASSES.compile(
    r"(?=[0-3ISsi])(?:(?<![\d.A-Za-z])(?:{score_of_stain}\s*(?:of|:|=)?\s*)?(?P<plus>[0-3])\s?\+(?![\d+])|"
    r"(?<![\w.]){score_of_zero}\s*(?:of|:|=|is)?\s*(?P<zero>0)(?![\d.%+/]))"
)
_SIGN = _CLASSES.compile(
    r"(?:[ \t]?(?:\(|\[)(?P<bracket>(?:\+|[-–\u2212])(?:ve)?|{bracketed})(?:\)|\])"
    r"|(?P<sign>\+(?:ve)?|[-–](?:ve)?(?=[\s,;/.)\]]|$|{receptor}))"
    r"|[ \t]+{said_so}[ \t]+(?P<said>\+)(?=[ \t]*(?:[.,;)]|$))"
    # "ER +, PR -": a sign of its own that ends its item.
    r"|[ \t](?P<lone>[+\-–\u2212](?:ve)?)"
    r"(?=[ \t]*(?:[,;)/|]|\([<>]?\s?\d|\.(?!\d)|\r?\n|$)|[ \t]+{next_marker}[\s\-\d])"
    # In a table a sign stands alone in its cell; a dash that leads on is none.
    r"|[ \t]?[:=|][ \t]{0,3}(?P<cell>\+|[-–])(?=[ \t]*(?:[\n\r,;|)]|$)))"
)
_NUMBER = _CLASSES.compile(
    r"(?:{number_label}|:|=|,|{proportion_score}|[<>≥≤~])?\s*(?P<sign>[<>≥≤])?\s?(?P<number>\d{1,3}"
    r"(?:,\d{3})+(?:\.\d+)?|\d{1,3},\d{1,2}(?!\d|,\d)|\d{1,7}(?:\.\d+)?)(?!\d|/(?![Mm][Bb]\b)|\.\d|\s?(?:%|/\d|/8))\s?"
    r"(?P<unit>/[Mm][Bb]\b|{unit})?"
)

_BEFORE_NUMBER = _CLASSES.compile(r"[\s:=.(,\-]{0,40}(?:{number_lead}|at\s\w+)?[\s:=]{0,3}")
# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_PROTEINS = Gated(_PROTEIN, rf"(?:{_ANY}\d|ins[A-Z])", before=4, lead="p([")
_CDNAS = Gated(_CDNA, r"[cgn]\Z|\d{2,5}(?:del|ins)", r"(?<![A-Za-z])IVS\d")
_EXONS = Gated(_EXON, _CLASSES.pattern(r"{exon_begins}|E\d|del|ins|19|20"), r"(?<![A-Za-z])METex14|ex14")
_CODONS = Gated(_CODON, within=r"(?i:(?<![a-z])codon)")
_BARE_CODONS = Gated(_BARE_CODON, r"[A-Z]\d\d")
_H_SCORES = Gated(_H_SCORE, r"(?i:h(?:\Z|-?sc))")
_HEADS_UNCERTAIN = Gated(
    _CLASSES.compile(
        r"(?:(?<=\n)|(?<=\n[ \t\-*•.)\d])|(?<=\n[ \t\-*•.)\d]{2})|(?<=\n[ \t\-*•.)\d]{3})|(?<![\s\S]))"
        r"(?P<said>{unsure}(?:\s{changes})?)\s?:(?=\s*[A-Z][A-Z0-9]{1,9}\b)",
        re.IGNORECASE,
    ),
    _CLASSES.pattern(r"(?i:{unsure}\Z)"),
)
_ZEROS_BEHIND = Gated(_ZERO_BEHIND, r"(?i:neg)")
_ALLREDS = Gated(_ALLRED, r"8(?!\d)", r"Allred|[Qq]uick", before=4)
_PLUSES = Gated(_PLUS, _CLASSES.pattern(r"(?:[0-3]\Z|{stain_begins})"))


def one_letter(change: str) -> str:
    """A protein change in one-letter form without ``p.`` and brackets: ``Val600Glu`` → ``V600E``."""
    return _THREE_LETTER.sub(lambda match: _THREE[match.group()], change).replace("Ter", "*").replace(" ", "")


def effect_of(change: str) -> str:
    """The effect that the notation itself tells: truncating, inframe_deletion, inframe_insertion, missense or empty."""
    if "=" in change:
        return "synonymous"
    if "fs" in change:
        return "frameshift"
    if change.endswith(("*", "X")) and re.match(rf"{LETTER}\d+[*X]$", change):
        return "nonsense" if change.endswith("*") else ""
    if "delins" in change:
        return "inframe_indel"
    if "del" in change:
        return "inframe_deletion"
    if "ins" in change:
        return "inframe_insertion"
    if "dup" in change:
        return "duplication"
    return "missense" if re.match(rf"{LETTER}\d+{LETTER}$", change) else ""


@lru_cache(maxsize=1)
def molecular_words() -> PhraseTrie[tuple[str, str, str]]:
    """Words of ``alterations.toml``: phrase → (attribute, value, exact spelling or empty)."""
    table = tomllib.loads((ONTOLOGY_FOLDER / "alterations.toml").read_text("utf-8"))
    trie: PhraseTrie[tuple[str, str, str]] = PhraseTrie()
    for attribute in ("alteration", "effect", "significance", "origin", "sample"):
        for value, entry in table.get(attribute, {}).items():
            for word in entry.get("words", ()):
                trie.add(word, (attribute, value, ""))
            for short in entry.get("short", ()):
                bare = short.split("{")[0]
                trie.add(bare, (attribute, value, bare))
    return trie


@lru_cache(maxsize=1)
def speaking_of_changes() -> frozenset[str]:
    """Folded words (mutation, allele, exon …), one of which stands in a note that has changes in other notations."""
    return frozenset(map(fold, words()["support"]["words"]))


def _percentages(text: str) -> Iterator[re.Match[str]]:
    """The percentages of a text: each ends in a sign or word that is rare, and is sought from where it can begin."""
    end = 0
    # The sign alone is found much quicker.
    for sign in _SIGN_OR_WORD.finditer(text) if "percent" in text else _PERCENT_SIGN.finditer(text):
        low = sign.start()
        while low > end and ((before := text[low - 1]) in _BEFORE_PERCENT or before.isspace() or before.isdecimal()):
            low -= 1
        if match := _PERCENT.search(text, low, sign.end() + 1):
            yield match
            end = match.end()


def _is_measured(text: str, percentage: re.Match[str]) -> bool:
    """``O2 96%``: a share of oxygen, of blood, of what the heart drives out."""
    before = max(0, percentage.start() - _REACH_OF_MEASURE)
    return bool(
        statement("measured_before").search(text, before, percentage.start())
        or statement("measured_behind").match(text, percentage.end())
    )


class MolecularRecognizer(Recognizer):
    """Spans of kind ``molecular``: descriptors with the attributes that they give to a marker."""

    name = "molecular"

    def find(self, frame: Frame) -> Iterator[Span]:
        """Protein and cDNA changes, exons, codons, alteration words, percentages, scores, signs."""
        yield from self._words(frame)
        yield from self._patterns(frame)

    @staticmethod
    def _words(frame: Frame) -> Iterator[Span]:
        for match in frame.phrases(molecular_words(), 0, len(frame.words.norms)):
            surface = frame.text[match.start : match.end]
            attributes: dict[str, Value] = {}
            for attribute, value, exact in match.payloads:
                if not exact or exact == surface:
                    attributes.setdefault(attribute, value)
            if attributes:
                yield Span(match.start, match.end, "molecular", "", "words:alteration", attributes, priority=0)
        for head in _HEADS_UNCERTAIN.find(frame.places, frame.text):
            vus: dict[str, Value] = {"significance": "vus"}
            yield Span(head.start("said"), head.end("said"), "molecular", "", "words:alteration", vus, priority=0)

    def _patterns(self, frame: Frame) -> Iterator[Span]:
        text, places = frame.text, frame.places
        for match in _PROTEINS.find(places, text):
            change = one_letter(match["change"])
            attributes: dict[str, Value] = {"protein": change}
            position = re.search(r"\d+", change)
            if position:
                attributes["codon"] = float(position.group())
            effect = effect_of(change)
            if effect:
                attributes["effect"] = effect
            if "/" in change or (change.endswith("X") and not match["p"]):
                del attributes["protein"]
            elif not match["p"] and "ins" not in change and not position:
                continue
            if not match["p"] and _CATEGORY.fullmatch(change):
                continue
            yield Span(match.start(), match.end(), "molecular", "", "pattern:protein", attributes, priority=4)
        for match in _CDNAS.find(places, text):
            change = (match["change"] or match["legacy"] or match["ivs"]).replace(" ", "")
            attributes = {"cdna": change}
            if re.search(r"\d[+-][12](?!\d)", change):
                attributes["effect"] = "splice_site"
            elif match["legacy"]:
                attributes["effect"] = "frameshift"
            yield Span(match.start(), match.end(), "molecular", "", "pattern:cdna", attributes, priority=4)
        if not speaking_of_changes().isdisjoint(frame.vocabulary):
            yield from self._other_notations(text, places)
        yield from self._exons(frame)
        # A bare V600 may also be the name of a stain (S100): the lexicon's reading goes first.
        for gated, priority in ((_CODONS, 3), (_BARE_CODONS, 0)):
            for match in gated.find(places, text):
                codon: dict[str, Value] = {"codon": float(match["codon"])}
                yield Span(match.start(), match.end(), "molecular", "", "pattern:codon", codon, priority=priority)
        for match in _percentages(text):
            low = float(match["low"])
            if low <= 100 and not _is_measured(text, match):
                value = 0.0 if match["sign"] == "<" and low <= 1 else low
                # A blank before it is of no sentence.
                start = match.start("sign") if match["sign"] else match.start("low")
                yield Span(start, match.end(), "molecular", "", "pattern:percent", {"percent": value}, priority=2)
        for match in _ALLREDS.find(places, text):
            score = float(match["score"] or match["allred"] or match["quick"])
            yield Span(match.start(), match.end(), "molecular", "", "pattern:allred", {"score": score}, priority=3)
        for gated, group in ((_H_SCORES, 0), (_ZEROS_BEHIND, "score")):
            for match in gated.find(places, text):
                scored: dict[str, Value] = {"score": float(match["score"])}
                # The word before a zero is a result of its own.
                yield Span(match.start(group), match.end(), "molecular", "", "pattern:score", scored, priority=3)
        for match in _PLUSES.find(places, text):
            yield Span(
                match.start(),
                match.end(),
                "molecular",
                "",
                "pattern:plus",
                {"plus": float(match["plus"] or 0)},
                priority=3,
            )

    @staticmethod
    def _other_notations(text: str, places: Places) -> Iterator[Span]:
        """Changes in notations that only the whole grammar knows; what the patterns above read the same way stands."""
        for one in expressions_of(text, places):
            if one.form not in ("protein", "dna") or not {"protein", "cdna"} & one.attributes.keys():
                continue
            attributes = dict(one.attributes)
            if "|" in str(attributes.get("protein", "")):
                del attributes["protein"]
            yield Span(one.start, one.end, "molecular", "", f"pattern:{one.form}", attributes, priority=3)

    @staticmethod
    def _exons(frame: Frame) -> Iterator[Span]:
        kinds = {
            "del": "inframe_deletion",
            "ins": "inframe_insertion",
            "ski": "exon_skipping",
            "dup": "inframe_insertion",
        }
        for match in _EXONS.find(frame.places, frame.text):
            number = match["exon"] or match["reverse_exon"] or match["joined"] or "14"
            attributes: dict[str, Value] = {"exon": float(number)}
            if match["more"]:
                attributes["exons"] = "|".join(re.findall(r"\d+", number + match["more"]))
            word = match["type"] or match["reverse"] or match["joined_type"]
            if match.group().startswith("METex14"):
                attributes.update({"implied": "met", "alteration": "exon_skipping"})
            if word:
                effect = kinds[word[:3].lower()]
                if effect == "exon_skipping":
                    attributes["alteration"] = effect
                else:
                    attributes["effect"] = effect
            yield Span(match.start(), match.end(), "molecular", "", "pattern:exon", attributes, priority=3)


def sign_after(text: str, end: int) -> tuple[str, int] | None:
    """A sign written against a marker (``ER+``, ``HER2 (-)``): ``positive`` or ``negative`` and where it ends."""
    match = _SIGN.match(text, end)
    if not match:
        return None
    sign = match["bracket"] or match["sign"] or match["said"] or match["lone"] or match["cell"]
    return ("positive" if sign[0] in "+p" else "negative"), match.end()


def number_after(text: str, end: int, limit: int) -> tuple[float, str, str, int] | None:
    """The number right behind a marker: value, comparison sign, unit, and where it ends."""
    match = _NUMBER.match(text, end, limit)
    if not match:
        gap = _BEFORE_NUMBER.match(text[end:limit])
        match = _NUMBER.match(text, end + gap.end(), limit) if gap else None
    if not match:
        return None
    sign = match["sign"] or ("<" if "<" in text[end : match.start("number")] else "")
    return amount_of(match["number"]), sign, match["unit"] or "", match.end()
