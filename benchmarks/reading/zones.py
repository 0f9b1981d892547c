"""Whether each stretch of long notes is taken for what it is about: this patient, nobody, another patient.

    python -m benchmarks.reading.zones [--folder FOLDER] [--wrong N] [--why N]

The notes (``benchmarks/reading/long_notes``, all of them inventions) were written with pasted reports, handouts,
minutes and macros by somebody who knew no rule of the reading, and each stretch was marked as it was written: patient,
relative, copied, another, nobody. A stretch counts as the zone that most of its characters are given; *relative* and
*copied* are of the patient here, since other means tell them apart. What counts in the end are facts: mentions in
stretches about nobody or another patient that are read as the patient's own, by whatever means they are kept out, and
mentions in stretches about the patient that are not. ``--why`` tells of so many stretches, drawn with a fixed seed,
what decided: a phrase or section of the table, its neighbours, or learned words alone.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
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
    """Zone as marked, why, zone as found and what told it, text, and how many mentions in it are the patient's own, and
    are not."""

    marked: str
    why: str
    found: str
    told_by: str
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
        said: Counter[tuple[str, str]] = Counter()
        for sentence in frame.shape.sentences:
            overlap = min(sentence.end, stretch.end) - max(sentence.start, stretch.start)
            if overlap > 0:
                zone = zones.get(sentence.start)
                said[(zone.name, "words" if zone.learned else zone.why) if zone else ("patient", "")] += overlap
        if said:
            marked = _AS.get(stretch.zone, stretch.zone)
            words = note.text[stretch.start : stretch.end]
            here = [one for one in mentions if stretch.start <= one.start < stretch.end]
            own = sum(map(_is_own, here))
            (zone_found, told_by), _ = said.most_common(1)[0]
            found.append(Stretch(marked, stretch.why, zone_found, told_by, words, own, len(here) - own))
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
    parser.add_argument("--why", type=int, default=0, help="tell what decided of so many stretches")
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
    if asked.why:
        _tell_why(random.Random(0).sample(stretches, min(asked.why, len(stretches))))
    return 0


def _tell_why(drawn: Sequence[Stretch]) -> None:
    told: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in drawn:
        told[one.found, one.told_by or "nothing speaks against it"][one.marked] += 1
    print(f"\nwhat decided, of {len(drawn)} stretches:\n\n| found | by | right | wrong |\n| --- | --- | ---: | ---: |")
    for (found, by), marked in sorted(told.items(), key=lambda item: (item[0][0] != "nobody", -item[1].total())):
        print(f"| {found} | {by} | {marked[found]} | {marked.total() - marked[found]} |")


if __name__ == "__main__":
    sys.exit(main())
