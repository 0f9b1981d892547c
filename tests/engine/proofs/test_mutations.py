"""Every kind of mutation makes verification fail: of a proof, of a row, of a whole record, of the ontology."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.engine.proof_mutants import PROOF_MUTATORS, spoilt
from benchmarks.engine.proof_mutations import ONTOLOGY_CHANGES, Bench, Tally, ontology
from benchmarks.engine.record_forgeries import FORGERS, RAISERS, ROW_CHANGES

PROOF_KINDS = [(family, kind) for family, kinds in PROOF_MUTATORS.items() for kind in kinds]
#: Chosen so that a run takes seconds: the benchmark makes all of them.
ROW_KINDS = [(family, kind) for family, kinds in ROW_CHANGES.items() for kind in kinds][::8]


def test_every_member_has_a_proof_that_verifies(bench: Bench) -> None:
    """The members of all queries in the three worlds, whether or not the notes are read again."""
    found = bench.intact(every=10)
    assert found["claims"] > 90
    assert (found["failed with reading"], found["failed without reading"]) == (0, 0), found["failures"]


@pytest.mark.parametrize(("family", "kind"), PROOF_KINDS)
def test_a_spoilt_proof_fails(bench: Bench, family: str, kind: str) -> None:
    """Each mutation of the JSON is caught without the notes being read again."""
    random, made = Random(kind), 0
    for claim in random.sample(bench.claims, len(bench.claims)):
        if made == 8:
            break
        other = spoilt(bench.proof(claim), PROOF_MUTATORS[family][kind], random)
        if other is None:
            continue
        made += 1
        verdict = bench.verifiers[False].verify(claim.query, other, claim.patient, claim.world)
        assert not verdict.holds, (kind, claim)
    assert made


def test_a_proof_for_another_patient_fails(bench: Bench) -> None:
    """A proof of a member, given as that of a patient who is none, is caught."""
    tally = Tally()
    bench.forged_members(tally, 20)
    assert not tally.missed
    assert sum(tally.counts["proof", "query", "forged member"].values()) > 10


def judged(bench: Bench, make: str, family: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> Tally:
    """The outcome of one kind of mutation of rows or records."""
    from benchmarks.engine import proof_mutations

    tally = Tally()
    for name, kinds in (("ROW_CHANGES", ROW_CHANGES), ("FORGERS", FORGERS), ("RAISERS", RAISERS)):
        here = {family: {kind: kinds[family][kind]}} if kind in kinds.get(family, {}) else {}
        monkeypatch.setattr(proof_mutations, name, here)
    getattr(bench, make)(tally)
    return tally


@pytest.mark.parametrize(("family", "kind"), ROW_KINDS)
def test_a_changed_row_is_caught(bench: Bench, family: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row changed in the database file: the proof given before fails, and so does a new one, if there is any."""
    tally = judged(bench, "rows", family, kind, monkeypatch)
    old = tally.counts["row", family, f"{kind}, old proof"]
    assert old["caught with reading"] == old["caught without reading"] > 3
    assert not tally.missed


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("cue", "negation inserted"),
        ("cue", "context made present"),
        ("event", "tumor changed"),
        ("event", "event dropped"),
        ("world", "world raised"),
    ],
)
def test_a_forged_record_is_caught(bench: Bench, family: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record with all ids and digests made anew: reading the notes again tells, unless the membership stands by
    what was not touched."""
    tally = judged(bench, "records", family, kind, monkeypatch)
    counts = tally.counts["record", family, kind]
    assert sum(counts.values()) > 5
    assert not counts["missed with reading"], tally.missed


def test_a_changed_ontology_is_caught(bench: Bench) -> None:
    """Edges removed, renamed and forged, names removed, concepts renamed."""
    tally = Tally()
    ontology(bench, tally, 1)
    kinds = {kind for _, _, kind in tally.counts}
    assert set(ONTOLOGY_CHANGES) <= kinds
    assert not tally.missed
