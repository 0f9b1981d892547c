"""The form of answers: the JSON form of a cohort, and tables for people."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..kb.model import World
from ..kb.skin.terminal import count_text, print_lines, print_table, print_text
from .answers.evidence import attributes_text

if TYPE_CHECKING:
    import pyarrow as pa

    from ..query_lang.lint.finding import Finding
    from .answers.explain import Explanation
    from .answers.journey import Timeline
    from .cohort import Cohort

#: Patients that a table shows when no limit is given; json and csv give all of them.
TABLE_ROWS: Final = 20
#: Findings of the linter that are told under an answer.
MOST_NOTES: Final = 5


class WorldName(enum.StrEnum):
    """The three worlds, as the command line spells them."""

    BELIEVED = "believed"
    CERTAIN = "certain"
    POSSIBLE = "possible"


#: What gives the explanation of a patient: several forms of an answer are made of the same one.
Explain: TypeAlias = "Callable[[str], Explanation]"


def cohort_payload(
    cohort: Cohort, world: WorldName, limit: int | None, explain: Explain | None = None
) -> dict[str, Any]:
    """The answer as JSON has it. ``count`` counts the patients of the world asked for, whatever ``limit`` lists; with
    ``explain``, those who are listed are explained."""
    asked = cohort.in_world(World[world.name])
    # The ids of those who are listed alone: there may be a million others.
    listed = list(asked if limit is None else islice(asked, min(limit, sys.maxsize)))
    payload: dict[str, Any] = {
        "query": cohort.text,
        "resolved": cohort.resolved,
        **({} if cohort.as_of is None else {"as_of": cohort.as_of}),
        "world": world.value,
        "count": len(asked),
        "believed": len(cohort),
        "certain": len(cohort.certain),
        "possible": len(cohort.possible),
        "patients": listed,
    }
    if read_as := cohort.read_as():
        payload["read_as"] = [one.as_dict() for one in read_as]
    empty = asked.why_empty()
    if empty is not None:
        payload["empty"] = empty.as_dict()
    if explain is not None:
        payload["explanations"] = {patient: explain(patient).as_dict() for patient in listed}
    return payload


def certainty_rows(cohort: Cohort, patients: list[str]) -> list[tuple[str, str]]:
    """Each patient with the strongest world that holds it."""
    return [(patient, cohort.certainty(patient)) for patient in patients]


def rows_payload(statement: str, table: pa.Table, limit: int | None) -> dict[str, Any]:
    """The rows of a SQL statement as JSON has them, at most ``limit``; ``more`` tells whether there are more."""
    shown = table if limit is None else table.slice(0, limit)
    rows = [{name: _plain_cell(value) for name, value in row.items()} for row in shown.to_pylist()]
    return {
        "statement": statement,
        "columns": table.schema.names,
        "rows": rows,
        "more": table.num_rows > shown.num_rows,
    }


def _plain_cell(value: object) -> object:
    """A value that JSON has: a map comes as its pairs."""
    if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
        return {str(name): inner for name, inner in value}
    return value


def print_rows(payload: dict[str, Any], option: str = "--limit N") -> None:
    """The rows of a SQL statement as a table; ``option`` is what gives more of them."""
    if payload["rows"]:
        print_table(payload["columns"], [tuple(row.values()) for row in payload["rows"]])
    else:
        print("no rows")
    if payload["more"]:
        print(f"… and more ({option} gives more)")


def csv_rows(cohort: Cohort, payload: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Heading and rows: the patients with their certainty, in their order if they were ranked, with the strength."""
    if "ranked" in payload:
        columns = ("patient_id", "certainty", "strength", "weakest")
        return columns, [tuple(row[column] for column in columns) for row in payload["ranked"]]
    return ("patient_id", "certainty"), list(certainty_rows(cohort, payload["patients"]))


