"""Changes of nucleotides: HGVS (``c.1799T>A``), older forms (``185delAG``, ``C677T``, ``IVS4+1G>A``), prose."""

from __future__ import annotations

import re
from typing import Final

from ...kb.model import Value
from ..text.gates import Gate, Gated
from ..text.word_classes import word_classes
from .expression import Expression, Form, end_closed
from .protein import attributes_of as protein_of
from .residues import ARROW, NUCLEOTIDE, NUCLEOTIDE_NAMES, SEQUENCE, any_of, base, words

_CLASSES: Final = word_classes("notation", "dna")

_FIGURE: Final = r"\d{1,9}"
#: An offset into an intron: +1, -2, + 10kb, +?
_OFFSET: Final = r"(?:[ ]?[+\-][ ]?(?:\d{1,6}|\?)(?:[ ]?kb)?|\([+\-]\d{1,6}\))"
_PLACE: Final = rf"(?:[*+\-][ ]?)?{_FIGURE}{_OFFSET}?"
_RANGE: Final = rf"{_PLACE}(?:[ ]?(?:_|-|/)[ ]?(?:[*+\-])?{_FIGURE}{_OFFSET}?)?"
_SIZE: Final = r"\d{1,5}(?:[ \-]?(?:bp|nt|kb|b)\b)?"
#: What is lost or gained: AG, (GCG), 5, 29-bp. Small letters only close up: "ins at" names no bases.
_BEHIND: Final = rf"(?:[ ]?(?:[ACGTU]{{1,60}}|\({SEQUENCE}\)|{_SIZE})|[acgtu]{{1,60}})"
#: del, delAG, del5, delinsTT, ins(GCG), ins8bp, dup, inv
_REWRITE: Final = rf"""(?:
    (?:del|Del|DEL){_BEHIND}?[ ]?(?:ins|Ins|INS|>){_BEHIND}
  | (?:del|Del|DEL){_BEHIND}?
  | (?:ins|Ins|INS){_BEHIND}
  | (?:dup|Dup|DUP){_BEHIND}?
  | inv{_BEHIND}?
)"""
_SUBSTITUTION: Final = rf"{SEQUENCE}(?:{ARROW}|[ ]?/[ ]?)(?:{SEQUENCE})"
_END: Final = r"(?![A-Za-z0-9])"
#: A sign may follow a name (TNF-308G/A); a figure behind a hyphen belongs to the name (IL-10).
_START: Final = r"(?=[*+\-\d])(?:(?<![A-Za-z0-9_.])(?<![A-Za-z]-)|(?<=[A-Za-z0-9])(?=-\d)|(?<=[A-Za-z])(?=\+\d))"
#: c.1799T>A, c.-124C>T, c.76_78del, m.3243A>G, c.*557G>A, c.[76A>C;88G>T], c2403T-->C; a lost > as in c.108C4A
_HGVS: Final = re.compile(
    rf"""(?=[cgmnrC])(?<![A-Za-z0-9_])
    (?P<kind>[cgmnrC](?=[ ]?\.)|[cgm](?=\d{{2}}))(?:[ ]?\.[ ]?)?(?P<open>[(\[]{{0,2}})[ ]?
    (?P<place>{_RANGE})[ ]?
    (?P<change>
        \({_SUBSTITUTION}\)|{_SUBSTITUTION}|{SEQUENCE}(?:-{{1,2}}|[ ]to[ ]|[ ]?4[ ]?){SEQUENCE}
      | {_REWRITE}|\(?{SEQUENCE}\)?\[\d{{1,4}}\]|=)
    (?P<more>(?:[ ]?;[ ]?{_RANGE}{_SUBSTITUTION}){{0,5}}(?=[)\]]))?{_END}""",
    re.VERBOSE,
)
#: 1799T>A, 677 C-->T, -866G/A, +113 G/C, -369 (C>G), -491A to T, 2398+1G>C, -14T-->C
_PLACE_FIRST: Final = re.compile(
    rf"""(?=[*+\-\d])(?:{_START}|(?<=nt)|(?<=mt)|(?<=np)|(?<=[^A-Za-z0-9_.]at))(?P<place>{_RANGE})[ ]?
    (?:\((?P<inner>[ACGTU]{{1,30}}(?:{ARROW}|/)[ACGTU]{{1,30}}|[ACGTU][ ]to[ ][ACGTU]|[+\-][ACGTU]{{1,30}})\)
      |(?P<old>{SEQUENCE}){ARROW}(?P<new>{SEQUENCE})
      |(?P<allele>[ACGTU])[ ]?/[ ]?(?P<other>[ACGTU])
      |(?P<first>[ACGTU])-{{1,2}}(?P<second>[ACGTU])
      |(?P<from>[ACGTU])(?:[ ]to[ ]|-to-)(?:an?[ ])?(?P<to>[ACGTU])){_END}""",
    re.VERBOSE,
)
#: 185delAG, 5382insC, 657del5, 1109 ins 8bp, 2172_2173insCCCC, 443_445del, 5943 delA, 2104-2105delGGins29-bp
_REWRITTEN: Final = re.compile(
    rf"""{_START}(?:nt[ ]?)?(?P<place>{_RANGE})[ ]?(?P<change>{_REWRITE}){_END}""",
    re.VERBOSE,
)
#: -652 6N ins/del
_INDEL_POLYMORPHISM: Final = re.compile(
    rf"{_START}(?P<place>[+\-]{_FIGURE})[ ]\d{{1,4}}N[ ](?:ins/del|del/ins|ins|del){_END}"
)
#: 862+5A: a base at its place, nothing said of the other
_BASE_ALONE: Final = re.compile(rf"{_START}(?P<place>\d{{2,6}}[ ]?[+\-][ ]?\d{{1,4}})(?P<base>[ACGT]){_END}")
#: 1978(TATC)(1-2), (CAG)37
_REPEAT: Final = re.compile(
    r"(?<![A-Za-z0-9_.])\d{2,6}\([ACGT]{2,10}\)(?:\(\d{1,3}(?:-\d{1,3})?\)|\d{1,3}\b|\[\d{1,3}\])"
)
#: T1799A, C677T, C677-->T, G-395A, T-189C: which also may be residues.
_LETTERS: Final = re.compile(
    r"(?=[cgmnrACGT])(?<![A-Za-z0-9_])(?:(?P<kind>[cgmnr])\.[ ]?)?(?P<old>[ACGT])"
    r"(?:\((?P<inside>[+\-]?\d{1,7})\)|(?P<place>[+\-]?\d{1,7}))"
    rf"(?P<arrow>{ARROW})?(?P<new>[ACGT])(?![A-Za-z0-9])"
)
#: T-to-A change at position 1799; A-to-G transition at nucleotide 3243; (T --> C) substitution at position 2209
_CHANGE: Final = any_of(words()["change"]["nucleotide"])
_AT: Final = _CLASSES.pattern(
    r"[\s](?:\(|(?:at|in|on|of)[\s](?:the[\s])?)?(?:c?DNA[\s])?(?:{position}s?[\s]?"
    r"(?:pair[\s])?){1,3}{numbered}?[#]?[ ]?|[\s]at[\s](?=[+\-]\d)|(?P<bare>[ -]?)(?=\d\d)"
)
_PROSE: Final = _CLASSES.compile(
    rf"""(?=[(ACGTUacgtu])(?<![A-Za-z0-9_])(?P<open>\()?(?P<old>{NUCLEOTIDE}|{SEQUENCE})
    (?:{ARROW}|[\s]{{into}}[\s](?:an?[\s])?|-to-|-for-)(?P<new>{NUCLEOTIDE}|{SEQUENCE})\)?
    (?:[\s](?:[a-z]{{4,12}}[\s])?{_CHANGE})?(?:{_AT})(?P<place>{_PLACE}){_END}""",
    re.VERBOSE,
)
#: (TAC-->AA) at codon 329, CGA-->TGA, codon 787 CAG/CAA
_TRIPLET: Final = re.compile(
    rf"""(?=[c(ACGTU])(?<![A-Za-z0-9_])
    (?:codon[ ](?P<codon>\d{{1,4}})[ ,:]{{1,2}}(?P<first>[ACGTU]{{3}})(?:{ARROW}|/)[ACGTU]{{3}}
      |(?P<open>\()?(?P<old>[ACGTU]{{3}}){ARROW}(?P<new>[ACGTU]{{2,3}})(?:(?P<close>\))(?:[ ]at[ ]codon[ ]\d{{1,4}})?)?)
    {_END}""",
    re.VERBOSE,
)
#: CD17 (A-->T), codons 41/42 (-TTCT), CD6 -G: the codons of globin genes
_CODONS: Final = _CLASSES.compile(
    rf"""(?=[Cc])(?<![A-Za-z0-9_]){{codon_label}}[ ]?(?P<codon>\d{{1,3}})(?:[ ]?/[ ]?\d{{1,3}})?[ ]?
    (?:\((?:[ACGT]{ARROW}[ACGT]|[+\-][ ]?[ACGT]{{1,8}})\)|[+\-][ ]?[ACGT]{{1,8}}){_END}""",
    re.VERBOSE,
)
#: IVS4+1G>A, IVS8+4 A>G, IVS-II-1(G>A), IVS10nt-11, IVS 9 del[-7:-4], IVS10+1, g-->t
_INTRON: Final = re.compile(
    rf"""(?<![A-Za-z0-9_])(?:[cg]\.[ ]?)?IVS[ \-]?(?P<number>\d{{1,3}}|[IVX]{{1,4}}(?![A-Za-z]))
    (?P<place>[ ]?\([+\-][ ]?\d{{1,5}}\)
      |,?[ ]?(?:nt|ds|as|DS|AS)?[ ]?[+\-][ ]?\d{{1,5}}(?:[ ]?[_\-][ ]?[+\-]?\d{{1,5}})?|[ ]?nt[ ]?\d{{1,5}})?
    (?:[ ]?(?P<loss>(?:del|ins)[ ]?\[[-+\d:_ ]{{1,20}}\])
      |,?[ ]?(?P<change>\({_SUBSTITUTION}\)|{_SUBSTITUTION}|{_REWRITE}|[ACGT](?![A-Za-z0-9]))
    )?{_END}""",
    re.VERBOSE,
)
#: dup24bp, del14b_17b, del 92 nucleotide -19/+73, ins27
_SIZED: Final = re.compile(
    r"(?=[di])(?<![A-Za-z0-9_])(?P<what>del|dup|ins)[ ]?(?:[ACGT]{0,10}\d{1,5}[ \-]?(?:bp|nt|kb)\b"
    r"|\d{1,3}[a-z]?_\d{1,3}[a-z]?|[ ]?\d{1,4}[ ]nucleotides?[ ][+\-]?\d{1,5}/[+\-]?\d{1,5}"
    r"|-?\(\d{1,6}-\d{1,6}\))(?![A-Za-z0-9])"
)
#: c.(67+1_68-1)_(*1_?)del: ends that are not known
_UNKNOWN_ENDS: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?P<kind>[cgmn])\.(?P<change>\([*+\-\d?]{1,20}_[*+\-\d?]{1,20}\)_"
    r"\([*+\-\d?]{1,20}_[*+\-\d?]{1,20}\)(?:del|dup|ins))(?![A-Za-z0-9])"
)
#: Tdel219, delAG185; deltac756; Delta32
_FRONTED: Final = re.compile(
    r"(?=[ACGTdDiΔ])(?<![A-Za-z_])(?:[ACGT](?:del|ins)\d{2,6}|(?:del|ins|dup)[ACGT]{1,20}(?:[ -]?\d{2,6})?"
    r"|(?:[Dd]elta[ -]?|Δ[ -]?)(?P<code>[cgACGT]\d{2,6}|32))(?![A-Za-z0-9])"
)
#: Alleles alone: G-->A, G/A, AGCTCCTC/-
_ALLELES: Final = re.compile(
    rf"""(?=[ACGT])(?<![A-Za-z0-9_/.\-])(?:(?P<old>[ACGT]){ARROW}(?P<new>[ACGT])
      |(?P<one>[ACGT])/(?P<two>[ACGT])|(?P<many>[ACGT]{{4,40}})/-)(?![A-Za-z0-9/+\-])""",
    re.VERBOSE,
)
#: What every change with its place first has somewhere.
_BASES_BEHIND_PLACE: Final = re.compile(
    r"[\d?b)][ ]?\(?(?:[ACGTU]{1,60}|[acgtu]{1,60})(?:[ ]?[->=/&]| to |-to-)|[\d?b)][ ]?\([+\-][ACGTU]"
)
_SPLICE: Final = re.compile(r"\d[+\-][12](?!\d)")


