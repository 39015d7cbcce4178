"""xPos against torchscale, its closed form, and plain RoPE."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params, rope, xpos
from posviz.params import InvalidParameterError

GOLDEN = json.loads((Path(__file__).parent / "golden" / "xpos.json").read_text())
HEAD_DIM = GOLDEN["head_dim"]
FREQUENCIES, ZETA = rope.inv_freq(HEAD_DIM, 10_000.0), np.array(GOLDEN["zeta_f64"])
short = {"ids": lambda came: str(came)[:6]}
close = {"rtol": 2e-6, "atol": 2e-6}

positions = st.integers(0, 100_000)
head_dims = st.integers(1, 32).map(lambda i: 2 * i)


@st.composite
def heads(draw):
    """q, k, frequencies and decays of a head."""
    head_dim = draw(head_dims)
    q, k = np.random.default_rng(draw(st.integers(0, 999))).normal(size=(2, head_dim))
    theta = draw(st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high))
    return q, k, rope.inv_freq(head_dim, theta), xpos.zeta(head_dim)


def test_vectors_are_a_head_of_eight_at_four_positions():
    assert (HEAD_DIM, GOLDEN["scale_base"], GOLDEN["len"]) == (8, 512, 4)
    assert len(GOLDEN["q"]) == len(GOLDEN["k"]) == HEAD_DIM
    assert GOLDEN["scale_base"] == xpos.SCALE_BASE


def test_zeta_is_the_papers():
    zeta = xpos.zeta(HEAD_DIM)
    assert zeta[0] == pytest.approx(0.4 / 1.4)
    assert np.all((zeta > 0) & (zeta < 1))
    assert np.all(np.diff(zeta) > 0)
    np.testing.assert_allclose(zeta, GOLDEN["zeta_f64"], rtol=1e-12)


@pytest.mark.parametrize("name", ["q", "k"])
def test_rotated_vectors_are_torchscales(name):
    """It puts the scale's centre at half the length, and leaves the angles where they are."""
    rotate = xpos.rotate_query if name == "q" else xpos.rotate_key
    x = np.broadcast_to(GOLDEN[name], (4, HEAD_DIM))
    rotated = rotate(x, np.arange(4), FREQUENCIES, ZETA, centre=2)
    plain = rope.rotate(x, np.arange(4), FREQUENCIES, "interleaved")
    np.testing.assert_array_equal(rotated[2], plain[2])
    np.testing.assert_allclose(rotated, GOLDEN[f"rotated_{name}"], **close)


def test_scores_are_torchscales():
    distance = np.subtract.outer(np.arange(4), np.arange(4))
    scores = xpos.scores(GOLDEN["q"], GOLDEN["k"], distance, FREQUENCIES, ZETA)
    assert scores.shape == (4, 4)
    np.testing.assert_allclose(scores.diagonal(), np.dot(GOLDEN["q"], GOLDEN["k"]), rtol=1e-12)
    assert GOLDEN["closed_form_max_abs_diff"] < 1e-6
    np.testing.assert_allclose(scores, GOLDEN["scores_q_dot_k"], **close)


def test_mean_decay_of_a_head_of_64():
    """The record's key says zeta and its head 8; its numbers are the mean over a head of 64."""
    means = {int(n): value for n, value in GOLDEN["decay_sum_over_zeta_f64"].items()}
    decay = xpos.decay(list(means), xpos.zeta(64))
    assert decay.shape == (len(means), 32)
    np.testing.assert_allclose(decay.mean(axis=-1), list(means.values()), rtol=1e-12)


@given(heads(), positions, positions)
def test_score_of_rotated_vectors_is_the_closed_form(head, m, n):
    q, k, frequencies, zeta = head
    centre = (m + n) // 2
    query = xpos.rotate_query(q, m, frequencies, zeta, centre=centre)
    key = xpos.rotate_key(k, n, frequencies, zeta, centre=centre)
    expected = sum(
        zeta[i] ** ((m - n) / 512)
        * np.dot(rope.rotate(q[2 * i : 2 * i + 2], m - n, frequencies[i : i + 1]),
                 k[2 * i : 2 * i + 2])
        for i in range(len(zeta))
    )  # fmt: skip
    size = 1e-8 * max(1.0, float(np.abs(xpos.decay(m - n, zeta)).max()))
    assert xpos.scores(q, k, m - n, frequencies, zeta) == pytest.approx(expected, abs=size)
    assert query @ key == pytest.approx(expected, abs=size)


