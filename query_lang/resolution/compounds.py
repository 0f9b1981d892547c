"""Names that hold more than a concept: *HER2 positive* (marker, result), *EGFR exon 19 deletion* (gene, finding), *pain
in the left hip* (complaint, place, side)."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...kb.ontology.concepts import ConceptTable
from ..nodes import AllOf, Compare, Condition, Is, Name
from .findings import SECTIONS, findings, is_protein_change

_MOST_WORDS: Final = 8
_LONGEST_FINDING: Final = 5
_PROCEDURE: Final = "procedure"


#: A sign or a hyphenated result against a marker: ``HER2+``, ``ER(-)``, ``HER2-positive``.
_SIGNED: Final = re.compile(
    r"(?P<marker>.*\w)\s?(?:\(?(?P<sign>[+\-])(?:ve)?\)?|-(?P<word>positive|negative|pos|neg))", re.IGNORECASE
)


def spelled_out(text: str, concepts: ConceptTable) -> str:
    """``HER2+`` as ``HER2 positive``: a sign against a marker is its result; any other text as it stands."""
    match = _SIGNED.fullmatch(text.strip())
    if match is None or not concepts.lookup(match["marker"], ("biomarker", "gene")):
        return text
    word = (match["word"] or "").lower()
    positive = match["sign"] == "+" or word.startswith("pos")
    return f"{match['marker']} {'positive' if positive else 'negative'}"


def split_biomarker(text: str, concepts: ConceptTable) -> tuple[str, Condition] | None:
    """A marker and the result that follows it; None if ``text`` is not so made."""
    words = text.split()
    if not 2 <= len(words) <= _MOST_WORDS:
        return None
    for at in range(len(words) - 1, 0, -1):
        marker, value = " ".join(words[:at]), " ".join(words[at:])
        if concepts.lookup(marker, ("biomarker", "gene")) and concepts.lookup(value, ("value",)):
            # "ALK amplified" is said of a gene more often than of its protein: left to the variants.
            if not concepts.lookup(marker, ("biomarker",)) and _finding(words[at:]) is not None:
                return None
            return marker, Is("result", (Name(value),))
    return None


def split_variant(text: str, concepts: ConceptTable) -> tuple[str, Condition] | None:
    """A gene and what is said of it, in any order (*germline BRCA1 mutation*); None if a word is left over."""
    words = text.split()
    if not 2 <= len(words) <= _MOST_WORDS:
        return None
    for length in range(len(words) - 1, 0, -1):
        for start in range(len(words) - length + 1):
            gene = " ".join(words[start : start + length])
            if concepts.lookup(gene, ("gene",)):
                found = [_finding(part) for part in (words[:start], words[start + length :]) if part]
                conditions = [one for part in found if part is not None for one in part]
                if None not in found and conditions:
                    return gene, conditions[0] if len(conditions) == 1 else AllOf(tuple(conditions))
    return None


class Placed(NamedTuple):
    """The name of a complaint or an operation, and the part of the body that it is said of."""

    name: str
    place: str
    side: str

    def condition(self, place: str) -> Condition:
        """That it is there; ``place`` as a query names it."""
        where = Is("site", (Name(place),))
        return AllOf((where, _of_side(self.side))) if self.side else where


class Sided(NamedTuple):
    """A name, and the side that it is said of."""

    name: str
    side: str

    def condition(self) -> Condition:
        """That it is of the side."""
        return _of_side(self.side)


def split_side(text: str, concepts: ConceptTable, kinds: Iterable[str]) -> Sided | None:
    """A name of one of the kinds of concept, and the side that stands before or behind it (*left breast cancer*,
    *right hip replacement*, *pneumothorax, left*); None if ``text`` is not so made."""
    words = text.replace(",", " ").split()
    if not 2 <= len(words) <= _MOST_WORDS:
        return None
    sides, last = _places()["side"], [word for word in words[-3:] if word.lower() not in _places()["between"]]
    if side := sides.get(words[0].lower(), ""):
        rest = words[1:]
    elif side := sides.get(last[-1].lower(), "") if last else "":
        rest = words[: len(words) - words[::-1].index(last[-1]) - 1]
        while rest and rest[-1].lower() in _places()["between"]:
            rest = rest[:-1]
    else:
        return None
    name = " ".join(rest)
    return Sided(name, side) if name and _named(name, concepts, kinds) else None


def split_place(text: str, concepts: ConceptTable, kinds: Iterable[str]) -> Placed | None:
    """A name of one of the kinds of concept, and the part of the body that stands before it or behind a preposition,
    behind an operation or examination without one (*chest pain*, *fracture of the left hip*, *CT chest*); None if
    ``text`` is not so made."""
    # "Wrist fracture, left".
    text, _, behind = text.partition(", ")
    side = _places()["side"].get(behind.strip().lower(), "")
    words = text.split()
    if (behind and not side) or not 2 <= len(words) <= _MOST_WORDS:
        return None
    found = _with_place(words, concepts, tuple(kinds))
    if found is None or not side:
        return found
    return found._replace(side=side) if found.side in ("", side) else None


def _with_place(words: list[str], concepts: ConceptTable, kinds: tuple[str, ...]) -> Placed | None:
    at_words = _places()["at"]
    parts = [
        (words[at:], words[:at]) if words[at].lower() not in at_words else (words[:at], words[at + 1 :])
        for at in range(len(words) - 1, 0, -1)
    ]
    found = next((one for part in parts if (one := _placed(*part, concepts, kinds)) is not None), None)
    if found is None and _PROCEDURE in kinds:
        # "CT chest", "MRI left knee": the place stands behind an examination without a word between.
        behind = ((words[:at], words[at:]) for at in range(len(words) - 1, 0, -1))
        found = next((one for part in behind if (one := _placed(*part, concepts, (_PROCEDURE,))) is not None), None)
    return found


def _placed(head: list[str], rest: list[str], concepts: ConceptTable, kinds: Iterable[str]) -> Placed | None:
    places, side = _places(), ""
    while rest and rest[0].lower() in places["owner"]:
        rest = rest[1:]
    whole = " ".join(rest)
    while rest and (rest[0].lower() in places["owner"] or rest[0].lower() in places["side"]):
        told = places["side"].get(rest[0].lower(), "")
        if told and side:
            return None
        side = side or told
        rest = rest[1:]
    found = Placed(" ".join(head), " ".join(rest), side)
    if rest and not concepts.lookup(found.place, ("site",)):
        # "Right lower quadrant" is a place as a whole.
        found = Placed(found.name, whole, "")
    known = rest and concepts.lookup(found.place, ("site",)) and _named(found.name, concepts, kinds)
    return found if known else None


def _named(text: str, concepts: ConceptTable, kinds: Iterable[str]) -> bool:
    """Whether a concept has this name; a word that needs a cue has none here (*lump*: a lumpectomy, near *SLNB*)."""
    return any(
        all(short.text != text or not (short.cues and text.islower()) for short in concepts.get(one).abbreviations)
        for one in concepts.lookup(text, kinds)
    )


def split_spread(text: str, concepts: ConceptTable) -> str | None:
    """The place of *liver metastases*, *metastasis to bone*; None if ``text`` is not so made."""
    words = text.split()
    spread, at_words = _places()["spread"], _places()["at"]
    if not 2 <= len(words) <= _MOST_WORDS:
        return None
    if words[-1].lower() in spread:
        place = " ".join(words[:-1])
    elif words[0].lower() in spread and words[1].lower() in at_words:
        place = " ".join(words[2:])
    else:
        return None
    return place if concepts.lookup(place, ("site",)) else None


def _of_side(side: str) -> Condition:
    return Is("laterality", (Name(side),))


@functools.lru_cache(maxsize=1)
def _places() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("places.toml").read_text(encoding="utf-8"))


def _finding(words: list[str]) -> list[Condition] | None:
    """The conditions that the words say; None if one of them says nothing."""
    conditions: list[Condition] = []
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST_FINDING, len(words) - at), 0, -1):
            condition = _one_finding(words[at : at + length])
            if condition is not None:
                conditions.append(condition)
                at += length
                break
        else:
            return None
    return conditions


def _one_finding(words: list[str]) -> Condition | None:
    text = " ".join(words)
    if len(words) == 2 and words[0].lower() == "exon" and words[1].isascii() and words[1].isdigit():
        return Compare("exon", "=", float(words[1][:6]))
    for section in SECTIONS:
        if findings()[section].find(text) is not None:
            return Is(section, (Name(text),))
    return Is("protein", (Name(text),)) if len(words) == 1 and is_protein_change(text) else None
