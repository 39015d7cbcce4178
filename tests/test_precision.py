"""Fewer bits: casts and rotations as torch makes them, and positions that collide."""

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params, precision, rope
from posviz.params import InvalidParameterError
from posviz.precision import DTYPES, SIGNIFICANT_BITS
from posviz.rope import LAYOUTS

GOLDEN_DIR = Path(__file__).parent / "golden"
CASTS = json.loads((GOLDEN_DIR / "precision_casts.json").read_text())
ROTATIONS = json.loads((GOLDEN_DIR / "precision_rotation.json").read_text())
by_dtype = {"ids": lambda case: f"{case['dtype']}_d{case['dim']}_{case['attention_factor']:.2f}"}

dtypes = st.sampled_from(DTYPES)
moderate = st.floats(-60_000, 60_000)
positions = st.integers(int(params.POSITION.low), 60_000)
dims = st.integers(1, 64).map(lambda i: 2 * i)
# Relative room of a vector: an operation rounds by half a unit in the last place, three follow.
ROOM = {dtype: 4 * 2.0**-bits for dtype, bits in SIGNIFICANT_BITS.items()}


def bfloat16_by_hand(x):
    """The nearer of the two neighbours that end in 16 zero bits, the even one if both are."""
    (bits,) = struct.unpack(">I", struct.pack(">f", x))
    below = bits & 0xFFFF0000
    neighbours = [struct.unpack(">f", struct.pack(">I", b))[0] for b in (below, below + 0x10000)]
    (exact,) = struct.unpack(">f", struct.pack(">f", x))
    gaps = [abs(exact - n) for n in neighbours]
    if gaps[0] == gaps[1]:
        return neighbours[below >> 16 & 1]
    return neighbours[0] if gaps[0] < gaps[1] else neighbours[1]


# Inputs.


def test_vectors_are_all_there():
    assert CASTS["torch"] == "2.13.0+cpu"
    assert len(CASTS["x"]) == len(CASTS["bfloat16"]) == 25
    assert len(CASTS["x_float16"]) == len(CASTS["float16"])
    assert {257, 15962, 65535, 131071} <= set(CASTS["x"])
    assert [case["dtype"] for case in ROTATIONS] == ["float32", "bfloat16", "float16"] * 3
    for case in ROTATIONS:
        plain = rope.inv_freq(case["dim"], 10_000.0)
        np.testing.assert_allclose(case["inv_freq"], plain, rtol=2e-6)


# Meaning and numbers.


def test_casts_are_torchs():
    np.testing.assert_array_equal(precision.bfloat16(CASTS["x"]), CASTS["bfloat16"])
    float16 = precision.rounded("float16", CASTS["x_float16"])
    np.testing.assert_array_equal(float16, CASTS["float16"])


