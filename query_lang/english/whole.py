"""Groups of criteria to one query: what is said of one tumor, what of the patient, what is taken away or denied."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...kb.kinds import MOLECULAR
from ...kb.ontology.concepts import ConceptTable
from . import book
from .alterations import GenePhrase
from .chunks import Criterion, Unclear
from .terms import both, concept

_POSITIVE_RECEPTOR: Final = re.compile(
    r"'(?:ER|PR|hormone receptor) positive'|biomarker \(?(?:concept:)?(?:ER|PR|HER2)\b[^|]*?(?:result )?= positive",
    re.IGNORECASE,
)
#: A marker and its result at the beginning of a criterion.
_RESULT: Final = re.compile(
    r"\(?biomarker \(?(?P<marker>'[^']+'|[\w:]+)(?P<others>(?: or [\w:]+)*)\)?"
    r" (?:= |with \(?result = )'?(?P<result>positive|negative)"
)


@dataclass(frozen=True, slots=True)
class Group:
    """A list that was read: one criterion of a sort, asked for or denied."""

    sort: str
    query: str
    negated: bool = False
    outside: bool = False
    disease: str = ""
    beside: str = ""
    members: tuple[Criterion, ...] = ()


def by_protein(query: str) -> str:
    """What is taken away is taken away by its name on the protein."""
    bare = re.sub(r" or cdna (?:= '[^']*'|in \([^)]*\))", "", query)
    return f"({bare})" if not bare.startswith(("(", "variant", "same event")) else bare


def other_than(kind: str, ids: tuple[str, ...], away: tuple[str, ...], concepts: ConceptTable) -> str:
    """Any of the concepts other than some; a class named alone that has those in it is not known to be another."""
    named = book.data("words")["classes_with"]
    vague: list[str] = []
    for one in away:
        if one in named:
            vague.append(f"exactly '{named[one]}'")
            continue
        above = set().union(*(concepts.above(below) for below in concepts.below(one)))
        inside = set().union(*(concepts.below(base) for base in ids))
        vague += [f"exactly {concept(other)}" for other in sorted((above & inside) - concepts.below(one) - set(away))]
    base = concept(ids[0]) if len(ids) == 1 else f"({' or '.join(map(concept, ids))})"
    taken = [*map(concept, away), *vague]
    return f"{kind} any {base} other than {taken[0] if len(taken) == 1 else '(' + ' or '.join(taken) + ')'}"


def diagnosis(ids: tuple[str, ...], away: str = "", *, any_: bool = False) -> str:
    """A diagnosis of any of the concepts."""
    terms = [concept(one) for one in ids]
    text = terms[0] if len(terms) == 1 else f"({' or '.join(terms)})"
    return f"diagnosis any {text} other than {away}" if any_ else f"diagnosis {text}"


def split(queries: list[str], joins: list[str], word: str) -> list[list[str]]:
    parts = [[queries[0]]]
    for query, join in zip(queries[1:], joins, strict=True):
        if join == word:
            parts.append([query])
        else:
            parts[-1].append(query)
    return parts


def bracketed(query: str) -> str:
    return query if query.startswith("(") else f"({query})"


def whole(groups: Sequence[Group], concepts: ConceptTable) -> str:
    """The criterion of all groups: what is said of a tumor is said of the same one, the rest of the patient."""
    groups = _in_situ(groups, concepts)
    wanted = [group for group in groups if not group.negated]
    _check_contradictions(groups, concepts)
    diseases = [group for group in wanted if group.sort == "disease"]
    other_diseases = [group for group in wanted if group.sort == "patient" and "diagnosis" in group.query]
    inside = [group.query for group in wanted if group.sort in ("extent", "finding", "treatment") and not group.outside]
    inside += [
        f"not {bracketed(group.query)}"
        for group in groups
        if group.negated
        and group.sort in ("finding", "extent")
        and group.members
        and all(one.kind in MOLECULAR for one in group.members)
    ]
    denied = [
        f"not {bracketed(group.query)}"
        for group in groups
        if group.negated
        and not (
            group.sort in ("finding", "extent")
            and group.members
            and all(one.kind in MOLECULAR for one in group.members)
        )
    ]
    patient = [group.query for group in wanted if group.sort == "patient"]
    patient += [group.query for group in wanted if group.outside and group.sort != "disease"]
    besides = [group.beside for group in wanted if group.beside]
    parts: list[str] = []
    own = [group for group in diseases if group.outside]
    named = [group.query for group in diseases if not group.outside]
    if named == ["diagnosis concept:malignant_neoplasm"] or named == ["diagnosis concept:neoplasm"] and inside:
        # Any cancer names no tumor in particular.
        patient = [*named, *patient] if "malignant" in named[0] else patient
        named = []
        besides = []
    apart = [group.members[0].ids for group in diseases if group.members and group.members[0].kind == "diagnosis"]
    if any(
        not any(concepts.related(a, b) for a in one for b in other) for one, other in itertools.combinations(apart, 2)
    ):
        raise Unclear("whether either of the diseases is wanted, or all of them: write 'or', or 'and'")
    named += [group.disease for group in own if inside and group.disease]
    named += [group.disease for group in wanted if group.sort == "treatment" and group.disease]
    named += [group.disease for group in diseases if not group.outside and group.disease]
    modified = any(one.before or one.after for group in diseases for one in group.members)
    if named and (inside or modified):
        parts.append(f"same tumor {bracketed(both([*named, *inside]))}")
    else:
        parts += [*named, *(inside if not besides or named else [*dict.fromkeys(besides), *inside])]
    parts += [group.query for group in own]
    if other_diseases and inside and not named:
        parts = list(dict.fromkeys(parts))
    return both([*parts, *patient, *denied])


def _in_situ(groups: Sequence[Group], concepts: ConceptTable) -> list[Group]:
    """``in situ ductal carcinoma``: the disease that lies below both; Unclear where there is no such."""
    found = list(groups)
    for group in groups:
        if group.sort != "in_situ":
            continue
        diseases = [one for one in found if one.sort == "disease" and not one.negated and len(one.members) == 1]
        ids = diseases[0].members[0].ids if len(diseases) == 1 else ()
        met = meet(ids[0], "in_situ_neoplasm", concepts) if len(ids) == 1 else ()
        if group.negated or not met:
            raise Unclear("which disease is meant to be in situ", ("in situ",))
        found = [replace(one, query=diagnosis(met)) if one is diseases[0] else one for one in found if one is not group]
    return found


def meet(one: str, other: str, concepts: ConceptTable) -> tuple[str, ...]:
    """The concept that is everything below both; nothing if there is none."""
    if concepts.is_a(other, one):
        return (other,)
    if concepts.is_a(one, other):
        return (one,)
    shared = concepts.below(one) & concepts.below(other)
    for candidate in sorted(shared):
        if concepts.below(candidate) == shared:
            return (candidate,)
    return ()


def _check_stage(groups: Sequence[Group]) -> None:
    """A stage without spread is not asked for with spread at the diagnosis."""
    wanted = [group.query for group in groups if not group.negated]
    local = any(re.search(r"stage (?:= )?'?(?:0|I{1,3})[A-D]?\b", one) for one in wanted)
    spread = any("metastasis" in one and re.search(r"within \d+ days of first diagnosis", one) for one in wanted)
    alone = [one for one in wanted if re.fullmatch(r"\(?stage (?:= )?'?[0IV]+[A-D]?'?\)?", one)]
    if len(set(alone)) > 1:
        raise Unclear("the question asks for two stages at once: write 'or' where either is meant", ("and",))
    triple = any("'triple negative'" in one for one in wanted)
    if triple and any(_POSITIVE_RECEPTOR.search(one) for one in wanted):
        raise Unclear("the question asks for triple negative and for a positive receptor")
    if (
        alone
        and any(one in ("('spread as recorded' or stage = IV)", "'spread as recorded'") for one in wanted)
        and local
    ):
        raise Unclear("the question asks for metastatic disease of a stage without spread")
    if local and spread:
        raise Unclear("the question asks for a stage without spread, and for spread at the diagnosis")


def _check_genes(groups: Sequence[Group]) -> None:
    """A gene is not asked to be unchanged and changed."""
    single = [group.members[0].phrase for group in groups if not group.negated and len(group.members) == 1]
    phrases = [one for one in single if isinstance(one, GenePhrase)]
    unchanged = {gene for one in phrases if set(one.nouns) == {"wild_type"} for gene in one.genes}
    changed = [one for one in phrases if "wild_type" not in one.nouns]
    if any(set(one.genes) <= unchanged for one in changed):
        raise Unclear("the question asks for a gene that is wild type and changed")


def _check_results(groups: Sequence[Group], concepts: ConceptTable) -> None:
    """A marker is not asked to be positive and negative; at different times it may be, but that is not said."""
    found: dict[str, str] = {}
    for group in groups:
        if len(group.members) != 1 or group.negated:
            continue
        for marker, result in _results(group.members[0], concepts):
            if found.setdefault(marker, result) != result:
                raise Unclear(f"the question asks for {concepts.name(marker)} positive and negative")


def _results(one: Criterion, concepts: ConceptTable) -> Iterator[tuple[str, str]]:
    """The markers of a criterion, each with its result."""
    if isinstance(one.phrase, GenePhrase):
        if one.phrase.nouns == ["fusion"] and len(one.phrase.genes) == 1:
            yield one.phrase.genes[0], "positive"
        return
    if one.query == "'HER2 negative'":
        yield "her2", "negative"
    read = _RESULT.match(one.query)
    for name in [] if read is None else [read["marker"].strip("'"), *read["others"].split(" or ")]:
        name = name.removeprefix("concept:").strip()
        known = (name,) if name in concepts else concepts.lookup(name, ("biomarker",)) if name else ()
        for marker in known[:1]:
            assert read is not None
            yield marker, read["result"]


def _check_contradictions(groups: Sequence[Group], concepts: ConceptTable) -> None:
    wanted = {group.query for group in groups if not group.negated}
    denied = {group.query for group in groups if group.negated}
    if wanted & denied:
        raise Unclear("the question asks for a thing and denies it")
    spread = {"('spread as recorded' or stage = IV)", "('spread as recorded')", "stage = IV"}
    without = {"'no distant spread'", "('no distant spread')"}
    metastatic = bool(wanted & spread) or any("'metastatic castration-resistant" in one for one in wanted)
    if metastatic and (wanted & without or denied & spread):
        raise Unclear("the question asks for metastatic disease and denies it")
    _check_genes(groups)
    _check_results(groups, concepts)
    _check_stage(groups)
    if "death" in wanted and ("not death" in wanted or "death" in denied):
        raise Unclear("the question asks for patients who are alive and have died")
