"""Larger changes, and numbers of variants: exons lost or skipped, translocations, dbSNP identifiers."""

from __future__ import annotations

import re
from typing import Final

from ...kb.model import Value
from ...kb.ontology.variants import gene_symbols
from ..text.gates import Gated
from ..text.word_classes import word_classes
from .expression import Expression, Form
from .residues import words

_CLASSES: Final = word_classes("notation", "structural")

_WHAT: Final = _CLASSES.pattern(r"(?:in-?frame[ ])?{change}")
_EFFECT: Final = {"del": "inframe_deletion", "ins": "inframe_insertion", "dup": "duplication", "ski": "exon_skipping"}
#: exon 19 deletion, ex14 skipping, exon 20 insertion; deletion in exon 19, del exon 19; ex19del, E20ins, 19del
_EXON: Final = _CLASSES.compile(
    rf"""(?=[EeDdIiSs12])(?<![A-Za-z0-9])(?:
        (?:{{exon}}|E(?=\d\d(?:del|ins)))[ -]?(?P<one>\d{{1,3}})(?:[ ]?[-/][ ]?\d{{1,3}})?
            [ -]{{0,2}}(?P<what>{_WHAT})
      | (?P<before>{{change_before}})[ ]
            (?:of[ ]|in[ ])?(?:the[ ])?{{exon_behind}}[ ]?(?P<two>\d{{1,3}})
      | (?P<three>19|20)(?P<joined>del|ins)
    )(?![A-Za-z0-9])""",
    re.VERBOSE,
)
#: t(9;22)(q34;q11), del(17p), inv(16)(p13q22), i(12p), der(1)
_KARYOTYPE: Final = re.compile(
    r"(?=[tdia])(?<![A-Za-z0-9])(?P<what>t|del|inv|dup|ins|i|der|add)[ ]?\((?P<where>"
    r"(?:\d{1,2}|[XY])[pq]?[\d.]{0,5}(?:[;:](?:\d{1,2}|[XY])[pq]?[\d.]{0,5})?)\)"
    r"(?:[ ]?\([pq][\d.]{0,6}(?:;?[pq][\d.]{0,6})?\))?"
)
#: EML4-ALK, EML4::ALK, BCR/ABL1
_FUSION: Final = re.compile(
    r"(?=[A-Z])(?<![A-Za-z0-9_])(?P<five>[A-Z][A-Z0-9]{1,8})(?P<joint>::|-|/)(?P<three>[A-Z][A-Z0-9]{1,8})(?![A-Za-z0-9])"
)
_DBSNP: Final = re.compile(
    r"(?=[dr])(?:(?<![A-Za-z0-9])(?:dbSNP:?[ ]?)?(?P<id>rs[ #]?\d{3,11})(?!\d)"
    r"|(?<![A-Za-z])reference SNP no\. (?P<number>\d{4,11}))"
)
_KARYOTYPE_ALTERATION: Final = {"t": "fusion", "inv": "fusion", "del": "deletion", "dup": "copy_gain"}


def _exon(match: re.Match[str]) -> Expression:
    word = (match["what"] or match["before"] or match["joined"]).lower()
    word = re.sub(r"in-?frame ", "", word)
    found: dict[str, Value] = {"exon": float(match["one"] or match["two"] or match["three"])}
    effect = "inframe_indel" if word.startswith(("indel", "delins")) else _EFFECT[word[:3]]
    if effect == "exon_skipping":
        found["alteration"] = effect
    else:
        found["effect"] = effect
    return Expression(match.start(), match.end(), "exon", found)


def _karyotype(match: re.Match[str]) -> Expression:
    found: dict[str, Value] = {"karyotype": re.sub(r"\s", "", match.group())}
    if match["what"] in _KARYOTYPE_ALTERATION:
        found["alteration"] = _KARYOTYPE_ALTERATION[match["what"]]
    return Expression(match.start(), match.end(), "karyotype", found)


def _fusion(match: re.Match[str]) -> Expression | None:
    genes = gene_symbols().get(match["five"], ""), gene_symbols().get(match["three"], "")
    slashed = match["joint"] == "/"
    if not all(genes) or genes[0] == genes[1] or slashed and match.group() not in words()["fusion"]["slashed"]:
        return None
    found: dict[str, Value] = {"alteration": "fusion", "genes": "::".join(genes)}
    return Expression(match.start(), match.end(), "fusion", found, certain=match["joint"] != "-")


def _dbsnp(match: re.Match[str]) -> Expression:
    number = re.sub(r"\D", "", match["id"] or match["number"])
    # What a data base is named with belongs to no identifier.
    start = match.start("id") if match["id"] else match.start()
    return Expression(start, match.end(), "dbsnp", {"dbsnp": f"rs{number}"})


# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
FORMS: Final = (
    Form(
        Gated(
            _EXON,
            _CLASSES.pattern(
                r"(?:{exon_begins}|E\d\d(?:del|ins)|[Dd]el|[Ii]ns|[Dd]upl|[Ss]kipping|(?:19|20)(?:del|ins))"
            ),
        ),
        _exon,
    ),
    Form(Gated(_KARYOTYPE, r"(?:t|del|inv|dup|ins|i|der|add)\Z"), _karyotype, ("(",)),
    Form(Gated(_FUSION, r"[A-Z][A-Z0-9]{1,8}\Z"), _fusion, ("-", "/", "::")),
    Form(Gated(_DBSNP, r"dbSNP|rs(?:\Z|\d)", r"(?<![A-Za-z])reference"), _dbsnp),
)
