"""The rows of rules, read and checked: what each concludes, from which premises, under which editions.

A row is one implication. Its table is data (``*.tsv`` beside this file, ``editions.tsv``); what a premise means of a
patient's events is defined twice, where facts are derived and where proofs are checked.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..errors import OntologyError
from ..files.text_files import text_of
from ..kinds import DERIVABLE, KIND_TABLE
from ..model import LATEST_DAY, Value
from ..ontology.scales import as_number

FOLDER: Final = Path(__file__).parent
COLUMNS: Final = ("id", "of", "editions", "source", "gives", "when", "unless", "open")
#: ``Rule.of`` of what is concluded of a patient, and not of a tumor.
OF_PATIENT: Final = "patient"
#: ``Rule.source``: the premises are told in the report of a resection.
RESECTION: Final = "resection"
#: The attributes that name the system of a category: what is said in one is not said in another.
SYSTEMS: Final = ("system", "scale")
#: The attributes that a derived event has besides what it says: which rule gave it, by which edition, from which events
#: (their ids, joined by blanks).
RULE, EDITION, PREMISES = "rule", "edition", "premises"
#: After the years in which an edition was in force it is still in use for so many days.
STILL_IN_USE: Final = 1096

#: A report names the edition by which it stages: *AJCC 7th edition*, *AJCC 2010*.
_EDITION_IN_WORDS: Final = re.compile(
    r"\b(?:ajcc|uicc|tnm|staging)\b[^.;\n]{0,40}?"
    r"\b(?:(?P<edition>[5-8])\s?(?:th)?\s?ed(?:ition|n)?|(?P<year>1997|2002|2009|2010|2016|2017))\b",
    re.IGNORECASE,
)
#: The edition of a manual by the year in which it came out.
_BY_YEAR: Final[Mapping[str, int]] = {"1997": 5, "2002": 6, "2009": 7, "2010": 7, "2016": 8, "2017": 8}

_EDITIONS: Final = "editions.tsv"
_PREMISE: Final = re.compile(
    r"(?P<no>no |free )?(?P<kind>[a-z_]+)(?: (?P<concept>[a-z0-9_]+))?(?:: (?P<conditions>.+))?"
)
_CONDITION: Final = re.compile(r"(?P<attribute>[a-z_]+) (?P<operator><=|>=|!=|=|<|>) (?P<value>.+)")
_RANGE: Final = re.compile(r"(\d)-(\d)")


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on one attribute of an event: an operator of ``= != < <= > >=``, and what it is compared with."""

    attribute: str
    operator: str
    value: Value