@pytest.mark.parametrize("case", ROTATIONS, **by_dtype)
def test_cos_and_sin_are_torchs(case):
    cos, sin = precision.cos_sin(
        case["dtype"], case["positions"], case["inv_freq"], case["attention_factor"]
    )
    assert cos.shape == (len(case["positions"]), case["dim"] // 2)
    np.testing.assert_allclose(
        np.hypot(cos, sin), case["attention_factor"], rtol=ROOM[case["dtype"]]
    )
    # torch's float32 cosine is not always the nearest float32.
    room = 1.5 * 2.0**-23 if case["dtype"] == "float32" else 0.0
    np.testing.assert_allclose(cos, case["cos"], rtol=0, atol=room)
    np.testing.assert_allclose(sin, case["sin"], rtol=0, atol=room)


@pytest.mark.parametrize("case", ROTATIONS, **by_dtype)
def test_rotated_vectors_are_torchs(case):
    rotated = precision.rotate_in(
        case["dtype"],
        case["x"],
        case["positions"],
        case["inv_freq"],
        attention_factor=case["attention_factor"],
    )
    exact = rope.rotate(case["x"], case["positions"], case["inv_freq"]) * case["attention_factor"]
    far = 131071 * 2.0**-24  # what float32 loses of the fastest angle there
    largest = np.abs(case["x"]).max()
    room = (2 * far + 2 * ROOM[case["dtype"]]) * largest
    np.testing.assert_allclose(rotated, exact, rtol=0, atol=room)
    room = 1e-6 * largest if case["dtype"] == "float32" else 0.0
    np.testing.assert_allclose(rotated, case["rotated"], rtol=0, atol=room)


@pytest.mark.parametrize("case", [c for c in ROTATIONS if c["dtype"] == "bfloat16"], **by_dtype)
def test_angles_all_in_bfloat16_are_torchs(case):
    found = precision.angles("bfloat16", case["positions"], case["inv_freq"])
    np.testing.assert_array_equal(found, case["angles_all_in_bfloat16"])


# Properties.


@given(st.floats(width=32, min_value=-(2.0**127), max_value=2.0**127))
def test_bfloat16_is_the_nearest_with_ties_to_even(x):
    assert precision.bfloat16(x) == bfloat16_by_hand(x)


@given(dtypes, moderate)
def test_rounding_is_the_nearest_and_rounds_no_further(dtype, x):
    held = precision.rounded(dtype, x)
    assert precision.rounded(dtype, held) == held
    assert precision.rounded(dtype, -x) == -held
    if abs(x) > 1e-4:  # float16 has no normal numbers below
        assert held == pytest.approx(x, rel=2.0 ** -SIGNIFICANT_BITS[dtype], abs=0)


@given(dtypes, moderate, moderate)
def test_rounding_keeps_the_order(dtype, a, b):
    low, high = sorted((a, b))
    assert precision.rounded(dtype, low) <= precision.rounded(dtype, high)


@given(positions, dims, st.sampled_from(LAYOUTS), st.integers(0, 99))
def test_rotation_in_float64_is_rope(position, dim, layout, seed):
    x = np.random.default_rng(seed).normal(size=dim + 2)
    frequencies = rope.inv_freq(dim, 10_000.0)
    rotated = precision.rotate_in(
        "float64", x, position, frequencies, layout, angle_dtype="float64"
    )
    np.testing.assert_allclose(
        rotated, rope.rotate(x, position, frequencies, layout), rtol=0, atol=1e-14
    )


@given(dtypes, st.integers(0, 2000), dims, st.sampled_from(LAYOUTS), st.integers(0, 99))
def test_rotation_in_any_dtype_is_near_rope_and_holds_in_it(dtype, position, dim, layout, seed):
    x = np.random.default_rng(seed).normal(size=dim + 2)
    frequencies = rope.inv_freq(dim, 10_000.0)
    rotated = precision.rotate_in(dtype, x, position, frequencies, layout)
    np.testing.assert_array_equal(precision.rounded(dtype, rotated), rotated)
    np.testing.assert_array_equal(rotated[dim:], precision.rounded(dtype, x[dim:]))
    room = (2 * ROOM[dtype] + 2000 * 2.0**-23) * np.abs(x).max()
    exact = rope.rotate(x, position, frequencies, layout)
    np.testing.assert_allclose(rotated, exact, rtol=0, atol=room)


@pytest.mark.parametrize(("dtype", "last"), [("bfloat16", 256), ("float16", 2048)])
def test_positions_collide_just_after_the_last_exact_one(dtype, last):
    assert precision.last_exact_position(dtype) == last
    assert precision.colliding_positions(dtype, last + 1).size == 0
    np.testing.assert_array_equal(precision.colliding_positions(dtype, last + 2), [last, last + 1])


def test_float32_positions_do_not_collide_in_any_context_of_today():
    assert precision.last_exact_position("float32") == 2**24
    assert precision.colliding_positions("float32", 2**20).size == 0
    assert precision.rounded("float32", 2**24 + 1) == 2**24
    assert precision.last_exact_position("float64") == 2**53


def test_colliding_positions_are_those_that_share_a_number():
    colliding = precision.colliding_positions("bfloat16", 1000)
    held = precision.bfloat16(np.arange(1000)).tolist()
    expected = [p for p in range(1000) if held.count(held[p]) > 1]
    assert colliding.tolist() == expected


@pytest.mark.parametrize(("dtype", "count"), [("bfloat16", 40_000), ("float16", 65_520)])
def test_spacing_and_company_are_what_counting_finds(dtype, count):
    held = precision.rounded(dtype, np.arange(count))
    numbers, first, size = np.unique(held, return_index=True, return_counts=True)
    spans = dict(zip(numbers, zip(first, first + size - 1, strict=True), strict=True))
    ahead = dict(zip(numbers[:-1], np.diff(numbers), strict=True))
    inner = [at for at in range(0, count, 7) if held[at] < numbers[-1]]
    for at in {*inner, 255, 256, 257, 258, 259, 511, 512, 513, 2047, 2048, 2049, 15_962}:
        assert precision.sharing(dtype, at) == spans[held[at]]
        assert precision.spacing(dtype, at) == ahead[held[at]]
    for length in range(1, count, 997):
        assert precision.distinct_positions(dtype, length) == len(np.unique(held[:length]))


def test_float32_gives_out_after_16_million():
    assert precision.distinct_positions("float32", 2**24 + 1) == 2**24 + 1
    assert precision.distinct_positions("float32", 2**24 + 2) == 2**24 + 1
    assert precision.sharing("float32", 2**24 + 1) == (2**24, 2**24 + 1)
    assert precision.spacing("float32", 2**24 - 1) == 1
    assert precision.spacing("float32", 2**24) == 2


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_neighbours_of_a_shared_number_are_outside_it(dtype):
    top = min(precision.last_position(dtype), 2**31 - 1)
    beside = {2**power + offset for power in range(1, 32) for offset in range(-3, 4)}
    drawn = np.random.default_rng(0).integers(0, top, 300, endpoint=True).tolist()
    for at in sorted(beside | set(drawn) | {16_842_752, 16_842_753, top}):
        if not 0 <= at <= top:
            continue
        first, last = precision.sharing(dtype, at)
        assert first <= at <= last
        held = precision.rounded(dtype, at)
        assert precision.rounded(dtype, [first, last]).tolist() == [held, held], at
        assert first == 0 or precision.rounded(dtype, first - 1) < held, at
        assert last == precision.last_position(dtype) or precision.rounded(dtype, last + 1) > held


def test_bfloat16_rounds_through_float32_so_that_a_number_takes_one_position_more():
    """16,842,752 is halfway to the next number and goes to the even one; so does 753."""
    assert precision.sharing("bfloat16", 2**24) == (16_744_448, 16_842_753)


def test_float16_ends_where_numpys_does():
    last = precision.last_position("float16")
    assert last == 65_519
    assert np.float16(last) == 65_504 == np.finfo(np.float16).max
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(last + 1))
    assert precision.sharing("float16", last) == (65_488 + 1, last)
    assert [precision.spacing("float16", at) for at in (65_487, 65_488, 65_489, last)] == [
        32, 32, None, None,
    ]  # fmt: skip
    for ask in (precision.spacing, precision.sharing):
        with pytest.raises(InvalidParameterError, match=r"^x must be numbers that float16 can"):
            ask("float16", last + 1)
    for dtype, largest in (
        ("float32", np.finfo(np.float32).max),
        ("bfloat16", 2.0**128 - 2.0**120),
    ):
        assert int(largest) < precision.last_position(dtype) < 2**128


