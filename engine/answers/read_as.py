"""Names that were read as a concept whose preferred name says less, more or something else: told with the answer.

A difference of case, plural, hyphens or the order of words says nothing, nor does a brand or a symbol.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from ...kb.ontology.concepts import ConceptTable, shipped_concepts
from ...kb.ontology.normal_forms import normal_form, without_plural
from ...kb.ontology.scales import Scales
from ...kb.ontology.scope import said
from ...query_lang.lint.places import Site, Sites
from ...query_lang.nodes import Concept, Events, Name, Query, Under
from ...query_lang.render import render_events, render_expression
from ...query_lang.resolution.meanings import bare_name, sides_of
from ...query_lang.resolution.resolve import term_meant
from ...query_lang.tree import children, event_sets, named_concepts, single_conditions
from ...query_lang.vocabulary import MEANT_BY_CONCEPT, kind_spelling

#: What parts sentences and stands about words: no part of a name.
_MARKS: Final = re.compile(r"[?!.,;:()\[\]{}\"“”‘’«»…]+|(?<!\w)'|'(?!\w)")


@dataclass(frozen=True, slots=True)
class ReadAs:
    """A name as it was ``written``, and the concept that it was read as. ``how``: the concept's preferred name says
    ``less`` than what was written, ``more``, or something ``else``; or it is the clinical ``term`` of that name, and
    ``means`` a criterion; or the fact that is recorded under a term is asked for ``alone``, at a place for one fact."""

    written: str
    kind: str
    concept: str
    name: str
    how: str
    means: str = ""

    def as_dict(self) -> dict[str, str]:
        """For JSON, with the sentence."""
        fields = {name: value for name, value in asdict(self).items() if name != "means" or value}
        return {**fields, "says": self.as_text()}

    def as_text(self) -> str:
        """One line for people."""
        if self.how == "alone":
            said = f"'{self.written}' is asked for as it is recorded alone ({self.kind} {self.name})".replace("( ", "(")
            return f"{said}; what it follows from can only be asked for where it stands by itself"
        if self.how == "term":
            return f"'{self.written}' is read as: {self.means}"
        said = {"less": ", which says less", "more": ", which says more"}.get(self.how, "")
        return f"'{self.written}' is read as {self.kind} {self.name}{said}".replace("  ", " ")


def names_read_as(sites: Sites, concepts: ConceptTable, scales: Scales) -> tuple[ReadAs, ...]:
    """Those of a query, by the sites that have each criterion as it was written and as it was resolved."""
    found: dict[ReadAs, None] = {}
    for root in (*sites.definitions, sites.body):
        for site in root.walk():
            terms = list(_terms(site, concepts, scales))
            found.update(dict.fromkeys(terms))
            if terms:
                continue
            own, written = event_sets(site.node), () if site.written is None else event_sets(site.written)
            for events, before in zip(own, written, strict=False) if len(own) == len(written) else ():
                one = _of_fact(before, events, concepts)
                if one is not None:
                    found[one] = None
    return tuple(found)


def question_read_as(question: str, query: Query, concepts: ConceptTable) -> tuple[ReadAs, ...]:
    """Those of a question in English: of each concept asked for, the names in it that lie in no longer name."""
    asked = _spaced(question)
    found: dict[ReadAs, None] = {}
    for body in (query.body, *(one.body for one in query.definitions)):
        for events in _facts(body):
            for concept in named_concepts(events.concept) if events.concept is not None else ():
                names = concepts.names(concept.id) if concept.id in concepts else ()
                for written in _standing(names, asked):
                    one = _compared(written, concept.id, events.kind, concepts)
                    if one is not None:
                        found[one] = None
    return tuple(found)


def _spaced(text: str) -> str:
    """The words of a text with spaces about each, without the marks of a sentence."""
    return f" {' '.join(without_plural(normal_form(_MARKS.sub(' ', text))).split())} "


def _standing(names: Iterable[str], asked: str) -> list[str]:
    """The names that stand in a text beside what longer ones take."""
    found: list[str] = []
    for name in sorted(names, key=len, reverse=True):
        spaced = _spaced(name)
        if spaced.strip() and spaced in asked:
            found.append(name)
            # Neighbors keep their spaces; what stands there twice is named once.
            asked = asked.replace(spaced, " | ")
    return found


def _facts(node: Any) -> Iterator[Events]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield from event_sets(one)
        waiting.extend(children(one))


def _terms(site: Site, concepts: ConceptTable, scales: Scales) -> Iterator[ReadAs]:
    """The clinical terms in a criterion as it was written."""
    typed = site.typed
    before = () if typed is None else event_sets(typed)
    after = event_sets(site.node) if type(typed) is type(site.node) else ()
    open_to_more = sides_of(typed) or before if typed is not None and not after else ()
    for written in before:
        meaning = term_meant(replace(written, condition=None), concepts, scales)
        if meaning is None:
            continue
        recorded, text = meaning.recorded, bare_name(replace(written, condition=None))
        if written.condition is None and (meaning.fact is not None or any(written is one for one in open_to_more)):
            yield ReadAs(text, "", "", meaning.term.name, "term", render_expression(meaning.body))
        elif recorded is not None:
            yield _alone(text, recorded, concepts)


def _alone(text: str, recorded: Events, concepts: ConceptTable) -> ReadAs:
    concept, kind = recorded.concept, "" if recorded.kind is None else kind_spelling(recorded.kind)
    id_ = concept.term.id if isinstance(concept, Under) and isinstance(concept.term, Concept) else ""
    return ReadAs(text, kind, id_, concepts.name(id_) if id_ in concepts else render_events(recorded), "alone")


def _of_fact(written: Events, resolved: Events, concepts: ConceptTable) -> ReadAs | None:
    before, after = written.concept, resolved.concept
    if not isinstance(before, Under) or not isinstance(after, Under):
        return None
    if not isinstance(before.term, Name) or not isinstance(after.term, Concept) or after.term.id not in concepts:
        return None
    if len(list(single_conditions(written.condition))) != len(list(single_conditions(resolved.condition))):
        # What the name says beyond its concept became a condition: "HER2 positive".
        return None
    return _compared(before.term.text, after.term.id, resolved.kind, concepts)


def _compared(written: str, concept: str, kind: str | None, concepts: ConceptTable) -> ReadAs | None:
    row = concepts.get(concept)
    if row.kind in _data()["symbols"] or written.startswith("concept:") or concept == written:
        return None
    kinds = (kind,) if kind is not None else tuple(MEANT_BY_CONCEPT[row.kind])
    spelled = said(" ".join(kind_spelling(one) for one in kinds))
    asked = said(_written_out(written, concept, concepts)) - spelled
    preferred = said(row.name) - spelled
    if asked == preferred or not asked or not preferred:
        return None
    how = "less" if preferred < asked else "more" if asked < preferred else "else"
    if how == "less" and _shipped(written, concept):
        # What says more than a shipped concept is none of its synonyms: the extra words say nothing.
        return None
    if how == "else" and not any(name in concepts.names(concept) for name in (written, written.lower())):
        # A code, or a spelling that only folds to a name.
        return None
    return ReadAs(written, "" if kind is None else kind_spelling(kind), concept, row.name, how)


def _shipped(name: str, concept: str) -> bool:
    """Whether the shipped ontology has the concept by this name."""
    concepts = shipped_concepts()
    return concept in concepts and normal_form(name) in map(normal_form, concepts.names(concept))


def _written_out(written: str, concept: str, concepts: ConceptTable) -> str:
    """The name of the concept whose initials an abbreviation is, its preferred name first; else the name itself."""
    if not any(short.text == written for short in concepts.get(concept).abbreviations):
        return written
    letters = [letter for letter in written.casefold() if letter.isalpha()]
    for name in concepts.names(concept):
        initials = [word[0] for word in normal_form(name).split()]
        if len(initials) > 1 and initials == letters:
            return name
    return concepts.get(concept).name


@functools.cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "read_as.toml").read_text(encoding="utf-8"))
