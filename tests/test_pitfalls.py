"""Mistakes reproduce the numbers of public reports, and score what a plain rotation scores."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import alibi, mistakes, mrope, params, pitfalls, precision, relative, rope
from posviz.cache_timeline import Timeline
from posviz.mistake_outcome import VISIBLE, Outcome
from posviz.mistake_settings import Settings
from posviz.mistakes import Turning
from posviz.pitfalls import PITFALLS, Slip
from posviz.rope_scaling import LongRope, Yarn

EVERY = [(pitfall, slip) for pitfall in PITFALLS for slip in pitfall.slips]
every_slip = pytest.mark.parametrize(
    ("pitfall", "slip"), EVERY, ids=[f"{pitfall.id}-{slip.id}" for pitfall, slip in EVERY]
)


def outcome(pitfall: str, slip: str, example: str, **handles: object) -> Outcome:
    made = pitfalls.get(pitfall).slip(slip)
    return made.outcome(made.settings(example, **handles))


# Right and mistaken numbers as the public reports have them, recomputed; then which fact it is.
REPORTED: dict[str, tuple[str, str, str, dict[str, int], int, float, float]] = {
    "vllm 41236, short": ("scaling_twice", "always", "dynamic-2048", {"seq_len": 2048},
                          0, 10_000.0, 30_527.7367),
    "vllm 41236, factor 4": ("scaling_twice", "always", "dynamic-4096", {"seq_len": 8192},
                             0, 1e4 * 5 ** (128 / 126), 1e4 * 13 ** (128 / 126)),
    "vllm 41301": ("scaling_missing", "plain", "dynamic-2048", {},
                   0, 30_527.7367 ** (-126 / 128), 1e4 ** (-126 / 128)),
    "mlx-lm 1545": ("scaling_twice", "positions", "internlm-6", {},
                    0, 1e4 * 7.219586, 1e4 * 3.052774),
    "mlx-lm 1545, positions": ("scaling_twice", "positions", "internlm-6", {}, 1, 1.0, 2.0),
    "aprender 2161": ("scaling_twice", "ntk-base", "yarn-16", {}, 0, 0.2371374, 0.1527108),
    "keras-hub 2981": ("scaling_missing", "clamped", "yarn-131072", {},
                       0, 6.411161e-05, 3.333804e-05),
    "tvm 18576": ("scaling_twice", "power", "gpt-oss-20b", {}, 0, 3.0235114e-07, 3.369361e-07),
    "mlx-lm 1507": ("mscale", "generic", "mscale-one", {}, 0, 1.0, 1.2772589),
    "sglang 33558": ("mscale", "multiplied", "yarn-128", {}, 0, 1.4852030, 2.2058280),
    "TensorRT-LLM 16379": ("mscale", "again", "yarn-64", {}, 0, 1.4158883, 1.5888514),
    "TensorRT-LLM 16379, 32": ("mscale", "again", "gpt-oss-20b", {}, 0, 1.3465736, 1.4666868),
    "llama.cpp 7118": ("mscale", "generic", "DeepSeek-V2-Lite", {}, 0, 1.0, 1.3688879),
    "unsloth 10681": ("scaling_missing", "at-trained", "Phi-3.5-mini-instruct", {},
                      0, 4.2659427e-05, 1.8684879e-06),
    "llama.cpp 6849": ("scaling_missing", "short", "Phi-3.5-mini-instruct", {"seq_len": 5000},
                       0, 1.8684879e-06, 4.2659427e-05),
    "transformers 32330": ("scaling_missing", "plain", "Llama-3.1-8B-Instruct", {},
                           0, 3.068926e-07, 2.4551408e-06),
    "pie 602": ("partial", "head", "Qwen3-Next-80B-A3B", {}, 0, 3.1622777e-04, 0.1333521),
    "pie 602, partner": ("partial", "head", "Qwen3-Next-80B-A3B", {}, 1, 32.0, 128.0),
    "coreai-models 66, partner": ("partial", "part", "gemma-4-e2b", {}, 1, 256.0, 64.0),
    "vllm-gaudi 1437, height": ("mrope", "blocks", "Qwen3-VL-2B", {}, 0, 1.0, 24.0),
    "vllm-gaudi 1437, width": ("mrope", "blocks", "Qwen3-VL-2B", {}, 1, 2.0, 44.0),
    "transformers 29285": ("position_dtype", "bfloat16", "rope-16k", {}, 1, 257.0, 256.0),
    "transformers 29285, far": ("position_dtype", "bfloat16", "rope-16k", {}, 2, 15962.0, 15936.0),
    "aprender 2143": ("slopes_off_by_one", "zero", "heads-8", {}, 1, 0.5, 1.0),
    "aprender 2143, last": ("slopes_off_by_one", "zero", "heads-8", {}, 2, 0.00390625, 0.0078125),
    "Baichuan2 225": ("slopes", "paper", "baichuan-13b", {}, 1, 0.8408964, 0.8705506),
    "Baichuan2 225, head 33": ("slopes", "paper", "baichuan-13b", {}, 0, 0.9170040,
                               2.0 ** (-8 * 33 / 40)),
    "Model-Connect 32": ("slopes_off_by_one", "unscaled", "falcon-8", {}, 1, -0.625, -5.0),
    "MPT, read in the code": ("slopes_off_by_one", "bias-max", "max-16", {}, 1, 0.25, 0.5),
}  # fmt: skip


@pytest.mark.parametrize("report", REPORTED)
def test_reported_numbers_come_out(report: str) -> None:
    pitfall, slip, example, handles, index, right, mistaken = REPORTED[report]
    fact = outcome(pitfall, slip, example, **handles).facts[index]
    assert fact.right == pytest.approx(right, rel=5e-7)
    assert fact.mistaken == pytest.approx(mistaken, rel=5e-7)


def test_a_proportional_head_counted_over_its_part_has_the_reported_second_frequency() -> None:
    settings = pitfalls.get("partial").slip("part").settings("gemma-4-e2b")
    right, part = mistakes._whole_head(settings), mistakes._part_of_head(settings)
    assert right.inv_freq[1] == pytest.approx(0.9474635, rel=1e-7)
    assert part.inv_freq[1] == pytest.approx(0.8058422, rel=1e-7)
    assert not right.inv_freq[64:].any()


@every_slip
def test_every_example_gives_finite_scores_and_says_where_it_shows(
    pitfall: pitfalls.Pitfall, slip: Slip
) -> None:
    for example in slip.examples:
        made = slip.outcome(slip.settings(example, seq_len=slip.seq_len or 2048))
        position = made.extent - 1
        along, through = made.by_distance(position), made.by_position(1)
        for curve in (along, through):
            assert np.isfinite(curve.right).all()
            assert np.isfinite(curve.mistaken).all()
            assert (curve.right[0] <= curve.right[1]).all()
        right, mistaken = made.scores(np.array([position]), np.arange(position + 1))
        apart = np.flatnonzero(np.abs(mistaken - right)[0] > VISIBLE)
        assert along.first == (int(apart[0]) if len(apart) else None)
        assert made.at(position, 1) == pytest.approx((right[0, 1], mistaken[0, 1]))


@every_slip
def test_nothing_turns_at_distance_0_so_only_factors_show_there(
    pitfall: pitfalls.Pitfall, slip: Slip
) -> None:
    made = slip.outcome(slip.settings(slip.examples[0]))
    right, mistaken = made.at(0, 0)
    factor = [fact for fact in made.facts if fact.label == "factor on cos and sin"]
    if factor and pitfall.id != "partial":
        assert mistaken - right != 0.0
    else:
        assert mistaken == pytest.approx(right, abs=1e-9)


@every_slip
def test_a_map_shows_the_largest_error_of_each_cell(pitfall: pitfalls.Pitfall, slip: Slip) -> None:
    made = slip.outcome(slip.settings(slip.examples[0], seq_len=300))
    found = made.errors(cells=30)
    assert found.values.shape == found.visible.shape
    assert found.row_step * (len(found.values) - 1) < made.extent
    if made.depends == "distance":
        right, mistaken = made.scores(np.array([made.extent - 1]), np.arange(made.extent))
        error = (mistaken - right)[0]
        blocks = np.array_split(error, np.arange(found.column_step, made.extent, found.column_step))
        worst = [max(block, key=abs) for block in blocks]
        np.testing.assert_allclose(np.abs(found.values[-1]), np.abs(worst))
    else:
        largest = np.abs(found.values[found.visible]).max()
        rows, columns = np.arange(made.extent), np.arange(made.extent)
        right, mistaken = made.scores(rows, columns)
        inside = np.ones_like(right, np.bool_) if made.depends == "patch" else np.tri(
            made.extent, dtype=np.bool_
        )  # fmt: skip
        assert largest <= np.abs(mistaken - right)[inside].max() + 1e-12


@given(distance=st.integers(0, 1000), look_back=st.integers(0, 64), pairs=st.integers(2, 40))
def test_swapped_pairs_score_as_two_plain_rotations(
    distance: int, look_back: int, pairs: int
) -> None:
    made = outcome("pairing", "interleaved", "ones", look_back=look_back, head_dim=2 * pairs)
    frequencies = rope.inv_freq(2 * pairs, 10_000.0)
    q = rope.random_vectors(pairs)[0]
    q *= np.sqrt(2 * pairs) / np.linalg.norm(q)
    k = rope.rotate(q, look_back, frequencies)
    for score, layout in zip(made.at(1023, distance), rope.LAYOUTS, strict=True):
        plain = rope.scores(q, k, 1023, 1023 - distance, frequencies, layout)[0, 0]
        assert score == pytest.approx(plain / np.sqrt(2 * pairs), abs=1e-9)


def test_ones_do_not_tell_pairings_apart() -> None:
    frequencies, ones = rope.inv_freq(64, 10_000.0), np.ones(64)
    half, interleaved = (
        rope.scores(ones, ones, 500, np.arange(500), frequencies, way) for way in rope.LAYOUTS
    )
    np.testing.assert_allclose(half, interleaved, atol=1e-9)


@given(position=st.integers(0, 16383), distance=st.integers(0, 16383))
def test_coarse_positions_score_as_rotations_to_the_rounded_ones(
    position: int, distance: int
) -> None:
    distance = min(distance, position)
    made = outcome("position_dtype", "bfloat16", "rope-16k")
    places = np.array([position, position - distance], np.float64)
    frequencies, ones = rope.inv_freq(128, 10_000.0), np.ones(128)
    for score, at in zip(
        made.at(position, distance), (places, precision.bfloat16(places)), strict=True
    ):
        plain = rope.scores(ones, ones, at[0], at[1], frequencies)[0, 0]
        assert score == pytest.approx(plain / np.sqrt(128), abs=1e-6)


def test_positions_in_16_bits_are_exact_as_far_as_the_dtype_counts() -> None:
    for slip, exact in (("bfloat16", 256), ("float16", 2048)):
        made = outcome("position_dtype", slip, "rope-16k")
        right, mistaken = made.scores(np.arange(exact + 1), np.arange(exact + 1))
        below = np.tri(exact + 1, dtype=np.bool_)
        assert (right[below] == mistaken[below]).all()
        right, mistaken = made.scores(np.array([exact + 1]), np.arange(3))
        assert not np.allclose(right, mistaken)


@pytest.mark.parametrize(("position", "distance"), [(519, 7), (519, 8), (511, 20), (700, 600)])
def test_new_tokens_that_jump_ahead_see_the_prompt_farther_away(
    position: int, distance: int
) -> None:
    made = outcome("left_padding", "jump", "padded", padding=100, prompt=512)
    key = position - distance
    placed = position + 100 if position >= 512 else position, key + 100 if key >= 512 else key
    frequencies, ones = rope.inv_freq(128, 10_000.0), np.ones(128)
    plain = rope.scores(ones, ones, placed[0], placed[1], frequencies)[0, 0] / np.sqrt(128)
    assert made.at(position, distance)[1] == pytest.approx(plain, abs=1e-9)


def test_shifting_all_positions_changes_no_score_of_rope() -> None:
    made = outcome("left_padding", "shift", "padded", padding=300)
    right, mistaken = made.scores(np.arange(1024), np.arange(1024))
    assert (right == mistaken).all()
    assert made.by_position(16).first is made.by_distance(1023).first is None


@pytest.mark.parametrize(
    ("slip", "example"), [("dynamic", "dynamic-2048"), ("longrope", "Phi-3.5-mini-instruct")]
)
def test_an_old_cache_scores_what_the_timeline_says(slip: str, example: str) -> None:
    settings = pitfalls.get("dynamic_cache").slip(slip).settings(example, seq_len=6000)
    made = pitfalls.get("dynamic_cache").slip(slip).outcome(settings)
    errors = Timeline(settings.rope, settings.scaling, settings.prompt, 6000,
                      engine="stateless").errors()  # fmt: skip
    right, mistaken = made.scores(np.array([5999]), np.arange(6000))
    np.testing.assert_allclose(right[0, errors.distance], errors.consistent, atol=1e-9)
    np.testing.assert_allclose(mistaken[0, errors.distance], errors.cached, atol=1e-9)
    by_column = made.scores(np.arange(600, 6000, 450), np.array([600]))
    by_row = made.scores(np.arange(600, 6000, 450), np.arange(601))
    for column, row in zip(by_column, by_row, strict=True):
        np.testing.assert_allclose(column[:, 0], row[:, 600], atol=1e-9)


@given(rows=st.integers(0, 63), columns=st.integers(0, 63))
def test_patches_score_as_rotations_of_their_axes(rows: int, columns: int) -> None:
    made = outcome("mrope", "blocks", "Qwen3-VL-2B")
    frequencies, ones = rope.inv_freq(128, 5e6), np.ones(128)
    for score, interleaved in zip(made.at(rows, columns), (True, False), strict=True):
        q, k = (
            mrope.rotate(ones, np.array([7.0, *at]), frequencies, (24, 20, 20),
                         interleaved=interleaved)
            for at in ((rows + 3.0, columns + 5.0), (3.0, 5.0))
        )  # fmt: skip
        assert score == pytest.approx(float(q @ k) / np.sqrt(128), abs=1e-9)


@given(num_heads=st.integers(1, 128), data=st.data())
def test_slopes_by_the_papers_rule_are_the_papers(num_heads: int, data: st.DataObject) -> None:
    head = data.draw(st.integers(1, num_heads))
    made = outcome("slopes", "paper", "heads-12", num_heads=num_heads, head=head)
    right, mistaken = made.at(20, 20)
    assert right == pytest.approx(-20 * alibi.slopes(num_heads)[head - 1])
    assert mistaken == pytest.approx(-20 * 2 ** (-8 * head / num_heads))
    if num_heads & (num_heads - 1) == 0:
        assert made.by_distance(200).first is None


def test_flipped_directions() -> None:
    decoder = outcome("t5_direction", "decoder", "t5")
    right, mistaken = decoder.scores(np.array([255]), np.arange(256))
    assert (mistaken == 0.0).all()
    buckets = relative.t5_bucket(-np.arange(256), bidirectional=False)
    assert (right[0] == -0.25 * buckets).all()
    encoder = outcome("t5_direction", "encoder", "t5")
    assert encoder.at(255, 4) == (-1.0, -2.0)
    assert encoder.at(255, 255) == (-0.25 * 15, -0.5 * 15)


@given(rotary_dim=st.integers(1, 128).map(lambda n: 2 * n))
def test_so_many_dimensions_rotate_as_the_handle_says(rotary_dim: int) -> None:
    settings = Settings(head_dim=256).moved(rotary_dim=rotary_dim)
    assert settings.rope.rotary_dim == rotary_dim
    odd = Settings(head_dim=98).moved(rotary_dim=min(rotary_dim, 98))
    assert odd.rope.rotary_dim == min(rotary_dim, 98)


# ------------------------------------------------------------------------------ where it shows


def test_a_difference_is_one_that_changes_a_weight_by_a_tenth() -> None:
    assert np.exp(VISIBLE) == pytest.approx(1.1, abs=0.006)


@every_slip
def test_the_first_position_is_the_first_whose_query_is_off_at_any_distance(
    pitfall: pitfalls.Pitfall, slip: Slip
) -> None:
    for handles in ({"prompt": 40}, {"prompt": 300, "padding": 3}, {"padding": 0}):
        settings = slip.settings(slip.examples[0], seq_len=400, **handles)
        scaling = settings.scaling
        for name in ("max_position_embeddings", "original_max_position_embeddings"):
            if hasattr(scaling, name) and pitfall.id == "dynamic_cache":
                settings = settings.moved(scaling=replace(scaling, **{name: 256}))
        made = slip.outcome(settings)
        if made.depends == "patch":
            continue
        right, mistaken = made.scores(np.arange(400), np.arange(400))
        off = (np.abs(mistaken - right) > VISIBLE) & np.tri(400, dtype=np.bool_)
        rows = np.flatnonzero(off.any(axis=1))
        assert made.first_position == (rows[0] if len(rows) else None)


@given(first=st.integers(0, 499), begins=st.integers(0, 499))
def test_no_position_is_passed_over(first: int, begins: int) -> None:
    def scores(positions: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        own = distances[None, :] == 0
        right = np.zeros((len(positions), len(distances)))
        return right, right + 0.2 * (own & (positions[:, None] == first))

    made = Outcome(scores, 500, 1.0, 1.0, "position", begins=begins)
    assert made.first_position == (first if first >= begins else None)


def test_rounded_positions_and_old_caches_show_before_any_one_distance_does() -> None:
    for pitfall, slip, example, distance, first, there in (
        ("position_dtype", "bfloat16", "rope-16k", 3, 257, 257),
        ("position_dtype", "float16", "rope-16k", 4, 2049, 2049),
        ("dynamic_cache", "dynamic", "dynamic-2048", 512, 2048, 2064),
        ("dynamic_cache", "longrope", "Phi-3.5-mini-instruct", 4096, 4096, 4100),
        ("left_padding", "jump", "padded", 16, 512, 512),
    ):
        made = outcome(pitfall, slip, example)
        assert made.first_position == first
        assert made.by_position(distance).first == there


# ------------------------------------------------------------------- what each slip's words claim


def ways(slip: Slip, settings: Settings) -> tuple[Turning, Turning]:
    """The right and the mistaken way to turn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mistakes, "_turned", lambda _, right, mistaken, *more: (right, mistaken))
        right, mistaken = slip.outcome(settings)  # type: ignore[misc]
    return right, mistaken  # type: ignore[return-value]