@given(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5))
def test_hands_are_apart_as_their_chord_says(angle, other):
    chord = abs(np.exp(1j * angle) - np.exp(1j * other))
    assert precision.between_hands(angle, other) == pytest.approx(
        2 * math.asin(min(chord / 2, 1.0)), abs=1e-7
    )


@given(positions, st.floats(1e-6, 1.0), dtypes)
def test_casts_step_by_step(position, frequency, dtype):
    """All steps in one dtype, none, and one at a time."""
    casts = precision.Casts(dtype, dtype, dtype, dtype)
    (whole,) = precision.cast_angles(casts, position, [frequency])
    assert whole == precision.angles(dtype, position, [frequency])[0]
    (exact,) = precision.cast_cosines(precision.EXACT, position, [frequency])
    assert exact == math.cos(position * frequency)
    (last,) = precision.cast_cosines(
        precision.Casts("float64", "float64", "float64", dtype), position, [frequency]
    )
    assert last == precision.rounded(dtype, exact)
    (placed,) = precision.cast_angles(
        precision.Casts(dtype, "float64", "float64"), position, [frequency]
    )
    assert placed == precision.rounded(dtype, position) * frequency
    (slowed,) = precision.cast_angles(
        precision.Casts("float64", dtype, "float64"), position, [frequency]
    )
    assert slowed == position * precision.rounded(dtype, frequency)


