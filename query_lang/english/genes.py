"""Lists of genes in short: ``BRCA1/2``, ``RAD51B/C/D``, ``RFC1-5``, ``FGFR 1,2,3,4``, ``HRRm``."""

from __future__ import annotations

import re
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from . import book
from .chunks import Chunk
from .wording import Token

_STEM: Final = re.compile(r"(?P<stem>.+?)(?P<last>\d|[A-Z])")
_GLUED_EXON: Final = re.compile(r"(?P<gene>[A-Z][A-Z0-9]{2,}?)[Ee]x(?P<exon>\d{1,2})")
_SUFFIX: Final = re.compile(r"\d|[A-Z]")
_GLUED: Final = re.compile(r"(?P<gene>[A-Z][A-Z0-9]{2,}?)(?P<what>m|mut|amp|fus)")


def gene_ids(name: str, concepts: ConceptTable) -> tuple[str, ...]:
    """The genes that a name names: of a set spelled so, its members."""
    name = book.data("molecular")["renamed"].get(name.upper(), name)
    found = concepts.value_set(name, spelled_so=True)
    if found and all(concepts.get(one).kind == "gene" for one in found):
        return tuple(found)
    return concepts.lookup(name, ("gene",))[:1]


def gene_list(span: tuple[Token, ...], place: tuple[str, int, int], concepts: ConceptTable) -> Chunk | None:
    """The chunk of a short list of genes, or of one gene that the ontology knows by another name; else None."""
    words = [token.text for token in span]
    renamed = book.data("molecular")["renamed"].get(place[0].upper())
    if renamed:
        return Chunk("gene", *place, ids=gene_ids(renamed, concepts))
    if len(words) == 1:
        exon = _GLUED_EXON.fullmatch(words[0])
        if exon is not None and (found := gene_ids(exon["gene"], concepts)):
            noun = book.data("molecular")["glued_exon"].get(f"{found[0]} {exon['exon']}")
            data = {"exons": (int(exon["exon"]),)} | ({"noun": noun} if noun else {})
            return Chunk("gene", *place, value=exon["gene"], ids=found, data=data)
        glued = _GLUED.fullmatch(words[0])
        if glued is not None and (found := gene_ids(glued["gene"], concepts)):
            noun = book.data("molecular")["glued"][glued["what"]]
            return Chunk("gene", *place, value=glued["gene"], ids=found, data={"noun": noun})
        return None
    return _suffixes(words, place, concepts)


def _suffixes(words: list[str], place: tuple[str, int, int], concepts: ConceptTable) -> Chunk | None:
    head, rest = words[0], words[1:]
    if _SUFFIX.fullmatch(rest[0]) and len(head) >= 3 and head.isalpha() and len(rest) > 1:
        # "FGFR 1, 2, 3"
        head, rest = head + rest[0], rest[1:]
    elif rest[0] == "-" and len(rest) > 2 and _SUFFIX.fullmatch(rest[1]) and len(head) >= 3 and head.isalpha():
        # "VEGFR-1/2/3"
        head, rest = head + rest[1], rest[2:]
    match = _STEM.fullmatch(head)
    if match is None or len(rest) < 2 or len(match["stem"]) < 2:
        return None
    found = list(gene_ids(head, concepts))
    last = match["last"]
    if not found:
        return None
    at = 0
    while at < len(rest):
        sign = rest[at]
        suffix = rest[at + 1] if at + 1 < len(rest) else ""
        if sign == "," and suffix in ("and", "or") and at + 2 < len(rest):
            at, suffix = at + 1, rest[at + 2]
        if (
            sign not in ("/", ",", "-", "and", "or")
            or not _SUFFIX.fullmatch(suffix)
            or suffix.isdigit() != last.isdigit()
        ):
            return None
        members = [suffix]
        if sign == "-":
            if not suffix.isdigit() or int(suffix) <= int(last):
                return None
            members = [str(number) for number in range(int(last) + 1, int(suffix) + 1)]
        for member in members:
            one = gene_ids(match["stem"] + member, concepts)
            if not one:
                return None
            found += one
        last = suffix
        at += 2
    return Chunk("gene", *place, ids=tuple(dict.fromkeys(found)))


def with_families(ids: tuple[str, ...], concepts: ConceptTable) -> tuple[str, ...]:
    """The genes, and the families of which all members are among them: a report may name the family alone."""
    wanted = frozenset(ids)
    found = list(ids)
    for family in book.data("molecular")["families"]["whole"]:
        members = concepts.below(family) - {family} if family in concepts else frozenset()
        if members and members <= wanted and family not in wanted:
            found.append(family)
    return tuple(found)


def partial_families(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Families whose bare name on a report counts although not all of their members are asked for."""
    table = book.data("molecular")["family_of"]
    return tuple(family for family, members in table.items() if set(members) <= set(ids) and family not in ids)
