"""The scored run: every query of the bank is asked, and its answer held against the labels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ....kb.version import __version__
from ....query_lang.errors import QueryError
from ...measures import bootstrap
from ...measures.scoring import Counts, count
from ...measures.terms import DEFAULT, Terms
from ...report.signature import command_line
from .bank import BankQuery, load_bank
from .labels import Labels, load_labels
from .report import Report, ScoredQuery

#: The answer to a query: patient ids. It may raise QueryError.
Find = Callable[[str], Iterable[str]]


class Session(Protocol):
    """What a run needs of an open knowledge base (``cohortium.open(path)`` is one)."""

    @property
    def patients(self) -> Sequence[str]:
        """All patient ids."""

    def find(self, query: str, /) -> Iterable[str]:
        """The patients that the query denotes; QueryError if it cannot be read or resolved."""

    def info(self) -> dict[str, Any]:
        """Counts and versions."""


def run_acr(
    kb: str | Path | Session,
    labels: Path | Labels,
    queries: Sequence[BankQuery] | None = None,
    terms: Terms = DEFAULT,
) -> Report:
    """Asks a knowledge base (path or open session) the bank (or ``queries`` of it) and scores the answers.

    ``labels`` is a file, or what :func:`labels_for` read of one. LabelError for labels that cannot be
    used; MissingKb or SchemaVersionError for the knowledge base.
    """
    bank = load_bank() if queries is None else queries
    gold = labels if isinstance(labels, Labels) else labels_for(labels, queries)
    session = _opened(kb)
    signature = {
        "command": command_line(),
        "cohortium": __version__,
        "kb": _versions(session.info()),
        "labels_sha256": gold.sha256,
        "queries": len(bank),
        "interval": bootstrap.described(terms.seed),
    }
    return score(session.find, session.patients, gold, bank, terms, signature)


def labels_for(path: Path, queries: Sequence[BankQuery] | None = None) -> Labels:
    """Labels of any queries of the bank, asked or not, and of those ``queries`` that are not of it. LabelError."""
    return load_labels(path, {one.id for one in (*load_bank(), *(queries or ()))})


def score(
    find: Find,
    held: Collection[str],
    labels: Labels,
    bank: Sequence[BankQuery],
    terms: Terms = DEFAULT,
    signature: dict[str, Any] | None = None,
) -> Report:
    """The report on the answers that ``find`` gives; ``held`` are the patients of the knowledge base.

    A labelled patient who is not held counts as not retrieved; a held one without labels is left out, and counted.
    A query that cannot be resolved is an abstention: an empty answer, listed with its reason.
    """
    among = labels.patients
    by_patient = dict.fromkeys(among, Counts())
    scored = []
    for one in bank:
        reason = ""
        try:
            found = frozenset(find(one.query))
        except QueryError as error:
            found, reason = frozenset(), str(error).splitlines()[0]
        wanted, unsure = labels.wanted(one.id), labels.open_to(one.id)
        for patient in among:
            by_patient[patient] += count(found, wanted, (patient,), unsure)
        scored.append(
            ScoredQuery(
                one.id,
                one.query,
                one.complexity,
                count(found, wanted, among, unsure),
                abstained=bool(reason),
                unresolved=reason,
                wrongly_found=tuple(sorted((found - wanted - unsure) & frozenset(among))),
                missed=tuple(sorted(wanted - found)),
            )
        )
    present = frozenset(held)
    return Report(
        scored,
        tuple(by_patient.values()),
        terms.bounds(len(among)),
        {
            "labelled": len(among),
            "missing_from_kb": len(frozenset(among) - present),
            "unlabelled": len(present - frozenset(among)),
        },
        signature or {},
        terms.seed,
    )


def _opened(kb: str | Path | Session) -> Session:
    if isinstance(kb, str | Path):
        from ....engine.api import open as open_kb

        return open_kb(kb)
    return kb


def _versions(info: dict[str, Any]) -> dict[str, Any]:
    """What identifies the knowledge base: its generation (a hash of its content), versions and counts."""
    return {
        name: info[name] for name in ("generation", "schema_version", "versions", "patients", "notes") if name in info
    }
