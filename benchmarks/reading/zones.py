"""Whether each stretch of long notes is taken for what it is about: this patient, nobody, another patient.

    python -m benchmarks.reading.zones [--folder FOLDER] [--wrong N]

The notes (``benchmarks/reading/long_notes``, all of them inventions) were written with pasted reports, handouts,
minutes and macros by somebody who knew no rule of the reading, and each stretch was marked as it was written: patient,
relative, copied, another, nobody. A stretch counts as the zone that most of its characters are given; *relative* and
*copied* are of the patient here, since other means tell them apart. What counts in the end are facts: mentions in
stretches about nobody or another patient that are read as the patient's own, by whatever means they are kept out, and
mentions in stretches about the patient that are not.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import cohortium
from cohortium.eval.training.zones.marked import read_marked
from cohortium.ingest.text.frame import Frame
from cohortium.ingest.text.zones import zones_of
from cohortium.kb.kinds import KINDS

FOLDER: Final = Path(__file__).with_name("long_notes")
_AS: Final = {"relative": "patient", "copied": "patient"}


class Stretch(NamedTuple):
    """Zone as marked, why, zone as found, text, and how many mentions in it are the patient's own, and are not."""

    marked: str
    why: str
    found: str
    words: str
    asserted: int
    kept_out: int


def of_note(path: Path) -> list[Stretch]:
    """The stretches of one note."""
    note, stretches = read_marked(path)
    frame = Frame(note)
    zones = zones_of(frame)
    read = cohortium.read(note.text, str(note.date), type=note.type, title=note.title).mentions
    mentions = [one for one in read if one.kind in KINDS and one.kind != "birth"]
    found = []
    for stretch in stretches:
        said: Counter[str] = Counter()
        for sentence in frame.shape.sentences:
            overlap = min(sentence.end, stretch.end) - max(sentence.start, stretch.start)
            if overlap > 0:
                zone = zones.get(sentence.start)
                said[zone.name if zone else "patient"] += overlap
        if said:
            marked = _AS.get(stretch.zone, stretch.zone)
            words = note.text[stretch.start : stretch.end]
            here = [one for one in mentions if stretch.start <= one.start < stretch.end]
            own = sum(map(_is_own, here))
            zone_found = said.most_common(1)[0][0]
            found.append(Stretch(marked, stretch.why, zone_found, words, own, len(here) - own))
    return found


def _is_own(mention: Any) -> bool:
    return (
        mention.polarity == "present"
        and mention.experiencer == "patient"
        and mention.temporality in ("current", "historical")
        and mention.attributes.get("status", "given") in ("given", "mentioned")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--wrong", type=int, default=0, help="show so many stretches of each kind with wrong mentions")
    asked = parser.parse_args(arguments)
    stretches = [one for path in sorted(asked.folder.glob("*.txt")) for one in of_note(path)]
    table = Counter((one.marked, one.found) for one in stretches)
    names = ("patient", "nobody", "another")
    print("| marked | found: patient | nobody | another | right | mentions: own | not own |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for marked in names:
        row = [table[marked, found] for found in names]
        if sum(row):
            own = sum(one.asserted for one in stretches if one.marked == marked)
            kept_out = sum(one.kept_out for one in stretches if one.marked == marked)
            share = table[marked, marked] / sum(row)
            print(f"| {marked} | {' | '.join(map(str, row))} | {share:.0%} | {own} | {kept_out} |")
    right = sum(table[name, name] for name in names)
    print(f"\n{right} of {len(stretches)} stretches ({right / max(1, len(stretches)):.1%})")
    for marked, count in (("nobody", "asserted"), ("another", "asserted"), ("patient", "kept_out")):
        wrong = [one for one in stretches if one.marked == marked and getattr(one, count)]
        for one in wrong[: asked.wrong]:
            said = " ".join(one.words.split())[:140]
            print(f"{marked} as {one.found} ({one.why}): {getattr(one, count)} {count}: {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
