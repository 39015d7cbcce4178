"""The key-value cache of a growing sequence: who rotated which key, and what that does."""

import dataclasses
import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import distance, params
from posviz import rope as rope_module
from posviz.cache_timeline import ENGINES, POLICIES, STRETCH, Timeline
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import DynamicNtk, Linear, LongRope, NoScaling, Ntk, Yarn

GOLDEN_DIR = Path(__file__).parent / "golden"
MODULE_STATE = json.loads((GOLDEN_DIR / "dynamic_module_state.json").read_text())
SMALL = RoPE(8)
DYNAMIC = DynamicNtk(2.0, 16)
LONG = LongRope((1.0, 1.1, 1.2, 1.3), (1.5, 2.0, 4.0, 8.0), 16, factor=4.0)

ropes = st.builds(
    RoPE,
    st.integers(2, 64).map(lambda i: 2 * i),
    st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high),
)
small_ropes = st.builds(
    RoPE, st.integers(2, 8).map(lambda i: 2 * i), st.floats(10.0, params.ROPE_THETA.high)
)


@st.composite
def timelines(draw, engines=ENGINES[:-1], policies=POLICIES, longest=300, trained=200, ropes=ropes):
    """A short sequence under dynamic NTK or LongRoPE."""
    plain, trained = draw(ropes), draw(st.integers(2, trained))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    lists = (tuple(each) for each in rng.uniform(1.0, 64.0, (2, plain.rotary_dim // 2)))
    scaling = draw(
        st.one_of(
            st.builds(lambda s: DynamicNtk(s, trained), st.floats(1.0, 64.0)),
            st.just(LongRope(*lists, trained, factor=8.0)),
        )
    )
    total = draw(st.integers(1, longest))
    return Timeline(
        plain,
        scaling,
        prompt=draw(st.integers(1, total)),
        total=total,
        step=draw(st.integers(1, 40)),
        engine=draw(st.sampled_from(engines)),
        policy=draw(st.sampled_from(policies)),
        seen=draw(st.one_of(st.none(), st.integers(0, 400))),
        context=draw(st.one_of(st.none(), st.integers(1, 400))),
    )


def passes(line):
    """Length of each pass and the keys computed in it, told step by step."""
    length, done = line.prompt, []
    keys = range(line.prompt)
    while True:
        done.append((length, list(keys)))
        if length == line.total:
            return done
        keys = range(length, min(length + line.step, line.total))
        length = keys.stop


@given(timelines())
def test_a_key_enters_with_the_pass_that_computes_it(line):
    for length, keys in passes(line):
        assert (line.entered(keys) == length).all()


@given(timelines())
def test_a_key_has_the_frequencies_of_a_module_that_sees_pass_after_pass(line):
    """Hugging Face's decorator, written as it stands there, against the closed form."""
    line = dataclasses.replace(line, engine="huggingface", policy="rotated")
    dynamic = isinstance(line.scaling, DynamicNtk)
    trained = line.scaling.max_position_embeddings if dynamic else None
    cached = in_force = max(trained, line.seen or 0) if dynamic else None
    for length, keys in passes(line):
        if dynamic:
            if length > cached:
                cached = in_force = length
            if length < trained and cached > trained:
                cached = in_force = trained
        else:
            in_force = length
        expected, _ = line.scaling.frequencies(line.rope, in_force)
        np.testing.assert_allclose(
            line.frequencies(keys), np.tile(expected, (len(keys), 1)), rtol=1e-11
        )


def test_the_module_s_state_is_hugging_face_s():
    """A golden series of passes: each one after the one before, as prompts of single sequences."""
    state = MODULE_STATE
    plain = RoPE(state["head_dim"])
    scaling = DynamicNtk(state["factor"], state["max_position_embeddings"])
    seen = None
    for call in state["calls_in_order"]:
        length = call["forward_len"]
        line = Timeline(plain, scaling, length, length, seen=seen)
        np.testing.assert_allclose(line.frequencies([0])[0], call["inv_freq_after"], rtol=1e-6)
        seen = max(seen or 0, length)


def test_a_prompt_of_exactly_the_trained_context_keeps_a_longer_base():
    after = Timeline(SMALL, DYNAMIC, 16, 16, seen=32)
    assert after.now == 32.0
    assert dataclasses.replace(after, prompt=15).now == 16.0  # the first pass reset it
    assert dataclasses.replace(after, seen=None).base([0])[0] == SMALL.rope_theta
    assert dataclasses.replace(after, engine="stateless").base([0])[0] == SMALL.rope_theta


def test_the_list_changes_after_exactly_the_trained_context():
    line = Timeline(SMALL, LONG, prompt=4, total=18)
    assert line.lists([0, 3, 15]).tolist() == ["short"] * 3  # key 15 entered at length 16
    assert line.lists([16, 17]).tolist() == ["long"] * 2
    assert Timeline(SMALL, LONG, 17, 18).lists([0, 17]).tolist() == ["long", "long"]
    assert Timeline(SMALL, LONG, 4, 16).errors().error.tolist() == [0.0] * 16


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
def test_a_list_chosen_at_the_start_goes_by_the_context_given(engine):
    for context, used in ((16, "short"), (17, "long")):
        line = Timeline(SMALL, LONG, 4, 40, engine=engine, context=context)
        assert set(line.lists(np.arange(40))) == {used}
        assert not line.errors().error.any()


def test_vllm_s_dynamic_base_is_one_for_all_lengths():
    """vllm issue 5093: factor 2 gives 3^(d/(d-2)) times the base at every length."""
    plain = RoPE(128)
    for total in (5, 4096):
        line = Timeline(plain, DynamicNtk(2.0, 2048), 5, total, engine="vllm")
        np.testing.assert_allclose(line.base(np.arange(total)), 30527.7367, rtol=1e-7)
    odd = Timeline(plain, DynamicNtk(1.3, 1001), 5, 9, engine="vllm")
    stretch = 1.3**2 - 1.3 + 1.0
    np.testing.assert_allclose(odd.frequencies([3])[0], Ntk(stretch).frequencies(plain)[0])


@given(timelines())
def test_the_base_of_each_key_makes_its_frequencies(line):
    if isinstance(line.scaling, LongRope):
        keys = np.arange(line.total)
        shorts = line.lists(keys) == "short"
        for shown, divisors in (
            (shorts, line.scaling.short_factor),
            (~shorts, line.scaling.long_factor),
        ):
            expected = np.tile(line.rope.inv_freq / divisors, (int(shown.sum()), 1))
            np.testing.assert_allclose(line.frequencies(keys[shown]), expected)
        return
    for key in (0, line.total - 1):
        expected = RoPE(line.rope.rotary_dim, line.base([key])[0]).inv_freq
        np.testing.assert_allclose(line.frequencies([key])[0], expected, rtol=1e-11)


grown = timelines(ENGINES[:2], POLICIES[:1], longest=150, trained=20, ropes=small_ropes)


@given(grown, st.integers(0, 2**31))
def test_a_score_is_that_of_rotated_vectors(line, seed):
    """The query at the end and each key, rotated as they would be, and the key rotated anew."""
    errors = line.errors()
    keys = line.total - 1 - errors.distance
    table = line.frequencies(keys)
    now = line.frequencies([line.total - 1])[0]  # the last key enters with the query
    size = line.scaling.frequencies(line.rope, 1)[1] ** 2
    ones, width = np.ones(line.rope.rotary_dim), line.rope.rotary_dim
    query = rope_module.rotate(ones, line.total - 1, now)
    picked = np.random.default_rng(seed).integers(0, len(keys), 5)
    for i in picked:
        cached = rope_module.rotate(ones, int(keys[i]), table[i])
        right = rope_module.rotate(ones, int(keys[i]), now)
        assert errors.cached[i] == pytest.approx(size * query @ cached / width**0.5, abs=1e-7)
        assert errors.consistent[i] == pytest.approx(size * query @ right / width**0.5, abs=1e-7)
        # Frobenius norm of what is multiplied by random q and k, over the root of their number.
        matrix = rope_module.rotation_matrix(line.total - 1, now).T @ (
            rope_module.rotation_matrix(int(keys[i]), table[i])
            - rope_module.rotation_matrix(int(keys[i]), now)
        )
        rms = size * np.linalg.norm(matrix) / width**0.5
        assert errors.rms[i] == pytest.approx(rms, abs=1e-6)


def test_the_rms_is_what_random_vectors_measure():
    line = Timeline(RoPE(64), DynamicNtk(4.0, 512), 600, 2000)
    errors, rng = line.errors(), np.random.default_rng(0)
    i = int(np.argmax(errors.rms))
    key = line.total - 1 - int(errors.distance[i])
    q, k = rng.standard_normal((2, 4000, 64))
    now = line.frequencies([line.total - 1])[0]
    query = rope_module.rotate(q, line.total - 1, now)
    cached, right = (rope_module.rotate(k, key, freq) for freq in (line.frequencies([key])[0], now))
    measured = np.sqrt((((query * (cached - right)).sum(axis=-1) / 8.0) ** 2).mean())
    assert measured == pytest.approx(errors.rms[i], rel=0.05)


@given(timelines())
def test_consistent_scores_are_the_curve_of_the_present_frequencies(line):
    errors = line.errors(scale="linear")
    now = line.frequencies([line.total - 1])[0]
    factor = line.scaling.frequencies(line.rope, 1)[1]
    curve = distance.rope_scores(now, line.total, factor)
    np.testing.assert_allclose(errors.consistent, curve[errors.distance], atol=1e-7)


@given(timelines())
def test_a_consistent_cache_has_no_error(line):
    consistent = line.policy != "rotated" or line.engine == "vllm" or line.prompt == line.total
    if consistent:
        np.testing.assert_allclose(line.errors().error, 0.0, atol=1e-9)
        np.testing.assert_allclose(line.errors().rms, 0.0, atol=1e-6)


@pytest.mark.parametrize("scaling", [NoScaling(), Linear(4.0), Yarn(4.0, 16)])
def test_frequencies_that_do_not_go_by_the_length_have_no_error(scaling):
    line = Timeline(SMALL, scaling, 5, 60)
    np.testing.assert_array_equal(line.errors().error, 0.0)
    np.testing.assert_allclose(line.frequencies(3), scaling.frequencies(SMALL)[0])


@given(timelines(longest=100_000), st.integers(1, 400), st.sampled_from(["linear", "log"]))
def test_what_is_looked_at_lies_in_its_bin_and_begins_with_the_last_key(line, count, scale):
    errors = line.errors(count, scale)
    first = distance.bins(line.total, count, scale)
    assert len(errors.starts) == len(first)
    assert errors.distance[0] == 0
    bounds = np.append(first, line.total)
    which = np.searchsorted(bounds, errors.distance, side="right") - 1
    taken = np.bincount(which, minlength=len(first))
    np.testing.assert_array_equal(taken, np.minimum(np.diff(bounds), STRETCH))
    np.testing.assert_array_equal(errors.bins, errors.distance[errors.starts])
    low, high = errors.envelope(errors.error)
    assert (low <= high).all()
    assert errors.largest[0] == np.abs(errors.error).max()
    rms = errors.mean_square()
    assert len(rms) == len(first)
    assert rms[0] == pytest.approx(np.sqrt((errors.rms[which == 0] ** 2).mean()))


def test_a_short_sequence_is_looked_at_whole():
    assert Timeline(SMALL, DYNAMIC, 4, 200).errors().distance.tolist() == list(range(200))


def test_the_error_grows_with_the_sequence():
    """Keys of a prompt that fits, read from 4 and from 8 trained contexts away."""
    plain, scaling = RoPE(128), DynamicNtk(4.0, 4096)
    found = [
        Timeline(plain, scaling, 4096, total).errors(scale="linear").rms
        for total in (4097, 5000, 16384)
    ]
    means = [float(np.sqrt((rms**2).mean())) for rms in found]
    assert 0.0 < means[0] < means[1] < means[2]
    assert means[2] > 1.0  # as large as the scores of random vectors themselves


def test_a_drag_at_131072_tokens_takes_milliseconds():
    line = Timeline(RoPE(128), DynamicNtk(8.0, 4096), 1000, 131_072)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        line.errors()
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.03


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"prompt": 0}, "prompt must be a whole number from 1 to 20, got 0"),
        ({"prompt": 21}, "prompt must be a whole number from 1 to 20, got 21"),
        ({"step": 0}, "step must be"),
        ({"seen": -1}, "seen must be"),
        ({"context": 0}, "context must be"),
        ({"engine": "llama.cpp"}, "for dynamic NTK, which llama.cpp does not have"),
        ({"engine": "mine"}, "engine must be one of huggingface"),
        ({"policy": "mine"}, "policy must be one of rotated"),
        ({"rope": RoPE(2)}, "at least 4"),
        ({"scaling": "dynamic"}, "scaling must be an object of the class RopeScaling"),
    ],
)
def test_a_wrong_timeline_is_told(wrong, said):
    right = {"rope": SMALL, "scaling": DYNAMIC, "prompt": 4, "total": 20}
    with pytest.raises(InvalidParameterError, match=said):
        Timeline(**{**right, **wrong})


def test_no_positions_have_no_frequencies():
    for scaling in (DYNAMIC, LONG, NoScaling()):
        assert Timeline(SMALL, scaling, 4, 20).frequencies(np.array([], int)).shape == (0, 4)


def test_questions_that_do_not_fit_the_method_are_told():
    with pytest.raises(InvalidParameterError, match="scaling must be longrope"):
        Timeline(SMALL, DYNAMIC, 4, 20).lists([0])
    with pytest.raises(InvalidParameterError, match="scaling must be dynamic"):
        Timeline(SMALL, LONG, 4, 20).base([0])
    with pytest.raises(InvalidParameterError, match="positions must be whole numbers from 0 to 19"):
        Timeline(SMALL, DYNAMIC, 4, 20).entered([20])
