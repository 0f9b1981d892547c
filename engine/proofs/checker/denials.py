"""What a denial denies, in the verifier's own words: no more than it names and what lies below that.

The concept that is denied must be above each one that is asked for, or be that one; and what the denial says besides
must be said by the question as well, be it by its condition or by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....kb.kinds import KIND_TABLE
from ....kb.model import Event, Value
from ....kb.ontology.concepts import ConceptTable
from ....query_lang import nodes

_NO: int = 0
_OPEN: int = 1
_YES: int = 2


@dataclass(frozen=True)
class Denials:
    """Under one ontology: ``above`` leads up by the is-a edges, ``concepts`` has names and sites. ``is_term`` holds a
    value of an attribute against a term, ``satisfies`` an event against a condition."""

    above: Callable[[str], frozenset[str]]
    concepts: ConceptTable
    is_term: Callable[[str, Value, nodes.Term, bool], bool]
    satisfies: Callable[[nodes.Condition, Event], bool]

    def may_deny(self, asked: nodes.Events, event: Event) -> bool:
        """Whether a denial of the event's concept denies the concepts that are asked for."""
        if asked.kind is not None:
            if (event.kind, event.concept) in KIND_TABLE[asked.kind].denial.whole:
                return True
            if event.kind != asked.kind:
                return False
        wanted = asked_for(asked.concept)
        return bool(wanted) and all(
            event.concept == one or (event.concept in self.above(one) and not self._is_root(event.concept))
            for one in wanted
        )

    def _is_root(self, concept: str) -> bool:
        """Whether nothing lies above it: it is then the name of a sort of concepts, and of no thing."""
        return self.above(concept) == {concept}

    def leaves_nothing_out(self, asked: nodes.Events, event: Event) -> bool:
        """Whether the denial is of all that is asked, by its attributes."""
        rules = KIND_TABLE[event.kind].denial
        said = {name: value for name, value in event.attributes.items() if value != ""}
        for name, value in said.items():
            if name in rules.beside or self._is_said_by(asked, name, value):
                continue
            if name == "site" and self._is_asked_side(asked, value, said.get("laterality")):
                continue
            if rules.unspecific.get(name) == value and not _looks_at(asked.condition, name):
                continue
            if not any(
                said[other] != rules.unspecific.get(other) and self._needs(asked.condition, other, said[other])
                for other in rules.settled_by.get(name, ())
                if other in said
            ):
                return False
        return self._truth(asked.condition, event, {name for name in said if name in rules.beside}) != _NO

    def _is_said_by(self, asked: nodes.Events, name: str, value: Value) -> bool:
        """Whether what is asked for has the value anyway."""
        if self._needs(asked.condition, name, value):
            return True
        wanted = asked_for(asked.concept)
        return bool(wanted) and isinstance(value, str) and all(self._means(one, value) for one in wanted)

    def _is_asked_side(self, asked: nodes.Events, site: Value, side: Value | None) -> bool:
        """Whether the site is one side, the one asked for, of what is asked for."""
        if side is None or not isinstance(site, str) or not self._needs(asked.condition, "laterality", side):
            return False
        wholes = self.above(site) - {site}
        words = self.concepts.name(site).split()
        return str(side) in words and any(
            self._is_said_by(asked, "site", whole)
            for whole in wholes
            if site in self.concepts and whole in self.concepts.parents(site)
        )

    def _means(self, concept: str, value: str) -> bool:
        """Whether the concept is one of the value: a concept above it, where it is, or a word of its name."""
        if concept not in self.concepts:
            return False
        above = self.above(concept)
        known = [self.concepts.get(one) for one in above if one in self.concepts]
        if value in above or any(value in self.above(row.site) for row in known if row.site):
            return True
        word = self.concepts.name(value).casefold()
        names = [f" {name.casefold()} " for row in known for name in self.concepts.names(row.id)]
        return not word.isdigit() and any(f" {word} " in name for name in names)

    def _needs(self, condition: nodes.Condition | None, name: str, value: Value) -> bool:
        """Whether nothing meets the condition but what has the value in this attribute, or one below it."""
        if isinstance(condition, nodes.AllOf):
            return any(self._needs(part, name, value) for part in condition.parts)
        if isinstance(condition, nodes.AnyOf):
            return all(self._needs(part, name, value) for part in condition.parts)
        term: nodes.Term = nodes.Name(value if isinstance(value, str) else f"{value:g}")
        if isinstance(value, str) and value in self.concepts:
            term = nodes.Concept(value, "")
        if isinstance(condition, nodes.Is) and condition.attribute == name:
            words = [one.id if isinstance(one, nodes.Concept) else one.text for one in condition.values]
            return all(self.is_term(name, word, term, False) for word in words)
        if isinstance(condition, nodes.Compare) and condition.attribute == name and condition.operator == "=":
            return self.is_term(name, condition.value, term, False)
        return False

    def _truth(self, condition: nodes.Condition | None, event: Event, told: set[str]) -> int:
        """What the condition is of the attributes that are told; of others it is open."""
        if condition is None:
            return _YES
        if isinstance(condition, nodes.AllOf):
            return min(self._truth(part, event, told) for part in condition.parts)
        if isinstance(condition, nodes.AnyOf):
            return max(self._truth(part, event, told) for part in condition.parts)
        if isinstance(condition, nodes.NotThat):
            return _YES - self._truth(condition.part, event, told)
        if condition.attribute not in told:
            return _OPEN
        return _YES if self.satisfies(condition, event) else _NO


def asked_for(concept: nodes.ConceptExpression | None) -> frozenset[str]:
    """The concepts that are asked for; not those that are taken away, which a denial may deny, too."""
    match concept:
        case nodes.Under(nodes.Concept(one)):
            return frozenset((one,))
        case nodes.Union(parts):
            return frozenset[str]().union(*map(asked_for, parts))
        case nodes.OtherThan(base, _):
            return asked_for(base)
    return frozenset()


def _looks_at(condition: nodes.Condition | None, name: str) -> bool:
    match condition:
        case nodes.AllOf(parts) | nodes.AnyOf(parts):
            return any(_looks_at(part, name) for part in parts)
        case nodes.NotThat(part):
            return _looks_at(part, name)
        case None:
            return False
    return condition.attribute == name
