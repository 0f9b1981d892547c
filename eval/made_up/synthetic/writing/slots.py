"""What a statement about a fact is made of: its names, results, sites and numbers as one author writes them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Final

from .banks import Banks
from .standing import Standing
from .voices import Voice
from .writer import Writer

#: Amino acids by their one-letter sign.
_RESIDUES: Final = dict(
    zip(
        "ARNDCQEGHILKMFPSTWYV*X",
        "Ala Arg Asn Asp Cys Gln Glu Gly His Ile Leu Lys Met Phe Pro Ser Thr Trp Tyr Val Ter Ter".split(),
        strict=True,
    )
)
_PROTEIN = re.compile(r"(?:p\.)?\(?([ARNDCQEGHILKMFPSTWYV])(\d+)([ARNDCQEGHILKMFPSTWYV*X])\)?")
_QUALIFIED = re.compile(r"((?:strongly|moderately|weakly) \w+),?\s*(?:in |of )?(\d+%)?")
_RELATIVE = re.compile(r"(.+?), (?:at|aged) (\d+)")
_FUSION = re.compile(r"([A-Z][A-Z0-9]{1,9})\s*(?:::|-|/)\s*([A-Z][A-Z0-9]{1,9})\b")
_EXON = re.compile(r"\b(?:exon|ex)\s*(\d+)")

#: Slots taken from the attributes as they stand, or by their names in the bank.
_PLAIN: Final = ("percent", "dose", "exon", "edition", "positive", "examined", "line", "scale", "grade", "prefix")
_NAMED: Final = ("site", "reason", "intent", "origin")


def slots_of(standing: Standing, writer: Writer) -> dict[str, str]:
    """All slots that the fact can fill. ``name`` is always there; what is unknown or empty is left out."""
    fact, attributes = standing.fact, standing.attributes
    voice, chance, banks = writer.voice, writer.chance, writer.banks

    def name_of(concept: str) -> str:
        return _called(concept, voice, chance, banks)

    slots = {"name": name_of(fact.concept)}
    for key in _PLAIN:
        if attributes.get(key):
            slots[key] = attributes[key]
    for key in _NAMED:
        if attributes.get(key):
            slots[key] = name_of(attributes[key])
    if "percent" in slots:
        slots["percent"] = slots["percent"].rstrip("%") + "%"
    if attributes.get("laterality"):
        slots["side"] = name_of(attributes["laterality"])
    for slot, key in (("site", "site"), ("side", "laterality"), ("intent", "intent")):
        if slot in slots and any(
            _within(word[:5], text) for word in (attributes[key], slots[slot]) for text in (fact.concept, slots["name"])
        ):
            del slots[slot]
    if attributes.get("result"):
        slots["result"] = _result(attributes["result"], fact.concept, banks, chance)
    value = standing.value.casefold()
    settled = fact.assertion != "present"
    if value and not (
        settled and (value in banks.always_implied or (value in banks.implied and chance.random() < 0.65))
    ):
        slots["value"] = name_of(standing.value)
    if standing.mode in ("absent", "vus") and fact.kind in ("genomic_variant", "biomarker", "lymph_node"):
        # The sentence says it.
        slots.pop("result", None)
    relative = _RELATIVE.fullmatch(slots.get("value", "")) if fact.assertion == "family" else None
    if relative:
        slots["value"], slots["onset"] = relative[1], relative[2]
    maker = _MAKERS.get(fact.kind)
    if maker is not None:
        maker(standing, slots, name_of, chance, banks)
    if fact.kind == "regimen" and "," in slots.get("value", "") and chance.random() < 0.7:
        del slots["value"]
    if "value" in slots and _repeats(slots["value"], fact.concept, slots):
        del slots["value"]
    return slots


def shape_of(standing: Standing, slots: Mapping[str, str]) -> str:
    """Which of the kind's items fit: variants are said by what happened to the gene, all else in one way."""
    if standing.fact.kind != "genomic_variant":
        return "any"
    for shape in ("partner", "exon", "protein"):
        if shape in slots:
            return shape
    words_of_it = f"{standing.attributes.get('alteration', '')} {standing.fact.concept}".casefold()
    for shape, words in (
        ("fusion", ("fusion", "rearrang", "transloc")),
        ("amplification", ("amplif", "amp")),
        ("deletion", ("delet", "loss")),
        ("mutation", ("mutat", "alterat", "variant")),
    ):
        if any(word in words_of_it for word in words) and "gene" in slots:
            return f"{shape} absent" if standing.fact.assertion == "absent" else shape
    return "any"