def normal(change: str) -> str:
    """A change as in HGVS without the letter of its kind: ``677 C-->T`` → ``677C>T``."""
    short = re.sub(rf"{ARROW}|(?<=[ACGTUacgtu])(?:/|-{{1,2}}|[ ]to[ ])(?=[ACGTUacgtu])", ">", change)
    short = re.sub(r"[\s()]", "", short)
    short = re.sub(r"(?<=[ACGTU])4(?=[ACGTU])", ">", short)
    short = re.sub(r"[acgtu]+(?=>)|(?<=>)[acgtu]+", lambda match: match.group().upper(), short)
    return re.sub(r"(?i)(del|ins|dup)", lambda match: match.group().lower(), short)


def _attributes(kind: str, change: str) -> dict[str, Value]:
    """cdna (of c. and of what has no letter) or genomic (with its letter), and the effect that the notation tells."""
    found: dict[str, Value] = {"cdna": change} if kind in ("c", "") else {"genomic": f"{kind}.{change}"}
    place = re.match(r"[^A-Za-z>]*", change)
    where = place.group() if place else ""
    if kind in ("c", "") and _SPLICE.search(where):
        found["effect"] = "splice_site"
    elif kind in ("c", "") and where.startswith("-") and where[1:].isdigit():
        found["effect"] = "promoter"
    elif kind in ("c", "") and re.fullmatch(r"\d+(?:_\d+)?", where):
        effect = _shift(change)
        if effect:
            found["effect"] = effect
    return found


