"""The tables of the report of :mod:`.benchmark`, from its JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from benchmarks.scale.queries import OURS, PATIENTS, RESOLVED
from benchmarks.scale.reading import INGEST, PLAIN, SECTIONS
from benchmarks.scale.reading import OURS as READING
from benchmarks.scale.sql import PLAIN as PLAIN_SQL
from benchmarks.scale.sql import TUNED as TUNED_SQL
from cohortium.eval.benchmark.report.layout import Column, Row, Table

Report = Mapping[str, Any]
Kb = Mapping[str, Any]

#: What is wanted at a million patients, in milliseconds: the questions, and the most that they may take.
LIMITS: Final = (
    ("boolean query", ("single concept", "five-way and/or/not"), 5.0),
    ("relation in time", ("before", "after", "within 90 days"), 60.0),
    ("same tumor", ("same tumor", "same tumor, of the record"), 60.0),
    ("explain one patient", ("explain one patient",), 50.0),
)
#: A concept with 10,000 descendants may take so many times as long as a single code.
DESCENDANTS: Final = 1.5
OPENING, WHOLE_PROCESS = 200.0, 1000.0


def by_size(report: Report) -> list[Kb]:
    """The knowledge bases, the smallest first."""
    return sorted(report["knowledge_bases"], key=lambda kb: kb["patients"])


def median(kb: Kb, name: str, who: str = OURS, part: str = "measured", key: str = "median_ms") -> float | None:
    """Of a question by name, in milliseconds: on the clock, or another figure of the spread."""
    for row in kb["questions"]:
        if row["name"] == name and who in row.get(part, {}):
            value: float = row[part][who][key]
            return value
    return None


def names(report: Report) -> list[str]:
    """The questions of all knowledge bases, in the order in which they were asked."""
    return list(dict.fromkeys(row["name"] for kb in by_size(report) for row in kb["questions"]))


def times(kb: Kb, name: str, rival: str, part: str = "measured", key: str = "median_ms") -> float | None:
    """How many times faster ours is than the rival, by the clock or by processor time."""
    own, other = median(kb, name, OURS, part, key), median(kb, name, rival, part, key)
    return None if own is None or other is None else other / own


def patients(kb: Kb) -> str:
    """``10,000``."""
    return f"{kb['patients']:,}"


def figure(value: float | None, unit: str = "") -> str:
    """Three digits that count; a dash for what there is not."""
    if value is None:
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text + unit


def tables(report: Report) -> Iterator[Table]:
    """Those for which there is anything to tell."""
    if report["knowledge_bases"]:
        yield _limits(report)
        yield _medians(report)
        yield _faster(report)
        if any("measured_with_openmed" in row for kb in report["knowledge_bases"] for row in kb["questions"]):
            yield _against_openmed(report)
            yield _not_asked(report)
        yield _storage(report)
        yield _cold(report)
        yield _facts(report)
    if report.get("reading"):
        yield _reading(report["reading"])
    if report.get("ingest"):
        yield _ingest(report["ingest"])


def _limits(report: Report) -> Table:
    largest = by_size(report)[-1]
    rows = [
        Row((what, name, figure(found), f"{most:g}", "yes" if found <= most else "no"))
        for what, asked, most in LIMITS
        for name in asked
        if (found := median(largest, name)) is not None
    ]
    broad, single = median(largest, "broad concept"), median(largest, "single code")
    if broad and single:
        met = "yes" if broad <= DESCENDANTS * single else "no"
        rows.append(
            Row(("many descendants", "× the time of a single code", figure(broad / single), f"{DESCENDANTS:g}", met))
        )
    cold = largest["cold"]
    for what, found, most in (
        ("opening", cold["open_ms"], OPENING),
        ("cohortium query, a whole process", cold["whole_process_ms"]["median"], WHOLE_PROCESS),
    ):
        rows.append(Row((what, "", figure(found), f"{most:g}", "yes" if found <= most else "no")))
    columns = _columns(("what", "question"), ("median ms", "wanted at most", "met"))
    measured = ", ".join(f"{patients(kb)} patients at {kb['commit']}" for kb in by_size(report) if kb.get("commit"))
    note = f"At {patients(largest)} patients and {largest['events']:,} events. The limits are set for 1,000,000. "
    note += f"Measured by commit: {measured}." if measured else ""
    return Table("limits", "What is wanted, and what was measured", columns, tuple(rows), note)


def _medians(report: Report) -> Table:
    kbs = by_size(report)
    rows = []
    for name in names(report):
        found = [median(kb, name) for kb in kbs]
        growth = [figure(large / small) if small and large else "–" for small, large in pairwise(found)]
        spreads = [_spread(kb, name) for kb in kbs]
        processor = [figure(median(kb, name, key="processor_ms")) for kb in kbs]
        rows.append(Row((name, _text(kbs[-1], name), *spreads, *processor, *growth)))
    grown = [
        f"{patients(large)} against {patients(small)} (× {large['patients'] / small['patients']:.3g})"
        for small, large in pairwise(kbs)
    ]
    columns = _columns(("shape", "query"), tuple(patients(kb) for kb in kbs), "patients: median ms (quartiles)")
    columns += tuple(Column(patients(kb), "processor ms") for kb in kbs)
    columns += tuple(Column(one, "growth") for one in grown)
    note = (
        "From text to cohort size in an open knowledge base, plan and answer made anew each time. On a busy machine "
        "the clock tells more than the question took; processor time is the median of all threads'."
    )
    return Table("medians", "Time by shape and size", columns, tuple(rows), note)


def _spread(kb: Kb, name: str) -> str:
    for row in kb["questions"]:
        if row["name"] == name and OURS in row["measured"]:
            one = row["measured"][OURS]
            low, high = one["quartiles_ms"]
            return f"{figure(one['median_ms'])} ({figure(low)}–{figure(high)})"
    return "–"


def _text(kb: Kb, name: str) -> str:
    return next((str(row["text"]) for row in kb["questions"] if row["name"] == name), "")


def _faster(report: Report) -> Table:
    kbs = by_size(report)
    rows = []
    for name in names(report):
        cells = []
        for key in ("median_ms", "processor_ms"):
            for rival in (PLAIN_SQL, TUNED_SQL):
                cells += [figure(times(kb, name, rival, key=key)) for kb in kbs]
        rows.append(Row((name, *(figure(median(kb, name, PLAIN_SQL)) for kb in kbs), *cells)))
    columns = [Column("shape", words=True)]
    columns += [Column(patients(kb), "plain SQL, median ms") for kb in kbs]
    columns += [Column(patients(kb), "× faster than plain SQL") for kb in kbs]
    columns += [Column(patients(kb), "× faster than tuned SQL") for kb in kbs]
    columns += [Column(patients(kb), "× less processor time than plain SQL") for kb in kbs]
    columns += [Column(patients(kb), "× less processor time than tuned SQL") for kb in kbs]
    built = "; ".join(
        f"{patients(kb)} patients: {kb['tuned_sql']['seconds']:g} s, {kb['tuned_sql']['bytes'] / 1e6:,.0f} MB"
        for kb in kbs
        if kb.get("tuned_sql")
    )
    note = (
        "By turns in one process, two threads for SQL. Every cohort is the same set of patients. The copy of tuned SQL "
        f"({built or 'left out'}) is not counted. SQL begins where the question is understood, and tells one world; "
        "explain and the funnel of ours tell more than SQL fetches."
    )
    return Table("sql", "Against SQL on the same DuckDB file", tuple(columns), tuple(rows), note)


def _against_openmed(report: Report) -> Table:
    kbs = [kb for kb in by_size(report) if any("measured_with_openmed" in row for row in kb["questions"])]
    part = "measured_with_openmed"
    rows = []
    for name in names(report):
        if any(median(kb, name, RESOLVED, part) is not None for kb in kbs):
            cells = [figure(median(kb, name, RESOLVED, part)) for kb in kbs]
            for rival in (RESOLVED, PATIENTS):
                cells += [figure(times(kb, name, rival, part)) for kb in kbs]
            rows.append(Row((name, *cells)))
    columns = [Column("shape", words=True)]
    columns += [Column(patients(kb), "openmed, median ms") for kb in kbs]
    columns += [Column(patients(kb), "× faster than openmed") for kb in kbs]
    columns += [Column(patients(kb), "× faster than its statement for patients alone") for kb in kbs]
    told = ", ".join(f"{name} {version}" for name, version in (report.get("openmed") or {}).items())
    note = (
        f"{told}. The same facts as OMOP tables, by turns. Its answer is a result with patients, pointers to evidence "
        "and coverage; the last columns run the statement alone that it makes for the patients. Cohorts are equal."
    )
    return Table("openmed", "Against the cohort resolver of openmed", tuple(columns), tuple(rows), note)


def _not_asked(report: Report) -> Table:
    told: dict[str, tuple[str, str]] = {}
    for kb in by_size(report):
        for row in kb["questions"]:
            if row.get("not_asked_of_openmed"):
                told[row["name"]] = (str(row["text"]), str(row["not_asked_of_openmed"]))
    beyond = {
        "certain, believed, possible": "two grades of certainty for a mention, none for an interval of days",
        "explain one patient": "evidence of all patients comes with every answer, as offsets without text",
        "funnel of four criteria": "no counts criterion by criterion",
        "a question in English": "no English",
    }
    rows = [Row((name, *texts)) for name, texts in told.items()]
    rows += [Row((name, "", why)) for name, why in beyond.items() if name in names(report)]
    columns = _columns(("shape", "query", "why"), ())
    return Table("not-asked", "What cannot be asked of openmed so, or means something else", columns, tuple(rows))


def _storage(report: Report) -> Table:
    rows = []
    for kb in by_size(report):
        stored, events = kb["storage"], kb["events"]
        rows.append(
            Row(
                (
                    patients(kb),
                    f"{events:,}",
                    f"{stored['database_bytes'] / 1e6:,.0f}",
                    figure(stored["database_bytes"] / events),
                    f"{stored['index_bytes'] / 1e6:,.0f}",
                    figure(stored["index_bytes"] / events),
                    figure(stored.get("index_seconds")),
                    figure(stored.get("build_seconds")),
                    f"{kb['cold']['peak_memory_bytes']['one query'] / 1e6:,.0f}",
                    f"{kb['cold']['peak_memory_bytes']['all'] / 1e6:,.0f}",
                )
            )
        )
    columns = (
        Column("patients", words=True),
        Column("events"),
        Column("MB", "database"),
        Column("bytes an event", "database"),
        Column("MB", "index"),
        Column("bytes an event", "index"),
        Column("index", "seconds to build"),
        Column("all", "seconds to build"),
        Column("one query", "peak memory of a process, MB"),
        Column("all queries", "peak memory of a process, MB"),
    )
    return Table("storage", "What is stored, and what it took", columns, tuple(rows), "Memory is of the process alone.")


def _cold(report: Report) -> Table:
    kbs = by_size(report)
    asked = list(dict.fromkeys(name for kb in kbs for name in kb["cold"]["first_ms"]))
    rows = [
        Row(("opening", *(figure(kb["cold"]["open_ms"]) for kb in kbs))),
        Row(("cohortium query, a whole process", *(figure(kb["cold"]["whole_process_ms"]["median"]) for kb in kbs))),
        *(Row((f"first call: {name}", *(figure(kb["cold"]["first_ms"].get(name)) for kb in kbs))) for name in asked),
    ]
    columns = (Column("what", words=True), *(Column(patients(kb), "patients: ms") for kb in kbs))
    note = "Each first call is in a process of its own, right after opening; files may be in the system's cache."
    return Table("cold", "A process that has just begun", columns, tuple(rows), note)


def _facts(report: Report) -> Table:
    kbs = by_size(report)
    rows = []
    for role in kbs[-1]["facts"]:
        for kb in kbs:
            one = kb["facts"].get(role)
            if one:
                rows.append(
                    Row((patients(kb), role, one["text"], f"{100 * one['share']:.1f}%", f"{one['at_or_below']:,}"))
                )
    columns = _columns(("patients", "part", "fact"), ("of patients", "concepts at or below"))
    return Table("facts", "The facts that the questions are about", columns, tuple(rows))


def _reading(reading: Mapping[str, Any]) -> Table:
    rows = []
    contenders = (READING, INGEST, PLAIN, SECTIONS)
    for length in reading["lengths"]:
        measured = length["measured"]
        speeds = [measured.get(name, {}).get("words_a_second_of_processor") for name in contenders]
        ratios = [speeds[at] / speeds[2] if speeds[at] and speeds[2] else None for at in (0, 1)]
        rows.append(
            Row(
                (
                    f"{length['words_a_note']} words",
                    f"{length['notes']:,} ({length['distinct']:,})",
                    *(figure(one) for one in speeds),
                    *(figure(one) for one in ratios),
                )
            )
        )
    columns = [Column("notes of", words=True), Column("notes (distinct)")]
    columns += [Column(name, "words a second of one core") for name in contenders]
    columns += [Column(name, "× medspaCy") for name in ("reading", "ingest")]
    note = f"Processor time, one process each, by turns. Notes of {reading['source']}."
    if "medspacy" in reading:
        versions = ", ".join(f"{name} {version}" for name, version in reading["medspacy"].items())
        note += f" {versions}; {reading['targets']:,} targets."
    return Table("reading", "Reading beside medspaCy with the same names", tuple(columns), tuple(rows), note)


def _ingest(runs: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for run in runs:
        for one in run["runs"]:
            rows.append(
                Row(
                    (
                        f"{one['words'] / one['notes']:.0f} words",
                        f"{one['notes']:,}",
                        str(one["workers"]),
                        figure(one["notes"] / one["seconds"]),
                        figure(one["words"] / one["seconds"]),
                        figure(1000 * (one["parent"] + one["children"]) / one["notes"]),
                        figure(max(one["memory_parent"], one["memory_worker"])),
                    )
                )
            )
    columns = _columns(("notes of",), ("notes", "workers", "notes/s", "words/s", "processor ms a note", "MB"))
    return Table("ingest", "The whole of ingest", columns, tuple(rows), "By benchmarks/scale/ingest_rate.py.")


def _columns(words: Sequence[str], numbers: Sequence[str], group: str = "") -> tuple[Column, ...]:
    return (*(Column(one, words=True) for one in words), *(Column(one, group) for one in numbers))
