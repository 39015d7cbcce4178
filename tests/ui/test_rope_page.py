"""RoPE's page over all its parameters, without a browser: each number is the core's."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import distance, invariants, mla, params, qk_norm, rope
from posviz.figures import rope as pictures
from posviz.figures.style import number
from posviz.ui import live
from tests.ui.views import any_values, content, numbers, view_of

HANDLES = {
    "pair": "q_position k_position shift pair layout", "matrix": "q_position pair head_dim layout",
    "pairings": "distance pair head_dim", "decay": "peak rope_theta head_dim",
    "norm": "spread q_position k_position gain", "mla": "num_heads kv_lora_rank qk_rope_head_dim",
    "partial": "partial_rotary_factor head_dim", "cache": "cached pair seq_len num_heads layout",
}  # fmt: skip
SEED = 5  # of the page's query and key


@pytest.fixture(scope="module")
def page() -> live.View:
    """The view, registered by running the page once."""
    return view_of("rope")


def shown(view: live.View, **query: Any) -> dict[str, str]:
    """Markup or text alternative of each picture, for a link without a complaint."""
    values, problems = view.read({name: str(value) for name, value in query.items()})
    assert not problems
    slots = content(view.draw(**values))
    return {key: slot.get("markup", slot.get("alt")) for key, slot in slots.items()}


def told(number: float, digits: int = 3) -> str:
    """A number as the page writes it with so many digits behind the point."""
    return f"{number:.{digits}f}".replace("-", "−")


@given(data=st.data())
def test_axes_hold_the_curves(page: live.View, data: st.DataObject) -> None:
    for key, slot in content(page.draw(**any_values(data.draw, page))).items():
        if "figure" not in slot:
            continue
        axis = slot["figure"]["layout"]["yaxis"]
        low, high = ((10.0**end if axis.get("type") == "log" else end) for end in axis["range"])
        for trace in slot["figure"]["data"]:
            y = numbers(trace["y"])
            assert y.max() <= high, (key, trace["name"])
            # On the logarithmic axis, what passes through 0 leaves below.
            assert y.min() >= low or axis.get("type") == "log", (key, trace["name"])


@pytest.mark.parametrize(("part", "handles"), HANDLES.items())
def test_axes_stand_while_a_handle_moves(page: live.View, part: str, handles: str) -> None:
    def axes(**query: str) -> list[Any]:
        slots = content(page.draw(**page.follow({"part": part, **query})))
        layouts = [slot["figure"]["layout"] for slot in slots.values() if "figure" in slot]
        scales = re.findall(
            r'pv-scale-bar">.*?</p>', "".join(slot.get("markup", "") for slot in slots.values())
        )
        return [[one["xaxis"]["range"], one["yaxis"]["range"]] for one in layouts] + scales

    for name in {*handles.split()} - {"layout", "gain"}:
        assert axes(**{name: "0"}) == axes(**{name: "99999"}), name


# The numbers of each part.

positions = st.integers(0, 63)
dims = st.integers(1, 128).map(lambda pairs: 2 * pairs)
layouts = st.sampled_from(rope.LAYOUTS)


@given(positions, positions, st.integers(0, 100_000), dims, layouts, st.data())
def test_a_pair_tells_the_core_s_scores(
    page: live.View, m: int, n: int, shift: int, size: int, layout: rope.Layout,
    data: st.DataObject,
) -> None:  # fmt: skip
    pair = data.draw(st.integers(0, size // 2 - 1))
    said = shown(page, q_position=m, k_position=n, shift=shift, head_dim=size, layout=layout,
                 pair=pair)  # fmt: skip
    inv_freq = rope.inv_freq(size, 10_000.0)
    q, k = rope.random_vectors(size // 2, layout, SEED)
    score, moved = (
        float(rope.rotate(q, m + by, inv_freq, layout) @ rope.rotate(k, n + by, inv_freq, layout))
        for by in (0, shift)
    )
    # Of two numbers on either side of a rounding edge both are right.
    assert float(re.findall(r"<dd>(.*?)<", said["lamps"])[0].replace("−", "-")) == pytest.approx(
        score, abs=6e-7
    )
    assert float(re.findall(r"<dd>(.*?)<", said["lamps"])[1].replace("−", "-")) == pytest.approx(
        moved, abs=6e-7
    )
    assert "is-on" in said["lamps"]
    first, second = rope.pair_slices(size, layout)
    a, b = np.arange(size)[first][pair], np.arange(size)[second][pair]
    assert f">dimension {a}<" in said["dial"]
    assert f">dimension {b}<" in said["dial"]
    for name in ("θᵢ: ", "φ: ", "head_dim: "):
        assert name in said["formula"]
    adds = rope.pair_scores(q, k, m - n, inv_freq, layout)
    assert f"m − n = {m - n:,}.".replace("-", "−") in said["caption"]
    turned = number((m - n) * float(inv_freq[pair]))
    assert f"From n to m pair {pair} turns by {turned} rad, and it adds" in said["caption"]
    assert f"Pair {size // 2 - 1} adds {told(adds[-1], 2).removeprefix('−')}" in said[
        "pairs"
    ].replace("adds −", "adds ")


def test_the_dial_shows_the_angles_and_a_shift_keeps_what_is_between_them(page: live.View) -> None:
    inv_freq = rope.inv_freq(16, 10_000.0)
    q, k = rope.random_vectors(8, "half", SEED)
    between = []
    for m, n, shift in ((20, 8, 0), (20, 8, 31), (63, 0, 5)):
        markup = shown(page, q_position=m, k_position=n, shift=shift)["dial"]
        found = [
            -float(angle)
            for angle in re.findall(r'pv-rope-arrow .*?rotate\((.*?)\)', markup)
        ]  # fmt: skip
        drawn = ((m + shift, n + shift), (m, n)) if shift else ((m, n),)
        expected = [
            math.degrees(rope.polar(rope.rotate(x, at, inv_freq))[1][2])
            for q_at, k_at in drawn for x, at in ((k, k_at), (q, q_at))
        ]  # fmt: skip
        assert found == pytest.approx(expected, abs=0.006)
        between += [[(found[i + 1] - found[i]) % 360 for i in range(0, len(found), 2)]]
    assert between[1] == pytest.approx(between[0] * 2, abs=0.02)


@given(positions, positions, dims, layouts)
def test_the_matrix_tells_the_core_s_residuals(
    page: live.View, m: int, n: int, size: int, layout: rope.Layout
) -> None:
    said = shown(page, part="matrix", q_position=m, k_position=n, head_dim=size, layout=layout,
                 pair=0)  # fmt: skip
    inv_freq = rope.inv_freq(size, 10_000.0)
    x = rope.random_vectors(size // 2, layout, SEED)[0]
    expected = [
        invariants.elementwise_residual(x, m, inv_freq, layout),
        invariants.sum_residual(inv_freq, m, n, layout),
        invariants.inverse_residual(inv_freq, m, layout),
        invariants.relative_residual(inv_freq, m, n, layout),
    ]
    assert said["lamps"].count("is-on") == 4
    assert re.findall(r"<dd>(.*?)<small>", said["lamps"]) == [number(one) for one in expected]
    rotated = rope.rotate(x, m, inv_freq, layout)
    row = re.findall(r'<tr class="is-chosen"><th scope="row">0</th>(.*?)</tr>', said["table"])[0]
    cells = [float(cell.replace("−", "-")) for cell in re.findall(r"<td>(.*?)</td>", row)]
    assert cells[0] == pytest.approx(x[0], abs=6e-4)
    assert cells[1] == pytest.approx(math.cos(m), abs=6e-4)
    assert cells[3] == pytest.approx(math.sin(m), abs=6e-4)
    assert cells[4:] == pytest.approx([rotated[0]] * 2, abs=6e-4)


@given(st.integers(0, 256), dims)
def test_the_pairings_are_equal_and_a_mix_up_is_right_at_distance_zero(
    page: live.View, far: int, size: int
) -> None:
    said = shown(page, part="pairings", distance=far, head_dim=size, pair=0)
    assert "<dd>0<small>" in said["lamps"]
    assert "is-on" in said["lamps"]
    inv_freq = rope.inv_freq(size, 10_000.0)
    q, k = rope.random_vectors(size // 2, "interleaved", SEED)
    right, wrong = (
        float(rope.rotate(q, far, inv_freq, layout) @ k) / math.sqrt(size)
        for layout in ("interleaved", "half")
    )
    found = re.search(r"at \d+: (.*?) right, (.*?) mixed up", said["mixup:head"])
    assert found
    assert [float(one.replace("−", "-")) for one in found.groups()] == pytest.approx(
        [right, wrong], abs=6e-4
    )
    assert (
        f"At distance 0 both scores are {told(float(q @ k) / math.sqrt(size))}" in said["caption"]
        or abs(float(q @ k)) < 1e-3
    )
    assert "is 0 at 0" in said["caption"]


@given(st.integers(0, 1024), st.floats(10.0, 1e9), dims)
def test_decay_is_told_as_it_is(page: live.View, peak: int, theta: float, size: int) -> None:
    said = shown(page, part="decay", peak=peak, rope_theta=repr(theta), head_dim=size)
    inv_freq, top = rope.inv_freq(size, theta), math.sqrt(size)
    same = 2.0 * np.cos(np.arange(1025)[:, None] * inv_freq).sum(axis=1) / top
    rises = int((np.diff(distance.rope_scores(inv_freq, 1025)) > 0).sum())
    assert f"rises at {rises:,} of 1,024 steps" in said["caption"]
    assert f"falls from {told(top, 2)} to" in said["caption"]
    back = "1 token" if peak == 1 else f"{peak:,} tokens"
    assert f"its largest score, {told(top, 2)}, exactly {back} back" in said["caption"]
    found = re.search(r"q = k (.*?), aimed key (.*?)<", said["scores:head"])
    assert found
    at = [float(one.replace("−", "-")) for one in found.groups()]
    assert at == pytest.approx([same[peak], top], abs=0.006)
    start = f"{(size / 2 + 1) / 2:.3g}"
    assert f"begins at {start} " in said["caption"]
    assert rises > 0


def test_the_aimed_key_s_curve_is_largest_where_it_is_aimed(page: live.View) -> None:
    for peak in (0, 1, 300, 1024):
        values, _ = page.read({"part": "decay", "peak": str(peak)})
        traces = content(page.draw(**values))["scores"]["figure"]["data"]
        aimed = next(trace for trace in traces if trace["name"] == "key aimed")
        assert int(numbers(aimed["y"]).argmax()) == peak


@given(positions, positions, st.floats(0.0, 0.7), st.sampled_from(qk_norm.GAINS), layouts)
def test_the_norm_tells_both_orders(
    page: live.View, m: int, n: int, spread: float, kind: qk_norm.GainKind, layout: rope.Layout
) -> None:
    said = shown(page, part="norm", q_position=m, k_position=n, spread=repr(spread), gain=kind,
                 layout=layout)  # fmt: skip
    inv_freq = rope.inv_freq(64, 10_000.0)
    q, k = rope.random_vectors(32, layout, SEED)
    gains = [qk_norm.random_gain(kind, 64, layout, seed, spread) for seed in (0, 1)]
    expected = []
    for order in qk_norm.ORDERS:
        rows = [
            rope.rotate(qk_norm.rms_norm(x, gain), at, inv_freq, layout)
            if order == "before"
            else qk_norm.rms_norm(rope.rotate(x, at, inv_freq, layout), gain)
            for x, gain, at in ((q, gains[0], m), (k, gains[1], n))
        ]
        expected.append(float(rows[0] @ rows[1]) / 8.0)
    readings = re.findall(r"<dd>(.*?)<", said["lamps"])
    found = [float(one.replace("−", "-")) for one in readings[0].split(", ")]
    assert found == pytest.approx(expected, abs=6e-4)
    assert ("is-on" in said["lamps"]) == ("can change places" in said["caption"])
    if kind != "free" or spread == 0.0:
        assert "can change places" in said["caption"]
    elif spread > 0.01:
        assert "no longer depends on their distance alone" in said["caption"]


@given(st.integers(1, 128), st.integers(8, 128).map(lambda n: 8 * n), st.integers(1, 64))
def test_mla_tells_its_cache_and_its_errors(
    page: live.View, heads: int, rank: int, pairs: int
) -> None:
    said = shown(page, part="mla", num_heads=heads, kv_lora_rank=rank, qk_rope_head_dim=2 * pairs)
    own, whole = rank + 2 * pairs, heads * 256
    assert f"costs {own:,} numbers instead of {whole:,}." in said["caption"]
    assert [f"<b>{one:,}</b>" in said["cache"] for one in (own, whole, min(heads, 8) * 256)] == [
        True, True, True,
    ]  # fmt: skip
    dims = mla.MLA(kv_lora_rank=rank, qk_rope_head_dim=2 * pairs)
    inside = mla.absorption(dims, 24, rotated_inside=True).residual
    assert f"off by {100 * inside:.1f} % of the largest score" in said["caption"]
    assert "×10<sup>−1" in said["beside:head"]


@given(st.integers(1, 128).map(lambda n: 2 * n), st.integers(0, 100).map(lambda n: n / 100))
def test_partial_rotary_tells_what_rotates_or_why_not(
    page: live.View, size: int, factor: float
) -> None:
    said = shown(page, part="partial", head_dim=size, partial_rotary_factor=factor)
    truncated = int(size * factor)
    turning = truncated - truncated % 2
    assert f">{turning} rotate" in said["dims"]
    still = told((size - turning) / math.sqrt(size), 2)
    assert f"{still} of {told(math.sqrt(size), 2)} never change" in said["floor:head"]
    if turning == size:
        assert f"All {size} dimensions rotate, as {size // 2} pair" in said["caption"]
    elif truncated and not truncated % 2:
        assert f"The first {turning} of {size} dimensions rotate" in said["caption"]
    else:
        assert "rotary_dim must be" in said["caption"]
        assert f"show {turning} rotating" in said["caption"]


def test_a_cut_product_is_explained(page: live.View) -> None:
    said = shown(page, part="partial", head_dim=100, partial_rotary_factor=0.29)
    assert "100 × 0.29 is 28.999999999999996, so 28 are left" in said["caption"]
    assert "floating point" not in shown(page, part="partial")["caption"]


@given(st.integers(1, 16), st.integers(1, 131_072), st.integers(1, 128))
def test_the_cache_tells_its_scores_and_what_others_add(
    page: live.View, cached: int, length: int, heads: int
) -> None:
    said = shown(page, part="cache", cached=cached, seq_len=length, num_heads=heads)
    inv_freq = rope.inv_freq(64, 10_000.0)
    q, k = rope.random_vectors(32, "half", SEED)
    expected = [
        float(rope.rotate(q, cached - 1 - n, inv_freq) @ k) / 8.0 for n in range(cached)
    ]  # fmt: skip
    found = [float(one.replace("−", "-")) for one in re.findall(r"<b>(.*?)</b>", said["keys"])]
    assert found == pytest.approx(expected, abs=6e-3)
    assert f'<th scope="row">RoPE</th><td>0</td>' in said["table"]  # noqa: F541
    assert said["table"].count(f"<td>{heads * length**2:,}</td>") == 4
    assert ("is-off" in said["lamps"]) == (cached > 1)


# Formulas say what the core computes.


@given(dims, st.floats(10.0, 1e9), st.integers(0, 500), st.integers(0, 500), st.integers(0, 99))
def test_each_formula_is_the_core_s(size: int, theta: float, m: int, n: int, seed: int) -> None:
    inv_freq = rope.inv_freq(size, theta)
    q, k = np.random.default_rng(seed).normal(size=(2, size))
    i = seed % (size // 2)
    frequency = pictures.FREQUENCY.value(rope_theta=theta, i=i, head_dim=size)
    assert frequency == pytest.approx(inv_freq[i], rel=1e-12)
    assert pictures.PARTIAL_FREQUENCY.value(rope_theta=theta, i=i, rotary_dim=size) == frequency
    (q_length, q_angle), (k_length, k_angle) = rope.polar(q), rope.polar(k)
    score = pictures.PAIR_SCORE.value(
        q=q_length[i], k=k_length[i], phi=q_angle[i] - k_angle[i], m=m, n=n, theta_i=frequency
    )
    assert score == pytest.approx(rope.pair_scores(q, k, m - n, inv_freq)[i], abs=1e-9)
    for layout in rope.LAYOUTS:
        place = np.arange(size)[rope.pair_slices(size, layout)[0]][i]
        turned = pictures.TURNED[layout].value(
            x=q[place], partner=rope.rotate_half(q, layout)[place], m=m, theta_i=frequency
        )
        assert turned == pytest.approx(rope.rotate(q, m, inv_freq, layout)[place], abs=1e-9)
    same = pictures.SAME.value(head_dim=size, pairs=size // 2, theta=inv_freq, delta=m)
    assert same == pytest.approx(distance.rope_scores(inv_freq, m + 1)[m], abs=1e-9)
    assert pictures.BOUND.value(head_dim=size) == rope.decay_bound(size, theta, 0)


@given(st.integers(1, 128), st.integers(1, 1024), st.integers(1, 64), dims, st.floats(0.02, 1.0))
def test_each_count_is_the_core_s(
    heads: int, rank: int, pairs: int, size: int, factor: float
) -> None:
    whole = mla.MLA(kv_lora_rank=rank, qk_rope_head_dim=2 * pairs)
    assert (
        pictures.MLA_CACHE.value(kv_lora_rank=rank, qk_rope_head_dim=2 * pairs)
        == whole.cache_entries
    )
    assert pictures.MHA_CACHE.value(
        num_heads=heads, qk_nope_head_dim=128, v_head_dim=128
    ) == whole.mha_cache_entries(heads)
    cut = pictures.ROTARY_DIM.value(head_dim=size, partial_rotary_factor=factor)
    if cut and cut % 2 == 0:
        assert cut == rope.rotary_dim(size, factor)
    else:
        with pytest.raises(params.InvalidParameterError):
            rope.rotary_dim(size, factor)
