"""What an answer is made of is made once, in however many forms it is told: calls are counted, not seconds."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from typer.testing import Result

from cohortium.engine.answers.empty import why_empty
from cohortium.engine.answers.explain import explained
from cohortium.engine.answers.funnel import funnel
from cohortium.engine.answers.read_as import names_read_as
from cohortium.engine.report.timeline import picture
from cohortium.query_lang.lint.linter import lint_resolved

Command = Callable[..., Result]
QUERY, LISTED = "lung cancer and medication", 2
EMPTY = "melanoma and leukemia"
#: By their code: a decorated one has another.
WATCHED = {
    getattr(one, "__wrapped__", one).__code__: one.__name__
    for one in (why_empty, explained, funnel, names_read_as, picture, lint_resolved)
}
#: A function that is called once for each patient that is listed.
EACH = ("explained", "picture")

RUNS = [
    ("query {kb} {query}", ()),
    ("query {kb} {query} --format csv", ()),
    ("query {kb} {query} --explain", ("explained",)),
    ("query {kb} {query} --explain --json {out}", ("explained",)),
    ("query {kb} {query} --explain --world possible --format json", ("explained",)),
    ("query {kb} {query} --explain --format csv", ("explained",)),
    ("query {kb} {query} --explain --format csv --json {out}", ("explained",)),
    ("query {kb} {query} --rank --explain", ("explained",)),
    ("query {kb} {empty} --explain", ("why_empty",)),
    ("funnel {kb} {query}", ("funnel",)),
    ("report {kb} {query} --html {page}", ("explained", "picture", "funnel")),
    ("report {kb} {query} --world possible --html {page} --json {out}", ("explained", "picture", "funnel")),
]


def calls_of(work: Callable[[], Any]) -> tuple[Counter[str], Any]:
    """How often each of the functions is called, and what ``work`` gives."""
    found: Counter[str] = Counter()

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code in WATCHED:
            found[WATCHED[frame.f_code]] += 1

    held = sys.getprofile()
    sys.setprofile(count)
    try:
        result = work()
    finally:
        sys.setprofile(held)
    return found, result


@pytest.mark.parametrize(("words", "made"), RUNS, ids=[words for words, _ in RUNS])
def test_each_part_of_an_answer_is_made_once(
    run: Command, sample_kb: Path, tmp_path: Path, words: str, made: tuple[str, ...]
) -> None:
    """Each explanation and picture once for each patient, names and findings once for the query."""
    places = {"kb": sample_kb, "query": QUERY, "empty": EMPTY, "out": tmp_path / "o.json", "page": tmp_path / "o.html"}
    calls, result = calls_of(lambda: run(*[word.format(**places) for word in words.split()]))
    assert result.exit_code == 0, result.output
    assert calls.pop("names_read_as", 0) <= 1
    assert calls.pop("lint_resolved", 0) <= 1
    assert calls == {name: LISTED if name in EACH else 1 for name in made}
