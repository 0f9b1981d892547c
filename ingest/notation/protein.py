"""Changes of proteins: HGVS (``p.Val600Glu``), letters (``V600E``), older forms (``Q61X``, ``delta F508``), prose."""

from __future__ import annotations

import re
from typing import Final

from ...kb.model import Value
from ...kb.ontology.variants import gene_symbols, is_known
from ..text.gates import Gated
from ..text.word_classes import word_classes
from .expression import Expression, Form, end_closed
from .residues import (
    ARROW,
    LETTER,
    NAMED,
    NAMED_OPENS,
    RESIDUE,
    SHORT,
    SHORT_ANY_CASE,
    STOP,
    STOP_WORD,
    any_of,
    letter,
    words,
)

_CLASSES: Final = word_classes("notation", "protein")

_EITHER: Final = f"(?:{SHORT_ANY_CASE}|{LETTER})"
#: fs, fs*12, fsX28, fsTer5, fs114X
_FS: Final = r"fs(?:[ ]?(?:\((?:\*|X|Ter)\)|\*|X|Ter|ter|stop)[ ]?\d{0,4}|\d{1,4}X?|[ ]?\+[ ]?\d{1,3}X?)?"


def _tail(residue: str) -> str:
    """What may stand behind the place of a change, the longest first."""
    return rf"""(?:
        delins(?:{residue}){{1,40}} | del(?:{residue}){{0,40}}ins(?:{residue}){{1,40}} | del(?:{residue}){{0,40}}
      | ins(?:{residue}){{1,40}} | ins\d{{0,3}} | dup(?:{residue}){{0,40}}
      | (?:{residue})?{_FS}
      | ext[*\-]?\d{{0,4}}X?
      | (?:{residue}|{STOP})(?:/(?:{residue}|{STOP})){{0,3}}
      | =|\?
    )"""