def _shift(change: str) -> str:
    """What a loss or gain within the coding sequence does to the frame; empty where its size is not told."""
    match = re.fullmatch(r"(\d+)(?:_(\d+))?(del|dup|ins)([ACGTUacgtu]*)(\d*)\D*", change)
    if match is None:
        return ""
    first, last, what, bases, count = match.groups()
    if bases or count:
        size = len(bases) or int(count)
    elif what != "ins":
        size = int(last) - int(first) + 1 if last else 1
    else:
        return ""
    if size % 3:
        return "frameshift"
    return {"del": "inframe_deletion", "dup": "duplication", "ins": "inframe_insertion"}[what]


def _hgvs(match: re.Match[str]) -> Expression | None:
    change = normal(match["place"] + match["change"])
    if match["more"]:
        change += ";" + normal(match["more"].strip(" ;"))
    return Expression(match.start(), end_closed(match), "dna", _attributes(match["kind"].lower(), change))


def _place_first(match: re.Match[str]) -> Expression | None:
    place = match["place"]
    if match["inner"]:
        change = match["inner"]
        # "exon 9 (GAC>TAT)": an exon, or a codon, is no place of nucleotides.
        if place.isdigit() and (len(place) < 3 or change[0] in "+-" or not re.match("[ACGTU](?![ACGTU])", change)):
            return None
    else:
        pairs = (("old", "new"), ("allele", "other"), ("first", "second"), ("from", "to"))
        change = next(f"{match[old]}>{match[new]}" for old, new in pairs if match[old])
    written = re.sub(r"\s", "", match.group())
    signed = place[0] in "+-*" or "+" in place
    # "18 A/C" may be a count; a sign, an arrow, or three figures against the letters make it a place.
    certain = bool(match["inner"] or match["old"] or signed) or bool(re.match(r"\d{3,}[ACGTU]", written))
    if not signed and match["old"] and match["old"].islower():
        return None
    return Expression(match.start(), match.end(), "dna", _attributes("", normal(place + change)), certain)


