"""Cohortium finds patient cohorts in clinical notes; this is its public Python API.

>>> import cohortium
>>> cohortium.ingest("notes.jsonl", kb="notes.kb")      # doctest: +SKIP
>>> kb = cohortium.open("notes.kb")                     # doctest: +SKIP
>>> cohort = kb.find("diagnosis of breast cancer")      # doctest: +SKIP
>>> document = cohortium.read("ECOG 1.")                # doctest: +SKIP

The names below are imported when they are first used, so that ``import cohortium`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engine.api import open
    from .engine.cohort import Cohort
    from .engine.verification import verify
    from .ingest.coral_schema.standoff import load as read_brat
    from .ingest.many import ingest
    from .ingest.single import read
    from .kb.errors import CohortiumError
    from .kb.exchange.restore import restore_tables as restore
    from .kb.version import __version__
    from .query_lang.circe.importer import from_circe

__all__ = [
    "Cohort",
    "CohortiumError",
    "__version__",
    "from_circe",
    "ingest",
    "open",
    "read",
    "read_brat",
    "restore",
    "verify",
]

#: Public name -> (module, name there). Nothing is imported before: this file must load under any name, since pytest
#: loads it by itself in a checkout whose name is no name of a package.
_HOMES = {
    "__version__": (".kb.version", "__version__"),
    "open": (".engine.api", "open"),
    "Cohort": (".engine.cohort", "Cohort"),
    # The package itself, which can be called: once a module of it is imported, its name is there in any case.
    "ingest": (".ingest", ""),
    "read": (".ingest.single", "read"),
    "from_circe": (".query_lang.circe.importer", "from_circe"),
    "read_brat": (".ingest.coral_schema.standoff", "load"),
    "restore": (".kb.exchange.restore", "restore_tables"),
    "verify": (".engine.verification", "verify"),
    "CohortiumError": (".kb.errors", "CohortiumError"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")
    module, attribute = _HOMES[name]
    home = importlib.import_module(module, __name__)
    value = getattr(home, attribute) if attribute else home
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
