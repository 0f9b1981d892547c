"""The bytes of every file against the digests that were written with them."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import DamagedKb
from ..files.block_digests import digest_of
from ..storage.layout import DATABASE
from .looked_at import LookedAt
from .rules import REPAIR, Faults, Rule


def byte_rules() -> tuple[Rule, ...]:
    """The rules about bytes, of the tables and of what derives from them: the checksum of every block, and the digest
    of every file."""
    tables, index = "tables whose file is not as it was written", "files of the index that are not as they were written"
    return (
        Rule("bytes of the tables", "files", tables, lambda looked_at: _blocks(looked_at, [DATABASE])),
        Rule("bytes of the index", "index", index, lambda looked_at: _blocks(looked_at, _index(looked_at)), REPAIR),
        Rule("digest of the tables", "files", tables, lambda looked_at: _whole(looked_at, [DATABASE]), slow=True),
        Rule(
            "digests of the index",
            "index",
            index,
            lambda looked_at: _whole(looked_at, _index(looked_at)),
            REPAIR,
            slow=True,
        ),
    )


def _index(looked_at: LookedAt) -> list[str]:
    return [name for name in looked_at.digests.names if name != DATABASE]


def _blocks(looked_at: LookedAt, names: list[str]) -> Iterator[Faults]:
    for name in names:
        try:
            looked_at.digests.file(name).prove_all()
        except DamagedKb as error:
            block = str(error).partition("(the block at byte ")[2].partition(")")[0]
            yield Faults(1, f"{name}, the block at byte {block}" if block else name)


def _whole(looked_at: LookedAt, names: list[str]) -> Iterator[Faults]:
    for name in names:
        try:
            found = digest_of(looked_at.folder / name).sha256
        except OSError as error:
            yield Faults(1, f"{name} ({error.strerror})")
            continue
        if found != looked_at.digests.sha256(name):
            yield Faults(1, name)
