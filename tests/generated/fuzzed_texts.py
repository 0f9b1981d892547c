"""What fuzzing feeds to the language, and what every text must do: end soon, stay small, fail with our errors alone.

The pipeline is that of a query: parse, resolve, render, parse, read back, lint. Texts are made of the words of the
language in any order (:func:`soup`), or of real queries with pieces cut, doubled, swapped (:func:`mutated`).
"""

from __future__ import annotations

import copy
import functools
import json
import re
import time
import tomllib
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from cohortium.eval.bank.acr.bank import load_queries
from cohortium.kb.errors import CohortiumError
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.circe.importer import from_circe
from cohortium.query_lang.english.translate import translate
from cohortium.query_lang.keywords import KEYWORDS
from cohortium.query_lang.lint.linter import MOST_FINDINGS, lint
from cohortium.query_lang.parsing.habits import habits
from cohortium.query_lang.parsing.mistakes import mistakes
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.vocabulary import ATTRIBUTES, KIND_OF_SPELLING
from tests.places import ROOT

#: Names, values and signs that stand between the words of the language.
OTHERS: Final = (
    "lung cancer", "'lung cancer'", "EGFR", "HER2", "cisplatin", "platinum", "brain", "positive", "L858R", "mutation",
    "IIIB", "T2b", "N1", "M0", "ypT3N1", "2019", "2019-03-04", "2019-13", "1", "2", "50%", "-3", "1e9", "999999999999",
    "(", ")", ",", ";", "=", "==", "!=", "<", "<=", ">", ">=", "≥", "≠", "'", '"', "“", "”", "$x", "$", "--", "#", "\n",
    "\u200b", "\ufeff", "\x00", "ß", "İ", "ﬁ", "💊", "٣", "é", "\u2028", "RxCUI 1721560", "concept:her2", "them", "it",
    "adv", "x", "%", "*", "&&", "||", "!", "->", "select", "where", "[", "]", "{", "}", "`", "2nd", "patient in",
)  # fmt: skip

#: A text of up to two thousand characters must end within so many seconds, on a busy machine with instruments.
LONGEST_SECONDS: Final = 20.0
#: What a query means may be told at more length than it is written: alternatives in time are all pairs, values have
#: families. But not without bounds.
_GROWTH: Final = 400
_SPARE: Final = 20_000


class Grown(AssertionError):
    """An answer is out of proportion to its question."""


@functools.cache
def ontology() -> tuple[ConceptTable, Scales]:
    """What ships."""
    return shipped_concepts(), Scales.from_files()


@functools.cache
def words() -> tuple[str, ...]:
    """The words of the language, names, values and signs."""
    return tuple(dict.fromkeys((*KEYWORDS, *KIND_OF_SPELLING, *ATTRIBUTES, *OTHERS)))


