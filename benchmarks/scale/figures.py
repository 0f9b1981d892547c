"""The figures of the report of :mod:`.benchmark`, from its JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.scale.queries import PATIENTS, RESOLVED
from benchmarks.scale.reading import INGEST, PLAIN, SECTIONS
from benchmarks.scale.reading import OURS as READING
from benchmarks.scale.sql import PLAIN as PLAIN_SQL
from benchmarks.scale.sql import TUNED as TUNED_SQL
from benchmarks.scale.tables import Kb, Report, by_size, median, names, patients, times
from cohortium.eval.report.drawing import COLOURS, MARKS, STROKES, Drawing, plain_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Of a question in a knowledge base.
Value = Callable[[Kb, str], float | None]


def drawings(report: Report) -> Iterator[Drawing]:
    """All of them; those without points are not drawn."""
    yield Drawing(
        "growth",
        "Time by number of patients",
        "Median milliseconds from text to answer; both scales are logarithmic. Grey lines grow as the patients do: a "
        "shape whose line is flatter grows less than linearly.",
        (10, 5),
        partial(_growth, report=report),
    )
    yield Drawing(
        "faster-sql",
        "How many times faster than SQL",
        "Bars of each shape by number of patients: median of SQL by the median of ours, in one run. Below the line at "
        "1, SQL is faster.",
        (10, 5),
        partial(_bars_of, report=report, rivals=(PLAIN_SQL, TUNED_SQL), part="measured"),
    )
    yield Drawing(
        "faster-openmed",
        "How many times faster than openmed",
        "As above, for the shapes that can be asked of its cohort resolver.",
        (10, 5),
        partial(_bars_of, report=report, rivals=(RESOLVED, PATIENTS), part="measured_with_openmed"),
    )
    yield Drawing(
        "storage",
        "Bytes an event, and seconds to build",
        "Left: bytes of the database and of the index for each event. Right: seconds until they stood (logarithmic).",
        (10, 2.6),
        partial(_storage, report=report),
    )
    yield Drawing(
        "words",
        "Words a second of one core, by note length",
        "Processor time, one process each, by turns; the scale of words is logarithmic.",
        (10, 3),
        partial(_words, reading=report.get("reading") or {}),
    )
    yield Drawing(
        "workers",
        "Notes a second of the whole of ingest, by workers",
        "A bar for each number of workers and length of notes.",
        (10, 2.6),
        partial(_workers, runs=[one for run in report.get("ingest") or [] for one in run["runs"]]),
    )


def _growth(canvas: Canvas, report: Report) -> bool:
    kbs = by_size(report)
    if not kbs:
        return False
    axes = canvas.subplots()
    sizes = [kb["patients"] for kb in kbs]
    lowest = []
    for place, name in enumerate(names(report)):
        found = [median(kb, name) for kb in kbs]
        if not any(found):
            continue
        lowest += [one for one in found[:1] if one]
        axes.plot(
            sizes,
            [float("nan") if one is None else one for one in found],
            marker=MARKS[place % len(MARKS)],
            linestyle=STROKES[place // len(COLOURS) % len(STROKES)],
            color=COLOURS[place % len(COLOURS)],
            markersize=4,
            linewidth=1,
            label=name,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    if len(sizes) > 1:
        low, high = axes.get_ylim()
        begin = low
        while begin < high:
            axes.plot(
                (sizes[0], sizes[-1]),
                (begin, begin * sizes[-1] / sizes[0]),
                color="#bbbbbb",
                linewidth=0.6,
                linestyle="dotted",
                label="_",
            )
            begin *= 10
        axes.set_ylim(low, high)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    plain_numbers(axes, "y")
    axes.set_xlabel("patients")
    axes.set_ylabel("milliseconds (median)")
    axes.grid(alpha=0.3, linewidth=0.5)
    canvas.legend(loc="outside right upper")
    return True


def _bars_of(canvas: Canvas, report: Report, rivals: tuple[str, ...], part: str) -> bool:
    kbs = [kb for kb in by_size(report) if any(rivals[0] in row.get(part, {}) for row in kb["questions"])]
    shown = [name for name in names(report) if any(times(kb, name, rivals[0], part) for kb in kbs)]
    if not shown:
        return False
    axes = canvas.subplots(len(rivals), 1, sharex=True, squeeze=False)[:, 0]
    for one, rival in zip(axes, rivals, strict=True):
        _bars(one, kbs, shown, lambda kb, name, rival=rival: times(kb, name, rival, part))
        one.axhline(1, color="#555555", linewidth=0.8)
        one.set_title(f"against {rival}", loc="left", fontweight="bold")
        one.set_ylabel("times faster")
    axes[-1].set_xticks(range(len(shown)), shown, rotation=35, ha="right")
    handles, labels = axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper right", ncols=len(kbs))
    return True


def _bars(axes: Axes, kbs: list[Kb], shown: list[str], value: Value) -> None:
    width = 0.8 / len(kbs)
    for place, kb in enumerate(kbs):
        found = [value(kb, name) for name in shown]
        at = [number + (place - (len(kbs) - 1) / 2) * width for number in range(len(shown))]
        # A bar on a logarithmic scale stands on 1.
        high = [float("nan") if one is None else one - 1 for one in found]
        axes.bar(at, high, width * 0.9, bottom=1, color=COLOURS[place % len(COLOURS)], label=f"{patients(kb)} patients")
    axes.set_yscale("log")
    plain_numbers(axes, "y")
    axes.grid(axis="y", alpha=0.3, linewidth=0.5)
    axes.set_axisbelow(True)


def _storage(canvas: Canvas, report: Report) -> bool:
    kbs = by_size(report)
    if not kbs:
        return False
    told = any(kb["storage"].get("build_seconds") for kb in kbs)
    left, *more = canvas.subplots(1, 1 + told, squeeze=False)[0]
    labels = [patients(kb) for kb in kbs]
    for place, (name, key) in enumerate((("database", "database_bytes"), ("index", "index_bytes"))):
        at = [number + (place - 0.5) * 0.4 for number in range(len(kbs))]
        left.bar(at, [kb["storage"][key] / kb["events"] for kb in kbs], 0.36, color=COLOURS[place], label=name)
    left.set_xticks(range(len(kbs)), labels)
    left.set_ylabel("bytes an event")
    left.legend()
    for right in more:
        for place, (name, key) in enumerate((("all", "build_seconds"), ("index", "index_seconds"))):
            at = [number + (place - 0.5) * 0.4 for number in range(len(kbs))]
            right.bar(at, [kb["storage"].get(key) or 0 for kb in kbs], 0.36, color=COLOURS[place], label=name)
        right.set_xticks(range(len(kbs)), labels)
        right.set_yscale("log")
        plain_numbers(right, "y")
        right.set_ylabel("seconds")
        right.legend()
    return True


def _words(canvas: Canvas, reading: Mapping[str, Any]) -> bool:
    lengths = reading.get("lengths") or []
    if not lengths:
        return False
    axes = canvas.subplots()
    for place, name in enumerate((READING, INGEST, PLAIN, SECTIONS)):
        points = [
            (one["words_a_note"], one["measured"][name]["words_a_second_of_processor"])
            for one in lengths
            if name in one["measured"]
        ]
        if points:
            axes.plot(*zip(*points, strict=True), marker=MARKS[place], color=COLOURS[place], linewidth=1, label=name)
    axes.set_yscale("log")
    plain_numbers(axes, "y")
    axes.set_xticks([one["words_a_note"] for one in lengths])
    axes.set_xlabel("words a note")
    axes.set_ylabel("words a second")
    axes.grid(alpha=0.3, linewidth=0.5)
    canvas.legend(loc="outside right upper")
    return True


def _workers(canvas: Canvas, runs: list[Mapping[str, Any]]) -> bool:
    if not runs:
        return False
    axes = canvas.subplots()
    labels = [f"{one['words'] / one['notes']:.0f} words\n{one['workers']} workers" for one in runs]
    colours = [COLOURS[(one["workers"] - 1) % len(COLOURS)] for one in runs]
    axes.bar(range(len(runs)), [one["notes"] / one["seconds"] for one in runs], 0.7, color=colours)
    axes.set_xticks(range(len(runs)), labels)
    axes.set_ylabel("notes a second")
    axes.grid(axis="y", alpha=0.3, linewidth=0.5)
    axes.set_axisbelow(True)
    return True
