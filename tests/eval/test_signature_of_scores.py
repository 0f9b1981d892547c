"""The signature of a score: what it holds, its line, and what it leaves out."""

from __future__ import annotations

import platform
import sys

import numpy
import pytest

import cohortium
from cohortium.eval.report.signature import Signature, command_line, sha256_of, sign, versions

DIGEST = "0123456789abcdef" * 4


def test_a_signature_holds_what_a_score_depends_on(monkeypatch: pytest.MonkeyPatch):
    """Command, seed, versions, data, settings; of the machine no place."""
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/cohortium", "bench", "acr", "--json", "/somewhere/out.json"])
    signature = sign(7, data={"labels": DIGEST}, settings={"patients": 57})
    assert signature.as_dict() == {
        "line": signature.line,
        "command": "cohortium bench acr --json out.json",
        "seed": 7,
        "versions": {
            "cohortium": cohortium.__version__,
            "python": platform.python_version(),
            "numpy": numpy.__version__,
        },
        "data": {"labels": DIGEST},
        "settings": {"patients": 57},
    }


def test_a_module_is_called_by_the_name_of_the_program(monkeypatch: pytest.MonkeyPatch):
    """``python -m cohortium`` runs a file of another name; a script may say how it is called."""
    monkeypatch.setattr(sys, "argv", ["/somewhere/cohortium/__main__.py", "eval", "acr"])
    assert command_line() == "cohortium eval acr"
    assert command_line("python", "run.py") == "python run.py eval acr"


def test_the_line_is_one_line_with_short_hashes():
    """Settings, seed, data, versions; lists are left to the data; bars and colons set parts apart and nothing else."""
    signature = Signature(
        "cohortium x", 1, {"cohortium": "0.1"}, {"labels": DIGEST}, {"system": "a|b:c", "patients": 57, "ids": [1, 2]}
    )
    assert signature.line == "system:a/b;c|patients:57|seed:1|labels:0123456789ab|cohortium:0.1"


def test_libraries_that_are_not_installed_have_no_version():
    """The others do, in the order asked for."""
    assert list(versions(["pyarrow", "no-such-distribution"])) == ["cohortium", "python", "numpy", "pyarrow"]


def test_the_hash_of_texts_tells_where_one_ends():
    """And in which order they come; that of nothing is that of nothing."""
    assert len({sha256_of(texts) for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["c", "ab"], [])}) == 5
    assert sha256_of(["é", "x"]) == sha256_of(iter(["é", "x"]))
