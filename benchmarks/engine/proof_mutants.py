"""Ways to spoil a proof: each kind of mutation as a function, all with a seed."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

Proof = dict[str, Any]
#: Spoils a proof in place; False where it has nothing to spoil.
ProofMutator = Callable[[Proof, Random], bool]


# --- a proof ----------------------------------------------------------------------------------------------------------


def _one(records: Mapping[str, Any], random: Random, fits: Callable[[Any], Any] = bool) -> Any:
    """One of the records that fit; None if none does."""
    found = [records[key] for key in sorted(records) if fits(records[key])]
    return random.choice(found) if found else None


def _moved(day: str) -> str:
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=1)).isoformat()


def _steps(node: Any) -> list[Proof]:
    """All steps of the tree."""
    return [node, *(step for part in node.get("parts", ()) for step in _steps(part))]


def _sets(proof: Proof) -> list[Proof]:
    return [told for step in _steps(proof["criterion"]) for told in step.get("sets", ())]


def _entries(proof: Proof, *names: str) -> list[tuple[list[Any], Any]]:
    """The entries of event sets under these names, each with its list."""
    found = []
    for told in _sets(proof):
        for name in names:
            found += [(told[name], entry) for entry in told.get(name, ())]
    return found


def _change(table: str, change: Callable[[Any, Random], Any], fits: Callable[[Any], Any] = bool) -> ProofMutator:
    """A mutator that changes one record of a table."""

    def mutate(proof: Proof, random: Random) -> bool:
        record = _one(proof[table], random, fits)
        if record is None:
            return False
        change(record, random)
        return True

    return mutate


def _set(name: str, value: Callable[[Any, Random], Any]) -> Callable[[Any, Random], None]:
    def change(record: Any, random: Random) -> None:
        record[name] = value(record[name], random)

    return change


def _drop_one(name: str) -> Callable[[Any, Random], None]:
    def change(record: Any, random: Random) -> None:
        record[name].pop(random.randrange(len(record[name])))

    return change


def _cue(change: Callable[[Any], None]) -> Callable[[Any, Random], None]:
    return lambda record, random: change(random.choice(record["cues"]))


def _shift(name: str, by: int) -> Callable[[Any], None]:
    def change(record: Any) -> None:
        record[name] += by

    return change


def _flip(record: Any, random: Random) -> None:
    record["context"]["polarity"] = "absent" if record["context"]["polarity"] == "present" else "present"


def _day(record: Any, random: Random) -> None:
    at = random.choice([at for at in (0, 1) if record["day"][at]])
    record["day"][at] = _moved(record["day"][at])


def _forget(table: str) -> ProofMutator:
    def mutate(proof: Proof, random: Random) -> bool:
        if not proof[table]:
            return False
        del proof[table][random.choice(sorted(proof[table]))]
        return True

    return mutate


def _from_sets(
    change: Callable[[list[Any], Any, Random], Any], *names: str, fits: Callable[[Any], Any] = bool
) -> ProofMutator:
    """A mutator that changes one entry of an event set, given the list that it is in."""

    def mutate(proof: Proof, random: Random) -> bool:
        found = [(where, entry) for where, entry in _entries(proof, *names) if fits(entry)]
        if not found:
            return False
        where, entry = random.choice(found)
        return change(where, entry, random) is not False

    return mutate


def _drop(where: list[Any], entry: Any, random: Random) -> None:
    where.remove(entry)


def _rename_check(where: list[Any], entry: Any, random: Random) -> None:
    checks = ("world", "context", "window", "pick", "condition", "beside")
    entry["fails"] = random.choice([check for check in checks if check != entry["fails"]])


def _drop_edge(where: list[Any], entry: Any, random: Random) -> None:
    entry["path"].pop(random.randrange(len(entry["path"])))


def _forge_edge(where: list[Any], entry: Any, random: Random) -> None:
    entry["path"].insert(random.randint(0, len(entry["path"])), f"{random.getrandbits(64):016x}")


def _swap_event(proof: Proof, random: Random) -> bool:
    """Another event that the proof tells of in place of the chosen one."""
    chosen = _entries(proof, "chosen")
    if not chosen:
        return False
    _, entry = random.choice(chosen)
    others = sorted(set(proof["events"]) - {entry["event"]})
    entry["event"] = random.choice(others) if others else f"{random.getrandbits(64):016x}"
    return True


def _narrow(where: list[Any], entry: Any, random: Random) -> Any:
    if not entry["days"][1]:
        return False
    entry["days"][1] = _moved(entry["days"][1])
    return None


def _gap(proof: Proof, random: Random) -> bool:
    steps = [step for step in _steps(proof["criterion"]) if "gap" in step]
    if not steps:
        return False
    random.choice(steps)["gap"][random.randrange(2)] += 1
    return True


def _step(change: Callable[[Proof, Random], Any], fits: Callable[[Proof], Any] = bool) -> ProofMutator:
    def mutate(proof: Proof, random: Random) -> bool:
        steps = [step for step in _steps(proof["criterion"]) if fits(step)]
        if not steps:
            return False
        change(random.choice(steps), random)
        return True

    return mutate


def _scope(name: str) -> ProofMutator:
    def change(step: Proof, random: Random) -> None:
        random.choice([part for part in step["parts"] if name in part])[name] = f"{random.getrandbits(64):016x}"

    return _step(change, lambda step: any(name in part for part in step.get("parts", ())))


def _head(name: str, value: Callable[[Any], Any]) -> ProofMutator:
    def mutate(proof: Proof, random: Random) -> bool:
        proof[name] = value(proof[name])
        return True

    return mutate


def _other_world(world: str) -> str:
    return "certain" if world != "certain" else "possible"


def _dated_note(note: Any) -> Any:
    return note["date"]


#: What is spoilt in a proof, by the family that the report counts it in.
PROOF_MUTATORS: Final[Mapping[str, Mapping[str, ProofMutator]]] = {
    "span": {
        "start shifted": _change("mentions", lambda record, random: _shift("start", 1)(record)),
        "end shifted": _change("mentions", lambda record, random: _shift("end", -1)(record)),
        "text changed": _change("mentions", _set("text", lambda text, random: text + "s")),
        "sentence moved": _change("mentions", _set("sentence", lambda span, random: [span[0] + 1, span[1]])),
        "mention left out": _forget("mentions"),
    },
    "cue": {
        "cue removed": _change("mentions", _drop_one("cues"), lambda record: record["cues"]),
        "cue moved": _change("mentions", _cue(_shift("start", 1)), lambda record: record["cues"]),
        "cue renamed": _change(
            "mentions", _cue(lambda cue: cue.update(rule="negation_never")), lambda record: record["cues"]
        ),
        "context flipped": _change("mentions", _flip),
    },
    "date": {
        "event day moved": _change("events", _day, lambda record: any(record["day"])),
        "mention day moved": _change("mentions", _day, lambda record: any(record["day"])),
        "note date moved": _change("notes", _set("date", lambda day, random: _moved(day)), _dated_note),
        "midpoint moved": _change(
            "events", _set("midpoint", lambda day, random: _moved(day)), lambda record: record["midpoint"]
        ),
        "days widened": _from_sets(_narrow, "chosen"),
        "gap changed": _gap,
        "anchor renamed": _change(
            "events", _set("anchors", lambda anchors, random: ["date:stardate"]), lambda record: record["anchors"]
        ),
    },
    "edge": {
        "edge removed": _from_sets(_drop_edge, "chosen", fits=lambda entry: entry.get("path")),
        "edge forged": _from_sets(_forge_edge, "chosen", fits=lambda entry: "path" in entry),
        "edge redirected": _change("edges", lambda edge, random: edge.reverse()),
        "concept of event replaced": _change("events", _set("concept", lambda one, random: "malignant_neoplasm_")),
        "concept of mention replaced": _change("mentions", _set("concept", lambda one, random: "lung_cancer_")),
    },
    "note": {
        "hash changed": _change("notes", _set("sha256", lambda digest, random: digest[::-1])),
        "note left out": _forget("notes"),
        "length changed": _change("notes", _set("length", lambda length, random: length + 1)),
    },
    "event": {
        "attribute added": _change("events", lambda record, random: record["attributes"].update(grade="9")),
        "kind changed": _change(
            "events", _set("kind", lambda kind, random: "death" if kind != "death" else "diagnosis")
        ),
        "tumor changed": _change("events", _set("tumor", lambda tumor, random: tumor[::-1] or "*")),
        "evidence dangling": _change(
            "events", _set("evidence", lambda ids, random: [f"{random.getrandbits(64):016x}", *ids[1:]])
        ),
        "evidence dropped": _change("events", _drop_one("evidence"), lambda record: record["evidence"]),
        "event left out": _forget("events"),
        "another event chosen": _swap_event,
        "rejected event dropped": _from_sets(_drop, "rejected"),
        "failing check renamed": _from_sets(_rename_check, "rejected"),
        "other of a pick dropped": _from_sets(_drop, "others"),
        "tumor of a scope": _scope("tumor"),
        "event of a scope": _scope("event"),
    },
    "world": {
        "world of the proof": _head("world", _other_world),
        "world of a step": _step(lambda step, random: step.update(world=_other_world(step["world"]))),
        "world of an event": _change(
            "events", _set("world", lambda world, random: "none" if world != "none" else "certain")
        ),
    },
    "query": {
        "text of a step": _step(lambda step, random: step.update(text=step["text"] + " or death")),
        "holds flipped": _step(lambda step, random: step.update(holds=not step["holds"])),
        "part left out": _step(
            lambda step, random: step["parts"].pop(random.randrange(len(step["parts"]))), lambda step: step.get("parts")
        ),
        "query of the proof": _head("query", lambda text: f"not ({text})"),
        "state of the knowledge base": _head("generation", lambda one: one[::-1]),
    },
}  # fmt: skip


def spoilt(proof: Proof, mutator: ProofMutator, random: Random) -> Proof | None:
    """A copy of the proof with the mutation; None where it has nothing to mutate, or comes out the same."""
    other = copy.deepcopy(proof)
    return other if mutator(other, random) and other != proof else None


def families() -> Sequence[str]:
    """The families of mutations, in the order of the report."""
    return tuple(PROOF_MUTATORS)