_END: Final = r"(?![A-Za-z0-9])"
#: p.V600E, p.(Val600Glu), p.[D448H;H294Q], p.11_12insAAAA, p.Y498
_HGVS: Final = re.compile(
    rf"""(?=[pP])(?<![A-Za-z0-9_.])(?:[pP][ ]?\.[ ]?|p(?=[A-Z][a-z]{{2}}\d))(?P<open>[(\[]{{0,2}})
    (?P<change>
        (?:(?:{_EITHER}|\*|X|Ter)[ ]?\d{{1,5}}(?:[_\-]{_EITHER}?\d{{1,5}})?
          |\d{{1,5}}[_\-]\d{{1,5}}|\d{{1,5}}(?=del|ins|dup))
        (?:[ ]?{_tail(_EITHER)})?
      | 0\??|[=?])
    (?P<more>(?:[ ]?;[ ]?(?:p\.)?{_EITHER}\d{{1,5}}{_EITHER}){{0,5}}(?=[)\]]))?{_END}""",
    re.VERBOSE,
)
#: V600E, Val600Glu, V600E/K, E746_A750del, E746-A750del, P686fs, S133stop, E947stop
_BARE: Final = re.compile(
    rf"""(?=[A-Z][A-Za-z]{{0,2}}\d|del|ins|dup)(?:(?<![A-Za-z0-9_])(?<!\d\.)|(?<=[^A-Za-z0-9]H3)|(?<=alpha)|(?<=beta)|(?<=gamma))
    (?P<change>
        {RESIDUE}\d{{1,5}}[_\-]{RESIDUE}?\d{{1,5}}[ ]?(?:delins|del|ins|dup|>){RESIDUE}{{0,40}}
      | (?:del|ins|dup)[ ]?{RESIDUE}\d{{2,4}}(?:[_\-]{RESIDUE}?\d{{1,5}}(?:ins{RESIDUE}{{1,40}})?)?
      | {RESIDUE}\d{{1,5}}{_tail(RESIDUE)}
    ){_END}""",
    re.VERBOSE,
)
_GAP: Final = r"(?:[ ]?-[ ]?|[ ])"
_INTO: Final = _CLASSES.pattern(rf"(?:{ARROW}|[ ]?-{{1,2}}[ ]?|[\s-]{{into}}[\s-](?:an?[ ])?|[ ])")
#: Val-600-Glu, Val(600)Glu, Arg 1306 Trp, Cys 23-Ser 23, Val600 to Glu, Tyr64-->Ter, arginine 150 proline
_SPACED: Final = re.compile(
    rf"""(?=[ACGHILMPSTUVacghilmpstv])(?<![A-Za-z0-9_])(?P<old>{NAMED})
    (?:{_GAP}?(?P<place>\d{{1,4}})(?:{_INTO}|/)?|[ ]?\((?P<inside>\d{{1,4}})\)[ ]?-?)
    (?P<new>{NAMED}|{STOP_WORD}|\*)(?P<again>{_GAP}?(?P=place)(?!\d))?{_END}""",
    re.VERBOSE,
)
_KIND: Final = _CLASSES.pattern(r"(?:{kind_of_change}[\s-]){0,2}") + any_of(words()["change"]["residue"])
#: at codon 600, at position 158, in residue 12, at amino acid position 404, of codon 12
_AT: Final = _CLASSES.pattern(r"[\s,(]{1,2}(?:{at}[\s](?:the[\s])?)?{position}s?(?:[\s]{numbered})?[\s#]{1,2}")
_PROSE_INTO: Final = _CLASSES.pattern(rf"(?:{ARROW}|[\s-](?P<way>{{into_in_prose}})[\s-](?:an?[ ])?|-{{1,2}})")
#: Arg-to-Cys substitution at position 158, valine to glutamic acid at codon 600, Met-->Val at codon 404
_PROSE: Final = re.compile(
    rf"""(?=[ACGHILMPSTUVacghilmpstv])(?<![A-Za-z0-9_])(?P<old>{NAMED}){_PROSE_INTO}(?P<new>{NAMED}|{STOP_WORD})
    (?:[\s]{_KIND})?{_AT}(?P<place>\d{{1,4}})(?![\d.]\d|\d)""",
    re.VERBOSE,
)
#: codon 600 valine to glutamic acid, residue 12 (Gly to Asp)
_PROSE_BEHIND: Final = _CLASSES.compile(
    rf"""(?<![A-Za-z0-9_]){{position_alone}}[\s](?P<place>\d{{1,4}})[\s,:]{{1,2}}[(]?(?:from[\s])?
    (?P<old>{NAMED}){_PROSE_INTO}(?P<new>{NAMED}|{STOP_WORD}){_END}""",
    re.VERBOSE,
)
#: Gly --> Ser269
_PLACE_LAST: Final = re.compile(
    rf"(?=[A-Z])(?<![A-Za-z0-9_])(?P<old>{SHORT}){ARROW}(?P<new>{SHORT}|{STOP})(?P<place>[ -]?\d{{1,4}}){_END}"
)
#: Ala-->Val, without a place
_ALLELES: Final = re.compile(rf"(?=[A-Z])(?<![A-Za-z0-9_/-])(?P<old>{SHORT}){ARROW}(?P<new>{SHORT}){_END}")
#: V600-->E, R72>P; of bases alone it is a change of nucleotides
_ARROWED: Final = re.compile(
    rf"(?=[A-Z])(?<![A-Za-z0-9_])(?P<old>{LETTER})(?P<place>\d{{2,4}}){ARROW}(?P<new>{LETTER}|\*|X){_END}"
)
#: delta F508, deltaF508, ΔF508, F508 deletion is left to _BARE's del
_DELTA: Final = re.compile(
    rf"(?<![A-Za-z_])(?:[Dd]elta[ -]?|Δ[ -]?)(?P<old>{RESIDUE})(?P<place>\d{{2,4}})(?![A-Za-z0-9])"
)
#: Deletion of one residue written apart: "Phe508 del", "F508 del".
_APART: Final = re.compile(
    rf"(?<![A-Za-z0-9_])(?P<old>{RESIDUE})(?P<place>\d{{2,4}})[ ](?P<what>del|dup|fs)(?![A-Za-z0-9])"
)
#: BRAFV600E, IDH1R132H: right behind the symbol of its gene
_ATTACHED: Final = re.compile(
    rf"(?=[A-Z])(?<![A-Za-z0-9_])(?P<gene>[A-Z][A-Z0-9]{{1,6}}?)(?P<change>{LETTER}\d{{2,4}}(?:{LETTER}|\*|X|fs)){_END}"
)
#: What may be a change of nucleotides is read as one of either kind by ``dna``.
_OF_BASES: Final = re.compile(r"[ACGT]\d+[ACGT]")
_SAME: Final = re.compile(rf"({SHORT})\d+({SHORT})")
#: EGFR E20ins: an exon, by its usual short form.
_EXON_INSTEAD: Final = re.compile(r"E(?:18|19|20|21)(?:del|ins|dup)")
#: R-4Q: counted from the end of a signal peptide; X654G: a stop that is lost.
_SIGNAL: Final = re.compile(rf"(?<![A-Za-z0-9_-])(?P<change>{LETTER}-\d{{1,2}}{LETTER}|X\d{{2,4}}{LETTER}){_END}")
_PLACE: Final = re.compile(r"\d+")


