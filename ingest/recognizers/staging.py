"""TNM categories, stage groups and tumor grades in all their spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...kb.model import Value
from ..frame import Frame, Span

_PREFIX = r"(?:yp|yc|rp|rc|ypr|mp|mc|p|c|y|r|u|mr|a)"
_GAP = r"[\s,;:/·|]{0,4}"
_NOTE = r"(?:\s?\([^()\n]{1,14}\))?"
_T = rf"(?P<t_prefix>{_PREFIX})?\s?T\s?(?P<t>is|IS|X|x|a(?![a-z])|[0O](?![a-z])|[1-4](?:mi|[a-e](?:[1-3]|i{{1,2}})?)?)(?![A-Za-z0-9]){_NOTE}"
_N = rf"(?P<n_prefix>{_PREFIX})?\s?N\s?(?P<n>X|x|[0O](?![a-z])|[1-3](?:mi|[a-c])?)(?P<n_note>(?:\s?\([^()\n]{{1,14}}\)){{0,2}})(?![A-Za-z0-9])"
_M = rf"(?P<m_prefix>{_PREFIX})?\s?M\s?(?P<m>X|x|[0O](?![a-z])|1(?:[a-d][01]?)?){_NOTE}(?![A-Za-z0-9])"
# Run together (cT2N0M0) or spaced: letters may follow T and N directly when the next category begins there.
_T_JOINED = _T.replace(r"(?![A-Za-z0-9])", r"(?![A-LO-Zb-z0-9])")
_N_JOINED = _N.replace(r"(?![A-Za-z0-9])", r"(?![A-LN-Za-z0-9])")
_TNM = re.compile(
    rf"(?<![A-Za-z0-9]){_T_JOINED}(?:{_GAP}{_N_JOINED})?(?:{_GAP}{_M})?"
    rf"|(?<![A-Za-z0-9]){_N_JOINED.replace('<n', '<lone_n')}(?:{_GAP}{_M.replace('<m', '<lone_n_m')})?"
    rf"|(?<![A-Za-z0-9]){_M.replace('<m', '<lone_m')}"
)
_CATEGORY_WORDS = re.compile(r"(?:T|N|M|tumou?r|nodal|node)?\s*[-–]?\s*(?:stage|category|classification|status|TNM|AJCC|UICC)\b[^.\n]{0,24}$|TNM\W{0,3}$|stag(?:e|ing|ed)\W+(?:as\W+)?$", re.IGNORECASE)
_NOT_TNM = re.compile(r"^\s*[-–]?\s*(?:weighted|vertebra|spine|level|hyperintens|signal|FLAIR|rib|fracture|sequence|image|-\s?[TL]\d)", re.IGNORECASE)

_ROMAN = r"(?:IV|III|II|I|0|[1-4])\s?(?:[A-D](?:\d|i{1,2})?)?"
_STAGE = re.compile(
    rf"""(?<![A-Za-z0-9])(?P<systems>(?:(?:AJCC|UICC|FIGO|anatomic(?:al)?|prognostic|patholog\w+|path|clinical(?:ly)?|overall|TNM|Ann[ -]Arbor|Lugano|Rai|Binet|R?-?ISS|Durie[- ]Salmon|Masaoka|COG|INSS|INRG)
        [\s,:]{{0,3}}(?:v?\d(?:th)?\s*(?:ed(?:ition|n)?\.?)?[\s,:]{{0,2}})?(?:group[\s:]{{0,2}})?)*)
        (?:(?P<word>[Ss]tage|STAGE|[Ss]tg\.?|[Ss]tages|STG)\s*(?:group(?:ing)?|grp)?\s*(?:is|was|of|at|now|as|:|=|-|\.{{2,}})*\s*(?:AJCC\s*\d?\s*)?)?
        (?P<stage>{_ROMAN})(?:\s*(?:[/–-]|or|to|vs\.?)\s*(?P<second>{_ROMAN}|[A-D]))?(?![A-Za-z0-9+]|\.\d|\s?(?:mg|cm|mm|%|/\d))""",
    re.VERBOSE,
)
_OTHER_STAGE = re.compile(r"(?:CKD|kidney|renal|ulcer|pressure|GOLD|COPD|fibrosis|failure|CHF|decubitus|Tanner|sleep|sarcoid|osis|retinopathy|lymphedema|labou?r|Child|NYHA|AKI|breast development|REM|HTN|hypertension)\W*(?:disease\W*)?$", re.IGNORECASE)
_OTHER_STAGE_BEHIND = re.compile(r"\W*(?:chronic\s+)?(?:CKD|kidney|renal\s+(?:disease|failure|insuff)|ulcer|pressure|decubitus|lymphedema|sacral)", re.IGNORECASE)
_AFTER_TNM = re.compile(rf"[\s,;:=()\-–→]{{0,4}}(?:=\s*)?(?:AJCC\s*\d?\w*\s*)?(?P<stage>(?:IV|III|II|I)[A-D]?\d?)(?![A-Za-z0-9/\-])")
_BEFORE_TNM = re.compile(r"(?<![A-Za-z0-9/])(?P<stage>(?:IV|III|II|I)[A-D]\d?|IV|III|II)\s*[(,:=]\s*$")

_GRADE = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      (?P<scale>(?:Nottingham|SBR|Bloom[- ]Richardson|Elston|FIGO|WHO|CNS\sWHO|ISUP|Fuhrman|FNCLCC|nuclear|NG|histologic(?:al)?|tumou?r|combined|overall|score|modified|mod)[\s,:(]{0,3}(?:and\s)?)*
        (?P<word>[Gg]rade|GRADE|[Gg]rd?\.?|[Gg]d)\s*(?P<group>[Gg]roup|GROUP)?\s*(?:is|of|was|:|=|\.{2,}|,)*\s*
        (?P<grade>[1-5](?![0-9.]*\s?(?:cm|mm|mg|/))|I{1,3}(?![A-Za-z])|IV(?![A-Za-z])|high|low|intermediate|three|two|one)(?:\s*(?:/|of|out\sof)\s*[345](?!\d))?(?:\s*(?:[-–]|to)\s*(?P<upper>[1-5]|I{1,3}V?))?
    | G(?P<short>[1-4])(?![A-Za-z0-9/.])
    | (?P<level>[Hh]igh|[Ll]ow|[Ii]ntermediate|HIGH|LOW)[-\s]+(?:nuclear[-\s]+)?(?:grade|GRADE)
    | (?P<differentiated>[Ww]ell|[Mm]oderately|[Mm]od\.?|[Pp]oorly|WELL|MODERATELY|POORLY)(?:[\s,]+to\s+(?P<upper_differentiated>moderately|poorly))?[-\s]+(?:diff(?:erentiated)?\b\.?|DIFFERENTIATED)
    | [Gg]leason(?:['’]?s)?\s*(?:score|grade|sum|pattern)?\s*(?:of|is|was|:|=)*\s*(?P<primary>[1-5])\s*\+\s*(?P<secondary>[1-5])(?:\s*=?\s*(?P<sum>\d{1,2}))?
    | [Gg]leason(?:['’]?s)?\s*(?:score|grade|sum)?\s*(?:of|is|was|:|=)*\s*(?P<only_sum>[6-9]|10)(?![\d+])
    | (?:ISUP\s*)?(?:[Gg]rade\s*[Gg]roup|GG)\s*(?::|=)?\s*(?P<grade_group>[1-5])
    )""",
    re.VERBOSE,
)
_ROMAN_VALUE = {"I": "1", "II": "2", "III": "3", "IV": "4", "one": "1", "two": "2", "three": "3"}
_DIFFERENTIATION = {"well": "1", "mod": "2", "moderately": "2", "poorly": "3"}
_SPELLED_PREFIX = {"y": "yp", "u": "c", "mr": "c", "mc": "c", "mp": "p", "rc": "r", "ypr": "yp", "a": "a"}


