"""The commands of the ontology: ``show``, ``search``, ``path`` and ``lint``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..errors import CohortiumError, UsageError
from ..skin.options import FormatOption, NoRowsOption, OutOption
from ..skin.terminal import Format, answer, check_output, counted, print_csv, print_lines, print_table
from .concepts import ConceptTable

if TYPE_CHECKING:
    from .graph import Way

ExtraOption = Annotated[
    Path | None, typer.Option("--ontology", metavar="DIR", help="Add the concepts of this folder to the shipped ones.")
]
KindOption = Annotated[str | None, typer.Option("--kind", metavar="KIND", help="Only concepts of this kind.")]

#: So many children are listed in a table.
_CHILDREN: Final = 12


class Findings(CohortiumError):
    """The ontology has faults (exit 1)."""

    exit_code = 1


def show(
    concept: Annotated[str, typer.Argument(metavar="CONCEPT", help="An id, a name or a code (RXNORM:1721560).")],
    ontology: ExtraOption = None,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Show all of one concept: its names, codes, parents and children."""
    from .search import describe, resolve

    concepts = ConceptTable.from_files(extra=ontology)
    first, *others = resolve(concepts, concept)
    described = describe(concepts, first)
    described["also"] = [{"concept": one, "kind": concepts.kind(one), "name": concepts.name(one)} for one in others]
    answer(described, output=output, out=out, as_table=lambda: print_concept(described))


def print_concept(described: Mapping[str, Any]) -> None:
    """A concept as lines of what it is and has; what it lacks is left out."""
    children = described["children"]
    print(f"{described['name']} ({described['kind']}, {described['concept']})")
    shorts = [
        short["text"] + (f" (near {', '.join(short['cues'])})" if short["cues"] else "")
        for short in described["abbreviations"]
    ]
    for title, words in (
        ("synonyms", described["synonyms"]),
        ("short forms", shorts),
        ("codes", described["codes"]),
        ("site", [described["site"]] if described["site"] else []),
        ("is a", _named(described["parents"])),
        (f"children ({len(children)})", _named(children[:_CHILDREN]) + ["…"] * _more(children)),
        ("value sets", described["value_sets"]),
        ("source", [described["source"]] if described["source"] else []),
    ):
        if words:
            print(f"  {title}: {'; '.join(words)}")
    print(f"  {counted(described['descendants'], 'concept')} below it")
    for other in described["also"]:
        print(f"also: {other['name']} ({other['kind']}, {other['concept']})")


def _named(concepts: Sequence[Mapping[str, str]]) -> list[str]:
    return [f"{one['name']} ({one['concept']})" for one in concepts]


def _more(children: Sequence[object]) -> bool:
    return len(children) > _CHILDREN


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A name, a part of one, or nearly one.")],
    kind: KindOption = None,
    limit: Annotated[int, typer.Option(min=1, help="List at most so many concepts.")] = 20,
    ontology: ExtraOption = None,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """List the concepts that a text may mean, the best first: exact, beginning, contained, spelled nearly so."""
    from .search import search as search_all

    concepts = ConceptTable.from_files(extra=ontology)
    found = search_all(concepts, text, kind, limit)
    columns = ("match", "name", "concept", "kind", "preferred name")
    rows = [
        (one.match.name.lower(), one.name, one.concept, concepts.kind(one.concept), concepts.name(one.concept))
        for one in found
    ]
    keys = ("match", "matched", "concept", "kind", "name")
    payload = {"text": text, "found": [dict(zip(keys, row, strict=True)) for row in rows]}
    answer(
        payload,
        output=output,
        out=out,
        as_table=lambda: print_table(columns, rows) if rows else print(f"nothing is called like '{text}'"),
        as_csv=lambda: print_csv(columns, rows),
    )


def path(
    first: Annotated[str, typer.Argument(metavar="A", help="A concept: an id, a name or a code.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    ontology: ExtraOption = None,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Show how one concept is another, or which nearest concept both are."""
    from .graph import ways
    from .search import resolve

    concepts = ConceptTable.from_files(extra=ontology)
    one, other = (resolve(concepts, text)[0] for text in (first, second))
    found = ways(concepts, one, other)
    payload = {
        "first": one,
        "second": other,
        "paths": [{"first": way.first, "second": way.second, "meeting": way.meeting} for way in found],
    }
    answer(payload, output=output, out=out, as_table=lambda: print_ways(concepts, one, other, found))


def print_ways(concepts: ConceptTable, first: str, second: str, found: Sequence[Way]) -> None:
    """Each way as a chain whose arrows read *is a*: ``a → b → both ← c``."""
    if not found:
        print(f"nothing is above both {concepts.name(first)} and {concepts.name(second)}")
    for way in found:
        up = " → ".join(concepts.name(one) for one in way.first)
        down = "".join(f" ← {concepts.name(one)}" for one in way.second[-2::-1])
        print(up + down)


def lint(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="A folder of added concepts, checked with the shipped ones.")
    ] = None,
    ontology: ExtraOption = None,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Check the ontology: cycles, unknown parents, names and codes used twice, short forms without cue, islands."""
    from .lint import lint_shipped

    if folder is not None and ontology is not None and folder != ontology:
        raise UsageError("lint checks one folder. Hint: name it as DIR and leave out --ontology")
    check_output(output, out, rows=False)
    problems = lint_shipped(folder or ontology)
    answer({"findings": problems}, output=output, out=out, as_table=lambda: print_lines(problems or ["clean"]))
    if problems:
        raise Findings(f"the ontology has {counted(len(problems), 'finding')}")


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (
    ("show", show),
    ("search", search),
    ("path", path),
    ("lint", lint),
)
