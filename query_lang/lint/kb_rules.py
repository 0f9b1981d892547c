"""Rules about one knowledge base: what none of its notes tells of, and what its answer cannot know."""

from __future__ import annotations

import datetime
import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pyroaring import BitMap

from ...kb.index.lists.list_file import ANY_CONCEPT
from ...kb.kinds import KIND_TABLE, KINDS, RESULTS
from ...kb.model import EARLIEST_DAY, LATEST_DAY, World
from ...kb.storage.reader import KnowledgeBase
from ..nodes import ConceptExpression, Events, Except, Exists, Not, Ordered, OtherThan, Under, Union
from ..render import name_text, render_events
from ..tree import event_sets, named_concepts, single_conditions
from ..vocabulary import KIND_WORDS, context_spelling, kind_spelling
from .examined import Examined, Placed, event_spans
from .finding import Finding
from .places import Site, Span

#: Contexts that ask for what a note says of a fact, rather than for the fact.
_NOT_PRESENT: Final = frozenset({"absent", "uncertain", "planned", "hypothetical", "declined", "family"})


def unknown_concepts(examined: Examined) -> Iterator[Finding]:
    """Concepts and kinds of which no note tells, and those that are told only as denied, planned and the like."""
    kb = _kb(examined)
    for placed, events, span in _facts(examined):
        if events.context == "absent" and _may_be_denied(examined, events):
            continue
        if events.kind is not None and not kb.holdings.has_any(events.kind, ANY_CONCEPT):
            held = ", ".join(kind_spelling(kind) for kind in kb.holdings.kinds if kind in KIND_WORDS)
            yield examined.finding(
                "kind-not-in-kb", placed, span=span, kind=kind_spelling(events.kind), kinds=held or "none"
            )
            continue
        if events.concept is None:
            continue
        for concept in _written_apart(placed, events):
            yield from _unknown_concept(examined, placed, span, events, concept)


def exact_concepts_without_facts(examined: Examined) -> Iterator[Finding]:
    """*exactly X* where only what lies below X has facts."""
    kb = _kb(examined)
    for placed, events, span in _facts(examined):
        concept = events.concept
        if not isinstance(concept, Under) or not concept.exact or events.context == "absent":
            continue
        identity = next(named_concepts(concept)).id
        kinds = _kinds(examined, events, concept)
        if identity not in examined.concepts or any(kb.holdings.has_event(kind, identity) for kind in kinds):
            continue
        below = _most_recorded(examined, kinds, sorted(examined.concepts.below(identity) - {identity}))
        if below:
            yield examined.finding(
                "exactly-too-narrow", placed, span=span, name=examined.concepts.name(identity), instead=_or(below)
            )


def attributes_without_facts(examined: Examined) -> Iterator[Finding]:
    """A comparison on an attribute that no fact of the kind has."""
    kb = _kb(examined)
    for placed, events, span in _facts(examined):
        if events.context == "absent":
            # A denial that says nothing of it denies it, too.
            continue
        if events.kind is None or events.condition is None or not kb.holdings.has_any(events.kind, ANY_CONCEPT):
            continue
        names = dict.fromkeys(one.attribute for one in single_conditions(events.condition))
        for name in names:
            if not kb.holdings.has_attribute(events.kind, name):
                has = [one for one in KIND_WORDS[events.kind].attributes if kb.holdings.has_attribute(events.kind, one)]
                instead = f"what these facts have is {', '.join(has)}" if has else "ask for the fact without it"
                yield examined.finding(
                    "attribute-not-in-kb", placed, span=span,
                    kind=kind_spelling(events.kind), attribute=name, instead=instead,
                )  # fmt: skip


def windows_outside(examined: Examined) -> Iterator[Finding]:
    """A window after the newest note, or before anything that is told."""
    held = _kb(examined).holdings
    for placed, events, span in _facts(examined):
        window = events.window
        if window is None:
            continue
        if held.newest_note is not None and window.low > held.newest_note and events.context not in _NOT_PRESENT:
            why = f"the window begins after the newest note ({_date(held.newest_note)})"
        elif held.first_day is not None and EARLIEST_DAY <= window.high < held.first_day:
            why = f"the window ends before the first dated fact ({_date(held.first_day)})"
        else:
            continue
        yield examined.finding("window-outside-kb", placed, span=span, why=why)


