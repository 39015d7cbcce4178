"""M-RoPE: which position turns which pair, and what three positions do to a vector."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import mrope, params, rope
from posviz.params import InvalidParameterError
from posviz.rope import LAYOUTS

GOLDEN_DIR = Path(__file__).parent / "golden"
CASES = json.loads((GOLDEN_DIR / "mrope.json").read_text())
by_name = {"ids": lambda case: case["name"]}

sections = st.tuples(*[st.integers(0, 24)] * 3).filter(sum)
positions = st.integers(int(params.POSITION.low), int(params.POSITION.high))
layouts = st.sampled_from(LAYOUTS)


def letters(axes):
    return "".join(mrope.AXES[axis] for axis in axes)


def is_interleaved(case):
    return case["name"] == "qwen3_vl"


def test_vectors_are_all_there():
    assert [case["name"] for case in CASES] == ["qwen2_vl", "qwen3_vl", "qwen2_vl_small"]
    for case in CASES:
        assert 2 * sum(case["mrope_section"]) == case["head_dim"]
        assert case["positions_thw"] == [7, 11, 13]


@pytest.mark.parametrize("case", CASES, **by_name)
def test_each_pair_has_the_references_axis(case):
    axes = mrope.axis_of_frequency(case["mrope_section"], is_interleaved(case))
    assert np.bincount(axes).tolist() == case["mrope_section"]
    assert letters(axes) == case["axis_of_frequency"]


def test_cos_and_sin_are_the_references():
    case = CASES[-1]
    frequencies = rope.inv_freq(case["head_dim"], 1e6)  # Qwen2-VL's base; the vector lacks it
    unit = np.concatenate([np.ones(8), np.zeros(8)])
    rotated = mrope.rotate(unit, case["positions_thw"], frequencies, case["mrope_section"])
    np.testing.assert_allclose(rotated, case["cos"][:8] + case["sin"][:8], rtol=2e-6, atol=2e-7)


@given(sections, st.booleans())
def test_every_pair_has_one_axis(mrope_section, interleaved):
    axes = mrope.axis_of_frequency(mrope_section, interleaved)
    assert axes.shape == (sum(mrope_section),)
    assert set(axes.tolist()) <= {0, 1, 2}
    time, height, width = mrope_section
    counts = np.bincount(axes, minlength=3)
    if not interleaved:
        assert counts.tolist() == [time, height, width]
        assert np.all(np.diff(axes) >= 0)
    else:  # never more than it has a right to, and as many where they fit
        assert counts[1] <= height
        assert counts[2] <= width
        pairs = sum(mrope_section)
        assert counts[1] == min(height, len(range(1, pairs, 3)))
        assert counts[2] == min(width, len(range(2, pairs, 3)))


@given(sections, st.booleans(), positions, layouts, st.integers(0, 99), st.integers(0, 8))
def test_text_is_plain_rope(mrope_section, interleaved, position, layout, seed, still):
    dim = 2 * sum(mrope_section)
    x = np.random.default_rng(seed).normal(size=dim + still)
    frequencies = rope.inv_freq(dim, 1e6)
    three = mrope.rotate(
        x, [position] * 3, frequencies, mrope_section, layout, interleaved=interleaved
    )
    np.testing.assert_array_equal(three, rope.rotate(x, position, frequencies, layout))


@given(sections, st.booleans(), st.tuples(positions, positions, positions), layouts)
def test_each_axis_turns_its_own_pairs_and_no_other(mrope_section, interleaved, thw, layout):
    dim = 2 * sum(mrope_section)
    x = np.random.default_rng(0).normal(size=dim)
    frequencies = rope.inv_freq(dim, 10_000.0)
    rotated = mrope.rotate(x, thw, frequencies, mrope_section, layout, interleaved=interleaved)
    first, second = rope.pair_slices(dim, layout)
    for axis, position in enumerate(thw):
        mine = mrope.axis_of_frequency(mrope_section, interleaved) == axis
        plain = rope.rotate(x, position, frequencies, layout)
        np.testing.assert_array_equal(rotated[first][mine], plain[first][mine])
        np.testing.assert_array_equal(rotated[second][mine], plain[second][mine])
    assert np.linalg.norm(rotated) == pytest.approx(np.linalg.norm(x), rel=1e-12)


@given(st.tuples(*[st.integers(-500, 500)] * 3), st.tuples(*[st.integers(-500, 500)] * 3))
def test_scores_depend_on_the_three_differences(thw, shift):
    mrope_section, frequencies = (3, 3, 2), rope.inv_freq(16, 10_000.0)
    q, k = np.random.default_rng(1).normal(size=(2, 16))

    def score(m, n):
        return mrope.rotate(q, m, frequencies, mrope_section) @ mrope.rotate(
            k, n, frequencies, mrope_section
        )

    other = np.array([5, -2, 9])
    moved = score(np.add(thw, shift), other + shift)
    assert moved == pytest.approx(score(thw, other), abs=1e-9)


def test_positions_broadcast_with_the_vectors():
    x = np.random.default_rng(0).normal(size=(2, 5, 8))
    thw = np.stack([np.arange(5), 2 * np.arange(5), 3 * np.arange(5)])
    frequencies = rope.inv_freq(8, 100.0)
    rotated = mrope.rotate(x, thw, frequencies, (2, 1, 1))
    assert rotated.shape == (2, 5, 8)
    one = mrope.rotate(x[1, 4], thw[:, 4], frequencies, (2, 1, 1))
    np.testing.assert_array_equal(rotated[1, 4], one)


# Public bug reports.


def test_interleaved_sections_alternate_and_are_not_three_blocks():
    """vllm-gaudi PR #1437, HabanaAI/vllm-fork PR #2117: T*24 H*20 W*20."""
    axes = mrope.axis_of_frequency([24, 20, 20], interleaved=True)
    assert letters(axes) == "THW" * 20 + "TTTT"


