"""What a corpus is, in figures, for a model's card: documents, words, spans by label, terms, digests of its files."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Final

from .corpus import AnnotatedCorpus
from .licences import licence_of

#: More files than these are told by one digest of all.
_MOST_FILES: Final = 8


def describe(corpus: AnnotatedCorpus) -> dict[str, Any]:
    """Plain values, in an order that is always the same.

    ``overlapping``: spans that a flat tagging cannot hold beside another. ``unaligned``: spans that begin or end within
    a word. ``problems``: how often each kind of reason was met. ``sha256``: of each file, or of the digests of all.
    """
    flat = sum(len(one.flat().spans) for one in corpus.documents)
    spans = sum(len(one.spans) for one in corpus.documents)
    unaligned = 0
    for document in corpus.documents:
        starts, ends = ({place[side] for place in document.words} for side in (0, 1))
        unaligned += sum(span.start not in starts or span.end not in ends for span in document.spans)
    judged = sum(len(one.judged_words()) for one in corpus.documents)
    terms = licence_of(corpus)
    return {
        "name": corpus.name,
        "form": corpus.form,
        "unit": corpus.unit,
        "documents": len(corpus),
        "groups": len({one.group for one in corpus.documents if one.group}),
        "words": sum(len(one.words) for one in corpus.documents),
        "judged_words": judged,
        "spans": spans,
        "overlapping": spans - flat,
        "unaligned": unaligned,
        "labels": dict(sorted(corpus.labels().items(), key=lambda one: (-one[1], one[0]))),
        "licence": corpus.licence or (terms.licence if terms else ""),
        "cite": terms.cite if terms else "",
        "may_ship": terms.ship if terms else None,
        "problems": dict(Counter(one.reason for one in corpus.problems).most_common()),
        "sha256": _digests(corpus),
    }


def _digests(corpus: AnnotatedCorpus) -> dict[str, str]:
    if len(corpus.files) <= _MOST_FILES:
        return {one.name: one.sha256 for one in corpus.files}
    listed = "".join(f"{one.sha256}  {one.name}\n" for one in sorted(corpus.files, key=lambda one: one.name))
    return {f"{len(corpus.files)} files": hashlib.sha256(listed.encode("utf-8")).hexdigest()}
