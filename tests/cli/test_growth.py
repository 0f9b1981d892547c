"""How work grows with what is asked: of every construct, nested and in a row, and of definitions that use each other.

Calls of Python functions are counted, not seconds: a machine may be busy. What doubles with each level multiplies the
calls by hundreds where the text doubles; what is looked at once multiplies them by two, by four where pairs are.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

import cohortium
from cohortium.engine.api import OpenKb
from cohortium.engine.cohort import Cohort
from cohortium.kb.errors import CohortiumError, DeadlineExceeded
from cohortium.query_lang.canonical import canonical
from cohortium.query_lang.read_back.query import read_back


def lets(form: str, first: str = "diagnosis lung cancer", last: str = "{p}") -> Callable[[int], str]:
    """Definitions in a chain: each is ``form`` of the one before it, ``{p}``."""

    def text(size: int) -> str:
        chain = "".join(f"let a{at} be {form.format(p=f'a{at - 1}')};\n" for at in range(1, size))
        return f"let a0 be {first};\n{chain}{last.format(p=f'a{size - 1}')}"

    return text


def nested(before: str, after: str = ")", inner: str = "diagnosis lung cancer") -> Callable[[int], str]:
    """One inside the other."""
    return lambda size: before * size + inner + after * size


def chained(piece: str, joint: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """Side by side; ``{n}`` is the number of each."""
    return lambda size: before + joint.join(piece.format(n=at + 1, year=1950 + at % 70) for at in range(size)) + after


SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "let and or": lets("({p} and surgery or {p})"),
    "let or and": lets("({p} or surgery and {p})", last="not {p}"),
    "let not": lets("(not {p} or not ({p} and surgery))"),
    "let except": lets("({p} except ({p} and death))"),
    "let at least": lets("at least 2 of ({p}, surgery, {p})"),
    "let tumor": lets("(same tumor ({p} and surgery) or {p})", first="same tumor (diagnosis and surgery)"),
    "let event": lets("(same event ({p} and diagnosis) or {p})"),
    "and": chained("surgery since {year}", " and "),
    "or": chained("surgery since {year}", " or "),
    "not": nested("not (", ")"),
    "except": chained("surgery since {year}", " except "),
    "nested except": nested("(death except ", ")"),
    "brackets": nested("(death or stage IV and (", "))"),
    "at least": chained("surgery since {year}", ", ", "at least 2 of (", ", death, stage IV)"),
    "nested at least": nested("at least 1 of (death, ", ")"),
    "then": chained("surgery", " then ", "diagnosis then ", " then death"),
    "tumor": chained("same tumor (diagnosis and surgery since {year})", " or "),
    "event": chained("same event (diagnosis and not surgery since {year})", " and "),
    "order": chained("surgery at least {n} days before death", " and "),
    "order without": chained("surgery at least {n} days before death without radiation between", " or "),
    "within": chained("diagnosis within {n} days of surgery", " or "),
    "counts": chained("medication at least {n} distinct days", " or "),
    "pick": chained("first diagnosis since {year}", " or "),
    "ages": chained("age {n} to 90 at surgery", " and "),
    "windows": chained("surgery between {year} and 2020", " and "),
    "no evidence": chained("no evidence of metastasis since {year}", " or "),
    "any except": chained("lung cancer", " other than ", "any cancer other than "),
    "concepts": chained("cisplatin", " or ", "medication (", " or carboplatin)"),
    "values": chained("{n}", ", ", "stage I and ECOG in (", ")"),
    "conditions": chained("exon = {n}", " or ", "variant EGFR with (", ")"),
    "denied conditions": nested("not (", ")", "variant EGFR with exon = 19"),
    "patients": chained("'P{n}'", ", ", "patient in (", ")"),
    "long names": lambda size: "diagnosis '" + "lung " * size + "cancer'",
    "long numbers": lambda size: "at least " + "9" * size + " of (death, surgery)",
    "open quotes": lambda size: "'a " * size + "death'",
    "open brackets": lambda size: "(" * size + "death",
}


def outsider(cohort: Cohort) -> str:
    """A patient who is not in it; any, where all are."""
    return next((patient for patient in cohort.kb.patients if patient not in cohort), cohort.kb.patients[0])


QUESTIONS: Final[dict[str, Callable[[Cohort], Any]]] = {
    "count": lambda cohort: (len(cohort), len(cohort.certain), len(cohort.possible)),
    "explain": lambda cohort: cohort.explain(outsider(cohort)).as_text(),
    "why-not": lambda cohort: cohort.why_not(outsider(cohort)).as_text(),
    "funnel": lambda cohort: cohort.funnel().table(),
    "findings": lambda cohort: cohort.findings(),
    "rank": lambda cohort: cohort.rank(3),
    "prove": lambda cohort: cohort.prove(next(iter(cohort), outsider(cohort))),
    "parts": lambda cohort: cohort.counts_by_part(),
    "canonical": lambda cohort: canonical(cohort.query),
    "read back": lambda cohort: read_back(cohort.query, cohort.kb.concepts),
}
#: Twice the text: twice the calls where each part is looked at once, four times where it is held against each other,
#: and a little more where each of these is as long as the text. What doubles with each level comes to thousands.
MOST_GROWTH: Final = 9
SIZES: Final = (8, 16)
#: What writes definitions out doubles with them, until it is refused: after so many calls at most.
WRITTEN_OUT: Final = frozenset({"prove", "why-not", "canonical"})
MOST_CALLS: Final = 6_000_000
#: So few calls are no growth.
_SPARE: Final = 40_000


@pytest.fixture(scope="module")
def kb(sample_kb: Path) -> Iterator[OpenKb]:
    """The knowledge base of the sample notes, open."""
    with cohortium.open(sample_kb) as opened:
        yield opened


def calls_of(work: Callable[[], object]) -> int:
    """How many Python functions are called; an error of ours counts as an answer, but for one of time."""
    number = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal number
        number += event == "call"

    sys.setprofile(count)
    try:
        work()
    except DeadlineExceeded:
        raise
    except CohortiumError:
        pass
    finally:
        sys.setprofile(None)
    return number


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_text_and_not_with_its_powers(kb: OpenKb, shape: str) -> None:
    """Of every construct and every question, twice the text takes a few times the calls."""
    grown = {}
    for what, ask in QUESTIONS.items():
        small, large = (calls_of(lambda: ask(kb.find(SHAPES[shape](size), seconds=60))) for size in SIZES)  # noqa: B023
        if large > (MOST_CALLS if what in WRITTEN_OUT else MOST_GROWTH * small + _SPARE):
            grown[what] = small, large
    assert grown == {}


def test_the_net_holds(kb: OpenKb) -> None:
    """What doubles with each level is seen as growth."""

    def doubled(level: int) -> int:
        return 1 if not level else doubled(level - 1) + doubled(level - 1)

    assert calls_of(lambda: doubled(17)) > MOST_GROWTH * calls_of(lambda: doubled(8)) + _SPARE


@pytest.mark.parametrize("command", ["query", "lint", "funnel"])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_command_hangs(sample_kb: Path, shape: str, command: str) -> None:
    """The longest texts of every construct end in a minute, in an answer or in an error of ours."""
    text, size = "", 20
    while len(longer := SHAPES[shape](2 * size)) < 90_000:
        text, size = longer, 2 * size
    done = subprocess.run(
        [sys.executable, "-m", "cohortium", command, str(sample_kb), "-", "--seconds", "20"],
        input=text,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 2, 3, 9), done.stderr[-2000:]
    assert "Traceback" not in done.stderr
