"""Whether two versions of the program answer alike: a digest of every answer, taken by each, and what differs.

    python benchmarks/engine/same_answers.py --kb KB.kb [--queries Q.json] [--notes N.jsonl]
        --json new.json [--against old.json]

Only the public API is asked, so that the file runs by itself under any version (give the older one its path). With
``--queries`` (JSON, id -> text; the bank of queries without it): the patients of each in three worlds, the explanation
of the first members, and why the first patients are none. With ``--notes`` (JSONL with ``text`` and ``date``): all that
``cohortium.read`` shows of each note. Digests show no patient and no word. Exit 0: nothing differs, or nothing was
given to compare with; 1: something does, and its names are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import cohortium

#: Members that are explained, and patients of whom is asked why they are none, of each query.
_MEMBERS: Final = 3
_OTHERS: Final = 2


def digest(value: object) -> str:
    """A digest of a value by its JSON form."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    for name in ("to_dict", "as_dict"):
        if hasattr(value, name):
            return getattr(value, name)()
    fields = getattr(value, "__dataclass_fields__", None)
    return {name: getattr(value, name) for name in fields} if fields else str(value)


def answers(kb: Path, queries: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and digest of what each query gives; of one that is refused, of the message."""
    with cohortium.open(kb) as opened:
        everybody = sorted(opened.patients)
        for id_, text in queries.items():
            try:
                cohort = opened.find(text)
            except cohortium.CohortiumError as error:
                yield f"refused/{id_}", digest(str(error))
                continue
            found = sorted(cohort)
            yield f"cohort/{id_}", digest([found, sorted(cohort.certain), sorted(cohort.possible)])
            for patient in found[:_MEMBERS]:
                yield f"explain/{id_}/{digest(patient)}", digest(cohort.explain(patient))
            for patient in [one for one in everybody if one not in cohort][:_OTHERS]:
                yield f"why-not/{id_}/{digest(patient)}", digest(cohort.why_not(patient))


def readings(notes: Path) -> Iterator[tuple[str, str]]:
    """Name and digest of what is read of each note."""
    for at, line in enumerate(notes.read_text(encoding="utf-8").splitlines()):
        note = json.loads(line)
        document = cohortium.read(note["text"], date=note.get("date"))
        yield f"read/{at}", digest([document.as_dict(), document.to_brat()])


def _bank() -> Mapping[str, str]:
    from cohortium.eval.bank.acr.bank import load_queries

    return {str(id_): text for id_, text in load_queries().items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--notes", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    if asked.kb:
        queries = json.loads(asked.queries.read_text(encoding="utf-8")) if asked.queries else _bank()
        found |= answers(asked.kb, queries)
    if asked.notes:
        found |= readings(asked.notes)
    asked.json.write_text(json.dumps(found, indent=0, sort_keys=True), encoding="utf-8")
    if not asked.against:
        print(f"{len(found)} digests")
        return 0
    old = json.loads(asked.against.read_text(encoding="utf-8"))
    differing = sorted(name for name in old.keys() | found.keys() if old.get(name) != found.get(name))
    print(f"{len(found)} digests, {len(differing)} differ", *differing[:50], sep="\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
