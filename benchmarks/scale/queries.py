"""The query shapes on one knowledge base: every answer checked against SQL, then all contenders measured by turns."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

import cohortium
from benchmarks.scale import openmed as scale_openmed
from benchmarks.scale import questions as scale_questions
from benchmarks.scale.atoms import Atom, Common, NotFound, shares
from benchmarks.scale.openmed import OmopTables
from benchmarks.scale.questions import Chosen, Question
from benchmarks.scale.rival_process import RivalProcess, distinct
from benchmarks.scale.sql import BELIEVED, CERTAIN, MEMORY, POSSIBLE, THREADS, SqlSide, Variant, Writer, Writing
from benchmarks.scale.turns import Call, Patience, by_turns, timed
from cohortium.engine.api import OpenKb
from cohortium.kb.model import World
from cohortium.kb.storage.layout import DATABASE, INDEX, Layout

OURS: Final = "cohortium"
RESOLVED, PATIENTS = "openmed", "openmed, patients alone"
_WORLDS: Final = ((CERTAIN, World.CERTAIN), (BELIEVED, World.BELIEVED), (POSSIBLE, World.POSSIBLE))

Tell = Callable[[str], None]


class Differs(Exception):
    """Two contenders gave different answers to one question; the message says to which."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one knowledge base is measured. ``rivals`` is their interpreter, None to leave openmed out; ``facts`` are
    those that another knowledge base was asked for, so that the questions are the same."""

    patience: Patience
    tuned: bool
    rivals: RivalProcess | None
    openmed_patience: Patience
    scratch: Path | None
    facts: Mapping[str, Any]


def measure(path: Path, plan: Plan, tell: Tell) -> dict[str, Any]:
    """Everything about one knowledge base, for JSON."""
    layout = Layout(path)
    generation = layout.generation(layout.require_current())
    found: dict[str, Any] = {"name": path.name, "storage": storage(generation)}
    with cohortium.open(path) as kb:
        tell(f"{path.name}: {len(kb.patients):,} patients; SQL beside it")
        sql = SqlSide(generation / DATABASE, plan.tuned, plan.scratch)
        try:
            found |= _counts(sql)
            found["tuned_sql"] = sql.built
            common = Common.of(kb, sql.database)
            chosen = Chosen.again(common, plan.facts) or Chosen.of(common)
            found["facts"] = {
                field.name: told
                for field, told in zip(
                    fields(chosen), shares(kb, [getattr(chosen, field.name) for field in fields(chosen)]), strict=True
                )
            }
            asked = list(scale_questions.questions(kb, sql, chosen))
            found["cold"] = _cold(path, asked)
            with _omop(sql, plan, found, tell) as tables:
                rows = list(_answered(kb, sql, asked, tables, plan, tell))
            rows.append(_bounds(kb, sql, chosen, plan.patience))
            rows += _explained(kb, sql, chosen, plan.patience)
            rows.append(_funnel(kb, sql, chosen, plan.patience))
            rows.append(_english(kb, sql, common, plan.patience))
            found["questions"] = rows
        finally:
            sql.close()
    return found


def storage(generation: Path) -> dict[str, int]:
    """Bytes of the database and of the index."""
    index = generation / INDEX
    return {
        "database_bytes": (generation / DATABASE).stat().st_size,
        "index_bytes": sum(one.stat().st_size for one in index.rglob("*") if one.is_file()),
    }


def _counts(sql: SqlSide) -> dict[str, int]:
    patients, events, concepts = sql.database.execute(
        "SELECT (SELECT count(*) FROM patient), (SELECT count(*) FROM event), (SELECT count(*) FROM concept)"
    ).fetchall()[0]
    return {"patients": patients, "events": events, "concepts": concepts}


# --- what a process takes that has just begun -------------------------------------------------------------------------


def _cold(path: Path, asked: list[Question]) -> dict[str, Any]:
    """First calls, a process each; opening and memory; and the whole command line."""
    single = [_process(path, [question.text]) for question in asked]
    everything = _process(path, [question.text for question in asked])
    command = [sys.executable, "-m", "cohortium", "query", str(path), asked[0].text, "--format", "json", "--limit", "0"]
    whole = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        whole.append((time.perf_counter() - begun) * 1000)
    return {
        "first_ms": {
            question.name: done["queries"][0]["first_ms"] for question, done in zip(asked, single, strict=True)
        },
        "open_ms": _middle(done["open_ms"] for done in single),
        "import_ms": _middle(done["import_ms"] for done in single),
        "peak_memory_bytes": {"one query": single[0]["peak_memory_bytes"], "all": everything["peak_memory_bytes"]},
        "whole_process_ms": {"median": _middle(whole), "all": [round(one, 1) for one in whole]},
    }


def _process(path: Path, texts: list[str]) -> dict[str, Any]:
    script = Path(__file__).with_name("cold.py")
    done = subprocess.run(
        [sys.executable, str(script), str(path)], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _middle(values: Any) -> float:
    return round(statistics.median(values), 3)


# --- shapes that are answered by a set of patients --------------------------------------------------------------------


@contextmanager
def _omop(sql: SqlSide, plan: Plan, found: dict[str, Any], tell: Tell) -> Iterator[OmopTables | None]:
    """The facts as openmed reads them, loaded there; None when it is left out."""
    if plan.rivals is None:
        yield None
        return
    tell("OMOP tables for openmed")
    scratch = Path(tempfile.mkdtemp(prefix="scale_omop_", dir=plan.scratch))
    try:
        tables = scale_openmed.export(sql.database, scratch / "tables")
        found["openmed"] = plan.rivals.ask(
            "openmed_load",
            folder=str(tables.folder),
            database=str(scratch / "omop.duckdb"),
            threads=THREADS,
            memory=MEMORY,
        )
        yield tables
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _answered(
    kb: OpenKb, sql: SqlSide, asked: list[Question], tables: OmopTables | None, plan: Plan, tell: Tell
) -> Iterator[dict[str, Any]]:
    for question in asked:
        tell(f"{question.shape}: {question.text}")
        row = _row(kb, sql, question)
        calls = {OURS: timed(lambda text=question.text: len(kb.find(text)))}
        calls |= {
            variant.name: timed(lambda variant=variant, writer=question.sql: variant.count(writer))
            for variant in sql.variants
        }
        row["measured"] = {name: one.as_dict() for name, one in by_turns(calls, plan.patience).items()}
        if tables is not None and question.definition is not None:
            row |= _against_openmed(kb, question, tables.resolved(question.definition), plan)
        yield row


def _row(kb: OpenKb, sql: SqlSide, question: Question) -> dict[str, Any]:
    """The question with its answer, which every variant of SQL gives as well. Differs."""
    ours = np.asarray(kb.find(question.text).numbers.to_array())
    for variant in sql.variants:
        _same(question.text, variant.name, ours, variant.patients(question.sql))
    return {
        "shape": question.shape,
        "name": question.name,
        "text": question.text,
        "count": len(ours),
        "not_asked_of_openmed": question.differs,
    }


def _same(text: str, name: str, ours: Any, theirs: Any) -> None:
    if not np.array_equal(ours, theirs):
        only, other = len(np.setdiff1d(ours, theirs)), len(np.setdiff1d(theirs, ours))
        raise Differs(f"{name} answers differently: {only} patients are ours alone, {other} its own: {text}")


def _against_openmed(kb: OpenKb, question: Question, definition: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """The public call and its statement for patients alone, by turns with ours. Differs where the meaning is one."""
    assert plan.rivals is not None
    ours = set(kb.find(question.text).numbers)
    theirs = distinct(plan.rivals.ask("openmed_patients", definition=definition, patients=True)["patients"])
    if (question.differs and not ours <= theirs) or (not question.differs and ours != theirs):
        raise Differs(
            f"openmed answers differently: {len(ours - theirs)} patients are ours alone, "
            f"{len(theirs - ours)} its own: {question.text}"
        )
    calls: dict[str, Call] = {
        OURS: timed(lambda: len(kb.find(question.text))),
        RESOLVED: plan.rivals.timed("openmed_resolve", definition=definition),
        PATIENTS: plan.rivals.timed("openmed_patients", definition=definition),
    }
    measured = by_turns(calls, plan.openmed_patience)
    return {
        "openmed_count": len(theirs),
        "measured_with_openmed": {name: one.as_dict() for name, one in measured.items()},
    }


# --- shapes that are answered otherwise -------------------------------------------------------------------------------


def _bounds(kb: OpenKb, sql: SqlSide, chosen: Chosen, patience: Patience) -> dict[str, Any]:
    """The three counts of the five-way query joined with a relation in time."""
    text = f"{scale_questions.five_way(chosen)} or {chosen.first.text} before {chosen.second.text}"

    def writer(world: int) -> Writer:
        def write(writing: Writing) -> str:
            five = scale_questions.five_way_sql(chosen, world)(writing)
            before = scale_questions.before_sql(chosen.first, chosen.second, world)(writing)
            return f"SELECT patient FROM ({five}) UNION SELECT patient FROM ({before})"

        return write

    def counts() -> tuple[int, ...]:
        cohort = kb.find(text)
        return tuple(len(cohort.in_world(world)) for _, world in _WORLDS)

    cohort = kb.find(text)
    for number, world in _WORLDS:
        ours = np.asarray(cohort.in_world(world).numbers.to_array())
        for variant in sql.variants:
            _same(f"{world.name.lower()}: {text}", variant.name, ours, variant.patients(writer(number)))
    calls = {OURS: timed(counts)} | {
        variant.name: timed(lambda variant=variant: [variant.count(writer(number)) for number, _ in _WORLDS])
        for variant in sql.variants
    }
    return _told("bounds", "certain, believed, possible", text, list(counts()), by_turns(calls, patience))


def _explained(kb: OpenKb, sql: SqlSide, chosen: Chosen, patience: Patience) -> Iterator[dict[str, Any]]:
    """A member of the five-way cohort, another one in each round, with quotes; SQL fetches events and quotes."""
    text = scale_questions.five_way(chosen)
    cohort = kb.find(text)
    members = [kb.patients[number] for number in _spaced(cohort.numbers.to_array(), 200)]
    atoms = (chosen.many, chosen.one, chosen.two)
    plain = sql.variants[0]
    for member in members[:5]:
        shown = _leaves(cohort.explain(member).as_dict()["criterion"])
        rows = [_strongest(found) for found in _all_evidence(plain, atoms, member)]
        if [len(one["events"]) for one in shown[:3]] != [len({row[0] for row in one}) for one in rows]:
            raise Differs(f"explain shows other events than SQL finds: {text}")
    turn, other_turn = iter(members * 2), iter(members * 2)
    calls = {
        OURS: timed(lambda: kb.find(text).explain(next(turn))),
        plain.name: timed(lambda: _all_evidence(plain, atoms, next(other_turn))),
    }
    yield _told("explain", "explain one patient", text, 1, by_turns(calls, patience))


def _all_evidence(plain: Variant, atoms: Iterable[Atom], member: str) -> list[list[tuple[Any, ...]]]:
    return [plain.rows(_evidence(atom, member)) for atom in atoms]


def _spaced(numbers: Any, most: int) -> list[int]:
    """So many of them, from first to last."""
    return [int(numbers[at]) for at in np.unique(np.linspace(0, len(numbers) - 1, most).astype(int))]


def _leaves(criterion: dict[str, Any]) -> list[dict[str, Any]]:
    parts = criterion["parts"]
    return [leaf for part in parts for leaf in _leaves(part)] if parts else [criterion]


def _evidence(atom: Atom, patient_id: str) -> Writer:
    """The believed events of the atom in one patient, with the sentence that tells each."""

    def write(writing: Writing) -> str:
        kind, concept, patient = (writing.value(one) for one in (atom.kind, atom.concept, patient_id))
        return f"""WITH wanted AS (SELECT patient, first_event, events FROM patient WHERE patient_id = {patient})
            SELECT event.event, event.world, note.doc_id, mention.span_start, mention.span_end,
                substring(note.text, mention.sentence_start + 1, mention.sentence_end - mention.sentence_start)
            FROM event JOIN wanted USING (patient) LEFT JOIN evidence USING (event)
            LEFT JOIN mention ON mention.patient = event.patient AND mention.mention_id = evidence.mention_id
            LEFT JOIN note ON note.patient = event.patient AND note.note_id = mention.note_id
            WHERE event.kind = {kind} AND event.world >= 2
            AND event.concept IN (SELECT concept FROM below WHERE root = {concept})"""

    return write


def _strongest(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The events by which the criterion holds in the strongest world in which it does."""
    strongest = max((row[1] for row in rows), default=0)
    return [row for row in rows if row[1] >= strongest]