def evidence_sheet(payload: dict[str, Any], explain: Explain) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Heading and rows of the evidence of the patients listed, in the order in which they are."""
    from .answers.evidence_sheet import COLUMNS, evidence_rows

    ranked = [row["patient_id"] for row in payload["ranked"]] if "ranked" in payload else payload["patients"]
    return COLUMNS, evidence_rows(explain(patient) for patient in ranked)


def print_ranked(rows: list[dict[str, Any]]) -> None:
    """Each patient with the strength of the weakest evidence, and what that rests on."""
    columns = ("rank", "patient", "certainty", "strength", "weakest criterion", "rests on")
    print_table(
        columns,
        [
            (row["rank"], row["patient_id"], row["certainty"], f"{row['strength']:.3f}", row["weakest"], row["says"])
            for row in rows
        ],
    )


def print_cohort(cohort: Cohort, payload: dict[str, Any], limit: int | None, explain: Explain | None = None) -> None:
    """The count with its bounds, the query as understood, the patients, and what each rests on when asked."""
    print_lines(one["says"] for one in payload.get("read_as", ()))
    counts = count_text(payload["believed"], payload["certain"], payload["possible"])
    as_of = f" (as of {payload['as_of']})" if "as_of" in payload else ""
    print_text(f"{counts} patients: {payload['resolved']}{as_of}")
    shown = payload["patients"][: TABLE_ROWS if limit is None else limit]
    if "ranked" in payload:
        listed = payload["ranked"] if limit is None else payload["ranked"][:limit]
        print_ranked(listed)
        shown = [row["patient_id"] for row in listed]
    if explain is not None:
        for patient in shown:
            print()
            print_lines(explain(patient).lines())
    elif shown and "ranked" not in payload:
        print_table(("patient", "certainty"), certainty_rows(cohort, shown))
    if "empty" in payload:
        print_empty(cohort.in_world(World[payload["world"].upper()]))
    if len(shown) < payload["count"]:
        option = "--rank" if "ranked" in payload else "--limit N"
        print(f"… and {payload['count'] - len(shown)} more ({option} lists more)")


def print_empty(cohort: Cohort) -> None:
    """Why nobody is in the cohort; nothing when somebody is."""
    empty = cohort.why_empty()
    if empty is not None:
        print_lines(empty.lines())


def print_findings(findings: Sequence[Finding]) -> None:
    """Each finding of the linter with its place and hint, a blank line between two."""
    print_text("\n\n".join(finding.as_text() for finding in findings) or "nothing doubtful was found")


def print_notes(findings: Sequence[Finding]) -> None:
    """The findings in a line each, on standard error: they are no part of the answer."""
    for finding in findings[:MOST_NOTES]:
        print(finding.as_line(), file=sys.stderr)
    if len(findings) > MOST_NOTES:
        print(f"… and {len(findings) - MOST_NOTES} more ('cohortium lint' tells all)", file=sys.stderr)


def print_imported(payload: dict[str, Any]) -> None:
    """The query of an imported definition, what it says, how many it finds, and what was not carried."""
    print_text(f"{payload['query']}\n\n{payload['says']}\n")
    if "count" in payload:
        print(f"{count_text(payload['count'], payload['certain'], payload['possible'])} patients")
        print()
    lost = payload["not_carried"]
    print("everything was carried" if not lost else f"not carried ({len(lost)}):")
    for loss in lost:
        effect = "" if loss["effect"] == "none" else f" [{loss['effect']}]"
        print(f"    {loss['path']}: {loss['what']}: {loss['why']}{effect}")


def print_info(held: dict[str, Any]) -> None:
    """The sum of the notes first, then everything else, a line each."""
    parts = ("stored", "unchanged", "superseding", "quarantined")
    print(f"{held['notes_in']} notes in = " + " + ".join(f"{held[part]} {part}" for part in parts))
    rows = [(name, value) for name, value in held.items() if not isinstance(value, dict | list)]
    # The reasons of quarantine are sentences: in the table they would push the values far to the right.
    parted = ((name, part) for name, part in held.items() if isinstance(part, dict) and name != "quarantine")
    rows += [(f"{name}: {key}", value) for name, part in parted for key, value in part.items()]
    print_table(("what", "value"), [row for row in rows if row[0] not in {"notes_in", *parts}])
    for reason, times in held.get("quarantine", {}).items():
        print(f"{times} in quarantine: {reason}")


def print_journey(timeline: Timeline) -> None:
    """One line an event, in order of time, then the lines of therapy, then how conflicts were decided."""
    rows = [(row.when, row.kind, row.name, attributes_text(row), row.assertion, row.world) for row in timeline.rows]
    print_table(("when", "kind", "what", "attributes", "context", "world"), rows)
    if timeline.lines:
        lines = [
            (
                line.line,
                line.since,
                line.until,
                " + ".join(line.treatments),
                *map(", ".join, (line.intents, line.reasons)),
            )
            for line in timeline.lines
        ]
        print_table(("line", "since", "until", "treatments", "intent", "ended for"), lines)
    for decision in timeline.decisions:
        print(f"decided by {decision.rule}: {decision.explanation}")
        for event in decision.believed:
            print(f"    stands: {event.as_text()}")
        for event in decision.rejected:
            print(f"    gives way: {event.as_text()}")