def _called(concept: str, voice: Voice, chance: random.Random, banks: Banks) -> str:
    """One of a concept's names. Drugs given together are each called by one of their own, a side is put before."""
    name = banks.names.get(concept.casefold())
    if name is None:
        side, _, rest = concept.partition(" ")
        if side in ("left", "right", "bilateral") and rest.casefold() in banks.names:
            return f"{_called(side, voice, chance, banks)} {_called(rest, voice, chance, banks)}"
        parts = re.split(r"\s*(?:\+|/|,|\band\b)\s*", concept)
        if len(parts) > 1 and all(part.casefold() in banks.names for part in parts):
            joint = chance.choice(("/", " + ", ", ", " and ", "/", "-", " plus "))
            return joint.join(_called(part, voice, chance, banks) for part in parts)
        return concept
    if name.brief and chance.random() < voice.abbreviates:
        return chance.choice(name.brief)
    # The usual name is the first: it is taken as often as all others together.
    return name.full[0] if chance.random() < 0.4 else chance.choice(name.full)


def _result(result: str, concept: str, banks: Banks, chance: random.Random) -> str:
    """A result in one of its wordings, those of the marker first."""
    own = banks.results.get(f"{concept} {result}".casefold()) or banks.results.get(result.casefold())
    return chance.choice(own) if own else result


def _within(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word.casefold())}", text.casefold()) is not None


def _repeats(value: str, concept: str, slots: Mapping[str, str]) -> bool:
    """Whether the value says nothing that the name or another slot does not name_of."""
    plain = value.casefold()
    if plain in concept.casefold() or plain == f"grade {slots.get('grade', '')}":
        return True
    others = (text.casefold() for slot, text in slots.items() if slot not in ("value", "name"))
    return any(plain == other for other in others)


# --- kinds that are made of parts -----------------------------------------------------------------------------------

NameOf = Callable[[str], str]


def _variant(standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks) -> None:
    """A variant: its gene, and what happened to it."""
    fact = standing.fact
    words_of_it = f"{fact.concept} {standing.attributes.get('protein_change', '')} {fact.value}"
    gene = standing.attributes.get("gene") or fact.concept.split()[0]
    slots["gene"] = name_of(gene) if re.fullmatch(r"[A-Z0-9]+", gene) else gene
    alteration = standing.attributes.get("alteration", "").casefold()
    partners = _FUSION.search(fact.concept)
    if partners and "exon" not in fact.concept.casefold():
        slots["partner"] = f"{partners[1]}{chance.choice(('-', '-', '::', '/', '–'))}{partners[2]}"
    protein = _PROTEIN.search(standing.attributes.get("protein_change", "")) or _PROTEIN.search(
        words_of_it.replace(gene, " ", 1)
    )
    if protein and "partner" not in slots:
        short = f"{protein[1]}{protein[2]}{protein[3]}"
        long = f"p.{_RESIDUES[protein[1]]}{protein[2]}{_RESIDUES[protein[3]]}"
        slots["protein"] = chance.choice((short, short, f"p.{short}", f"p.{short}", long, f"p.({long[2:]})"))
        if slots.get("value") and _PROTEIN.fullmatch(slots["value"]):
            del slots["value"]
    elif standing.attributes.get("protein_change"):
        slots["protein"] = standing.attributes["protein_change"]
    event = next(
        (
            word
            for word in ("deletion", "insertion", "skipping", "mutation")
            if word in f"{alteration} {words_of_it.casefold()}"
        ),
        "",
    )
    exon = standing.attributes.get("exon") or ((found := _EXON.search(words_of_it.casefold())) and found[1]) or ""
    if exon and event and "partner" not in slots and (event != "mutation" or "protein" not in slots):
        brief = {"deletion": "del", "insertion": "ins", "skipping": "skip", "mutation": "mut"}[event]
        slots["exon"] = chance.choice(
            (
                f"exon {exon} {event}",
                f"exon {exon} {event}",
                f"ex{exon}{brief}",
                f"exon {exon} {brief}",
                f"ex {exon} {event}",
            )
        )
        if slots.get("value", "").casefold().strip() in {f"exon {exon} {event}", f"exon {exon}"}:
            del slots["value"]
    else:
        slots.pop("exon", None)


