"""What holds of the tests themselves: how they find each other, and what is told of them in order.toml."""

from __future__ import annotations

import tomllib

import pytest

from tests.places import ROOT

ORDER = tomllib.loads((ROOT / "tests" / "order.toml").read_text(encoding="utf-8"))
FILES = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]


def test_none_changes_where_modules_are_found() -> None:
    """Tests and benchmarks import each other by whole names: none puts a folder on the path."""
    words = ("sys." + "path", "syspath_" + "prepend")
    assert [
        str(path.relative_to(ROOT)) for path in FILES if any(word in path.read_text("utf-8") for word in words)
    ] == []


@pytest.mark.parametrize("name", [*ORDER["together"], *ORDER["first"], *ORDER["slow"], *ORDER["sampled"]])
def test_what_the_order_names_is_there(name: str) -> None:
    """A file or a test that was renamed is renamed in the order, too."""
    file, _, test = name.partition("::")
    assert f"def {test}" in (ROOT / "tests" / file).read_text(encoding="utf-8")
