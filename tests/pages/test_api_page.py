"""The page of the Python API is what the builder makes of the docstrings, and leaves out nothing that is public."""

from __future__ import annotations

import inspect

import cohortium
from tests.pages import api


def test_the_page_is_made_of_the_docstrings() -> None:
    """docs/reference/api.md is what ``make api`` writes."""
    assert api.PAGE.read_text(encoding="utf-8") == api.page(), "the page of the API is old. Hint: make api"


def test_every_public_name_is_described() -> None:
    """Each name that the package offers is a function or a class of the page; what is raised is in its table."""
    classes = {one.__name__ for one in api.CLASSES}
    assert set(cohortium.__all__) == {*api.FUNCTIONS, *classes & {*cohortium.__all__}, "CohortiumError", "__version__"}


def test_every_public_method_has_a_docstring() -> None:
    """A method without a docstring would be missing in the page."""
    for one in api.CLASSES:
        for name, value in vars(one).items():
            if inspect.isfunction(value) and not name.startswith("_"):
                assert value.__doc__, f"{one.__name__}.{name}"