def _funnel(kb: OpenKb, sql: SqlSide, chosen: Chosen, patience: Patience) -> dict[str, Any]:
    """What remains after each criterion. Ours tells more: three worlds, what each removes alone."""
    text = scale_questions.five_way(chosen)
    steps = scale_questions.five_way_steps(chosen)
    ours = tuple(row.remain.believed for row in kb.find(text).funnel().rows)
    for variant in sql.variants:
        if variant.row(steps) != ours:
            raise Differs(f"the funnel is {ours}, by {variant.name} {variant.row(steps)}: {text}")
    calls = {OURS: timed(lambda: kb.find(text).funnel())} | {
        variant.name: timed(lambda variant=variant: variant.row(steps)) for variant in sql.variants
    }
    return _told("funnel", "funnel of four criteria", text, list(ours), by_turns(calls, patience))


def _english(kb: OpenKb, sql: SqlSide, common: Common, patience: Patience) -> dict[str, Any]:
    """A question in English, from its text to the size of the cohort; SQL begins where it was understood."""
    try:
        question, writer = scale_questions.english(kb, common)
    except NotFound as error:
        return {"shape": "ask", "name": "ask", "text": "", "count": None, "skipped": str(error), "measured": {}}
    cohort = kb.ask(question).cohort
    assert cohort is not None
    ours = np.asarray(cohort.numbers.to_array())
    for variant in sql.variants:
        _same(question, variant.name, ours, variant.patients(writer))
    calls = {OURS: timed(lambda: len(kb.ask(question)))} | {
        variant.name: timed(lambda variant=variant: variant.count(writer)) for variant in sql.variants
    }
    return _told("ask", "a question in English", question, len(ours), by_turns(calls, patience))


def _told(shape: str, name: str, text: str, count: Any, measured: Any) -> dict[str, Any]:
    rows = {who: one.as_dict() for who, one in measured.items()}
    return {"shape": shape, "name": name, "text": text, "count": count, "measured": rows}
