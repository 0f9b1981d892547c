"""A question to a chat model, for one knowledge base: its ontology goes out, its patients and notes never do."""

from __future__ import annotations

import bisect

from ...kb.endpoint.settings import Settings, from_environment
from ...kb.storage.reader import KnowledgeBase
from ...query_lang.english.translate import Translation
from ...query_lang.llm.judgement import judge
from ...query_lang.llm.translator import ModelTranslator
from ...query_lang.terms import definitions


def ask_model(
    store: KnowledgeBase,
    question: str,
    rules: Translation,
    settings: Settings | None = None,
) -> Translation:
    """What the model of ``settings`` (by default of the environment) and the translation by rules make of ``question``.

    UsageError, before anything is sent, when no endpoint is set up or the question must not be sent.
    """

    translator = ModelTranslator(
        store.concepts,
        store.scales,
        settings or from_environment(),
        definitions=definitions(),
        is_patient=lambda word: _is_patient(store, word),
    )
    return judge(translator.read(question), rules)


def _is_patient(store: KnowledgeBase, word: str) -> bool:
    """Whether ``word`` is the id of a patient, as it stands or in small or capital letters."""
    patients = store.patients
    for one in {word, word.lower(), word.upper()}:
        at = bisect.bisect_left(patients, one)
        if at < len(patients) and patients[at] == one:
            return True
    return False
