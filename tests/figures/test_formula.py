"""Formulas: what is shown is what is evaluated."""

from __future__ import annotations

import math
import re

import pytest

from posviz.figures.formula import Formula


def plain(markup: str) -> str:
    return re.sub(r"<[^>]+>", "", markup.replace("</math> <math>", ""))


def test_a_formula_is_shown_with_its_numbers_and_evaluated() -> None:
    theta = Formula("theta_i", "b ** (-2 * i / d)")
    assert theta.value(b=10_000.0, i=3, d=8) == pytest.approx(1e-3)
    shown = plain(theta.markup(str, theta.value(b=10_000.0, i=3, d=8), b=10_000, i=3, d=8))
    assert shown == "θi=b−2·i/d=10,000−2·3/8=0.001"


def test_a_sum_runs_over_its_index() -> None:
    score = Formula("s", "sum(cos(k * theta[i]) for i in range(d / 2))")
    half = Formula("s", "sum(cos(k * theta[i]) for i in range(pairs))")
    assert half.value(k=2, theta=[1.0, 0.1], pairs=2) == math.cos(2.0) + math.cos(0.2)
    assert plain(score.markup(str)) == "s=∑i=0d2−1cos(k\u2062θi)"


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("(a + b) * c", "(a+b)\u2062c"),
        ("a - (b - c)", "a−(b−c)"),
        ("a - b - c", "a−b−c"),
        ("(a * b) ** c", "(a\u2062b)c"),
        ("-a ** 2", "−a2"),
        ("(-a) ** 2", "(−a)2"),
        ("sqrt(a) / b", "ab"),
        ("log(a)", "ln(a)"),
        ("floor(a)", "⌊a⌋"),
    ],
)
def test_brackets_stand_where_the_expression_needs_them(expression: str, shown: str) -> None:
    assert plain(Formula("x", expression).markup(str)) == f"x={shown}"


def test_a_negative_number_in_a_power_or_a_difference_is_bracketed() -> None:
    assert plain(Formula("x", "a - b").markup(str, 5, a=2, b=-3)) == "x=a−b=2−(−3)=5"
    assert plain(Formula("x", "a ** 2").markup(str, 9, a=-3)) == "x=a2=(−3)2=9"


def test_a_negative_summand_is_subtracted_and_a_power_of_ten_is_bracketed() -> None:
    assert plain(Formula("x", "a + b").markup(str, -1, a=2, b=-3)) == "x=a+b=2−3=−1"
    assert plain(Formula("x", "a + b * c").markup(str, a=2, b=-3, c=4)) == "x=a+b\u2062c=2−3·4"
    assert plain(Formula("x", "a ** 2").markup(str, a=2e9)) == "x=a2=(2.00·109)2"


def test_words_stand_apart() -> None:
    told = Formula("x", "a * b", words={"a": "rows", "b": "columns"}).markup(str)
    assert plain(told) == "x=rows·columns"


def test_a_rounded_result_says_so() -> None:
    assert plain(Formula("x", "1 / a").markup(str, 1 / 3, a=3)).endswith("≈0.3333")
    assert plain(Formula("x", "a * b").markup(str, 32768, a=128, b=256)).endswith("=32,768")


def test_an_expression_with_anything_else_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot show"):
        Formula("x", "[a, b]").markup(str)