def test_the_worst_cosine_error_is_the_largest_of_all():
    casts = precision.Casts(positions="bfloat16")
    found = precision.worst_cosine_errors(casts, 0.5, [1, 257, 258, 700, 3000])
    errors = [
        abs(math.cos(0.5 * precision.bfloat16(at)) - math.cos(0.5 * at)) for at in range(3000)
    ]
    expected = [max(errors[:length]) for length in (1, 257, 258, 700, 3000)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7)  # float32 angles, cosines
    assert expected[1] == 0 < expected[2]


@given(st.integers(0, 5000), st.integers(0, 300), st.integers(0, 99))
def test_scores_in_float64_know_the_distance_alone(position, behind, seed):
    q, k = np.random.default_rng(seed).normal(size=(2, 16))
    theta = rope.inv_freq(16, 10_000.0)
    found = precision.relative_scores(
        "float64", q, k, [position, position + 1234], [behind, 0], theta, angle_dtype="float64"
    )
    expected = rope.rotate(q, behind, theta) @ rope.rotate(k, 0, theta)
    np.testing.assert_allclose(found, [[expected, q @ k]] * 2, rtol=0, atol=1e-9)


def test_scores_in_bfloat16_are_those_of_rotated_vectors():
    q, k = np.random.default_rng(0).normal(size=(2, 8))
    theta, at, behind = rope.inv_freq(8, 10_000.0), [300, 15_962], [0, 5, 64]
    found = precision.relative_scores("bfloat16", q, k, at, behind, theta, angle_dtype="bfloat16")
    for row, position in enumerate(at):
        for column, distance in enumerate(behind):
            query, key = (
                precision.rotate_in("bfloat16", x, p, theta, angle_dtype="bfloat16")
                for x, p in ((q, position), (k, position - distance))
            )
            assert found[row, column] == pytest.approx(query @ key, abs=1e-12)


def test_results_have_the_shape_of_the_numbers():
    for x in (1.0, [1.0], np.zeros((2, 3)), np.zeros(0), np.zeros((3, 2)).T):
        for dtype in DTYPES:
            assert precision.rounded(dtype, x).shape == np.shape(x)
    cos, sin = precision.cos_sin("bfloat16", np.zeros((2, 3)), [1.0, 0.1])
    assert cos.shape == sin.shape == (2, 3, 2)


# Public bug reports.


@pytest.mark.parametrize(("position", "becomes"), [(257, 256), (15962, 15936), (65535, 65536)])
def test_bfloat16_positions_become_their_neighbours(position, becomes):
    """HF PR #29285, gpt-neox PR #1016, sglang-jax#1472, candle PR #3520."""
    assert precision.bfloat16(position) == becomes


def test_angles_in_bfloat16_turn_a_far_position_elsewhere():
    """HF PR #29285: cos(15962) = -0.9080 became cos(15936) = -0.2680."""
    right, _ = precision.cos_sin("float32", 15962, [1.0])
    wrong, _ = precision.cos_sin("float32", 15962, [1.0], angle_dtype="bfloat16")
    assert right == pytest.approx(-0.9080, abs=1e-4)
    assert wrong == pytest.approx(-0.2680, abs=2e-3)
    assert precision.angles("bfloat16", 15962, [1.0]) == 15936


def test_neighbouring_positions_are_64_apart_at_15962_not_16():
    """candle PR #3520 quotes a spacing of 16."""
    held = np.unique(precision.bfloat16(np.arange(15_900, 16_100)))
    assert set(np.diff(held)) == {64.0}


def test_a_model_in_bfloat16_with_float32_angles_tells_257_from_256():
    """The fix: only cos, sin and vectors are bfloat16."""
    near, far = precision.rotate_in("bfloat16", [1.0, 0.0], [256, 257], [1.0])
    assert near[0] != far[0]
    near, far = precision.rotate_in(
        "bfloat16", [1.0, 0.0], [256, 257], [1.0], angle_dtype="bfloat16"
    )
    np.testing.assert_array_equal(near, far)


# Errors.

short = {"ids": lambda came: str(came)[:8]}
NOT_NUMBERS = [math.nan, math.inf, -math.inf, "1", None, True, 10**400]