@given(heads(), st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 5000))
def test_shifting_both_changes_no_score(head, m, n, shift):
    q, k, frequencies, zeta = head
    n = min(m, n)
    here, there = (
        xpos.rotate_query(q, m + s, frequencies, zeta)
        @ xpos.rotate_key(k, n + s, frequencies, zeta)
        for s in (0, shift)
    )
    assert there == pytest.approx(here, abs=1e-9)


@given(heads(), st.integers(0, 3000), st.integers(0, 3000), st.floats(-5000, 5000))
def test_the_centre_cancels(head, m, n, centre):
    q, k, frequencies, zeta = head
    n = min(m, n)
    plain, moved = (
        xpos.rotate_query(q, m, frequencies, zeta, centre=c)
        @ xpos.rotate_key(k, n, frequencies, zeta, centre=c)
        for c in (0.0, centre)
    )
    assert moved == pytest.approx(plain, abs=1e-9)


@given(heads(), positions)
def test_zeta_of_one_is_rope(head, position):
    q, k, frequencies, zeta = head
    ones = np.ones_like(zeta)
    for x, rotate in ((q, xpos.rotate_query), (k, xpos.rotate_key)):
        np.testing.assert_array_equal(
            rotate(x, position, frequencies, ones),
            rope.rotate(x, position, frequencies, "interleaved"),
        )


@given(head_dims)
def test_a_large_gamma_and_a_large_scale_base_decay_nothing(head_dim):
    np.testing.assert_allclose(xpos.zeta(head_dim, gamma=1e12), 1.0, rtol=1e-9)
    np.testing.assert_allclose(xpos.decay(1000, xpos.zeta(head_dim), 1e15), 1.0, rtol=1e-9)


