"""Small records that leave much open, queries that ask the same facts again and again, and pairs of equal ones."""

from __future__ import annotations

from random import Random

from cohortium.kb.model import Context, DayInterval, Event, Journey, Polarity, World
from cohortium.query_lang import nodes as q
from tests.generated.kb_strategies import DAY, term

TUMORS = ("neoplasm", "carcinoma", "lung_cancer", "lung_carcinoma", "breast_cancer")
DRUGS = ("drug", "platinum", "cisplatin", "carboplatin")
OPEN = (World.POSSIBLE, World.POSSIBLE, World.BELIEVED, World.CERTAIN)


def record(random: Random, most: int, *, wide: float = 0.3, patient: str = "P") -> Journey:
    """One patient with up to ``most`` facts, most of them open; ``wide``: the share of days that are not known."""
    return Journey(patient, events=tuple(_event(random, patient, wide) for _ in range(random.randint(1, most))))


def _event(random: Random, patient: str, wide: float) -> Event:
    kind = random.choice(("diagnosis", "diagnosis", "medication"))
    low = DAY + random.randint(0, 6)
    world = random.choice(OPEN)
    return Event(
        patient,
        kind,
        random.choice(TUMORS if kind == "diagnosis" else DRUGS),
        DayInterval(low, low + (random.randint(1, 3) if random.random() < wide else 0)),
        attributes={"laterality": random.choice(("left", "right"))} if kind == "diagnosis" else {},
        context=Context(Polarity.UNCERTAIN) if world is World.POSSIBLE and random.random() < 0.5 else Context(),
        world=world,
        tumor=random.choice(("t1", "t1", "t2", "*", "")),
        end=DayInterval(low + 4, low + 4),
    )


def facts(random: Random, windows: bool = True) -> q.Events:
    """An event set of which one fact is enough."""
    kind = random.choice(("diagnosis", "diagnosis", "medication"))
    concept = term(random.choice(TUMORS if kind == "diagnosis" else DRUGS))
    left = q.Is("laterality", (q.Name("left"),))
    first = DAY + random.randint(0, 6)
    return q.Events(
        kind,
        random.choice((None, q.Under(concept), q.Under(concept), q.Under(concept, True))),
        random.choice((None, None, left, q.NotThat(left))) if kind == "diagnosis" else None,
        random.choice(("present", "present", "present", "uncertain", "any", "current")),
        window=q.Window(first, first + random.randint(0, 4)) if windows and random.random() < 0.3 else None,
    )


def leaf(random: Random) -> q.PatientExpression:
    """A criterion of any other sort."""
    one, other = facts(random), facts(random)
    present = q.Events(one.kind, one.concept)
    return random.choice(
        (
            q.Exists(q.Events(one.kind, one.concept, pick=q.Pick("first"), window=one.window)),
            q.Ordered(one, "before", other),
            q.Ordered(one, "within", other, 0, 2),
            q.Times(2, one),
            q.Lacking("silent", present),
            q.Among(("P", "P0")),
        )
    )


def joined(random: Random, leaves: list[q.PatientExpression], depth: int = 3) -> q.PatientExpression:
    """The leaves joined by and, or, not, except and at least, each of them perhaps several times."""
    if not depth or random.random() < 0.2:
        return random.choice(leaves)
    several = tuple(joined(random, leaves, depth - 1) for _ in range(random.randint(2, 3)))
    return random.choice(
        (
            q.And(several),
            q.Or(several),
            q.Not(several[0]),
            q.Except(several[0], several[1]),
            q.AtLeast(random.randint(1, len(several)), several),
        )
    )


def scoped(random: Random) -> q.PatientExpression:
    """A criterion of any sort, perhaps of one tumor or event, that looks at few facts in several ways."""
    leaves = [q.Exists(facts(random)), q.Exists(facts(random)), leaf(random)]
    inner = joined(random, leaves, 2)
    scope = random.choice((q.SameTumor, q.SameTumor, q.SameEvent))
    return joined(random, [inner, scope(inner), random.choice(leaves)], 2) if random.random() < 0.5 else inner


# --- the laws ---------------------------------------------------------------------------------------------------------


def equal_pairs(
    a: q.PatientExpression, b: q.PatientExpression, c: q.PatientExpression
) -> list[tuple[q.PatientExpression, q.PatientExpression]]:
    """Two ways to write one set, by the laws of sets alone."""

    def both(*parts: q.PatientExpression) -> q.And:
        return q.And(parts)

    def either(*parts: q.PatientExpression) -> q.Or:
        return q.Or(parts)

    no = q.Not
    return [
        (no(both(a, b)), either(no(a), no(b))),
        (no(either(a, b)), both(no(a), no(b))),
        (both(a, either(b, c)), either(both(a, b), both(a, c))),
        (either(a, both(b, c)), both(either(a, b), either(a, c))),
        (both(a, either(a, b)), a),
        (either(a, both(a, b)), a),
        (both(a, a), a),
        (either(a, a), a),
        (q.Except(a, b), both(a, no(b))),
        (q.Except(q.Except(a, b), c), q.Except(a, either(b, c))),
        (q.Except(a, q.Except(a, b)), both(a, b)),
        (both(either(a, b), no(both(a, b))), either(q.Except(a, b), q.Except(b, a))),
        (q.AtLeast(2, (a, b, c)), either(both(a, b), both(a, c), both(b, c))),
        (q.AtLeast(2, (a, b, c)), no(q.AtLeast(2, (no(a), no(b), no(c))))),
        (q.Except(q.AtLeast(2, (a, b, c)), b), q.Except(q.AtLeast(2, (a, c)), b)),
        (either(both(a, b), q.Except(a, b)), a),
        (both(either(a, b), either(no(a), c)), either(both(a, c), q.Except(b, a))),
        (either(a, no(a)), either(b, no(b))),
        (both(a, no(a)), both(c, no(c))),
    ]
