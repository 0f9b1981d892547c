"""Definitions from elsewhere: files of ``let … be …;`` lines, and parameters as a command line gives them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ...kb.errors import UsageError
from ..errors import QueryError
from ..nodes import Definition
from .parameters import Parameters
from .parse import LONGEST_QUERY, parse_definitions

#: A file of definitions may be so many bytes long: each character of a query takes four at most.
_LONGEST_FILE: Final = 4 * LONGEST_QUERY


def read_definitions(
    files: Iterable[str | os.PathLike[str]], parameters: Parameters | None = None
) -> tuple[Definition, ...]:
    """The definitions of the files, in order; one may use those before it in its own file.

    UsageError for a file that cannot be read, QueryError for one that holds anything but definitions, or a name that
    another of the files defines.
    """
    found: dict[str, Definition] = {}
    for file in files:
        path = Path(file)
        try:
            with path.open("rb") as stream:
                data = stream.read(_LONGEST_FILE + 1)
            if len(data) > _LONGEST_FILE:
                raise UsageError(f"{path} is too long for a file of definitions: at most {_LONGEST_FILE:,} bytes")
            text = data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else (error.strerror or "cannot be read")
            raise UsageError(f"the definitions in {path} cannot be read: {reason}") from error
        for definition in parse_definitions(text, parameters):
            if definition.name in found:
                raise QueryError(f"'{definition.name[:60]}' is defined a second time, in {path}")
            found[definition.name] = definition
    return tuple(found.values())


def read_parameters(settings: Iterable[str]) -> dict[str, str]:
    """``name=value`` settings of a command line. UsageError for one that is not so written, or given twice."""
    found: dict[str, str] = {}
    for setting in settings:
        name, equal, value = setting.partition("=")
        name = name.strip().removeprefix("$")
        if not equal or not name:
            raise UsageError(f"'{setting[:60]}' sets nothing. Hint: --set name=value")
        if name in found:
            raise UsageError(f"the parameter {name} is set twice")
        found[name] = value
    return found
