"""Labels: what is read of them, and what is said of lines that cannot be read."""

import pytest

from cohortium.eval.bank.acr.labels import LabelError, load_labels

KNOWN = {1, 2, 3}


@pytest.fixture
def labels_of(tmp_path):
    def read(*lines):
        path = tmp_path / "labels.jsonl"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
        return load_labels(path, KNOWN)

    return read


def test_ambiguous_wins_over_match(labels_of):
    """P1 matches 1 and 2, and 2 is open: the gold of 2 is P2 alone."""
    labels = labels_of(
        '{"patient_id": "P1", "match": [1, 2], "ambiguous": [2], "why": {}}', "", '{"patient_id": "P2", "match": [2]}'
    )
    assert labels.patients == ("P1", "P2")
    assert labels.wanted(1) == {"P1"}
    assert labels.wanted(2) == {"P2"}
    assert labels.open_to(2) == {"P1"}
    assert labels.wanted(3) == frozenset()


def test_labels_are_known_by_their_content(labels_of):
    """The hash changes with the labels."""
    first = labels_of('{"patient_id": "P1", "match": [1]}')
    assert first.sha256 != labels_of('{"patient_id": "P1", "match": [2]}').sha256


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object"),
        (b"\xff", "not UTF-8"),
        ("[" * 100_000, "nested too deep"),
        ('{"match": [1]}', '"patient_id" is missing'),
        ('{"patient_id": 7, "match": [1]}', '"patient_id" is missing or not text'),
        ('{"patient_id": "P1"}', '"match" is missing'),
        ('{"patient_id": "P1", "match": "1"}', "not a list of query ids"),
        ('{"patient_id": "P1", "match": ["1"]}', "not a list of query ids"),
        ('{"patient_id": "P1", "match": [true]}', "not a list of query ids"),
        ('{"patient_id": "P1", "match": [1, 99]}', "names no query of the bank: 99"),
        ('{"patient_id": "P1", "match": [], "ambiguous": [98]}', '"ambiguous" names no query'),
        ('{"patient_id": "P0", "match": [1]}', "patient P0 has a line before this one"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(labels_of, line, message):
    """The line number counts from 1."""
    with pytest.raises(LabelError, match=message) as caught:
        labels_of('{"patient_id": "P0", "match": [1]}', line)
    assert "line 2: " in str(caught.value)
    assert caught.value.exit_code == 2


def test_several_bad_lines_are_told_at_once_up_to_five(labels_of):
    """Seven are wrong: five are shown, two counted."""
    with pytest.raises(LabelError, match=r"7 bad lines") as caught:
        labels_of(*["nothing"] * 7)
    assert "line 5" in str(caught.value)
    assert "line 6" not in str(caught.value)
    assert "and 2 more" in str(caught.value)


def test_labels_of_nobody_and_labels_that_are_not_there(labels_of, tmp_path):
    """Both are errors."""
    with pytest.raises(LabelError, match="labels nobody"):
        labels_of("", "  ")
    with pytest.raises(LabelError, match="cannot be read"):
        load_labels(tmp_path / "none.jsonl", KNOWN)