@dataclass(frozen=True, slots=True)
class Premise:
    """An event that must be there: its kind, at or below a concept (any, if empty), with attributes.

    ``denied``: a note must say that there is none; silence is no premise. ``part``: of a part it is enough
    (*free node*: one station of nodes that is told to be free).
    """

    kind: str
    concept: str = ""
    tests: tuple[Test, ...] = ()
    denied: bool = False
    part: bool = False

    def __str__(self) -> str:
        """As it is written in a row."""
        of = f" {self.concept}" if self.concept else ""
        told = ", ".join(
            f"{one.attribute} {one.operator} {one.value if isinstance(one.value, str) else format(one.value, 'g')}"
            for one in self.tests
        )
        return f"{'free ' if self.part else 'no ' * self.denied}{self.kind}{of}{': ' * bool(told)}{told}"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The event that a rule gives."""

    kind: str
    concept: str = ""
    attributes: Mapping[str, Value] = field(default_factory=dict)

    @property
    def about(self) -> tuple[str, str, str]:
        """What the rules compete for: the kind, the attribute with an order (else the concept), and the system.

        Of those that speak of one matter the highest category wins.
        """
        ranked = [name for name in self.attributes if KIND_TABLE[self.kind].attributes.get(name) == "scale"]
        system = next((str(self.attributes[name]) for name in SYSTEMS if name in self.attributes), "")
        return self.kind, ranked[0] if ranked else self.concept, system


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. ``of`` and ``but`` are ids of tumors: one of these at or above the diagnosis, none of those."""

    id: str
    of: tuple[str, ...]
    but: tuple[str, ...]
    editions: tuple[int, ...]
    source: str
    gives: Conclusion
    when: tuple[Premise, ...]
    unless: tuple[Premise, ...] = ()
    open: tuple[Premise, ...] = ()

    @property
    def of_patient(self) -> bool:
        """Whether it speaks of a patient and not of a tumor."""
        return self.of == (OF_PATIENT,)


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition of the staging manual, and the days (ordinals) of the diagnoses that are staged by it."""

    number: int
    low: int
    high: int


@functools.lru_cache(maxsize=1)
def shipped_rules() -> Mapping[str, Rule]:
    """Rule id -> rule, in the order of the tables; OntologyError names the row that cannot be read."""
    found: dict[str, Rule] = {}
    for path in sorted(FOLDER.glob("*.tsv")):
        if path.name == _EDITIONS:
            continue
        for number, cells in _rows(path, COLUMNS):
            try:
                rule = rule_of_row(cells)
            except (ValueError, KeyError) as error:
                raise OntologyError(f"{path.name}, line {number}: {error}") from error
            if rule.id in found:
                raise OntologyError(f"{path.name}, line {number}: a rule {rule.id!r} stands twice")
            found[rule.id] = rule
    return found


@functools.lru_cache(maxsize=1)
def shipped_editions() -> tuple[Edition, ...]:
    """The editions, the oldest first."""
    return tuple(
        Edition(int(cells["edition"]), _day(cells["from"], 0), _day(cells["to"], LATEST_DAY))
        for _, cells in _rows(FOLDER / _EDITIONS, ("edition", "from", "to"))
    )


def in_force(day: int) -> int | None:
    """The edition in force on a day (an ordinal); None before the first."""
    return next((one.number for one in shipped_editions() if one.low <= day <= one.high), None)


def in_use(day: int) -> tuple[int, ...]:
    """The editions by which a report of this day may have been staged."""
    return tuple(one.number for one in shipped_editions() if one.low <= day <= one.high + STILL_IN_USE)


def editions_named(text: str) -> frozenset[int]:
    """The editions of the staging manual that a text names."""
    return frozenset(
        int(match["edition"]) if match["edition"] else _BY_YEAR[match["year"]]
        for match in _EDITION_IN_WORDS.finditer(text)
    )


def rule_of_row(cells: Mapping[str, str]) -> Rule:
    """The rule that a row writes; ValueError says what of it means nothing."""
    tumors = cells["of"].split("|")
    gives = _premise(cells["gives"])
    if gives.denied or any(test.operator != "=" for test in gives.tests):
        raise ValueError(f"'{cells['gives']}' is no event")
    if gives.kind not in DERIVABLE:
        raise ValueError(f"events of the kind {gives.kind} do not follow from others ({', '.join(sorted(DERIVABLE))})")
    when = _premises(cells["when"])
    if not when:
        raise ValueError("a rule without premises would conclude from silence")
    if cells["source"] not in ("", RESECTION):
        raise ValueError(f"source is {cells['source']!r}; it is empty or {RESECTION}")
    return Rule(
        cells["id"],
        tuple(one for one in tumors if not one.startswith("-")),
        tuple(one[1:] for one in tumors if one.startswith("-")),
        _editions(cells["editions"]),
        cells["source"],
        Conclusion(gives.kind, gives.concept, {test.attribute: test.value for test in gives.tests}),
        when,
        _premises(cells["unless"]),
        _premises(cells["open"]),
    )


def _premises(text: str) -> tuple[Premise, ...]:
    return tuple(_premise(part.strip()) for part in text.split(";") if part.strip())


@functools.cache
def _premise(text: str) -> Premise:
    """The premise of these words: one and the same for all rules that need it."""
    match = _PREMISE.fullmatch(text)
    if match is None or match["kind"] not in KIND_TABLE:
        raise ValueError(f"{text!r} is no premise: [no |free ]KIND [CONCEPT][: ATTRIBUTE OP VALUE, ...]")
    tests = tuple(_test(part.strip(), match["kind"]) for part in (match["conditions"] or "").split(",") if part.strip())
    return Premise(match["kind"], match["concept"] or "", tests, bool(match["no"]), match["no"] == "free ")


def _test(text: str, kind: str) -> Test:
    match = _CONDITION.fullmatch(text)
    if match is None or match["attribute"] not in KIND_TABLE[kind].attributes:
        raise ValueError(f"{text!r} is no condition on an attribute of {kind}")
    is_number = KIND_TABLE[kind].attributes[match["attribute"]] == "number"
    number = as_number(match["value"]) if is_number else None
    return Test(match["attribute"], match["operator"], match["value"] if number is None else number)


def _editions(text: str) -> tuple[int, ...]:
    if whole := _RANGE.fullmatch(text):
        return tuple(range(int(whole[1]), int(whole[2]) + 1))
    return tuple(int(one) for one in text.split(",") if one.strip())


def _day(text: str, otherwise: int) -> int:
    return datetime.date.fromisoformat(text).toordinal() if text else otherwise


def _rows(path: Path, columns: Iterable[str]) -> Iterable[tuple[int, Mapping[str, str]]]:
    header: list[str] = []
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split("\t")
        if not header:
            header = cells
            if header != list(columns):
                raise OntologyError(f"{path.name}, line {number}: the columns are {', '.join(columns)}")
            continue
        yield number, dict(zip(header, [*cells, *[""] * (len(header) - len(cells))], strict=True))
