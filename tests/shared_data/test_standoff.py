"""Annotation files of other people: read and written as they were, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import cohortium

pytestmark = pytest.mark.shared

Corpus = Callable[[str], Path]


def test_every_annotation_file_is_written_as_it_was(corpus: Corpus) -> None:
    """Entities (some of several fragments), events, relations, attributes, notes, and relations without direction."""
    files = sorted(corpus("maccrobat").glob("*.ann"))
    kinds: set[str] = set()
    for place in files:
        read = cohortium.read_brat(place)
        assert read.to_ann() == place.read_bytes().decode("utf-8-sig")
        kinds |= {line.id[:1] for line in read.lines}
    assert files
    assert kinds >= set("TREA*#")
