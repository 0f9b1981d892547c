"""The table of systems: what is shipped, what a file of one's own may say, and how it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.eval.benchmark.settings import (
    LexicalSetting,
    ReaderSetting,
    RetrieverSetting,
    chosen,
    load_settings,
    retriever_of,
)
from cohortium.kb.errors import UsageError


def test_the_shipped_systems_cover_the_three_families() -> None:
    """Engine, retrievers with a control, and a reader; those that send notes anywhere are asked only when named."""
    known = load_settings()
    assert {one.kind for one in known} == {"engine", "retriever", "lexical", "reader"}
    for one in known:
        if isinstance(one, ReaderSetting):
            assert retriever_of(one, known).kind == "retriever"
            assert one.default == (one.endpoint == "offline")


def test_names_choose_in_their_order() -> None:
    """--systems names some, in the order of the report."""
    known = load_settings()
    assert [one.name for one in chosen(known, ["bm25", "engine"])] == ["bm25", "engine"]
    assert {one.name for one in chosen(known, [])} == {one.name for one in known if one.default}


def test_an_unknown_name_is_told_with_the_known() -> None:
    """What there is stands in the message."""
    with pytest.raises(UsageError, match=r"no system .grep..*bm25"):
        chosen(load_settings(), ["grep"])
    with pytest.raises(UsageError, match="stands there twice"):
        chosen(load_settings(), ["engine", "engine"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("system = 3", "list"),
        ('[[system]]\nname = "a"\nkind = "oracle"', "engine"),
        ('[[system]]\nname = "a"\nkind = "engine"\nworld = "best"', "certain"),
        ('[[system]]\nname = "a b"\nkind = "lexical"', "pattern"),
        ('[[system]]\nname = "a"\nkind = "lexical"\ncolour = "red"', "colour"),
        ('[[system]]\nname = "a"\nkind = "lexical"', "encoder"),
        ('[[system]]\nname = "a"\nkind = "engine"\n[[system]]\nname = "a"\nkind = "engine"', "twice"),
        ("[[system", "no TOML"),
    ],
)
def test_a_bad_file_is_told_where(tmp_path: Path, text: str, told: str) -> None:
    """Each mistake is a usage error that names its place, never a traceback."""
    path = tmp_path / "systems.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        load_settings(path)


def test_a_reader_needs_its_retriever() -> None:
    """A reader behind nothing is refused."""
    with pytest.raises(UsageError, match="no retriever has that name"):
        retriever_of(ReaderSetting(name="r", kind="reader", retriever="bm25"), load_settings())


def test_every_retriever_has_a_cut_that_was_tuned_once() -> None:
    """Where nobody gives development data, a retriever is cut as it was on the development records, by the same way."""
    from cohortium.eval.baselines.retrieval.tuning import load_choice
    from cohortium.eval.benchmark.workshop import TUNED

    for one in load_settings():
        if isinstance(one, RetrieverSetting | LexicalSetting) and one.share is None:
            cut, told = load_choice(TUNED / f"{one.name}.json")
            assert cut.share is not None
            assert told["way"] == one.way
