"""The visible escapes: what of a text is shown as it is, and what as an escape."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.kb.files.whole_files import open_privately, write_text_privately
from cohortium.kb.skin.escape import csv_cell, escaped, escaped_json, escaped_page
from cohortium.kb.skin.streams import print_as_is, visible_output
from cohortium.kb.skin.terminal import json_text, print_csv, print_table

#: Unicode calls them formats; they are signs of numbers that one sees.
SEEN_FORMATS = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
#: Letters and marks by category that show nothing by themselves: fillers, selectors, a joiner of graphemes.
UNSEEN_LETTERS = {
    0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0, *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
}  # fmt: skip
anything = st.text(st.characters(), max_size=30)


def unseen() -> Iterator[str]:
    """All characters that are not seen, whatever Unicode's categories say of them."""
    for code in range(sys.maxunicode + 1):
        formats = unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp", "Cs") and code not in SEEN_FORMATS
        if formats or code in UNSEEN_LETTERS:
            yield chr(code)


def test_every_unseen_character_of_unicode_is_shown() -> None:
    """Alone and between letters of ours; all others of a category that is seen stay as they are."""
    hidden = set(unseen())
    assert len(hidden) > 2_000
    for character in hidden:
        assert escaped(f"a{character}b").isprintable(), hex(ord(character))
    rest = "".join(
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if character not in hidden and unicodedata.category(character)[0] in "LMNPSZ"
    )
    assert escaped(rest) == rest


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;PWNED\x07", r"\x1b]0;PWNED\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("cancer\u202ereversed", r"cancer\u202ereversed"),
        ("P1\n412 patients\r\t", r"P1\n412 patients\r\t"),
        ("P\u200b1\ufeff", r"P\u200b1\ufeff"),
        ("P\u200d1", r"P\u200d1"),
        ("a\u2028b\u2029", r"a\u2028b\u2029"),
        ("\ud800", r"\ud800"),
        ("ad\xadeno", r"ad\xadeno"),
        ("\U000e0041", r"\U000e0041"),
        ("a\ufe0fb", r"a\ufe0fb"),
        ("\u0645\u200c P", "\u0645\\u200c P"),
    ],
)
def test_what_hides_or_steers_is_shown(text: str, shown: str) -> None:
    """Controls, bidirectional marks, zero widths, separators, surrogates, selectors out of place."""
    assert escaped(text) == shown
    assert escaped(escaped(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "naïve Müller Ångström e\u0301",
        "Ελληνικά, русский, 日本語, 한국어, עברית, العربية",
        "می\u200cخواهم",
        "क\u094d\u200dष श्री",
        "👩\u200d⚕\ufe0f and 👨🏽\u200d🔬, 1\ufe0f\u20e3, ❤\ufe0f",
        "葛\U000e0100城",
        "ᠠ\u180bᠡ",
        "5 µm, ≥ 50 %, 10⁻³, N₂O, — “quoted”",
    ],
)
def test_letters_of_all_scripts_stay(text: str) -> None:
    """Combining marks, joiners where a script joins, emoji of several parts, selectors after what they select."""
    assert escaped(text) == text
    assert json.loads(escaped_json(json.dumps(text, ensure_ascii=False))) == text


@given(anything)
def test_escapes_are_seen_whole_and_once(text: str) -> None:
    """Nothing unseen but what writing needs is left, and a second time changes nothing; a page keeps its lines."""
    shown = escaped(text)
    assert escaped(shown) == shown
    assert not any(unicodedata.category(one) in ("Cc", "Zl", "Zp", "Cs") for one in shown)
    page = escaped_page(text)
    assert page.count("\n") == text.count("\n")
    assert page.count("\t") == text.count("\t")
    assert escaped_page(page) == page


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=4))
def test_json_is_the_same_value(payload: dict[str, str]) -> None:
    """Whatever stands in it; and no character in its text that a terminal obeys."""
    text = json_text(payload)
    assert json.loads(text) == payload
    assert escaped_page(text) == text
    text.encode("utf-8")


FORMULAS = [
    "=cmd|' /C calc'!A0", "+SUM(1)", "-2+3", "@A1", "\t=1", "\r=1", " =1", '"=1', "'=1", "＝1+1", "＋1", "－1+1", "＠x",
    "\u2212x", "-", "=", "\ufeff=1", "“=1", "\n=1",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_compute_begins_with_an_apostrophe(text: str) -> None:
    """Also behind blanks, quotes and marks that are not seen, and in full width."""
    assert csv_cell(text) == f"'{escaped(text)}"


@pytest.mark.parametrize("number", ["-5", "+1.5", "-.5", "1e-3", "-1E+10", "412", "-0"])
def test_numbers_stay_numbers(number: str) -> None:
    """As text and as numbers; so does what is no formula."""
    assert csv_cell(number) == number
    assert csv_cell(float(number)) == float(number)
    assert csv_cell("P-1") == "P-1"
    assert csv_cell(None) is None
    assert csv_cell(True) is True


def test_a_row_is_a_line_and_raw_is_raw(capsys: pytest.CaptureFixture[str]) -> None:
    """In a table and in csv; with --raw the characters come as they are."""
    rows = [("P1\nP2,certain", "=1+1"), ("a\tb", "-5")]
    with visible_output():
        print_csv(("patient", "=x"), rows)
        print_table(("pat\nient", "[bold]x"), rows, title="a\x1b")
        print("P1\nP2")
    shown = capsys.readouterr().out
    assert list(csv.reader(io.StringIO(shown)))[:3] == [
        ["patient", "'=x"], [r"P1\nP2,certain", "'=1+1"], [r"a\tb", "-5"]
    ]  # fmt: skip
    assert r"P1\nP2,certain" in shown
    assert "[bold]x" in shown
    assert shown.endswith("P1\\nP2\n")
    with visible_output():
        print_as_is()
        print_csv(("patient", "=x"), rows)
        print("P1\nP2")
    raw = capsys.readouterr().out
    assert list(csv.reader(io.StringIO(raw, newline="")))[:3] == [["patient", "=x"], *map(list, rows)]
    assert raw.endswith("P1\nP2\n")


def test_a_private_file_takes_the_place_of_a_link_and_of_open_rights(tmp_path: Path) -> None:
    """What the link led to stays as it was; a device is written to and stays one."""
    told, link, other = tmp_path / "told.txt", tmp_path / "link.txt", tmp_path / "other.txt"
    told.write_text("before")
    told.chmod(0o644)
    link.symlink_to(other)
    other.write_text("mine")
    for path in (told, link):
        write_text_privately(path, "quoted \ud800")
        assert path.read_text() == r"quoted \ud800"
        assert path.lstat().st_mode & 0o7777 == 0o600
        assert not path.is_symlink()
    assert other.read_text() == "mine"
    write_text_privately(Path(os.devnull), "nothing")
    assert not Path(os.devnull).is_file()


def test_a_file_written_bit_by_bit_is_private(tmp_path: Path) -> None:
    """From its beginning or after what it holds; nothing is added to what a link leads to."""
    path, link = tmp_path / "rows.csv", tmp_path / "link.csv"
    path.write_text("open to all\n")
    path.chmod(0o644)
    with open_privately(path) as file:
        file.write("a\r\n")
    with open_privately(path, append=True) as file:
        file.write("b\n")
    assert path.read_bytes() == b"a\r\nb\n"
    assert path.stat().st_mode & 0o7777 == 0o600
    link.symlink_to(path)
    with pytest.raises(OSError, match="it is a link"):
        open_privately(link, append=True)
    with open_privately(link) as file:
        file.write("c\n")
    assert path.read_bytes() == b"a\r\nb\n"
