"""Hypothesis strategies for the queries that SQL can say."""

from __future__ import annotations

from hypothesis import strategies as st

from cohortium.kb.note_classes import NOTE_CLASSES
from cohortium.query_lang import nodes as q
from tests.generated import query_strategies

#: Kind -> names of it that the shipped ontology knows.
TERMS = {
    "diagnosis": [q.Name("lung cancer"), q.Name("breast cancer"), q.Name("carcinoma"), q.Name("NSCLC")],
    "medication": [q.Name("cisplatin"), q.Name("pembrolizumab"), q.Name("PD-1 inhibitor")],
    "biomarker": [q.Name("PD-L1"), q.Name("estrogen receptor")],
    "metastasis": [q.Name("liver"), q.Name("brain")],
    "performance": [q.Name("ECOG")],
}
ATTRIBUTES = {
    "diagnosis": {"laterality": ["left", "right"], "grade": ["2", "3"]},
    "medication": {"line": [1.0, 2.0, 3.0], "dose": ["75 mg/m2"], "status": ["it's on", "held"]},
    "biomarker": {"percent": [1.0, 50.0], "result": ["positive", "negative"]},
    "performance": {"value": [0.0, 1.0, 2.0]},
    "stage": {"stage": ["IIA", "III", "IV"]},
    "tnm": {"t": ["T2", "T3c"], "n": ["N1"], "prefix": ["p", "yp"]},
}
DAYS = (737_000, 738_500)


@st.composite
def events(draw: st.DrawFn, *, pick: bool = True, concept: bool = False) -> q.Events:
    """One fact; with ``concept``, one that names a concept."""
    found = draw(query_strategies.events(TERMS, ATTRIBUTES, kinds=("stage", "tnm", "surgery", "death"), days=DAYS))
    if concept and found.concept is None:
        found = q.Events("diagnosis", q.Under(q.Name("carcinoma")), window=found.window)
    how = {}
    if draw(st.integers(0, 4)) == 0:
        how = {
            "source": draw(st.sampled_from(["", *NOTE_CLASSES])),
            "undisputed": draw(st.booleans()),
            "sources": draw(st.integers(1, 3)),
            "known": draw(st.sampled_from(["", *q.KNOWN])),
        }
    chosen = found.pick if pick else q.Pick()
    return q.Events(found.kind, found.concept, found.condition, found.context, chosen, found.window, **how)


@st.composite
def gap(draw: st.DrawFn, least: int = 1) -> tuple[int, int | None]:
    """The shortest and the longest gap."""
    minimum = draw(st.just(least) | st.integers(least, 400))
    return minimum, draw(st.none() | st.integers(minimum, 800))


@st.composite
def ordered(draw: st.DrawFn) -> q.Ordered:
    """Two facts in a relation."""
    relation = draw(st.sampled_from(["before", "after", "within", "beside"]))
    different = relation == "beside" or draw(st.integers(0, 3)) == 0
    left, right = draw(events()), draw(events())
    if relation == "beside":
        return q.Ordered(left, relation, right, different=True)
    minimum, maximum = draw(gap(0 if relation == "within" else 1))
    if relation == "within" and maximum is None:
        maximum = minimum
    without = draw(st.none() | events()) if relation != "within" else None
    return q.Ordered(left, relation, right, minimum, maximum, different, without)


@st.composite
def sequence(draw: st.DrawFn) -> q.Sequence:
    """Three or four facts, one after the other."""
    steps = tuple(draw(st.lists(events(), min_size=3, max_size=4)))
    return q.Sequence(steps, tuple(q.Gap(*draw(gap()), draw(st.none() | events())) for _ in steps[1:]))


@st.composite
def clear(draw: st.DrawFn) -> q.Clear:
    """A fact without another in a stretch of days."""
    relation = draw(st.sampled_from(q.GAP_RELATIONS))
    minimum, maximum = draw(gap(0 if relation == "within" else 1))
    if relation == "within" and maximum is None:
        maximum = minimum
    return q.Clear(draw(events()), relation, draw(events()), minimum, maximum)


@st.composite
def same_tumor(draw: st.DrawFn) -> q.SameTumor:
    """Facts about one tumor: several, in an order of time, or one without another."""
    present = st.builds(q.Exists, events())
    absent = st.builds(lambda one: q.Not(q.Exists(one)), events())
    body = draw(
        ordered()
        | clear()
        | sequence()
        | st.tuples(present, present).map(q.And)
        | st.tuples(ordered(), present).map(q.And)
        | st.tuples(present, absent).map(q.And)
        | st.tuples(present, present, absent).map(q.And)
    )
    return q.SameTumor(body)


@st.composite
def age_at(draw: st.DrawFn) -> q.AgeAt:
    """The age at a fact."""
    low = draw(st.integers(0, 100))
    return q.AgeAt(draw(events()), None, low, draw(st.none() | st.integers(low, 110)))


def expressions(names: list[str]) -> st.SearchStrategy[q.PatientExpression]:
    """Criteria of all shapes that SQL can say."""
    leaves: st.SearchStrategy[q.PatientExpression] = (
        events().map(q.Exists)
        | ordered()
        | sequence()
        | clear()
        | same_tumor()
        | age_at()
        | st.builds(q.Times, st.integers(1, 5), events(pick=False), st.sampled_from(["days", "concepts"]))
        | st.lists(st.sampled_from(["P1", "P2", "O'Hara"]), min_size=1, max_size=3, unique=True).map(tuple).map(q.Among)
        | st.tuples(events().map(q.Exists), events().map(q.Exists)).map(lambda two: q.SameEvent(q.And(two)))
    )
    if names:
        leaves |= st.sampled_from(names).map(q.Defined)

    def extend(inner: st.SearchStrategy[q.PatientExpression]) -> st.SearchStrategy[q.PatientExpression]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        counted = parts.flatmap(lambda some: st.integers(1, len(some)).map(lambda n: q.AtLeast(n, some)))
        return parts.map(q.And) | parts.map(q.Or) | counted | inner.map(q.Not) | st.builds(q.Except, inner, inner)

    return st.recursive(leaves, extend, max_leaves=6)


@st.composite
def queries(draw: st.DrawFn) -> q.Query:
    """Whole queries, some with names."""
    defined: list[q.Definition] = []
    for name in draw(st.lists(st.sampled_from(["lung", "second set", "Third"]), max_size=2, unique=True)):
        body = draw(expressions([definition.name for definition in defined]))
        defined.append(q.Definition(name, body))
    return q.Query(draw(expressions([definition.name for definition in defined])), tuple(defined))