def _category(letter: str, digits: str) -> str:
    value = digits.strip().replace("O", "0")
    if value.lower() in ("x", "is", "a"):
        value = {"x": "X", "is": "is", "a": "a"}[value.lower()]
    return letter + value


class TnmRecognizer:
    """TNM: one span for the categories that stand together, with prefix; attributes t, n, m, prefix."""

    name = "tnm"
    triggers: frozenset[str] = frozenset()

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``tnm``, and of kind ``stage`` for a group written against a TNM."""
        text = frame.text
        for match in _TNM.finditer(text):
            got = {key: value for key, value in match.groupdict().items() if value}
            attributes: dict[str, Value] = {}
            n = got.get("n") or got.get("lone_n")
            m = got.get("m") or got.get("lone_n_m") or got.get("lone_m")
            if "t" in got:
                attributes["t"] = _category("T", got["t"])
            if n:
                attributes["n"] = _category("N", n)
                if "i+" in (got.get("n_note") or got.get("lone_n_note") or "") and attributes["n"] == "N0":
                    attributes["n"] = "N0"
            if m:
                attributes["m"] = _category("M", m)
            prefix = got.get("t_prefix") or got.get("n_prefix") or got.get("lone_n_prefix") or ""
            m_prefix = got.get("m_prefix") or got.get("lone_n_m_prefix") or got.get("lone_m_prefix") or ""
            if not self._is_staging(text, match, len(attributes), prefix or m_prefix):
                continue
            prefix = prefix or m_prefix
            if prefix:
                attributes["prefix"] = _SPELLED_PREFIX.get(prefix, prefix)
            yield Span(match.start(), match.end(), "tnm", "", "pattern:tnm", attributes, priority=5)
            yield from self._group_beside(text, match)

    @staticmethod
    def _is_staging(text: str, match: re.Match[str], categories: int, prefix: str) -> bool:
        if categories >= 2:
            return True
        if _NOT_TNM.match(text, match.end()):
            return False
        if prefix and prefix not in ("a", "r", "u"):
            # "cM0" and "pT2" are staging; "c T2" (with T2) is not, so the prefix must touch its letter.
            return " " not in match.group().split("(")[0].strip()
        if _CATEGORY_WORDS.search(text, max(0, match.start() - 40), match.start()):
            return True
        value = match.group("lone_m")
        return bool(value and re.match(r"1[a-d]", value))

    @staticmethod
    def _group_beside(text: str, match: re.Match[str]) -> Iterator[Span]:
        found = _AFTER_TNM.match(text, match.end()) or _BEFORE_TNM.search(text, max(0, match.start() - 10), match.start())
        if found and len(found["stage"]) > 1:
            yield Span(
                found.start("stage"),
                found.end("stage"),
                "stage",
                "",
                "pattern:stage-beside-tnm",
                {"stage": found["stage"]},
                priority=4,
            )


class StageRecognizer:
    """Stage groups: ``stage IIIB``, ``FIGO IC1``, ``Rai II``; attributes stage, system, prefix."""

    name = "stage"
    triggers = frozenset({"stage", "stg", "figo", "rai", "binet", "ajcc", "anatomic", "prognostic", "is", "risk", "arbor", "lugano", "uicc", "iss", "riss"})

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``stage``."""
        text = frame.text
        for match in _STAGE.finditer(text):
            systems = (match["systems"] or "").lower()
            if not match["word"] and not systems.strip():
                continue
            value = re.sub(r"\s", "", match["stage"])
            if not match["word"] and (value.isdigit() or "path" in systems or "clinical" in systems) and "figo" not in systems:
                continue
            if _OTHER_STAGE.search(text, max(0, match.start() - 40), match.start()) or _OTHER_STAGE_BEHIND.match(text, match.end()):
                continue
            attributes: dict[str, Value] = {"stage": value}
            for system in ("figo", "rai", "binet", "ann", "lugano", "r-iss", "iss", "prognostic", "anatomic", "ajcc"):
                if system in systems:
                    attributes["system"] = "ann_arbor" if system == "ann" else system
                    break
            if "path" in systems:
                attributes["prefix"] = "p"
            elif "clinical" in systems:
                attributes["prefix"] = "c"
            decided = ""
            if match["second"] and len(match["second"]) > 1 or (match["second"] and match["second"] in "ABCD"):
                # "stage IIB/IIIA", "IIIA/B": one of the two, which one is not told.
                attributes["stage"] = value
                decided = "uncertain"
            yield Span(match.start(), match.end(), "stage", "", "pattern:stage", attributes, priority=3, decided=decided)


