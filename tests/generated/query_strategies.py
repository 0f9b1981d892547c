"""Hypothesis strategies for query trees, over any concepts and attributes: for round trips and for both engines."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from cohortium.kb.kinds import COURSES, KIND_TABLE, MAIN_ATTRIBUTE
from cohortium.query_lang import nodes

Terms = Mapping[str, Sequence[nodes.Term]]
#: Kind -> attribute -> values that occur. Numbers give comparisons, terms and text give ``Is``; text is compared, too,
#: where the attribute is one of ``SCALES``.
Attributes = Mapping[str, Mapping[str, Sequence[str | float | nodes.Term]]]

SOURCES = st.sampled_from(["", "pathology", "imaging", "molecular"])
WAYS = st.sampled_from(["", "", *nodes.KNOWN])
MOMENTS = st.sampled_from(nodes.MOMENTS)
SCALES = frozenset({"t", "n", "m", "stage", "grade"})


def queries(
    terms: Terms,
    attributes: Attributes,
    *,
    kinds: Sequence[str] = (),
    contexts: Sequence[str] = nodes.CONTEXTS,
    days: tuple[int, int] = (736_000, 738_000),
    names: Sequence[str] = ("first set", "second set"),
    monotone: bool = False,
    max_leaves: int = 10,
) -> st.SearchStrategy[nodes.Query]:
    """Queries over ``terms`` (kind -> terms that occur in events of the kind) and ``attributes``.

    ``kinds`` adds kinds whose events have no concept. ``days`` bounds windows, and gaps by its width; ``names`` are
    those of definitions. With ``monotone``, a narrower concept or fewer events can only shrink the answer: no negation,
    no exactness, no picks, no *other than*, no ``!=``.
    """
    atoms = events(terms, attributes, kinds=kinds, contexts=contexts, days=days, monotone=monotone)

    @st.composite
    def whole(draw: st.DrawFn) -> nodes.Query:
        defined: list[nodes.Definition] = []
        for name in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else []:
            known = [definition.name for definition in defined]
            inner = expressions(
                atoms, known, days=days, monotone=monotone, max_leaves=max_leaves // 2 + 1, attributes=attributes
            )
            body = draw(inner)
            defined.append(nodes.Definition(name, body))
        known = [definition.name for definition in defined]
        body = draw(
            expressions(atoms, known, days=days, monotone=monotone, max_leaves=max_leaves, attributes=attributes)
        )
        return nodes.Query(body, tuple(defined))

    return whole()


def expressions(
    atoms: st.SearchStrategy[nodes.Events],
    defined: Sequence[str] = (),
    *,
    days: tuple[int, int] = (736_000, 738_000),
    monotone: bool = False,
    max_leaves: int = 10,
    attributes: Attributes | None = None,
) -> st.SearchStrategy[nodes.PatientExpression]:
    """Patient expressions over ``atoms`` and the names of definitions."""
    leaves: st.SearchStrategy[nodes.PatientExpression] = (
        atoms.map(nodes.Exists)
        | ordered(atoms, days[1] - days[0], monotone=monotone)
        | event_criteria(atoms, days, monotone=monotone, attributes=attributes)
    )
    if defined:
        leaves |= st.sampled_from(list(defined)).map(nodes.Defined)

    def extend(inner: st.SearchStrategy[nodes.PatientExpression]) -> st.SearchStrategy[nodes.PatientExpression]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        at_least = parts.flatmap(lambda some: st.integers(1, len(some)).map(lambda n: nodes.AtLeast(n, some)))
        grown = [
            parts.map(nodes.And),
            parts.map(nodes.Or),
            at_least,
            inner.map(nodes.SameTumor),
            st.builds(nodes.SameTumor, inner, st.integers(1, 3)),
            inner.map(nodes.SameEvent),
        ]
        if not monotone:
            grown += [inner.map(nodes.Not), st.builds(nodes.Except, inner, inner)]
        return st.one_of(grown)

    return st.recursive(leaves, extend, max_leaves=max_leaves)


def ordered(
    atoms: st.SearchStrategy[nodes.Events], longest: int = 2_000, *, monotone: bool = False
) -> st.SearchStrategy[nodes.Ordered]:
    """Two facts in a relation, gaps up to ``longest`` days."""

    @st.composite
    def one(draw: st.DrawFn) -> nodes.Ordered:
        relation = draw(st.sampled_from(nodes.RELATIONS))
        left, right = draw(atoms), draw(atoms)
        different = relation == "beside" or draw(st.integers(0, 4)) == 0
        if relation not in nodes.GAP_RELATIONS:
            return nodes.Ordered(left, relation, right, different=different)
        minimum, maximum = draw(gaps(longest, least=0))
        if relation == "within" and maximum is None:
            maximum = minimum + draw(st.integers(0, longest))
        without = None if monotone else draw(st.none() | st.none() | atoms)
        return nodes.Ordered(left, relation, right, minimum, maximum, different, without)

    return one()


def gaps(longest: int, least: int = 1) -> st.SearchStrategy[tuple[int, int | None]]:
    """The shortest and the longest gap in days, or None for none."""
    minimum = st.just(least) | st.just(1) | st.integers(least, longest)
    return minimum.flatmap(lambda low: st.tuples(st.just(low), st.none() | st.integers(low, low + longest)))


def _number_of(events: nodes.Events) -> str:
    """The attribute whose number moves where a change of these events is written."""
    return "value" if events.kind is None else KIND_TABLE[events.kind].short.get("number", "value")


def event_criteria(
    atoms: st.SearchStrategy[nodes.Events],
    days: tuple[int, int],
    *,
    monotone: bool = False,
    attributes: Attributes | None = None,
) -> st.SearchStrategy[nodes.PatientExpression]:
    """Sequences, counts, ages, and (unless monotone) facts without others and kinds of absence; lists of patients."""
    longest = days[1] - days[0]

    @st.composite
    def sequence(draw: st.DrawFn) -> nodes.Sequence:
        steps = tuple(draw(st.lists(atoms, min_size=3, max_size=4)))
        without = st.none() if monotone else st.none() | st.none() | atoms
        return nodes.Sequence(steps, tuple(nodes.Gap(*draw(gaps(longest)), draw(without)) for _ in steps[1:]))

    @st.composite
    def clear(draw: st.DrawFn) -> nodes.Clear:
        relation = draw(st.sampled_from(nodes.GAP_RELATIONS))
        minimum, maximum = draw(gaps(longest, least=0))
        if relation == "within" and maximum is None:
            maximum = minimum
        return nodes.Clear(draw(atoms), relation, draw(atoms), minimum, maximum)

    @st.composite
    def age(draw: st.DrawFn) -> nodes.AgeAt:
        low = draw(st.integers(0, 110))
        high = draw(st.none() | st.integers(low, 120))
        if draw(st.booleans()):
            return nodes.AgeAt(draw(atoms), None, low, high)
        return nodes.AgeAt(None, draw(st.integers(*days)), low, high)

    def state_at(events: nodes.Events) -> st.SearchStrategy[nodes.StateAt]:
        asked = nodes.Events("state", events.concept, lasting=events.lasting)
        return st.builds(nodes.StateAt, st.just(asked), st.integers(*days))

    def ongoing(events: nodes.Events) -> st.SearchStrategy[nodes.Ongoing]:
        kind = events.kind if events.kind in COURSES else "medication"
        condition = events.condition if events.kind == kind else None
        concept = events.concept if events.kind == kind else None
        asked = dataclasses.replace(plain(events), kind=kind, condition=condition, concept=concept)
        return st.builds(nodes.Ongoing, st.just(asked), st.integers(*days))

    def plain(events: nodes.Events) -> nodes.Events:
        return dataclasses.replace(events, pick=nodes.Pick(), context="present", moment="begin", lasting=None)

    def counted(events: nodes.Events) -> nodes.Events:
        return dataclasses.replace(events, pick=nodes.Pick())

    def times(events: nodes.Events) -> st.SearchStrategy[nodes.Times]:
        ways = nodes.COUNTED if events.kind in ("medication", "regimen") else ("days", "concepts")
        return st.builds(nodes.Times, st.integers(1, 5), st.just(events), st.sampled_from(ways))

    @st.composite
    def repeated(draw: st.DrawFn) -> nodes.Repeated:
        relation = draw(st.sampled_from(nodes.COUNTED_BESIDE))
        minimum, maximum = 1, None
        if relation in nodes.GAP_RELATIONS:
            minimum, maximum = draw(gaps(longest, least=0 if relation == "within" else 1))
        if relation == "within" and maximum is None:
            maximum = minimum
        counted_ones = counted(draw(atoms))
        return nodes.Repeated(draw(st.integers(1, 4)), counted_ones, relation, draw(atoms), minimum, maximum)

    @st.composite
    def change(draw: st.DrawFn) -> nodes.Change:
        events = counted(draw(atoms))
        way, relative = draw(st.sampled_from(nodes.WAYS)), draw(st.booleans())
        amount = draw(st.sampled_from([50.0, 100.0, 33.3] if relative else [1.0, 2.5, 40.0]))
        operator, amount = draw(st.sampled_from([(">=", amount), (">", amount), (">", 0.0)]))
        unit = "" if relative or amount == 0 else draw(st.sampled_from(["", "", "g/dL"]))
        maximum, during = draw(st.none() | st.integers(1, longest)), draw(st.none() | atoms)
        return nodes.Change(way, events, _number_of(events), operator, amount, relative, unit, maximum, during)

    @st.composite
    def total(draw: st.DrawFn) -> nodes.Total:
        events = counted(draw(atoms))
        known = attributes.get(events.kind, {}) if attributes and events.kind else {}
        attribute = draw(st.sampled_from(sorted(known) or ["value", "cycles"]))
        operators = [">=", ">"] if monotone else ["<", "<=", "=", ">=", ">"]
        return nodes.Total(attribute, events, draw(st.sampled_from(operators)), draw(st.sampled_from([1.0, 3.5, 7.0])))

    name = st.text("PQ 0123456789-'", min_size=1, max_size=5).filter(str.strip)
    ids = st.lists(name, min_size=1, max_size=3, unique=True)
    found = [sequence(), atoms.map(counted).flatmap(times), age(), ids.map(lambda some: nodes.Among(tuple(some)))]
    found += [repeated(), change(), total()]
    if not monotone:
        named = atoms.filter(lambda one: one.concept is not None)
        found += [clear(), named.flatmap(state_at), atoms.flatmap(ongoing)]
        found.append(st.builds(nodes.Lacking, st.sampled_from(nodes.ABSENCES), atoms.map(plain)))
    return st.one_of(found)


def events(
    terms: Terms,
    attributes: Attributes,
    *,
    kinds: Sequence[str] = (),
    contexts: Sequence[str] = nodes.CONTEXTS,
    days: tuple[int, int] = (736_000, 738_000),
    monotone: bool = False,
) -> st.SearchStrategy[nodes.Events]:
    """Atoms: any kind of ``terms`` and ``kinds``, or no kind with any of the terms."""
    every_term = [term for some in terms.values() for term in some]
    every_kind = [*terms, *kinds]
    lengths = st.none() | gaps(days[1] - days[0], least=0).map(lambda gap: nodes.Lasting(*gap) if any(gap) else None)

    @st.composite
    def one(draw: st.DrawFn) -> nodes.Events:
        kind = draw(st.sampled_from(every_kind) if not every_term else st.none() | st.sampled_from(every_kind))
        own = every_term if kind is None else list(terms.get(kind, ()))
        concept = None
        if own and (kind is None or draw(st.booleans())):
            concept = draw(concept_expressions(own, monotone=monotone))
        known = attributes.get(kind, {}) if kind is not None else {}
        condition = draw(st.none() | conditions(known, monotone=monotone)) if known else None
        pick = nodes.Pick() if monotone else draw(picks(kind))
        window = draw(st.none() | windows(*days))
        known = draw(
            st.just(("", False, 1, "")) | st.tuples(SOURCES, st.booleans(), st.sampled_from([1, 1, 2, 3]), WAYS)
        )
        context = draw(st.sampled_from(list(contexts)))
        ends = ("begin", None) if context == "absent" else draw(st.just(("begin", None)) | st.tuples(MOMENTS, lengths))
        return nodes.Events(kind, concept, condition, context, pick, window, *known, *ends)

    return one()


def concept_expressions(
    terms: Sequence[nodes.Term], *, monotone: bool = False
) -> st.SearchStrategy[nodes.ConceptExpression]:
    """A concept, unions of some, and one without another."""
    exact = st.just(False) if monotone else st.booleans()
    leaves = st.builds(nodes.Under, st.sampled_from(list(terms)), exact)

    def extend(inner: st.SearchStrategy[nodes.ConceptExpression]) -> st.SearchStrategy[nodes.ConceptExpression]:
        union = st.lists(inner, min_size=2, max_size=3).map(lambda parts: nodes.Union(tuple(parts)))
        return union if monotone else union | st.builds(nodes.OtherThan, inner, inner)

    return st.recursive(leaves, extend, max_leaves=4)


def conditions(
    attributes: Mapping[str, Sequence[str | float | nodes.Term]], *, monotone: bool = False
) -> st.SearchStrategy[nodes.Condition]:
    """Conditions on the attributes of one kind, with the values that occur."""
    leaves = st.sampled_from(sorted(attributes)).flatmap(
        lambda attribute: _comparisons(attribute, list(attributes[attribute]), monotone)
    )

    def extend(inner: st.SearchStrategy[nodes.Condition]) -> st.SearchStrategy[nodes.Condition]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        both = parts.map(nodes.AllOf) | parts.map(nodes.AnyOf)
        return both if monotone else both | inner.map(nodes.NotThat)

    return st.recursive(leaves, extend, max_leaves=4)


def _comparisons(
    attribute: str, values: list[str | float | nodes.Term], monotone: bool
) -> st.SearchStrategy[nodes.Condition]:
    found: list[st.SearchStrategy[nodes.Condition]] = [st.just(nodes.Documented(attribute))]
    operators = [operator for operator in nodes.OPERATORS if not (monotone and operator == "!=")]
    bounds = [value for value in values if isinstance(value, float | int)]
    if attribute in SCALES:
        bounds += [value for value in values if isinstance(value, str)]
    if bounds:
        bound = st.sampled_from(bounds)
        found.append(st.builds(nodes.Compare, st.just(attribute), st.sampled_from(operators), bound))
        found.append(st.builds(nodes.Between, st.just(attribute), bound, bound))
    terms = [nodes.Name(value) if isinstance(value, str) else value for value in values]
    terms = [term for term in terms if isinstance(term, nodes.Name | nodes.Concept)]
    if terms:
        some = st.lists(st.sampled_from(terms), min_size=1, max_size=3, unique=True).map(tuple)
        exact = st.just(False) if monotone else st.booleans()
        found.append(st.builds(nodes.Is, st.just(attribute), some, exact))
    return st.one_of(found)


def picks(kind: str | None) -> st.SearchStrategy[nodes.Pick]:
    """No pick most often; *worst* and *best* only for kinds with an order."""
    possible = [nodes.Pick(), nodes.Pick("first"), nodes.Pick("latest")]
    if kind in MAIN_ATTRIBUTE:
        possible += [nodes.Pick("worst"), nodes.Pick("best")]
    nth = st.integers(1, 4).map(lambda n: nodes.Pick("nth", n))
    return st.just(nodes.Pick()) | st.sampled_from(possible) | nth


def windows(first: int, last: int) -> st.SearchStrategy[nodes.Window]:
    """Windows inside ``first`` to ``last``, some open at one end."""
    day = st.integers(first, last)
    both = st.tuples(day, day).map(lambda pair: nodes.Window(min(pair), max(pair)))
    return both | day.map(lambda low: nodes.Window(low=low)) | day.map(lambda high: nodes.Window(high=high))
