"""Proofs of the members of cohorts: how many verify, and how many do when proof or record is spoilt. Has a seed.

    python -m benchmarks.engine.proof_mutations KB [--queries FILE.toml] [--seed N] [--times N] [--json OUT]

Four things are spoilt. *Proofs*: the JSON alone. *Rows*: one row of a patient in a copy of the database file, and
nothing else. *Records*: a patient's record, with every id, digest and index made anew so that the knowledge base is
consistent in itself. *Ontology*: is-a edges and names. A mutation of a record is *equivalent* when the engine's new
proof cites nothing that was changed and the patient was a member before: the membership is as justified as it was; or
when the changed record is just what reading its changed notes gives. It is *gone* when the patient is no member any
more, so that nothing is claimed. Each is checked with the notes read again and without.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import duckdb

import cohortium
from benchmarks.engine.proof_mutants import PROOF_MUTATORS, spoilt
from benchmarks.engine.record_forgeries import FORGERS, RAISERS, ROW_CHANGES, Target
from benchmarks.signature import command_line, markdown, signature
from cohortium.engine.api import OpenKb
from cohortium.engine.proofs.checker.verifier import Verifier
from cohortium.engine.proofs.prover import NoProof, proof_of
from cohortium.engine.proofs.records import Records
from cohortium.eval.bank.acr.bank import load_bank
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import NoteReader
from cohortium.kb.model import Event, Journey, World
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang import nodes
from cohortium.query_lang.render import render
from tests.kb.told_again import tell_digests

#: Whether the notes are read again.
READING: Final = (True, False)
WORLDS: Final = (World.BELIEVED, World.CERTAIN, World.POSSIBLE)


@dataclass
class Tally:
    """Of each kind of mutation how many were made, caught (with and without reading), equivalent, gone, and missed."""

    counts: dict[tuple[str, str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    missed: list[dict[str, Any]] = field(default_factory=list)

    def add(self, key: tuple[str, str, str], outcome: str, **told: Any) -> None:
        """One mutation; ``told`` is kept of one that was missed."""
        self.counts[key][outcome] += 1
        if outcome.startswith("missed"):
            self.missed.append({"mutation": " / ".join(key), "outcome": outcome, **told})


@dataclass(frozen=True)
class Claim:
    """That a patient is in the answer to a query in a world."""

    query: nodes.Query
    patient: str
    world: World


class Bench:
    """An intact knowledge base, its claims with their proofs, and verifiers that are kept."""

    def __init__(self, path: Path, queries: Sequence[str], seed: int) -> None:
        self.path, self.seed = path, seed
        self.kb: OpenKb = cohortium.open(path)
        self.store = KnowledgeBase.open(path)
        self.verifiers = {reading: Verifier(path, read_again=reading) for reading in READING}
        self.claims: list[Claim] = []
        for text in queries:
            cohort = self.kb.find(text)
            self.claims += [
                Claim(cohort.query, patient, world) for world in WORLDS for patient in cohort.in_world(world)
            ]
        self.reader = NoteReader(self.kb.concepts)
        self._journeys: dict[str, Journey] = {}
        self._proofs: dict[Claim, dict[str, Any]] = {}

    def journey(self, patient: str) -> Journey:
        """A patient's intact record."""
        if patient not in self._journeys:
            self._journeys[patient] = self.store.journey(patient)
        return self._journeys[patient]

    def proof(self, claim: Claim) -> dict[str, Any]:
        """The proof of a claim, as it is read from a file."""
        if claim not in self._proofs:
            found = self.kb.find(claim.query).in_world(claim.world).prove(claim.patient)
            self._proofs[claim] = json.loads(json.dumps(found))
        return self._proofs[claim]

    # --- intact -----------------------------------------------------------------------------------------------------

    def intact(self, every: int = 1) -> dict[str, Any]:
        """How many of the claims (of each so many, one) verify, and how long it took (milliseconds, the median)."""
        failed, took = [], defaultdict(list)
        for claim in self.claims[::every]:
            started = time.perf_counter()
            journey = self.store.journey(claim.patient)
            took["load the record"].append(time.perf_counter() - started)
            resolved = render(claim.query)
            started = time.perf_counter()
            proof = proof_of(
                claim.query,
                journey,
                self.kb.concepts,
                self.kb.scales,
                claim.world,
                resolved=resolved,
                generation=self.kb.generation,
            )
            took["prove"].append(time.perf_counter() - started)
            proof = self._proofs[claim] = json.loads(json.dumps(proof))
            for reading, verifier in self.verifiers.items():
                started = time.perf_counter()
                verdict = verifier.verify(claim.query, proof, claim.patient, claim.world)
                took["verify, notes read again" if reading else "verify"].append(time.perf_counter() - started)
                if not verdict.holds:
                    failed.append({"patient": claim.patient, "reading": reading, **verdict.as_dict()})
        middle = {name: round(1000 * sorted(times)[len(times) // 2], 2) for name, times in took.items() if times}
        counts = {
            f"failed {'with' if reading else 'without'} reading": sum(one["reading"] is reading for one in failed)
            for reading in READING
        }
        return {"claims": len(self.claims[::every]), **counts, "milliseconds": middle, "failures": failed[:20]}

    # --- spoilt -----------------------------------------------------------------------------------------------------

    def proofs(self, tally: Tally, times: int) -> None:
        """Each kind of mutation of proofs, so many times."""
        for family, kinds in PROOF_MUTATORS.items():
            for kind, mutator in kinds.items():
                random = Random(f"{self.seed}:{kind}")
                left = times
                for claim in random.sample(self.claims, len(self.claims)):
                    other = spoilt(self.proof(claim), mutator, random) if left else None
                    if other is None:
                        continue
                    left -= 1
                    for reading, verifier in self.verifiers.items():
                        holds = verifier.verify(claim.query, other, claim.patient, claim.world).holds
                        outcome = f"{'missed' if holds else 'caught'} {'with' if reading else 'without'} reading"
                        tally.add(("proof", family, kind), outcome, patient=claim.patient)

    def forged_members(self, tally: Tally, times: int) -> None:
        """Proofs of members, given as those of patients who are none."""
        random = Random(f"{self.seed}:member")
        for claim in random.sample(self.claims, min(times, len(self.claims))):
            members = set(self.kb.find(claim.query).in_world(claim.world))
            others = sorted(set(self.kb.patients) - members)
            if not others:
                continue
            patient = random.choice(others)
            proof = {**self.proof(claim), "patient": patient}
            for reading, verifier in self.verifiers.items():
                holds = verifier.verify(claim.query, proof, patient, claim.world).holds
                outcome = f"{'missed' if holds else 'caught'} {'with' if reading else 'without'} reading"
                tally.add(("proof", "query", "forged member"), outcome, patient=patient)

    def targets(self, random: Random) -> Iterator[tuple[Claim, Target]]:
        """A claim of each patient, with what its proof relies on first."""
        seen: set[str] = set()
        for claim in random.sample(self.claims, len(self.claims)):
            if claim.patient in seen:
                continue
            target = self.target(claim, next(iter(_chosen(self.proof(claim)["criterion"])), None))
            if target is not None:
                seen.add(claim.patient)
                yield claim, target

    def target(self, claim: Claim, event_id: str | None) -> Target | None:
        """An event of the patient with its first mention and that mention's note."""
        journey = self.journey(claim.patient)
        event = next((event for event in journey.events if event.event_id == event_id), None)
        if event is None:
            return None
        mention = next(mention for mention in journey.mentions if mention.mention_id == event.evidence[0])
        return Target(event, mention, next(note for note in journey.notes if note.note_id == mention.note_id))

    def rows(self, tally: Tally) -> None:
        """Each change of one row, for one claim of every patient; first the old proof is checked, then a new one."""
        for family, kinds in ROW_CHANGES.items():
            for kind, (what, statement) in kinds.items():
                chosen = list(self.targets(Random(f"{self.seed}:{kind}")))
                if what == "cued":
                    chosen = [(claim, target) for claim, target in chosen if target.mention.cues]
                if what == "attributed":
                    chosen = [(claim, target) for claim, target in chosen if target.event.attributes]
                with _copied(self.path) as other:
                    with duckdb.connect(str(_database(other))) as connection:
                        for _, target in chosen:
                            ids = {"note": target.note.note_id, "mention": target.mention.mention_id}
                            ids["cued"] = target.mention.mention_id
                            connection.execute(statement, [ids.get(what, target.event.event_id)])
                    # Whoever changes rows can tell the digests of files anew: only proofs find it then.
                    tell_digests(other)
                    self._judge(tally, ("row", family, kind), other, [claim for claim, _ in chosen], old=True)

    def records(self, tally: Tally) -> None:
        """Each forgery of a record, for one claim of every patient."""
        for family, kinds in FORGERS.items():
            for kind, forger in kinds.items():
                random = Random(f"{self.seed}:{kind}")
                forged, claims = {}, []
                for claim, target in self.targets(random):
                    other = forger(self.journey(claim.patient), target, random)
                    if other is not None and other != self.journey(claim.patient):
                        forged[claim.patient] = other
                        claims.append(claim)
                self._forged(tally, ("record", family, kind), forged, claims)
        for family, kinds in RAISERS.items():
            for kind, forger in kinds.items():
                random = Random(f"{self.seed}:{kind}")
                forged, claims = {}, []
                for patient in self.kb.patients:
                    claim, other = self._raised(patient, forger, random)
                    if claim is not None:
                        forged[patient] = other
                        claims.append(claim)
                self._forged(tally, ("record", family, kind), forged, claims)

    def _raised(self, patient: str, forger: Any, random: Random) -> tuple[Claim | None, Journey]:
        """A patient made a member: an event that is no fact becomes one, and is asked for."""
        journey = self.journey(patient)
        for event in random.sample(journey.events, len(journey.events)):
            if event.world > World.NONE or not event.concept or not event.evidence:
                continue
            query = _asking(event, self.kb)
            if patient in self.kb.find(query):
                continue
            claim = Claim(query, patient, World.BELIEVED)
            target = self.target(claim, event.event_id)
            other = None if target is None else forger(journey, target, random)
            if other is not None:
                return claim, other
        return None, journey

    def _forged(
        self, tally: Tally, key: tuple[str, str, str], forged: dict[str, Journey], claims: Sequence[Claim]
    ) -> None:
        if not forged:
            return
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "forged.kb"
            build_generation(
                other,
                [forged.get(patient, self.journey(patient)) for patient in self.kb.patients],
                versions={name: one for name, one in self.store.manifest["versions"].items() if name != "ontology"},
                concepts=self.kb.concepts,
                scales=self.kb.scales,
            )
            self._judge(tally, key, other, claims, old=False)

    def _judge(
        self, tally: Tally, key: tuple[str, str, str], other: Path, claims: Sequence[Claim], *, old: bool
    ) -> None:
        verifiers = {reading: Verifier(other, read_again=reading) for reading in READING}
        with cohortium.open(other) as kb:
            for claim in claims:
                fresh = _fresh(kb, claim)
                gone = isinstance(fresh, str)
                equivalent = not gone and (self._is_pristine(fresh, claim) or self._reads_so(other, claim))
                for reading, verifier in verifiers.items():
                    told = f"{'with' if reading else 'without'} reading"
                    if old:
                        verdict = verifier.verify(claim.query, self.proof(claim), claim.patient, claim.world)
                        tally.add(
                            (*key[:2], f"{key[2]}, old proof"),
                            f"{'missed' if verdict.holds else 'caught'} {told}",
                            patient=claim.patient,
                        )
                    if gone:
                        tally.add(key, f"{fresh} {told}")
                    elif equivalent:
                        tally.add(key, f"equivalent {told}")
                    else:
                        holds = verifier.verify(claim.query, fresh, claim.patient, claim.world).holds
                        tally.add(key, f"{'missed' if holds else 'caught'} {told}", patient=claim.patient)
        for verifier in verifiers.values():
            verifier.close()

    def _reads_so(self, other: Path, claim: Claim) -> bool:
        """Whether the changed record is what reading its notes gives: then it is the record of other notes."""
        with KnowledgeBase.open(other) as store:
            try:
                journey = store.journey(claim.patient)
            except (ValueError, KeyError):
                return False
        notes = [self.reader.read(note) for note in journey.notes]
        again = build_journey(claim.patient, notes, self.kb.concepts)
        # The order of a journey follows from ids, which the forgery has made anew.
        return _content(again) == _content(journey)

    def _is_pristine(self, proof: dict[str, Any], claim: Claim) -> bool:
        """Whether the patient is a member by the intact record, and the proof cites nothing but what stands there."""
        if claim.patient not in self.kb.find(claim.query).in_world(claim.world):
            return False
        journey = self.journey(claim.patient)
        intact = Records(journey, self.kb.concepts)
        for event in journey.events:
            intact.event(event)
        tables = {"events": intact.events, "mentions": intact.mentions, "notes": intact.notes}
        return all(
            key in table and json.loads(json.dumps(table[key])) == record
            for name, table in tables.items()
            for key, record in proof[name].items()
        )


def _content(journey: Journey) -> tuple[dict[str, Any], ...]:
    return (
        {mention.mention_id: mention for mention in journey.mentions},
        {event.event_id: event for event in journey.events},
        {decision.decision_id: decision for decision in journey.decisions},
    )


def _asking(event: Event, kb: OpenKb) -> nodes.Query:
    term = nodes.Concept(event.concept, kb.concepts.name(event.concept))
    return nodes.Query(nodes.Exists(nodes.Events(event.kind, nodes.Under(term, exact=True))))


def _chosen(step: dict[str, Any]) -> Iterator[str]:
    """The events that a proof chooses, in the order of its tree; of those that it rejects, the first as well."""
    for told in step.get("sets", ()):
        yield from (entry["event"] for entry in told.get("chosen", ()))
    for part in step.get("parts", ()):
        yield from _chosen(part)


def _fresh(kb: OpenKb, claim: Claim) -> Any:
    """A new proof; ``gone`` where the engine does not find the patient, ``caught`` where it cannot prove it."""
    try:
        cohort = kb.find(claim.query).in_world(claim.world)
        if claim.patient not in cohort:
            return "gone"
        return json.loads(json.dumps(cohort.prove(claim.patient)))
    except (NoProof, ValueError, KeyError):
        return "caught"


class _copied:
    """A copy of a knowledge base for a while."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory()
        return Path(shutil.copytree(self._path, Path(self._folder.name) / "copy.kb"))

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()


def _database(path: Path) -> Path:
    return next(path.glob("generations/*/kb.duckdb"))


#: Statements on the ontology of a copy. $1 and $2: a concept that a proof relies on, and the one that is asked for.
ONTOLOGY_CHANGES: Final = {
    "edges below removed": "DELETE FROM concept_edge WHERE child = $1 AND $2 <> ''",
    "edges renamed": "UPDATE concept_edge SET edge_id = reverse(edge_id) WHERE child = $1 AND $2 <> ''",
    "edge forged": "INSERT INTO concept_edge SELECT '0123456789abcdef', $1, 9, 'hair_loss' || $2",
    "names removed": "DELETE FROM concept_name WHERE concept = $1 AND $2 <> ''",
    "concept renamed": "UPDATE concept SET name = 'something else' WHERE concept = $1 AND $2 <> ''",
}


def ontology(bench: Bench, tally: Tally, times: int) -> None:
    """Changes of the ontology; the proof given before and, where the patient is still found, a new one."""
    for kind, statement in ONTOLOGY_CHANGES.items():
        # A proof relies on the names of a concept where one was read: a size has none, nor has what follows by a rule.
        drawn = bench.targets(Random(f"{bench.seed}:{kind}"))
        fitting = [pair for pair in drawn if pair[1].event.concept and pair[1].is_named]
        for claim, target in fitting[:times]:
            with _copied(bench.path) as other:
                with duckdb.connect(str(_database(other))) as connection:
                    connection.execute(statement, [target.event.concept, "x"])
                tell_digests(other)
                bench._judge(tally, ("ontology", "edge", kind), other, [claim], old=True)


def report(tally: Tally) -> list[dict[str, Any]]:
    """A row for each kind of mutation."""
    rows = []
    for (spoilt_part, family, kind), counts in tally.counts.items():
        row: dict[str, Any] = {"spoilt": spoilt_part, "family": family, "kind": kind}
        for reading in READING:
            told = "with" if reading else "without"
            row |= {
                f"{name} {told}": counts[f"{name} {told} reading"]
                for name in ("caught", "equivalent", "gone", "missed")
            }
        row["made"] = sum(counts[f"{name} with reading"] for name in ("caught", "equivalent", "gone", "missed"))
        rows.append(row)
    return rows


def tables(rows: Sequence[dict[str, Any]]) -> str:
    """The rows by what is spoilt and family."""
    grouped: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        grouped[row["spoilt"], row["family"]].update({name: n for name, n in row.items() if isinstance(n, int)})
    header = ("spoilt", "family", "made", "gone", "equivalent", "caught", "missed", "without reading: caught", "missed")
    columns = ("made", "gone with", "equivalent with", "caught with", "missed with", "caught without", "missed without")
    return markdown(header, [(*key, *(counts[name] for name in columns)) for key, counts in grouped.items()])


def load_queries(path: Path | None) -> list[str]:
    """The queries of a file (``queries = [...]``), or of the bank."""
    if path is None:
        return [one.query for one in load_bank()]
    return list(tomllib.loads(path.read_text(encoding="utf-8"))["queries"])


def run(path: Path, queries: Iterable[str], seed: int, times: int) -> tuple[dict[str, Any], Tally]:
    """Everything: what verifies intact, and what is caught when spoilt."""
    bench, tally = Bench(path, list(queries), seed), Tally()
    intact = bench.intact()
    bench.proofs(tally, times)
    bench.forged_members(tally, times)
    bench.rows(tally)
    bench.records(tally)
    ontology(bench, tally, max(1, times // 10))
    return intact, tally


def main() -> int:
    """0 when every intact proof verifies and no mutation is missed with the notes read again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("--queries", type=Path, metavar="FILE", help="default: the bank")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=40, help="mutations of proofs of each kind")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    started = time.perf_counter()
    intact, tally = run(asked.kb, load_queries(asked.queries), asked.seed, asked.times)
    rows = report(tally)
    signed = {**signature(command_line(), asked.seed), "seconds": round(time.perf_counter() - started, 1)}
    if asked.json:
        found = {"signature": signed, "intact": intact, "mutations": rows, "missed": tally.missed}
        asked.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(", ".join(f"{name} {value}" for name, value in intact.items() if name != "failures"), end="\n\n")
    print(tables(rows))
    print("\n" + ", ".join(f"{name} {value}" for name, value in signed.items()))
    missed = Counter((one["mutation"], one["outcome"]) for one in tally.missed)
    for (mutation, outcome), number in sorted(missed.items()):
        print(f"{number} {outcome}: {mutation}")
    bad = intact["failed with reading"] or any(row["missed with"] for row in rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
