"""The kinds of event (``kinds.toml``): what each has and is, and the sets of kinds that share a trait."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

_DATA: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

#: Trait -> what it says of a kind.
TRAITS: Final[Mapping[str, str]] = _DATA["traits"]


@dataclass(frozen=True, slots=True)
class Denial:
    """What a denial of an event of a kind denies: ``whole`` are the kinds and concepts whose denial denies every such
    event; ``settled_by`` has, by attribute, those that fix it. The head of ``kinds.toml`` says the rest."""

    whole: tuple[tuple[str, str], ...]
    beside: frozenset[str] = frozenset()
    settled_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unspecific: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of event; the head of ``kinds.toml`` says what each field means."""

    name: str
    belongs_to: Literal["tumor", "patient"]
    noted_in: frozenset[str]
    spellings: tuple[str, ...]
    preposition: str
    read_back: Mapping[str, Any]
    family: str
    attributes: Mapping[str, str | tuple[str, ...]]
    denial: Denial
    traits: frozenset[str] = frozenset()
    main_attribute: str = ""
    result_attributes: tuple[str, ...] = ()
    distinguishing: tuple[str, ...] = ()
    of_course: frozenset[str] = frozenset()
    made_of: str | None = None
    concepts: tuple[str, ...] = ()
    meant_by: tuple[str, ...] = ()
    named_by: str = ""
    root: str = ""
    unless_below: str = ""
    coral_label: str = ""
    cdm_domain: str = ""
    later: bool = False
    short: Mapping[str, str] = field(default_factory=dict)


#: The attribute that tells of an event that it follows from others by a rule: what is stated has none.
RULE_OF_DERIVED: Final = "rule"
#: What an event says besides, where it follows from others: by which rule and edition, from which events.
OF_DERIVED: Final[Mapping[str, str]] = {RULE_OF_DERIVED: "text", "edition": "number", "premises": "text"}
#: And where it was found in a specimen: when that was taken, and when it was reported (``2019-03-04``).
OF_REPORT: Final[Mapping[str, str]] = {"collected": "text", "reported": "text"}
#: And where it is a relative's: who that is, on which side of the family, and how old they were when it was found.
OF_RELATIVE: Final[Mapping[str, str | tuple[str, ...]]] = {
    "relative": "finding:relative",
    "side": ("maternal", "paternal"),
    "relative_age": "number",
}
#: Of a result that was found on a specimen: how that was taken, of which lesion, from where, and what it is known by.
OF_SAMPLE: Final[Mapping[str, str | tuple[str, ...]]] = {
    "specimen": ("biopsy", "resection", "cytology", "blood", "marrow", "fluid"),
    "specimen_of": ("primary", "metastasis", "recurrence", "node"),
    "specimen_site": "concept:site",
    "specimen_id": "text",
}
#: Of what a study can show: the study that did.
OF_STUDY: Final[Mapping[str, str]] = {"found_by": "concept:procedure"}
#: Attributes of which an event told by several reports has each that one of them tells, with this between them.
SEVERAL: Final = frozenset({*OF_SAMPLE, *OF_STUDY})
BETWEEN_VALUES: Final = ";"
#: What the id of a specimen begins with that a note tells of without number or day: it may be any other.
OF_ONE_NOTE: Final = "~"


def _kind(name: str, entry: Mapping[str, Any]) -> Kind:
    if unknown := set(entry.get("traits", ())) - TRAITS.keys():
        raise ValueError(f"kind {name!r} has the trait {sorted(unknown)[0]!r}; the traits are {', '.join(TRAITS)}")
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    given.setdefault("family", name)
    given.setdefault("preposition", "" if "concepts" in given else "of")
    given |= {key: frozenset(entry.get(key, ())) for key in ("traits", "of_course", "noted_in")}
    given["attributes"] = {
        attribute: tuple(type_) if isinstance(type_, list) else type_
        for attribute, type_ in entry["attributes"].items()
    }
    if "derivable" in given["traits"]:
        given["attributes"] |= OF_DERIVED
    if "reported" in given["traits"]:
        given["attributes"] |= OF_REPORT
    if "of_patient_alone" not in given["traits"]:
        given["attributes"] |= OF_RELATIVE
    if "sampled" in given["traits"]:
        given["attributes"] |= OF_SAMPLE
    if "shown" in given["traits"]:
        given["attributes"] |= OF_STUDY
    given["denial"] = _denial(name, entry.get("denial", {}))
    return Kind(name=name, **given)


def _denial(kind: str, entry: Mapping[str, Any]) -> Denial:
    whole = [(kind, "")]
    for one in entry.get("whole", ()):
        other, _, concept = one.rpartition(":")
        whole.append((other or kind, concept))
    settled: dict[str, set[str]] = {}
    for settling, others in entry.get("settles", {}).items():
        for one in others:
            settled.setdefault(one, set()).add(settling)
    return Denial(
        tuple(whole),
        frozenset(entry.get("beside", ())) | OF_REPORT.keys() | SEVERAL,
        {name: frozenset(settling) for name, settling in settled.items()},
        entry.get("unspecific", {}),
    )