def test_interleaved_sections_of_eleven_eleven_ten_end_in_height():
    """Qwen3.5: 32 pairs, so the last triple lacks its width."""
    axes = mrope.axis_of_frequency([11, 11, 10], interleaved=True)
    assert letters(axes) == "THW" * 10 + "TH"


def test_interleaved_sections_beyond_their_third_are_cut_as_in_the_reference():
    """Hugging Face assigns freqs[..., 1 : 3 * height : 3], whatever is left of it."""
    assert letters(mrope.axis_of_frequency([1, 5, 5], interleaved=True)) == "THWTHWTHWTH"
    assert letters(mrope.axis_of_frequency([0, 4, 0], interleaved=True)) == "THTT"


# Errors.

short = {"ids": lambda came: str(came)[:12]}


@pytest.mark.parametrize(
    "came",
    [None, 16, "111", [], [1, 1], [1, 1, 1, 1], [0, 0, 0], [-1, 1, 1], [1.5, 1, 1], [1, 1, True],
     [math.nan, 1, 1], [math.inf, 1, 1], [10**18, 1, 1], ["1", 1, 1], [None, 1, 1]],
    **short,
)  # fmt: skip
def test_sections_that_are_none_are_refused(came):
    for ask in (
        lambda: mrope.axis_of_frequency(came),
        lambda: mrope.rotate(np.ones(6), [1, 1, 1], [1.0, 0.1, 0.01], came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^mrope_section must be .* got "):
            ask()


def test_sections_that_do_not_add_up_to_the_pairs_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^mrope_section must add up .* 4 here, got 3"):
        mrope.rotate(np.ones(8), [1, 1, 1], rope.inv_freq(8, 100.0), [1, 1, 1])


@pytest.mark.parametrize("came", [1, "yes", None, math.nan], **short)
def test_interleaved_is_a_yes_or_a_no(came):
    with pytest.raises(InvalidParameterError, match=r"^interleaved must be True or False, got "):
        mrope.axis_of_frequency([1, 1, 1], came)


@pytest.mark.parametrize("came", [1, [1], [1, 2], [1, 2, 3, 4], np.zeros((2, 3))], **short)
def test_positions_that_are_not_three_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^positions must be three, .* got shape "):
        mrope.rotate(np.ones(6), came, [1.0, 0.1, 0.01], [1, 1, 1])


@pytest.mark.parametrize("came", [math.nan, math.inf, "1", None, True, 10**400], **short)
def test_numbers_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^positions must "):
        mrope.rotate(np.ones(6), [came] * 3, [1.0, 0.1, 0.01], [1, 1, 1])
    with pytest.raises(InvalidParameterError, match=r"^x must "):
        mrope.rotate([came] * 6, [1, 1, 1], [1.0, 0.1, 0.01], [1, 1, 1])
    with pytest.raises(InvalidParameterError, match=r"^inv_freq must "):
        mrope.rotate(np.ones(6), [1, 1, 1], [came] * 3, [1, 1, 1])


def test_other_shapes_and_pairings_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^x must have .* 6 here, got 5"):
        mrope.rotate(np.ones(5), [1, 1, 1], [1.0, 0.1, 0.01], [1, 1, 1])
    with pytest.raises(InvalidParameterError, match=r"^positions must be one per vector, "):
        mrope.rotate(np.ones((2, 6)), np.ones((3, 4)), [1.0, 0.1, 0.01], [1, 1, 1])
    with pytest.raises(InvalidParameterError, match=r"^layout must be one of half, interleaved"):
        mrope.rotate(np.ones(6), [1, 1, 1], [1.0, 0.1, 0.01], [1, 1, 1], "halves")
    with pytest.raises(InvalidParameterError, match=r"^angles must be finite"):
        mrope.rotate(np.ones(6), [1e300] * 3, [1e10] * 3, [1, 1, 1])
