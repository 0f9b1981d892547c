"""A document as the brat tool wants it: text, annotation file and ``annotation.conf`` in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...kb.errors import UsageError
from ...kb.files.text_files import bytes_of
from ...kb.files.whole_files import write_private
from .standoff import Standoff
from .types import Schema, schema


def annotation_conf(of: Schema | None = None) -> str:
    """The configuration of the schema: entity types with what refines them, relations with their arguments, attributes
    with their values."""
    known = of or schema()
    return "".join(
        f"[{name}]\n{''.join(line + chr(10) for line in lines)}\n"
        for name, lines in (
            ("entities", _entities(known, "", 0)),
            ("relations", _relations(known)),
            ("events", ()),
            ("attributes", _attributes(known)),
        )
    )


def _entities(known: Schema, above: str, depth: int) -> Iterator[str]:
    for entity in known.entities.values():
        if entity.of == above:
            yield "\t" * depth + entity.name
            yield from _entities(known, entity.name, depth + 1)


def _relations(known: Schema) -> Iterator[str]:
    for relation in known.relations.values():
        heads, tails = (_one_of(known, types) for types in (relation.heads, relation.tails))
        yield f"{relation.name}\tArg1:{heads}, Arg2:{tails}"
    # A place stands within the name of a disease, a size within a finding.
    yield "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>"


def _attributes(known: Schema) -> Iterator[str]:
    for attribute in known.attributes.values():
        yield f"{attribute.name}\tArg:{_one_of(known, attribute.entities)}, Value:{'|'.join(attribute.values)}"


def _one_of(known: Schema, types: frozenset[str]) -> str:
    return "|".join(name for name in known.entities if name in types)


def save(standoff: Standoff, place: str | Path) -> tuple[Path, ...]:
    """Write ``place`` (``.ann``), beside it the text that it annotates and, where there is none, ``annotation.conf``.

    The paths written, for their owner alone. UsageError when another text stands beside it already, or nothing can be
    written there.
    """
    ann = Path(place)
    if ann.suffix != ".ann":
        raise UsageError(f"'{ann}' is no annotation file. Hint: name it {ann.stem or 'note'}.ann")
    text, conf = ann.with_suffix(".txt"), ann.with_name("annotation.conf")
    content = (standoff.text or "").encode("utf-8", "surrogatepass")
    written = [ann]
    try:
        if text.exists():
            if bytes_of(text).removeprefix(b"\xef\xbb\xbf") != content:
                raise UsageError(f"'{text}' holds another text. Hint: name another place for the annotations")
        else:
            write_private(text, content)
            written.append(text)
        write_private(ann, standoff.to_ann().encode("utf-8", "surrogatepass"))
        if not conf.exists():
            conf.write_text(annotation_conf(), "utf-8")
            written.append(conf)
    except OSError as error:
        raise UsageError(f"cannot write '{ann}': {error.strerror}") from error
    return tuple(written)