def normal(change: str) -> str:
    """A change in one-letter HGVS without ``p.`` and brackets: ``Val600Glu`` → ``V600E``, ``Q61X`` → ``Q61*``.

    Of a frameshift no more than its new residue and where it ends: ``Val903GlyfsX905`` → ``V903Gfs*905``.
    """
    short = re.sub(r"[\s()\[\]]", "", change)
    short = re.sub(SHORT_ANY_CASE, lambda match: letter(match.group()), short)
    short = re.sub(r"(?<=\d)-(?=[A-Z]?\d)", "_", short)
    fronted = re.fullmatch(r"(del|ins|dup)([A-Z]\d+(?:_[A-Z]?\d+)?)(ins[A-Z]+)?", short)
    if fronted:
        return fronted[2] + fronted[1] + (fronted[3] or "")
    short = re.sub(r"(?<=\d)>(?=[A-Z])", "delins", short)
    short = re.sub(r"^(?:X|Ter)(?=\d)", "*", short)
    if "fs" in short:
        head, _, rest = short.partition("fs")
        figure = _PLACE.search(rest)
        return f"{head}fs*{figure.group()}" if figure else f"{head}fs"
    return re.sub(r"(?<=\d)(?:X|Ter|TER|ter|[Ss]top|STOP)(?=$|/)", "*", short)


def effect_of(change: str) -> str:
    """What a change in normal form does to the protein: an effect of ``kb/ontology/alterations.toml``, or empty."""
    if "fs" in change:
        return "frameshift"
    for word, effect in (
        ("delins", "inframe_indel"),
        ("del", "inframe_indel" if "ins" in change else "inframe_deletion"),
        ("ins", "inframe_insertion"),
        ("dup", "duplication"),
    ):
        if word in change:
            return effect
    match = re.fullmatch(r"([A-Z])(\d+)([A-WYZ*=?])(?:/.+)?", change)
    if match is None:
        return ""
    old, place, new = match.groups()
    if old == "M" and place == "1":
        return "start_lost"
    if new == "*":
        return "nonsense"
    return "synonymous" if new in ("=", old) else "missense" if new != "?" else ""


def attributes_of(change: str) -> dict[str, Value]:
    """protein, codon and effect of a change in normal form. Of alternatives (``V600E/K``) no single protein is told."""
    found: dict[str, Value] = {}
    if "/" not in change:
        found["protein"] = change
    else:
        first, *others = change.split("/")
        found["protein"] = "|".join([first, *(first[:-1] + other for other in others)])
    place = _PLACE.search(change)
    if place:
        found["codon"] = float(place.group())
    effect = effect_of(change)
    if effect:
        found["effect"] = effect
    return found


def _hgvs(match: re.Match[str]) -> Expression | None:
    change = normal(match["change"])
    if match["more"] and match["open"]:
        change = ";".join(
            [change, *(normal(part.replace("p.", "")) for part in match["more"].split(";") if part.strip())]
        )
    return Expression(match.start(), end_closed(match), "protein", attributes_of(change))


def _bare(match: re.Match[str]) -> Expression | None:
    change = match["change"]
    if change.endswith(("=", "?")) or _OF_BASES.fullmatch(change):
        return None
    same = _SAME.fullmatch(change)
    if same and same[1] == same[2]:
        return None
    # Behind letters alone: the three-letter forms and those with a word of change in them speak for themselves.
    if _EXON_INSTEAD.fullmatch(change):
        return None
    certain = bool(re.search(r"[a-z]{2}|_", change)) or "*" in change
    if re.fullmatch(rf"{LETTER}\d{{1,5}}ins\d*", change) and len(_PLACE.findall(change)) > 1:
        return None
    if change.endswith("X") and is_known(change):
        # G719X: any change of that residue, where the tables know it so.
        found: dict[str, Value] = {"protein": change, "codon": float(_PLACE.findall(change)[0])}
        return Expression(match.start(), match.end(), "protein", found)
    return Expression(match.start(), match.end(), "protein", attributes_of(normal(change)), certain=certain)


