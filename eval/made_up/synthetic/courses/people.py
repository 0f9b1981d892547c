"""Background of patients: other illnesses, smoking, and the illnesses of relatives."""

from __future__ import annotations

from .story import Disease, Story
from .tables import chosen, table


def background(story: Story, disease: Disease) -> list[int]:
    """The facts that the first consultation takes down; undated, for they were there before."""
    people = table("people")
    facts: list[int] = []
    group = "head and neck" if disease.entity["family"] == "head and neck" else story.given.group
    older = 1.0 if disease.found.year - story.born.year >= 55 else 0.45
    names = dict(people["comorbidities"])
    names |= {name: max(share, names.get(name, 0)) for name, share in people["expected"].get(group, ())}
    for name, share in names.items():
        if story.happens(share * older):
            facts.append(story.add("comorbidity", name))
    if story.happens(0.85):
        never, former, current = people["smoking"].get(group, people["smoking"]["others"])
        habit = chosen(story.rng, ("never smoker", "former smoker", "current smoker"), (never, former, current))
        packs = f"{story.rng.randrange(5, 60, 5)} pack-years" if habit != "never smoker" else ""
        facts.append(
            story.add("social", habit, packs, assertion="historical" if habit == "former smoker" else "present")
        )
    facts += _relatives(story, disease.found.year - story.born.year)
    for syndrome in people["syndrome"]:
        if story.happens(syndrome["share"]):
            facts.append(story.add("comorbidity", syndrome["name"]))
            facts.append(
                story.add("genomic_variant", f"{syndrome['gene']} mutation", "pathogenic", gene=syndrome["gene"],
                          alteration="mutation", origin="germline", result="pathogenic")
            )  # fmt: skip
    return facts


def _relatives(story: Story, own_age: int) -> list[int]:
    """Their cancers; those of the patient's own age fell ill at an age that they can have reached by then."""
    family = table("people")["family"]
    facts: list[int] = []
    if not story.happens(family["share"]):
        return facts
    for _ in range(story.rng.choice((1, 1, 2, 3))):
        cancer = story.pick(family["cancers"])
        relatives = family["relatives"]
        if cancer in family["only_women"]:
            relatives = family["women"]
        elif cancer in family["only_men"]:
            relatives = family["men"]
        age = story.rng.randrange(38, 84)
        relative = story.rng.choice(relatives)
        if relative in family["peers"]:
            age = min(age, max(24, own_age + 8))
        facts.append(story.add("diagnosis", cancer, f"{relative}, at {age}", assertion="family"))
    carriers = family["carriers"]
    if story.happens(carriers["share"]):
        gene = story.rng.choice(carriers["genes"])
        facts.append(
            story.add("genomic_variant", f"{gene} mutation", story.rng.choice(family["relatives"]), assertion="family",
                      gene=gene, origin="germline")
        )  # fmt: skip
    return facts
