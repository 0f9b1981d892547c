"""Which names of the synthetic corpus's banks the lexicon knows, and how varied its notes are beside other notes.

    python -m benchmarks.reading.bank_surfaces [--notes NOTES.jsonl ...] [--words 40000]

The banks are written apart from the lexicon. A name that it does not know can still be read by a pattern, and one that
it knows can still be missed in its sentence; the share only says how far the two vocabularies lie apart.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator

from benchmarks.reading.variety import variety_of_file
from cohortium.eval.made_up.synthetic.writing.banks import FOLDER
from cohortium.kb.ontology.concepts import ConceptTable


def surfaces() -> Iterator[tuple[str, str]]:
    """Each name that a bank writes, with its group."""
    for path in sorted((FOLDER / "names").glob("*.toml")):
        for group, concepts in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for forms in concepts.values():
                for form in forms:
                    if not form.startswith("="):
                        yield group, form.removeprefix("~")


def known() -> dict[str, tuple[int, int]]:
    """For each group: names, and those that are a name in the ontology."""
    concepts = ConceptTable.from_files()
    counts: dict[str, tuple[int, int]] = {}
    for group, form in sorted(set(surfaces())):
        every, found = counts.get(group, (0, 0))
        counts[group] = (every + 1, found + bool(concepts.lookup(form)))
    return counts


def main() -> None:
    """Print both as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", nargs="*", default=[])
    parser.add_argument("--words", type=int, default=40_000)
    options = parser.parse_args()
    counts = known()
    every, found = (sum(pair[place] for pair in counts.values()) for place in (0, 1))
    table = {group: {"names": pair[0], "in the lexicon": pair[1]} for group, pair in counts.items()}
    print(json.dumps({"names": table, "all": every, "known": found, "share": round(found / every, 3)}, indent=2))
    for source in options.notes:
        print(json.dumps({source: variety_of_file(source, words=options.words)}, indent=2))


if __name__ == "__main__":
    main()
