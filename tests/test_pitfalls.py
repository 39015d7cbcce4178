"""Mistakes reproduce the numbers of public reports, and score what a plain rotation scores."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import alibi, params, pitfalls, precision, relative, rope
from posviz.cache_timeline import Timeline
from posviz.pitfalls import PITFALLS, Outcome, Settings

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
    right, part = pitfalls._whole_head(settings), pitfalls._part_of_head(settings)
    assert right.inv_freq[1] == pytest.approx(0.9474635, rel=1e-7)
    assert part.inv_freq[1] == pytest.approx(0.8058422, rel=1e-7)
    assert not right.inv_freq[64:].any()


@every_slip
def test_every_example_gives_finite_scores_and_says_where_it_shows(
    pitfall: pitfalls.Pitfall, slip: pitfalls.Slip
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
        apart = np.flatnonzero(np.abs(mistaken - right)[0] > made.visible)
        assert along.first == (int(apart[0]) if len(apart) else None)
        assert made.at(position, 1) == pytest.approx((right[0, 1], mistaken[0, 1]))


@every_slip
def test_nothing_turns_at_distance_0_so_only_factors_show_there(
    pitfall: pitfalls.Pitfall, slip: pitfalls.Slip
) -> None:
    made = slip.outcome(slip.settings(slip.examples[0]))
    right, mistaken = made.at(0, 0)
    factor = [fact for fact in made.facts if fact.label == "factor on cos and sin"]
    if factor and pitfall.id != "partial":
        assert mistaken - right != 0.0
    else:
        assert mistaken == pytest.approx(right, abs=1e-9)


@every_slip
def test_a_map_shows_the_largest_error_of_each_cell(
    pitfall: pitfalls.Pitfall, slip: pitfalls.Slip
) -> None:
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
    from posviz import mrope

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
