"""The verifier: holds proofs against one generation of a knowledge base. It imports nothing of the engine."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....kb.model import World, content_id
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.scales import Scales
from ....kb.ontology.stored_ontology import edge_id
from ....kb.storage.layout import Layout, canonical_json
from ....query_lang import nodes
from ....query_lang.render import render
from ....query_lang.resolution.now import Today
from ....query_lang.resolution.resolve import resolve, resolve_text
from .again import ReaderAgain, ReaderKey, Reread, is_of_facts, is_read_alike, model_of, reader_of, shipped_versions
from .derivation import DerivationCheck
from .evidence import EvidenceCheck
from .faults import Fault, Findings, mapping
from .leaves import LEAVES
from .models import WITHOUT_MODEL, Models
from .record import Record, Tables
from .sets import Sets
from .views import View
from .walk import STEPS, Walk

#: The form of proof that this verifier reads.
FORMAT: Final = 1
#: Patients whose record and rereading are kept for the next proof.
_KEPT: Final = 256
_FIELDS: Final = frozenset(
    {"format", "patient", "query", "world", "generation", "criterion", "events", "mentions", "notes", "edges"}
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier says of one proof: its faults, what it could not check, with the reasons, and the models on
    whose proposals alone it stands in some part: that these are right no proof can show."""

    patient_id: str
    faults: tuple[Fault, ...]
    unchecked: tuple[str, ...] = ()
    stands_on: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "patient": self.patient_id,
            "verified": self.holds,
            "faults": [fault.as_dict() for fault in self.faults],
            "unchecked": list(self.unchecked),
            "stands_on": list(self.stands_on),
        }


