"""A trained tagger's answers to an annotated corpus, scored as any system's are.

Abstracts of trials go through the scorer of their corpus. Of any other corpus the entities are scored by place: the
same borders (exact), borders that overlap with names alike (partial), and words by type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ....ingest.models.tagging.tagger import TaggedEntity, Tagger, Words
from ....kb.errors import BadModel, UsageError
from ....kb.files.whole_files import open_privately
from ....kb.skin.streams import prints_as_is
from ....kb.skin.terminal import write_csv
from ...measures.by_type import Level
from ..corpora.assembling import of_tokens
from ..corpora.corpus import AnnotatedCorpus
from ..corpora.label_maps import LabelMap
from .documents import Corpus, Document, Predictions, prediction_of_tags
from .placed import exact_counts, overlap_counts
from .scores import token_counts
from .tagging import Entity, tags_of_words, token_types_of_entities
from .types import vocabulary

#: The signs that a column's name keeps of a model's.
_PLAIN: Final = "-_."
Pair = tuple[str, str]


def fitting_types(
    tagger: Tagger, theirs: Mapping[str, str], whose: str, renamed: Sequence[Pair] = ()
) -> dict[str, str]:
    """Which type of a corpus each type of the model is: by ``renamed`` (model's, corpus's), else by its name.

    ``theirs``: the corpus's types by each way of writing them, in capitals; ``told``: what the corpus is called.
    BadModel, naming both sets, when no type fits; UsageError for a renaming of types that there are not.
    """
    names = ", ".join(dict.fromkeys(theirs.values()))
    for mine, other in renamed:
        if mine not in tagger.types:
            raise UsageError(f"the model has no type '{mine}'. Hint: one of {', '.join(tagger.types)}")
        if other.upper() not in theirs:
            raise UsageError(f"{whose} has no type '{other}'. Hint: one of {names}")
    chosen = dict(renamed)
    fits = {name: theirs.get(chosen.get(name, name).upper(), "") for name in tagger.types}
    if not any(fits.values()):
        raise BadModel(
            f"the model '{tagger.card.name}' finds {', '.join(tagger.types)}; {whose} has {names}: no type of one is a"
            f" type of the other. Hint: a model trained for them, or --map {tagger.types[0]}="
            f"{next(iter(theirs.values()), 'TYPE')}"
        )
    return {mine: other for mine, other in fits.items() if other}


def renamed_by(labels: LabelMap, tagger: Tagger) -> list[Pair]:
    """The pairs (model's type, corpus's type) of a map from the corpus's types, where it marks every mention of a type.

    BadModel where none of them is the model's. UsageError where several types of the corpus are one of the model's: it
    cannot say which of them it means.
    """
    marked = [(new, old) for old, new in labels.labels.items() if new in (labels.annotates or labels.labels.values())]
    pairs = [(new, old) for new, old in marked if new in tagger.types]
    if not pairs:
        raise BadModel(
            f"the model '{tagger.card.name}' finds {', '.join(tagger.types)}; the map '{labels.name}' makes"
            f" {', '.join(dict.fromkeys(new for new, _ in marked)) or 'nothing'}. Hint: a model trained by this map"
        )
    often = Counter(new for new, _ in pairs)
    if twice := sorted(name for name, number in often.items() if number > 1):
        raise UsageError(
            f"the map '{labels.name}' makes several types of the corpus '{twice[0]}'. Hint: pairs, as in --map"
            " disease=CONDITION,medication=DRUG"
        )
    return pairs


def trial_types() -> dict[str, str]:
    """The types of the trials' corpus by each way of writing them."""
    return dict(vocabulary().spelled)


def corpus_types(corpus: AnnotatedCorpus) -> dict[str, str]:
    """The labels of a corpus by themselves in capitals, in the order of the alphabet."""
    return {label.upper(): label for label in sorted(corpus.labels())}


# --- abstracts of trials --------------------------------------------------------------------------------------------


def answer_trials(
    tagger: Tagger, corpus: Corpus, fits: Mapping[str, str]
) -> tuple[Predictions, dict[str, list[TaggedEntity]]]:
    """The model's tags of the corpus's own tokens, as the predictions of a system; and its entities, with confidence,
    by abstract."""
    documents = list(corpus.documents.values())
    shaped = [of_tokens(one.id, one.tokens, one.tags) for one in documents]
    found = tagger.tag_words([Words(one.text, one.words, one.breaks) for one in shaped])
    name = "".join(one if one.isalnum() or one in _PLAIN else "-" for one in tagger.card.name)
    types = tuple(kind for kind in vocabulary().types if kind in fits.values())
    predictions = Predictions(name, f"ner_prediction_{name}_normalized", types)
    for document, entities in zip(documents, found, strict=True):
        predictions.answers[document.id] = prediction_of_tags(document, _tags(document, entities, fits))
    return predictions, dict(zip(corpus.documents, found, strict=True))


