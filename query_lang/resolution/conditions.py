"""Resolution of conditions: attributes checked against the kind of event, values brought to their recorded form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from ...kb.kinds import WHOLE_LIFE
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.near_names import near_words
from ...kb.ontology.scales import Scales, as_number
from ..nodes import (
    AllOf,
    AnyOf,
    Between,
    Compare,
    Concept,
    Condition,
    Documented,
    Is,
    Name,
    NotThat,
    Term,
)
from ..vocabulary import ATTRIBUTES, CRITERION_ATTRIBUTES, FAMILY_OF_VALUE, KIND_WORDS
from .findings import findings, protein_change
from .other_scales import hint_for_scale
from .severity import has_no_stage, severity_in, told


class Report(Protocol):
    """Reports a problem: message, the words it is about (for their place), hint; ``settled`` as in QueryError."""

    def __call__(self, message: str, words: str, hint: str, *, settled: bool = False) -> None: ...


_SHOWN_VALUES: Final = 20


class ConditionResolver:
    """Resolves conditions; what is wrong is reported, and the condition is then left as it was."""

    def __init__(
        self, concepts: ConceptTable, scales: Scales, report: Report, can_be_asked: Callable[[str], bool]
    ) -> None:
        self._concepts = concepts
        self._scales = scales
        self._report = report
        self._can_be_asked = can_be_asked
        #: What is being resolved, for the hint that a wrong value gets.
        self._compared: tuple[Condition, Sequence[str]] | None = None

    def resolve(self, condition: Condition, kinds: Sequence[str]) -> Condition:
        """``condition`` as it applies to events of ``kinds`` (those that could have it are enough)."""
        match condition:
            case AllOf(parts):
                return AllOf(tuple([self.resolve(part, kinds) for part in parts]))
            case AnyOf(parts):
                return AnyOf(tuple([self.resolve(part, kinds) for part in parts]))
            case NotThat(part):
                return NotThat(self.resolve(part, kinds))
        type_ = self._type(condition.attribute, kinds)
        if type_ is None:
            return condition
        self._compared = condition, kinds
        match condition:
            case Is(attribute, values, exact):
                return self._is(attribute, values, exact, type_)
            case Compare():
                return self._compare(condition, type_)
            case Between(attribute, low, high, unit):
                if not self._ordered(attribute, type_):
                    return condition
                first, second = self._ordered_value(attribute, low, type_), self._ordered_value(attribute, high, type_)
                if first is None or second is None:
                    return condition
                if not self._ascending(attribute, first, second):
                    self._report(
                        f"nothing lies between {low} and {high}", str(low), f"write 'between {high} and {low}'"
                    )
                return Between(attribute, first, second, unit)
            case Documented():
                return condition

    def _type(self, attribute: str, kinds: Sequence[str]) -> str | tuple[str, ...] | None:
        for kind in kinds:
            if attribute in KIND_WORDS[kind].attributes:
                return KIND_WORDS[kind].attributes[attribute]
        known = list(dict.fromkeys(name for kind in kinds for name in KIND_WORDS[kind].attributes))
        what = " or ".join(kinds)
        if attribute in CRITERION_ATTRIBUTES - WHOLE_LIFE and has_no_stage(
            [one for kind in kinds for one in KIND_WORDS[kind].concepts]
        ):
            hint = f"leave it out: no {attribute} of an illness is held but of tumors"
        elif attribute in CRITERION_ATTRIBUTES:
            hint = f"for another fact, close this one first: '(… with …) and {attribute} …'"
        else:
            similar = near_words(attribute, known) or (near_words(attribute, ATTRIBUTES) if not known else [])
            hint = f"did you mean {either(similar)}?" if similar else f"its attributes are {', '.join(known) or 'none'}"
        self._report(f"{what} has no attribute '{attribute}'", attribute, hint)
        return None

    # --- ordered comparison -----------------------------------------------------------------------------------------

    def _compare(self, original: Compare, type_: str | tuple[str, ...]) -> Condition:
        attribute, operator, value = original.attribute, original.operator, original.value
        if type_ in ("number", "scale") or (type_ == "measure" and as_number(value) is not None):
            bound = self._ordered_value(attribute, value, type_)
            return original if bound is None else Compare(attribute, operator, bound, original.unit)
        if operator not in ("=", "!="):
            self._ordered(attribute, type_)
            return original
        equal = self._is(attribute, (Name(value if isinstance(value, str) else f"{value:g}"),), False, type_)
        return equal if operator == "=" else AllOf((Documented(attribute), NotThat(equal)))

    def _ordered(self, attribute: str, type_: str | tuple[str, ...]) -> bool:
        if type_ in ("number", "scale", "measure"):
            return True
        self._report(f"the values of '{attribute}' have no order", attribute, f"write '{attribute} = …'")
        return False

    def _ordered_value(self, attribute: str, value: str | float, type_: str | tuple[str, ...]) -> str | float | None:
        if type_ == "scale":
            text = value if isinstance(value, str) else f"{value:g}"
            canonical = self._scales.canonical(attribute, text)
            if canonical is not None:
                number = as_number(canonical)
                return canonical if number is None else number
            values = self._scales.values(attribute)
            severity = severity_in(f"{attribute} {text}", self._concepts)
            if severity is not None and severity.known:
                # "grade 3 colitis" is read as a grade whose value is the rest.
                message, hint = told(severity, self._can_be_asked)
                self._report(message, text, hint, settled=True)
                return None
            similar = nearest_word(text, values)
            hint = f"did you mean {either(similar)}?" if similar else f"its values are {_several(values)}"
            if self._compared is not None:
                hint = hint_for_scale(*self._compared) or hint
            self._report(f"'{shown(text)}' is no value of {attribute}", text, hint)
            return None
        number = as_number(value)
        if number is None:
            self._report(f"'{attribute}' is a number, and '{shown(str(value))}' is none", str(value), "")
        return number

    def _ascending(self, attribute: str, low: str | float, high: str | float) -> bool:
        return not self._scales.compare(attribute, low, ">", high)

    # --- values -----------------------------------------------------------------------------------------------------

    def _is(self, attribute: str, values: tuple[Term, ...], exact: bool, type_: str | tuple[str, ...]) -> Condition:
        found: list[Term] = []
        for value in values:
            if isinstance(value, Concept):
                found.append(value)
            else:
                found += self._value(attribute, value, exact, type_)
        return Is(attribute, tuple(dict.fromkeys(found)), exact)

    def _value(self, attribute: str, value: Name, exact: bool, type_: str | tuple[str, ...]) -> list[Term]:
        text = value.text
        if isinstance(type_, tuple):
            wanted = text.strip().casefold().replace(" ", "_").replace("-", "_")
            if wanted in type_:
                return [Name(wanted)]
            self._unknown(attribute, text, type_)
        elif type_.startswith("finding:"):
            section = findings()[type_.removeprefix("finding:")]
            identity = section.find(text)
            if identity is not None:
                return [Name(one) for one in ((identity,) if exact else section.below[identity])]
            self._unknown(attribute, text, tuple(section.below))
        elif type_.startswith("concept:"):
            return self._concept_values(attribute, text, exact, type_.removeprefix("concept:"))
        elif type_ == "protein":
            return [Name(protein_change(text))]
        elif type_ in ("number", "scale"):
            self._ordered_value(attribute, text, type_)
        return [value]

    def _concept_values(self, attribute: str, text: str, exact: bool, kind: str) -> list[Term]:
        ids = concept_ids(self._concepts, text, (kind,))
        if not ids:
            ids = self._concepts.value_set(text) or ()
        if not ids:
            similar = self._concepts.nearest(text, (kind,))
            hint = f"did you mean {either(similar)}?" if similar else ""
            self._report(f"'{shown(text)}' is no known value of {attribute}", text, hint)
            return [Name(text)]
        if not exact:
            ids = tuple(FAMILY_OF_VALUE.get(one, one) for one in ids)
        return [named(self._concepts, one, (kind,)) for one in ids]

    def _unknown(self, attribute: str, text: str, values: Sequence[str]) -> None:
        similar = nearest_word(text, values)
        hint = f"did you mean {either(similar)}?" if similar else f"its values are {_several(values)}"
        self._report(f"'{shown(text)}' is no value of {attribute}", text, hint)


# --- shared with resolve --------------------------------------------------------------------------------------------

#: Stands before a concept id where no name is unambiguous: ``concept:her2``.
BY_ID: Final = "concept:"


def concept_ids(concepts: ConceptTable, text: str, kinds: Iterable[str] | None) -> tuple[str, ...]:
    """The ids that a name means, of the first of ``kinds`` that has any; among those, the most general if one is."""
    if text.startswith(BY_ID) and text.removeprefix(BY_ID) in concepts:
        return (text.removeprefix(BY_ID),)
    if kinds is None:
        return _most_general(concepts, concepts.lookup(text))
    for kind in kinds:
        if found := concepts.lookup(text, (kind,)):
            return _most_general(concepts, found)
    return ()


def _most_general(concepts: ConceptTable, ids: tuple[str, ...]) -> tuple[str, ...]:
    for one in ids:
        if len(ids) > 1 and all(one in concepts.above(other) for other in ids):
            return (one,)
    return ids


def named(concepts: ConceptTable, identity: str, kinds: Iterable[str] | None) -> Concept:
    """The concept under its preferred name, or under its id where that name means something else."""
    name = concepts.get(identity).name
    alone = concept_ids(concepts, name, kinds) == (identity,)
    # A set of concepts that bears the name goes before the concept.
    others = concepts.value_set(name, spelled_so=True) or (identity,)
    return Concept(identity, name if alone and others == (identity,) else f"{BY_ID}{identity}")


def nearest_word(text: str, words: Iterable[str]) -> list[str]:
    """Up to three of ``words`` that resemble ``text``; none that resembles a number."""
    import difflib

    if as_number(text) is not None:
        return []
    known = {word.casefold(): word for word in words}
    return [known[one] for one in difflib.get_close_matches(text.casefold()[:80], list(known), 3, cutoff=0.6)]


def shown(text: str) -> str:
    """``text`` short enough for a message."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def either(words: Sequence[str]) -> str:
    """The words as alternatives: ``'a', 'b' or 'c'`` (at least one)."""
    quoted = [f"'{word}'" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _several(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN_VALUES]) + (" …" if len(words) > _SHOWN_VALUES else "")
