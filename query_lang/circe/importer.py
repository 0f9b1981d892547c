"""A Circe cohort definition as a query: the entry event, the rules around it, and the list of what was not carried."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ...kb.arguments import PATH, expect
from ...kb.ontology.concepts import ConceptTable, shipped_concepts
from ...kb.ontology.scales import Scales
from ..lint.atoms import Atoms
from ..nodes import And, Defined, Definition, Or, PatientExpression, Pick, Query
from ..read_back.query import read_back
from ..render import render
from ..resolution.resolve import resolve, resolve_text
from .concept_sets import ConceptSets, Mapped, tables
from .criteria import Asked, CriterionReader
from .document import CirceError, Loss, Losses, Part, read_document
from .groups import GroupReader, Index

_PICKS: Final = {"First": "first", "Last": "latest"}
#: A definition's name is at most so long.
_LONGEST_NAME: Final = 80


@dataclass(frozen=True, slots=True)
class CirceImport:
    """A Circe document as a query: its text, what it says in English, what was mapped how, and what was not carried."""

    query: Query
    text: str
    says: str
    losses: tuple[Loss, ...]
    mapped: tuple[Mapped, ...]

    @property
    def faithful(self) -> bool:
        """Whether nothing was lost that changes who is found."""
        return all(loss.effect == "none" for loss in self.losses)

    def as_dict(self) -> dict[str, Any]:
        """query (its text), says, faithful, not_carried and mapped."""
        return {
            "query": self.text,
            "says": self.says,
            "faithful": self.faithful,
            "not_carried": [loss.as_dict() for loss in self.losses],
            "mapped": [one.as_dict() for one in self.mapped],
        }


def from_circe(
    source: str | os.PathLike[str] | Mapping[str, Any],
    concepts: ConceptTable | None = None,
    scales: Scales | None = None,
) -> CirceImport:
    """The query that asks what an OHDSI cohort definition asks, as far as it can be asked, and what was not carried.

    ``source`` is a path, the JSON text or what it holds; ``concepts`` is the ontology to map to (by default the one
    that ships). CirceError if it is no cohort definition, or if nothing of its entry event can be asked.
    """
    expect("source", source, (*PATH, Mapping), "a cohort definition: a path, its JSON text, or what it holds")
    concepts = shipped_concepts() if concepts is None else concepts
    return _Importer(concepts, Scales.from_files() if scales is None else scales).read(read_document(source))


class _Importer:
    def __init__(self, concepts: ConceptTable, scales: Scales) -> None:
        self._concepts = concepts
        self._scales = scales
        self._losses = Losses()
        self._sets = ConceptSets(concepts, self._losses)
        self._reader = CriterionReader(self._sets, self._losses)
        self._groups = GroupReader(self._reader, Atoms(concepts, scales).ids)

    def read(self, document: Part) -> CirceImport:
        for name in ("cdmVersionRange", "Title", "title"):
            document.take(name)
        self._sets.read(document)
        primary = document.part("PrimaryCriteria")
        assert primary is not None  # read_document made sure
        asked = self._entry(primary)
        rules = document.parts("InclusionRules")
        additional = document.part("AdditionalCriteria")
        index = self._index(asked, self._limit(document, primary, additional is not None, bool(rules)), primary)
        body: list[PatientExpression] = [self._entry_criterion(asked, index)]
        if additional is not None:
            found = self._groups.group(additional, index)
            body += [] if found is None else [found]
        definitions: list[Definition] = []
        for number, rule in enumerate(rules, start=1):
            self._rule(rule, number, index, definitions)
        body += [Defined(definition.name) for definition in definitions]
        self._report_joint_rules(index, primary)
        self._leftovers(document)
        query = Query(body[0] if len(body) == 1 else And(tuple(body)), tuple(definitions))
        query = resolve(query, self._concepts, self._scales)
        # What is handed out is the tree that its own text is read to.
        query = resolve_text(render(query), self._concepts, self._scales)
        return CirceImport(
            query,
            render(query),
            read_back(query, self._concepts),
            tuple(self._losses.found.values()),
            tuple(self._sets.mapped.values()),
        )

    # --- the entry event ----------------------------------------------------------------------------------------------

    def _entry(self, primary: Part) -> list[Asked]:
        # The criteria of the entry are alternatives: one that is lost makes fewer patients enter.
        self._losses.whole = "narrower"
        found = [self._reader.read(holder) for holder in primary.parts("CriteriaList")]
        self._losses.whole = "wider"
        carried = [one for one in found if one is not None]
        if not carried:
            reasons = "; ".join(f"{loss.what}: {loss.why}" for loss in list(self._losses.found.values())[:3])
            raise CirceError(f"nothing of the entry event can be asked: {reasons or 'it has no criteria'}")
        window = primary.part("ObservationWindow")
        if window is not None:
            for name in ("PriorDays", "PostDays"):
                if window.whole(name):
                    self._losses.add(
                        f"{window.path}.{name}", f"{window.whole(name)} days of observation",
                        "notes have no observation periods", "wider",
                    )  # fmt: skip
        return carried

    def _limit(self, document: Part, primary: Part, additional: bool, rules: bool) -> str:
        """Which of a patient's entry events count: first, latest, or empty for all of them."""
        limits = {}
        for holder, name in (
            (primary, "PrimaryCriteriaLimit"),
            (document, "QualifiedLimit"),
            (document, "ExpressionLimit"),
        ):
            part = holder.part(name)
            limits[name] = "All" if part is None else part.text("Type") or "All"
            if limits[name] not in ("All", *_PICKS):
                raise CirceError(f"$.{name}.Type is '{limits[name][:40]}'")
        first, qualified = limits["PrimaryCriteriaLimit"], limits["QualifiedLimit"]
        if first == "All" and qualified != "All":
            if not additional:
                first = qualified
            elif rules:
                self._losses.add(
                    "$.QualifiedLimit", f"the {qualified.lower()} entry event that meets the additional criteria",
                    "the inclusion rules may be met by another entry event", "wider",
                )  # fmt: skip
        # The limit of the expression chooses among events that all qualify: it does not change who is a member.
        return _PICKS.get(first, "")

    def _index(self, asked: list[Asked], how: str, primary: Part) -> Index:
        sets = tuple(events for one in asked for events in one.events)
        if not how:
            return Index(sets, single=len(sets) == 1 and sets[0].pick != Pick())
        path = f"{primary.path}.PrimaryCriteriaLimit"
        if len(sets) > 1:
            self._losses.add(
                path, f"the {how} of several sorts of entry event",
                "the choice is of one sort of fact here; each of them counts as entry", "wider",
            )  # fmt: skip
            return Index(sets, single=False)
        (events,) = sets
        if events.pick != Pick():
            return Index(sets, single=True)
        if events.condition is not None or any(one.ages or one.correlated is not None for one in asked):
            self._losses.add(
                path, f"the {how} entry event of those that meet all that is asked of them",
                "the choice comes before values and ages here; each of them counts as entry", "wider",
            )  # fmt: skip
            return Index(sets, single=False)
        return Index((replace(events, pick=Pick(how)),), single=True)

    def _entry_criterion(self, asked: list[Asked], index: Index) -> PatientExpression:
        if len(asked) == 1 and len(index.events) == len(asked[0].events):
            asked = [replace(asked[0], events=index.events)]
        found, looks = [], []
        for one in asked:
            self._groups.timed = 0
            found.append(self._groups.asked(one, entry=True))
            looks.append(self._groups.timed)
        # They are alternatives: an entry event has to meet what one of them asks of it.
        self._groups.timed = max(looks)
        return found[0] if len(found) == 1 else Or(tuple(found))

    # --- the rules ----------------------------------------------------------------------------------------------------

    def _rule(self, rule: Part, number: int, index: Index, definitions: list[Definition]) -> None:
        name = " ".join(rule.text("name").split())[:_LONGEST_NAME].strip() or f"rule {number}"
        taken = {definition.name.casefold() for definition in definitions}
        while name.casefold() in taken:
            name = f"{name} ({number})"
        expression = rule.part("expression")
        found = None if expression is None else self._groups.group(expression, index)
        if found is not None:
            definitions.append(Definition(name, found))
        else:
            self._losses.add(rule.path, f"the rule '{name}'", "nothing of it can be asked", "wider")

    def _report_joint_rules(self, index: Index, primary: Part) -> None:
        if not index.single and self._groups.timed > 1:
            self._losses.add(
                primary.path, "that all that is asked of it is met by one and the same entry event",
                "each relation to the entry event, and the age at it, is asked by itself", "wider",
            )  # fmt: skip

    def _leftovers(self, document: Part) -> None:
        self._sets.report_unused()
        for path, name in list(document.leftovers()):
            why, effect = tables()["fields"].get(name, ("this importer does not know this field", "other"))
            self._losses.add(path, name, why, effect)