def _base_alone(match: re.Match[str]) -> Expression | None:
    place = re.sub(r"\s", "", match["place"])
    return Expression(match.start(), match.end(), "dna", {"cdna": place + match["base"]}, certain=False)


def _rewritten(match: re.Match[str]) -> Expression | None:
    place, change = match["place"], match["change"]
    bases = re.search(r"(?:del|ins|dup|inv|>)[ ]?\(?([ACGTUacgtu]+|\d+)", change, re.IGNORECASE)
    figures = re.findall(r"\d+", place)
    # "19del" and "20 ins" are exons, "557-558 del" is of residues: bases tell, a size behind three figures, or a range
    # as HGVS writes it.
    if bases is None and "_" not in place:
        return None
    if bases is not None and bases[1].isdigit() and len(figures[0]) < 3:
        return None
    if len(figures[0]) < 2 and bases is None:
        return None
    return Expression(match.start(), match.end(), "dna", _attributes("", normal(place + change)))


def _letters(match: re.Match[str]) -> Expression | None:
    place = match["place"] or match["inside"]
    # "Edema L3 > R": with an arrow one figure is no place.
    if match["old"] == match["new"] or match["arrow"] and len(place) < 2:
        return None
    attributes = _attributes(match["kind"] or "", f"{place}{match['old']}>{match['new']}")
    dna = Expression(match.start(), match.end(), "dna", attributes)
    if match["kind"] or match["arrow"] or place[0] in "+-":
        return dna
    residues = protein_of(f"{match['old']}{place}{match['new']}")
    other = Expression(match.start(), match.end(), "protein", residues, certain=False)
    return Expression(match.start(), match.end(), "dna", dna.attributes, certain=False, other=other)


