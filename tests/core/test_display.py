import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix.core import display
from itemix.core.display import Table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.000"),
        (0.9754321, "0.9754"),
        (0.0213549, "0.02135"),
        (0.00001234567, "1.235e-05"),
        (1234.0, "1234"),
        (float("inf"), "inf"),
        (float("nan"), "-"),
    ],
)
def test_numbers_have_four_significant_digits(value, text):
    """Supports and measures are written with four digits that matter; what is undefined is a dash."""
    assert display.format_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.2, "20%"), (0.001, "0.1%"), (1 / 3, "33.3333%"), (1.0, "100%")]
)
def test_percentages_are_short(value, text):
    """Thresholds are written as people write them."""
    assert display.format_percent(value) == text


def test_counts_have_thousands_separators():
    """Counts are grouped by thousands, unknown ones are a dash, and nouns follow their number."""
    assert display.format_count(1272932) == "1,272,932"
    assert display.format_count(None) == "-"
    assert display.plural(1, "rule") == "1 rule"
    assert display.plural(2000, "rule") == "2,000 rules"


def test_names_fit_on_a_line():
    """Long names are cut in the middle; line breaks and escape codes are shown, not obeyed."""
    assert display.format_name("whole milk") == "whole milk"
    assert display.format_name("a" * 50 + "z", width=10) == "aaaaaa…aaz"
    assert display.format_name("two\nlines") == "two\\nlines"
    assert "\x1b" not in display.format_name("\x1b[31mred")
    assert display.format_name(17) == "17"
    assert display.format_name(" ") == "' '"


@given(st.text(max_size=100), st.integers(4, 40))
def test_every_name_is_printable_and_short(name, width):
    """Whatever the name, what is shown is printable and no wider than asked for."""
    shown = display.format_name(name, width)
    assert shown.isprintable()
    assert len(shown) <= width


def test_sets_count_what_does_not_fit():
    """A set that is too long says how many items are not shown."""
    assert display.format_set(["milk", "bread"]) == "{milk, bread}"
    assert display.format_set([]) == "{}"
    assert display.format_set(["milk", "bread", "butter"], width=16) == "{milk, +2}"
    assert display.format_set(["x" * 40], width=16) == "{" + "x" * 20 + "…" + "x" * 11 + "}"


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=40), st.integers(20, 80))
def test_sets_fit_their_width(names, width):
    """A set of short names is never wider than asked for, and shows all that fits."""
    shown = display.format_set(names, width)
    assert len(shown) <= width
    full = "{" + ", ".join(names) + "}"
    assert shown == full if len(full) <= width else "+" in shown


def test_text_tables_are_aligned():
    """Numbers are lined up by their decimal points, names to the left, without trailing blanks."""
    table = Table(
        "Two rows", ("support", "count", "itemset"), (("0.5", "10", "{a}"), ("0.25", "5", "{b, c}")), "end"
    )
    assert table.as_text() == (
        "Two rows\n  support  count  itemset\n     0.5      10  {a}\n     0.25      5  {b, c}\nend"
    )


def test_empty_tables_have_only_a_title():
    """Without rows there is nothing to align."""
    assert Table("None", ("support", "itemset"), ()).as_text() == "None"
    assert "<table" not in Table("None", ("support", "itemset"), ()).as_html()


def test_html_escapes_everything():
    """No text from the data can become markup."""
    hostile = "<script>alert('x')</script>&\"</td>"
    page = Table(hostile, (hostile,), ((hostile,),), hostile).as_html()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4
    assert page.count("</td>") == 1