class GradeRecognizer:
    """Tumor grades: Nottingham, FIGO, WHO, G1–4, differentiation, Gleason and ISUP grade groups."""

    name = "grade"
    triggers = frozenset({"grade", "gr", "grd", "gd", "g1", "g2", "g3", "g4", "well", "poorly", "moderately", "mod", "gleason", "gg", "high", "low", "intermediate", "gleasons"})

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``grade``; attributes grade, scale, value."""
        for match in _GRADE.finditer(frame.text):
            attributes = self._attributes(match)
            if attributes:
                yield Span(match.start(), match.end(), "grade", "", "pattern:grade", attributes, priority=2)

    @staticmethod
    def _attributes(match: re.Match[str]) -> dict[str, Value]:
        got = {key: value for key, value in match.groupdict().items() if value}
        if "primary" in got:
            total = int(got["primary"]) + int(got["secondary"])
            return {"grade": f"{got['primary']}+{got['secondary']}", "scale": "gleason", "value": float(total)}
        if "only_sum" in got:
            return {"grade": got["only_sum"], "scale": "gleason", "value": float(got["only_sum"])}
        if "grade_group" in got or "group" in got:
            value = got.get("grade_group") or got.get("grade", "")
            return {"grade": value, "scale": "isup"}
        scale = got.get("scale", "").lower()
        named = next((name for name in ("nottingham", "figo", "who", "isup", "fuhrman", "fnclcc", "nuclear") if name in scale), "")
        if "short" in got:
            value = got["short"]
        elif "level" in got:
            value = got["level"].lower()
        elif "differentiated" in got:
            upper = got.get("upper_differentiated") or got["differentiated"]
            value = _DIFFERENTIATION[upper.lower().rstrip(".")]
        else:
            raw = got.get("upper") or got.get("grade", "")
            value = _ROMAN_VALUE.get(raw, raw).lower()
        return {"grade": value, "scale": named} if named else {"grade": value}