_INTO: Final = _CLASSES.compile(r"[\s-]{into}[\s-]")


def _prose(match: re.Match[str]) -> Expression | None:
    old, new = base(match["old"]), base(match["new"])
    if match["old"].islower() and len(match["old"]) == 1:
        return None
    in_words = bool(_INTO.search(match.group()))
    # "A to G 45": without a word of place, or at a codon, only an arrow makes it one.
    if in_words and (match["bare"] is not None or "codon" in match.group()):
        return None
    if re.search(r"[\s-]for[\s-]", match.group()):
        old, new = new, old
    attributes = _attributes("", normal(f"{match['place']}{old}>{new}"))
    return Expression(match.start(), match.end(), "dna", attributes, in_words=in_words)


def _triplet(match: re.Match[str]) -> Expression | None:
    start, end = match.span()
    if match["open"] and not match["close"]:
        start += 1
    elif match["close"] and not match["open"]:
        end = match.start("close")
    elif match["close"] and match.end("close") == end:
        start, end = start + 1, end - 1
    return Expression(start, end, "dna", {"codon": float(match["codon"])} if match["codon"] else {})


def _codons(match: re.Match[str]) -> Expression | None:
    return Expression(match.start(), match.end(), "dna", {"codon": float(match["codon"])})


def _intron(match: re.Match[str]) -> Expression | None:
    if not (match["place"] or match["change"] or match["loss"]):
        return None
    change = (match["place"] or "") + (match["change"] or match["loss"] or "")
    short = normal(change.replace(",", ""))
    found: dict[str, Value] = {"cdna": f"IVS{match['number']}{short}"}
    if re.match(r"(?:nt)?[+\-][12](?!\d)", short):
        found["effect"] = "splice_site"
    return Expression(match.start(), match.end(), "dna", found)


