"""The list of exit codes: that of the errors, of the help and of the page."""

from __future__ import annotations

import re
from collections.abc import Callable

from typer.testing import Result

import cohortium.__main__
from cohortium.kb import errors
from tests.places import DOCS, ROOT

ROOMS = ("kb", "ingest", "query_lang", "engine", "eval")


def test_every_code_of_an_error_is_in_the_list() -> None:
    """Whatever class gives itself a code, anywhere in the program, the list tells what it means; and none is idle."""
    own = re.compile(r"^\s+exit_code(?:: ClassVar\[int\])? = (\d+)$", re.M)
    found = {
        int(code)
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        for code in own.findall(path.read_text(encoding="utf-8"))
    }
    found |= {0, errors.DECLINED, cohortium.__main__.INTERRUPTED}
    assert found == set(errors.EXIT_CODES)


def test_the_help_lists_them(run: Callable[..., Result]) -> None:
    """``cohortium --help`` has each code with its meaning."""
    words = " ".join(run("--help").stdout.split())
    for code, meaning in errors.EXIT_CODES.items():
        assert f"{code} {meaning}" in words


def test_the_page_lists_them() -> None:
    """The page has the same rows, in order."""
    page = (DOCS / "reference" / "exit_codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", page, re.M)
    assert {int(code): meaning.strip() for code, meaning in rows} == dict(errors.EXIT_CODES)
