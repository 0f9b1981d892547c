"""Makes docs/reference/api.md of the docstrings of the public API. ``make api`` runs it."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Final

import cohortium
from cohortium.engine.answers.explain import Explanation
from cohortium.engine.answers.journey import Timeline
from cohortium.engine.api import OpenKb
from cohortium.engine.asking import Answer
from cohortium.engine.difference.changes import Difference
from cohortium.engine.proofs.prover import NoProof
from cohortium.engine.report.page import Report
from cohortium.engine.verification import Verification
from cohortium.ingest.coral_schema.standoff import StandoffError
from cohortium.ingest.many import ingest
from cohortium.ingest.run.report import IngestReport
from cohortium.ingest.single import Document
from cohortium.kb import errors
from cohortium.query_lang.circe.document import CirceError
from cohortium.query_lang.errors import QueryError
from tests.places import DOCS

PAGE: Final = DOCS / "reference" / "api.md"
HEAD: Final = """# The Python API

<!-- Made by `make api` from the docstrings; edit those. -->

`import cohortium` gives the functions below; what they return is described behind them. A first look at them in use:
[the tutorial](../guide/tutorial.md#from-python). Other languages have the command line with `--format json`."""
#: By the name that the package gives them.
FUNCTIONS: Final = ("ingest", "open", "read", "verify", "from_circe", "read_brat", "restore")
#: What these functions and each other's methods return.
CLASSES: Final = (
    OpenKb,
    cohortium.Cohort,
    Answer,
    Explanation,
    Timeline,
    Report,
    Difference,
    Verification,
    IngestReport,
    Document,
)
ERRORS: Final = (
    *(one for one in vars(errors).values() if isinstance(one, type) and one is not errors.CohortiumError),
    QueryError,
    CirceError,
    StandoffError,
    NoProof,
)
#: Methods of operators and containers that a reader wants to know of.
OPERATORS: Final = ("__len__", "__iter__", "__contains__", "__and__", "__or__", "__sub__", "__eq__")


def page() -> str:
    """The whole page as Markdown."""
    blocks = [HEAD, "## Functions"]
    for name in FUNCTIONS:
        made = ingest if name == "ingest" else getattr(cohortium, name)
        blocks += [f"### {name}", *_described(_source(made), f"cohortium.{name}")]
    for one in CLASSES:
        tree = _source(one)
        blocks += [f"## {one.__name__}", _text(tree)]
        for method in _methods(tree):
            blocks += _described(method, f".{method.name}")
    return "\n\n".join([*blocks, *_errors()]) + "\n"


def _source(one: Any) -> Any:
    """The syntax tree of a function or class."""
    return ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]


def _methods(tree: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Those of a class that its users call, in its order, with a docstring."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not ast.get_docstring(node):
            continue
        if not node.name.startswith("_") or node.name in OPERATORS:
            yield node


def _described(tree: ast.FunctionDef, name: str) -> list[str]:
    """The line that calls it, and its docstring."""
    tree.args.args = [arg for arg in tree.args.args if arg.arg not in ("self", "cls")]
    gives = ast.unparse(tree.returns) if tree.returns else "None"
    if any("property" in ast.unparse(decorator) for decorator in tree.decorator_list):
        return [f"**`{name}: {gives}`**", _text(tree)]
    return [f"**`{name}({ast.unparse(tree.args)}) -> {gives}`**", _text(tree)]


def _text(tree: Any) -> str:
    """The docstring as Markdown: roles and double backticks become single ones."""
    told = ast.get_docstring(tree) or ""
    told = re.sub(r":[a-z]+:`~?([^`]*)`", lambda found: f"`{found[1].lstrip('.')}`", told)
    return told.replace("``", "`")


def _errors() -> Iterator[str]:
    """Every error of ours with the exit code that the command line leaves with."""
    yield "## Errors"
    yield "Each is a `CohortiumError`, says what, where and what instead, and shows no text of notes."
    rows = [
        f"| `{one.__name__}` | {one.exit_code} | {_first_sentence(one)} |"
        for one in sorted(ERRORS, key=lambda one: (one.exit_code, one.__name__))
    ]
    yield "\n".join(["| error | exit code | what it tells |", "| --- | --- | --- |", *rows])


def _first_sentence(one: type) -> str:
    return re.sub(r"\s+", " ", _text(_source(one))).partition(" (exit ")[0].partition(". ")[0].rstrip(".") + "."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
