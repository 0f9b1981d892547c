"""Acquisition: from notes to journeys.

The package can be called, since ``cohortium.ingest("notes.jsonl", kb="notes.kb")`` is what :func:`.many.ingest` does:
one name cannot be both a function and the package that holds it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """This package, which reads notes into a knowledge base when it is called."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """As :func:`.many.ingest`."""
        from .many import ingest

        return ingest(*arguments, **options)


sys.modules[__name__].__class__ = CallablePackage