#: Kind -> what it is, in the order in which people read a record.
KIND_TABLE: Final[Mapping[str, Kind]] = {name: _kind(name, entry) for name, entry in _DATA["kind"].items()}
#: The kinds of event, in the order in which people read a record.
KINDS: Final[tuple[str, ...]] = tuple(KIND_TABLE)
#: The same as they are listed to choose from.
KINDS_TO_CHOOSE: Final[tuple[str, ...]] = tuple(sorted(KINDS, key=lambda kind: KIND_TABLE[kind].later))
#: The attribute that *worst*, *best* and a bare comparison of a kind refer to.
MAIN_ATTRIBUTE: Final[Mapping[str, str]] = {
    kind: KIND_TABLE[kind].main_attribute for kind in KINDS_TO_CHOOSE if KIND_TABLE[kind].main_attribute
}


def _with(trait: str) -> frozenset[str]:
    if trait not in TRAITS:
        raise ValueError(f"no kind can have the trait {trait!r}; the traits are {', '.join(TRAITS)}")
    return frozenset(kind.name for kind in KIND_TABLE.values() if trait in kind.traits)


def _of_family(family: str) -> frozenset[str]:
    return frozenset(kind.name for kind in KIND_TABLE.values() if kind.family == family)


def values_of(attribute: str, value: str | float) -> tuple[str | float, ...]:
    """The values that an attribute of an event has, as it is recorded.

    >>> values_of("specimen", "biopsy;resection")
    ('biopsy', 'resection')
    """
    if attribute in SEVERAL and isinstance(value, str) and BETWEEN_VALUES in value:
        return tuple(value.split(BETWEEN_VALUES))
    return (value,)


def of_domain(domain: str) -> tuple[str, ...]:
    """The kinds of one domain of the OMOP common data model, as they are listed to choose from."""
    return tuple(kind for kind in KINDS_TO_CHOOSE if KIND_TABLE[kind].cdm_domain == domain)


# Kinds by trait: [traits] of kinds.toml says what each means.
TREATMENTS: Final = _with("treatment")
COURSES: Final = _with("course")
LASTING: Final = _with("lasts")
MOLECULAR: Final = _with("molecular")
REPEATED: Final = _with("repeated")
DESCRIBING_TUMORS: Final = _with("describes_tumor")
ILLNESSES: Final = _with("illness")
CORRECTABLE: Final = _with("correctable")
READING_CONTEXT: Final = _with("reads_context")
OF_THEIR_DAY: Final = _with("of_its_day")
OF_ONE_PERSON: Final = _with("of_one_person")
OF_OTHER_NAMES: Final = _with("of_other_names")
PHRASED: Final = _with("phrased")
MEASURED: Final = _with("measured")
ON_ITS_OWN: Final = _with("on_its_own")
WEIGHED: Final = _with("weighed")
OF_SPECIMENS: Final = _with("of_specimens")
DERIVABLE: Final = _with("derivable")

# Kinds that are one thing, recorded in one way or another.
DRUGS: Final = _of_family("drug")
OPERATIONS: Final = _of_family("operation")
TESTS: Final = _of_family("test")
CONDITIONS: Final = _of_family("condition")
SPREAD: Final = _of_family("spread")

#: Operations and radiation: what the common data model calls procedures.
PROCEDURES: Final = frozenset(of_domain("Procedure"))
#: Kinds that a test finds, and that an image shows.
FOUND: Final = _with("found")
SEEN: Final = _with("seen")
#: Kinds of which a test tells that there is none, on its day; and those that are told in lists.
LOOKED_FOR: Final = _with("looked_for")
LISTED: Final = _with("listed")
#: Kinds of which an event tells when its specimen was taken and when it was reported.
REPORTED: Final = _with("reported")
#: Kinds of which an event holds for a whole life, and is of no day.
WHOLE_LIFE: Final = _with("whole_life")
#: Kinds that are found on a specimen, and those that a study shows.
SAMPLED: Final = _with("sampled")
SHOWN: Final = _with("shown")
#: Kinds that say a result.
RESULTS: Final = frozenset(kind.name for kind in KIND_TABLE.values() if kind.result_attributes)
#: Kinds that have a place in the body or a side.
PLACED: Final = frozenset(
    kind.name for kind in KIND_TABLE.values() if not {"site", "laterality"}.isdisjoint(kind.attributes)
)
#: Kinds that are of the patient as a whole, whatever tumors there are.
OF_PATIENT: Final = frozenset(kind.name for kind in KIND_TABLE.values() if kind.belongs_to == "patient")


def kinds_named(names: Iterable[str]) -> frozenset[str]:
    """The kinds that a data file lists: ``@trait`` is each with the trait, ``*`` every kind, ``-kind`` not this one."""
    found: set[str] = set()
    for name in names:
        if name == "*":
            found.update(KINDS)
        elif name.startswith("@"):
            found |= _with(name[1:])
        elif name.startswith("-"):
            found.discard(name[1:])
        else:
            found.add(name)
    return frozenset(found)
