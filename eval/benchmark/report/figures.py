"""The figures of a report (the paper's Figures 3 to 5), drawn by Matplotlib as SVG: the same input, the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ...measures.classes import COMPLEXITIES
from ...report.drawing import COLOURS, HATCHES, MARKS, STROKES, Drawing, Figure, drawn, plain_numbers
from .form import BenchmarkReport, Part, Scores, SystemReport
from .paper import Paper, load_paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Hallucination ratios under this are drawn on the line below it: a logarithm has no place for 0.
_LEAST_RATIO: Final = 0.01


def figures(report: BenchmarkReport) -> tuple[Figure, ...]:
    """The figures that the report has points for. UsageError when Matplotlib is not installed."""
    paper = load_paper()

    def drawing(one: _Drawing) -> Drawing:
        return Drawing(one.id, one.title, one.caption, one.inches, lambda canvas: one.draw(canvas, report, paper))

    return drawn(map(drawing, _DRAWINGS))


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A drawing of a report: ``draw`` returns whether there was anything to draw."""

    id: str
    title: str
    caption: str
    inches: tuple[float, float]
    draw: Callable[[Canvas, BenchmarkReport, Paper], bool]


# --- Figure 3: F1 by class ------------------------------------------------------------------------------------------


def _by_class(canvas: Canvas, report: BenchmarkReport, paper: Paper) -> bool:
    """Three groups of bars: by complexity, by size of the gold cohort, by documents a patient."""
    if not any(part(one.scores) for one in report.systems for _, _, part in _PARTS):
        return False
    axes = canvas.subplots(1, len(_PARTS), sharey=True)
    for place, (name, title, part) in enumerate(_PARTS):
        classes = _classes(name, report.systems, part)
        _bars(axes[place], classes, report.systems, part)
        axes[place].set_xticks(range(len(classes)), [called(one, report.systems, part) for one in classes])
        for system, mark in _PAPER_SYSTEMS.items():
            _published(axes[place], classes, system, mark, _points(name, system, paper))
        axes[place].set_title(title, loc="left", fontweight="bold")
        axes[place].set_ylim(0, 1)
        axes[place].grid(axis="y", alpha=0.3, linewidth=0.5)
        axes[place].set_axisbelow(True)
    axes[0].set_ylabel("F1")
    handles, labels = axes[1].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=5)
    return True


_PARTS: Final[Sequence[tuple[str, str, Callable[[Scores], Mapping[str, Part]]]]] = (
    ("complexity", "(a) by complexity", lambda scores: scores.by_complexity),
    ("size", "(b) by size of the gold cohort", lambda scores: scores.by_size),
    ("documents", "(c) by documents a patient", lambda scores: scores.by_documents),
)
#: Drawn as a stroke, a dotted and a dashed one, in grey: systems of the paper.
_PAPER_SYSTEMS: Final[Mapping[str, Literal["dotted", "dashed", "solid"]]] = {
    "ada": "dotted",
    "ada+GPT4": "dashed",
    "Hypercube": "solid",
}


def _classes(
    name: str, systems: Sequence[SystemReport], part: Callable[[Scores], Mapping[str, Part]]
) -> tuple[str, ...]:
    order = {"complexity": COMPLEXITIES, "size": ("broad", "narrow", "sparse")}.get(name)
    found = dict.fromkeys(one for system in systems for one in part(system.scores))
    return tuple(found) if order is None else order


def called(name: str, systems: Sequence[SystemReport], part: Callable[[Scores], Mapping[str, Part]]) -> str:
    """The name of a class, below it how many documents its patients have."""
    found = next((classes[name] for one in systems if name in (classes := part(one.scores))), Part())
    if found.low is None:
        return name
    if found.high is not None and found.high <= found.low:
        return f"{name}\n(nobody)"
    return f"{name}\n({found.low} or more)" if found.high is None else f"{name}\n({found.low} to {found.high - 1})"


