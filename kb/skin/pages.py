"""Pages of HTML, each of a template that lies beside the code that fills it; all text in them is escaped, and what
cannot be seen in it as on a terminal."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .escape import escaped_page
from .terminal import three_places

#: Templates name each other by their place in the package (``kb/skin/document.html``).
_PACKAGE: Final = Path(__file__).parents[2]


def page(template: Path, **values: object) -> str:
    """The page that a template makes of these values. A page needs nothing else: no script, no font, no picture."""
    return escaped_page(_environment(template.parent).get_template(template.name).render(values))


@functools.cache
def _environment(folder: Path) -> Environment:
    made = Environment(
        loader=FileSystemLoader([folder, _PACKAGE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["three_places"] = three_places
    made.filters["as_json"] = lambda value: json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return made