@pytest.mark.parametrize("came", ["fp16", "Float32", "", None, 16, True, np.float32], **short)
def test_an_unknown_dtype_is_refused(came):
    for ask in (
        lambda: precision.rounded(came, 1.0),
        lambda: precision.last_exact_position(came),
        lambda: precision.colliding_positions(came, 8),
        lambda: precision.angles(came, 1, [1.0]),
        lambda: precision.cos_sin(came, 1, [1.0]),
        lambda: precision.cos_sin("float32", 1, [1.0], angle_dtype=came),
        lambda: precision.rotate_in(came, [1.0, 0.0], 1, [1.0]),
        lambda: precision.last_position(came),
        lambda: precision.spacing(came, 1),
        lambda: precision.Casts(tables=came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^dtype must be one of float64, float32"):
            ask()


@pytest.mark.parametrize("came", NOT_NUMBERS, **short)
def test_numbers_that_are_none_are_refused(came):
    for ask in (
        lambda: precision.bfloat16(came),
        lambda: precision.rounded("float16", [came]),
        lambda: precision.rotate_in("float32", [came, came], 1, [1.0]),
    ):
        with pytest.raises(InvalidParameterError, match=r"^x must "):
            ask()
    for ask in (
        lambda: precision.angles("float32", came, [1.0]),
        lambda: precision.cos_sin("float32", came, [1.0]),
        lambda: precision.rotate_in("float32", [1.0, 0.0], came, [1.0]),
    ):
        with pytest.raises(InvalidParameterError, match=r"^positions must "):
            ask()


@pytest.mark.parametrize("came", [*NOT_NUMBERS, -1.0], **short)
def test_frequencies_and_attention_factors_that_are_none_are_refused(came):
    for ask in (
        lambda: precision.angles("float32", 1, [came]),
        lambda: precision.rotate_in("float32", [1.0, 0.0], 1, [came]),
    ):
        with pytest.raises(InvalidParameterError, match=r"^inv_freq must "):
            ask()
    with pytest.raises(InvalidParameterError, match=r"^attention_factor must be .* got "):
        precision.cos_sin("float32", 1, [1.0], came)


@pytest.mark.parametrize(
    ("dtype", "largest", "too_large"),
    [
        ("float16", 65504.0, 65520.0),
        ("bfloat16", 3.3895313892515355e38, 3.3961775292304957e38),
        ("float32", 3.4028234663852886e38, 3.5e38),
    ],
)
def test_numbers_too_large_for_a_dtype_are_refused(dtype, largest, too_large):
    assert precision.rounded(dtype, largest) == largest
    for came in (too_large, -too_large, 1e308):
        with pytest.raises(
            InvalidParameterError, match=rf"^x must be numbers that {dtype} can hold"
        ):
            precision.rounded(dtype, [1.0, came])


@pytest.mark.parametrize(
    "came", [0, -1, 2.5, 2**22 + 1, 10**18, math.nan, "8", None, True], **short
)
def test_a_length_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
        precision.colliding_positions("bfloat16", came)


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [("float64", 1.7e308), ("float32", 3.4e38), ("bfloat16", 3.38e38), ("float16", 65504.0)],
)
def test_vectors_that_a_dtype_holds_but_not_their_rotation_are_refused(dtype, largest):
    with pytest.raises(InvalidParameterError, match=r"^x must be .* got "):
        precision.rotate_in(dtype, [largest, largest], 1, [math.pi / 4])


def test_other_shapes_and_pairings_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^layout must be one of half, interleaved"):
        precision.rotate_in("float32", [1.0, 0.0], 1, [1.0], "halves")
    with pytest.raises(InvalidParameterError, match=r"^x must have .* 4 here, got 3"):
        precision.rotate_in("float32", [1.0] * 3, 1, [1.0, 0.1])
    with pytest.raises(InvalidParameterError, match=r"^positions must be one per vector, "):
        precision.rotate_in("float32", np.ones((2, 4)), [1, 2, 3], [1.0, 0.1])


def test_cos_and_sin_are_rounded_before_the_attention_factor_multiplies_them():
    positions, factor = np.arange(1000), 1.2772588722239782
    tables = precision.cos_sin("float32", positions, [1.0], factor)
    for found, function in zip(tables, (np.cos, np.sin), strict=True):
        exact = function(positions.astype(np.float64))
        native = exact.astype(np.float32) * np.float32(factor)  # float32 throughout
        np.testing.assert_array_equal(found[:, 0], native.astype(np.float64))
        assert (native != (exact * np.float64(np.float32(factor))).astype(np.float32)).any()
