"""Learning whom sentences are about: what marked notes teach is found again in others, and what is missing is told."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.eval.training.zones.field import fit, of_marked, of_plain, written
from cohortium.eval.training.zones.marked import read_marked
from cohortium.ingest.text.frame import Frame
from cohortium.ingest.text.zone_words import read_zone_words
from cohortium.ingest.text.zones import zones_of
from cohortium.kb.errors import BadModel, UsageError
from cohortium.kb.model import Note

HEAD = "# Clinic letter | letter | 2021-04-01\n\n"
PLACES = ("lung", "liver", "bone", "skin", "brain", "colon")


def _marked(folder: Path, number: int) -> Path:
    """A note whose every second line is a saying at large."""
    place, other = PLACES[number % len(PLACES)], PLACES[(number + 1) % len(PLACES)]
    path = folder / f"{number:02}.txt"
    path.write_text(
        HEAD + f"{{{{p}}}}Her {place} is without finding.\n"
        f"{{{{n information}}}}Zebras of the {other} run by night.\n"
        f"{{{{p}}}}Her {other} was looked at too.\n"
        f"{{{{n information}}}}Zebras of the {place} sleep by day.\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("marked")
    return [_marked(folder, number) for number in range(12)]


def test_a_marked_note_is_its_text_and_its_stretches(marked: list[Path]) -> None:
    note, stretches = read_marked(marked[0])
    assert (note.type, note.title, str(note.date)) == ("letter", "Clinic letter", "2021-04-01")
    assert "{{" not in note.text
    assert [(one.zone, one.why) for one in stretches] == [("patient", ""), ("nobody", "information")] * 2
    assert note.text[stretches[1].start : stretches[1].end] == "Zebras of the liver run by night.\n"


@pytest.mark.parametrize("text", ["no head\n{{p}}He coughs.", HEAD + "He coughs."])
def test_what_is_no_marked_note_is_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "01.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"01\.txt"):
        read_marked(path)


def test_what_is_learned_is_found_in_a_note_that_was_not_there(marked: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "words.tsv"
    file.write_text(written(fit([of_marked(read_marked(path)) for path in marked]), 0.0, ["made by a test"]))
    lines = [
        "Her kidney is without finding.",
        "Zebras of the spleen run by day.",
        "Her spleen was looked at too.",
        "Her pulse was felt.",
    ]

    def zones(text: str) -> list[tuple[str, str, bool]]:
        found = zones_of(Frame(Note("p", "n", text)), learned=read_zone_words(file))
        return [(text[start : zone.end], zone.name, zone.learned) for start, zone in found.items()]

    assert zones("\n".join(lines)) == [(lines[1], "nobody", True)]
    assert not zones("\n".join(lines[:2])), "nothing is pasted in so short a note"


def test_notes_without_marks_speak_for_their_patient(marked: list[Path]) -> None:
    learned = [of_marked(read_marked(path)) for path in marked]
    plain = of_plain(Note("p", "n", "Zebras of the lung run by night.\nZebras of the skin sleep by day.\n"))
    assert plain.allowed == [(True, False, False)] * 2

    def of_zebra(weights: object) -> float:
        return float(weights.words[weights.features.index("word zebra"), 0])  # type: ignore[attr-defined]

    assert of_zebra(fit([*learned, plain, plain])) < of_zebra(fit(learned))


@pytest.mark.parametrize(
    "line", ["word tumor\tmuch\t0", "word tumor\t1", "pair one\t1\t1", "rhyme a\t1\t1", "change x\t1"]
)
def test_a_file_that_training_did_not_write_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "words.tsv"
    file.write_text(f"# head\n{line}\n", encoding="utf-8")
    with pytest.raises(BadModel, match=re.escape("words.tsv, line 2")):
        read_zone_words(file)


def test_the_command_writes_the_file_and_tells_of_what(marked: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "words.tsv"
    done = CliRunner().invoke(app, ["train", "zones", str(marked[0].parent), "--out", str(out), "--rounds", "5"])
    assert done.exit_code == 0, done.output
    assert '"marked": 12' in done.output
    assert "12 marked notes" in out.read_text(encoding="utf-8")
    nothing = CliRunner().invoke(app, ["train", "zones", str(tmp_path / "none"), "--out", str(out)])
    assert nothing.exit_code == 2
