"""A report: the parts of an answer as values, and the page of HTML that shows them.

The page needs nothing else: no script, no font, no network. The same parts stand in a notebook.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...kb.errors import UsageError
from ...kb.model import World
from ...kb.skin.pages import page
from ...kb.version import __version__
from ...query_lang.read_back.facts import date_words
from ...query_lang.read_back.query import read_back
from ..answers.explain import Explanation, explained
from ..answers.funnel import Counts, Funnel, funnel
from .timeline import Picture, picture

if TYPE_CHECKING:
    from pyroaring import BitMap

    from ...kb.storage.reader import KnowledgeBase
    from ...query_lang import nodes
    from ...query_lang.lint.finding import Finding

_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ReportedMember:
    """One patient of the answer: the certainty, each criterion with its evidence, the picture of the record."""

    patient_id: str
    certainty: str
    explanation: Explanation
    picture: Picture


@dataclass(frozen=True, slots=True)
class Report:
    """An answer with everything that supports it.

    ``asked`` is the query as it was written, ``resolved`` as it was understood, ``says`` the same in English;
    ``read_as`` tells of names that were read as a concept of another extent.
    ``members`` are the first of the patients of ``world``, ``others`` the ids of those that are not shown in full.
    ``signature`` is what it takes to get the same answer again.
    """

    asked: str
    resolved: str
    says: tuple[str, ...]
    read_as: tuple[str, ...]
    world: str
    everybody: int
    counts: Counts
    funnel: Funnel
    findings: tuple[Finding, ...]
    members: tuple[ReportedMember, ...] = field(repr=False)
    others: tuple[str, ...] = field(repr=False)
    signature: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the pictures are left out, since they show what the records say."""
        return {
            "query": self.asked,
            "resolved": self.resolved,
            "says": list(self.says),
            "read_as": list(self.read_as),
            "world": self.world,
            "everybody": self.everybody,
            **self.counts._asdict(),
            "funnel": self.funnel.as_dict(),
            "findings": [finding.as_dict() for finding in self.findings],
            "members": [member.explanation.as_dict() for member in self.members],
            "others": list(self.others),
            "signature": dict(self.signature),
        }

    def as_html(self) -> str:
        """The whole page."""
        return page(_HERE / "page.html", report=self)

    def _repr_html_(self) -> str:
        """The parts of the page for a notebook."""
        return page(_HERE / "notebook.html", report=self)


@dataclass(frozen=True, slots=True)
class Answered:
    """A query with its answers: ``asked`` as it was written, ``numbers`` the dense patient numbers by world."""

    kb: KnowledgeBase
    query: nodes.Query
    asked: str
    resolved: str
    world: World
    numbers: Mapping[World, BitMap]
    findings: tuple[Finding, ...]
    read_as: tuple[str, ...]

    def certainty(self, number: int) -> str:
        """The strongest world whose answer has a patient."""
        return next(
            world for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE) if number in self.numbers[world]
        ).name.lower()


def report_on(answered: Answered, limit: int | None) -> Report:
    """The report of an answer, with the first ``limit`` members in full (None: all); UsageError below 0."""
    if limit is not None and limit < 0:
        raise UsageError("report: 'limit' is the number of members to show in full, 0 or more")
    kb = answered.kb
    found = list(answered.numbers[answered.world])
    counts = Counts(*(len(answered.numbers[world]) for world in (World.BELIEVED, World.CERTAIN, World.POSSIBLE)))
    return Report(
        answered.asked,
        answered.resolved,
        tuple(read_back(answered.query, kb.concepts).split("\n\n")),
        answered.read_as,
        answered.world.name.lower(),
        len(kb.patients),
        counts,
        funnel(answered.query, kb),
        answered.findings,
        tuple(_member(answered, number) for number in found[:limit]),
        () if limit is None else tuple(kb.patients[number] for number in found[limit:]),
        _signature(answered, [kb.patients[number] for number in found]),
    )


def _member(answered: Answered, number: int) -> ReportedMember:
    kb, patient = answered.kb, answered.kb.patients[number]
    journey = kb.journey(patient, relations=False)
    explanation = explained(answered.query, journey, kb.concepts, kb.scales, answered.resolved)
    told = {one.event.as_text() for one in explanation.pieces() if one.counts and one.event is not None}
    return ReportedMember(patient, answered.certainty(number), explanation, picture(journey, kb.concepts, told))


def _signature(answered: Answered, patients: Sequence[str]) -> dict[str, str]:
    """Program, state of the knowledge base, query and answer, each by its version or digest."""
    kb, as_of = answered.kb, answered.query.as_of
    return {
        "cohortium": __version__,
        "knowledge base": kb.path.name,
        "generation": kb.generation,
        "schema": str(kb.manifest["schema_version"]),
        **{str(name).replace("_", " "): str(value) for name, value in sorted(kb.manifest["versions"].items())},
        **({} if as_of is None else {"as of": date_words(as_of)}),
        "query": _digest(answered.resolved),
        "answer": _digest("\n".join(patients)),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
