"""TNM categories, stage groups and tumor grades in all their spellings.

Stage groups without a word for them count right beside the name of a cancer (``HGSOC IIIC``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ...kb.model import Value
from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.statements import statement
from ..text.word_classes import word_classes
from ..text.words import fold

_CLASSES: Final = word_classes("recognizers", "staging")

_PREFIX = r"(?:ymr|ypr|yp|yc|rp|rc|mp|mc|mr|p|c|y|r|u|a)"
_GAP = r"[\s,;:/·|]{0,4}"
#: After a category stands no letter or figure, unless the next category or the grade begins there (cT2N0M0, pT1G3).
_G_BEHIND = r"(?=G[1-4Xx](?![^\W_])|[LV][0-2OX][VRLGP]|R[0-2OX](?![^\W_]))"
_T_END = rf"(?:(?![^\W_])|(?={_PREFIX}?N\s?[0-3OXx])|{_G_BEHIND})"
_N_END = rf"(?:(?![^\W_])|(?={_PREFIX}?M\s?[01OXx])|{_G_BEHIND})"
_T_VALUE = r"(?:is|IS|X|x|a(?![a-z])|0|O(?![a-z])|[1-4](?:mic?|[a-e](?:[1-3]|i{1,2}|\(mi\))?)?)"
_T_NOTE = r"(?:\s?\((?P<t_note>(?!I{1,3}[A-D]?\d?\)|IV)[^()\n/]{1,16})\))?"
_T_RANGE = r"(?:\s?[\-–/]\s?T?[1-4][a-d]?(?![^\W_]))?"
_N_NOTE = r"(?P<n_note>(?:\s?\((?:sn|f|m|mi|itc|ITC|i[+\-]|mol[+\-]|[a-z]{2,8}|\d)\)){0,2})"
_M_NOTE = r"(?:\s?\((?P<m_note>i[+\-]|[01]|[A-Za-z]{3})\))?"


def _t(name: str) -> str:
    return rf"(?P<{name}_prefix>{_PREFIX})?T\s?(?P<{name}>{_T_VALUE}){_T_END}"


def _n(name: str, zero: str) -> str:
    return (
        rf"(?P<{name}_prefix>{_PREFIX})?N\s?(?P<{name}>X|x|{zero}(?![a-z])|[1-3](?:mic?(?:ro)?|[a-c])?|0[ab]){_N_END}"
    )


def _m(name: str, zero: str) -> str:
    return (
        rf"(?P<{name}_prefix>{_PREFIX})?M\s?(?P<{name}>X|x|{zero}(?![a-z])|1(?:[a-d][012]?)?)(?:(?![^\W_])|{_G_BEHIND})"
    )


# A letter O passes for a zero only behind a category that is certain (T2 NO MO), or against a prefix.
_TNM = re.compile(
    r"(?=[ypcrumaTNM])(?<![^\W_])(?:"
    rf"{_t('t')}{_T_NOTE}{_T_RANGE}(?:{_GAP}{_n('n', '[0O]')}{_N_NOTE})?(?:{_GAP}{_m('m', '[0O]')}{_M_NOTE})?"
    rf"|{_n('lone_n', '0')}{_N_NOTE.replace('<n_', '<lone_n_')}"
    rf"(?:{_GAP}{_m('lone_n_m', '[0O]')}{_M_NOTE.replace('<m_', '<lone_n_m_')})?"
    rf"|{_m('lone_m', '0')}{_M_NOTE.replace('<m_', '<lone_m_')})"
)
#: Shorthand in small letters is read only where T and N stand together (pt2n0).
_SMALL_TNM = re.compile(
    r"(?=[pcyrt])(?<![^\W_])(?P<t_prefix>yp|yc|rp|p|c|y|r)?t\s?(?P<t>is|x|[0-4](?:mi"
    r"|[a-d])?)[\s,/]{0,2}(?P<n_prefix>yp|yc|p|c)?n\s?"
    r"(?P<n>x|[0-3](?:mi|[a-c])?)(?:[\s,/]{0,2}(?:yp|yc|p|c)?m\s?(?P<m>x|[01][a-d]?))?(?![^\W_])"
)
#: Fields of a form: the letters are labels.
_FORM_TNM = re.compile(
    r"(?<![^\W_])(?P<t_prefix>yp|yc|p|c)?T\s?[:=]\s?(?:yp|yc|p|c)?T?(?P<t>is|X|[0-4](?:mi"
    r"|[a-d])?)[\s,;|]{1,3}(?P<n_prefix>yp|yc|p|c)?N\s?[:=]\s?"
    r"(?:yp|yc|p|c)?N?(?P<n>X|[0-3](?:mi|[a-c])?)(?:[\s,;|]{1,3}(?:yp|yc|p|c)?M\s?[:=]\s?(?:p|c)?M?(?P<m>X"
    r"|[01][a-d]?))?(?![A-Za-z0-9]|\.\d)"
)
_LABELLED = _CLASSES.compile(
    r"(?=[ypcTNM])(?<![^\W_])(?P<prefix>yp|yc|p|c)?(?P<letter>[TNM])(?:[\s\-]?{category}|(?<=[pc][TNM])"
    r"(?=\s?[:=]))\s?(?:{is_or_was}|[:=\-]|\.{2,60})?\s?(?P<value>X|x|(?:(?<=[:=\-.])|(?<=[:=\-.]\s))is"
    r"|[0-4](?:mi|[a-d][1-3]?)?)(?![A-Za-z0-9/%]|\.\d)"
)
# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_TNMS = Gated(_TNM, rf"{_PREFIX}?[TNM](?:\Z|[0-4OXxiIa])")
_SMALL_TNMS = Gated(_SMALL_TNM, r"(?:yp|yc|rp|p|c|y|r)?t(?:\Z|[ix0-4])")
_FORM_TNMS = Gated(_FORM_TNM, r"(?:yp|yc|p|c)?T\Z")
_LABELS = Gated(_LABELLED, r"(?:yp|yc|p|c)?[TNM](?:\Z|[SsCc])")
_CATEGORY_WORDS = _CLASSES.compile(
    r"{category_of}?\s?[-–]?\s?{category_label}\b[^.\n]{0,24}$|TNM\W{0,3}$|stag(?:e|ing|ed)\W{1,4}"
    r"(?:as\W{1,2})?$|{category_field}\s?(?:\(p?[TNM]\))?\s?[:.]\s?$",
    re.IGNORECASE,
)
_NOT_TNM = _CLASSES.compile(
    r"\s{0,3}[-–]?\s{0,3}(?:{not_tnm}|-\s?[TL]\d)",
    re.IGNORECASE,
)

#: "(T3 N2 M1 mitoses)" are the parts of a Nottingham score.
_NOTTINGHAM_PARTS = _CLASSES.compile(r"\s?{nottingham_part}", re.IGNORECASE)
_GRADE_BEHIND = re.compile(r"[ \t,/]{0,2}G[1-4](?![^\W_])")
_DISEASE_BEHIND = _CLASSES.compile(r"\s{disease}\b", re.IGNORECASE)
_STANDS_BEFORE = _CLASSES.compile(r"(?:[(,;:]|\b{stands_before})\s{1,2}$|\($")
_STANDS_BEHIND = re.compile(r"\s?(?:[).,;:]|$|\r?\n)")

# --- stage groups ---------------------------------------------------------------------------------------------------

_EDITION = _CLASSES.pattern(
    r"(?:\s?\(?(?:v?[6-9](?:th)?|{edition_in_words}|(?:19|20)\d\d)(?![^\W_])\)?(?:\s?ed(?:ition|n)?\b\.?)?"
    r"(?:\s(?:19|20)\d\d)?)?"
)
_SYSTEM_NAMES = _CLASSES.pattern(rf"(?:{{joint_committee}}{_EDITION}|(?i:{{how_staged}})|{{other_system}})")
#: Attribute ``system`` by what the text calls it; the first that occurs is the one.
_SYSTEMS = {
    "figo": "figo", "rai": "rai", "ann": "ann_arbor", "lugano": "lugano", "r-iss": "r_iss", "riss": "r_iss",
    "iss": "iss",
    "durie": "durie_salmon", "masaoka": "masaoka", "inss": "inss", "inrg": "inrg", "prognostic": "prognostic",
    "anatomic": "anatomic", "ajcc": "ajcc",
}  # fmt: skip
#: Systems whose name alone announces a stage.
_BARE = frozenset({"figo", "rai", "ann_arbor", "lugano", "r_iss", "iss", "durie_salmon", "masaoka", "inss"})
_ROMAN = (
    r"(?:(?:IV|III|II|I|0|[1-4])"
    r"(?:[\s\-]?[A-D](?![a-z]|[\s\-]?cell|\.\s?[a-z])(?:[1-3](?:\s?\(i{1,2}\)|i{1,2})?)?[ESX]{0,2}"
    r"|[a-d](?:[1-3](?:\s?\(i{1,2}\)|i{1,2})?)?|[ESX][AB]?|is|e)?)"
)
_STAGE = _CLASSES.compile(
    rf"""(?=[AaUFTtPpCcOoLRIDMSsyl])(?<![^\W_])(?P<systems>(?:{_SYSTEM_NAMES}[\s,:\-]{{1,3}}(?:[Gg]roup(?:ing)?[\s:]{{1,2}})?){{0,4}})
        (?:(?P<before>yp|yc|p|c)?(?P<word>{{stage}})\s{{0,2}}{{group}}?
            (?:\s{{0,2}}\([A-Z][^()\n]{{2,24}}\))?(?:\s{{0,2}}(?:{{stage_lead}}|[:=\-–]|\.{{2,60}})){{0,4}}
            (?:\s{{0,3}}|(?<=[:=])[ \t]{{4,40}})(?:AJCC\s?[6-9]?\s?|FIGO\s?)?(?P<value_prefix>yp|yc|p|c)?)?
        (?P<stage>{_ROMAN}|(?<=age\s)(?i:{{number_in_words}})\b)
        (?:\s?(?:[/–-]|\bor\b|\bto\b|\bvs\b\.?)\s?(?P<second>{_ROMAN}|[A-D]))?(?![A-Za-z0-9+]|\.\d|\s?(?:mg|cm|mm|%|/\d))""",
    re.VERBOSE,
)
#: A stage without a word for it or for its system is none, and is not looked for.
_STAGES = Gated(
    _STAGE,
    _CLASSES.pattern(r"(?:{joint_committee}|(?i:{how_staged_begins})|{system_begins}|(?:yp|yc|p|c)?{stage_begins})"),
)
_SYSTEM_BEHIND = _CLASSES.compile(
    rf"\s?[(,]?\s?{{by_system}}?\s?(?:(?:19|20)\d\d\s)?(?P<systems>{_SYSTEM_NAMES})(?![^\W_])(?!{_GAP}"
    rf"(?:[Ss]tage|{_ROMAN}(?![^\W_])))"
)
_LETTER_STAGE = _CLASSES.compile(
    r"(?=[BD])(?<![^\W_])(?P<system>{letter_system})(?:['’]s?)?[\s\-:,]{1,3}(?:{letter_stage}[\s:]{1,3})?"
    r"(?P<stage>0|[A-D][1-3]?)(?![A-Za-z0-9'’]|\.\s?[A-Z])"
)
_LETTER_STAGES = Gated(_LETTER_STAGE, _CLASSES.pattern(r"{letter_system}"))
_OTHER_STAGE = _CLASSES.compile(
    r"{other_disease}\W{0,4}(?:disease\W{0,4})?$",
    re.IGNORECASE,
)
_OTHER_STAGE_BEHIND = _CLASSES.compile(
    r"\W{0,4}(?:chronic\s+)?(?:{kidney_behind}|(?:[a-z]{1,20}\s)?{pressure_behind}|{other_disease_behind}"
    r"|of\s{whose}\b|(?:breast\s)?{operation_behind}|{operation_alone})",
    re.IGNORECASE,
)
_SPEAKER_BEFORE = _CLASSES.compile(r"{speaker_before}\s$", re.IGNORECASE)
_SPEAKER_BEHIND = _CLASSES.compile(r"\s{speaker_behind}\b")
_AFTER_TNM = re.compile(
    r"(?P<gap>[\s,;:=()\-–→]{0,4})(?:=\s?)?(?:AJCC\s?\d?(?:th)?\s?)?(?P<stage>(?:IV|III|II|I)(?:[A-D]\d?"
    r"|[a-d]\d?)?)(?![A-Za-z0-9/\-])"
)
_BEFORE_TNM = re.compile(r"(?<![A-Za-z0-9/])(?P<stage>(?:IV|III|II|I)[A-D]\d?|IV|III|II)\s?[(,:=]\s?$")
_ARABIC = {"1": "I", "2": "II", "3": "III", "4": "IV", "one": "I", "two": "II", "three": "III", "four": "IV"}
_GROUP_PARTS = _CLASSES.compile(r"(?P<number>IV|III|II|I|0|[1-4]|{number_in_words})(?P<rest>.*)", re.IGNORECASE)

# --- grades -----------------------------------------------------------------------------------------------------------

_GLEASON = _CLASSES.pattern(
    r"(?:{gleason}|GS(?=\s?(?:[1-5]\s?\+|(?:[6-9]|10)\s?\())|Gl\.?(?=\s?[3-5]\s?\+))(?:['’]?[sS])?"
)
_GLEASON_WORDS = _CLASSES.pattern(r"(?:\s{0,2}(?:{gleason_lead}|[:=/])){0,7}\s{0,2}")
#: ``primary Gleason grade: 4``, ``major = 3``; a share of the tumor may stand behind it.
_PATTERN_LABEL = _CLASSES.pattern(r"{of_pattern}?\s{0,2}(?:{gleason}\s)?(?:(?i:{of_gleason})\b\W{0,3}){0,2}\W{0,3}")
_SHARE = r"(?:\s?\(?\d{1,3}\s?%\)?)?"
_BOTH_PATTERNS = _CLASSES.pattern(
    rf"(?i:{{first_pattern}}){_PATTERN_LABEL}(?P<major>[1-5])(?![\d+]){_SHARE}\W{{1,4}}"
    rf"(?:{_GLEASON}\W{{1,3}})?(?i:{{second_pattern}}){_PATTERN_LABEL}(?P<minor>[1-5])(?![\d+])"
)
_PATTERNS_BEHIND = _BOTH_PATTERNS.replace("<major>", "<both_major>").replace("<minor>", "<both_minor>")
_GRADE = _CLASSES.compile(
    rf"""(?=[A-Za-z1-5])(?:(?<![^\W_])|(?=G[1-4](?![^\W_]))(?:(?<=[TNM][0-4aX])|(?<=[TN][1-4][a-d])))(?:
      (?P<tertiary>(?i:{{third_pattern}}){_PATTERN_LABEL}[1-5](?!\d))
    | {_BOTH_PATTERNS}
    | {_GLEASON}{_GLEASON_WORDS}[(,.]?\s?{_PATTERNS_BEHIND}
    | (?P<scale>(?:{{scale}}[\s,:(]{{1,3}}(?:and\s)?){{0,6}})
        (?P<word>{{grade}})(?:\s?\([^()\n]{{1,40}}\)(?=\s?[:=]))?\s{{0,2}}(?P<group>{{grade_group}})?
        (?:\s{{0,2}}(?:{{grade_lead}}|[:=,(]|\.{{2,60}}
            |(?:\.\s){{2,30}}|\.(?=\s(?:I{{1,3}}|IV|[1-4])\s?(?:/|of|out)))){{0,3}}\s{{0,2}}
        (?:(?P<grade>[1-5](?![0-9.]{{0,4}}\s?(?:cm|mm|mg))(?![0-9%]|\s?\+\s?[1-5])|I{{1,3}}(?![^\W\d_])|IV(?![^\W\d_])|{{level}}(?:\s(?i:grade)\b)?)
        (?:\s?(?:/|of|out\sof)\s?(?:[345](?!\d)|III|IV))?(?:\s?(?:[-–]|to)\s?(?P<upper>[1-5](?![\d+])
            |I{{1,3}}V?(?![^\W\d_])))?)
    | (?:(?i:{{grade_written_out}})|{{differentiation_label}})\s?[:=]\s{{0,2}}(?P<field>{{how_differentiated}})\b
            (?![-\s]{{1,2}}(?:(?i:to\b)|{{differentiation}})|\s?/)
    | {{worst_part}}\s{{differentiation_label}}\s?[:=]?\s?(?P<worst>IV|I{{1,3}}|[1-4])(?![^\W_])
    | G(?P<short>[1-4])(?:\s?[-–]\s?G?(?P<short_upper>[1-4]))?(?![^\W_]|[/.]|\s?P\d)
    | G(?P<ended>[1-4])(?=\.(?:\s|$))
    | (?P<level>{{level_before}})[-\s]{{1,2}}{{nuclear}}?{{grade_written_out}}\b
    | (?P<differentiated>{{differentiated}})(?:[\s,\-/]{{1,3}}(?:{{differentiated_to}}[\s\-]{{1,2}})?
            (?P<upper_differentiated>{{differentiated}}))?(?:[-\s]{{1,2}}|\.\s){{differentiation}}
    | {_GLEASON}{_GLEASON_WORDS}(?P<primary>[1-5]){{of_pattern}}?(?:\s?\+\s?|\s{{plus}}\s)(?P<secondary>[1-5])(?!\d)
            (?:\s?=?\s?(?P<sum>\d{{1,2}})(?!\d))?
    | {_GLEASON}{_GLEASON_WORDS}(?P<pair_primary>[1-5])(?![\d+])(?:\s?\(\d{{1,3}}\s?%\))?
            \s(?:and|AND|&)\s(?P<pair_secondary>[1-5])(?![\d+]|\s{{components}})
    | (?P<undifferentiated>(?i:{{undifferentiated}}))(?=\s{{carcinoma}})
    | {_GLEASON}{_GLEASON_WORDS}(?P<only_sum>[6-9]
            |10)(?![\d+])(?:\s?/\s?10)?(?:\s?[(=:,]\s?(?P<sum_primary>[1-5])\s?\+\s?(?P<sum_secondary>[1-5])(?!\d)\)?)?
    | (?P<one_pattern>{_GLEASON}{_GLEASON_WORDS}[1-5](?![\d+]))
    | (?P<bare_primary>[3-5])\s?\+\s?(?P<bare_secondary>[3-5])\s?=\s?(?P<bare_sum>[6-9]|10)(?!\d)
    | (?:ISUP\s?)?{{group_of_grades}}\s?[:=]?\s?(?P<grade_group>[1-5])(?!\d)
    | (?P<named>{{named_scale}})\s?[:=]?\s?(?P<named_grade>[1-5](?![\d%+/]|\.\d)|(?:I{{1,3}}|IV)(?![^\W_]|/))
    | (?P<nottingham>{{nottingham}})(?:\s{{nottingham_lead}}){{0,3}}\s?(?:of|is
            |:|=)?\s?(?P<points>[3-9])\s?(?:/|of|out\sof)\s?9(?!\d)
    )""",
    re.VERBOSE,
)
_GRADES = Gated(
    _GRADE,
    _CLASSES.pattern(
        r"{scale_begins}|[Gg]r|GR|[Gg]d|G[1-4]|{level_before}|{differentiated_begins}|(?i:{undifferentiated})|{worst_begins}|{pattern_begins}"
        r"|{third_begins}|{gleason}|GS|Gl|[3-5]\Z|GG"
    ),
    r"(?<=.)G[1-4]\Z",
)
#: What is said right before a grade, and right behind it, so far (characters).
_REACH_OF_GRADE = 24
_GRADE_BEFORE = _CLASSES.compile(r"{grade_before}[\s,;:.(/=]{0,4}\Z", re.IGNORECASE)
_GRADED_BEHIND = _CLASSES.compile(r"\s?{grade_behind}", re.IGNORECASE)
_BLOCK_BEFORE = _CLASSES.compile(r"\b{block_before}\W{1,3}(?:\w{1,3}\W{1,2}){0,2}\Z", re.IGNORECASE)
_BLOCK_BEHIND = _CLASSES.compile(r"\s?{block_behind}", re.IGNORECASE)
_HIGHEST = _CLASSES.compile(r"\b{highest}\s\Z", re.IGNORECASE)
_POINTS = _CLASSES.compile(r"\s?{points}", re.IGNORECASE)
_NOT_OF_TUMOR = _CLASSES.compile(r"\b{not_of_tumor_before}[\s,:(]{1,3}\Z", re.IGNORECASE)
#: A form in which the grade is the option with the tick: ``Grade: [ ] 1 [x] 2 [ ] 3``, ``Grade I [ ] II [X] III [ ]``.
_BOX = r"[(\[]\s{0,3}[xX]?\s{0,3}[)\]]"
_TICKED = re.compile(r"[(\[]\s{0,3}[xX]\s{0,3}[)\]]")
_BOXED = _CLASSES.compile(
    rf"\b{{boxed_label}}\s?[:.\-]?\s{{0,3}}(?:(?P<before>(?:{_BOX}\s?{{boxed_option}}(?![^\W_])[\s,;]{{0,3}}){{2,7}})"
    rf"|(?P<behind>(?:{{boxed_option}}\s{{0,3}}{_BOX}[\s,;]{{0,3}}){{2,7}}))",
    re.IGNORECASE,
)
_OPTION = _CLASSES.compile(r"{boxed_option}(?![^\W_])", re.IGNORECASE)
_FORMS_OF_GRADES = Gated(_BOXED, _CLASSES.pattern(r"(?i:{boxed_label_begins})"))
#: Blocks of a specimen G, of which no tumor has so high a grade.
_HIGH_BLOCKS = frozenset(f"g{number}" for number in range(5, 41))
_SHORT_SCALES: Final = {"nhg": "nottingham", "edmondson": "edmondson-steiner"}
_NAMED_SCALES = ("nottingham", "figo", "who", "isup", "fuhrman", "fnclcc", "nuclear")
_ROMAN_VALUE = {"I": "1", "II": "2", "III": "3", "IV": "4", "one": "1", "two": "2", "three": "3"}
_DIFFERENTIATION = {
    "well": "1", "highly": "1", "mod": "2", "moderate": "2", "moderately": "2", "poor": "3", "poorly": "3",
    "weakly": "3", "badly": "3", "undifferentiated": "4", "anaplastic": "4",
}  # fmt: skip
_SPELLED_PREFIX = {
    "y": "yp", "u": "c", "mr": "c", "mc": "c", "mp": "p", "rc": "r", "ypr": "yp", "ymr": "yc", "a": "a",
}  # fmt: skip
_IN_SITU_NOTES = {"dcis": "DCIS", "d": "DCIS", "lcis": "LCIS", "paget": "Paget", "pagets": "Paget", "lamn": "LAMN"}


def _option_value(option: str) -> str:
    """The grade that an option of a form stands for; of two in one, the higher.

    >>> _option_value("II"), _option_value("G3"), _option_value("Well/Moderate"), _option_value("poorly diff.")
    ('2', '3', '2', '3')
    """
    words = option.casefold().replace("grade", "").replace("un-", "un").strip()
    if words in ("high", "low", "intermediate"):
        return words
    if roman := _ROMAN_VALUE.get(words.upper()):
        return roman
    values = [_DIFFERENTIATION[word] for word in re.findall(r"[a-z]+", words) if word in _DIFFERENTIATION]
    return max(values) if values else words.removeprefix("g") if words.removeprefix("g").isdigit() else ""


def _category(letter: str, value: str, note: str) -> str:
    """``T`` and ``is`` with note ``DCIS`` → ``Tis(DCIS)``, as scales write it; notes without a rank are left out."""
    value = value.replace("O", "0").replace("micro", "mi").replace("mic", "mi").replace("(mi)", "")
    if value.lower() in ("x", "is", "a"):
        value = {"x": "X", "is": "is", "a": "a"}[value.lower()]
    note = note.strip().lower()
    if letter == "T":
        if value == "is" and note.replace("'", "") in _IN_SITU_NOTES:
            return f"Tis({_IN_SITU_NOTES[note.replace(chr(39), '')]})"
        return "T1mi" if value.startswith("1") and note == "mi" else letter + value
    if letter == "N":
        if value == "0":
            for key, suffix in (
                ("i+", "(i+)"),
                ("itc", "(i+)"),
                ("i-", "(i-)"),
                ("mol+", "(mol+)"),
                ("mol-", "(mol-)"),
            ):
                if f"({key})" in note:
                    return f"N0{suffix}"
        return "N1mi" if value == "1" and "(mi)" in note else letter + value
    if value == "0" and note == "i+":
        return "M0(i+)"
    return f"M{value}({note})" if note in ("0", "1") and len(value) == 2 else letter + value


def stage_group(raw: str) -> str:
    """A stage group as scales write it: ``3b`` → ``IIIB``, ``IIEA`` → ``IIAE``; other text is left as it is."""
    match = _GROUP_PARTS.fullmatch(re.sub(r"[\s\-]", "", raw))
    if not match:
        return raw
    number = match["number"].lower()
    rest = match["rest"]
    if number != "0":
        head, bracket, tail = rest.partition("(")
        if not bracket and (short := re.fullmatch(r"(?P<letter>[A-Da-d][1-3])(?P<part>i{1,2})", head)):
            head, bracket, tail = short["letter"], "(", short["part"] + ")"
        rest = head.upper() + bracket + tail
        if re.fullmatch(r"[ESX][AB]", rest):
            rest = rest[1] + rest[0]
    return _ARABIC.get(number, match["number"].upper()) + rest


class TnmRecognizer(Recognizer):
    """TNM: one span for the categories that stand together, with prefix; attributes t, n, m, prefix."""

    name = "tnm"
    gates = (_TNMS, _SMALL_TNMS, _FORM_TNMS, _LABELS)

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``tnm``, and of kind ``stage`` for a group written against a TNM."""
        text, places = frame.text, frame.places
        for match in _TNMS.find(places, text):
            got = {key: value for key, value in match.groupdict().items() if value}
            attributes: dict[str, Value] = {}
            if "t" in got:
                attributes["t"] = _category("T", got["t"], got.get("t_note", ""))
            for name in ("n", "lone_n"):
                if name in got:
                    attributes["n"] = _category("N", got[name], got.get(f"{name}_note", ""))
            for name in ("m", "lone_n_m", "lone_m"):
                if name in got:
                    attributes["m"] = _category("M", got[name], got.get(f"{name}_note", ""))
            prefix = next(
                (
                    got[name]
                    for name in (
                        "t_prefix",
                        "n_prefix",
                        "lone_n_prefix",
                        "m_prefix",
                        "lone_n_m_prefix",
                        "lone_m_prefix",
                    )
                    if name in got
                ),
                "",
            )
            if not self._is_staging(text, match, len(attributes), prefix):
                continue
            yield self._span(match, attributes, prefix)
            yield from self._group_beside(text, match)
        for gated in (_SMALL_TNMS, _FORM_TNMS):
            for match in gated.find(places, text):
                values = {name: _category(name.upper(), match[name], "") for name in "tnm" if match[name]}
                yield self._span(match, dict(values), match["t_prefix"] or match["n_prefix"] or "")
                yield from self._group_beside(text, match)
        for match in _LABELS.find(places, text):
            letter, value = match["letter"], match["value"]
            if not (letter == "N" and value[0] == "4" or letter == "M" and value[0] in "234"):
                yield self._span(match, {letter.lower(): _category(letter, value, "")}, match["prefix"] or "")

    @staticmethod
    def _span(match: re.Match[str], attributes: dict[str, Value], prefix: str) -> Span:
        if prefix:
            attributes["prefix"] = _SPELLED_PREFIX.get(prefix, prefix)
        return Span(match.start(), match.end(), "tnm", "", "pattern:tnm", attributes, priority=5)

    @staticmethod
    def _is_staging(text: str, match: re.Match[str], categories: int, prefix: str) -> bool:
        if categories >= 2:
            return not _NOTTINGHAM_PARTS.match(text, match.end())
        if _NOT_TNM.match(text, match.end()):
            return False
        if _GRADE_BEHIND.match(text, match.end()) or (match.group("t") and _DISEASE_BEHIND.match(text, match.end())):
            return True
        if prefix and prefix not in ("a", "r", "u"):
            return True
        if text[match.end() - 1] == "x":
            return False  # Tx is a treatment, Mx a mastectomy
        if _CATEGORY_WORDS.search(text, max(0, match.start() - 40), match.start()):
            return True
        value = match.group("lone_m")
        if value and re.match(r"1[a-d]", value):
            return True
        # "Scans clear, M0." and "no metastases (M0)": M0 or M1 as a word of its own, where spread is spoken of.
        alone = value and _STANDS_BEFORE.search(text, max(0, match.start() - 16), match.start())
        if not alone or not _STANDS_BEHIND.match(text, match.end()):
            return False
        low, high = max(0, match.start() - 120), match.end() + 60
        return bool(
            statement("tells_extent").search(text, low, high) and not statement("tells_other_m").search(text, low, high)
        )

    @staticmethod
    def _group_beside(text: str, match: re.Match[str]) -> Iterator[Span]:
        found = _AFTER_TNM.match(text, match.end())
        if found and found["stage"] == "IV" and not set(found["gap"]) & set("(=→"):
            found = None  # "T2N0, IV contrast"
        found = found or _BEFORE_TNM.search(text, max(0, match.start() - 10), match.start())
        if found and len(found["stage"]) > 1:
            attributes: dict[str, Value] = {"stage": stage_group(found["stage"])}
            yield Span(*found.span("stage"), "stage", "", "pattern:stage-beside-tnm", attributes, priority=4)


class StageRecognizer(Recognizer):
    """Stage groups: ``stage IIIB``, ``FIGO IC1``, ``Rai II``; attributes stage, system, prefix."""

    name = "stage"
    gates = (_STAGES, _LETTER_STAGES)
    triggers = frozenset(
        fold(word)
        for word in """stage staged stages stg pstage cstage ypstage figo rai binet bclc dukes ajcc anatomic
        prognostic arbor
        lugano uicc iss riss r durie masaoka inss""".split()
    )

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``stage``."""
        text, places = frame.text, frame.places
        for match in _STAGES.find(places, text):
            systems = match["systems"].lower()
            system = self._system(systems)
            if not match["word"] and (system not in _BARE or system == "figo" and re.search(r"grade", systems)):
                continue
            if self._is_other(text, match):
                continue
            if not system:
                behind = _SYSTEM_BEHIND.match(text, match.end())
                inside = text[match.start() : match.start("stage")].lower()
                system = self._system(behind["systems"].lower()) if behind else self._system(inside)
            attributes: dict[str, Value] = {"stage": stage_group(match["stage"])}
            if system:
                attributes["system"] = system
            before = match["before"] or match["value_prefix"]
            if before:
                attributes["prefix"] = before
            elif "path" in systems:
                attributes["prefix"] = "p"
            elif "clinical" in systems:
                attributes["prefix"] = "c"
            # "stage IIB/IIIA", "IIIA/B": one of the two, which one is not told.
            decided = "uncertain" if match["second"] and (len(match["second"]) > 1 or match["second"] in "ABCD") else ""
            yield Span(
                match.start(), match.end(), "stage", "", "pattern:stage", attributes, priority=3, decided=decided
            )
        for match in _LETTER_STAGES.find(places, text):
            letter: dict[str, Value] = {"stage": match["stage"], "system": match["system"].lower()}
            yield Span(match.start(), match.end(), "stage", "", "pattern:stage", letter, priority=3)

    @staticmethod
    @lru_cache(maxsize=1000)
    def _system(words: str) -> str:
        return next((system for name, system in _SYSTEMS.items() if re.search(rf"(?<![a-z]){name}", words)), "")

    @staticmethod
    def _is_other(text: str, match: re.Match[str]) -> bool:
        """A stage of another disease or of an operation, or the writer speaking ("at this stage I would")."""
        start, end = match.span()
        if _OTHER_STAGE.search(text, max(0, start - 40), start) or _OTHER_STAGE_BEHIND.match(text, end):
            return True
        if match["stage"] != "I":
            return False
        return bool(_SPEAKER_BEFORE.search(text, max(0, start - 12), start) or _SPEAKER_BEHIND.match(text, end))


class GradeRecognizer(Recognizer):
    """Tumor grades: Nottingham, FIGO, WHO, G1–4, differentiation, Gleason and ISUP grade groups."""

    name = "grade"
    gates = (_GRADES, _FORMS_OF_GRADES)
    triggers = frozenset(
        fold(word)
        for word in """grade gr grd gd g1 g2 g3 g4 well poorly moderately mod highly weakly badly differentiated
        differentiation gleason gleasons gs gl gg gg1 gg2 gg3 gg4 gg5
        edmondson high low intermediate gs isup fuhrman fnclcc nottingham bloom 6 7 8 9 10""".split()
    )

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``grade``; attributes grade, scale, value."""
        has_blocks = not _HIGH_BLOCKS.isdisjoint(frame.vocabulary)
        boxed = list(self._boxed(frame))
        for _, (low, high), value in boxed:
            if value:
                told: dict[str, Value] = {"grade": value}
                yield Span(low, high, "grade", "", "pattern:grade", told, priority=2, decided="present")
        for match in _GRADES.find(frame.places, frame.text):
            if any(start < match.end() and match.start() < end for (start, end), _, _ in boxed):
                continue
            if self._is_none(frame.text, match, has_blocks):
                continue
            attributes = self._attributes(match)
            if attributes:
                yield Span(match.start(), match.end(), "grade", "", "pattern:grade", attributes, priority=2)

    @staticmethod
    def _boxed(frame: Frame) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
        """Forms with a box for each grade: their place, that of the ticked option, and its grade, if one is ticked."""
        text = frame.text
        for form in _FORMS_OF_GRADES.find(frame.places, text):
            group = "before" if form["before"] else "behind"
            low, high = form.span(group)
            ticked = [
                option
                for option in _OPTION.finditer(text, low, high)
                if (
                    _TICKED.search(text, max(low, option.start() - 8), option.start())
                    if group == "before"
                    else _TICKED.match(text, option.end() + (text[option.end() : option.end() + 1] == " "))
                )
            ]
            value = _option_value(ticked[0].group()) if len(ticked) == 1 else ""
            yield form.span(), ticked[0].span() if ticked else form.span(), value

    @staticmethod
    def _is_none(text: str, match: re.Match[str], has_blocks: bool) -> bool:
        """A pattern that no score counts, a line of a legend, the top of a scale, a block of a specimen, or the grade
        of what is no tumor."""
        if match["tertiary"] or match["one_pattern"] or _POINTS.match(text, match.end()):
            return True
        start, end = match.span()
        low = max(0, start - _REACH_OF_GRADE)
        if _NOT_OF_TUMOR.search(text, low, start):
            return True
        if not (match["short"] or match["ended"]) or _GRADE_BEFORE.search(text, low, start):
            return False
        if _HIGHEST.search(text, low, start):
            return True
        is_block = has_blocks or _BLOCK_BEFORE.search(text, low, start) or _BLOCK_BEHIND.match(text, end)
        return bool(is_block) and not _GRADED_BEHIND.match(text, end)

    @staticmethod
    def _attributes(match: re.Match[str]) -> dict[str, Value]:
        got = {key: value for key, value in match.groupdict().items() if value}
        for first, second in (
            ("major", "minor"),
            ("both_major", "both_minor"),
            ("pair_primary", "pair_secondary"),
            ("primary", "secondary"),
            ("sum_primary", "sum_secondary"),
            ("bare_primary", "bare_secondary"),
        ):
            if first in got:
                total = int(got[first]) + int(got[second])
                if first == "bare_primary" and total != int(got["bare_sum"]):
                    return {}
                return {"grade": f"{got[first]}+{got[second]}", "scale": "gleason", "value": float(total)}
        if "only_sum" in got:
            return {"grade": got["only_sum"], "scale": "gleason", "value": float(got["only_sum"])}
        if "grade_group" in got or "group" in got:
            value = got.get("grade_group") or got.get("grade", "")
            return {"grade": value, "scale": "isup"}
        if "named" in got:
            scale = got["named"].lower()
            value = _ROMAN_VALUE.get(got["named_grade"], got["named_grade"])
            return {"grade": value, "scale": _SHORT_SCALES.get(scale[:9], scale)}
        if "points" in got:
            points = int(got["points"])
            return {"grade": "1" if points <= 5 else "2" if points <= 7 else "3", "scale": "nottingham"}
        scale = got.get("scale", "").lower()
        named = next((name for name in _NAMED_SCALES if name in scale), "")
        if "short" in got or "ended" in got:
            value = got.get("short") or got["ended"]
            # G3-4 is a category of its own: poorly differentiated or undifferentiated.
            if got.get("short_upper", "4") != "4":
                value = max(value, got["short_upper"])
        elif "level" in got:
            value = got["level"].lower()
        elif "differentiated" in got:
            parts = (got["differentiated"], got.get("upper_differentiated", ""))
            value = max(_DIFFERENTIATION[part.lower().rstrip(".")] for part in parts if part)
        elif "field" in got:
            value = _DIFFERENTIATION[got["field"].lower()]
        elif "undifferentiated" in got:
            value = _DIFFERENTIATION["undifferentiated"]
        elif "worst" in got:
            value = _ROMAN_VALUE.get(got["worst"], got["worst"])
        else:
            raw = got.get("upper") or got.get("grade", "")
            value = _ROMAN_VALUE.get(raw, raw).lower().removesuffix(" grade")
        return {"grade": value, "scale": named} if named else {"grade": value}


#: With its letter alone: "IV" may be a way of giving, "III" a part of many names. "IA" and "IC" are routes as well.
_GROUP = r"(?:IV|I{2,3}|I(?=B))[A-D][1-3]?"
_BARE_GROUP = re.compile(rf"(?<![\w/.\-])(?P<stage>{_GROUP})(?![\w/+\-]|\.\d|\s?%)")
_BARE_GROUPS = Gated(_BARE_GROUP, rf"{_GROUP}\Z")
#: The name of a cancer stands within so many characters.
_REACH = 60


class BareStageRecognizer(Recognizer):
    """Finds them; attribute stage. What stands as a stage in words is longer, and goes first."""

    name = "bare stage"
    gates = (_BARE_GROUPS,)

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``stage``."""
        text = frame.text
        for match in _BARE_GROUPS.find(frame.places, text):
            start, end = match.span()
            if statement("staged_before").search(text, max(0, start - _REACH), start) or statement(
                "staged_behind"
            ).match(text, end, min(len(text), end + _REACH)):
                yield Span(start, end, "stage", "", "pattern:bare stage", {"stage": match["stage"]}, priority=1)
