"""Verification of a cohort: its members proved by the engine, or by a file, and each proof checked by the verifier."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..kb.arguments import PATH, expect, expect_patients
from ..kb.deadline import SECONDS_OF_MANY, check, within
from ..kb.errors import UsageError
from ..kb.model import World
from ..query_lang import nodes
from .api import OpenKb
from .api import open as open_kb
from .cohort import Cohort
from .proofs.checker.faults import Fault
from .proofs.checker.verifier import Verdict, Verifier
from .proofs.prover import NoProof

#: A proof for each patient.
Proofs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of a query: a verdict for each member that was looked at, and the proofs that were checked."""

    query: str
    resolved: str
    world: World
    generation: str
    members: int
    verdicts: tuple[Verdict, ...]
    proofs: Proofs

    @property
    def holds(self) -> bool:
        """Whether every proof holds."""
        return all(verdict.holds for verdict in self.verdicts)

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The verdicts with a fault."""
        return tuple(verdict for verdict in self.verdicts if not verdict.holds)

    @property
    def on_models(self) -> dict[str, int]:
        """How many of the verified members stand, in some part, on the proposals of a model alone, by its name."""
        return dict(Counter(model for verdict in self.verdicts if verdict.holds for model in verdict.stands_on))

    def as_dict(self, with_proofs: bool = False) -> dict[str, Any]:
        """For JSON; ``with_proofs`` adds the proofs themselves, by patient."""
        outcome: dict[str, Any] = {
            "query": self.query,
            "resolved": self.resolved,
            "world": self.world.name.lower(),
            "generation": self.generation,
            "count": self.members,
            "checked": len(self.verdicts),
            "verified": len(self.verdicts) - len(self.failed),
            "failed": len(self.failed),
            "unchecked": sorted({reason for verdict in self.verdicts for reason in verdict.unchecked}),
            "on_models": self.on_models,
            "members": [verdict.as_dict() for verdict in self.verdicts],
        }
        if with_proofs:
            outcome["proofs"] = dict(self.proofs)
        return outcome


# As Python users call it: what is verified, then four choices that have a default.
# Public: each option has its name in the command, too.
def verify(
    kb: str | os.PathLike[str] | OpenKb,
    query: str | nodes.Query | Cohort,
    patients: Iterable[str] | None = None,
    *,
    world: str = "believed",
    proofs: Proofs | None = None,
    read_again: bool = True,
    model: str | os.PathLike[str] | None = None,
    seconds: float | None = SECONDS_OF_MANY,
) -> Verification:
    """Check that each member of a cohort is one, by a proof that is independent of the engine that found it.

    ``query``: text, a tree, or a cohort of this knowledge base (for parameters and definitions, see ``find``).
    ``patients``: only these; UsageError for one who is no member, unless ``proofs`` holds a proof of it. ``proofs`` are
    checked as they are, by patient, and a member without one fails; without them the engine gives a proof of each.
    ``read_again``: also read the patients' notes anew; ``model``: the directory of the model that read them too, if one
    did (the one that ships needs no naming). After ``seconds`` (None or 0: never) DeadlineExceeded. QueryError,
    MissingKb, SchemaVersionError; UsageError for another model.
    """
    expect("kb", kb, (OpenKb, *PATH), "an open knowledge base, or the folder of one")
    expect("query", query, (str, nodes.Query, Cohort), "a query as text, its tree, or a cohort")
    expect("world", world, str, "believed, certain or possible")
    expect("proofs", proofs, (Mapping, type(None)), "a mapping of patient ids to their proofs")
    if patients is not None:
        expect_patients(patients)
    if not isinstance(kb, OpenKb):
        with open_kb(kb) as opened:
            return verify(
                opened,
                query,
                patients,
                world=world,
                proofs=proofs,
                read_again=read_again,
                model=model,
                seconds=seconds,
            )
    try:
        asked = World[world.upper()]
    except KeyError:
        asked = World.NONE
    if asked is World.NONE:
        raise UsageError(f"the world is {world!r}; it is believed, certain or possible")
    with within(seconds):
        return _verified(kb, query, asked, patients, proofs, read_again=read_again, model=model)


# What :func:`verify` was given.
def _verified(
    kb: OpenKb,
    query: str | nodes.Query | Cohort,
    asked: World,
    patients: Iterable[str] | None,
    proofs: Proofs | None,
    *,
    read_again: bool,
    model: str | os.PathLike[str] | None,
) -> Verification:
    cohort = (query if isinstance(query, Cohort) else kb.find(query)).in_world(asked)
    verifier = Verifier(kb.path, kb.generation, read_again=read_again, model=model)
    try:
        given = dict(_given(cohort, patients, proofs))
        resolved = verifier.resolved(query.query if isinstance(query, Cohort) else query, kb.now)
        verdicts = []
        for patient, proof in given.items():
            check()
            if isinstance(proof, NoProof):
                verdicts.append(Verdict(patient, (Fault("proof", "", str(proof)),)))
            else:
                verdicts.append(verifier.verify(resolved, proof, patient, asked))
        kept = {patient: proof for patient, proof in given.items() if not isinstance(proof, NoProof)}
        return Verification(
            cohort.text, cohort.resolved, asked, verifier.tables.generation, len(cohort), tuple(verdicts), kept
        )
    finally:
        verifier.close()


def _given(cohort: Cohort, patients: Iterable[str] | None, proofs: Proofs | None) -> Iterable[tuple[str, Any]]:
    """Patient and proof of all who are to be looked at; an error in place of a proof that there is none of."""
    wanted = sorted({*cohort, *(proofs or ())}) if patients is None else list(dict.fromkeys(patients))
    for patient in wanted:
        if proofs is not None:
            yield patient, proofs.get(patient, NoProof("no proof of this patient was given"))
            continue
        try:
            yield patient, cohort.prove(patient)
        except NoProof as error:
            yield patient, error
