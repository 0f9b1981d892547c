"""Findings that two tables tell are told the same way in every run."""

from __future__ import annotations

from cohortium.ingest.recognizers.findings import Role, finding_words
from cohortium.ingest.text.words import words_of


def test_what_a_phrase_means_has_the_order_of_the_files() -> None:
    """Of two classes that tell the same finding the first is taken: that of what is seen, not that of what is told."""
    from cohortium.ingest.recognizers.findings import _part

    text = "enlarged"
    (match,) = finding_words().find(text, words_of(text))
    changes = _part(match).changes
    assert len(changes) > 1
    assert changes == tuple(dict.fromkeys(role.name for role in match.payloads if role.is_change))
    assert isinstance(match.payloads[0], Role)
    assert [name.startswith("told:") for name in changes] == sorted(name.startswith("told:") for name in changes)