def _attached(match: re.Match[str]) -> Expression | None:
    if match["gene"] not in gene_symbols():
        return None
    found = attributes_of(normal(match["change"]))
    return Expression(match.start("change"), match.end(), "protein", found)


def _signal(match: re.Match[str]) -> Expression | None:
    if re.fullmatch(r"[ACGT]-\d+[ACGT]", match["change"]):
        return None
    change = match["change"].replace("X", "*")
    return Expression(match.start(), match.end(), "protein", {"protein": change}, certain=False)


def _substitution(match: re.Match[str]) -> Expression | None:
    groups = match.groupdict()
    old, new = letter(groups["old"]), letter(groups["new"])
    # "glutamic acid for valine": the new one stands first.
    if groups.get("way") == "for" and new != "*":
        old, new = new, old
    place = (groups["place"] or groups["inside"]).strip(" -")
    # Fingers of zinc: Cys2-His2.
    if groups.get("again") and len(place) == 1:
        return None
    # A genotype (Met326Met), or a drug that was stopped ("Met 500 stop"), is no change.
    if old == new or new == "*" and match.group().endswith(f"{place} stop"):
        return None
    in_words = bool(groups.get("way"))
    return Expression(match.start(), match.end(), "protein", attributes_of(f"{old}{place}{new}"), in_words=in_words)


def _arrowed(match: re.Match[str]) -> Expression | None:
    if {match["old"], match["new"]} <= set("ACGT"):
        return None
    return _substitution(match)


def _alleles(match: re.Match[str]) -> Expression | None:
    old, new = letter(match["old"]), letter(match["new"])
    if old == new:
        return None
    return Expression(match.start(), match.end(), "protein", {"alleles": f"{old}>{new}"})


def _deletion(match: re.Match[str]) -> Expression | None:
    what = match.groupdict().get("what") or "del"
    change = f"{letter(match['old'])}{match['place']}{what}"
    return Expression(match.start(), match.end(), "protein", attributes_of(change))


_CHANGED: Final = r"[A-Z][A-Za-z]{0,2}\d|(?:del|ins|dup)(?:\Z|[A-Z])"
#: Where an arrow ends, in whatever spelling.
_ARROWS: Final = (">", "&")

# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
FORMS: Final = (
    Form(Gated(_HGVS, r"(?:[pP]\Z|p[A-Z][a-z]{2}\d)"), _hgvs),
    Form(
        Gated(
            _BARE,
            _CHANGED,
            rf"(?:(?<=H3)|(?<=alpha)|(?<=beta)|(?<=gamma))(?:{_CHANGED})",
        ),
        _bare,
    ),
    Form(Gated(_ATTACHED, r"[A-Z][A-Z0-9]{1,6}?[A-Z]\d{2,4}(?:\Z|[A-Zf])"), _attached),
    Form(Gated(_SIGNAL, r"(?:[A-Z]\Z|X\d{2,4}[A-Z])"), _signal),
    Form(Gated(_SPACED, NAMED_OPENS), _substitution),
    Form(Gated(_PROSE, NAMED_OPENS), _substitution, ("codon", "residue", "position", "amino", "aa")),
    Form(Gated(_PROSE_BEHIND, _CLASSES.pattern(r"{position_alone}\Z")), _substitution),
    Form(Gated(_PLACE_LAST, NAMED_OPENS), _substitution, _ARROWS),
    Form(Gated(_ARROWED, r"[A-Z]\d{2,4}\Z"), _arrowed, _ARROWS),
    Form(Gated(_ALLELES, NAMED_OPENS), _alleles, _ARROWS),
    Form(
        Gated(_DELTA, r"[A-Z][A-Za-z]{0,2}\d{2}", r"(?<![A-Za-z])[Dd]elta", before=2, lead="Δ"),
        _deletion,
        ("elta", "Δ"),
    ),
    Form(Gated(_APART, r"[A-Z][A-Za-z]{0,2}\d{2,4}\Z"), _deletion, (" del", " dup", " fs")),
)