@functools.cache
def seeds() -> tuple[str, ...]:
    """Queries that somebody wrote: those of the bank, of the guide's chapters, and the wrong ones."""
    chapters = [
        line.split("=>")[0].strip()
        for path in sorted((ROOT / "tests" / "spec" / "chapters").glob("*.toml"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if "=>" in line
    ]
    wrong = [example for mistake in (*mistakes(), *habits()) for example in mistake.examples]
    return tuple(dict.fromkeys((*chapters, *wrong, *(text for text in load_queries().values() if len(text) < 1500))))


@functools.cache
def questions() -> tuple[str, ...]:
    """Questions in English."""
    data = tomllib.loads((ROOT / "eval" / "bank" / "acr" / "bank.toml").read_text(encoding="utf-8"))
    return tuple(entry["text"] for entry in data["query"])


@functools.cache
def documents() -> tuple[str, ...]:
    """OHDSI cohort definitions."""
    return tuple(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests/query_lang/circe/documents").glob("*.json"))
    )


# --- making texts -----------------------------------------------------------------------------------------------------


def soup(random: Random, most: int = 40) -> str:
    """Words of the language in any order."""
    chosen = [random.choice(words()) for _ in range(random.randint(1, most))]
    return "".join(word + random.choice((" ", " ", " ", "")) for word in chosen)


def mutated(random: Random, texts: Sequence[str], times: int = 3) -> str:
    """One of the texts, its pieces cut, doubled, swapped, replaced, put in brackets or spliced with another's."""
    pieces = _pieces(random.choice(texts))
    for _ in range(random.randint(1, times)):
        at = random.randrange(len(pieces) + 1)
        match random.randrange(8):
            case 0:
                del pieces[at : at + random.randint(1, 3)]
            case 1:
                pieces[at:at] = pieces[at : at + random.randint(1, 6)]
            case 2:
                pieces[at:at] = [random.choice(words()), " "]
            case 3 if pieces:
                pieces[at % len(pieces)] = random.choice(words())
            case 4 if pieces:
                other = random.randrange(len(pieces))
                pieces[at % len(pieces)], pieces[other] = pieces[other], pieces[at % len(pieces)]
            case 5:
                pieces[at:] = _pieces(random.choice(texts))[random.randrange(8) :]
            case 6:
                pieces[at:at] = ["("] * random.randint(1, 3)
                pieces += [")"] * random.randint(1, 3)
            case 7:
                pieces[at:at] = [chr(random.choice((random.randrange(128), random.randrange(0xD7FF))))]
    return "".join(pieces)


def mutated_document(random: Random) -> str:
    """A definition with some of its fields replaced, moved or gone; now and then no JSON at all."""
    text = random.choice(documents())
    if random.random() < 0.1:
        return mutated(random, documents())
    data = json.loads(text)
    for _ in range(random.randint(1, 4)):
        places = list(_places(data))
        holder, key = random.choice(places)
        other, its = random.choice(places)
        scraps: list[Any] = [None, "", -1, 0, 2, 1e300, True, "x", [], {}, [{}], {"Value": 1, "Op": "gt"}]
        # A copy, for a part inside itself would have no end.
        holder[key] = random.choice([*scraps, copy.deepcopy(other[its])])
    return json.dumps(data)


def _pieces(text: str) -> list[str]:
    return re.findall(r"\s+|\w+|[^\w\s]", text)


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        keys = one.keys() if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found


# --- what must hold ---------------------------------------------------------------------------------------------------


def run_query(text: str) -> str:
    """Send a text through the language; how far it came: refused, unresolved or answered. Grown, or any other error
    that is not ours, is a finding."""
    start = time.perf_counter()
    concepts, scales = ontology()
    try:
        written = parse(text)
    except CohortiumError as error:
        _small("the error", str(error), text)
        _soon(start, text)
        return "refused"
    again = parse(render(written))
    if again != written:
        raise AssertionError("what is rendered is read as another tree")
    try:
        resolved = resolve_text(text, concepts, scales)
    except CohortiumError as error:
        _small("the error", str(error), text)
        _soon(start, text)
        return "unresolved"
    shown = render(resolved)
    if resolve_text(shown, concepts, scales) != resolved:
        raise AssertionError("the resolved query is read as another")
    _small("the rendered query", shown, text)
    _small("the read-back", read_back(resolved, concepts), text)
    findings = lint(text, concepts, scales)
    if len(findings) > MOST_FINDINGS:
        raise Grown(f"{len(findings)} findings")
    for finding in findings:
        _small("a finding", finding.as_text(), text)
    _soon(start, text)
    return "answered"


def run_question(text: str) -> str:
    """Send a text through the translator from English."""
    start = time.perf_counter()
    concepts, scales = ontology()
    found = translate(text, concepts, scales)
    _soon(start, text)
    return "abstained" if found.abstained else "answered"


def run_document(text: str) -> str:
    """Send a text through the import of OHDSI definitions."""
    start = time.perf_counter()
    concepts, scales = ontology()
    try:
        found = from_circe("{" + text.lstrip().removeprefix("{"), concepts, scales)
    except CohortiumError:
        _soon(start, text)
        return "refused"
    if resolve_text(found.text, concepts, scales) != found.query:
        raise AssertionError("the imported query is read as another")
    _soon(start, text)
    return "answered"


def _small(what: str, answer: str, text: str) -> None:
    if len(answer) > _SPARE + _GROWTH * len(text):
        raise Grown(f"{what} has {len(answer):,} characters for a text of {len(text):,}")


def _soon(start: float, text: str) -> None:
    taken = time.perf_counter() - start
    if taken > LONGEST_SECONDS * max(1.0, len(text) / 2_000):
        raise Grown(f"{taken:.1f} seconds for a text of {len(text):,} characters")