def _bars(
    axes: Axes, classes: Sequence[str], systems: Sequence[SystemReport], part: Callable[[Scores], Mapping[str, Part]]
) -> None:
    width = 0.8 / max(1, len(systems))
    for place, system in enumerate(systems):
        at, high, below, above = [], [], [], []
        for number, name in enumerate(classes):
            f1 = part(system.scores).get(name, Part()).f1
            if f1.value is not None:
                low, top = f1.ci or (f1.value, f1.value)
                at.append(number + (place - (len(systems) - 1) / 2) * width)
                high.append(f1.value)
                below.append(max(0.0, f1.value - low))
                above.append(max(0.0, top - f1.value))
        axes.bar(
            at,
            high,
            width * 0.9,
            yerr=[below, above],
            color=COLOURS[place % len(COLOURS)],
            hatch=HATCHES[place // len(COLOURS) % len(HATCHES)],
            edgecolor="white",
            linewidth=0,
            label=system.name,
            error_kw={"elinewidth": 0.7, "ecolor": "#555555"},
        )


def _published(
    axes: Axes,
    classes: Sequence[str],
    system: str,
    stroke: Literal["dotted", "dashed", "solid"],
    points: Mapping[str, float],
) -> None:
    shown = False
    for number, name in enumerate(classes):
        if name in points:
            # A name that begins so is not listed.
            label = "_" if shown else f"{system} (paper)"
            axes.hlines(
                points[name], number - 0.45, number + 0.45, colors="#888888", linestyles=stroke, lw=1.2, label=label
            )
            shown = True


def _points(part: str, system: str, paper: Paper) -> Mapping[str, float]:
    """What the paper says in figures of a part of its Figure 3: class to F1 as a share."""
    if part == "size":
        return {
            size: one.found[2] / 100 for size, rows in paper.retrieval.items() for one in rows if one.system == system
        }
    return {one.of: one.f1 / 100 for one in paper.points if (one.part, one.system) == (part, system)}


# --- Figure 4: hallucination ratio ----------------------------------------------------------------------------------


def _ratios(canvas: Canvas, report: BenchmarkReport, paper: Paper) -> bool:
    """A small panel for each system: a point for each question, hallucination ratio against size of the gold cohort."""
    points = [
        (system.name, [(one.gold, one.ratio) for one in system.scores.hallucination.ratios if one.answered])
        for system in report.systems
    ]
    points = [(name, found) for name, found in points if found]
    if not points:
        return False
    columns = min(4, len(points))
    lines = -(-len(points) // columns)
    canvas.set_size_inches(10, 2.2 * lines + 0.4)
    axes = canvas.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flat
    top = max(ratio for _, found in points for _, ratio in found)
    for place, one in enumerate(axes):
        if place >= len(points):
            one.set_visible(False)
            continue
        name, found = points[place]
        one.scatter(
            [wanted for wanted, _ in found],
            [max(ratio, _LEAST_RATIO) for _, ratio in found],
            s=14,
            alpha=0.6,
            color=COLOURS[place % len(COLOURS)],
            marker=MARKS[place % len(MARKS)],
            linewidths=0,
        )
        one.set_xscale("log")
        one.set_yscale("log")
        one.set_ylim(_LEAST_RATIO * 0.7, max(1.0, top) * 1.5)
        one.axhline(1, color="#888888", linewidth=0.6)
        plain_numbers(one, "xy")
        one.tick_params(labelbottom=place + columns >= len(points))
        one.set_title(name, loc="left", fontweight="bold")
        one.grid(alpha=0.3, linewidth=0.5)
    canvas.supxlabel("patients in the gold cohort")
    canvas.supylabel("false positives for each of them")
    return True


# --- Figure 5: false positives of zero-result questions --------------------------------------------------------------


def _zero_results(canvas: Canvas, report: BenchmarkReport, paper: Paper) -> bool:
    """A line for each system over the questions that nobody matches, in the order of the bank."""
    of_system = [
        (system.name, {one.id: one.false_positives for one in system.scores.hallucination.zero_result if one.answered})
        for system in report.systems
    ]
    ids = answered_zeros(report)
    if not ids:
        return False
    axes = canvas.subplots()
    for place, (name, found) in enumerate(of_system):
        axes.plot(
            range(len(ids)),
            [found.get(one, float("nan")) for one in ids],
            marker=MARKS[place % len(MARKS)],
            markersize=3.5,
            linewidth=0.8,
            linestyle=STROKES[place // len(COLOURS) % len(STROKES)],
            color=COLOURS[place % len(COLOURS)],
            label=name,
        )
    # Straight near 0, so that none and one are told apart, and logarithmic above.
    axes.set_yscale("symlog", linthresh=1)
    ticks = count_ticks(max(named for _, found in of_system for named in found.values()))
    axes.set_yticks(ticks)
    axes.set_ylim(-0.2, ticks[-1] * 1.1)
    plain_numbers(axes, "y")
    axes.set_xticks(range(len(ids)), ids, rotation=90, fontsize=6)
    axes.set_xlabel("question (id)")
    axes.set_ylabel("false positives")
    axes.grid(axis="y", alpha=0.3, linewidth=0.5)
    canvas.legend(loc="outside upper center", ncols=6)
    return True


def answered_zeros(report: BenchmarkReport) -> list[str]:
    """The zero-result questions that some system answered, in the order of the bank: all were asked the same, and what
    one of them left open has its place, too."""
    points = [one for system in report.systems for one in system.scores.hallucination.zero_result]
    answered = {one.id for one in points if one.answered}
    return [one for one in dict.fromkeys(point.id for point in points) if one in answered]


def count_ticks(most: int) -> list[int]:
    """0, 1, 2, 5, 10, 20 … up to the first that is no less than ``most``: few counts reach the next power of ten."""
    ticks = [0, 1]
    while ticks[-1] < most:
        # From 2 to 5 it is two and a half times as many, else twice.
        ticks.append(ticks[-1] * 5 // 2 if str(ticks[-1])[0] == "2" else ticks[-1] * 2)
    return ticks


_DRAWINGS: Final = (
    _Drawing(
        "figure-3",
        "F1 by class (the paper's Figure 3)",
        "Bars: F1 of each system with its 95% interval over patients. Grey strokes: what the paper's text and Table 1 "
        "say in figures of its own systems, on other patients, and in (a) by its own judgement of complexity. What was "
        "not answered is scored as an empty answer.",
        (10, 3.6),
        _by_class,
    ),
    _Drawing(
        "figure-4",
        "Hallucination ratio against size of the gold cohort (the paper's Figure 4)",
        "A point for each answered question that somebody matches: false positives for each patient who is wanted. "
        f"Both scales are logarithmic; points at {_LEAST_RATIO} are of {_LEAST_RATIO} or less, mostly 0.",
        (10, 3),
        _ratios,
    ),
    _Drawing(
        "figure-5",
        "False positives of questions that nobody matches (the paper's Figure 5)",
        "For each answered zero-result question how many patients each system named. The scale is straight up to 1 and "
        "logarithmic above.",
        (10, 3.2),
        _zero_results,
    ),
)
