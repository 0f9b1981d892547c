"""The linter: rules in the order in which they look at a query; docs/guide/lint.md tells what each finding means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ...kb.storage.reader import KnowledgeBase
from ..nodes import Definition, Query
from ..parsing.parameters import Parameters
from ..resolution.resolve import resolve, resolve_text
from .atoms import Atoms
from .examined import Examined
from .fact_rules import (
    any_results,
    empty_facts,
    empty_orders,
    implausible_ages,
    implausible_values,
    orders_after_death,
    pointless_picks,
    what_is_not_checked,
    wrong_concepts,
)
from .finding import SEVERITIES, Finding
from .kb_rules import (
    attributes_without_facts,
    closed_world,
    exact_concepts_without_facts,
    gaps_finer_than_dates,
    unknown_concepts,
    windows_outside,
)
from .logic_rules import (
    double_negations,
    exclusions,
    facts_apart,
    mixed_joints,
    repeated_parts,
    what_adds_nothing,
)
from .name_rules import shadowing_definitions, unused_definitions, unused_parameters
from .places import sites_of

Rule = Callable[[Examined], Iterator[Finding]]

#: Rules that need the query and the ontology alone.
RULES: Final[tuple[Rule, ...]] = (
    empty_facts,
    empty_orders,
    exclusions,
    what_adds_nothing,
    facts_apart,
    repeated_parts,
    double_negations,
    mixed_joints,
    unused_definitions,
    unused_parameters,
    shadowing_definitions,
    orders_after_death,
    pointless_picks,
    any_results,
    implausible_values,
    implausible_ages,
    wrong_concepts,
    what_is_not_checked,
)
#: Rules that ask the knowledge base.
KB_RULES: Final[tuple[Rule, ...]] = (
    unknown_concepts,
    exact_concepts_without_facts,
    attributes_without_facts,
    windows_outside,
    gaps_finer_than_dates,
    closed_world,
)
#: More findings than this are not told.
MOST_FINDINGS: Final = 50


def lint(
    query: str | Query,
    concepts: ConceptTable,
    scales: Scales,
    kb: KnowledgeBase | None = None,
    parameters: Parameters | None = None,
    definitions: tuple[Definition, ...] = (),
) -> tuple[Finding, ...]:
    """What is doubtful in a query, the gravest first and then in the order of the text; at most fifty findings.

    A text is resolved first: QueryError if it spells no query. A tree, which must be resolved, has no places. With
    ``kb``, what that knowledge base holds is looked at, too. ``parameters`` and ``definitions`` are those of the text.
    """
    atoms = Atoms(concepts, scales)
    if not isinstance(query, str):
        return lint_resolved(resolve(query, concepts, scales), "", atoms, kb)
    resolved = resolve_text(query, concepts, scales, parameters, definitions)
    return lint_resolved(resolved, query, atoms, kb, parameters, definitions)


def lint_resolved(
    query: Query,
    text: str,
    atoms: Atoms,
    kb: KnowledgeBase | None = None,
    parameters: Parameters | None = None,
    definitions: tuple[Definition, ...] = (),
) -> tuple[Finding, ...]:
    """As :func:`lint`, of a resolved query that ``text`` spells (empty: unknown)."""
    examined = Examined(query, text, sites_of(query, text, parameters, definitions), atoms, kb)
    found: dict[tuple[str, str, int | None], Finding] = {}
    for rule in RULES if kb is None else (*RULES, *KB_RULES):
        for finding in rule(examined):
            found.setdefault((finding.code, finding.message, finding.offset), finding)
            if len(found) >= MOST_FINDINGS:
                break
    order = sorted(found.values(), key=lambda one: (SEVERITIES.index(one.severity), one.offset or 0))
    return tuple(order[:MOST_FINDINGS])