def _staging(standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks) -> None:
    """T, N and M, joined as authors do."""
    attributes = standing.attributes
    prefix = attributes.get("prefix", "")
    parts = [attributes[key] for key in ("t", "n", "m") if attributes.get(key)]
    if parts:
        joint = chance.choice((" ", " ", "", ", "))
        if chance.random() < 0.3 and prefix:
            slots["tnm"] = joint.join(prefix + part.removeprefix(prefix) for part in parts)
        else:
            slots["tnm"] = prefix + joint.join(parts)
    elif standing.value:
        slots["tnm"] = standing.value
    if prefix == "c":
        slots["clinical"] = chance.choice(("clinical staging", "clinically", "clinical"))
    elif prefix in ("p", "yp"):
        slots["pathologic"] = chance.choice(("pathologic", "pathological", "path", "surgical"))
    slots.pop("value", None)
    slots.pop("prefix", None)


def _stage(standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks) -> None:
    """A stage group, in Roman or Arabic numbers."""
    value = standing.value or standing.attributes.get("stage", "")
    arabic = {"IV": "4", "III": "3", "II": "2", "I": "1"}
    if value and chance.random() < 0.15:
        value = re.sub(r"^(IV|III|II|I)(?=[A-D]?\d?$)", lambda found: arabic[found[1]], value)
    if value:
        slots["stage"] = value
        slots.pop("value", None)
    if re.fullmatch(r"(?i)(?:stage(?: group)?|.*stage)", standing.fact.concept) is None:
        slots["stage"] = slots.get("stage", "") or standing.fact.concept


def _performance(
    standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks
) -> None:
    """A score under the name of its scale."""
    if standing.value:
        slots["score"] = slots.pop("value")


def _nodes(standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks) -> None:
    """So many of so many nodes."""
    if "positive" in slots and "examined" in slots:
        slots["count"] = chance.choice(("{}/{}", "{} of {}", "{}/{}", "{} out of {}")).format(
            slots["positive"], slots["examined"]
        )
        value = slots.get("value", "")
        if re.fullmatch(r"\d+\s*(?:/|of)\s*\d+.*", value):
            del slots["value"]


def _metastasis(
    standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks
) -> None:
    """Spread to a place is called by the place's name where the bank has one."""
    site = standing.attributes.get("site", "")
    if site and not _within(site, standing.fact.concept):
        named = f"{site} metastases"
        if named.casefold() in banks.names:
            slots["name"] = name_of(named)
            slots.pop("site", None)


def _grade(standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks) -> None:
    """A grade under its scale."""
    if standing.value:
        slots["level"] = slots.pop("value")
        slots.pop("grade", None)
    elif "grade" in slots:
        slots["level"] = slots.pop("grade")


def _marker(standing: Standing, slots: dict[str, str], name_of: NameOf, chance: random.Random, banks: Banks) -> None:
    """A marker with its result; the value where it has only that. A value that repeats the result is left out."""
    value, result = slots.get("value", ""), standing.attributes.get("result", "")
    qualified = _QUALIFIED.fullmatch(value)
    if qualified and qualified[1].casefold() in banks.results:
        # The degree replaces the bare result: a note that gave both would name_of two things.
        slots["result"] = _result(qualified[1], standing.fact.concept, banks, chance)
        slots.setdefault("percent", qualified[2] or "")
        if not slots["percent"]:
            del slots["percent"]
        del slots["value"]
        return
    if value and value.casefold() in banks.results:
        slots["result"] = _result(value, standing.fact.concept, banks, chance)
        value = slots.pop("value", "") and ""
    if value and not result:
        slots["result"] = _result(value, standing.fact.concept, banks, chance)
        del slots["value"]
    elif value.casefold() == result.casefold() or (
        slots.get("percent", "-") in value and value.casefold().startswith(result.casefold())
    ):
        slots.pop("value", None)
    percent = slots.get("percent")
    if percent and percent in slots.get("result", "") + slots.get("value", ""):
        del slots["percent"]


_MAKERS: Final[Mapping[str, Callable[[Standing, dict[str, str], NameOf, random.Random, Banks], None]]] = {
    "genomic_variant": _variant,
    "tnm": _staging,
    "stage_group": _stage,
    "performance_status": _performance,
    "lymph_node": _nodes,
    "metastasis": _metastasis,
    "grade": _grade,
    "biomarker": _marker,
    "lab": _marker,
}