def gaps_finer_than_dates(examined: Examined) -> Iterator[Finding]:
    """A gap of a few days between facts of which most are dated to the month, the year or not at all."""
    limits = _settings()["gap"]
    for placed in examined.placed:
        node = placed.site.node
        if not isinstance(node, Ordered) or node.maximum is None or node.maximum > limits["days"]:
            continue
        for events in (node.left, node.right):
            share = None if events.kind is None else _kb(examined).holdings.exact_days(events.kind)
            if share is not None and share < limits["share"]:
                days = f"{node.maximum} day{'' if node.maximum == 1 else 's'}"
                yield examined.finding("gap-finer-than-dates", placed, days=days, share=f"{round(100 * (1 - share))}%")
                break


def closed_world(examined: Examined) -> Iterator[Finding]:
    """*not* of something that most records never speak of, or of what a note merely says."""
    kb, settings = _kb(examined), _settings()["closed_world"]
    everybody = len(kb.patients)
    for site in _denied(examined):
        if not isinstance(site.node, Exists):
            continue
        events, placed = site.node.events, Placed(site)
        if events.context in _NOT_PRESENT:
            yield examined.finding("not-of-uncertain", placed, context=context_spelling(events.context))
        if events.kind is None or events.kind not in RESULTS:
            continue
        ids = {concept.id for concept in named_concepts(events.concept)} if events.concept else {ANY_CONCEPT}
        known = len(BitMap.union(BitMap(), *(kb.posting(events.kind, one, World.NONE) for one in ids)))
        if everybody and known < settings["share"] * everybody:
            thing = Events(events.kind, events.concept)
            printed = render_events(thing)
            instead = f"to ask only those of whom it is told, add 'and any mention of {printed}'"
            yield examined.finding(
                "closed-world", placed, what=f"'{printed}'", known=known, all=everybody, instead=instead
            )


# --- what the rules share ---------------------------------------------------------------------------------------------


def _kb(examined: Examined) -> KnowledgeBase:
    assert examined.kb is not None  # these rules run on a knowledge base alone
    return examined.kb


@functools.cache
def _settings() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "kb_rules.toml").read_text(encoding="utf-8"))


def _facts(examined: Examined) -> Iterator[tuple[Placed, Events, Span | None]]:
    for placed in examined.placed:
        for events, span in event_spans(placed, event_sets(placed.site.node)):
            yield placed, events, span


def _denied(examined: Examined) -> Iterator[Site]:
    """What stands directly under *not* or *except*, brackets and alternatives looked through."""
    for placed in examined.placed:
        node, parts = placed.site.node, placed.site.parts
        waiting = [parts[-1]] if isinstance(node, Not | Except) and parts else []
        while waiting:
            site = waiting.pop()
            yield site
            if not isinstance(site.node, Not | Except):
                waiting.extend(reversed(site.parts))


def _written_apart(placed: Placed, events: Events) -> Sequence[ConceptExpression]:
    """The alternatives that somebody wrote; a set of concepts that was named as one stays one."""
    concept = events.concept
    if isinstance(concept, OtherThan):
        concept = concept.base
    if concept is None:
        return ()
    written = getattr(getattr(placed.site.written, "events", None), "concept", None)
    written = written.base if isinstance(written, OtherThan) else written
    if isinstance(concept, Union) and isinstance(written, Union):
        return concept.parts
    return (concept,)


def _kinds(examined: Examined, events: Events, concept: ConceptExpression) -> tuple[str, ...]:
    """The kinds of event that the concept is looked for in."""
    if events.kind is not None:
        return (events.kind,)
    sorts = {examined.concepts.kind(one.id) for one in named_concepts(concept) if one.id in examined.concepts}
    return tuple(kind for kind in KINDS if kind in KIND_WORDS and sorts & set(KIND_WORDS[kind].concepts))