@given(head_dims, st.integers(0, 400_000), st.integers(1, 100_000))
def test_every_pair_decays_with_distance_the_fastest_most(head_dim, distance, more):
    near, far = xpos.decay([distance, distance + more], xpos.zeta(head_dim))
    assert np.all(far <= near)
    assert np.all(near <= 1)
    assert np.all(np.diff(near) >= 0)
    assert xpos.decay(0, xpos.zeta(head_dim)).tolist() == [1.0] * (head_dim // 2)


def test_a_key_ahead_of_the_query_grows_so_xpos_is_causal_only():
    assert np.all(xpos.decay(-512, ZETA) > 1)
    np.testing.assert_allclose(xpos.decay(-512, ZETA), 1 / ZETA, rtol=1e-12)


@pytest.mark.parametrize("length", [4, 5])
def test_centres_that_differ_by_one_give_the_same_scores(length):
    """torchscale's -(length) // 2 and lucidrains' length // 2 at odd lengths."""
    q, k = (np.broadcast_to(GOLDEN[name], (length, HEAD_DIM)) for name in ("q", "k"))
    places = np.arange(length)
    torchscale, lucidrains = (
        xpos.rotate_query(q, places, FREQUENCIES, ZETA, centre=centre)
        @ xpos.rotate_key(k, places, FREQUENCIES, ZETA, centre=centre).T
        for centre in (-(-length // 2), length // 2)
    )
    np.testing.assert_allclose(torchscale, lucidrains, rtol=1e-12)


def test_float64_ends_far_beyond_float16():
    """Keys leave float16 about 4,500 tokens past the centre; here the end is a sentence."""
    assert 512 * math.log(65504) / math.log(3.5) == pytest.approx(4533, abs=1)
    reach = math.floor(512 * math.log(1e150) / math.log(3.5))
    assert reach > 140_000
    for rotate in (xpos.rotate_query, xpos.rotate_key):
        for place in (reach, -reach):
            assert np.all(np.isfinite(rotate([1.0, 1.0], place, [1.0], [2 / 7])))
        for place in (reach + 1, -reach - 1):
            with pytest.raises(InvalidParameterError, match=r"^positions must lie within 141,158 "):
                rotate([1.0, 1.0], [0, place], [1.0], [2 / 7])
    assert xpos.decay(524_288, [2 / 7]) == 0.2857142857142857 ** (524_288 / 512)
    with pytest.raises(InvalidParameterError, match=r"^distance must be a number of at least -141"):
        xpos.decay(-reach - 1, [2 / 7])
    with pytest.raises(InvalidParameterError, match=r"^distance must be a number of at least -141"):
        xpos.scores([1.0, 1.0], [1.0, 1.0], [0, -1e300], [1.0], [2 / 7])


# Errors.


def everything(**changed):
    """Each function with one argument replaced, if it has it."""
    common = {"inv_freq": FREQUENCIES, "zeta": ZETA} | {
        key: value for key, value in changed.items() if key in ("inv_freq", "zeta", "scale_base")
    }
    rotation = {"x": GOLDEN["q"], "positions": 1} | common | {
        key: value for key, value in changed.items() if key in ("x", "positions", "centre")
    }  # fmt: skip
    scores = {"q": GOLDEN["q"], "k": GOLDEN["k"], "distance": 1} | common | {
        key: value for key, value in changed.items() if key in ("q", "k", "distance")
    }  # fmt: skip
    decay = {key: scores[key] for key in ("distance", "zeta", "scale_base") if key in scores}
    for function, arguments in (
        (xpos.rotate_query, rotation), (xpos.rotate_key, rotation),
        (xpos.scores, scores), (xpos.decay, decay),
    ):  # fmt: skip
        if set(changed) <= set(arguments):
            yield lambda function=function, arguments=arguments: function(**arguments)


@pytest.mark.parametrize(
    ("name", "functions"),
    [("x", 2), ("positions", 2), ("centre", 2), ("q", 1), ("k", 1), ("distance", 2),
     ("inv_freq", 3), ("zeta", 4), ("scale_base", 4)],
)  # fmt: skip
@pytest.mark.parametrize("came", [math.nan, math.inf, "1", None, True, 10**400], **short)
def test_numbers_that_are_none_are_refused(name, functions, came):
    wanted = came if name in ("centre", "scale_base") else [came] * HEAD_DIM
    asked = list(everything(**{name: wanted}))
    assert len(asked) == functions
    for ask in asked:
        with pytest.raises(InvalidParameterError, match=rf"^{name} must .*, got "):
            ask()


@pytest.mark.parametrize(
    ("name", "came", "begin"),
    [
        ("zeta", [0.0, 0.5, 0.5, 0.5], "zeta must be numbers above 0 and at most 1, got 0"),
        ("zeta", [1.5, 0.5, 0.5, 0.5], "zeta must be numbers above 0 and at most 1, got 1.5"),
        ("zeta", [-0.5] * 4, "zeta must be finite numbers of at least 0, got -0.5"),
        ("zeta", [], "zeta must be "),
        ("scale_base", 0, "scale_base must be a finite number of at least 1, got 0"),
        ("scale_base", -512, "scale_base must be a finite number of at least 1, got -512"),
        ("centre", 1e300, "centre must be a number from -2,147,483,647 to 2,147,483,647, got 1e"),
        ("inv_freq", [-1.0] * 4, "inv_freq must be finite numbers of at least 0, got -1"),
        ("x", [1.0] * 7, "the last axis of x must be as long as two per pair, 8, got 7"),
        ("x", [1.0] * 10, "the last axis of x must be as long as two per pair, 8, got 10"),
        ("x", [[1e300] * 8], "x must be finite numbers from -1e"),
        ("x", 1.0, "x must have the axes "),
        ("k", [1.0] * 6, "k must be as long as q, 8, got 6"),
        ("q", [[1.0] * 8], "q must have the axes "),
        ("inv_freq", [1.0] * 3, "zeta must be as long as inv_freq, 3, got 4"),
        ("positions", [[1, 2], [3, 4]], None),
    ],
)
def test_wrong_values_get_a_sentence(name, came, begin):
    for ask in everything(**{name: came}):
        if begin is None:
            assert ask().shape == (2, 2, HEAD_DIM)
            continue
        with pytest.raises(InvalidParameterError) as error:
            ask()
        assert str(error.value).startswith(begin)


def test_positions_that_fit_no_vector_are_refused():
    for rotate in (xpos.rotate_query, xpos.rotate_key):
        with pytest.raises(InvalidParameterError, match=r"^positions must be one per vector, "):
            rotate(np.ones((3, 8)), [1, 2], FREQUENCIES, ZETA)


@pytest.mark.parametrize("came", [0, -2, 7, 2.0, math.nan, 10**18, "8", None, True], **short)
def test_a_head_dim_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^head_dim must be .* got "):
        xpos.zeta(came)


@pytest.mark.parametrize(
    "came", [0, -0.4, math.nan, math.inf, 10**400, 1e300, "0.4", None], **short
)
def test_a_gamma_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^gamma must be .* got "):
        xpos.zeta(8, came)


def test_no_distance_has_no_score():
    head = (np.ones(8), np.ones(8))
    decays = xpos.zeta(8)
    assert xpos.scores(*head, [], rope.inv_freq(8, 1e4), decays).shape == (0,)
    with pytest.raises(InvalidParameterError, match=r"^k must have the axes \(head_dim\), got "):
        xpos.scores(head[0], [], 1, rope.inv_freq(8, 1e4), decays)


def test_more_pairs_than_memory_holds_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^head_dim must ask for at most 268,435,456 "):
        xpos.zeta(2**31 - 2)