class Verifier:
    """Checks proofs on the current generation of a knowledge base, or on a named one. One thread at a time."""

    def __init__(
        self,
        kb: str | os.PathLike[str],
        generation: str | None = None,
        *,
        read_again: bool = True,
        model: str | os.PathLike[str] | None = None,
    ) -> None:
        """``read_again``: also read the notes anew, once a patient. ``model``: the directory of the model that read
        them along with the rules, if one did; UsageError if it was another. MissingKb, SchemaVersionError."""
        path = Path(kb)
        self.tables = Tables(path, generation or Layout(path).require_current())
        self._of_facts = is_of_facts(self.tables)
        self._reads_again = read_again and not self._of_facts
        self._model, at_hand = model_of(self.tables, model)
        self._models = Models.from_versions(self.tables.manifest.get("versions", {}), at_hand)
        self._record = functools.lru_cache(_KEPT)(self.tables.record)
        self._reread = functools.lru_cache(_KEPT)(self._read_again)

    def close(self) -> None:
        """Release the files."""
        self.tables.close()

    def resolved(self, query: str | nodes.Query, today: Today | None = None) -> nodes.Query:
        """The query under the knowledge base's own ontology; ``today`` tells the day that *now* is. QueryError."""
        if isinstance(query, nodes.Query):
            return resolve(query, self.tables.concepts, self.tables.scales, today=today)
        return resolve_text(query, self.tables.concepts, self.tables.scales, today=today)

    def verify(self, query: nodes.Query, proof: Any, patient_id: str, world: World = World.BELIEVED) -> Verdict:
        """Whether ``proof`` shows that the patient is in the answer to the resolved ``query`` in ``world``."""
        findings = Findings()
        findings.faults.extend(self._of_tables)
        stated = mapping(proof)
        self._check_head(stated, query, patient_id, world, findings)
        try:
            record = self._record(patient_id)
        except (ValueError, KeyError, TypeError) as error:
            # Rows that no event or mention can be made of; the message of the error may quote them.
            findings.fault("rows", f"the patient's rows cannot be read ({type(error).__name__})")
            return Verdict(patient_id, tuple(findings.faults))
        if record is None:
            findings.fault("query", "the knowledge base holds no such patient")
            return Verdict(patient_id, tuple(findings.faults))
        self._check_rows(record, findings)
        reread = self._reread(patient_id) if self._reads_again else None
        if reread is not None:
            self._check_whole(record, reread, findings)
        walk = Walk(
            self._sets, self.tables.edges, findings, query.definitions, {**STEPS, **LEAVES}, set(), set(), set()
        )
        with findings.at("criterion"):
            walk.whole_of(query.body, stated.get("criterion"), View.from_record(record), world, True)
        self._check_records(stated, record, reread, walk, findings)
        return Verdict(
            patient_id, tuple(dict.fromkeys(findings.faults)), tuple(findings.unchecked), tuple(findings.models)
        )

    # --- the knowledge base as a whole ------------------------------------------------------------------------------

    @functools.cached_property
    def _sets(self) -> Sets:
        parents: dict[str, list[str]] = {}
        for child, parent in self.tables.edges.values():
            parents.setdefault(child, []).append(parent)
        edges = {child: tuple(found) for child, found in parents.items()}
        return Sets(edges, self.tables.scales, self.tables.concepts)

    @functools.cached_property
    def _of_tables(self) -> tuple[Fault, ...]:
        """Faults of the ontology and the manifest: they spoil every proof."""
        findings = Findings()
        manifest = self.tables.manifest
        versions = manifest.get("versions", {})
        with findings.at("manifest"):
            right = content_id("generation", canonical_json(manifest)) == self.tables.generation
            findings.require(right, "edge", "the generation's id is not that of its manifest")
        with findings.at("ontology"):
            wrong = [edge for edge, ends in self.tables.edges.items() if edge_id(*ends) != edge]
            findings.require(not wrong, "edge", f"{len(wrong)} is-a edges have another id than their content gives")
            here = self._ontology
            findings.require(here == versions.get("ontology"), "edge", "it is not the ontology that was written")
            if versions.get("ontology_files") == shipped_versions()["ontology_files"]:
                findings.require(
                    here == _shipped_digest(), "edge", "it is not the ontology that ships with the program"
                )
                findings.require(
                    manifest.get("scales") == Scales.from_files().data, "edge", "the scales are not those that ship"
                )
        return tuple(findings.faults)

    def _read_again(self, patient_id: str) -> Reread | None:
        record = self._record(patient_id)
        return None if record is None else self._reader.read(record)

    @functools.cached_property
    def _reader(self) -> ReaderAgain:
        return reader_of(ReaderKey(self._ontology, self._model, self.tables.concepts))

    @functools.cached_property
    def _ontology(self) -> str:
        return _ontology_digest(self.tables.concepts)

    # --- one proof --------------------------------------------------------------------------------------------------

    def _check_head(
        self, stated: Mapping[str, Any], query: nodes.Query, patient_id: str, world: World, findings: Findings
    ) -> None:
        findings.require(
            stated.get("format") == FORMAT, "query", f"the proof's form is not {FORMAT}, the one known here"
        )
        findings.require(stated.keys() <= _FIELDS, "query", "the proof has parts that no proof has")
        findings.require(stated.get("patient") == patient_id, "query", "the proof is of another patient")
        findings.require(stated.get("query") == render(query), "query", "the proof is of another query")
        findings.require(stated.get("world") == world.name.lower(), "world", "the proof is of another world")
        findings.require(
            stated.get("generation") == self.tables.generation,
            "query",
            "the proof is of another state of the knowledge base",
        )

    def _check_rows(self, record: Record, findings: Findings) -> None:
        with findings.at("patient"):
            findings.require(
                record.events_stated == record.events_found == len(record.events),
                "event",
                "events are missing, or too many",
            )
            findings.require(
                record.digest in record.found_digests, "rows", "the rows are not those that were written (their digest)"
            )

    def _check_whole(self, record: Record, reread: Reread, findings: Findings) -> None:
        """That no event or decision is recorded that the notes do not give, and none is left out."""
        lost, added = len(reread.events.keys() - record.events), len(record.events.keys() - reread.events)
        others = dict(record.decisions) != dict(reread.decisions)
        if not self._models.at_hand:
            findings.cannot(WITHOUT_MODEL)
            return
        if not self._is_read_alike and (lost or added or others):
            # What the proof cites is still held against what this program reads.
            findings.cannot("whether all events are recorded: another version of the program has read the notes")
            return
        with findings.at("patient"):
            findings.require(not lost, "reading", f"reading the notes again gives {lost} events that are not recorded")
            findings.require(not added, "reading", f"{added} events are recorded that reading again does not give")
            findings.require(not others, "reading", "reading the notes again gives other decisions")

    @functools.cached_property
    def _is_read_alike(self) -> bool:
        return is_read_alike(self.tables)

    def _check_records(
        self, stated: Mapping[str, Any], record: Record, reread: Reread | None, walk: Walk, findings: Findings
    ) -> None:
        """The events that the steps name, their mentions and notes, and the edges: all told, and as they are."""
        evidence = EvidenceCheck(
            record,
            self.tables.concepts,
            findings,
            self._of_facts,
            None if reread is None else reread.mentions,
            self._models,
        )
        events, mentions, notes = (mapping(stated.get(name)) for name in ("events", "mentions", "notes"))
        # Without the model the rules' mentions are what they were, and events may not be.
        rebuilt = None if reread is None or not self._models.at_hand else reread.events
        derivation = DerivationCheck(evidence, rebuilt)
        cited: dict[str, bool] = {}
        for event_id in sorted({*walk.named, *events}):
            with findings.at(f"event {event_id}"):
                findings.require(event_id in events, "event", "the proof names it and does not tell of it")
                findings.require(event_id in walk.named, "event", "the proof tells of it and does not name it")
                derivation.event(event_id, mapping(events.get(event_id)))
            event = record.events.get(event_id)
            proposed = (
                ()
                if event is None
                else [record.mentions[one].model for one in event.evidence if one in record.mentions]
            )
            if event_id in walk.relied and proposed and all(proposed):
                findings.models.update(dict.fromkeys(proposed))
            for mention_id in () if event is None else event.evidence:
                relied = event is not None and event_id in walk.relied and event.context.really_happened
                cited[mention_id] = cited.get(mention_id, False) or relied
        wanted = set(walk.notes)
        for mention_id in sorted({*cited, *mentions}):
            with findings.at(f"mention {mention_id}"):
                findings.require(mention_id in mentions, "span", "an event cites it and the proof does not tell of it")
                findings.require(mention_id in cited, "span", "no event of the proof cites it")
                evidence.mention(mention_id, mapping(mentions.get(mention_id)), cited.get(mention_id, False))
            if mention_id in record.mentions:
                wanted.add(record.mentions[mention_id].note_id)
        for note_id in sorted({*wanted, *notes}):
            with findings.at(f"note {note_id}"):
                findings.require(note_id in notes, "note", "a mention lies in it and the proof does not tell of it")
                evidence.note(note_id, mapping(notes.get(note_id)))
        for edge, ends in mapping(stated.get("edges")).items():
            with findings.at(f"edge {edge}"):
                findings.require(
                    ends == list(self.tables.edges.get(edge, ())), "edge", "the knowledge base has no such edge"
                )


def _ontology_digest(concepts: ConceptTable) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for row in concepts.rows():
        digest.update(repr(row).encode())
    return digest.hexdigest()


@functools.cache
def _shipped_digest() -> str:
    return _ontology_digest(ConceptTable.from_files())
