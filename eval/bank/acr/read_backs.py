"""The read-backs of ``bank.toml`` written anew, after a query was changed.

python -m cohortium.eval.bank.acr.read_backs
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.scales import Scales
from ....query_lang.nodes import Query
from ....query_lang.read_back.query import read_back, read_back_definition
from ....query_lang.resolution.resolve import resolve_text
from .bank import BANK_FILE, load_definitions, load_queries, with_definitions


def read_backs() -> dict[str, str]:
    """Id of a query, or name of a definition, to what it says, without the definitions that the file tells itself."""
    concepts, scales = ConceptTable.from_files(), Scales.from_files()
    shared = load_definitions()
    found = {}
    for number, text in load_queries().items():
        query = resolve_text(text, concepts, scales)
        own = tuple(one for one in query.definitions if one.name not in shared)
        found[str(number)] = read_back(Query(query.body, own), concepts, rules=False)
    # A query that uses every definition brings them all.
    every = with_definitions({"": " or ".join(f"'{name}'" for name in shared)}, shared)[""]
    for definition in resolve_text(every, concepts, scales).definitions:
        found[definition.name] = read_back_definition(definition, concepts)
    return found


def with_read_backs(text: str, reads: Mapping[str, str]) -> str:
    """The text of the bank with ``reads`` in every query and definition, after ``query``, and nothing else changed."""
    lines = text.splitlines()
    found: list[str] = []
    key = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        name, equals, value = line.partition(" = ")
        # A value in three quotes goes on to the line that ends with them.
        last = at
        if equals and value[:3] in ('"""', "'''") and not (len(value) > 5 and value.endswith(value[:3])):
            last = next(n for n in range(at + 1, len(lines)) if lines[n].endswith(value[:3]))
        if name in ("id", "name") and equals:
            key = str(tomllib.loads(line)[name])
        if name != "reads" or not equals:
            found += lines[at : last + 1]
        if name == "query" and equals:
            found += _quoted(reads[key])
        at = last + 1
    return "\n".join(found) + "\n"


def _quoted(text: str) -> list[str]:
    if "\n" not in text and "'" not in text:
        return [f"reads = '{text}'"]
    return f"reads = '''\n{text}'''".splitlines()


def main() -> None:
    """Rewrites the file in place."""
    BANK_FILE.write_text(with_read_backs(BANK_FILE.read_text(encoding="utf-8"), read_backs()), encoding="utf-8")


if __name__ == "__main__":
    main()
