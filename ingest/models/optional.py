"""Libraries that only some parts need: imported when used, and missed with a word on how to install them."""

from __future__ import annotations

import importlib
from importlib import metadata
from typing import Any

from ...kb.errors import UsageError


def library(name: str, extra: str) -> Any:
    """The module ``name``. UsageError, naming the ``extra`` of this package that brings it, when it is not here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"this needs the library {name}: pip install 'cohortium[{extra}]'") from error


def versions(*distributions: str) -> dict[str, str]:
    """The installed versions of ``distributions``; those that are not installed are left out."""
    found = {}
    for one in distributions:
        try:
            found[one] = metadata.version(one)
        except metadata.PackageNotFoundError:
            continue
    return found