def _sized(match: re.Match[str]) -> Expression | None:
    return Expression(match.start(), match.end(), "dna", {"cdna": normal(match.group())})


def _unknown_ends(match: re.Match[str]) -> Expression | None:
    kind = match["kind"]
    found: dict[str, Value] = {"cdna": match["change"]} if kind == "c" else {"genomic": f"{kind}.{match['change']}"}
    return Expression(match.start(), match.end(), "dna", found)


def _alleles(match: re.Match[str]) -> Expression | None:
    if match["many"]:
        return Expression(match.start(), match.end(), "dna", {"alleles": match.group()}, certain=False)
    old, new = (match["old"], match["new"]) if match["old"] else (match["one"], match["two"])
    if old == new:
        return None
    arrow = bool(match["old"])
    return Expression(match.start(), match.end(), "dna", {"alleles": f"{old}>{new}"}, certain=arrow)


_SIGNED: Final = "*+-"
_CHANGED: Final = (">", "&", "/")
_BASES_OPEN: Final = rf"(?:[ACGTU]{{1,60}}|[acgtu]{{1,60}}|{any_of(NUCLEOTIDE_NAMES)})\Z"
#: Words in which a loss or gain is written, of whatever.
_OF_REWRITE: Final = Gate(within=r"(?:\A|\d|kb)(?:del|Del|DEL|dup|Dup|DUP|ins|Ins|INS|inv)")

# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
FORMS: Final = (
    Form(Gated(_HGVS, r"(?:[cgmnrC]\Z|[cgm]\d\d)"), _hgvs),
    Form(
        Gated(_PLACE_FIRST, r"\d", r"(?:(?<=nt)|(?<=mt)|(?<=np)|(?<=at))\d", before=2, lead=_SIGNED),
        _place_first,
        trigger=_BASES_BEHIND_PLACE,
    ),
    Form(Gated(_BASE_ALONE, r"\d\d"), _base_alone, ("+", "-"), Gate(r"\d{1,4}[ACGT]\Z")),
    Form(Gated(_REPEAT, r"\d{2,6}\Z"), _sized, trigger=re.compile(r"\d\([ACGT]")),
    Form(
        Gated(_REWRITTEN, r"\d", before=2, lead=_SIGNED),
        _rewritten,
        (),
        _OF_REWRITE,
        re.compile(r"(?:[\d?)]|kb)[ ]?(?:[dD][eEuU][lLpP]|[iI][nN][sSvV])"),
    ),
    Form(Gated(_INDEL_POLYMORPHISM, r"\d", before=1, lead="+-"), _sized, (), Gate(r"\d{1,4}N\Z")),
    Form(Gated(_LETTERS, r"(?:[cgmnr]\Z|[ACGT](?:\Z|\d))"), _letters),
    Form(Gated(_PROSE, _BASES_OPEN, before=1, lead="("), _prose),
    Form(Gated(_TRIPLET, r"(?:codon|[ACGTU]{3})\Z", before=1, lead="("), _triplet, _CHANGED),
    Form(Gated(_CODONS, r"(?:CD|[Cc]odon)"), _codons),
    Form(Gated(_INTRON, r"IVS", before=3, lead="cg"), _intron),
    Form(Gated(_SIZED, r"(?:del|dup|ins)"), _sized),
    Form(Gated(_UNKNOWN_ENDS, r"[cgmn]\Z"), _unknown_ends, (".(",)),
    Form(
        Gated(
            _FRONTED,
            r"[cgACGT]\d\d|32",
            r"(?<![A-Za-z])(?:[ACGT](?:del|ins)\d|(?:del|ins|dup)[ACGT]|[Dd]elta)",
            before=2,
            lead="Δ",
        ),
        _sized,
    ),
    Form(Gated(_ALLELES, r"(?:[ACGT]|[ACGT]{4,40})\Z"), _alleles, _CHANGED),
)