def errors(made: Outcome, count: int | None = None) -> np.ndarray:
    """Mistaken minus right scores of the last query."""
    right, mistaken = made.scores(np.array([made.extent - 1]), np.arange(count or made.extent))
    return np.asarray(mistaken - right)[0]


def slowing(slip: Slip, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Plain over loaded inv_freq of every pair, right and mistaken."""
    right, mistaken = (settings.rope.inv_freq / way.inv_freq for way in ways(slip, settings))
    return right, mistaken


def ramp(settings: Settings) -> np.ndarray:
    assert isinstance(settings.scaling, Yarn)
    return settings.scaling.ramp(settings.rope)


def _pairing(slip: Slip, settings: Settings, made: Outcome) -> None:
    """Alike at 0; up to 100, and not at 5 alone, it shows."""
    off = np.abs(errors(made, 101))
    assert off[0] == pytest.approx(0.0, abs=1e-9)
    assert off[1:].max() > VISIBLE


def _base(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = ways(slip, settings)
    assert right.inv_freq[0] == mistaken.inv_freq[0] == 1.0
    d = settings.rope.rotary_dim
    assert right.inv_freq[-1] == pytest.approx(settings.rope_theta ** (-(d - 2) / d))


def _partial(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = ways(slip, settings)
    r, d = round(settings.head_dim * settings.partial_rotary_factor), settings.head_dim
    part, whole = (right, mistaken) if slip.id == "head" else (mistaken, right)
    i = np.arange(r // 2)
    np.testing.assert_allclose(part.inv_freq, settings.rope_theta ** (-2 * i / r))
    np.testing.assert_allclose(whole.inv_freq[: r // 2], settings.rope_theta ** (-2 * i / d))
    assert len(whole.inv_freq) == d // 2
    assert not whole.inv_freq[r // 2 :].any()
    assert made.facts[1].right == len(right.inv_freq)
    assert errors(made, 1)[0] == pytest.approx(0.0, abs=1e-9)


def _mrope(slip: Slip, settings: Settings, made: Outcome) -> None:
    """Equal positions turn each pair alike: in either order, as plain RoPE."""
    q = np.arange(1.0, 1.0 + settings.rope.rotary_dim)
    at, plain = np.full(3, 9.0), settings.rope.inv_freq
    for interleaved in (True, False):
        turned = mrope.rotate(q, at, plain, settings.mrope_section, interleaved=interleaved)
        np.testing.assert_allclose(turned, rope.rotate(q, 9.0, plain))


def _plain(slip: Slip, settings: Settings, made: Outcome) -> None:
    slow, _ = slowing(slip, settings)
    method = settings.scaling.rope_type
    if method in ("yarn", "llama3"):
        assert (slow[:8] == 1.0).all()
    elif method == "linear":
        np.testing.assert_allclose(slow, settings.factor)
    else:
        assert method == "dynamic"
        short = settings.moved(seq_len=settings.scaling.max_position_embeddings)  # type: ignore[attr-defined]
        np.testing.assert_allclose(slowing(slip, short)[0], 1.0)
    trained = getattr(settings.scaling, "original_max_position_embeddings", 2048)
    assert np.abs(errors(slip.outcome(settings.moved(seq_len=trained + 2048)))[trained:]).max() > (
        VISIBLE
    )


def _clamped(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = ways(slip, settings)
    assert settings.scaling.correction_range(settings.rope)[1] == 35  # type: ignore[attr-defined]
    assert (settings.rope.rotary_dim - 1, settings.rope.rotary_dim // 2 - 1) == (63, 31)
    differ = right.inv_freq != mistaken.inv_freq
    assert (2 * np.pi / settings.rope.inv_freq[differ]).min() > 4000
    slow, wrong = slowing(slip, settings)
    assert slow[-1] < settings.factor - 0.1
    assert wrong[-1] == pytest.approx(settings.factor)


def _short(slip: Slip, settings: Settings, made: Outcome) -> None:
    assert isinstance(settings.scaling, LongRope)
    trained = settings.scaling.original_max_position_embeddings
    assert not errors(slip.outcome(settings.moved(seq_len=trained))).any()
    longer = settings.moved(seq_len=trained + 1)
    right, mistaken = slowing(slip, longer)
    np.testing.assert_allclose(right, settings.scaling.long_factor)
    np.testing.assert_allclose(mistaken, settings.scaling.short_factor)


def _at_trained(slip: Slip, settings: Settings, made: Outcome) -> None:
    assert isinstance(settings.scaling, LongRope)
    trained = settings.scaling.original_max_position_embeddings
    assert settings.seq_len == trained
    right, mistaken = slowing(slip, settings)
    np.testing.assert_allclose(right, settings.scaling.short_factor)
    np.testing.assert_allclose(mistaken, settings.scaling.long_factor)
    for other in (trained - 1, trained + 1):
        assert not errors(slip.outcome(settings.moved(seq_len=other))).any()


def _again(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = slowing(slip, settings)
    linear = settings.scaling.rope_type == "linear"
    assert right[-1] == pytest.approx(settings.factor)
    assert right[0] == pytest.approx(settings.factor if linear else 1.0)
    np.testing.assert_allclose(mistaken, settings.factor * right)
    assert errors(made, 2)[1] > 0.0  # more alike


def _ntk_base(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = slowing(slip, settings)
    kept, divided = ramp(settings) == 0.0, ramp(settings) == 1.0
    assert kept[:11].all()
    assert (right[kept] == 1.0).all()
    assert mistaken[0] == 1.0
    assert (mistaken[kept][1:] > 1.04).all()
    np.testing.assert_allclose(mistaken[divided], right[divided])
    assert errors(made, 2)[1] > 0.0


def _power(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = slowing(slip, settings)
    kept, divided = ramp(settings) == 0.0, ramp(settings) == 1.0
    np.testing.assert_allclose(right[divided], settings.factor)
    assert (mistaken[divided] < 0.97 * settings.factor).all()
    assert (mistaken[kept] == 1.0).all()
    assert (2 * np.pi / settings.rope.inv_freq[~kept]).min() > 100


def _always(slip: Slip, settings: Settings, made: Outcome) -> None:
    trained = settings.scaling.max_position_embeddings  # type: ignore[attr-defined]
    longest = settings.moved(seq_len=round(settings.factor * trained))
    assert not errors(slip.outcome(longest)).any()
    short = settings.moved(seq_len=min(1000, trained))
    right, mistaken = slowing(slip, short)
    np.testing.assert_allclose(right, 1.0)
    assert mistaken[0] == 1.0
    assert (mistaken[1:] > 1.0).all()


def _positions(slip: Slip, settings: Settings, made: Outcome) -> None:
    for length in (1000, settings.seq_len):
        right, mistaken = ways(slip, settings.moved(seq_len=length))
        assert (right.inv_freq[0], mistaken.inv_freq[0]) == (1.0, 2.0)
    assert (np.cos(1.0), np.cos(2.0)) == (pytest.approx(0.540, abs=5e-4),
                                          pytest.approx(-0.416, abs=5e-4))  # fmt: skip


def _inverse(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = ways(slip, settings)
    assert settings.scaling.rope_type == "linear"
    assert right.inv_freq[0] == 1.0 / settings.factor
    assert mistaken.inv_freq[0] == settings.factor
    off = np.abs(errors(made, 2))
    assert off[0] == pytest.approx(0.0, abs=1e-9)
    assert off[1] > VISIBLE


def _mscale(slip: Slip, settings: Settings, made: Outcome) -> None:
    """Where the whole head turns, one number multiplies every score; it is largest at 0."""
    right, mistaken = made.scores(np.array([made.extent - 1]), np.arange(made.extent))
    off = np.abs(mistaken - right)[0]
    assert off[0] == off.max() > VISIBLE
    factor, squared = made.facts
    assert squared.mistaken == pytest.approx(factor.mistaken**2)
    whole = settings.rope.rotary_dim == settings.head_dim
    if whole:
        np.testing.assert_allclose(mistaken, right * squared.mistaken / squared.right)
        assert factor.mistaken > factor.right  # too sharp
        assert right[0, 0] == pytest.approx(np.sqrt(settings.head_dim) * factor.right**2)
    else:
        assert (slip.id, settings.rope.rotary_dim, settings.head_dim) == ("generic", 64, 192)
        # As long as itself squared, over the square root of d: 64 of 192 count for too much.
        assert right[0, 0] == pytest.approx(192 / np.sqrt(192))
        assert mistaken[0, 0] == pytest.approx((64 * factor.mistaken**2 + 128) / np.sqrt(192))
        q, near, far = np.ones(192), np.ones(192), np.ones(192)
        near[:64], far[64:] = 0.9, 0.94  # the second scores more, until the first 64 count more
        order = [(q[:64] @ k[:64]) * each**2 + q[64:] @ k[64:]
                 for each in (factor.right, factor.mistaken) for k in (far, near)]  # fmt: skip
        assert order[0] < order[1]
        assert order[2] > order[3]
    if slip.id == "generic":
        assert factor.right == pytest.approx(1.0)
    one = slip.outcome(settings.moved(factor=1.0))
    np.testing.assert_allclose(errors(one), 0.0, atol=1e-9)


def _paper(slip: Slip, settings: Settings, made: Outcome) -> None:
    for heads in (4, 8, 16, 32):
        assert not alibi.differs_from_paper(heads).any()
    for heads in (12, 40):
        assert alibi.differs_from_paper(heads).any()
        assert (np.diff(alibi.slopes(heads)) > 0).any()  # not sorted
    assert alibi.slopes(12)[8] == pytest.approx(0.7071, abs=5e-5)


def _slope(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = made.scores(np.array([1]), np.arange(2))
    assert (right[0, 0], mistaken[0, 0]) == (0.0, 0.0)
    if slip.id == "zero":
        assert (alibi.slopes(8)[0], alibi.slopes(8)[-1]) == (0.5, 0.00390625)
        doubled = [slip.outcome(slip.settings("heads-8", head=h)).at(9, 1) for h in range(1, 9)]
        assert [wrong for _, wrong in doubled] == [2 * right for right, _ in doubled]
    elif slip.id == "bias-max":
        assert (alibi.slopes(8, 16.0)[0], alibi.slopes(8, 16.0)[-1]) == (0.25, 2.0**-16)
    else:
        assert settings.head_dim == 64
        assert mistaken[0, 1] == 8 * right[0, 1]


def _direction(slip: Slip, settings: Settings, made: Outcome) -> None:
    both = slip.id == "encoder"
    assert relative.t5_bucket([0, -1], bidirectional=both).tolist() == [0, 1]
    flipped = relative.t5_bucket(np.arange(256), bidirectional=both)
    assert flipped.any() == both


def _grown(slip: Slip, settings: Settings, made: Outcome) -> None:
    """Nothing within the trained length, nor in one pass; a text that grows past it shows it."""
    trained = settings.prompt
    assert made.first_position == trained
    assert slip.outcome(settings.moved(seq_len=trained)).first_position is None
    assert slip.outcome(settings.moved(prompt=settings.seq_len)).first_position is None


def _dtype(slip: Slip, settings: Settings, made: Outcome) -> None:
    exact = {"bfloat16": 256, "float16": 2048}[slip.id]
    assert f"every whole number up to {exact:,}" in slip.hides
    assert f"test past position {exact:,}" in slip.mend
    right, mistaken = made.scores(np.arange(exact + 1), np.arange(exact + 1))
    below = np.tri(exact + 1, dtype=np.bool_)
    assert (right[below] == mistaken[below]).all()
    assert made.first_position == exact + 1


def _frequencies(slip: Slip, settings: Settings, made: Outcome) -> None:
    right, mistaken = ways(slip, settings)
    share = np.abs(mistaken.inv_freq / right.inv_freq - 1.0)
    assert share.max() <= 1 / 256
    assert made.depends == "distance"
    off = np.abs(errors(made))
    assert off[1] < 1e-3 < VISIBLE < off[1000:].max()


def _padding(slip: Slip, settings: Settings, made: Outcome) -> None:
    if slip.id == "jump":
        assert made.first_position == settings.prompt  # the pass over the prompt is right
        assert slip.outcome(settings.moved(padding=0)).first_position is None
    else:
        right, mistaken = made.scores(np.arange(made.extent), np.arange(made.extent))
        assert (right == mistaken).all()
        assert made.facts[0].mistaken == settings.padding  # another row of a table


SENTENCES = {
    ("pairing", "interleaved"): _pairing, ("pairing", "half"): _pairing,
    ("base", "default"): _base, ("partial", "head"): _partial, ("partial", "part"): _partial,
    ("mrope", "blocks"): _mrope, ("mrope", "turns"): _mrope,
    ("scaling_missing", "plain"): _plain, ("scaling_missing", "clamped"): _clamped,
    ("scaling_missing", "short"): _short, ("scaling_missing", "at-trained"): _at_trained,
    ("scaling_twice", "again"): _again, ("scaling_twice", "ntk-base"): _ntk_base,
    ("scaling_twice", "power"): _power, ("scaling_twice", "always"): _always,
    ("scaling_twice", "positions"): _positions, ("reciprocal", "inverse"): _inverse,
    ("mscale", "multiplied"): _mscale, ("mscale", "again"): _mscale,
    ("mscale", "generic"): _mscale, ("slopes", "paper"): _paper,
    ("slopes_off_by_one", "zero"): _slope, ("slopes_off_by_one", "bias-max"): _slope,
    ("slopes_off_by_one", "unscaled"): _slope, ("t5_direction", "decoder"): _direction,
    ("t5_direction", "encoder"): _direction, ("dynamic_cache", "dynamic"): _grown,
    ("dynamic_cache", "longrope"): _grown, ("position_dtype", "bfloat16"): _dtype,
    ("position_dtype", "float16"): _dtype, ("position_dtype", "frequencies"): _frequencies,
    ("left_padding", "jump"): _padding, ("left_padding", "shift"): _padding,
}  # fmt: skip


@every_slip
def test_what_a_slip_says_holds_for_each_of_its_examples(
    pitfall: pitfalls.Pitfall, slip: Slip
) -> None:
    for example in slip.examples:
        settings = slip.settings(example)
        SENTENCES[pitfall.id, slip.id](slip, settings, slip.outcome(settings))


def test_numbers_that_prose_names() -> None:
    from posviz import sinusoidal

    assert np.exp(0.1) == pytest.approx(1.105, abs=5e-4)
    row = np.asarray(sinusoidal.table(1, 5))[0]
    assert np.flatnonzero(row == 0.0).tolist() == [0, 2, 4]  # sines at 0; the two others cosines


def test_reports_have_addresses() -> None:
    for _, slip in EVERY:
        for report in slip.reports:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", report), report
    address = pitfalls.address("huggingface/transformers#29285")
    assert address == "https://github.com/huggingface/transformers/issues/29285"


def test_what_there_is_not_is_told() -> None:
    with pytest.raises(params.InvalidParameterError, match="pitfall must be one of pairing, base"):
        pitfalls.get("nothing")
    with pytest.raises(params.InvalidParameterError, match="slip must be one of"):
        pitfalls.get("base").slip("x")
    with pytest.raises(params.InvalidParameterError, match="example must be one of"):
        pitfalls.get("base").slip("default").settings("bert-base-uncased")
    with pytest.raises(params.InvalidParameterError, match="head must be"):
        Settings(num_heads=8, head=9)