def _tags(document: Document, entities: Iterable[TaggedEntity], fits: Mapping[str, str]) -> list[str]:
    """BIO tags of all tokens, by the corpus's types."""
    fitting = ((one.first_word, one.last_word, fits[one.type]) for one in entities if one.type in fits)
    return tags_of_words(document.tokens, fitting)


def write_trial_answers(
    path: Path, corpus: Corpus, predictions: Predictions, entities: Mapping[str, Sequence[TaggedEntity]]
) -> None:
    """The tags as a table that ``--predictions`` reads, with the confidence of each entity in order."""
    rows = [
        [id, repr(list(one.tags)), repr([round(entity.confidence, 4) for entity in entities[id]])]
        for id, one in predictions.answers.items()
    ]
    _write(path, ["nct_id", predictions.column, "confidence"], rows)


# --- any other corpus -----------------------------------------------------------------------------------------------


def answer_corpus(tagger: Tagger, corpus: AnnotatedCorpus) -> list[list[TaggedEntity]]:
    """The model's entities in each document, of the corpus's own words."""
    return tagger.tag_words([Words(one.text, one.words, one.breaks) for one in corpus.documents])


def score_corpus(
    corpus: AnnotatedCorpus,
    found: Sequence[Sequence[TaggedEntity]],
    fits: Mapping[str, str],
    types: Sequence[str],
    seed: int = 0,
) -> dict[str, Any]:
    """The scores of entities by place, as JSON: ``exact``, ``partial``, ``token``, each micro and by type.

    A micro average is over entities (words, of ``token``) of all types; intervals are over documents. Of gold spans
    that overlap the longer counts, since a tagger finds none that overlap. Where only stretches of a text were searched
    (``judged``), nobody knows whether an answer elsewhere is right: it does not count.
    """
    exact, partial, token = Level(), Level(), Level()
    for document, entities in zip(corpus.documents, found, strict=True):
        if document.judged is not None:
            judged = document.judged_words()
            entities = [one for one in entities if judged.issuperset(range(one.first_word, one.last_word))]
        gold = [_entity(document.text, one.start, one.end, one.label) for one in document.flat().spans]
        answered = [_entity(document.text, one.start, one.end, fits[one.type]) for one in entities if one.type in fits]
        tokens = (token_types_of_entities(side, document.words) for side in (gold, answered))
        pairs = Counter(zip(*tokens, strict=True))
        exact.documents.append({kind: exact_counts(gold, answered, kind) for kind in types})
        partial.documents.append({kind: overlap_counts(gold, answered, kind) for kind in types})
        token.documents.append({kind: token_counts(pairs, kind) for kind in types})
    return {
        "partial": partial.as_dict(types, seed),
        "exact": exact.as_dict(types, seed),
        "token": token.as_dict(types, seed),
        "entity": None,
        "by": "entity",
        "types": list(types),
        "types_not_looked_for": [name for name in corpus_types(corpus).values() if name not in types],
        "unknown_types": {},
        "documents": {
            "corpus": len(corpus),
            "predicted": len(found),
            "without_prediction": [],
            "not_in_corpus": [],
            "bad_rows": 0,
        },
        "problems": [asdict(one) for one in corpus.problems],
    }


def _entity(text: str, start: int, end: int, kind: str) -> Entity:
    return Entity(start, end, kind, text[start:end])


def write_answers(
    path: Path, corpus: AnnotatedCorpus, found: Sequence[Sequence[TaggedEntity]], fits: Mapping[str, str]
) -> None:
    """A row for each entity: document, place, type, confidence. No word of the texts."""
    rows = [
        [document.id, one.start, one.end, fits.get(one.type, one.type), f"{one.confidence:.4f}"]
        for document, entities in zip(corpus.documents, found, strict=True)
        for one in entities
    ]
    _write(path, ["doc_id", "start", "end", "type", "confidence"], rows)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    try:
        with open_privately(path) as file:
            write_csv(file, header, rows, as_is=prints_as_is())
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}. Hint: --predictions-out FILE") from error