def _may_be_denied(examined: Examined, events: Events) -> bool:
    """Whether anything is recorded whose denial denies what is asked: of the concept, of one above it, of all."""
    held = _kb(examined).holdings
    if events.kind is not None and any(held.has_event(*one) for one in KIND_TABLE[events.kind].denial.whole):
        return True
    if events.concept is None:
        return False
    kinds = _kinds(examined, events, events.concept)
    return all(
        any(held.has_event(kind, above) for kind in kinds for above in examined.concepts.at_or_above(one.id))
        for one in named_concepts(events.concept)
    )


def _unknown_concept(
    examined: Examined, placed: Placed, span: Span | None, events: Events, concept: ConceptExpression
) -> Iterator[Finding]:
    kb = _kb(examined)
    kinds, names = _kinds(examined, events, concept), [one.id for one in named_concepts(concept)]
    if not names or not kinds:
        return
    words = " or ".join(f"'{examined.concepts.name(one)}'" for one in names[:3]) + (" …" if len(names) > 3 else "")
    what = f"{words} as {kind_spelling(events.kind)}" if events.kind else words
    if not any(kb.holdings.has_any(kind, one) for kind in kinds for one in names):
        near = _near(examined, kinds, names[0]) if len(names) == 1 else []
        instead = f"near it there is {_or(near)}" if near else _elsewhere(examined, kinds, names)
        yield examined.finding("unknown-to-kb", placed, span=span, what=what, instead=instead)
    elif events.context == "present" and not any(
        kb.lists.size(kind, one, World.POSSIBLE) for kind in kinds for one in names
    ):
        absent = Events(events.kind, concept)
        instead = f"'no evidence of {render_events(absent)}', 'planned …', 'family history of …' or 'any mention of …'"
        yield examined.finding("only-otherwise", placed, span=span, what=what, instead=instead)


def _near(examined: Examined, kinds: Sequence[str], identity: str) -> list[str]:
    """Names of concepts near one that facts are of: its relatives up the ontology, those of most patients first."""
    if identity not in examined.concepts:
        return []
    steps, at = _settings()["near"]["steps"], [identity]
    for _ in range(steps):
        at = list(dict.fromkeys(parent for one in at for parent in examined.concepts.parents(one)))
        beside = [child for parent in at for child in examined.concepts.children(parent)]
        # What lies above says little: nearly every record has a "solid tumor".
        above = examined.concepts.above(identity)
        found = _most_recorded(examined, kinds, [one for one in dict.fromkeys(beside) if one not in above])
        if found:
            return found
    return _most_recorded(examined, kinds, sorted(examined.concepts.above(identity)))


def _most_recorded(examined: Examined, kinds: Sequence[str], among: Sequence[str]) -> list[str]:
    kb, most = _kb(examined), _settings()["near"]["most"]
    # Most concepts have no fact of the kind: only those that have are read.
    held = [(one, [kind for kind in kinds if kb.holdings.has_any(kind, one)]) for one in among]
    counts = [(sum(kb.lists.size(kind, one, World.POSSIBLE) for kind in some), one) for one, some in held]
    best = sorted((row for row in counts if row[0]), key=lambda row: (-row[0], row[1]))[:most]
    return [f"{name_text(examined.concepts.name(one))} ({count})" for count, one in best]


def _elsewhere(examined: Examined, kinds: Sequence[str], names: Sequence[str]) -> str:
    """Another kind of fact that tells of the same concepts."""
    held = _kb(examined).holdings
    for kind in held.kinds:
        if kind not in kinds and any(held.has_any(kind, one) for one in names):
            return f"it is told as {kind_spelling(kind)}: write {kind_spelling(kind)} …"
    return "check the name, or ask for a wider concept"


def _or(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _date(day: int) -> str:
    return datetime.date.fromordinal(min(max(day, EARLIEST_DAY), LATEST_DAY)).isoformat()
