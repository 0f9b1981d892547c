"""Drawings by Matplotlib as ``svg`` elements of a page: the same input, the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from ...kb.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

# Told apart also by those who do not see all colours (M. Okabe and K. Ito, Color Universal Design, 2008).
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b")
#: What tells those apart that have a colour again.
HATCHES: Final = ("", "////", "....", "xxxx")
STROKES: Final[Sequence[Literal["solid", "dashed", "dashdot", "dotted"]]] = ("solid", "dashed", "dashdot", "dotted")
MARKS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
_SETTINGS: Final[dict[Any, Any]] = {
    "svg.hashsalt": "cohortium",
    # Letters as shapes: they look the same everywhere, and no font is asked for.
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    # A dollar in a name is a dollar.
    "text.parse_math": False,
    "font.size": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a figure is drawn: ``draw`` returns whether there was anything to draw."""

    id: str
    title: str
    caption: str
    inches: tuple[float, float]
    draw: Callable[[Canvas], bool]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing as an ``svg`` element, its title, and in words what it shows; ``id`` is what a link to it names."""

    id: str
    title: str
    caption: str
    svg: str


def drawn(drawings: Iterable[Drawing]) -> tuple[Figure, ...]:
    """The figures for which there was anything to draw. UsageError when Matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise UsageError(
            "the figures are drawn with Matplotlib, which is not installed. Hint: pip install 'cohortium[bench]'"
        ) from error
    made = []
    with matplotlib.rc_context():
        # Not what this user has set for drawings of their own.
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        for drawing in drawings:
            canvas = Canvas(figsize=drawing.inches)
            FigureCanvasSVG(canvas)
            if drawing.draw(canvas):
                made.append(Figure(drawing.id, drawing.title, drawing.caption, _svg(canvas, drawing)))
    return tuple(made)


def plain_numbers(axes: Axes, which: str) -> None:
    """``10`` in place of a power of ten, on the axes named."""
    for axis in (axes.xaxis if one == "x" else axes.yaxis for one in which):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter(lambda value, _: "")


def _svg(canvas: Canvas, drawing: Drawing) -> str:
    out = io.StringIO()
    canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = out.getvalue()
    # What stands before the element belongs to a file of its own, and the namespaces name addresses, which an element
    # in an HTML page does not need; ids are made its own, since several figures stand in one page.
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{drawing.id}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-labelledby="{drawing.id}-says" ', 1)
